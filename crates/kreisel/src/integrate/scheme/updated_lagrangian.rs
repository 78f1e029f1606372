//! Equations of a step for the updated Lagrangian method [BrulsCardonaArnold2012, Eqs. (65)–(82)].
//!
//! Within a step the motion is described by coordinates x of the group about q_n, and the generalized-α
//! method for linear spaces is applied to x:
//!
//! ```text
//! q = q_n ∘ μ(x)        v = T(x) ẋ        v̇ = T(x) ẍ + Ṫ(x, ẋ) ẋ
//! ```
//!
//! The values at t_n are x = 0, ẋ = v_n, ẍ = v̇_n, so predictor, update formulas and unknowns are those of
//! [`super::index3`] with x, ẋ and ẍ in the place of h Δq, v and v̇: the [`Trial`] holds the local values
//! here. With A = ∂v̇/∂x + γ' ∂v̇/∂ẋ + β' T and V = ∂v/∂x + γ' T the matrix is
//!
//! ```text
//! | (M A + D V + K T)/s   Bᵀ |
//! | B T                   0  |
//! ```

use super::super::error::{StartError, Task};
use super::super::settings::Settings;
use super::alpha::{Alpha, Base, Formulation};
use super::implicit::{Room, Step, StepEquations, TwoParts};
use super::index3::Index3Step;
use super::option::{MethodOption, option};
use super::parameters::Parameters;
use super::work::Coefficients;
use super::{Family, Method, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, CopyIndex, Layout};
use crate::dae::{Couplings, Equation, Point, Shape, Tangent, TangentOperators, TangentWeights, Wanted, ask};
use crate::lie::{Group, Matrix3, Space, Vector3, crv, so3, vector3, write_vector3};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// Local coordinates of rotations in [`UPDATED_LAGRANGIAN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parametrization {
    /// The rotation vector, of the exponential map [BrulsCardonaArnold2012, Eq. (65)].
    RotationVector,
    /// The conformal rotation vector [BrulsCardonaArnold2012, Eqs. (80)–(82)].
    Crv,
}

option! {
    Parametrization,
    "parametrization",
    "Local coordinates of rotations in `updated-lagrangian`: the rotation vector or the conformal rotation vector.",
    "Local coordinates of `updated-lagrangian` in place of the model's",
    RotationVector = "rotation-vector",
    Crv = "crv",
}

/// What the two parametrisations of rotations have in common.
impl Parametrization {
    /// Rotation vector θ with exp(θ) = μ(x).
    fn rotation_vector(self, x: &Vector3) -> Vector3 {
        match self {
            Self::RotationVector => *x,
            Self::Crv => crv::rotation_vector(x),
        }
    }

    /// T(x) [BrulsCardonaArnold2012, Eqs. (24), (82)].
    fn tangent_operator(self, x: &Vector3) -> Matrix3 {
        match self {
            Self::RotationVector => so3::tangent_operator(x),
            Self::Crv => crv::tangent_operator(x),
        }
    }

    /// ∂(T(x) w)/∂x.
    fn tangent_derivative(self, x: &Vector3, w: &Vector3) -> Matrix3 {
        match self {
            Self::RotationVector => so3::tangent_derivative(x, w),
            Self::Crv => crv::tangent_derivative(x, w),
        }
    }

    /// Derivative of ∂(T(x) w)/∂x in the direction u.
    fn tangent_second_derivative(self, x: &Vector3, w: &Vector3, u: &Vector3) -> Matrix3 {
        match self {
            Self::RotationVector => so3::tangent_second_derivative(x, w, u),
            Self::Crv => crv::tangent_second_derivative(x, w, u),
        }
    }

    /// What the third derivative of x has beside v̈ at x = 0, where v = ẋ and v̇ = ẍ.
    ///
    /// Differentiating v = T(x) ẋ twice gives x⃛ = v̈ + v × v̇/2 for the rotation vector; the conformal one
    /// is x (1 + |x|²/48 + …), which adds |v|² v/8.
    fn jerk_excess(self, v: &Vector3, v_dot: &Vector3) -> Vector3 {
        let excess = 0.5 * v.cross(v_dot);
        match self {
            Self::RotationVector => excess,
            Self::Crv => excess + v.norm_squared() / 8.0 * v,
        }
    }

