//! Equations of a step for the stabilized index-2 formulation [ArnoldCardonaBruls2015, Eqs. (56), (61),
//! (62)].
//!
//! Unknowns are x = h Δq, λ/s and ζ = h η; velocities follow from y = x + Bᵀ(q_n) ζ. Equations are r/s, Φ and
//! h (B v + Φ_t). With D* = β' M + γ' D the matrix is
//!
//! ```text
//! | (D* + K T)/s        Bᵀ   D* Bᵀ(q_n)/s      |
//! | B T                 0    0                 |
//! | h (γ' B + Z T)      0    h γ' B Bᵀ(q_n)    |
//! ```
//!
//! which for m_ave = 1 and k_ave = 0 is that of [ArnoldCardonaBruls2015, Eq. (62)]. Nonholonomic constraints
//! h κ have the row h (γ' A + κ_q T), 0, h γ' A Bᵀ(q_n) and the column Aᵀ of ψ/s. Systems that fold their
//! derivatives have its columns of x times T⁻¹, see [`Workspace::fold_forces`]. First-order states are added
//! by
//! [`super::first_order`]; their rates depend on ζ through the velocity.

use super::scheme::{Besides, Coefficients, Trial, Workspace};
use super::settings::Settings;
use super::state::MatrixPoint;
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply, place_values, view};
use crate::dae::{Couplings, Dae, Shape};
use crate::solve::block::{BlockId, BlockMatrix, BlockPattern};
use crate::solve::kernel::{BlockTarget, add_product_transposed};
use crate::solve::newton::{NonlinearSystem, largest_ratio};

/// One product of two blocks and where it goes in the Newton matrix.
#[derive(Clone, Copy, Debug)]
struct Product {
    left: BlockId,
    /// Block of B(q_n), taken transposed.
    right: BlockId,
    place: BlockId,
}

/// The products with Bᵀ(q_n) in the matrix.
#[derive(Clone, Debug)]
pub(super) struct StabilizerProducts {
    /// D* Bᵀ(q_n): left blocks are those of `Couplings::force_node` that are in `Couplings::momentum_node`.
    /// Without the others, which are zero, stabilizers meet the bodies of their joint only, and fronts stay
    /// small.
    forces: Vec<Product>,
    /// B Bᵀ(q_n): left blocks are those of `Couplings::constraint_node`.
    constraints: Vec<Product>,
    /// A Bᵀ(q_n): left blocks are those of `Couplings::nonholonomic_node`.
    nonholonomic: Vec<Product>,
    /// ∂h/∂v Bᵀ(q_n): left blocks are those of `Couplings::state_node`; first those of ċ = h, then those of 0
    /// = h.
    internal_states: [Vec<Product>; 2],
}

/// Left block, right block, and row and column group of a product.
type Triple = (BlockId, BlockId, usize, usize);

impl StabilizerProducts {
    /// The layout of the Newton matrix and the products in it.
    pub fn new(shape: &Shape, couplings: &Couplings) -> (Layout, Self) {
        let node_count = shape.space.factor_count();
        let first_nonholonomic = node_count + shape.constraints.len();
        let first_stabilizer = first_nonholonomic + shape.nonholonomic.len();
        let first_state = first_stabilizer + shape.constraints.len();
        let gradient = &couplings.constraint_node;
        let products_if = |left: &BlockPattern, first_row: usize, counts: &dyn Fn(usize, usize) -> bool| {
            let mut triples: Vec<Triple> = Vec::new();
            for node in 0..node_count {
                for (right, constraint) in gradient.column_blocks(node) {
                    let column = first_stabilizer + constraint;
                    let rows = left.column_blocks(node).filter(|&(_, row)| counts(row, node));
                    triples.extend(rows.map(|(left, row)| (left, right, first_row + row, column)));
                }
            }
            triples
        };
        let products = |left: &BlockPattern, first_row: usize| products_if(left, first_row, &|_, _| true);
        let moves = |row: usize, node: usize| couplings.momentum_node.find(row, node).is_some();
        let forces = products_if(&couplings.force_node, 0, &moves);
        let constraints = products(gradient, first_stabilizer);
        let nonholonomic = products(&couplings.nonholonomic_node, first_nonholonomic);
        let internal_states = products(&couplings.state_node, first_state);
        let all = forces.iter().chain(&constraints).chain(&nonholonomic).chain(&internal_states);
        let layout =
            Layout::new(shape, couplings, Copies::STABILIZED, all.map(|&(_, _, row, column)| (row, column)));
        let place = |&(left, right, row, column): &Triple| Product {
            left,
            right,
            place: layout.pattern.find(row, column).expect("every product was put into the pattern"),
        };
        let products = Self {
            forces: forces.iter().map(place).collect(),
            constraints: constraints.iter().map(place).collect(),
            nonholonomic: nonholonomic.iter().map(place).collect(),
            internal_states: [false, true].map(|algebraic| {
                let (first, groups) = layout.state_groups();
                let of_kind =
                    internal_states.iter().filter(|triple| groups[triple.2 - first].algebraic == algebraic);
                of_kind.map(place).collect()
            }),
        };
        (layout, products)
    }

