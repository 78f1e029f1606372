//! Joints whose initial coordinates and rates the model states.
//!
//! The file draws the machine; a stated coordinate moves all that lies beyond its joint, seen from the
//! ground, until the joint shows it. In a tree that is all. Loops do not close after such a move: then the
//! coordinates go in small steps from where they are drawn to where they are stated, and each time the loops
//! are closed with them as conditions, so that the machine stays on the branch that is drawn. Rates move what
//! lies beyond in the same way, and are conditions on velocities where that does not fit.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::frames::Frames;
use super::led::LedCoordinate;
use crate::constrained::{
    ConsistencyError, Miss, REFUSED_CHANGE, StartReport, fit_together, in_words, moving_nearly,
    moving_together,
};
use crate::dae::{Dae, Initial, Note, NoteKind, Point, ResidualValues, Values};
use crate::joint::{CoordinateJoint, Rate, RateTerm, Row, VelocityCoupling};
use crate::kinematics::{Coordinate, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Pose, UnitQuaternion, Vector3, write_pose, write_quaternion, write_vector3};
use crate::model::error::ModelError;
use crate::model::{Law, ModelErrors, Place};
use crate::system::{System, SystemBuilder};

/// A coordinate of a joint whose initial value or rate the model states.
#[derive(Clone, Debug)]
pub struct JointStart {
    /// The joint.
    pub joint: String,
    /// The word for the coordinate.
    pub word: &'static str,
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Its value in m or rad, and where the model says it.
    pub value: Option<(f64, Place)>,
    /// Its rate per second, and where the model says it.
    pub rate: Option<(f64, Place)>,
}

/// Violations below this part of the machine's size, and of its speeds, are rounding: as much as closed loops
/// may leave ([`crate::constrained`]).
const ROUNDING: f64 = 1e-10;
/// Moves above this part of the machine's size, and above this angle in rad, count: angles of quaternions are
/// known to the root of the rounding.
const MOVED: f64 = 1e-7;
/// Largest steps in which loops follow a coordinate: in rad, and as a part of the machine's size.
const STEPS: (f64, f64) = (0.1, 0.05);
/// Most steps of a coordinate.
const MAX_STEPS: f64 = 10_000.0;
/// Equations that hold a body well enough for it to move with the other.
const STRONG: usize = 3;

/// A stated coordinate with the frames of its joint.
struct Condition {
    start: JointStart,
    nodes: [Option<NodeId>; 2],
    offsets: [Pose; 2],
}

