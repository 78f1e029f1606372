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
//! frames turn.
//!
//! **Beyond half a turn.** A rotation has many rotation vectors, (φ + 2πk) n with whole numbers k; the shortest
//! jumps at half a turn. The bushing remembers its vector and takes the nearest, θ_k = θ + 2πk n with n =
//! θ/φ. With c = 2πk its derivatives follow from those of the shortest, θ:
//!
//! ```text
//! δθ_k = J δθ,   J = I + (c/φ)(I − n nᵀ)
//! ∂(J w)/∂θ = (c/φ²)(3 (n·w) n nᵀ − n wᵀ − w nᵀ − (n·w) I)      for a fixed w
//! ```
//!
//! J grows without bound towards a full turn (φ → 0, k ≠ 0), where the vectors of all axes give the same
//! rotation: beyond it the bushing is of use only where the frames turn about one axis, which is an
//! eigenvector of J with the value one.

use std::f64::consts::TAU;

use nalgebra::SMatrix;

use super::{Element, ElementFacts, Forces};
use crate::dae::TangentWeights;
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Coordinate, FramePair, LocalTangent, Motion, NodeId, Relative, pair_between};
use crate::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6};

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
    /// What leads from the shortest rotation vector to the one that counts, where they differ.
    turns: Option<Turns>,
}

/// The way from the shortest rotation vector φ n to (φ + c) n.
struct Turns {
    /// n.
    axis: Vector3,
    /// φ.
    angle: f64,
    /// c = 2πk.
    added: f64,
    /// Gradients of the shortest one.
    gradients: SMatrix<f64, 12, 3>,
}

impl Turns {
    /// What leads to the vector nearest to another, if that is not the shortest.
    fn towards(near: &Vector3, shortest: &Vector3, gradients: SMatrix<f64, 12, 3>) -> Option<Self> {
        let angle = shortest.norm();
        let axis = shortest.try_normalize(f64::MIN_POSITIVE)?;
        let added = TAU * ((near.dot(&axis) - angle) / TAU).round();
        (added != 0.0).then_some(Self { axis, angle, added, gradients })
    }

    /// J w.
    fn apply(&self, w: &Vector3) -> Vector3 {
        w + self.added / self.angle * (w - self.axis.dot(w) * self.axis)
    }

