//! Joints whose initial coordinates and rates the model states.
//!
//! The file draws the machine; a stated coordinate moves all that lies beyond its joint, seen from the
//! ground, until the joint shows it. In a tree that is all. Loops do not close after such a move: then the
//! coordinates go in small steps from where they are drawn to where they are stated, and each time the loops
//! are closed with them as conditions, so that the machine stays on the branch that is drawn. Rates move what
//! lies beyond in the same way, and are conditions on velocities where that does not fit.

use std::sync::Arc;

use super::carrier::{TreeCarrier, poses, write_poses};
use super::entry::MeasuredCoordinate;
use super::frames::Frames;
use super::stated_start::JointStart;
use crate::constrained::{
    ConsistencyError, FollowError, Miss, REFUSED_CHANGE, ROUNDING, StartReport, Way, in_words, moving_nearly,
    moving_together,
};
use crate::dae::{Dae, Initial, Note, NoteKind, Point, ResidualValues, Values};
use crate::joint::{CoordinateJoint, Rate, RateTerm, Row, VelocityCoupling};
use crate::kinematics::{Coordinate, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Pose, Vector3, write_vector3};
use crate::model::error::ModelError;
use crate::model::{Law, ModelErrors, Place};
use crate::system::{System, SystemBuilder};

/// Moves above this part of the machine's size, and above this angle in rad, count: angles of quaternions are
/// known to the root of the rounding.
const MOVED: f64 = 1e-7;
/// A stated coordinate with the frames of its joint.
struct Condition {
    start: JointStart,
    nodes: [Option<NodeId>; 2],
    offsets: [Pose; 2],
}

impl Condition {
    fn value(&self) -> Option<f64> {
        self.start.value.as_ref().map(|(value, _)| *value)
    }

    fn unit(&self) -> &'static str {
        if self.start.coordinate.is_angle() { "rad" } else { "m" }
    }

    /// Its rate in a motion of the system.
    fn rate(&self, system: &System, at: &Point) -> f64 {
        let ground = NodeMotion::at_rest(Pose::identity());
        let [first, second] = self.nodes.map(|node| node.map_or(ground, |node| system.motion(node, at)));
        self.start.coordinate.rate(&Relative::new(&self.offsets.map(Frame::new), [&first, &second]))
    }

    /// The joint that keeps the coordinate at zero.
    fn keep(&self) -> CoordinateJoint {
        CoordinateJoint::between(self.nodes, self.offsets, vec![Row::keep(self.start.coordinate, 0.0)])
    }

    /// The joint that keeps its rate.
    fn lead(&self, rate: f64) -> VelocityCoupling {
        let term = RateTerm {
            nodes: self.nodes,
            offsets: self.offsets,
            rate: Rate::Coordinate(self.start.coordinate),
            factor: 1.0,
        };
        VelocityCoupling::new(&[term], Arc::new(Law::Constant(rate)))
    }

    /// Full name, by which assembly calls it.
    fn name(&self, rate: bool) -> String {
        let JointStart { joint, word, .. } = &self.start;
        if rate { format!("{joint}.{word}-rate") } else { format!("{joint}.{word}") }
    }
}

/// What is needed to start joints where the model says.
pub(super) struct JointStarts<'a> {
    frames: &'a Frames,
    system: &'a System,
    conditions: Vec<Condition>,
    carrier: TreeCarrier,
    /// Makes the equations once more, to add conditions.
    again: &'a dyn Fn() -> Result<SystemBuilder, ModelErrors>,
}

