//! How accurate a run is, estimated by running it again with larger steps.
//!
//! Two companions run beside: with fixed steps of 2h and 4h, with steps by the error at 4 and 16 times the
//! tolerance. Errors are of second order in the step, and proportional to the tolerance, so that a companion
//! has about four times the error of the run before it: the difference d of the run and its first companion
//! is three times the error of the run. Whether that holds is seen from the quotient of the differences, d of
//! the companions over d of the run. Where it is below 3 the error falls by less than a step suggests, and
//! d/(quotient − 1) takes the place of d/3, as if it went on falling like that. Where tolerances differ by
//! other factors, the power with which errors fall is found from the same three runs.
//!
//! Methods of high order take some tens of steps, whose errors scatter: from one tolerance to half of it they
//! change by anything between a twentieth and five. A quarter of the tolerance often leaves the error as it
//! is, and then d/3 is too small by more than two in a quarter of all cases. What is known is the error of
//! the *coarser* run: it is d, as soon as the finer one has much less. So the companion of such a run has 16
//! times its tolerance, which saves it only a third of the steps, and d itself is the estimate. It is a
//! bound: the run is some ten times as good.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::Serialize;

use super::filter::FILTERS;
use super::samples::{FILTERED, QUANTITIES, Samples};
use super::{REST, Remedy};
use crate::dae::{Control, Dae, Note, NoteKind};
use crate::integrate::{ErrorControl, Interval, Observer, Settings, Statistics};
use crate::machine::{Machine, RunPlan};
use crate::run::advance::{RunEnding, RunStatistics};

/// Steps of the companions in steps of the run, and their tolerances in tolerances of the run.
const STEPS: [f64; 2] = [2.0, COARSEST];
pub(super) const COARSEST: f64 = 4.0;
const TOLERANCES: [f64; 2] = [4.0, 16.0];
/// Tolerance of the only companion of a run whose errors scatter, in tolerances of the run.
pub(super) const SCATTERED: f64 = 16.0;
/// Its turns in those of the run, by which errors of order 8 fall as much.
const FINER_TURN: f64 = FRAC_1_SQRT_2;
/// Quotient of differences from which a run is seen to converge, and the smallest that is believed, where
/// errors are to fall by 4.
const CONVERGES: f64 = 3.0;
pub(super) const MIN_QUOTIENT: f64 = 1.35;
/// Vibrations of fewer steps a period are not resolved, whatever differences say.
const STEPS_A_PERIOD: f64 = 80.0;
/// Differences below this part of a quantity's size are not asked whether they fall.
const TINY: f64 = 1e-6;
/// Differences that grow with smaller steps are told where they make errors of this part of a range. Less may be
/// what contact or a vibration leaves, and more is what is left of a motion that forgets its start: nothing, whatever the steps.
const SEEN: std::ops::Range<f64> = 1e-3..0.3;
/// The quotient up to which differences grow; where runs are not spaced equally the bisection ends just above 1.
const GROWING_QUOTIENT: f64 = 1.0 + 1e-8;
/// Errors of positions and angles above this part of their range are told.
const MAX_ERROR: f64 = 0.02;

/// What makes differences grow, and what to do.
pub(super) const SINGULAR: &str = "the machine passes a position from which it could go on in several ways (bars on one line), or its motion \
    is decided by less than steps resolve; hold it off that position by a small offset or a weak spring";
const AT_SINGULAR: &str = "hold it off that position by a small offset or a weak spring";

/// A torque below this part of that of a force at the machine's length is none, and a force likewise.
const SLIGHT: f64 = 1e-3;
/// Errors of positions and angles below this part of their size are rounding.
const ROUNDED: f64 = 1e-9;
/// Differences, in lengths of the machine and rad, by whose growth a motion is seen to forget its start; how
/// many of them it takes, and the power of e by which they grow at least.
const GROWING: std::ops::Range<f64> = 1e-6..0.03;
const MIN_POINTS: f64 = 8.0;
const MIN_GROWTH: f64 = 3.0;

