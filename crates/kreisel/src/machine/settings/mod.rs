//! How a machine is run: what can be said of it is the [table](SETTINGS), what was said [`RunSettings`], and
//! with nothing left open it is a [`RunPlan`].

mod method;
mod table;
mod texts;
mod words;

pub use table::{Flag, Given, SETTINGS, Setting};
pub(crate) use table::{KIND, read};
pub use texts::SettingTexts;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::integrate::{ErrorControl, INDEX2, LEAST_OF_SECOND_ORDER, Parameters, Settings, chosen};
use crate::lie::{Group, Vector3};
use crate::model::document::Part;
use crate::model::scope::ParameterValues;
use crate::model::{PartReader, Place, Reference};

/// What `[simulation]` and the command line say, with the defaults filled in; with nothing left open it is a
/// [`RunPlan`]. Others are chosen where a machine is read: [`MachineReader::with_setting`].
///
/// [`MachineReader::with_setting`]: crate::part::MachineReader::with_setting
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// Time at which the run starts, in s.
    pub(crate) start_time: f64,
    /// Time at which the run ends, in s; absent if neither the model nor the command line says it.
    pub(crate) end_time: Option<f64>,
    /// Step size; absent if not given, and then the error decides.
    pub(crate) step: Option<StepSize>,
    /// Accuracy of the whole run, where the error decides on steps and they keep to no tolerance of their
    /// own.
    pub(crate) accuracy: f64,
    /// What has this accuracy.
    pub(crate) accuracy_of: AccuracyOf,
    /// Whether a tolerance is given that steps keep to one by one.
    pub(crate) is_local: bool,
    /// Relative tolerance of a step size that the error decides on.
    pub(crate) rtol: f64,
    /// Absolute tolerance of it, in rad and in units of the machine's length.
    pub(crate) atol: f64,
    /// Smallest step in s; absent for a very small part of the run.
    pub(crate) min_step: Option<f64>,
    /// Largest step in s; absent for a tenth of the run.
    pub(crate) max_step: Option<f64>,
    /// First step in s; absent to have it chosen.
    pub(crate) initial_step: Option<f64>,
    /// Distance of output times in s; absent for a thousandth of the run with an accuracy, and for every step
    /// without.
    pub(crate) output_step: Option<f64>,
    /// Method with its options and parameters, tolerances of Newton's iteration, scaling of forces; its step
    /// is that of the plan.
    pub(crate) integrator: Settings,
    /// Spectral radius ρ∞ from which the parameters were made.
    pub(crate) spectral_radius: f64,
    /// Group of bodies that do not name their own.
    pub(crate) group: BodyGroup,
    /// Plane in which the machine stays.
    pub(crate) plane: Option<Plane>,
    /// Times at which velocities are projected onto the hidden constraints, in s.
    pub(crate) velocity_projection: Vec<f64>,
    /// Parts that are switched off when the run starts.
    pub(crate) off_at_start: Vec<Reference>,
    /// Whether the usual sensors are recorded beside those of the model.
    pub(crate) default_sensors: bool,
    /// Where the run starts.
    pub(crate) start: StartFrom,
    /// Whether runs with larger steps tell how large the error is.
    pub(crate) error_estimate: bool,
}

/// What an accuracy is of: positions and angles always, and what is named beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccuracyOf {
    /// Positions and angles.
    #[default]
    Positions,
    /// Velocities, too.
    Velocities,
    /// Reactions, too.
    Reactions,
    /// Velocities and reactions, too.
    All,
}

impl AccuracyOf {
    /// Whether velocities are named.
    pub fn names_velocities(self) -> bool {
        matches!(self, Self::Velocities | Self::All)
    }

    /// Whether reactions are named.
    pub fn names_reactions(self) -> bool {
        matches!(self, Self::Reactions | Self::All)
    }
}

/// Where a run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartFrom {
    /// At the positions of the model.
    #[default]
    Given,
    /// At the equilibrium under the loads at the start time, with the velocities of the model.
    Static,
}

/// A plane of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// x and y.
    Xy,
    /// x and z.
    Xz,
    /// y and z.
    Yz,
}

impl Plane {
    /// The direction across it.
    pub fn normal(self) -> Vector3 {
        match self {
            Self::Xy => Vector3::z(),
            Self::Xz => Vector3::y(),
            Self::Yz => Vector3::x(),
        }
    }
}

/// Group of a body that can turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyGroup {
    /// Rigid motions.
    #[default]
    Se3,
    /// Rotations and positions side by side.
    So3xR3,
}

impl From<BodyGroup> for Group {
    fn from(group: BodyGroup) -> Self {
        match group {
            BodyGroup::Se3 => Self::Se3,
            BodyGroup::So3xR3 => Self::So3xR3,
        }
    }
}