impl Condition {
    fn unit(&self) -> &'static str {
        if self.start.coordinate.is_angle() { "rad" } else { "m" }
    }

    /// The frames at poses of the nodes.
    fn relative(&self, poses: &[Pose]) -> Relative {
        let motion = |node: Option<NodeId>| {
            NodeMotion::at_rest(node.map_or_else(Pose::identity, |node| poses[node.0]))
        };
        let [first, second] = self.nodes.map(motion);
        Relative::new(&self.offsets.map(Frame::new), [&first, &second])
    }

    /// Its rate in a motion of the system.
    fn rate(&self, system: &System, at: &Point) -> f64 {
        let ground = NodeMotion::at_rest(Pose::identity());
        let [first, second] = self.nodes.map(|node| node.map_or(ground, |node| system.motion(node, at)));
        self.start.coordinate.rate(&Relative::new(&self.offsets.map(Frame::new), [&first, &second]))
    }

    /// The joint that keeps the coordinate at a value. Angles are kept at zero between frames that are
    /// turned, far from where they jump by a turn.
    fn keep(&self, value: f64) -> CoordinateJoint {
        let [first, second] = self.offsets;
        let turned = |pose: Pose, axis: Vector3, angle: f64| {
            Pose::new(pose.rotation * UnitQuaternion::from_scaled_axis(axis * angle), pose.position)
        };
        let coordinate = self.start.coordinate;
        let (offsets, value) = match coordinate {
            Coordinate::Angle => ([first, turned(second, Vector3::z(), -value)], 0.0),
            Coordinate::UniversalAngle(0) => ([turned(first, Vector3::x(), value), second], 0.0),
            Coordinate::UniversalAngle(_) => ([first, turned(second, Vector3::y(), -value)], 0.0),
            _ => (self.offsets, value),
        };
        CoordinateJoint::between(self.nodes, offsets, vec![Row::keep(coordinate, value)])
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

/// Where a node hangs: the joint towards the ground and the node there, or the beam.
#[derive(Clone, Copy, Debug)]
struct Hanging {
    /// The joint by which it hangs, by its index in the frames; none on a beam.
    joint: Option<usize>,
    /// Node on the other side, or the ground.
    parent: Option<usize>,
}

/// A tree through the machine.
struct SpanningTree {
    /// Nodes, each after that on which it hangs.
    order: Vec<usize>,
    hanging: Vec<Option<Hanging>>,
}

impl SpanningTree {
    /// A tree from the ground, or from one body where nothing leads there. It takes joints of which
    /// coordinates are stated first, then beams and joints that hold well, those near the ground first.
    fn new(frames: &Frames, system: &System, is_stated: impl Fn(&str) -> bool) -> Self {
        let ground = system.node_count();
        let index = |node: Option<NodeId>| node.map_or(ground, |node| node.0);
        let mut edges: Vec<(u8, [usize; 2], Option<usize>)> = Vec::new();
        for (number, joint) in frames.joints().iter().enumerate().filter(|(_, joint)| !joint.is_drive) {
            let rank = match system.joint_rows(joint.index).len() {
                _ if is_stated(&joint.name) => 0,
                STRONG.. => 1,
                _ => 2,
            };
            edges.push((rank, joint.nodes.map(index), Some(number)));
        }
        for beam in frames.beams() {
            let nodes: Vec<usize> = (0..beam.node_count())
                .filter_map(|place| beam.node(place))
                .map(|node| index(node.node))
                .collect();
            edges.extend(nodes.windows(2).map(|pair| (1, [pair[0], pair[1]], None)));
        }
        edges.retain(|(_, [first, second], _)| first != second);
        let distance = distances(ground, &edges);
        let near = |[first, second]: [usize; 2]| distance[first].min(distance[second]);
        edges.sort_by_key(|&(rank, ends, _)| (rank, near(ends)));
        let mut groups: Vec<usize> = (0..=ground).collect();
        let mut links: Vec<Vec<(usize, Option<usize>)>> = vec![Vec::new(); ground + 1];
        for (_, [first, second], joint) in edges {
            let [one, other] = [first, second].map(|end| group(&mut groups, end));
            if one != other {
                groups[one] = other;
                links[first].push((second, joint));
                links[second].push((first, joint));
            }
        }
        let mut hanging: Vec<Option<Hanging>> = vec![None; ground];
        let (mut order, mut seen) = (Vec::new(), vec![false; ground + 1]);
        for root in std::iter::once(ground).chain(0..ground) {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut waiting = VecDeque::from([root]);
            while let Some(parent) = waiting.pop_front() {
                for &(node, joint) in &links[parent] {
                    if !std::mem::replace(&mut seen[node], true) {
                        hanging[node] = Some(Hanging { joint, parent: (parent != ground).then_some(parent) });
                        order.push(node);
                        waiting.push_back(node);
                    }
                }
            }
        }
        Self { order, hanging }
    }

    /// The nodes that lie beyond each node's joint pass its value on: walks from the ground outwards and
    /// gives each node what its parent has, changed by what `own` adds at the joint it hangs on.
    fn spread<T: Copy>(&self, start: T, mut own: impl FnMut(usize, Option<usize>, &T) -> T) -> Vec<T> {
        let mut values = vec![start; self.hanging.len()];
        for &node in &self.order {
            let Some(Hanging { joint, parent }) = self.hanging[node] else { continue };
            let inherited = parent.map_or(start, |parent| values[parent]);
            values[node] = own(node, joint, &inherited);
        }
        values
    }
}

/// Number of joints between each node and the ground.
fn distances(ground: usize, edges: &[(u8, [usize; 2], Option<usize>)]) -> Vec<usize> {
    let mut links: Vec<Vec<usize>> = vec![Vec::new(); ground + 1];
    for (rank, [first, second], _) in edges {
        if *rank < 2 {
            links[*first].push(*second);
            links[*second].push(*first);
        }
    }
    let mut distance = vec![usize::MAX; ground + 1];
    distance[ground] = 0;
    let mut waiting = VecDeque::from([ground]);
    while let Some(node) = waiting.pop_front() {
        for &other in &links[node] {
            if distance[other] == usize::MAX {
                distance[other] = distance[node] + 1;
                waiting.push_back(other);
            }
        }
    }
    distance
}

/// The group of a node among those that are connected.
fn group(groups: &mut [usize], mut node: usize) -> usize {
    while groups[node] != node {
        groups[node] = groups[groups[node]];
        node = groups[node];
    }
    node
}

/// The relative pose in which a coordinate has changed and the others of its joint have not.
fn changed(relative: &Pose, coordinate: Coordinate, change: f64) -> Pose {
    let turn = |axis: Vector3| UnitQuaternion::from_scaled_axis(axis * change);
    let (rotation, position) = (relative.rotation, relative.position);
    match coordinate {
        Coordinate::Translation(axis) => Pose::new(rotation, position + Vector3::ith(axis, change)),
        Coordinate::Angle => Pose::new(turn(Vector3::z()) * rotation, position),
        Coordinate::UniversalAngle(0) => Pose::new(turn(Vector3::x()) * rotation, position),
        Coordinate::UniversalAngle(_) => Pose::new(rotation * turn(Vector3::y()), position),
        _ => *relative,
    }
}

/// What is needed to start joints where the model says.
pub(super) struct JointStarts<'a> {
    frames: &'a Frames,
    system: &'a System,
    conditions: Vec<Condition>,
    /// Those of each joint.
    by_joint: HashMap<String, Range<usize>>,
    tree: SpanningTree,
    /// Makes the equations once more, to add conditions.
    again: &'a dyn Fn() -> Result<SystemBuilder, ModelErrors>,
}

