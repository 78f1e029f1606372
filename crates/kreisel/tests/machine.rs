//! Model files become machines.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::integrate::{GeneralizedAlpha, Settings};
use kreisel::lie::{Group, vector3};
use kreisel::machine::Machine;
use kreisel::problem::HeavyTop;

#[test]
fn the_heavy_top_of_the_model_file_moves_like_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    let machine = Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap();
    let settings = Settings::new(machine.settings.method, machine.settings.parameters, 1e-3);
    let mut run = GeneralizedAlpha::with(settings).start(&machine.system, machine.initial).unwrap();
    run.advance(1.0).unwrap();
    let reference = HeavyTop::new(Group::So3xR3).reference(&[1.0])[0];
    let error = (vector3(&run.state().configuration[4..]) - reference.position).norm();
    // The error of this method and step that two other programs find: 7.27e-3.
    assert!((error - 7.27e-3).abs() < 1e-4, "{error}");
}
