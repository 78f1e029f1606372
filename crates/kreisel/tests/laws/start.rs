//! How machines start: what the model states is kept, what it leaves out follows.
//!
//! Unless a comment says more, tolerances of 1e-10 and less are roundings of numbers of size one after some
//! dozen operations.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::constrained::ConsistencyError;
use kreisel::integrate::{Integrator, StartError};
use kreisel::lie::Vector3;
use kreisel::machine::Machine;
use nalgebra::{DMatrix, DVector};

use crate::common::within;

fn machine(text: &str) -> Machine {
    Machine::from_text("m.toml", text).map_err(|errors| errors.render(false)).unwrap()
}

/// How a machine starts.
struct Start {
    velocities: Vec<(String, [Vector3; 2])>,
    notes: Vec<String>,
}

impl Start {
    fn of(text: &str) -> Result<Self, StartError> {
        let machine = machine(text);
        let plan = machine.plan().map_err(|errors| errors.render(false)).unwrap();
        let run = machine.start(&plan)?;
        let point = run.integration().values().point();
        let velocity = |body: &kreisel::machine::BodyEntry| {
            let motion = machine.system().motion(body.node, &point);
            let twist = motion.velocity;
            let [turns, shifts] = [0, 3].map(|first| motion.rotation * twist.fixed_rows::<3>(first));
            (body.name.clone(), [turns, shifts])
        };
        let velocities = machine.frames().bodies().iter().map(velocity).collect();
        Ok(Self { velocities, notes: machine.start_notes(&run).texts() })
    }

    /// Angular velocity and velocity of a body, in world axes.
    fn body(&self, name: &str) -> [Vector3; 2] {
        self.velocities.iter().find(|(known, _)| known == name).unwrap().1
    }
}

/// A slider-crank in the plane of x and y: crank of 0.2 m at 60°, rod of 0.5 m, slider along x. Keys of
/// crank, rod and slider may be added, and masses of the rod and slider chosen.
fn slider_crank(keys: [&str; 3], masses: [f64; 2]) -> String {
    let [crank, rod, slider] = keys;
    let [rod_mass, slider_mass] = masses;
    format!(
        "[simulation]\nend-time = 0.1\nstep = 0.001\n\
         [parameters]\na = '60 deg'\nb = 'asin(0.2*sin(a)/0.5)'\nx = '0.2*cos(a) + 0.5*cos(b)'\n\
         [[body]]\nname = 'crank'\nmass = 0.3\ninertia = [1e-4, 1e-3, 1e-3]\n\
         position = ['0.1*cos(a)', '0.1*sin(a)', 0]\norientation = {{ axis = [0, 0, 1], angle = 'a' }}\n{crank}\n\
         [[body]]\nname = 'rod'\nmass = {rod_mass}\ninertia = [1e-4, 1e-2, 1e-2]\n\
         position = ['0.2*cos(a) + 0.25*cos(b)', '0.25*sin(b)', 0]\n\
         orientation = {{ axis = [0, 0, 1], angle = '-b' }}\n{rod}\n\
         [[body]]\nname = 'slider'\nmass = {slider_mass}\ninertia = [1e-2, 1e-2, 1e-2]\nposition = ['x', 0, 0]\n{slider}\n\
         [[revolute]]\nname = 'bearing'\nbodies = ['ground', 'crank']\npoint = [0, 0, 0]\n\
         [[revolute]]\nname = 'pin'\nbodies = ['crank', 'rod']\npoint = ['0.2*cos(a)', '0.2*sin(a)', 0]\n\
         [[revolute]]\nname = 'eye'\nbodies = ['rod', 'slider']\npoint = ['x', 0, 0]\n\
         [[prismatic]]\nname = 'guide'\nbodies = ['ground', 'slider']\naxis = [1, 0, 0]\n"
    )
}

