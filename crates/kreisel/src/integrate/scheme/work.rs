//! What implicit methods share in one step: coefficients, equations, derivatives, tolerances.

use std::sync::Arc;

use super::super::settings::{IterationMatrix, Settings};
use super::Trial;
use super::first_order::StateParameters;
use crate::constrained::{CopyIndex, Layout, RowKind, comply, coordinate_scales};
use crate::dae::{
    Couplings, Dae, Equations, Fold, Point, Reactions, Shape, Tangent, TangentOperators, TangentWeights,
    Values,
};
use crate::solve::block::BlockMatrix;

/// Numbers of a step of size h.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficients {
    pub step: f64,
    /// β' = (1 − α_m)/(β h² (1 − α_f)): change of v̇ per change of h Δq [BrulsCardonaArnold2012, Table 1].
    pub acceleration: f64,
    /// γ' = γ/(β h): change of v per change of h Δq [BrulsCardonaArnold2012, Table 1].
    pub velocity: f64,
    /// s = k_ave + m_ave/h² [BottassoBauchauCardona2007, Eq. (28)].
    pub scale: f64,
    /// Factor of the balance of forces: 1/s, unless a scaling is to be studied.
    pub force: f64,
    /// Change of a multiplier per change of its unknown: s, unless a scaling is to be studied.
    pub multiplier: f64,
    /// σ: change of a first-order state per change of its rate.
    pub state_per_rate: f64,
}

impl Coefficients {
    /// Those of a step with settings that have their scales.
    pub fn new(settings: &Settings, step: f64) -> Self {
        let parameters = &settings.parameters;
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let [mass_scale, stiffness_scale] =
            [settings.mass_scale, settings.stiffness_scale].map(Option::unwrap_or_default);
        let scale = stiffness_scale + mass_scale / (step * step);
        Self {
            step,
            acceleration: (1.0 - alpha_m) / (parameters.beta() * step * step * (1.0 - alpha_f)),
            velocity: parameters.gamma() / (parameters.beta() * step),
            scale,
            force: 1.0 / scale,
            multiplier: scale,
            state_per_rate: StateParameters::new(parameters).state_per_rate(step),
        }
    }

    /// Weights of the derivatives of forces without inertia.
    pub fn force_weights(&self, matrix: IterationMatrix) -> TangentWeights {
        let stiffness = matrix.is_complete();
        TangentWeights {
            mass: 0.0,
            damping: if stiffness { self.velocity } else { 0.0 },
            stiffness,
            remembered_forces: matrix == IterationMatrix::Mixed,
        }
    }
}

/// Increments cannot be asked to be smaller: positions of size one carry some ε of rounding, and a few dozen
/// operations lie between them and an increment.
const ROUND_OFF: f64 = 100.0 * f64::EPSILON;
/// Rounding of a violation, in units of the largest coordinate: a few ε.
const VIOLATION_ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// Arrays of a step; they can be rebuilt from the state.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub shape: Arc<Shape>,
    pub layout: Layout,
    pub tangent: Tangent,
    /// T of all nodes where the matrix was evaluated, or T⁻¹.
    pub operators: TangentOperators,
    /// Whether the matrix is one of displacements y = T x of the moved nodes.
    pub moved: bool,
    /// B(q_n) W, for `index2`.
    pub base_gradient: BlockMatrix,
    pub equilibrium: Vec<f64>,
    pub violation: Vec<f64>,
    pub nonholonomic: Vec<f64>,
    pub internal_rates: Vec<f64>,
    /// Size against which the increment of each velocity coordinate is judged: 1 rad or the system's length.
    pub coordinate_scales: Vec<f64>,
    /// Size against which each state is judged.
    pub state_scales: Vec<f64>,
    /// Which states are algebraic.
    pub algebraic: Vec<bool>,
    /// Size against which scaled multipliers are judged.
    pub length: f64,
    /// Compliance of redundant constraints, the holonomic ones first; empty if there are none.
    pub compliance: Vec<f64>,
    /// Whether all constraints give way, to pass a singular position.
    pub yielding: bool,
    /// Smallest tolerance of an increment, in units of the length: positions far from the origin carry more
    /// rounding.
    pub round_off: f64,
    /// Rounding of a violation.
    violation_round_off: f64,
    /// One number per velocity coordinate.
    pub scratch: Vec<f64>,
    /// One number per constraint.
    pub constraint_scratch: Vec<f64>,
    /// One number per nonholonomic constraint.
    pub nonholonomic_scratch: Vec<f64>,
    /// No acceleration, for forces without inertia.
    rest: Vec<f64>,
    follower: MemoryFollower,
}

