//! The equations of equilibrium with their arrays: residual, matrix, corrections.
//!
//! Unknowns are δ in the Lie algebra and λ/s, equations r/s and Φ, with s a mean stiffness, as in
//! [BottassoBauchauCardona2007, Eq. (28)] without masses.

use std::sync::Arc;

use super::newton::{Failure, Solved};
use super::{Equilibrium, StaticSettings, StaticStatistics};
use crate::constrained::{
    Copies, CopyIndex, Layout, Redundancy, RowKind, StateScaling, compliance, coordinate_scales,
};
use crate::dae::turning::add_turned;
use crate::dae::{
    Dae, Equation, Initial, Point, ResidualValues, Shape, Tangent, TangentWeights, Values, Wanted, ask,
};
use crate::lie::{Group, Vector3, Vector6, pose, quaternion};
use crate::solve::block::BlockMatrix;
use crate::solve::linear::LinearSolver;

/// The equilibrium of one system.
pub(super) struct Problem<'d> {
    pub dae: &'d dyn Dae,
    pub shape: Shape,
    pub layout: Layout,
    pub matrix: BlockMatrix,
    solver: LinearSolver,
    tangent: Tangent,
    load_stiffness: BlockMatrix,
    /// Size of each velocity coordinate: 1 rad or the system's length.
    pub coordinate_scales: Vec<f64>,
    pub length: f64,
    compliance: Vec<f64>,
    /// Mean stiffness s; found at the first factorisation.
    pub scale: Option<f64>,
    pub spin: Vector6,
    /// Stiffness against lengths and angles that is added to K, in mean stiffnesses.
    pub shift: f64,
    /// Whether the matrix is to hold the section forces that the point remembers in place of those of its
    /// configuration.
    pub takes_remembered_forces: bool,
    /// Forces and rates that are taken off, and the part of them that is.
    held: Vec<f64>,
    pub held_part: f64,
    /// Residual of all equations, scaled.
    pub residual: Vec<f64>,
    /// Derivative of the residual by the load factor, scaled.
    loads: Vec<f64>,
    /// −A⁻¹ ∂F/∂μ with the last factors.
    pub load_correction: Vec<f64>,
    equations: ResidualValues,
    /// Size of each state.
    state_scales: Vec<f64>,
    /// The memory for which the matrix has its blocks.
    fitted: Vec<f64>,
    pub statistics: StaticStatistics,
}

/// Most times that parts which may touch are found anew in one load step.
const MAX_COUPLINGS: usize = 20;

/// A matrix without inverse: an unknown that it does not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undetermined(pub usize);

impl<'d> Problem<'d> {
    pub fn new(dae: &'d dyn Dae, settings: &StaticSettings, redundancy: &Redundancy) -> Self {
        let (shape, couplings) = (dae.shape(), dae.couplings(None));
        let length = shape.scales.length;
        let layout = Layout::new(&shape, &couplings, Copies::ONE, []);
        let size = layout.pattern.row_count();
        Self {
            state_scales: shape.scales_of_states(),
            fitted: vec![0.0; shape.memory],
            matrix: BlockMatrix::zeros(Arc::clone(&layout.pattern)),
            solver: LinearSolver::new(&layout.pattern, &layout.roles),
            tangent: Tangent::zeros(&couplings),
            load_stiffness: BlockMatrix::zeros(Arc::clone(&couplings.force_node)),
            coordinate_scales: coordinate_scales(&shape, length),
            length,
            compliance: compliance(dae, redundancy),
            scale: None,
            spin: settings.spin,
            shift: 0.0,
            takes_remembered_forces: false,
            held: Vec::new(),
            held_part: 0.0,
            residual: vec![0.0; size],
            loads: vec![0.0; shape.velocity_count()],
            load_correction: vec![0.0; size],
            equations: ResidualValues::zeros(&shape),
            statistics: StaticStatistics::default(),
            dae,
            shape,
            layout,
        }
    }

    /// The unloaded system at a configuration.
    pub fn at_rest(&self, initial: &Initial, configuration: Vec<f64>) -> Equilibrium {
        let values = Values {
            time: initial.time,
            configuration,
            internal_states: initial.internal_states.clone(),
            ..Values::zeros(&self.shape)
        };
        let mut start = Equilibrium { load_factor: 0.0, values };
        self.set_velocity(&mut start);
        self.remember(&mut start);
        start
    }

    /// Gives the matrix the blocks that go with a memory: parts that may touch come and go.
    pub fn fit(&mut self, memory: &[f64]) {
        if !self.dae.couplings_differ(&self.fitted, memory) {
            return;
        }
        let couplings = self.dae.couplings(Some(memory));
        self.layout = Layout::new(&self.shape, &couplings, Copies::ONE, []);
        self.matrix = BlockMatrix::zeros(Arc::clone(&self.layout.pattern));
        self.solver = LinearSolver::new(&self.layout.pattern, &self.layout.roles);
        self.tangent = Tangent::zeros(&couplings);
        self.load_stiffness = BlockMatrix::zeros(Arc::clone(&couplings.force_node));
        self.fitted = memory.to_vec();
    }

