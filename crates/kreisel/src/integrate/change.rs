//! Changes of what a system remembers: parts are switched on and off.

use super::integration::Integration;
use crate::constrained::Redundancy;
use crate::dae::{Couplings, Dae, Point, Residual, Shape, Wanted};
use crate::solve::block::BlockMatrix;

impl Integration<'_> {
    /// Changes what the system remembers, to switch parts on or off; [`Integration::restart`] must follow.
    ///
    /// Which constraints are redundant is found anew. An error of `change` leaves everything as it was.
    pub fn change_memory<E>(
        &mut self,
        change: impl FnOnce(&Point, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = &self.state;
        let mut memory = state.now.memory.clone();
        let at = state.now.point();
        change(&at, &mut memory)?;
        let remembering = Remembering { dae: self.tools.dae, memory: &memory };
        let redundancy = Redundancy::find_moving(
            &remembering,
            state.now.time,
            &state.now.configuration,
            &state.now.velocity,
        );
        self.state.now.memory = memory;
        self.set_redundancy(redundancy);
        Ok(())
    }

    /// Changes one number that the system remembers, such as an input from outside; constraints must not
    /// depend on it.
    ///
    /// Forces jump by it, so [`Integration::restart`] should follow.
    pub fn set_remembered(&mut self, slot: usize, value: f64) {
        self.state.now.memory[slot] = value;
    }
}

impl Integration<'_> {
    /// Takes up the couplings that belong to what the system remembers: bodies come near each other that did
    /// not meet before. Factors are made in the next step.
    pub(super) fn renew_couplings(&mut self) {
        let couplings = self.tools.dae.couplings(Some(&self.state.now.memory));
        self.scheme.fit(&self.tools, &couplings);
    }
}

/// A system with a memory, for those who ask without one.
struct Remembering<'a> {
    dae: &'a dyn Dae,
    memory: &'a [f64],
}

impl Dae for Remembering<'_> {
    fn shape(&self) -> Shape {
        self.dae.shape()
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        self.dae.residual(&Point { memory: self.memory, ..*at }, out);
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.dae.gradient(&Point { memory: self.memory, ..*at }, out);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        self.dae.answer(&Point { memory: self.memory, ..*at }, wanted);
    }

    fn couplings(&self, memory: Option<&[f64]>) -> Couplings {
        self.dae.couplings(memory)
    }

    fn idle_constraints(&self, _: &[f64]) -> Vec<usize> {
        self.dae.idle_constraints(self.memory)
    }
}
