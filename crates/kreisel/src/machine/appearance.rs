//! How a machine looks: shapes as the model gives them, or made up so that every model looks like something.
//!
//! A body without a shape is drawn as a cylinder, ball or box of its inertia, with a bar from the centre of
//! mass to each point at which something is attached.

use super::Machine;
use super::beam::BeamEntry;
use super::entry::{BodyEntry, JointEntry};
use super::sensor::NamedSensor;
use super::shape::{BodyLook, Geometry, Solid, Triangles};
use crate::element::contact::Surface;
use crate::kinematics::NodeId;
use crate::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3};
use crate::results::mesh::Mesh;
use crate::results::scene::{
    Scene, SceneArrow, SceneBeam, SceneBody, SceneElement, SceneFrame, SceneJoint, SceneMarker, SceneMesh,
    SceneNode, SceneShape, SceneSpring, SceneSurface,
};
use nalgebra::Rotation3;
use std::collections::HashMap;

/// Moments of inertia that differ by less than this part are those of a body of revolution.
const ROUND: f64 = 0.02;
/// Radius of a bar, as part of the machine's size.
const BAR: f64 = 0.02;
/// Triangles of a mesh beyond which it is drawn coarser.
const MAX_TRIANGLES: usize = 6_000;
/// Thickness of a beam, at least, as part of its length.
const THINNEST: f64 = 0.006;
/// Cells of a coarser mesh along its longest side.
const CELLS: usize = 48;

/// What there is to be seen of a machine beside its frames: shapes on bodies and lines between them. Arrows
/// belong to the signals that they show.
#[derive(Clone, Debug, Default)]
pub struct Appearance {
    /// Direction against gravity; zero without gravity.
    up: Vector3,
    /// Bodies in the order of their nodes, with how the model wants them drawn.
    bodies: Vec<(NodeId, BodyLook)>,
    /// What bodies without a shape look like in place of a shape by their inertia.
    cores: Vec<(NodeId, Solid)>,
    lines: Vec<SceneSpring>,
    surfaces: Vec<SceneSurface>,
}

impl Appearance {
    /// Shows a body: by the shapes that the model gives, or else by one of its mass and inertia.
    pub fn show_body(&mut self, node: NodeId, look: BodyLook) {
        self.bodies.push((node, look));
    }

    /// Shows a solid on a body: as the body itself if the model gives that no shape, and else beside it unless a round
    /// shape of the body is as large as the `radius` of the solid.
    pub fn show_on(&mut self, name: &str, node: NodeId, radius: f64, solid: Solid) {
        let Some(look) = self.body(node) else { return };
        if look.shapes.is_empty() {
            self.cores.push((node, solid));
        } else if !look.has_round_shape(radius) {
            let geometry = solid.geometry.with_surface(scene_mesh);
            self.add_surface(name, Some(node), Some(geometry), &solid.frame);
        }
    }

    /// Shows a line between two points, given in axes of their nodes or in the world.
    pub fn show_line(&mut self, name: &str, nodes: [Option<NodeId>; 2], points: [Vector3; 2]) {
        let nodes = nodes.map(|node| node.map(|node| node.0));
        self.lines.push(SceneSpring { name: name.to_string(), nodes, points: points.map(Into::into) });
    }

    /// Shows what a contact touches, in axes of a node or in the world; each is shown once.
    pub fn show_surface(&mut self, name: &str, node: Option<NodeId>, surface: Surface, frame: &Pose) {
        let geometry = match surface {
            Surface::Plane => None,
            // A point has no size to be seen.
            Surface::Sphere { radius } if radius <= 0.0 => return,
            Surface::Sphere { radius } => Some(Geometry::Sphere { radius }),
            Surface::Box { half_size } => Some(Geometry::Box { size: (2.0 * half_size).into() }),
            Surface::Cylinder { radius, half_length } => {
                Some(Geometry::Cylinder { radius, length: 2.0 * half_length })
            }
            Surface::Capsule { radius, half_length } => {
                Some(Geometry::Capsule { radius, length: 2.0 * half_length })
            }
        };
        self.add_surface(name, node, geometry, frame);
    }

    /// Shows a curved surface that a part touches, seen from the side on which its triangles turn anticlockwise.
    pub fn show_mesh(&mut self, name: &str, node: Option<NodeId>, mesh: SceneMesh, frame: &Pose) {
        self.add_surface(name, node, Some(Geometry::Mesh(mesh)), frame);
    }

