//! What tests of all formats share.

#![allow(dead_code, reason = "not every format needs all of it")]

use kreisel_import::{Choices, Folder, import_text};

/// What becomes of a text, or what is said of it.
pub fn read_as(ending: &str, text: &str) -> Result<Folder, String> {
    import_text(ending, text, Choices::default()).unwrap().map_err(|errors| errors.render(false))
}

/// The message for a bad file names the line and the reason.
pub fn refused_as(ending: &str, text: &str, line: usize, reason: &str) {
    let message = read_as(ending, text).unwrap_err();
    assert!(message.contains(&format!("robot.{ending}:{line}:")), "{message}");
    assert!(message.contains(reason), "{message}");
}

/// Text of the model that becomes of a file, which can be read.
pub fn model_as(ending: &str, text: &str) -> String {
    let folder = read_as(ending, text).unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("robot.toml");
    std::fs::create_dir(place.path().join("meshes")).unwrap();
    std::fs::write(&path, &folder.model).unwrap();
    for (file, bytes) in &folder.surfaces {
        std::fs::write(place.path().join(file), bytes).unwrap();
    }
    if let Err(errors) = kreisel::read(&path) {
        panic!("{}\n{}", errors.render(false), folder.model);
    }
    folder.model
}

/// Where the coupler meets the rocker of a four-bar: a crank of 0.3 m at the origin, which stands upright at the
/// angle 0, and a rocker of 0.8 m at x = 1 m. Circles about the tip of the crank, with the coupler's length, and
/// about the foot of the rocker meet there, above.
pub fn four_bar_tip(angle: f64) -> (f64, f64) {
    let (crank, coupler, rocker) = (0.3, 1.25_f64.sqrt(), 0.8);
    let (ax, az) = (crank * angle.sin(), crank * angle.cos());
    let (dx, dz) = (1.0 - ax, -az);
    let apart = dx.hypot(dz);
    let along = (apart * apart + coupler * coupler - rocker * rocker) / (2.0 * apart);
    let across = (coupler * coupler - along * along).sqrt();
    (ax + (along * dx - across * dz) / apart, az + (along * dz + across * dx) / apart)
}

/// The rocker of a four-bar, whose centre stands at its tip, goes where two circles say as the joint `a` turns.
pub fn moves_as_two_circles_say(model: &str) {
    let reader = kreisel::part::MachineReader::new();
    let led = reader.led_text("four-bar.toml", model, Some(&["a".to_owned()])).unwrap();
    let dynamics = kreisel::run::Dynamics::new(led);
    let rocker = dynamics.frame("rocker").unwrap();
    let mut at = dynamics.evaluator();
    for angle in [0.5, -1.3, 2.5, 6.0] {
        at.set_state(&[angle], &[0.0]).unwrap();
        let found = at.frame_motion(&rocker).pose.position;
        let (x, z) = four_bar_tip(angle);
        assert!((found.x - x).abs() < 1e-9 && (found.z - z).abs() < 1e-9, "{angle}: {found} {x} {z}");
    }
}
