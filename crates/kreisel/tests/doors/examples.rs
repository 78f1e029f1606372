//! The examples of the book do what their texts say.

#![allow(
    clippy::unwrap_used,
    dead_code,
    unused_imports,
    reason = "the examples are whole programs of their own"
)]

#[path = "../../examples/own_joint.rs"]
mod own_joint;
#[path = "../../examples/own_part.rs"]
mod own_part;
#[path = "../../examples/own_system.rs"]
mod own_system;
#[path = "../../examples/read_model.rs"]
mod read_model;

use kreisel::machine::Machine;
use kreisel::part::MachineReader;
use kreisel::results::{ModelIdentity, scene::ArrowKind};
use kreisel::run::{Checkpoint, CheckpointHeader, Recorder, ResultFiles};

#[test]
fn a_model_that_was_read_swings_for_half_a_period() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml");
    let time = read_model::run(path).unwrap();
    // The period 2π/ω / AGM(1, cos 45°) of a thin rod that is released from the horizontal, with ω² =
    // 3g/(2l).
    let (mut a, mut b) = (1.0_f64, 0.5_f64.sqrt());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = std::f64::consts::TAU / (1.5_f64 * 9.80665).sqrt() / a;
    // One step: the largest of the recorded angles is within half a step of the turn.
    assert!((time - 0.5 * period).abs() < 1e-3, "{time} and {period}");
}

#[test]
fn a_system_of_ones_own_circles_steadily() {
    // Second order with h = 1e-3 over 20 s.
    let error = own_system::run().unwrap();
    assert!(error < 1e-5, "{error}");
}

#[test]
fn a_force_of_ones_own_reaches_the_closed_form() {
    // Of second order in the step.
    let error = own_part::own_force::run().unwrap();
    assert!(error < 1e-5, "{error}");
}

#[test]
fn a_part_of_ones_own_is_read_measured_drawn_and_watched_by_events() {
    // The event is located to 1e-9 s, within which the speed changes by less than 1e-8 m/s.
    let error = own_part::run().unwrap();
    assert!(error.abs() < 1e-7, "{error}");
    let machine = machine_with_drag();
    let scene = machine.scene();
    let [arrow] = scene.arrows.as_slice() else { panic!("{:?}", scene.arrows) };
    assert_eq!((arrow.name.as_str(), arrow.kind, arrow.node), ("air", ArrowKind::Force, Some(0)));
    let reader = MachineReader::new().with_part(&own_part::DRAG);
    let wrong = own_part::MODEL.replace("coefficient", "coeficient");
    let message = reader.text("ball.toml", &wrong).err().unwrap().render(false);
    assert!(message.contains("`coeficient`") && message.contains("did you mean"), "{message}");
}

fn machine_with_drag() -> Machine {
    let reader = MachineReader::new().with_part(&own_part::DRAG);
    reader.text("ball.toml", own_part::MODEL).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

#[test]
fn a_run_with_a_part_of_ones_own_goes_on_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let machine = machine_with_drag();
    let plan = machine.plan().unwrap();
    let identity = ModelIdentity::new("ball.toml", own_part::MODEL.as_bytes());
    let files = ResultFiles::begin(folder.path(), identity.clone(), false, &machine).unwrap();
    let mut recorder = Recorder::new(&machine, plan.output_step, files);
    let mut run = machine.start(&plan).unwrap();
    run.begin(&mut recorder).unwrap();
    run.advance_to(0.3, &mut recorder);
    let mut header = CheckpointHeader::new(identity, &machine, "none".into());
    recorder.write_checkpoint(&mut run, &mut header).unwrap();
    run.advance(&mut recorder);
    let again = machine_with_drag();
    let mut resumed = again.resume(&plan, &Checkpoint::read(folder.path()).unwrap()).unwrap();
    resumed.advance(&mut ());
    assert_eq!(run.integration().values(), resumed.integration().values());
}

#[test]
fn a_joint_of_ones_own_keeps_the_energy() {
    let error = own_joint::run().unwrap();
    assert!(error < 1e-5, "{error}");
}
