//! The path of equilibria by its arc length.
//!
//! A step goes a distance along the tangent of the path and corrects at right angles to it, with the load
//! factor as one more unknown [Riks1979, pp. 529–551], [Crisfield1981, pp. 55–62]. The tangent points the way
//! the last one did, so that it goes on where the load falls. Distances are those of the motion alone, in
//! lengths of the system and rad.

use super::loading::{accept, explain};
use super::newton::{Border, Failure, Solved};
use super::problem::Problem;
use super::{Ending, Equilibrium, LoadingResult, PathSettings, StaticSettings, StaticsError};
use crate::dae::Control;

/// Change of the tangent, a vector of length 1, from point to point that leaves the distance as it is. A
/// choice: some three degrees.
const USUAL_CHANGE: f64 = 0.05;
/// A corrector with more iterations shortens the distance.
const MANY_ITERATIONS: usize = 10;
/// Largest turn of a node in one step, in rad.
const MAX_TURN: f64 = 0.3;
/// Smallest distance, in units of the first. A choice of patience: ten cuts to a quarter.
const MIN_DISTANCE: f64 = 1e-6;
/// Points that enclose a limit point to round-off.
const MAX_REFINEMENTS: usize = 40;

/// An equilibrium with the tangent of the path.
#[derive(Clone)]
struct PathPoint {
    equilibrium: Equilibrium,
    /// Motion per unit of distance.
    tangent: Vec<f64>,
    /// Change of the load factor per unit of distance.
    load_rate: f64,
}

/// Follows the path until the load factor is reached or enough points were found.
pub(super) fn follow(
    problem: &mut Problem,
    start: Equilibrium,
    settings: &StaticSettings,
    path: PathSettings,
    watch: &mut impl FnMut(&Equilibrium) -> Control,
) -> Result<LoadingResult, StaticsError> {
    let mut follower = Follower { problem, settings, path, limit_points: Vec::new() };
    let mut now = follower.first(start)?;
    let mut ending = Ending::MostPoints;
    let mut corrections = Vec::new();
    // The first step would reach its part of the target if the system were linear.
    let first = settings.target.abs() / settings.load_steps.max(10) as f64 / now.load_rate.abs();
    let mut distance = follower.limited(&now, first);
    let mut goes_on = watch(&now.equilibrium);
    for _ in 0..path.max_points {
        if goes_on == Control::Stop {
            ending = Ending::Stopped;
            break;
        }
        let (next, solved) = follower.step(&now, &mut distance, first)?;
        if follower.passes_target(&now, &next) {
            let last = follower.at_target(&now)?;
            corrections = last.corrections;
            now.equilibrium = last.equilibrium;
            watch(&now.equilibrium);
            ending = Ending::Reached;
            break;
        }
        if next.load_rate.signum() != now.load_rate.signum() {
            follower.enclose_limit_point(&now, distance);
        }
        distance *= follower.growth(&now, &next, solved.corrections.len());
        now = next;
        distance = follower.limited(&now, distance);
        corrections = solved.corrections;
        goes_on = watch(&now.equilibrium);
    }
    let limit_points = follower.limit_points;
    Ok(LoadingResult { equilibrium: now.equilibrium, ending, limit_points, corrections })
}

struct Follower<'p, 'd> {
    problem: &'p mut Problem<'d>,
    settings: &'p StaticSettings,
    path: PathSettings,
    limit_points: Vec<Equilibrium>,
}

impl Follower<'_, '_> {
    /// The unloaded equilibrium, with the tangent along growing loads.
    fn first(&mut self, start: Equilibrium) -> Result<PathPoint, StaticsError> {
        let solved = self.corrected(&start, None).map_err(|failure| self.failed(&start, failure))?;
        if !self.problem.is_loaded() {
            return Err(StaticsError::NoLoad);
        }
        let sign = self.settings.target.signum();
        self.with_tangent(solved.equilibrium, |_| sign)
    }

    fn corrected(&mut self, guess: &Equilibrium, border: Option<&Border>) -> Result<Solved, Failure> {
        let (tolerance, most) = (self.settings.tolerance, self.settings.max_iterations);
        let solved = self.problem.newton(guess, border, tolerance, most)?;
        Ok(accept(self.problem, solved))
    }

    fn failed(&mut self, at: &Equilibrium, failure: Failure) -> StaticsError {
        explain(self.problem, at, failure, None, 0.0)
    }