    /// Adds products to their places.
    fn add(
        products: &[Product],
        left: &BlockMatrix,
        base_gradient: &BlockMatrix,
        factor: f64,
        out: &mut BlockMatrix,
    ) {
        for product in products {
            let (left, right) = (view(left, product.left), view(base_gradient, product.right));
            let target = BlockTarget { values: place_values(out, product.place), stride: left.rows.max(1) };
            add_product_transposed(target, factor, left, right);
        }
    }
}

/// The equations of one step.
pub(super) struct Index2<'a> {
    pub dae: &'a dyn Dae,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    pub products: &'a StabilizerProducts,
    /// Where the matrix is evaluated, if that is to be noted.
    pub matrix_point: Option<&'a mut MatrixPoint>,
}

impl Index2<'_> {
    /// Evaluates B(q_n) W, with which η moves the machine; `t` is the time at the start of the step.
    ///
    /// W weighs turns against lengths by 1/L², L the length of the system: Bᵀη alone [ArnoldCardonaBruls2015,
    /// Eq. (56a)] adds up metres and radians, and another unit of length would give another motion. For L = 1
    /// m it is the same.
    pub fn set_base_gradient(&mut self, time: f64) {
        self.work.base_gradient.fill(0.0);
        let at = crate::dae::Point { time, configuration: self.base, ..self.trial.point() };
        self.dae.gradient(&at, &mut self.work.base_gradient);
        self.work.weigh_base_gradient();
    }

    /// Adds the rows h (γ' B + Z T) of the hidden constraints.
    fn add_hidden_rows(&self, exact: bool, out: &mut BlockMatrix) {
        let (work, step, part) = (&*self.work, self.coefficients.step, CopyIndex::FIRST);
        let factor = step * self.coefficients.velocity;
        let (of_gradient, of_rate) = match work.moved {
            true => (Some(&work.operators), None),
            false => (None, Some(&work.operators)),
        };
        work.layout.add_rows(RowKind::Stabilizer, &work.tangent.gradient, of_gradient, factor, part, out);
        if exact {
            work.layout.add_rows(RowKind::Stabilizer, &work.tangent.gradient_rate, of_rate, step, part, out);
        }
    }

    /// Scales the equations that were evaluated last.
    fn write_residual(&mut self, out: &mut [f64]) {
        let work = &mut *self.work;
        let inverse_scale = 1.0 / self.coefficients.scale;
        out.iter_mut().zip(&work.equilibrium).for_each(|(out, r)| *out = r * inverse_scale);
        comply(&work.compliance, &self.trial.stabilizers, 1.0, &mut work.violation);
        work.layout.scatter(RowKind::Holonomic, 0, &work.violation, out);
        let hidden = &mut work.constraint_scratch;
        hidden.iter_mut().for_each(|value| *value *= self.coefficients.step);
        comply(&work.compliance, &self.trial.values.multipliers, inverse_scale, hidden);
        work.layout.scatter(RowKind::Stabilizer, 0, hidden, out);
        work.nonholonomic_rows(0, &self.trial.values.nonholonomic_multipliers, &self.coefficients, out);
        work.state_rows(self.trial, &self.coefficients, out);
    }

    /// Whether derivatives of forces go to the matrix as they are found.
    fn folds(&self) -> bool {
        self.settings.iteration_matrix.is_complete() && self.work.shape.folds
    }

    /// [`Workspace::fold_forces`].
    fn fold(&mut self, besides: Besides, out: &mut BlockMatrix) -> bool {
        let matrix = self.settings.iteration_matrix;
        self.work.fold_forces(self.dae, self.trial, &self.coefficients, matrix, (besides, true), out)
    }

    /// All of the matrix but the derivatives of forces by the motion of nodes, and B if the matrix has it.
    fn write_constraints(&mut self, has_gradient: bool, out: &mut BlockMatrix) {
        let (matrix, scale) = (self.settings.iteration_matrix, self.coefficients.scale);
        let exact = matrix.is_complete();
        let work = &*self.work;
        if !has_gradient {
            let operators = (!work.moved).then_some(&work.operators);
            work.layout.add_gradient(&work.shape, &work.tangent, operators, out);
        }
        self.add_hidden_rows(exact, out);
        work.add_nonholonomic_rows(&self.coefficients, matrix, out);
        work.layout.add_columns(
            RowKind::Nonholonomic,
            &work.shape,
            &work.tangent,
            1.0,
            CopyIndex::FIRST,
            out,
        );
        let (products, base) = (self.products, &work.base_gradient);
        StabilizerProducts::add(&products.forces, &work.tangent.dynamic, base, 1.0 / scale, out);
        let factor = self.coefficients.step * self.coefficients.velocity;
        StabilizerProducts::add(&products.constraints, &work.tangent.gradient, base, factor, out);
        StabilizerProducts::add(&products.nonholonomic, &work.tangent.nonholonomic, base, factor, out);
        work.add_states(&self.coefficients, None, out);
        let (rates, damping) = (self.coefficients.state_scaling().rate, &work.tangent.state_damping);
        for (products, rate) in products.internal_states.iter().zip(rates) {
            let factor = rate * self.coefficients.velocity;
            StabilizerProducts::add(products, damping, base, factor, out);
        }
        if !work.compliance.is_empty() {
            let (holonomic, nonholonomic) = (&work.compliance, work.nonholonomic_compliance());
            work.layout.subtract_crossed_compliance(holonomic, out);
            work.layout.subtract_compliance(RowKind::Nonholonomic, nonholonomic, CopyIndex::FIRST, out);
        }
        if let Some(point) = self.matrix_point.as_deref_mut() {
            point.note(self.base, self.trial, self.coefficients.step, &[]);
        }
    }
}