/// By how much errors fall from a run to one with half the step, or a quarter of the tolerance.
const FALL: f64 = 4.0;

/// By how much errors of three runs are to fall: from the far companion to the near one, and from that to the
/// run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Falls {
    pub far: f64,
    pub near: f64,
    /// Whether errors scatter about that, so that only the error of the coarser run is known.
    pub scatter: bool,
}

impl Falls {
    /// Those of companions that are coarser by the same factor each.
    const EQUAL: Self = Self { far: FALL, near: FALL, scatter: false };

    /// A fall where errors fall by another quotient than 4 each time that they should by 4.
    fn at(fall: f64, quotient: f64) -> f64 {
        fall.powf(quotient.ln() / FALL.ln())
    }

    /// By how much an error falls each time that it should by 4, seen from by how much differences fall.
    fn quotient(&self, differences: f64) -> f64 {
        // Errors C, C/a and C/(ab) differ by C (1 − 1/a) and C/a (1 − 1/b).
        let seen = |quotient: f64| {
            let [far, near] = [self.far, self.near].map(|fall| Self::at(fall, quotient));
            (far - 1.0) / (1.0 - 1.0 / near)
        };
        if *self == Self::EQUAL {
            return differences;
        }
        let (mut low, mut high) = (1.0 + 1e-9, FALL * FALL);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if seen(middle) < differences { low = middle } else { high = middle }
        }
        low
    }

    /// What a guess of the error is of its bound, where only one coarser run is known, whose error is to fall
    /// by this.
    pub fn without_guard(near: f64) -> f64 {
        let falls = Self { far: FALL, near, scatter: false };
        falls.part(FALL) / falls.part(MIN_QUOTIENT)
    }

    /// The part of the difference of the run and its near companion that is the error of the run.
    fn part(&self, quotient: f64) -> f64 {
        if self.scatter {
            return 1.0;
        }
        if quotient == FALL { 1.0 / (self.near - 1.0) } else { 1.0 / (Self::at(self.near, quotient) - 1.0) }
    }
}

/// What is known of the error of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorEstimate {
    /// Largest error of a part at a time, in SI units.
    pub error: f64,
    /// Size of the quantity: range of a position or an angle, largest velocity, force or torque; at least
    /// what counts as motion.
    pub size: f64,
    /// By how much errors fall from one run to the next with half the step: 4 where the estimate is sharp.
    /// Absent where the second companion did not get through, where nothing differs, and for methods of high
    /// order, whose errors scatter: the estimate is then a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotient: Option<f64>,
}

impl ErrorEstimate {
    pub(super) fn new(size: f64, difference: f64, coarser: Option<f64>, falls: Falls) -> Self {
        let quotient = coarser
            .filter(|_| difference > 0.0 && !falls.scatter)
            .map(|coarser| falls.quotient(coarser / difference));
        let is_tiny = difference <= TINY * size;
        let believed = match quotient {
            Some(quotient) if quotient < CONVERGES && !is_tiny => quotient.max(MIN_QUOTIENT),
            None if !is_tiny => MIN_QUOTIENT,
            _ => FALL,
        };
        Self { error: falls.part(believed) * difference, size, quotient }
    }

    /// By which factor differences grow when steps are halved, where they do and are seen.
    fn growth(&self) -> Option<f64> {
        let quotient = self.quotient.filter(|quotient| *quotient <= GROWING_QUOTIENT)?;
        SEEN.contains(&self.relative()).then(|| quotient.recip())
    }

    /// The error in parts of the quantity; 0 where there is none.
    pub fn relative(&self) -> f64 {
        if self.error > 0.0 { self.error / self.size } else { 0.0 }
    }
}

/// Work of the runs by which an accuracy was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct PassWork {
    /// Accepted steps.
    pub steps: u64,
    /// Evaluations of the equations.
    pub residuals: u64,
    /// Factorisations of their matrix.
    pub factorisations: u64,
}

