//! Sizes and couplings of a system: what the integrator must know before it starts.

use std::sync::Arc;

use crate::lie::Space;
use crate::solve::block::BlockPattern;

/// A group of states with one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateGroup {
    /// Number of states.
    pub size: usize,
    /// Algebraic states satisfy 0 = h instead of ċ = h.
    pub algebraic: bool,
}

/// How the multipliers enter the equilibrium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reactions {
    /// As Bᵀλ + Aᵀψ and in no other way: ∂r/∂λ is Bᵀ and need not be given.
    #[default]
    Gradient,
    /// In any way (friction by the normal force, say): ∂r/∂λ and ∂r/∂ψ are part of the tangent.
    General,
}

/// Sizes that make quantities of different kinds comparable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// A typical length of the system in m; translations are judged against it, rotations against 1 rad.
    pub length: f64,
    /// Longest arm of a single part in m: turns follow from positions over it, and carry their rounding. As
    /// long as the system if absent.
    pub arm: Option<f64>,
    /// m_ave of [BottassoBauchauCardona2007, Eq. (28)].
    pub mass: f64,
    /// k_ave of [BottassoBauchauCardona2007, Eq. (28)].
    pub stiffness: f64,
}

impl Default for Scales {
    fn default() -> Self {
        Self { length: 1.0, arm: None, mass: 1.0, stiffness: 0.0 }
    }
}

/// What never changes of a [`super::Dae`]: its configuration space, constraints and states, and what is known
/// of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// Configuration space; its factors are the nodes.
    pub space: Space,
    /// Holonomic constraints, in groups (the equations of one joint).
    pub constraints: Vec<usize>,
    /// Whether the holonomic constraints depend on time.
    pub rheonomic: bool,
    /// Nonholonomic constraints, in groups.
    pub nonholonomic: Vec<usize>,
    /// First-order and algebraic states, in groups.
    pub internal_states: Vec<StateGroup>,
    /// How the multipliers enter the equilibrium.
    pub reactions: Reactions,
    /// How many numbers the system remembers from step to step.
    pub memory: usize,
    /// Typical sizes, from which scaling and tolerances follow.
    pub scales: Scales,
    /// Weights w of the multipliers λ, then ψ: of redundant ones those with the least Σ (w λ)² are taken.
    /// Empty if all are 1.
    pub multiplier_weights: Vec<f64>,
    /// Sizes against which errors of the states are judged where the states themselves are small. Empty if
    /// all are 1.
    pub state_scales: Vec<f64>,
    /// States that the step size need not follow: they forget errors by themselves, and what they do to the
    /// motion is judged there. Empty if there are none.
    pub fading_states: Vec<bool>,
    /// Whether derivatives cost far more than the equations, as those of beams do: an iteration matrix is
    /// then kept from step to step while that pays.
    pub costly_tangent: bool,
    /// Whether bodies can touch: forces then begin and end within steps.
    pub touches: bool,
    /// Whether the system can multiply the derivatives by the configuration with tangent operators and add
    /// them to those by velocities and accelerations itself: less to be moved through memory than two
    /// matrices.
    pub(crate) merges: bool,
}

impl Shape {
    /// A system without constraints and states.
    pub fn new(space: Space) -> Self {
        Self {
            space,
            constraints: Vec::new(),
            rheonomic: false,
            nonholonomic: Vec::new(),
            internal_states: Vec::new(),
            reactions: Reactions::Gradient,
            memory: 0,
            scales: Scales::default(),
            multiplier_weights: Vec::new(),
            state_scales: Vec::new(),
            fading_states: Vec::new(),
            costly_tangent: false,
            touches: false,
            merges: false,
        }
    }

    /// With typical sizes.
    pub fn with_scales(mut self, scales: Scales) -> Self {
        self.scales = scales;
        self
    }

    /// With groups of holonomic constraints of these sizes.
    pub fn with_constraints(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.constraints = sizes.into_iter().collect();
        self
    }

    /// With holonomic constraints that depend on time.
    pub fn with_rheonomic_constraints(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.rheonomic = true;
        self.with_constraints(sizes)
    }

    /// With groups of nonholonomic constraints of these sizes.
    pub fn with_nonholonomic(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.nonholonomic = sizes.into_iter().collect();
        self
    }

    /// With groups of states.
    pub fn with_internal_states(mut self, groups: impl IntoIterator<Item = StateGroup>) -> Self {
        self.internal_states = groups.into_iter().collect();
        self
    }

