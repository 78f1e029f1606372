//! The motion of a run at times that do not depend on its steps, so that runs can be compared.

use std::sync::Arc;

use super::companion::COARSEST;
use super::filter::{FILTERS, Filters, SixNumbers};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Point, Values};
use crate::integrate::{Ends, Interval};
use crate::kinematics::NodeId;
use crate::lie::space::{quaternion, vector3};
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::{Machine, RunPlan};
use crate::results::NodeState;
use crate::run::recorder::node_state;
use crate::system::System;

/// Most times at which motions are compared: as many as there are output times, since errors of large steps
/// peak within them. And most numbers that are kept for it.
const TIMES: usize = 1000;
const NUMBERS: usize = 2_000_000;
/// Times of methods of high order, which hardly take more steps: a thousand took a third of the time of a
/// small machine. No estimate of 48 runs was larger by more than 1.3 with a thousand.
const TIMES_SCATTERED: usize = 200;
/// Means of reactions that are taken in a run.
const MEANS: usize = 200;
/// Times that differ by less than this part of a pause are the same.
const SAME_TIME: f64 = 1e-6;

/// What is compared, in the order of all arrays here.
pub(super) const QUANTITIES: usize = 10;
/// What is compared behind filters: velocities, angular velocities, forces and torques.
pub(super) const FILTERED: usize = 4;

/// Numbers of a node: position, quaternion, velocity, angular velocity; and of a joint: torque, force.
const NODE: usize = 13;
const JOINT: usize = 6;
/// Sizes of forces and of torques.
const PEAKS: usize = 2;

/// One time.
#[derive(Clone)]
struct Sample {
    time: f64,
    /// Those of all nodes.
    nodes: Vec<[f64; NODE]>,
    /// Those of all joints.
    joints: Vec<[f64; JOINT]>,
    /// Means of them since these were taken the last time; none if it is not yet time.
    means: Vec<[f64; JOINT]>,
    /// Largest torque and force of all joints so far, where means are taken.
    peaks: Vec<[f64; PEAKS]>,
    /// What filters let pass of velocities of all nodes and of reactions of all joints, where means are taken.
    filtered: Vec<[SixNumbers; FILTERS]>,
}

/// What reactions come to from sample to sample: impacts and vibrations move them in time, and hardly change
/// their means.
#[derive(Clone, Default)]
struct ReactionSums {
    /// Whether they were looked at, when, in s, and what they were.
    is_begun: bool,
    time: f64,
    last: Vec<[f64; JOINT]>,
    next: Vec<[f64; JOINT]>,
    /// Time since the last sample, in s, and the integrals over it.
    span: f64,
    sums: Vec<[f64; JOINT]>,
    peaks: Vec<[f64; PEAKS]>,
}

impl ReactionSums {
    fn new(joints: usize) -> Self {
        let zeros = || vec![[0.0; JOINT]; joints];
        let peaks = vec![[0.0; PEAKS]; joints];
        Self { is_begun: false, time: 0.0, last: zeros(), next: zeros(), span: 0.0, sums: zeros(), peaks }
    }

    /// A step begins: reactions may have jumped. What they came to since they were looked at last is taken
    /// as it was then.
    fn begin(&mut self, system: &System, from: &Values) {
        let pause = from.time - self.time;
        if self.is_begun && pause > 0.0 {
            for (sum, last) in self.sums.iter_mut().zip(&self.last) {
                sum.iter_mut().zip(last).for_each(|(sum, last)| *sum += pause * last);
            }
            self.span += pause;
        }
        self.is_begun = true;
        self.time = from.time;
        let at = Point { time: from.time.next_up(), ..from.point() };
        self.look(system, &at);
        self.last.copy_from_slice(&self.next);
    }

    /// Adds what reactions come to until these values.
    fn add(&mut self, system: &System, values: &Values) {
        self.look(system, &before(values));
        let half = 0.5 * (values.time - self.time);
        for ((sum, last), next) in self.sums.iter_mut().zip(&self.last).zip(&self.next) {
            sum.iter_mut().zip(last.iter().zip(next)).for_each(|(sum, (a, b))| *sum += half * (a + b));
        }
        self.span += 2.0 * half;
        self.time = values.time;
        self.last.copy_from_slice(&self.next);
    }

