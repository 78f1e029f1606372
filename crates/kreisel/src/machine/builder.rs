//! Collects the parts of a machine by name while its document is read.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::appearance::Appearance;
use super::entry::{Attachment, BodyEntry, Functions, InputEntry, JointEntry, MeasuredCoordinate};
use super::event::{Event, Events};
use super::event_draft::{EventDraft, is_shown, shown_names};
use super::expression_draft::ExpressionDraft;
use super::frames::Frames;
use super::joint_start::JointStarts;
use super::prescribed::PrescribedMotion;
use super::provenance::{Provenance, Remarks};
use super::sensor::{NamedSensor, Reaction, SensorFrame, WrenchPart, angle_about};
use super::settings::{BodyGroup, RunSettings, StartFrom};
use super::signals::{MachineSignals, Rank};
use super::stated_start::{self, JointStart};
use super::stiffness::mean_stiffness;
use super::variant::Variants;
use super::{Machine, Registries, SteadyStates, state};
use crate::dae::{Dae, Initial, Note, NoteKind, Scales, Values};
use crate::element::{Element, HeldInput};
use crate::integrate::Words;
use crate::joint::{CoordinateJoint, Joint, KnownRows};
use crate::kinematics::{Coordinate, NodeId};
use crate::lie::{Group, Pose, Vector3, Vector6};
use crate::memory::GrowingRoom;
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::{Document, Part, PartKind, PartReader, Place, Quantities, Reference};
use crate::system::{Stated, SwitchId, System, SystemBuilder};

/// Bodies up to which each has sensors of its own when the model names none.
const MAX_WATCHED_BODIES: usize = 50;

/// A quantity of a body or marker: word, what a component is, whether it is its rate, and its unit.
type PointQuantity = (&'static str, fn(usize) -> Coordinate, bool, &'static str);

/// Those that are functions of positions and velocities.
const POINT_QUANTITIES: &[PointQuantity] = &[
    ("position", Coordinate::Translation, false, "m"),
    ("velocity", Coordinate::Translation, true, "m/s"),
    ("rotation-vector", Coordinate::RotationVector, false, "rad"),
    ("angular-velocity", Coordinate::AngularVelocity, true, "rad/s"),
];

/// Words for the angles of a body or marker about the axes of the world.
const ANGLES: [&str; 3] = ["angle-x", "angle-y", "angle-z"];

/// Standard acceleration of gravity in m/s²; it acts along −z when nothing is said.
pub(crate) const STANDARD_GRAVITY: f64 = 9.80665;

/// A kind of part: its keys, and how it is added to a machine.
#[derive(Clone, Copy)]
pub struct PartEntry {
    /// Its keys.
    pub kind: &'static PartKind,
    /// Reads a part of the kind and adds it.
    pub add: &'static (dyn Fn(&Part, &mut MachineBuilder) -> Result<(), ModelErrors> + Sync),
    /// Whether it may use parameters that events set: it pushes with finite forces, or gives rates of states.
    pub changeable: bool,
    /// Whether it moves, holds or pushes in all directions, so that it has no place in a machine that stays in a plane.
    pub spatial: bool,
    /// The smallest model with such a part.
    pub sample: &'static str,
}

impl PartEntry {
    /// A kind that stays as it is while a machine runs.
    pub const fn new(
        kind: &'static PartKind,
        add: &'static (dyn Fn(&Part, &mut MachineBuilder) -> Result<(), ModelErrors> + Sync),
        sample: &'static str,
    ) -> Self {
        Self { kind, add, changeable: false, spatial: false, sample }
    }

    /// The same, and it may use parameters that events set.
    #[must_use]
    pub const fn changeable(self) -> Self {
        Self { changeable: true, ..self }
    }

    /// The same, of machines in space only.
    #[must_use]
    pub const fn spatial(self) -> Self {
        Self { spatial: true, ..self }
    }

    /// Refuses a part of machines in space in one that stays in a plane.
    fn refuse_in_plane(&self, part: &Part, settings: &RunSettings) -> Result<(), ModelErrors> {
        let Some(plane) = settings.plane().filter(|_| self.spatial) else { return Ok(()) };
        let error = PartReader::new(part)?.unsuitable_part(
            &format!("a part that stays in the plane {}", plane.word()),
            "one of machines in space",
        );
        Err(error.with_hint("without `planar` in `[simulation]` the machine moves in space").into())
    }
}

