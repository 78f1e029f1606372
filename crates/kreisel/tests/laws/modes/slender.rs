//! Modes of slender beams: equal ones, lightly damped ones, about loaded states, with bodies on joints.
//!
//! Frequencies in the tables are those of the matrices that `kreisel modes --matrices` writes, found by
//! another program (SciPy's generalised symmetric solver), and s = ω (−ζ ± i √(1 − ζ²)) with ζ = α/2ω + ηω/2.

use std::f64::consts::TAU;
use std::path::Path;

use kreisel::machine::Machine;
use kreisel::modes::{Mode, ModeSettings};
use kreisel::run::{About, MachineModes};
use nalgebra::{Complex, DVector};

fn model(name: &str, values: &[(&str, &str)]) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws/modes/models").join(name);
    Machine::read(&path, values).map_err(|errors| errors.render(false)).unwrap()
}

fn modes(name: &str, values: &[(&str, &str)], about: About, count: usize) -> MachineModes {
    let found = model(name, values).modes(about, ModeSettings { count }).unwrap();
    assert_eq!(found.notes.texts(), Vec::<String>::new(), "{name} {values:?}");
    assert_eq!(found.modes.len(), count, "{name} {values:?}");
    found
}

/// Frequency and damping ratio.
type Row = (f64, f64);

/// Errors of frequencies and of damping ratios. Nine digits of the first are given, of which a condition of
/// 1e9 leaves eight; six of the others, and half a unit of the last of them is up to 5e-6.
const FREQUENCY: f64 = 1e-8;
const RATIO: f64 = 5e-6;

/// Each row belongs to two modes.
fn assert_twice(found: &MachineModes, rows: &[Row]) {
    for (index, mode) in found.modes.iter().enumerate() {
        let (frequency, ratio) = rows[index / 2];
        let errors = [mode.frequency() / frequency - 1.0, mode.damping_ratio() / ratio - 1.0];
        assert!(
            errors[0].abs() < FREQUENCY && errors[1].abs() < RATIO,
            "mode {}: {} Hz {} instead of {frequency} Hz {ratio}: {errors:?}",
            index + 1,
            mode.frequency(),
            mode.damping_ratio()
        );
    }
    // Two shapes of one frequency are two motions, not one.
    for pair in found.modes.chunks_exact(2) {
        let product: Complex<f64> = pair[0].shape.iter().zip(&pair[1].shape).map(|(a, b)| a.conj() * b).sum();
        let size = |mode: &Mode| mode.shape.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        assert!(product.norm() < 0.999 * size(&pair[0]) * size(&pair[1]), "{product}");
    }
}

const ROD_20_TIME: [Row; 5] = [
    (7.23601872, 2.27326e-5),
    (45.2651318, 1.42205e-4),
    (126.246143, 3.96614e-4),
    (245.846859, 7.72351e-4),
    (402.981169, 1.26600e-3),
];
const ROD_20_RATE: [Row; 5] = [
    (7.23558114, 1.09974e-2),
    (45.2650623, 1.75803e-3),
    (126.246128, 6.30336e-4),
    (245.84692, 3.23687e-4),
    (402.981484, 1.97472e-4),
];
const ROD_40_TIME: [Row; 5] = [
    (7.23553429, 2.27311e-5),
    (45.3121593, 1.42352e-4),
    (126.698164, 3.98034e-4),
    (247.738291, 7.78293e-4),
    (408.338155, 1.28283e-3),
];
const ROD_40_RATE: [Row; 5] = [
    (7.23509667, 1.09981e-2),
    (45.3120899, 1.75621e-3),
    (126.698149, 6.28087e-4),
    (247.738353, 3.21216e-4),
    (408.338483, 1.94881e-4),
];

#[test]
fn a_damped_round_rod_has_every_mode_twice() {
    let cases = [
        ("20", "time", "1e-6", &ROD_20_TIME),
        ("20", "rate", "1", &ROD_20_RATE),
        ("40", "time", "1e-6", &ROD_40_TIME),
        ("40", "rate", "1", &ROD_40_RATE),
    ];
    for (elements, key, value, rows) in cases {
        let found = modes("rod.toml", &[("elements", elements), (key, value)], About::Initial, 10);
        assert_twice(&found, rows);
        assert!(found.overdamped.is_empty());
    }
}

#[test]
fn a_damped_rod_has_modes_whatever_their_number() {
    // "Only 2 of 20 modes converged", and a growing mode of 12 elements with three nodes.
    for (elements, order) in [("30", "1"), ("12", "2"), ("60", "1")] {
        for count in [1, 2, 3, 7, 20, 40] {
            let values = [("elements", elements), ("order", order), ("rate", "0.1")];
            let found = modes("rod.toml", &values, About::Initial, count);
            for mode in &found.modes {
                // C = α M: Re s = −α/2 in every mode.
                assert!(
                    (mode.eigenvalue.re / -0.05 - 1.0).abs() < 1e-6,
                    "{elements} {count}: {}",
                    mode.eigenvalue
                );
            }
        }
    }
}

