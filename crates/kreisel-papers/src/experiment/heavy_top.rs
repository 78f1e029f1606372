//! Runs of the heavy top as the papers describe them, and how far they are from the exact solution.
//!
//! [`TopRun`] says what is run: group, method, step size, starting values, end. It keeps every step as a
//! [`Moment`] beside the exact solution, an integration of the reduced equations about the fixed point with a
//! method of order 16. Errors are those of [ArnoldCardonaBruls2015, §3.3]: in q the norm of the error as an
//! element of the Lie algebra [ArnoldCardonaBruls2015, §4.1], in v and λ relative to the norm of the
//! numerical solution.

use super::ExperimentError;
use super::lie_group::as_published;
use crate::problem::HeavyTop;
use crate::problem::heavy_top::TopSolution;
use kreisel::dae::Values;
use kreisel::integrate::{
    Integration, Integrator, IterationMatrix, Method, ParameterError, Parameters, Parametrization, Settings,
    Start, Statistics,
};
use kreisel::lie::{Group, Space, UnitQuaternion, Vector3, pose, vector3};
use kreisel::report::figure::Series;
use kreisel::solve::newton::{NewtonSettings, Refresh, Stop};

/// The two configuration spaces of the top.
pub const GROUPS: [Group; 2] = [Group::So3xR3, Group::Se3];

/// ρ∞ of the papers' experiments with the top.
const SPECTRAL_RADIUS: f64 = 0.9;

/// How the papers write a group.
pub fn group_name(group: Group) -> &'static str {
    if group == Group::Se3 { "SE(3)" } else { "SO(3)×R³" }
}

/// What is run.
#[derive(Clone, Debug)]
pub struct TopRun {
    top: HeavyTop,
    settings: Settings,
    end: f64,
    projection: Option<f64>,
}

impl TopRun {
    /// The benchmark to t = 1 with ρ∞ = 0.9, the trivial starting values and Newton's iteration to round-off.
    pub fn new(group: Group, method: Method, step: f64) -> Result<Self, ParameterError> {
        let settings = Settings::new(method, Parameters::chung_hulbert(SPECTRAL_RADIUS)?, step)
            .with_start(Start::Trivial)
            .with_newton_tolerances(1e-12, 1e-13)
            .with_refresh(Refresh::EveryIteration);
        Ok(Self { top: HeavyTop::new(group), settings, end: 1.0, projection: None })
    }

    /// Another top.
    pub fn of(self, top: HeavyTop) -> Self {
        Self { top, ..self }
    }

    /// Other starting values.
    pub fn starting(mut self, start: Start) -> Self {
        self.settings = self.settings.with_start(start);
        self
    }

    /// Another spectral radius.
    pub fn damping(mut self, spectral_radius: f64) -> Result<Self, ParameterError> {
        self.settings = self.settings.with_parameters(Parameters::chung_hulbert(spectral_radius)?);
        Ok(self)
    }

    /// Other local coordinates of the updated Lagrangian method.
    pub fn in_coordinates(mut self, parametrization: Parametrization) -> Self {
        self.settings = self.settings.with_option(parametrization);
        self
    }

    /// The iteration of [BrulsCardonaArnold2012, Table 1].
    pub fn with_first_published_settings(mut self) -> Self {
        self.settings = as_published(self.settings);
        self
    }

    /// Another end.
    pub fn until(self, end: f64) -> Self {
        Self { end, ..self }
    }

    /// Newton's iteration stopped by an increment below RTOL = 1e-8 and ATOL = 1e-10 [ArnoldCardonaBruls2015,
    /// §3.3].
    pub fn stopping_early(mut self) -> Self {
        let newton = NewtonSettings { stop: Stop::SmallIncrement, ..self.settings.newton() };
        self.settings = self.settings.with_newton_tolerances(1e-8, 1e-10).with_newton(newton);
        self
    }

    /// The simplified iteration matrix, kept as long as it contracts [ArnoldCardonaBruls2015, §3.5].
    pub fn keeping_simplified_matrix(mut self) -> Self {
        let simplified = self.settings.with_iteration_matrix(IterationMatrix::Simplified);
        self.settings = simplified.with_refresh(Refresh::WhenSlow);
        self
    }

    /// A projection of the velocity at a time that is a multiple of the step size.
    pub fn projecting_velocity_at(self, time: f64) -> Self {
        Self { projection: Some(time), ..self }
    }

