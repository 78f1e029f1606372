//! Equations of a step for the index-3 formulation [ArnoldCardonaBruls2015, Eqs. (37), (57)–(60)].
//!
//! Unknowns are x = h Δq and λ/s, equations r/s and Φ with s = k_ave + m_ave/h²; for m_ave = 1 and
//! k_ave = 0 the matrix is that of [ArnoldCardonaBruls2015, Eq. (60)]:
//!
//! ```text
//! | (β' M + γ' D + K T)/s   Bᵀ |
//! | B T                     0  |
//! ```
//!
//! Systems that fold their derivatives have its first column times T⁻¹, see [`Workspace::fold_forces`].
//!
//! Nonholonomic constraints add ψ/s to the unknowns and the equations h κ, whose row is h (γ' A + κ_q T): it
//! does not depend on h either. First-order states are added by [`super::first_order`]. `hht-i3` is the same
//! with the balance of forces at two times, [`super::force_level`].

use super::force_level::ForceLevel;
use super::scheme::{Besides, Coefficients, Trial, Workspace};
use super::settings::Settings;
use super::state::MatrixPoint;
use crate::constrained::{CopyIndex, RowKind, comply};
use crate::dae::{Dae, TangentOperators};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// The equations of one step.
pub(super) struct Index3<'a> {
    pub dae: &'a dyn Dae,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    /// With `hht-i3`.
    pub force_level: Option<&'a ForceLevel>,
    /// Where the matrix is evaluated, if that is to be noted.
    pub matrix_point: Option<&'a mut MatrixPoint>,
}

impl Index3<'_> {
    /// Scales the equations that were evaluated last.
    pub fn write_residual(&mut self, out: &mut [f64]) {
        let inverse_scale = 1.0 / self.coefficients.scale;
        out.iter_mut().zip(&self.work.equilibrium).for_each(|(out, r)| *out = r * inverse_scale);
        let work = &mut *self.work;
        comply(&work.compliance, &self.trial.values.multipliers, inverse_scale, &mut work.violation);
        work.layout.scatter(RowKind::Holonomic, 0, &work.violation, out);
        work.nonholonomic_rows(0, &self.trial.values.nonholonomic_multipliers, &self.coefficients, out);
        work.state_rows(self.trial, &self.coefficients, out);
    }

    /// Adds the matrix of the derivatives that were evaluated last; `velocity_operators` as in
    /// [`Workspace::add_states`].
    pub fn write_matrix(&mut self, velocity_operators: Option<&TangentOperators>, out: &mut BlockMatrix) {
        let (work, factor) = (&*self.work, 1.0 / self.coefficients.scale);
        let operators = self.settings.iteration_matrix.is_complete().then_some(&work.operators);
        work.layout.add_forces(&work.tangent, operators, factor, out);
        self.write_constraints(false, velocity_operators, out);
    }

    /// Whether derivatives of forces go to the matrix as they are found.
    fn folds(&self) -> bool {
        self.force_level.is_none() && self.settings.iteration_matrix.is_complete() && self.work.shape.folds
    }

    /// [`Workspace::fold_forces`].
    fn fold(&mut self, besides: Besides, out: &mut BlockMatrix) -> bool {
        let (work, matrix) = (&mut *self.work, self.settings.iteration_matrix);
        work.tangent.gradient_rate_wanted = false;
        work.fold_forces(self.dae, self.trial, &self.coefficients, matrix, (besides, false), out)
    }

    /// All of the matrix but the derivatives of forces by the motion of nodes, and B if the matrix has it.
    fn write_constraints(
        &mut self,
        has_gradient: bool,
        velocity_operators: Option<&TangentOperators>,
        out: &mut BlockMatrix,
    ) {
        let (work, coefficients) = (&mut *self.work, &self.coefficients);
        let matrix = self.settings.iteration_matrix;
        if !has_gradient {
            let operators = (!work.moved).then_some(&work.operators);
            work.layout.add_gradient(&work.shape, &work.tangent, operators, out);
        }
        work.add_nonholonomic_rows(coefficients, matrix, out);
        work.layout.add_columns(
            RowKind::Nonholonomic,
            &work.shape,
            &work.tangent,
            1.0,
            CopyIndex::FIRST,
            out,
        );
        work.add_states(coefficients, velocity_operators, out);
        if !work.compliance.is_empty() {
            work.layout.subtract_compliance(RowKind::Holonomic, &work.compliance, CopyIndex::FIRST, out);
            work.layout.subtract_compliance(
                RowKind::Nonholonomic,
                work.nonholonomic_compliance(),
                CopyIndex::FIRST,
                out,
            );
        }
        if let Some(point) = self.matrix_point.as_deref_mut() {
            let base_velocity = self.force_level.map_or(&[][..], |force_level| &force_level.base_velocity);
            point.note(self.base, self.trial, coefficients.step, base_velocity);
        }
    }
}