    /// Adds `factor` times the difference between x⃛ and v̈ to an array of accelerations.
    ///
    /// The method works on x, so x⃛ takes the place that v̈ has in the starting values and in changes of the
    /// step: a_n is v̇_n + Δ_α h x⃛, and the error of a step in q is C_q h³ x⃛.
    pub fn add_jerk_excess(
        self,
        space: &Space,
        factor: f64,
        velocity: &[f64],
        acceleration: &[f64],
        out: &mut [f64],
    ) {
        for (_, first) in rotations(space) {
            let excess = self.jerk_excess(&vector3(&velocity[first..]), &vector3(&acceleration[first..]));
            let sum = vector3(&out[first..]) + factor * excess;
            write_vector3(&sum, &mut out[first..]);
        }
    }
}

/// Nodes that turn, and where their rotation begins in a velocity.
fn rotations(space: &Space) -> impl Iterator<Item = (usize, usize)> {
    let turns = |node: &usize| matches!(space.group(*node), Group::So3 | Group::So3xR3);
    (0..space.factor_count()).filter(turns).map(|node| (node, space.velocity_range(node).start))
}

/// First node without local coordinates.
fn node_without_coordinates(space: &Space) -> Option<usize> {
    (0..space.factor_count()).find(|&node| space.group(node) == Group::Se3)
}

/// Index-3 DAE in local coordinates about the start of each step [BrulsCardonaArnold2012, Eqs. (71)–(79)].
pub const UPDATED_LAGRANGIAN: Method = Method(&SchemeEntry {
    word: "updated-lagrangian",
    doc: "is `index3` in local coordinates of each step, to compare with (group `so3xr3`)",
    family: Family::ChungHulbert,
    leaves_hidden_residual: LocalCoordinates::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(LocalCoordinates::position_error_constant),
    max_turn: 2.0,
    max_turn_se3: 0.5,
    one_size: false,
    options: &[Parametrization::ENTRY],
    suit: |_| {},
    new: Alpha::<LocalCoordinates>::boxed,
});

/// Local coordinates, and the values on the group that they stand for.
#[derive(Clone, Debug)]
pub(super) struct LocalCoordinates {
    parametrization: Parametrization,
    /// log μ(x).
    increment: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    /// a_n and v̇_n.
    base: [Vec<f64>; 2],
    /// a_{n+1}.
    algorithmic_acceleration: Vec<f64>,
    /// V/γ' = T + ∂(T ẋ)/∂x/γ' of all nodes.
    velocity_operators: TangentOperators,
    /// A/β' = T + (∂(T ẍ + Ṫ ẋ)/∂x + γ' ∂(Ṫ ẋ)/∂ẋ)/β' of all nodes.
    acceleration_operators: TangentOperators,
    /// The tangent whose dynamic part is D.
    damping: Tangent,
}

impl LocalCoordinates {
    pub fn new(parametrization: Parametrization, shape: &Shape, couplings: &Couplings) -> Self {
        let zeros = vec![0.0; shape.velocity_count()];
        Self {
            parametrization,
            increment: zeros.clone(),
            velocity: zeros.clone(),
            acceleration: zeros.clone(),
            base: [zeros.clone(), zeros.clone()],
            algorithmic_acceleration: zeros,
            velocity_operators: TangentOperators::new(&shape.space),
            acceleration_operators: TangentOperators::new(&shape.space),
            damping: Tangent::zeros(couplings),
        }
    }

    /// Values on the group [BrulsCardonaArnold2012, Eqs. (73)–(75)], with the configuration in the trial
    /// values.
    fn map(&mut self, space: &Space, base: &[f64], trial: &mut Trial) {
        self.increment.copy_from_slice(&trial.increment);
        self.velocity.copy_from_slice(&trial.values.velocity);
        self.acceleration.copy_from_slice(&trial.values.acceleration);
        for (_, first) in rotations(space) {
            let [x, rate, acceleration] = local(trial, first);
            let operator = self.parametrization.tangent_operator(&x);
            let slope = self.parametrization.tangent_derivative(&x, &rate);
            write_vector3(&self.parametrization.rotation_vector(&x), &mut self.increment[first..]);
            write_vector3(&(operator * rate), &mut self.velocity[first..]);
            write_vector3(&(operator * acceleration + slope * rate), &mut self.acceleration[first..]);
        }
        space.compose_exp(base, &self.increment, &mut trial.values.configuration);
    }

