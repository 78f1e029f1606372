//! What a user chooses: method, parameters, step, starting values, Newton.

use super::control::ErrorControl;
use super::scheme::{Chosen, Method, MethodOption, Parameters, Side};
use super::words::words;
use crate::solve::newton::{NewtonSettings, Refresh, Stop};

words! {
    Start {
        OrderPreserving = "order-preserving",
        ImprovedAcceleration = "improved-acceleration",
        Implicit = "implicit",
        Trivial = "trivial",
    }
    Predictor {
        Adaptive = "adaptive",
        LinearAcceleration = "linear",
        ConstantAcceleration = "constant",
        ZeroAcceleration = "zero",
    }
    IterationMatrix { Mixed = "mixed", Exact = "exact", Simplified = "simplified" }
    Refresh {
        WhenCheaper = "when-cheaper",
        WhenSlow = "when-slow",
        EveryStep = "every-step",
        EveryIteration = "every-iteration",
    }
    Stop {
        EstimatedError = "estimated-error",
        SmallIncrement = "small-increment",
        SmallResidual = "small-residual",
    }
}

/// Starting values of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub enum IterationMatrix {
    /// The exact derivative, but with section forces of beams as unknowns of their own: their geometric
    /// stiffness follows the forces of the last step and the corrections since, not those of a first guess
    /// that stretches them [MagisanoLeonettiGarcea2017, Sec. 3]. The limit is the exact derivative, and so is
    /// every matrix without beams.
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

/// Everything that determines a run apart from system and initial values: a method with its parameters and a
/// step, and what is chosen differently from the defaults.
///
/// ```
/// use kreisel::integrate::{BDF2, Form, Parameters, Settings};
///
/// let settings = Settings::new(BDF2, Parameters::chung_hulbert(0.0)?, 1e-3)
///     .with_option(Form::ThreeField)
///     .with_newton_tolerances(1e-12, 1e-14);
/// assert_eq!((settings.step(), settings.newton_rtol()), (1e-3, 1e-12));
/// # Ok::<(), kreisel::integrate::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub(crate) method: Method,
    pub(crate) options: Chosen,
    pub(crate) parameters: Parameters,
    pub(crate) step: f64,
    pub(crate) error_control: Option<ErrorControl>,
    pub(crate) step_change: StepChange,
    pub(crate) start: Start,
    pub(crate) predictor: Predictor,
    pub(crate) iteration_matrix: IterationMatrix,
    pub(crate) newton_rtol: f64,
    pub(crate) newton_atol: f64,
    pub(crate) multiplier_slack: f64,
    pub(crate) newton: NewtonSettings,
    pub(crate) residual_tolerances: [f64; 2],
    pub(crate) mass_scale: Option<f64>,
    pub(crate) stiffness_scale: Option<f64>,
    pub(crate) report_condition: bool,
    pub(crate) allow_unstable: bool,
    /// Whether forces must not be asked about times before the start: starting values look ahead only.
    pub(crate) has_no_past: bool,
}

impl Settings {
    /// The defaults for a method, its parameters and a step size.
    pub fn new(method: Method, parameters: Parameters, step: f64) -> Self {
        Self {
            method,
            options: Chosen::default(),
            parameters,
            step,
            error_control: None,
            step_change: StepChange::default(),
            start: Start::default(),
            predictor: Predictor::default(),
            iteration_matrix: IterationMatrix::default(),
            newton_rtol: 1e-10,
            newton_atol: 1e-12,
            multiplier_slack: 1e3,
            newton: NewtonSettings::default(),
            residual_tolerances: [0.0; 2],
            mass_scale: None,
            stiffness_scale: None,
            report_condition: false,
            allow_unstable: false,
            has_no_past: false,
        }
    }

    /// The defaults for a method and its parameters with a step size that the local error decides on.
    pub fn auto(method: Method, parameters: Parameters, control: ErrorControl) -> Self {
        let step = control.initial_step.unwrap_or(control.horizon);
        Self::new(method, parameters, step).with_error_control(control)
    }