impl Index2<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        self.work.evaluate_with_rates(self.dae, self.base, self.trial);
        self.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        if self.folds() {
            let has_gradient = self.fold(Besides::Nothing, out);
            return self.write_constraints(has_gradient, out);
        }
        let (matrix, scale) = (self.settings.iteration_matrix, self.coefficients.scale);
        let (work, coefficients) = (&mut *self.work, &self.coefficients);
        work.moved = false;
        out.fill(0.0);
        work.differentiate(self.dae, self.trial, coefficients, matrix);
        let operators = matrix.is_complete().then_some(&work.operators);
        work.layout.add_forces(&work.tangent, operators, 1.0 / scale, out);
        self.write_constraints(false, out);
    }

    /// Both in one pass.
    fn residual_and_matrix(&mut self, residual: &mut [f64], matrix: &mut BlockMatrix) {
        self.work.move_to(self.base, self.trial);
        let has_gradient = self.fold(Besides::EquationsAndRates, matrix);
        self.write_residual(residual);
        self.write_constraints(has_gradient, matrix);
    }
}

impl NonlinearSystem for Index2<'_> {
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
        let (trial, coefficients, work) = (&mut *self.trial, &self.coefficients, &mut *self.work);
        let scratch = &mut work.scratch;
        if work.moved {
            let keep = |first: usize, part: &[f64]| scratch[first..][..part.len()].copy_from_slice(part);
            work.operators.for_each_product(increment, keep);
        } else {
            scratch.copy_from_slice(&increment[..trial.increment.len()]);
        }
        trial.increment.iter_mut().zip(&work.scratch).for_each(|(sum, x)| *sum += fraction * x);
        // y = x + W Bᵀ(q_n) ζ moves velocity and acceleration.
        let changes = &mut work.constraint_scratch;
        work.layout.gather(RowKind::Stabilizer, 0, increment, changes);
        trial.changed = true;
        trial.stabilizers.iter_mut().zip(&*changes).for_each(|(zeta, change)| *zeta += fraction * change);
        work.base_gradient.transpose_multiply_add(1.0, changes, &mut work.scratch);
        for (i, y) in work.scratch.iter().enumerate() {
            trial.values.velocity[i] += fraction * coefficients.velocity * y;
            trial.values.acceleration[i] += fraction * coefficients.acceleration * y;
        }
        work.layout.gather(RowKind::Holonomic, 0, increment, changes);
        let factor = fraction * coefficients.scale;
        trial
            .values
            .multipliers
            .iter_mut()
            .zip(changes)
            .for_each(|(lambda, change)| *lambda += factor * *change);
        work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        work.correct_states(increment, fraction, coefficients, trial);
    }

    /// Tolerances of x and λ; ζ has none of its own, see [`Self::size`].
    fn tolerances(&self, out: &mut [f64]) {
        out.fill(f64::INFINITY);
        self.work.tolerances(self.settings, self.trial, &self.coefficients, out);
    }

    /// ζ is neither shown nor carried on: it is judged by the velocities Bᵀ(q_n) ζ that it changes. Long
    /// chains have ζ that change next to none.
    fn size(&mut self, increment: &[f64], tolerances: &[f64]) -> f64 {
        let work = &mut *self.work;
        let changes = &mut work.constraint_scratch;
        work.layout.gather(RowKind::Stabilizer, 0, increment, changes);
        work.scratch.fill(0.0);
        work.base_gradient.transpose_multiply_add(1.0, changes, &mut work.scratch);
        let of_stabilizers = largest_ratio(&work.scratch, tolerances);
        let of_unknowns = largest_ratio(increment, tolerances);
        if of_stabilizers <= of_unknowns { of_unknowns } else { of_stabilizers }
    }
}
