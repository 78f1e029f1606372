//! A small model as the program starts it: where its bodies and the frames of its joints stand, and what is
//! measured there. Drawings take axes, coordinates and signs from here, so that they cannot tell another story.

use super::pen::{FORCE, MEASURE, Pen, Solid};
use kreisel::lie::{Pose, Vector3};
use kreisel::report::Recording;
use kreisel::results::scene::{Geometry, SceneFrame, SceneShape};
use nalgebra::{Quaternion, UnitQuaternion};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Colours of the first, the second and further bodies.
const BODIES: [[f64; 3]; 4] =
    [[0.82, 0.84, 0.87], [0.55, 0.72, 0.93], [0.96, 0.77, 0.53], [0.67, 0.86, 0.72]];

/// A model at its start.
pub struct Stage {
    recording: Recording,
    poses: Vec<Pose>,
}

fn pose(frame: &SceneFrame) -> Pose {
    let [w, x, y, z] = frame.rotation;
    Pose::new(UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)), Vector3::from(frame.position))
}

/// Shapes that drawings are made of.
fn solid(shape: &SceneShape) -> Solid {
    match shape.geometry {
        Geometry::Box { size } => Solid::cuboid(size),
        Geometry::Cylinder { radius, length } => Solid::cylinder(radius, length),
        Geometry::Sphere { radius } => Solid::sphere(radius),
        ref other => panic!("no drawing has a {other:?}"),
    }
}

impl Stage {
    /// Starts a model in a folder.
    pub fn set(text: &str, folder: &Path) -> Self {
        let model = folder.join("model.toml");
        fs::write(&model, format!("[simulation]\nend-time = \"0.1 ms\"\nstep = \"0.05 ms\"\n{text}"))
            .unwrap();
        let results = folder.join("results");
        let output = Command::new(env!("CARGO_BIN_EXE_kreisel"))
            .args(["run", "--quiet", "--no-report", "--force", "--out"])
            .args([&results, &model])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
        let recording = Recording::read(&results).unwrap();
        let poses = recording.motion.at(0.0);
        Self { recording, poses }
    }

    /// Draws all bodies.
    pub fn show(&self, pen: &mut Pen) {
        for (index, body) in self.recording.scene.bodies.iter().enumerate() {
            for shape in &body.shapes {
                let place = self.poses[body.node].compose(&pose(&shape.frame));
                pen.solid(&solid(shape).placed(&place), BODIES[index % BODIES.len()]);
            }
        }
    }

    /// The frame of a body.
    pub fn body(&self, name: &str) -> Pose {
        let body = self.recording.scene.bodies.iter().find(|body| body.name == name);
        self.poses[body.unwrap_or_else(|| panic!("no body {name}")).node]
    }

    /// The frame of a marker.
    pub fn marker(&self, body: &str, name: &str) -> Pose {
        let found = self.recording.scene.bodies.iter().find(|candidate| candidate.name == body).unwrap();
        let marker = found.markers.iter().find(|marker| marker.name == name).unwrap();
        self.poses[found.node].compose(&pose(&marker.frame))
    }

    /// The frames of a joint on its first and on its second body.
    pub fn frames(&self, joint: &str) -> [Pose; 2] {
        let found = self.recording.scene.joints.iter().find(|candidate| candidate.name == joint);
        let found = found.unwrap_or_else(|| panic!("no joint {joint}"));
        [0, 1].map(|side| {
            let frame = pose(&found.frames[side]);
            found.nodes[side].map_or(frame, |node| self.poses[node].compose(&frame))
        })
    }

    /// What is measured at the start.
    pub fn value(&self, signal: &str) -> f64 {
        let table = &self.recording.table;
        let column = table.signals.iter().position(|channel| channel.name == signal);
        table.columns[column.unwrap_or_else(|| panic!("no signal {signal}"))][0]
    }

    /// Three components of what is measured at the start.
    pub fn vector(&self, signal: &str) -> Vector3 {
        Vector3::from(["x", "y", "z"].map(|axis| self.value(&format!("{signal}.{axis}"))))
    }

    /// The frames of a beam's sections, from start to end.
    pub fn sections(&self) -> Vec<Pose> {
        let elements = &self.recording.scene.beams[0].elements;
        let at = |index: usize, side: usize| {
            let element = &elements[index];
            let frame = pose(&element.frames[side]);
            element.nodes[side].map_or(frame, |node| self.poses[node].compose(&frame))
        };
        (0..elements.len()).map(|k| at(k, 0)).chain([at(elements.len() - 1, 1)]).collect()
    }

    /// Draws the angle of a joint about its z axis, from x of the first frame to x of the second.
    pub fn angle(&self, pen: &mut Pen, joint: &str, radius: f64, words: &str) {
        let [first, second] = self.frames(joint);
        let from = first.rotation * Vector3::x() * radius;
        let angle = self.value(&format!("{joint}.angle"));
        let turned = first.rotation * nalgebra::UnitQuaternion::from_scaled_axis(Vector3::z() * angle);
        assert!((turned * Vector3::x() - second.rotation * Vector3::x()).norm() < 1e-6, "{joint}");
        pen.arc(&second.position, &(first.rotation * Vector3::z()), &from, angle, words, MEASURE);
    }

    /// Draws the reaction of a joint, as large as it should look.
    pub fn reaction(&self, pen: &mut Pen, joint: &str, length: f64, words: &str) {
        let force = self.vector(&format!("{joint}.force")).normalize();
        let from = self.frames(joint)[1].position;
        pen.arrow(&from, &(from + length * force), FORCE, words);
    }
}
