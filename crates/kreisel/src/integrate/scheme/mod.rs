//! Methods: what the driver asks of one, and the table of them.
//!
//! A method is a file with its own past and one line in [`SCHEMES`]. It may be anything that takes steps;
//! those that solve for a step by Newton's iteration share [`implicit`], those of the generalized-α family
//! [`alpha`].

mod alpha;
mod auto;
mod bdf;
mod dop853;
mod explicit8;
mod extrapolated;
mod first_order;
mod force_level;
mod guess;
mod implicit;
mod index2;
mod index3;
mod lobatto;
mod option;
mod parameters;
mod past_multipliers;
mod soi2;
mod start;
mod stiffness;
mod symplectic;
mod updated_lagrangian;
mod work;

use std::sync::Arc;

use super::control::ErrorControl;
use super::error::{StartError, StateError, StepError};
use super::integration::KnownError;
use super::judge::{ErrorSize, Judge};
use super::settings::Settings;
use super::state::State;
use super::words::Words;
use crate::constrained::{Kkt, KktFailure};
use crate::dae::{Couplings, Dae, Notes, Shape, Values};
use crate::solve::newton::{NewtonCounts, NewtonFailure, NonlinearSystem};

pub(crate) use auto::chosen;
pub use auto::{AUTO, CHOICE};
pub use bdf::{BDF2, BDF3, Form, Scaling};
pub use explicit8::EXPLICIT8;
pub use extrapolated::{Columns, EXTRAPOLATED};
pub use force_level::{HHT_I3, PastMass};
pub(super) use implicit::{NewtonStep, kkt_error};
pub use index2::INDEX2;
pub use index3::INDEX3;
pub(crate) use option::{Chosen, OPTIONS};
pub use option::{MethodOption, OptionEntry};
pub use parameters::{ParameterError, Parameters, Stability};
pub use soi2::{HHT_SOI2, SOI2};
pub use symplectic::SYMPLECTIC;
pub use updated_lagrangian::{Parametrization, UPDATED_LAGRANGIAN};

/// All methods, in the order in which they are listed.
pub const SCHEMES: &[Method] = &[
    INDEX2,
    INDEX3,
    SOI2,
    HHT_I3,
    HHT_SOI2,
    UPDATED_LAGRANGIAN,
    BDF2,
    BDF3,
    EXPLICIT8,
    EXTRAPOLATED,
    SYMPLECTIC,
    AUTO,
];

/// A method: a line of [`SCHEMES`].
#[derive(Clone, Copy)]
pub struct Method(pub(super) &'static SchemeEntry);

/// What is known of a method before it has a system.
pub(super) struct SchemeEntry {
    /// Its word in model files.
    pub word: &'static str,
    /// What it does, in words that follow its word.
    pub doc: &'static str,
    /// Which parameters it has.
    pub family: Family,
    /// Whether velocity constraints are left to a residual B v ≈ h² B r, which the method then needs; without
    /// damping its multipliers grow without bound.
    pub leaves_hidden_residual: bool,
    /// Order of its errors in the size of the step, the least that its options leave; of a method that leaves
    /// the steps to others, the least of theirs.
    pub order: u32,
    /// C_q of its local error C_q h³ v̈ in q; absent for methods of another order.
    pub error_constant: Option<fn(&Parameters) -> f64>,
    /// The largest turn of a part in a step that it follows, in rad, where positions and rotations stand side
    /// by side.
    pub max_turn: f64,
    /// The same on SE(3), where positions turn with the part.
    pub max_turn_se3: f64,
    /// Whether steps must have one size.
    pub one_size: bool,
    /// What it lets the user choose beside what all methods do.
    pub options: &'static [&'static OptionEntry],
    /// Sets what it leaves no choice in.
    pub suit: fn(&mut Settings),
    pub new: NewScheme,
}

/// Makes a method for a system with these couplings.
type NewScheme = fn(&Tools, &Couplings) -> Result<Box<dyn Scheme>, StartError>;

/// Where the parameters of a method come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Chung and Hulbert's, by a spectral radius.
    ChungHulbert,
    /// Hilber, Hughes and Taylor's, with α_m = 0.
    Hht,
    /// It has none: the highest frequencies vanish.
    Fixed,
}

