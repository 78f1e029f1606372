//! Consistent positions, velocities, accelerations and multipliers.
//!
//! All of them are solutions of the block system
//!
//! ```text
//! | M  Bᵀ  Aᵀ |
//! | B  0   0  |                                        [ArnoldCardonaBruls2015, Eq. (20)]
//! | A  0   0  |
//! ```
//!
//! solved as one system, so that M may be singular as long as it is definite on the motions that the
//! constraints allow. Rows of forces are divided by the mass scale m, and the multipliers with them.

use super::compliance::comply;
use super::error::ConsistencyError;
use super::layout::{Copies, CopyIndex, Layout, RowKind, StateScaling};
use crate::dae::{
    Dae, Equation, Point, Reactions, ResidualValues, Shape, Tangent, TangentOperators, TangentWeights,
    Values, Wanted, ask,
};
use crate::solve::block::BlockMatrix;
use crate::solve::linear::LinearSolver;

/// What was not determined or not found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KktFailure {
    Singular(Equation),
    NotFinite(Equation),
}

impl KktFailure {
    pub fn at_start(self, dae: &dyn Dae, time: f64) -> ConsistencyError {
        match self {
            Self::Singular(equation) => ConsistencyError::Singular { equation: dae.describe(equation) },
            Self::NotFinite(equation) => {
                ConsistencyError::NotFinite { equation: dae.describe(equation), time }
            }
        }
    }
}

/// Consistent values of one system.
pub(crate) struct Kkt {
    /// At rest, with the internal states and the memory at which equations are evaluated.
    pub rest: Values,
    pub system: BlockSystem,
    pub base: Vec<f64>,
}

/// The block system with its arrays.
pub(crate) struct BlockSystem {
    pub shape: Shape,
    /// The shape with reactions along B and A, whatever the system's own: for what is kinematic.
    kinematic_shape: Shape,
    pub layout: Layout,
    pub tangent: Tangent,
    pub matrix: BlockMatrix,
    pub solver: LinearSolver,
    operators: TangentOperators,
    pub mass_scale: f64,
    /// Velocity coordinates that do not change, for now; none if empty.
    pub held: Vec<bool>,
    /// Velocity coordinates whose change counts [`EMPHASIS`] times, for now; none if empty.
    pub stressed: Vec<bool>,
    /// Compliance of redundant constraints, the holonomic ones first; empty if there are none.
    pub compliance: Vec<f64>,
    /// Right side, then solution.
    pub unknowns: Vec<f64>,
    right_side: Vec<f64>,
    correction: Vec<f64>,
    pub residual: ResidualValues,
    /// Requests that were answered by differences.
    pub differenced: u64,
    /// Evaluations of the equations and factorisations so far.
    pub evaluations: u64,
    pub factorisations: u64,
}

/// Largest number of iterations for consistent positions, nonlinear nonholonomic constraints and forces
/// nonlinear in λ.
pub(crate) const MAX_ITERATIONS: usize = 50;

/// Refinements of a solution with compliant constraints.
pub(super) const REFINEMENTS: usize = 2;

/// Nonholonomic constraints count as met below this part of the velocities: some hundred ε, as one solution
/// of the linear system leaves.
pub(crate) const NONHOLONOMIC_TOLERANCE: f64 = 1e-13;

impl BlockSystem {
    fn new(dae: &dyn Dae, shape: Shape, mass_scale: f64) -> Self {
        let couplings = dae.couplings(None);
        let layout = Layout::new(&shape, &couplings, Copies::ONE, []);
        Self {
            tangent: Tangent::zeros(&couplings),
            matrix: BlockMatrix::zeros(layout.pattern.clone()),
            solver: LinearSolver::new(&layout.pattern, &layout.roles),
            operators: TangentOperators::new(&shape.space),
            mass_scale,
            held: Vec::new(),
            stressed: Vec::new(),
            compliance: Vec::new(),
            unknowns: vec![0.0; layout.pattern.row_count()],
            right_side: vec![0.0; layout.pattern.row_count()],
            correction: vec![0.0; layout.pattern.row_count()],
            residual: ResidualValues::zeros(&shape),
            differenced: 0,
            evaluations: 0,
            factorisations: 0,
            layout,
            kinematic_shape: Shape { reactions: Reactions::Gradient, ..shape.clone() },
            shape,
        }
    }