/// Lets remembered section forces follow the corrections since the last matrix of a step.
#[derive(Clone, Debug)]
struct MemoryFollower {
    /// Configuration at the last matrix of the step.
    configuration: Vec<f64>,
    /// Whether there was one.
    has_matrix: bool,
    /// As long as the memory.
    memory: Vec<f64>,
}

impl MemoryFollower {
    fn new(shape: &Shape) -> Self {
        Self {
            configuration: vec![0.0; shape.space.coordinate_count()],
            has_matrix: false,
            memory: vec![0.0; shape.memory],
        }
    }

    fn follow(&mut self, dae: &dyn Dae, values: &mut Values) {
        if self.has_matrix {
            self.memory.copy_from_slice(&values.memory);
            let before = Point { configuration: &self.configuration, ..values.point() };
            dae.follow(&before, &values.point(), &mut self.memory);
            std::mem::swap(&mut self.memory, &mut values.memory);
        }
        self.configuration.copy_from_slice(&values.configuration);
        self.has_matrix = true;
    }
}

/// What a pass that folds derivatives finds besides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Besides {
    Nothing,
    Equations,
    /// The hidden constraints B v + Φ_t as well, in [`Workspace::constraint_scratch`].
    EquationsAndRates,
}

impl Workspace {
    pub fn new(shape: Arc<Shape>, couplings: &Couplings, layout: Layout) -> Self {
        let length = shape.scales.length;
        let velocity_count = shape.velocity_count();
        let state_scales = shape.scales_of_states();
        Self {
            state_scales,
            algebraic: shape.algebraic_states().collect(),
            follower: MemoryFollower::new(&shape),
            tangent: Tangent::zeros(couplings),
            operators: TangentOperators::new(&shape.space),
            moved: false,
            base_gradient: BlockMatrix::zeros(Arc::clone(&couplings.constraint_node)),
            equilibrium: vec![0.0; velocity_count],
            violation: vec![0.0; shape.constraint_count()],
            nonholonomic: vec![0.0; shape.nonholonomic_count()],
            internal_rates: vec![0.0; shape.state_count()],
            coordinate_scales: coordinate_scales(&shape, length),
            length,
            compliance: Vec::new(),
            yielding: false,
            round_off: ROUND_OFF,
            violation_round_off: VIOLATION_ROUND_OFF * length,
            scratch: vec![0.0; velocity_count],
            constraint_scratch: vec![0.0; shape.constraint_count()],
            nonholonomic_scratch: vec![0.0; shape.nonholonomic_count()],
            rest: vec![0.0; velocity_count],
            layout,
            shape,
        }
    }

    /// Prepares for the first matrix of a step.
    pub fn begin(&mut self) {
        self.follower.has_matrix = false;
    }

    /// Lets remembered section forces follow the corrections since the last matrix of this step.
    pub fn follow(&mut self, dae: &dyn Dae, trial: &mut Trial, matrix: IterationMatrix) {
        if matrix == IterationMatrix::Mixed && !trial.values.memory.is_empty() {
            self.follower.follow(dae, &mut trial.values);
        }
    }

    /// Turns B(q_n) into B(q_n) W, with W = 1/L² for turns and 1 for lengths.
    pub fn weigh_base_gradient(&mut self) {
        let pattern = Arc::clone(self.base_gradient.pattern());
        for (block, rows, columns) in pattern.blocks() {
            let rows = pattern.row_range(rows).len();
            let scales = &self.coordinate_scales[pattern.column_range(columns)];
            let columns = self.base_gradient.block_values_mut(block).chunks_exact_mut(rows.max(1));
            for (column, scale) in columns.zip(scales) {
                let weight = scale / self.length;
                column.iter_mut().for_each(|value| *value *= weight * weight);
            }
        }
    }

