//! Joints that lock, couple or lead relative coordinates.
//!
//! Every equation is a row Σ c_k x_k − f(t) = 0 of coordinates x_k between pairs of frames. A coordinate's
//! first frame may stand on the ground or on a node.

use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::fmt::Debug;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{Joint, JointFacts, RowValues, Rows};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{
    Coordinate, FramePair, LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId, PlainPair,
    Relative, pair_between,
};
use crate::lie::{Pose, Vector3, Vector6};

/// A function of time with two derivatives.
pub trait TimeLaw: Send + Sync + Debug {
    /// Value, first and second derivative.
    fn at(&self, time: f64) -> [f64; 3];
    /// Times between two others at which the function is not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}

/// One coordinate in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Factor c_k.
    pub factor: f64,
    /// Index of the pair of frames.
    pub pair: usize,
    /// The coordinate.
    pub coordinate: Coordinate,
    /// For an angle, its value at the start, from which full turns are counted; any number for others.
    pub start: f64,
}

impl Term {
    /// A coordinate of the first pair with factor one.
    pub fn new(coordinate: Coordinate) -> Self {
        Self { factor: 1.0, pair: 0, coordinate, start: 0.0 }
    }
}

/// One equation: Σ c_k x_k − f(t) = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The coordinates with their factors.
    pub terms: SmallVec<[Term; 1]>,
    /// f(t); constant if it does not lead anything.
    pub target: RowTarget,
}

/// The right side of a row.
#[derive(Clone, Debug)]
pub enum RowTarget {
    /// A number.
    Constant(f64),
    /// A function of time.
    Law(Arc<dyn TimeLaw>),
    /// Nothing: the row continues one of another joint, to which its sum is added.
    Continued,
}

impl PartialEq for RowTarget {
    /// Functions are the same only if they are one.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Constant(one), Self::Constant(other)) => one == other,
            (Self::Law(one), Self::Law(other)) => Arc::ptr_eq(one, other),
            (Self::Continued, Self::Continued) => true,
            _ => false,
        }
    }
}

impl Row {
    /// A row that keeps one coordinate of the first pair at zero.
    pub fn lock(coordinate: Coordinate) -> Self {
        Self::keep(coordinate, 0.0)
    }

    /// A row that keeps one coordinate of the first pair at a value.
    pub fn keep(coordinate: Coordinate, value: f64) -> Self {
        Self { terms: smallvec![Term::new(coordinate)], target: RowTarget::Constant(value) }
    }

    /// Whether one coordinate alone is kept or led: the value of an angle nearest to its target is meant.
    fn is_single(&self) -> bool {
        self.terms.len() == 1 && !matches!(self.target, RowTarget::Continued)
    }

    fn locks_translation(&self, axis: usize) -> bool {
        matches!(self.target, RowTarget::Constant(0.0))
            && matches!(self.terms.as_slice(), [term] if term.coordinate == Coordinate::Translation(axis))
    }

    /// A row that leads one coordinate of the first pair.
    pub fn lead(coordinate: Coordinate, law: Arc<dyn TimeLaw>) -> Self {
        Self { terms: smallvec![Term::new(coordinate)], target: RowTarget::Law(law) }
    }
}

/// One coordinate of a coupling between joints.
#[derive(Clone, Copy, Debug)]
pub struct CoupledCoordinate {
    /// Nodes of the first and second frame; `None` is the ground.
    pub nodes: [Option<NodeId>; 2],
    /// Frames in body axes, or in the world on the ground.
    pub offsets: [Pose; 2],
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Factor c_k.
    pub factor: f64,
    /// Value at the start.
    pub start: f64,
}

/// The last few different sets of rows.
#[derive(Debug, Default)]
pub(crate) struct KnownRows(VecDeque<Arc<[Row]>>);

impl KnownRows {
    /// As many as a machine usually has kinds of joints.
    const MAX: usize = 8;

    /// Gives a joint the rows of an earlier one where they are the same: those of a thousand hinges then stay
    /// in the cache.
    pub fn share(&mut self, joint: &mut CoordinateJoint) {
        if let Some(rows) = self.0.iter().find(|rows| **rows == joint.rows) {
            joint.rows = Arc::clone(rows);
            return;
        }
        self.0.truncate(Self::MAX - 1);
        self.0.push_front(Arc::clone(&joint.rows));
    }
}

