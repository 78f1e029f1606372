//! What pictures for other programs have in common: beams as straight pieces.

use crate::results::mesh::{Mesh, placed};
use crate::results::scene::{Geometry, SceneBeam, SceneElement, SceneFrame, SceneShape};
use nalgebra::Quaternion;

/// Parts of its length: what is thicker is no beam, how thick it is drawn then, and how thick at least.
const STUBBY: f64 = 1.0 / 3.0;
const SLENDER: f64 = 1.0 / 12.0;
const VISIBLE: f64 = 1.0 / 50.0;

/// How thick a beam is drawn: as it is, unless its section was reckoned from stiffnesses and may be any.
pub fn drawn_thickness(beam: &SceneBeam) -> f64 {
    let length: f64 = beam.elements.iter().map(|element| element.length).sum();
    let given = beam.size[0].max(beam.size[1]);
    let beam_like = if given > STUBBY * length { SLENDER * length } else { given };
    beam_like.max(VISIBLE * length)
}

/// Halves of a beam's elements, as straight as they are short, each in the axes of the node that carries it.
///
/// Halves at the same node follow each other; the ground carries those without a node.
pub fn beam_halves(beam: &SceneBeam, slices: usize) -> Vec<(Option<usize>, Mesh)> {
    let given = beam.size[0].max(beam.size[1]);
    let radius =
        0.25 * (beam.size[0] + beam.size[1]) * (drawn_thickness(beam) / given.max(f64::MIN_POSITIVE));
    let half = |element: &SceneElement, side: usize| {
        let offset = if side == 0 { 0.25 } else { -0.25 } * element.length;
        let SceneFrame { rotation, .. } = element.frames[side];
        // From the axis x of the section to the axis z of a cylinder.
        let position = placed(&element.frames[side], [offset, 0.0, 0.0]);
        let frame = SceneFrame { position, rotation: turned_to_x(rotation) };
        let geometry = Geometry::Cylinder { radius, length: 0.5 * element.length };
        Mesh::from_shape(&SceneShape { geometry, frame, default_shape: true, colour: None }, slices)
    };
    (beam.elements.iter())
        .flat_map(|element| [0, 1].map(|side| (element.nodes[side], half(element, side))))
        .collect()
}

/// A rotation after a quarter turn that takes z to x.
fn turned_to_x([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let q = Quaternion::new(w, x, y, z) * Quaternion::new(half, 0.0, half, 0.0);
    [q.w, q.i, q.j, q.k]
}
