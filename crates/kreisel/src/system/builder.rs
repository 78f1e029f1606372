//! Builds a [`System`] from nodes, elements and joints.

use std::sync::Arc;

use thiserror::Error;

use super::contact_group::{PairCache, SystemContactGroup};
use super::counting::{Counting, ElementReads};
use super::pass::Round;
use super::{SwitchId, System, SystemElement, SystemJoint};
use crate::dae::{Couplings, Initial, Reactions, Scales, Shape, StateGroup};
use crate::element::contact::ContactGroup;
use crate::element::{Element, ElementFacts, MAX_MULTIPLIERS, MAX_STATES, StateId};
use crate::joint::{Joint, JointFacts};
use crate::kinematics::{MAX_NODES, MAX_ROWS, NodeId};
use crate::lie::{Group, Pose, Space, Vector3, Vector6, write_pose, write_quaternion, write_vector3};
use crate::solve::block::BlockPattern;

/// Why parts do not make a system.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssemblyError {
    /// A part touches a node that does not exist.
    #[error("`{part}` touches node {node}, but there are only {count}")]
    UnknownNode {
        /// The part.
        part: String,
        /// The node.
        node: usize,
        /// Number of nodes.
        count: usize,
    },
    /// A part touches too many nodes.
    #[error("`{part}` touches {count} nodes; at most {MAX_NODES} are possible")]
    TooManyNodes {
        /// The part.
        part: String,
        /// Number of its nodes.
        count: usize,
    },
    /// A part reads too many states or multipliers.
    #[error("`{part}` reads {count} {what}; at most {most} are possible")]
    TooManyReadings {
        /// The part.
        part: String,
        /// `internal_states` or `multipliers`.
        what: &'static str,
        /// Their number.
        count: usize,
        /// Most that are possible.
        most: usize,
    },
    /// A part reads a state or the multipliers of a joint that does not exist, or gives rates to more states
    /// than it reads.
    #[error("`{part}` reads a state or a joint that does not exist")]
    UnknownReading {
        /// The part.
        part: String,
    },
    /// A joint has too many equations.
    #[error("joint `{joint}` has {count} equations; at most {MAX_ROWS} are possible")]
    TooManyRows {
        /// The joint.
        joint: String,
        /// Number of its equations.
        count: usize,
    },
}

shown_by_message!(AssemblyError);

/// Collects the parts of a machine.
#[derive(Default)]
pub struct SystemBuilder {
    nodes: Vec<NodeEntry>,
    elements: Vec<(String, Box<dyn Element>)>,
    joints: Vec<(String, Box<dyn Joint>)>,
    /// What continues the equation of a joint, with the joint's index.
    continued: Vec<(usize, Box<dyn Joint>)>,
    scales: Option<Scales>,
    /// Names of switchable parts, and whether they are on at the start.
    switches: Vec<(String, bool)>,
    versions: Vec<Version>,
    internal_states: Vec<StateStart>,
    contact_groups: Vec<(String, ContactGroup)>,
}

/// An element that takes the place of another one in a variant.
struct Version {
    original: usize,
    variant: usize,
    element: Box<dyn Element>,
}

/// A state and its value at the start.
struct StateStart {
    name: String,
    initial: f64,
    scale: f64,
    algebraic: bool,
    fading: bool,
}

struct NodeEntry {
    name: String,
    group: Group,
    pose: Pose,
    twist: Vector6,
    stated: Stated,
    fixed: bool,
}

/// Which initial values of a node the user states; the others are guesses, which follow from what is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// Its position.
    pub position: bool,
    /// Its orientation.
    pub orientation: bool,
    /// Its velocity.
    pub velocity: bool,
    /// Its angular velocity.
    pub angular_velocity: bool,
}

impl Stated {
    /// Everything.
    pub const ALL: Self = Self { position: true, orientation: true, velocity: true, angular_velocity: true };
}

