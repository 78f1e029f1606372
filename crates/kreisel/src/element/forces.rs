//! What an element says of itself, what is asked of it, and what is filled where it leaves that open.

use super::differences::{difference_load_stiffness, difference_tangent};
use super::state::difference_internal_tangent;
use super::{Element, LocalStateTangent, StateId};
use crate::dae::TangentWeights;
use crate::kinematics::{Energies, LocalTangent, Motion, NodeId, Power, STIFFNESS_ONLY};
use crate::lie::Vector6;

/// What never changes about an element.
#[derive(Clone, Copy, Debug)]
pub struct ElementFacts<'a> {
    /// Nodes in the order of the element's local rows, [`crate::kinematics::MAX_NODES`] at most.
    pub nodes: &'a [NodeId],
    /// States that the element reads, [`super::MAX_STATES`] at most; those it gives rates come first.
    pub internal_states: &'a [StateId],
    /// To how many of these states, from the first on, the element gives rates.
    pub rate_count: usize,
    /// Joints, by index, whose holonomic multipliers the element reads: [`super::MAX_MULTIPLIERS`] numbers at
    /// most.
    pub joints: &'a [usize],
    /// How many numbers the element remembers: angles to count full turns, section forces of beams.
    pub memory: usize,
    /// Whether these move on within a step, before it is accepted.
    pub follows: bool,
    /// Whether the derivatives cost far more than the forces.
    pub costly_tangent: bool,
    /// Whether its forces begin and end where bodies meet and part.
    pub touches: bool,
    /// What sensors can measure.
    pub signals: &'static [OfferedSignal],
}

impl<'a> ElementFacts<'a> {
    /// An element that pushes these nodes, and no more.
    pub fn on(nodes: &'a [NodeId]) -> Self {
        Self {
            nodes,
            internal_states: &[],
            rate_count: 0,
            joints: &[],
            memory: 0,
            follows: false,
            costly_tangent: false,
            touches: false,
            signals: &[],
        }
    }
}

/// Numbers of an element that sensors can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedSignal {
    /// What they are called.
    pub name: &'static str,
    /// How many they are.
    pub size: usize,
}

/// What is asked of an element: fields that are not `None`, with zeros that are added to.
///
/// An element takes what it answers. It has to answer the wrenches, and the rates of states if it gives some;
/// derivatives that it leaves are found by differences, loads, energies and powers stay zero.
#[derive(Debug)]
#[non_exhaustive]
pub struct Forces<'a> {
    /// Which derivatives are wanted: given, not asked.
    pub weights: TangentWeights,
    /// One wrench (torque, force) in body axes per node, with the sign of the equilibrium M v̇ + g = 0: what
    /// pushes a node forward is negative.
    pub wrenches: Option<&'a mut [Vector6]>,
    /// The same with remembered forces in place of those that the motion makes, as the tangent with
    /// remembered forces sees it. Asked only of elements whose memory follows the motion.
    pub remembered_wrenches: Option<&'a mut [Vector6]>,
    /// Derivatives of the wrenches by the motion.
    pub tangent: Option<&'a mut LocalTangent>,
    /// Rates of the first states; the rates that several elements give a state add up. An algebraic state is
    /// found where its rate vanishes.
    pub rates: Option<&'a mut [f64]>,
    /// Derivatives of wrenches and rates by states and multipliers, and of rates by the motion. Asked only of
    /// elements with states or joints.
    pub internal_tangent: Option<&'a mut LocalStateTangent>,
    /// The part of the wrenches that applied loads make (forces, moments, gravity): statics multiplies it by
    /// a load factor. Springs and other parts of the machine itself have none.
    pub load: Option<&'a mut [Vector6]>,
    /// Derivatives of the load by the configuration.
    pub load_stiffness: Option<&'a mut LocalTangent>,
    /// Stored energies, for conservation tests and energy plots.
    pub energies: Option<&'a mut Energies>,
    /// Power that enters or leaves the machine through this element.
    pub power: Option<&'a mut Power>,
}

impl Default for Forces<'_> {
    fn default() -> Self {
        Self {
            weights: STIFFNESS_ONLY,
            wrenches: None,
            remembered_wrenches: None,
            tangent: None,
            rates: None,
            internal_tangent: None,
            load: None,
            load_stiffness: None,
            energies: None,
            power: None,
        }
    }
}

impl dyn Element + '_ {
    /// Asks for forces; what the element leaves open is filled.
    #[inline]
    pub fn ask(&self, at: &Motion, mut forces: Forces) {
        self.evaluate(at, &mut forces);
        let Forces { remembered_wrenches, tangent, internal_tangent, load_stiffness, .. } = &forces;
        if remembered_wrenches.is_some()
            || tangent.is_some()
            || internal_tangent.is_some()
            || load_stiffness.is_some()
        {
            self.fill(at, forces);
        }
    }

    #[cold]
    fn fill(&self, at: &Motion, left: Forces) {
        if let Some(wrenches) = left.remembered_wrenches {
            self.evaluate(at, &mut Forces { wrenches: Some(wrenches), ..Forces::default() });
        }
        if let Some(tangent) = left.tangent {
            difference_tangent(self, at, left.weights, tangent);
        }
        if let Some(tangent) = left.internal_tangent {
            difference_internal_tangent(self, at, left.weights, tangent);
        }
        if let Some(stiffness) = left.load_stiffness {
            difference_load_stiffness(self, at, stiffness);
        }
    }
}