    /// Evaluates the equations at the trial values, moving its configuration to q_n ∘ exp(x̃).
    pub fn evaluate(&mut self, dae: &dyn Dae, base: &[f64], trial: &mut Trial) {
        self.move_to(base, trial);
        self.evaluate_at(dae, &trial.values.point());
    }

    /// Moves the configuration of the trial values to q_n ∘ exp(x̃).
    pub fn move_to(&self, base: &[f64], trial: &mut Trial) {
        self.shape.space.compose_exp(base, &trial.increment, &mut trial.values.configuration);
    }

    /// The same without the inertia of v̇.
    pub fn evaluate_forces(&mut self, dae: &dyn Dae, base: &[f64], trial: &mut Trial) {
        self.move_to(base, trial);
        let rest = std::mem::take(&mut self.rest);
        self.evaluate_at(dae, &Point { acceleration: &rest, ..trial.values.point() });
        self.rest = rest;
    }

    /// Evaluates the equations and, into `constraint_scratch`, the hidden constraints B v + Φ_t at the trial
    /// values.
    pub fn evaluate_with_rates(&mut self, dae: &dyn Dae, base: &[f64], trial: &mut Trial) {
        self.move_to(base, trial);
        self.clear_equations();
        let out = &mut Equations {
            equilibrium: &mut self.equilibrium,
            violation: &mut self.violation,
            nonholonomic: &mut self.nonholonomic,
            internal_rates: &mut self.internal_rates,
        };
        let (gradient, rates) = (&mut self.tangent.gradient, &mut self.constraint_scratch);
        rates.fill(0.0);
        dae.evaluate_with_rates(&trial.values.point(), out, gradient, self.shape.rheonomic, rates);
    }

    /// Evaluates the equations at a point.
    pub fn evaluate_at(&mut self, dae: &dyn Dae, at: &Point) {
        self.clear_equations();
        dae.evaluate(
            at,
            &mut Equations {
                equilibrium: &mut self.equilibrium,
                violation: &mut self.violation,
                nonholonomic: &mut self.nonholonomic,
                internal_rates: &mut self.internal_rates,
            },
        );
    }

    fn clear_equations(&mut self) {
        for values in
            [&mut self.equilibrium, &mut self.violation, &mut self.nonholonomic, &mut self.internal_rates]
        {
            values.fill(0.0);
        }
    }

    /// Evaluates the derivatives and the tangent operators at the trial values.
    pub fn differentiate(
        &mut self,
        dae: &dyn Dae,
        trial: &mut Trial,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
    ) {
        let weights =
            TangentWeights { mass: coefficients.acceleration, ..coefficients.force_weights(matrix) };
        self.follow(dae, trial, matrix);
        self.tangent.clear();
        dae.tangent(&trial.values.point(), weights, &mut self.tangent);
        self.operators.evaluate(&self.shape.space, &trial.increment);
    }

