//! `[[contact]]`: two shapes that touch, with friction.

use super::contact_law::{self, Laws};
use super::joint::same_body;
use super::shape;
use crate::element::contact::{Contact, Friction, Surface};
use crate::kinematics::{Motion, NodeId, NodeMotion};
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::sensor::{ContactSensor, SensorFrame};
use crate::machine::shape::{Geometry, Triangles};
use crate::machine::{Attachment, MachineBuilder, PartEntry, Rank};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference, ValueKind,
};

/// Keys of `first-shape` and `second-shape`.
pub static SHAPE_KEYS: &[Key] = &[
    Key::new(
        "kind",
        ValueKind::Choice(&["plane", "point", "sphere", "capsule", "box", "cylinder"]),
        Need::Required,
    )
    .doc("What touches; a plane is z = 0 with matter below, axes of capsules and cylinders are z."),
    Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Optional)
        .doc("Radius of a sphere, capsule or cylinder."),
    Key::new("length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
        .doc("Length of a cylinder; of a capsule the part between its half spheres."),
    Key::new("size", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
        .doc("Full edge lengths of a box along x, y and z."),
    Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
        .doc("Where the shape's centre (or a point of the plane) stands in axes of the body or marker."),
    Key::new("orientation", ValueKind::Orientation, Need::Optional)
        .doc("Rotation from the shape's axes to those of the body or marker."),
];

const BODIES: Key = Key::new("bodies", ValueKind::References(&[2]), Need::Required)
    .doc("The two bodies, or their markers (`crank.pin`), or `ground`; a beam touches with a sphere at each of its nodes. The measured force is what acts on the second.");
const FIRST_SHAPE: Key = Key::new("first-shape", ValueKind::Table(SHAPE_KEYS), Need::Optional)
    .doc("What of the first body touches; its own `shape` if not given, a point for a point mass, the plane z = 0 for the ground.");
const SECOND_SHAPE: Key = Key::new("second-shape", ValueKind::Table(SHAPE_KEYS), Need::Optional)
    .doc("What of the second body touches; likewise.");

/// Keys of `[[contact]]`.
static KIND: PartKind = PartKind {
    name: "contact",
    doc: "Two shapes that push each other where they overlap, with friction. Measures `force` (on the second body), `normal-force` and `depth`.",
    occurrence: Occurrence::Many,
    keys: &[
        BODIES,
        FIRST_SHAPE,
        SECOND_SHAPE,
        contact_law::LAW,
        contact_law::STIFFNESS,
        contact_law::DAMPING,
        contact_law::TRANSITION_DEPTH,
        contact_law::YOUNGS_MODULUS,
        contact_law::POISSON_RATIO,
        contact_law::RESTITUTION,
        contact_law::REST_SPEED,
        contact_law::EFFECTIVE_RADIUS,
        contact_law::FRICTION,
        contact_law::STATIC_FRICTION,
        contact_law::STRIBECK_SPEED,
        contact_law::TRANSITION_SPEED,
        contact_law::FRICTION_LAW,
        contact_law::BRISTLE_STIFFNESS,
        contact_law::BRISTLE_DAMPING,
        contact_law::VISCOUS_FRICTION,
        contact_law::STRIBECK_EXPONENT,
    ],
};

/// A shape in a frame of something.
#[derive(Clone, Copy, Debug)]
struct ContactSurface {
    at: Attachment,
    /// Frame of the shape in axes of the node, or in the world.
    frame: Pose,
    surface: Surface,
}

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[contact]]\nname = 'ground-contact'\nbodies = ['ground', 'arm']\n\
         second-shape = { kind = 'sphere', radius = 0.1, position = [0, 0, 0.2] }\nstiffness = 1000\n"
    ),
)];

