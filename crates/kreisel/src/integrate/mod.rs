//! Time integration: one file a method, and what they share.
//!
//! Takes any [`crate::dae::Dae`] and its initial values and advances it step by step with the
//! Lie-group generalized-α method [ArnoldCardonaBruls2015, Eqs. (37), (56)]:
//!
//! ```text
//! q_{n+1} = q_n ∘ exp(h Δq̃_n)
//! Δq_n    = v_n + (½ − β) h a_n + β h a_{n+1}
//! v_{n+1} = v_n + (1 − γ) h a_n + γ h a_{n+1}
//! (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) v̇_{n+1} + α_f v̇_n
//! ```
//!
//! with v̇_{n+1} and λ_{n+1} from equilibrium and constraints at t_{n+1}.

mod advance;
mod begin;
mod change;
mod control;
mod corner;
mod error;
mod integration;
mod interval;
mod judge;
mod observer;
mod restart;
mod saturation;
mod saved;
mod scheme;
mod settings;
mod state;
mod turns;
pub(crate) mod words;

pub use begin::ResumeError;
pub use control::{ControlHistory, ErrorControl};
pub(crate) use control::{LEAST_OF_SECOND_ORDER, LEAST_TOLERANCE, damps_enough, possible_radii};
pub use error::{StartError, StateError, StepError, Task};
pub use integration::{Integration, KnownError, Statistics, StepReport};
pub use interval::{Ends, Interval};
pub use observer::Observer;
pub use saturation::{Saturation, SaturationOptions};
pub use saved::Saved;
pub use scheme::{
    AUTO, BDF2, BDF3, CHOICE, Columns, EXPLICIT8, EXTRAPOLATED, Family, Form, HHT_I3, HHT_SOI2, INDEX2,
    INDEX3, Method, MethodOption, OptionEntry, ParameterError, Parameters, Parametrization, PastMass,
    SCHEMES, SOI2, SYMPLECTIC, Scaling, Stability, UPDATED_LAGRANGIAN,
};
pub(crate) use scheme::{OPTIONS, chosen};
pub use settings::{IterationMatrix, Predictor, Settings, Start, StepChange};
pub(crate) use turns::{NodeTurn, TurningNodes};
pub use words::Words;

/// Starts integrations with a method and its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrator {
    settings: Settings,
}

impl Integrator {
    /// The method with Chung and Hulbert's parameters for a spectral radius ρ∞, and a step size in s.
    pub fn new(method: Method, spectral_radius: f64, step: f64) -> Result<Self, ParameterError> {
        Ok(Self::with(Settings::new(method, Parameters::chung_hulbert(spectral_radius)?, step)))
    }

    /// The method with these settings.
    pub fn with(settings: Settings) -> Self {
        Self { settings }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
