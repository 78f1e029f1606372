//! What a joint says of itself, what is asked of it, and what follows from its gradient where it leaves that
//! open.

use super::Joint;
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId, NodeMotion, shift_pose,
};
use crate::lie::{Pose, Vector6};

/// What never changes about a joint.
#[derive(Clone, Copy, Debug)]
pub struct JointFacts<'a> {
    /// Nodes in the order of the joint's local columns, [`MAX_NODES`] at most; the ground is no node.
    pub nodes: &'a [NodeId],
    /// Number of holonomic equations, [`MAX_ROWS`] at most.
    pub rows: usize,
    /// Which of their multipliers are torques rather than forces.
    pub torques: [bool; MAX_ROWS],
    /// Number of nonholonomic equations, [`MAX_ROWS`] at most.
    pub nonholonomic_rows: usize,
    /// Which of their multipliers are torques.
    pub nonholonomic_torques: [bool; MAX_ROWS],
    /// How many numbers the joint remembers: angles, to count full turns.
    pub memory: usize,
    /// Whether the holonomic equations depend on time.
    pub time_dependent: bool,
    /// Where the reaction is measured: the local index of the second body and the joint's frame on it, or the
    /// frame in the world if the ground is second.
    pub reaction_frame: (Option<usize>, Pose),
}

impl<'a> JointFacts<'a> {
    /// A joint with holonomic equations that forces keep, measured at the origin of its last node.
    pub fn new(nodes: &'a [NodeId], rows: usize) -> Self {
        Self {
            nodes,
            rows,
            torques: [false; MAX_ROWS],
            nonholonomic_rows: 0,
            nonholonomic_torques: [false; MAX_ROWS],
            memory: 0,
            time_dependent: false,
            reaction_frame: (nodes.len().checked_sub(1), Pose::identity()),
        }
    }
}

/// What is asked of a joint, by kind of equations; only kinds that it has are asked for.
#[derive(Debug, Default)]
pub struct Rows<'a> {
    /// Conditions on positions: Φ(q, t) = 0, with the rates B V + Φ_t.
    pub holonomic: RowValues<'a>,
    /// Conditions on velocities that no condition on positions implies: κ = A(q) V + b(t) = 0 are their
    /// rates.
    pub nonholonomic: RowValues<'a>,
}

/// What is asked of equations whose rates are G(q) V + g(t), with the body twists V: fields that are not
/// `None`.
///
/// A joint takes what it answers. It has to answer violation, gradient and, if its equations depend on time,
/// the derivatives by time; the others follow from these. Violations are written, all else holds zeros that
/// are added to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RowValues<'a> {
    /// Multipliers λ of the equations: given, not asked.
    pub multipliers: &'a [f64],
    /// Φ of each holonomic equation.
    pub violation: Option<&'a mut [f64]>,
    /// Reaction wrenches Gᵀλ, one per node.
    pub wrenches: Option<&'a mut [Vector6]>,
    /// Rate G V + g of each equation.
    pub rates: Option<&'a mut [f64]>,
    /// G.
    pub gradient: Option<&'a mut LocalGradient>,
    /// D(Gᵀλ): how the reaction wrenches change with the configuration.
    pub stiffness: Option<&'a mut LocalTangent>,
    /// Derivative of the rates by the configuration at fixed twists.
    pub rate_gradient: Option<&'a mut LocalGradient>,
    /// g, and the derivative of the rates by time at fixed configuration and twists, which is ġ where G does
    /// not depend on time.
    pub by_time: Option<&'a mut [[f64; MAX_ROWS]; 2]>,
}