/// Rate of the rod's angle −b and speed of the slider where the crank turns at 6 rad/s, from 0.2 sin a = 0.5
/// sin b and x = 0.2 cos a + 0.5 cos b.
fn at_six() -> [f64; 2] {
    let a = 60.0_f64.to_radians();
    let b = (0.2 * a.sin() / 0.5).asin();
    let rate = 0.2 * a.cos() * 6.0 / (0.5 * b.cos());
    [-rate, -0.2 * a.sin() * 6.0 - 0.5 * b.sin() * rate]
}

const SIX: &str = "angular-velocity = [0, 0, 6]";

#[test]
fn a_crank_that_is_given_six_radians_a_second_starts_with_them_and_the_rest_follows() {
    let [rod, slider] = at_six();
    // A heavy slider would have all but stopped the crank, and a massless rod has no weight to stay at rest.
    for masses in [[0.5, 2.0], [0.5, 1e6], [1e-6, 1e-6]] {
        let start = Start::of(&slider_crank([SIX, "", ""], masses)).unwrap();
        within("crank", (start.body("crank")[0] - Vector3::new(0.0, 0.0, 6.0)).norm(), 1e-12);
        within("rod", (start.body("rod")[0].z - rod).abs(), 1e-12);
        within("slider", (start.body("slider")[1].x - slider).abs(), 1e-12);
        assert!(!start.notes.iter().any(|note| note.contains("velocit")), "{:?}", start.notes);
    }
}

#[test]
fn a_bar_of_which_only_the_turning_is_given_starts_with_it() {
    let bar = "
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'bar'
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        position = [-1, 0, 0]
        angular-velocity = [0, 1, 0]
        [[revolute]]
        bodies = ['ground', 'bar']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [simulation]
        end-time = 0.01
        step = 1e-3";
    let start = Start::of(bar).unwrap();
    let [turning, velocity] = start.body("bar");
    // ω × r, to the rounding of numbers of size one.
    assert!((turning - Vector3::y()).norm() < 1e-14, "{turning}");
    assert!((velocity - Vector3::z()).norm() < 1e-14, "{velocity}");
    assert_eq!(start.notes, Vec::<String>::new());
}

#[test]
fn what_is_stated_may_stand_anywhere_in_a_loop() {
    let [_, speed] = at_six();
    let slider = format!("velocity = [{speed:.17}, 0, 0]");
    let start = Start::of(&slider_crank(["", "", &slider], [0.5, 2.0])).unwrap();
    within("crank", (start.body("crank")[0].z - 6.0).abs(), 1e-11);
}

#[test]
fn stated_velocities_that_contradict_each_other_are_refused_with_joint_unit_and_values() {
    let error = Start::of(&slider_crank([SIX, "", "velocity = [1, 0, 0]"], [0.5, 2.0])).err().unwrap();
    let StartError::Initial(ConsistencyError::Velocities { changes, misses }) = &error else {
        panic!("{error}")
    };
    assert!(changes.iter().any(|change| change.name == "`crank`" && change.angular), "{changes:?}");
    assert!(!misses.is_empty());
    let words = error.to_string();
    for word in [
        "joint `",
        "the angular velocity of `crank` from 6 rad/s to ",
        "the velocity of `slider` from 1 m/s to ",
        "leave the rest out",
    ] {
        assert!(words.contains(word), "{words}");
    }
}