    fn add_surface(
        &mut self,
        name: &str,
        node: Option<NodeId>,
        geometry: Option<Geometry<SceneMesh>>,
        frame: &Pose,
    ) {
        let (name, node, frame) = (name.to_owned(), node.map(|node| node.0), scene_frame(frame));
        let is_same =
            |other: &SceneSurface| (&other.geometry, other.node, other.frame) == (&geometry, node, frame);
        if !self.surfaces.iter().any(is_same) {
            self.surfaces.push(SceneSurface { name, node, geometry, frame });
        }
    }

    /// The shape that the model gives a body, if it is one.
    pub fn shape_of(&self, node: NodeId) -> Option<&Solid> {
        match self.body(node)?.shapes.as_slice() {
            [only] => Some(&only.solid),
            _ => None,
        }
    }

    /// Whether a node is seen as a body; nodes of beams are not.
    pub fn shows_body(&self, node: NodeId) -> bool {
        self.body(node).is_some()
    }

    /// How many bodies are seen.
    pub(super) fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Tells what is up, by gravity.
    pub(super) fn set_up(&mut self, gravity: &Vector3) {
        self.up = if gravity.norm() > 0.0 { -gravity.normalize() } else { Vector3::zeros() };
    }

    fn body(&self, node: NodeId) -> Option<&BodyLook> {
        let place = self.bodies.binary_search_by_key(&node.0, |(node, _)| node.0).ok()?;
        Some(&self.bodies[place].1)
    }
}

impl BodyLook {
    /// Whether one of its shapes is round and has at least this radius.
    fn has_round_shape(&self, radius: f64) -> bool {
        self.shapes.iter().any(|shape| match shape.solid.geometry {
            Geometry::Sphere { radius: own }
            | Geometry::Cylinder { radius: own, .. }
            | Geometry::Capsule { radius: own, .. } => own >= radius,
            Geometry::Frustum { radii, .. } => radii[0].max(radii[1]) >= radius,
            Geometry::Box { .. } | Geometry::Mesh(_) => false,
        })
    }
}

impl Machine {
    /// How a body is drawn.
    pub fn look_of(&self, node: NodeId) -> Option<&BodyLook> {
        self.registries.appearance.body(node)
    }

    /// What there is to be seen: nodes, shapes, joints, springs and arrows.
    pub fn scene(&self) -> Scene {
        let names = (0..self.system.node_count()).map(|node| self.system.node_name(NodeId(node)).to_owned());
        let bodies = self.registries.appearance.bodies.iter();
        let size = self.characteristic_length();
        let mut attached = self.attached();
        Scene {
            title: self.title().to_string(),
            description: self.description().to_string(),
            up: self.registries.appearance.up.into(),
            nodes: names.map(|name| SceneNode { name }).collect(),
            bodies: bodies
                .filter_map(|(node, look)| {
                    self.scene_body(*node, look, attached.remove(&node.0).unwrap_or_default(), size)
                })
                .collect(),
            beams: self.frames().beams().iter().map(scene_beam).collect(),
            joints: self.frames().joints().iter().map(scene_joint).collect(),
            springs: self.registries.appearance.lines.clone(),
            arrows: self.signals().recorded().iter().filter_map(scene_arrow).collect(),
            ground: markers(self.frames().ground_markers()),
            surfaces: self.registries.appearance.surfaces.clone(),
        }
    }

    fn scene_body(
        &self,
        node: NodeId,
        look: &BodyLook,
        attached: Vec<Vector3>,
        size: f64,
    ) -> Option<SceneBody> {
        let body = self.frames().body_of(node)?;
        let mut shapes: Vec<SceneShape> = match look.shapes.as_slice() {
            [] => {
                let cores = self.registries.appearance.cores.iter();
                let cores = cores.filter(|(other, _)| *other == node).map(|(_, solid)| solid.clone());
                default_shapes(body, cores.collect(), attached, size)
            }
            given => {
                let seen = given.iter().filter(|shape| shape.visible);
                seen.map(|shape| SceneShape {
                    colour: shape.colour.clone(),
                    ..scene_shape(&shape.solid, false)
                })
                .collect()
            }
        };
        if !look.visible {
            shapes.clear();
        }
        for shape in &mut shapes {
            shape.colour = shape.colour.take().or_else(|| look.colour.clone());
        }
        let markers = markers(&body.markers);
        Some(SceneBody { name: body.name.clone(), node: node.0, mass: body.mass, shapes, markers })
    }