    /// ∂(J w)/∂θ.
    fn slope(&self, w: &Vector3) -> Matrix3 {
        let (n, along) = (&self.axis, self.axis.dot(w));
        let matrix = 3.0 * along * n * n.transpose()
            - n * w.transpose()
            - w * n.transpose()
            - along * Matrix3::identity();
        self.added / (self.angle * self.angle) * matrix
    }
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
        let near = Vector3::from_fn(|i, _| at.memory.get(i).copied().unwrap_or(0.0));
        let shortest: Vector3 = value.fixed_rows::<3>(0).into();
        let turns = Turns::towards(&near, &shortest, gradients.fixed_columns::<3>(0).into());
        if let Some(turns) = &turns {
            value.fixed_rows_mut::<3>(0).copy_from(&(shortest + turns.added * turns.axis));
            let jacobian = Matrix3::from_fn(|i, j| turns.apply(&Vector3::ith(j, 1.0))[i]);
            gradients.fixed_columns_mut::<3>(0).copy_from(&(turns.gradients * jacobian));
        }
        let rate = gradients.tr_mul(&relative.twist());
        Deformation { relative, value, rate, gradients, turns }
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
            let (mut resistance, mut damped) = (self.resistance(deformation), damped);
            if let Some(turns) = &deformation.turns {
                // The chain rule: what follows is of the shortest rotation vector.
                let torque: Vector3 = resistance.fixed_rows::<3>(0).into();
                matrix += turns.gradients * turns.slope(&torque) * turns.gradients.transpose();
                resistance.fixed_rows_mut::<3>(0).copy_from(&turns.apply(&torque));
                let rate = turns.gradients.tr_mul(&relative.twist());
                let before: SMatrix<f64, 12, 3> = damped.fixed_columns::<3>(0).into();
                matrix += before * turns.slope(&rate) * turns.gradients.transpose();
                let jacobian = Matrix3::from_fn(|i, j| turns.apply(&Vector3::ith(j, 1.0))[i]);
                damped.fixed_columns_mut::<3>(0).copy_from(&(before * jacobian));
            }
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
        ElementFacts { memory: 3, ..ElementFacts::on(&self.nodes) }
    }

    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        let value = self.deformation(at).value;
        memory.iter_mut().zip(&value).for_each(|(kept, value)| *kept = *value);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::differences::difference_tangent;
    use crate::kinematics::NodeMotion;
    use crate::lie::so3;

    /// Turned about an axis by an angle, moving, with the vector of a nearby rotation remembered.
    fn wrenches_and_tangents(angle: f64) -> [LocalTangent; 2] {
        let matrix = |scale: f64| {
            Matrix6::from_fn(|i, j| scale * if i == j { 3.0 } else { 0.3 + 0.1 * ((i * j) % 3) as f64 })
        };
        let matrix = |scale: f64| 0.5 * (matrix(scale) + matrix(scale).transpose());
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let offsets = [[0.1, 0.2, -0.3], [-0.2, 0.1, 0.4]];
        let offsets = offsets.map(|at| Pose::new(so3::exp(&(0.5 * Vector3::from(at))), Vector3::from(at)));
        let bushing = Bushing::new(nodes, offsets, matrix(1.0), matrix(0.2));
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        let first = Pose::new(so3::exp(&Vector3::new(0.3, 0.2, 0.1)), Vector3::new(0.1, 0.0, 0.2));
        // The second frame is the first, turned about the axis.
        let frame = first.compose(&offsets[0]).compose(&Pose::new(so3::exp(&(angle * axis)), axis));
        let second = frame.compose(&offsets[1].inverse());
        let mut motions = [first, second].map(NodeMotion::at_rest);
        motions[0].velocity = Vector6::new(0.1, -0.2, 0.3, 0.4, 0.5, -0.6);
        motions[1].velocity = Vector6::new(-0.3, 0.2, 0.5, 0.1, -0.4, 0.2);
        let memory = (angle + 0.05) * axis + Vector3::new(0.02, 0.01, -0.03);
        let at = Motion { memory: memory.as_slice(), ..Motion::new(0.0, &motions) };
        let value = bushing.deformation(&at).value;
        assert!((value.fixed_rows::<3>(0) - angle * axis).norm() < 1e-12, "{angle}: {value}");
        let weights = TangentWeights { mass: 1.0, damping: 1.0, ..crate::kinematics::STIFFNESS_ONLY };
        let mut tangents = [LocalTangent::zeros(2), LocalTangent::zeros(2)];
        let asked = Forces { weights, tangent: Some(&mut tangents[0]), ..Forces::default() };
        bushing.evaluate(&at, &mut { asked });
        difference_tangent(&bushing, &at, weights, &mut tangents[1]);
        tangents
    }

    #[test]
    fn derivatives_hold_before_and_beyond_half_a_turn_and_a_full_one() {
        for angle in [0.7, 2.9, 3.4, 5.0, 7.5, 11.0] {
            let [mut exact, mut differences] = wrenches_and_tangents(angle);
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let size = 1.0 + differences.stiffness(i, j).amax();
                // Central differences of 6e-6: ε/step, and its square times third derivatives near half a
                // turn.
                let error = (*exact.stiffness(i, j) - *differences.stiffness(i, j)).amax();
                assert!(error < 1e-7 * size, "{angle}, {i} {j}: {error:e} of {size}");
                let error = (*exact.damping(i, j) - *differences.damping(i, j)).amax();
                assert!(error < 1e-7 * size, "{angle}, {i} {j}: {error:e}");
            }
        }
    }
}