#[test]
fn a_velocity_that_would_vanish_is_told_as_zero_and_what_stays_is_not_told() {
    // Drawn with crank and rod on one line, the slider stands still whatever the crank does.
    let stretched = "[simulation]
        end-time = 0.1
        step = 1e-3
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'crank'
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = [0.1, 0, 0]
        angular-velocity = [0, 0, 6]
        [[body]]
        name = 'rod'
        mass = 1
        inertia = [0.01, 0.05, 0.05]
        position = [0.5, 0, 0]
        [[body]]
        name = 'slider'
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = [0.8, 0, 0]
        velocity = [1, 0, 0]
        [[revolute]]
        name = 'bearing'
        bodies = ['ground', 'crank']
        point = [0, 0, 0]
        axis = [0, 0, 1]
        [[revolute]]
        name = 'pin'
        bodies = ['crank', 'rod']
        point = [0.2, 0, 0]
        axis = [0, 0, 1]
        [[revolute]]
        name = 'eye'
        bodies = ['rod', 'slider']
        point = [0.8, 0, 0]
        axis = [0, 0, 1]
        [[prismatic]]
        name = 'guide'
        bodies = ['ground', 'slider']
        axis = [1, 0, 0]";
    let words = Start::of(stretched).err().unwrap().to_string();
    assert!(words.contains("the velocity of `slider` from 1 m/s to 0 m/s;"), "{words}");
    assert!(!words.contains("`crank`"), "{words}");
}

#[test]
fn a_small_contradiction_is_corrected_and_told() {
    let [_, speed] = at_six();
    let slider = format!("velocity = [{}, 0, 0]", speed * 1.003);
    let start = Start::of(&slider_crank([SIX, "", &slider], [0.5, 2.0])).unwrap();
    let crank = start.body("crank")[0].z;
    // Both give in, and what is left fits.
    assert!(crank > 6.0 && crank < 6.0 * 1.003, "{crank}");
    within("slider", (start.body("slider")[1].x - speed * crank / 6.0).abs(), 1e-11);
    let note = start.notes.iter().find(|note| note.contains("contradict each other")).unwrap();
    assert!(note.contains("joint `") && note.contains("of `crank` from 6 rad/s to 6.0"), "{note}");
}

