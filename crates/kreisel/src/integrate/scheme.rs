//! What the methods share in one step: coefficients, trial values, arrays.

use std::sync::Arc;

use super::layout::{Layout, TangentOperators};
use super::parameters::Parameters;
use super::settings::{IterationMatrix, Predictor, Settings};
use super::state::{MatrixPoint, State};
use crate::dae::{Couplings, Dae, Equations, Point, Shape, Tangent, TangentWeights};
use crate::lie::Group;
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
}

impl Coefficients {
    pub fn new(parameters: &Parameters, step: f64, mass_scale: f64, stiffness_scale: f64) -> Self {
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        Self {
            step,
            acceleration: (1.0 - alpha_m) / (parameters.beta() * step * step * (1.0 - alpha_f)),
            velocity: parameters.gamma() / (parameters.beta() * step),
            scale: stiffness_scale + mass_scale / (step * step),
        }
    }
}

/// Values at the end of a step, as Newton's iteration improves them.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub time: f64,
    /// Increment x = h Δq_n.
    pub increment: Vec<f64>,
    pub configuration: Vec<f64>,
    pub velocity: Vec<f64>,
    pub acceleration: Vec<f64>,
    pub multipliers: Vec<f64>,
    /// h η_n; zero with `index3`.
    pub stabilizers: Vec<f64>,
    pub slip_multipliers: Vec<f64>,
    pub states: Vec<f64>,
    pub memory: Vec<f64>,
}

impl Trial {
    pub fn new(shape: &Shape) -> Self {
        let velocity = vec![0.0; shape.velocity_count()];
        Self {
            time: 0.0,
            increment: velocity.clone(),
            configuration: vec![0.0; shape.space.coordinate_count()],
            acceleration: velocity.clone(),
            velocity,
            multipliers: vec![0.0; shape.constraint_count()],
            stabilizers: vec![0.0; shape.constraint_count()],
            slip_multipliers: vec![0.0; shape.slip_count()],
            states: vec![0.0; shape.state_count()],
            memory: vec![0.0; shape.memory],
        }
    }

    /// First guess: values at t_n + h that satisfy the linear update formulas.
    pub fn predict(&mut self, state: &State, parameters: &Parameters, predictor: Predictor, step: f64) {
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let (beta, gamma) = (parameters.beta(), parameters.gamma());
        self.time = state.time + step;
        self.stabilizers.fill(0.0);
        self.states.copy_from_slice(&state.states);
        self.memory.copy_from_slice(&state.memory);
        self.slip_multipliers.copy_from_slice(&state.slip_multipliers);
        match predictor {
            Predictor::ConstantAcceleration => self.multipliers.copy_from_slice(&state.multipliers),
            Predictor::ZeroAcceleration => self.multipliers.fill(0.0),
        }
        for i in 0..self.increment.len() {
            let (v, a, v_dot) = (state.velocity[i], state.algorithmic_acceleration[i], state.acceleration[i]);
            let (a_next, v_dot_next) = match predictor {
                Predictor::ConstantAcceleration => (a, (a - alpha_f * v_dot) / (1.0 - alpha_f)),
                Predictor::ZeroAcceleration => ((alpha_f * v_dot - alpha_m * a) / (1.0 - alpha_m), 0.0),
            };
            self.increment[i] = step * (v + step * ((0.5 - beta) * a + beta * a_next));
            self.velocity[i] = v + step * ((1.0 - gamma) * a + gamma * a_next);
            self.acceleration[i] = v_dot_next;
        }
    }

    pub fn point(&self) -> Point<'_> {
        Point {
            time: self.time,
            configuration: &self.configuration,
            velocity: &self.velocity,
            acceleration: &self.acceleration,
            multipliers: &self.multipliers,
            slip_multipliers: &self.slip_multipliers,
            states: &self.states,
            memory: &self.memory,
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
    pub shape: Shape,
    pub layout: Layout,
    pub tangent: Tangent,
    pub operators: TangentOperators,
    /// B(q_n), for `index2`.
    pub base_gradient: BlockMatrix,
    pub equilibrium: Vec<f64>,
    pub violation: Vec<f64>,
    pub slip: Vec<f64>,
    pub state_rates: Vec<f64>,
    /// Size against which the increment of each velocity coordinate is judged: 1 rad or the system's length.
    pub coordinate_scales: Vec<f64>,
    /// Size against which scaled multipliers are judged.
    pub length: f64,
    /// Compliance of redundant constraints; empty if there are none.
    pub compliance: Vec<f64>,
    /// Smallest tolerance of an increment, in units of the length: positions far from the origin carry more rounding.
    pub round_off: f64,
    /// Rounding of a violation.
    violation_round_off: f64,
    /// One number per velocity coordinate.
    pub scratch: Vec<f64>,
    /// One number per constraint.
    pub constraint_scratch: Vec<f64>,
}

impl Workspace {
    pub fn new<D: Dae + ?Sized>(dae: &D, shape: Shape, couplings: &Couplings, layout: Layout) -> Self {
        let length = dae.scales().length;
        let velocity_count = shape.velocity_count();
        Self {
            tangent: Tangent::zeros(couplings),
            operators: TangentOperators::new(&shape.space),
            base_gradient: BlockMatrix::zeros(Arc::clone(&couplings.constraint_node)),
            equilibrium: vec![0.0; velocity_count],
            violation: vec![0.0; shape.constraint_count()],
            slip: vec![0.0; shape.slip_count()],
            state_rates: vec![0.0; shape.state_count()],
            coordinate_scales: coordinate_scales(&shape, length),
            length,
            compliance: Vec::new(),
            round_off: ROUND_OFF,
            violation_round_off: VIOLATION_ROUND_OFF * length,
            scratch: vec![0.0; velocity_count],
            constraint_scratch: vec![0.0; shape.constraint_count()],
            layout,
            shape,
        }
    }

