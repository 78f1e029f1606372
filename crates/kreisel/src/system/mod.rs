//! The equations of a machine: nodes, elements and joints as one [`Dae`].
//!
//! A [`System`] is built once by a [`SystemBuilder`]: who owns which row, which blocks meet. Elements and
//! joints work in body twists on a few nodes; here their parts become rows and blocks in the coordinates of
//! each node's group.

mod assembly;
mod blame;
mod builder;
mod contact_group;
mod counting;
mod motions;
mod nonholonomic;
mod pass;
mod state;
mod switch;

pub use builder::{AssemblyError, Stated, SystemBuilder};
pub use contact_group::GroupContact;
use contact_group::{PairCache, SystemContactGroup};
use motions::Seen;
use pass::Round;
use state::Links;
use switch::Switch;
pub use switch::{SwitchError, SwitchId};

use std::ops::Range;

use smallvec::SmallVec;

use crate::dae::{Couplings, Dae, Equation, Point, Residual, Scales, Shape, TangentWeights, Wanted};
use crate::element::contact::ContactResult;
use crate::element::{Element, Forces, OfferedSignal, TyreResult};
use crate::joint::{Joint, RowValues};
use crate::kinematics::{
    Energies, LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId, NodeMotion, Power,
    STIFFNESS_ONLY, join, split, twist_between,
};
use crate::lie::{Group, Vector3, Vector6};
use crate::solve::block::{BlockId, BlockMatrix};

/// A machine as a system of equations; immutable once built.
pub struct System {
    nodes: Vec<SystemNode>,
    elements: Vec<SystemElement>,
    joints: Vec<SystemJoint>,
    /// What continues equations of joints that touch many nodes.
    continued: Vec<SystemJoint>,
    rounds: Vec<Round>,
    shape: Shape,
    couplings: Couplings,
    switches: Vec<Switch>,
    /// Place in the memory of the number of the variant, if there are several.
    variant: Option<usize>,
    state_names: Vec<String>,
    contact_groups: Vec<SystemContactGroup>,
    kept: PairCache,
}

/// A node: its name, group and place in the arrays.
struct SystemNode {
    name: String,
    group: Group,
    coordinates: Range<usize>,
    velocities: Range<usize>,
}

struct SystemElement {
    element: Box<dyn Element>,
    /// The element's nodes, at hand before the element itself is.
    nodes: SmallVec<[NodeId; 2]>,
    name: String,
    switch: Option<SwitchId>,
    /// The only variant in which it acts, if it is one of several versions.
    variant: Option<usize>,
    /// Index of the version that acts at the start; its own without versions.
    original: usize,
    memory: Range<usize>,
    /// Whether what it remembers moves on within a step.
    follows: bool,
    /// Block (i, j) of the local nodes in the pattern of forces, at `i · n + j`.
    blocks: SmallVec<[BlockId; 4]>,
    /// What ties it to states and to multipliers of joints, if anything does.
    links: Option<Box<Links>>,
}

struct SystemJoint {
    joint: Box<dyn Joint>,
    /// The joint's nodes, at hand before the joint itself is.
    nodes: SmallVec<[NodeId; 2]>,
    name: String,
    switch: Option<SwitchId>,
    memory: Range<usize>,
    rows: Range<usize>,
    /// Whether these depend on time.
    time_dependent: bool,
    /// Block (i, j) of the local nodes in the pattern of forces, at `i · n + j`.
    blocks: SmallVec<[BlockId; 4]>,
    /// Block of each local node in the pattern of the gradient.
    gradient_blocks: SmallVec<[BlockId; 2]>,
    /// Rows among the nonholonomic constraints.
    nonholonomic: Range<usize>,
    /// Block of each local node in the pattern of the nonholonomic gradient; none without such equations.
    nonholonomic_blocks: Vec<BlockId>,
    /// Whether it continues the equation of another joint, to which it adds.
    continues: bool,
}

impl System {
    /// Sets k_ave of the scaling of forces, which is known only when the system is built.
    pub(crate) fn set_stiffness_scale(&mut self, stiffness: f64) {
        self.shape.scales.stiffness = stiffness;
    }

