//! Equations of a step for the index-3 formulation [ArnoldCardonaBruls2015, Eqs. (37), (57)–(60)].
//!
//! Unknowns are x = h Δq and λ/s, equations r/s and Φ with s = k_ave + m_ave/h²; for m_ave = 1 and
//! k_ave = 0 the matrix is that of [ArnoldCardonaBruls2015, Eq. (60)]:
//!
//! ```text
//! | (β' M + γ' D + K T)/s   Bᵀ |
//! | B T                     0  |
//! ```

use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{IterationMatrix, Settings};
use super::state::MatrixPoint;
use crate::dae::Dae;
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// The equations of one step.
pub(super) struct Index3<'a, D: ?Sized> {
    pub dae: &'a D,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    pub matrix_point: &'a mut MatrixPoint,
}

impl<D: Dae + ?Sized> Index3<'_, D> {
    /// Scales the equations that were evaluated last.
    pub fn write_residual(&mut self, out: &mut [f64]) {
        let inverse_scale = 1.0 / self.coefficients.scale;
        out.iter_mut().zip(&self.work.equilibrium).for_each(|(out, r)| *out = r * inverse_scale);
        let work = &mut *self.work;
        Workspace::give_way(&work.compliance, &self.trial.multipliers, inverse_scale, &mut work.violation);
        work.layout.scatter(0, &work.violation, out);
    }

    /// Adds the matrix of the derivatives that were evaluated last.
    pub fn write_matrix(&mut self, out: &mut BlockMatrix) {
        let work = &mut *self.work;
        let exact = self.settings.iteration_matrix == IterationMatrix::Exact;
        let operators = exact.then_some(&work.operators);
        work.layout.add_forces(&work.tangent, operators, 1.0 / self.coefficients.scale, out);
        work.layout.add_gradient(&work.shape, &work.tangent, Some(&work.operators), out);
        if !work.compliance.is_empty() {
            work.layout.subtract_compliance(&work.compliance, 0, 0, out);
        }
        work.note(self.base, self.trial, self.coefficients.step, self.matrix_point);
    }
}

impl<D: Dae + ?Sized> NonlinearSystem for Index3<'_, D> {
    fn residual(&mut self, out: &mut [f64]) {
        self.work.evaluate(self.dae, self.base, self.trial);
        self.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        self.work.differentiate(self.dae, self.trial, &self.coefficients, self.settings.iteration_matrix);
        self.write_matrix(out);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let (trial, coefficients) = (&mut *self.trial, &self.coefficients);
        for (i, value) in increment[..trial.increment.len()].iter().enumerate() {
            let change = fraction * value;
            trial.increment[i] += change;
            trial.velocity[i] += coefficients.velocity * change;
            trial.acceleration[i] += coefficients.acceleration * change;
        }
        let changes = &mut self.work.constraint_scratch;
        self.work.layout.gather(0, increment, changes);
        let factor = fraction * coefficients.scale;
        trial.multipliers.iter_mut().zip(changes).for_each(|(lambda, change)| *lambda += factor * *change);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.work.tolerances(self.settings, self.trial, &self.coefficients, out);
    }
}