    /// Evaluates the equations at the trial values, moving its configuration to q_n ∘ exp(x̃).
    pub fn evaluate<D: Dae + ?Sized>(&mut self, dae: &D, base: &[f64], trial: &mut Trial) {
        self.shape.space.compose_exp(base, &trial.increment, &mut trial.configuration);
        self.evaluate_at(dae, &trial.point());
    }

    /// Evaluates the equations at a point.
    pub fn evaluate_at<D: Dae + ?Sized>(&mut self, dae: &D, point: &Point) {
        for values in [&mut self.equilibrium, &mut self.violation, &mut self.slip, &mut self.state_rates] {
            values.fill(0.0);
        }
        dae.evaluate(
            point,
            &mut Equations {
                equilibrium: &mut self.equilibrium,
                violation: &mut self.violation,
                slip: &mut self.slip,
                state_rates: &mut self.state_rates,
            },
        );
    }

    /// Evaluates the derivatives and the tangent operators at the trial values.
    pub fn differentiate<D: Dae + ?Sized>(
        &mut self,
        dae: &D,
        trial: &Trial,
        coefficients: &Coefficients,
        matrix: IterationMatrix,
    ) {
        let exact = matrix == IterationMatrix::Exact;
        let weights = TangentWeights {
            mass: coefficients.acceleration,
            damping: if exact { coefficients.velocity } else { 0.0 },
            stiffness: exact,
        };
        self.tangent.clear();
        dae.tangent(&trial.point(), weights, &mut self.tangent);
        self.operators.evaluate(&self.shape.space, &trial.increment);
    }

    /// Tolerances of increments and scaled multipliers.
    pub fn tolerances(
        &self,
        settings: &Settings,
        trial: &Trial,
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.round_off));
        for ((out, scale), x) in out.iter_mut().zip(&self.coordinate_scales).zip(&trial.increment) {
            *out = atol * scale + rtol * x.abs();
        }
        let mut first = 0;
        for (start, size) in self.layout.multiplier_starts(0) {
            for row in first..first + size {
                let lambda = trial.multipliers[row].abs() / coefficients.scale;
                out[start + row - first] = atol * self.length + rtol * lambda + self.shared_round_off(row);
            }
            first += size;
        }
    }

    /// Fits the smallest tolerance to the size of the coordinates at the start of a step.
    pub fn set_round_off(&mut self, configuration: &[f64]) {
        let extent = configuration.iter().fold(self.length, |extent, value| extent.max(value.abs()));
        self.round_off = ROUND_OFF * extent / self.length;
        self.violation_round_off = VIOLATION_ROUND_OFF * extent;
    }

    /// Rounding of a multiplier that shares its reaction with others: where constraints contradict each other by a
    /// rounding error of their violations, they give way by as much, each with compliance × multiplier.
    pub fn shared_round_off(&self, constraint: usize) -> f64 {
        match self.compliance.get(constraint) {
            Some(&compliance) if compliance > 0.0 => self.violation_round_off / compliance,
            _ => 0.0,
        }
    }

    /// Subtracts compliance times multipliers from the violation of redundant constraints: of all multipliers
    /// that keep the motion, the smallest remain. `factor` scales the multipliers like the unknowns.
    pub fn give_way(compliance: &[f64], multipliers: &[f64], factor: f64, violation: &mut [f64]) {
        for ((violation, compliance), multiplier) in violation.iter_mut().zip(compliance).zip(multipliers) {
            *violation -= compliance * factor * multiplier;
        }
    }

    /// Notes where the matrix was evaluated, for a restart.
    pub fn note(&self, base: &[f64], trial: &Trial, step: f64, point: &mut MatrixPoint) {
        point.time = trial.time;
        point.step = step;
        for (to, from) in [
            (&mut point.base, base),
            (&mut point.increment, &trial.increment),
            (&mut point.velocity, &trial.velocity),
            (&mut point.acceleration, &trial.acceleration),
            (&mut point.multipliers, &trial.multipliers),
            (&mut point.memory, &trial.memory),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
    }
}

fn coordinate_scales(shape: &Shape, length: f64) -> Vec<f64> {
    let mut scales = Vec::with_capacity(shape.velocity_count());
    for node in 0..shape.space.factor_count() {
        match shape.space.group(node) {
            Group::Vector(size) => scales.extend(std::iter::repeat_n(length, size)),
            Group::So3 => scales.extend([1.0; 3]),
            Group::So3xR3 | Group::Se3 => scales.extend([1.0, 1.0, 1.0, length, length, length]),
        }
    }
    scales
}
