//! Equilibrium: where a machine comes to rest, and how it gets there as the loads grow.
//!
//! Takes any [`Dae`] without nonholonomic constraints and solves
//!
//! ```text
//! g(q, 0, c, λ, t₀) + (μ − 1) p(q) + Bᵀ(q) λ = 0,   Φ(q, t₀) = 0,   h(q, 0, c, λ, t₀) = 0
//! ```
//!
//! for q, λ and the states c, where p is the part of g that applied loads make,
//! [`crate::dae::Wanted::loads`], and μ the load factor. Forces, moments and gravity grow with μ; springs,
//! their preload, and drives do not. Newton's increments are elements of the Lie algebra, q ∘ exp(δ̃), with
//! the exact tangent; a step is accepted if the next correction would be smaller [Deuflhard2011, Sec. 3.3], a
//! test that does not depend on how stiff a part is.
//!
//! - [`StaticSettings::target`] is reached at once from a machine that is drawn under its loads, else in load steps, which are cut where
//!   the iteration fails.
//! - [`PathSettings`] follow the path of equilibria by its arc length, through points where no further load can be borne.
//! - [`StaticSettings::spin`] turns everything about an axis: the equilibrium of a rotor with its centrifugal forces.

mod error;
mod free;
mod loading;
mod newton;
mod path;
mod problem;
mod relax;
mod stability;

pub use error::StaticsError;

use crate::constrained::{Redundancy, StartReport};
use crate::dae::{Control, Dae, Initial, Point, Values};
use crate::lie::{Group, Vector6};
use problem::Problem;

/// How an equilibrium is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticSettings {
    /// Load factor to be reached; 1 means the loads as they are.
    pub target: f64,
    /// Number of load steps; more are taken where the iteration needs them.
    pub load_steps: usize,
    /// Corrections below this part of the system's length (and of 1 rad) end an iteration.
    pub tolerance: f64,
    /// Most iterations of one load step.
    pub max_iterations: usize,
    /// Follows the path by its arc length instead of the load.
    pub path: Option<PathSettings>,
    /// Twist (angular velocity, velocity of the origin) in world axes with which the whole machine moves
    /// steadily.
    pub spin: Vector6,
}

impl Default for StaticSettings {
    fn default() -> Self {
        Self {
            target: 1.0,
            load_steps: 1,
            tolerance: 1e-8,
            max_iterations: 30,
            path: None,
            spin: Vector6::zeros(),
        }
    }
}

/// How far a path is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Most points on the path.
    pub max_points: usize,
    /// Largest move of a node from point to point, in lengths of the system or rad; fitted to the path if not
    /// given.
    pub max_step: Option<f64>,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { max_points: 200, max_step: None }
    }
}

/// A configuration in which all forces balance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Equilibrium {
    /// Load factor μ.
    pub load_factor: f64,
    /// The values, at the time t₀ at which loads and drives were taken. The velocity is zero unless
    /// everything spins; the acceleration always is, because twists in body axes are constant then.
    pub values: Values,
}

impl Equilibrium {
    /// The point at which the equations hold.
    pub fn point(&self) -> Point<'_> {
        self.values.point()
    }
}

/// Why a search that found what it looked for ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The load factor was reached.
    Reached,
    /// The path was followed for as many points as were asked for.
    MostPoints,
    /// Whoever watched had seen enough.
    Stopped,
}

/// Work of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticStatistics {
    /// Load steps, or points on a path.
    pub steps: usize,
    /// Load steps that were tried in vain and shortened.
    pub rejected: usize,
    /// Newton iterations, each with a factorisation.
    pub iterations: usize,
    /// Corrections shortened by the line search.
    pub cuts: usize,
}

/// An equilibrium that a small push ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Instability {
    /// In how many directions.
    pub directions: usize,
    /// Load factor from which on it is unstable.
    pub load_factor: f64,
    /// Whether the first equilibrium was unstable already.
    pub from_start: bool,
    /// The balance whose part moves most in the direction in which energy falls most.
    pub equation: String,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The last equilibrium.
    pub equilibrium: Equilibrium,
    /// Why the search ended.
    pub ending: Ending,
    /// Work.
    pub statistics: StaticStatistics,
    /// Equilibria at which the load factor has an extremum along the path.
    pub limit_points: Vec<Equilibrium>,
    /// Whether and since when the equilibrium is unstable, where the stiffness decides that.
    pub instability: Option<Instability>,
    /// Sizes of the corrections in the last load step, in lengths of the system or rad.
    pub corrections: Vec<f64>,
    /// What was changed in the user's configuration to satisfy the constraints.
    pub start_report: StartReport,
    /// Constraints that follow from others.
    pub redundancy: Redundancy,
}