impl Index3<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        match self.force_level {
            None => self.work.evaluate(self.dae, self.base, self.trial),
            Some(force_level) => {
                self.work.evaluate_forces(self.dae, self.base, self.trial);
                force_level.add(&self.trial.values.acceleration, &mut self.work.equilibrium);
            }
        }
        self.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        if self.folds() {
            let has_gradient = self.fold(Besides::Nothing, out);
            return self.write_constraints(has_gradient, None, out);
        }
        let (work, coefficients) = (&mut *self.work, &self.coefficients);
        let matrix = self.settings.iteration_matrix;
        work.tangent.gradient_rate_wanted = false;
        work.moved = false;
        out.fill(0.0);
        match self.force_level {
            None => work.differentiate(self.dae, self.trial, coefficients, matrix),
            Some(force_level) => {
                work.differentiate_forces(self.dae, self.trial, coefficients, matrix);
                let inertia = coefficients.acceleration / coefficients.scale;
                work.layout.add_nodes(&force_level.mass, None, inertia, CopyIndex::FIRST, out);
            }
        }
        self.write_matrix(None, out);
    }

    /// Both in one pass.
    fn residual_and_matrix(&mut self, residual: &mut [f64], matrix: &mut BlockMatrix) {
        self.work.move_to(self.base, self.trial);
        let has_gradient = self.fold(Besides::Equations, matrix);
        self.write_residual(residual);
        self.write_constraints(has_gradient, None, matrix);
    }
}

impl NonlinearSystem for Index3<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        match (residual, matrix) {
            (Some(residual), Some(matrix)) if self.folds() => self.residual_and_matrix(residual, matrix),
            (residual, matrix) => {
                if let Some(out) = residual {
                    self.residual(out);
                }
                if let Some(out) = matrix {
                    self.matrix(out);
                }
            }
        }
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let (trial, coefficients) = (&mut *self.trial, &self.coefficients);
        let of_nodes = &increment[..trial.increment.len()];
        let mut change = |first: usize, part: &[f64]| {
            for (i, value) in part.iter().enumerate() {
                let change = fraction * value;
                trial.increment[first + i] += change;
                trial.values.velocity[first + i] += coefficients.velocity * change;
                trial.values.acceleration[first + i] += coefficients.acceleration * change;
            }
        };
        if self.work.moved {
            self.work.operators.for_each_product(of_nodes, &mut change);
        } else {
            change(0, of_nodes);
        }
        let changes = &mut self.work.constraint_scratch;
        self.work.layout.gather(RowKind::Holonomic, 0, increment, changes);
        let factor = fraction * coefficients.scale;
        trial
            .values
            .multipliers
            .iter_mut()
            .zip(changes)
            .for_each(|(lambda, change)| *lambda += factor * *change);
        self.work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        self.work.correct_states(increment, fraction, coefficients, trial);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.work.tolerances(self.settings, self.trial, &self.coefficients, out);
    }
}
