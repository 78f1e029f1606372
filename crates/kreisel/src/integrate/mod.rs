//! Time integration: one file a method, and what they share.
//!
//! Takes any [`crate::dae::Dae`] and its initial values and advances a [`State`] step by step with the
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
mod bdf2;
pub(crate) mod begin;
mod control;
mod corner;
mod error;
mod estimate;
mod first_order;
mod force_level;
mod formulation;
mod guess;
mod index2;
mod index3;
mod integration;
mod interval;
mod memory;
mod observer;
mod parameters;
mod prepare;
mod renew;
mod saturation;
pub(crate) mod scheme;
mod settings;
mod singular;
mod soi2;
pub(crate) mod start;
mod state;
mod updated_lagrangian;

pub use begin::ResumeError;
pub use control::{ControlHistory, ErrorControl};
pub use error::{StartError, StateError, StepError};
pub use guess::Guess;
pub use integration::{Integration, Statistics, StepReport};
pub use interval::{Ends, Interval};
pub use observer::Observer;
pub use parameters::{ParameterError, Parameters, Stability};
pub use saturation::{Saturation, Watch};
pub use settings::{
    Form, IterationMatrix, Method, Parametrization, PastMass, Predictor, Scaling, Settings, Start, StepChange,
};
pub use state::{MatrixPoint, Merged, State};

/// A generalized-α method with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedAlpha {
    settings: Settings,
}

impl GeneralizedAlpha {
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