/// Adds a contact.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let references = reader.references("bodies")?;
    let first = surfaces(&reader, builder, &references[0], "first-shape")?;
    let second = surfaces(&reader, builder, &references[1], "second-shape")?;
    let laws = Laws::read(&reader)?;
    let mut elements = Vec::new();
    for a in &first {
        for b in &second {
            if a.at.node != b.at.node {
                let contact = contact(&reader, [a, b], &laws)?;
                check_depth(&reader, [a, b], &references, &contact)?;
                elements.extend(add_elements(part.name(), contact, &laws, builder));
            }
        }
    }
    if elements.is_empty() {
        return Err(same_body(&reader, &references).into());
    }
    for (key, list) in [("first-shape", &first), ("second-shape", &second)] {
        // A body's own shape is seen as it is; a long beam has too many nodes.
        let is_extra = reader.has(key) && list.len() == 1;
        for ContactSurface { at, frame, surface } in
            list.iter().filter(|one| is_extra || one.at.node.is_none())
        {
            builder.appearance_mut().show_surface(part.name(), at.node, *surface, frame);
        }
    }
    let extents = first.iter().chain(&second).map(|surface| surface.surface.extent());
    extents.filter(|extent| extent.is_finite()).for_each(|extent| builder.frames_mut().add_length(extent));
    let shown = [&second[0], &first[0]].into_iter().find(|surface| surface.at.node.is_some());
    let shown_at = shown.map_or_else(SensorFrame::default, |surface| SensorFrame {
        node: surface.at.node,
        offset: surface.frame,
    });
    for sensor in ContactSensor::all(part.name(), &elements, shown_at) {
        builder.signals_mut().offer(Rank::Contact, sensor);
    }
    reader.finish()
}

/// Adds a contact as one element or, with bristles, as one per couple, each with three states.
fn add_elements(name: &str, contact: Contact, laws: &Laws, builder: &mut MachineBuilder) -> Vec<usize> {
    let Friction::LuGre(friction) = laws.friction else {
        return vec![builder.add_element(name, contact)];
    };
    let scale = contact_law::bristle_scale(&friction);
    let state = |couple: usize| {
        let name = |axis: &str| format!("{name} (bristle {couple}, {axis})");
        let states = ["x", "y", "z"].map(|axis| builder.system_mut().fading_state(name(axis), 0.0, scale));
        builder.start_steady(contact_law::sliding_start(&friction, &states));
        states
    };
    let singles = contact.with_bristles(state);
    singles.into_iter().map(|single| builder.add_element(name, single)).collect()
}

fn contact(reader: &PartReader, surfaces: [&ContactSurface; 2], laws: &Laws) -> Result<Contact, ModelErrors> {
    let nodes = surfaces.map(|surface| surface.at.node);
    let frames = surfaces.map(|surface| surface.frame);
    let contact =
        Contact::new(nodes, frames, surfaces.map(|surface| surface.surface), laws.normal, laws.friction);
    if contact.couples().is_empty() {
        return Err(reader.unsuitable("bodies", "shapes that can touch", "two planes").into());
    }
    laws.fit(reader, contact, surfaces.map(|surface| surface.surface.word()))
}

