//! A system in which the last holonomic constraints lead coordinates: they have values, rates and
//! accelerations that change from call to call. Their multipliers, with a minus, are the forces that lead.

use crate::dae::{Couplings, Dae, Equation, Point, Residual, Shape, Wanted, ask};
use crate::solve::block::BlockMatrix;

/// What is wanted of a system whose last constraints keep coordinates at zero.
#[derive(Clone, Copy)]
pub(crate) struct Led<'a> {
    /// The system.
    pub dae: &'a dyn Dae,
    /// The first of the constraints that lead.
    pub first: usize,
    /// Whether each is an angle, of which full turns do not count.
    pub angles: &'a [bool],
    /// Wanted values.
    pub position: &'a [f64],
    /// Wanted rates.
    pub rate: &'a [f64],
    /// Wanted accelerations.
    pub acceleration: &'a [f64],
    /// Forces on all velocity coordinates that the system does not know of; none if empty.
    pub push: &'a [f64],
}

impl Dae for Led<'_> {
    fn shape(&self) -> Shape {
        Shape { rheonomic: true, merges: false, ..self.dae.shape() }
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        self.dae.residual(at, out);
        out.equilibrium.iter_mut().zip(self.push).for_each(|(force, push)| *force -= push);
        let rows = out.violation[self.first..].iter_mut().zip(self.position).zip(self.angles);
        for ((violation, target), is_angle) in rows {
            let miss = *violation - target;
            let turns = if *is_angle { (miss / std::f64::consts::TAU).round() } else { 0.0 };
            *violation = miss - turns * std::f64::consts::TAU;
        }
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.dae.gradient(at, out);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        // What targets and forces change is asked of this system, the rest of the other.
        let (residual, hidden) = (wanted.residual.take(), wanted.hidden.take());
        let (violation_rate, curvature) = (wanted.violation_rate.take(), wanted.curvature.take());
        self.dae.answer(at, wanted);
        (wanted.residual, wanted.hidden) = (residual, hidden);
        if let Some(out) = violation_rate {
            if self.dae.shape().rheonomic {
                ask(self.dae, at, Wanted { violation_rate: Some(&mut *out), ..Wanted::default() });
            }
            out[self.first..].iter_mut().zip(self.rate).for_each(|(row, rate)| *row -= rate);
        }
        if let Some(out) = curvature {
            ask(self.dae, at, Wanted { curvature: Some(&mut *out), ..Wanted::default() });
            out[self.first..].iter_mut().zip(self.acceleration).for_each(|(row, wanted)| *row -= wanted);
        }
    }

    fn couplings(&self, memory: Option<&[f64]>) -> Couplings {
        self.dae.couplings(memory)
    }

    fn couplings_differ(&self, before: &[f64], after: &[f64]) -> bool {
        self.dae.couplings_differ(before, after)
    }

    fn remember(&self, at: &Point, memory: &mut [f64]) {
        self.dae.remember(at, memory);
    }

    fn idle_constraints(&self, memory: &[f64]) -> Vec<usize> {
        self.dae.idle_constraints(memory)
    }

    fn blame(&self, at: &Point) -> Option<String> {
        self.dae.blame(at)
    }

    fn describe(&self, equation: Equation) -> String {
        self.dae.describe(equation)
    }
}