/// Builds the machine that a document of some kinds of parts describes; `functions` are those given from
/// outside for its `[[function]]` parts, `starts` initial coordinates and rates of joints by full name.
pub(crate) fn build(
    document: &Document,
    parts: &[&'static PartEntry],
    functions: &Functions,
    starts: &[(String, String)],
) -> Result<Machine, ModelErrors> {
    MachineBuilder::read(document, parts, functions)?.finish(document, parts, starts)
}

/// Parts read so far: frames, signals and appearance in their registries, equations in those of the system.
pub struct MachineBuilder {
    system_builder: SystemBuilder,
    settings: RunSettings,
    gravity: Vector3,
    registries: Registries,
    events: Vec<EventDraft>,
    expressions: Vec<ExpressionDraft>,
    prescribed: Vec<PrescribedMotion>,
    steady: Vec<SteadyStates>,
    joint_starts: Vec<JointStart>,
    /// Full names of markers that something is attached to.
    used_markers: RefCell<HashSet<String>>,
    known_rows: KnownRows,
    /// Work that needs all names, done when every part was read.
    deferred: Vec<Deferred>,
    remarks: Remarks,
}

/// Memory that is asked for each part before more are read: with all that a run keeps of it a body takes 16 kB, a
/// joint 14, a force 8 and a sensor 7.
const PART_BYTES: usize = 12_000;
/// Work that needs all names.
type Deferred = Box<dyn FnOnce(&mut MachineBuilder) -> Result<(), ModelErrors>>;

impl MachineBuilder {
    /// Nothing yet, with the functions given from outside.
    fn new(outside: Functions) -> Self {
        Self {
            system_builder: SystemBuilder::new(),
            settings: RunSettings::default(),
            gravity: Vector3::new(0.0, 0.0, -STANDARD_GRAVITY),
            registries: Registries::new(outside),
            events: Vec::new(),
            expressions: Vec::new(),
            prescribed: Vec::new(),
            steady: Vec::new(),
            joint_starts: Vec::new(),
            used_markers: RefCell::default(),
            known_rows: KnownRows::default(),
            deferred: Vec::new(),
            remarks: Remarks::default(),
        }
    }

    /// All parts of a document; `outside` are its functions.
    pub(super) fn read(
        document: &Document,
        parts: &[&'static PartEntry],
        outside: &Functions,
    ) -> Result<Self, ModelErrors> {
        let mut builder = Self::new(outside.clone());
        let mut room = GrowingRoom::new(PART_BYTES);
        for entry in parts {
            let mut errors = ModelErrors::new();
            let mut wrong: Vec<&Part> = Vec::new();
            for part in document.parts_of(entry.kind.name) {
                // What is wrong with one repetition of a table is wrong with the others.
                if wrong.iter().any(|known| known.is_repetition_of(part)) {
                    continue;
                }
                if !room.has_one_more() {
                    let mistake = Mistake::NoRoom(room.count());
                    return Err(ModelError::new(mistake, part.entries().place().clone()).into());
                }
                let fits = entry.refuse_in_plane(part, &builder.settings);
                if let Err(found) = fits.and_then(|()| (entry.add)(part, &mut builder)) {
                    wrong.push(part);
                    errors.keep::<()>(Err(builder.registries.signals.about_inputs(found)));
                }
            }
            // Parts that refer to a wrong one are not to blame: they come after it and are not looked at.
            errors.into_result()?;
        }
        let mut errors = ModelErrors::new();
        for work in std::mem::take(&mut builder.deferred) {
            let done = work(&mut builder);
            errors.keep(done.map_err(|errors| builder.registries.signals.about_inputs(errors)));
        }
        errors.into_result()?;
        Ok(builder)
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
        self.remarks.assumptions.push(assumption);
    }

    /// Tells the user what looks like a mistake but is not one.
    pub fn note(&mut self, note: Note) {
        self.remarks.notes.add(note);
    }

    /// Bodies, markers, beams and joints so far.
    pub fn frames(&self) -> &Frames {
        &self.registries.frames
    }

    /// Bodies, markers, beams and joints so far, to add to them.
    pub fn frames_mut(&mut self) -> &mut Frames {
        &mut self.registries.frames
    }

    /// What can be measured so far.
    pub fn signals(&self) -> &MachineSignals {
        &self.registries.signals
    }

    /// What can be measured so far, to add to it.
    pub fn signals_mut(&mut self) -> &mut MachineSignals {
        &mut self.registries.signals
    }

    /// What there is to be seen so far.
    pub fn appearance(&self) -> &Appearance {
        &self.registries.appearance
    }

    /// What there is to be seen so far, to add to it.
    pub fn appearance_mut(&mut self) -> &mut Appearance {
        &mut self.registries.appearance
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

    /// Records a named expression.
    pub fn ask_expression(&mut self, draft: ExpressionDraft) {
        self.expressions.push(draft);
    }

    /// Adds an event.
    pub fn add_event(&mut self, event: EventDraft) {
        self.events.push(event);
    }

    /// Lets states start where their rates vanish, for the motion of the start.
    pub fn start_steady(&mut self, states: SteadyStates) {
        self.steady.push(states);
    }

    /// Lets a coordinate of a joint start at a value, or at a rate.
    pub fn start_joint(&mut self, start: JointStart) {
        self.joint_starts.push(start);
    }

    /// Adds a law that something follows.
    pub(super) fn add_prescribed(&mut self, motion: PrescribedMotion) {
        self.prescribed.push(motion);
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

    /// Adds a body with its node and its initial twist in body axes; the body's element comes apart.
    pub fn add_body(&mut self, body: BodyEntry, twist: Vector6) -> NodeId {
        let node = self.system_builder.node(&body.name, body.group, body.pose, twist);
        self.registries.frames.add_body(BodyEntry { node, ..body });
        node
    }

    /// Says which initial values of a body the model states: assembly changes the others first.
    pub fn set_stated(&mut self, node: NodeId, stated: Stated) {
        self.system_builder.set_stated(node, stated);
    }

    /// Forbids assembly to change a body's initial pose and its stated velocities.
    pub fn fix(&mut self, node: NodeId) {
        self.system_builder.fix(node);
    }

    /// Adds an element and gives its index in the system.
    pub fn add_element(&mut self, name: &str, element: impl Element + 'static) -> usize {
        self.system_builder.element(name, element)
    }

    /// Adds a number that is set from outside.
    pub fn add_input(&mut self, name: &str, value: f64) {
        let holder = self.add_element(name, HeldInput);
        self.registries.signals.add_input(name, value, holder);
    }

    /// Adds a joint with its frames and free coordinates, which can be measured, as its reaction can.
    /// Gives its index in the system.
    pub fn add_joint(&mut self, joint: impl Joint + 'static, entry: JointEntry) -> usize {
        let index = self.system_builder.joint(&entry.name, joint);
        self.name_joint(JointEntry { index, ..entry });
        index
    }

    /// Adds a joint of one equation, which the further parts continue.
    pub(crate) fn add_joint_in_parts<J: Joint + 'static>(
        &mut self,
        parts: impl IntoIterator<Item = J>,
        entry: JointEntry,
    ) {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return };
        let index = self.system_builder.joint(&entry.name, first);
        parts.for_each(|part| self.system_builder.continue_joint(index, part));
        self.name_joint(JointEntry { index, ..entry });
    }

    /// Lets a joint of the system be known by its name.
    fn name_joint(&mut self, entry: JointEntry) {
        // In a large machine they are recorded only where a sensor asks for them, which finds them by the
        // joint.
        if self.is_small() {
            self.offer_signals_of(&entry);
        }
        self.registries.frames.add_joint(entry);
    }

    fn offer_signals_of(&mut self, joint: &JointEntry) {
        for word in joint.coordinate_names() {
            if let Some(measured) = joint.measured(&word) {
                let sensor = NamedSensor::of_coordinate(format!("{}.{word}", joint.name), measured);
                self.registries.signals.offer(Rank::Coordinate, sensor);
            }
        }
        for part in [WrenchPart::Force, WrenchPart::Torque] {
            self.registries
                .signals
                .offer(Rank::Reaction, Reaction::named(joint, part, SensorFrame::default()));
        }
    }

    /// Whether parts have sensors of their own although the model names none.
    fn is_small(&self) -> bool {
        self.registries.appearance.body_count() + self.registries.frames.beams().len() <= MAX_WATCHED_BODIES
    }

    /// What `body`, `body.marker`, `beam.end`, `ground` or `ground.marker` means.
    pub fn attachment(&self, reference: &Reference) -> Result<Attachment, ModelError> {
        let attachment = self.registries.frames.attachment(reference)?;
        if reference.name.contains('.') {
            self.used_markers.borrow_mut().insert(reference.name.clone());
        }
        Ok(attachment)
    }

    /// Makes the part of a name switchable.
    pub fn switch(&mut self, reference: &Reference, on_at_start: bool) -> Result<SwitchId, ModelError> {
        if let Some(switch) = self.system_builder.switch(&reference.name, on_at_start) {
            let is_body = self.registries.frames.has_body(&reference.name);
            return if is_body { Err(self.not_switchable(reference)) } else { Ok(switch) };
        }
        Err(self.not_switchable(reference))
    }

    fn not_switchable(&self, reference: &Reference) -> ModelError {
        let names = self.system_builder.joint_names().chain(self.system_builder.element_names());
        reference.unknown("force, joint or lock", names.filter(|name| !self.registries.frames.has_body(name)))
    }

    /// Does something once all parts were read.
    pub fn defer(&mut self, work: impl FnOnce(&mut MachineBuilder) -> Result<(), ModelErrors> + 'static) {
        self.deferred.push(Box::new(work));
    }

    /// What a measured quantity such as `crank.angle`, `crank.rate` or `top.tip.position.z` means, if it is a
    /// function of positions and velocities.
    pub fn measured(&self, name: &str) -> Option<MeasuredCoordinate> {
        let (part, quantity) = name.split_once('.')?;
        match self.registries.frames.joint_named(part) {
            Some(joint) => joint.measured(quantity),
            None => self.point_quantity(name).or_else(|| self.registries.signals.offered(name)?.coordinate),
        }
    }

    /// `body.position.z`, `body.marker.velocity.x`, `body.angle-y`: in world axes.
    fn point_quantity(&self, name: &str) -> Option<MeasuredCoordinate> {
        let (rest, component) = name.rsplit_once('.')?;
        let at = |point: &str| {
            let reference = Reference { name: point.to_string(), place: Place::default() };
            let at = self.attachment(&reference).ok()?;
            Some(([None, at.node], [Pose::identity(), at.marker.unwrap_or_default()]))
        };
        if let Some(axis) = ANGLES.iter().position(|word| *word == component) {
            let (nodes, offsets) = at(rest)?;
            return Some(angle_about(axis, nodes, offsets));
        }
        let (point, quantity) = rest.rsplit_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == component)?;
        let (_, of_axis, rate, unit) = POINT_QUANTITIES.iter().find(|(word, ..)| *word == quantity)?;
        let (nodes, offsets) = at(point)?;
        Some(MeasuredCoordinate { nodes, offsets, coordinate: of_axis(axis), rate: *rate, unit })
    }

    /// Names of measured quantities, to suggest in place of an unknown one.
    pub fn measured_names(&self) -> Vec<String> {
        let joints = self.registries.frames.joints().iter().flat_map(|joint| {
            let rate = (joint.coordinates.len() == 1).then(|| format!("{}.rate", joint.name));
            let names = joint.coordinates.iter().flat_map(|(name, _)| {
                [format!("{}.{name}", joint.name), format!("{}.{name}-rate", joint.name)]
            });
            names.chain(rate).collect::<Vec<_>>()
        });
        let components = self.registries.frames.point_names().flat_map(|point| {
            let angles = ANGLES.map(|angle| format!("{point}.{angle}"));
            let components = POINT_QUANTITIES.iter().flat_map(move |(quantity, ..)| {
                ["x", "y", "z"].map(|axis| format!("{point}.{quantity}.{axis}"))
            });
            angles.into_iter().chain(components)
        });
        joints.chain(components).chain(self.registries.signals.names()).collect()
    }

    /// Builds the machine.
    fn finish(
        mut self,
        document: &Document,
        parts: &[&'static PartEntry],
        starts: &[(String, String)],
    ) -> Result<Machine, ModelErrors> {
        let events = self.complete(document, parts)?;
        let (frames, parameters) = (&self.registries.frames, document.parameters());
        stated_start::state(frames, parameters, starts, &mut self.joint_starts)?;
        self.joint_starts = stated_start::checked(frames, std::mem::take(&mut self.joint_starts))?;
        let built = std::mem::take(&mut self.system_builder).build(self.settings.start_time);
        let (mut system, mut initial) = built.map_err(|error| not_assembled(document, &error.to_string()))?;
        self.start_joints(document, parts, &system, &mut initial)?;
        state::check(&system, &initial, self.registries.signals.states())?;
        system.set_stiffness_scale(mean_stiffness(&system, &initial));
        self.registries.signals.locate_inputs(&system);
        self.warn_of_unused_inputs(&events.list);
        self.registries.appearance.set_up(&self.gravity);
        let Self { settings, registries, prescribed, steady, remarks, .. } = self;
        let provenance = Provenance::new(document, parts, remarks);
        Ok(Machine { system, initial, settings, registries, events, prescribed, steady, provenance })
    }

    /// The equations with what is added to them, and the inputs by their places in their memory.
    pub(super) fn equations_with(
        mut self,
        document: &Document,
        parts: &[&'static PartEntry],
        add: impl FnOnce(&mut SystemBuilder),
    ) -> Result<(System, Vec<InputEntry>), ModelErrors> {
        self.complete(document, parts)?;
        add(&mut self.system_builder);
        let built = std::mem::take(&mut self.system_builder).build(self.settings.start_time);
        let (system, _) = built.map_err(|error| not_assembled(document, &error.to_string()))?;
        self.registries.signals.locate_inputs(&system);
        Ok((system, self.registries.signals.inputs().to_vec()))
    }

    /// Does what needs all parts, before equations are made of them.
    fn complete(&mut self, document: &Document, parts: &[&'static PartEntry]) -> Result<Events, ModelErrors> {
        self.tell_of_omissions(document);
        self.check_joint_counts(document)?;
        if self.registries.frames.bodies().is_empty() {
            return Err(no_body(document).into());
        }
        let scales = Scales {
            length: self.registries.frames.extent(),
            arm: self.registries.frames.longest_arm(),
            mass: self.registries.frames.mean_mass(),
            stiffness: 0.0,
        };
        self.system_builder.scales(scales);
        self.record_signals()?;
        self.record_expressions()?;
        let variants = Variants::from_events(&self.events, document)?;
        let list = self.finish_events(&variants)?;
        self.check_expressions(document)?;
        self.registries.signals.forget_offers();
        // Every expression was read by now, so it is known who uses what.
        variants.add_versions(self, document, parts)?;
        Ok(Events { list, variants })
    }

    /// Moves the machine to the initial coordinates of its joints.
    fn start_joints(
        &mut self,
        document: &Document,
        parts: &[&'static PartEntry],
        system: &System,
        initial: &mut Initial,
    ) -> Result<(), ModelErrors> {
        let starts = std::mem::take(&mut self.joint_starts);
        if starts.is_empty() {
            return Ok(());
        }
        let with_rate = starts.iter().find_map(|start| Some((start, start.rate.as_ref()?)));
        if let (Some((start, (_, place))), StartFrom::Static) = (with_rate, self.settings.start) {
            // Rates hold where the model puts its bodies; elsewhere other velocities belong to them.
            let what = format!("the rate of `{}` of `{}`", start.word, start.joint);
            let (requirement, found) = ("left out with `start = \"static\"`", "given");
            let hint = "give bodies their velocities";
            return Err(ModelError::unsuitable(what, requirement, found, place).with_hint(hint).into());
        }
        let again = || {
            let mut other =
                Self::read(document, parts, &self.registries.signals.outside().clone())?.system_builder;
            other.scales(system.scales());
            Ok(other)
        };
        let note = JointStarts::new(&self.registries.frames, system, starts, &again).apply(initial)?;
        note.into_iter().for_each(|note| self.remarks.notes.add(note));
        let rest = Values::zeros(&system.shape());
        let point = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
        self.registries.frames.set_initial_poses(|node| system.motion(node, &point).pose);
        Ok(())
    }

    fn tell_of_omissions(&mut self, document: &Document) {
        let used = self.used_markers.take();
        for marker in self.registries.frames.marker_names().filter(|name| !used.contains(name)) {
            let text = format!("nothing is attached to the marker `{marker}`");
            self.remarks.notes.add(Note::new(NoteKind::UnusedMarker, text).about(marker));
        }
        if document.parts_of("gravity").next().is_none() {
            self.remarks.assumptions.push(format!("gravity is {STANDARD_GRAVITY} m/s² along −z"));
        }
    }

    /// In a machine of many bodies only energies and residuals are recorded unasked.
    fn record_signals(&mut self) -> Result<(), ModelErrors> {
        let (usual, small) = (self.settings.default_sensors, self.is_small());
        if usual && !small {
            self.remarks.assumptions.push(format!(
                "with more than {MAX_WATCHED_BODIES} bodies only energies and residuals are recorded beside the sensors of the model"
            ));
        }
        self.registries.signals.record(usual, small)
    }

    /// Records the named expressions that sensors ask for, which may use what all others show.
    fn record_expressions(&mut self) -> Result<(), ModelErrors> {
        let mut errors = ModelErrors::new();
        let mut sensors = Vec::new();
        // The unit of what has a name already, if it is an expression.
        let recorded = self.registries.signals.recorded().iter();
        let mut taken: HashMap<String, Option<String>> =
            recorded.map(|sensor| (sensor.name.clone(), None)).collect();
        for draft in std::mem::take(&mut self.expressions) {
            let (name, unit, place) = (draft.name.clone(), draft.unit.clone(), draft.place.clone());
            match taken.get(&name) {
                None => {
                    sensors.extend(errors.keep(draft.finish(self)));
                    taken.insert(name, Some(unit));
                }
                // Once more the same.
                Some(Some(other)) if *other == unit => {}
                Some(_) => {
                    let what = format!("the signal `{name}`");
                    let error =
                        ModelError::unsuitable(what, "the only one of its name", "another one", &place);
                    errors.push(error.with_hint("give the sensor a `name`"));
                }
            }
        }
        errors.into_result()?;
        self.registries.signals.record_all(sensors);
        Ok(())
    }

    fn warn_of_unused_inputs(&mut self, events: &[Event]) {
        // The first slot is that of the element that holds it.
        let is_used = |input: &InputEntry| {
            input.slots.len() > 1 || events.iter().any(|event| event.reads_input(input.holder))
        };
        for input in self.registries.signals.inputs().iter().filter(|input| !is_used(input)) {
            let text = format!("nothing uses the input `{}`", input.name);
            self.remarks.notes.add(Note::new(NoteKind::UnusedInput, text).about(&input.name));
        }
    }

    /// Named expressions must mean something, used or not. One mistake spoils all that use it, so the first
    /// is enough.
    fn check_expressions(&self, document: &Document) -> Result<(), ModelErrors> {
        let known = |name: &str| is_shown(name, self) || self.signals().is_outside_quantity(name);
        let candidates = || shown_names(self);
        for expression in document.expressions() {
            expression.compile(Quantities { known: &known, candidates: &candidates })?;
        }
        Ok(())
    }

    /// Refuses more than [`MAX_JOINTS_OF_TWO`] joints between the same two bodies.
    fn check_joint_counts(&self, document: &Document) -> Result<(), ModelErrors> {
        let mut counts: HashMap<[Option<NodeId>; 2], usize> = HashMap::new();
        for joint in self.registries.frames.joints() {
            let mut nodes = joint.nodes;
            nodes.sort();
            let count = counts.entry(nodes).or_default();
            *count += 1;
            if *count > MAX_JOINTS_OF_TWO {
                let part = document.parts().iter().find(|part| part.unique_name() == joint.name);
                let place = part.map_or_else(|| beginning(document), |part| part.name_place().clone());
                let what = "the number of joints between the same two bodies";
                let requirement = format!("at most {MAX_JOINTS_OF_TWO}");
                let error = ModelError::unsuitable(what, requirement, "one more", &place);
                return Err(error.with_hint("six equations hold two bodies; leave the others out").into());
            }
        }
        Ok(())
    }

    fn finish_events(&mut self, variants: &Variants) -> Result<Vec<Event>, ModelErrors> {
        let mut errors = ModelErrors::new();
        let mut events = Vec::new();
        for draft in std::mem::take(&mut self.events) {
            events.extend(errors.keep(draft.finish(self, variants)));
        }
        errors.into_result()?;
        Ok(events)
    }
}

/// Most joints between the same two bodies: all but six of their equations follow from the others, and time grows
/// with the square of their number.
const MAX_JOINTS_OF_TWO: usize = 100;

/// Where the world of a part's file lies in the world of the model.
pub fn placement(reader: &PartReader) -> Pose {
    let placement = reader.placement();
    Pose::new(placement.rotation, placement.translation.vector)
}

/// The error of a model without bodies.
fn no_body(document: &Document) -> ModelError {
    ModelError::unsuitable("the model", "made of at least one body", "none", &beginning(document))
        .with_hint("add a `[[body]]` with `mass` and `inertia`")
}

/// The error of parts that do not fit together.
fn not_assembled(document: &Document, reason: &str) -> ModelError {
    ModelError::unsuitable("the model", "assembled", reason, &beginning(document))
}

fn beginning(document: &Document) -> Place {
    document.sources().first().map(|source| Place::new(source, 0..0)).unwrap_or_default()
}
