//! What can be integrated: constrained mechanical systems on a Lie group.
//!
//! ```text
//! q̇ = DL_q(e)·ṽ                                              kinematics on a product of R^k, SO(3), SO(3)×R³, SE(3)
//! M(q,t) v̇ + g(q,v,c,λ,ψ,t) + Bᵀ(q,t) λ + Aᵀ(q,v,t) ψ = 0    equilibrium
//! Φ(q,t) = 0                                                 holonomic constraints,    B = DΦ
//! κ(q,v,t) = 0                                               nonholonomic constraints, A = ∂κ/∂v
//! ċ = h(q,v,c,λ,t)                                           first-order states
//! ```
//!
//! See [ArnoldCardonaBruls2015, Eqs. (14)–(18)], [BrulsCardonaArnold2012, Eqs. (6)–(8)],
//! [JayNegrut2008, Eqs. (11)]. The trait [`Dae`] states exactly this. Velocities are left-invariant
//! (body axes for rotations). A part that a system does not have costs its author no line: only
//! [`Dae::shape`] and [`Dae::residual`] must be written, and [`Dae::gradient`] with constraints. Every
//! derivative has a default by differences; systems that are integrated often answer exact ones.

mod control;
#[cfg(test)]
pub(crate) mod coupled;
mod differences;
mod initial;
mod notes;
mod operators;
mod residual;
mod shape;
pub(crate) mod turning;
mod values;
mod wanted;

pub use control::Control;
pub use initial::Initial;
pub use notes::{Note, NoteKind, Notes};
pub(crate) use operators::{ForceMatrix, GradientPlace, Merged, TangentOperators};
pub use residual::Residual;
pub(crate) use residual::ResidualValues;
pub use shape::{Couplings, Reactions, Scales, Shape, StateGroup};
pub use values::Values;
pub use wanted::{Differenced, Hidden, Wanted, ask};

use crate::solve::block::BlockMatrix;
use std::sync::Arc;

/// Where the equations are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// Time t in s.
    pub time: f64,
    /// Configuration q, in the flat form of [`crate::lie::Space`].
    pub configuration: &'a [f64],
    /// Velocity v (left-invariant).
    pub velocity: &'a [f64],
    /// Acceleration v̇.
    pub acceleration: &'a [f64],
    /// Multipliers λ of the holonomic constraints.
    pub multipliers: &'a [f64],
    /// Multipliers ψ of the nonholonomic constraints.
    pub nonholonomic_multipliers: &'a [f64],
    /// First-order (and algebraic) states c.
    pub internal_states: &'a [f64],
    /// What the system remembers of the last accepted step, by [`Dae::remember`]; constant within a step but
    /// for section forces, see [`Wanted::followed`].
    pub memory: &'a [f64],
}

/// How one Newton increment moves acceleration and velocity: all that a system learns of the integrator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentWeights {
    /// Factor of ∂/∂v̇.
    pub mass: f64,
    /// Factor of ∂/∂v.
    pub damping: f64,
    /// Whether ∂/∂q is wanted at all (the simplified Newton matrix does without).
    pub stiffness: bool,
    /// Whether ∂/∂q may hold the section forces that the system remembers in place of those of the present
    /// configuration.
    pub remembered_forces: bool,
}