impl dyn Joint + '_ {
    /// Asks for values of the holonomic equations; what the joint leaves open is filled.
    #[inline]
    pub fn ask_holonomic(&self, at: &Motion, values: RowValues) {
        let mut rows = Rows { holonomic: values, ..Rows::default() };
        self.evaluate(at, &mut rows);
        if rows.holonomic.follows_from_gradient() {
            let ask = |at: &Motion, holonomic: RowValues| {
                self.evaluate(at, &mut Rows { holonomic, ..Rows::default() });
            };
            rows.holonomic.fill(at, &ask);
        }
    }

    /// Asks for values of the nonholonomic equations; what the joint leaves open is filled.
    pub fn ask_nonholonomic(&self, at: &Motion, values: RowValues) {
        let mut rows = Rows { nonholonomic: values, ..Rows::default() };
        self.evaluate(at, &mut rows);
        if rows.nonholonomic.follows_from_gradient() {
            let ask = |at: &Motion, nonholonomic: RowValues| {
                self.evaluate(at, &mut Rows { nonholonomic, ..Rows::default() });
            };
            rows.nonholonomic.fill(at, &ask);
        }
    }
}

impl RowValues<'_> {
    /// Whether something is still asked that a gradient and derivatives by time determine.
    #[inline]
    fn follows_from_gradient(&self) -> bool {
        self.wrenches.is_some()
            || self.rates.is_some()
            || self.stiffness.is_some()
            || self.rate_gradient.is_some()
    }

    /// Products with the gradient, and differences of it; `ask` asks the joint.
    #[cold]
    fn fill(self, at: &Motion, ask: &dyn Fn(&Motion, RowValues)) {
        let Self { multipliers, wrenches, rates, stiffness, rate_gradient, .. } = self;
        if wrenches.is_some() || rates.is_some() {
            let (mut gradient, mut by_time) = (LocalGradient::zeros(), [[0.0; MAX_ROWS]; 2]);
            let (asked, times) = (Some(&mut gradient), Some(&mut by_time));
            ask(at, RowValues { gradient: asked, by_time: times, ..RowValues::default() });
            if let Some(wrenches) = wrenches {
                gradient.transpose_multiply_add(multipliers, wrenches);
            }
            if let Some(rates) = rates {
                rates.copy_from_slice(&by_time[0][..rates.len()]);
                gradient.multiply_add(at.nodes, rates);
            }
        }
        if let Some(out) = stiffness {
            for_each_slope(at, ask, |node, direction, slope| {
                for (row, lambda) in slope.rows.iter().zip(multipliers) {
                    for (i, change) in row[..at.nodes.len()].iter().enumerate() {
                        let mut column = out.stiffness(i, node).column_mut(direction);
                        column += *lambda * change;
                    }
                }
            });
        }
        if let Some(out) = rate_gradient {
            for_each_slope(at, ask, |node, direction, slope| {
                for (row, target) in slope.rows.iter().zip(&mut out.rows) {
                    let rate: f64 = row.iter().zip(at.nodes).map(|(g, node)| g.dot(&node.velocity)).sum();
                    target[node][direction] += rate;
                }
            });
        }
    }
}

/// Step of the central differences.
const STEP: f64 = 6e-6;

/// The gradient's derivatives by central differences, along each direction of each node.
fn for_each_slope(
    at: &Motion,
    ask: &dyn Fn(&Motion, RowValues),
    mut each: impl FnMut(usize, usize, &LocalGradient),
) {
    let count = at.nodes.len();
    for node in 0..count {
        for direction in 0..6 {
            let moved_gradient = |distance: f64| {
                let mut nodes: [NodeMotion; MAX_NODES] = std::array::from_fn(|i| at.nodes[i.min(count - 1)]);
                shift_pose(&mut nodes[node], direction, distance);
                let mut gradient = LocalGradient::zeros();
                let moved = Motion { nodes: &nodes[..count], ..*at };
                ask(&moved, RowValues { gradient: Some(&mut gradient), ..RowValues::default() });
                gradient
            };
            let (mut slope, back) = (moved_gradient(STEP), moved_gradient(-STEP));
            for (forth, back) in slope.rows.iter_mut().flatten().zip(back.rows.iter().flatten()) {
                *forth = (*forth - back) / (2.0 * STEP);
            }
            each(node, direction, &slope);
        }
    }
}