/// How large steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepSize {
    /// All of them, in s.
    Fixed(f64),
    /// As the local error decides.
    Auto,
}

/// Output times of a run with an accuracy when their distance is not given; and a run by the error is taken
/// to have so many steps until they show.
const PARTS: f64 = 1000.0;

/// Tolerance of single steps in parts of the accuracy that was asked for, where only steps are controlled. A
/// choice: errors of steps add up, by how much is not looked at there.
const LOCAL_PART: f64 = 0.1;

/// Smallest step that the error may ask for when none is given, as a part of the run. As many equal steps
/// would take longer than anybody waits; the time still resolves them.
const MIN_PART: f64 = 1e-10;

/// Largest step that the error may allow when none is given, as a part of the run: ten steps at least look at
/// what happens in it.
const MAX_PART: f64 = 0.1;

/// Most steps of one run: beyond, a misplaced digit is likelier than patience.
const MAX_STEPS: f64 = 1e10;

/// Steps below this, in s, have squares that are zero.
const MIN_STEP: f64 = 1e-100;

/// Why a machine cannot be run with its settings.
#[derive(Clone, Copy, Error, PartialEq)]
#[non_exhaustive]
pub enum SettingsError {
    /// It is not said when the run ends.
    #[error("the model does not say when the run ends")]
    NoEndTime,
    /// The run would end before it starts.
    #[error("the run would end at {end} s, before it starts at {start} s")]
    EndBeforeStart {
        /// Start in s.
        start: f64,
        /// End in s.
        end: f64,
    },
    /// The limits of a variable step leave nothing between them.
    #[error("the smallest step, {min} s, is larger than the largest, {max} s")]
    StepLimits {
        /// Smallest step in s.
        min: f64,
        /// Largest step in s.
        max: f64,
    },
    /// So small a step that the run has no end in sight, or that it is lost in rounding.
    #[error("a step of {step:e} s is too small for a run of {length} s")]
    TooManySteps {
        /// Step in s.
        step: f64,
        /// Length of the run in s.
        length: f64,
    },
    /// A tolerance of steps that rounding exceeds.
    #[error("the tolerance {tolerance:e} of steps is below {least:e}, where rounding decides on the error")]
    BelowRounding {
        /// The tolerance.
        tolerance: f64,
        /// The least that makes sense.
        least: f64,
    },
    /// A step that does not fit into the run.
    #[error("a step of {step} s is longer than the run of {length} s")]
    StepTooLong {
        /// Step in s.
        step: f64,
        /// Length of the run in s.
        length: f64,
    },
}

shown_by_message!(SettingsError);

impl SettingsError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoEndTime => "add `end-time = \"10 s\"` to `[simulation]`, or use --end-time",
            Self::EndBeforeStart { .. } => "choose a later `end-time`, or an earlier `start-time`",
            Self::StepLimits { .. } => "choose a smaller `min-step` or a larger `max-step`",
            Self::TooManySteps { .. } => "choose a larger `step`, or leave it out",
            Self::BelowRounding { .. } => {
                "choose a larger `rtol`, or the method `explicit8` for so small errors"
            }
            Self::StepTooLong { .. } => "choose a smaller `step` or a later `end-time`, or leave `step` out",
        }
    }
}

/// Settings with nothing left open.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunPlan {
    /// Start in s.
    pub start_time: f64,
    /// End in s.
    pub end_time: f64,
    /// Distance of output times in s; absent for every step.
    pub output_step: Option<f64>,
    /// Settings of the integrator, the step among them.
    pub integration: Settings,
    /// Accuracy of the whole run, in lengths of the machine or of how far it moves and in rad; the tolerance
    /// of its steps is then found from coarser runs. Absent where it keeps to the one that it has. See
    /// [`RunPlan::locally`].
    pub accuracy: Option<f64>,
    /// What has this accuracy; velocities and reactions in parts of their largest values.
    pub accuracy_of: AccuracyOf,
    /// Whether runs with larger steps tell how large the error is.
    pub error_estimate: bool,
    /// Times at which velocities are projected onto the hidden constraints, in s.
    pub velocity_projection: Vec<f64>,
    /// What was chosen because it was not given.
    pub assumptions: Vec<String>,
}

impl RunPlan {
    /// The plan of a run that is made once, though an accuracy is asked for: its steps keep to a tolerance
    /// one by one. It says so, with the reason.
    #[must_use]
    pub fn locally(mut self, reason: &str) -> Self {
        if let (Some(accuracy), Some(control)) = (self.accuracy.take(), &self.integration.error_control) {
            let rtol = control.rtol;
            self.assumptions = vec![format!(
                "steps keep to `rtol` {rtol:e} one by one, without a look at the whole run, whose accuracy was to be {accuracy:e}: {reason}"
            )];
        }
        self
    }
}