/// Finds the equilibrium of a system from its initial configuration; `watch` sees every equilibrium on the
/// way.
///
/// ```
/// use kreisel::dae::{Control, Dae, Initial, Point, Residual, Shape, Wanted};
/// use kreisel::lie::Space;
/// use kreisel::statics::{self, StaticSettings};
///
/// /// x + x³ = 10 μ: a spring that stiffens.
/// struct Spring;
///
/// impl Dae for Spring {
///     fn shape(&self) -> Shape {
///         Shape::new(Space::vector(1))
///     }
///     fn residual(&self, at: &Point, out: &mut Residual) {
///         let x = at.configuration[0];
///         out.equilibrium[0] = at.acceleration[0] + x + x.powi(3) - 10.0;
///     }
///     fn answer(&self, _: &Point, wanted: &mut Wanted) {
///         if let Some(loads) = wanted.loads.take() {
///             loads[0] = -10.0;
///         }
///     }
/// }
///
/// let initial = Initial::new(0.0, [0.0], [0.0]);
/// let found = statics::solve(&Spring, &initial, &StaticSettings::default(), |_| Control::Continue)?;
/// assert!((found.equilibrium.values.configuration[0] - 2.0).abs() < 1e-12);
/// # Ok::<(), kreisel::statics::StaticsError>(())
/// ```
pub fn solve(
    dae: &dyn Dae,
    initial: &Initial,
    settings: &StaticSettings,
    watch: impl FnMut(&Equilibrium) -> Control,
) -> Result<Solution, StaticsError> {
    search(dae, initial, settings, watch).0
}

/// Whether a system that rests at some values stays there.
pub(crate) fn instability_at(dae: &dyn Dae, values: &Values, redundancy: &Redundancy) -> Option<Instability> {
    let settings = StaticSettings::default();
    check(dae, &settings).ok()?;
    let mut values = values.clone();
    values.velocity.fill(0.0);
    values.acceleration.fill(0.0);
    let at = Equilibrium { load_factor: 1.0, values };
    Problem::new(dae, &settings, redundancy).instability(&[at], &settings)
}

/// [`solve`], with the work also of a search that failed.
pub(crate) fn search(
    dae: &dyn Dae,
    initial: &Initial,
    settings: &StaticSettings,
    mut watch: impl FnMut(&Equilibrium) -> Control,
) -> (Result<Solution, StaticsError>, StaticStatistics) {
    let fitted = check(dae, settings).and_then(|()| Ok(crate::constrained::fit_together(dae, initial)?));
    let (configuration, start_report, redundancy) = match fitted {
        Ok(fitted) => fitted,
        Err(error) => return (Err(error), StaticStatistics::default()),
    };
    let mut problem = Problem::new(dae, settings, &redundancy);
    let start = problem.at_rest(initial, configuration);
    let mut visited: Vec<Equilibrium> = Vec::new();
    let mut watch = |at: &Equilibrium| {
        visited.push(at.clone());
        watch(at)
    };
    let found = match settings.path {
        None => loading::load(&mut problem, start, settings, &mut watch),
        Some(path) => path::follow(&mut problem, start, settings, path, &mut watch),
    };
    let statistics = problem.statistics;
    let solution = found.map(|found| Solution {
        instability: problem.instability(&visited, settings),
        equilibrium: found.equilibrium,
        ending: found.ending,
        statistics,
        limit_points: found.limit_points,
        corrections: found.corrections,
        start_report,
        redundancy,
    });
    (solution, statistics)
}

/// What a way of loading found.
struct LoadingResult {
    equilibrium: Equilibrium,
    ending: Ending,
    limit_points: Vec<Equilibrium>,
    corrections: Vec<f64>,
}

fn check(dae: &dyn Dae, settings: &StaticSettings) -> Result<(), StaticsError> {
    let shape = dae.shape();
    if shape.nonholonomic_count() > 0 {
        return Err(StaticsError::Unsupported("nonholonomic constraints"));
    }
    if !settings.target.is_finite() || settings.target == 0.0 {
        return Err(StaticsError::Target(settings.target));
    }
    if let Some(step) = settings.path.and_then(|path| path.max_step)
        && (step.is_nan() || step <= 0.0)
    {
        return Err(StaticsError::PathStep(step));
    }
    if settings.load_steps == 0 || settings.path.is_some_and(|path| path.max_points == 0) {
        return Err(StaticsError::NoSteps);
    }
    let is_left_invariant = |node| !matches!(shape.space.group(node), Group::So3xR3 | Group::Vector(_));
    if settings.spin != Vector6::zeros() && !(0..shape.space.factor_count()).all(is_left_invariant) {
        return Err(StaticsError::Unsupported("a spin and nodes that are not on SE(3)"));
    }
    Ok(())
}