impl PassWork {
    /// Work of a run.
    pub fn of(statistics: &RunStatistics) -> Self {
        let RunStatistics { steps, residuals, factorisations, .. } = *statistics;
        Self { steps, residuals, factorisations }
    }

    /// Work of these runs and of others.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            residuals: self.residuals + other.residuals,
            factorisations: self.factorisations + other.factorisations,
        }
    }
}

/// What is known of velocities and reactions without their fast vibrations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FilteredErrors {
    /// Period of the vibrations, in s, from which on the filter lets them pass; of this one it leaves a
    /// fourth, of one of a fourth of it a three-hundredth.
    #[serde(rename = "filtered-over")]
    pub period: f64,
    /// Velocities, in m/s.
    #[serde(rename = "filtered-velocities")]
    pub velocities: ErrorEstimate,
    /// Angular velocities, in rad/s.
    #[serde(rename = "filtered-angular-velocities")]
    pub angular_velocities: ErrorEstimate,
    /// Forces of joints, in N.
    #[serde(rename = "filtered-forces")]
    pub forces: ErrorEstimate,
    /// Torques of joints, in N m.
    #[serde(rename = "filtered-torques")]
    pub torques: ErrorEstimate,
}

impl FilteredErrors {
    /// The period to two digits.
    fn rounded_period(&self) -> f64 {
        let unit = 10.0_f64.powi(1 - self.period.log10().floor() as i32);
        (self.period * unit).round() / unit
    }
}

/// How accurate a run is, as far as its steps decide on that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Accuracy {
    /// The accuracy that was asked for, of positions in lengths of the machine or of its way and of angles in
    /// rad; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<f64>,
    /// How many runs it was found by.
    pub runs: usize,
    /// Work of all of them.
    pub work: PassWork,
    /// Positions of bodies and of nodes of beams, and displacements of joints, in m.
    pub positions: ErrorEstimate,
    /// Orientations of bodies and of nodes of beams, and turns of joints, in rad.
    pub angles: ErrorEstimate,
    /// Their velocities, in m/s.
    pub velocities: ErrorEstimate,
    /// Their angular velocities, in rad/s.
    pub angular_velocities: ErrorEstimate,
    /// Forces of joints, in N.
    pub forces: ErrorEstimate,
    /// Torques of joints, in N m.
    pub torques: ErrorEstimate,
    /// Means of these forces from one of the times at which runs are compared to the next, a two-hundredth of
    /// the run, in N: impacts and vibrations hardly change them.
    pub mean_forces: ErrorEstimate,
    /// Such means of the torques, in N m.
    pub mean_torques: ErrorEstimate,
    /// The largest forces so far, in N.
    pub peak_forces: ErrorEstimate,
    /// The largest torques so far, in N m.
    pub peak_torques: ErrorEstimate,
    /// Velocities and reactions without vibrations that steps do not resolve, where there are any.
    #[serde(flatten)]
    pub filtered: Option<FilteredErrors>,
    /// Whether parts touch or rub: impacts are told by means and peaks of reactions.
    #[serde(skip)]
    touches: bool,
    /// By which factor positions or angles differ more each time that steps are halved, where they do: no step is
    /// known to be small enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differences_grow: Option<f64>,
    /// The first time at which positions or angles are off by more than was asked for, or by more than a
    /// fiftieth of their range if nothing was, in s; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_until: Option<f64>,
    /// By which power of e an error grows in a second, in 1/s, where it does until it is as large as the
    /// motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
    /// What kept the steps small, where the result is more than ten times as accurate as was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<&'static str>,
}