    /// The integration before its first step.
    pub fn start(&self) -> Result<Integration<'_>, ExperimentError> {
        let settings = self.settings;
        #[cfg(test)]
        let settings = crate::problem::mutation::settings(settings);
        Ok(Integrator::with(settings).start(&self.top, self.top.initial())?)
    }

    /// Runs to the end and compares every step with the exact solution.
    pub fn run(&self) -> Result<History, ExperimentError> {
        let steps = self.step_count(self.end);
        let times: Vec<f64> = (0..=steps).map(|n| n as f64 * self.settings.step()).collect();
        let projected = self.projection.map(|time| self.step_count(time));
        let mut integration = self.start()?;
        let mut moments = Vec::with_capacity(times.len());
        for (n, exact) in self.top.reference(&times).into_iter().enumerate() {
            if n > 0 {
                integration.step()?;
            }
            if projected == Some(n) {
                integration.project_velocity()?;
            }
            moments.push(Moment::new(times[n], &self.top, &mut integration, exact)?);
        }
        Ok(History { moments, statistics: integration.statistics() })
    }

    fn step_count(&self, time: f64) -> usize {
        (time / self.settings.step()).round() as usize
    }
}

/// Every step of a run, and the work it took.
#[derive(Clone, Debug)]
pub struct History {
    moments: Vec<Moment>,
    /// Work.
    pub statistics: Statistics,
}

impl History {
    /// All steps, beginning with the starting values.
    pub fn all(&self) -> &[Moment] {
        &self.moments
    }

    /// The steps of a time interval, its ends included.
    pub fn between(&self, from: f64, to: f64) -> &[Moment] {
        // Multiples of the step size miss the ends of an interval by rounding.
        let first = self.moments.partition_point(|moment| moment.time < from - 1e-9);
        let end = self.moments.partition_point(|moment| moment.time <= to + 1e-9);
        &self.moments[first..end]
    }
}

/// The numerical and the exact solution at one time.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Time t_n.
    pub time: f64,
    /// Rotation R_n.
    pub rotation: UnitQuaternion,
    /// Position x_n of the centre of mass.
    pub position: Vector3,
    /// Velocity of the centre of mass: u_n in world axes on SO(3)×R³, U_n in body axes on SE(3).
    pub velocity: Vector3,
    /// Multipliers λ_n: the reaction in body axes.
    pub multipliers: Vector3,
    /// Stabilizing multipliers η_n; zero with `index3`.
    pub stabilizers: Vector3,
    /// Total energy.
    pub energy: f64,
    /// Norm of the constraints Φ(q_n).
    pub violation: f64,
    /// Residual B(q_n) v_n = −X × Ω_n − Rᵀ_n u_n of the hidden constraints, in body axes.
    pub hidden_residual: Vector3,
    /// The exact solution.
    pub exact: TopSolution,
    /// Its distance from the numerical one.
    pub errors: Errors,
}

impl Moment {
    fn new(
        time: f64,
        top: &HeavyTop,
        integration: &mut Integration<'_>,
        exact: TopSolution,
    ) -> Result<Self, ExperimentError> {
        let violation = integration.position_residual();
        let stabilizers = integration.carried("stabilizers").map_or(Vector3::zeros(), |eta| vector3(&eta));
        // The velocity of the method: with Table 2 its first one differs from the one that is shown.
        let mut values = integration.values().clone();
        values.velocity.copy_from_slice(integration.base_velocity());
        let configuration = pose(&values.configuration);
        let (omega, velocity) = (vector3(&values.velocity), vector3(&values.velocity[3..]));
        let velocity_body = if top.group == Group::Se3 {
            velocity
        } else {
            configuration.rotation.inverse_transform_vector(&velocity)
        };
        Ok(Self {
            time,
            rotation: configuration.rotation,
            position: configuration.position,
            velocity,
            multipliers: vector3(&values.multipliers),
            stabilizers,
            energy: top.energy(&values.configuration, &values.velocity),
            violation,
            // As the paper writes it, with X and not with Rᵀx: rounding in x would be multiplied by 150
            // rad/s.
            hidden_residual: -top.centre.cross(&omega) - velocity_body,
            errors: Errors::new(top.group, &values, &exact)?,
            exact,
        })
    }

    /// Error of a multiplier relative to the norm of all.
    pub fn multiplier_error(&self, component: usize) -> f64 {
        (self.exact.multipliers[component] - self.multipliers[component]) / self.multipliers.norm()
    }
}