    fn look(&mut self, system: &System, at: &Point) {
        for (joint, (next, peak)) in self.next.iter_mut().zip(&mut self.peaks).enumerate() {
            *next = system.reaction(joint, at).into();
            raise(&mut peak[0], torque(next).norm());
            raise(&mut peak[1], force(next).norm());
        }
    }

    /// Means since the last sample; the next ones begin here.
    fn take_means(&mut self) -> Vec<[f64; JOINT]> {
        let span = std::mem::take(&mut self.span);
        if span <= 0.0 {
            return self.last.clone();
        }
        let mean = |sum: &mut [f64; JOINT]| std::mem::take(sum).map(|sum| sum / span);
        self.sums.iter_mut().map(mean).collect()
    }
}

/// Values with the inputs as they are just before: they may jump at the end of a step.
fn before(values: &Values) -> Point<'_> {
    Point { time: values.time.next_down(), ..values.point() }
}

/// Two frames whose relative motion a joint shows.
struct JointFrames {
    nodes: [Option<NodeId>; 2],
    offsets: [Pose; 2],
}

impl JointFrames {
    /// The second frame as seen from the first one.
    fn relative(&self, at: &Sample) -> Pose {
        let [first, second] = [0, 1].map(|side| {
            let pose = self.nodes[side].map_or(Pose::identity(), |node| {
                let numbers = &at.nodes[node.0];
                Pose::new(rotation(numbers), position(numbers))
            });
            pose.compose(&self.offsets[side])
        });
        first.inverse().compose(&second)
    }
}

/// A run at equally spaced times.
#[derive(Clone)]
pub(super) struct Samples {
    start: f64,
    pause: f64,
    /// How many times are over, and how many have a mean of reactions.
    count: u64,
    in_a_mean: u64,
    list: Vec<Sample>,
    reactions: ReactionSums,
    filters: Filters,
    /// Whether a method of high order takes the steps. It follows what vibrates, so that nothing is filtered,
    /// and reactions are looked at at the same times in all runs: rules for means that know of the ends of
    /// large steps differ by more than the runs.
    scatter: bool,
    /// Whether the method begins, or begins anew.
    is_new: bool,
    /// Steps so far, and the time that they took, in s.
    steps: u64,
    time: f64,
    scratch: Values,
    /// Joints with coordinates: errors of both bodies add up in these.
    pairs: Arc<[JointFrames]>,
}

impl Samples {
    /// Of a run by a plan, with a method of high order or not: with fixed steps each of its companions has a step that ends at each of the times.
    pub fn new(machine: &Machine, plan: &RunPlan, scatter: bool) -> Self {
        let system = &machine.system;
        let joints = machine.frames().joints().iter().filter(|joint| !joint.coordinates.is_empty());
        let pairs = joints.map(|joint| JointFrames { nodes: joint.nodes, offsets: joint.offsets }).collect();
        let length = plan.end_time - plan.start_time;
        let (nodes, joints) = (system.node_count(), system.joint_count());
        let most = if scatter { TIMES_SCATTERED } else { TIMES };
        let in_a_mean = (most / MEANS) as u64;
        let numbers = NODE * nodes + 2 * JOINT * joints + FILTERS * JOINT * (nodes + joints) / (most / MEANS);
        let times = (NUMBERS / numbers.max(1)).clamp(10, most) as f64;
        let pause = match plan.integration.error_control() {
            Some(_) => length / times,
            None => {
                let coarse = COARSEST * plan.integration.step();
                coarse * (length / (times * coarse)).ceil().max(1.0)
            }
        };
        Self {
            start: plan.start_time,
            pause,
            count: 0,
            in_a_mean,
            list: Vec::new(),
            reactions: ReactionSums::new(joints),
            filters: Filters::new(length),
            scatter,
            is_new: true,
            steps: 0,
            time: 0.0,
            scratch: Values::default(),
            pairs,
        }
    }

