//! What the size of the steps makes of the motion: their local errors, added up.
//!
//! A step has the local error C_q h³ v̈ + h³ v̂ v̇/12 in q [ArnoldCardonaBruls2015, Eq. (69)]. The sum of
//! these is the error at the end of a motion that neither magnifies nor damps it, and its cheapest indicator:
//! it needs nothing but the accelerations at the ends of steps. They are taken over two steps: vibrations
//! that no step resolves, and that the method damps, alternate from step to step and cancel. What joints,
//! drives and stiff parts undo in the next step is no error: at some looks, and only if something is to be
//! told, the part of the local errors is found that lasts. A motion that is unstable has larger errors: only
//! companions see those.

use super::{REST, Remedy};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Dae, Note, NoteKind, Values};
use crate::integrate::{Ends, KnownError, StepReport};
use crate::kinematics::NodeId;
use crate::lie::{NormBlock, Space};
use crate::machine::RunPlan;
use crate::system::System;

/// Sums of local errors above this part of the range of a motion are told: many motions magnify them ten
/// times.
const MAX_SUM: f64 = 3e-3;
/// Part of that at which the advice aims.
const AIM: f64 = 0.5;
/// What a method knows of its own error is told above this part of the range, as that of a mesh is.
const MAX_KNOWN: f64 = 0.01;
/// Fewer steps than this follow no motion, whatever their errors add up to.
const MIN_STEPS: f64 = 5.0;
/// How often it is looked what lasts of the errors.
const LOOKS: f64 = 16.0;

/// What the steps made of a rotation or a position.
struct ErrorSum {
    of: NormBlock,
    /// Local errors so far, in m or rad.
    sum: f64,
    /// Smallest |q₀ · q| of a rotation: the cosine of half the angle by which it was turned from its start.
    cosine: f64,
}

/// Adds up the local errors of a run.
pub(super) struct StepErrorWatch {
    space: Space,
    /// Length of the machine, in m.
    length: f64,
    /// C_q of the method of the last step; absent where its local error is of another order, and is not added
    /// up.
    constant: Option<f64>,
    /// What methods of high order know of their own errors: of positions in m and of angles in rad, up to the
    /// last start and since; and the order of the last one.
    known: [[f64; 2]; 2],
    order: u32,
    blocks: Vec<ErrorSum>,
    /// Configuration at the start, and the smallest and largest value of each coordinate since.
    first: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Accelerations at the start of the last step, and the size of that step; 0 if there is none.
    before: Vec<f64>,
    step_before: f64,
    /// v̂ v̇.
    curvature: Vec<f64>,
    /// Time from the start so far and its steps, of which the mean is told.
    time: f64,
    steps: f64,
    looks: Vec<Look>,
    next_look: f64,
    pause: f64,
}

/// A step that is looked at.
struct Look {
    /// Its end, without accelerations and multipliers.
    end: Values,
    /// Its size, in s.
    step: f64,
    /// Its local error.
    error: Vec<f64>,
}

impl Look {
    fn new(end: &Values, step: f64, error: Vec<f64>) -> Self {
        let Values { time, configuration, velocity, internal_states, memory, .. } = end.clone();
        let end = Values { time, configuration, velocity, internal_states, memory, ..Values::default() };
        Self { end, step, error }
    }
}

/// Finds what lasts of a change of the configuration after a step of a size at given values, if it can be
/// found.
pub(super) type Lasting<'a> = dyn FnMut(&Values, f64, &[f64], &mut [f64]) -> bool + 'a;

impl StepErrorWatch {
    /// Of a run by a plan, from its start or from values on its way.
    pub fn new(system: &System, plan: &RunPlan, start: &Values) -> Self {
        let space = system.shape().space;
        let blocks = space.norm_blocks().map(|of| ErrorSum { of, sum: 0.0, cosine: 1.0 }).collect();
        let curvature = vec![0.0; space.dimension()];
        let [first, low, high] = [(); 3].map(|()| start.configuration.clone());
        let pause = (plan.end_time - plan.start_time) / LOOKS;
        let (before, length) = (Vec::new(), system.scales().length);
        Self {
            space,
            length,
            constant: plan.integration.error_constant(),
            known: [[0.0; 2]; 2],
            order: 0,
            blocks,
            first,
            low,
            high,
            before,
            step_before: 0.0,
            curvature,
            time: 0.0,
            steps: 0.0,
            looks: Vec::new(),
            // In the middle of each part of the run.
            next_look: start.time + 0.5 * pause,
            pause,
        }
    }

    /// Accelerations may jump where the method starts anew.
    pub fn started(&mut self) {
        self.step_before = 0.0;
        let [before, since] = &mut self.known;
        before.iter_mut().zip(since).for_each(|(before, since)| *before += std::mem::take(since));
    }