impl<'a> JointStarts<'a> {
    /// Coordinates that a model states, for a system that is built.
    pub(super) fn new(
        frames: &'a Frames,
        system: &'a System,
        starts: Vec<JointStart>,
        again: &'a dyn Fn() -> Result<SystemBuilder, ModelErrors>,
    ) -> Self {
        let condition = |start: JointStart| {
            let joint = frames.joint_named(&start.joint)?;
            Some(Condition { start, nodes: joint.nodes, offsets: joint.offsets })
        };
        let conditions: Vec<Condition> = starts.into_iter().filter_map(condition).collect();
        let carried = conditions.iter().map(|Condition { start, nodes, offsets }| {
            let (nodes, offsets, coordinate) = (*nodes, *offsets, start.coordinate);
            let measured = MeasuredCoordinate { nodes, offsets, coordinate, rate: false, unit: "" };
            (start.joint.as_str(), measured)
        });
        let carrier = TreeCarrier::new(frames, system, carried);
        Self { frames, system, conditions, carrier, again }
    }

    /// Moves the initial values of the machine to what is stated; gives what is worth a note.
    pub(super) fn apply(&self, initial: &mut Initial) -> Result<Option<Note>, ModelErrors> {
        let drawn = self.poses(initial);
        if self.conditions.iter().any(|condition| condition.start.value.is_some()) {
            self.place(initial)?;
        }
        let poses = self.poses(initial);
        self.turn_velocities(initial, &drawn, &poses);
        if self.conditions.iter().any(|condition| condition.start.rate.is_some()) {
            return self.set_moving(initial, &poses);
        }
        Ok(None)
    }

    fn poses(&self, initial: &Initial) -> Vec<Pose> {
        poses(self.system, &initial.configuration)
    }

    fn rest(&self, initial: &Initial) -> Values {
        let internal_states = initial.internal_states.clone();
        Values { internal_states, ..Values::zeros(&self.system.shape()) }
    }

    fn write(&self, poses: &[Pose], initial: &mut Initial) {
        write_poses(self.system, poses, &mut initial.configuration);
    }

    /// Conditions on the joint of an index in the frames.
    fn at(&self, joint: usize) -> impl Iterator<Item = &Condition> {
        self.carrier.of_joint(joint).iter().map(|&place| &self.conditions[place])
    }

    /// Values of the conditions at poses, near to others.
    fn values(&self, poses: &[Pose], near: &[f64]) -> Vec<f64> {
        near.iter().enumerate().map(|(place, near)| self.carrier.value(place, poses, *near)).collect()
    }

    /// Puts the machine where the stated coordinates are.
    fn place(&self, initial: &mut Initial) -> Result<(), ModelErrors> {
        let drawn = self.poses(initial);
        let begin = self.values(&drawn, &vec![0.0; self.conditions.len()]);
        let stated = |(condition, drawn): (&Condition, &f64)| condition.value().unwrap_or(*drawn);
        let end: Vec<f64> = self.conditions.iter().zip(&begin).map(stated).collect();
        let targets: Vec<Option<f64>> = self.conditions.iter().map(Condition::value).collect();
        let there = self.carrier.moved(self.frames, &drawn, &targets);
        self.refuse_moves(initial, &drawn, &there)?;
        self.write(&there, initial);
        let length = self.system.scales().length;
        let off = |(condition, (found, wanted)): (&Condition, (&f64, &f64))| {
            condition.start.value.is_some() && (found - wanted).abs() > ROUNDING * length.max(1.0)
        };
        let found = self.values(&there, &end);
        let misses = self.conditions.iter().zip(found.iter().zip(&end)).any(off);
        let rest = self.rest(initial);
        let at = rest.point_at(initial.time, &initial.configuration, &rest.velocity);
        let violation = ResidualValues::at(self.system, &self.system.shape(), &at).violation;
        let extent = initial.configuration.iter().fold(length, |extent, value| extent.max(value.abs()));
        if !misses && violation.iter().all(|value| value.abs() <= ROUNDING * extent) {
            return Ok(());
        }
        self.write(&drawn, initial);
        self.close(initial, &begin, &end)
    }