impl Method {
    /// Its word in model files.
    pub const fn word(self) -> &'static str {
        self.0.word
    }

    /// What it does, in words that follow its word.
    pub const fn doc(self) -> &'static str {
        self.0.doc
    }

    /// Whether its steps must have one size, so that the error cannot choose them.
    pub const fn needs_one_size(self) -> bool {
        self.0.one_size
    }

    /// Order of its errors in the size of the step.
    pub const fn order(self) -> u32 {
        self.0.order
    }

    /// Where its parameters come from.
    pub const fn family(self) -> Family {
        self.0.family
    }
}

impl Words for Method {
    const ALL: &'static [Self] = SCHEMES;
    const WORDS: &'static [&'static str] = &{
        let mut words = [""; SCHEMES.len()];
        let mut place = 0;
        while place < words.len() {
            words[place] = SCHEMES[place].word();
            place += 1;
        }
        words
    };

    fn word(self) -> &'static str {
        Method::word(self)
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Method {}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What every method works with.
pub(super) struct Tools<'d> {
    pub dae: &'d dyn Dae,
    pub shape: Arc<Shape>,
    pub settings: Settings,
    pub kkt: Kkt,
    pub judge: Judge,
    /// What the user should know of the steps so far.
    pub notes: Notes,
    /// The method that takes the steps: that of the settings, unless it leaves them to others.
    pub stepper: Method,
    /// Which method was chosen and why, if the one of the settings chooses.
    pub choice: Option<String>,
    /// Work that is counted neither by [`Scheme::newton`] nor, for methods without it, by the equations of
    /// accelerations.
    pub counts: NewtonCounts,
    /// What the method knows of its error after the step that was computed last.
    pub known_error: Option<KnownError>,
}

impl Tools<'_> {
    /// Leaves the steps to a method.
    pub fn leave_to(&mut self, method: Method) {
        self.stepper = method;
        self.judge = Judge::new(&self.shape, method);
    }
}

/// Values at the end of a step that is not taken yet, and the increment x = h Δq_n that leads there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trial {
    pub values: Values,
    pub increment: Vec<f64>,
}

impl Trial {
    pub fn new(shape: &Shape) -> Self {
        Self { values: Values::zeros(shape), increment: vec![0.0; shape.velocity_count()] }
    }
}

/// Where and how a method starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StartPoint {
    /// Time at which the equations are evaluated: it may lie a rounding error after the present one.
    pub time: f64,
    pub side: Side,
}

/// From which side of the present time derivatives are differenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From both: the inputs are smooth here.
    Both,
    /// From later times only: the inputs may have a corner or jump here.
    After,
}

/// How an integration goes on after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// With the next step.
    GoOn,
    /// With a start from the present values: another method takes over, or what was computed is lost in
    /// rounding.
    Start,
}

