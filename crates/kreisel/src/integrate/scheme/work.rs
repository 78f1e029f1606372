//! What implicit methods share in one step: coefficients, equations, derivatives, tolerances.

use std::sync::Arc;

use super::super::settings::{IterationMatrix, Settings};
use super::Trial;
use super::first_order::StateParameters;
use crate::constrained::{CopyIndex, Layout, RowKind, comply, coordinate_scales};
use crate::dae::{
    Couplings, Dae, Hidden, Merged, Point, Reactions, ResidualValues, Shape, Tangent, TangentOperators,
    TangentWeights, Values, Wanted, ask,
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

/// Accelerations with a larger relative error by rounding are lost.
const LOST: f64 = 1e-3;

/// Arrays of a step; they can be rebuilt from the state.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub shape: Arc<Shape>,
    pub layout: Layout,
    pub tangent: Tangent,
    /// T of all nodes where the matrix was evaluated, or T⁻¹ if it is one of displacements y = T x of the
    /// moved nodes.
    pub operators: TangentOperators,
    /// B(q_n) W, for `index2`.
    pub base_gradient: BlockMatrix,
    pub residual: ResidualValues,
    pub sizes: Sizes,
    /// Which states are algebraic.
    pub algebraic: Vec<bool>,
    /// Compliance of redundant constraints, the holonomic ones first; empty if there are none.
    pub compliance: Vec<f64>,
    /// Whether all constraints give way, to pass a singular position.
    pub compliant_retry: bool,
    pub scratch: StepScratch,
    /// Requests that were answered by differences.
    pub differenced: u64,
    /// No acceleration, for forces without inertia.
    rest: Vec<f64>,
    follower: MemoryFollower,
}

/// Sizes against which increments are judged.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Of each velocity coordinate: 1 rad or the system's length.
    coordinates: Vec<f64>,
    /// The length over the longest arm of a part: rounding of turns over that of positions, by their sizes.
    turn_round_off: f64,
    /// Whether each velocity coordinate is a turn.
    is_turn: Vec<bool>,
    /// Of each state.
    pub internal_states: Vec<f64>,
    /// Of scaled multipliers: the system's length.
    pub length: f64,
    /// Smallest tolerance of an increment, in units of the length: positions far from the origin carry more
    /// rounding.
    pub round_off: f64,
    /// Rounding of a violation.
    violation_round_off: f64,
}

impl Sizes {
    /// What rounding adds to an estimate of the local error, in units of the length.
    ///
    /// Where accelerations follow from positions, by two divisions by h, h² a has the rounding of an
    /// increment however small the step is, and so has the local error C h² (a_{n+1} − a_n). Otherwise forces
    /// have the rounding of positions, which is less.
    pub fn error_floor(&self, follows_positions: bool) -> f64 {
        if follows_positions { self.round_off } else { self.violation_round_off / self.length }
    }
}

/// Numbers that are needed for a moment.
#[derive(Clone, Debug)]
pub(super) struct StepScratch {
    /// One per velocity coordinate.
    pub nodes: Vec<f64>,
    /// One per constraint.
    pub constraints: Vec<f64>,
    /// One per nonholonomic constraint.
    pub nonholonomic: Vec<f64>,
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
            let followed = Some((before, &mut self.memory[..]));
            ask(dae, &values.point(), Wanted { followed, ..Wanted::default() });
            std::mem::swap(&mut self.memory, &mut values.memory);
        }
        self.configuration.copy_from_slice(&values.configuration);
        self.has_matrix = true;
    }
}