    /// Points of each node at which joints and lines are attached, in its axes.
    fn attached(&self) -> HashMap<usize, Vec<Vector3>> {
        let ends = |joint: &JointEntry| {
            let nodes = joint.nodes.map(|node| node.map(|node| node.0));
            nodes.into_iter().zip(joint.offsets.map(|offset| offset.position))
        };
        let joints = self.frames().joints().iter().flat_map(ends);
        let lines = self.registries.appearance.lines.iter();
        let lines = lines.flat_map(|line| line.nodes.into_iter().zip(line.points.map(Vector3::from)));
        let mut attached: HashMap<usize, Vec<Vector3>> = HashMap::new();
        for (node, point) in joints.chain(lines) {
            if let Some(node) = node {
                attached.entry(node).or_default().push(point);
            }
        }
        attached
    }
}

/// What a body without a shape looks like: its `cores`, or a shape by its inertia, and bars.
fn default_shapes(body: &BodyEntry, cores: Vec<Solid>, attached: Vec<Vector3>, size: f64) -> Vec<SceneShape> {
    let markers = body.markers.iter().map(|(_, frame)| frame.position);
    // Nobody sees arms apart that end this close.
    let arms = apart(attached.into_iter().chain(markers), 1e-6 * size);
    let reach = arms.iter().map(Vector3::norm).fold(0.0, f64::max);
    let radius = BAR * if reach > 0.0 { reach.min(size) } else { size };
    let mut shapes = if cores.is_empty() { vec![core(body, radius)] } else { cores };
    shapes.extend(arms.iter().filter(|arm| arm.norm() > 2.0 * radius).map(|arm| bar(arm, radius)));
    shapes.iter().map(|shape| scene_shape(shape, true)).collect()
}

/// The points without those that lie closer than a distance to one before: each is compared with those in
/// the same cell of a grid and in the cells around it.
fn apart(points: impl Iterator<Item = Vector3>, distance: f64) -> Vec<Vector3> {
    let mut cells: HashMap<[i64; 3], Vec<Vector3>> = HashMap::new();
    let mut apart = Vec::new();
    for point in points {
        // Numbers beyond those of the grid share its last cells.
        let [x, y, z] = <[f64; 3]>::from(point).map(|number| (number / distance).floor() as i64);
        let around = |cell: i64| [cell.saturating_sub(1), cell, cell.saturating_add(1)];
        let is_close = around(x).into_iter().any(|x| {
            around(y).into_iter().any(|y| {
                around(z).into_iter().any(|z| {
                    let known = cells.get(&[x, y, z]);
                    known.is_some_and(|known| known.iter().any(|known| (known - point).norm() < distance))
                })
            })
        });
        if !is_close {
            cells.entry([x, y, z]).or_default().push(point);
            apart.push(point);
        }
    }
    apart
}

fn scene_shape(shape: &Solid, default_shape: bool) -> SceneShape {
    let geometry = shape.geometry.with_surface(scene_mesh);
    SceneShape { geometry, frame: scene_frame(&shape.frame), default_shape, colour: None }
}

fn scene_joint(joint: &JointEntry) -> SceneJoint {
    SceneJoint {
        name: joint.name.clone(),
        kind: joint.kind.to_string(),
        nodes: joint.nodes.map(|node| node.map(|node| node.0)),
        frames: joint.offsets.map(|offset| scene_frame(&offset)),
    }
}

/// The arrow of a signal that has one, by the name of its part.
fn scene_arrow(sensor: &NamedSensor) -> Option<SceneArrow> {
    let arrow = sensor.arrow?;
    let part = sensor.name.rsplit_once('.').map_or(sensor.name.as_str(), |(part, _)| part);
    Some(SceneArrow {
        name: part.to_string(),
        kind: arrow.kind,
        node: arrow.at.node.map(|node| node.0),
        point: arrow.at.offset.position.into(),
        signal: sensor.name.clone(),
    })
}