#[test]
fn velocities_of_a_fixed_body_stay_exactly_as_they_are_given() {
    let [_, speed] = at_six();
    let slider = format!("velocity = [{}, 0, 0]", speed * 1.003);
    let crank = format!("{SIX}\nfixed = true");
    let start = Start::of(&slider_crank([&crank, "", &slider], [0.5, 2.0])).unwrap();
    assert_eq!(start.body("crank")[0].z, 6.0);
    within("slider", (start.body("slider")[1].x - speed).abs(), 1e-12);
    // Two that are fixed leave nothing to give in.
    let slider = format!("{slider}\nfixed = true");
    let error = Start::of(&slider_crank([&crank, "", &slider], [0.5, 2.0])).err().unwrap();
    for word in ["contradict each other in their velocities", "m/s or rad/s", "`fixed = true`"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    // A fixed body that states no velocity follows the others.
    let start = Start::of(&slider_crank([SIX, "", "fixed = true"], [0.5, 2.0])).unwrap();
    within("slider", (start.body("slider")[1].x - speed).abs(), 1e-12);
}

/// Four point masses in a row of rods, none along an axis; the first and the second may state velocities.
fn masses_on_rods(velocities: [&str; 4]) -> (String, [f64; 4], [Vector3; 4]) {
    let masses = [1.0, 3.0, 0.5, 20.0];
    let at = [[0.0, 0.0, 0.0], [1.0, 0.2, -0.1], [1.3, 1.1, 0.4], [2.0, 1.5, 1.0]].map(Vector3::from);
    let mut text = "[simulation]\nend-time = 0.1\nstep = 0.001\n".to_string();
    for (i, (mass, at)) in masses.iter().zip(&at).enumerate() {
        let (position, velocity) = (at.as_slice(), velocities[i]);
        text +=
            &format!("[[point-mass]]\nname = 'm{i}'\nmass = {mass}\nposition = {position:?}\n{velocity}\n");
    }
    for i in 0..3 {
        text += &format!("[[distance]]\nname = 'rod-{i}'\nbodies = ['m{i}', 'm{}']\n", i + 1);
    }
    (text, masses, at)
}

/// Rows of the rods: unit vectors along them, so that B v = 0.
fn rods(at: &[Vector3; 4]) -> DMatrix<f64> {
    let mut rows = DMatrix::zeros(3, 12);
    for i in 0..3 {
        let along = (at[i + 1] - at[i]).normalize();
        rows.fixed_view_mut::<1, 3>(i, 3 * i).copy_from(&-along.transpose());
        rows.fixed_view_mut::<1, 3>(i, 3 * i + 3).copy_from(&along.transpose());
    }
    rows
}

/// The velocity with B v = 0 whose change from `given` is smallest under weights, by dense elimination.
fn smallest_change(rows: &DMatrix<f64>, weights: &[f64], given: &DVector<f64>) -> DVector<f64> {
    let inverse = DMatrix::from_diagonal(&DVector::from_iterator(12, weights.iter().map(|w| 1.0 / w)));
    let gram = rows * &inverse * rows.transpose();
    given - &inverse * rows.transpose() * gram.lu().solve(&(rows * given)).unwrap()
}

#[test]
fn guesses_change_as_little_as_possible_and_stated_velocities_not_at_all() {
    let (text, masses, at) = masses_on_rods(["velocity = [1, 2, 3]", "", "", ""]);
    let start = Start::of(&text).unwrap();
    // What is stated is held by a weight beyond all others; 1e12 leaves four digits of the guesses at least.
    let weights: Vec<f64> = (0..12).map(|i| masses[i / 3] * if i < 3 { 1e9 } else { 1.0 }).collect();
    let mut given = DVector::zeros(12);
    given.rows_mut(0, 3).copy_from_slice(&[1.0, 2.0, 3.0]);
    let expected = smallest_change(&rods(&at), &weights, &given);
    for i in 0..4 {
        let found = start.body(&format!("m{i}"))[1];
        within(
            &format!("m{i}"),
            (found - Vector3::from_row_slice(&expected.as_slice()[3 * i..3 * i + 3])).norm(),
            1e-7,
        );
    }
    within("stated", (start.body("m0")[1] - Vector3::new(1.0, 2.0, 3.0)).norm(), 1e-14);
}

#[test]
fn stated_velocities_that_contradict_each_other_change_as_little_as_possible_by_mass() {
    // Along the first rod the second mass is 0.005 m/s faster: both meet at their common momentum. The heavy
    // masses behind, which state nothing, have no say.
    let (_, masses, at) = masses_on_rods([""; 4]);
    let along = (at[1] - at[0]).normalize();
    let speeds = [along, along * 1.005].map(|v| format!("velocity = {:?}", v.as_slice()));
    let (text, ..) = masses_on_rods([&speeds[0], &speeds[1], "", ""]);
    let start = Start::of(&text).unwrap();
    let common = (masses[0] + masses[1] * 1.005) / (masses[0] + masses[1]);
    for body in ["m0", "m1"] {
        // The weights of guesses are 1e-6 of those of what is stated.
        within(body, (start.body(body)[1] - common * along).norm(), 0.005 * 1e-4);
    }
    assert!(
        start.notes.iter().any(|note| note.contains("`rod-0` changed the velocity of `m0` from 1 m/s")),
        "{:?}",
        start.notes
    );
}

#[test]
fn models_whose_velocities_agree_start_with_the_same_bits_as_without_a_word_about_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let Ok(machine) = kreisel::read(&path) else { continue };
        let Ok(plan) = machine.plan() else { continue };
        let initial = machine.initial().clone();
        let mut plain = initial.clone();
        (plain.stated_position, plain.stated_velocity) = (Vec::new(), Vec::new());
        let start = |initial| {
            let run = Integrator::with(plan.integration).start(machine.system(), initial).unwrap();
            (run.values().configuration.clone(), run.values().velocity.clone())
        };
        assert_eq!(start(initial), start(plain), "{}", path.display());
        count += 1;
    }
    assert!(count > 30, "{count}");
}

