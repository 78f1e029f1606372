//! How a machine is run.

use crate::integrate::{Method, Parameters};
use crate::lie::Group;

/// The method in the words of the model file.
pub type MethodName = &'static str;

/// What `[simulation]` says, with the defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// Time at which the run starts, in s.
    pub start_time: f64,
    /// Time at which the run ends, in s; absent if neither the model nor the command line says it.
    pub end_time: Option<f64>,
    /// Step size in s; absent for the default, a thousandth of the run.
    pub step: Option<f64>,
    /// Distance of output times in s; absent for every step.
    pub output_step: Option<f64>,
    /// Method.
    pub method: Method,
    /// Parameters of the method.
    pub parameters: Parameters,
    /// Relative tolerance of Newton's iteration.
    pub newton_rtol: f64,
    /// Absolute tolerance of Newton's iteration.
    pub newton_atol: f64,
    /// Group of bodies that do not name their own.
    pub group: Group,
}