/// Derivatives of the equations; every matrix holds zeros where [`Wanted::tangent`] is asked.
///
/// Derivatives with respect to q are along left translations: `DF(q)·(DL_q(e)·w̃) = F' w`.
#[derive(Clone, Debug)]
pub struct Tangent {
    /// `mass · ∂r/∂v̇ + damping · ∂r/∂v`, nodes × nodes.
    pub dynamic: BlockMatrix,
    /// ∂r/∂q, nodes × nodes, derivatives of M v̇, Bᵀλ and Aᵀψ included.
    pub stiffness: BlockMatrix,
    /// B = ∂Φ/∂q, constraints × nodes.
    pub gradient: BlockMatrix,
    /// ∂(B v + Φ_t)/∂q, constraints × nodes; with [`TangentWeights::stiffness`] only.
    pub gradient_rate: BlockMatrix,
    /// Whether derivatives of the hidden constraints B v + Φ_t are looked at: [`Tangent::gradient_rate`] may
    /// be left out otherwise, and the dynamic part and B where they go to another matrix.
    pub hidden_wanted: bool,
    /// ∂r/∂λ, nodes × constraints; filled only with [`Reactions::General`].
    pub reaction: BlockMatrix,
    /// A = ∂κ/∂v, nonholonomic constraints × nodes.
    pub nonholonomic: BlockMatrix,
    /// ∂κ/∂q, nonholonomic constraints × nodes; with [`TangentWeights::stiffness`] only.
    pub nonholonomic_stiffness: BlockMatrix,
    /// ∂r/∂ψ, nodes × nonholonomic constraints; filled only with [`Reactions::General`].
    pub nonholonomic_reaction: BlockMatrix,
    /// ∂r/∂c, nodes × states.
    pub state_force: BlockMatrix,
    /// ∂h/∂v, states × nodes.
    pub state_damping: BlockMatrix,
    /// ∂h/∂q, states × nodes.
    pub state_stiffness: BlockMatrix,
    /// ∂h/∂c, states × states.
    pub state_state: BlockMatrix,
    /// ∂h/∂λ, states × constraints.
    pub state_reaction: BlockMatrix,
}

impl Tangent {
    /// Zero derivatives with the given couplings.
    pub fn zeros(couplings: &Couplings) -> Self {
        let zeros = |pattern: &Arc<_>| BlockMatrix::zeros(Arc::clone(pattern));
        Self {
            dynamic: zeros(&couplings.force_node),
            stiffness: zeros(&couplings.force_node),
            gradient: zeros(&couplings.constraint_node),
            gradient_rate: zeros(&couplings.constraint_node),
            hidden_wanted: true,
            reaction: zeros(&couplings.force_constraint),
            nonholonomic: zeros(&couplings.nonholonomic_node),
            nonholonomic_stiffness: zeros(&couplings.nonholonomic_node),
            nonholonomic_reaction: zeros(&couplings.force_nonholonomic),
            state_force: zeros(&couplings.force_state),
            state_damping: zeros(&couplings.state_node),
            state_stiffness: zeros(&couplings.state_node),
            state_state: zeros(&couplings.state_state),
            state_reaction: zeros(&couplings.state_constraint),
        }
    }

    /// The derivatives of a system at a point.
    pub fn at(dae: &dyn Dae, couplings: &Couplings, at: &Point, weights: TangentWeights) -> Self {
        let mut out = Self::zeros(couplings);
        ask(dae, at, Wanted { tangent: Some((weights, &mut out)), ..Wanted::default() });
        out
    }

    /// Sets every derivative to zero.
    pub fn clear(&mut self) {
        self.dynamic.fill(0.0);
        self.stiffness.fill(0.0);
        self.gradient.fill(0.0);
        self.clear_the_rest();
    }

    /// Sets every derivative to zero but those of forces by the motion of nodes and B.
    pub(crate) fn clear_the_rest(&mut self) {
        for matrix in [
            &mut self.reaction,
            &mut self.nonholonomic,
            &mut self.nonholonomic_stiffness,
            &mut self.nonholonomic_reaction,
            &mut self.state_force,
            &mut self.state_damping,
            &mut self.state_stiffness,
            &mut self.state_state,
            &mut self.state_reaction,
        ] {
            matrix.fill(0.0);
        }
        if self.hidden_wanted {
            self.gradient_rate.fill(0.0);
        }
    }
}

/// An equation of a system, or a group of them, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Equation {
    /// Component of the equilibrium, by its velocity coordinate.
    Equilibrium(usize),
    /// Holonomic constraint at position level.
    Constraint(usize),
    /// Holonomic constraint at velocity level.
    ConstraintRate(usize),
    /// Nonholonomic constraint.
    Nonholonomic(usize),
    /// First-order or algebraic state.
    State(usize),
    /// A group of holonomic constraints: those of one joint.
    ConstraintGroup(usize),
    /// A group of nonholonomic constraints.
    NonholonomicGroup(usize),
    /// All that moves with one node.
    Node(usize),
}