    /// A fixed body does not move.
    fn refuse_moves(&self, initial: &Initial, drawn: &[Pose], there: &[Pose]) -> Result<(), ModelErrors> {
        let moves = |node: usize| {
            let (drawn, there) = (&drawn[node], &there[node]);
            let shift = (there.position - drawn.position).norm() / self.system.scales().length;
            shift.max(drawn.rotation.angle_to(&there.rotation)) > MOVED
        };
        let Some(&node) = initial.fixed.iter().find(|&&node| moves(node)) else { return Ok(()) };
        let place = self.conditions.iter().find_map(|condition| condition.start.value.as_ref());
        let place = place.map(|(_, place)| place.clone()).unwrap_or_default();
        let found = format!("they would move `{}`, which is `fixed`", self.system.node_name(NodeId(node)));
        Err(ModelError::unsuitable(
            "initial coordinates of joints",
            "such that fixed bodies stay",
            found,
            &place,
        )
        .into())
    }

    /// Moves the stated coordinates from where they are drawn to where they are stated, and closes the loops
    /// on the way.
    fn close(&self, initial: &mut Initial, begin: &[f64], end: &[f64]) -> Result<(), ModelErrors> {
        let stated: Vec<usize> =
            (0..self.conditions.len()).filter(|&place| self.conditions[place].value().is_some()).collect();
        let mut builder = (self.again)()?;
        for condition in stated.iter().map(|&place| &self.conditions[place]) {
            builder.joint(condition.name(false), condition.keep());
        }
        let (system, _) = builder.build(initial.time).map_err(|error| self.unmade(&error.to_string()))?;
        let [begin, end] =
            [begin, end].map(|values| stated.iter().map(|&place| values[place]).collect::<Vec<f64>>());
        let carried = |configuration: &[f64], targets: &[f64]| {
            let mut wanted = vec![None; self.conditions.len()];
            stated.iter().zip(targets).for_each(|(&place, target)| wanted[place] = Some(*target));
            let there = self.carrier.moved(self.frames, &poses(self.system, configuration), &wanted);
            let mut moved = configuration.to_vec();
            write_poses(self.system, &there, &mut moved);
            moved
        };
        let is_angle = |&place: &usize| self.conditions[place].start.coordinate.is_angle();
        let angles: Vec<bool> = stated.iter().map(is_angle).collect();
        let first = self.system.shape().constraint_count();
        let way = Way { dae: &system, first, angles: &angles, carried: &carried };
        match way.follow_loops(initial, [&begin, &end], None) {
            Ok(configuration) => initial.configuration = configuration,
            Err(FollowError::Unreachable { misses, reached }) => {
                return self.unreachable(&misses, &stated, &reached);
            }
            // The start itself tells what else is wrong.
            Err(_) => {}
        }
        Ok(())
    }

    fn unmade(&self, reason: &str) -> ModelErrors {
        ModelError::unsuitable("the model", "assembled", reason, &Place::default()).into()
    }

    /// The error of coordinates that loops do not allow; nothing if other joints are to blame, which the
    /// start tells.
    fn unreachable(&self, misses: &[Miss], stated: &[usize], reached: &[f64]) -> Result<(), ModelErrors> {
        let is_named = |condition: &Condition| {
            let name = format!("`{}`", condition.name(false));
            misses.iter().any(|miss| miss.name.contains(&name))
        };
        let mut places = stated.iter().map(|&place| &self.conditions[place]).zip(reached);
        let Some((condition, reached)) = places.find(|(condition, _)| is_named(condition)) else {
            return Ok(());
        };
        let JointStart { joint, word, value, .. } = &condition.start;
        let Some((value, at)) = value else { return Ok(()) };
        let unit = condition.unit();
        let found =
            format!("{value} {unit}; followed from the drawing, it comes as far as {reached:.4} {unit}");
        let what = format!("`{word}` of `{joint}`");
        let requirement = "a value that the loops of the machine and its other coordinates allow";
        let hint = format!("there, {}", in_words(misses));
        Err(ModelError::unsuitable(what, requirement, found, at).with_hint(hint).into())
    }