    /// Finds the tangent; `sign` says which way it points, from its motion.
    fn with_tangent(
        &mut self,
        equilibrium: Equilibrium,
        sign: impl Fn(&[f64]) -> f64,
    ) -> Result<PathPoint, StaticsError> {
        let problem = &mut *self.problem;
        let factored = match problem.evaluate(&equilibrium) {
            Ok(()) => problem.factor(&equilibrium).map_err(Failure::from),
            Err(equation) => Err(Failure::NotFinite(equation)),
        };
        factored.map_err(|failure| self.failed(&equilibrium, failure))?;
        let problem = &*self.problem;
        let motion = &problem.load_correction[..problem.shape.velocity_count()];
        let load_rate = sign(motion).signum() / problem.norm(motion);
        let tangent = motion.iter().map(|x| load_rate * x).collect();
        Ok(PathPoint { equilibrium, tangent, load_rate })
    }

    /// A distance shortened so that no node turns or moves far.
    fn limited(&self, at: &PathPoint, distance: f64) -> f64 {
        let limit = |way: f64, most: f64| if way * distance > most { most / way } else { distance };
        let by_turn = limit(self.problem.largest_turn(&at.tangent), MAX_TURN);
        let most = self.path.max_step.unwrap_or(f64::INFINITY);
        by_turn.min(limit(self.problem.largest(&at.tangent), most))
    }

    /// By how much the next distance is longer: as much as the path is straight.
    ///
    /// The number of iterations says little: nearly rigid shear or stretch makes them many however short the
    /// way is.
    fn growth(&self, from: &PathPoint, to: &PathPoint, iterations: usize) -> f64 {
        let change: Vec<f64> = to.tangent.iter().zip(&from.tangent).map(|(to, from)| to - from).collect();
        let most = if iterations > MANY_ITERATIONS { 0.7 } else { 1.5 };
        (USUAL_CHANGE / self.problem.norm(&change)).clamp(0.5, most)
    }

    /// tᵢ with the metric of the coordinates.
    fn direction(&self, at: &PathPoint) -> Vec<f64> {
        at.tangent.iter().zip(&self.problem.coordinate_scales).map(|(t, s)| t / (s * s)).collect()
    }

    /// The equilibrium at a distance.
    fn at_distance(&mut self, from: &PathPoint, distance: f64) -> Result<Solved, Failure> {
        let direction = self.direction(from);
        // The first correction is the step along the tangent itself.
        self.corrected(&from.equilibrium, Some(&Border { direction: &direction, distance }))
    }

    /// The next point; the distance is shortened until it is found.
    fn step(
        &mut self,
        from: &PathPoint,
        distance: &mut f64,
        first: f64,
    ) -> Result<(PathPoint, Solved), StaticsError> {
        loop {
            match self.at_distance(from, *distance) {
                Ok(solved) => {
                    let direction = self.direction(from);
                    let onwards =
                        |motion: &[f64]| motion.iter().zip(&direction).map(|(x, t)| x * t).sum::<f64>();
                    self.problem.statistics.steps += 1;
                    let next = self.with_tangent(solved.equilibrium.clone(), onwards)?;
                    return Ok((next, solved));
                }
                Err(failure) => {
                    self.problem.statistics.rejected += 1;
                    *distance *= 0.25;
                    if *distance < MIN_DISTANCE * first {
                        return Err(self.failed(&from.equilibrium, failure));
                    }
                }
            }
        }
    }

    fn passes_target(&self, from: &PathPoint, to: &PathPoint) -> bool {
        let target = self.settings.target;
        (from.equilibrium.load_factor - target) * (to.equilibrium.load_factor - target) <= 0.0
    }

    /// The equilibrium at the target, near a point before it.
    fn at_target(&mut self, from: &PathPoint) -> Result<Solved, StaticsError> {
        let guess = Equilibrium { load_factor: self.settings.target, ..from.equilibrium.clone() };
        let solved =
            self.corrected(&guess, None).map_err(|failure| self.failed(&from.equilibrium, failure))?;
        self.problem.statistics.steps += 1;
        Ok(solved)
    }

    /// Finds where the load factor stops growing or falling between a point and one at a distance.
    fn enclose_limit_point(&mut self, from: &PathPoint, distance: f64) {
        let (mut low, mut high) = (0.0, distance);
        let mut found = None;
        for _ in 0..MAX_REFINEMENTS {
            let middle = 0.5 * (low + high);
            let Ok(solved) = self.at_distance(from, middle) else { break };
            let direction = self.direction(from);
            let onwards = |motion: &[f64]| motion.iter().zip(&direction).map(|(x, t)| x * t).sum::<f64>();
            let Ok(point) = self.with_tangent(solved.equilibrium, onwards) else { break };
            if point.load_rate.signum() == from.load_rate.signum() {
                low = middle;
            } else {
                high = middle;
            }
            // The load would change by some thousand ε: rounding.
            let flat = (point.load_rate * (high - low)).abs() <= 1e-12 * point.equilibrium.load_factor.abs();
            found = Some(point.equilibrium);
            if flat {
                break;
            }
        }
        self.limit_points.extend(found);
    }
}