    /// Factors the system for changes of position or velocity, which are the smallest with reactions along B
    /// and A.
    pub fn factor(&mut self, dae: &dyn Dae, at: &Point, increment: Option<&[f64]>) -> Result<(), KktFailure> {
        self.factor_with(dae, at, increment, true, 0.0)
    }

    /// The same with the stiffness times a factor beside the mass matrix.
    pub(super) fn factor_with(
        &mut self,
        dae: &dyn Dae,
        at: &Point,
        increment: Option<&[f64]>,
        kinematic: bool,
        stiffness: f64,
    ) -> Result<(), KktFailure> {
        self.tangent.clear();
        let weights =
            TangentWeights { mass: 1.0, damping: 0.0, stiffness: stiffness > 0.0, remembered_forces: false };
        let tangent = Some((weights, &mut self.tangent));
        self.differenced += ask(dae, at, Wanted { tangent, ..Wanted::default() }).count();
        self.matrix.fill(0.0);
        self.layout.add_forces(&self.tangent, None, 1.0 / self.mass_scale, &mut self.matrix);
        if stiffness > 0.0 {
            let (matrix, factor) = (&self.tangent.stiffness, stiffness / self.mass_scale);
            self.layout.add_nodes(matrix, None, factor, CopyIndex::FIRST, &mut self.matrix);
        }
        let operators = increment.map(|increment| {
            self.operators.evaluate(&self.shape.space, increment);
            &self.operators
        });
        let shape = if kinematic { &self.kinematic_shape } else { &self.shape };
        self.layout.add_gradient(shape, &self.tangent, operators, &mut self.matrix);
        if increment.is_some() {
            self.free_nonholonomic();
        } else {
            self.layout.add_nonholonomic(shape, &self.tangent, &mut self.matrix);
        }
        self.add_states(kinematic);
        if !self.compliance.is_empty() {
            let (holonomic, nonholonomic) = self.compliance.split_at(self.residual.violation.len());
            self.layout.subtract_compliance(
                RowKind::Holonomic,
                holonomic,
                CopyIndex::FIRST,
                &mut self.matrix,
            );
            self.layout.subtract_compliance(
                RowKind::Nonholonomic,
                nonholonomic,
                CopyIndex::FIRST,
                &mut self.matrix,
            );
        }
        if !self.stressed.is_empty() {
            self.stress();
        }
        if !self.held.is_empty() {
            self.hold();
        }
        self.factorisations += 1;
        match self.solver.factor(&self.matrix) {
            Ok(_) => Ok(()),
            Err(singular) => Err(KktFailure::Singular(self.layout.equation(singular.unknown))),
        }
    }

    /// First-order states are given, and so are algebraic ones where only kinematics counts; otherwise these
    /// satisfy 0 = h.
    fn add_states(&mut self, kinematic: bool) {
        if kinematic || !self.has_algebraic_states() {
            self.layout.hold_states(true, &mut self.matrix);
            return;
        }
        let scaling = StateScaling {
            inertia: 1.0,
            rate: [0.0, 1.0],
            unknown: [0.0, 1.0],
            force: 1.0 / self.mass_scale,
            multiplier: self.mass_scale,
        };
        self.layout.add_states(&self.tangent, &scaling, &mut self.matrix);
        self.layout.add_state_forces(&self.tangent.state_force, 1.0, &scaling, 0, &mut self.matrix);
    }

    pub(super) fn has_algebraic_states(&self) -> bool {
        self.shape.internal_states.iter().any(|group| group.algebraic)
    }

    /// Right sides −h of algebraic states; needs their rates.
    pub(super) fn algebraic_rows(&mut self) {
        let rows = self.unknowns[self.layout.first_state()..].iter_mut();
        for ((row, rate), algebraic) in
            rows.zip(&self.residual.internal_rates).zip(self.shape.algebraic_states())
        {
            *row = if algebraic { -rate } else { 0.0 };
        }
    }