    /// Velocities that bodies state turn with them, whatever their axes are stored in.
    fn turn_velocities(&self, initial: &mut Initial, drawn: &[Pose], poses: &[Pose]) {
        let space = self.system.shape().space;
        for (node, (drawn, now)) in drawn.iter().zip(poses).enumerate() {
            if let Group::So3xR3 = self.system.node_group(NodeId(node))
                && drawn.rotation != now.rotation
            {
                let v = &mut initial.velocity[space.velocity_range(node)][3..];
                let turned = now.rotation * drawn.rotation.inverse() * Vector3::from_row_slice(v);
                write_vector3(&turned, v);
            }
        }
    }

    /// Lets the machine move at the stated rates.
    fn set_moving(&self, initial: &mut Initial, poses: &[Pose]) -> Result<Option<Note>, ModelErrors> {
        self.guess_velocities(initial, poses);
        if self.moves_as_stated(initial) {
            return Ok(None);
        }
        let mut builder = (self.again)()?;
        for condition in &self.conditions {
            if let Some((rate, _)) = condition.start.rate {
                builder.joint(condition.name(true), condition.lead(rate));
            }
        }
        let (system, _) = builder.build(initial.time).map_err(|error| self.unmade(&error.to_string()))?;
        match moving_together(&system, initial) {
            Ok((velocity, report)) => {
                initial.velocity = velocity;
                Ok(told(&report, initial.time))
            }
            Err(error @ ConsistencyError::Velocities { .. }) => Err(self.contradicting(&error.to_string())),
            Err(ConsistencyError::Contradiction { misses, .. }) => self.give_in(initial, &system, &misses),
            // The start itself tells what else is wrong.
            Err(_) => Ok(None),
        }
    }

    /// Whether velocities fit the joints and have the stated rates.
    fn moves_as_stated(&self, initial: &Initial) -> bool {
        let rest = self.rest(initial);
        let at = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
        let size = initial.velocity.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        let [_, violation] = self.system.constraint_residuals(&at);
        let fits = |condition: &Condition| {
            let rate = condition.start.rate.as_ref();
            rate.is_none_or(|(rate, _)| (condition.rate(self.system, &at) - rate).abs() <= ROUNDING * size)
        };
        violation <= ROUNDING * size && self.conditions.iter().all(fits)
    }

    /// Rates that contradict each other or a drive: what the machine makes of them, if it is near.
    fn give_in(
        &self,
        initial: &mut Initial,
        with_rates: &System,
        misses: &[Miss],
    ) -> Result<Option<Note>, ModelErrors> {
        let Ok(velocity) = moving_nearly(self.system, with_rates, initial) else { return Ok(None) };
        let rest = self.rest(initial);
        let at = rest.point_at(initial.time, &initial.configuration, &velocity);
        let length = self.system.scales().length;
        let arm = |condition: &Condition| if condition.start.coordinate.is_angle() { length } else { 1.0 };
        let stated = || self.conditions.iter().filter_map(|one| Some((one, one.start.rate.as_ref()?.0)));
        let fastest = stated().map(|(one, rate)| arm(one) * rate.abs()).fold(0.0, f64::max);
        let mut words = Vec::new();
        let mut refused = false;
        for (condition, rate) in stated() {
            let now = condition.rate(self.system, &at);
            let change = arm(condition) * (now - rate).abs();
            if change > ROUNDING * fastest {
                let unit = condition.unit();
                words.push(format!("`{}` from {rate} {unit}/s to {now:.6} {unit}/s", condition.name(true)));
                refused |= change > REFUSED_CHANGE * fastest;
            }
        }
        let text = format!("{}; the joints would change {}", in_words(misses), words.join(", "));
        if refused {
            return Err(self.contradicting(&text));
        }
        initial.velocity = velocity;
        let text = format!("stated initial rates contradict each other: {text}");
        Ok(Some(Note::new(NoteKind::VelocitiesChanged, text).at(initial.time)))
    }

