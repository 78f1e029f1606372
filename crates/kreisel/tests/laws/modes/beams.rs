//! Frequencies of beams: Timoshenko's determinant, a rotating blade, a thousand elements.

use super::assert_near;
use kreisel::dae::{Control, Dae, Initial, Scales};
use kreisel::element::beam::{Beam, BeamEnd, Half, QuadraticBeam, QuadraticSpan, Section, Segment, Span};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix6, Pose, UnitQuaternion, Vector3, Vector6};
use kreisel::modes::{Linearized, Mode, ModeSettings};
use kreisel::statics;
use kreisel::system::{System, SystemBuilder};
use nalgebra::{Matrix4, Vector4};
use std::f64::consts::TAU;

/// Stiffness (GJ, EI_y, EI_z, EA, GA_y, GA_z) and mass (ρJ, ρI_y, ρI_z, ρA) of a section.
#[derive(Clone, Copy)]
struct Data {
    stiffness: [f64; 6],
    mass: [f64; 4],
}

impl Data {
    fn section(&self) -> Section {
        let [polar, about_y, about_z, mass] = self.mass;
        Section::new(
            Matrix6::from_diagonal(&Vector6::from_column_slice(&self.stiffness)),
            Matrix6::from_diagonal(&Vector6::new(polar, about_y, about_z, mass, mass, mass)),
        )
        .unwrap()
    }
}