/// The body that has this mass and inertia, evenly filled, in its principal axes; at least as thick as a bar.
fn core(body: &BodyEntry, least: f64) -> Solid {
    if matches!(body.group, Group::Vector(_)) || body.mass <= 0.0 {
        let radius = if body.mass > 0.0 { 2.0 * least } else { least };
        return Solid { geometry: Geometry::Sphere { radius }, frame: Pose::identity() };
    }
    let (moments, rotation) = principal_axes(&(body.inertia / body.mass));
    let [a, b, c] = [moments.x, moments.y, moments.z];
    let same = |p: f64, q: f64| (p - q).abs() <= ROUND * p.max(q);
    let upright = |axis: usize| match axis {
        0 => UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2),
        1 => UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -std::f64::consts::FRAC_PI_2),
        _ => UnitQuaternion::identity(),
    };
    // A cylinder: c = r²/2 along its axis, a = r²/4 + l²/12 across.
    let cylinder = |along: f64, across: f64, axis: usize| {
        let radius = (2.0 * along).sqrt().max(least);
        let length = (12.0 * across - 3.0 * radius * radius).max(0.0).sqrt().max(0.12 * radius).max(least);
        Solid {
            geometry: Geometry::Cylinder { radius, length },
            frame: Pose::new(rotation * upright(axis), Vector3::zeros()),
        }
    };
    if same(a, b) && same(b, c) {
        // A ball: 2 r²/5.
        let radius = (2.5 * a).sqrt().max(least);
        Solid { geometry: Geometry::Sphere { radius }, frame: Pose::identity() }
    } else if same(a, b) {
        cylinder(c, 0.5 * (a + b), 2)
    } else if same(b, c) {
        cylinder(a, 0.5 * (b + c), 0)
    } else if same(a, c) {
        cylinder(b, 0.5 * (a + c), 1)
    } else {
        // A box: (y² + z²)/12 about x, and so on.
        let edge = |own: f64, others: f64| (6.0 * (others - own)).max(0.0).sqrt().max(least);
        let size = [edge(a, b + c), edge(b, a + c), edge(c, a + b)];
        Solid { geometry: Geometry::Box { size }, frame: Pose::new(rotation, Vector3::zeros()) }
    }
}

/// Principal moments with the rotation from principal to body axes.
fn principal_axes(inertia: &Matrix3) -> (Vector3, UnitQuaternion) {
    let size = inertia.amax();
    // What is rounding would turn the axes of equal moments at will.
    let is_diagonal = (0..3).all(|i| (0..3).all(|j| i == j || inertia[(i, j)].abs() <= 1e-12 * size));
    if is_diagonal {
        return (inertia.diagonal(), UnitQuaternion::identity());
    }
    let decomposition = inertia.symmetric_eigen();
    let mut axes = decomposition.eigenvectors;
    if axes.determinant() < 0.0 {
        axes.column_mut(2).neg_mut();
    }
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    (decomposition.eigenvalues, rotation)
}

/// A bar from the centre of mass to a point.
fn bar(end: &Vector3, radius: f64) -> Solid {
    let rotation = UnitQuaternion::rotation_between(&Vector3::z(), end)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    let geometry = Geometry::Capsule { radius, length: end.norm() };
    Solid { geometry, frame: Pose::new(rotation, 0.5 * end) }
}

/// A beam with a section that has the ratio of its bending and axial stiffness, thick enough to be seen.
fn scene_beam(beam: &BeamEntry) -> SceneBeam {
    let flexibility = beam.section.flexibility();
    let elements: Vec<SceneElement> = (beam.pieces.iter())
        .map(|piece| {
            let stiffness = piece.span.stiffness(&flexibility);
            let bow = piece.span.bow(&flexibility, &stiffness);
            SceneElement {
                nodes: piece.ends.map(|end| end.node.map(|node| node.0)),
                frames: piece.ends.map(|end| scene_frame(&end.offset)),
                length: piece.span.length(),
                reference: (*piece.span.twist()).into(),
                stiffness: stiffness.into(),
                bow: bow.straight.into(),
                twisted_bow: bow.twisted.transpose().into(),
            }
        })
        .collect();
    let least = THINNEST * beam.length();
    let (size, round) = elements.first().map_or(([least; 2], true), |element| section_size(element, least));
    SceneBeam { name: beam.name.clone(), size, round, elements }
}

/// I/A is d²/16 for a disc and b²/12 for a rectangle.
fn section_size(element: &SceneElement, least: f64) -> ([f64; 2], bool) {
    let diagonal = |row: usize| element.stiffness[row][row];
    let gyration = |bending: f64| (bending / diagonal(3)).max(0.0).sqrt();
    let (about_y, about_z) = (gyration(diagonal(1)), gyration(diagonal(2)));
    let round = (about_y - about_z).abs() <= ROUND * about_y.max(about_z);
    let factor = if round { 4.0 } else { 12.0_f64.sqrt() };
    let size = [factor * about_z, factor * about_y];
    (size.map(|size| if size.is_finite() { size.max(least) } else { least }), round)
}

fn markers(markers: &[(String, Pose)]) -> Vec<SceneMarker> {
    let marker = |(name, pose): &(String, Pose)| SceneMarker { name: name.clone(), frame: scene_frame(pose) };
    markers.iter().map(marker).collect()
}

