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
//! Systems that merge their derivatives have its first column times T⁻¹, see [`Workspace::merge_forces`].
//!
//! Nonholonomic constraints add ψ/s to the unknowns and the equations h κ, whose row is h (γ' A + κ_q T): it
//! does not depend on h either. First-order states are added by [`super::first_order`]. `hht-i3` is the same
//! with the balance of forces at two times, [`super::force_level`].

use super::alpha::{Alpha, Formulation};
use super::force_level::ForceLevel;
use super::implicit::{Room, Step, StepEquations, TwoParts};
use super::{Family, Method, SchemeEntry, Tools};
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply};
use crate::dae::{Couplings, TangentOperators};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// Index-3 DAE: position constraints hold [ArnoldCardonaBruls2015, Eqs. (37)].
pub const INDEX3: Method = Method(&SchemeEntry {
    word: "index3",
    doc: "keeps positions only and is cheaper",
    family: Family::ChungHulbert,
    leaves_hidden_residual: Index3::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(Index3::position_error_constant),
    max_turn: 1.4,
    max_turn_se3: 0.5,
    one_size: false,
    options: &[],
    suit: |_| {},
    new: Alpha::<Index3>::boxed,
});

/// The formulation.
pub(super) struct Index3;

impl StepEquations for Index3 {
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        visit(&mut Index3Step { step, force_level: None });
    }
}

impl Formulation for Index3 {
    const LEAVES_HIDDEN_RESIDUAL: bool = true;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let layout = Layout::new(&on.shape, couplings, Copies::ONE, []);
        (Room { layout, extras: Vec::new() }, Self)
    }
}

/// The equations of one step.
pub(super) struct Index3Step<'a> {
    pub step: Step<'a>,
    /// With `hht-i3`.
    pub force_level: Option<&'a ForceLevel>,
}

impl Index3Step<'_> {
    /// Scales the equations that were evaluated last.
    pub fn write_residual(&mut self, out: &mut [f64]) {
        let inverse_scale = 1.0 / self.step.coefficients.scale;
        out.iter_mut()
            .zip(&self.step.work.residual.equilibrium)
            .for_each(|(out, r)| *out = r * inverse_scale);
        let work = &mut *self.step.work;
        comply(
            &work.compliance,
            &self.step.trial.values.multipliers,
            inverse_scale,
            &mut work.residual.violation,
        );
        work.layout.scatter(RowKind::Holonomic, 0, &work.residual.violation, out);
        work.nonholonomic_rows(
            0,
            &self.step.trial.values.nonholonomic_multipliers,
            &self.step.coefficients,
            out,
        );
        work.state_rows(self.step.trial, &self.step.coefficients, out);
    }

    /// Adds the matrix of the derivatives that were evaluated last; `velocity_operators` as in
    /// [`Workspace::add_states`].
    pub fn write_matrix(&mut self, velocity_operators: Option<&TangentOperators>, out: &mut BlockMatrix) {
        let (work, factor) = (&*self.step.work, 1.0 / self.step.coefficients.scale);
        let operators = self.step.settings.iteration_matrix.is_complete().then_some(&work.operators);
        work.layout.add_forces(&work.tangent, operators, factor, out);
        self.write_constraints(false, velocity_operators, out);
    }

    /// Whether derivatives of forces go to the matrix as they are found.
    fn merges(&self) -> bool {
        self.force_level.is_none()
            && self.step.settings.iteration_matrix.is_complete()
            && self.step.work.shape.merges
    }

    /// All of the matrix but the derivatives of forces by the motion of nodes, and B if the matrix has it.
    fn write_constraints(
        &mut self,
        has_gradient: bool,
        velocity_operators: Option<&TangentOperators>,
        out: &mut BlockMatrix,
    ) {
        let (work, coefficients) = (&mut *self.step.work, &self.step.coefficients);
        let matrix = self.step.settings.iteration_matrix;
        if !has_gradient {
            let operators = (!work.operators.inverse).then_some(&work.operators);
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
        let base_velocity = self.force_level.map_or(&[][..], |force_level| &force_level.base_velocity);
        self.step.note(&[base_velocity]);
    }
}

impl TwoParts for Index3Step<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        match self.force_level {
            None => self.step.work.evaluate(self.step.dae, self.step.base, self.step.trial),
            Some(force_level) => {
                self.step.work.evaluate_forces(self.step.dae, self.step.base, self.step.trial);
                force_level
                    .add(&self.step.trial.values.acceleration, &mut self.step.work.residual.equilibrium);
            }
        }
        self.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        self.step.work.tangent.hidden_wanted = false;
        if self.merges() {
            let has_gradient = self.step.merge_forces(false, out);
            return self.write_constraints(has_gradient, None, out);
        }
        let (work, coefficients) = (&mut *self.step.work, &self.step.coefficients);
        let matrix = self.step.settings.iteration_matrix;
        out.fill(0.0);
        match self.force_level {
            None => work.differentiate(self.step.dae, self.step.trial, coefficients, matrix),
            Some(force_level) => {
                work.differentiate_forces(self.step.dae, self.step.trial, coefficients, matrix);
                let inertia = coefficients.acceleration / coefficients.scale;
                work.layout.add_nodes(&force_level.mass, None, inertia, CopyIndex::FIRST, out);
            }
        }
        self.write_matrix(None, out);
    }

    /// In one pass where the system merges its derivatives.
    fn residual_and_matrix(&mut self, residual: &mut [f64], matrix: &mut BlockMatrix) {
        if !self.merges() {
            self.residual(residual);
            return self.matrix(matrix);
        }
        self.step.work.move_to(self.step.base, self.step.trial);
        self.step.work.tangent.hidden_wanted = false;
        let has_gradient = self.step.merge_forces(true, matrix);
        self.write_residual(residual);
        self.write_constraints(has_gradient, None, matrix);
    }
}

impl NonlinearSystem for Index3Step<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let (trial, coefficients) = (&mut *self.step.trial, &self.step.coefficients);
        let of_nodes = &increment[..trial.increment.len()];
        let mut change = |first: usize, part: &[f64]| {
            for (i, value) in part.iter().enumerate() {
                let change = fraction * value;
                trial.increment[first + i] += change;
                trial.values.velocity[first + i] += coefficients.velocity * change;
                trial.values.acceleration[first + i] += coefficients.acceleration * change;
            }
        };
        if self.step.work.operators.inverse {
            self.step.work.operators.for_each_product(of_nodes, &mut change);
        } else {
            change(0, of_nodes);
        }
        let changes = &mut self.step.work.scratch.constraints;
        self.step.work.layout.gather(RowKind::Holonomic, 0, increment, changes);
        let factor = fraction * coefficients.scale;
        trial
            .values
            .multipliers
            .iter_mut()
            .zip(changes)
            .for_each(|(lambda, change)| *lambda += factor * *change);
        self.step.work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        self.step.work.correct_states(increment, fraction, coefficients, trial);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.step.work.tolerances(self.step.settings, self.step.trial, &self.step.coefficients, out);
    }
}
