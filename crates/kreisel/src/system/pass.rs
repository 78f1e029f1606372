//! One pass over all elements and joints: for the equations, for their derivatives, or for both.
//!
//! An iteration that renews its matrix needs both at the same point. Found together they share the motion of
//! the nodes, and large machines pass through memory once.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use super::assembly::{LocalPart, TangentParts, reaction};
use super::motions::{Seen, with_room};
use super::{System, SystemElement, SystemJoint};
use crate::dae::{ForceMatrix, Merged, Point, Reactions, Residual, Tangent, TangentWeights};
use crate::element::Forces;
use crate::joint::RowValues;
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeMotion, STIFFNESS_ONLY,
};
use crate::lie::Vector6;
use crate::solve::block::{BlockId, BlockPattern};

/// Elements and joints that fit into the second-level cache with their blocks of an iteration matrix.
const PARTS_AT_HAND: usize = 96;

/// Parts that are assembled one after the other: joints with the elements that they were read with, as long
/// as the blocks of these are at hand.
#[derive(Debug)]
pub(super) struct Round {
    elements: Range<usize>,
    joints: Range<usize>,
    /// End of the nodes that these parts and those before them meet: behind it, blocks of a matrix need not
    /// be clear yet.
    node_end: usize,
}

impl Round {
    /// Deals out all parts.
    pub fn all(elements: &[SystemElement], joints: &[SystemJoint]) -> Vec<Self> {
        let count = (elements.len() + joints.len()).div_ceil(PARTS_AT_HAND);
        let part = |parts: usize, round: usize| round * parts / count..(round + 1) * parts / count;
        let mut node_end = 0;
        let round = |round: usize| {
            let (elements_here, joints_here) = (part(elements.len(), round), part(joints.len(), round));
            let of_elements = elements[elements_here.clone()].iter().flat_map(|entry| &entry.nodes);
            let of_joints = joints[joints_here.clone()].iter().flat_map(|entry| &entry.nodes);
            node_end = of_elements.chain(of_joints).fold(node_end, |end, node| end.max(node.0 + 1));
            Self { elements: elements_here, joints: joints_here, node_end }
        };
        (0..count).map(round).collect()
    }
}

/// Derivatives of one part: thousands of numbers, of which the next part clears what was written. They are
/// kept from pass to pass, since clearing all of them is a tenth of the work of a small machine.
pub(super) struct LocalDerivatives {
    pub tangent: LocalTangent,
    gradient: LocalGradient,
    rate_gradient: LocalGradient,
}

impl LocalDerivatives {
    fn zeros() -> Self {
        let [gradient, rate_gradient] = [(); 2].map(|()| LocalGradient::zeros());
        Self { tangent: LocalTangent::zeros(0), gradient, rate_gradient }
    }
}

thread_local! {
    static LOCAL: RefCell<LocalDerivatives> = RefCell::new(LocalDerivatives::zeros());
}

/// Lends the arrays of this thread.
fn with_local(action: impl FnOnce(&mut LocalDerivatives)) {
    LOCAL.with(|local| match local.try_borrow_mut() {
        Ok(mut local) => action(&mut local),
        // A part that holds a system of its own asks for them within a pass.
        Err(_) => action(&mut LocalDerivatives::zeros()),
    });
}

/// The derivatives that a pass adds up.
pub(super) struct Derivatives<'w> {
    pub weights: TangentWeights,
    pub out: TangentParts<'w>,
    /// The pattern of derivatives of forces.
    pub pattern: &'w Arc<BlockPattern>,
    /// Where the blocks are if the pattern has those of pairs that touch besides.
    places: Option<&'w [BlockId]>,
    pub local: &'w mut LocalDerivatives,
    /// End of the nodes whose columns are clear, in a matrix that holds another one.
    cleared: usize,
}

impl Derivatives<'_> {
    /// Clears what the parts of a round add to; `nodes` is the number of all nodes.
    fn clear(&mut self, round: &Round, nodes: usize) {
        let Range { start, end } = round.joints;
        self.out.forces.clear(self.cleared..round.node_end);
        self.out.forces.clear(nodes + start..nodes + end);
        self.cleared = round.node_end;
    }

    /// Clears what no round did.
    fn clear_the_rest(&mut self, nodes: usize, joints: usize) {
        if let ForceMatrix::Merged { all, .. } = &self.out.forces {
            let end = all.matrix.pattern().column_group_count();
            self.out.forces.clear(self.cleared..nodes);
            self.out.forces.clear(nodes + joints..end);
        }
    }
}

