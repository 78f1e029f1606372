//! A method that chooses between two: `explicit8` where nothing is stiff, `index2` elsewhere.
//!
//! Explicit steps of high order cost a fraction of implicit ones of second order where much accuracy is
//! wanted, until stability bounds them: then they cost 2 ω factorisations for each second, with the fastest
//! rate ω of the machine, whatever is wanted. The choice is made at the start, by the error that is wanted,
//! by what the machine has and by its fastest rate, and again where that changes.
//!
//! Where little accuracy is wanted `index2` is as good. Factorisations of all runs by which an accuracy is
//! reached, `explicit8` over `index2`, geometric mean of 23 smooth models; and the same weighted with what
//! they cost: one of `explicit8`, of masses and constraints alone, takes 0.37 of the time of one of `index2`
//! (chain of 100 hinges, row of 40 four-bars):
//!
//! | accuracy | 1e-2 | 3e-3 | 1e-3 | 1e-4 | 1e-5 |
//! |---|---|---|---|---|---|
//! | factorisations | 4.0 | 2.9 | 1.8 | 0.8 | 0.3 |
//! | weighted | 1.5 | 1.1 | 0.7 | 0.3 | 0.1 |
//!
//! Where accelerations have to be iterated, as with algebraic states and with friction by normal forces, each
//! takes two factorisations and four evaluations at least. With work that grows with the power 1/8 of the
//! accuracy in place of 1/2, four to eight times the work moves the limit by 40 to 256 times;
//! `active-suspension` and `dc-motor-crank` break even near 1e-5.
//!
//! Both methods keep to the same `rtol`, and both end with errors of about as much: 0.3 rtol^(3/2) in each of
//! about rtol^(−1/2) steps of second order, rtol in each of a few steps of order 8. So nothing is lost where
//! one hands over to the other: it starts from positions and velocities of that accuracy, with starting
//! values that keep its own order.

use super::super::control::ErrorControl;
use super::super::error::{StartError, StateError, StepError};
use super::super::interval::Ends;
use super::super::judge::ErrorSize;
use super::super::state::State;
use super::explicit8::{EXPLICIT8, Explicit8};
use super::implicit::NewtonStep;
use super::index2::INDEX2;
use super::{Family, Item, Method, Next, Scheme, SchemeEntry, StartPoint, Tools, Trial};
use crate::constrained::KktFailure;
use crate::dae::{Couplings, Note, NoteKind, Reactions, Values};
use crate::solve::newton::{NewtonFailure, NonlinearSystem};

/// How what is assumed begins where it names the method that was chosen.
pub const CHOICE: &str = "the method is ";

/// Names the method that was chosen, and tells why or since when.
pub(crate) fn chosen(method: Method, reason: &str) -> String {
    format!("{CHOICE}`{}`{reason}", method.word())
}

/// `explicit8` or `index2`, by what the machine has; with steps of one size `index2`.
pub const AUTO: Method = Method(&SchemeEntry {
    word: "auto",
    doc: "takes `explicit8` where nothing is stiff, bends or touches and the error is to be below 3e-3 (1e-5 with \
          algebraic states and with friction by normal forces), `index2` elsewhere, and changes over during a run where stiffness appears or vanishes; with a number for \
          `step` it is `index2`",
    family: Family::ChungHulbert,
    leaves_hidden_residual: false,
    order: 2,
    error_constant: None,
    max_turn: EXPLICIT8.0.max_turn,
    max_turn_se3: EXPLICIT8.0.max_turn_se3,
    one_size: false,
    options: &[],
    suit: |settings| {
        if settings.error_control.is_none() {
            settings.method = INDEX2;
        }
    },
    new: |on, couplings| Ok(Box::new(Auto::new(on, couplings)?)),
});

/// Errors above this need no method of high order; and where accelerations are iterated.
const LOOSE: f64 = 3e-3;
const LOOSE_ITERATED: f64 = 1e-5;
/// `index2` is taken at the start if its steps are this much cheaper than those that stability leaves.
const CHEAPER: f64 = 10.0;
/// Factorisations of a whole run below which nobody looks at the price.
const CHEAP: f64 = 2e3;
/// Steps of `index2` times the rate of the motion and over √rtol, as far as one can tell before the first.
const USUAL_STEP: f64 = 1.4;
/// Steps of `index2` times the fastest rate below which they resolve it, with many in each period: explicit
/// ones are then not bound by stability, and far fewer.
const RESOLVED: f64 = 0.25;
/// Accelerations over the square of velocities, per length and per turn, below which a motion is steady:
/// steps of `index2` then turn parts by any angle, those of order 8 by 4 rad.
const STEADY: f64 = 1e-6;
/// Steps of `index2` after which it is looked at the fastest rate again.
const PAUSE: u8 = 16;
/// Looks in a row that must agree, at first; twice as many after each change, so that methods do not take
/// turns for ever.
const FIRST_PATIENCE: u8 = 2;

