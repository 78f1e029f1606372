//! Steps until a time is reached: of fixed size, or of a size that the error decides on.

use super::control::{ErrorControl, cut, cut_after_failure};
use super::error::StepError;
use super::integration::{Integration, StepReport};
use super::interval::{Ends, Pending, Taken};
use super::observer::Observer;
use super::turns::NodeTurn;
use crate::dae::{Control, Equation};

/// Part of a step by which rounding may make it miss its end: a step so small would only magnify it.
const SLIVER: f64 = 1e-6;

/// How much earlier than a corner the inputs of the step that leads there are evaluated, in steps, if
/// rounding of the time allows: without effect on anything smooth.
const EARLY: f64 = 1e-12;

/// Steps below this part of the time, or of the horizon, are lost in rounding.
const MIN_PART_OF_TIME: f64 = 64.0 * f64::EPSILON;

/// Most times that an observer may ask for another end of one step: root finding needs a handful.
const MAX_LANDINGS: usize = 60;

/// Turns below this part of the largest have no say in the size of steps.
const LARGE_TURN: f64 = 0.5;

/// A step that is to be tried.
#[derive(Clone, Copy, Debug)]
struct StepPlan {
    step: f64,
    /// The time that it reaches, where that is not the sum of steps.
    lands_on: Option<f64>,
    /// Whether it was shortened to land.
    shortened: bool,
}

/// What came of a step under error control.
#[derive(Clone, Copy, Debug)]
enum Tried {
    /// It is good enough; what the next step is chosen by, and its order in the size of the step.
    Good(f64, u32),
    /// A step of this size is to be tried.
    Cut(f64),
}

/// Where steps are to end.
#[derive(Clone, Copy, Debug)]
struct Goal {
    end: f64,
    /// Whether the inputs have a corner or jump there.
    is_corner: bool,
}

