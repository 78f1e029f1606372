//! The static models in `models/` do what their opening comments promise.

use super::rod::{Frame, Rod};
use super::solve;
use kreisel::dae::Control;
use kreisel::kinematics::NodeId;
use kreisel::lie::{Matrix3, Vector3};
use kreisel::machine::Machine;
use kreisel::modes;
use kreisel::run::{About, StaticRecorder, Trajectory};
use kreisel::statics::{Ending, Equilibrium, PathSettings, StaticSettings};
use std::f64::consts::FRAC_PI_4;
use std::path::Path;

fn machine(name: &str, parameters: &[(&str, &str)]) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    Machine::read(&path, parameters).map_err(|errors| errors.render(false)).unwrap()
}

/// Position of the last node of a machine made of one beam.
fn tip(machine: &Machine, at: &Equilibrium) -> Vector3 {
    machine.system().motion(NodeId(machine.system().node_count() - 1), &at.point()).pose.position
}

#[test]
fn the_model_of_the_rolled_cantilever_closes_its_circles() {
    for circles in ["1", "2"] {
        let machine = machine("cantilever-roll", &[("circles", circles)]);
        let found = machine.equilibrium().unwrap();
        // Arcs are exact: what Newton leaves, magnified by the length over an element.
        assert!(tip(&machine, &found.equilibrium).norm() < 1e-8, "{circles}");
    }
}

#[test]
fn the_model_of_the_bend_ends_at_the_tip_it_promises() {
    let machine = machine("bathe-45", &[]);
    let found = machine.equilibrium().unwrap();
    let tip = tip(&machine, &found.equilibrium);
    let stiffness = [5e6 / 6.0, 1e7 / 12.0, 1e7 / 12.0];
    let rod = Rod {
        length: 100.0 * FRAC_PI_4,
        curvature: Vector3::new(0.0, 0.0, 0.01),
        bending: Vector3::from(stiffness),
        stretching: Vector3::new(1e7, 25e6 / 6.0, 25e6 / 6.0),
        root: Matrix3::identity(),
    };
    // Eight elements: half a part in a hundred of the radius.
    assert!((tip - rod.tip(Vector3::new(0.0, 0.0, 600.0))).norm() < 0.5, "{tip}");
    assert!((tip - Vector3::new(47.15, 15.68, 53.48)).amax() < 0.01, "{tip}");
}

#[test]
fn the_model_of_lees_frame_has_its_limit_load() {
    let machine = machine("lee-frame", &[]);
    let path = Some(PathSettings { max_points: 300, ..PathSettings::default() });
    let settings = StaticSettings { path, target: 3.0, ..StaticSettings::default() };
    let mut recorder = StaticRecorder::new(&machine, Trajectory::new(&machine));
    let outcome = machine.find_equilibrium(&settings, |at| recorder.record(at));
    let found = outcome.solution.unwrap();
    assert_eq!(found.ending, Ending::Reached);
    let frame = Frame { length: 120.0, load_at: 0.2, bending: 1440.0, axial: 4320.0, shear: 1384.6154 };
    let exact = frame.limit_load();
    let limits: Vec<f64> = found.limit_points.iter().map(|point| point.load_factor).collect();
    // Twenty elements of a leg: below one part in a hundred.
    assert!((limits[0] / exact - 1.0).abs() < 0.01 && limits[1] < 0.0, "{limits:?} {exact}");
    let recorded = recorder.finish().unwrap();
    // The load factor takes the place of time and rises above the limit only at the end.
    assert!(recorded.times.iter().any(|factor| *factor < 0.0) && recorded.times.last() == Some(&3.0));
}

#[test]
fn the_model_of_the_princeton_beam_bends_as_linear_theory_says_under_a_small_weight() {
    let (length, young) = (0.508_f64, 71.7e9);
    let [thin, wide] = [12.7e-3 * 3.2024e-3_f64.powi(3) / 12.0, 3.2024e-3 * 12.7e-3_f64.powi(3) / 12.0];
    for (angle, inertia, axis) in [("0 deg", wide, 2), ("90 deg", thin, 1)] {
        let machine = machine("princeton-beam", &[("weight", "0.001"), ("angle", angle)]);
        let found = machine.equilibrium().unwrap();
        let deflection = tip(&machine, &found.equilibrium)[axis];
        let exact = 0.001 * length.powi(3) / (3.0 * young * inertia);
        // Twenty elements: 1/(4 · 20²) of the deflection; shear adds a few parts in ten thousand.
        assert!((deflection / exact - 1.0).abs() < 2e-3, "{angle}: {deflection} {exact}");
    }
}

#[test]
fn a_loaded_strip_has_modes_about_its_equilibrium() {
    let machine = machine("princeton-beam", &[("weight", "1e-6")]);
    let settings = modes::ModeSettings { count: 2 };
    let found = machine.modes(About::Static, settings).unwrap();
    // Clamped and slender: 1.8751² /(2π L²) √(EI/ρA), flat and on edge.
    for (mode, thickness) in found.modes.iter().zip([3.2024e-3, 12.7e-3]) {
        let radius = thickness / 12.0_f64.sqrt();
        let exact = 1.875_104_07_f64.powi(2) / (std::f64::consts::TAU * 0.508 * 0.508)
            * radius
            * (71.7e9_f64 / 2810.0).sqrt();
        // Twenty elements, shear and rotary inertia: a few parts in a thousand.
        assert!((mode.frequency() / exact - 1.0).abs() < 5e-3, "{} {exact}", mode.frequency());
    }
}

#[test]
fn a_machine_without_loads_is_where_its_springs_leave_it() {
    let machine = machine("cantilever-roll", &[("circles", "0")]);
    let found = solve(machine.system(), machine.initial(), &StaticSettings::default()).unwrap();
    // Where it is already: rounding.
    assert!((tip(&machine, &found.equilibrium) - Vector3::new(1.0, 0.0, 0.0)).norm() < 1e-12);
    let mut seen = 0;
    machine.find_equilibrium(&StaticSettings::default(), |_| {
        seen += 1;
        Control::Continue
    });
    assert_eq!(seen, 1);
}