    /// The same times without what was seen.
    pub fn another(&self) -> Self {
        Self {
            start: self.start,
            pause: self.pause,
            count: 0,
            in_a_mean: self.in_a_mean,
            list: Vec::new(),
            reactions: ReactionSums::new(self.reactions.sums.len()),
            filters: self.filters.another(),
            scatter: self.scatter,
            is_new: true,
            steps: 0,
            time: 0.0,
            scratch: Values::default(),
            pairs: Arc::clone(&self.pairs),
        }
    }

    /// The method starts, or starts anew.
    pub fn started(&mut self) {
        self.is_new = true;
    }

    /// Takes the times within a step.
    pub fn accepted(&mut self, machine: &Machine, last: &mut dyn Interval) {
        let system = &machine.system;
        let Ends { from, to, .. } = last.ends();
        if !self.scatter || std::mem::replace(&mut self.is_new, false) {
            self.reactions.begin(system, from);
            self.filters.jump(system.node_count(), &self.reactions.last);
        }
        let (from, to) = (from.time, to.time);
        self.steps += 1;
        self.time += to - from;
        let slack = SAME_TIME * self.pause;
        loop {
            let time = self.start + self.count as f64 * self.pause;
            if time > to + slack {
                break;
            }
            last.at(time.clamp(from, to), &mut self.scratch);
            let span = self.scratch.time - self.reactions.time;
            self.reactions.add(system, &self.scratch);
            let mut sample = Sample::new(system, &self.scratch, &self.reactions.next);
            if !self.scatter {
                let velocities = sample.nodes.iter().map(velocities);
                self.filters.advance(span, velocities.chain(self.reactions.next.iter().copied()));
            }
            if self.count.is_multiple_of(self.in_a_mean) {
                sample.means = self.reactions.take_means();
                sample.peaks.clone_from(&self.reactions.peaks);
                sample.filtered = self.filters.now();
            }
            self.list.push(sample);
            self.count += 1;
        }
        if self.scatter {
            return;
        }
        let end = last.ends().to;
        let span = end.time - self.reactions.time;
        self.reactions.add(system, end);
        if span > 0.0 {
            let at = before(end);
            let velocities =
                (0..system.node_count()).map(|node| velocities(&node_numbers(system, node, &at)));
            self.filters.advance(span, velocities.chain(self.reactions.next.iter().copied()));
        }
    }

    /// The mean of all steps, in s.
    pub fn mean_step(&self) -> f64 {
        self.time / self.steps as f64
    }

    /// The period from which on a filter lets motions pass, in s.
    pub fn filter_period(&self, filter: usize) -> f64 {
        self.filters.period(filter)
    }

    /// The largest velocities, forces and torques behind a filter.
    pub fn filtered_sizes(&self, filter: usize) -> [f64; FILTERED] {
        let mut sizes = [0.0; FILTERED];
        for sample in &self.list {
            let signals = sample.filtered.iter().map(|filters| filters[filter]);
            raise_filtered(&mut sizes, sample.nodes.len(), signals);
        }
        sizes
    }

    /// The largest differences of these to another run.
    pub fn filtered_differences(&self, other: &Self, filter: usize) -> [f64; FILTERED] {
        let mut largest = [0.0; FILTERED];
        for (a, b) in self.pairs_with(other) {
            let pairs = a.filtered.iter().zip(&b.filtered);
            let signals = pairs.map(|(a, b)| std::array::from_fn(|i| a[filter][i] - b[filter][i]));
            raise_filtered(&mut largest, a.nodes.len(), signals);
        }
        largest
    }

