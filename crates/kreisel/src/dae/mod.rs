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
//! [`Dae::shape`] and [`Dae::evaluate`] must be written, and [`Dae::gradient`] with constraints. Every
//! derivative has a default by differences; systems that are integrated often give exact ones.

mod control;
#[cfg(test)]
pub(crate) mod coupled;
mod differences;
mod initial;
mod notes;
mod operators;
mod shape;
pub(crate) mod turning;
mod values;

pub use control::Control;
pub use initial::Initial;
pub use notes::{Note, NoteKind, Notes};
pub(crate) use operators::{Fold, GradientPlace, TangentOperators};
pub use shape::{Couplings, Reactions, Scales, Shape, StateGroup};
pub use values::Values;

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
    /// for section forces, by [`Dae::follow`].
    pub memory: &'a [f64],
}

/// What [`Dae::evaluate`] fills; every slice holds zeros on entry.
#[derive(Debug)]
pub struct Equations<'a> {
    /// Equilibrium r = M v̇ + g + Bᵀλ + Aᵀψ.
    pub equilibrium: &'a mut [f64],
    /// Violation Φ of the holonomic constraints.
    pub violation: &'a mut [f64],
    /// Violation κ of the nonholonomic constraints.
    pub nonholonomic: &'a mut [f64],
    /// Rates h of the states (for an algebraic state: the residual that must vanish).
    pub internal_rates: &'a mut [f64],
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

/// Derivatives of the equations; every matrix holds zeros on entry to [`Dae::tangent`].
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
    /// Whether [`Tangent::gradient_rate`] is looked at: a system may leave it out otherwise.
    pub gradient_rate_wanted: bool,
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
    /// Set if all derivatives of forces go to one matrix, see [`Shape::folds`].
    pub(crate) fold: Option<Fold>,
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
            gradient_rate_wanted: true,
            reaction: zeros(&couplings.force_constraint),
            nonholonomic: zeros(&couplings.nonholonomic_node),
            nonholonomic_stiffness: zeros(&couplings.nonholonomic_node),
            nonholonomic_reaction: zeros(&couplings.force_nonholonomic),
            state_force: zeros(&couplings.force_state),
            state_damping: zeros(&couplings.state_node),
            state_stiffness: zeros(&couplings.state_node),
            state_state: zeros(&couplings.state_state),
            state_reaction: zeros(&couplings.state_constraint),
            fold: None,
        }
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
        if self.gradient_rate_wanted {
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
}

