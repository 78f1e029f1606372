//! A machine as its model file describes it: words become nodes, elements, joints and sensors.
//!
//! The document layer ([`crate::model`]) knows no mechanics and the [`System`] knows no names; here they
//! meet. What a machine is made of stands in [`crate::part`]: each kind of part is a [`PartEntry`] that adds
//! to the [`MachineBuilder`].

mod appearance;
mod balance;
pub mod beam;
mod builder;
mod carrier;
pub(crate) mod curve;
mod entry;
pub(crate) mod event;
mod event_draft;
mod expression_draft;
mod frames;
mod joint_start;
mod led;
mod led_motion;
mod mesh;
mod mobility;
mod prescribed;
mod provenance;
mod refusal;
pub mod sensor;
pub(crate) mod settings;
pub mod shape;
mod signal;
mod signals;
mod state;
mod stated_start;
mod stiffness;
pub mod stl;
pub(crate) mod variant;

pub use appearance::Appearance;
pub use balance::EnergyBalance;
pub use builder::{MachineBuilder, PartEntry, placement};
pub(crate) use builder::{STANDARD_GRAVITY, build};
pub use entry::{
    Attachment, BodyEntry, FrictionForm, FunctionEntry, Functions, InputEntry, JointEntry,
    MeasuredCoordinate, MovingFrame, NamedFrame, StateSignal, Thread, UnknownFrame,
};
pub use event::{Direction, Event, EventRecord};
pub use event_draft::EventDraft;
pub use expression_draft::ExpressionDraft;
pub use frames::Frames;
pub(crate) use led::build_led;
pub use led::{LedCoordinate, LedError, LedMachine};
pub use led_motion::LedMotion;
pub use mesh::MeshError;
pub(crate) use mesh::MeshHistory;
pub use mobility::Mobility;
pub use prescribed::Prescribed;
pub use refusal::Refusal;
pub use sensor::SignalId;
pub use settings::{
    AccuracyOf, BodyGroup, Flag, Given, Plane, RunPlan, RunSettings, SETTINGS, Setting, SettingTexts,
    SettingsError, StartFrom, StepSize,
};
pub use signal::{Collected, SignalCollector};
pub use signals::{MachineSignals, Rank};
pub(crate) use state::SteadyStart;
pub use state::SteadyStates;
pub use stated_start::JointStart;

use std::collections::BTreeMap;

use crate::dae::{Initial, Notes, Point, Values};
use crate::kinematics::{Frame, NodeMotion, Relative};
use crate::lie::Pose;
use crate::model::error::{Mistake, ModelError};
use crate::model::{ModelErrors, Place};
use crate::results::ModelIdentity;
use crate::system::System;
use event::Events;
use prescribed::PrescribedMotion;
use provenance::Provenance;

/// What parts are known by, each by its name: filled by the builder, kept by the machine.
struct Registries {
    frames: Frames,
    signals: MachineSignals,
    appearance: Appearance,
}

impl Registries {
    /// Empty ones, with the functions given from outside.
    fn new(outside: Functions) -> Self {
        Self {
            frames: Frames::default(),
            signals: MachineSignals::new(outside),
            appearance: Appearance::default(),
        }
    }
}

/// A machine ready to be run.
pub struct Machine {
    pub(crate) system: System,
    pub(crate) initial: Initial,
    pub(crate) settings: RunSettings,
    registries: Registries,
    events: Events,
    prescribed: Vec<PrescribedMotion>,
    steady: Vec<SteadyStates>,
    provenance: Provenance,
}

impl Machine {
    /// Its equations.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Its initial values.
    pub fn initial(&self) -> &Initial {
        &self.initial
    }

    /// Its equations and its initial values alone, without names.
    pub fn into_system(self) -> (System, Initial) {
        (self.system, self.initial)
    }

    /// How it is to be run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// What it is called, in one line.
    pub fn title(&self) -> &str {
        &self.provenance.title
    }

    /// What its author says about it.
    pub fn description(&self) -> &str {
        &self.provenance.description
    }

    /// What was assumed because the model did not say it.
    pub fn assumptions(&self) -> &[String] {
        &self.provenance.remarks.assumptions
    }

    /// What looks like a mistake but is not one.
    pub fn notes(&self) -> &Notes {
        &self.provenance.remarks.notes
    }