impl Accuracy {
    pub(super) fn new(
        run: &Samples,
        near: &Samples,
        far: Option<&Samples>,
        falls: Falls,
        units: Units,
        wanted: Option<f64>,
    ) -> Self {
        let sizes = units.counting(run.sizes());
        let largest = |a: &Samples, b: &Samples| {
            a.differences(b).fold([0.0; QUANTITIES], |most, (_, each)| {
                std::array::from_fn(|i| f64::max(most[i], each[i]))
            })
        };
        let mut differences = largest(run, near);
        if falls.scatter {
            // Means over parts of large steps are good to rules of thumb only, and never differ by more than
            // what they are means of.
            differences[6] = differences[6].min(differences[4]);
            differences[7] = differences[7].min(differences[5]);
        }
        let coarser = far.map(|far| largest(near, far));
        let estimates: [ErrorEstimate; QUANTITIES] = std::array::from_fn(|i| {
            ErrorEstimate::new(sizes[i], differences[i], coarser.map(|coarser| coarser[i]), falls)
        });
        let [positions, angles, velocities, angular_velocities, forces, torques, others @ ..] = estimates;
        let [mean_forces, mean_torques, peak_forces, peak_torques] = others;
        let mut accuracy = Self {
            wanted,
            runs: 2 + usize::from(far.is_some()),
            work: PassWork::default(),
            positions,
            angles,
            velocities,
            angular_velocities,
            forces,
            torques,
            mean_forces,
            mean_torques,
            peak_forces,
            peak_torques,
            filtered: None,
            touches: units.touches,
            differences_grow: [positions, angles].iter().filter_map(ErrorEstimate::growth).reduce(f64::max),
            resolved_until: None,
            growth: growth(run, near, [sizes[0].max(units.length), 1.0]),
            limited_by: None,
        };
        accuracy.resolve([MAX_ERROR * sizes[0], MAX_ERROR * sizes[1]], run, near, falls);
        let raw = [&velocities, &angular_velocities, &forces, &torques];
        if let Some(far) = far.filter(|_| !accuracy.are_resolved(raw)) {
            accuracy.filtered = accuracy.behind_filters(run, [near, far], falls, units);
        }
        accuracy
    }

    /// What is known of velocities and reactions behind the fastest filter that lets pass only what is
    /// resolved, and behind which slower ones do, too.
    fn behind_filters(
        &self,
        run: &Samples,
        [near, far]: [&Samples; 2],
        falls: Falls,
        units: Units,
    ) -> Option<FilteredErrors> {
        let is_slow = |filter: &usize| run.filter_period(*filter) >= STEPS_A_PERIOD * run.mean_step();
        let behind = |filter: usize| {
            let [velocity, angular_velocity, force, torque] = run.filtered_sizes(filter);
            let [velocity, angular_velocity] = units.motions(velocity, angular_velocity);
            let [force, torque] = units.loads(force, torque);
            let sizes: [f64; FILTERED] = [velocity, angular_velocity, force, torque];
            let differences = run.filtered_differences(near, filter);
            let coarser = near.filtered_differences(far, filter);
            let [velocities, angular_velocities, forces, torques] = std::array::from_fn(|i| {
                ErrorEstimate::new(sizes[i], differences[i], Some(coarser[i]), falls)
            });
            let period = run.filter_period(filter);
            FilteredErrors { period, velocities, angular_velocities, forces, torques }
        };
        let are_resolved = |found: &FilteredErrors| {
            let FilteredErrors { velocities, angular_velocities, forces, torques, .. } = found;
            self.are_resolved([velocities, angular_velocities, forces, torques])
        };
        (0..FILTERS).take_while(is_slow).map(behind).take_while(are_resolved).last()
    }

    /// Finds until when errors of positions and angles are below limits. Before they are large they fall as
    /// they should, whatever becomes of them later: each is the part of the difference to a companion that
    /// this says.
    pub(super) fn resolve(&mut self, limits: [f64; 2], run: &Samples, near: &Samples, falls: Falls) {
        let part = falls.part(FALL);
        let is_off = |each: &[f64]| (0..2).any(|i| part * each[i] > limits[i]);
        self.resolved_until = run.differences(near).find(|(_, each)| is_off(each)).map(|(time, _)| time);
    }

