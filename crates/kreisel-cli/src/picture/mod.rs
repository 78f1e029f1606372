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
use kreisel::report::{Palette, Recording, beam_halves, symbol, symbol_size};
use kreisel::results::mesh::{Mesh, placed};
use kreisel::results::scene::{Geometry, SceneFrame, SceneMesh, SceneShape, SceneSurface};
use raster::Canvas;
use std::fmt::Write;

/// Corners of a circle.
const SLICES: usize = 32;
/// Thickness of a spring, as part of the size of the picture.
const SPRING: f64 = 0.006;
/// Grey of joints and springs, linear.
const GREY: [f64; 3] = [0.13, 0.14, 0.16];
/// Grey of walls and floors, linear: so light that a machine before it is seen.
const SHEET: [f64; 3] = [0.78, 0.80, 0.83];
/// Half the edge of a sheet that stands for a plane, in parts of the machine's radius.
const SHEET_EDGE: f64 = 1.1;
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
        for face in faces(recording, &poses, &camera) {
            canvas.fill(camera.project(face.corners), camera.shade(&face.corners, face.colour));
        }
        let (x, y) = (left + size.width / 2, size.height + CAPTION - 12);
        let _ =
            write!(captions, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">t = {} s</text>", brief(time));
    }
    canvas.write(&captions)?;
    canvas.encode()
}

fn faces(recording: &Recording, poses: &[Pose], camera: &Camera) -> Vec<Face> {
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
    let palette = Palette::new(scene);
    for (number, body) in scene.bodies.iter().enumerate() {
        for shape in &body.shapes {
            let colour = shape.linear_colour().unwrap_or(palette.body(number));
            add(&Mesh::from_shape(shape, SLICES), Some(body.node), colour);
        }
    }
    for (number, beam) in scene.beams.iter().enumerate() {
        for (node, mesh) in beam_halves(beam, SLICES / 2) {
            add(&mesh, node, palette.beam(number));
        }
    }
    for surface in &scene.surfaces {
        let mesh = match &surface.geometry {
            Some(geometry) => Mesh::from_shape(&shape(geometry.clone(), surface.frame), SLICES),
            None => sheet(surface, camera),
        };
        add(&mesh, surface.node, SHEET);
    }
    for joint in &scene.joints {
        // On the side that the page takes.
        let side = usize::from(joint.nodes[1].is_some());
        for geometry in symbol(&joint.kind, symbol_size(scene, joint, camera.radius())) {
            add(&Mesh::from_shape(&shape(geometry, joint.frames[side]), SLICES / 2), joint.nodes[side], GREY);
        }
    }
    for spring in &scene.springs {
        let [from, to] = [0, 1].map(|end| place(spring.nodes[end], spring.points[end]));
        add(&rod(from, to, SPRING * camera.radius()), None, GREY);
    }
    faces
}

fn shape(geometry: Geometry<SceneMesh>, frame: SceneFrame) -> SceneShape {
    SceneShape { geometry, frame, default_shape: true, colour: None }
}

/// A piece of a plane, in its own frame, where the machine is; nothing of one that would hide the machine.
fn sheet(surface: &SceneSurface, camera: &Camera) -> Mesh {
    let [w, x, y, z] = surface.frame.rotation;
    let rotation = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
    if surface.node.is_none() && !camera.sees(&(rotation * Vector3::z())) {
        return Mesh::default();
    }
    let from = match surface.node {
        Some(_) => Vector3::zeros(),
        None => rotation.inverse() * (camera.centre() - Vector3::from(surface.frame.position)),
    };
    let edge = SHEET_EDGE * camera.radius();
    let corner = |along: f64, across: f64| {
        placed(&surface.frame, [from.x + along * edge, from.y + across * edge, 0.0])
    };
    let points = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    Mesh { points, triangles: vec![[0, 1, 2], [0, 2, 3]] }
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
