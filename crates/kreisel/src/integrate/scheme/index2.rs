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
//! h κ have the row h (γ' A + κ_q T), 0, h γ' A Bᵀ(q_n) and the column Aᵀ of ψ/s. Systems that merge their
//! derivatives have its columns of x times T⁻¹, see [`Workspace::merge_forces`]. First-order states are added
//! by
//! [`super::first_order`]; their rates depend on ζ through the velocity.

use super::super::state::State;
use super::alpha::{Alpha, Base, Formulation};
use super::implicit::{Room, Step, StepEquations, TwoParts};
use super::start::Slopes;
use super::{Family, Item, Method, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply, place_values, view};
use crate::dae::{Couplings, Point, Shape};
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

/// Stabilized index-2 DAE: position and velocity constraints hold [ArnoldCardonaBruls2015, Eqs. (56)].
pub const INDEX2: Method = Method(&SchemeEntry {
    word: "index2",
    doc: "keeps positions and velocities",
    family: Family::ChungHulbert,
    leaves_hidden_residual: Index2::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(Index2::position_error_constant),
    max_turn: 0.75,
    max_turn_se3: 0.5,
    one_size: false,
    options: &[],
    suit: |_| {},
    new: Alpha::<Index2>::boxed,
});

/// The formulation.
pub(super) struct Index2 {
    products: StabilizerProducts,
    /// η_n of the last step.
    last: Vec<f64>,
    /// ζ = h η_n of the step that is computed.
    stabilizers: Vec<f64>,
    /// Whether ζ may be other than zero.
    changed: bool,
}

impl StepEquations for Index2 {
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        let Self { products, stabilizers, changed, .. } = self;
        let mut equations = Index2Step { step, products, stabilizers, changed };
        equations.set_base_gradient();
        visit(&mut equations);
    }

    fn clear(&mut self) {
        if std::mem::replace(&mut self.changed, false) {
            self.stabilizers.fill(0.0);
        }
    }

    /// λ belongs to the violation at velocity level, times the step, and ζ to that of the positions.
    fn raise_multipliers(&self, _: f64, holonomic: &mut [f64], _: &mut [f64]) {
        holonomic.iter_mut().zip(&self.stabilizers).for_each(|(out, zeta)| *out = out.max(zeta.abs()));
    }
}

impl Formulation for Index2 {
    const LEAVES_HIDDEN_RESIDUAL: bool = false;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let (layout, products) = StabilizerProducts::new(&on.shape, couplings);
        let zeros = vec![0.0; on.shape.constraint_count()];
        let form = Self { products, last: zeros.clone(), stabilizers: zeros, changed: false };
        (Room { layout, extras: Vec::new() }, form)
    }

    fn start(&mut self, _: &Tools, _: &State, _: f64, _: Option<&Slopes>) {
        self.last.fill(0.0);
    }

    fn accept(&mut self, _: &Base, step: f64, _: &Trial, _: &[f64]) {
        self.last.iter_mut().zip(&self.stabilizers).for_each(|(eta, zeta)| *eta = zeta / step);
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("stabilizers", Item::Numbers(&mut self.last));
    }
}

/// The equations of one step.
struct Index2Step<'a> {
    step: Step<'a>,
    products: &'a StabilizerProducts,
    /// ζ.
    stabilizers: &'a mut Vec<f64>,
    changed: &'a mut bool,
}