/// Sizes of the errors in q, v and λ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// In q: the norm of e with q(t_n) = q_n ∘ exp(ẽ).
    pub configuration: f64,
    /// In v, relative.
    pub velocity: f64,
    /// In λ, relative.
    pub multipliers: f64,
}

impl Errors {
    fn new(group: Group, values: &Values, exact: &TopSolution) -> Result<Self, ExperimentError> {
        let (r, x) = (exact.rotation, exact.position);
        let mut difference = [0.0; 6];
        Space::new([group]).difference(
            &values.configuration,
            &[r.w, r.i, r.j, r.k, x.x, x.y, x.z],
            &mut difference,
        )?;
        let u =
            if group == Group::Se3 { r.inverse_transform_vector(&exact.velocity) } else { exact.velocity };
        let omega = exact.angular_velocity;
        Ok(Self {
            configuration: norm(&difference),
            velocity: relative_error(&values.velocity, &[omega.x, omega.y, omega.z, u.x, u.y, u.z]),
            multipliers: relative_error(&values.multipliers, exact.multipliers.as_slice()),
        })
    }

    /// The largest errors of several steps.
    pub fn largest(moments: &[Moment]) -> Self {
        Self {
            configuration: largest(moments, |moment| moment.errors.configuration),
            velocity: largest(moments, |moment| moment.errors.velocity),
            multipliers: largest(moments, |moment| moment.errors.multipliers),
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn relative_error(numerical: &[f64], exact: &[f64]) -> f64 {
    let difference: Vec<f64> = numerical.iter().zip(exact).map(|(a, b)| a - b).collect();
    norm(&difference) / norm(numerical)
}

/// The largest size of a quantity; NaN if it is not a number anywhere, so that a check of it fails.
pub fn largest(moments: &[Moment], of: impl Fn(&Moment) -> f64) -> f64 {
    largest_size(moments.iter().map(of))
}

/// The largest size of what changes its sign from step to step in a quantity.
///
/// Of e_n = s_n + (−1)ⁿ o_n the second difference (e_{n−1} − 2e_n + e_{n+1})/4 keeps the oscillation o_n, and
/// of a smooth s_n only a quarter of h² s̈.
pub fn oscillation(moments: &[Moment], of: impl Fn(&Moment) -> f64) -> f64 {
    let values: Vec<f64> = moments.iter().map(of).collect();
    largest_size(values.windows(3).map(|e| (e[0] - 2.0 * e[1] + e[2]) / 4.0))
}

fn largest_size(values: impl Iterator<Item = f64>) -> f64 {
    values
        .map(f64::abs)
        .fold(0.0, |largest, size| if size > largest || size.is_nan() { size } else { largest })
}

/// A quantity over time.
pub fn over_time(name: &str, moments: &[Moment], of: impl Fn(&Moment) -> f64, label: &str) -> Series {
    let times = moments.iter().map(|moment| moment.time).collect();
    Series::new(name, times, moments.iter().map(of).collect()).labelled("t [s]", label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreisel::integrate::INDEX2;

    fn short(group: Group) -> History {
        TopRun::new(group, INDEX2, 1e-3).unwrap().until(0.01).run().unwrap()
    }

    #[test]
    fn a_run_has_its_start_and_every_step_to_the_end() {
        let history = short(Group::Se3);
        assert_eq!(history.all().len(), 11);
        assert_eq!(history.statistics.steps, 10);
        assert_eq!(history.between(0.003, 0.005).len(), 3);
        // λ₀ of a linear system with multipliers of size 300 carries some roundings.
        assert!(history.all()[0].errors.multipliers < 1e-14);
    }

    #[test]
    fn oscillation_is_what_alternates() {
        let history = short(Group::So3xR3);
        let alternating = |moment: &Moment| {
            let n = (moment.time / 1e-3).round() as i32;
            5.0 * moment.time + 0.25 * f64::from(1 - 2 * (n % 2))
        };
        // Roundings of numbers below one.
        assert!((oscillation(history.all(), alternating) - 0.25).abs() < 1e-14);
    }

    #[test]
    fn what_is_not_a_number_is_the_largest() {
        assert!(largest_size([1.0, f64::NAN, 2.0].into_iter()).is_nan());
        assert_eq!(largest_size([1.0, -3.0, 2.0].into_iter()), 3.0);
    }
}