    fn contradicting(&self, found: &str) -> ModelErrors {
        // The rate that a message names first, or the first of all.
        let named = |condition: &&Condition| found.contains(&format!("`{}`", condition.name(true)));
        let with_rate = || self.conditions.iter().filter(|condition| condition.start.rate.is_some());
        let condition = with_rate().find(named).or_else(|| with_rate().next());
        let place = condition.and_then(|one| one.start.rate.as_ref()).map(|(_, place)| place.clone());
        let what = condition.map_or_else(String::new, |one| format!("`{}`", one.name(true)));
        let requirement = "a rate that the joints and the other initial velocities allow";
        let error = ModelError::unsuitable(what, requirement, found, &place.unwrap_or_default());
        error.with_hint("state only what does not follow from the rest").into()
    }

    /// Moves what lies beyond each joint at its stated rate, unless it states velocities itself.
    fn guess_velocities(&self, initial: &mut Initial, poses: &[Pose]) {
        let space = self.system.shape().space;
        // Angular velocity, and velocity of what is at the origin, in the world.
        let fields = self.carrier.tree().spread([Vector3::zeros(); 2], |node, joint, inherited| {
            let mut field = *inherited;
            let Some(index) = joint else { return field };
            let entry = &self.frames.joints()[index];
            let world = |side: usize| {
                let node = entry.nodes[side].map_or_else(Pose::identity, |node| poses[node.0]);
                node.compose(&entry.offsets[side])
            };
            let sign = if entry.nodes[1].is_some_and(|second| second.0 == node) { 1.0 } else { -1.0 };
            let (first, second) = (world(0), world(1));
            for condition in self.at(index) {
                let Some((rate, _)) = condition.start.rate else { continue };
                let (turns, shifts) = match condition.start.coordinate {
                    Coordinate::Translation(axis) => {
                        (Vector3::zeros(), first.transform_vector(&Vector3::ith(axis, rate)))
                    }
                    Coordinate::UniversalAngle(0) => {
                        (first.transform_vector(&Vector3::x()) * rate, Vector3::zeros())
                    }
                    Coordinate::UniversalAngle(_) => {
                        (second.transform_vector(&Vector3::y()) * rate, Vector3::zeros())
                    }
                    _ => (first.transform_vector(&Vector3::z()) * rate, Vector3::zeros()),
                };
                field[0] += sign * turns;
                field[1] += sign * (shifts - turns.cross(&second.position));
            }
            field
        });
        let stated =
            |coordinate: usize| initial.stated_velocity.get(coordinate).is_some_and(|stated| *stated);
        let mut velocity = initial.velocity.clone();
        for (node, [turns, at_origin]) in fields.iter().enumerate() {
            let (pose, range) = (&poses[node], space.velocity_range(node));
            let shifts = at_origin + turns.cross(&pose.position);
            let own = pose.rotation.inverse();
            let guess: Vec<f64> = match self.system.node_group(NodeId(node)) {
                Group::Se3 => {
                    [own * turns, own * shifts].iter().flat_map(|part| part.iter().copied()).collect()
                }
                Group::So3xR3 => [own * turns, shifts].iter().flat_map(|part| part.iter().copied()).collect(),
                Group::So3 => (own * turns).iter().copied().collect(),
                Group::Vector(_) => shifts.iter().copied().collect(),
            };
            for (coordinate, value) in range.zip(guess) {
                if !stated(coordinate) {
                    velocity[coordinate] += value;
                }
            }
        }
        initial.velocity = velocity;
    }
}

/// A note about stated velocities of bodies that rates of joints changed.
fn told(report: &StartReport, time: f64) -> Option<Note> {
    let text = report.contradiction()?;
    Some(Note::new(NoteKind::VelocitiesChanged, text).at(time).number(report.velocity_violation))
}
