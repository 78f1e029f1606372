//! Work and losses of a run: powers integrated over the accepted steps.

use crate::kinematics::Power;

/// What went into the machine and what was lost in it since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBalance {
    /// Stored energy at the start, in J.
    pub initial: f64,
    /// Work of applied forces and drives so far, in J.
    pub work: f64,
    /// Energy lost in dampers and friction so far, in J.
    pub dissipated: f64,
    /// Power at the last time that was booked.
    power: Power,
}

impl EnergyBalance {
    /// The balance as numbers, for a checkpoint.
    pub(crate) fn numbers(&self) -> [f64; 5] {
        [self.initial, self.work, self.dissipated, self.power.applied, self.power.dissipated]
    }

    /// The balance of these numbers.
    pub(crate) fn from_numbers([initial, work, dissipated, applied, lost]: [f64; 5]) -> Self {
        Self { initial, work, dissipated, power: Power { applied, dissipated: lost } }
    }

    /// The balance at the start.
    pub fn new(initial: f64, power: Power) -> Self {
        Self { initial, power, ..Self::default() }
    }

    /// Adds a step by the trapezoidal rule, which is of second order like the motion itself.
    pub fn add_step(&mut self, step: f64, power: Power) {
        *self = self.within(step, power, 1.0);
    }

    /// The balance at a part of a step that ends with the given power; powers are linear within the step.
    pub fn within(&self, step: f64, power: Power, part: f64) -> Self {
        let at = |from: f64, to: f64| from + part * (to - from);
        let applied = at(self.power.applied, power.applied);
        let dissipated = at(self.power.dissipated, power.dissipated);
        let half = 0.5 * part * step;
        Self {
            initial: self.initial,
            work: self.work + half * (self.power.applied + applied),
            dissipated: self.dissipated + half * (self.power.dissipated + dissipated),
            power: Power { applied, dissipated },
        }
    }

    /// Takes the power after a jump of the inputs, and the energy that the jump put in: the speed of a drive
    /// may jump, and only drives do work in an impulse.
    pub fn jump(&mut self, energy: f64, power: Power) {
        self.work += energy;
        self.power = power;
    }

    /// What the stored energy has too much: total − initial − work + dissipated.
    pub fn defect(&self, total: f64) -> f64 {
        total - self.initial - self.work + self.dissipated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(applied: f64, dissipated: f64) -> Power {
        Power { applied, dissipated }
    }

    #[test]
    fn linear_powers_are_integrated_exactly() {
        // ∫₀² t dt = 2 and ∫₀² 3t dt = 6, with one step or two.
        let mut one = EnergyBalance::new(5.0, power(0.0, 0.0));
        let mut two = one;
        one.add_step(2.0, power(2.0, 6.0));
        two.add_step(0.5, power(0.5, 1.5));
        two.add_step(1.5, power(2.0, 6.0));
        assert_eq!((one.work, one.dissipated), (2.0, 6.0));
        assert!((two.work - 2.0).abs() < 1e-15 && (two.dissipated - 6.0).abs() < 1e-15);
        assert_eq!(one.defect(5.0 + 2.0 - 6.0), 0.0);
    }

    #[test]
    fn within_a_step_the_balance_is_that_of_the_shorter_step() {
        let balance = EnergyBalance::new(0.0, power(1.0, 0.0));
        let half = balance.within(2.0, power(3.0, 0.0), 0.5);
        // ∫₀¹ (1 + t) dt = 3/2.
        assert_eq!(half.work, 1.5);
    }

    #[test]
    fn a_jump_of_the_power_is_no_work_and_one_of_the_energy_is() {
        let mut balance = EnergyBalance::new(0.0, power(1.0, 0.0));
        balance.jump(0.0, power(100.0, 0.0));
        assert_eq!(balance.work, 0.0);
        balance.jump(3.0, power(100.0, 0.0));
        assert_eq!((balance.work, balance.defect(3.0)), (3.0, 0.0));
    }
}