    /// Solves again where parts have moved so far that others may touch now.
    pub fn with_new_couplings(
        &mut self,
        mut solved: Solved,
        settings: &StaticSettings,
    ) -> Result<Solved, Failure> {
        for _ in 0..MAX_COUPLINGS {
            self.remember(&mut solved.equilibrium);
            if !self.dae.couplings_differ(&self.fitted, &solved.equilibrium.values.memory) {
                return Ok(solved);
            }
            let Solved { motion, corrections, .. } = solved;
            solved = self.newton(&solved.equilibrium, None, settings.tolerance, settings.max_iterations)?;
            solved.motion.iter_mut().zip(&motion).for_each(|(all, first)| *all += first);
            solved.corrections.splice(0..0, corrections);
        }
        let correction = solved.corrections.last().copied().unwrap_or(0.0);
        Err(Failure::NotConverged { iterations: solved.corrections.len(), correction })
    }

    /// Lets the system renew its memory.
    pub fn remember(&self, at: &mut Equilibrium) {
        let mut memory = at.values.memory.clone();
        self.dae.remember(&at.point(), &mut memory);
        at.values.memory = memory;
    }

    /// Lets remembered section forces follow the corrections since a configuration at which the matrix was
    /// factored.
    pub fn follow(&self, configuration: &[f64], at: &mut Equilibrium) {
        let mut memory = at.values.memory.clone();
        let before = Point { configuration, ..at.point() };
        ask(self.dae, &at.point(), Wanted { followed: Some((before, &mut memory[..])), ..Wanted::default() });
        at.values.memory = memory;
    }

    /// Moves to q ∘ exp(δ̃), λ + s δλ.
    pub fn moved(&self, from: &Equilibrium, correction: &[f64], load_change: f64, part: f64) -> Equilibrium {
        let mut to = from.clone();
        let increment: Vec<f64> =
            correction[..self.shape.velocity_count()].iter().map(|value| part * value).collect();
        self.shape.space.compose_exp(&from.values.configuration, &increment, &mut to.values.configuration);
        let mut changes = vec![0.0; self.shape.constraint_count()];
        self.layout.gather(RowKind::Holonomic, 0, correction, &mut changes);
        let factor = part * self.scale.unwrap_or(1.0);
        to.values
            .multipliers
            .iter_mut()
            .zip(&changes)
            .for_each(|(lambda, change)| *lambda += factor * change);
        let changes = &correction[self.layout.first_state()..];
        to.values.internal_states.iter_mut().zip(changes).for_each(|(c, change)| *c += part * change);
        to.load_factor += part * load_change;
        self.set_velocity(&mut to);
        to
    }

    /// Twists in body axes of a machine that spins as a whole.
    fn set_velocity(&self, at: &mut Equilibrium) {
        if self.spin == Vector6::zeros() {
            return;
        }
        let (omega, origin): (Vector3, Vector3) =
            (self.spin.fixed_rows::<3>(0).into(), self.spin.fixed_rows::<3>(3).into());
        for node in 0..self.shape.space.factor_count() {
            let q = &at.values.configuration[self.shape.space.coordinate_range(node)];
            let v = &mut at.values.velocity[self.shape.space.velocity_range(node)];
            match self.shape.space.group(node) {
                Group::So3 => {
                    let turned: Vector3 = quaternion(q).inverse_transform_vector(&omega);
                    v.copy_from_slice(turned.as_slice());
                }
                _ => {
                    let pose = pose(q);
                    let to_body = |vector: Vector3| pose.rotation.inverse_transform_vector(&vector);
                    let velocity = origin + omega.cross(&pose.position);
                    v[..3].copy_from_slice(to_body(omega).as_slice());
                    v[3..].copy_from_slice(to_body(velocity).as_slice());
                }
            }
        }
    }

