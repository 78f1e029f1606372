//! What a user chooses: method, parameters, step, starting values, Newton.

use super::control::ErrorControl;
use super::scheme::{Method, Parameters};
use crate::solve::newton::NewtonSettings;

/// Unknowns of a step of [`BDF2`](super::BDF2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Positions, velocities and multipliers [BottassoBauchauCardona2007, Eq. (4)].
    ThreeField,
    /// Positions and multipliers; velocities are eliminated [BottassoBauchauCardona2007, Eq. (37)].
    #[default]
    TwoField,
}

/// Scaling of equations and unknowns of [`BDF2`](super::BDF2), with s = k_ave + m_ave/h² in place of h⁻²
/// [BottassoBauchauCardona2007, Eq. (28)].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// None.
    Unscaled,
    /// Constraints divided by h [BottassoBauchauCardona2007, Eqs. (16), (44)].
    Left,
    /// Equilibrium divided by h s besides, and multipliers by s [BottassoBauchauCardona2007, Eqs. (23), (24),
    /// (48), (49)].
    LeftRight,
    /// Velocities multiplied by h besides [BottassoBauchauCardona2007, Eq. (29)]; in the two-field form as
    /// [`Scaling::LeftRight`].
    #[default]
    LeftRightVelocities,
}

/// Local coordinates of rotations in [`UPDATED_LAGRANGIAN`](super::UPDATED_LAGRANGIAN).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parametrization {
    /// The rotation vector, of the exponential map [BrulsCardonaArnold2012, Eq. (65)].
    #[default]
    RotationVector,
    /// The conformal rotation vector [BrulsCardonaArnold2012, Eqs. (80)–(82)].
    Crv,
}

/// M_α, the mass matrix that goes with a_n in methods that balance forces at two times [JayNegrut2008, §3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PastMass {
    /// That of the step before, M_{(1+α)−1}.
    #[default]
    Kept,
    /// Evaluated anew: M(t_n + αh, q_n ∘ exp(αh ṽ_n)).
    Renewed,
}

/// Starting values of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Those that keep second order in every component: Table 2 for `index3`, `hht-i3` and
    /// `updated-lagrangian`, Table 1 for the others.
    #[default]
    OrderPreserving,
    /// a₀ ≈ v̇(t₀ + Δ_α h), v₀ unchanged [ArnoldCardonaBruls2015, Table 1].
    ImprovedAcceleration,
    /// a₀ = (1 − Δ_α) v̇₀ + Δ_α v̇₁ with v̇₁ of the first step itself, v₀ unchanged [JayNegrut2008, Eq. (8)].
    Implicit,
    /// a₀ = v̇(t₀), v₀ unchanged: the trivial choice, with first-order transients in the multipliers.
    Trivial,
}

/// First guess of Newton's iteration in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predictor {
    /// a and λ are guessed in the way that would have been best for the last step: from v̇ = 0, constant,
    /// along a line, a parabola or a cubic through their last values. The first steps, and those of changing
    /// size, follow the line.
    #[default]
    Adaptive,
    /// a and λ go on along the line through their last two values; a first step begins with constant ones.
    LinearAcceleration,
    /// a_{n+1} = a_n, λ_{n+1} = λ_n [ArnoldCardonaBruls2015, Eq. (59)].
    ConstantAcceleration,
    /// v̇_{n+1} = 0, λ_{n+1} = 0 [BrulsCardonaArnold2012, Table 1].
    ZeroAcceleration,
}

/// Matrix of Newton's iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IterationMatrix {
    /// The exact derivative, but with section forces of beams as unknowns of their own: their geometric
    /// stiffness follows the forces of the last step and the corrections since, not those of a first guess
    /// that stretches them
    /// [MagisanoLeonettiGarcea2017, Sec. 3]. The limit is the exact derivative, and so is every matrix without beams.
    #[default]
    Mixed,
    /// The exact derivative [ArnoldCardonaBruls2015, Eqs. (60), (62)].
    Exact,
    /// Without damping, stiffness and curvature terms [ArnoldCardonaBruls2015, §3.5]: for non-stiff systems
    /// and small steps.
    Simplified,
}