/// States an initial coordinate or rate in place of what the model says of it: `elbow.angle`,
/// `elbow.angle-rate`, or the joint alone if it has one coordinate.
pub(super) fn state(
    frames: &Frames,
    name: &str,
    value: f64,
    starts: &mut Vec<JointStart>,
) -> Result<(), ModelError> {
    let place = Place::default();
    if !value.is_finite() {
        let what = format!("the initial value of `{name}`");
        return Err(ModelError::unsuitable(what, "a finite number", value.to_string(), &place));
    }
    let alone = frames.joint_named(name).and_then(|joint| match joint.coordinates {
        [(word, _)] => Some((joint, *word)),
        _ => None,
    });
    let (owner, word) = name.rsplit_once('.').unwrap_or((name, ""));
    let found = alone.or_else(|| frames.joint_named(owner).map(|joint| (joint, word)));
    let found = found.filter(|(joint, _)| !joint.is_drive);
    let found = found.and_then(|(joint, word)| Some((joint, joint.measured(word)?)));
    let Some((joint, measured)) = found else {
        let known: Vec<String> = frames.coordinates().map(|(name, _)| format!("`{name}`")).collect();
        let found = if known.is_empty() {
            "there is none".to_owned()
        } else {
            format!("there is {}", known.join(", "))
        };
        let requirement = format!("given for coordinates of joints and their rates ({found})");
        return Err(ModelError::unsuitable("an initial value", requirement, format!("for `{name}`"), &place));
    };
    let of_joint = |start: &JointStart| start.joint == joint.name;
    let known = starts.iter().position(|start| of_joint(start) && start.coordinate == measured.coordinate);
    let index = known.unwrap_or_else(|| {
        let own = joint.coordinates.iter().find(|(_, coordinate)| *coordinate == measured.coordinate);
        let start = JointStart {
            joint: joint.name.clone(),
            word: own.map_or("", |(word, _)| word),
            coordinate: measured.coordinate,
            value: None,
            rate: None,
        };
        // Those of one joint stand together.
        let index = starts.iter().rposition(of_joint).map_or(starts.len(), |last| last + 1);
        starts.insert(index, start);
        index
    });
    let stated = Some((value, place));
    if measured.rate {
        starts[index].rate = stated
    } else {
        starts[index].value = stated
    }
    Ok(())
}