impl RunSettings {
    /// Time at which the run starts, in s.
    pub fn start_time(&self) -> f64 {
        self.start_time
    }

    /// Time at which the run ends, in s; absent if not given.
    pub fn end_time(&self) -> Option<f64> {
        self.end_time
    }

    /// Step size; absent if not given, and then the error decides.
    pub fn step(&self) -> Option<StepSize> {
        self.step
    }

    /// Distance of output times in s, if given.
    pub fn output_step(&self) -> Option<f64> {
        self.output_step
    }

    /// Method with its options and parameters, tolerances of Newton's iteration, scaling of forces; its step
    /// is that of the plan.
    pub fn integrator(&self) -> &Settings {
        &self.integrator
    }

    /// Group of bodies that do not name their own.
    pub fn group(&self) -> BodyGroup {
        self.group
    }

    /// The plane in which the machine stays.
    pub fn plane(&self) -> Option<Plane> {
        self.plane
    }

    /// Where the run starts.
    pub fn start(&self) -> StartFrom {
        self.start
    }

    /// Fills in what is left open.
    pub fn plan(&self) -> Result<RunPlan, SettingsError> {
        let (start, end) = (self.start_time, self.end_time.ok_or(SettingsError::NoEndTime)?);
        let length = end - start;
        if length.is_nan() || length <= 0.0 {
            return Err(SettingsError::EndBeforeStart { start, end });
        }
        let mut assumptions = Vec::new();
        let integration = match self.step {
            // A hundred steps of a hundredth are as long as the run, but for their rounding.
            Some(StepSize::Fixed(step)) if step > length * (1.0 + 1e-9) => {
                return Err(SettingsError::StepTooLong { step, length });
            }
            Some(StepSize::Fixed(step)) => self.integration(step),
            Some(StepSize::Auto) | None => {
                let control = self.error_control(length)?;
                let first = control.initial_step.unwrap_or(length / PARTS);
                Settings { error_control: Some(control), ..self.integration(first) }
            }
        };
        if self.step.is_none() {
            assumptions.push(format!("steps are such that the run is accurate to {:e}", self.accuracy));
        }
        let accuracy = self.accuracy();
        let output_step = self.output_step.or(accuracy.map(|_| length / PARTS));
        let integration = integration.settled();
        if integration.method != self.integrator.method {
            assumptions.push(chosen(integration.method, ", since steps are of one size"));
        }
        self.check_tolerance(&integration)?;
        let least = (1e3 * f64::EPSILON * start.abs().max(end.abs())).max(MIN_STEP);
        for step in [Some(integration.step), output_step].into_iter().flatten() {
            if length / step > MAX_STEPS || step < least {
                return Err(SettingsError::TooManySteps { step, length });
            }
        }
        Ok(RunPlan {
            start_time: start,
            end_time: end,
            output_step,
            integration,
            accuracy,
            accuracy_of: self.accuracy_of,
            error_estimate: self.error_estimate,
            velocity_projection: self.velocity_projection.clone(),
            assumptions,
        })
    }

    /// Errors of second order do not show what rounding makes of a step.
    fn check_tolerance(&self, integration: &Settings) -> Result<(), SettingsError> {
        let Some(control) = integration.error_control.filter(|_| self.is_local) else { return Ok(()) };
        let (tolerance, least) = (control.rtol + control.atol, LEAST_OF_SECOND_ORDER);
        let is_second = integration.error_constant().is_some();
        if is_second && tolerance < least {
            Err(SettingsError::BelowRounding { tolerance, least })
        } else {
            Ok(())
        }
    }

    /// Whether the error decides on steps.
    fn is_by_error(&self) -> bool {
        !matches!(self.step, Some(StepSize::Fixed(_)))
    }

    /// Accuracy of the whole run; absent where steps are fixed or keep to a tolerance of their own.
    pub fn accuracy(&self) -> Option<f64> {
        (self.is_by_error() && !self.is_local).then_some(self.accuracy)
    }

    /// What a step size by the error keeps to in a run of a length.
    fn error_control(&self, length: f64) -> Result<ErrorControl, SettingsError> {
        let max = self.max_step.unwrap_or(MAX_PART * length).max(self.min_step.unwrap_or(0.0));
        let min = self.min_step.unwrap_or((MIN_PART * length).min(max));
        if let (Some(min), Some(max)) = (self.min_step, self.max_step)
            && min > max
        {
            return Err(SettingsError::StepLimits { min, max });
        }
        Ok(ErrorControl {
            rtol: self.accuracy().map_or(self.rtol, |accuracy| LOCAL_PART * accuracy),
            atol: self.atol,
            min_step: min,
            max_step: max,
            initial_step: self.initial_step,
            horizon: length,
            turn_part: 1.0,
            goal: self.accuracy().unwrap_or(self.rtol),
        })
    }