impl IterationMatrix {
    /// Whether damping, stiffness and curvature are in it.
    pub fn is_complete(self) -> bool {
        self != Self::Simplified
    }
}

/// What is corrected where the step size changes: everything, unless an experiment is to show what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepChange {
    /// Moves a_n to the new t_n + Δ_α h [JayNegrut2008, Eq. (14a)]; without it q and λ fall to first order.
    pub adjust_acceleration: bool,
    /// With `index3`, rescales the residual of the hidden constraints with h²; without it λ does not converge
    /// where B v̂ v̇ does not vanish.
    pub rescale_residual: bool,
}

impl Default for StepChange {
    fn default() -> Self {
        Self { adjust_acceleration: true, rescale_residual: true }
    }
}

/// Everything that determines a run apart from system and initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Method.
    pub method: Method,
    /// Local coordinates of `updated-lagrangian`; without effect on other methods.
    pub parametrization: Parametrization,
    /// Unknowns of `bdf2`; without effect on other methods.
    pub form: Form,
    /// Scaling of `bdf2`; without effect on other methods.
    pub scaling: Scaling,
    /// Parameters of the generalized-α family; without effect on `bdf2`.
    pub parameters: Parameters,
    /// Step size h in s; with error control only a size to start from.
    pub step: f64,
    /// Lets the local error decide on the step size.
    pub error_control: Option<ErrorControl>,
    /// What is corrected where the step size changes.
    pub step_change: StepChange,
    /// Starting values.
    pub start: Start,
    /// Mass matrix that goes with a_n where forces are balanced at two times.
    pub past_mass: PastMass,
    /// First guess of Newton's iteration.
    pub predictor: Predictor,
    /// Matrix of Newton's iteration.
    pub iteration_matrix: IterationMatrix,
    /// Relative tolerance of Newton's iteration, on the increment of a step and on scaled multipliers.
    pub newton_rtol: f64,
    /// Absolute tolerance of Newton's iteration, in units of the system's length and of 1 rad.
    pub newton_atol: f64,
    /// How much coarser multipliers may be than positions, relatively: they are shown but not carried on, so
    /// that the error of one step is none of the next.
    pub multiplier_slack: f64,
    /// Iterations and renewal of the matrix.
    pub newton: NewtonSettings,
    /// m_ave of the scaling s = k_ave + m_ave/h² [BottassoBauchauCardona2007, Eq. (28)]; from the system if
    /// absent.
    pub mass_scale: Option<f64>,
    /// k_ave of the scaling; from the system if absent.
    pub stiffness_scale: Option<f64>,
    /// Whether each step reports the condition number of its iteration matrix.
    pub report_condition: bool,
    /// Allows parameters on or beyond the limit of stability with constraints that hold for positions only.
    pub allow_unstable: bool,
}

impl Settings {
    /// The defaults for a method, its parameters and a step size.
    pub fn new(method: Method, parameters: Parameters, step: f64) -> Self {
        Self {
            method,
            parametrization: Parametrization::default(),
            form: Form::default(),
            scaling: Scaling::default(),
            parameters,
            step,
            error_control: None,
            step_change: StepChange::default(),
            start: Start::default(),
            past_mass: PastMass::default(),
            predictor: Predictor::default(),
            iteration_matrix: IterationMatrix::default(),
            newton_rtol: 1e-10,
            newton_atol: 1e-12,
            multiplier_slack: 1e3,
            newton: NewtonSettings::default(),
            mass_scale: None,
            stiffness_scale: None,
            report_condition: false,
            allow_unstable: false,
        }
    }
}

impl Settings {
    /// The defaults for a method and its parameters with a step size that the local error decides on.
    pub fn auto(method: Method, parameters: Parameters, control: ErrorControl) -> Self {
        let step = control.initial_step.unwrap_or(control.horizon);
        Self { error_control: Some(control), ..Self::new(method, parameters, step) }
    }
}
