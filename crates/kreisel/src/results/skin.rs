//! The surfaces of all shapes as points that move with their nodes, for `trajectory.vtkhdf`.

use super::mesh::Mesh;
use super::scene::Scene;

/// Corners of a circle.
const SLICES: usize = 12;
/// Points that a file holds for each output time, at most; a point takes 48 bytes.
pub const MOST_POINTS: usize = 1_000;

/// Points on nodes, and triangles between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Each point with its node, in body axes.
    pub points: Vec<(usize, [f64; 3])>,
    /// Three points each.
    pub triangles: Vec<[usize; 3]>,
}

impl Skin {
    /// Surfaces as fine as [`MOST_POINTS`] allow: shapes, boxes around them, or nothing.
    pub fn of(scene: &Scene) -> Self {
        let shapes = Self::with(scene, |mesh| mesh);
        if shapes.points.len() <= MOST_POINTS {
            return shapes;
        }
        let boxes = Self::with(scene, |mesh| mesh.bounding_box());
        if boxes.points.len() <= MOST_POINTS { boxes } else { Self::default() }
    }

    fn with(scene: &Scene, simplify: impl Fn(Mesh) -> Mesh) -> Self {
        let mut skin = Self::default();
        for body in &scene.bodies {
            let mut whole = Mesh::default();
            for mesh in body.shapes.iter().map(|shape| Mesh::of(shape, SLICES)) {
                let first = whole.points.len();
                whole.points.extend(mesh.points);
                whole
                    .triangles
                    .extend(mesh.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
            }
            let (mesh, first) = (simplify(whole), skin.points.len());
            skin.points.extend(mesh.points.into_iter().map(|point| (body.node, point)));
            skin.triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
        }
        skin
    }
}