    /// Evaluates the derivatives and sets an iteration matrix with one copy of the nodes to (dynamic T⁻¹ +
    /// stiffness)/s, for systems that fold: the matrix of increments x times T⁻¹. Multiplied by T⁻¹, its
    /// solutions y are increments again.
    ///
    /// Where a node turns by 2π in a step, or nonholonomic constraints and states have rows with other
    /// operators, the matrix is that of x. With `parts_wanted` the dynamic part and B are left in the tangent
    /// by themselves as well. B goes to the matrix if it has no operator; gives whether it did. The equations
    /// are evaluated in the same pass if they are wanted.
    pub fn fold_forces(
        &mut self,
        dae: &dyn Dae,
        trial: &mut Trial,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
        (besides, parts_wanted): (Besides, bool),
        out: &mut BlockMatrix,
    ) -> bool {
        let weights =
            TangentWeights { mass: coefficients.acceleration, ..coefficients.force_weights(matrix) };
        self.follow(dae, trial, matrix);
        let (shape, increment) = (&self.shape, &trial.increment);
        self.moved = shape.nonholonomic.is_empty()
            && shape.internal_states.is_empty()
            && self.operators.evaluate_inverse(&shape.space, increment);
        if !self.moved {
            self.operators.evaluate(&shape.space, increment);
        }
        let gradient_too = self.moved && shape.reactions == Reactions::Gradient;
        if parts_wanted {
            self.tangent.dynamic.fill(0.0);
        }
        if parts_wanted || !gradient_too {
            self.tangent.gradient.fill(0.0);
        }
        self.tangent.clear_the_rest();
        std::mem::swap(&mut self.tangent.stiffness, out);
        self.tangent.fold = Some(Fold {
            places: self.layout.take_force_places(),
            gradient: if gradient_too { self.layout.take_gradient_places() } else { Vec::new() },
            operators: std::mem::take(&mut self.operators),
            moved: self.moved,
            factor: 1.0 / coefficients.scale,
            parts_wanted,
        });
        self.fold_parts(dae, &trial.values.point(), besides, weights);
        std::mem::swap(&mut self.tangent.stiffness, out);
        if let Some(fold) = self.tangent.fold.take() {
            self.operators = fold.operators;
            self.layout.give_force_places(fold.places);
            if gradient_too {
                self.layout.give_gradient_places(fold.gradient);
            }
        }
        gradient_too
    }

    fn fold_parts(&mut self, dae: &dyn Dae, at: &Point, besides: Besides, weights: TangentWeights) {
        if besides == Besides::Nothing {
            return dae.tangent(at, weights, &mut self.tangent);
        }
        self.clear_equations();
        let out = &mut Equations {
            equilibrium: &mut self.equilibrium,
            violation: &mut self.violation,
            nonholonomic: &mut self.nonholonomic,
            internal_rates: &mut self.internal_rates,
        };
        let rates = (besides == Besides::EquationsAndRates).then(|| {
            self.constraint_scratch.fill(0.0);
            &mut self.constraint_scratch[..]
        });
        dae.evaluate_with_tangent(at, out, rates, weights, &mut self.tangent);
    }

    /// [`Workspace::differentiate`] without the inertia of v̇.
    pub fn differentiate_forces(
        &mut self,
        dae: &dyn Dae,
        trial: &mut Trial,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
    ) {
        self.follow(dae, trial, matrix);
        let rest = std::mem::take(&mut self.rest);
        self.tangent.clear();
        let at = Point { acceleration: &rest, ..trial.values.point() };
        dae.tangent(&at, coefficients.force_weights(matrix), &mut self.tangent);
        self.rest = rest;
        self.operators.evaluate(&self.shape.space, &trial.increment);
    }