    /// Evaluates the scaled residual and what the load factor changes in it.
    pub fn evaluate(&mut self, at: &Equilibrium) -> Result<(), Equation> {
        self.loads.fill(0.0);
        let wanted = Wanted {
            residual: Some(self.equations.cleared()),
            loads: Some(&mut self.loads),
            ..Wanted::default()
        };
        ask(self.dae, &at.point(), wanted);
        let inverse = 1.0 / self.scale.unwrap_or(1.0);
        let factor = at.load_factor - 1.0;
        for ((out, force), load) in
            self.residual.iter_mut().zip(&self.equations.equilibrium).zip(&mut self.loads)
        {
            *out = inverse * (force + factor * *load);
            *load *= inverse;
        }
        for ((violation, compliance), lambda) in
            self.equations.violation.iter_mut().zip(&self.compliance).zip(&at.values.multipliers)
        {
            *violation -= compliance * inverse * lambda;
        }
        self.layout.scatter(RowKind::Holonomic, 0, &self.equations.violation, &mut self.residual);
        let first = self.layout.first_state();
        self.residual[first..].copy_from_slice(&self.equations.internal_rates);
        if self.held_part != 0.0 {
            let count = self.shape.velocity_count();
            for (index, (out, held)) in self.residual.iter_mut().zip(&self.held).enumerate() {
                *out -= self.held_part * held * if index < count { inverse } else { 1.0 };
            }
        }
        match self.residual.iter().position(|value| !value.is_finite()) {
            Some(row) => Err(self.layout.equation(row)),
            None => Ok(()),
        }
    }

    /// What is not finite where an equation is not: what a part gives, or else the equation.
    pub fn culprit(&self, equation: Equation, at: &Equilibrium) -> String {
        crate::constrained::blame(self.dae.describe(equation), self.dae.blame(&at.point()))
    }

    /// Takes off, from now on, what does not balance at a point.
    pub fn hold(&mut self, at: &Equilibrium) -> Result<(), Failure> {
        self.held_part = 0.0;
        self.evaluate(at).map_err(Failure::NotFinite)?;
        let (count, first) = (self.shape.velocity_count(), self.layout.first_state());
        self.held = self.residual.clone();
        self.held[..count].iter_mut().for_each(|force| *force *= self.scale.unwrap_or(1.0));
        self.held[count..first].fill(0.0);
        self.held_part = 1.0;
        Ok(())
    }

    /// Whether a load factor changes anything where the residual was evaluated last.
    pub fn is_loaded(&self) -> bool {
        self.loads.iter().any(|load| *load != 0.0)
    }

    /// Factors the matrix at a point; needs the residual there.
    pub fn factor(&mut self, at: &Equilibrium) -> Result<(), Undetermined> {
        self.assemble(at);
        self.statistics.iterations += 1;
        match self.solver.factor(&self.matrix) {
            Ok(_) => {}
            Err(singular) => return Err(Undetermined(singular.unknown)),
        }
        self.load_correction.fill(0.0);
        self.load_correction.iter_mut().zip(&self.loads).for_each(|(out, load)| *out = -load);
        self.solver.solve(&mut self.load_correction);
        Ok(())
    }

    /// Writes [K/s Bᵀ; B −ε] of a point into the matrix; chooses s the first time and rescales the residual
    /// with it.
    pub fn assemble(&mut self, at: &Equilibrium) {
        let spins = self.spin != Vector6::zeros();
        self.tangent.clear();
        let weights = TangentWeights {
            mass: 0.0,
            damping: if spins { 1.0 } else { 0.0 },
            stiffness: true,
            remembered_forces: self.takes_remembered_forces,
        };
        self.load_stiffness.fill(0.0);
        let wanted = Wanted {
            tangent: Some((weights, &mut self.tangent)),
            load_stiffness: (at.load_factor != 1.0).then_some(&mut self.load_stiffness),
            ..Wanted::default()
        };
        ask(self.dae, &at.point(), wanted);
        if at.load_factor != 1.0 {
            let (factor, loads) = (at.load_factor - 1.0, self.load_stiffness.values());
            self.tangent.stiffness.values_mut().iter_mut().zip(loads).for_each(|(k, p)| *k += factor * p);
        }
        if spins {
            let Tangent { dynamic, stiffness, .. } = &mut self.tangent;
            add_turned(&self.shape.space, &at.values.velocity, 1.0, dynamic, stiffness);
        }
        let Tangent { dynamic, stiffness, .. } = &mut self.tangent;
        dynamic.values_mut().copy_from_slice(stiffness.values());
        if self.scale.is_none() {
            self.choose_scale();
        }
        self.matrix.fill(0.0);
        let inverse = 1.0 / self.scale.unwrap_or(1.0);
        self.layout.add_forces(&self.tangent, None, inverse, &mut self.matrix);
        self.layout.add_gradient(&self.shape, &self.tangent, None, &mut self.matrix);
        if !self.compliance.is_empty() {
            self.layout.subtract_compliance(
                RowKind::Holonomic,
                &self.compliance,
                CopyIndex::FIRST,
                &mut self.matrix,
            );
        }
        if self.shift != 0.0 {
            self.add_shift();
        }
        self.add_states(inverse);
    }