    /// Positions need not heed conditions on velocities: their multipliers get an equation of their own.
    fn free_nonholonomic(&mut self) {
        for index in 0..self.shape.nonholonomic.len() {
            let group = self.layout.constraint_group(RowKind::Nonholonomic, index);
            if let Some(block) = self.layout.pattern.find(group, group) {
                self.matrix.block_mut(block).fill_diagonal(-1.0);
            }
        }
    }

    pub fn solve(&mut self) -> Result<(), KktFailure> {
        // Pivots as small as compliance have few digits, and nobody iterates here.
        let refinements = if self.compliance.is_empty() { 0 } else { REFINEMENTS };
        self.solve_refined(refinements)
    }

    /// Solves with so many refinements.
    pub(super) fn solve_refined(&mut self, refinements: usize) -> Result<(), KktFailure> {
        self.check_finite()?;
        self.right_side.copy_from_slice(&self.unknowns);
        self.solver.solve(&mut self.unknowns);
        for _ in 0..refinements {
            self.correction.copy_from_slice(&self.right_side);
            self.matrix.multiply_add(-1.0, &self.unknowns, &mut self.correction);
            self.solver.solve(&mut self.correction);
            self.unknowns.iter_mut().zip(&self.correction).for_each(|(value, change)| *value += change);
        }
        self.check_finite()
    }

    fn check_finite(&self) -> Result<(), KktFailure> {
        match self.unknowns.iter().position(|value| !value.is_finite()) {
            Some(row) => Err(KktFailure::NotFinite(self.layout.equation(row))),
            None => Ok(()),
        }
    }

    /// Evaluates all equations at a point.
    pub fn evaluate(&mut self, dae: &dyn Dae, at: &Point) {
        self.evaluations += 1;
        dae.residual(at, &mut self.residual.cleared());
    }

    /// Puts B v + Φ_t into `violation`; needs the gradient of a factored point.
    pub fn hidden_residual(&mut self, dae: &dyn Dae, at: &Point) {
        self.residual.violation.fill(0.0);
        if self.shape.rheonomic {
            let violation_rate = Some(&mut self.residual.violation[..]);
            self.differenced += ask(dae, at, Wanted { violation_rate, ..Wanted::default() }).count();
        }
        self.tangent.gradient.multiply_add(1.0, at.velocity, &mut self.residual.violation);
    }

    /// Puts `factor · violation` and `−nonholonomic` into the rows of the constraints.
    pub fn constraint_rows(&mut self, factor: f64) {
        self.residual.violation.iter_mut().for_each(|value| *value *= factor);
        self.layout.scatter(RowKind::Holonomic, 0, &self.residual.violation, &mut self.unknowns);
        self.residual.nonholonomic.iter_mut().for_each(|value| *value = -*value);
        self.layout.scatter(RowKind::Nonholonomic, 0, &self.residual.nonholonomic, &mut self.unknowns);
    }

    /// Puts B v̇ + curvature and A v̇ + its curvature into the rows of the constraints, with a minus.
    pub fn acceleration_rows(&mut self, dae: &dyn Dae, at: &Point) {
        let ResidualValues { violation, nonholonomic, .. } = &mut self.residual;
        violation.fill(0.0);
        nonholonomic.fill(0.0);
        let wanted = Wanted {
            curvature: (!violation.is_empty()).then_some(violation),
            nonholonomic_curvature: (!nonholonomic.is_empty()).then_some(nonholonomic),
            ..Wanted::default()
        };
        self.differenced += ask(dae, at, wanted).count();
        self.tangent.gradient.multiply_add(1.0, at.acceleration, &mut self.residual.violation);
        let factor = 1.0 / self.mass_scale;
        comply(&self.compliance, at.multipliers, factor, &mut self.residual.violation);
        self.tangent.nonholonomic.multiply_add(1.0, at.acceleration, &mut self.residual.nonholonomic);
        let nonholonomic_compliance =
            self.compliance.get(self.residual.violation.len()..).unwrap_or_default();
        comply(nonholonomic_compliance, at.nonholonomic_multipliers, factor, &mut self.residual.nonholonomic);
        self.constraint_rows(-1.0);
    }

