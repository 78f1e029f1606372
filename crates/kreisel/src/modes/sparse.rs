//! Many directions: shifted and inverted block systems.

use nalgebra::{Complex, DVector};

use super::dense::{Pairs, undamped};
use super::eigen::{general, symmetric};
use super::krylov::{BLOCK, Basis, start_vector};
use super::{Linearized, ModesError};
use crate::solve::linear::LinearSolver;

/// Relative residual of an eigenpair of the inverted system that counts as converged; its eigenvalue is far
/// better.
const CONVERGED: f64 = 1e-8;
/// Blocks beyond those that hold the wanted vectors.
const MORE_BLOCKS: usize = 40;
/// First shift of what is singular without, in units of mean stiffness over mean mass.
const FIRST_SHIFT: f64 = 1e-7;
/// Eigenvalues below this part of the shift are round-off.
const ROUND_OFF: f64 = 1e-6;

/// Factors of a shifted block system.
struct Inverse<'l> {
    linearized: &'l Linearized,
    solver: LinearSolver,
    scale: f64,
    unknowns: Vec<f64>,
}

impl<'l> Inverse<'l> {
    /// Factors of K + damping · C + mass · M with the constraints; the unknown that is not determined
    /// otherwise.
    fn new(linearized: &'l Linearized, damping: f64, mass: f64) -> Result<Self, usize> {
        let scale =
            linearized.mean(&linearized.stiffness).max(mass.abs() * linearized.mean(&linearized.mass));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let matrix = linearized.shifted(damping, mass, scale);
        let mut solver = LinearSolver::new(&linearized.layout.pattern, &linearized.layout.roles);
        match solver.factor(&matrix) {
            Ok(_) => {
                let unknowns = vec![0.0; matrix.pattern().row_count()];
                Ok(Self { linearized, solver, scale, unknowns })
            }
            Err(singular) => Err(singular.unknown),
        }
    }

    /// x with (K + …) x + Bᵀμ = force, B x = 0.
    fn solve(&mut self, force: &[f64]) -> Vec<f64> {
        let count = self.linearized.velocity_count();
        self.unknowns.fill(0.0);
        let inverse = 1.0 / self.scale;
        self.unknowns.iter_mut().zip(force).for_each(|(u, f)| *u = inverse * f);
        self.solver.solve(&mut self.unknowns);
        self.unknowns[..count].to_vec()
    }
}

impl Linearized {
    /// The slowest eigenpairs.
    pub(super) fn sparse_pairs(&self, count: usize) -> Result<Pairs, ModesError> {
        if self.is_conservative() { self.conservative_sparse(count) } else { self.general_sparse(count) }
    }

    /// Mean size of the diagonal in units of force per length.
    fn mean(&self, matrix: &crate::solve::block::BlockMatrix) -> f64 {
        let mut sum = 0.0;
        super::linearized::entries(matrix, |row, column, value| {
            if row == column {
                sum += value.abs() * self.coordinate_scales[row].powi(2);
            }
        });
        sum / (self.length * self.length * self.velocity_count().max(1) as f64)
    }

    /// Inverts at the origin, or beside it where that is singular.
    fn invert(&self, shifted: impl Fn(f64) -> (f64, f64)) -> Result<(Inverse<'_>, f64), ModesError> {
        if let Ok(inverse) = Inverse::new(self, 0.0, 0.0) {
            return Ok((inverse, 0.0));
        }
        let (stiffness, mass) = (self.mean(&self.stiffness), self.mean(&self.mass));
        let square = if stiffness > 0.0 { FIRST_SHIFT * stiffness / mass } else { 1.0 };
        let (damping, mass) = shifted(square);
        match Inverse::new(self, damping, mass) {
            Ok(inverse) => Ok((inverse, square)),
            Err(unknown) => {
                let equation = self.equations.get(unknown).cloned();
                Err(ModesError::Singular { equation: equation.unwrap_or_else(|| "a reaction".to_owned()) })
            }
        }
    }

    fn conservative_sparse(&self, count: usize) -> Result<Pairs, ModesError> {
        let (inverse, shift) = self.invert(|square| (0.0, square))?;
        let pairs = self.conservative_about(inverse, shift, count)?;
        // A shift among the wanted eigenvalues separates them better than the first guess.
        let elastic =
            pairs.iter().map(|(s, _)| s.norm_sqr()).find(|square| *square > 10.0 * ROUND_OFF * shift);
        match elastic {
            Some(square) if shift > 0.0 && (square > 1e3 * shift || square < 1e-3 * shift) => {
                match Inverse::new(self, 0.0, square) {
                    Ok(inverse) => self.conservative_about(inverse, square, count),
                    Err(_) => Ok(pairs),
                }
            }
            _ => Ok(pairs),
        }
    }