impl Index2Step<'_> {
    /// Evaluates B(q_n) W, with which η moves the machine.
    ///
    /// W weighs turns against lengths by 1/L², L the length of the system: Bᵀη alone [ArnoldCardonaBruls2015,
    /// Eq. (56a)] adds up metres and radians, and another unit of length would give another motion. For L = 1
    /// m it is the same.
    fn set_base_gradient(&mut self) {
        let Step { dae, time, base, trial, work, .. } = &mut self.step;
        work.base_gradient.fill(0.0);
        let at = Point { time: *time, configuration: base, ..trial.values.point() };
        dae.gradient(&at, &mut work.base_gradient);
        work.weigh_base_gradient();
    }

    /// Adds the rows h (γ' B + Z T) of the hidden constraints.
    fn add_hidden_rows(&self, exact: bool, out: &mut BlockMatrix) {
        let (work, step, part) = (&*self.step.work, self.step.coefficients.step, CopyIndex::FIRST);
        let factor = step * self.step.coefficients.velocity;
        let (of_gradient, of_rate) = match work.operators.inverse {
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
        let work = &mut *self.step.work;
        let inverse_scale = 1.0 / self.step.coefficients.scale;
        out.iter_mut().zip(&work.residual.equilibrium).for_each(|(out, r)| *out = r * inverse_scale);
        comply(&work.compliance, self.stabilizers, 1.0, &mut work.residual.violation);
        work.layout.scatter(RowKind::Holonomic, 0, &work.residual.violation, out);
        let hidden = &mut work.scratch.constraints;
        hidden.iter_mut().for_each(|value| *value *= self.step.coefficients.step);
        comply(&work.compliance, &self.step.trial.values.multipliers, inverse_scale, hidden);
        work.layout.scatter(RowKind::Stabilizer, 0, hidden, out);
        work.nonholonomic_rows(
            0,
            &self.step.trial.values.nonholonomic_multipliers,
            &self.step.coefficients,
            out,
        );
        work.state_rows(self.step.trial, &self.step.coefficients, out);
    }

    /// Whether derivatives of forces go to the matrix as they are found.
    fn merges(&self) -> bool {
        self.step.settings.iteration_matrix.is_complete() && self.step.work.shape.merges
    }

    /// All of the matrix but the derivatives of forces by the motion of nodes, and B if the matrix has it.
    fn write_constraints(&mut self, has_gradient: bool, out: &mut BlockMatrix) {
        let (matrix, scale) = (self.step.settings.iteration_matrix, self.step.coefficients.scale);
        let exact = matrix.is_complete();
        let work = &*self.step.work;
        if !has_gradient {
            let operators = (!work.operators.inverse).then_some(&work.operators);
            work.layout.add_gradient(&work.shape, &work.tangent, operators, out);
        }
        self.add_hidden_rows(exact, out);
        work.add_nonholonomic_rows(&self.step.coefficients, matrix, out);
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
        let factor = self.step.coefficients.step * self.step.coefficients.velocity;
        StabilizerProducts::add(&products.constraints, &work.tangent.gradient, base, factor, out);
        StabilizerProducts::add(&products.nonholonomic, &work.tangent.nonholonomic, base, factor, out);
        work.add_states(&self.step.coefficients, None, out);
        let (rates, damping) = (self.step.coefficients.state_scaling().rate, &work.tangent.state_damping);
        for (products, rate) in products.internal_states.iter().zip(rates) {
            let factor = rate * self.step.coefficients.velocity;
            StabilizerProducts::add(products, damping, base, factor, out);
        }
        if !work.compliance.is_empty() {
            let (holonomic, nonholonomic) = (&work.compliance, work.nonholonomic_compliance());
            work.layout.subtract_crossed_compliance(holonomic, out);
            work.layout.subtract_compliance(RowKind::Nonholonomic, nonholonomic, CopyIndex::FIRST, out);
        }
        self.step.note(&[]);
    }
}

impl TwoParts for Index2Step<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        self.step.work.evaluate_with_rates(self.step.dae, self.step.base, self.step.trial);
        self.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        if self.merges() {
            let has_gradient = self.step.merge_forces(false, out);
            return self.write_constraints(has_gradient, out);
        }
        let (matrix, scale) = (self.step.settings.iteration_matrix, self.step.coefficients.scale);
        let (work, coefficients) = (&mut *self.step.work, &self.step.coefficients);
        out.fill(0.0);
        work.differentiate(self.step.dae, self.step.trial, coefficients, matrix);
        let operators = matrix.is_complete().then_some(&work.operators);
        work.layout.add_forces(&work.tangent, operators, 1.0 / scale, out);
        self.write_constraints(false, out);
    }

    /// In one pass where the system merges its derivatives.
    fn residual_and_matrix(&mut self, residual: &mut [f64], matrix: &mut BlockMatrix) {
        if !self.merges() {
            self.residual(residual);
            return self.matrix(matrix);
        }
        self.step.work.move_to(self.step.base, self.step.trial);
        let has_gradient = self.step.merge_forces(true, matrix);
        self.write_residual(residual);
        self.write_constraints(has_gradient, matrix);
    }
}

impl NonlinearSystem for Index2Step<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let (trial, coefficients, work) =
            (&mut *self.step.trial, &self.step.coefficients, &mut *self.step.work);
        let scratch = &mut work.scratch.nodes;
        if work.operators.inverse {
            let keep = |first: usize, part: &[f64]| scratch[first..][..part.len()].copy_from_slice(part);
            work.operators.for_each_product(increment, keep);
        } else {
            scratch.copy_from_slice(&increment[..trial.increment.len()]);
        }
        trial.increment.iter_mut().zip(&work.scratch.nodes).for_each(|(sum, x)| *sum += fraction * x);
        // y = x + W Bᵀ(q_n) ζ moves velocity and acceleration.
        let changes = &mut work.scratch.constraints;
        work.layout.gather(RowKind::Stabilizer, 0, increment, changes);
        *self.changed = true;
        self.stabilizers.iter_mut().zip(&*changes).for_each(|(zeta, change)| *zeta += fraction * change);
        work.base_gradient.transpose_multiply_add(1.0, changes, &mut work.scratch.nodes);
        for (i, y) in work.scratch.nodes.iter().enumerate() {
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
        self.step.work.tolerances(self.step.settings, self.step.trial, &self.step.coefficients, out);
    }

    /// ζ is neither shown nor carried on: it is judged by the velocities Bᵀ(q_n) ζ that it changes. Long
    /// chains have ζ that change next to none.
    fn size(&mut self, increment: &[f64], tolerances: &[f64]) -> f64 {
        let work = &mut *self.step.work;
        let changes = &mut work.scratch.constraints;
        work.layout.gather(RowKind::Stabilizer, 0, increment, changes);
        work.scratch.nodes.fill(0.0);
        work.base_gradient.transpose_multiply_add(1.0, changes, &mut work.scratch.nodes);
        let of_stabilizers = largest_ratio(&work.scratch.nodes, tolerances);
        let of_unknowns = largest_ratio(increment, tolerances);
        if of_stabilizers <= of_unknowns { of_unknowns } else { of_stabilizers }
    }
}