    /// All of it in a line: "positions to 4.0e-4 m, angles to 2.0e-4 rad, velocities to 1.0e-3, reactions to
    /// 2.0e-3, all estimated; resolved to the end".
    pub fn words(&self) -> String {
        let Self { positions, angles, .. } = self;
        let mut words = match positions.relative().max(angles.relative()) < ROUNDED {
            true => "positions and angles to rounding".to_owned(),
            false => format!("positions to {:.1e} m, angles to {:.1e} rad", positions.error, angles.error),
        };
        words += &self.motion_words();
        // Without joints there are no reactions.
        if self.forces.size > 0.0 || self.torques.size > 0.0 {
            words += &self.load_words();
        }
        words += ", all estimated; ";
        words += &match (self.resolved_until, self.growth) {
            (None, _) => "resolved to the end".to_owned(),
            (Some(time), None) => format!("resolved until t = {time:.4} s"),
            (Some(time), Some(growth)) => {
                format!("resolved until t = {time:.4} s, errors grow by e in {:.2} s", growth.recip())
            }
        };
        if self.differences_grow.is_some() {
            words += "; smaller steps make it differ more";
        }
        if let Some(filtered) = self.filtered {
            words +=
                &format!("; vibrations with periods below {} s are not resolved", filtered.rounded_period());
        }
        if let Some(limit) = self.limited_by {
            words += &format!("; steps were limited by {limit}");
        }
        words
    }

    /// The part of the line about velocities.
    fn motion_words(&self) -> String {
        let raw = [&self.velocities, &self.angular_velocities];
        match &self.filtered {
            Some(found) if !self.are_resolved(raw) => {
                let filtered = [&found.velocities, &found.angular_velocities];
                self.filtered_words("velocities", filtered, raw, found)
            }
            _ => format!(", velocities to {}", self.largest(raw)),
        }
    }

    /// The part of the line about reactions.
    fn load_words(&self) -> String {
        let raw = [&self.forces, &self.torques];
        let (largest, are_resolved) = (self.largest(raw), self.are_resolved(raw));
        match &self.filtered {
            Some(found) if !are_resolved && !self.touches => {
                self.filtered_words("reactions", [&found.forces, &found.torques], raw, found)
            }
            _ if are_resolved && !self.touches => format!(", reactions to {largest}"),
            _ => {
                let means = self.largest([&self.mean_forces, &self.mean_torques]);
                let peaks = self.largest([&self.peak_forces, &self.peak_torques]);
                format!(
                    ", reactions to {largest} (means over a two-hundredth of the run to {means}, peaks to {peaks})"
                )
            }
        }
    }

    fn filtered_words(
        &self,
        what: &str,
        filtered: [&ErrorEstimate; 2],
        raw: [&ErrorEstimate; 2],
        found: &FilteredErrors,
    ) -> String {
        let [filtered, raw] = [filtered, raw].map(|pair| self.largest(pair));
        format!(", {what} filtered over {} s to {filtered} (unfiltered {raw})", found.rounded_period())
    }

    /// The larger of two errors in parts of their quantities, and whether it is only a bound.
    fn largest(&self, estimates: [&ErrorEstimate; 2]) -> String {
        let largest = estimates.iter().map(|estimate| estimate.relative()).fold(0.0, f64::max);
        let bound = if self.are_resolved(estimates) { "" } else { " at most" };
        format!("{largest:.1e}{bound}")
    }

    /// Whether errors fall as they should, or are small enough all the same.
    fn are_resolved<const N: usize>(&self, estimates: [&ErrorEstimate; N]) -> bool {
        let small = self.wanted.unwrap_or(MAX_ERROR);
        let falls = |estimate: &ErrorEstimate| estimate.quotient.is_none_or(|quotient| quotient >= CONVERGES);
        estimates.iter().all(|estimate| estimate.relative() <= small || falls(estimate))
    }

    /// The doubt that no steps are seen to be small enough.
    fn growing_note(&self, worst: f64) -> Note {
        let Self { positions, angles, .. } = self;
        let text = format!(
            "smaller steps make the result differ more, by {:.1e} m and {:.1e} rad at least: {SINGULAR}",
            positions.error, angles.error
        );
        let note = Note::new(NoteKind::LargeError, text).number(worst).advice(AT_SINGULAR);
        match self.resolved_until {
            Some(time) => note.at(time),
            None => note,
        }
    }