    /// Adds the solution to accelerations and multipliers; gives its size relative to theirs.
    pub(super) fn apply(&mut self, out: &mut Values) -> f64 {
        let k = self.shape.velocity_count();
        let mut relative = 0.0_f64;
        let mut apply = |value: &mut f64, change: f64| {
            *value += change;
            relative = relative.max(change.abs() / value.abs().max(1.0));
        };
        out.acceleration.iter_mut().zip(&self.unknowns[..k]).for_each(|(a, d)| apply(a, *d));
        self.layout.gather(RowKind::Holonomic, 0, &self.unknowns, &mut self.residual.violation);
        out.multipliers
            .iter_mut()
            .zip(&self.residual.violation)
            .for_each(|(l, d)| apply(l, d * self.mass_scale));
        self.layout.gather(RowKind::Nonholonomic, 0, &self.unknowns, &mut self.residual.nonholonomic);
        out.nonholonomic_multipliers
            .iter_mut()
            .zip(&self.residual.nonholonomic)
            .for_each(|(p, d)| apply(p, d * self.mass_scale));
        let first = self.layout.first_state();
        out.internal_states.iter_mut().zip(&self.unknowns[first..]).for_each(|(c, d)| apply(c, *d));
        relative
    }
}

impl Kkt {
    pub fn new(dae: &dyn Dae, mass_scale: f64) -> Self {
        let shape = dae.shape();
        Self {
            rest: Values::zeros(&shape),
            base: vec![0.0; shape.space.coordinate_count()],
            system: BlockSystem::new(dae, shape, mass_scale),
        }
    }

    /// States and memory at which the equations are evaluated from now on.
    pub fn set_states(&mut self, internal_states: &[f64], memory: &[f64]) {
        self.rest.internal_states.copy_from_slice(internal_states);
        self.rest.memory.copy_from_slice(memory);
    }

    /// Lets redundant constraints give way.
    pub fn set_compliance(&mut self, compliance: &[f64]) {
        self.system.compliance = compliance.to_vec();
    }

    /// Lets the system renew its memory at a configuration.
    pub fn remember(&mut self, dae: &dyn Dae, time: f64, configuration: &[f64], memory: &mut [f64]) {
        dae.remember(&self.rest.point_at(time, configuration, &self.rest.velocity), memory);
        self.rest.memory.copy_from_slice(memory);
    }

    /// Multiplies the hidden residual B v + Φ_t by `factor`, and makes κ vanish, through the change of v that
    /// is smallest in the norm of the mass matrix; 0 projects [ArnoldCardonaBruls2015Projection, Eqs. (7)].
    ///
    /// Gives the largest residual found before.
    pub fn scale_hidden_residual(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &mut [f64],
        factor: f64,
    ) -> Result<f64, KktFailure> {
        let system = &mut self.system;
        if velocity.iter().all(|value| *value == 0.0)
            && !system.shape.rheonomic
            && system.residual.nonholonomic.is_empty()
        {
            // A machine at rest needs no factors to see that B v vanishes.
            return Ok(0.0);
        }
        let mut before = None;
        // Nonholonomic constraints may be nonlinear in v; linear ones are met in the first round.
        for round in 0..MAX_ITERATIONS {
            let at = self.rest.point_at(time, configuration, velocity);
            system.factor(dae, &at, None)?;
            system.evaluate(dae, &at);
            system.hidden_residual(dae, &at);
            let nonholonomic = largest(&system.residual.nonholonomic).1;
            before.get_or_insert(largest(&system.residual.violation).1.max(nonholonomic));
            // Compliant constraints are met as well as they can be after one more round.
            if round > 0
                && (nonholonomic <= NONHOLONOMIC_TOLERANCE * largest(velocity).1.max(1.0)
                    || !system.compliance.is_empty())
            {
                break;
            }
            system.unknowns.fill(0.0);
            system.constraint_rows(if round == 0 { factor - 1.0 } else { 0.0 });
            system.solve()?;
            velocity.iter_mut().zip(&system.unknowns).for_each(|(v, d)| *v += d);
            if system.residual.nonholonomic.is_empty() {
                break;
            }
        }
        Ok(before.unwrap_or(0.0))
    }

