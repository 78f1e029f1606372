//! The equations of a machine: nodes, elements and joints as one [`Dae`].
//!
//! A [`System`] is built once by a [`SystemBuilder`]: who owns which row, which blocks meet. Elements and joints work
//! in body twists on a few nodes; here their parts become rows and blocks in the coordinates of each node's group.

mod assembly;
mod builder;
mod motion;

pub use builder::{AssemblyError, SystemBuilder};
pub use motion::{NodeMotion, join, split};

use std::ops::Range;

use crate::dae::{Couplings, Dae, Equation, Equations, Point, Scales, Shape, Tangent, TangentWeights};
use crate::element::{Element, Energies, LocalForces, MOST_NODES, Motion, NodeId, Power};
use crate::joint::{Joint, LocalGradient, MOST_ROWS};
use crate::lie::{Group, Pose, Vector6};
use crate::solve::block::{BlockId, BlockMatrix};

/// A machine as a system of equations; immutable once built.
pub struct System {
    nodes: Vec<Node>,
    elements: Vec<ElementEntry>,
    joints: Vec<JointEntry>,
    shape: Shape,
    couplings: Couplings,
    scales: Scales,
}

/// A node: its name, group and place in the arrays.
struct Node {
    name: String,
    group: Group,
    coordinates: Range<usize>,
    velocities: Range<usize>,
}

struct ElementEntry {
    element: Box<dyn Element>,
    name: String,
    memory: Range<usize>,
    /// Block (i, j) of the local nodes in the pattern of forces, at `i · n + j`.
    blocks: Vec<BlockId>,
}

struct JointEntry {
    joint: Box<dyn Joint>,
    name: String,
    memory: Range<usize>,
    rows: Range<usize>,
    /// Block (i, j) of the local nodes in the pattern of forces, at `i · n + j`.
    blocks: Vec<BlockId>,
    /// Block of each local node in the pattern of the gradient.
    gradient_blocks: Vec<BlockId>,
}

/// Motion of a few nodes on the stack.
struct LocalMotion {
    nodes: [NodeMotion; MOST_NODES],
    count: usize,
}

impl System {
    /// Motion of a node at a point.
    pub fn motion(&self, node: NodeId, at: &Point) -> NodeMotion {
        let node = &self.nodes[node.0];
        NodeMotion::new(
            node.group,
            &at.configuration[node.coordinates.clone()],
            &at.velocity[node.velocities.clone()],
            &at.acceleration[node.velocities.clone()],
        )
    }