fn scene_frame(pose: &Pose) -> SceneFrame {
    let q = pose.rotation;
    SceneFrame { position: pose.position.into(), rotation: [q.w, q.i, q.j, q.k] }
}

/// A surface as it is drawn: coarser if it has many triangles.
fn scene_mesh(surface: &Triangles) -> SceneMesh {
    let mut mesh = Mesh {
        points: surface.iter().flatten().map(|point| (*point).into()).collect(),
        triangles: (0..surface.len()).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect(),
    };
    if surface.len() > MAX_TRIANGLES {
        mesh = mesh.clustered(CELLS);
    }
    SceneMesh {
        points: mesh.points.iter().map(|point| point.map(|x| x as f32)).collect(),
        triangles: mesh.triangles.iter().map(|corners| corners.map(|corner| corner as u32)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_shape(inertia: &str, more: &str) -> Vec<SceneShape> {
        let model = format!(
            "[simulation]\nend-time = 1\n[[body]]\nname = \"top\"\nmass = 15\ninertia = {inertia}\n\
             position = [0, 1, 0]\n{more}"
        );
        Machine::from_text("top.toml", &model).unwrap().scene().bodies[0].shapes.clone()
    }

    #[test]
    fn points_that_lie_apart_are_those_of_comparing_all() {
        // Multiples of an irrational number: in every cell of a cube, some within the distance of others.
        let number = |index: usize| (index as f64 * 0.618_033_988_749_895).fract() - 0.5;
        let points: Vec<Vector3> =
            (0..3000).map(|k| Vector3::new(number(k), number(7 * k + 3), number(31 * k + 5))).collect();
        for distance in [1e-3, 0.05, 0.2, 3.0] {
            let mut expected: Vec<Vector3> = Vec::new();
            for point in &points {
                if !expected.iter().any(|known| (known - point).norm() < distance) {
                    expected.push(*point);
                }
            }
            assert_eq!(apart(points.iter().copied(), distance), expected, "{distance}");
        }
    }

    #[test]
    fn a_top_is_a_disc_on_a_bar_to_its_tip() {
        let joint = "[[spherical]]\nname = \"tip\"\nbodies = [\"ground\", \"top\"]\npoint = [0, 0, 0]";
        let shapes = default_shape("[0.234375, 0.46875, 0.234375]", joint);
        // r = √(2 · 0.46875 / 15) = 0.25, and no length at all but that of something to be seen.
        let Geometry::Cylinder { radius, length } = shapes[0].geometry else { panic!("{shapes:?}") };
        assert!((radius - 0.25).abs() < 1e-12 && length < 0.2 * radius);
        let Geometry::Capsule { length, .. } = shapes[1].geometry else { panic!("{shapes:?}") };
        assert!((length - 1.0).abs() < 1e-12 && (shapes[1].frame.position[1] + 0.5).abs() < 1e-12);
        assert!(shapes.iter().all(|shape| shape.default_shape));
    }

    #[test]
    fn the_opening_comment_names_and_describes_the_model() {
        let body = "[simulation]\nend-time = 1\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n";
        let text = format!("# A ball\n# that flies.\n#\n# More\n# words.\n\n# Not this.\n{body}");
        let machine = Machine::from_text("ball.toml", &text).unwrap();
        assert_eq!((machine.title(), machine.description()), ("A ball that flies", "More words."));
        let machine = Machine::from_text("models/ball.toml", body).unwrap();
        assert_eq!((machine.title(), machine.description()), ("ball", ""));
    }

    #[test]
    fn a_made_up_box_has_the_inertia_of_the_body() {
        let shapes = default_shape("[1.0, 1.5, 2.0]", "");
        let Geometry::Box { size: [x, y, z] } = shapes[0].geometry else { panic!("{shapes:?}") };
        let about_x = 15.0 / 12.0 * (y * y + z * z);
        let about_z = 15.0 / 12.0 * (x * x + y * y);
        // A few roundings.
        assert!((about_x - 1.0).abs() < 1e-12 && (about_z - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_turned_inertia_turns_the_shape() {
        // Principal moments 1, 2 and 2 about axes at 45° in the x-y plane.
        let shapes = default_shape("[1.5, 1.5, 2.0, -0.5, 0, 0]", "");
        assert!(matches!(shapes[0].geometry, Geometry::Cylinder { .. }));
        let axis = crate::results::mesh::rotated(shapes[0].frame.rotation, [0.0, 0.0, 1.0]);
        assert!(
            (axis[0].abs() - 0.5_f64.sqrt()).abs() < 1e-12 && (axis[0] - axis[1]).abs() < 1e-12,
            "{axis:?}"
        );
    }
}