impl Integration<'_> {
    /// One step: of the settings' size, or of the size that the error decides on.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.accepted_step(None, &mut ())
    }

    /// One step of the given size, whatever its error; on a change of size the state is corrected so that no
    /// order is lost. After an error the state is as it was.
    pub fn step_by(&mut self, step: f64) -> Result<StepReport, StepError> {
        let iterations = self.attempt(step)?;
        let (error_constant, order) = (self.error_constant(), self.tools.stepper.order());
        let known_error = self.tools.known_error;
        let next = self.accept(step);
        let condition = self.reported_condition();
        self.last_report = StepReport {
            step,
            iterations,
            condition,
            error_constant,
            order,
            known_error,
            ..StepReport::default()
        };
        self.go_on(next, false)?;
        Ok(self.last_report)
    }

    /// Steps until the end time, the last one shortened if need be.
    pub fn advance(&mut self, end: f64) -> Result<(), StepError> {
        self.run(end, &mut ())
    }

    /// Steps until the end time, showing every accepted step to an observer.
    pub fn run(&mut self, end: f64, observer: &mut dyn Observer) -> Result<(), StepError> {
        self.run_until(Goal { end, is_corner: false }, observer)
    }

    /// Steps until a corner or jump of the inputs, the last step with the inputs as they are just before it.
    ///
    /// Call [`Integration::restart`] next: it sees them as they are just after.
    pub fn run_to_corner(&mut self, corner: f64, observer: &mut dyn Observer) -> Result<(), StepError> {
        self.run_until(Goal { end: corner, is_corner: true }, observer)
    }

    fn run_until(&mut self, goal: Goal, observer: &mut dyn Observer) -> Result<(), StepError> {
        if goal.end < self.state.now.time {
            return Err(StepError::EndBeforeNow { end: goal.end, time: self.state.now.time });
        }
        while self.remaining(goal.end) > 0.0 {
            self.accepted_step(Some(goal), observer)?;
            if observer.accepted(&mut Taken(self)) == Control::Stop {
                break;
            }
        }
        Ok(())
    }

    /// The size that the next step has if nothing stands in its way.
    pub(super) fn usual_step(&self) -> f64 {
        if self.tools.settings.error_control.is_some() {
            self.state.control.next_step
        } else {
            self.tools.settings.step
        }
    }

    /// Time left until the end; a sliver that sums of steps miss it by is none. Steps of varying size miss
    /// nothing: corners that are close together are landed on one by one.
    fn remaining(&self, end: f64) -> f64 {
        let remaining = end - self.state.now.time;
        let sliver = match self.tools.settings.error_control {
            Some(control) => MIN_PART_OF_TIME * end.abs().max(control.horizon),
            None => SLIVER * self.usual_step(),
        };
        if remaining <= sliver { 0.0 } else { remaining }
    }

    /// The usual step, shortened where it would pass the end; with error control the last two steps share
    /// what is left.
    fn plan(&self, goal: Option<Goal>) -> StepPlan {
        let usual = self.usual_step();
        let free = StepPlan { step: usual, lands_on: None, shortened: false };
        let Some(Goal { end, is_corner }) = goal else { return free };
        let remaining = end - self.state.now.time;
        if remaining <= usual * (1.0 + SLIVER) {
            let shortened = remaining < usual * (1.0 - SLIVER);
            let fixed = self.tools.settings.error_control.is_none() && !shortened;
            let step = if fixed { usual } else { remaining };
            // Found for this step alone: a run that was interrupted on the way takes the same one.
            let early = if is_corner { (EARLY * usual).max(4.0 * f64::EPSILON * end.abs()) } else { 0.0 };
            return StepPlan { step: step - early, lands_on: Some(end), shortened };
        }
        if self.tools.settings.error_control.is_some() && remaining < 2.0 * usual {
            return StepPlan { step: 0.5 * remaining, lands_on: None, shortened: true };
        }
        free
    }

    /// Tries steps until one is good enough, and takes it.
    fn accepted_step(
        &mut self,
        goal: Option<Goal>,
        observer: &mut dyn Observer,
    ) -> Result<StepReport, StepError> {
        let mut plan = self.plan(goal);
        // The size without landing.
        let mut free = self.usual_step();
        let (error_constant, order) = (self.error_constant(), self.tools.stepper.order());
        let mut report = StepReport { error_constant, order, ..StepReport::default() };
        let (mut landings, mut error) = (0, (0.0, 0));
        loop {
            report.step = plan.step;
            match self.tools.settings.error_control {
                None => report.iterations = self.attempt(plan.step)?,
                Some(control) => match self.controlled_attempt(&mut report, &control)? {
                    Tried::Good(size, order) => error = (size, order),
                    Tried::Cut(step) => {
                        (plan, free) = (StepPlan { step, lands_on: None, shortened: false }, step);
                        continue;
                    }
                },
            }
            let time = if landings < MAX_LANDINGS { observer.landing(&mut Pending(self)) } else { None };
            let Some(time) = time else { break };
            landings += 1;
            plan = StepPlan { step: time - self.state.now.time, lands_on: Some(time), shortened: true };
        }
        report.known_error = self.tools.known_error;
        let next = self.accept(plan.step);
        if let Some(time) = plan.lands_on {
            self.state.set_time(time);
        }
        if let Some(control) = self.tools.settings.error_control {
            let rejected = report.rejections > 0;
            let unshortened = plan.shortened.then_some(free);
            self.state.control.propose(plan.step, error, unshortened, rejected, &control);
        }
        let to_corner = goal.is_some_and(|goal| goal.is_corner && plan.lands_on == Some(goal.end));
        self.go_on(next, to_corner)?;
        report.condition = self.reported_condition();
        self.last_report = report;
        Ok(report)
    }

    /// One step under error control.
    fn controlled_attempt(
        &mut self,
        report: &mut StepReport,
        control: &ErrorControl,
    ) -> Result<Tried, StepError> {
        let step = report.step;
        let least = control.min_step.max(MIN_PART_OF_TIME * self.state.now.time.abs().max(control.horizon));
        match self.attempt(step) {
            Err(cause @ (StepError::Step(_) | StepError::EndBeforeNow { .. } | StepError::Stiff { .. })) => {
                Err(cause)
            }
            Err(cause) => {
                report.rejections += 1;
                self.work.failures += 1;
                if step <= least {
                    return Err(StepError::NoStep { step, cause: Box::new(cause) });
                }
                Ok(Tried::Cut((cut_after_failure() * step).max(least)))
            }
            Ok(iterations) => {
                report.iterations = iterations;
                let error = self.scheme.error(&self.tools, &self.state, step, &self.trial, control);
                report.error = error.size;
                // A turn counts like an error of the same order that is 1 where it is too large: the step
                // keeps away from it as it does from the tolerance.
                let turn = self.unsteady_turn(control.turn_part);
                let by_turn =
                    turn.map_or(0.0, |turn| (turn.part() / control.turn_part).powf(f64::from(error.order)));
                let size = if by_turn > error.size { by_turn } else { error.size };
                if size <= 1.0 {
                    return Ok(Tried::Good(size, error.order));
                }
                report.rejections += 1;
                self.work.rejections += 1;
                if step > least {
                    return Ok(Tried::Cut((cut(size, error.order) * step).max(least)));
                }
                let time = self.state.now.time;
                Err(match turn {
                    Some(NodeTurn { node, angle, limit }) if error.size <= 1.0 => {
                        let place = self.tools.shape.space.velocity_range(node).start;
                        let part = self.tools.dae.describe(Equation::Equilibrium(place));
                        let limit = control.turn_part * limit;
                        StepError::TurnTooLarge { time, step, least, angle, limit, part }
                    }
                    _ => {
                        let worst = self.tools.dae.describe(error.worst);
                        StepError::ErrorTooLarge { time, step, least, error: error.size, worst }
                    }
                })
            }
        }
    }

    /// C_q of the method that takes the steps.
    fn error_constant(&self) -> Option<f64> {
        self.tools.stepper.0.error_constant.map(|constant| constant(&self.tools.settings.parameters))
    }

    /// The largest turn of the step that was computed, if it is worth a thought and not steady, where turns
    /// may have this part of what the method follows.
    fn unsteady_turn(&self, part: f64) -> Option<NodeTurn> {
        let Self { state, trial, tools, .. } = self;
        let ends = Ends { from: &state.now, to: &trial.values, increment: &trial.increment };
        tools.judge.turns.largest_unsteady(&ends, part * LARGE_TURN)
    }
}
