//! Collects the parts of a machine by name while its document is read.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::beam::{BeamEntry, Station};
use super::entry::{
    Attachment, BodyEntry, ContactEntry, ForceEntry, FunctionEntry, Functions, InputEntry, JointEntry,
    MeasuredCoordinate, SpringEntry, StateSignal,
};
use super::event::Event;
use super::event_draft::EventDraft;
use super::sensor::Sensor;
use super::settings::{BodyGroup, RunSettings, Words};
use super::stiffness::mean_stiffness;
use super::variant::Variants;
use super::{Machine, state};
use crate::dae::Scales;
use crate::element::{Element, HeldInput, SignalFunction};
use crate::joint::{CoordinateJoint, Joint, KnownRows};
use crate::kinematics::{Coordinate, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3, Vector6};
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::{Document, Part, PartKind, PartReader, Place, Reference, SourceFile};
use crate::results::ModelIdentity;
use crate::system::{SwitchId, System, SystemBuilder};

/// Why an input may not stand where motion is prescribed, and what to do.
const INPUTS_JUMP: &str = "it is an input, which may jump: forces, loads of beams, states and events may use it, but not a motion that must be smooth; let a `[[joint-force]]` or a `[[pid]]` follow it";

/// Standard acceleration of gravity in m/s²; it acts along −z when nothing is said.
const STANDARD_GRAVITY: f64 = 9.80665;

/// A kind of part: its keys, and how it is added to a machine.
#[derive(Clone, Copy)]
pub struct PartEntry {
    /// Its keys.
    pub kind: &'static PartKind,
    /// Reads a part of the kind and adds it.
    pub add: &'static (dyn Fn(&Part, &mut MachineBuilder) -> Result<(), ModelErrors> + Sync),
    /// Whether it may use parameters that events set: it pushes with finite forces, or gives rates of states.
    pub changeable: bool,
    /// The smallest model with such a part.
    pub sample: &'static str,
}

