//! How machines start: what the model states is kept, what it leaves out follows.

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

/// A slider-crank in the plane of x and y: crank of 0.2 m at 60°, rod of 0.5 m, slider along x. Keys of crank,
/// rod and slider may be added, and masses of the rod and slider chosen.
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
    within("slider", (start.body("slider")[1].x - speed).abs(), 1e-9);
    // Two that are fixed leave nothing to give in.
    let slider = format!("{slider}\nfixed = true");
    let error = Start::of(&slider_crank([&crank, "", &slider], [0.5, 2.0])).err().unwrap();
    assert!(error.to_string().contains("contradict each other in their velocities"), "{error}");
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
            within(name, crate::common::difference(&run, name, |t| 2.0 * (-3.0 * t).exp()), 1e-5);
        }
    }
}
