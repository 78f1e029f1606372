//! Modes of beams with bodies on joints against dense ones of their matrices, and in other units of time.

use std::fmt::Write as _;

use faer::{Mat, Side, c64};
use kreisel::machine::Machine;
use kreisel::modes::{Linearized, Mode, ModeSettings};
use kreisel::run::About;
use nalgebra::{Complex, DMatrix};

fn machine(text: &str) -> Machine {
    Machine::from_text("beam.toml", text).map_err(|errors| errors.render(false)).unwrap()
}

/// Joints between the tip of a beam and a body, with the degrees of freedom that they leave.
const JOINTS: [(&str, &str, usize); 5] = [
    ("fixed", "", 0),
    ("revolute", "axis = [0, 1, 0]", 1),
    ("universal", "first-axis = [0, 1, 0]\nsecond-axis = [0, 0, 1]", 2),
    ("prismatic", "axis = [0, 0, 1]", 1),
    ("spherical", "", 3),
];

/// A clamped beam of 1 m along x with a body on a joint at its tip, in a unit of time of `unit` seconds.
#[derive(Clone, Debug)]
struct Clamped {
    elements: usize,
    order: usize,
    joint: usize,
    /// EA, GA, GJ, EI_y and EI_z.
    stiffness: [f64; 5],
    inertia: f64,
    mass: f64,
    offset: [f64; 3],
    rate: f64,
    time: f64,
    /// Across the tip, dead or following.
    force: f64,
    following: bool,
    unit: f64,
}

impl Clamped {
    fn machine(&self) -> Machine {
        let (kind, axes, _) = JOINTS[self.joint];
        let square = self.unit * self.unit;
        let [axial, shear, torsion, about_y, about_z] = self.stiffness.map(|value| value * square);
        let [x, y, z] = self.offset;
        let mut text = format!(
            "[gravity]
            acceleration = [0, 0, 0]
            [[body]]
            name = 'tip'
            mass = {}
            inertia = [{}, {}, {}]
            position = [{}, {y}, {z}]
            markers = [{{ name = 'seat', position = [{}, {}, {}] }}]
            [[beam]]
            name = 'beam'
            from = [0, 0, 0]
            to = [1, 0, 0]
            start = 'ground'
            elements = {}
            order = {}
            damping = {{ rate = {}, time = {} }}
            section.axial-stiffness = {axial:e}
            section.shear-stiffness = [{shear:e}, {shear:e}]
            section.torsional-stiffness = {torsion:e}
            section.bending-stiffness = [{about_y:e}, {about_z:e}]
            section.mass-per-length = 1
            section.inertia-per-length = [{}, {}, {}]
            [[{kind}]]
            name = 'joint'
            bodies = ['beam.end', 'tip.seat']
            {axes}
            ",
            self.mass,
            0.02 * self.mass,
            0.03 * self.mass,
            0.04 * self.mass,
            1.0 + x,
            -x,
            -y,
            -z,
            self.elements,
            self.order,
            self.rate * self.unit,
            self.time / self.unit,
            2.0 * self.inertia,
            self.inertia,
            self.inertia,
        );
        if self.force != 0.0 {
            let frame = if self.following { "axes = 'body'" } else { "" };
            let force = self.force * square;
            let _ = write!(
                text,
                "[[force]]\nname = 'push'\nbody = 'beam.end'\nforce = [0, {force:e}, {force:e}]\n{frame}\n"
            );
        }
        machine(&text)
    }

    /// Eigenvalues in 1/s.
    fn modes(&self, count: usize) -> (Linearized, Vec<Mode>, Vec<Mode>) {
        let about = if self.force == 0.0 { About::Initial } else { About::Static };
        let found = self.machine().modes(about, ModeSettings { count }).unwrap();
        assert_eq!(found.notes.texts(), Vec::<String>::new(), "{self:?}");
        (found.linearized, found.modes, found.overdamped)
    }
}

