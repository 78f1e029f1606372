//! What a user chooses: method, parameters, step, starting values, Newton.

use super::parameters::Parameters;
use crate::solve::newton::NewtonSettings;

/// Formulation of the constrained equations that is discretised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Index-3 DAE: position constraints hold [ArnoldCardonaBruls2015, Eqs. (37)].
    Index3,
    /// Stabilized index-2 DAE: position and velocity constraints hold [ArnoldCardonaBruls2015, Eqs. (56)].
    Index2,
    /// Index-3 DAE in local coordinates about the start of each step [BrulsCardonaArnold2012, Eqs. (71)–(79)].
    UpdatedLagrangian,
}

/// Local coordinates of rotations in [`Method::UpdatedLagrangian`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parametrization {
    /// The rotation vector, of the exponential map [BrulsCardonaArnold2012, Eq. (65)].
    #[default]
    RotationVector,
    /// The conformal rotation vector [BrulsCardonaArnold2012, Eqs. (80)–(82)].
    Crv,
}

impl Method {
    /// Whether constraints hold for positions only: B v is then of size h² and carries what keeps λ accurate.
    pub(super) fn is_index3(self) -> bool {
        matches!(self, Self::Index3 | Self::UpdatedLagrangian)
    }
}

/// Starting values of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Those that keep second order in every component: Table 2 for `index3` and `updated-lagrangian`, Table 1 for `index2`.
    #[default]
    OrderPreserving,
    /// a₀ ≈ v̇(t₀ + Δ_α h), v₀ unchanged [ArnoldCardonaBruls2015, Table 1].
    ImprovedAcceleration,
    /// a₀ = v̇(t₀), v₀ unchanged: the trivial choice, with first-order transients in the multipliers.
    Trivial,
}

/// First guess of Newton's iteration in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predictor {
    /// a_{n+1} = a_n, λ_{n+1} = λ_n [ArnoldCardonaBruls2015, Eq. (59)].
    #[default]
    ConstantAcceleration,
    /// v̇_{n+1} = 0, λ_{n+1} = 0 [BrulsCardonaArnold2012, Table 1].
    ZeroAcceleration,
}

/// Matrix of Newton's iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IterationMatrix {
    /// The exact derivative [ArnoldCardonaBruls2015, Eqs. (60), (62)].
    #[default]
    Exact,
    /// Without damping, stiffness and curvature terms [ArnoldCardonaBruls2015, §3.5]: for non-stiff systems and small steps.
    Simplified,
}

/// Everything that determines a run apart from system and initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Formulation.
    pub method: Method,
    /// Local coordinates of `updated-lagrangian`; without effect on other methods.
    pub parametrization: Parametrization,
    /// Parameters of the generalized-α family.
    pub parameters: Parameters,
    /// Step size h in s.
    pub step: f64,
    /// Starting values.
    pub start: Start,
    /// First guess of Newton's iteration.
    pub predictor: Predictor,
    /// Matrix of Newton's iteration.
    pub iteration_matrix: IterationMatrix,
    /// Relative tolerance of Newton's iteration, on the increment of a step and on scaled multipliers.
    pub newton_rtol: f64,
    /// Absolute tolerance of Newton's iteration, in units of the system's length and of 1 rad.
    pub newton_atol: f64,
    /// Iterations and renewal of the matrix.
    pub newton: NewtonSettings,
    /// m_ave of the scaling s = k_ave + m_ave/h² [BottassoBauchauCardona2007, Eq. (28)]; from the system if absent.
    pub mass_scale: Option<f64>,
    /// k_ave of the scaling; from the system if absent.
    pub stiffness_scale: Option<f64>,
    /// Allows parameters on or beyond the limit of stability with constraints that hold for positions only.
    pub allow_unstable: bool,
}

impl Settings {
    /// The defaults for a method, its parameters and a step size.
    pub fn new(method: Method, parameters: Parameters, step: f64) -> Self {
        Self {
            method,
            parametrization: Parametrization::default(),
            parameters,
            step,
            start: Start::default(),
            predictor: Predictor::default(),
            iteration_matrix: IterationMatrix::default(),
            newton_rtol: 1e-10,
            newton_atol: 1e-12,
            newton: NewtonSettings::default(),
            mass_scale: None,
            stiffness_scale: None,
            allow_unstable: false,
        }
    }
}

/// Initial values as the user gives them; they are made consistent at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Initial time t₀ in s.
    pub time: f64,
    /// Configuration q(t₀).
    pub configuration: Vec<f64>,
    /// Velocity v(t₀).
    pub velocity: Vec<f64>,
    /// States c(t₀).
    pub states: Vec<f64>,
    /// Nodes whose configuration is not to be changed, ascending.
    pub fixed: Vec<usize>,
}

impl Initial {
    /// Initial values of a system without states.
    pub fn new(time: f64, configuration: impl Into<Vec<f64>>, velocity: impl Into<Vec<f64>>) -> Self {
        Self {
            time,
            configuration: configuration.into(),
            velocity: velocity.into(),
            states: Vec::new(),
            fixed: Vec::new(),
        }
    }
}