impl Workspace {
    pub fn new(shape: Arc<Shape>, couplings: &Couplings, layout: Layout) -> Self {
        let length = shape.scales.length;
        let zeros = |count: usize| vec![0.0; count];
        Self {
            algebraic: shape.algebraic_states().collect(),
            follower: MemoryFollower::new(&shape),
            tangent: Tangent::zeros(couplings),
            operators: TangentOperators::new(&shape.space),
            base_gradient: BlockMatrix::zeros(Arc::clone(&couplings.constraint_node)),
            residual: ResidualValues::zeros(&shape),
            sizes: Sizes {
                coordinates: coordinate_scales(&shape, length),
                turn_round_off: shape.scales.arm.map_or(1.0, |arm| (length / arm).max(1.0)),
                is_turn: coordinate_scales(&shape, 0.0).into_iter().map(|size| size > 0.0).collect(),
                internal_states: shape.scales_of_states(),
                length,
                round_off: ROUND_OFF,
                violation_round_off: VIOLATION_ROUND_OFF * length,
            },
            compliance: Vec::new(),
            compliant_retry: false,
            scratch: StepScratch {
                nodes: zeros(shape.velocity_count()),
                constraints: zeros(shape.constraint_count()),
                nonholonomic: zeros(shape.nonholonomic_count()),
            },
            differenced: 0,
            rest: zeros(shape.velocity_count()),
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
            let scales = &self.sizes.coordinates[pattern.column_range(columns)];
            let columns = self.base_gradient.block_values_mut(block).chunks_exact_mut(rows.max(1));
            for (column, scale) in columns.zip(scales) {
                let weight = scale / self.sizes.length;
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

    /// Evaluates the equations and, into the scratch of the constraints, the hidden constraints B v + Φ_t at
    /// the trial values.
    pub fn evaluate_with_rates(&mut self, dae: &dyn Dae, base: &[f64], trial: &mut Trial) {
        self.move_to(base, trial);
        let rates = &mut self.scratch.constraints;
        rates.fill(0.0);
        let room = Some(&mut self.tangent.gradient);
        let wanted = Wanted {
            residual: Some(self.residual.cleared()),
            hidden: Some(Hidden { rates, room, rheonomic: self.shape.rheonomic }),
            ..Wanted::default()
        };
        self.differenced += ask(dae, &trial.values.point(), wanted).count();
    }

    /// Evaluates the equations at a point.
    pub fn evaluate_at(&mut self, dae: &dyn Dae, at: &Point) {
        dae.residual(at, &mut self.residual.cleared());
    }

    /// Evaluates the derivatives at a point.
    pub fn differentiate_at(&mut self, dae: &dyn Dae, at: &Point, weights: TangentWeights) {
        self.tangent.clear();
        let tangent = Some((weights, &mut self.tangent));
        self.differenced += ask(dae, at, Wanted { tangent, ..Wanted::default() }).count();
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
        self.differentiate_at(dae, &trial.values.point(), weights);
        self.operators.evaluate(&self.shape.space, &trial.increment);
    }

    /// Evaluates the derivatives and sets an iteration matrix with one copy of the nodes to (dynamic T⁻¹ +
    /// stiffness)/s, for systems that merge: the matrix of increments x times T⁻¹. Multiplied by T⁻¹, its
    /// solutions y are increments again.
    ///
    /// Where a node turns by 2π in a step, or nonholonomic constraints and states have rows with other
    /// operators, the matrix is that of x. Where derivatives of the hidden constraints are wanted, the
    /// dynamic part and B are left in the tangent by themselves as well. B goes to the matrix if it has no
    /// operator, and what comes back tells whether it did. With `residual_too` the equations, and the hidden
    /// constraints if these are wanted, are evaluated in the same pass.
    pub fn merge_forces(
        &mut self,
        dae: &dyn Dae,
        trial: &mut Trial,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
        residual_too: bool,
        out: &mut BlockMatrix,
    ) -> bool {
        let weights =
            TangentWeights { mass: coefficients.acceleration, ..coefficients.force_weights(matrix) };
        self.follow(dae, trial, matrix);
        let Self { shape, layout, tangent, operators, scratch, .. } = self;
        let may_invert = shape.nonholonomic.is_empty() && shape.internal_states.is_empty();
        if !(may_invert && operators.evaluate_inverse(&shape.space, &trial.increment)) {
            operators.evaluate(&shape.space, &trial.increment);
        }
        let gradient_too = operators.inverse && shape.reactions == Reactions::Gradient;
        let hidden_wanted = tangent.hidden_wanted;
        if hidden_wanted {
            tangent.dynamic.fill(0.0);
        }
        if hidden_wanted || !gradient_too {
            tangent.gradient.fill(0.0);
        }
        tangent.clear_the_rest();
        let mut wanted = Wanted {
            tangent: Some((weights, tangent)),
            merged: Some(Merged {
                matrix: out,
                places: layout.force_places(),
                rows: gradient_too.then(|| layout.gradient_places()),
                operators,
                factor: 1.0 / coefficients.scale,
            }),
            ..Wanted::default()
        };
        if residual_too {
            wanted.residual = Some(self.residual.cleared());
        }
        if residual_too && hidden_wanted {
            scratch.constraints.fill(0.0);
            let rates = &mut scratch.constraints;
            wanted.hidden = Some(Hidden { rates, room: None, rheonomic: shape.rheonomic });
        }
        self.differenced += ask(dae, &trial.values.point(), wanted).count();
        gradient_too
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
        let at = Point { acceleration: &rest, ..trial.values.point() };
        self.differentiate_at(dae, &at, coefficients.force_weights(matrix));
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
        let (rtol, sizes) = (settings.newton_rtol, &self.sizes);
        let atol =
            [1.0, sizes.turn_round_off].map(|factor| settings.newton_atol.max(factor * sizes.round_off));
        let doubt = self.singular_round_off();
        let of_increment = |(scale, is_turn): (&f64, &bool), x: &f64| {
            atol[usize::from(*is_turn)] * scale + rtol * x.abs() + doubt
        };
        if self.layout.node_copies() == 1 {
            // All of them stand together.
            let pairs = sizes.coordinates.iter().zip(&sizes.is_turn).zip(&trial.increment);
            out.iter_mut().zip(pairs).for_each(|(out, (size, x))| *out = of_increment(size, x));
        } else {
            for copy in 0..self.layout.node_copies() {
                let mut first = 0;
                for (start, size) in self.layout.node_starts(copy) {
                    for i in first..first + size {
                        out[start + i - first] =
                            of_increment((&sizes.coordinates[i], &sizes.is_turn[i]), &trial.increment[i]);
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
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.sizes.round_off));
        let before = if kind == RowKind::Nonholonomic { self.shape.constraint_count() } else { 0 };
        let relative = settings.multiplier_slack * rtol / coefficients.scale;
        let mut first = 0;
        for (start, size) in self.layout.multiplier_starts(kind, which) {
            for row in first..first + size {
                let shared = self.shared_round_off(before + row);
                out[start + row - first] =
                    atol * self.sizes.length + relative * multipliers[row].abs() + shared;
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
        self.residual.nonholonomic.iter_mut().for_each(|value| *value *= coefficients.step);
        let factor = 1.0 / coefficients.scale;
        comply(&self.compliance[first..], multipliers, factor, &mut self.residual.nonholonomic);
        self.layout.scatter(RowKind::Nonholonomic, which, &self.residual.nonholonomic, out);
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
        self.layout.gather(RowKind::Nonholonomic, which, increment, &mut self.scratch.nonholonomic);
        multipliers
            .iter_mut()
            .zip(&self.scratch.nonholonomic)
            .for_each(|(psi, change)| *psi += factor * change);
    }

    /// Fits the smallest tolerance to the size of the coordinates at the start of a step.
    pub fn set_round_off(&mut self, configuration: &[f64]) {
        let extent = configuration.iter().fold(self.sizes.length, |extent, value| extent.max(value.abs()));
        self.sizes.round_off = ROUND_OFF * extent / self.sizes.length;
        self.sizes.violation_round_off = VIOLATION_ROUND_OFF * extent;
    }

    /// Whether accelerations that follow from positions at the end of a step are lost in rounding: they have
    /// that of an increment, divided by h². `before` are those before the step, in what time the motion is
    /// looked at.
    pub fn loses_accelerations(&self, before: &[f64], step: f64, time: f64) -> bool {
        let scaled = before.iter().zip(&self.sizes.coordinates).map(|(value, scale)| value.abs() / scale);
        let largest = scaled.fold(1.0 / (time * time), f64::max);
        self.sizes.round_off > LOST * step * step * largest
    }

    /// Rounding of a multiplier that shares its reaction with others: where constraints contradict each other
    /// by a rounding error of their violations, they give way by as much, each with compliance × multiplier.
    pub fn shared_round_off(&self, constraint: usize) -> f64 {
        match self.compliance.get(constraint) {
            Some(&compliance) if compliance > 0.0 => self.sizes.violation_round_off / compliance,
            _ => 0.0,
        }
    }

    /// Rounding of an increment where constraints lose rank: with the compliance ε a singular value σ of B
    /// turns a violation into an increment σ/(σ² + ε) times as large, which is at most 1/(2 √ε).
    fn singular_round_off(&self) -> f64 {
        if !self.compliant_retry {
            return 0.0;
        }
        let smallest = self.compliance.iter().copied().fold(f64::INFINITY, f64::min);
        0.5 * self.sizes.violation_round_off / smallest.sqrt()
    }
}
