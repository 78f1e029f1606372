//! The two-step backward differentiation formula for constrained systems, with scalings of equations and unknowns.
//!
//! Each step works in exponential local coordinates about q_n, q = q_n ∘ exp(x̃), where q_n is x = 0 and q_{n−1} is
//! x_{n−1} = log(q_n⁻¹ ∘ q_{n−1}); on R^k this is the method of [BottassoBauchauCardona2007, Eqs. (1), (2)]:
//!
//! ```text
//! h v = T(x) (3/2 x + 1/2 x_{n−1}),   h v̇ = 3/2 v − 2 v_n + 1/2 v_{n−1},   r(q, v, v̇, λ) = 0,   Φ(q) = 0
//! ```
//!
//! The three-field form has x, v and λ as unknowns [BottassoBauchauCardona2007, Eq. (4)], the two-field form x and λ
//! [BottassoBauchauCardona2007, Eq. (37)]. Matrices are dense: the method is here for studies of scaling and for small systems.

use nalgebra::{DMatrix, DVector};

use super::error::{StartError, StepError};
use super::{GeneralizedAlpha, Initial, Method, Parameters, Settings};
use crate::dae::{Dae, Equation, Equations, Point, Reactions, Shape, Tangent, TangentWeights};
use crate::lie::Group;

/// Unknowns of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Positions, velocities and multipliers.
    ThreeField,
    /// Positions and multipliers; velocities are eliminated.
    TwoField,
}

/// Scaling of equations and unknowns, with s = k_ave + m_ave/h² in place of h⁻² [BottassoBauchauCardona2007, Eq. (28)].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// None.
    Unscaled,
    /// Constraints divided by h [BottassoBauchauCardona2007, Eqs. (16), (44)].
    Left,
    /// Equilibrium divided by h s besides, and multipliers by s [BottassoBauchauCardona2007, Eqs. (23), (24), (48), (49)].
    LeftRight,
    /// Velocities multiplied by h besides [BottassoBauchauCardona2007, Eq. (29)]; in the two-field form as [`Scaling::LeftRight`].
    LeftRightVelocities,
}

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bdf2Settings {
    /// Unknowns.
    pub form: Form,
    /// Scaling.
    pub scaling: Scaling,
    /// Step size h in s.
    pub step: f64,
    /// m_ave; from the system if absent.
    pub mass_scale: Option<f64>,
    /// k_ave; from the system if absent.
    pub stiffness_scale: Option<f64>,
    /// The iteration ends where a correction, in the scaled unknowns, is below this, or does not decrease any more.
    pub tolerance: f64,
    /// Largest correction of the scaled unknowns that may be left where corrections do not decrease any more.
    pub largest_saturation: f64,
    /// Iterations after corrections stopped decreasing, to watch them.
    pub extra_iterations: usize,
}

impl Bdf2Settings {
    /// The best scaling, and corrections down to round-off.
    pub fn new(form: Form, step: f64) -> Self {
        Self {
            form,
            scaling: Scaling::LeftRightVelocities,
            step,
            mass_scale: None,
            stiffness_scale: None,
            tolerance: 0.0,
            largest_saturation: 1e-8,
            extra_iterations: 0,
        }
    }
}

/// What the iteration of a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bdf2Report {
    /// Norms of the corrections in the scaled unknowns, one per iteration.
    pub corrections: Vec<f64>,
    /// The last correction that decreased [BottassoBauchauCardona2007, Eq. (33)]: its norm.
    pub last_decreasing: f64,
    /// Its largest entry among positions, velocities and multipliers, scaled.
    pub last_by_field: [f64; 3],
}

/// An integration by the two-step formula, between two steps.
pub struct Bdf2<'d, D: ?Sized> {
    dae: &'d D,
    settings: Bdf2Settings,
    shape: Shape,
    tangent: Tangent,
    scale: f64,
    time: f64,
    /// q_n, q_{n−1}.
    configurations: [Vec<f64>; 2],
    /// v_n, v_{n−1}.
    velocities: [Vec<f64>; 2],
    acceleration: Vec<f64>,
    multipliers: Vec<f64>,
    memory: Vec<f64>,
    matrix: DMatrix<f64>,
}