/// A joint made of rows of coordinates.
#[derive(Clone, Debug)]
pub struct CoordinateJoint {
    // In their place: large machines wait for memory that is reached through pointers.
    nodes: SmallVec<[NodeId; 2]>,
    pairs: SmallVec<[FramePair; 1]>,
    rows: Arc<[Row]>,
    /// Whether every row locks or leads one displacement, cosine or angle, which has a short way of its own.
    plain: bool,
    /// Whether a row follows a function of time.
    led: bool,
}

impl CoordinateJoint {
    /// A joint of rows between pairs of frames on these nodes.
    pub fn new(nodes: Vec<NodeId>, pairs: Vec<FramePair>, rows: Vec<Row>) -> Self {
        debug_assert!(rows.len() <= MAX_ROWS, "a joint has at most {MAX_ROWS} equations");
        let single = |row: &Row| row.is_single() && row.terms[0].coordinate.is_plain();
        let plain = rows.iter().all(single) && pairs.len() <= 2;
        let led = rows.iter().any(|row| matches!(row.target, RowTarget::Law(_)));
        Self {
            nodes: nodes.into_iter().collect(),
            pairs: pairs.into_iter().collect(),
            rows: rows.into(),
            plain,
            led,
        }
    }

    /// A joint of rows between two frames, each on a node or on the ground.
    ///
    /// Origins that stay together may be written in axes of either frame. In those of a moving body the
    /// gradient is constant on SE(3) [ArnoldCardonaBruls2015, Lemma 3.5], so a first frame on the ground
    /// leaves it to the second.
    pub fn between(nodes: [Option<NodeId>; 2], offsets: [Pose; 2], mut rows: Vec<Row>) -> Self {
        let on_ground = nodes[0].is_none() && nodes[1].is_some();
        let (nodes, pair) = pair_between(nodes, offsets);
        let mut pairs = vec![pair];
        let together = (0..3).all(|axis| rows.iter().any(|row| row.locks_translation(axis)));
        if on_ground && together {
            let [first, second] = &pairs[0].frames;
            let frames = [second.clone(), first.clone()];
            pairs.push(FramePair { nodes: [pairs[0].nodes[1], pairs[0].nodes[0]], frames });
            for row in rows.iter_mut().filter(|row| (0..3).any(|axis| row.locks_translation(axis))) {
                row.terms[0].pair = 1;
            }
        }
        Self::new(nodes, pairs, rows)
    }

    /// One equation Σ c_k x_k = `value` between coordinates of several joints.
    pub fn coupling(coordinates: &[CoupledCoordinate], value: f64) -> Self {
        Self::sum(coordinates, RowTarget::Constant(value))
    }

    fn sum(coordinates: &[CoupledCoordinate], target: RowTarget) -> Self {
        let (mut nodes, mut pairs, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for (pair, coupled) in coordinates.iter().enumerate() {
            let CoupledCoordinate { nodes: pair_nodes, offsets, coordinate, factor, start } = *coupled;
            pairs.push(FramePair::new(pair_nodes, offsets, &mut nodes));
            terms.push(Term { factor, pair, coordinate, start });
        }
        Self::new(nodes, pairs, vec![Row { terms: terms.into_iter().collect(), target }])
    }

    /// The same equation in parts that touch [`MAX_NODES`] nodes at most: what the others find is added to
    /// the row of the first, which has the value.
    pub(crate) fn coupling_parts(coordinates: &[CoupledCoordinate], value: f64) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        let mut rest = coordinates;
        while !rest.is_empty() {
            let (mut nodes, mut count) = (Vec::new(), 0);
            for coupled in rest {
                for node in coupled.nodes.iter().flatten() {
                    if !nodes.contains(node) {
                        nodes.push(*node);
                    }
                }
                if nodes.len() > MAX_NODES {
                    break;
                }
                count += 1;
            }
            let (here, beyond) = rest.split_at(count);
            let target = if parts.is_empty() { RowTarget::Constant(value) } else { RowTarget::Continued };
            parts.push(Self::sum(here, target));
            rest = beyond;
        }
        parts
    }

    /// The pairs of frames.
    pub fn pairs(&self) -> &[FramePair] {
        &self.pairs
    }