    /// The doubt that it casts.
    fn note(&self, remedy: Remedy) -> Option<Note> {
        let worst = self.positions.relative().max(self.angles.relative());
        if self.differences_grow.is_some() {
            return Some(self.growing_note(worst));
        }
        if worst <= MAX_ERROR {
            return None;
        }
        let advice = remedy.words();
        let until = self.resolved_until.map_or(String::new(), |time| format!(" from t = {time:.4} s on"));
        let text = format!(
            "positions are off by about {:.1e} m of {:.1e} m{until}, angles by {:.1e} rad, as runs with larger steps show; {advice}",
            self.positions.error, self.positions.size, self.angles.error
        );
        let note = Note::new(NoteKind::LargeError, text).number(worst).advice(advice);
        Some(match self.resolved_until {
            Some(time) => note.at(time),
            None => note,
        })
    }
}

/// The rate at which the difference of two runs grows, in 1/s, where it grows much: over the times at which
/// it is above rounding and below the size of the motion.
fn growth(run: &Samples, near: &Samples, units: [f64; 2]) -> Option<f64> {
    let points = || {
        run.differences(near)
            .map(|(time, each)| (time, (each[0] / units[0]).max(each[1] / units[1])))
            .filter(|(_, difference)| GROWING.contains(difference))
            .map(|(time, difference)| (time, difference.ln()))
    };
    let count = points().count() as f64;
    if count < MIN_POINTS {
        return None;
    }
    let mean = points().fold([0.0; 2], |sum, (time, ln)| [sum[0] + time / count, sum[1] + ln / count]);
    let [covariance, variance] = points().fold([0.0; 2], |sum, (time, ln)| {
        let away = time - mean[0];
        [sum[0] + away * (ln - mean[1]), sum[1] + away * away]
    });
    let rate = covariance / variance;
    // Equally spaced times of the length L have the variance L²/12.
    (rate * (12.0 * variance / count).sqrt() > MIN_GROWTH).then_some(rate)
}

/// What sizes of a machine and its run are measured by.
#[derive(Clone, Copy)]
pub(super) struct Units {
    /// Length of the machine, in m.
    pub length: f64,
    /// Length of the run, in s.
    time: f64,
    /// Whether parts touch or rub.
    touches: bool,
}

impl Units {
    pub fn new(machine: &Machine, plan: &RunPlan) -> Self {
        let shape = machine.system.shape();
        Self {
            length: machine.system.scales().length,
            time: plan.end_time - plan.start_time,
            touches: shape.touches || shape.fading_states.contains(&true),
        }
    }

    /// Sizes of a velocity and an angular velocity that are at least what counts as motion.
    fn motions(&self, velocity: f64, angular_velocity: f64) -> [f64; 2] {
        let Self { length, time, .. } = *self;
        [
            velocity.max(REST * length * angular_velocity.max(1.0 / time)),
            angular_velocity.max(REST * (velocity / length).max(1.0 / time)),
        ]
    }

    /// Sizes of a force and a torque of which none is rounding beside the other.
    fn loads(&self, force: f64, torque: f64) -> [f64; 2] {
        [force.max(SLIGHT * torque / self.length), torque.max(SLIGHT * self.length * force)]
    }

    /// Sizes that are at least what counts as motion, and of which none is rounding beside its partner: an
    /// axis without torque still has that of its force at the machine's length, in so far as it counts.
    fn counting(&self, sizes: [f64; QUANTITIES]) -> [f64; QUANTITIES] {
        let [position, angle, velocity, angular_velocity, force, torque, others @ ..] = sizes;
        let [mean_force, mean_torque, peak_force, peak_torque] = others;
        let [velocity, angular_velocity] = self.motions(velocity, angular_velocity);
        let [force, torque] = self.loads(force, torque);
        let [mean_force, mean_torque] = self.loads(mean_force, mean_torque);
        let [peak_force, peak_torque] = self.loads(peak_force, peak_torque);
        [
            position.max(REST * self.length),
            angle.max(REST),
            velocity,
            angular_velocity,
            force,
            torque,
            mean_force,
            mean_torque,
            peak_force,
            peak_torque,
        ]
    }
}

