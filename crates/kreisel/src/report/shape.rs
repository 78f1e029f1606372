//! What pictures for other programs have in common: colours, and beams as straight pieces.

use crate::results::mesh::{Mesh, placed};
use crate::results::scene::{Geometry, SceneBeam, SceneElement, SceneFrame, SceneShape};
use nalgebra::Quaternion;

/// Colours of bodies, linear red, green and blue.
pub const COLOURS: [[f64; 3]; 6] = [
    [0.09, 0.27, 0.62],
    [0.82, 0.32, 0.07],
    [0.06, 0.42, 0.30],
    [0.62, 0.19, 0.36],
    [0.85, 0.56, 0.08],
    [0.25, 0.53, 0.72],
];

/// Halves of a beam's elements, as straight as they are short, each in the axes of the node that carries it.
///
/// Halves at the same node follow each other; the ground carries those without a node.
pub fn beam_halves(beam: &SceneBeam, slices: usize) -> Vec<(Option<usize>, Mesh)> {
    let radius = 0.25 * (beam.size[0] + beam.size[1]);
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