    /// Takes a step.
    pub fn accepted(&mut self, ends: &Ends, report: &StepReport) {
        let constant = report.error_constant;
        (self.constant, self.order) = (constant, report.order);
        self.add_known(report.known_error);
        let Ends { from, to, .. } = ends;
        let step = to.time - from.time;
        self.space.hat_multiply(&to.velocity, &to.acceleration, &mut self.curvature);
        let (earlier, span) = match self.step_before > 0.0 {
            true => (&self.before, step + self.step_before),
            false => (&from.acceleration, step),
        };
        let (cube, factor) = constant.map_or((0.0, 0.0), |constant| (step.powi(3), constant / span));
        let error = |i: usize| cube * (factor * (to.acceleration[i] - earlier[i]) + self.curvature[i] / 12.0);
        for block in &mut self.blocks {
            block.sum += norm(block.of.velocities.clone().map(error));
            if block.of.is_rotation {
                let product = |i: usize| self.first[i] * to.configuration[i];
                let cosine = block.of.coordinates.clone().map(product).sum::<f64>();
                block.cosine = block.cosine.min(cosine.abs());
            } else {
                for i in block.of.coordinates.clone() {
                    self.low[i] = self.low[i].min(to.configuration[i]);
                    self.high[i] = self.high[i].max(to.configuration[i]);
                }
            }
        }
        if to.time >= self.next_look {
            self.looks.push(Look::new(to, step, (0..self.curvature.len()).map(error).collect()));
            self.next_look +=
                self.pause * ((to.time - self.next_look) / self.pause).floor().max(0.0) + self.pause;
        }
        self.before.clone_from(&from.acceleration);
        self.step_before = step;
        self.time += step;
        self.steps += 1.0;
    }

    fn add_known(&mut self, error: Option<KnownError>) {
        let since = &mut self.known[1];
        let in_units = |error: [f64; 2]| [error[0] * self.length, error[1]];
        match error {
            Some(KnownError::Step(error)) => {
                since.iter_mut().zip(in_units(error)).for_each(|(sum, error)| *sum += error);
            }
            Some(KnownError::Run(error)) => {
                since.iter_mut().zip(in_units(error)).for_each(|(most, error)| *most = most.max(error));
            }
            None => {}
        }
    }

    /// Ranges of positions and of angles, in m and in rad; none where nothing moves.
    pub fn ranges(&self) -> [Option<f64>; 2] {
        let range = |block: &ErrorSum| match block.of.is_rotation {
            true => 2.0 * block.cosine.acos(),
            false => norm(block.of.coordinates.clone().map(|i| self.high[i] - self.low[i])),
        };
        [(false, self.length), (true, 1.0)].map(|(turns, unit)| {
            let blocks = self.blocks.iter().filter(|block| block.of.is_rotation == turns);
            Some(blocks.map(range).fold(0.0, f64::max)).filter(|range| *range > REST * unit)
        })
    }