/// A constrained mechanical system on a Lie group.
///
/// The mathematical pendulum of [ArnoldCardonaBruls2015, Example 3.2], written down and integrated:
///
/// ```
/// use kreisel::dae::{Dae, Initial, Point, Residual, Shape};
/// use kreisel::integrate::{INDEX3, Integrator};
/// use kreisel::lie::Space;
/// use kreisel::solve::block::BlockMatrix;
///
/// struct Pendulum;
///
/// impl Dae for Pendulum {
///     fn shape(&self) -> Shape {
///         Shape::new(Space::vector(2)).with_constraints([1])
///     }
///     fn residual(&self, at: &Point, out: &mut Residual) {
///         let (q, a, lambda) = (at.configuration, at.acceleration, at.multipliers[0]);
///         out.equilibrium.copy_from_slice(&[a[0] + q[0] * lambda, a[1] + 9.81 + q[1] * lambda]);
///         out.violation[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
///     }
///     fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
///         out.values_mut().copy_from_slice(at.configuration);
///     }
/// }
///
/// let initial = Initial::new(0.0, [0.0, -1.0], [1.0, 0.0]);
/// let mut run = Integrator::new(INDEX3, 0.9, 1e-3)?.start(&Pendulum, initial)?;
/// run.advance(1.0)?;
/// let q = &run.values().configuration;
/// assert!((q[0] * q[0] + q[1] * q[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Dae: Sync {
    /// What never changes: configuration space, numbers of constraints and states, typical sizes.
    fn shape(&self) -> Shape;

    /// The equations at a point.
    fn residual(&self, at: &Point, out: &mut Residual);

    /// Constraint gradient B(q,t), constraints × nodes; `out` holds zeros. Only q and t of the point count.
    ///
    /// The default gives no numbers: a system with constraints that leaves it so is refused at the start.
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let _ = at;
        out.fill(f64::NAN);
    }

    /// Answers what a system knows of all else that may be asked, in one pass if it likes; see [`Wanted`].
    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        let _ = (at, wanted);
    }

    /// Which groups meet in the derivatives; the default lets every pair meet.
    ///
    /// They may depend on what the system remembers: bodies that come near others in the course of time.
    /// Without a memory they are those that always meet.
    fn couplings(&self, memory: Option<&[f64]>) -> Couplings {
        let _ = memory;
        Couplings::dense(&self.shape())
    }

    /// Whether [`Dae::couplings`] may differ between two memories.
    fn couplings_differ(&self, before: &[f64], after: &[f64]) -> bool {
        let _ = (before, after);
        false
    }

    /// Renews what the system remembers (counted turns of a joint, say) after an accepted step and at the
    /// start, where `memory` holds zeros.
    fn remember(&self, at: &Point, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Constraints that are switched off, nonholonomic ones counted after the others: their rows are empty
    /// and their multipliers vanish.
    fn idle_constraints(&self, memory: &[f64]) -> Vec<usize> {
        let _ = memory;
        Vec::new()
    }

    /// Name of the part of a system whose forces are not finite numbers at a point, if they come from one.
    fn blame(&self, at: &Point) -> Option<String> {
        let _ = at;
        None
    }

    /// Name of an equation, or of a group of them, in the words of the system's author.
    fn describe(&self, equation: Equation) -> String {
        match equation {
            Equation::Equilibrium(i) => format!("equilibrium of velocity coordinate {i}"),
            Equation::Constraint(i) => format!("constraint {i}"),
            Equation::ConstraintRate(i) => format!("constraint {i} at velocity level"),
            Equation::Nonholonomic(i) => format!("nonholonomic constraint {i}"),
            Equation::State(i) => format!("state {i}"),
            Equation::ConstraintGroup(i) => format!("group {i} of the constraints"),
            Equation::NonholonomicGroup(i) => format!("group {i} of the nonholonomic constraints"),
            Equation::Node(i) => format!("node {i}"),
        }
    }
}