/// α₀ of the two-step formula.
const LEADING: f64 = 1.5;
/// Most iterations of a step.
const MOST_ITERATIONS: usize = 50;
/// Step of the differences by which T is differentiated on groups that turn.
const DIFFERENCE: f64 = 1e-5;

/// Trial values of a step.
struct Trial {
    /// x.
    increment: Vec<f64>,
    velocity: Vec<f64>,
    multipliers: Vec<f64>,
}

/// What a trial means: h v by the formula, and the point of the equations.
struct Values {
    configuration: Vec<f64>,
    /// T(x) (3/2 x + 1/2 x_{n−1}).
    moved: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
}

/// Factors of rows (kinematics, equilibrium, constraints) and of unknowns (x, v, λ).
struct Factors {
    rows: [f64; 3],
    unknowns: [f64; 3],
}

impl<'d, D: Dae + ?Sized> Bdf2<'d, D> {
    /// Makes the initial values consistent; the step before them follows from v, v̇ and v̈.
    pub fn start(dae: &'d D, initial: Initial, settings: Bdf2Settings) -> Result<Self, StartError> {
        let (shape, scales, step) = (dae.shape(), dae.scales(), settings.step);
        if shape.slip_count() > 0 {
            return Err(StartError::Unsupported("nonholonomic constraints"));
        }
        if shape.state_count() > 0 {
            return Err(StartError::Unsupported("first-order states"));
        }
        // With ρ∞ = 0 the starting value a₀ stands for v̇ one step earlier, which gives v̈.
        let parameters = Parameters::chung_hulbert(0.0).expect("0 is a spectral radius");
        let start =
            GeneralizedAlpha::with(Settings::new(Method::Index3, parameters, step)).start(dae, initial)?;
        let state = start.state();
        let jerk = |i: usize| (state.acceleration[i] - state.algorithmic_acceleration[i]) / step;
        let (v, a) = (&state.shown_velocity, &state.acceleration);
        let back: Vec<f64> =
            (0..v.len()).map(|i| -step * (v[i] - 0.5 * step * (a[i] - step / 3.0 * jerk(i)))).collect();
        let velocity_before = (0..v.len()).map(|i| v[i] - step * (a[i] - 0.5 * step * jerk(i))).collect();
        let mut before = state.configuration.clone();
        shape.space.compose_exp(&state.configuration, &back, &mut before);
        let mass = settings.mass_scale.unwrap_or(scales.mass);
        let stiffness = settings.stiffness_scale.unwrap_or(scales.stiffness);
        Ok(Self {
            dae,
            settings,
            tangent: Tangent::zeros(&dae.couplings()),
            scale: stiffness + mass / (step * step),
            time: state.time,
            configurations: [state.configuration.clone(), before],
            velocities: [v.clone(), velocity_before],
            acceleration: a.clone(),
            multipliers: state.multipliers.clone(),
            memory: state.memory.clone(),
            matrix: DMatrix::zeros(0, 0),
            shape,
        })
    }

    /// Present time in s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Configuration q_n.
    pub fn configuration(&self) -> &[f64] {
        &self.configurations[0]
    }

    /// Velocity v_n.
    pub fn velocity(&self) -> &[f64] {
        &self.velocities[0]
    }

    /// Multipliers λ_n.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// Condition number of the last scaled iteration matrix in the 2-norm, as the product of the largest singular values of
    /// the matrix and of its inverse: the smallest one itself is lost in rounding beyond 1/ε.
    pub fn condition(&self) -> f64 {
        match self.matrix.clone().try_inverse() {
            Some(inverse) => self.matrix.singular_values().max() * inverse.singular_values().max(),
            None => f64::INFINITY,
        }
    }