    fn local_motion(&self, nodes: &[NodeId], at: &Point) -> LocalMotion {
        let mut local =
            LocalMotion { nodes: [NodeMotion::at_rest(Pose::identity()); MOST_NODES], count: nodes.len() };
        for (motion, &node) in local.nodes.iter_mut().zip(nodes) {
            *motion = self.motion(node, at);
        }
        local
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.0].name
    }

    /// Group of a node.
    pub fn node_group(&self, node: NodeId) -> Group {
        self.nodes[node.0].group
    }

    /// Number of joints.
    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// Name of a joint.
    pub fn joint_name(&self, joint: usize) -> &str {
        &self.joints[joint].name
    }

    /// Rows of a joint among all constraints.
    pub fn joint_rows(&self, joint: usize) -> Range<usize> {
        self.joints[joint].rows.clone()
    }

    /// Sum of all stored energies.
    pub fn energies(&self, at: &Point) -> Energies {
        let mut sum = Energies::default();
        for entry in &self.elements {
            let local = self.local_motion(entry.element.nodes(), at);
            sum += entry.element.energies(&local.motion(at, &entry.memory));
        }
        sum
    }

    /// Power through elements and drives at a point with its multipliers.
    pub fn power(&self, at: &Point) -> Power {
        let mut sum = Power::default();
        for entry in &self.elements {
            let local = self.local_motion(entry.element.nodes(), at);
            sum += entry.element.power(&local.motion(at, &entry.memory));
        }
        for entry in self.joints.iter().filter(|entry| entry.joint.is_rheonomic()) {
            let local = self.local_motion(entry.joint.nodes(), at);
            let (rates, _) = entry.joint.time_derivatives(&local.motion(at, &entry.memory));
            // The reaction −Bᵀλ does the power −λᵀB v = λᵀΦ_t on the machine.
            let multipliers = &at.multipliers[entry.rows.clone()];
            sum.applied += multipliers.iter().zip(rates).map(|(lambda, rate)| lambda * rate).sum::<f64>();
        }
        sum
    }

    /// Wrench (torque, force) that a joint exerts on its second body at the joint's point, in world axes.
    pub fn reaction(&self, joint: usize, at: &Point) -> Vector6 {
        let entry = &self.joints[joint];
        let local = self.local_motion(entry.joint.nodes(), at);
        let motion = local.motion(at, &entry.memory);
        let mut gradient = LocalGradient::zeros();
        entry.joint.gradient(&motion, &mut gradient);
        let multipliers = &at.multipliers[entry.rows.clone()];
        let on_node = |node: usize| -> Vector6 {
            gradient.rows.iter().zip(multipliers).map(|(row, lambda)| -*lambda * row[node]).sum()
        };
        match entry.joint.reaction_frame() {
            (Some(node), offset) => {
                let (torque, force) = split(&on_node(node));
                // From the body's origin to the joint's point.
                let torque = torque - offset.position.cross(&force);
                let rotation = local.nodes[node].rotation;
                join(&(rotation * torque), &(rotation * force))
            }
            (None, offset) => {
                // The ground is second: it feels the opposite of what the first body feels.
                let first = &local.nodes[0];
                let (torque, force) = split(&on_node(0));
                let (torque, force) = (first.rotation * torque, first.rotation * force);
                let arm = first.pose.position - offset.position;
                -join(&(torque + arm.cross(&force)), &force)
            }
        }
    }

    /// Wrench (torque, force) that an element exerts on its first node at the node's origin, in world axes.
    pub fn applied_wrench(&self, element: usize, at: &Point) -> Vector6 {
        let entry = &self.elements[element];
        let local = self.local_motion(entry.element.nodes(), at);
        let mut forces = LocalForces::zeros();
        entry.element.residual(&local.motion(at, &entry.memory), &mut forces);
        let (torque, force) = split(&forces.wrenches[0]);
        let rotation = local.nodes[0].rotation;
        -join(&(rotation * torque), &(rotation * force))
    }

    /// Norms of the constraints' residuals: Φ at position level, B v + Φ_t at velocity level.
    pub fn constraint_residuals(&self, at: &Point) -> [f64; 2] {
        let mut squares = [0.0; 2];
        for entry in &self.joints {
            let local = self.local_motion(entry.joint.nodes(), at);
            let motion = local.motion(at, &entry.memory);
            let mut violation = [0.0; MOST_ROWS];
            let rows = entry.rows.len();
            entry.joint.violation(&motion, &mut violation[..rows]);
            let mut gradient = LocalGradient::zeros();
            entry.joint.gradient(&motion, &mut gradient);
            let (rates, _) = entry.joint.time_derivatives(&motion);
            for row in 0..rows {
                let twists = gradient.rows[row].iter().zip(motion.nodes);
                let rate: f64 = twists.map(|(gradient, node)| gradient.dot(&node.velocity)).sum();
                squares[0] += violation[row] * violation[row];
                squares[1] += (rate + rates[row]) * (rate + rates[row]);
            }
        }
        squares.map(f64::sqrt)
    }

    /// Number of elements and of joints that touch a node.
    pub fn touching(&self, node: NodeId) -> (usize, usize) {
        let elements = self.elements.iter().filter(|entry| entry.element.nodes().contains(&node)).count();
        let joints = self.joints.iter().filter(|entry| entry.joint.nodes().contains(&node)).count();
        (elements, joints)
    }

    /// Times between two others at which forces or drives are not smooth, in order.
    pub fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let elements = self.elements.iter().flat_map(|entry| entry.element.corners(from, to));
        let joints = self.joints.iter().flat_map(|entry| entry.joint.corners(from, to));
        let mut corners: Vec<f64> = elements.chain(joints).collect();
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        corners
    }
}

impl LocalMotion {
    fn motion<'a>(&'a self, at: &'a Point, memory: &Range<usize>) -> Motion<'a> {
        Motion { time: at.time, nodes: &self.nodes[..self.count], memory: &at.memory[memory.clone()] }
    }
}