/// A beam along x from a root to a tip, clamped to the ground or free.
fn beam(data: &Data, root: f64, length: f64, elements: usize, clamped: bool) -> (System, Initial) {
    let section = data.section();
    let mut builder = SystemBuilder::new();
    let at = |i: usize| {
        let x = root + length * i as f64 / elements as f64;
        Pose::new(UnitQuaternion::identity(), Vector3::new(x, 0.0, 0.0))
    };
    let mut last = BeamEnd { node: None, offset: Some(at(0)) };
    let half = |half| Span::between(&at(0), &at(1)).unwrap().half_mass(half, section.mass());
    let first = if clamped { 1 } else { 0 };
    for i in first..=elements {
        let node = builder.node(format!("node-{i}"), Group::Se3, at(i), Vector6::zeros());
        let mut mass = Matrix6::zeros();
        if i > 0 {
            let span = Span::between(&at(i - 1), &at(i)).unwrap();
            builder.element("beam", Beam::new([last, BeamEnd::on(node)], &span, &section, 0.0));
            mass += half(Half::Second);
        }
        if i < elements {
            mass += half(Half::First);
        }
        builder.element("beam", Segment::new(node, mass, Vector3::zeros(), 0.0));
        last = BeamEnd::on(node);
    }
    builder.scales(Scales { length, arm: None, mass: data.mass[3] * length, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

/// The same clamped beam of elements with three nodes.
fn quadratic_beam(data: &Data, root: f64, length: f64, elements: usize) -> (System, Initial) {
    let section = data.section();
    let mut builder = SystemBuilder::new();
    let at = |i: usize| {
        let x = root + length * i as f64 / (2 * elements) as f64;
        Pose::new(UnitQuaternion::identity(), Vector3::new(x, 0.0, 0.0))
    };
    let mut last = BeamEnd { node: None, offset: Some(at(0)) };
    let mut masses = vec![0.0; 2 * elements + 1];
    for element in 0..elements {
        let frames = [0, 1, 2].map(|k| at(2 * element + k));
        let span = QuadraticSpan::through(frames.each_ref()).unwrap();
        let [middle, end] = [1, 2].map(|k| {
            let name = format!("node-{}", 2 * element + k);
            BeamEnd::on(builder.node(name, Group::Se3, frames[k], Vector6::zeros()))
        });
        builder.element("beam", QuadraticBeam::new([last, middle, end], &span, &section, 0.0));
        for (sum, share) in masses[2 * element..].iter_mut().zip(span.node_lengths()) {
            *sum += share;
        }
        last = end;
    }
    for (node, length) in masses[1..].iter().enumerate() {
        let mass = *length * section.mass();
        builder.element("beam", Segment::new(NodeId(node), mass, Vector3::zeros(), 0.0));
    }
    builder.scales(Scales { length, arm: None, mass: data.mass[3] * length, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

fn frequencies(system: &System, initial: &Initial, settings: ModeSettings) -> Vec<f64> {
    let found =
        statics::solve(system, initial, &statics::StaticSettings::default(), |_| Control::Continue).unwrap();
    let linearized = Linearized::at(system, &found.equilibrium.point()).unwrap();
    assert!(linearized.is_conservative());
    linearized.modes(settings).unwrap().modes.iter().map(Mode::frequency).collect()
}

/// det of the moment and shear force at the free end for those at the clamped end: its zeros are the
/// frequencies.
///
/// (w, ψ, M, V)' = A (w, ψ, M, V) with w' = ψ + V/GA, ψ' = M/EI, M' = −V − ρI ω² ψ, V' = −ρA ω² w; the
/// exponential of A L by a series after halving.
fn determinant(omega: f64, bending: f64, shear: f64, mass: f64, inertia: f64, length: f64) -> f64 {
    let mut a = Matrix4::zeros();
    (a[(0, 1)], a[(0, 3)], a[(1, 2)]) = (1.0, 1.0 / shear, 1.0 / bending);
    (a[(2, 1)], a[(2, 3)], a[(3, 0)]) = (-inertia * omega * omega, -1.0, -mass * omega * omega);
    // In units in which the entries are alike.
    let units = Vector4::new(length, 1.0, bending / length, bending / (length * length));
    let scaled = Matrix4::from_diagonal(&units.map(f64::recip)) * a * Matrix4::from_diagonal(&units) * length;
    let halvings = 10;
    let small = scaled / f64::from(1 << halvings);
    let (mut power, mut sum) = (Matrix4::<f64>::identity(), Matrix4::<f64>::identity());
    for k in 1..20 {
        power *= small / f64::from(k);
        sum += power;
    }
    for _ in 0..halvings {
        sum *= sum;
    }
    sum[(2, 2)] * sum[(3, 3)] - sum[(2, 3)] * sum[(3, 2)]
}

/// The first frequencies in Hz, by scanning for changes of sign.
fn timoshenko(data: &Data, bending: f64, shear: f64, inertia: f64, length: f64, count: usize) -> Vec<f64> {
    let f = |omega: f64| determinant(omega, bending, shear, data.mass[3], inertia, length);
    let step = 0.05 * (bending / data.mass[3]).sqrt() / (length * length);
    changes_of_sign(f, step, count).iter().map(|omega| omega / TAU).collect()
}

/// The first zeros of a function, by steps until its sign changes, and halving.
fn changes_of_sign(f: impl Fn(f64) -> f64, step: f64, count: usize) -> Vec<f64> {
    let mut found = Vec::new();
    let mut low = step;
    while found.len() < count {
        let high = low + step;
        if f(low) * f(high) < 0.0 {
            let (mut a, mut b) = (low, high);
            for _ in 0..50 {
                let middle = 0.5 * (a + b);
                if f(a) * f(middle) <= 0.0 { b = middle } else { a = middle }
            }
            found.push(0.5 * (a + b));
        }
        low = high;
    }
    found
}

/// A stocky beam: shear and rotary inertia change the third frequency by a tenth and more.
const STOCKY: Data =
    Data { stiffness: [900.0, 1000.0, 2000.0, 4e5, 1.5e5, 1.2e5], mass: [0.06, 0.02, 0.04, 8.0] };

#[test]
fn a_clamped_beam_has_the_frequencies_of_timoshenkos_determinant() {
    let length = 1.0;
    let [_, about_y, about_z, _, shear_y, shear_z] = STOCKY.stiffness;
    // Bending about z moves along y and shears by GA_y.
    let mut exact = timoshenko(&STOCKY, about_y, shear_z, STOCKY.mass[1], length, 3);
    exact.extend(timoshenko(&STOCKY, about_z, shear_y, STOCKY.mass[2], length, 3));
    exact.sort_by(f64::total_cmp);
    exact.truncate(4);
    let errors: Vec<Vec<f64>> = [20, 40]
        .iter()
        .map(|&elements| {
            let (system, initial) = beam(&STOCKY, 0.0, length, elements, true);
            let found = frequencies(&system, &initial, ModeSettings { count: 12 });
            // Torsion and stretch are in between; the nearest frequency is the one.
            let nearest =
                |exact: &f64| found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
            exact.iter().map(nearest).collect()
        })
        .collect();
    for (coarse, fine) in errors[0].iter().zip(&errors[1]) {
        // Second order: a quarter with twice the elements, and (π/2 · 1.5/40)² at the second mode.
        assert!(*fine < 4e-3 && (coarse / fine).log2() > 1.8, "{errors:?}");
    }
}

#[test]
fn frequencies_of_elements_with_three_nodes_converge_with_fourth_order() {
    let length = 1.0;
    let [_, about_y, about_z, _, shear_y, shear_z] = STOCKY.stiffness;
    let mut exact = timoshenko(&STOCKY, about_y, shear_z, STOCKY.mass[1], length, 3);
    exact.extend(timoshenko(&STOCKY, about_z, shear_y, STOCKY.mass[2], length, 3));
    exact.sort_by(f64::total_cmp);
    exact.truncate(4);
    // Torsion: f = 1/(4 L) √(GJ/ρJ).
    exact.push((900.0_f64 / 0.06).sqrt() / 4.0);
    let errors: Vec<Vec<f64>> = [10, 20]
        .iter()
        .map(|&elements| {
            let (system, initial) = quadratic_beam(&STOCKY, 0.0, length, elements);
            let found = frequencies(&system, &initial, ModeSettings { count: 12 });
            let nearest =
                |exact: &f64| found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
            exact.iter().map(nearest).collect()
        })
        .collect();
    for (coarse, fine) in errors[0].iter().zip(&errors[1]) {
        // On as many nodes as the test above; a sixteenth with twice the elements, unless round-off of a
        // condition of 1e9 is in the way.
        assert!(*fine < 1e-4 && ((coarse / fine).log2() > 3.7 || *fine < 1e-8), "{errors:?}");
    }
}

#[test]
fn torsion_and_stretch_of_a_clamped_beam_have_their_closed_forms() {
    // f = (2k − 1)/(4 L) √(GJ/ρJ), and √(EA/ρA) for stretch.
    let (system, initial) = beam(&STOCKY, 0.0, 1.0, 60, true);
    let found = frequencies(&system, &initial, ModeSettings { count: 30 });
    for exact in
        [(900.0_f64 / 0.06).sqrt() / 4.0, 0.75 * (900.0_f64 / 0.06).sqrt(), (4e5_f64 / 8.0).sqrt() / 4.0]
    {
        let nearest = found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
        // Lumped masses: (π (2k − 1)/(4 · 60))²/6 at k = 2.
        assert!(nearest < 4e-4, "{exact} {found:?}");
    }
}

#[test]
fn a_thousand_elements_are_solved_sparse_and_agree_with_timoshenko() {
    let (system, initial) = beam(&STOCKY, 0.0, 1.0, 1000, true);
    let found = frequencies(&system, &initial, ModeSettings { count: 4 });
    let [_, about_y, _, _, _, shear_z] = STOCKY.stiffness;
    let exact = timoshenko(&STOCKY, about_y, shear_z, STOCKY.mass[1], 1.0, 1)[0];
    // (π/2/1000)² of the elements, and what a condition of 1e9 leaves of the digits.
    assert_near(found[0], exact, 1e-5 * exact);
}

#[test]
fn a_free_beam_has_six_modes_of_frequency_zero() {
    for elements in [10, 60] {
        let (system, initial) = beam(&STOCKY, 0.0, 1.0, elements, false);
        let zeros = vec![0.0; system.shape().velocity_count()];
        let at = kreisel::dae::Point {
            time: 0.0,
            configuration: &initial.configuration,
            velocity: &zeros,
            acceleration: &zeros,
            multipliers: &[],
            nonholonomic_multipliers: &[],
            internal_states: &[],
            memory: &vec![0.0; system.shape().memory],
        };
        let modes = Linearized::at(&system, &at).unwrap().modes(ModeSettings { count: 8 }).unwrap().modes;
        let found: Vec<f64> = modes.iter().map(Mode::frequency).collect();
        // Round-off of the largest eigenvalue, (10⁵ rad/s)² · 1e-16, leaves 1e-3 rad/s.
        assert!(found[..6].iter().all(|f| *f < 1e-2) && found[6] > 10.0, "{found:?}");
    }
}

/// The blade of `validation/aerobeams/blade.toml`.
const BLADE: Data = Data {
    stiffness: [120.0688544007775, 2748.1009725000004, 200752.5, 2409030.0, 86775.0, 7120.0],
    mass: [1.423219e-06, 1.921936e-08, 1.404000e-06, 1.684800e-05],
};

#[test]
fn a_rotating_blade_has_the_flap_frequencies_of_an_integration_along_it() {
    let (root, length) = (2.5, 37.5);
    // Fourth order: at the fourth flap mode (11/60)⁴ and less.
    let (system, initial) = quadratic_beam(&BLADE, root, length, 30);
    for rpm in [0.0, 250.0, 500.0, 750.0] {
        let mut spin = Vector6::zeros();
        spin[2] = rpm * TAU / 60.0;
        let settings = statics::StaticSettings { spin, ..statics::StaticSettings::default() };
        let found = statics::solve(&system, &initial, &settings, |_| Control::Continue).unwrap();
        let linearized = Linearized::at(&system, &found.equilibrium.point()).unwrap();
        let modes = linearized.modes(ModeSettings { count: 12 }).unwrap().modes;
        let found: Vec<f64> = modes.iter().map(|mode| TAU * mode.frequency()).collect();
        for exact in rotating_flap(&BLADE, root, length, spin[2], 4) {
            let nearest = found.iter().map(|f| (f / exact - 1.0).abs()).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-4, "{rpm} rpm: {exact} is not among {found:?}");
        }
    }
}

/// Flap frequencies in rad/s of a clamped blade that turns about z, with shear and rotary inertia, by
/// integration along the blade.
///
/// The blade is stretched to x(s) with EA x″ = −ρA Ω² x, x′(L) = 1, and the tension is T = EA (x′ − 1). Small
/// deflections w and rotations ψ, the moment M and the force V along z obey w′ = x′ ψ + (V − T ψ)/GA, ψ′ =
/// M/EI, M′ = −x′ V + T w′ − ρI (ω² + Ω²) ψ, V′ = −ρA ω² w.
fn rotating_flap(data: &Data, root: f64, length: f64, spin: f64, count: usize) -> Vec<f64> {
    let [_, bending, _, axial, _, shear] = data.stiffness;
    let [_, inertia, _, mass] = data.mass;
    let k = spin * (mass / axial).sqrt();
    let stretch = |s: f64| match k {
        0.0 => 1.0,
        _ => {
            let sine = (1.0 + k * root * (k * length).sin()) / (k * length).cos();
            sine * (k * s).cos() - k * root * (k * s).sin()
        }
    };
    let units = Vector4::new(length, 1.0, bending / length, bending / (length * length));
    let determinant = |omega: f64| {
        let slope = |s: f64| {
            let along = stretch(s);
            let tension = axial * (along - 1.0);
            let mut a = Matrix4::zeros();
            (a[(0, 1)], a[(0, 3)], a[(1, 2)]) = (along - tension / shear, 1.0 / shear, 1.0 / bending);
            (a[(2, 1)], a[(2, 3)]) = (tension * a[(0, 1)], tension * a[(0, 3)] - along);
            a[(2, 1)] -= inertia * (omega * omega + spin * spin);
            a[(3, 0)] = -mass * omega * omega;
            Matrix4::from_diagonal(&units.map(f64::recip)) * a * Matrix4::from_diagonal(&units)
        };
        let h = length / 200.0;
        let mut ahead = Matrix4::<f64>::identity();
        for step in 0..200 {
            let s = h * f64::from(step);
            let [first, middle, last] = [s, s + 0.5 * h, s + h].map(slope);
            let k1 = first * ahead;
            let k2 = middle * (ahead + 0.5 * h * k1);
            let k3 = middle * (ahead + 0.5 * h * k2);
            let k4 = last * (ahead + h * k3);
            ahead += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
        ahead[(2, 2)] * ahead[(3, 3)] - ahead[(2, 3)] * ahead[(3, 2)]
    };
    changes_of_sign(determinant, 0.25 * (bending / mass).sqrt() / (length * length), count)
}