    /// One step.
    pub fn step(&mut self) -> Result<Bdf2Report, StepError> {
        let h = self.settings.step;
        let mut before = vec![0.0; self.shape.velocity_count()];
        let outcome =
            self.shape.space.difference(&self.configurations[0], &self.configurations[1], &mut before);
        if outcome.is_err() {
            return Err(self.not_converged(0, f64::INFINITY));
        }
        let mut trial = self.predicted();
        let (mut report, mut best, mut extra) = (Bdf2Report::default(), None::<f64>, None);
        for _ in 0..MOST_ITERATIONS {
            let values = self.values(&trial, &before);
            let correction = self.correction(&trial, &values, &before)?;
            let norm = correction.norm();
            if !norm.is_finite() {
                let equation = self.dae.describe(Equation::Equilibrium(0));
                return Err(StepError::NotFinite { time: self.time + h, step: h, equation });
            }
            report.corrections.push(norm);
            // [BottassoBauchauCardona2007, Eq. (33)]: the last correction that decreased is as good as it gets.
            if extra.is_none() && best.is_some_and(|best| norm >= best) {
                extra = Some(self.settings.extra_iterations);
            }
            match &mut extra {
                Some(0) => break,
                Some(left) => *left -= 1,
                None => {
                    best = Some(norm);
                    report.last_decreasing = norm;
                    report.last_by_field = self.largest_by_field(&correction);
                }
            }
            self.correct(&mut trial, &correction);
            if norm <= self.settings.tolerance {
                break;
            }
        }
        if report.last_decreasing > self.settings.largest_saturation {
            return Err(self.not_converged(report.corrections.len(), report.last_decreasing));
        }
        self.accept(trial, &before);
        Ok(report)
    }

    /// Steps until a time, which is rounded to a whole number of steps.
    pub fn advance(&mut self, end: f64) -> Result<(), StepError> {
        let count = ((end - self.time) / self.settings.step).round().max(0.0) as usize;
        for _ in 0..count {
            self.step()?;
        }
        Ok(())
    }

    fn not_converged(&self, iterations: usize, norm: f64) -> StepError {
        let (time, step) = (self.time + self.settings.step, self.settings.step);
        let worst = self.dae.describe(Equation::Equilibrium(0));
        StepError::NotConverged { time, step, iterations, norm, worst }
    }

    fn predicted(&self) -> Trial {
        let h = self.settings.step;
        let pairs = || self.velocities[0].iter().zip(&self.acceleration);
        Trial {
            increment: pairs().map(|(v, a)| h * (v + 0.5 * h * a)).collect(),
            velocity: pairs().map(|(v, a)| v + h * a).collect(),
            multipliers: self.multipliers.clone(),
        }
    }

    /// 3/2 x + 1/2 x_{n−1}.
    fn difference(&self, increment: &[f64], before: &[f64]) -> Vec<f64> {
        increment.iter().zip(before).map(|(x, b)| LEADING * x + 0.5 * b).collect()
    }

    fn values(&self, trial: &Trial, before: &[f64]) -> Values {
        let (h, space) = (self.settings.step, &self.shape.space);
        let mut configuration = self.configurations[0].clone();
        space.compose_exp(&self.configurations[0], &trial.increment, &mut configuration);
        let mut moved = vec![0.0; trial.increment.len()];
        space.tangent_multiply(&trial.increment, &self.difference(&trial.increment, before), &mut moved);
        let velocity: Vec<f64> = match self.settings.form {
            Form::ThreeField => trial.velocity.clone(),
            Form::TwoField => moved.iter().map(|value| value / h).collect(),
        };
        let [last, one_before] = &self.velocities;
        let acceleration = (0..velocity.len())
            .map(|i| (LEADING * velocity[i] - 2.0 * last[i] + 0.5 * one_before[i]) / h)
            .collect();
        Values { configuration, moved, velocity, acceleration }
    }

    fn factors(&self) -> Factors {
        let (h, s) = (self.settings.step, self.scale);
        let (rows, unknowns) = match self.settings.scaling {
            Scaling::Unscaled => ([1.0; 3], [1.0; 3]),
            Scaling::Left => ([1.0, 1.0, 1.0 / h], [1.0; 3]),
            Scaling::LeftRight => ([1.0, 1.0 / (h * s), 1.0 / h], [1.0, 1.0, s]),
            Scaling::LeftRightVelocities => ([1.0, 1.0 / (h * s), 1.0 / h], [1.0, 1.0 / h, s]),
        };
        Factors { rows, unknowns }
    }

    /// First rows (and columns) of velocities and multipliers.
    fn offsets(&self) -> [usize; 2] {
        let k = self.shape.velocity_count();
        match self.settings.form {
            Form::ThreeField => [k, 2 * k],
            Form::TwoField => [0, k],
        }
    }