    /// The same with what the method leaves no choice in: one that chooses by the settings alone has chosen.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        (self.method.0.suit)(&mut self);
        self
    }

    /// Where the evaluations lie from which starting values are found at the first time.
    pub(super) fn first_side(&self) -> Side {
        if self.has_no_past { Side::After } else { Side::Both }
    }

    /// C_q of the local error C_q h³ v̈ in q; absent for methods of another order than two.
    pub fn error_constant(&self) -> Option<f64> {
        self.method.0.error_constant.map(|constant| constant(&self.parameters))
    }

    /// What was chosen of an option that only some methods have: `settings.option::<Form>()`.
    pub fn option<O: MethodOption>(&self) -> O {
        self.options.get()
    }

    /// The same with a choice of an option; without effect on methods that do not have it.
    #[must_use]
    pub fn with_option<O: MethodOption>(mut self, value: O) -> Self {
        self.options.set(value);
        self
    }

    /// The same with other tolerances of Newton's iteration: relative, then absolute.
    #[must_use]
    pub fn with_newton_tolerances(self, rtol: f64, atol: f64) -> Self {
        Self { newton_rtol: rtol, newton_atol: atol, ..self }
    }

    /// The same with an iteration that ends as soon as ‖r‖ and ‖Φ‖ are below these, looked at before each
    /// solve [BrulsCardonaArnold2012, Table 1]; r as the system gives it, in N and N m, Φ in m and rad.
    #[must_use]
    pub fn with_residual_tolerances(mut self, balance: f64, violation: f64) -> Self {
        self.newton.stop = Stop::SmallResidual;
        self.residual_tolerances = [balance, violation];
        self
    }

    /// The same with another time to renew the matrix of Newton's iteration.
    #[must_use]
    pub fn with_refresh(mut self, refresh: Refresh) -> Self {
        self.newton.refresh = refresh;
        self
    }

    /// Key and word of each option of the method.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let chosen = self.options;
        self.method.0.options.iter().map(move |option| (option.key, chosen.word(option)))
    }
}

/// Shows fields by functions of their names.
macro_rules! getters {
    ($($(#[$doc:meta])+ $field:ident: $type:ty;)+) => {
        impl Settings {$(
            $(#[$doc])+
            pub fn $field(&self) -> $type {
                self.$field
            }
        )+}
    };
}

/// Changes fields by functions that can follow each other.
macro_rules! changes {
    ($($with:ident, $field:ident: $type:ty;)+) => {
        impl Settings {$(
            #[doc = concat!("The same with another [`", stringify!($field), "`](Settings::", stringify!($field), ").")]
            #[must_use]
            pub fn $with(mut self, $field: impl Into<$type>) -> Self {
                self.$field = $field.into();
                self
            }
        )+}
    };
}

getters! {
    /// Method.
    method: Method;
    /// Parameters of the generalized-α family; without effect on `bdf2`, `bdf3` and `explicit8`.
    parameters: Parameters;
    /// Step size h in s; with error control only a size to start from.
    step: f64;
    /// Lets the local error decide on the step size.
    error_control: Option<ErrorControl>;
    /// What is corrected where the step size changes.
    step_change: StepChange;
    /// Starting values.
    start: Start;
    /// First guess of Newton's iteration.
    predictor: Predictor;
    /// Matrix of Newton's iteration.
    iteration_matrix: IterationMatrix;
    /// Relative tolerance of Newton's iteration, on the increment of a step and on scaled multipliers.
    newton_rtol: f64;
    /// Absolute tolerance of Newton's iteration, in units of the system's length and of 1 rad.
    newton_atol: f64;
    /// How much coarser multipliers may be than positions, relatively: they are shown but not carried on, so
    /// that an error of one step does not reach the next.
    multiplier_slack: f64;
    /// Iterations and renewal of the matrix.
    newton: NewtonSettings;
    /// Sizes of ‖r‖ and ‖Φ‖ below which the iteration ends where it stops by the residual.
    residual_tolerances: [f64; 2];
    /// m_ave of the scaling s = k_ave + m_ave/h² [BottassoBauchauCardona2007, Eq. (28)]; from the system if
    /// absent.
    mass_scale: Option<f64>;
    /// k_ave of the scaling; from the system if absent.
    stiffness_scale: Option<f64>;
    /// Whether each step reports the condition number of its iteration matrix.
    report_condition: bool;
    /// Allows parameters on or beyond the limit of stability with constraints that hold for positions only.
    allow_unstable: bool;
}

changes! {
    with_method, method: Method;
    with_parameters, parameters: Parameters;
    with_step, step: f64;
    with_error_control, error_control: Option<ErrorControl>;
    with_step_change, step_change: StepChange;
    with_start, start: Start;
    with_predictor, predictor: Predictor;
    with_iteration_matrix, iteration_matrix: IterationMatrix;
    with_multiplier_slack, multiplier_slack: f64;
    with_newton, newton: NewtonSettings;
    with_mass_scale, mass_scale: Option<f64>;
    with_stiffness_scale, stiffness_scale: Option<f64>;
    with_report_condition, report_condition: bool;
    with_allow_unstable, allow_unstable: bool;
}