/// A constrained mechanical system on a Lie group.
///
/// The mathematical pendulum of [ArnoldCardonaBruls2015, Example 3.2], written down and integrated:
///
/// ```
/// use kreisel::dae::{Dae, Equations, Initial, Point, Shape};
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
///     fn evaluate(&self, at: &Point, out: &mut Equations) {
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
    fn evaluate(&self, at: &Point, out: &mut Equations);

    /// Constraint gradient B(q,t), constraints × nodes; `out` holds zeros. Only q and t of the point count.
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let _ = at;
        debug_assert_eq!(out.pattern().row_count(), 0, "a system with constraints must give their gradient");
    }

    /// Partial time derivative Φ_t of rheonomic constraints; asked only where [`Shape::rheonomic`] is set.
    fn violation_rate(&self, at: &Point, out: &mut [f64]) {
        differences::violation_rate(self, at, out);
    }

    /// The equations and the hidden constraints B v + Φ_t at a point; a system may do both in one pass.
    ///
    /// `rates` holds zeros. `gradient` is room for B, which a system may leave alone.
    fn evaluate_with_rates(
        &self,
        at: &Point,
        out: &mut Equations,
        gradient: &mut BlockMatrix,
        rheonomic: bool,
        rates: &mut [f64],
    ) {
        self.evaluate(at, out);
        if rheonomic {
            self.violation_rate(at, rates);
        }
        gradient.fill(0.0);
        self.gradient(at, gradient);
        gradient.multiply_add(1.0, at.velocity, rates);
    }

    /// Rest of the acceleration-level constraints: d/dt (B v + Φ_t) − B v̇, that is Z(q)(v,v) of
    /// [ArnoldCardonaBruls2015, Eq. (18)] and, with time, 2 B_t v + Φ_tt.
    fn curvature(&self, at: &Point, out: &mut [f64]) {
        differences::curvature(self, at, out);
    }

    /// Rest of the differentiated nonholonomic constraints: dκ/dt − A v̇.
    fn nonholonomic_curvature(&self, at: &Point, out: &mut [f64]) {
        differences::nonholonomic_curvature(self, at, out);
    }

    /// A(q,v,t) = ∂κ/∂v, nonholonomic constraints × nodes; `out` holds zeros. The default differences
    /// [`Dae::evaluate`].
    fn nonholonomic_gradient(&self, at: &Point, out: &mut BlockMatrix) {
        differences::nonholonomic_gradient(self, at, out);
    }

    /// All derivatives at a point; the default differences [`Dae::evaluate`] and allocates.
    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        differences::tangent(self, at, weights, out);
    }

    /// The equations, the hidden constraints B v + Φ_t if they are wanted, and all derivatives at a point;
    /// asked of systems that fold, which may find them in one pass.
    #[doc(hidden)]
    fn evaluate_with_tangent(
        &self,
        at: &Point,
        out: &mut Equations,
        rates: Option<&mut [f64]>,
        weights: TangentWeights,
        tangent: &mut Tangent,
    ) {
        match rates {
            None => self.evaluate(at, out),
            Some(rates) => {
                let rheonomic = self.shape().rheonomic;
                self.evaluate_with_rates(at, out, &mut tangent.gradient, rheonomic, rates);
                tangent.gradient.fill(0.0);
            }
        }
        self.tangent(at, weights, tangent);
    }

    /// The part of the equilibrium that applied loads (forces, moments, gravity) make, with its sign; `out`
    /// holds zeros.
    ///
    /// Statics multiplies this part by a load factor and leaves the rest as it is. The default has no such
    /// part.
    fn loads(&self, at: &Point, out: &mut [f64]) {
        let _ = (at, out);
    }

    /// Adds the derivative of [`Dae::loads`] by the configuration to [`Tangent::stiffness`]; the default
    /// takes differences.
    fn load_stiffness(&self, at: &Point, out: &mut Tangent) {
        differences::load_stiffness(self, at, out);
    }

    /// Which groups meet in the derivatives; the default lets every pair meet.
    fn couplings(&self) -> Couplings {
        Couplings::dense(&self.shape())
    }

    /// Couplings where they depend on what the system remembers: bodies that come near others in the course
    /// of time.
    fn couplings_at(&self, memory: &[f64]) -> Couplings {
        let _ = memory;
        self.couplings()
    }

    /// Whether [`Dae::couplings_at`] may differ between two memories.
    fn couplings_differ(&self, before: &[f64], after: &[f64]) -> bool {
        let _ = (before, after);
        false
    }

    /// Renews what the system remembers (counted turns of a joint, say) after an accepted step and at the
    /// start, where `memory` holds zeros.
    fn remember(&self, at: &Point, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Moves remembered section forces on within a step, from the point of one iteration matrix to that of
    /// the next, along the tangent at the first: what they will be if the iteration went where the first
    /// matrix sent it.
    fn follow(&self, before: &Point, at: &Point, memory: &mut [f64]) {
        let _ = (before, at, memory);
    }

    /// Constraints that are switched off, nonholonomic ones counted after the others: their rows are empty
    /// and their multipliers vanish.
    fn idle_constraints(&self, memory: &[f64]) -> Vec<usize> {
        let _ = memory;
        Vec::new()
    }

    /// Name of the part of a system whose forces are not finite numbers at a point, if they come from one.
    fn part_not_finite(&self, at: &Point) -> Option<String> {
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
        }
    }
}