    /// Sizes against which differences are seen: the largest way and turn of a part, the largest velocities,
    /// forces and torques.
    pub fn sizes(&self) -> [f64; QUANTITIES] {
        let mut sizes = [0.0; QUANTITIES];
        let Some(first) = self.list.first() else { return sizes };
        for (index, start) in first.nodes.iter().enumerate() {
            let (mut low, mut high) = (position(start), position(start));
            for sample in &self.list {
                let place = position(&sample.nodes[index]);
                (low, high) = (low.inf(&place), high.sup(&place));
            }
            raise(&mut sizes[0], (high - low).norm());
        }
        for sample in &self.list {
            for (node, start) in sample.nodes.iter().zip(&first.nodes) {
                raise(&mut sizes[1], rotation(start).angle_to(&rotation(node)));
                raise(&mut sizes[2], velocity(node).norm());
                raise(&mut sizes[3], angular_velocity(node).norm());
            }
            for joint in &sample.joints {
                raise(&mut sizes[4], force(joint).norm());
                raise(&mut sizes[5], torque(joint).norm());
            }
            for mean in &sample.means {
                raise(&mut sizes[6], force(mean).norm());
                raise(&mut sizes[7], torque(mean).norm());
            }
            for peak in &sample.peaks {
                raise(&mut sizes[8], peak[1]);
                raise(&mut sizes[9], peak[0]);
            }
        }
        sizes
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.list.len() as u64);
        for Sample { time, nodes, joints, means, peaks, filtered } in &self.list {
            out.number(*time);
            out.numbers(nodes.as_flattened());
            out.numbers(joints.as_flattened());
            out.numbers(means.as_flattened());
            out.numbers(peaks.as_flattened());
            out.numbers(filtered.as_flattened().as_flattened());
        }
        out.whole(self.steps);
        out.number(self.time);
        self.filters.save(out);
        out.flag(self.is_new);
        out.flag(self.reactions.is_begun);
        out.number(self.reactions.time);
        out.numbers(self.reactions.last.as_flattened());
        out.number(self.reactions.span);
        out.numbers(self.reactions.sums.as_flattened());
        out.numbers(self.reactions.peaks.as_flattened());
    }

    /// Takes it up again.
    pub fn restore(&mut self, machine: &Machine, reader: &mut Reader) -> Result<(), Damaged> {
        let count = reader.whole()?;
        let (nodes, joints) = (machine.system.node_count(), machine.system.joint_count());
        self.list.clear();
        for index in 0..count {
            let means = if index.is_multiple_of(self.in_a_mean) { joints } else { 0 };
            self.list.push(Sample {
                time: reader.number()?,
                nodes: chunks(reader, nodes)?,
                joints: chunks(reader, joints)?,
                means: chunks(reader, means)?,
                peaks: chunks(reader, means)?,
                filtered: {
                    let is_filtered = !self.scatter && index.is_multiple_of(self.in_a_mean);
                    let signals = if is_filtered { nodes + joints } else { 0 };
                    chunks(reader, signals * FILTERS)?.as_chunks().0.to_vec()
                },
            });
        }
        self.count = count;
        self.steps = reader.whole()?;
        self.time = reader.number()?;
        self.filters.restore(nodes + joints, reader)?;
        self.is_new = reader.flag()?;
        self.reactions.is_begun = reader.flag()?;
        self.reactions.time = reader.number()?;
        self.reactions.last = chunks(reader, joints)?;
        self.reactions.span = reader.number()?;
        self.reactions.sums = chunks(reader, joints)?;
        self.reactions.peaks = chunks(reader, joints)?;
        Ok(())
    }

    /// The largest differences to another run at each time that both have.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, [f64; QUANTITIES])> + 'a {
        self.pairs_with(other).map(|(a, b)| (a.time, a.difference(b, &self.pairs)))
    }

    /// Samples beside those of another run at the same times.
    fn pairs_with<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a Sample, &'a Sample)> + 'a {
        let same = |a: &Sample, b: &Sample| (a.time - b.time).abs() <= SAME_TIME * self.pause;
        let mut others = other.list.iter().peekable();
        self.list.iter().filter_map(move |sample| {
            while others.next_if(|b| b.time < sample.time && !same(sample, b)).is_some() {}
            others.peek().filter(|b| same(sample, b)).map(|partner| (sample, *partner))
        })
    }
}

/// So many groups of numbers.
fn chunks<const N: usize>(reader: &mut Reader, count: usize) -> Result<Vec<[f64; N]>, Damaged> {
    let numbers = reader.numbers()?;
    let (chunks, rest) = numbers.as_chunks();
    if chunks.len() == count && rest.is_empty() { Ok(chunks.to_vec()) } else { Err(Damaged) }
}

