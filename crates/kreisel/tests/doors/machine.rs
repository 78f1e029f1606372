//! Model files become machines.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::integrate::{Integrator, Saved, Settings};
use kreisel::lie::{Group, vector3};
use kreisel::machine::{Machine, Mobility};
use kreisel::solve::newton::Refresh;
use kreisel_papers::problem::HeavyTop;

#[test]
fn the_heavy_top_of_the_model_file_moves_like_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    let machine = Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap();
    let settings = machine.settings().integration(1e-3);
    let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(1.0).unwrap();
    let reference = HeavyTop::new(Group::So3xR3).reference(&[1.0])[0];
    let error = (vector3(&run.values().configuration[4..]) - reference.position).norm();
    // The error of this method and step that two other programs find: 7.27e-3.
    assert!((error - 7.27e-3).abs() < 1e-4, "{error}");
}

/// Two shafts at 30°, joined by a universal joint or by a cross on two hinges; angle of the second after a
/// run.
fn shaft_angle(joint: &str, method: kreisel::integrate::Method) -> f64 {
    let text = format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [parameters]
        bend = '30 deg'
        [[body]]
        name = 'first'
        mass = 1
        inertia = [0.1, 0.1, 0.2]
        angular-velocity = [0, 0, 10]
        [[body]]
        name = 'second'
        mass = 1
        inertia = [0.1, 0.1, 0.2]
        orientation = {{ axis = [1, 0, 0], angle = 'bend' }}
        [[revolute]]
        name = 'a'
        bodies = ['ground', 'first']
        point = [0, 0, -1]
        axis = [0, 0, 1]
        [[revolute]]
        name = 'b'
        bodies = ['ground', 'second']
        point = [0, '-sin(bend)', 'cos(bend)']
        axis = [0, '-sin(bend)', 'cos(bend)']
        {joint}"
    );
    let machine = Machine::from_text("shafts.toml", &text).map_err(|errors| errors.render(false)).unwrap();
    let settings = Settings::new(method, machine.settings().integrator().parameters(), 1e-3)
        .with_newton_tolerances(1e-12, 1e-13);
    let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(0.5).unwrap();
    let node = machine.frames().bodies()[1].node.0;
    let rotation = kreisel::lie::quaternion(&run.values().configuration[7 * node..]);
    rotation.angle()
}

#[test]
fn a_massless_cross_on_two_hinges_is_a_universal_joint() {
    let universal = "[[universal]]
        name = 'joint'
        bodies = ['first', 'second']
        point = [0, 0, 0]
        first-axis = [1, 0, 0]
        second-axis = [0, 'cos(bend)', 'sin(bend)']";
    let cross = "[[body]]
        name = 'cross'
        massless = true
        [[revolute]]
        name = 'c'
        bodies = ['first', 'cross']
        point = [0, 0, 0]
        axis = [1, 0, 0]
        [[revolute]]
        name = 'd'
        bodies = ['cross', 'second']
        point = [0, 0, 0]
        axis = [0, 'cos(bend)', 'sin(bend)']";
    for method in [kreisel::integrate::INDEX3, kreisel::integrate::INDEX2] {
        let difference = shaft_angle(universal, method) - shaft_angle(cross, method);
        // The same motion; with `index2` the stabilisation acts on other constraints, an effect of second
        // order.
        assert!(difference.abs() < 1e-4, "{method:?}: {difference}");
    }
}

#[test]
fn a_massless_direction_that_nothing_holds_is_named() {
    let text = "[[body]]
        name = 'rod'
        massless = true
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'rod']
        point = [0, 0, 0]
        [[body]]
        name = 'weight'
        mass = 1
        inertia = [1, 1, 1]";
    let machine = Machine::from_text("rod.toml", text).map_err(|errors| errors.render(false)).unwrap();
    let settings = machine.settings().integration(1e-3);
    let refusal =
        Integrator::with(settings).start(machine.system(), machine.initial().clone()).err().unwrap();
    assert!(refusal.to_string().contains("`rod`"), "{refusal}");
}

#[test]
fn a_machine_with_massless_parts_continues_from_a_saved_state_to_the_same_bits() {
    // Weights on massless rods in a row: what is singular alone joins its neighbours in the factorisation.
    let mut text = String::from("[gravity]\nacceleration = [0, -9.81, 0]\n");
    for link in 0..4 {
        let before = if link == 0 { "ground".to_string() } else { format!("weight-{}", link - 1) };
        text += &format!(
            "[[body]]\nname = 'rod-{link}'\nmassless = true\nposition = [{x}, 0, 0]\n\
             [[body]]\nname = 'weight-{link}'\nmass = 1\ninertia = [1, 1, 1]\nposition = [{}, 0, 0]\n\
             [[revolute]]\nname = 'pin-{link}'\nbodies = ['{before}', 'rod-{link}']\npoint = [{x}, 0, 0]\n\
             [[fixed]]\nname = 'end-{link}'\nbodies = ['rod-{link}', 'weight-{link}']\npoint = [{}, 0, 0]\n",
            link + 1,
            link + 1,
            x = link,
        );
    }
    let machine = Machine::from_text("row.toml", &text).map_err(|errors| errors.render(false)).unwrap();
    for refresh in [Refresh::EveryStep, Refresh::WhenSlow] {
        for method in [kreisel::integrate::INDEX3, kreisel::integrate::INDEX2] {
            let settings = Settings::new(method, machine.settings().integrator().parameters(), 5e-3)
                .with_refresh(refresh);
            let integrator = Integrator::with(settings);
            let mut whole = integrator.start(machine.system(), machine.initial().clone()).unwrap();
            for _ in 0..37 {
                whole.step().unwrap();
            }
            let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
            let mut resumed = integrator.resume(machine.system(), &saved).unwrap();
            // A change of the step uses the other linear solver as well.
            for step in [5e-3, 5e-3, 2e-3, 5e-3, 5e-3] {
                whole.step_by(step).unwrap();
                resumed.step_by(step).unwrap();
                assert_eq!(whole.values(), resumed.values(), "{method:?} {refresh:?}");
            }
        }
    }
}

#[test]
fn drives_that_ask_for_the_same_motion_and_joints_without_freedom_are_told() {
    let wheel = "[[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\n\
                 [[revolute]]\nname = 'axle'\nbodies = ['ground', 'wheel']\npoint = [0, 0, 0]\n";
    let drive =
        |name: &str, joint: &str| format!("[[drive]]\nname = '{name}'\njoint = '{joint}'\nangle = 0\n");
    let second = "[[revolute]]\nname = 'other'\nbodies = ['ground', 'wheel']\npoint = [1, 0, 0]\n";
    let cases = [
        (drive("one", "axle"), None),
        (drive("one", "axle") + &drive("two", "axle"), Some("locked by its drives")),
        (second.to_string() + &drive("one", "axle"), Some("locked by its drives")),
        (second.to_string(), Some("the machine cannot move")),
    ];
    for (parts, wanted) in cases {
        let machine = Machine::from_text("m.toml", &format!("{wheel}{parts}"));
        let machine = machine.map_err(|errors| errors.render(false)).unwrap();
        let found = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
        assert_eq!(found.degrees_of_freedom(), 0);
        let warnings = machine.mobility_notes(&found).texts().join("\n");
        match wanted {
            Some(words) => assert!(warnings.contains(words), "{warnings}"),
            None => assert!(warnings.is_empty(), "{warnings}"),
        }
    }
}