impl System {
    /// Adds up what is wanted at a point: the equations, the hidden constraints B v + Φ_t, the derivatives.
    pub(super) fn assemble(
        &self,
        at: &Point,
        equations: Option<&mut Residual>,
        rates: Option<&mut [f64]>,
        derivatives: Option<(TangentWeights, &mut Tangent)>,
        merged: Option<Merged>,
    ) {
        let Some((weights, out)) = derivatives else {
            return self.pass(at, equations, rates, None);
        };
        let found = self.candidate_pairs(at.memory);
        let pattern = &Arc::clone(out.dynamic.pattern());
        let places = self.places_in(found.as_ref(), pattern);
        let (out, places) = (TangentParts::new(out, merged), places.as_deref());
        with_local(|local| {
            let derivatives = Derivatives { weights, out, pattern, places, local, cleared: 0 };
            self.pass(at, equations, rates, Some(derivatives));
        });
    }

    /// Visits all parts, round after round, for whatever is not `None`.
    fn pass(
        &self,
        at: &Point,
        equations: Option<&mut Residual>,
        rates: Option<&mut [f64]>,
        derivatives: Option<Derivatives>,
    ) {
        with_room(|motions| self.pass_with(motions, at, equations, rates, derivatives));
    }

    fn pass_with(
        &self,
        motions: &mut Vec<NodeMotion>,
        at: &Point,
        mut equations: Option<&mut Residual>,
        mut rates: Option<&mut [f64]>,
        mut derivatives: Option<Derivatives>,
    ) {
        for round in &self.rounds {
            if let Some(derivatives) = &mut derivatives {
                derivatives.clear(round, self.nodes.len());
            }
            self.find_motions(round.node_end, at, motions);
            let seen = Seen { at, motions };
            for entry in self.active_elements_of(&self.elements[round.elements.clone()], at) {
                self.add_element(entry, seen, equations.as_deref_mut(), derivatives.as_mut());
            }
            for entry in self.active_joints_of(&self.joints[round.joints.clone()], at) {
                let equations = equations.as_deref_mut();
                self.add_joint(entry, seen, equations, rates.as_deref_mut(), derivatives.as_mut());
            }
        }
        if let Some(derivatives) = &mut derivatives {
            derivatives.clear_the_rest(self.nodes.len(), self.joints.len());
        }
        if !(self.continued.is_empty() && self.contact_groups.is_empty()) {
            self.find_motions(self.nodes.len(), at, motions);
        }
        let seen = Seen { at, motions };
        for entry in self.active_joints_of(&self.continued, at) {
            let equations = equations.as_deref_mut();
            self.continue_joint(entry, seen, equations, rates.as_deref_mut(), derivatives.as_mut());
        }
        if let Some(equations) = equations.as_deref_mut() {
            self.evaluate_nonholonomic(at, equations);
        }
        if let Some(Derivatives { weights, out, places, local, .. }) = &mut derivatives {
            self.add_nonholonomic_tangents(at, *weights, *places, &mut local.tangent, out);
        }
        let equilibrium = equations.map(|equations| &mut *equations.equilibrium);
        self.add_contact_groups(seen, equilibrium, derivatives.as_mut());
        if let Some(derivatives) = derivatives.filter(|_| self.shape.reactions == Reactions::General) {
            self.add_reactions(derivatives.out);
        }
    }

    #[inline]
    fn add_element(
        &self,
        entry: &SystemElement,
        seen: Seen,
        equations: Option<&mut Residual>,
        derivatives: Option<&mut Derivatives>,
    ) {
        let nodes = &entry.nodes[..];
        self.with_seen_element(entry, seen, |motion| {
            let mut wrenches = [Vector6::zeros(); MAX_NODES];
            let derivatives = match derivatives {
                None => {
                    let wrenches = Some(&mut wrenches[..nodes.len()]);
                    entry.element.evaluate(motion, &mut Forces { wrenches, ..Forces::default() });
                    None
                }
                Some(derivatives) => {
                    self.add_element_tangent(entry, motion, equations.is_some(), &mut wrenches, derivatives);
                    Some((derivatives.weights, &mut derivatives.out))
                }
            };
            let internal_rates = equations.map(|out| {
                self.add_forces(nodes, motion.nodes, &wrenches, out.equilibrium);
                &mut *out.internal_rates
            });
            if let Some(links) = &entry.links {
                self.add_internal(entry, links, motion, internal_rates, derivatives);
            }
        });
    }