/// Runs the companions of a run that was sampled; tells what came of it, and the note it is worth.
pub(super) fn estimate(
    machine: &Machine,
    plan: &RunPlan,
    samples: &Samples,
    scatter: bool,
    ask: &mut dyn FnMut(f64) -> Control,
) -> (Option<Accuracy>, Option<Note>) {
    let mut runs: Vec<Samples> = Vec::new();
    let remedy = Remedy::of(plan);
    let mut work = PassWork::default();
    let companions = companions(&plan.integration, scatter);
    let share = 1.0 / companions.len() as f64;
    for (index, integration) in companions.into_iter().enumerate() {
        let plan = RunPlan { integration, ..plan.clone() };
        let watch = CompanionWatch {
            machine,
            samples: samples.another(),
            plan: &plan,
            done: index as f64 * share,
            share,
            ask,
        };
        match watch.run() {
            Ok((found, its_work)) => {
                work = work.plus(its_work);
                runs.push(found);
            }
            Err(obstacle) if runs.is_empty() => return (None, Some(obstacle.note(remedy))),
            Err(_) => break,
        }
    }
    let [near, others @ ..] = runs.as_slice() else { return (None, None) };
    let falls = match (scatter, plan.integration.error_control()) {
        (true, Some(_)) => Falls { far: 1.0, near: SCATTERED, scatter },
        _ => Falls::EQUAL,
    };
    let mut accuracy = Accuracy::new(samples, near, others.first(), falls, Units::new(machine, plan), None);
    accuracy.work = work;
    let note = accuracy.note(remedy);
    (Some(accuracy), note)
}

/// Why there is no estimate.
enum Obstacle {
    /// Whoever watches wants no more of it.
    Stopped,
    /// The companion does not get through.
    Failed(String),
}

impl Obstacle {
    fn note(&self, remedy: Remedy) -> Note {
        let kind = NoteKind::NoErrorEstimate;
        match self {
            Self::Stopped => Note::new(kind, "the estimate of the error was interrupted"),
            Self::Failed(why) => {
                let advice = remedy.words();
                let text =
                    format!("the error cannot be estimated, a run with larger steps fails: {why}; {advice}");
                Note::new(kind, text).advice(advice)
            }
        }
    }
}

/// Settings of the companions.
fn companions(settings: &Settings, scatter: bool) -> Vec<Settings> {
    let Some(control) = settings.error_control else {
        return STEPS.map(|factor| settings.with_step(factor * settings.step)).to_vec();
    };
    let factors = if scatter { &[SCATTERED][..] } else { &TOLERANCES };
    let coarser = |factor: &f64| {
        let (rtol, atol) = (factor * control.rtol, factor * control.atol);
        // Steps that a limit keeps small are to be larger, too. Where a method of high order turns parts as
        // far as it can, the companion turns them less and is the finer one: d is then the error of the run.
        let max_step = factor.sqrt() * control.max_step;
        let turn_part = if scatter { FINER_TURN } else { factor.sqrt() };
        settings.with_error_control(ErrorControl { rtol, atol, max_step, turn_part, ..control })
    };
    factors.iter().map(coarser).collect()
}

/// A companion under way.
struct CompanionWatch<'a> {
    machine: &'a Machine,
    samples: Samples,
    plan: &'a RunPlan,
    /// Part of the work that is done before, and the share that this run has in it.
    done: f64,
    share: f64,
    ask: &'a mut dyn FnMut(f64) -> Control,
}