    /// Adds the derivatives of and by states: of h itself by c itself.
    fn add_states(&mut self, inverse: f64) {
        let (layout, tangent, matrix) = (&self.layout, &self.tangent, &mut self.matrix);
        let scaling = StateScaling {
            inertia: 0.0,
            rate: [1.0; 2],
            unknown: [1.0; 2],
            force: inverse,
            multiplier: 1.0 / inverse,
        };
        layout.add_states(tangent, &scaling, matrix);
        layout.add_state_forces(&tangent.state_force, 1.0, &scaling, 0, matrix);
        layout.add_state_nodes(&tangent.state_stiffness, None, 1.0, &scaling, 0, matrix);
    }

    /// Largest change of a state in a correction, in units of its scale.
    pub fn largest_state_change(&self, correction: &[f64]) -> f64 {
        let changes = correction[self.layout.first_state()..].iter().zip(&self.state_scales);
        changes.fold(0.0, |largest, (change, scale)| largest.max((change / scale).abs()))
    }

    /// D of a velocity coordinate: 1 for lengths, L² for angles.
    pub fn weight(&self, coordinate: usize) -> f64 {
        let arm = self.length / self.coordinate_scales[coordinate];
        arm * arm
    }

    /// Adds σD to the blocks of the nodes: σ for lengths, σL² for angles.
    fn add_shift(&mut self) {
        let (pattern, count) = (Arc::clone(&self.layout.pattern), self.shape.velocity_count());
        let weights: Vec<f64> = (0..count).map(|coordinate| self.weight(coordinate)).collect();
        for (block, _, column) in pattern.blocks().filter(|(_, row, column)| row == column) {
            let range = pattern.column_range(column);
            if range.end <= count {
                let mut view = self.matrix.block_mut(block);
                for (i, coordinate) in range.enumerate() {
                    view[(i, i)] += self.shift * weights[coordinate];
                }
            }
        }
    }

    /// Mean of |K_ii| in units of force per length; of the forces per length where there is no stiffness.
    fn choose_scale(&mut self) {
        let length = self.length;
        let pattern = Arc::clone(self.tangent.dynamic.pattern());
        let mut sum = 0.0;
        for (block, _, column) in pattern.blocks().filter(|(_, row, column)| row == column) {
            let view = self.tangent.dynamic.block(block);
            let scales = &self.coordinate_scales[pattern.column_range(column)];
            sum += scales.iter().enumerate().map(|(i, s)| view[(i, i)].abs() * s * s).sum::<f64>();
        }
        let mean = sum / (length * length * self.coordinate_scales.len().max(1) as f64);
        let force = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let by_force = force(&self.equations.equilibrium).max(force(&self.loads)) / length;
        let scale = [mean, by_force, 1.0].into_iter().find(|scale| scale.is_finite() && *scale > 0.0);
        let scale = scale.unwrap_or(1.0);
        self.scale = Some(scale);
        let count = self.shape.velocity_count();
        self.residual[..count].iter_mut().chain(&mut self.loads).for_each(|value| *value /= scale);
    }

    /// −A⁻¹F with the last factors and the last residual.
    pub fn correction(&mut self) -> Vec<f64> {
        let mut correction: Vec<f64> = self.residual.iter().map(|value| -value).collect();
        self.solver.solve(&mut correction);
        correction
    }

    /// Root of the sum of squares of a motion in lengths of the system and rad.
    pub fn norm(&self, motion: &[f64]) -> f64 {
        let squares = motion.iter().zip(&self.coordinate_scales).map(|(x, s)| (x / s) * (x / s));
        squares.sum::<f64>().sqrt()
    }

    /// Largest entry of a motion in lengths of the system and rad.
    pub fn largest(&self, motion: &[f64]) -> f64 {
        motion.iter().zip(&self.coordinate_scales).fold(0.0, |largest, (x, s)| largest.max((x / s).abs()))
    }

    /// Largest angle by which a motion turns a node.
    pub fn largest_turn(&self, motion: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for node in 0..self.shape.space.factor_count() {
            if !matches!(self.shape.space.group(node), Group::Vector(_)) {
                let start = self.shape.space.velocity_range(node).start;
                let turn = &motion[start..start + 3];
                largest = largest.max(turn.iter().map(|x| x * x).sum::<f64>().sqrt());
            }
        }
        largest
    }

    /// The balance of the unknown that a motion changes most.
    pub fn most_moved(&self, motion: &[f64]) -> String {
        let count = self.shape.velocity_count();
        let sizes = motion[..count].iter().zip(&self.coordinate_scales).map(|(x, s)| (x / s).abs());
        let most = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        self.dae.describe(Equation::Equilibrium(most))
    }

    /// The equation with the largest residual.
    pub fn worst(&self) -> String {
        let sizes = self.residual.iter().map(|value| value.abs()).enumerate();
        let worst = sizes.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        self.dae.describe(self.layout.equation(worst))
    }
}