    /// Adds an element's derivatives, and finds its wrenches if they are wanted.
    fn add_element_tangent(
        &self,
        entry: &SystemElement,
        motion: &Motion,
        wrenches_wanted: bool,
        wrenches: &mut [Vector6; MAX_NODES],
        derivatives: &mut Derivatives,
    ) {
        let Derivatives { weights, out, places, local, .. } = derivatives;
        let tangent = &mut local.tangent;
        let nodes = &entry.nodes[..];
        tangent.reset(nodes.len());
        let mut remembered = [Vector6::zeros(); MAX_NODES];
        let mut asked = Forces { weights: *weights, tangent: Some(&mut *tangent), ..Forces::default() };
        // Wrenches turn with the coordinates of other groups.
        let turned = !self.all_on_se3(nodes);
        let remembers = weights.remembered_forces && entry.follows;
        if wrenches_wanted || (turned && !remembers) {
            asked.wrenches = Some(&mut wrenches[..nodes.len()]);
        }
        if turned && remembers {
            asked.remembered_wrenches = Some(&mut remembered[..nodes.len()]);
        }
        entry.element.ask(motion, asked);
        let meant = if remembers { &remembered } else { &*wrenches };
        let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places: *places };
        self.add_tangent(&part, tangent, || *meant, *weights, &mut out.forces);
    }

    #[inline]
    fn add_joint(
        &self,
        entry: &SystemJoint,
        seen: Seen,
        equations: Option<&mut Residual>,
        rates: Option<&mut [f64]>,
        derivatives: Option<&mut Derivatives>,
    ) {
        if entry.rows.is_empty() {
            return;
        }
        let nodes = &entry.nodes[..];
        self.with_seen(nodes, seen, &entry.memory, |motion| {
            let multipliers = &seen.at.multipliers[entry.rows.clone()];
            let rates = rates.map(|rates| &mut rates[entry.rows.clone()]);
            let (violation, equilibrium) = match equations {
                Some(out) => (Some(&mut out.violation[entry.rows.clone()]), Some(&mut *out.equilibrium)),
                None => (None, None),
            };
            let asked = RowValues { multipliers, violation, rates, ..RowValues::default() };
            let mut wrenches = [Vector6::zeros(); MAX_NODES];
            let wrenches = &mut wrenches[..nodes.len()];
            match derivatives {
                None => {
                    entry.joint.ask_holonomic(motion, RowValues { wrenches: Some(&mut *wrenches), ..asked })
                }
                Some(derivatives) => {
                    self.add_joint_tangent(entry, motion, asked, derivatives);
                    if equilibrium.is_some() {
                        derivatives.local.gradient.transpose_multiply_add(multipliers, wrenches);
                    }
                }
            }
            if let Some(equilibrium) = equilibrium {
                self.add_forces(nodes, motion.nodes, wrenches, equilibrium);
            }
        });
    }

    /// Adds what continues the equation of a joint.
    fn continue_joint(
        &self,
        entry: &SystemJoint,
        seen: Seen,
        mut equations: Option<&mut Residual>,
        mut rates: Option<&mut [f64]>,
        derivatives: Option<&mut Derivatives>,
    ) {
        // A joint answers as if the row were its own.
        let row = entry.rows.start;
        let violation = equations.as_deref_mut().map(|out| std::mem::take(&mut out.violation[row]));
        let rate = rates.as_deref_mut().map(|rates| std::mem::take(&mut rates[row]));
        self.add_joint(entry, seen, equations.as_deref_mut(), rates.as_deref_mut(), derivatives);
        if let Some(out) = equations {
            out.violation[row] += violation.unwrap_or_default();
        }
        if let Some(rates) = rates {
            rates[row] += rate.unwrap_or_default();
        }
    }

    /// Adds a joint's derivatives, and answers what else is asked; rates are products with the gradient.
    fn add_joint_tangent(
        &self,
        entry: &SystemJoint,
        motion: &Motion,
        asked: RowValues,
        derivatives: &mut Derivatives,
    ) {
        let Derivatives { weights, out, places, local, .. } = derivatives;
        let LocalDerivatives { tangent, gradient, rate_gradient } = &mut **local;
        let RowValues { multipliers, violation, rates, .. } = asked;
        let nodes = &entry.nodes[..];
        let rate_gradient_wanted = weights.stiffness && out.gradient_rate.is_some();
        let mut by_time = [[0.0; MAX_ROWS]; 2];
        gradient.reset(entry.rows.len(), nodes.len());
        let mut asked =
            RowValues { multipliers, violation, gradient: Some(&mut *gradient), ..RowValues::default() };
        if weights.stiffness {
            tangent.reset(nodes.len());
            asked.stiffness = Some(&mut *tangent);
        }
        if rate_gradient_wanted {
            rate_gradient.reset(entry.rows.len(), nodes.len());
            asked.rate_gradient = Some(&mut *rate_gradient);
        }
        if rates.is_some() && entry.time_dependent {
            asked.by_time = Some(&mut by_time);
        }
        entry.joint.ask_holonomic(motion, asked);
        if let Some(rates) = rates {
            rates.copy_from_slice(&by_time[0][..rates.len()]);
            gradient.multiply_add(motion.nodes, rates);
        }
        let rows = entry.holonomic_blocks(motion.nodes);
        self.write_gradient(&rows, gradient, out);
        if weights.stiffness {
            let reaction = || reaction(gradient, multipliers, nodes.len());
            let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places: *places };
            self.add_tangent(&part, tangent, reaction, STIFFNESS_ONLY, &mut out.forces);
        }
        if let Some(out) = out.gradient_rate.as_deref_mut().filter(|_| weights.stiffness) {
            self.add_rate_gradient(&rows, [gradient, rate_gradient], out);
        }
    }
}