/// One thing that a method carries from step to step. Arrays have the length that belongs to the system.
pub(super) enum Item<'a> {
    Number(&'a mut f64),
    Flag(&'a mut bool),
    Byte(&'a mut u8),
    Numbers(&'a mut Vec<f64>),
    Indices(&'a mut Option<Vec<usize>>),
}

/// A method of time integration, with its past.
///
/// The driver owns the solution, the clock and the choice of the step size. The state does not change in an
/// attempt: a step that is not taken leaves nothing behind.
pub(super) trait Scheme: Send + Sync {
    /// Makes room for a system with other couplings; what is carried stays.
    fn fit(&mut self, on: &Tools, couplings: &Couplings) {
        let _ = (on, couplings);
    }

    /// Starts from consistent positions and velocities, for a first step of a size. Sets accelerations,
    /// multipliers, internal states and their rates.
    fn start(
        &mut self,
        on: &mut Tools,
        state: &mut State,
        step: f64,
        at: StartPoint,
    ) -> Result<(), KktFailure>;

    /// Computes a step; gives the iterations it took.
    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError>;

    /// Takes what the next step needs of the one that was computed last; the state is the one before it.
    fn accept(&mut self, on: &mut Tools, state: &State, step: f64, trial: &Trial) -> Next {
        let _ = (on, state, step, trial);
        Next::GoOn
    }

    /// Error of the step that was computed last, in units of what a step may add.
    fn error(
        &mut self,
        on: &Tools,
        state: &State,
        step: f64,
        trial: &Trial,
        control: &ErrorControl,
    ) -> ErrorSize;

    /// Names everything that is carried, always in the same order.
    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let _ = each;
    }

    /// Makes again what is not carried, after the history was restored.
    fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
        let _ = (on, state);
        Ok(())
    }

    /// Shows the equations of a step to someone who solves them instead; `None` for explicit methods.
    fn solve_with(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
        solve: &mut dyn FnMut(&mut dyn NonlinearSystem) -> Result<(), NewtonFailure>,
    ) -> Option<Result<(), StepError>> {
        let _ = (on, state, step, trial, solve);
        None
    }

    /// Newton's iteration, of methods that have one.
    fn newton(&mut self) -> Option<&mut NewtonStep> {
        None
    }

    /// Puts what it knows better than the driver in place of its values within a step.
    fn interpolate(&mut self, on: &mut Tools, within: &super::Ends, time: f64, out: &mut Values) {
        let _ = (on, within, time, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Integrator, Settings};
    use super::*;
    use crate::dae::coupled::Coupled;
    use crate::lie::Group;

    /// Two methods, the second of which takes over after some steps.
    struct Relay {
        runners: [Box<dyn Scheme>; 2],
        steps: u8,
    }

    const FIRST_STEPS: u8 = 5;

    const RELAY: Method = Method(&SchemeEntry {
        word: "relay",
        doc: "hands over",
        family: Family::ChungHulbert,
        leaves_hidden_residual: true,
        order: 2,
        error_constant: Some(Parameters::position_error_constant),
        max_turn: 1.0,
        max_turn_se3: 1.0,
        one_size: false,
        options: &[],
        suit: |_| {},
        new: |on, couplings| {
            let runners = [(INDEX3.0.new)(on, couplings)?, (INDEX2.0.new)(on, couplings)?];
            Ok(Box::new(Relay { runners, steps: 0 }))
        },
    });

    impl Relay {
        fn runner(&mut self) -> &mut dyn Scheme {
            &mut *self.runners[usize::from(self.steps >= FIRST_STEPS)]
        }
    }

    impl Scheme for Relay {
        fn start(
            &mut self,
            on: &mut Tools,
            state: &mut State,
            step: f64,
            at: StartPoint,
        ) -> Result<(), KktFailure> {
            self.runner().start(on, state, step, at)
        }

        fn attempt(
            &mut self,
            on: &mut Tools,
            state: &State,
            step: f64,
            trial: &mut Trial,
        ) -> Result<usize, StepError> {
            self.runner().attempt(on, state, step, trial)
        }

        fn accept(&mut self, on: &mut Tools, state: &State, step: f64, trial: &Trial) -> Next {
            let next = self.runner().accept(on, state, step, trial);
            self.steps = self.steps.saturating_add(1);
            if self.steps == FIRST_STEPS { Next::Start } else { next }
        }

        fn error(
            &mut self,
            on: &Tools,
            state: &State,
            step: f64,
            trial: &Trial,
            control: &ErrorControl,
        ) -> ErrorSize {
            self.runner().error(on, state, step, trial, control)
        }

        fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
            each("steps", Item::Byte(&mut self.steps));
            self.runners.iter_mut().for_each(|runner| runner.history(each));
        }

        fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
            self.runner().resume(on, state)
        }
    }

    #[test]
    fn a_method_may_hand_over_to_another_and_loses_no_order() {
        let coupled = Coupled::new(Group::Se3);
        let end = |method: Method, step: f64| {
            let settings = Settings::new(method, Parameters::chung_hulbert(0.6).unwrap(), step);
            let mut run = Integrator::with(settings).start(&coupled, coupled.initial()).unwrap();
            run.advance(0.1).unwrap();
            // The one that took over keeps the velocity constraints, and has its own past.
            let has_stabilizers =
                run.carried("stabilizers").is_some_and(|eta| eta.iter().any(|eta| *eta != 0.0));
            assert!(has_stabilizers, "{method:?}");
            run.values().multipliers[0]
        };
        let exact = end(INDEX2, 1e-4);
        let errors = [4e-3, 2e-3].map(|step| (end(RELAY, step) - exact).abs());
        assert!(errors[0] / errors[1] > 3.5, "{errors:?}");
    }

    #[test]
    fn a_run_is_taken_up_again_on_either_side_of_the_change() {
        let coupled = Coupled::new(Group::Se3);
        let settings = Settings::new(RELAY, Parameters::chung_hulbert(0.6).unwrap(), 1e-3);
        for before in [3, 5, 8] {
            let mut whole = Integrator::with(settings).start(&coupled, coupled.initial()).unwrap();
            for _ in 0..before {
                whole.step().unwrap();
            }
            let mut resumed = Integrator::with(settings).resume(&coupled, &whole.save()).unwrap();
            for _ in 0..6 {
                whole.step().unwrap();
                resumed.step().unwrap();
            }
            assert_eq!(whole.values(), resumed.values(), "after {before} steps");
        }
    }
}
