//! The motion of a run at times that do not depend on its steps, so that runs can be compared.

use super::companion::COARSEST;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Point, Values};
use crate::integrate::{Ends, Interval};
use crate::kinematics::NodeId;
use crate::lie::space::{quaternion, vector3};
use crate::lie::{UnitQuaternion, Vector3};
use crate::machine::RunPlan;
use crate::results::NodeState;
use crate::run::recorder::node_state;
use crate::system::System;

/// Most times at which motions are compared, and most numbers that are kept for it.
const TIMES: usize = 200;
const NUMBERS: usize = 2_000_000;
/// Times that differ by less than this part of a pause are the same.
const SAME_TIME: f64 = 1e-6;

/// What is compared, in the order of all arrays here.
pub(super) const QUANTITIES: usize = 6;

/// Numbers of a node: position, quaternion, velocity, angular velocity; and of a joint: torque, force.
const NODE: usize = 13;
const JOINT: usize = 6;

/// One time.
#[derive(Clone)]
struct Sample {
    time: f64,
    /// Those of all nodes.
    nodes: Vec<[f64; NODE]>,
    /// Those of all joints.
    joints: Vec<[f64; JOINT]>,
}

/// A run at equally spaced times.
#[derive(Clone)]
pub(super) struct Samples {
    start: f64,
    pause: f64,
    /// How many times are over.
    count: u64,
    list: Vec<Sample>,
    scratch: Values,
}

impl Samples {
    /// Of a run by a plan: with fixed steps each of its companions has a step that ends at each of the times.
    pub fn new(system: &System, plan: &RunPlan) -> Self {
        let length = plan.end_time - plan.start_time;
        let numbers = NODE * system.node_count() + JOINT * system.joint_count();
        let times = (NUMBERS / numbers.max(1)).clamp(10, TIMES) as f64;
        let pause = match plan.integration.error_control() {
            Some(_) => length / times,
            None => {
                let coarse = COARSEST * plan.integration.step();
                coarse * (length / (times * coarse)).ceil().max(1.0)
            }
        };
        Self { start: plan.start_time, pause, count: 0, list: Vec::new(), scratch: Values::default() }
    }

    /// The same times without what was seen.
    pub fn another(&self) -> Self {
        Self { start: self.start, pause: self.pause, count: 0, list: Vec::new(), scratch: Values::default() }
    }

    /// Takes the times within a step.
    pub fn accepted(&mut self, system: &System, last: &mut dyn Interval) {
        let Ends { from, to, .. } = last.ends();
        let (from, to) = (from.time, to.time);
        let slack = SAME_TIME * self.pause;
        loop {
            let time = self.start + self.count as f64 * self.pause;
            if time > to + slack {
                return;
            }
            last.at(time.clamp(from, to), &mut self.scratch);
            self.list.push(Sample::new(system, &self.scratch));
            self.count += 1;
        }
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
        }
        sizes
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.list.len() as u64);
        for Sample { time, nodes, joints } in &self.list {
            out.number(*time);
            out.numbers(nodes.as_flattened());
            out.numbers(joints.as_flattened());
        }
    }

    /// Takes it up again.
    pub fn restore(&mut self, system: &System, reader: &mut Reader) -> Result<(), Damaged> {
        let count = reader.whole()?;
        self.list.clear();
        for _ in 0..count {
            let (time, nodes, joints) = (reader.number()?, reader.numbers()?, reader.numbers()?);
            let sample =
                Sample { time, nodes: nodes.as_chunks().0.to_vec(), joints: joints.as_chunks().0.to_vec() };
            if (sample.nodes.len(), sample.joints.len()) != (system.node_count(), system.joint_count()) {
                return Err(Damaged);
            }
            self.list.push(sample);
        }
        self.count = count;
        Ok(())
    }

    /// The largest differences to another run at each time that both have.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, [f64; QUANTITIES])> + 'a {
        let same = |a: &Sample, b: &Sample| (a.time - b.time).abs() <= SAME_TIME * self.pause;
        let mut others = other.list.iter().peekable();
        self.list.iter().filter_map(move |sample| {
            while others.next_if(|b| b.time < sample.time && !same(sample, b)).is_some() {}
            let partner = others.peek().filter(|b| same(sample, b))?;
            Some((sample.time, sample.difference(partner)))
        })
    }
}

impl Sample {
    fn new(system: &System, values: &Values) -> Self {
        // Inputs may jump at the end of a step.
        let at = Point { time: values.time.next_down(), ..values.point() };
        let node = |node: usize| {
            let NodeState { position, rotation, velocity, angular_velocity } =
                node_state(system, NodeId(node), &at);
            let all = position.into_iter().chain(rotation).chain(velocity).chain(angular_velocity);
            let mut numbers = [0.0; NODE];
            numbers.iter_mut().zip(all).for_each(|(number, value)| *number = value);
            numbers
        };
        let joint = |joint: usize| system.reaction(joint, &at).into();
        Self {
            time: values.time,
            nodes: (0..system.node_count()).map(node).collect(),
            joints: (0..system.joint_count()).map(joint).collect(),
        }
    }

    fn difference(&self, other: &Self) -> [f64; QUANTITIES] {
        let mut largest = [0.0; QUANTITIES];
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
        largest
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