impl CompanionWatch<'_> {
    fn run(mut self) -> Result<(Samples, PassWork), Obstacle> {
        let failed = |error: &dyn std::fmt::Display| Err(Obstacle::Failed(error.to_string()));
        let mut run = match self.machine.start(self.plan) {
            Ok(run) => run,
            Err(error) => return failed(&error),
        };
        match run.advance(&mut self) {
            RunEnding::Done | RunEnding::Event(_) => {
                let Statistics { steps, residuals, factorisations, .. } = run.statistics();
                Ok((self.samples, PassWork { steps, residuals, factorisations }))
            }
            RunEnding::Stopped => Err(Obstacle::Stopped),
            RunEnding::Failed(error) => failed(&error),
            RunEnding::Refused(error) => failed(&error),
        }
    }
}

impl Observer for CompanionWatch<'_> {
    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        self.samples.accepted(self.machine, last);
        let RunPlan { start_time, end_time, .. } = self.plan;
        (self.ask)(self.done + self.share * (last.ends().to.time - start_time) / (end_time - start_time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_second_order_is_a_third_of_the_difference() {
        let estimate = ErrorEstimate::new(1.0, 0.3, Some(1.2), Falls::EQUAL);
        assert_eq!((estimate.error, estimate.quotient), (0.3 / 3.0, Some(4.0)));
    }

    #[test]
    fn an_error_that_hardly_falls_is_larger_than_the_difference() {
        // Differences that fall by 2 a companion add up to d (1/2 + 1/4 + …) = d.
        let slow = ErrorEstimate::new(1.0, 0.3, Some(0.6), Falls::EQUAL);
        assert!((slow.error - 0.3).abs() < 1e-15);
        // And those that do not fall are bounded by what the smallest quotient says.
        for coarser in [Some(0.1), None] {
            let bound = ErrorEstimate::new(1.0, 0.3, coarser, Falls::EQUAL).error;
            // Up to rounding of a power and a logarithm.
            assert!((bound * (MIN_QUOTIENT - 1.0) / 0.3 - 1.0).abs() < 1e-14, "{bound}");
        }
    }

    #[test]
    fn tolerances_of_any_spacing_give_the_error_of_any_order() {
        // Errors C rtol^p of runs with tolerances 20, 6 and 1.
        let falls = Falls { far: 20.0 / 6.0, near: 6.0, scatter: false };
        for power in [0.5_f64, 0.7, 1.0] {
            let [far, near, run] = [20.0_f64, 6.0, 1.0].map(|rtol| 1e-2 * rtol.powf(power));
            let found = ErrorEstimate::new(1.0, near - run, Some(far - near), falls);
            // The bisection ends at rounding.
            assert!((found.error / run - 1.0).abs() < 1e-9, "{power}: {found:?}");
            assert!((found.quotient.unwrap() - 4.0_f64.powf(power)).abs() < 1e-9, "{power}: {found:?}");
        }
    }

    #[test]
    fn where_errors_scatter_that_of_the_coarser_run_is_told() {
        let falls = Falls { far: 16.0, near: 16.0, scatter: true };
        let found = ErrorEstimate::new(1.0, 0.3, Some(1e-4), falls);
        assert_eq!((found.error, found.quotient), (0.3, None));
    }

    #[test]
    fn differences_that_grow_are_told_where_they_are_seen() {
        // Halving 2, 1, 0.5, 0.25 ms moves the positions of a chain of four-bars by these.
        let differences = [5e-4, 4e-4, 2.6e-3, 4e-3];
        let grow: Vec<bool> = differences
            .windows(2)
            .map(|pair| ErrorEstimate::new(1.0, pair[1], Some(pair[0]), Falls::EQUAL).growth().is_some())
            .collect();
        assert_eq!(grow, [false, true, true]);
        for (difference, coarser) in [(1e-7, 1e-8), (1.0, 0.9)] {
            assert!(ErrorEstimate::new(1.0, difference, Some(coarser), Falls::EQUAL).growth().is_none());
        }
    }

    #[test]
    fn nothing_that_moves_has_no_error() {
        let still = ErrorEstimate::new(0.0, 0.0, Some(0.0), Falls::EQUAL);
        assert_eq!((still.error, still.relative(), still.quotient), (0.0, 0.0, None));
    }
}