    /// The equations.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn target(&self, row: &Row, time: f64) -> [f64; 3] {
        match &row.target {
            RowTarget::Constant(value) => [*value, 0.0, 0.0],
            RowTarget::Law(law) => law.at(time),
            RowTarget::Continued => [0.0; 3],
        }
    }

    /// The relative motions of one or two pairs, the usual number; nothing for more.
    #[inline]
    fn relatives(&self, at: &Motion) -> Option<[Relative; 2]> {
        match self.pairs.as_slice() {
            [only] => Some([only.relative(at); 2]),
            [first, second] => Some([first.relative(at), second.relative(at)]),
            _ => None,
        }
    }

    #[inline]
    fn write_violation(&self, at: &Motion, relative: impl Fn(usize) -> Relative, out: &mut [f64]) {
        let mut turning = 0;
        for (row, out) in self.rows.iter().zip(out) {
            let target = self.target(row, at.time)[0];
            // What is large and does not change within a step (counted turns, the target) is summed apart
            // from what Newton's iteration changes: after thousands of turns the sum still has all its
            // digits.
            let (mut constant, mut change) = (-target, 0.0);
            for term in &row.terms {
                let relative = relative(term.pair);
                if !term.coordinate.counts_turns() {
                    change += term.factor * term.coordinate.value(&relative, 0.0);
                    continue;
                }
                turning += 1;
                // A single angle is led: the value nearest to its target needs no memory.
                let near = if row.is_single() {
                    target / term.factor
                } else {
                    self.remembered(at, turning - 1, term)
                };
                let parts = split_angle(term.factor, near, |near| term.coordinate.value(&relative, near));
                constant += parts.0;
                change += parts.1;
            }
            *out = constant + change;
        }
    }

    /// Does something with each term of a pair and the place of its row.
    fn for_terms(&self, pair_index: usize, mut action: impl FnMut(usize, &Term)) {
        for (place, row) in self.rows.iter().enumerate() {
            row.terms.iter().filter(|term| term.pair == pair_index).for_each(|term| action(place, term));
        }
    }

    /// Sums the gradients of a pair before they are moved to the nodes.
    fn add_pair_wrenches(
        &self,
        pair_index: usize,
        relative: &Relative,
        multipliers: &[f64],
        out: &mut [Vector6],
    ) {
        let mut sum = PairVector::zeros();
        self.for_terms(pair_index, |row, term| {
            sum += multipliers[row] * term.factor * term.coordinate.gradient(relative);
        });
        self.pairs[pair_index].add_to_nodes(1.0, &sum, out);
    }

    fn add_pair_stiffness(
        &self,
        pair_index: usize,
        relative: &Relative,
        multipliers: &[f64],
        out: &mut LocalTangent,
    ) {
        let mut hessian = PairMatrix::zeros();
        if let Some(weights) = plain_weights(&self.rows, multipliers, pair_index) {
            relative.add_translation_hessian(&weights, &mut hessian);
        }
        for (row, lambda) in self.rows.iter().zip(multipliers) {
            for term in row.terms.iter().filter(|term| term.pair == pair_index) {
                if !matches!(term.coordinate, Coordinate::Translation(_)) {
                    term.coordinate.add_hessian(relative, lambda * term.factor, &mut hessian);
                }
            }
        }
        self.pairs[pair_index].add_to_blocks(&hessian, out);
    }

    /// Pairs that rows refer to, of a joint whose rows are plain.
    fn plain_pairs<'a>(&'a self, at: &'a Motion) -> impl Iterator<Item = (usize, PlainPair<'a>)> {
        let used = self.pairs.iter().enumerate().filter(|&(index, _)| self.uses(index));
        used.map(|(index, pair)| (index, PlainPair::new(pair, at)))
    }

    /// Rows of a pair with their places, coordinates and factors, of a joint whose rows are plain.
    fn plain_rows(&self, pair_index: usize) -> impl Iterator<Item = (usize, &Row, Coordinate, f64)> {
        self.rows.iter().enumerate().filter_map(move |(index, row)| {
            let term = row.terms.first().filter(|term| term.pair == pair_index)?;
            Some((index, row, term.coordinate, term.factor))
        })
    }

    fn weighed(&self, pair_index: usize, multipliers: &[f64]) -> impl Iterator<Item = (Coordinate, f64)> {
        self.plain_rows(pair_index)
            .map(move |(row, _, coordinate, factor)| (coordinate, factor * multipliers[row]))
    }

    #[inline]
    fn write_plain_violation(&self, pair_index: usize, pair: &PlainPair, time: f64, out: &mut [f64]) {
        for (place, row, coordinate, factor) in self.plain_rows(pair_index) {
            let target = self.target(row, time)[0];
            if coordinate.counts_turns() {
                let value = |near: f64| pair.value(coordinate, near);
                let (constant, change) = split_angle(factor, target / factor, value);
                out[place] = (constant - target) + change;
            } else {
                out[place] = factor * pair.value(coordinate, 0.0) - target;
            }
        }
    }

    fn add_plain_gradient(&self, pair_index: usize, pair: &PlainPair, out: &mut LocalGradient) {
        for (row, _, coordinate, factor) in self.plain_rows(pair_index) {
            pair.add_gradient(std::iter::once((coordinate, factor)), &mut out.rows[row]);
        }
    }

    fn uses(&self, pair_index: usize) -> bool {
        self.rows.iter().flat_map(|row| &row.terms).any(|term| term.pair == pair_index)
    }

    /// Terms whose full turns are counted.
    fn turning(&self) -> impl Iterator<Item = &Term> {
        self.rows.iter().flat_map(|row| &row.terms).filter(|term| term.coordinate.counts_turns())
    }

    /// Begins the rates with what the targets do; those of constant ones are zero.
    fn write_target_rates(&self, time: f64, out: &mut [f64]) {
        if self.led {
            for (row, out) in self.rows.iter().zip(out) {
                *out = -self.target(row, time)[1];
            }
        }
    }

    /// Answers for plain rows, in the bodies' own axes.
    fn evaluate_plain(&self, at: &Motion, rows: &mut RowValues) {
        let RowValues {
            multipliers,
            mut violation,
            mut wrenches,
            mut rates,
            mut gradient,
            mut stiffness,
            mut rate_gradient,
            ..
        } = std::mem::take(rows);
        if let Some(rates) = &mut rates {
            self.write_target_rates(at.time, rates);
        }
        for (index, pair) in self.plain_pairs(at) {
            if let Some(violation) = &mut violation {
                self.write_plain_violation(index, &pair, at.time, violation);
            }
            if let Some(wrenches) = &mut wrenches {
                pair.add_gradient(self.weighed(index, multipliers), wrenches);
            }
            if let Some(rates) = &mut rates {
                let motion = pair.rates(at);
                for (row, _, coordinate, factor) in self.plain_rows(index) {
                    rates[row] += factor * motion.of(coordinate);
                }
            }
            if let Some(gradient) = &mut gradient {
                self.add_plain_gradient(index, &pair, gradient);
            }
            if let Some(stiffness) = &mut stiffness {
                pair.add_stiffness(self.weighed(index, multipliers), stiffness);
            }
            if let Some(rate_gradient) = &mut rate_gradient {
                for (row, _, coordinate, factor) in self.plain_rows(index) {
                    pair.add_rate_gradient(coordinate, factor, at, &mut rate_gradient.rows[row]);
                }
            }
        }
    }

    /// Answers for rows of any coordinates, through both frames of each pair.
    fn evaluate_any(&self, at: &Motion, rows: &mut RowValues) {
        let known = self.relatives(at);
        let relative = |pair: usize| match &known {
            Some(relatives) => relatives[pair],
            None => self.pairs[pair].relative(at),
        };
        if let Some(violation) = rows.violation.take() {
            self.write_violation(at, relative, violation);
        }
        // Those of many pairs are products with the gradient.
        let mut wrenches = if known.is_some() { rows.wrenches.take() } else { None };
        let (multipliers, mut rates) = (rows.multipliers, rows.rates.take());
        let (mut gradient, mut stiffness) = (rows.gradient.take(), rows.stiffness.take());
        let mut rate_gradient = rows.rate_gradient.take();
        if let Some(rates) = &mut rates {
            self.write_target_rates(at.time, rates);
        }
        for index in (0..self.pairs.len()).filter(|&index| self.uses(index)) {
            let relative = relative(index);
            if let Some(wrenches) = &mut wrenches {
                self.add_pair_wrenches(index, &relative, multipliers, wrenches);
            }
            if let Some(rates) = &mut rates {
                self.for_terms(index, |row, term| {
                    rates[row] += term.factor * term.coordinate.rate(&relative)
                });
            }
            if let Some(gradient) = &mut gradient {
                let add = |row: usize, term: &Term| {
                    let slope = term.coordinate.gradient(&relative);
                    self.pairs[index].add_to_nodes(term.factor, &slope, &mut gradient.rows[row]);
                };
                self.for_terms(index, add);
            }
            if let Some(stiffness) = &mut stiffness {
                self.add_pair_stiffness(index, &relative, multipliers, stiffness);
            }
            if let Some(rate_gradient) = &mut rate_gradient {
                let add = |row: usize, term: &Term| {
                    let slope = term.coordinate.rate_gradient(&relative);
                    self.pairs[index].add_to_nodes(term.factor, &slope, &mut rate_gradient.rows[row]);
                };
                self.for_terms(index, add);
            }
        }
    }

    /// Remembered angle of a term, by its place among the terms that count turns. What is kept is the change
    /// since the start, so that a memory of zeros is right at the start.
    fn remembered(&self, at: &Motion, index: usize, term: &Term) -> f64 {
        term.start + at.memory.get(index).copied().unwrap_or(0.0)
    }
}