/// What of a body, marker, beam or the ground touches.
fn surfaces(
    reader: &PartReader,
    builder: &MachineBuilder,
    reference: &Reference,
    key: &str,
) -> Result<Vec<ContactSurface>, ModelErrors> {
    let given = reader.table(key)?.map(read_shape).transpose()?;
    if let Some(beam) = builder.frames().beams().iter().find(|beam| beam.name == reference.name) {
        let Some((surface @ Surface::Sphere { .. }, offset)) = given else {
            let requirement = "a sphere or a point for a beam, which touches at its nodes";
            let found = given.map_or("none", |(surface, _)| surface.word());
            return Err(reader.unsuitable(key, requirement, found).at(&reference.place).into());
        };
        let nodes = (0..beam.node_count()).filter_map(|index| beam.node(index));
        return Ok(nodes
            .map(|node| {
                let at = Attachment { node: node.node, body: node.body, marker: Some(node.offset) };
                ContactSurface { at, frame: node.offset.compose(&offset), surface }
            })
            .collect());
    }
    let at = builder.attachment(reference)?;
    let marker = at.marker.unwrap_or_default();
    if let Some((surface, offset)) = given {
        return Ok(vec![ContactSurface { at, frame: marker.compose(&offset), surface }]);
    }
    let own = match at.node {
        None => Some((Surface::Plane, marker)),
        Some(node) if builder.frames().is_point_mass(node) => Some((Surface::Sphere { radius: 0.0 }, marker)),
        Some(node) => own_shape(builder, node),
    };
    let Some((surface, frame)) = own else {
        let hint = format!(
            "`{}` has no `shape` that can touch (sphere, box, cylinder or capsule): say what does, \
             `{key} = {{ kind = \"sphere\", radius = … }}`",
            reference.name
        );
        return Err(reader.missing(key, hint).at(&reference.place).into());
    };
    Ok(vec![ContactSurface { at, frame, surface }])
}

/// The shape of a body as one that touches, with its frame in body axes.
pub(super) fn own_shape(builder: &MachineBuilder, node: NodeId) -> Option<(Surface, Pose)> {
    let shape = builder.appearance().shape_of(node)?;
    Some((surface(&shape.geometry)?, shape.frame))
}

/// A shape as one that touches; nothing for those that cannot.
fn surface(geometry: &Geometry<Triangles>) -> Option<Surface> {
    Some(match *geometry {
        Geometry::Sphere { radius } => Surface::Sphere { radius },
        Geometry::Box { size } => Surface::Box { half_size: 0.5 * Vector3::from(size) },
        Geometry::Cylinder { radius, length } => Surface::Cylinder { radius, half_length: 0.5 * length },
        Geometry::Capsule { radius, length } => Surface::Capsule { radius, half_length: 0.5 * length },
        Geometry::Frustum { .. } | Geometry::Mesh(_) => return None,
    })
}

fn read_shape(reader: PartReader) -> Result<(Surface, Pose), ModelErrors> {
    let surface = match reader.choice("kind")? {
        "plane" => Surface::Plane,
        "point" => Surface::Sphere { radius: 0.0 },
        _ => {
            surface(&shape::geometry(&reader)?).expect("the other words of the key are shapes that can touch")
        }
    };
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let frame = Pose::new(rotation, reader.vector3("position")?);
    reader.finish()?;
    Ok((surface, frame))
}

/// Part of the smaller shape's size that counts as deep: a sphere whose centre is inside is one radius deep.
pub(super) const MAX_PENETRATION_PART: f64 = 0.5;

/// Refuses shapes that start deep inside each other: they would fly apart.
fn check_depth(
    reader: &PartReader,
    surfaces: [&ContactSurface; 2],
    references: &[Reference],
    contact: &Contact,
) -> Result<(), ModelErrors> {
    // A point has no size: its distance from the body's origin stands for it.
    let size = |surface: &ContactSurface| match surface.surface.extent() {
        0.0 => surface.frame.position.norm(),
        extent => extent,
    };
    let sizes = surfaces.map(size);
    let smallest = sizes.into_iter().filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
    let poses = surfaces.iter().filter(|surface| surface.at.node.is_some());
    let motions: Vec<NodeMotion> = poses.map(|surface| NodeMotion::at_rest(surface.at.body)).collect();
    let motion = Motion::new(0.0, &motions);
    let depth = contact.contact(&motion).depth;
    if depth <= MAX_PENETRATION_PART * smallest {
        return Ok(());
    }
    let [first, second] = [0, 1].map(|side: usize| references[side].name.as_str());
    let found = format!("`{first}` and `{second}` overlap by {depth:.4} m");
    let error = reader.unsuitable("bodies", "bodies that start apart or barely touch", found);
    Err(error.with_hint("move one of them, or check the sizes and places of their shapes").into())
}
