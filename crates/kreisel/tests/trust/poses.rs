//! Where parts are at equal times of a run, compared with another run.

use kreisel::lie::UnitQuaternion;
use kreisel::lie::space::quaternion;
use kreisel::results::{NodeState, WriteError};
use kreisel::run::{Record, Sink};

/// Motions below this, in m and in rad, are none.
const REST: f64 = 1e-6;

/// Poses of all nodes at equal times.
#[derive(Default)]
pub struct Poses {
    times: Vec<f64>,
    nodes: Vec<Vec<NodeState>>,
}

impl Sink for Poses {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.times.push(record.time);
        self.nodes.push(record.nodes.to_vec());
        Ok(())
    }
}

fn rotation(node: &NodeState) -> UnitQuaternion {
    quaternion(&node.rotation)
}

fn distance(a: &NodeState, b: &NodeState) -> f64 {
    (0..3).map(|axis| (a.position[axis] - b.position[axis]).powi(2)).sum::<f64>().sqrt()
}

impl Poses {
    /// Largest diagonal of the box of a node's path, and largest turn of a node from its start.
    pub fn ranges(&self) -> [f64; 2] {
        let mut ranges = [0.0f64; 2];
        for (node, first) in self.nodes[0].iter().enumerate() {
            let path = || self.nodes.iter().map(|nodes| &nodes[node]);
            let extent = |axis: usize| {
                let places = || path().map(|node| node.position[axis]);
                places().fold(f64::MIN, f64::max) - places().fold(f64::MAX, f64::min)
            };
            ranges[0] = ranges[0].max((0..3).map(|axis| extent(axis).powi(2)).sum::<f64>().sqrt());
            let turn = path().map(|node| rotation(first).angle_to(&rotation(node))).fold(0.0, f64::max);
            ranges[1] = ranges[1].max(turn);
        }
        ranges
    }

    /// Whether nothing moves and nothing turns.
    pub fn is_at_rest(&self) -> bool {
        self.ranges().iter().all(|range| *range <= REST)
    }

    /// Diagonal of the box around all paths, or around all places at the start.
    pub fn extent(&self, at_start: bool) -> f64 {
        let count = if at_start { 1 } else { self.nodes.len() };
        let extent = |axis: usize| {
            let places = || self.nodes[..count].iter().flatten().map(|node| node.position[axis]);
            places().fold(f64::MIN, f64::max) - places().fold(f64::MAX, f64::min)
        };
        (0..3).map(|axis| extent(axis).powi(2)).sum::<f64>().sqrt()
    }

    /// Largest differences of positions and of orientations to another motion, in m and in rad.
    pub fn differences(&self, reference: &Self) -> [f64; 2] {
        self.differences_in_time(reference)
            .fold([0.0; 2], |largest, (_, each)| std::array::from_fn(|i| f64::max(largest[i], each[i])))
    }

    /// The first time at which one of them is above its limit.
    pub fn differ_from(&self, reference: &Self, limits: [f64; 2]) -> Option<f64> {
        let is_off = |(_, each): &(f64, [f64; 2])| each.iter().zip(limits).any(|(each, limit)| *each > limit);
        self.differences_in_time(reference).find(is_off).map(|(time, _)| time)
    }

    /// They at each time that both have.
    fn differences_in_time<'a>(
        &'a self,
        reference: &'a Self,
    ) -> impl Iterator<Item = (f64, [f64; 2])> + use<'a> {
        let mut others = reference.times.iter().zip(&reference.nodes).peekable();
        self.times.iter().zip(&self.nodes).filter_map(move |(time, nodes)| {
            let slack = 1e-6 * (1.0 + time.abs());
            while others.next_if(|(other, _)| **other < time - slack).is_some() {}
            let (_, others) = others.peek().filter(|(other, _)| **other <= time + slack)?;
            let mut largest = [0.0f64; 2];
            for (a, b) in nodes.iter().zip(others.iter()) {
                let differences = [distance(a, b), rotation(a).angle_to(&rotation(b))];
                for (largest, difference) in largest.iter_mut().zip(differences) {
                    // What is not a number is no motion at all.
                    *largest = if difference.is_nan() { f64::INFINITY } else { largest.max(difference) };
                }
            }
            Some((*time, largest))
        })
    }

    /// The larger of them, in parts of the ranges of the other motion.
    pub fn error(&self, reference: &Self) -> f64 {
        let parts = self.differences(reference).into_iter().zip(reference.ranges());
        parts
            .filter(|(_, range)| *range > REST)
            .map(|(difference, range)| difference / range)
            .fold(0.0, f64::max)
    }
}