    /// Typical sizes.
    pub fn scales(&self) -> Scales {
        self.shape.scales
    }

    /// Motion of a node at a point.
    #[inline]
    pub fn motion(&self, node: NodeId, at: &Point) -> NodeMotion {
        let node = &self.nodes[node.0];
        NodeMotion::new(
            node.group,
            &at.configuration[node.coordinates.clone()],
            &at.velocity[node.velocities.clone()],
            &at.acceleration[node.velocities.clone()],
        )
    }

    /// Does something with the motion of the nodes of one part, as it was found.
    #[inline]
    fn with_seen<R>(
        &self,
        nodes: &[NodeId],
        seen: Seen,
        memory: &Range<usize>,
        action: impl FnOnce(&Motion) -> R,
    ) -> R {
        let memory = &seen.at.memory[memory.clone()];
        seen.with_nodes(nodes, |nodes| action(&Motion { memory, ..Motion::new(seen.at.time, nodes) }))
    }

    /// Does something with the motion of the nodes of one part, which stands on the stack.
    #[inline]
    fn with_motion<R>(
        &self,
        nodes: &[NodeId],
        at: &Point,
        memory: &Range<usize>,
        action: impl FnOnce(&Motion) -> R,
    ) -> R {
        let motion = |node: NodeId| self.motion(node, at);
        let act = |nodes: &[NodeMotion]| {
            action(&Motion { memory: &at.memory[memory.clone()], ..Motion::new(at.time, nodes) })
        };
        // One and two nodes are nearly all there is.
        match *nodes {
            [] => act(&[]),
            [only] => act(&[motion(only)]),
            [first, second] => act(&[motion(first), motion(second)]),
            [.., last] => {
                let motions: [NodeMotion; MAX_NODES] =
                    std::array::from_fn(|index| motion(nodes.get(index).copied().unwrap_or(last)));
                act(&motions[..nodes.len()])
            }
        }
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

    /// Where an element's numbers are in the memory of the system.
    pub fn element_memory(&self, element: usize) -> Range<usize> {
        self.elements[element].memory.clone()
    }

    /// Places of what a joint remembers.
    pub(crate) fn joint_memory(&self, joint: usize) -> Range<usize> {
        self.joints[joint].memory.clone()
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

    /// Rows of a joint among all nonholonomic constraints.
    pub fn joint_nonholonomic(&self, joint: usize) -> Range<usize> {
        self.joints[joint].nonholonomic.clone()
    }

    /// Number of a joint's equations, on positions and on velocities.
    pub fn joint_equation_count(&self, joint: usize) -> usize {
        self.joints[joint].rows.len() + self.joints[joint].nonholonomic.len()
    }

    /// Sum of all stored energies.
    pub fn energies(&self, at: &Point) -> Energies {
        self.with_all_seen(at, |seen| self.element_sums(seen).0)
    }

    /// Momentum of all elements: angular about the origin of the world and linear, in world axes.
    ///
    /// Inertia is what elements have by their accelerations: p_i = Σ_j ∂r_i/∂V̇_j V_j on each node.
    pub fn momentum(&self, at: &Point) -> Vector6 {
        let weights = TangentWeights { mass: 1.0, damping: 0.0, stiffness: false, ..STIFFNESS_ONLY };
        let mut tangent = LocalTangent::zeros(0);
        let (mut angular, mut linear) = (Vector3::zeros(), Vector3::zeros());
        for entry in self.active_elements(at) {
            self.with_element(entry, at, |motion| {
                tangent.reset(motion.nodes.len());
                let asked = Forces { weights, tangent: Some(&mut tangent), ..Forces::default() };
                entry.element.ask(motion, asked);
                for (i, node) in motion.nodes.iter().enumerate() {
                    let own = (motion.nodes.iter().enumerate())
                        .map(|(j, other)| tangent.block(i, j).0 * other.velocity)
                        .sum::<Vector6>();
                    let (spin, push) = split(&own);
                    let push = node.rotation * push;
                    angular += node.rotation * spin + node.pose.position.cross(&push);
                    linear += push;
                }
            });
        }
        join(&angular, &linear)
    }

    /// Power through elements and drives at a point with its multipliers.
    pub fn power(&self, at: &Point) -> Power {
        self.with_all_seen(at, |seen| self.energies_and_power(seen).1)
    }

    /// Whether there is a part, on or off, through which energy comes or goes: one that answers when it is
    /// asked for its power at some motion.
    pub(crate) fn exchanges_energy(&self, at: &Point) -> bool {
        let moves = |joint: &SystemJoint| joint.time_dependent || !joint.nonholonomic.is_empty();
        let answers = |entry: &SystemElement| {
            let mut power = Power::default();
            let mut asked = Forces { power: Some(&mut power), ..Forces::default() };
            self.with_element(entry, at, |motion| entry.element.evaluate(motion, &mut asked));
            asked.power.is_none()
        };
        !self.contact_groups.is_empty()
            || self.joints.iter().chain(&self.continued).any(moves)
            || self.elements.iter().any(answers)
    }

    /// Energies of elements and power through them, in one pass.
    fn element_sums(&self, seen: Seen) -> (Energies, Power) {
        let (of_groups, mut sum) = self.contact_group_energies_and_power(seen);
        let mut stored = Energies::default();
        for entry in self.active_elements(seen.at) {
            let (mut energies, mut power) = (Energies::default(), Power::default());
            let (energies_wanted, power_wanted) = (Some(&mut energies), Some(&mut power));
            let mut asked = Forces { energies: energies_wanted, power: power_wanted, ..Forces::default() };
            self.with_seen_element(entry, seen, |motion| entry.element.evaluate(motion, &mut asked));
            stored += energies;
            sum += power;
        }
        stored += of_groups;
        (stored, sum)
    }

    /// Energies, power, and the norms of the constraints' residuals, in one visit.
    pub(crate) fn look(&self, at: &Point) -> (Energies, Power, [f64; 2]) {
        self.with_all_seen(at, |seen| {
            let (energies, power) = self.energies_and_power(seen);
            (energies, power, self.residuals(seen))
        })
    }

    fn energies_and_power(&self, seen: Seen) -> (Energies, Power) {
        let (stored, mut sum) = self.element_sums(seen);
        let at = seen.at;
        for entry in self.active_joints(at).filter(|entry| entry.time_dependent) {
            sum.applied += self.power_by_time(entry, at);
        }
        for entry in self.active_joints(at).filter(|entry| !entry.nonholonomic.is_empty()) {
            sum.applied += self.nonholonomic_power(entry, at);
        }
        (stored, sum)
    }

    /// Power in W that the reaction of a joint does on the machine: none, but where time moves it.
    pub fn reaction_power(&self, joint: usize, at: &Point) -> f64 {
        let entry = &self.joints[joint];
        if entry.switch.is_some_and(|switch| !self.is_on(switch, at.memory)) {
            return 0.0;
        }
        self.power_by_time(entry, at) + self.nonholonomic_power(entry, at)
    }

    /// The reaction −Bᵀλ does the power −λᵀB v = λᵀΦ_t on the machine.
    fn power_by_time(&self, entry: &SystemJoint, at: &Point) -> f64 {
        let rates = self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.rates_by_time(motion));
        let multipliers = &at.multipliers[entry.rows.clone()];
        multipliers.iter().zip(rates).map(|(lambda, rate)| lambda * rate).sum()
    }

    /// Likewise −Aᵀψ does the power −ψᵀA V = ψᵀb.
    fn nonholonomic_power(&self, entry: &SystemJoint, at: &Point) -> f64 {
        let (_, [targets, _]) =
            self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.nonholonomic_parts(motion));
        let multipliers = &at.nonholonomic_multipliers[entry.nonholonomic.clone()];
        multipliers.iter().zip(targets).map(|(psi, target)| psi * target).sum()
    }

