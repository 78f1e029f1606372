//! `[[contact-group]]`: many shapes of which any two may touch.

use super::contact::{MAX_PENETRATION_PART, own_shape};
use super::contact_law::{self, Laws};
use crate::element::contact::{ContactGroup, Member, Surface};
use crate::kinematics::{Motion, NodeMotion};
use crate::lie::Vector3;
use crate::machine::sensor::GroupSensor;
use crate::machine::{BodyEntry, MachineBuilder, PartEntry, Rank};
use crate::model::{
    Dimension, Key, ModelError, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference,
    ValueKind,
};

const MEMBERS: Key = Key::new("members", ValueKind::References(&[]), Need::Required)
    .doc("Bodies with a `shape`, `ground` and its markers (planes z = 0); a star at the end of a name stands for anything: `ball-*`.");
const IMPACT_SPEED: Key = Key::new("impact-speed", ValueKind::Number(Dimension::SPEED), Need::Default("1"))
    .doc("Speed of meeting at which the `restitution` of `hertz` and `flores` holds; slower impacts lose less.");

/// Keys of `[[contact-group]]`.
static KIND: PartKind = PartKind {
    name: "contact-group",
    doc: "Bodies of which any two may touch, and ground they may fall on; who is near whom is found in the course of the run. Bodies that a joint holds together pass through each other.",
    occurrence: Occurrence::Many,
    keys: &[
        MEMBERS,
        contact_law::LAW,
        contact_law::STIFFNESS,
        contact_law::DAMPING,
        contact_law::TRANSITION_DEPTH,
        contact_law::YOUNGS_MODULUS,
        contact_law::POISSON_RATIO,
        contact_law::RESTITUTION,
        IMPACT_SPEED,
        contact_law::EFFECTIVE_RADIUS,
        contact_law::FRICTION,
        contact_law::FRICTION_LAW,
        contact_law::STATIC_FRICTION,
        contact_law::STRIBECK_SPEED,
        contact_law::TRANSITION_SPEED,
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[body]]\nname = 'ball'\nmass = 1\nshape = { kind = 'sphere', radius = 0.1 }\n\
         position = [0, 0, 1]\n[[contact-group]]\nname = 'group'\nmembers = ['ground', 'ball']\n\
         stiffness = 1000\n"
    ),
)];

/// Adds a group.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let mut members = Vec::new();
    for reference in reader.references("members")? {
        members.extend(members_of(&reader, builder, &reference)?);
    }
    if members.iter().filter(|member| member.node.is_some()).count() == 0 || members.len() < 2 {
        let found = format!("{} of them", members.len());
        return Err(reader.unsuitable("members", "two or more, at least one of them a body", found).into());
    }
    let laws = Laws::read_for_group(&reader)?;
    let contact_group = ContactGroup::new(members, laws.normal, laws.friction, laws.effective_radius);
    laws.fit_group(&reader, &contact_group)?;
    check_depths(&reader, builder, &contact_group)?;
    let ground = contact_group.members().iter().filter(|member| member.node.is_none());
    for Member { surface, frame, .. } in ground {
        builder.appearance_mut().show_surface(part.name(), None, *surface, frame);
    }
    let extents = contact_group.members().iter().map(|member| member.surface.extent());
    extents.filter(|extent| extent.is_finite()).for_each(|extent| builder.frames_mut().add_length(extent));
    builder.system_mut().contact_group(part.name(), contact_group);
    for sensor in GroupSensor::all(part.name()) {
        builder.signals_mut().offer(Rank::OnDemand, sensor);
    }
    reader.finish()
}

fn members_of(
    reader: &PartReader,
    builder: &MachineBuilder,
    reference: &Reference,
) -> Result<Vec<Member>, ModelErrors> {
    let Some(start) = reference.name.strip_suffix('*') else {
        return Ok(vec![member(reader, builder, reference)?]);
    };
    let is_body = |body: &&BodyEntry| builder.appearance().shows_body(body.node);
    let bodies = builder.frames().bodies().iter().filter(is_body);
    let names = bodies.filter(|body| body.name.starts_with(start));
    let named = names.map(|body| Reference { name: body.name.clone(), place: reference.place.clone() });
    let members: Vec<Member> =
        named.map(|reference| member(reader, builder, &reference)).collect::<Result<_, _>>()?;
    if members.is_empty() {
        let names: Vec<&str> = builder.frames().bodies().iter().map(|body| body.name.as_str()).collect();
        return Err(reference.unknown("body", names).into());
    }
    Ok(members)
}

fn member(
    reader: &PartReader,
    builder: &MachineBuilder,
    reference: &Reference,
) -> Result<Member, ModelErrors> {
    let at = builder.attachment(reference)?;
    let Some(node) = at.node else {
        return Ok(Member { node: None, frame: at.marker.unwrap_or_default(), surface: Surface::Plane });
    };
    let Some((surface, frame)) = own_shape(builder, node) else {
        let what = format!("`{}`, a member of {},", reference.name, reader.description());
        let requirement = "a body with a sphere, box, cylinder or capsule as `shape`";
        return Err(ModelError::unsuitable(what, requirement, "without one", &reference.place).into());
    };
    Ok(Member { node: Some(node), frame, surface })
}

/// Refuses members that start deep inside each other.
fn check_depths(
    reader: &PartReader,
    builder: &MachineBuilder,
    contact_group: &ContactGroup,
) -> Result<(), ModelErrors> {
    let pose =
        |member: &Member| member.node.and_then(|node| builder.frames().body_of(node)).map(|body| body.pose);
    let place = |member: &Member| -> (Vector3, f64) {
        let frame = pose(member).map_or(member.frame, |pose| pose.compose(&member.frame));
        (frame.position, 0.0)
    };
    let mut memory = vec![0.0; contact_group.memory_count()];
    contact_group.remember(0.0, place, &mut memory);
    for (i, j) in contact_group.pairs(&memory) {
        let pair = [&contact_group.members()[i], &contact_group.members()[j]];
        let motions: Vec<NodeMotion> =
            pair.iter().filter_map(|member| pose(member)).map(NodeMotion::at_rest).collect();
        let smallest = pair.iter().map(|member| member.surface.extent()).fold(f64::INFINITY, f64::min);
        let depth = contact_group.contact((i, j)).contact(&Motion::new(0.0, &motions)).depth;
        if depth > MAX_PENETRATION_PART * smallest {
            let name = |member: &Member| {
                let body = member.node.and_then(|node| builder.frames().body_of(node));
                body.map_or("ground".to_string(), |body| body.name.clone())
            };
            let found = format!("`{}` and `{}` overlap by {depth:.4} m", name(pair[0]), name(pair[1]));
            let error = reader.unsuitable("members", "bodies that start apart or barely touch", found);
            return Err(error.with_hint("move one of them, or check the sizes of their shapes").into());
        }
    }
    Ok(())
}