/// Numbers between 0 and 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two sizes, even in the logarithm.
    fn size(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() * limit as f64) as usize
    }

    fn clamped(&mut self) -> Clamped {
        let bending = self.size(0.1, 10.0);
        Clamped {
            elements: 4 + self.below(27),
            order: 1,
            joint: self.below(JOINTS.len()),
            stiffness: [
                self.size(1e3, 1e5),
                self.size(1e3, 1e5),
                self.size(0.1, 10.0),
                bending,
                bending * [1.0, 3.7][self.below(2)],
            ],
            inertia: self.size(1e-5, 1e-3),
            mass: self.size(0.1, 10.0),
            offset: [0.1 + 0.2 * self.next(), 0.1 * self.next(), -0.1 * self.next()],
            rate: [0.0, 0.3, 0.0][self.below(3)],
            time: [0.0, 1e-4, 0.0][self.below(3)],
            force: 0.0,
            following: false,
            unit: 1.0,
        }
    }
}

fn to_faer(matrix: &DMatrix<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
}

/// All eigenvalues of the matrices that are written, by dense methods: singular values of B for the free
/// directions, and their modes without damping as coordinates.
fn dense(linearized: &Linearized) -> Vec<Complex<f64>> {
    let gradient = linearized.gradient.to_dense();
    let count = linearized.velocity_count();
    let basis = match gradient.nrows() {
        0 => DMatrix::identity(count, count),
        rows => {
            let right = to_faer(&gradient).svd().unwrap();
            DMatrix::from_fn(count, count - rows, |i, j| right.V()[(i, rows + j)])
        }
    };
    let reduced = [&linearized.mass, &linearized.damping, &linearized.stiffness]
        .map(|matrix| basis.transpose() * matrix.to_dense() * &basis);
    let [mass, damping, stiffness] = reduced;
    let lower = mass.cholesky().unwrap().l();
    let half = |matrix: &DMatrix<f64>| {
        let once = lower.solve_lower_triangular(matrix).unwrap();
        lower.solve_lower_triangular(&once.transpose()).unwrap().transpose()
    };
    let (stiffness, damping) = (half(&stiffness), half(&damping));
    let eigen =
        to_faer(&(0.5 * (&stiffness + stiffness.transpose()))).self_adjoint_eigen(Side::Lower).unwrap();
    let size = stiffness.nrows();
    if damping.amax() == 0.0 {
        let root = |value: f64| Complex::new((-value).max(0.0).sqrt(), value.max(0.0).sqrt());
        let mut found: Vec<_> = (0..size).map(|i| root(eigen.S().column_vector()[i])).collect();
        found.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        return found;
    }
    let vectors = DMatrix::from_fn(size, size, |i, j| eigen.U()[(i, j)]);
    let omega: Vec<f64> = (0..size).map(|i| eigen.S().column_vector()[i].abs().sqrt()).collect();
    let (stiffness, damping) = (vectors.tr_mul(&stiffness) * &vectors, vectors.tr_mul(&damping) * &vectors);
    let floor = 1e-6 * omega[size - 1];
    let unit: Vec<f64> = omega.iter().map(|omega| omega.max(floor)).collect();
    let state = Mat::from_fn(2 * size, 2 * size, |i, j| {
        let value = match (i < size, j < size) {
            (true, true) => 0.0,
            (true, false) => {
                if i == j - size {
                    unit[i]
                } else {
                    0.0
                }
            }
            (false, true) => -stiffness[(i - size, j)] / unit[j],
            (false, false) => -damping[(i - size, j - size)],
        };
        c64::new(value, 0.0)
    });
    let values = state.eigenvalues().unwrap();
    let mut found: Vec<_> =
        values.iter().map(|s| Complex::new(s.re, s.im)).filter(|s| s.im >= -1e-9 * s.norm()).collect();
    found.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
    found
}