#[test]
fn a_blade_whose_fastest_motions_are_far_away_has_its_damping() {
    let rows: [Row; 5] = [
        (0.559602277, 1.42204e-4),
        (3.50562176, 2.27000e-5),
        (9.80727295, 8.11413e-6),
        (19.1911825, 4.14656e-6),
        (31.6631618, 2.51325e-6),
    ];
    assert_twice(&modes("blade.toml", &[], About::Initial, 10), &rows);
}

/// Frequencies in Hz; growth rates over 2π with a minus.
fn signed(mode: &Mode) -> f64 {
    if mode.eigenvalue.re > 0.0 { -mode.eigenvalue.re / TAU } else { mode.frequency() }
}

#[test]
fn a_strip_that_turns_over_has_its_modes_about_the_equilibrium() {
    let cases: [(&str, [f64; 8]); 2] = [
        ("0.5", [-4.558943, 0.106032, 6.13684, 14.531915, 25.015825, 25.976869, 32.454744, 40.421949]),
        ("0.2", [-0.118998, 2.287561, 8.421026, 16.798355, 25.01578, 28.029467, 32.149991, 42.107888]),
    ];
    for (load, expected) in cases {
        let found = modes("strip.toml", &[("load", load)], About::Static, 8);
        let mut frequencies: Vec<f64> = found.modes.iter().map(signed).collect();
        frequencies.sort_by(f64::total_cmp);
        for (found, expected) in frequencies.iter().zip(expected) {
            // λ has the round-off of a stiffness 1e12 times as large as that of the slow motions: 1e-4 of it.
            let tolerance = 1e-6 * expected.abs() + 5e-5 / (TAU * TAU * expected.abs());
            assert!((found - expected).abs() < tolerance, "{load} N: {found} instead of {expected}");
        }
    }
}

#[test]
fn a_slow_mode_near_a_critical_load_is_not_shown_as_zero() {
    // The strip turns over at about 4.01 √(EI GJ)/L² = 0.197 N.
    let found = modes("strip.toml", &[("load", "0.1963")], About::Static, 4);
    let [mass, stiffness] = [&found.linearized.mass, &found.linearized.stiffness].map(|m| m.to_dense());
    // Inverse iteration with the matrices that are written.
    let factors = stiffness.clone().lu();
    let mut x = DVector::from_fn(mass.nrows(), |i, _| ((7 * i) % 11) as f64 - 5.0);
    let mut square = 0.0;
    for _ in 0..30 {
        let image = factors.solve(&(&mass * &x)).unwrap();
        square = x.dot(&(&mass * &x)) / x.dot(&(&mass * &image));
        x = image.normalize();
    }
    let frequency = signed(&found.modes[0]);
    assert!(frequency.abs() > 0.02 && frequency.abs() < 0.06, "{frequency}");
    // Round-off of a stiffness 1e12 times as large, as above.
    let error = frequency.signum() * (TAU * frequency).powi(2) - square;
    assert!(error.abs() < 1e-4, "{frequency}: {error:e} of {square}");
}

#[test]
fn a_chain_with_next_to_no_bending_stiffness_has_the_modes_of_a_hanging_chain() {
    // ω = j/2 √(g/L) with the zeros j of Bessel's J₀, each in two planes.
    let zeros = [2.404_825_558, 5.520_078_110, 8.653_727_913];
    for bending in ["1e-2", "1e-6", "1e-9"] {
        let found = modes("hanging-chain.toml", &[("bending", bending)], About::Static, 16);
        for zero in zeros {
            let exact = 0.5 * zero * (9.80665_f64 / 10.0).sqrt() / TAU;
            let near = found.modes.iter().filter(|mode| (mode.frequency() / exact - 1.0).abs() < 1e-2);
            // The clamp shortens the chain by √(EI/N), a hundredth of a metre at 1e-2 N m².
            assert_eq!(
                near.count(),
                2,
                "{bending} {exact}: {:?}",
                found.modes.iter().map(signed).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn an_unloaded_beam_is_at_rest_whatever_its_round_off() {
    // Round-off of the forces turns its light sections by 2e-5 rad/s².
    let text = "
        [gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = 'beam'
        from = [0.62654, 0.825511, 0.213272]
        to = [0.5308948, 0.9216209, 0.7373342]
        start = 'ground'
        up = [-0.87841, -0.08266, -0.47071]
        twist = [0.7264, 0.08292]
        elements = 32
        section = { shape = 'circle', radius = 0.01993, youngs-modulus = 129.8e6, poisson-ratio = 0.135, density = 348.7 }
    ";
    let machine = Machine::from_text("beam.toml", text).map_err(|errors| errors.render(false)).unwrap();
    let found = machine.modes(About::Initial, ModeSettings { count: 4 }).unwrap();
    assert_eq!(found.notes.texts(), Vec::<String>::new());
}

#[test]
fn a_clamped_beam_with_a_welded_body_can_move() {
    for elements in ["8", "11", "13", "16", "24", "25"] {
        let found = modes("tip-body.toml", &[("elements", elements)], About::Initial, 6);
        assert!(found.modes.iter().all(|mode| mode.frequency() > 0.0 && mode.residual < 1e-5), "{elements}");
    }
}
