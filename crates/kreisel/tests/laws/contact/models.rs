//! The models of contact do what their opening comments promise.

use std::path::Path;

use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::run::Trajectory;

fn simulate(name: &str) -> Trajectory {
    simulate_with(name, &SettingTexts::default())
}

fn simulate_with(name: &str, settings: &SettingTexts) -> Trajectory {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    let machine = MachineReader::new()
        .with_settings(settings)
        .read(&path)
        .map_err(|errors| errors.render(false))
        .unwrap();
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
    // While it slips the lever is the radius less the depth, 7 µm of 109 mm: 7e-5 of the speed that is lost,
    // and friction acts a step too long.
    assert!((speed - 6.0 * 5.0 / 7.0).abs() < 1e-3, "{speed}");
    // Rolling friction is none, but slip of the size of the transition speed is left.
    assert!((0.109 * last(&run, "ball.angular-velocity.y") - speed).abs() < 5e-4);
}

#[test]
fn the_chain_of_capsules_comes_to_rest_on_the_floor_that_carries_it() {
    let run = simulate("capsule-chain");
    let weight: f64 = (0..6).map(|link| last(&run, &format!("floor-{link}.normal-force"))).sum();
    // At rest to the tolerance of 1e-4, with speeds far below a mm/s: 3 kg have less than 1e-6 J.
    assert!((weight / (6.0 * 0.5 * 9.80665) - 1.0).abs() < 1e-4, "{weight}");
    assert!(last(&run, "energy.kinetic") < 1e-6, "{}", last(&run, "energy.kinetic"));
    let (balance, fall) = (largest(&run, "energy.balance"), largest(&run, "energy.potential"));
    // The tolerance of 1e-4 and a few dozen impacts, whose errors have either sign.
    assert!(balance < 1e-3 * fall, "{balance} of {fall}");
    assert!(largest(&run, "energy.dissipated") > 0.5 * fall);
}

#[test]
fn the_arm_on_the_stop_keeps_its_energy_to_the_accuracy() {
    // The energy follows the error of the motion: what is lost in impacts and vibrations stays below the
    // accuracy, and falls with it.
    let lost = |accuracy: f64| {
        let settings = SettingTexts::default().with("accuracy", accuracy.to_string());
        let run = simulate_with("beam-stop", &settings);
        assert!(largest(&run, "stop.normal-force") > 10.0);
        largest(&run, "energy.balance") / largest(&run, "energy.kinetic")
    };
    let [coarse, middle, fine] = [1e-3, 1e-4, 1e-5].map(lost);
    let found = format!("{coarse:e} {middle:e} {fine:e}");
    assert!(coarse < 1e-3 && middle < 1e-4 && fine < 1e-5, "{found}");
    // Ten times a decade, more or less as impacts fall within steps: at least to a fourth in each of two.
    assert!(fine < 0.25 * 0.25 * coarse, "{found}");
}

#[test]
fn the_cam_strikes_the_beam_when_the_paper_says_and_goes_on() {
    let settings =
        SettingTexts::default().with("end-time", "0.5").with("rtol", "1e-5").with("output-step", "0.02 ms");
    let run = simulate_with("cam-beam", &settings);
    let signal = |name: &str| run.signal(name).unwrap();
    let depth = signal("strike.depth");
    let first = depth.iter().position(|depth| *depth > 0.0).unwrap();
    // To the last digit of the paper.
    assert!((run.times[first] - 0.494).abs() < 5e-4, "{}", run.times[first]);
    // v √(k m) with 0.75 m/s and the reduced mass of 2 kg is 47 kN; the beams on both sides add to the
    // masses.
    let strongest = largest(&run, "strike.normal-force");
    assert!((4e4..1e5).contains(&strongest), "{strongest}");
    // The target flies off and vibrates back: 1 m/s and more for a millisecond, then the next impact. A gap
    // of 0.1 mm is far beyond any depth.
    let apart = depth[first..].iter().filter(|depth| **depth < -1e-4).count();
    assert!(apart > 50, "{apart}");
    let steps = signal("solver.step");
    // s = 1/h² of the paper is 1e9 and more in impacts.
    assert!(steps[first..].iter().any(|step| *step < 3e-5));
    for (normal, along) in signal("strike.normal-force").iter().zip(signal("strike.force.x")) {
        // LuGre's friction reaches μ N in sliding; while bristles straighten it may pass it by their error of
        // a step.
        assert!(along.abs() < 0.31 * normal + 1.0, "{along} {normal}");
    }
    let balance = largest(&run, "energy.balance") / largest(&run, "energy.kinetic");
    // A hundred times the tolerance of the steps, which impacts add up.
    assert!(balance < 1e-3, "{balance:e}");
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
