//! What names may be attached to: bodies, markers, sections of beams, and the joints between them.

use std::collections::HashMap;

use super::beam::{BeamEntry, Station};
use super::entry::{Attachment, BodyEntry, JointEntry, MeasuredCoordinate, NamedFrame, UnknownFrame};
use crate::kinematics::{Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Matrix3, Pose, Vector3};
use crate::model::error::ModelError;
use crate::model::{Place, Reference, name};

/// Most markers of a machine, those of repeated files among them.
const MAX_MARKERS: usize = 1_000_000;

/// Things in order, found by name.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    items: Vec<T>,
    places: HashMap<String, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { items: Vec::new(), places: HashMap::new() }
    }
}

impl<T> Named<T> {
    pub(super) fn push(&mut self, name: &str, item: T) {
        self.places.insert(name.to_string(), self.items.len());
        self.items.push(item);
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).map(|&place| &self.items[place])
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.places.get(name).map(|&place| &mut self.items[place])
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

/// Frames of a machine by name.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    bodies: Named<BodyEntry>,
    ground_markers: Vec<(String, Pose)>,
    /// Where each marker stands among those of its owner.
    marker_places: HashMap<String, HashMap<String, usize>>,
    marker_count: usize,
    beams: Named<BeamEntry>,
    joints: Named<JointEntry>,
    /// Lengths of the machine that no frame shows, such as lengths of rods and radii of wheels.
    lengths: Vec<f64>,
    /// Mass of beams that clamped ends carry, in kg.
    clamped_mass: f64,
}

impl Frames {
    /// Adds a body.
    pub(super) fn add_body(&mut self, body: BodyEntry) {
        let name = body.name.clone();
        self.bodies.push(&name, body);
    }

    /// Adds a joint.
    pub(super) fn add_joint(&mut self, joint: JointEntry) {
        let name = joint.name.clone();
        self.joints.push(&name, joint);
    }

    /// Adds a beam, whose nodes and elements come apart.
    pub fn add_beam(&mut self, beam: BeamEntry) {
        let name = beam.name.clone();
        self.beams.push(&name, beam);
    }

    /// Tells the mass of a beam's node, which may carry several pieces; a clamped one is no body of its own.
    pub fn add_beam_mass(&mut self, name: &str, mass: f64, inertia: Matrix3) {
        if let Some(body) = self.bodies.get_mut(name) {
            body.mass += mass;
            body.inertia += inertia;
        } else {
            self.clamped_mass += mass;
        }
    }

    /// Mass of everything in kg, what clamped ends of beams carry included: that on the ground does not move.
    pub fn mass(&self) -> f64 {
        self.bodies().iter().map(|body| body.mass).sum::<f64>() + self.clamped_mass
    }

    /// Tells a length of the machine that no frame shows, in m.
    pub fn add_length(&mut self, length: f64) {
        self.lengths.push(length);
    }

    /// Adds a marker to a body or, without one, to the ground; the pose is in body axes or in the world.
    pub fn add_marker(
        &mut self,
        body: Option<&str>,
        name: String,
        pose: Pose,
        place: &Place,
    ) -> Result<(), ModelError> {
        let (owner, markers) = match body.and_then(|name| self.bodies.get_mut(name)) {
            Some(body) => (body.name.as_str(), &mut body.markers),
            None => (name::GROUND, &mut self.ground_markers),
        };
        if self.marker_count >= MAX_MARKERS {
            let what = "the number of markers";
            return Err(ModelError::unsuitable(what, format!("at most {MAX_MARKERS}"), "one more", place));
        }
        let places = self.marker_places.entry(owner.to_string()).or_default();
        if places.contains_key(&name) {
            let (what, requirement) =
                (format!("the marker name `{name}`"), format!("used once on `{owner}`"));
            return Err(ModelError::unsuitable(what, requirement, "a second marker of this name", place));
        }
        places.insert(name.clone(), markers.len());
        markers.push((name, pose));
        self.marker_count += 1;
        Ok(())
    }

    /// Bodies, nodes of beams among them.
    pub fn bodies(&self) -> &[BodyEntry] {
        self.bodies.items()
    }

    /// Joints, drives and other constraints.
    pub fn joints(&self) -> &[JointEntry] {
        self.joints.items()
    }

    /// Beams.
    pub fn beams(&self) -> &[BeamEntry] {
        self.beams.items()
    }

    /// Markers of the ground: name and pose in the world.
    pub fn ground_markers(&self) -> &[(String, Pose)] {
        &self.ground_markers
    }

    /// Whether a body has this full name.
    pub fn has_body(&self, name: &str) -> bool {
        self.bodies.get(name).is_some()
    }

    /// The joint of a full name.
    pub fn joint_named(&self, name: &str) -> Option<&JointEntry> {
        self.joints.get(name)
    }

    /// Whether a name begins with that of a body or of the ground.
    pub fn has_frame(&self, name: &str) -> bool {
        let owner = name.split_once('.').map_or(name, |(owner, _)| owner);
        owner == name::GROUND || self.has_body(owner)
    }