/// Builds the machine that a document of some kinds of parts describes; `functions` are those given from
/// outside for its `[[function]]` parts.
pub(crate) fn build(
    document: &Document,
    parts: &[&'static PartEntry],
    functions: &Functions,
) -> Result<Machine, ModelErrors> {
    MachineBuilder::read(document, parts, functions)?.finish(document, parts)
}

/// Parts read so far.
pub struct MachineBuilder {
    system_builder: SystemBuilder,
    settings: RunSettings,
    gravity: Vector3,
    sensors: Vec<Sensor>,
    events: Vec<EventDraft>,
    bodies: Vec<BodyEntry>,
    bodies_by_name: HashMap<String, usize>,
    ground_markers: Vec<(String, Pose)>,
    /// Full names of markers that something is attached to.
    used_markers: RefCell<HashSet<String>>,
    joints: Vec<JointEntry>,
    joints_by_name: HashMap<String, usize>,
    known_rows: KnownRows,
    springs: Vec<SpringEntry>,
    forces: Vec<ForceEntry>,
    inputs: Vec<InputEntry>,
    /// Which elements use which inputs, in the order of the element's own inputs.
    input_users: Vec<(usize, Vec<usize>)>,
    functions: Vec<FunctionEntry>,
    outside: Functions,
    contacts: Vec<ContactEntry>,
    beams: Vec<BeamEntry>,
    beams_by_name: HashMap<String, usize>,
    states: Vec<StateSignal>,
    /// Work that needs all names, done when every part was read.
    deferred: Vec<Deferred>,
    /// Lengths of the machine that no joint or marker shows, such as lengths of rods and radii of wheels.
    lengths: Vec<f64>,
    assumptions: Vec<String>,
    warnings: Vec<String>,
}

/// Work that needs all names.
type Deferred = Box<dyn FnOnce(&mut MachineBuilder) -> Result<(), ModelErrors>>;

impl MachineBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            system_builder: SystemBuilder::new(),
            settings: RunSettings::default(),
            gravity: Vector3::new(0.0, 0.0, -STANDARD_GRAVITY),
            sensors: Vec::new(),
            events: Vec::new(),
            used_markers: RefCell::default(),
            bodies: Vec::new(),
            bodies_by_name: HashMap::new(),
            ground_markers: Vec::new(),
            joints: Vec::new(),
            joints_by_name: HashMap::new(),
            known_rows: KnownRows::default(),
            springs: Vec::new(),
            forces: Vec::new(),
            inputs: Vec::new(),
            input_users: Vec::new(),
            functions: Vec::new(),
            outside: Functions::new(),
            contacts: Vec::new(),
            beams: Vec::new(),
            beams_by_name: HashMap::new(),
            states: Vec::new(),
            deferred: Vec::new(),
            lengths: Vec::new(),
            assumptions: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// All parts of a document; `outside` are its functions.
    pub(super) fn read(
        document: &Document,
        parts: &[&'static PartEntry],
        outside: &Functions,
    ) -> Result<Self, ModelErrors> {
        let mut builder = Self { outside: outside.clone(), ..Self::new() };
        for entry in parts {
            let mut errors = ModelErrors::new();
            for part in document.parts_of(entry.kind.name) {
                let added = (entry.add)(part, &mut builder);
                errors.keep(added.map_err(|errors| builder.about_inputs(errors)));
            }
            // Parts that refer to a wrong one are not to blame: they come after it and are not looked at.
            errors.into_result()?;
        }
        let mut errors = ModelErrors::new();
        for work in std::mem::take(&mut builder.deferred) {
            let done = work(&mut builder);
            errors.keep(done.map_err(|errors| builder.about_inputs(errors)));
        }
        errors.into_result()?;
        Ok(builder)
    }

    /// The equations so far.
    pub fn system(&self) -> &SystemBuilder {
        &self.system_builder
    }

    /// The equations so far, to add what has no name of its own: states, groups of contacts.
    pub fn system_mut(&mut self) -> &mut SystemBuilder {
        &mut self.system_builder
    }

    /// How the machine is to be run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Says how the machine is to be run.
    pub fn set_settings(&mut self, settings: RunSettings) {
        self.settings = settings;
    }

    /// Says what gravity is, in m/s².
    pub fn set_gravity(&mut self, gravity: Vector3) {
        self.gravity = gravity;
    }

    /// Tells the user what is assumed because the model does not say it.
    pub fn assume(&mut self, assumption: String) {
        self.assumptions.push(assumption);
    }

    /// Tells the user what looks like a mistake but is none.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Tells a length of the machine that no joint or marker shows, in m.
    pub fn add_length(&mut self, length: f64) {
        self.lengths.push(length);
    }

    /// Adds a sensor that the model names.
    pub fn add_sensor(&mut self, sensor: Sensor) {
        self.sensors.push(sensor);
    }

    /// Takes the sensors that the model names.
    pub(super) fn own_sensors(&mut self) -> &mut Vec<Sensor> {
        &mut self.sensors
    }

    /// Adds the versions of elements that another builder has for the parts of some names.
    pub(super) fn add_variant(
        &mut self,
        variant: usize,
        other: Self,
        is_changed: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        self.system_builder.variant(variant, other.system_builder, is_changed)
    }

    /// Functions given from outside.
    pub(super) fn outside(&self) -> &Functions {
        &self.outside
    }

    /// Adds an event.
    pub fn add_event(&mut self, event: EventDraft) {
        self.events.push(event);
    }

    /// Lets a joint share its rows with earlier ones that have the same.
    pub(crate) fn share_rows(&mut self, joint: &mut CoordinateJoint) {
        self.known_rows.share(joint);
    }

    /// Acceleration of gravity in m/s².
    pub fn gravity(&self) -> Vector3 {
        self.gravity
    }

    /// Group that a part names by its key `group`, or that of the settings.
    pub fn group(&self, reader: &PartReader) -> Result<Group, ModelErrors> {
        let own = reader.optional_choice("group")?.and_then(BodyGroup::from_word);
        Ok(own.unwrap_or(self.settings.group).into())
    }

    /// Adds a node for a body with its initial twist in body axes; the body's element comes apart.
    pub fn add_body(
        &mut self,
        entry: impl FnOnce(NodeId) -> BodyEntry,
        group: Group,
        pose: Pose,
        twist: Vector6,
        name: &str,
    ) -> NodeId {
        let node = self.system_builder.node(name, group, pose, twist);
        let entry = entry(node);
        self.bodies_by_name.insert(entry.name.clone(), self.bodies.len());
        self.bodies.push(entry);
        node
    }

    /// Forbids assembly to change a body's initial pose.
    pub fn fix(&mut self, node: NodeId) {
        self.system_builder.fix(node);
    }

    /// Adds an element and gives its index in the system.
    pub fn add_element(&mut self, name: &str, element: impl Element + 'static) -> usize {
        self.system_builder.element(name, element)
    }

    /// Lets a state be measured and used in expressions.
    pub fn add_state(&mut self, state: StateSignal) {
        self.states.push(state);
    }

    /// States so far.
    pub fn states(&self) -> &[StateSignal] {
        &self.states
    }

    /// The state whose signal has a name.
    pub fn state_named(&self, name: &str) -> Option<&StateSignal> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Lets a spring be drawn between two points.
    pub fn show_spring(&mut self, name: &str, nodes: [Option<NodeId>; 2], points: [Vector3; 2]) {
        self.springs.push(SpringEntry { name: name.to_string(), nodes, points });
    }

    /// Lets a force be measured and drawn.
    pub fn show_force(&mut self, force: ForceEntry) {
        self.forces.push(force);
    }

    /// Adds a number that is set from outside.
    pub fn add_input(&mut self, name: &str, value: f64) {
        let holder = self.add_element(name, HeldInput);
        self.connect_inputs(holder, vec![self.inputs.len()]);
        self.inputs.push(InputEntry { name: name.to_string(), value, slots: Vec::new(), holder });
    }

    /// Inputs so far.
    pub fn inputs(&self) -> &[InputEntry] {
        &self.inputs
    }

    /// Tells which inputs an element uses, in the order of its own inputs.
    pub fn connect_inputs(&mut self, element: usize, inputs: Vec<usize>) {
        if !inputs.is_empty() {
            self.input_users.push((element, inputs));
        }
    }

    /// The function that was given from outside for a name.
    pub fn outside_function(&self, name: &str) -> Option<Arc<dyn SignalFunction>> {
        self.outside.get(name).cloned()
    }

    /// Adds a function that was given from outside.
    pub fn add_function(&mut self, entry: FunctionEntry) {
        self.functions.push(entry);
    }

    /// The function of a name.
    pub fn function_named(&self, name: &str) -> Option<&FunctionEntry> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Whether a name is that of an input or of a function from outside.
    pub fn is_outside_quantity(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.name == name) || self.function_named(name).is_some()
    }

    /// Says of a name that is not known where it stands, but is that of an input, where inputs may stand.
    fn about_inputs(&self, errors: ModelErrors) -> ModelErrors {
        let is_input = |mistake: &Mistake| match mistake {
            Mistake::UnknownName { name, .. } => self.inputs.iter().any(|input| input.name == *name),
            _ => false,
        };
        errors.map(|error| if is_input(error.mistake()) { error.with_hint(INPUTS_JUMP) } else { error })
    }

    /// Finds where in the memory of the system the inputs are.
    fn locate_inputs(&mut self, system: &System) {
        for (element, inputs) in &self.input_users {
            // The inputs are the last numbers that an element remembers.
            let first = system.element_memory(*element).end - inputs.len();
            for (index, &input) in inputs.iter().enumerate() {
                self.inputs[input].slots.push(first + index);
            }
        }
    }

    /// Forces so far.
    pub fn forces(&self) -> &[ForceEntry] {
        &self.forces
    }

    /// Lets a contact be measured.
    pub fn show_contact(&mut self, contact: ContactEntry) {
        self.contacts.push(contact);
    }

    /// Contacts so far.
    pub fn contacts(&self) -> &[ContactEntry] {
        &self.contacts
    }

    /// Adds a joint of a kind with its frames and free coordinates.
    pub fn add_joint(&mut self, joint: impl Joint + 'static, entry: JointEntry) {
        let index = self.system_builder.joint(&entry.name, joint);
        self.joints_by_name.insert(entry.name.clone(), self.joints.len());
        self.joints.push(JointEntry { index, ..entry });
    }

    /// Adds a marker to a body or, without one, to the ground; the pose is in body axes or in the world.
    pub fn add_marker(
        &mut self,
        body: Option<&str>,
        name: String,
        pose: Pose,
        place: &Place,
    ) -> Result<(), ModelError> {
        let (owner, markers) = match body.and_then(|name| self.bodies_by_name.get(name)) {
            Some(&index) => {
                let entry = &mut self.bodies[index];
                (entry.name.clone(), &mut entry.markers)
            }
            None => ("ground".to_string(), &mut self.ground_markers),
        };
        if markers.iter().any(|(known, _)| *known == name) {
            let mistake = Mistake::Unsuitable {
                what: format!("the marker name `{name}`"),
                requirement: format!("used once on `{owner}`"),
                found: "a second marker of this name".to_string(),
            };
            return Err(ModelError::new(mistake, place.clone()));
        }
        markers.push((name, pose));
        Ok(())
    }

    /// Adds a beam, whose nodes and elements come apart.
    pub fn add_beam(&mut self, entry: BeamEntry) {
        self.beams_by_name.insert(entry.name.clone(), self.beams.len());
        self.beams.push(entry);
    }

    /// Tells the mass of a beam's node, which may carry several pieces.
    pub fn add_beam_mass(&mut self, name: &str, mass: f64, inertia: Matrix3) {
        if let Some(&index) = self.bodies_by_name.get(name) {
            self.bodies[index].mass += mass;
            self.bodies[index].inertia += inertia;
        }
    }

    /// Beams so far.
    pub fn beams(&self) -> &[BeamEntry] {
        &self.beams
    }

    /// The beam and the word for the section that a name such as `beam.at-0.5` means.
    pub fn beam_section<'n>(&self, name: &'n str) -> Option<(&BeamEntry, &'n str)> {
        let (beam, section) = name.split_once('.')?;
        self.beams_by_name.get(beam).map(|&index| (&self.beams[index], section))
    }

    /// Bodies so far.
    pub fn bodies(&self) -> &[BodyEntry] {
        &self.bodies
    }

    /// Joints so far.
    pub fn joints(&self) -> &[JointEntry] {
        &self.joints
    }

    /// A body by its name.
    pub fn body(&self, reference: &Reference) -> Result<&BodyEntry, ModelError> {
        match self.bodies_by_name.get(&reference.name) {
            Some(&index) => Ok(&self.bodies[index]),
            None => {
                let beams = self
                    .beams
                    .iter()
                    .flat_map(|beam| [format!("{}.start", beam.name), format!("{}.end", beam.name)]);
                let bodies = self.bodies.iter().map(|body| body.name.clone());
                let names: Vec<String> = bodies.chain(beams).collect();
                Err(reference.unknown("body", names.iter().map(String::as_str)))
            }
        }
    }

    /// A joint by its name.
    pub fn joint(&self, reference: &Reference) -> Result<&JointEntry, ModelError> {
        match self.joints_by_name.get(&reference.name) {
            Some(&index) => Ok(&self.joints[index]),
            None => Err(reference.unknown("joint", self.joints.iter().map(|joint| joint.name.as_str()))),
        }
    }

    /// What `body`, `body.marker`, `ground` or `ground.marker` means.
    pub fn attachment(&self, reference: &Reference) -> Result<Attachment, ModelError> {
        if let Some((beam, section)) = self.beam_section(&reference.name) {
            return match beam.station(section) {
                Some(Station::Node(node)) => {
                    Ok(Attachment { node: node.node, body: node.body, marker: Some(node.offset) })
                }
                Some(Station::Within { piece, .. }) => {
                    let nodes =
                        format!("`{}.node-{piece}` and `{}.node-{}`", beam.name, beam.name, piece + 1);
                    let mistake = Mistake::Unsuitable {
                        what: format!("`{}`", reference.name),
                        requirement: "a node of the beam, which can carry something".to_string(),
                        found: format!("between {nodes}"),
                    };
                    let hint = "choose `elements` such that a node is there, or take one of the two";
                    Err(ModelError::new(mistake, reference.place.clone()).with_hint(hint))
                }
                None => Err(reference.unknown("section", beam.station_names().iter().map(String::as_str))),
            };
        }
        let (owner, marker) = match reference.name.split_once('.') {
            Some((owner, marker)) => (owner, Some(marker)),
            None => (reference.name.as_str(), None),
        };
        let (node, body, markers) = if owner == "ground" {
            (None, Pose::identity(), &self.ground_markers)
        } else {
            let owner = Reference { name: owner.to_string(), place: reference.place.clone() };
            let entry = self.body(&owner)?;
            (Some(entry.node), entry.pose, &entry.markers)
        };
        let marker = match marker {
            None => None,
            Some(name) => {
                let found = markers.iter().find(|(known, _)| known == name);
                let names: Vec<String> = markers.iter().map(|(name, _)| format!("{owner}.{name}")).collect();
                let unknown = || reference.unknown("marker", names.iter().map(String::as_str));
                self.used_markers.borrow_mut().insert(reference.name.clone());
                Some(found.ok_or_else(unknown)?.1)
            }
        };
        Ok(Attachment { node, body, marker })
    }

    /// Index in the system of the joint, drive or coupling of a name.
    pub fn constraint_named(&self, name: &str) -> Option<usize> {
        self.system_builder.joint_named(name)
    }

    /// Names of all joints, drives and couplings, in the order of the system.
    pub fn constraint_names(&self) -> impl Iterator<Item = &str> {
        self.system_builder.joint_names()
    }

    /// Makes the part of a name switchable.
    pub fn switch(&mut self, reference: &Reference, on_at_start: bool) -> Result<SwitchId, ModelError> {
        if let Some(switch) = self.system_builder.switch(&reference.name, on_at_start) {
            let is_body = self.bodies_by_name.contains_key(&reference.name);
            return if is_body { Err(self.not_switchable(reference)) } else { Ok(switch) };
        }
        Err(self.not_switchable(reference))
    }

    fn not_switchable(&self, reference: &Reference) -> ModelError {
        let bodies = &self.bodies_by_name;
        let names = self.system_builder.joint_names().chain(self.system_builder.element_names());
        reference.unknown("force, joint or lock", names.filter(|name| !bodies.contains_key(*name)))
    }

    /// Full names of markers that nothing is attached to.
    fn unused_markers(&self) -> Vec<String> {
        let used = self.used_markers.borrow();
        let on_bodies = self
            .bodies
            .iter()
            .flat_map(|body| body.markers.iter().map(move |(marker, _)| format!("{}.{marker}", body.name)));
        let on_ground = self.ground_markers.iter().map(|(marker, _)| format!("ground.{marker}"));
        on_bodies.chain(on_ground).filter(|name| !used.contains(name)).collect()
    }

    /// Does something once all parts were read.
    pub fn defer(&mut self, work: impl FnOnce(&mut MachineBuilder) -> Result<(), ModelErrors> + 'static) {
        self.deferred.push(Box::new(work));
    }

    /// What a measured quantity such as `crank.angle`, `crank.rate` or `top.tip.position.z` means, if it is a
    /// function of positions and velocities.
    pub fn measured(&self, name: &str) -> Option<MeasuredCoordinate> {
        let (part, quantity) = name.split_once('.')?;
        if let Some(&index) = self.joints_by_name.get(part) {
            return self.joint_quantity(&self.joints[index], quantity);
        }
        self.point_quantity(name)
    }

    /// `angle`, `displacement` and so on, each with its rate: `rate` if there is one coordinate, `angle-rate` otherwise.
    fn joint_quantity(&self, joint: &JointEntry, quantity: &str) -> Option<MeasuredCoordinate> {
        let single = joint.coordinates.len() == 1;
        joint.coordinates.iter().find_map(|&(name, coordinate)| {
            let rate = quantity.strip_suffix("-rate") == Some(name) || (single && quantity == "rate");
            (rate || quantity == name).then(|| {
                let unit = match (coordinate, rate) {
                    (angle, false) if angle.is_angle() => "rad",
                    (angle, true) if angle.is_angle() => "rad/s",
                    (Coordinate::Direction(..), _) => "1",
                    (_, false) => "m",
                    (_, true) => "m/s",
                };
                MeasuredCoordinate { nodes: joint.nodes, offsets: joint.offsets, coordinate, rate, unit }
            })
        })
    }

    /// `body.position.z`, `body.marker.velocity.x`: in world axes.
    fn point_quantity(&self, name: &str) -> Option<MeasuredCoordinate> {
        let (rest, component) = name.rsplit_once('.')?;
        let (point, quantity) = rest.rsplit_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == component)?;
        let (rate, unit) = match quantity {
            "position" => (false, "m"),
            "velocity" => (true, "m/s"),
            _ => return None,
        };
        let reference = Reference { name: point.to_string(), place: Place::default() };
        let at = self.attachment(&reference).ok()?;
        Some(MeasuredCoordinate {
            nodes: [None, at.node],
            offsets: [Pose::identity(), at.marker.unwrap_or_default()],
            coordinate: Coordinate::Translation(axis),
            rate,
            unit,
        })
    }

    /// Value of a coordinate at the initial configuration.
    pub fn initial_value(&self, measured: &MeasuredCoordinate) -> f64 {
        let motion = |node: Option<NodeId>| NodeMotion::at_rest(self.initial_pose(node));
        let frames = measured.offsets.map(Frame::new);
        let [first, second] = measured.nodes.map(motion);
        measured.coordinate.value(&Relative::new(&frames, [&first, &second]), 0.0)
    }

    /// Initial pose of a body's node; the identity for the ground.
    pub fn initial_pose(&self, node: Option<NodeId>) -> Pose {
        node.and_then(|node| self.body_of(node)).map_or_else(Pose::identity, |body| body.pose)
    }

    /// The body of a node.
    pub fn body_of(&self, node: NodeId) -> Option<&BodyEntry> {
        let same = |body: &&BodyEntry| body.node == node;
        // Nodes are mostly bodies in the same order.
        self.bodies.get(node.0).filter(same).or_else(|| self.bodies.iter().find(same))
    }

    /// Whether a node is a point mass, which does not turn.
    pub fn is_point_mass(&self, node: NodeId) -> bool {
        self.body_of(node).is_some_and(|body| matches!(body.group, Group::Vector(_)))
    }

    /// Whether a body has this full name.
    pub fn has_body(&self, name: &str) -> bool {
        self.bodies_by_name.contains_key(name)
    }

    /// Whether a joint has this full name.
    pub fn has_joint(&self, name: &str) -> bool {
        self.joints_by_name.contains_key(name)
    }

    /// Names of measured quantities, to suggest in place of an unknown one.
    pub fn measured_names(&self) -> Vec<String> {
        let joints = self.joints.iter().flat_map(|joint| {
            let rate = (joint.coordinates.len() == 1).then(|| format!("{}.rate", joint.name));
            let names = joint.coordinates.iter().flat_map(|(name, _)| {
                [format!("{}.{name}", joint.name), format!("{}.{name}-rate", joint.name)]
            });
            names.chain(rate).collect::<Vec<_>>()
        });
        let points = self.bodies.iter().flat_map(|body| {
            let markers = body.markers.iter().map(|(marker, _)| format!("{}.{marker}", body.name));
            std::iter::once(body.name.clone()).chain(markers).collect::<Vec<_>>()
        });
        let components = points.flat_map(|point| {
            ["position", "velocity"].into_iter().flat_map(move |quantity| {
                let point = point.clone();
                ["x", "y", "z"].map(|axis| format!("{point}.{quantity}.{axis}"))
            })
        });
        let outside = self.inputs.iter().map(|input| input.name.clone());
        let functions = self.functions.iter().map(|function| function.name.clone());
        let states = self.states.iter().map(|state| state.name.clone());
        joints.chain(components).chain(states).chain(outside).chain(functions).collect()
    }

    /// Builds the machine.
    fn finish(mut self, document: &Document, parts: &[&'static PartEntry]) -> Result<Machine, ModelErrors> {
        let settings = self.settings.clone();
        for marker in self.unused_markers() {
            self.warnings.push(format!("nothing is attached to the marker `{marker}`"));
        }
        if document.parts_of("gravity").next().is_none() {
            self.assumptions.push(format!("gravity is {STANDARD_GRAVITY} m/s² along −z"));
        }
        if self.bodies.is_empty() {
            return Err(no_body(document).into());
        }
        self.system_builder.scales(self.scales());
        let sensors = super::sensor::all(&mut self, settings.default_sensors)?;
        let variants = Variants::from_events(&self.events, document)?;
        let events = self.finish_events(&sensors, &variants)?;
        // Every expression was read by now, so it is known who uses what.
        variants.add_versions(&mut self, document, parts)?;
        let (mut system, initial) = match std::mem::take(&mut self.system_builder).build(settings.start_time)
        {
            Ok(built) => built,
            Err(error) => return Err(not_assembled(document, &error.to_string()).into()),
        };
        state::check(&system, &initial, &self.states)?;
        system.set_stiffness_scale(mean_stiffness(&system, &initial));
        self.locate_inputs(&system);
        // The first slot is that of the element that holds it.
        let is_used = |input: &InputEntry| {
            input.slots.len() > 1 || events.iter().any(|event| event.reads_input(input.holder))
        };
        for input in self.inputs.iter().filter(|input| !is_used(input)) {
            self.warnings.push(format!("nothing uses the input `{}`", input.name));
        }
        let (title, description) = super::appearance::title_and_description(document);
        Ok(Machine {
            title,
            description,
            system,
            initial,
            settings,
            bodies: self.bodies,
            joints: self.joints,
            springs: self.springs,
            forces: self.forces,
            inputs: self.inputs,
            ground_markers: self.ground_markers,
            gravity: self.gravity,
            beams: self.beams,
            sensors,
            events,
            variants,
            settings_place: settings_place(document),
            places: places(document, parts),
            sources: sources(document),
            assumptions: self.assumptions,
            warnings: self.warnings,
        })
    }

    fn finish_events(&mut self, sensors: &[Sensor], variants: &Variants) -> Result<Vec<Event>, ModelErrors> {
        let mut errors = ModelErrors::new();
        let mut events = Vec::new();
        for draft in std::mem::take(&mut self.events) {
            events.extend(errors.keep(draft.finish(self, sensors, variants)));
        }
        errors.into_result()?;
        Ok(events)
    }

    /// Mean mass, and the extent of bodies, markers and joints as length; the stiffness is known when the
    /// system is built.
    fn scales(&self) -> Scales {
        let masses: Vec<f64> = self.bodies.iter().map(|body| body.mass).filter(|mass| *mass > 0.0).collect();
        let mean = if masses.is_empty() { 1.0 } else { masses.iter().sum::<f64>() / masses.len() as f64 };
        Scales { length: self.extent(), mass: mean, stiffness: 0.0 }
    }

    /// Largest distance of a joint or marker from its body's centre, length of a rod or radius of a wheel; 1
    /// m if there is none.
    fn extent(&self) -> f64 {
        let arms = (self.joints.iter())
            .flat_map(|joint| joint.nodes.iter().zip(&joint.offsets))
            .filter(|(node, _)| node.is_some())
            .map(|(_, offset)| offset.position.norm());
        let markers =
            self.bodies.iter().flat_map(|body| body.markers.iter().map(|(_, pose)| pose.position.norm()));
        let beams = self.beams.iter().map(BeamEntry::length);
        let lengths = self.lengths.iter().copied();
        let largest = arms.chain(markers).chain(beams).chain(lengths).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }
}