    /// Largest θ of (K + σM)⁻¹M x = θ x; λ = 1/θ − σ.
    fn conservative_about(
        &self,
        mut inverse: Inverse,
        shift: f64,
        count: usize,
    ) -> Result<Pairs, ModesError> {
        let weigh = |x: &[f64]| {
            let mut weighted = vec![0.0; x.len()];
            self.mass.multiply_add(1.0, x, &mut weighted);
            weighted
        };
        let mut basis = Basis::new(weigh);
        let operator = |x: &[f64]| inverse.solve(&weigh(x));
        let found = search(&mut basis, operator, self.velocity_count(), count, |basis| {
            let projected = basis.projected();
            let (values, vectors) = symmetric(0.5 * (&projected + projected.transpose()));
            let ritz = values.iter().enumerate().map(|(i, theta)| {
                (Complex::new(*theta, 0.0), vectors.column(i).map(|x| Complex::new(x, 0.0)))
            });
            ritz.collect()
        })?;
        let round_off = (ROUND_OFF * shift).max(f64::MIN_POSITIVE);
        let pair = |(theta, y): &(Complex<f64>, DVector<Complex<f64>>)| {
            (undamped(1.0 / theta.re - shift, round_off), basis.combine(y))
        };
        Ok(found.iter().map(pair).collect())
    }

    /// Largest θ of (A − σ)⁻¹ for the state (x, w = s x); s = σ + 1/θ.
    fn general_sparse(&self, count: usize) -> Result<Pairs, ModesError> {
        let (mut inverse, square) = self.invert(|square| (square.sqrt(), square))?;
        let shift = square.sqrt();
        let size = self.velocity_count();
        let rate = (self.mean(&self.stiffness) / self.mean(&self.mass)).sqrt().max(f64::MIN_POSITIVE);
        let weights: Vec<f64> = (self.coordinate_scales.iter().map(|s| 1.0 / (s * s)))
            .chain(self.coordinate_scales.iter().map(|s| 1.0 / (s * s * rate)))
            .collect();
        let mut basis = Basis::new(move |y| y.iter().zip(&weights).map(|(y, weight)| y * weight).collect());
        // w = f₁ + σx and (K + σC + σ²M) x + Bᵀμ = −M f₂ − (C + σM) f₁.
        let operator = |state: &[f64]| {
            let (first, second) = state.split_at(size);
            let mut force = vec![0.0; size];
            self.mass.multiply_add(-1.0, second, &mut force);
            self.damping.multiply_add(-1.0, first, &mut force);
            self.mass.multiply_add(-shift, first, &mut force);
            let mut image = inverse.solve(&force);
            let rates: Vec<f64> = first.iter().zip(&image).map(|(f, x)| f + shift * x).collect();
            image.extend(rates);
            image
        };
        let found = search(&mut basis, operator, 2 * size, 2 * count, |basis| {
            let Some((values, vectors)) = general(&basis.projected()) else { return Vec::new() };
            values.into_iter().enumerate().map(|(i, theta)| (theta, vectors.column(i).into_owned())).collect()
        })?;
        let pair = |(theta, y): &(Complex<f64>, DVector<Complex<f64>>)| {
            let mut shape = basis.combine(y);
            shape.truncate(size);
            (Complex::new(shift, 0.0) + theta.inv(), shape)
        };
        Ok(found.iter().map(pair).collect())
    }
}

/// Ritz values and vectors.
type Ritz = Vec<(Complex<f64>, DVector<Complex<f64>>)>;

/// Grows the space until the wanted Ritz pairs have converged or it is complete.
fn search(
    basis: &mut Basis,
    mut operator: impl FnMut(&[f64]) -> Vec<f64>,
    length: usize,
    count: usize,
    ritz: impl Fn(&Basis) -> Ritz,
) -> Result<Ritz, ModesError> {
    // One application takes the start vectors to where the constraints hold.
    for index in 0..BLOCK.min(length) {
        let vector = operator(&start_vector(length, index));
        basis.add(vector);
    }
    let blocks = count.div_ceil(BLOCK) + MORE_BLOCKS;
    let mut found = Vec::new();
    for block in 0..blocks {
        let first = basis.images.len();
        let images: Vec<Vec<f64>> = basis.vectors[first..].iter().map(|vector| operator(vector)).collect();
        basis.images.extend(images.iter().cloned());
        let grown = images.into_iter().map(|image| basis.add(image)).filter(|added| *added).count();
        let complete = grown == 0;
        if !complete && (basis.images.len() < count || block < 2) {
            continue;
        }
        let known = basis.images.len();
        let largest =
            |ritz: &Ritz| ritz.iter().fold(0.0_f64, |largest, (theta, _)| largest.max(theta.norm()));
        let mut pairs = ritz(basis);
        let limit = 1e-14 * largest(&pairs);
        pairs.retain(|(theta, _)| theta.norm() > limit);
        pairs.sort_by(|a, b| b.0.norm().total_cmp(&a.0.norm()));
        pairs.truncate(count);
        debug_assert!(known >= pairs.len());
        let converged = pairs.iter().take_while(|(theta, y)| basis.residual(*theta, y) <= CONVERGED).count();
        if complete || converged == pairs.len() && converged >= count {
            return Ok(pairs);
        }
        found = pairs;
        found.truncate(converged);
    }
    Err(ModesError::NotConverged { found: found.len(), wanted: count })
}