    /// The texts that it was read from, the model file first.
    pub fn sources(&self) -> &[ModelIdentity] {
        &self.provenance.sources
    }

    /// Its parameters with their values, in base units.
    pub fn parameters(&self) -> &BTreeMap<String, f64> {
        &self.provenance.parameters
    }

    /// Bodies, markers, beams and joints by name.
    pub fn frames(&self) -> &Frames {
        &self.registries.frames
    }

    /// What is recorded, and the inputs.
    pub fn signals(&self) -> &MachineSignals {
        &self.registries.signals
    }

    /// What is recorded, to add to it.
    pub(crate) fn signals_mut(&mut self) -> &mut MachineSignals {
        &mut self.registries.signals
    }

    /// Numbers that are set from outside while it runs.
    pub fn inputs(&self) -> &[InputEntry] {
        self.registries.signals.inputs()
    }

    /// What happens where an expression of the motion passes zero.
    pub fn events(&self) -> &[Event] {
        &self.events.list
    }

    /// States of a start at which blocks without initial values are steady.
    pub(crate) fn steady_states(&self, start: &Values) -> SteadyStart {
        state::steady(&self.system, start, self.registries.signals.states(), &self.steady)
    }

    /// Whether some states start steady.
    pub(crate) fn starts_steady(&self) -> bool {
        !self.steady.is_empty()
    }

    /// Why its prescribed motions cannot be followed from one time to another.
    pub(crate) fn refusal_of_laws(&self, from: f64, to: f64) -> Option<Refusal> {
        prescribed::refusal(&self.prescribed, from, to)
    }

    /// The joint whose equations end where a step of some size failed.
    pub(crate) fn limit(&self, at: &Point, step: f64) -> Option<Refusal> {
        let ground = NodeMotion::at_rest(Pose::identity());
        self.registries.frames.joints().iter().find_map(|joint| {
            let limit = joint.limit?;
            let nodes = joint.nodes.map(|node| node.map_or(ground, |node| self.system.motion(node, at)));
            let relative = Relative::new(&joint.offsets.map(Frame::new), [&nodes[0], &nodes[1]]);
            let reason = limit(&relative, step)?;
            Some(Refusal::Limit { joint: joint.name.clone(), time: at.time, reason })
        })
    }

    /// What parameters that events set change.
    pub(crate) fn variants(&self) -> &variant::Variants {
        &self.events.variants
    }

    /// Where the part of a name stands in the model file.
    pub(crate) fn place(&self, name: &str) -> Option<&Place> {
        self.provenance.places.get(name)
    }

    /// Settings with nothing left open, or the mistake at its place in the model.
    pub fn plan(&self) -> Result<RunPlan, ModelErrors> {
        self.settings.plan().map_err(|error| {
            let mistake = match error {
                SettingsError::NoEndTime => {
                    Mistake::MissingKey { key: "end-time".to_string(), part: "`[simulation]`".to_string() }
                }
                SettingsError::EndBeforeStart { start, end } => Mistake::Unsuitable {
                    what: "`end-time` of `[simulation]`".to_string(),
                    requirement: format!("after the start at {start} s"),
                    found: end.to_string(),
                },
                SettingsError::StepLimits { min, max } => Mistake::Unsuitable {
                    what: "`max-step` of `[simulation]`".to_string(),
                    requirement: format!("at least the smallest step, {min} s"),
                    found: format!("{max} s"),
                },
                SettingsError::TooManySteps { step, length } => Mistake::Unsuitable {
                    what: "`step` and `output-step` of `[simulation]`".to_string(),
                    requirement: format!("large enough for a run of {length} s"),
                    found: format!("{step:e} s"),
                },
                SettingsError::BelowRounding { tolerance, least } => Mistake::Unsuitable {
                    what: "`rtol` and `atol` of `[simulation]` together".to_string(),
                    requirement: format!(
                        "at least {least:e}, below which rounding decides on the error of a step"
                    ),
                    found: format!("{tolerance:e}"),
                },
                SettingsError::StepTooLong { step, length } => Mistake::Unsuitable {
                    what: "`step` of `[simulation]`".to_string(),
                    requirement: format!("at most as long as the run, {length} s"),
                    found: format!("{step} s"),
                },
            };
            ModelError::new(mistake, self.provenance.settings_place.clone()).with_hint(error.hint()).into()
        })
    }
}
