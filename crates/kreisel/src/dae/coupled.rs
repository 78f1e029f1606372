//! Made-up equations that couple everything, for tests of what is computed from any system.
//!
//! A slider, a body that only turns and one that also moves, coupled by inertia, friction, forces and a
//! constraint. Nothing is small, symmetric or constant, so that no term of a derivative can be missing
//! unseen. All derivatives but B are those by differences.

use super::{Dae, Point, Residual, Shape, StateGroup};
use crate::dae::Initial;
use crate::lie::{Group, Space, UnitQuaternion, Vector3, quaternion, so3};
use crate::solve::block::BlockMatrix;

/// The equations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coupled {
    /// Group of the body that also moves: [`Group::So3xR3`] or [`Group::Se3`].
    group: Group,
    /// Whether there are also a nonholonomic constraint, forces nonlinear in both kinds of multipliers, and
    /// states.
    general: bool,
}

const AXIS: Vector3 = Vector3::new(0.3, -0.2, 0.9);
const ARM: Vector3 = Vector3::new(0.5, 1.0, -0.4);

impl Coupled {
    /// One holonomic constraint, whose reactions are Bᵀλ.
    pub fn new(group: Group) -> Self {
        Self { group, general: false }
    }

    /// Also a nonholonomic constraint, forces nonlinear in both multipliers, a first-order and an algebraic
    /// state.
    pub fn general(group: Group) -> Self {
        Self { group, general: true }
    }

    /// Initial values, consistent up to small corrections.
    pub fn initial(self) -> Initial {
        let second = so3::exp(&Vector3::new(-0.4, 0.2, 0.9));
        let configuration = [0.3, 1.0, 0.0, 0.0, 0.0, second.w, second.i, second.j, second.k, 0.2, -0.5, 0.7];
        let velocity: [f64; 10] = std::array::from_fn(|i| (1.0 + 2.0 * i as f64).sin());
        let mut initial = Initial::new(0.0, configuration, velocity);
        if self.general {
            initial.internal_states = vec![0.5, 0.0];
        }
        initial
    }

    /// B.
    fn gradient(self, at: &Point) -> [f64; 10] {
        let [first, second] = turned(at);
        let of_first = AXIS.cross(&first.inverse_transform_vector(&(second * ARM)));
        let of_second = ARM.cross(&second.inverse_transform_vector(&(first * AXIS)));
        let of_position = match self.group {
            Group::Se3 => second.inverse_transform_vector(&Vector3::y()),
            _ => Vector3::y(),
        };
        let [a, b, c] = [of_first, of_second, of_position].map(<[f64; 3]>::from);
        [-1.0, a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]
    }

    /// The nonholonomic constraint, the states, and what they and their multiplier push.
    fn evaluate_general(at: &Point, out: &mut Residual) {
        let ([first, _], slider, velocity) = (turned(at), at.configuration[0], at.velocity);
        let (lambda, psi, [c, s]) = (
            at.multipliers[0],
            at.nonholonomic_multipliers[0],
            [at.internal_states[0], at.internal_states[1]],
        );
        let axis = first * AXIS;
        out.nonholonomic[0] =
            velocity[7] - axis.x * velocity[4] - 0.3 * velocity[5].powi(2) - slider * velocity[2];
        out.internal_rates[0] = -3.0 * c + 0.8 * velocity[1] + 0.2 * lambda + slider * axis.y;
        out.internal_rates[1] = s + 0.1 * s.powi(3) - c - 0.2 * velocity[3] * slider;
        out.equilibrium[2] -= slider * psi;
        out.equilibrium[3] -= 2.0 * c * s;
        out.equilibrium[4] -= axis.x * psi * psi + s * slider;
        out.equilibrium[6] += 0.3 * lambda.powi(2) * axis.z;
        out.equilibrium[7] += psi + 0.1 * psi.powi(3);
    }
}

/// Rotations of the two bodies.
fn turned(at: &Point) -> [UnitQuaternion; 2] {
    [quaternion(&at.configuration[1..]), quaternion(&at.configuration[5..])]
}

impl Dae for Coupled {
    fn shape(&self) -> Shape {
        let space = Space::new([Group::Vector(1), Group::So3, self.group]);
        let shape = Shape::new(space).with_constraints([1]);
        if !self.general {
            return shape;
        }
        let internal_states = [false, true].map(|algebraic| StateGroup { size: 1, algebraic });
        shape.with_nonholonomic([1]).with_general_reactions().with_internal_states(internal_states)
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let [first, second] = turned(at);
        let (slider, axis, arm) = (at.configuration[0], first * AXIS, second * ARM);
        let gradient = Self::gradient(*self, at);
        for (i, equilibrium) in out.equilibrium.iter_mut().enumerate() {
            let next = (i + 1) % 10;
            *equilibrium = (2.0 + i as f64) * at.acceleration[i]
                + (0.3 + 0.2 * slider) * at.acceleration[next]
                + at.velocity[i] * at.velocity[next] * axis.x
                + (arm.y + at.configuration[9]) * slider
                + gradient[i] * at.multipliers[0];
        }
        out.violation[0] = axis.dot(&arm) - slider + at.configuration[10];
        if self.general {
            Self::evaluate_general(at, out);
        }
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let gradient = Self::gradient(*self, at);
        out.values_mut().iter_mut().zip(gradient).for_each(|(out, value)| *out += value);
    }
}