    /// The block with the largest sum of errors in parts of the range of its kind, each sum taken by a part.
    fn worst(&self, parts: &[f64]) -> Option<(&ErrorSum, f64)> {
        let ranges = self.ranges();
        let of_range = |(block, part): (&'_ ErrorSum, &f64)| {
            Some(part * block.sum / ranges[usize::from(block.of.is_rotation)]?)
        };
        let sums = self.blocks.iter().zip(parts).filter_map(|each| Some((each.0, of_range(each)?)));
        // What is not a number is the largest.
        sums.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, sum)| sum.is_nan() || *sum > MAX_SUM)
    }

    /// The part of the errors of each block that lasts.
    fn parts_left(&self, lasting: &mut Lasting) -> Vec<f64> {
        let mut sums = vec![[0.0; 2]; self.blocks.len()];
        let mut rest = vec![0.0; self.curvature.len()];
        for Look { end, step, error } in &self.looks {
            if !lasting(end, *step, error, &mut rest) {
                rest.copy_from_slice(error);
            }
            for (block, [all, left]) in self.blocks.iter().zip(&mut sums) {
                *all += norm(block.of.velocities.clone().map(|i| error[i]));
                *left += norm(block.of.velocities.clone().map(|i| rest[i]));
            }
        }
        sums.into_iter().map(|[all, left]| if all > 0.0 { (left / all).min(1.0) } else { 1.0 }).collect()
    }

    /// What is worth telling of the steps, with what to do where no step can be advised.
    pub fn note(&self, system: &System, remedy: Remedy, lasting: &mut Lasting) -> Option<Note> {
        if self.constant.is_none() {
            return self.known_note(remedy);
        }
        if (1.0..MIN_STEPS).contains(&self.steps) && self.ranges().iter().any(Option::is_some) {
            let (steps, advice) = (self.steps, remedy.words());
            let counted =
                if steps == 1.0 { "1 step follows".to_owned() } else { format!("{steps} steps follow") };
            let text = format!("{counted} no motion; {advice}");
            return Some(Note::new(NoteKind::LargeSteps, text).number(steps).advice(advice));
        }
        self.worst(&vec![1.0; self.blocks.len()])?;
        let (block, sum) = self.worst(&self.parts_left(lasting))?;
        let (name, step) = (system.node_name(NodeId(block.of.factor)), self.time / self.steps);
        let what = if block.of.is_rotation { "angles" } else { "positions" };
        // Local errors add up to the square of the step.
        let smaller = step * (AIM * MAX_SUM / sum).sqrt();
        let advice = match remedy {
            Remedy::Steps => format!("take steps of {smaller:.1e} s, or `step = \"auto\"`"),
            Remedy::Tolerance | Remedy::Accuracy => remedy.words().to_owned(),
        };
        let text = format!(
            "steps of {step:.1e} s are large for this motion: what they leave out adds up to {:.1} % of the range of {what}, most of it at \
             `{name}`, and motions may magnify that; {advice}",
            100.0 * sum
        );
        Some(Note::new(NoteKind::LargeSteps, text).about(name).number(sum).advice(advice))
    }

    /// The same of methods that know their own errors. Under control of the error they keep to what was asked
    /// for.
    fn known_note(&self, remedy: Remedy) -> Option<Note> {
        let Remedy::Steps = remedy else { return None };
        let [before, since] = self.known;
        let part = |kind: usize| {
            let known = before[kind] + since[kind];
            Some(known / self.ranges()[kind]?).filter(|part| part.is_nan() || *part > MAX_KNOWN)
        };
        let (what, part) = [("positions", part(0)), ("angles", part(1))]
            .into_iter()
            .filter_map(|(what, part)| Some((what, part?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let step = self.time / self.steps;
        let smaller = step * (AIM * MAX_KNOWN / part).powf(1.0 / f64::from(self.order));
        let advice = format!("take steps of {smaller:.1e} s, or `step = \"auto\"`");
        let text = format!(
            "steps of {step:.1e} s are large for this motion: by the method's own estimate they leave out {:.1} % of the range of {what}; {advice}",
            100.0 * part
        );
        Some(Note::new(NoteKind::LargeSteps, text).number(part).advice(advice))
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.numbers(&[self.step_before, self.time, self.steps]);
        out.numbers(self.known.as_flattened());
        for values in [&self.first, &self.low, &self.high, &self.before] {
            out.numbers(values);
        }
        out.numbers(&self.blocks.iter().flat_map(|block| [block.sum, block.cosine]).collect::<Vec<_>>());
        out.number(self.next_look);
        out.whole(self.looks.len() as u64);
        for Look { end, step, error } in &self.looks {
            out.number(end.time);
            out.number(*step);
            for values in [&end.configuration, &end.velocity, &end.internal_states, &end.memory, error] {
                out.numbers(values);
            }
        }
    }

    /// Takes it up again.
    pub fn restore(&mut self, start: &Values, reader: &mut Reader) -> Result<(), Damaged> {
        let mut numbers = |count: usize| same_length(reader.numbers()?, count);
        let [step_before, time, steps] = numbers(3)?[..] else { return Err(Damaged) };
        (self.step_before, self.time, self.steps) = (step_before, time, steps);
        let [positions, angles, positions_since, angles_since] = numbers(4)?[..] else {
            return Err(Damaged);
        };
        self.known = [[positions, angles], [positions_since, angles_since]];
        let count = self.first.len();
        [self.first, self.low, self.high] = [numbers(count)?, numbers(count)?, numbers(count)?];
        self.before = numbers(if step_before > 0.0 { self.curvature.len() } else { self.before.len() })?;
        let sums = numbers(2 * self.blocks.len())?;
        for (block, [sum, cosine]) in self.blocks.iter_mut().zip(sums.as_chunks().0) {
            (block.sum, block.cosine) = (*sum, *cosine);
        }
        self.next_look = reader.number()?;
        self.looks.clear();
        for _ in 0..reader.whole()? {
            let mut end = Values { time: reader.number()?, ..Values::default() };
            let step = reader.number()?;
            let mut numbers = |like: &[f64]| same_length(reader.numbers()?, like.len());
            end.configuration = numbers(&self.first)?;
            end.velocity = numbers(&self.curvature)?;
            end.internal_states = numbers(&start.internal_states)?;
            end.memory = numbers(&start.memory)?;
            self.looks.push(Look { end, step, error: numbers(&self.curvature)? });
        }
        Ok(())
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Numbers that must be so many.
fn same_length(numbers: Vec<f64>, count: usize) -> Result<Vec<f64>, Damaged> {
    if numbers.len() == count { Ok(numbers) } else { Err(Damaged) }
}