#[test]
fn a_joint_has_one_name_for_its_rate_in_tables_expressions_and_sensors() {
    let text = |rate: &str| {
        format!(
            "[simulation]\nend-time = 0.1\nstep = 0.001\n[gravity]\nacceleration = [0, 0, 0]\n\
             [[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nangular-velocity = [0, 0, 2]\n\
             [[revolute]]\nname = 'axle'\nbodies = ['ground', 'wheel']\npoint = [0, 0, 0]\n\
             [[joint-force]]\njoint = 'axle'\ntorque = '-3*axle.{rate}'\n\
             [[sensor]]\nof = 'axle'\nquantity = '{rate}'\n"
        )
    };
    // I ω̇ = −3 ω.
    for rate in ["angle-rate", "rate"] {
        let machine = machine(&text(rate));
        let names: Vec<String> = machine.channels().into_iter().map(|channel| channel.name).collect();
        assert!(names.contains(&"axle.angle-rate".to_string()), "{names:?}");
        assert!(!names.contains(&"axle.rate".to_string()), "{names:?}");
        let run = machine.simulate().unwrap();
        for name in ["axle.angle-rate", "axle.rate"] {
            // A few times (3 h)²/12 of 2 rad/s.
            within(name, crate::common::difference(&run, name, |t| 2.0 * (-3.0 * t).exp()), 2e-6);
        }
    }
}

/// First record of a signal.
fn first(run: &kreisel::run::Trajectory, signal: &str) -> f64 {
    crate::common::column(run, signal)[0]
}

/// An arm of 1 m along x on a joint to the ground at the origin.
fn arm_on(joint: &str, bodies: &str, keys: &str) -> String {
    let point = if joint.starts_with("point-on") { "[1, 0, 0]" } else { "[0, 0, 0]" };
    format!(
        "[simulation]\nend-time = 0.01\nstep = 0.001\n\
         [[body]]\nname = 'arm'\nmass = 1\ninertia = [0.01, 0.1, 0.1]\nposition = [0.5, 0, 0]\n\
         [[{joint}]]\nname = 'joint'\nbodies = {bodies}\npoint = {point}\n{keys}\n"
    )
}

#[test]
fn every_coordinate_of_every_joint_starts_where_the_model_says_and_at_its_rate() {
    let kinds: [(&str, &[&str]); 8] = [
        ("revolute", &["angle"]),
        ("prismatic", &["displacement"]),
        ("cylindrical", &["angle", "displacement"]),
        ("universal", &["first-angle", "second-angle"]),
        ("planar", &["x", "y", "angle"]),
        ("screw", &["angle"]),
        ("point-on-line", &["displacement"]),
        ("point-on-plane", &["x", "y"]),
    ];
    for (kind, words) in kinds {
        for bodies in ["['ground', 'arm']", "['arm', 'ground']"] {
            let lead = if kind == "screw" { "lead = 0.2\n" } else { "" };
            let keys: String = (words.iter().zip(1..))
                .map(|(word, k)| {
                    format!("{word} = {}\n{word}-rate = {}\n", 0.3 * f64::from(k), -0.7 / f64::from(k))
                })
                .collect();
            let machine = machine(&arm_on(kind, bodies, &format!("{lead}{keys}")));
            let run = machine.simulate().unwrap();
            for (word, k) in words.iter().zip(1..) {
                let what = format!("{kind} {bodies} {word}");
                within(&what, (first(&run, &format!("joint.{word}")) - 0.3 * f64::from(k)).abs(), 1e-13);
                within(&what, (first(&run, &format!("joint.{word}-rate")) + 0.7 / f64::from(k)).abs(), 1e-12);
            }
            if kind == "screw" {
                let advance = 0.2 / std::f64::consts::TAU;
                within("screw", (first(&run, "joint.displacement") - 0.3 * advance).abs(), 1e-13);
                within("screw", (first(&run, "joint.displacement-rate") + 0.7 * advance).abs(), 1e-12);
            }
        }
    }
}