    /// A body by its name.
    pub fn body(&self, reference: &Reference) -> Result<&BodyEntry, ModelError> {
        self.bodies.get(&reference.name).ok_or_else(|| {
            let beams = self.beams().iter();
            let ends = beams.flat_map(|beam| [format!("{}.start", beam.name), format!("{}.end", beam.name)]);
            let bodies = self.bodies().iter().map(|body| body.name.clone());
            let names: Vec<String> = bodies.chain(ends).collect();
            reference.unknown("body", names.iter().map(String::as_str))
        })
    }

    /// A joint by its name.
    pub fn joint(&self, reference: &Reference) -> Result<&JointEntry, ModelError> {
        let names = || self.joints().iter().map(|joint| joint.name.as_str());
        self.joints.get(&reference.name).ok_or_else(|| reference.unknown("joint", names()))
    }

    /// A joint by its index in the system.
    pub fn joint_at(&self, index: usize) -> Option<&JointEntry> {
        self.joints().iter().find(|joint| joint.index == index)
    }

    /// The word for a joint of the system by its index and name. What has the name of a body holds that in its plane.
    pub fn joint_kind_at(&self, index: usize, name: &str) -> Option<&'static str> {
        let kind = self.joint_at(index).map(|joint| joint.kind);
        kind.or_else(|| self.has_body(name).then_some("plane of"))
    }

    /// The beam and the word for the section that a name such as `beam.at-0.5` means.
    pub fn beam_section<'n>(&self, name: &'n str) -> Option<(&BeamEntry, &'n str)> {
        let (beam, section) = name.split_once('.')?;
        self.beams.get(beam).map(|beam| (beam, section))
    }

    /// Coordinates of all joints but drives by full name, `crank.angle`, in the order of the model.
    pub fn coordinates(&self) -> impl Iterator<Item = (String, MeasuredCoordinate)> + '_ {
        self.joints().iter().filter(|joint| !joint.is_drive).flat_map(|joint| {
            let coordinates = joint.coordinates.iter();
            coordinates
                .filter_map(move |(word, _)| Some((format!("{}.{word}", joint.name), joint.measured(word)?)))
        })
    }

    /// The frame of a name: of a body, a marker, a node of a beam or the ground.
    pub fn frame(&self, name: &str) -> Result<NamedFrame, UnknownFrame> {
        let reference = Reference { name: name.to_string(), place: Place::default() };
        let Attachment { node, marker, .. } = self.attachment(&reference).map_err(|error| UnknownFrame {
            name: name.to_string(),
            mistake: Box::new(error.mistake().clone()),
            hint: error.hint().map(str::to_owned),
        })?;
        Ok(NamedFrame { node, offset: marker.unwrap_or_default() })
    }

    /// What `body`, `body.marker`, `beam.end`, `ground` or `ground.marker` means.
    pub fn attachment(&self, reference: &Reference) -> Result<Attachment, ModelError> {
        if let Some((beam, section)) = self.beam_section(&reference.name) {
            return beam_attachment(beam, section, reference);
        }
        let (owner, marker) = match reference.name.split_once('.') {
            Some((owner, marker)) => (owner, Some(marker)),
            None => (reference.name.as_str(), None),
        };
        let (node, body, markers) = if owner == name::GROUND {
            (None, Pose::identity(), &self.ground_markers)
        } else {
            let owner = Reference { name: owner.to_string(), place: reference.place.clone() };
            let entry = self.body(&owner)?;
            (Some(entry.node), entry.pose, &entry.markers)
        };
        let Some(name) = marker else { return Ok(Attachment { node, body, marker: None }) };
        let unknown = || {
            let names: Vec<String> = markers.iter().map(|(name, _)| format!("{owner}.{name}")).collect();
            reference.unknown("marker", names.iter().map(String::as_str))
        };
        let place = self.marker_places.get(owner).and_then(|places| places.get(name));
        let (_, pose) = place.and_then(|&place| markers.get(place)).ok_or_else(unknown)?;
        Ok(Attachment { node, body, marker: Some(*pose) })
    }

    /// The body of a node.
    pub fn body_of(&self, node: NodeId) -> Option<&BodyEntry> {
        let same = |body: &&BodyEntry| body.node == node;
        // Nodes are mostly bodies in the same order.
        self.bodies().get(node.0).filter(same).or_else(|| self.bodies().iter().find(same))
    }

    /// Whether a node is a point mass, which does not turn.
    pub fn is_point_mass(&self, node: NodeId) -> bool {
        self.body_of(node).is_some_and(|body| matches!(body.group, Group::Vector(_)))
    }

    /// Initial pose of a body's node; the identity for the ground.
    pub fn initial_pose(&self, node: Option<NodeId>) -> Pose {
        node.and_then(|node| self.body_of(node)).map_or_else(Pose::identity, |body| body.pose)
    }

    /// Says that bodies are elsewhere initially, by their nodes.
    pub(super) fn set_initial_poses(&mut self, pose: impl Fn(NodeId) -> Pose) {
        self.bodies.items.iter_mut().for_each(|body| body.pose = pose(body.node));
    }

    /// Value of a coordinate at the initial configuration.
    pub fn initial_value(&self, measured: &MeasuredCoordinate) -> f64 {
        let motion = |node: Option<NodeId>| NodeMotion::at_rest(self.initial_pose(node));
        let frames = measured.offsets.map(Frame::new);
        let [first, second] = measured.nodes.map(motion);
        measured.coordinate.value(&Relative::new(&frames, [&first, &second]), 0.0)
    }

    /// Full names of all markers.
    pub(super) fn marker_names(&self) -> impl Iterator<Item = String> {
        let on_bodies = (self.bodies().iter())
            .flat_map(|body| body.markers.iter().map(move |(marker, _)| format!("{}.{marker}", body.name)));
        on_bodies.chain(self.ground_markers.iter().map(|(marker, _)| format!("ground.{marker}")))
    }

    /// Full names of bodies, each before its markers.
    pub(super) fn point_names(&self) -> impl Iterator<Item = String> {
        self.bodies().iter().flat_map(|body| {
            let markers = body.markers.iter().map(|(marker, _)| format!("{}.{marker}", body.name));
            std::iter::once(body.name.clone()).chain(markers)
        })
    }

    /// Mean mass of what has one, in kg; 1 kg if nothing has.
    pub(super) fn mean_mass(&self) -> f64 {
        let masses: Vec<f64> =
            self.bodies().iter().map(|body| body.mass).filter(|mass| *mass > 0.0).collect();
        if masses.is_empty() { 1.0 } else { masses.iter().sum::<f64>() / masses.len() as f64 }
    }

    /// Longest distance of a joint from the centre of its body, length of a beam's piece or length that no
    /// frame shows, in m; none if there is no such thing.
    pub(super) fn longest_arm(&self) -> Option<f64> {
        let joints = (self.joints().iter())
            .flat_map(|joint| joint.nodes.into_iter().zip(&joint.offsets))
            .filter(|(node, _)| node.is_some())
            .map(|(_, offset)| offset.position.norm());
        let pieces = (self.beams().iter()).flat_map(|beam| &beam.pieces).map(|piece| {
            let [start, end] = piece.ends.map(|section| section.pose().position);
            (end - start).norm()
        });
        let arms = joints.chain(pieces).chain(self.lengths.iter().copied());
        Some(arms.fold(0.0, f64::max)).filter(|longest| *longest > 0.0)
    }

    /// Size of the machine as it is drawn, in m: the diagonal of a box around its bodies, the frames of
    /// joints on them and its beams, or a length that no frame shows if that is larger.
    ///
    /// Bodies that all stand at one point say by their inertia how large they are; 1 m if they have none.
    pub(super) fn extent(&self) -> f64 {
        let bodies = self.bodies().iter().map(|body| body.pose.position);
        let joints = (self.joints().iter())
            .flat_map(|joint| joint.nodes.into_iter().zip(&joint.offsets))
            .filter(|(node, _)| node.is_some())
            .map(|(node, offset)| self.initial_pose(node).transform_point(&offset.position));
        let sections = (self.beams().iter()).flat_map(|beam| &beam.pieces).flat_map(|piece| piece.ends);
        let points = bodies.chain(joints).chain(sections.map(|section| section.pose().position));
        let none = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        let (low, high) = points.fold(none, |(low, high), point| (low.inf(&point), high.sup(&point)));
        let largest = self.lengths.iter().copied().fold((high - low).norm(), f64::max);
        let radius = self.bodies().iter().map(radius_of_gyration).fold(0.0, f64::max);
        if largest > AT_ONE_POINT * radius.max(low.amax()).max(high.amax()) {
            largest
        } else if radius > 0.0 {
            radius
        } else {
            1.0
        }
    }
}