impl Dae for System {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }

    fn couplings(&self) -> Couplings {
        self.couplings.clone()
    }

    fn scales(&self) -> Scales {
        self.scales
    }

    fn evaluate(&self, at: &Point, out: &mut Equations) {
        for entry in &self.elements {
            let local = self.local_motion(entry.element.nodes(), at);
            let mut forces = LocalForces::zeros();
            entry.element.residual(&local.motion(at, &entry.memory), &mut forces);
            self.add_forces(entry.element.nodes(), &local, &forces.wrenches, out.equilibrium);
        }
        for entry in &self.joints {
            let nodes = entry.joint.nodes();
            let local = self.local_motion(nodes, at);
            let motion = local.motion(at, &entry.memory);
            entry.joint.violation(&motion, &mut out.violation[entry.rows.clone()]);
            let mut gradient = LocalGradient::zeros();
            entry.joint.gradient(&motion, &mut gradient);
            let mut wrenches = [Vector6::zeros(); MOST_NODES];
            for (row, lambda) in gradient.rows.iter().zip(&at.multipliers[entry.rows.clone()]) {
                for (wrench, row) in wrenches.iter_mut().zip(row).take(nodes.len()) {
                    *wrench += *lambda * row;
                }
            }
            self.add_forces(nodes, &local, &wrenches, out.equilibrium);
        }
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        for entry in &self.joints {
            let local = self.local_motion(entry.joint.nodes(), at);
            let mut gradient = LocalGradient::zeros();
            entry.joint.gradient(&local.motion(at, &entry.memory), &mut gradient);
            self.write_gradient(entry, &local, &gradient, out);
        }
    }

    fn violation_rate(&self, at: &Point, out: &mut [f64]) {
        for entry in self.joints.iter().filter(|entry| entry.joint.is_rheonomic()) {
            let local = self.local_motion(entry.joint.nodes(), at);
            let (rates, _) = entry.joint.time_derivatives(&local.motion(at, &entry.memory));
            let rows = entry.rows.clone();
            out[rows.clone()].copy_from_slice(&rates[..rows.len()]);
        }
    }

    fn curvature(&self, at: &Point, out: &mut [f64]) {
        for entry in &self.joints {
            self.joint_curvature(entry, at, &mut out[entry.rows.clone()]);
        }
    }

    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        self.assemble_tangent(at, weights, out);
    }

    fn remember(&self, at: &Point, memory: &mut [f64]) {
        for entry in self.elements.iter().filter(|entry| !entry.memory.is_empty()) {
            let local = self.local_motion(entry.element.nodes(), at);
            entry.element.remember(&local.motion(at, &entry.memory), &mut memory[entry.memory.clone()]);
        }
        for entry in self.joints.iter().filter(|entry| !entry.memory.is_empty()) {
            let local = self.local_motion(entry.joint.nodes(), at);
            entry.joint.remember(&local.motion(at, &entry.memory), &mut memory[entry.memory.clone()]);
        }
    }

    /// Forces weigh 1, torques 1/L with the machine's length L.
    fn multiplier_weights(&self, out: &mut [f64]) {
        for entry in &self.joints {
            for (row, weight) in out[entry.rows.clone()].iter_mut().enumerate() {
                *weight = if entry.joint.is_torque(row) { 1.0 / self.scales.length } else { 1.0 };
            }
        }
    }

    fn describe_group(&self, group: usize) -> String {
        format!("joint `{}`", self.joints[group].name)
    }

    fn describe(&self, equation: Equation) -> String {
        match equation {
            Equation::Equilibrium(index) => self.describe_equilibrium(index),
            Equation::Constraint(index) => self.describe_constraint(index, ""),
            Equation::ConstraintRate(index) => self.describe_constraint(index, " at velocity level"),
            Equation::Slip(index) => format!("nonholonomic constraint {index}"),
            Equation::State(index) => format!("state {index}"),
        }
    }
}

impl System {
    fn describe_equilibrium(&self, index: usize) -> String {
        let Some(node) = self.nodes.iter().find(|node| node.velocities.contains(&index)) else {
            return format!("equilibrium of velocity coordinate {index}");
        };
        let local = index - node.velocities.start;
        let axis = ["x", "y", "z"][local % 3];
        let kind = match (node.group, local) {
            (Group::Vector(_), _) | (_, 3..) => "force",
            _ => "torque",
        };
        format!("the {kind} balance of `{}` along {axis}", node.name)
    }

    fn describe_constraint(&self, index: usize, suffix: &str) -> String {
        match self.joints.iter().find(|entry| entry.rows.contains(&index)) {
            Some(entry) => {
                let (row, count) = (index - entry.rows.start + 1, entry.rows.len());
                format!("joint `{}` (equation {row} of {count}){suffix}", entry.name)
            }
            None => format!("constraint {index}{suffix}"),
        }
    }

    /// Name of an element.
    pub fn element_name(&self, element: usize) -> &str {
        &self.elements[element].name
    }
}