    /// The next correction in the scaled unknowns; keeps the scaled matrix.
    fn correction(
        &mut self,
        trial: &Trial,
        values: &Values,
        before: &[f64],
    ) -> Result<DVector<f64>, StepError> {
        let (h, k, m) = (self.settings.step, self.shape.velocity_count(), self.shape.constraint_count());
        let (mut equilibrium, mut violation) = (vec![0.0; k], vec![0.0; m]);
        let memory = std::mem::take(&mut self.memory);
        let at = Point {
            time: self.time + h,
            configuration: &values.configuration,
            velocity: &values.velocity,
            acceleration: &values.acceleration,
            multipliers: &trial.multipliers,
            slip_multipliers: &[],
            states: &[],
            memory: &memory,
        };
        self.dae.evaluate(
            &at,
            &mut Equations {
                equilibrium: &mut equilibrium,
                violation: &mut violation,
                slip: &mut [],
                state_rates: &mut [],
            },
        );
        self.tangent.clear();
        let weights =
            TangentWeights { mass: LEADING / h, damping: 1.0, stiffness: true, remembered_forces: false };
        self.dae.tangent(&at, weights, &mut self.tangent);
        self.memory = memory;
        self.assemble(trial, before);
        let [velocity_row, multiplier_row] = self.offsets();
        let Factors { rows, .. } = self.factors();
        let mut right = DVector::zeros(multiplier_row + m);
        if self.settings.form == Form::ThreeField {
            for i in 0..k {
                right[i] = -rows[0] * (values.moved[i] - h * trial.velocity[i]);
            }
        }
        for (i, r) in equilibrium.iter().enumerate() {
            right[velocity_row + i] = -rows[1] * h * r;
        }
        for (i, violation) in violation.iter().enumerate() {
            right[multiplier_row + i] = -rows[2] * h * violation;
        }
        // Gaussian elimination with partial pivoting, as the analysis assumes.
        self.matrix.clone().lu().solve(&right).ok_or_else(|| StepError::Singular {
            time: self.time + h,
            step: h,
            unknown: self.dae.describe(Equation::Constraint(0)),
        })
    }

    /// Writes the scaled matrix; needs the tangent.
    fn assemble(&mut self, trial: &Trial, before: &[f64]) {
        let (h, k, m) = (self.settings.step, self.shape.velocity_count(), self.shape.constraint_count());
        let [velocity_row, multiplier_row] = self.offsets();
        let operator = self.operator(&trial.increment);
        let moved = self.moved_by_increment(&trial.increment, before, &operator);
        let (dynamic, gradient) = (self.tangent.dynamic.to_dense(), self.tangent.gradient.to_dense());
        let reaction = match self.shape.reactions {
            Reactions::Gradient => gradient.transpose(),
            Reactions::General => self.tangent.reaction.to_dense(),
        };
        let stiffness = h * self.tangent.stiffness.to_dense() * &operator;
        let mut matrix = DMatrix::zeros(multiplier_row + m, multiplier_row + m);
        match self.settings.form {
            Form::ThreeField => {
                matrix.view_mut((0, 0), (k, k)).copy_from(&moved);
                matrix.view_mut((0, k), (k, k)).fill_diagonal(-h);
                matrix.view_mut((k, 0), (k, k)).copy_from(&stiffness);
                matrix.view_mut((k, k), (k, k)).copy_from(&(h * dynamic));
            }
            Form::TwoField => matrix.view_mut((0, 0), (k, k)).copy_from(&(stiffness + dynamic * moved)),
        }
        matrix.view_mut((velocity_row, multiplier_row), (k, m)).copy_from(&(h * reaction));
        matrix.view_mut((multiplier_row, 0), (m, k)).copy_from(&(h * gradient * operator));
        self.scale_matrix(&mut matrix);
        self.matrix = matrix;
    }

    fn scale_matrix(&self, matrix: &mut DMatrix<f64>) {
        let Factors { rows, unknowns } = self.factors();
        let [velocity_row, multiplier_row] = self.offsets();
        let field = |index: usize| match index {
            index if index >= multiplier_row => 2,
            index if index >= velocity_row => 1,
            _ => 0,
        };
        let two_field = self.settings.form == Form::TwoField;
        for column in 0..matrix.ncols() {
            // The two-field form has positions where the other has velocities.
            let unknown = if two_field && field(column) == 1 { unknowns[0] } else { unknowns[field(column)] };
            for row in 0..matrix.nrows() {
                matrix[(row, column)] *= rows[field(row)] * unknown;
            }
        }
    }