/// Machines below this part of their distance from the origin, or of what inertia says, stand at one point:
/// their extent has lost nine digits to the subtraction of places.
const AT_ONE_POINT: f64 = 1e-9;

/// √(tr I/(2m)): the radius of a hoop, √(3/5) of that of a ball, 0.29 lengths of a rod; 0 without mass.
fn radius_of_gyration(body: &BodyEntry) -> f64 {
    if body.mass > 0.0 { (0.5 * body.inertia.trace() / body.mass).sqrt() } else { 0.0 }
}

/// Where a section of a beam is attached: only its nodes carry something.
fn beam_attachment(beam: &BeamEntry, section: &str, reference: &Reference) -> Result<Attachment, ModelError> {
    match beam.station(section) {
        Some(Station::Node(node)) => {
            Ok(Attachment { node: node.node, body: node.body, marker: Some(node.offset) })
        }
        Some(Station::Within { piece, .. }) => {
            let name = &beam.name;
            let found = format!("between `{name}.node-{piece}` and `{name}.node-{}`", piece + 1);
            let requirement = "a node of the beam, which can carry something";
            let what = format!("`{}`", reference.name);
            let hint = "choose `elements` such that a node is there, or take one of the two";
            Err(ModelError::unsuitable(what, requirement, found, &reference.place).with_hint(hint))
        }
        None => Err(reference.unknown("section", beam.station_names().iter().map(String::as_str))),
    }
}
