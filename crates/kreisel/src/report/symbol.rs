//! Symbols of joints in pictures: as large as suits the parts beside them, as in the page.

use super::shape::drawn_thickness;
use crate::results::mesh::Mesh;
use crate::results::scene::{Geometry, Scene, SceneFrame, SceneJoint, SceneMesh, SceneShape};
use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};

/// Least size of a symbol, that of one beside nothing, and the largest, as parts of the machine's radius.
const LEAST: f64 = 0.009;
const USUAL: f64 = 0.03;
const MOST: f64 = 0.07;
/// A symbol beside the thinnest edge of a shape, and what it is at least and at most beside the longest.
const BESIDE: [f64; 3] = [0.8, 0.04, 0.16];

/// The size of a joint's symbol in m, in a machine of that radius: a little less than the thinner of the parts
/// that it joins, and large enough to be seen.
pub fn symbol_size(scene: &Scene, joint: &SceneJoint, radius: f64) -> f64 {
    let beside =
        (0..2).filter_map(|side| size_beside(scene, joint.nodes[side]?, joint.frames[side].position));
    let wanted = beside.reduce(f64::min).unwrap_or(USUAL * radius);
    wanted.clamp(LEAST * radius, MOST * radius)
}

/// The size of a symbol that suits the shape, or the beam, at a point of a node.
fn size_beside(scene: &Scene, node: usize, point: [f64; 3]) -> Option<f64> {
    let shapes = scene.bodies.iter().filter(|body| body.node == node).flat_map(|body| &body.shapes);
    let near = shapes.map(|shape| {
        let (low, high) = bounds(shape);
        let at = inside(&shape.frame, point);
        let outside = (0..3).map(|axis| (low[axis] - at[axis]).max(at[axis] - high[axis]).max(0.0));
        let mut edges = [0, 1, 2].map(|axis| high[axis] - low[axis]);
        edges.sort_by(f64::total_cmp);
        (outside.fold(0.0, f64::hypot), edges)
    });
    let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1[0].total_cmp(&b.1[0])));
    let [thin, least, most] = BESIDE;
    if let Some((_, [short, _, long])) = nearest {
        return Some((thin * short).max(least * long).min(most * long));
    }
    let has = |beam: &&crate::results::scene::SceneBeam| {
        beam.elements.iter().any(|one| one.nodes.contains(&Some(node)))
    };
    scene.beams.iter().find(has).map(|beam| thin * drawn_thickness(beam))
}

/// Corners of the box around a shape in its own axes.
fn bounds(shape: &SceneShape) -> ([f64; 3], [f64; 3]) {
    let own = SceneShape { frame: SceneFrame::default(), ..shape.clone() };
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in Mesh::from_shape(&own, 8).points {
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    (low, high)
}

/// A point of a body in the axes of a frame on it.
fn inside(frame: &SceneFrame, point: [f64; 3]) -> Vector3<f64> {
    let [w, x, y, z] = frame.rotation;
    let rotation = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
    rotation.inverse() * (Point3::from(point) - Point3::from(frame.position))
}

/// What stands for a kind of joint in the joint's axes, by solids that every program draws.
pub fn symbol(kind: &str, size: f64) -> Vec<Geometry<SceneMesh>> {
    let pin = |radius: f64, length: f64| Geometry::Cylinder { radius: radius * size, length: length * size };
    let block = |edges: [f64; 3]| Geometry::Box { size: edges.map(|edge| edge * size) };
    let ball = |radius: f64| Geometry::Sphere { radius: radius * size };
    match kind {
        "revolute" => vec![pin(0.35, 1.9), pin(0.85, 0.32)],
        "cylindrical" | "screw" => vec![pin(0.28, 3.2), pin(0.85, 0.32)],
        "prismatic" => vec![block([0.5, 0.5, 3.4]), block([1.2, 1.2, 0.9])],
        "spherical" => vec![ball(0.75)],
        "planar" => vec![pin(1.3, 0.12)],
        "fixed" => vec![block([0.9; 3])],
        _ => vec![ball(0.5)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::scene::SceneBody;

    fn rod(length: f64, radius: f64) -> Scene {
        let geometry = Geometry::Cylinder { radius, length };
        let shape = SceneShape { geometry, frame: SceneFrame::default(), default_shape: false, colour: None };
        let (name, markers) = ("rod".to_owned(), Vec::new());
        let body = SceneBody { name, node: 0, mass: 1.0, shapes: vec![shape], markers };
        Scene { bodies: vec![body], ..Scene::default() }
    }

    fn joint() -> SceneJoint {
        let end = SceneFrame { position: [0.0, 0.0, 0.5], ..SceneFrame::default() };
        SceneJoint {
            name: "pin".to_owned(),
            kind: "revolute".to_owned(),
            nodes: [None, Some(0)],
            frames: [SceneFrame::default(), end],
        }
    }

    #[test]
    fn symbols_fit_the_parts_and_not_the_way_they_go() {
        // A rod of 1 m and 50 mm: four fifths of its thickness, wherever it travels.
        for radius in [0.6, 2.0, 4.0] {
            assert!((symbol_size(&rod(1.0, 0.025), &joint(), radius) - 0.04).abs() < 1e-12);
        }
        // Unless it were not to be seen.
        assert!((symbol_size(&rod(1.0, 0.025), &joint(), 100.0) - 0.9).abs() < 1e-12);
        assert!((symbol_size(&Scene::default(), &joint(), 2.0) - 0.06).abs() < 1e-12);
    }
}
