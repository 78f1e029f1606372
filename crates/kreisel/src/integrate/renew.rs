//! New couplings in the course of a run: bodies come near each other that did not meet before.

use super::formulation::Formulation;
use super::integration::Integration;
use super::scheme::Workspace;
use crate::solve::newton::Newton;

impl Integration<'_> {
    /// Takes up new couplings after a step; factors are made in the next one.
    pub(super) fn renew_couplings(&mut self) {
        self.use_couplings();
        self.state.matrix_point = None;
        self.state.merged.step = None;
        self.state.newton = self.newton.history();
    }

    /// Analyses the pattern that belongs to what the system remembers.
    pub(super) fn use_couplings(&mut self) {
        let couplings = self.dae.couplings_at(&self.state.now.memory);
        let shape = self.work.shape.clone();
        let (layout, formulation) = Formulation::new(&self.settings, &shape, &couplings);
        let mut newton = Newton::new(layout.pattern.clone(), &layout.roles);
        newton.count_on(self.newton.counts());
        let compliance = std::mem::take(&mut self.work.compliance);
        self.work = Workspace::new(shape, &couplings, layout);
        self.work.compliance = compliance;
        self.formulation = formulation;
        self.newton = newton;
    }
}
