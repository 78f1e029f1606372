//! The models of contact do what their opening comments promise.

use std::path::Path;

use kreisel::machine::{Machine, SettingTexts, Trajectory};

fn simulate(name: &str) -> Trajectory {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    let machine = Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap();
    machine.simulate().unwrap()
}

fn last(run: &Trajectory, name: &str) -> f64 {
    *run.signal(name).unwrap().last().unwrap()
}

fn largest(run: &Trajectory, name: &str) -> f64 {
    run.signal(name).unwrap().iter().fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

#[test]
fn the_bouncing_ball_rises_to_the_heights_of_its_comment() {
    let run = simulate("bouncing-ball");
    let heights = run.signal("ball.position.z").unwrap();
    let top = |w: &&[f64]| w[1] >= w[0] && w[1] > w[2] && w[1] > 0.1;
    let peaks: Vec<f64> = heights.windows(3).filter(top).map(|w| w[1] - 0.1).collect();
    for (peak, expected) in peaks.iter().zip([0.245, 0.12, 0.0588]) {
        // Output every 5 ms misses a top by up to g (2.5 ms)²/2 = 0.03 mm; impacts are up to 1 mm deep.
        assert!((peak - expected).abs() < 2e-3, "{peaks:?}");
    }
    assert!(peaks.len() >= 3);
}

#[test]
fn the_bowling_ball_rolls_with_five_sevenths_of_its_speed() {
    let run = simulate("slipping-ball");
    let speed = last(&run, "ball.velocity.x");
    assert!((speed - 6.0 * 5.0 / 7.0).abs() < 2e-3, "{speed}");
    assert!((0.109 * last(&run, "ball.angular-velocity.y") - speed).abs() < 2e-3);
}

#[test]
fn the_chain_of_capsules_comes_to_rest_on_the_floor_that_carries_it() {
    let run = simulate("capsule-chain");
    let weight: f64 = (0..6).map(|link| last(&run, &format!("floor-{link}.normal-force"))).sum();
    // What still moves has a thousandth of the energy of the fall.
    assert!((weight / (6.0 * 0.5 * 9.80665) - 1.0).abs() < 0.05, "{weight}");
    assert!(last(&run, "energy.kinetic") < 2e-2, "{}", last(&run, "energy.kinetic"));
    let (balance, fall) = (largest(&run, "energy.balance"), largest(&run, "energy.potential"));
    // The tolerance of 1e-4 and a few dozen impacts.
    assert!(balance < 0.02 * fall, "{balance} of {fall}");
    assert!(largest(&run, "energy.dissipated") > 0.5 * fall);
}

#[test]
fn the_arm_on_the_stop_keeps_its_energy() {
    let run = simulate("beam-stop");
    assert!(largest(&run, "stop.normal-force") > 10.0);
    let (balance, energy) = (largest(&run, "energy.balance"), largest(&run, "energy.kinetic"));
    // Numerical damping takes what vibrates faster than the step can follow.
    assert!(balance < 0.1 * energy, "{balance} of {energy}");
}

#[test]
fn the_cam_strikes_the_beam_when_the_paper_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/cam-beam.toml");
    let settings = SettingTexts { end_time: Some("0.49404".to_string()), ..SettingTexts::default() };
    let machine = Machine::read_with(&path, &[], &settings).map_err(|errors| errors.render(false)).unwrap();
    let run = machine.simulate().unwrap();
    let depth = run.signal("strike.depth").unwrap();
    let first = depth.iter().position(|depth| *depth > 0.0).unwrap();
    // Output every millisecond; the cam bends a little on the way.
    assert!((run.times[first] - 0.494).abs() < 2e-3, "{}", run.times[first]);
    // v √(k m) with 0.75 m/s and 2 kg of reduced mass is 50 kN.
    assert!(largest(&run, "strike.normal-force") > 1e3, "{}", largest(&run, "strike.normal-force"));
}

#[test]
fn forces_of_contacts_are_arrows_on_what_moves() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/bouncing-ball.toml");
    let machine = Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap();
    let scene = machine.scene();
    let names: Vec<String> = machine.channels().into_iter().map(|channel| channel.name).collect();
    let arrow = scene.arrows.iter().find(|arrow| names.contains(&format!("{}.depth", arrow.name))).unwrap();
    assert_eq!(arrow.node.map(|node| scene.nodes[node].name.as_str()), Some("ball"));
    assert!(names.contains(&format!("{}.x", arrow.signal)), "{}", arrow.signal);
}