    /// Derivatives of the values on the group with respect to x.
    fn differentiate(&mut self, space: &Space, trial: &Trial, coefficients: &Coefficients) {
        for (node, first) in rotations(space) {
            let [x, x_dot, x_ddot] = local(trial, first);
            let chart = self.parametrization;
            let operator = chart.tangent_operator(&x);
            let slope = chart.tangent_derivative(&x, &x_dot);
            // Column by column Ṫ eᵢ = ∂(T eᵢ)/∂x ẋ.
            let operator_rate = Matrix3::from_columns(
                &[Vector3::x(), Vector3::y(), Vector3::z()].map(|e| chart.tangent_derivative(&x, &e) * x_dot),
            );
            let acceleration_slope = chart.tangent_derivative(&x, &x_ddot)
                + chart.tangent_second_derivative(&x, &x_dot, &x_dot)
                + coefficients.velocity * (slope + operator_rate);
            self.velocity_operators.set_rotation(node, &(operator + slope / coefficients.velocity));
            self.acceleration_operators
                .set_rotation(node, &(operator + acceleration_slope / coefficients.acceleration));
        }
    }

    /// Turns the local values of a solved step into those on the group, and finds a_{n+1}.
    ///
    /// a₁ follows from ẍ₁ as a_{n+1} does from v̇_{n+1} elsewhere, and a_{n+1} = T a₁ + Ṫ ẋ
    /// [BrulsCardonaArnold2012, Eqs. (76), (79)].
    fn settle_on_group(&mut self, space: &Space, parameters: &Parameters, trial: &mut Trial) {
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        for (i, next) in self.algorithmic_acceleration.iter_mut().enumerate() {
            let [a, v_dot] = [self.base[0][i], self.base[1][i]];
            *next = ((1.0 - alpha_f) * trial.values.acceleration[i] + alpha_f * v_dot - alpha_m * a)
                / (1.0 - alpha_m);
        }
        for (_, first) in rotations(space) {
            let [x, rate, acceleration] = local(trial, first);
            let operator = self.parametrization.tangent_operator(&x);
            let convective = self.parametrization.tangent_derivative(&x, &rate) * rate;
            let next = operator * vector3(&self.algorithmic_acceleration[first..]) + convective;
            write_vector3(&next, &mut self.algorithmic_acceleration[first..]);
            write_vector3(&self.parametrization.rotation_vector(&x), &mut trial.increment[first..]);
            write_vector3(&(operator * rate), &mut trial.values.velocity[first..]);
            write_vector3(&(operator * acceleration + convective), &mut trial.values.acceleration[first..]);
        }
    }
}

/// x, ẋ and ẍ of the rotation that begins at `first`.
fn local(trial: &Trial, first: usize) -> [Vector3; 3] {
    [&trial.increment, &trial.values.velocity, &trial.values.acceleration]
        .map(|values| vector3(&values[first..]))
}

impl StepEquations for LocalCoordinates {
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        visit(&mut UpdatedLagrangian { linear: Index3Step { step, force_level: None }, local: self });
    }

    fn settle(&mut self, on: &Tools, trial: &mut Trial) {
        self.settle_on_group(&on.shape.space, &on.settings.parameters, trial);
    }
}

impl Formulation for LocalCoordinates {
    const LEAVES_HIDDEN_RESIDUAL: bool = true;

    fn check(on: &Tools) -> Result<(), StartError> {
        if on.shape.nonholonomic_count() > 0 {
            return Err(StartError::CannotDo {
                method: UPDATED_LAGRANGIAN.word(),
                task: Task::Nonholonomic,
                part: Some(on.dae.describe(Equation::NonholonomicGroup(0))),
                instead: "take the method `index2`",
            });
        }
        let Some(node) = node_without_coordinates(&on.shape.space) else { return Ok(()) };
        let first = Equation::Equilibrium(on.shape.space.velocity_range(node).start);
        Err(StartError::NoLocalCoordinates { equation: on.dae.describe(first) })
    }

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let layout = Layout::new(&on.shape, couplings, Copies::ONE, []);
        let local = Self::new(on.settings.option(), &on.shape, couplings);
        (Room { layout, extras: Vec::new() }, local)
    }

    fn prepare(&mut self, _: &Tools, base: &Base, _: f64) {
        self.base[0].copy_from_slice(base.a);
        self.base[1].copy_from_slice(&base.state.values().acceleration);
    }

    fn algorithmic_acceleration(&self) -> Option<&[f64]> {
        Some(&self.algorithmic_acceleration)
    }

    fn add_jerk_excess(
        settings: &Settings,
        space: &Space,
        factor: f64,
        (velocity, acceleration): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        settings.option::<Parametrization>().add_jerk_excess(space, factor, velocity, acceleration, out);
    }

    /// C_q h³ x⃛ in all, with the third derivative of the coordinates.
    fn curvature_error(settings: &Settings, space: &Space, motion: (&[f64], &[f64]), out: &mut [f64]) {
        out.fill(0.0);
        let constant = settings.parameters.position_error_constant();
        Self::add_jerk_excess(settings, space, constant, motion, out);
    }
}