impl SystemBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node with its initial pose and its twist (Ω, U) in body axes.
    pub fn node(&mut self, name: impl Into<String>, group: Group, pose: Pose, twist: Vector6) -> NodeId {
        let stated = Stated::default();
        self.nodes.push(NodeEntry { name: name.into(), group, pose, twist, stated, fixed: false });
        NodeId(self.nodes.len() - 1)
    }

    /// Says which initial values of a node the user states. Without a word about any node all count alike.
    pub fn set_stated(&mut self, node: NodeId, stated: Stated) {
        if let Some(entry) = self.nodes.get_mut(node.0) {
            entry.stated = stated;
        }
    }

    /// Forbids to change a node's initial pose and its stated velocities where joints do not fit.
    pub fn fix(&mut self, node: NodeId) {
        if let Some(entry) = self.nodes.get_mut(node.0) {
            entry.fixed = true;
        }
    }

    /// Adds an element and gives its index.
    pub fn element(&mut self, name: impl Into<String>, element: impl Element + 'static) -> usize {
        self.elements.push((name.into(), Box::new(element)));
        self.elements.len() - 1
    }

    /// Adds a joint and gives its index.
    pub fn joint(&mut self, name: impl Into<String>, joint: impl Joint + 'static) -> usize {
        self.joints.push((name.into(), Box::new(joint)));
        self.joints.len() - 1
    }

    /// Continues the only equation of a joint: the sum of another joint is added to it, so that an equation
    /// may touch any number of nodes, a few in each part.
    pub(crate) fn continue_joint(&mut self, joint: usize, more: impl Joint + 'static) {
        debug_assert!(joint < self.joints.len() && more.facts().rows == 1, "one equation goes on");
        self.continued.push((joint, Box::new(more)));
    }

    /// Adds a first-order state: its initial value, and the size against which its error is judged where it
    /// is small.
    pub fn state(&mut self, name: impl Into<String>, initial: f64, scale: f64) -> StateId {
        let name = name.into();
        self.internal_states.push(StateStart { name, initial, scale, algebraic: false, fading: false });
        StateId(self.internal_states.len() - 1)
    }

    /// Adds a state that forgets its errors by itself, so that the step size follows only what it does to the
    /// motion.
    pub fn fading_state(&mut self, name: impl Into<String>, initial: f64, scale: f64) -> StateId {
        let id = self.state(name, initial, scale);
        self.internal_states[id.0].fading = true;
        id
    }

    /// Adds an algebraic state, found where the rate that elements give it vanishes: its first guess, and its
    /// scale.
    pub fn algebraic_state(&mut self, name: impl Into<String>, guess: f64, scale: f64) -> StateId {
        let name = name.into();
        self.internal_states.push(StateStart { name, initial: guess, scale, algebraic: true, fading: false });
        StateId(self.internal_states.len() - 1)
    }

    /// Adds shapes of which any two may touch; nodes that a joint holds together do not.
    pub fn contact_group(&mut self, name: impl Into<String>, contact_group: ContactGroup) {
        self.contact_groups.push((name.into(), contact_group));
    }

    /// Index of the joint of a name.
    pub fn joint_named(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|(known, _)| known == name)
    }

    /// Names of all joints.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        self.joints.iter().map(|(name, _)| name.as_str())
    }

    /// Makes the elements and the joint of a name switchable; `None` if there are none.
    ///
    /// They are on at the start unless one of the calls for the name says otherwise.
    pub fn switch(&mut self, name: &str, on_at_start: bool) -> Option<SwitchId> {
        if let Some(index) = self.switches.iter().position(|(known, _)| known == name) {
            self.switches[index].1 &= on_at_start;
            return Some(SwitchId(index));
        }
        let known = self.elements.iter().any(|(known, _)| known == name)
            || self.contact_groups.iter().any(|(known, _)| known == name)
            || self.joint_named(name).is_some();
        known.then(|| {
            self.switches.push((name.to_string(), on_at_start));
            SwitchId(self.switches.len() - 1)
        })
    }

    /// Lets the elements of some names of another machine take the places of those of this one in a variant.
    ///
    /// An error names an element that has no counterpart, or one between other nodes or with another memory.
    pub fn variant(
        &mut self,
        variant: usize,
        other: Self,
        is_changed: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let mut others = other.elements.into_iter();
        for (original, (name, element)) in self.elements.iter().enumerate() {
            let (other_name, other) = others.next().ok_or_else(|| name.clone())?;
            if !is_changed(name) {
                continue;
            }
            let (old, new) = (element.facts(), other.facts());
            let fits = other_name == *name
                && new.nodes == old.nodes
                && new.memory == old.memory
                && new.rate_count == old.rate_count
                && new.internal_states[..new.rate_count] == old.internal_states[..old.rate_count];
            if !fits {
                return Err(name.clone());
            }
            self.versions.push(Version { original, variant, element: other });
        }
        others.next().map_or(Ok(()), |(name, _)| Err(name))
    }

    /// Names of all elements.
    pub fn element_names(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().map(|(name, _)| name.as_str())
    }

    /// Sets typical sizes.
    pub fn scales(&mut self, scales: Scales) {
        self.scales = Some(scales);
    }

    /// The system and its initial values at a time.
    pub fn build(self, time: f64) -> Result<(System, Initial), AssemblyError> {
        self.check()?;
        let space = Space::new(self.nodes.iter().map(|node| node.group));
        let initial = self.initial(&space, time);
        let mut shape = self.shape(space);
        let couplings = self.couplings(&shape);
        let joined = self.joined();
        let mut counting = Counting::new(&shape, &couplings, self.switches);
        let nodes = self.nodes.into_iter().enumerate();
        let nodes = nodes.map(|(index, node)| counting.node(index, node.name, node.group)).collect();
        let mut elements: Vec<SystemElement> =
            self.elements.into_iter().map(|(name, element)| counting.element(name, element)).collect();
        let several = !self.versions.is_empty();
        for Version { original, variant, element } in self.versions {
            let version = counting.version(&mut elements[original], variant, element);
            elements.push(version);
        }
        let joints: Vec<SystemJoint> =
            self.joints.into_iter().map(|(name, joint)| counting.joint(name, joint)).collect();
        let continued: Vec<SystemJoint> = (self.continued.into_iter())
            .map(|(index, joint)| counting.continued_joint(index, &joints[index], joint))
            .collect();
        let switches = counting.switches();
        let contact_groups: Vec<SystemContactGroup> = (self.contact_groups.into_iter())
            .map(|(name, contact_group)| counting.contact_group(name, contact_group, &joined))
            .collect();
        let variant = several.then(|| counting.remember(1).start);
        shape.memory = counting.memory();
        shape.multiplier_weights = multiplier_weights(&shape, joints.iter().chain(&continued));
        shape.costly_tangent = elements.iter().any(|entry| entry.element.facts().costly_tangent);
        let touches = elements.iter().any(|entry| entry.element.facts().touches);
        shape.touches = touches || !contact_groups.is_empty();
        let system = System {
            rounds: Round::all(&elements, &joints),
            nodes,
            elements,
            joints,
            continued,
            shape,
            couplings,
            switches,
            variant,
            state_names: self.internal_states.into_iter().map(|state| state.name).collect(),
            contact_groups,
            kept: PairCache::default(),
        };
        Ok((system, initial))
    }

    /// Sizes of the equations, and what else is known before parts have places in them.
    fn shape(&self, space: Space) -> Shape {
        let facts: Vec<JointFacts> = self.joints.iter().map(|(_, joint)| joint.facts()).collect();
        let nonholonomic = facts.iter().map(|facts| facts.nonholonomic_rows).filter(|count| *count > 0);
        let internal_states =
            self.internal_states.iter().map(|state| StateGroup { size: 1, algebraic: state.algebraic });
        let mut shape = Shape::new(space)
            .with_constraints(facts.iter().map(|facts| facts.rows))
            .with_nonholonomic(nonholonomic)
            .with_internal_states(internal_states);
        if self.readers().any(|(_, element)| !element.facts().joints.is_empty()) {
            shape.reactions = Reactions::General;
        }
        shape.rheonomic = facts.iter().any(|facts| facts.time_dependent);
        shape.scales = self.scales.unwrap_or_default();
        shape.state_scales = self.internal_states.iter().map(|state| state.scale).collect();
        shape.fading_states = self.internal_states.iter().map(|state| state.fading).collect();
        shape.merges = true;
        shape
    }

    /// Pairs of nodes that a joint holds together.
    fn joined(&self) -> Vec<(NodeId, NodeId)> {
        let pair = |joint: &dyn Joint| match joint.facts().nodes {
            [first, second] => Some((*first, *second)),
            _ => None,
        };
        self.joints.iter().filter_map(|(_, joint)| pair(joint.as_ref())).collect()
    }

    fn check(&self) -> Result<(), AssemblyError> {
        let parts = (self.elements.iter().map(|(name, element)| (name, element.facts().nodes)))
            .chain(self.joints.iter().map(|(name, joint)| (name, joint.facts().nodes)))
            .chain(self.continued.iter().map(|(index, joint)| (&self.joints[*index].0, joint.facts().nodes)));
        for (part, nodes) in parts {
            if nodes.len() > MAX_NODES {
                return Err(AssemblyError::TooManyNodes { part: part.clone(), count: nodes.len() });
            }
            if let Some(node) = nodes.iter().find(|node| node.0 >= self.nodes.len()) {
                return Err(AssemblyError::UnknownNode {
                    part: part.clone(),
                    node: node.0,
                    count: self.nodes.len(),
                });
            }
        }
        self.check_readings()?;
        let count = |joint: &dyn Joint| joint.facts().rows.max(joint.facts().nonholonomic_rows);
        match self.joints.iter().find(|(_, joint)| count(joint.as_ref()) > MAX_ROWS) {
            Some((name, joint)) => {
                Err(AssemblyError::TooManyRows { joint: name.clone(), count: count(joint.as_ref()) })
            }
            None => Ok(()),
        }
    }

    /// All elements and their versions, which may read states and multipliers, by name.
    fn readers(&self) -> impl Iterator<Item = (&str, &dyn Element)> {
        let elements = self.elements.iter().map(|(name, element)| (name.as_str(), element.as_ref()));
        let name = |version: &Version| self.elements[version.original].0.as_str();
        elements.chain(self.versions.iter().map(move |version| (name(version), version.element.as_ref())))
    }

    fn check_readings(&self) -> Result<(), AssemblyError> {
        for (part, element) in self.readers() {
            let ElementFacts { internal_states, joints, rate_count, .. } = element.facts();
            let known = internal_states.iter().all(|state| state.0 < self.internal_states.len())
                && joints.iter().all(|&joint| joint < self.joints.len())
                && rate_count <= internal_states.len();
            if !known {
                return Err(AssemblyError::UnknownReading { part: part.to_string() });
            }
            let multipliers = joints.iter().map(|&joint| self.joints[joint].1.facts().rows).sum();
            for (what, count, most) in
                [("states", internal_states.len(), MAX_STATES), ("multipliers", multipliers, MAX_MULTIPLIERS)]
            {
                if count > most {
                    return Err(AssemblyError::TooManyReadings { part: part.to_string(), what, count, most });
                }
            }
        }
        Ok(())
    }

    fn initial(&self, space: &Space, time: f64) -> Initial {
        let mut configuration = vec![0.0; space.coordinate_count()];
        let mut velocity = vec![0.0; space.dimension()];
        for (index, node) in self.nodes.iter().enumerate() {
            let q = &mut configuration[space.coordinate_range(index)];
            let v = &mut velocity[space.velocity_range(index)];
            let omega: Vector3 = node.twist.fixed_rows::<3>(0).into();
            let u: Vector3 = node.twist.fixed_rows::<3>(3).into();
            match node.group {
                Group::Se3 => {
                    write_pose(&node.pose, q);
                    v.copy_from_slice(node.twist.as_slice());
                }
                Group::So3xR3 => {
                    write_pose(&node.pose, q);
                    write_vector3(&omega, &mut v[..3]);
                    write_vector3(&(node.pose.rotation * u), &mut v[3..]);
                }
                Group::So3 => {
                    write_quaternion(&node.pose.rotation, q);
                    write_vector3(&omega, v);
                }
                Group::Vector(_) => {
                    write_vector3(&node.pose.position, q);
                    write_vector3(&(node.pose.rotation * u), v);
                }
            }
        }
        let fixed =
            self.nodes.iter().enumerate().filter(|(_, node)| node.fixed).map(|(index, _)| index).collect();
        let internal_states = self.internal_states.iter().map(|state| state.initial).collect();
        let [stated_position, stated_velocity] = self.stated();
        let initial = Initial::new(time, configuration, velocity);
        Initial { fixed, internal_states, stated_position, stated_velocity, ..initial }
    }

    /// Which velocity coordinates change stated positions, and which are stated velocities; nothing if no
    /// node states any.
    fn stated(&self) -> [Vec<bool>; 2] {
        if self.nodes.iter().all(|node| node.stated == Stated::default()) {
            return [Vec::new(), Vec::new()];
        }
        let by_coordinate = |which: fn(&Stated) -> [bool; 2]| {
            let of_node = |node: &NodeEntry| {
                let [turns, shifts] = which(&node.stated);
                match node.group {
                    Group::Vector(size) => vec![shifts; size],
                    Group::So3 => vec![turns; 3],
                    Group::So3xR3 | Group::Se3 => vec![turns, turns, turns, shifts, shifts, shifts],
                }
            };
            self.nodes.iter().flat_map(of_node).collect()
        };
        [
            by_coordinate(|stated| [stated.orientation, stated.position]),
            by_coordinate(|stated| [stated.angular_velocity, stated.velocity]),
        ]
    }

    fn couplings(&self, shape: &Shape) -> Couplings {
        let node_sizes = shape.node_sizes();
        let pairs = |nodes: &[NodeId]| -> Vec<(usize, usize)> {
            nodes.iter().flat_map(|i| nodes.iter().map(move |j| (i.0, j.0))).collect()
        };
        let diagonal = (0..node_sizes.len()).map(|node| (node, node));
        let momenta =
            (self.elements.iter().flat_map(|(_, element)| pairs(element.facts().nodes))).chain(diagonal);
        let momenta: Vec<(usize, usize)> = momenta.collect();
        let numbered = self.joints.iter().enumerate().map(|(index, (_, joint))| (index, joint));
        let numbered = numbered.chain(self.continued.iter().map(|(index, joint)| (*index, joint)));
        let joined = numbered.clone().flat_map(|(_, joint)| pairs(joint.facts().nodes));
        let forces = momenta.iter().copied().chain(joined);
        let gradient =
            numbered.flat_map(|(index, joint)| joint.facts().nodes.iter().map(move |node| (index, node.0)));
        let with_nonholonomic =
            self.joints.iter().filter(|(_, joint)| joint.facts().nonholonomic_rows > 0).enumerate();
        let nonholonomic = with_nonholonomic
            .flat_map(|(index, (_, joint))| joint.facts().nodes.iter().map(move |node| (index, node.0)));
        let nonholonomic: Vec<(usize, usize)> = nonholonomic.collect();
        let gradient: Vec<(usize, usize)> = gradient.collect();
        let state_sizes: Vec<usize> = shape.internal_states.iter().map(|group| group.size).collect();
        let with_internal_states = || self.readers().map(|(_, element)| ElementReads::of(&element.facts()));
        let reacting = shape.reactions == Reactions::General;
        let reactions = (gradient.iter().map(|&(joint, node)| (node, joint)))
            .chain(with_internal_states().flat_map(|reading| reading.pairs(reading.nodes, reading.joints)))
            .filter(|_| reacting);
        let nonholonomic_reactions = nonholonomic.iter().map(|&(row, node)| (node, row)).filter(|_| reacting);
        let none: &[usize] = &[];
        let (reacting_joints, reacting_nonholonomic) = if reacting {
            (shape.constraints.as_slice(), shape.nonholonomic.as_slice())
        } else {
            (none, none)
        };
        let pattern = |rows: &[usize], columns: &[usize], blocks: Vec<(usize, usize)>| {
            Arc::new(BlockPattern::new(rows, columns, blocks))
        };
        let pairs_of = |pick: fn(&ElementReads) -> Vec<(usize, usize)>| {
            with_internal_states().flat_map(|r| pick(&r)).collect()
        };
        Couplings {
            force_constraint: pattern(&node_sizes, reacting_joints, reactions.collect()),
            force_nonholonomic: pattern(&node_sizes, reacting_nonholonomic, nonholonomic_reactions.collect()),
            force_state: pattern(
                &node_sizes,
                &state_sizes,
                pairs_of(|r| r.pairs(r.nodes, r.internal_states)),
            ),
            state_node: pattern(&state_sizes, &node_sizes, pairs_of(|r| r.pairs(r.rated, r.nodes))),
            state_state: pattern(
                &state_sizes,
                &state_sizes,
                pairs_of(|r| r.pairs(r.rated, r.internal_states)),
            ),
            state_constraint: pattern(
                &state_sizes,
                &shape.constraints,
                pairs_of(|r| r.pairs(r.rated, r.joints)),
            ),
            nonholonomic_node: Arc::new(BlockPattern::new(&shape.nonholonomic, &node_sizes, nonholonomic)),
            force_node: Arc::new(BlockPattern::new(&node_sizes, &node_sizes, forces)),
            momentum_node: pattern(&node_sizes, &node_sizes, momenta),
            constraint_node: Arc::new(BlockPattern::new(&shape.constraints, &node_sizes, gradient)),
        }
    }
}

/// Forces weigh 1, torques 1/L with the length L of the system; rows of nonholonomic constraints follow the
/// others. A row that goes on weighs as one of forces if any of its parts is.
fn multiplier_weights<'a>(shape: &Shape, joints: impl Iterator<Item = &'a SystemJoint>) -> Vec<f64> {
    let first_nonholonomic = shape.constraint_count();
    let weight = |is_torque: bool| if is_torque { 1.0 / shape.scales.length } else { 1.0 };
    let mut weights = vec![1.0; first_nonholonomic + shape.nonholonomic_count()];
    for entry in joints {
        let facts = entry.joint.facts();
        for (row, out) in weights[entry.rows.clone()].iter_mut().enumerate() {
            if !entry.continues || !facts.torques[row] {
                *out = weight(facts.torques[row]);
            }
        }
        let nonholonomic = &mut weights[first_nonholonomic..][entry.nonholonomic.clone()];
        for (row, out) in nonholonomic.iter_mut().enumerate() {
            *out = weight(facts.nonholonomic_torques[row]);
        }
    }
    weights
}
