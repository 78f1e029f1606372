//! Coordinates of joints that are moved, with all that lies beyond them: a tree through the machine from the
//! ground, in which each joint carries what hangs on it.

use std::collections::{HashMap, VecDeque};

use super::entry::MeasuredCoordinate;
use super::frames::Frames;
use crate::dae::{Dae, Values};
use crate::kinematics::{Coordinate, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Pose, UnitQuaternion, Vector3, write_pose, write_quaternion, write_vector3};
use crate::system::System;

/// Equations that hold a body well enough for it to move with the other.
const STRONG: usize = 3;

/// Where a node hangs: the joint towards the ground and the node there, or the beam.
#[derive(Clone, Copy, Debug)]
struct Hanging {
    /// The joint by which it hangs, by its index in the frames; none on a beam.
    joint: Option<usize>,
    /// Node on the other side, or the ground.
    parent: Option<usize>,
}

/// A tree through the machine.
pub(super) struct SpanningTree {
    /// Nodes, each after that on which it hangs.
    order: Vec<usize>,
    hanging: Vec<Option<Hanging>>,
}

impl SpanningTree {
    /// A tree from the ground, or from one body where nothing leads there. It takes joints whose
    /// coordinates are moved first, then beams and joints that hold well, those near the ground first.
    fn new(frames: &Frames, system: &System, is_carried: impl Fn(usize) -> bool) -> Self {
        let ground = system.node_count();
        let index = |node: Option<NodeId>| node.map_or(ground, |node| node.0);
        let mut edges: Vec<(u8, [usize; 2], Option<usize>)> = Vec::new();
        for (number, joint) in frames.joints().iter().enumerate().filter(|(_, joint)| !joint.is_drive) {
            let rank = match system.joint_rows(joint.index).len() {
                _ if is_carried(number) => 0,
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
    pub fn spread<T: Copy>(&self, start: T, mut own: impl FnMut(usize, Option<usize>, &T) -> T) -> Vec<T> {
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

/// Coordinates that are moved, and the tree along which they move the machine.
pub(super) struct TreeCarrier {
    coordinates: Vec<MeasuredCoordinate>,
    /// The places of those of each joint, by its index in the frames.
    by_joint: Vec<Vec<usize>>,
    tree: SpanningTree,
}

impl TreeCarrier {
    /// Coordinates by the joints to which they belong.
    pub fn new<'n>(
        frames: &Frames,
        system: &System,
        coordinates: impl IntoIterator<Item = (&'n str, MeasuredCoordinate)>,
    ) -> Self {
        let joints = frames.joints().iter().enumerate();
        let index: HashMap<&str, usize> = joints.map(|(index, joint)| (joint.name.as_str(), index)).collect();
        let mut by_joint = vec![Vec::new(); frames.joints().len()];
        let mut all = Vec::new();
        for (joint, coordinate) in coordinates {
            if let Some(&joint) = index.get(joint) {
                by_joint[joint].push(all.len());
            }
            all.push(coordinate);
        }
        let tree = SpanningTree::new(frames, system, |joint| !by_joint[joint].is_empty());
        Self { coordinates: all, by_joint, tree }
    }

    /// The tree.
    pub fn tree(&self) -> &SpanningTree {
        &self.tree
    }

    /// The places of the coordinates of a joint, by its index in the frames.
    pub fn of_joint(&self, joint: usize) -> &[usize] {
        &self.by_joint[joint]
    }

    /// The frames of a coordinate at poses of the nodes.
    fn relative(&self, place: usize, poses: &[Pose]) -> Relative {
        let MeasuredCoordinate { nodes, offsets, .. } = &self.coordinates[place];
        let motion = |node: Option<NodeId>| {
            NodeMotion::at_rest(node.map_or_else(Pose::identity, |node| poses[node.0]))
        };
        let [first, second] = nodes.map(motion);
        Relative::new(&offsets.map(Frame::new), [&first, &second])
    }

    /// The value of a coordinate at poses of the nodes; an angle is the one nearest to `near`.
    pub fn value(&self, place: usize, poses: &[Pose], near: f64) -> f64 {
        self.coordinates[place].coordinate.value(&self.relative(place, poses), near)
    }

    /// Poses in which the coordinates have moved to their targets, those that have one: right for trees, while
    /// loops are left open.
    pub fn moved(&self, frames: &Frames, poses: &[Pose], targets: &[Option<f64>]) -> Vec<Pose> {
        let mut now = poses.to_vec();
        self.tree.spread(Pose::identity(), |node, joint, inherited| {
            now[node] = inherited.compose(&poses[node]);
            let Some(index) = joint.filter(|index| !self.by_joint[*index].is_empty()) else {
                return *inherited;
            };
            let entry = &frames.joints()[index];
            let world = |side: usize| {
                let node = entry.nodes[side].map_or_else(Pose::identity, |node| now[node.0]);
                node.compose(&entry.offsets[side])
            };
            let (first, second) = (world(0), world(1));
            let mut relative = first.inverse().compose(&second);
            let mut moves = false;
            for &place in &self.by_joint[index] {
                let Some(target) = targets[place] else { continue };
                let change = target - self.value(place, &now, target);
                relative = changed(&relative, self.coordinates[place].coordinate, change);
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
}

/// Writes poses of all nodes into a configuration.
pub(super) fn write_poses(system: &System, poses: &[Pose], configuration: &mut [f64]) {
    let space = &system.shape().space;
    for (node, pose) in poses.iter().enumerate() {
        let q = &mut configuration[space.coordinate_range(node)];
        match system.node_group(NodeId(node)) {
            Group::Se3 | Group::So3xR3 => write_pose(pose, q),
            Group::So3 => write_quaternion(&pose.rotation, q),
            Group::Vector(_) => write_vector3(&pose.position, q),
        }
    }
}

/// Poses of all nodes in a configuration.
pub(super) fn poses(system: &System, configuration: &[f64]) -> Vec<Pose> {
    let rest = Values::zeros(&system.shape());
    let point = rest.point_at(rest.time, configuration, &rest.velocity);
    (0..system.node_count()).map(|node| system.motion(NodeId(node), &point).pose).collect()
}