/// The equations of one step.
struct UpdatedLagrangian<'a> {
    /// The step of the linear space, with the same unknowns.
    linear: Index3Step<'a>,
    local: &'a mut LocalCoordinates,
}

impl UpdatedLagrangian<'_> {
    /// Evaluates the tangent at the values on the group, its dynamic part M (with `mass`) or D.
    fn tangent(&mut self, mass: bool) {
        let (linear, LocalCoordinates { velocity, acceleration, damping, .. }) =
            (&mut self.linear, &mut *self.local);
        let point = Point { velocity, acceleration, ..linear.step.trial.values.point() };
        let exact = linear.step.settings.iteration_matrix.is_complete();
        linear.step.work.tangent.hidden_wanted = false;
        damping.hidden_wanted = false;
        let (weights, out) = if mass {
            (
                TangentWeights { mass: 1.0, damping: 0.0, stiffness: exact, remembered_forces: false },
                &mut linear.step.work.tangent,
            )
        } else {
            (TangentWeights { mass: 0.0, damping: 1.0, stiffness: false, remembered_forces: false }, damping)
        };
        out.clear();
        let wanted = Wanted { tangent: Some((weights, out)), ..Wanted::default() };
        linear.step.work.differenced += ask(linear.step.dae, &point, wanted).count();
    }
}

impl TwoParts for UpdatedLagrangian<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        let (linear, local) = (&mut self.linear, &mut *self.local);
        local.map(&linear.step.work.shape.space, linear.step.base, linear.step.trial);
        let point = Point {
            velocity: &local.velocity,
            acceleration: &local.acceleration,
            ..linear.step.trial.values.point()
        };
        linear.step.work.evaluate_at(linear.step.dae, &point);
        linear.write_residual(out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        out.fill(0.0);
        // A restart makes a matrix without a residual before it.
        self.local.map(&self.linear.step.work.shape.space, self.linear.step.base, self.linear.step.trial);
        let exact = self.linear.step.settings.iteration_matrix.is_complete();
        self.tangent(true);
        if exact {
            self.tangent(false);
        }
        let (linear, local) = (&mut self.linear, &mut *self.local);
        let (work, coefficients) = (&mut *linear.step.work, &linear.step.coefficients);
        for (node, first) in rotations(&work.shape.space) {
            let x = vector3(&linear.step.trial.increment[first..]);
            work.operators.set_rotation(node, &local.parametrization.tangent_operator(&x));
        }
        if exact {
            local.differentiate(&work.shape.space, linear.step.trial, coefficients);
            let [mass, damping] =
                [coefficients.acceleration, coefficients.velocity].map(|weight| weight / coefficients.scale);
            let LocalCoordinates { velocity_operators, acceleration_operators, .. } = &*local;
            let layout = &work.layout;
            layout.add_nodes(
                &work.tangent.dynamic,
                Some(acceleration_operators),
                mass,
                CopyIndex::FIRST,
                out,
            );
            layout.add_nodes(
                &local.damping.dynamic,
                Some(velocity_operators),
                damping,
                CopyIndex::FIRST,
                out,
            );
            work.tangent.dynamic.fill(0.0);
        } else {
            work.tangent.dynamic.values_mut().iter_mut().for_each(|m| *m *= coefficients.acceleration);
        }
        linear.write_matrix(exact.then_some(&local.velocity_operators), out);
    }
}