/// The configuration in which some coordinates have been moved to values from where they are, with all that
/// lies beyond their joints; loops that do not close then are left open.
pub(super) fn carried(
    frames: &Frames,
    system: &System,
    initial: &Initial,
    coordinates: &[LedCoordinate],
    targets: &[f64],
) -> Vec<f64> {
    // Those of one joint must stand together.
    let joint_of = |led: &LedCoordinate| led.name.rsplit_once('.').map_or("", |(joint, _)| joint).to_owned();
    let mut starts: Vec<(JointStart, f64)> = Vec::with_capacity(coordinates.len());
    for (led, &target) in coordinates.iter().zip(targets) {
        let joint = joint_of(led);
        let coordinate = led.measured.coordinate;
        let start = JointStart {
            joint: joint.clone(),
            word: "",
            coordinate,
            value: Some((target, Place::default())),
            rate: None,
        };
        let last = starts.iter().rposition(|(known, _)| known.joint == joint);
        starts.insert(last.map_or(starts.len(), |last| last + 1), (start, target));
    }
    let (starts, targets): (Vec<_>, Vec<f64>) = starts.into_iter().unzip();
    let again = || Err(ModelErrors::new());
    let starts = JointStarts::new(frames, system, starts, &again);
    let there = starts.moved(&starts.poses(initial), &targets);
    let mut carried = initial.clone();
    starts.write(&there, &mut carried);
    carried.configuration
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
        let mut by_joint: HashMap<String, Range<usize>> = HashMap::new();
        for (place, condition) in conditions.iter().enumerate() {
            // Those of one joint stand together.
            by_joint.entry(condition.start.joint.clone()).or_insert(place..place).end = place + 1;
        }
        let tree = SpanningTree::new(frames, system, |joint| by_joint.contains_key(joint));
        Self { frames, system, conditions, by_joint, tree, again }
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
        let rest = self.rest(initial);
        let point = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
        (0..self.system.node_count()).map(|node| self.system.motion(NodeId(node), &point).pose).collect()
    }

    fn rest(&self, initial: &Initial) -> Values {
        let internal_states = initial.internal_states.clone();
        Values { internal_states, ..Values::zeros(&self.system.shape()) }
    }

    fn write(&self, poses: &[Pose], initial: &mut Initial) {
        let space = self.system.shape().space;
        for (node, pose) in poses.iter().enumerate() {
            let q = &mut initial.configuration[space.coordinate_range(node)];
            match self.system.node_group(NodeId(node)) {
                Group::Se3 | Group::So3xR3 => write_pose(pose, q),
                Group::So3 => write_quaternion(&pose.rotation, q),
                Group::Vector(_) => write_vector3(&pose.position, q),
            }
        }
    }

    /// Conditions on the joint of an index in the frames.
    fn at(&self, joint: usize) -> impl Iterator<Item = (usize, &Condition)> {
        let name = self.frames.joints()[joint].name.as_str();
        let range = self.by_joint.get(name).cloned().unwrap_or_default();
        range.clone().zip(&self.conditions[range])
    }

    /// Poses in which each stated coordinate of the tree has moved by a part of the way to its value.
    fn moved(&self, poses: &[Pose], targets: &[f64]) -> Vec<Pose> {
        let mut now = poses.to_vec();
        self.tree.spread(Pose::identity(), |node, joint, inherited| {
            now[node] = inherited.compose(&poses[node]);
            let Some(index) = joint else { return *inherited };
            let Some((_, condition)) = self.at(index).next() else { return *inherited };
            let entry = &self.frames.joints()[index];
            let world = |side: usize| {
                let node = entry.nodes[side].map_or_else(Pose::identity, |node| now[node.0]);
                node.compose(&entry.offsets[side])
            };
            let (first, second) = (world(0), world(1));
            let mut relative = first.inverse().compose(&second);
            let values = condition.relative(&now);
            let mut moves = false;
            for (place, condition) in self.at(index).filter(|(_, condition)| condition.start.value.is_some())
            {
                let target = targets[place];
                let change = target - condition.start.coordinate.value(&values, target);
                relative = changed(&relative, condition.start.coordinate, change);
                moves |= change != 0.0;
            }
            if !moves {
                return *inherited;
            }
            let own = match entry.nodes[1].is_some_and(|second| second.0 == node) {
                true => first.compose(&relative).compose(&second.inverse()),
                false => second.compose(&relative.inverse()).compose(&first.inverse()),
            };
            now[node] = own.compose(&now[node]);
            own.compose(inherited)
        });
        now
    }

    /// Values of the conditions at poses, near to others.
    fn values(&self, poses: &[Pose], near: &[f64]) -> Vec<f64> {
        let value = |(condition, near): (&Condition, &f64)| {
            condition.start.coordinate.value(&condition.relative(poses), *near)
        };
        self.conditions.iter().zip(near).map(value).collect()
    }

    /// Puts the machine where the stated coordinates are.
    fn place(&self, initial: &mut Initial) -> Result<(), ModelErrors> {
        let drawn = self.poses(initial);
        let begin = self.values(&drawn, &vec![0.0; self.conditions.len()]);
        let stated = |(condition, drawn): (&Condition, &f64)| {
            condition.start.value.as_ref().map_or(*drawn, |(value, _)| *value)
        };
        let end: Vec<f64> = self.conditions.iter().zip(&begin).map(stated).collect();
        let there = self.moved(&drawn, &end);
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
        let count = self.system.joint_count();
        let placed: Vec<usize> = (0..self.conditions.len())
            .filter(|&place| self.conditions[place].start.value.is_some())
            .collect();
        let mut builder = (self.again)()?;
        for &place in &placed {
            let condition = &self.conditions[place];
            builder.joint(condition.name(false), condition.keep(begin[place]));
        }
        let (mut system, _) = builder.build(initial.time).map_err(|error| self.unmade(&error.to_string()))?;
        let steps = self.steps(begin, end);
        let mut reached = begin.to_vec();
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            let target: Vec<f64> =
                begin.iter().zip(end).map(|(begin, end)| begin + part * (end - begin)).collect();
            for (index, &place) in placed.iter().enumerate() {
                system.replace_joint(count + index, self.conditions[place].keep(target[place]));
            }
            let guess = self.moved(&self.poses(initial), &target);
            self.write(&guess, initial);
            // Where the bodies are drawn is not where they are to be.
            let trial = Initial { stated_position: Vec::new(), ..initial.clone() };
            match fit_together(&system, &trial) {
                Ok((configuration, ..)) => initial.configuration = configuration,
                Err(ConsistencyError::Position { misses, .. }) => {
                    return self.unreachable(&misses, &reached, end);
                }
                // The start itself tells what else is wrong.
                Err(_) => return Ok(()),
            }
            reached = target;
        }
        Ok(())
    }

    /// Steps in which loops follow.
    fn steps(&self, begin: &[f64], end: &[f64]) -> usize {
        let (turn, shift) = (STEPS.0, STEPS.1 * self.system.scales().length);
        let count = |(condition, (begin, end)): (&Condition, (&f64, &f64))| {
            (end - begin).abs() / if condition.start.coordinate.is_angle() { turn } else { shift }
        };
        let most = self.conditions.iter().zip(begin.iter().zip(end)).map(count).fold(1.0, f64::max);
        most.ceil().min(MAX_STEPS) as usize
    }

    fn unmade(&self, reason: &str) -> ModelErrors {
        ModelError::unsuitable("the model", "assembled", reason, &Place::default()).into()
    }

    /// The error of coordinates that loops do not allow; nothing if other joints are to blame, which the
    /// start tells.
    fn unreachable(&self, misses: &[Miss], reached: &[f64], end: &[f64]) -> Result<(), ModelErrors> {
        let named = |condition: &Condition| {
            let name = format!("`{}`", condition.name(false));
            condition.start.value.is_some() && misses.iter().any(|miss| miss.name.contains(&name))
        };
        let Some(place) = self.conditions.iter().position(named) else { return Ok(()) };
        let condition = &self.conditions[place];
        let JointStart { joint, word, value, .. } = &condition.start;
        let at = value.as_ref().map(|(_, place)| place.clone()).unwrap_or_default();
        let unit = condition.unit();
        let found = format!(
            "{} {unit}; followed from the drawing, it comes as far as {:.4} {unit}",
            end[place], reached[place]
        );
        let what = format!("`{word}` of `{joint}`");
        let requirement = "a value that the loops of the machine and its other coordinates allow";
        let hint = format!("there, {}", in_words(misses));
        Err(ModelError::unsuitable(what, requirement, found, &at).with_hint(hint).into())
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
        let fields = self.tree.spread([Vector3::zeros(); 2], |node, joint, inherited| {
            let mut field = *inherited;
            let Some(index) = joint else { return field };
            let entry = &self.frames.joints()[index];
            let world = |side: usize| {
                let node = entry.nodes[side].map_or_else(Pose::identity, |node| poses[node.0]);
                node.compose(&entry.offsets[side])
            };
            let sign = if entry.nodes[1].is_some_and(|second| second.0 == node) { 1.0 } else { -1.0 };
            let (first, second) = (world(0), world(1));
            for (_, condition) in self.at(index) {
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
