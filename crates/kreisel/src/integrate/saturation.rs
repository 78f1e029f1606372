//! Steps whose iteration goes on until rounding stops it, to see what rounding leaves.

use nalgebra::{DMatrix, DVector};

use super::error::StepError;
use super::integration::Integration;
use crate::dae::Equation;
use crate::solve::block::{BlockMatrix, BlockPattern};
use crate::solve::newton::{NewtonFailure, NonlinearSystem};

use std::sync::Arc;

/// Most iterations of a step.
const MAX_ITERATIONS: usize = 50;

/// How an iteration is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SaturationOptions {
    /// Iterations after corrections stopped decreasing.
    pub extra_iterations: usize,
    /// How far from the predicted values the iteration begins, in every scaled unknown.
    pub displacement: f64,
}

/// What the iteration of a step did until its corrections stopped decreasing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saturation {
    /// Norms of the corrections in the scaled unknowns, one per iteration.
    pub corrections: Vec<f64>,
    /// The last correction that decreased [BottassoBauchauCardona2007, Eq. (33)]: its norm.
    pub last_decreasing: f64,
    /// Its largest entry among positions, velocities (where they are unknowns) and multipliers, scaled.
    pub last_by_field: [f64; 3],
    /// The last scaled iteration matrix.
    pub matrix: DMatrix<f64>,
}

impl Saturation {
    /// Condition number of the last matrix in the 2-norm, as the product of the largest singular values of
    /// the matrix and of its inverse: the smallest one itself is lost in rounding beyond 1/ε.
    pub fn condition(&self) -> f64 {
        match self.matrix.clone().try_inverse() {
            Some(inverse) => self.matrix.singular_values().max() * inverse.singular_values().max(),
            None => f64::INFINITY,
        }
    }
}

/// Iterates until corrections stop decreasing; gives the last decreasing one too.
pub(super) fn saturate(
    equations: &mut dyn NonlinearSystem,
    pattern: &Arc<BlockPattern>,
    options: SaturationOptions,
) -> Result<(Saturation, DVector<f64>), NewtonFailure> {
    let size = pattern.row_count();
    let (mut found, mut best, mut extra) = (Saturation::default(), None::<DVector<f64>>, None);
    let (mut residual, mut blocks) = (DVector::zeros(size), BlockMatrix::zeros(Arc::clone(pattern)));
    if options.displacement != 0.0 {
        equations.correct(&vec![options.displacement; size], 1.0);
    }
    for _ in 0..MAX_ITERATIONS {
        equations.evaluate(Some(residual.as_mut_slice()), None);
        if let Some(equation) = residual.iter().position(|value| !value.is_finite()) {
            return Err(NewtonFailure::NotFinite { equation });
        }
        equations.evaluate(None, Some(&mut blocks));
        found.matrix = blocks.to_dense();
        // Gaussian elimination with partial pivoting, as the analysis assumes.
        let correction = found.matrix.clone().lu().solve(&-&residual);
        let correction = correction.ok_or(NewtonFailure::Singular { unknown: size.saturating_sub(1) })?;
        let norm = correction.norm();
        found.corrections.push(norm);
        if extra.is_none() && best.as_ref().is_some_and(|best| norm >= best.norm()) {
            extra = Some(options.extra_iterations);
        }
        match &mut extra {
            Some(0) => break,
            Some(left) => *left -= 1,
            None => best = Some(correction.clone()),
        }
        equations.correct(correction.as_slice(), 1.0);
        if norm == 0.0 {
            break;
        }
    }
    let last = best.unwrap_or_else(|| DVector::zeros(size));
    found.last_decreasing = last.norm();
    Ok((found, last))
}

impl Integration<'_> {
    /// One step of the settings' size whose iteration goes on, with a new dense matrix each time, until
    /// corrections stop decreasing [BottassoBauchauCardona2007, §3.3]; it is taken however large they still
    /// are.
    pub fn saturating_step(&mut self, options: SaturationOptions) -> Result<Saturation, StepError> {
        let step = self.tools.settings.step;
        self.fit_step(step)?;
        let Self { tools, scheme, state, trial, .. } = self;
        let pattern = scheme.newton().map(|step| Arc::clone(&step.layout().pattern));
        let mut found = None;
        let outcome = scheme.solve_with(tools, state, step, trial, &mut |equations| {
            let pattern = pattern.as_ref().ok_or(NewtonFailure::Singular { unknown: 0 })?;
            found = Some(saturate(equations, pattern, options)?);
            Ok(())
        });
        outcome.transpose()?;
        let (mut found, last) = found.unwrap_or_default();
        let layout = self.scheme.newton().map(|step| step.layout());
        for (row, value) in last.iter().enumerate() {
            let Some(layout) = layout else { break };
            let field = match layout.equation(row) {
                Equation::Equilibrium(_) => usize::from(layout.is_second_of_node(row)),
                Equation::State(_) => continue,
                _ => 2,
            };
            found.last_by_field[field] = found.last_by_field[field].max(value.abs());
        }
        let next = self.accept(step);
        self.go_on(next, false)?;
        Ok(found)
    }
}