#[test]
fn the_short_rate_is_another_word_and_both_are_too_many() {
    let run = machine(&arm_on("revolute", "['ground', 'arm']", "rate = 2")).simulate().unwrap();
    within("rate", (first(&run, "joint.angle-rate") - 2.0).abs(), 1e-13);
    let text = arm_on("revolute", "['ground', 'arm']", "rate = 2\nangle-rate = 2");
    let error = Machine::from_text("m.toml", &text).err().unwrap().render(false);
    assert!(error.contains("angle-rate") && error.contains("both are given"), "{error}");
    // Beyond half a turn a joint would not show what was written.
    let text = arm_on("revolute", "['ground', 'arm']", "angle = 4");
    let error = Machine::from_text("m.toml", &text).err().unwrap().render(false);
    assert!(error.contains("half a turn") && error.contains("m.toml:"), "{error}");
}

#[test]
fn a_joint_moves_all_that_lies_beyond_it() {
    // Links of 1 m along x, one after the other, turned by 0.3 and by −0.5 more; the last one is welded on.
    let link = |name: &str, x: f64| {
        format!("[[body]]\nname = '{name}'\nmass = 1\ninertia = [0.01, 0.1, 0.1]\nposition = [{x}, 0, 0]\n")
    };
    let text = format!(
        "[simulation]\nend-time = 0.001\nstep = 0.001\n[gravity]\nacceleration = [0, 0, 0]\n{}{}{}\
         [[revolute]]\nname = 'hip'\nbodies = ['ground', 'near']\npoint = [0, 0, 0]\nangle = 0.3\nrate = 1.2\n\
         [[revolute]]\nname = 'knee'\nbodies = ['far', 'near']\npoint = [1, 0, 0]\nangle = 0.5\nrate = 0.4\n\
         [[fixed]]\nname = 'weld'\nbodies = ['far', 'end']\n",
        link("near", 0.5),
        link("far", 1.5),
        link("end", 2.5)
    );
    let machine = machine(&text);
    let run = machine.simulate().unwrap();
    // `knee` counts the angle of `near` relative to `far`.
    let (hip, leg) = (0.3_f64, 0.3_f64 - 0.5);
    let (turn, leg_turn) = (1.2, 1.2 - 0.4);
    let along = |angle: f64| Vector3::new(angle.cos(), angle.sin(), 0.0);
    let across = |angle: f64| Vector3::new(-angle.sin(), angle.cos(), 0.0);
    let end = along(hip) + 1.5 * along(leg);
    for (axis, value) in ["x", "y", "z"].iter().zip(end.iter()) {
        within(axis, (first(&run, &format!("end.position.{axis}")) - value).abs(), 1e-13);
    }
    let start = Start::of(&text).unwrap();
    let velocity = turn * across(hip) + 1.5 * leg_turn * across(leg);
    within("velocity", (start.body("end")[1] - velocity).norm(), 1e-12);
    within("turn", (start.body("end")[0].z - leg_turn).abs(), 1e-12);
    assert!(!start.notes.iter().any(|note| note.contains("initial")), "{:?}", start.notes);
}

/// A slider-crank with keys of its joints `bearing` and `eye`.
fn turned_slider_crank(bearing: &str, eye: &str) -> String {
    slider_crank(["", "", ""], [0.5, 2.0])
        .replace("name = 'bearing'\n", &format!("name = 'bearing'\n{bearing}\n"))
        .replace("name = 'eye'\n", &format!("name = 'eye'\n{eye}\n"))
}

