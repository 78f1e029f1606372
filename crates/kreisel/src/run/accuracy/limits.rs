//! What keeps steps small, for runs that are far more accurate than was asked for.

use super::SMOOTH_ORDER;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::Dae;
use crate::integrate::{Ends, TurningNodes};
use crate::machine::RunPlan;
use crate::system::System;

/// Steps above this part of the largest one are kept small by it, and turns above this part of the limit.
const NEAR: f64 = 0.7;
/// Something that cuts more than this part of the steps is what limits them.
const MUCH: f64 = 0.25;
/// Steps that a method takes after a start until they have grown: by a factor of 2.4 at most, or of 3 with an
/// order of 8, whose steps are large to begin with.
const GROWING: f64 = 10.0;
const GROWING_HIGH: f64 = 3.0;

/// Counts what steps are limited by.
pub(super) struct LimitWatch {
    max_step: f64,
    turns: TurningNodes,
    /// Part of the turns that the method follows which steps may have.
    turn_part: f64,
    /// All steps; those as large as may be, those that turn parts as far as may be, starts of the method.
    steps: f64,
    largest: f64,
    turning: f64,
    starts: f64,
    /// Steps of high order.
    high: f64,
}

impl LimitWatch {
    pub fn new(system: &System, plan: &RunPlan) -> Self {
        let control = plan.integration.error_control();
        let max_step = control.map_or(f64::INFINITY, |control| control.max_step);
        let turn_part = control.map_or(1.0, |control| control.turn_part);
        let turns = TurningNodes::new(&system.shape().space, plan.integration.method());
        Self { max_step, turns, turn_part, steps: 0.0, largest: 0.0, turning: 0.0, starts: 0.0, high: 0.0 }
    }

    pub fn started(&mut self) {
        self.starts += 1.0;
    }

    pub fn accepted(&mut self, ends: &Ends, order: u32) {
        self.steps += 1.0;
        if order > SMOOTH_ORDER {
            self.high += 1.0;
        }
        if ends.to.time - ends.from.time >= NEAR * self.max_step {
            self.largest += 1.0;
        }
        if self.turns.largest_unsteady(ends, NEAR * self.turn_part).is_some() {
            self.turning += 1.0;
        }
    }

    /// What it is, in words; none where nothing was in the way of the tolerance.
    pub fn words(&self) -> Option<&'static str> {
        let much = MUCH * self.steps;
        let growing = if 2.0 * self.high > self.steps { GROWING_HIGH } else { GROWING };
        // Every run starts once.
        let starts = (self.starts - 1.0).max(0.0);
        match self {
            _ if self.turning > much => Some("how far parts may turn in one"),
            _ if self.largest > much => Some("the largest one, `max-step`"),
            _ if growing * starts > much => Some("corners of inputs, events and switching"),
            _ => None,
        }
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.numbers(&[self.steps, self.largest, self.turning, self.starts, self.high]);
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        [self.steps, self.largest, self.turning, self.starts, self.high] =
            reader.numbers()?.try_into().map_err(|_| Damaged)?;
        Ok(())
    }
}