#[test]
fn a_hundred_clamped_beams_with_bodies_have_the_modes_of_their_matrices() {
    let mut random = Random(7);
    for number in 0..100 {
        let beam = random.clamped();
        let count = 4 + number % 9;
        let (linearized, modes, _) = beam.modes(count);
        assert_eq!(modes.len(), count, "{beam:?}");
        let exact = dense(&linearized);
        let free = JOINTS[beam.joint].2;
        // The joint leaves so many motions that nothing holds, with s = 0 (twice) in the dense ones.
        let still = modes.iter().filter(|mode| mode.eigenvalue.norm() == 0.0).count();
        assert_eq!(still, free, "{beam:?}: {:?}", modes.iter().map(|m| m.eigenvalue).collect::<Vec<_>>());
        let fastest = exact.last().unwrap().norm();
        let slow = exact.iter().filter(|s| s.norm() > 1e-5 * fastest.min(1e3) && s.im > 1e-7 * s.norm());
        for (mode, exact) in modes[still..].iter().zip(slow) {
            let error = (mode.eigenvalue - exact).norm() / exact.norm();
            // Dense λ have the round-off of the fastest motion; ω/Δω of round-off in λ.
            let tolerance = 1e-9 + 1e-14 * (fastest / exact.norm()).powi(2);
            assert!(error < tolerance, "{beam:?}: {} instead of {exact}: {error:e}", mode.eigenvalue);
        }
        for mode in &modes {
            assert!(mode.residual < 1e-5, "{beam:?}: {}", mode.residual);
        }
    }
}

#[test]
fn a_body_on_any_joint_at_a_tip_leaves_modes_with_any_number_of_elements() {
    for (joint, (kind, _, free)) in JOINTS.iter().enumerate() {
        for elements in 4..=30 {
            let beam = Clamped {
                elements,
                order: 1,
                joint,
                stiffness: [1000.0, 1000.0, 10.0, 10.0, 10.0],
                inertia: 1e-3,
                mass: 1.0,
                offset: [0.0; 3],
                rate: 0.0,
                time: 0.0,
                force: 0.0,
                following: false,
                unit: 1.0,
            };
            let (_, modes, overdamped) = beam.modes(8);
            let still = modes.iter().filter(|mode| mode.frequency() == 0.0).count();
            assert_eq!((modes.len(), still, overdamped.len()), (8, *free, 0), "{kind} {elements}");
        }
    }
}

#[test]
fn frequencies_do_not_depend_on_the_unit_of_time() {
    let mut random = Random(3);
    for (following, rate, time) in
        [(false, 0.0, 0.0), (true, 0.0, 0.0), (false, 0.3, 1e-4), (true, 0.1, 1e-5)]
    {
        let beam = Clamped { force: 0.02, following, rate, time, joint: 0, elements: 12, ..random.clamped() };
        let (_, expected, _) = beam.modes(8);
        for unit in [1e-3, 1e-2, 10.0, 1e3] {
            let (_, modes, _) = Clamped { unit, ..beam.clone() }.modes(8);
            for (mode, expected) in modes.iter().zip(&expected) {
                let error =
                    (mode.eigenvalue / unit - expected.eigenvalue).norm() / expected.eigenvalue.norm();
                // The equilibrium is found to 1e-9 or so, and moves with it.
                assert!(error < 1e-8, "{beam:?} {unit}: {} {}", mode.eigenvalue / unit, expected.eigenvalue);
            }
        }
    }
}