/// What is large of an angle with a factor and does not change within a step, and the rest; `value` finds the
/// angle near another.
fn split_angle(factor: f64, near: f64, value: impl FnOnce(f64) -> f64) -> (f64, f64) {
    let within_turn = near - TAU * (near / TAU).round();
    (factor * near, factor * (value(within_turn) - within_turn))
}

/// Which components of d and which entries of R a row of one plain coordinate weighs.
fn plain_weights(rows: &[Row], multipliers: &[f64], pair: usize) -> Option<Vector3> {
    let mut weights = Vector3::zeros();
    for (row, lambda) in rows.iter().zip(multipliers) {
        for term in &row.terms {
            if let (Coordinate::Translation(i), true) = (term.coordinate, term.pair == pair) {
                weights[i] += lambda * term.factor;
            }
        }
    }
    (weights != Vector3::zeros()).then_some(weights)
}

impl Joint for CoordinateJoint {
    fn facts(&self) -> JointFacts<'_> {
        let is_length =
            |term: &Term| matches!(term.coordinate, Coordinate::Translation(_) | Coordinate::Distance);
        let mut facts = JointFacts {
            memory: self.turning().count(),
            time_dependent: self.led,
            reaction_frame: self.pairs[0].second_frame(),
            ..JointFacts::new(&self.nodes, self.rows.len())
        };
        for (torque, row) in facts.torques.iter_mut().zip(self.rows.iter()) {
            *torque = !row.terms.iter().any(is_length);
        }
        facts
    }

    #[inline]
    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let rows = &mut out.holonomic;
        if let Some([first, second]) = rows.by_time.take() {
            for (index, row) in self.rows.iter().enumerate() {
                let target = self.target(row, at.time);
                (first[index], second[index]) = (-target[1], -target[2]);
            }
        }
        // Drift is judged by another computation than the one whose zero was found.
        if rows.wrenches.is_none()
            && rows.stiffness.is_none()
            && let Some(violation) = rows.violation.take()
        {
            match self.relatives(at) {
                Some(relatives) => self.write_violation(at, |pair| relatives[pair], violation),
                None => self.write_violation(at, |pair| self.pairs[pair].relative(at), violation),
            }
        }
        match self.plain {
            true => self.evaluate_plain(at, rows),
            false => self.evaluate_any(at, rows),
        }
    }

    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        for (term, change) in self.turning().zip(memory) {
            let relative = self.pairs[term.pair].relative(at);
            *change = term.coordinate.value(&relative, term.start + *change) - term.start;
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let laws = self.rows.iter().filter_map(|row| match &row.target {
            RowTarget::Law(law) => Some(law),
            RowTarget::Constant(_) | RowTarget::Continued => None,
        });
        laws.flat_map(|law| law.corners(from, to)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::lower_pair;

    #[test]
    fn joints_with_the_same_rows_share_them_and_others_do_not() {
        let mut known = KnownRows::default();
        let mut joint = |rows: Vec<Row>| {
            let mut joint = CoordinateJoint::between([None, Some(NodeId(0))], [Pose::identity(); 2], rows);
            known.share(&mut joint);
            joint.rows
        };
        let (ball, hinge, far) = (lower_pair::spherical, lower_pair::revolute, lower_pair::distance);
        let first = joint(ball());
        assert!(!Arc::ptr_eq(&first, &joint(hinge())));
        assert!(Arc::ptr_eq(&first, &joint(ball())));
        assert!(!Arc::ptr_eq(&joint(far(1.0)), &joint(far(2.0))));
        // Bars of all lengths are not remembered for ever.
        (0..100).for_each(|length| drop(joint(far(f64::from(length)))));
        assert!(!Arc::ptr_eq(&first, &joint(ball())));
        assert!(known.0.len() <= KnownRows::MAX);
    }
}