struct Auto {
    explicit: Explicit8,
    implicit: Box<dyn Scheme>,
    is_chosen: bool,
    is_explicit: bool,
    /// Whether the other one may take over.
    may_change: bool,
    /// Steps of `index2` since the last look.
    pause: u8,
    /// Looks in a row that speak for explicit steps, and how many must.
    looks: u8,
    patience: u8,
    /// Time that the last step reached, and whether it was an explicit one.
    reached: f64,
    was_explicit: bool,
}

impl Auto {
    fn new(on: &Tools, couplings: &Couplings) -> Result<Self, StartError> {
        let mut explicit = Explicit8::new(on);
        explicit.stiffness.hands_over = true;
        Ok(Self {
            explicit,
            implicit: (INDEX2.0.new)(on, couplings)?,
            is_chosen: false,
            is_explicit: false,
            may_change: false,
            pause: 0,
            looks: 0,
            patience: FIRST_PATIENCE,
            reached: 0.0,
            was_explicit: false,
        })
    }

    fn stepper(&mut self) -> &mut dyn Scheme {
        if self.is_explicit { &mut self.explicit } else { &mut *self.implicit }
    }

    fn method(&self) -> Method {
        if self.is_explicit { EXPLICIT8 } else { INDEX2 }
    }

    /// Chooses at the start.
    fn choose(&mut self, on: &mut Tools, now: &Values, step: f64) {
        self.is_chosen = true;
        let shape = &on.shape;
        let for_good = if shape.touches {
            Some("bodies can touch")
        } else if shape.costly_tangent {
            Some("beams bend")
        } else if shape.fading_states.contains(&true) {
            Some("friction has bristles")
        } else {
            None
        };
        let is_iterated = shape.reactions != Reactions::Gradient || shape.algebraic_states().any(|it| it);
        let loose = if is_iterated { LOOSE_ITERATED } else { LOOSE };
        let why = match (for_good, on.settings.error_control) {
            (Some(why), _) => why.to_owned(),
            (None, None) => "steps are of one size".to_owned(),
            (None, Some(control)) if control.goal > loose => {
                format!("it takes less work for errors of {:e}", control.goal)
            }
            (None, Some(control)) => {
                // What the start itself says is a better message than this.
                let is_known = self.explicit.look_around(on, step, now).is_ok();
                self.may_change = is_known;
                let is_steady = is_known && self.is_steady(on);
                self.is_explicit = is_known && !is_steady && !self.is_stiff(on, &control);
                if self.is_explicit {
                    "nothing is stiff, bends or touches".to_owned()
                } else if is_steady {
                    "every part moves steadily".to_owned()
                } else {
                    self.explicit.stiffness.words(on)
                }
            }
        };
        on.choice = Some(chosen(self.method(), &format!(", since {why}")));
    }

    /// Whether stability would make explicit steps far dearer than others, as far as one can tell before the
    /// first.
    fn is_stiff(&self, on: &Tools, control: &ErrorControl) -> bool {
        let (speed, acceleration) = self.speeds(on);
        let rate_of_motion = speed.max(acceleration.sqrt()).max(1.0 / control.horizon);
        let price = 2.0 * self.explicit.stiffness.fastest().0;
        let others = rate_of_motion / (USUAL_STEP * control.goal.sqrt());
        price > CHEAPER * others && price * control.horizon > CHEAP
    }

    /// Whether velocities hardly change where it was looked last.
    fn is_steady(&self, on: &Tools) -> bool {
        let (speed, acceleration) = self.speeds(on);
        speed > 0.0 && acceleration < STEADY * speed * speed
    }

    /// Sizes of velocities and accelerations where it was looked last.
    fn speeds(&self, on: &Tools) -> (f64, f64) {
        let now = self.explicit.values();
        (on.judge.speed(&on.shape, &now.velocity), on.judge.speed(&on.shape, &now.acceleration))
    }

    /// Whether the other method is to take over after a step.
    fn changes(&mut self, on: &mut Tools, step: f64, end: &Values) -> bool {
        if !self.may_change {
            return false;
        }
        if self.is_explicit {
            return self.explicit.stiffness.is_near_limit();
        }
        self.pause += 1;
        if self.pause < PAUSE {
            return false;
        }
        self.pause = 0;
        let is_known = self.explicit.look_around(on, step, end).is_ok();
        let resolves =
            is_known && !self.is_steady(on) && step * self.explicit.stiffness.fastest().0 < RESOLVED;
        self.looks = if resolves { self.looks + 1 } else { 0 };
        self.looks >= self.patience
    }