#[test]
fn overdamped_motions_do_not_push_out_what_oscillates() {
    // A damping time of 0.5 s overdamps every mode above 1/(π · 0.5 s) Hz.
    let beam = Clamped {
        elements: 10,
        order: 1,
        joint: 0,
        stiffness: [1e4, 1e4, 1.0, 1.0, 1.0],
        inertia: 1e-4,
        mass: 10.0,
        offset: [0.0; 3],
        rate: 0.0,
        time: 0.5,
        force: 0.0,
        following: false,
        unit: 1.0,
    };
    let (linearized, modes, overdamped) = {
        let found = beam.machine().modes(About::Initial, ModeSettings { count: 6 }).unwrap();
        (found.linearized, found.modes, found.overdamped)
    };
    let exact = dense(&linearized);
    let oscillating: Vec<_> = exact.iter().filter(|s| s.im > 1e-7 * s.norm()).take(6).collect();
    assert_eq!(modes.len(), oscillating.len());
    for (mode, exact) in modes.iter().zip(oscillating) {
        // Dense eigenvalues have the round-off of the fastest motion.
        assert!((mode.eigenvalue - exact).norm() < 1e-9 * exact.norm(), "{} {exact}", mode.eigenvalue);
    }
    assert!(overdamped.iter().all(|mode| mode.frequency() == 0.0 && mode.damping_ratio() == 1.0));
    // Those of the fast modes crowd at −2, and not all are told apart.
    for mode in overdamped.iter().filter(|mode| mode.residual < 1e-8) {
        let s = mode.eigenvalue;
        let nearest = exact.iter().map(|exact| (exact - s).norm()).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-6 * s.norm(), "{s}");
    }
}

#[test]
fn a_pendulum_away_from_rest_has_the_mode_of_its_moment() {
    // I θ̈ = −m g l sin θ, so that s² = −m g l cos θ/I with I = 0.2 + m l²; from hanging over the horizontal
    // to standing.
    for degrees in [0.0_f64, 30.0, 89.0, 90.0, 91.0, 150.0] {
        let angle = degrees.to_radians();
        let (x, z) = (0.5 * angle.sin(), -0.5 * angle.cos());
        let machine = machine(&format!(
            "[[body]]
            name = 'arm'
            mass = 2
            inertia = [0.1, 0.2, 0.3]
            position = [{x}, 0, {z}]
            [[revolute]]
            name = 'pin'
            bodies = ['ground', 'arm']
            point = [0, 0, 0]
            axis = [0, 1, 0]"
        ));
        let found = machine.modes(About::Initial, ModeSettings::default()).unwrap();
        let square = if degrees == 90.0 { 0.0 } else { -2.0 * 9.80665 * 0.5 * angle.cos() / 0.7 };
        let eigenvalue = found.modes[0].eigenvalue;
        assert_eq!(found.modes.len(), 1);
        // What the residual of a mode makes of squares of about 10/s².
        assert!((eigenvalue * eigenvalue - square).norm() < 1e-9, "{degrees}: {eigenvalue} {square}");
        let words: Vec<&str> = found.notes.into_iter().map(|note| note.kind.word()).collect();
        // Near the horizontal the residual may lie above the limit by the reactions in it; that is told.
        assert_eq!(words.contains(&"not-at-rest"), degrees > 0.0, "{degrees}: {words:?}");
        assert!(!words.contains(&"missing-modes"), "{degrees}: {words:?}");
    }
}

#[test]
fn a_thin_rod_next_to_its_rest_has_a_mode_without_doubt() {
    for degrees in [89.9_f64, 90.0] {
        let machine = machine(&format!(
            "[[body]]
            name = 'rod'
            mass = 1
            # Next to no inertia about its own axis.
            inertia = [1e-6, '1/12', '1/12']
            position = [0.5, 0, 0]
            [[revolute]]
            name = 'pin'
            bodies = ['ground', 'rod']
            point = [0, 0, 0]
            axis = [0, 1, 0]
            angle = '{degrees} deg'"
        ));
        let found = machine.modes(About::Initial, ModeSettings { count: 3 }).unwrap();
        // The slope 3g/(2l) sin φ of the angular acceleration 3g/(2l) cos φ, φ from the horizontal.
        let expected = (1.5 * 9.80665 * degrees.to_radians().sin()).sqrt() / std::f64::consts::TAU;
        assert_eq!(found.modes.len(), 1, "{degrees}: {:?}", found.notes.texts());
        let frequency = found.modes[0].frequency();
        assert!((frequency / expected - 1.0).abs() < 1e-8, "{degrees}: {frequency} {expected}");
        let doubts: Vec<_> = found.notes.into_iter().filter(|note| note.doubt).collect();
        assert!(doubts.is_empty(), "{degrees}: {doubts:?}");
    }
}