    /// Rates of the first-order states where everything else is known.
    fn internal_rates(&mut self, dae: &dyn Dae, at: &mut Values) {
        if at.internal_states.is_empty() {
            return;
        }
        self.system.evaluate(dae, &Point { memory: &self.rest.memory, ..at.point() });
        let rates = self.system.residual.internal_rates.iter().zip(self.system.shape.algebraic_states());
        for (out, (rate, algebraic)) in at.internal_rates.iter_mut().zip(rates) {
            *out = if algebraic { 0.0 } else { *rate };
        }
    }

    /// Accelerations, multipliers, algebraic states and rates of the others at consistent q and v, where
    /// multipliers and internal states are given or guessed [ArnoldCardonaBruls2015, Eq. (19)].
    pub fn accelerations(&mut self, dae: &dyn Dae, at: &mut Values) -> Result<(), KktFailure> {
        let system = &mut self.system;
        for _ in 0..MAX_ITERATIONS {
            let point = Point { memory: &self.rest.memory, ..at.point() };
            system.factor_with(dae, &point, None, false, 0.0)?;
            system.evaluate(dae, &point);
            let scale = -1.0 / system.mass_scale;
            system.unknowns.iter_mut().zip(&system.residual.equilibrium).for_each(|(u, r)| *u = scale * r);
            system.acceleration_rows(dae, &point);
            system.algebraic_rows();
            system.solve()?;
            let size = system.apply(at);
            // One round where the multipliers enter linearly, more where they do not.
            let linear = system.shape.reactions == Reactions::Gradient && !system.has_algebraic_states();
            // The iteration contracts quickly; some thousand ε are rounding.
            if size <= 1e-12 || linear {
                self.internal_rates(dae, at);
                return Ok(());
            }
        }
        Err(system.undecided())
    }

    /// What is left of a change w of the configuration after a step of a size: x with (M + ¼ h² K) x + Bᵀμ =
    /// M w and B x = 0. Constraints undo their part of it, and stiff parts theirs: of a vibration with ω
    /// there remains 1/(1 + (ω h)²/4).
    pub fn lasting_part(
        &mut self,
        dae: &dyn Dae,
        at: &Values,
        step: f64,
        w: &[f64],
        out: &mut [f64],
    ) -> Result<(), KktFailure> {
        let system = &mut self.system;
        let point = self.rest.point_at(at.time, &at.configuration, &at.velocity);
        system.factor_with(dae, &point, None, true, 0.25 * step * step)?;
        system.unknowns.fill(0.0);
        out.fill(0.0);
        system.tangent.dynamic.multiply_add(1.0 / system.mass_scale, w, out);
        system.unknowns[..out.len()].copy_from_slice(out);
        system.solve()?;
        out.copy_from_slice(&system.unknowns[..out.len()]);
        Ok(())
    }

    /// The change of v with B Δv = B w and A Δv = 0 that is smallest in the norm of the mass matrix
    /// [ArnoldCardonaBruls2015, Table 2, Step 6].
    #[allow(clippy::too_many_arguments, reason = "a point and a vector in, a vector out")]
    pub fn constrained_part(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
        w: &[f64],
        out: &mut [f64],
    ) -> Result<(), KktFailure> {
        let system = &mut self.system;
        system.factor(dae, &self.rest.point_at(time, configuration, velocity), None)?;
        system.residual.violation.fill(0.0);
        system.tangent.gradient.multiply_add(1.0, w, &mut system.residual.violation);
        system.unknowns.fill(0.0);
        system.residual.nonholonomic.fill(0.0);
        system.constraint_rows(1.0);
        system.solve()?;
        out.copy_from_slice(&system.unknowns[..system.shape.velocity_count()]);
        Ok(())
    }
}

/// Index and absolute value of the largest entry; not a number counts as larger than any.
pub(crate) fn largest(values: &[f64]) -> (usize, f64) {
    values
        .iter()
        .map(|value| if value.is_nan() { f64::INFINITY } else { value.abs() })
        .enumerate()
        .fold((0, 0.0), |best, (i, value)| if value > best.1 { (i, value) } else { best })
}