#[test]
fn in_a_loop_a_coordinate_is_a_condition_and_the_machine_stays_on_the_drawn_branch() {
    // The crank is drawn at 60°; the rod is longer, so that the slider stays on its side all around.
    for angle in [0.3, -1.0, 2.5, -3.0] {
        let run =
            machine(&turned_slider_crank(&format!("angle = {angle}\nrate = 6"), "")).simulate().unwrap();
        let a = 60.0_f64.to_radians() + angle;
        let b = (0.2 * a.sin() / 0.5).asin();
        within("angle", (first(&run, "bearing.angle") - angle).abs(), 1e-12);
        within("slider", (first(&run, "slider.position.x") - (0.2 * a.cos() + 0.5 * b.cos())).abs(), 1e-11);
        within("rate", (first(&run, "bearing.angle-rate") - 6.0).abs(), 1e-11);
        let rate = 0.2 * a.cos() * 6.0 / (0.5 * b.cos());
        let speed = -0.2 * a.sin() * 6.0 - 0.5 * b.sin() * rate;
        within("speed", (first(&run, "guide.displacement-rate") - speed).abs(), 1e-10);
    }
    // A joint in the middle of the loop does as well: the slider turns on the rod by −0.1, which leans less.
    let run = machine(&turned_slider_crank("", "angle = -0.1")).simulate().unwrap();
    within("eye", (first(&run, "eye.angle") + 0.1).abs(), 1e-12);
}

#[test]
fn coordinates_that_a_loop_does_not_allow_are_told_with_their_line() {
    // The rod leans by at most asin(0.2/0.5) = 0.41; it is drawn at asin(0.2 sin 60°/0.5) = 0.35, so that the
    // slider turns on it by 0.06 at most.
    for (bearing, eye) in [("", "angle = 0.1"), ("angle = 0.3", "angle = 0.2")] {
        let error =
            Machine::from_text("m.toml", &turned_slider_crank(bearing, eye)).err().unwrap().render(false);
        assert!(error.contains("m.toml:") && error.contains("that the loops of the machine"), "{error}");
        assert!(error.contains("`angle` of `") && error.contains("misses by"), "{error}");
    }
}

#[test]
fn rates_that_contradict_each_other_are_told_with_their_line_and_values() {
    let text = |eye: f64| turned_slider_crank("rate = 6", &format!("rate = {eye}"));
    // Slider against rod: the rod's rate with the opposite sign.
    let follows = -at_six()[0];
    let error = Machine::from_text("m.toml", &text(1.0)).err().unwrap().render(false);
    assert!(error.contains("m.toml:") && error.contains("angle-rate` from 6 rad/s to"), "{error}");
    // What agrees is taken, and small contradictions are corrected with a note.
    let start = Start::of(&text(follows)).unwrap();
    within("crank", (start.body("crank")[0].z - 6.0).abs(), 1e-9);
    let start = Start::of(&text(follows * 1.002)).unwrap();
    assert!(
        start.notes.iter().any(|note| note.contains("`bearing.angle-rate` from 6 rad/s to")),
        "{:?}",
        start.notes
    );
    // Against a body that states another speed.
    let text =
        slider_crank([SIX, "", ""], [0.5, 2.0]).replace("name = 'bearing'\n", "name = 'bearing'\nrate = 5\n");
    let error = Machine::from_text("m.toml", &text).err().unwrap().render(false);
    assert!(error.contains("of `crank` from 6 rad/s to 5 rad/s"), "{error}");
}

#[test]
fn gears_follow_the_joint_that_is_turned() {
    let wheel = |name: &str, x: f64| {
        format!("[[body]]\nname = '{name}'\nmass = 1\ninertia = [1, 1, 1]\nposition = [{x}, 0, 0]\n")
    };
    let text = format!(
        "[simulation]\nend-time = 0.001\nstep = 0.001\n{}{}\
         [[revolute]]\nname = 'a'\nbodies = ['ground', 'one']\npoint = [0, 0, 0]\nangle = 0.3\nrate = 2\n\
         [[revolute]]\nname = 'b'\nbodies = ['ground', 'two']\npoint = [1, 0, 0]\n\
         [[gear]]\nname = 'mesh'\njoints = ['a', 'b']\nratio = -2\n",
        wheel("one", 0.0),
        wheel("two", 1.0)
    );
    let run = machine(&text).simulate().unwrap();
    let [a, b] = ["a", "b"].map(|joint| first(&run, &format!("{joint}.angle")));
    within("a", (a - 0.3).abs(), 1e-12);
    assert!((b.abs() - 0.6).abs() < 1e-12 || (b.abs() - 0.15).abs() < 1e-12, "{b}");
    let [a, b_rate] = ["a", "b"].map(|joint| first(&run, &format!("{joint}.angle-rate")));
    within("rates", (a - 2.0).abs() + (b_rate / 2.0 - b / 0.3).abs(), 1e-11);
}