impl NonlinearSystem for UpdatedLagrangian<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        self.linear.correct(increment, fraction);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.linear.tolerances(out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::constrained::{Copies, Layout};
    use crate::dae::Dae;
    use crate::dae::coupled::Coupled;
    use crate::integrate::Settings;
    use crate::integrate::scheme::work::Workspace;
    use crate::lie::quaternion;

    const CHARTS: [Parametrization; 2] = [Parametrization::RotationVector, Parametrization::Crv];

    /// The matrix and central differences of the residual at values far from the start of the step.
    fn matrix_and_differences(
        dae: &dyn Dae,
        chart: Parametrization,
        base: &[f64],
    ) -> [nalgebra::DMatrix<f64>; 2] {
        let (shape, couplings) = (dae.shape(), dae.couplings(None));
        let layout = Layout::new(&shape, &couplings, Copies::ONE, []);
        let pattern = layout.pattern.clone();
        let parameters = Parameters::chung_hulbert(0.7).unwrap();
        let mut settings = Settings::new(UPDATED_LAGRANGIAN, parameters, 0.5);
        settings.mass_scale = Some(1.0);
        let mut trial = Trial::new(&shape);
        for i in 0..shape.velocity_count() {
            let number = i as f64;
            trial.increment[i] = 0.7 * (1.0 + number).sin();
            trial.values.velocity[i] = (2.0 + 3.0 * number).cos();
            trial.values.acceleration[i] = 2.0 * (0.5 + 2.0 * number).sin();
        }
        trial.values.multipliers.fill(0.8);
        let mut equations = UpdatedLagrangian {
            local: &mut LocalCoordinates::new(chart, &shape, &couplings),
            linear: Index3Step {
                step: Step {
                    dae,
                    settings: &settings,
                    coefficients: Coefficients::new(&settings, 0.5),
                    time: 0.0,
                    base,
                    trial: &mut trial,
                    work: &mut Workspace::new(Arc::new(shape), &couplings, layout),
                    point: None,
                },
                force_level: None,
            },
        };
        let mut matrix = BlockMatrix::zeros(Arc::clone(&pattern));
        equations.matrix(&mut matrix);
        let (size, width) = (pattern.row_count(), 1e-5);
        let mut differences = nalgebra::DMatrix::zeros(size, size);
        for column in 0..size {
            let direction: Vec<f64> = (0..size).map(|i| f64::from(i == column)).collect();
            let mut residual_at = |fraction: f64| {
                let mut out = vec![0.0; size];
                equations.correct(&direction, fraction);
                equations.residual(&mut out);
                equations.correct(&direction, -fraction);
                nalgebra::DVector::from_vec(out)
            };
            let quotient = (residual_at(width) - residual_at(-width)) / (2.0 * width);
            differences.set_column(column, &quotient);
        }
        [matrix.to_dense(), differences]
    }

    #[test]
    fn the_matrix_is_the_derivative_of_the_residual() {
        let coupled = Coupled::new(Group::So3xR3);
        for chart in CHARTS {
            let [matrix, differences] =
                matrix_and_differences(&coupled, chart, &coupled.initial().configuration);
            // Central differences of width 1e-5: 1e-10 of third derivatives and 1e-11 of rounding; the
            // derivatives of
            // `Coupled` itself are differences, too.
            let error = (&matrix - differences).amax();
            assert!(error < 1e-8 * matrix.amax(), "{chart:?}: {error} of {}", matrix.amax());
        }
    }

    /// A rotation about a fixed axis by φ(t) = ω t: the coordinates are φ n and 4 tan(φ/4) n.
    #[test]
    fn local_coordinates_give_velocity_and_acceleration() {
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        let (rate, angle) = (3.0, 1.2);
        let (tangent, space) = ((0.25_f64 * angle).tan(), Space::new([Group::So3]));
        let secant = 1.0 + tangent * tangent;
        for (chart, [x, x_dot, x_ddot]) in [
            (Parametrization::RotationVector, [angle, rate, 0.0]),
            (Parametrization::Crv, [4.0 * tangent, rate * secant, 0.5 * rate * rate * secant * tangent]),
        ] {
            let shape = Shape::new(space.clone());
            let mut trial = Trial::new(&shape);
            trial.increment = (x * axis).as_slice().to_vec();
            trial.values.velocity = (x_dot * axis).as_slice().to_vec();
            trial.values.acceleration = (x_ddot * axis).as_slice().to_vec();
            let mut local = LocalCoordinates::new(chart, &shape, &Couplings::dense(&shape));
            local.map(&space, &[1.0, 0.0, 0.0, 0.0], &mut trial);
            // Some roundings of numbers below ten.
            assert!((vector3(&local.increment) - angle * axis).norm() < 1e-14, "{chart:?}");
            assert!((vector3(&local.velocity) - rate * axis).norm() < 1e-14, "{chart:?}");
            assert!(vector3(&local.acceleration).norm() < 2e-14, "{chart:?} {:?}", local.acceleration);
            assert!(quaternion(&trial.values.configuration).angle_to(&so3::exp(&(angle * axis))) < 1e-15);
        }
    }
}
