//! Angles of joints whose full turns are counted although nobody records them.

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::Values;
use crate::integrate::Interval;
use crate::machine::MeasuredCoordinate;
use crate::system::System;

/// Angles and their values, turns counted from step to step.
#[derive(Debug, Default)]
pub(super) struct TurnCounts {
    angles: Vec<MeasuredCoordinate>,
    values: Vec<f64>,
}

impl TurnCounts {
    /// Angles at a start.
    pub fn start(angles: Vec<MeasuredCoordinate>, system: &System, at: &Values) -> Self {
        let values = angles.iter().map(|angle| value(angle, system, at, 0.0)).collect();
        Self { angles, values }
    }

    /// Counts on over the last step, which may turn a joint by more than half a turn: its rates say how far.
    pub fn follow(&mut self, system: &System, last: &dyn Interval) {
        if self.angles.is_empty() {
            return;
        }
        let ends = last.ends();
        let half = 0.5 * (ends.to.time - ends.from.time);
        for (angle, known) in self.angles.iter().zip(&mut self.values) {
            let rates =
                [ends.from, ends.to].map(|end| angle.coordinate.rate(&angle.relative(system, &end.point())));
            *known = value(angle, system, ends.to, *known + half * (rates[0] + rates[1]));
        }
    }

    /// Values at the last accepted step.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub fn save(&self, out: &mut Writer) {
        out.numbers(&self.values);
    }

    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        let values = reader.numbers()?;
        if values.len() != self.values.len() {
            return Err(Damaged);
        }
        self.values = values;
        Ok(())
    }
}

fn value(angle: &MeasuredCoordinate, system: &System, at: &Values, near: f64) -> f64 {
    angle.coordinate.value(&angle.relative(system, &at.point()), near)
}