#[test]
fn a_beam_beyond_a_joint_moves_with_it() {
    let text = "[simulation]\nend-time = 0.001\nstep = 0.001\n[gravity]\nacceleration = [0, 0, 0]\n\
        [[beam]]\nname = 'rod'\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nelements = 3\n\
        section = { shape = 'circle', radius = 0.1, youngs-modulus = 1e6, poisson-ratio = 0.3, density = 1000 }\n\
        [[revolute]]\nname = 'hinge'\nbodies = ['ground', 'rod.start']\naxis = [0, 0, 1]\nangle = 0.3\nrate = 2\n\
        [[sensor]]\nof = 'rod.end'\nquantity = 'position'\n[[sensor]]\nof = 'rod.end'\nquantity = 'velocity'\n\
        [[sensor]]\nof = 'rod.end'\nquantity = 'strain'\n";
    let run = machine(text).simulate().unwrap();
    let (sine, cosine) = 0.3_f64.sin_cos();
    for (signal, value) in [
        ("hinge.angle", 0.3),
        ("rod.end.position.x", cosine),
        ("rod.end.position.y", sine),
        ("rod.end.velocity.x", -2.0 * sine),
        ("rod.end.velocity.y", 2.0 * cosine),
    ] {
        within(signal, (first(&run, signal) - value).abs(), 1e-12);
    }
}

#[test]
fn a_fixed_body_is_not_moved_by_a_joint() {
    let text = arm_on("revolute", "['ground', 'arm']", "angle = 0.3")
        .replace("mass = 1\n", "mass = 1\nfixed = true\n");
    let error = Machine::from_text("m.toml", &text).err().unwrap().render(false);
    assert!(error.contains("`arm`, which is `fixed`") && error.contains("m.toml:"), "{error}");
}

#[test]
fn a_stated_position_stays_and_the_orientation_that_is_left_out_follows() {
    // The arm ends 0.5 m from its centre, as far as the pin is away: it must point there.
    let text = |orientation: &str| {
        format!(
            "[simulation]\nend-time = 0.01\nstep = 0.001\n\
             [[marker]]\nname = 'pin'\n\
             [[body]]\nname = 'arm'\nmass = 1\ninertia = [0.01, 0.1, 0.1]\nposition = [0.4, -0.3, 0]\n{orientation}\n\
             markers = [{{ name = 'end', position = [-0.5, 0, 0] }}]\n\
             [[revolute]]\nname = 'hinge'\nbodies = ['ground.pin', 'arm.end']\n"
        )
    };
    let run = machine(&text("")).simulate().unwrap();
    within("x", (first(&run, "arm.position.x") - 0.4).abs(), 1e-12);
    within("y", (first(&run, "arm.position.y") + 0.3).abs(), 1e-12);
    within("angle", (first(&run, "hinge.angle") - (-0.3_f64).atan2(0.4)).abs(), 1e-11);
    // An orientation that is stated has as much to say as the position.
    let run = machine(&text("orientation = { axis = [0, 0, 1], angle = 0 }")).simulate().unwrap();
    assert!((first(&run, "arm.position.x") - 0.4).abs() > 1e-3);
}

#[test]
fn rates_are_refused_where_the_run_starts_elsewhere() {
    let text = arm_on("revolute", "['ground', 'arm']", "rate = 2")
        .replace("step = 0.001\n", "step = 0.001\nstart = 'static'\n");
    let error = Machine::from_text("m.toml", &text).err().unwrap().render(false);
    assert!(error.contains("the rate of `angle` of `joint`") && error.contains("m.toml:"), "{error}");
}