    /// Tolerances of increments (each copy alike) and scaled multipliers.
    pub fn tolerances(
        &self,
        settings: &Settings,
        trial: &Trial,
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.round_off));
        let doubt = self.singular_round_off();
        let of_increment = |scale: &f64, x: &f64| atol * scale + rtol * x.abs() + doubt;
        if self.layout.node_copies() == 1 {
            // All of them stand together.
            let pairs = self.coordinate_scales.iter().zip(&trial.increment);
            out.iter_mut().zip(pairs).for_each(|(out, (scale, x))| *out = of_increment(scale, x));
        } else {
            for copy in 0..self.layout.node_copies() {
                let mut first = 0;
                for (start, size) in self.layout.node_starts(copy) {
                    for i in first..first + size {
                        out[start + i - first] =
                            of_increment(&self.coordinate_scales[i], &trial.increment[i]);
                    }
                    first += size;
                }
            }
        }
        self.multiplier_tolerances(
            RowKind::Holonomic,
            0,
            &trial.values.multipliers,
            settings,
            coefficients,
            out,
        );
        self.multiplier_tolerances(
            RowKind::Nonholonomic,
            0,
            &trial.values.nonholonomic_multipliers,
            settings,
            coefficients,
            out,
        );
        self.state_tolerances(settings, trial, coefficients, out);
    }

    /// Tolerances of copy `which` of scaled multipliers.
    pub fn multiplier_tolerances(
        &self,
        kind: RowKind,
        which: usize,
        multipliers: &[f64],
        settings: &Settings,
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.round_off));
        let before = if kind == RowKind::Nonholonomic { self.shape.constraint_count() } else { 0 };
        let relative = settings.multiplier_slack * rtol / coefficients.scale;
        let mut first = 0;
        for (start, size) in self.layout.multiplier_starts(kind, which) {
            for row in first..first + size {
                let shared = self.shared_round_off(before + row);
                out[start + row - first] = atol * self.length + relative * multipliers[row].abs() + shared;
            }
            first += size;
        }
    }

    /// Compliance of the nonholonomic constraints.
    pub fn nonholonomic_compliance(&self) -> &[f64] {
        self.compliance.get(self.shape.constraint_count()..).unwrap_or_default()
    }

    /// Puts h κ into the rows `which` of the nonholonomic constraints, less what they give way to ψ/s.
    pub fn nonholonomic_rows(
        &mut self,
        which: usize,
        multipliers: &[f64],
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let first = self.shape.constraint_count().min(self.compliance.len());
        self.nonholonomic.iter_mut().for_each(|value| *value *= coefficients.step);
        let factor = 1.0 / coefficients.scale;
        comply(&self.compliance[first..], multipliers, factor, &mut self.nonholonomic);
        self.layout.scatter(RowKind::Nonholonomic, which, &self.nonholonomic, out);
    }

    /// Adds the rows h (γ' A + κ_q T) of the nonholonomic constraints.
    pub fn add_nonholonomic_rows(
        &self,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
        out: &mut BlockMatrix,
    ) {
        let (tangent, part) = (&self.tangent, CopyIndex::FIRST);
        let factor = coefficients.step * coefficients.velocity;
        self.layout.add_rows(RowKind::Nonholonomic, &tangent.nonholonomic, None, factor, part, out);
        if matrix.is_complete() {
            let (operators, factor) = (Some(&self.operators), coefficients.step);
            self.layout.add_rows(
                RowKind::Nonholonomic,
                &tangent.nonholonomic_stiffness,
                operators,
                factor,
                part,
                out,
            );
        }
    }

    /// Adds a scaled change to ψ.
    pub fn correct_nonholonomic(
        &mut self,
        which: usize,
        increment: &[f64],
        factor: f64,
        multipliers: &mut [f64],
    ) {
        self.layout.gather(RowKind::Nonholonomic, which, increment, &mut self.nonholonomic_scratch);
        multipliers
            .iter_mut()
            .zip(&self.nonholonomic_scratch)
            .for_each(|(psi, change)| *psi += factor * change);
    }

    /// Fits the smallest tolerance to the size of the coordinates at the start of a step.
    pub fn set_round_off(&mut self, configuration: &[f64]) {
        let extent = configuration.iter().fold(self.length, |extent, value| extent.max(value.abs()));
        self.round_off = ROUND_OFF * extent / self.length;
        self.violation_round_off = VIOLATION_ROUND_OFF * extent;
    }

    /// Rounding of a multiplier that shares its reaction with others: where constraints contradict each other
    /// by a rounding error of their violations, they give way by as much, each with compliance × multiplier.
    pub fn shared_round_off(&self, constraint: usize) -> f64 {
        match self.compliance.get(constraint) {
            Some(&compliance) if compliance > 0.0 => self.violation_round_off / compliance,
            _ => 0.0,
        }
    }

    /// Rounding of an increment where constraints lose rank: with the compliance ε a singular value σ of B
    /// turns a violation into an increment σ/(σ² + ε) times as large, which is at most 1/(2 √ε).
    fn singular_round_off(&self) -> f64 {
        if !self.yielding {
            return 0.0;
        }
        let smallest = self.compliance.iter().copied().fold(f64::INFINITY, f64::min);
        0.5 * self.violation_round_off / smallest.sqrt()
    }
}