    /// Wrench (torque, force) that a joint exerts on its second body at the joint's point, in world axes.
    pub fn reaction(&self, joint: usize, at: &Point) -> Vector6 {
        let entry = &self.joints[joint];
        let mut wrenches = self.joint_wrenches(entry, at);
        for more in self.continued.iter().filter(|more| more.rows == entry.rows) {
            for (node, wrench) in more.nodes.iter().zip(self.joint_wrenches(more, at)) {
                if let Some(place) = entry.nodes.iter().position(|known| known == node) {
                    wrenches[place] += wrench;
                }
            }
        }
        self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.reaction(motion, &wrenches))
    }

    /// Bᵀλ and Aᵀψ of a joint on each of its nodes, in body axes.
    fn joint_wrenches(&self, entry: &SystemJoint, at: &Point) -> [Vector6; MAX_NODES] {
        self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.all_wrenches(motion, at))
    }

    /// Wrench (torque, force) that an element exerts on a node at the node's origin, in world axes, with its
    /// load multiplied by a factor.
    pub fn applied_wrench(&self, element: usize, node: NodeId, at: &Point, load_factor: f64) -> Vector6 {
        let Some(entry) = self.acting_element(element, at) else { return Vector6::zeros() };
        let Some(place) = entry.nodes.iter().position(|own| *own == node) else { return Vector6::zeros() };
        self.with_element(entry, at, |motion| {
            let mut wrench = entry.wrenches(motion)[place];
            if load_factor != 1.0 {
                let mut load = vec![Vector6::zeros(); motion.nodes.len()];
                let asked = Forces { load: Some(&mut load), ..Forces::default() };
                entry.element.ask(motion, asked);
                wrench += (load_factor - 1.0) * load[place];
            }
            let (torque, force) = split(&wrench);
            let rotation = motion.nodes[place].rotation;
            -join(&(rotation * torque), &(rotation * force))
        })
    }

    /// Power in W that an element applies to the machine.
    pub fn applied_power(&self, element: usize, at: &Point) -> f64 {
        let Some(entry) = self.acting_element(element, at) else { return 0.0 };
        self.with_element(entry, at, |motion| {
            let mut power = Power::default();
            entry.element.ask(motion, Forces { power: Some(&mut power), ..Forces::default() });
            power.applied
        })
    }

    /// The version of an element that acts; nothing where it is switched off.
    fn acting_element(&self, element: usize, at: &Point) -> Option<&SystemElement> {
        let mut entry = &self.elements[element];
        if !self.is_version_of(entry, at.memory) {
            let acts =
                |other: &&SystemElement| other.original == element && self.is_version_of(other, at.memory);
            entry = self.elements.iter().find(acts).unwrap_or(entry);
        }
        let is_off = entry.switch.is_some_and(|switch| !self.is_on(switch, at.memory));
        (!is_off).then_some(entry)
    }

    /// What a contact does; nothing for other elements and where it is switched off.
    pub fn contact(&self, element: usize, at: &Point) -> Option<ContactResult> {
        self.offered(element, ContactResult::SIGNAL, at, ContactResult::measured)
    }

    /// What a tyre does, by the index of its element; nothing for other elements and switched-off ones.
    pub fn tyre(&self, element: usize, at: &Point) -> Option<TyreResult> {
        self.offered(element, TyreResult::SIGNAL, at, TyreResult::measured)
    }

    /// What an element measures of a signal that it offers.
    fn offered<T>(
        &self,
        element: usize,
        wanted: OfferedSignal,
        at: &Point,
        measured: impl Fn(&dyn Element, &Motion, usize) -> T,
    ) -> Option<T> {
        let entry = &self.elements[element];
        if entry.switch.is_some_and(|switch| !self.is_on(switch, at.memory)) {
            return None;
        }
        let signal = entry.element.facts().signals.iter().position(|signal| *signal == wanted)?;
        let element = entry.element.as_ref();
        Some(self.with_element(entry, at, |motion| measured(element, motion, signal)))
    }

    /// Norms of the constraints' residuals: Φ at position level, B v + Φ_t and κ at velocity level.
    pub fn constraint_residuals(&self, at: &Point) -> [f64; 2] {
        self.with_all_seen(at, |seen| self.residuals(seen))
    }

    fn residuals(&self, seen: Seen) -> [f64; 2] {
        let mut squares = [0.0; 2];
        for entry in self.active_joints(seen.at) {
            for (sum, norm) in squares.iter_mut().zip(self.joint_residuals(entry, seen)) {
                *sum += norm * norm;
            }
        }
        squares.map(f64::sqrt)
    }

    /// The same of one joint, whether it is switched on or not.
    fn joint_residuals(&self, entry: &SystemJoint, seen: Seen) -> [f64; 2] {
        let [mut violation, mut rates] = self.holonomic_values(entry, seen);
        for more in self.continued.iter().filter(|more| more.rows == entry.rows) {
            let [further, further_rates] = self.holonomic_values(more, seen);
            violation.iter_mut().zip(further).for_each(|(sum, value)| *sum += value);
            rates.iter_mut().zip(further_rates).for_each(|(sum, value)| *sum += value);
        }
        let mut squares = [violation, rates].map(|values| values.iter().map(|value| value * value).sum());
        if !entry.nonholonomic.is_empty() {
            self.with_seen(&entry.nodes, seen, &entry.memory, |motion| {
                let values = entry.nonholonomic_values(motion);
                squares[1] +=
                    values[..entry.nonholonomic.len()].iter().map(|value| value * value).sum::<f64>();
            });
        }
        squares.map(f64::sqrt)
    }

    /// Φ and B v + Φ_t of a joint, with zeros behind its rows.
    fn holonomic_values(&self, entry: &SystemJoint, seen: Seen) -> [[f64; MAX_ROWS]; 2] {
        self.with_seen(&entry.nodes, seen, &entry.memory, |motion| {
            let [mut violation, mut rates] = [[0.0; MAX_ROWS]; 2];
            let rows = entry.rows.len();
            let (violation_wanted, rates_wanted) = (Some(&mut violation[..rows]), Some(&mut rates[..rows]));
            let asked =
                RowValues { violation: violation_wanted, rates: rates_wanted, ..RowValues::default() };
            entry.joint.ask_holonomic(motion, asked);
            [violation, rates]
        })
    }

    /// Numbers of elements and of joints that touch each node.
    pub fn part_counts(&self) -> Vec<(usize, usize)> {
        let mut counts = vec![(0, 0); self.nodes.len()];
        let originals = self.elements.iter().enumerate().filter(|(index, entry)| entry.original == *index);
        for node in originals.flat_map(|(_, entry)| &entry.nodes) {
            counts[node.0].0 += 1;
        }
        for node in self.joints.iter().chain(&self.continued).flat_map(|entry| &entry.nodes) {
            counts[node.0].1 += 1;
        }
        counts
    }

    /// Name of the first element whose forces depend on reactions of joints.
    pub fn reader_of_reactions(&self) -> Option<&str> {
        let reads = |entry: &&SystemElement| !entry.element.facts().joints.is_empty();
        self.elements.iter().find(reads).map(|entry| &*entry.name)
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

impl SystemJoint {
    /// Bᵀλ and Aᵀψ on each node, in body axes.
    fn all_wrenches(&self, motion: &Motion, at: &Point) -> [Vector6; MAX_NODES] {
        let mut gradient = LocalGradient::zeros();
        let asked = RowValues { gradient: Some(&mut gradient), ..RowValues::default() };
        self.joint.ask_holonomic(motion, asked);
        let mut wrenches =
            assembly::reaction(&gradient, &at.multipliers[self.rows.clone()], motion.nodes.len());
        if !self.nonholonomic.is_empty() {
            let nonholonomic_wrenches = self.nonholonomic_wrenches(motion, at);
            wrenches
                .iter_mut()
                .zip(nonholonomic_wrenches)
                .for_each(|(wrench, nonholonomic)| *wrench += nonholonomic);
        }
        wrenches
    }

    /// Wrench on the second body at the joint's point, in world axes, from those on the nodes.
    fn reaction(&self, motion: &Motion, wrenches: &[Vector6; MAX_NODES]) -> Vector6 {
        let on_node = |node: usize| -> Vector6 { -wrenches[node] };
        match self.joint.facts().reaction_frame {
            (Some(node), offset) => {
                let (torque, force) = split(&on_node(node));
                // From the body's origin to the joint's point.
                let torque = torque - offset.position.cross(&force);
                let rotation = motion.nodes[node].rotation;
                join(&(rotation * torque), &(rotation * force))
            }
            (None, offset) => {
                // The ground is second: it feels the opposite of what the first body feels.
                let first = &motion.nodes[0];
                let (torque, force) = split(&on_node(0));
                let (torque, force) = (first.rotation * torque, first.rotation * force);
                let arm = first.pose.position - offset.position;
                -join(&(torque + arm.cross(&force)), &force)
            }
        }
    }
}

impl Dae for System {
    fn shape(&self) -> Shape {
        self.shape.clone()
    }

    fn couplings(&self, memory: Option<&[f64]>) -> Couplings {
        memory.map_or_else(|| self.couplings.clone(), |memory| self.contact_group_couplings(memory))
    }

    fn couplings_differ(&self, before: &[f64], after: &[f64]) -> bool {
        self.contact_groups_differ(before, after)
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        self.assemble(at, Some(out), None, None, None);
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let mut gradient = LocalGradient::zeros();
        for entry in self.active_joint_parts(at) {
            let nodes = &entry.nodes[..];
            self.with_motion(nodes, at, &entry.memory, |motion| {
                gradient.reset(entry.rows.len(), nodes.len());
                let asked = RowValues { gradient: Some(&mut gradient), ..RowValues::default() };
                entry.joint.ask_holonomic(motion, asked);
                self.write_rows(&entry.holonomic_blocks(motion.nodes), &gradient, out);
            });
        }
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        let (mut residual, tangent) = (wanted.residual.take(), wanted.tangent.take());
        let rates = wanted.hidden.take().map(|hidden| hidden.rates);
        if residual.is_some() || rates.is_some() || tangent.is_some() {
            self.assemble(at, residual.as_mut(), rates, tangent, wanted.merged.take());
        }
        self.answer_constraints(at, wanted);
        if let Some((before, memory)) = wanted.followed.take() {
            self.follow(&before, at, memory);
        }
        if let Some(out) = wanted.loads.take() {
            self.add_loads(at, out);
        }
        if let Some(out) = wanted.load_stiffness.take() {
            self.assemble_load_stiffness(at, out);
        }
    }

    fn remember(&self, at: &Point, memory: &mut [f64]) {
        self.remember_contact_groups(at, memory);
        let acts = |entry: &&SystemElement| self.is_version_of(entry, at.memory);
        for entry in self.elements.iter().filter(|entry| !entry.memory.is_empty()).filter(acts) {
            let own = &mut memory[entry.memory.clone()];
            self.with_element(entry, at, |motion| entry.element.remember(motion, None, own));
        }
        for entry in self.joints.iter().chain(&self.continued).filter(|entry| !entry.memory.is_empty()) {
            let own = &mut memory[entry.memory.clone()];
            self.with_motion(&entry.nodes, at, &entry.memory, |motion| {
                entry.joint.remember(motion, own);
            });
        }
    }

    fn idle_constraints(&self, memory: &[f64]) -> Vec<usize> {
        let off = |entry: &&SystemJoint| entry.switch.is_some_and(|switch| !self.is_on(switch, memory));
        let first_nonholonomic = self.shape.constraint_count();
        let nonholonomic = |entry: &SystemJoint| {
            first_nonholonomic + entry.nonholonomic.start..first_nonholonomic + entry.nonholonomic.end
        };
        self.joints
            .iter()
            .filter(off)
            .flat_map(|entry| entry.rows.clone().chain(nonholonomic(entry)))
            .collect()
    }

    fn blame(&self, at: &Point) -> Option<String> {
        blame::part_not_finite(self, at)
    }

    fn describe(&self, equation: Equation) -> String {
        match equation {
            Equation::Equilibrium(index) => self.describe_equilibrium(index),
            Equation::Constraint(index) => self.describe_constraint(index, ""),
            Equation::ConstraintRate(index) => self.describe_constraint(index, " at velocity level"),
            Equation::Nonholonomic(index) => self.describe_nonholonomic(index),
            Equation::State(index) => format!("state `{}`", self.state_names[index]),
            Equation::ConstraintGroup(group) => format!("joint `{}`", self.joints[group].name),
            Equation::NonholonomicGroup(group) => self.describe_nonholonomic_group(group),
            Equation::Node(node) => format!("`{}`", self.nodes[node].name),
        }
    }
}

impl System {
    /// Φ_t, and what is asked of accelerations and of nonholonomic constraints.
    fn answer_constraints(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.violation_rate.take() {
            for entry in self.active_joints(at).filter(|entry| entry.time_dependent) {
                let rates =
                    self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.rates_by_time(motion));
                let rows = entry.rows.clone();
                out[rows.clone()].copy_from_slice(&rates[..rows.len()]);
            }
        }
        if let Some(out) = wanted.curvature.take() {
            for entry in self.active_joints(at) {
                self.joint_curvature(entry, at, &mut out[entry.rows.clone()]);
            }
            for entry in self.active_joints_of(&self.continued, at) {
                let mut more = [0.0; MAX_ROWS];
                self.joint_curvature(entry, at, &mut more[..entry.rows.len()]);
                out[entry.rows.clone()].iter_mut().zip(more).for_each(|(sum, value)| *sum += value);
            }
        }
        if let Some(out) = wanted.nonholonomic_gradient.take() {
            self.write_nonholonomic_gradients(at, out);
        }
        if let Some(out) = wanted.nonholonomic_curvature.take() {
            self.write_nonholonomic_curvatures(at, out);
        }
    }

    /// The part of the equilibrium that applied loads make.
    fn add_loads(&self, at: &Point, out: &mut [f64]) {
        for entry in self.active_elements(at) {
            let nodes = &entry.nodes[..];
            self.with_element(entry, at, |motion| {
                self.add_forces(nodes, motion.nodes, &entry.load(motion), out);
            });
        }
    }

    /// Moves remembered section forces on from a point before.
    fn follow(&self, before: &Point, at: &Point, memory: &mut [f64]) {
        for entry in self.active_elements(at).filter(|entry| entry.follows) {
            let own = &mut memory[entry.memory.clone()];
            self.with_element(entry, before, |before| {
                self.with_element(entry, at, |motion| {
                    let mut moves = [Vector6::zeros(); MAX_NODES];
                    for (index, node) in entry.nodes.iter().enumerate() {
                        let group = self.nodes[node.0].group;
                        let [old, new] = [before, motion].map(|motion| &motion.nodes[index].pose);
                        // A node that turned by half a turn tells nothing: the forces stay.
                        let Some(twist) = twist_between(group, old, new) else { return };
                        moves[index] = twist;
                    }
                    let since = Some((before, &moves[..motion.nodes.len()]));
                    entry.element.remember(motion, since, own);
                });
            });
        }
    }

    fn describe_nonholonomic_group(&self, group: usize) -> String {
        let with_nonholonomic = self.joints.iter().filter(|entry| !entry.nonholonomic.is_empty()).nth(group);
        with_nonholonomic
            .map_or_else(|| format!("nonholonomic group {group}"), |entry| format!("joint `{}`", entry.name))
    }

    fn describe_nonholonomic(&self, index: usize) -> String {
        match self.joints.iter().find(|entry| entry.nonholonomic.contains(&index)) {
            Some(entry) => {
                let (row, count) = (index - entry.nonholonomic.start + 1, entry.nonholonomic.len());
                format!("joint `{}` (equation {row} of {count} on velocities)", entry.name)
            }
            None => format!("nonholonomic constraint {index}"),
        }
    }

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
}
