//! One rule in one place: what is counted, weighed and measured is the same wherever it is shown.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{difference, model, read, within};
use kreisel::machine::{Mobility, SettingTexts};
use kreisel::run::{Recorder, RunStatistics, Trajectory};

/// Moments of inertia 1 and 0.5, ratio 2, torque 3 on the first: it accelerates by 3/(1 + 2² · 0.5) = 1, and
/// the gear turns the second with 0.5 · 2.
#[test]
fn the_torque_of_a_gear_is_that_on_the_second_body_of_the_second_joint() {
    let wheel = |name: &str, inertia: f64, x: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 1\ninertia = [{inertia}, {inertia}, {inertia}]\nposition = [{x}, 0, 0]\n\
             [[revolute]]\nname = '{name}-pin'\nbodies = ['ground', '{name}']\npoint = [{x}, 0, 0]\n"
        )
    };
    let machine = read(&format!(
        "[simulation]\nend-time = 0.2\nstep = 0.01\n{}{}\
         [[gear]]\nname = 'gear'\njoints = ['first-pin', 'second-pin']\nratio = 2\n\
         [[joint-force]]\nname = 'motor'\njoint = 'first-pin'\ntorque = 3\n",
        wheel("first", 1.0, 0.0),
        wheel("second", 0.5, 1.0)
    ))
    .unwrap();
    let run = machine.simulate().unwrap();
    // Constant accelerations are integrated exactly.
    within("torque", difference(&run, "gear.torque.z", |_| 1.0), 1e-12);
    within("second wheel", difference(&run, "second-pin.rate", |t| 2.0 * t), 1e-12);
}

const BEAM: &str = "
    [[beam]]
    name = 'blade'
    points = [[0, 0, 0], [1, 0, 0]]
    elements = 10
    section = { axial-stiffness = 1e6, shear-stiffness = [1e6, 1e6], torsional-stiffness = 1e3, bending-stiffness = [1e3, 1e3], mass-per-length = 10, inertia-per-length = [1e-3, 1e-3, 1e-3] }
";

#[test]
fn the_mass_of_clamped_beams_is_all_of_it() {
    let clamped = read(&format!("{BEAM}start = 'ground'\n")).unwrap();
    // Rounding of a sum of ten.
    within("clamped", (clamped.frames().mass() - 10.0).abs(), 1e-12);
    let body = "[[body]]\nname = 'hub'\nmass = 1\ninertia = [1, 1, 1]\n";
    let on_body = read(&format!("{body}{BEAM}start = 'hub'\n")).unwrap();
    within("on a body", (on_body.frames().mass() - 11.0).abs(), 1e-12);
}

#[test]
fn a_run_counts_the_equations_that_a_check_counts() {
    let machine = model("rolling-disc", &[], &SettingTexts::default().with("end-time", "0.01"));
    let plan = machine.settings().plan().unwrap();
    let mut run = machine.start(&plan).unwrap();
    let mut recorder = Recorder::new(&machine, plan.output_step, Trajectory::new(&machine));
    run.advance(&mut recorder);
    let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
    assert_eq!(RunStatistics::new(&machine, &run, &recorder).constraints, mobility.equations);
    assert_eq!(mobility.equations, 3);
}

#[test]
fn the_wrong_transition_is_told_with_the_way_out() {
    let hinge = "[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\n[[revolute]]\nname = 'pin'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n";
    for law in ["torque = 1", "friction = 0.1\nradius = 0.01"] {
        let text = format!(
            "{hinge}[[joint-friction]]\nname = 'rub'\njoint = 'pin'\n{law}\ntransition-speed = 1e-3\n"
        );
        let error = read(&text).err().unwrap();
        assert!(
            error.contains("`transition-speed`") && error.contains("`transition-rate`, in rad/s"),
            "{error}"
        );
    }
}