    /// T(x) of all nodes.
    fn operator(&self, increment: &[f64]) -> DMatrix<f64> {
        let (k, space) = (self.shape.velocity_count(), &self.shape.space);
        let mut operator = DMatrix::identity(k, k);
        for node in 0..space.factor_count() {
            let range = space.velocity_range(node);
            if !matches!(space.group(node), Group::Vector(_)) {
                let size = range.len();
                let mut values = vec![0.0; size * size];
                space.tangent_operator(node, &increment[range.clone()], &mut values);
                let block = DMatrix::from_vec(size, size, values);
                operator.view_mut((range.start, range.start), (size, size)).copy_from(&block);
            }
        }
        operator
    }

    /// ∂(T(x) (3/2 x + 1/2 x_{n−1}))/∂x; the change of T, which is none on R^k, by differences.
    fn moved_by_increment(&self, increment: &[f64], before: &[f64], operator: &DMatrix<f64>) -> DMatrix<f64> {
        let mut matrix = LEADING * operator;
        let space = &self.shape.space;
        let difference = self.difference(increment, before);
        for node in 0..space.factor_count() {
            if matches!(space.group(node), Group::Vector(_)) {
                continue;
            }
            for column in space.velocity_range(node) {
                let mut turned = [DIFFERENCE, -DIFFERENCE].map(|distance| {
                    let mut shifted = increment.to_vec();
                    shifted[column] += distance;
                    let mut out = vec![0.0; increment.len()];
                    space.tangent_multiply(&shifted, &difference, &mut out);
                    DVector::from_vec(out)
                });
                turned[0] -= &turned[1].clone();
                let mut target = matrix.column_mut(column);
                target += &turned[0] / (2.0 * DIFFERENCE);
            }
        }
        matrix
    }

    fn largest_by_field(&self, correction: &DVector<f64>) -> [f64; 3] {
        let [velocity_row, multiplier_row] = self.offsets();
        let k = self.shape.velocity_count();
        let largest = |from: usize, to: usize| {
            correction.as_slice()[from..to].iter().fold(0.0_f64, |largest, value| largest.max(value.abs()))
        };
        let velocities = match self.settings.form {
            Form::ThreeField => largest(velocity_row, multiplier_row),
            Form::TwoField => 0.0,
        };
        [largest(0, k), velocities, largest(multiplier_row, correction.len())]
    }

    fn correct(&self, trial: &mut Trial, correction: &DVector<f64>) {
        let Factors { unknowns, .. } = self.factors();
        let [velocity_row, multiplier_row] = self.offsets();
        trial.increment.iter_mut().zip(correction.iter()).for_each(|(x, z)| *x += z);
        if self.settings.form == Form::ThreeField {
            let changes = correction.as_slice()[velocity_row..].iter();
            trial.velocity.iter_mut().zip(changes).for_each(|(v, z)| *v += unknowns[1] * z);
        }
        let changes = correction.as_slice()[multiplier_row..].iter();
        trial.multipliers.iter_mut().zip(changes).for_each(|(lambda, z)| *lambda += unknowns[2] * z);
    }

    fn accept(&mut self, trial: Trial, before: &[f64]) {
        let Values { configuration, velocity, acceleration, .. } = self.values(&trial, before);
        self.configurations.swap(0, 1);
        self.configurations[0] = configuration;
        self.velocities.swap(0, 1);
        self.velocities[0] = velocity;
        self.acceleration = acceleration;
        self.multipliers = trial.multipliers;
        self.time += self.settings.step;
        if !self.memory.is_empty() {
            let mut memory = self.memory.clone();
            let at = Point {
                time: self.time,
                configuration: &self.configurations[0],
                velocity: &self.velocities[0],
                acceleration: &self.acceleration,
                multipliers: &self.multipliers,
                slip_multipliers: &[],
                states: &[],
                memory: &self.memory,
            };
            self.dae.remember(&at, &mut memory);
            self.memory = memory;
        }
    }
}