    /// With multipliers that enter the equilibrium in any way.
    pub fn with_general_reactions(mut self) -> Self {
        self.reactions = Reactions::General;
        self
    }

    /// With numbers that are remembered from step to step.
    pub fn with_memory(mut self, count: usize) -> Self {
        self.memory = count;
        self
    }

    /// Number of velocity coordinates k.
    pub fn velocity_count(&self) -> usize {
        self.space.dimension()
    }

    /// Number of holonomic constraints m.
    pub fn constraint_count(&self) -> usize {
        self.constraints.iter().sum()
    }

    /// Number of nonholonomic constraints.
    pub fn nonholonomic_count(&self) -> usize {
        self.nonholonomic.iter().sum()
    }

    /// Number of states.
    pub fn state_count(&self) -> usize {
        self.internal_states.iter().map(|group| group.size).sum()
    }

    /// Whether each state is algebraic.
    pub fn algebraic_states(&self) -> impl Iterator<Item = bool> + '_ {
        self.internal_states.iter().flat_map(|group| std::iter::repeat_n(group.algebraic, group.size))
    }

    /// The weight of each multiplier λ, then ψ.
    pub fn weights_of_multipliers(&self) -> Vec<f64> {
        let count = self.constraint_count() + self.nonholonomic_count();
        if self.multiplier_weights.is_empty() { vec![1.0; count] } else { self.multiplier_weights.clone() }
    }

    /// The size against which each state is judged.
    pub fn scales_of_states(&self) -> Vec<f64> {
        if self.state_scales.is_empty() { vec![1.0; self.state_count()] } else { self.state_scales.clone() }
    }

    /// Number of velocity coordinates of each node.
    pub fn node_sizes(&self) -> Vec<usize> {
        (0..self.space.factor_count()).map(|i| self.space.group(i).dimension()).collect()
    }
}

/// Which groups meet in the derivatives of a system: row group × column group.
#[derive(Clone, Debug)]
pub struct Couplings {
    /// Equilibrium of a node with the motion of a node.
    pub force_node: Arc<BlockPattern>,
    /// Equilibrium of a node with the velocity and acceleration of a node: a part of the former, without the
    /// pairs that only rigid joints tie.
    pub momentum_node: Arc<BlockPattern>,
    /// Holonomic constraints with nodes: the pattern of B.
    pub constraint_node: Arc<BlockPattern>,
    /// Nonholonomic constraints with nodes: the pattern of A.
    pub nonholonomic_node: Arc<BlockPattern>,
    /// Equilibrium with λ, for [`Reactions::General`].
    pub force_constraint: Arc<BlockPattern>,
    /// Equilibrium with ψ, for [`Reactions::General`].
    pub force_nonholonomic: Arc<BlockPattern>,
    /// Equilibrium with states.
    pub force_state: Arc<BlockPattern>,
    /// State rates with nodes.
    pub state_node: Arc<BlockPattern>,
    /// State rates with states.
    pub state_state: Arc<BlockPattern>,
    /// State rates with λ.
    pub state_constraint: Arc<BlockPattern>,
}

impl Couplings {
    /// Every pair of groups meets: right for small systems.
    pub fn dense(shape: &Shape) -> Self {
        let nodes = shape.node_sizes();
        let internal_states: Vec<usize> = shape.internal_states.iter().map(|group| group.size).collect();
        let (constraints, nonholonomic) = (&shape.constraints, &shape.nonholonomic);
        let none: &[usize] = &[];
        let (reacting_constraints, reacting_nonholonomic) = match shape.reactions {
            Reactions::Gradient => (none, none),
            Reactions::General => (constraints.as_slice(), nonholonomic.as_slice()),
        };
        let dense = |rows: &[usize], columns: &[usize]| Arc::new(BlockPattern::dense(rows, columns));
        Self {
            force_node: dense(&nodes, &nodes),
            momentum_node: dense(&nodes, &nodes),
            constraint_node: dense(constraints, &nodes),
            nonholonomic_node: dense(nonholonomic, &nodes),
            force_constraint: dense(&nodes, reacting_constraints),
            force_nonholonomic: dense(&nodes, reacting_nonholonomic),
            force_state: dense(&nodes, &internal_states),
            state_node: dense(&internal_states, &nodes),
            state_state: dense(&internal_states, &internal_states),
            state_constraint: dense(&internal_states, constraints),
        }
    }
}
