//! The surfaces of all shapes, and the ends of beam elements, as points that move with their nodes, for
//! `trajectory.vtkhdf`.

use super::mesh::Mesh;
use super::scene::{Scene, SceneElement};

/// Corners of a circle.
const SLICES: usize = 8;
/// Points that a file holds for each output time, at most; a point takes 48 bytes.
pub const MAX_POINTS: usize = 1_000;

/// Points on nodes, and triangles and lines between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Each point with its node, in body axes; absent for the ground.
    pub points: Vec<(Option<usize>, [f64; 3])>,
    /// Three points each.
    pub triangles: Vec<[usize; 3]>,
    /// The two ends of each element of a beam, in the order of the scene; they come first among the points.
    pub lines: Vec<[usize; 2]>,
}

impl Skin {
    /// Surfaces as fine as [`MAX_POINTS`] allow: shapes, boxes around them, or nothing.
    pub fn from_scene(scene: &Scene) -> Self {
        let shapes = Self::with(scene, |mesh| mesh);
        if shapes.points.len() <= MAX_POINTS {
            return shapes;
        }
        let boxes = Self::with(scene, |mesh| mesh.bounding_box());
        if boxes.points.len() <= MAX_POINTS { boxes } else { Self::from_beams(scene) }
    }

    fn from_beams(scene: &Scene) -> Self {
        let ends =
            |element: &SceneElement| [0, 1].map(|side| (element.nodes[side], element.frames[side].position));
        let points: Vec<_> = scene.elements().flat_map(ends).collect();
        let lines = (0..points.len() / 2).map(|element| [2 * element, 2 * element + 1]).collect();
        Self { points, triangles: Vec::new(), lines }
    }

    fn with(scene: &Scene, simplify: impl Fn(Mesh) -> Mesh) -> Self {
        let mut skin = Self::from_beams(scene);
        for body in &scene.bodies {
            let mut whole = Mesh::default();
            for mesh in body.shapes.iter().map(|shape| Mesh::from_shape(shape, SLICES)) {
                let first = whole.points.len();
                whole.points.extend(mesh.points);
                whole
                    .triangles
                    .extend(mesh.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
            }
            let (mesh, first) = (simplify(whole), skin.points.len());
            skin.points.extend(mesh.points.into_iter().map(|point| (Some(body.node), point)));
            skin.triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
        }
        skin
    }
}
