//! A machine as its model file describes it: words become nodes, elements, joints and sensors.
//!
//! The document layer ([`crate::model`]) knows no mechanics and the [`System`] knows no names; here they
//! meet. What a machine is made of stands in [`crate::part`]: each kind of part is a [`PartEntry`] that adds
//! to the [`MachineBuilder`].

mod appearance;
mod balance;
pub mod beam;
mod builder;
pub(crate) mod curve;
mod entry;
pub(crate) mod event;
mod event_draft;
mod mobility;
pub mod sensor;
pub(crate) mod settings;
pub mod shape;
mod signal;
mod state;
mod stiffness;
pub mod stl;
pub(crate) mod variant;

pub use balance::EnergyBalance;
pub(crate) use builder::build;
pub use builder::{MachineBuilder, PartEntry, placement, read_pose};
pub use entry::{
    Attachment, BodyEntry, ContactEntry, ForceEntry, FrictionForm, FunctionEntry, Functions, InputEntry,
    JointEntry, MeasuredCoordinate, SpringEntry, StateSignal,
};
pub use event::{Direction, Event, EventRecord};
pub use event_draft::EventDraft;
pub use mobility::Mobility;
pub use settings::{
    BodyGroup, Flag, Given, RunPlan, RunSettings, SETTINGS, Setting, SettingTexts, SettingsError, StartFrom,
    StepSize, Words,
};

pub use sensor::SignalId;
pub use signal::{Collected, SignalCollector};

use std::collections::HashMap;

use crate::dae::Initial;
use crate::lie::{Pose, Vector3};
use crate::model::error::{Mistake, ModelError};
use crate::model::{ModelErrors, Place};
use crate::results::ModelIdentity;
use crate::system::System;
use sensor::Sensor;

/// A machine ready to be run.
pub struct Machine {
    /// What it is called, in one line.
    pub title: String,
    /// What its author says about it.
    pub description: String,
    /// Its equations.
    pub system: System,
    /// Its initial values.
    pub initial: Initial,
    /// How it is to be run.
    pub settings: RunSettings,
    /// Bodies by name.
    pub bodies: Vec<BodyEntry>,
    /// Joints by name.
    pub joints: Vec<JointEntry>,
    /// Springs and bushings between two points.
    pub springs: Vec<SpringEntry>,
    /// Forces and torques on bodies.
    pub forces: Vec<ForceEntry>,
    /// Numbers that are set from outside while it runs.
    pub inputs: Vec<InputEntry>,
    /// Named frames on the ground.
    pub ground_markers: Vec<(String, Pose)>,
    /// Acceleration of gravity in m/s².
    pub gravity: Vector3,
    /// Beams by name.
    pub beams: Vec<beam::BeamEntry>,
    /// What is recorded.
    pub sensors: Vec<Sensor>,
    /// What happens where an expression of the motion passes zero.
    pub events: Vec<Event>,
    /// What events may change, and into what.
    variants: variant::Variants,
    /// What was assumed because the model did not say it.
    pub assumptions: Vec<String>,
    /// What looks like a mistake but is none.
    pub warnings: Vec<String>,
    /// Where the model says how it is run, or its beginning.
    settings_place: Place,
    /// Where the model says each part.
    places: HashMap<String, Place>,
    /// The texts that it was read from, the model file first.
    pub sources: Vec<ModelIdentity>,
}

impl Machine {
    /// What parameters that events set change.
    pub(crate) fn variants(&self) -> &variant::Variants {
        &self.variants
    }

    /// Where the part of a name stands in the model file.
    pub(crate) fn place(&self, name: &str) -> Option<&Place> {
        self.places.get(name)
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
            };
            ModelError::new(mistake, self.settings_place.clone()).with_hint(error.hint()).into()
        })
    }
}