    /// Lets the other method take over.
    fn change(&mut self, on: &mut Tools, time: f64) {
        self.is_explicit = !self.is_explicit;
        (self.pause, self.looks) = (0, 0);
        self.patience = self.patience.saturating_mul(2).min(u8::MAX / 2);
        self.explicit.stiffness.forget_limit();
        let word = self.method().word();
        let why = match self.is_explicit {
            true => "its steps resolve the fastest motion anyway, and explicit ones may be larger".to_owned(),
            false => format!("{}, which would keep explicit steps small", self.explicit.stiffness.words(on)),
        };
        let text = format!("from t = {time:.4} s on the method is `{word}`: {why}");
        on.notes.add(Note::new(NoteKind::MethodChanged, text).at(time).about(word));
    }

    /// Lets a method work, and counts what the equations of accelerations took for it.
    fn counted<R>(&mut self, on: &mut Tools, work: impl FnOnce(&mut Self, &mut Tools) -> R) -> R {
        let count = |on: &Tools| (on.kkt.system.evaluations, on.kkt.system.factorisations);
        let before = count(on);
        let outcome = work(self, on);
        let after = count(on);
        on.counts.residuals += after.0 - before.0;
        on.counts.matrices += after.1 - before.1;
        outcome
    }
}

impl Scheme for Auto {
    fn fit(&mut self, on: &Tools, couplings: &Couplings) {
        self.implicit.fit(on, couplings);
    }

    fn start(
        &mut self,
        on: &mut Tools,
        state: &mut State,
        step: f64,
        at: StartPoint,
    ) -> Result<(), KktFailure> {
        if !self.is_chosen {
            let mut now = state.now.clone();
            now.time = at.time;
            self.choose(on, &now, step);
        }
        on.leave_to(self.method());
        self.stepper().start(on, state, step, at)
    }

    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        if self.is_explicit {
            self.counted(on, |auto, on| auto.explicit.attempt(on, state, step, trial))
        } else {
            self.implicit.attempt(on, state, step, trial)
        }
    }

    fn accept(&mut self, on: &mut Tools, state: &State, step: f64, trial: &Trial) -> Next {
        (self.reached, self.was_explicit) = (trial.values.time, self.is_explicit);
        let next = self.stepper().accept(on, state, step, trial);
        if !self.counted(on, |auto, on| auto.changes(on, step, &trial.values)) {
            return next;
        }
        self.change(on, trial.values.time);
        Next::Start
    }

    fn error(
        &mut self,
        on: &Tools,
        state: &State,
        step: f64,
        trial: &Trial,
        control: &ErrorControl,
    ) -> ErrorSize {
        self.stepper().error(on, state, step, trial, control)
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("whether a method is chosen", Item::Flag(&mut self.is_chosen));
        each("whether steps are explicit", Item::Flag(&mut self.is_explicit));
        each("whether the method may change", Item::Flag(&mut self.may_change));
        each("steps since the last look", Item::Byte(&mut self.pause));
        each("looks that speak for a change", Item::Byte(&mut self.looks));
        each("looks that a change needs", Item::Byte(&mut self.patience));
        self.explicit.history(each);
        self.implicit.history(each);
    }

    fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
        (self.reached, self.was_explicit) = (state.now.time, self.is_explicit);
        on.leave_to(self.method());
        on.choice = Some(chosen(self.method(), " where the run goes on"));
        self.stepper().resume(on, state)
    }

    fn solve_with(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
        solve: &mut dyn FnMut(&mut dyn NonlinearSystem) -> Result<(), NewtonFailure>,
    ) -> Option<Result<(), StepError>> {
        self.stepper().solve_with(on, state, step, trial, solve)
    }

    fn newton(&mut self) -> Option<&mut NewtonStep> {
        self.implicit.newton()
    }

    fn interpolate(&mut self, on: &mut Tools, within: &Ends, time: f64, out: &mut Values) {
        // A step that is not taken yet begins where the last one ended.
        let Ends { from, to, .. } = within;
        let is_pending = (from.time - self.reached).abs() < (to.time - self.reached).abs();
        if if is_pending { self.is_explicit } else { self.was_explicit } {
            self.counted(on, |auto, on| auto.explicit.interpolate(on, within, time, out));
        } else {
            self.implicit.interpolate(on, within, time, out);
        }
    }
}