    /// Settings of the integrator for a step.
    pub fn integration(&self, step: f64) -> Settings {
        Settings { step, ..self.integrator }
    }

    /// The settings in the words of the model file, for `run.json`.
    pub fn words(&self, plan: &RunPlan) -> Map<String, Value> {
        table::show(self, plan)
    }

    /// Something for the rows of the table to fill.
    fn blank() -> Self {
        let parameters = Parameters::chung_hulbert(1.0).expect("1 is a spectral radius");
        Self {
            start_time: 0.0,
            end_time: None,
            step: None,
            accuracy: 0.0,
            accuracy_of: AccuracyOf::default(),
            is_local: false,
            rtol: 0.0,
            atol: 0.0,
            min_step: None,
            max_step: None,
            initial_step: None,
            output_step: None,
            integrator: Settings::new(INDEX2, parameters, 1.0),
            spectral_radius: 1.0,
            group: BodyGroup::default(),
            plane: None,
            velocity_projection: Vec::new(),
            off_at_start: Vec::new(),
            default_sensors: true,
            start: StartFrom::default(),
            error_estimate: false,
        }
    }
}

/// What the table says where nothing is given.
impl Default for RunSettings {
    fn default() -> Self {
        let nothing = Part::empty(&KIND, Place::default(), ParameterValues::new());
        let read = PartReader::new(&nothing).and_then(|reader| read(&reader));
        read.expect("the defaults of the table suit each other")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::possible_radii;

    #[test]
    fn without_a_step_a_run_has_an_accuracy_and_a_thousand_output_times_and_says_so() {
        let settings = RunSettings { end_time: Some(2.0), ..RunSettings::default() };
        let plan = settings.plan().unwrap();
        assert_eq!((plan.accuracy, plan.output_step), (Some(1e-3), Some(0.002)));
        assert!(plan.assumptions[0].contains("1e-3"), "{:?}", plan.assumptions);
        let fixed = RunSettings { step: Some(StepSize::Fixed(0.1)), ..settings }.plan().unwrap();
        assert_eq!((fixed.accuracy, fixed.output_step), (None, None));
        assert_eq!(fixed.assumptions, ["the method is `index2`, since steps are of one size"]);
    }

    #[test]
    fn sentences_of_keys_name_the_numbers_of_the_step_control() {
        let doc =
            |name: &str| SETTINGS.iter().find(|setting| setting.key.name == name).map(|found| found.key.doc);
        let radii = possible_radii();
        let most = radii.split(" with").next().unwrap_or_default();
        assert!(doc("spectral-radius").is_some_and(|doc| doc.contains(most)), "{most}");
        let first = format!("{:.1} %", ErrorControl::new(1e-3, 100.0).first_step());
        assert!(doc("initial-step").is_some_and(|doc| doc.contains(&first)), "{first}");
    }

    #[test]
    fn a_run_without_end_or_of_endless_steps_is_refused() {
        let settings = RunSettings::default();
        assert_eq!(settings.plan(), Err(SettingsError::NoEndTime));
        let backwards = RunSettings { start_time: 2.0, end_time: Some(1.0), ..settings.clone() };
        assert!(matches!(backwards.plan(), Err(SettingsError::EndBeforeStart { .. })));
        let endless =
            RunSettings { end_time: Some(1.0), step: Some(StepSize::Fixed(1e-300)), ..settings.clone() };
        assert!(matches!(endless.plan(), Err(SettingsError::TooManySteps { .. })));
        let lost = RunSettings {
            start_time: 1e9,
            end_time: Some(1e9 + 1.0),
            step: Some(StepSize::Fixed(1e-7)),
            ..settings
        };
        assert!(matches!(lost.plan(), Err(SettingsError::TooManySteps { .. })));
        let long =
            RunSettings { end_time: Some(0.5), step: Some(StepSize::Fixed(0.6)), ..RunSettings::default() };
        assert_eq!(long.plan(), Err(SettingsError::StepTooLong { step: 0.6, length: 0.5 }));
    }

    #[test]
    fn a_step_by_the_error_has_limits_that_follow_from_the_run() {
        let settings =
            RunSettings { end_time: Some(5.0), is_local: true, rtol: 1e-3, ..RunSettings::default() };
        let control = settings.plan().unwrap().integration.error_control.unwrap();
        assert_eq!((control.horizon, control.rtol, control.max_step), (5.0, 1e-3, 0.5));
        let crossed = RunSettings { min_step: Some(0.2), max_step: Some(0.1), ..settings };
        assert_eq!(crossed.plan(), Err(SettingsError::StepLimits { min: 0.2, max: 0.1 }));
    }
}
