//! Pictures of a machine without a browser: its shapes at a time, seen from one side, in pixels.
//!
//! The scene is that of the page and of the glTF animation; a depth buffer decides what hides what. Several
//! times stand side by side as a film strip, all at one scale, so that they can be compared.

mod camera;
mod raster;

pub use camera::View;

use crate::figure::PngError;
use crate::output::brief;
use camera::Camera;
use kreisel::lie::{Pose, Vector3};
use kreisel::report::{COLOURS, Recording, beam_halves};
use kreisel::results::mesh::{Mesh, placed};
use kreisel::results::scene::{Geometry, SceneFrame, SceneMesh, SceneShape};
use raster::Canvas;
use std::fmt::Write;

/// Corners of a circle.
const SLICES: usize = 32;
/// Radius of a joint's ball, as part of the size of the picture.
const JOINT: f64 = 0.014;
/// Thickness of a spring, as part of the size of the picture.
const SPRING: f64 = 0.006;
/// Grey of joints and springs, linear.
const GREY: [f64; 3] = [0.13, 0.14, 0.16];
/// Height in pixels of the line below each frame that tells its time.
const CAPTION: u32 = 36;

/// Size of one frame in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub width: u32,
    /// From top to bottom, without the line that tells the time.
    pub height: u32,
}

/// A triangle in the world with the colour of its part.
struct Face {
    corners: [Vector3; 3],
    colour: [f64; 3],
}

/// The machine at each of the `times`, side by side, as PNG.
pub fn png(recording: &Recording, times: &[f64], view: View, size: Size) -> Result<Vec<u8>, PngError> {
    let camera = Camera::around(recording, view, size);
    let mut canvas = Canvas::new(size.width * times.len().max(1) as u32, size.height + CAPTION)?;
    let mut captions = String::new();
    for (place, &time) in times.iter().enumerate() {
        let poses = recording.motion.at(time);
        let left = size.width * place as u32;
        canvas.window(left, size);
        for face in faces(recording, &poses, camera.radius()) {
            canvas.fill(camera.project(face.corners), camera.shade(&face.corners, face.colour));
        }
        let (x, y) = (left + size.width / 2, size.height + CAPTION - 12);
        let _ =
            write!(captions, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">t = {} s</text>", brief(time));
    }
    canvas.write(&captions)?;
    canvas.encode()
}

fn faces(recording: &Recording, poses: &[Pose], radius: f64) -> Vec<Face> {
    let scene = &recording.scene;
    let place = |node: Option<usize>, point: [f64; 3]| {
        let point = Vector3::from(point);
        node.map_or(point, |node| poses[node].transform_point(&point))
    };
    let mut faces = Vec::new();
    let mut add = |mesh: &Mesh, node: Option<usize>, colour: [f64; 3]| {
        let corner = |index: usize| place(node, mesh.points[index]);
        faces.extend(mesh.triangles.iter().map(|corners| Face { corners: corners.map(corner), colour }));
    };
    let mut colours = COLOURS.iter().cycle();
    let mut colour = || colours.next().copied().unwrap_or(GREY);
    for body in &scene.bodies {
        let colour = colour();
        for shape in &body.shapes {
            let colour = shape.linear_colour().unwrap_or(colour);
            add(&Mesh::from_shape(shape, SLICES), Some(body.node), colour);
        }
    }
    for beam in &scene.beams {
        let colour = colour();
        for (node, mesh) in beam_halves(beam, SLICES / 2) {
            add(&mesh, node, colour);
        }
    }
    for joint in &scene.joints {
        let ball = shape(Geometry::Sphere { radius: JOINT * radius }, joint.frames[0]);
        add(&Mesh::from_shape(&ball, SLICES / 2), joint.nodes[0], GREY);
    }
    for spring in &scene.springs {
        let [from, to] = [0, 1].map(|end| place(spring.nodes[end], spring.points[end]));
        add(&rod(from, to, SPRING * radius), None, GREY);
    }
    faces
}

fn shape(geometry: Geometry<SceneMesh>, frame: SceneFrame) -> SceneShape {
    SceneShape { geometry, frame, default_shape: true, colour: None }
}

/// A straight cylinder between two points of the world.
fn rod(from: Vector3, to: Vector3, radius: f64) -> Mesh {
    let offset = to - from;
    let length = offset.norm();
    let Some(rotation) = nalgebra::UnitQuaternion::rotation_between(&Vector3::z(), &offset) else {
        // Straight down, or no way at all: a rotation is not unique, and none is needed.
        let frame = SceneFrame { position: (0.5 * (from + to)).into(), ..SceneFrame::default() };
        return Mesh::from_shape(&shape(Geometry::Cylinder { radius, length }, frame), SLICES / 4);
    };
    let [x, y, z, w] = rotation.coords.into();
    let frame = SceneFrame { position: from.into(), rotation: [w, x, y, z] };
    let middle = placed(&frame, [0.0, 0.0, 0.5 * length]);
    let frame = SceneFrame { position: middle, ..frame };
    Mesh::from_shape(&shape(Geometry::Cylinder { radius, length }, frame), SLICES / 4)
}