impl Sample {
    /// At values with these reactions.
    fn new(system: &System, values: &Values, joints: &[[f64; JOINT]]) -> Self {
        let at = before(values);
        Self {
            time: values.time,
            nodes: (0..system.node_count()).map(|node| node_numbers(system, node, &at)).collect(),
            joints: joints.to_vec(),
            means: Vec::new(),
            peaks: Vec::new(),
            filtered: Vec::new(),
        }
    }

    fn difference(&self, other: &Self, pairs: &[JointFrames]) -> [f64; QUANTITIES] {
        let mut largest = [0.0; QUANTITIES];
        for pair in pairs {
            let [a, b] = [self, other].map(|sample| pair.relative(sample));
            raise(&mut largest[0], (a.position - b.position).norm());
            raise(&mut largest[1], a.rotation.angle_to(&b.rotation));
        }
        for (a, b) in self.nodes.iter().zip(&other.nodes) {
            raise(&mut largest[0], (position(a) - position(b)).norm());
            raise(&mut largest[1], rotation(a).angle_to(&rotation(b)));
            raise(&mut largest[2], (velocity(a) - velocity(b)).norm());
            raise(&mut largest[3], (angular_velocity(a) - angular_velocity(b)).norm());
        }
        for (a, b) in self.joints.iter().zip(&other.joints) {
            raise(&mut largest[4], (force(a) - force(b)).norm());
            raise(&mut largest[5], (torque(a) - torque(b)).norm());
        }
        for (a, b) in self.means.iter().zip(&other.means) {
            raise(&mut largest[6], (force(a) - force(b)).norm());
            raise(&mut largest[7], (torque(a) - torque(b)).norm());
        }
        for (a, b) in self.peaks.iter().zip(&other.peaks) {
            raise(&mut largest[8], (a[1] - b[1]).abs());
            raise(&mut largest[9], (a[0] - b[0]).abs());
        }
        largest
    }
}

/// The numbers of a node.
fn node_numbers(system: &System, node: usize, at: &Point) -> [f64; NODE] {
    let NodeState { position, rotation, velocity, angular_velocity } = node_state(system, NodeId(node), at);
    let all = position.into_iter().chain(rotation).chain(velocity).chain(angular_velocity);
    let mut numbers = [0.0; NODE];
    numbers.iter_mut().zip(all).for_each(|(number, value)| *number = value);
    numbers
}

/// Velocity and angular velocity of a node.
fn velocities(node: &[f64; NODE]) -> SixNumbers {
    std::array::from_fn(|i| node[7 + i])
}

/// Takes up larger velocities, angular velocities, forces and torques: first those of so many nodes, then
/// those of joints.
fn raise_filtered(largest: &mut [f64; FILTERED], nodes: usize, signals: impl Iterator<Item = SixNumbers>) {
    for (index, signal) in signals.enumerate() {
        let [first, second] = if index < nodes { [0, 1] } else { [3, 2] };
        raise(&mut largest[first], vector3(&signal).norm());
        raise(&mut largest[second], vector3(&signal[3..]).norm());
    }
}

fn position(node: &[f64; NODE]) -> Vector3 {
    vector3(node)
}

fn rotation(node: &[f64; NODE]) -> UnitQuaternion {
    quaternion(&node[3..])
}

fn velocity(node: &[f64; NODE]) -> Vector3 {
    vector3(&node[7..])
}

fn angular_velocity(node: &[f64; NODE]) -> Vector3 {
    vector3(&node[10..])
}

fn torque(joint: &[f64; JOINT]) -> Vector3 {
    vector3(joint)
}

fn force(joint: &[f64; JOINT]) -> Vector3 {
    vector3(&joint[3..])
}

/// Takes up a larger value; what is not a number is the largest.
fn raise(largest: &mut f64, value: f64) {
    *largest = if value.is_nan() { f64::INFINITY } else { largest.max(value) };
}