impl Default for MachineBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// The texts of a document.
fn sources(document: &Document) -> Vec<ModelIdentity> {
    let identity = |source: &Arc<SourceFile>| ModelIdentity::new(source.name(), source.text().as_bytes());
    document.sources().iter().map(identity).collect()
}

/// Where a document says each part.
fn places(document: &Document, parts: &[&PartEntry]) -> HashMap<String, Place> {
    let parts = parts.iter().flat_map(|entry| document.parts_of(entry.kind.name));
    parts.map(|part| (part.name().to_string(), part.entries().place().clone())).collect()
}

/// Pose that a part's `position` and `orientation` give, in the world of the model.
pub fn read_pose(reader: &PartReader) -> Result<Pose, ModelErrors> {
    let position = reader.vector3("position")?;
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let placement = placement(reader);
    Ok(placement.compose(&Pose::new(rotation, position)))
}

/// Where the world of a part's file lies in the world of the model.
pub fn placement(reader: &PartReader) -> Pose {
    let placement = reader.placement();
    Pose::new(placement.rotation, placement.translation.vector)
}

/// Where a model says how it is run, or its beginning.
fn settings_place(document: &Document) -> Place {
    let part =
        document.parts_of(super::settings::KIND.name).next().map(|part| part.entries().place().clone());
    part.or_else(|| document.sources().first().map(|source| Place::new(source, 0..0))).unwrap_or_default()
}

/// The error of a model without bodies.
fn no_body(document: &Document) -> ModelError {
    let mistake = Mistake::Unsuitable {
        what: "the model".to_string(),
        requirement: "made of at least one body".to_string(),
        found: "none".to_string(),
    };
    ModelError::new(mistake, beginning(document)).with_hint("add a `[[body]]` with `mass` and `inertia`")
}

/// The error of parts that do not fit together.
fn not_assembled(document: &Document, reason: &str) -> ModelError {
    let mistake = Mistake::Unsuitable {
        what: "the model".to_string(),
        requirement: "assembled".to_string(),
        found: reason.to_string(),
    };
    ModelError::new(mistake, beginning(document))
}

fn beginning(document: &Document) -> Place {
    document.sources().first().map(|source| Place::new(source, 0..0)).unwrap_or_default()
}
