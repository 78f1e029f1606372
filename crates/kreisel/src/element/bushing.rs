//! A bushing: six springs and dampers between two frames, coupled by full matrices.
//!
//! With the rotation vector θ and the displacement d of the second frame relative to the first, in axes of
//! the first, and e = (θ, d), the bushing stores ½ eᵀK e and resists with
//!
//! ```text
//! w = K e + C ė,   r = Σ w_i ∇e_i
//! ```
//!
//! so that the elastic part is the gradient of the stored energy and the damping loses ėᵀC ė, however far the
//! frames turn; the rotation vector ends at half a turn.

use nalgebra::SMatrix;

use super::{Element, ElementFacts, Forces};
use crate::dae::TangentWeights;
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Coordinate, FramePair, LocalTangent, Motion, NodeId, Relative, pair_between};
use crate::lie::{Matrix6, Pose, Vector6};

/// Coordinates of a bushing, rotation first.
const COORDINATES: [Coordinate; 6] = [
    Coordinate::RotationVector(0),
    Coordinate::RotationVector(1),
    Coordinate::RotationVector(2),
    Coordinate::Translation(0),
    Coordinate::Translation(1),
    Coordinate::Translation(2),
];

/// Elastic and damped connection of two frames.
#[derive(Clone, Debug)]
pub struct Bushing {
    nodes: Vec<NodeId>,
    pair: FramePair,
    stiffness: Matrix6,
    damping: Matrix6,
}

/// The deformation of a bushing at one moment.
struct Deformation {
    relative: Relative,
    value: Vector6,
    rate: Vector6,
    /// Columns are the gradients of the coordinates.
    gradients: SMatrix<f64, 12, 6>,
}

impl Bushing {
    /// A bushing between two frames on nodes or on the ground, with symmetric matrices over (rotation,
    /// displacement).
    pub fn new(nodes: [Option<NodeId>; 2], offsets: [Pose; 2], stiffness: Matrix6, damping: Matrix6) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, stiffness, damping }
    }

    fn deformation(&self, at: &Motion) -> Deformation {
        let relative = self.pair.relative(at);
        let mut gradients = SMatrix::<f64, 12, 6>::zeros();
        let mut value = Vector6::zeros();
        for (i, coordinate) in COORDINATES.iter().enumerate() {
            value[i] = coordinate.value(&relative, 0.0);
            gradients.set_column(i, &coordinate.gradient(&relative));
        }
        let rate = gradients.tr_mul(&relative.twist());
        Deformation { relative, value, rate, gradients }
    }

    /// w = K e + C ė.
    fn resistance(&self, deformation: &Deformation) -> Vector6 {
        self.stiffness * deformation.value + self.damping * deformation.rate
    }

    fn add_tangent(&self, deformation: &Deformation, weights: TangentWeights, out: &mut LocalTangent) {
        let Deformation { relative, gradients, .. } = deformation;
        let damped = gradients * self.damping;
        self.pair.add_blocks(&(damped * gradients.transpose()), |i, j, block| *out.damping(i, j) += block);
        if weights.stiffness {
            let mut matrix: PairMatrix = gradients * self.stiffness * gradients.transpose();
            let resistance = self.resistance(deformation);
            for (i, coordinate) in COORDINATES.iter().enumerate() {
                coordinate.add_hessian(relative, resistance[i], &mut matrix);
                let damped: PairVector = damped.column(i).into();
                matrix.ger(1.0, &damped, &coordinate.rate_gradient(relative), 1.0);
            }
            self.pair.add_to_blocks(&matrix, out);
        }
    }
}

impl Element for Bushing {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts::on(&self.nodes)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let deformation = self.deformation(at);
        let Deformation { value, rate, gradients, .. } = &deformation;
        if let Some(wrenches) = out.wrenches.take() {
            let force: PairVector = gradients * self.resistance(&deformation);
            self.pair.add_to_nodes(1.0, &force, wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            self.add_tangent(&deformation, out.weights, tangent);
        }
        if let Some(energies) = out.energies.take() {
            energies.strain = 0.5 * value.dot(&(self.stiffness * value));
        }
        if let Some(power) = out.power.take() {
            power.dissipated = rate.dot(&(self.damping * rate));
        }
    }
}
