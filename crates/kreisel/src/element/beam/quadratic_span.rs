//! The initial shape of an element with three nodes, and how what it carries is shared out among them.

use super::{Span, SpanError};
use crate::lie::{Matrix6, Pose, Vector6, se3};

/// The screws from the middle frame of an element to its ends.
#[derive(Clone, Copy, Debug)]
pub struct QuadraticSpan {
    arms: [Vector6; 2],
}

/// The end frames' shape functions and their slopes at s from −1 to 1; the middle's multiplies a screw of
/// zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// N_A = s (s − 1)/2 and N_B = s (s + 1)/2.
    pub values: [f64; 2],
    /// Their derivatives by s.
    pub slopes: [f64; 2],
}

impl Weights {
    /// The functions at a place.
    pub fn at(s: f64) -> Self {
        Self { values: [0.5 * s * (s - 1.0), 0.5 * s * (s + 1.0)], slopes: [s - 0.5, s + 0.5] }
    }

    /// ξ = N_A d_A + N_B d_B.
    #[inline]
    pub(super) fn value(&self, arms: &[Vector6; 2]) -> Vector6 {
        self.values[0] * arms[0] + self.values[1] * arms[1]
    }

    /// ξ′.
    #[inline]
    pub(super) fn slope(&self, arms: &[Vector6; 2]) -> Vector6 {
        self.slopes[0] * arms[0] + self.slopes[1] * arms[1]
    }
}

/// Where Lobatto's rule looks, which is where the nodes are, and its weights; exact up to degree 3.
const NODES: [(f64, f64); 3] = [(-1.0, 1.0 / 3.0), (0.0, 4.0 / 3.0), (1.0, 1.0 / 3.0)];

impl QuadraticSpan {
    /// The shape through three frames whose x axes are the axis of the beam.
    pub fn through([first, middle, last]: [&Pose; 3]) -> Result<Self, SpanError> {
        let arm = |end: &Pose| Span::between(middle, end).map(|span| *span.twist());
        Ok(Self { arms: [arm(first)?, arm(last)?] })
    }

    /// Strain T(ξ) ξ′ of the initial shape by s.
    pub(super) fn strain(&self, weights: &Weights) -> Vector6 {
        se3::tangent_multiply(&weights.value(&self.arms), &weights.slope(&self.arms))
    }

    /// Length by s.
    pub(super) fn metric(&self, weights: &Weights) -> f64 {
        self.strain(weights).fixed_rows::<3>(3).norm()
    }

    /// Lengths for which the nodes stand, by Lobatto's rule.
    pub fn node_lengths(&self) -> [f64; 3] {
        NODES.map(|(s, weight)| weight * self.metric(&Weights::at(s)))
    }

    /// Length along the axis in m.
    pub fn length(&self) -> f64 {
        self.node_lengths().iter().sum()
    }
}

/// What of an element a node carries.
#[derive(Clone, Copy, Debug)]
pub enum Share {
    /// Half of an element with two nodes, as a rigid body on its node.
    Half(Span, super::Half),
    /// A section times a length: what Lobatto's rule makes of an element with three nodes.
    Length(f64),
}

impl Share {
    /// Mass matrix about the node, from that of a section per length.
    pub fn mass(&self, section: &Matrix6) -> Matrix6 {
        match self {
            Self::Half(span, half) => span.half_mass(*half, section),
            Self::Length(length) => *length * section,
        }
    }

    /// Wrench on the node per load (torque, force) per length that keeps to the axes of the sections.
    pub fn following(&self) -> Matrix6 {
        match self {
            Self::Half(span, half) => span.half_following_load(*half),
            Self::Length(length) => *length * Matrix6::identity(),
        }
    }

    /// Wrench on the node, in its axes, per load (torque, force) per length in the axes of the node.
    pub fn dead(&self) -> Matrix6 {
        match self {
            Self::Half(span, half) => span.half_dead_load(*half),
            Self::Length(length) => *length * Matrix6::identity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lie::{UnitQuaternion, Vector3};

    /// A frame on a circle of radius 1 about (0, 1, 0), which starts at the origin along x.
    fn on_circle(angle: f64) -> Pose {
        let turn = UnitQuaternion::from_scaled_axis(angle * Vector3::z());
        Pose::new(turn, Vector3::new(angle.sin(), 1.0 - angle.cos(), 0.0))
    }

    #[test]
    fn an_arc_has_constant_strain_and_its_own_length() {
        let frames = [0.2, 0.7, 1.2].map(on_circle);
        let span = QuadraticSpan::through(frames.each_ref()).unwrap();
        // Logarithms of poses of size one: some dozen roundings.
        assert!((span.length() - 1.0).abs() < 1e-14);
        for s in [-1.0, -0.3, 0.0, 0.8] {
            let strain = span.strain(&Weights::at(s));
            let expected = Vector6::new(0.0, 0.0, 0.5, 0.5, 0.0, 0.0);
            assert!((strain - expected).norm() < 1e-14, "{strain}");
        }
    }

    #[test]
    fn the_nodes_of_a_straight_rod_have_its_mass_and_moment_of_inertia() {
        let at = |x: f64| Pose::new(UnitQuaternion::identity(), Vector3::new(x, 0.0, 0.0));
        let frames = [0.0, 1.5, 3.0].map(at);
        let span = QuadraticSpan::through(frames.each_ref()).unwrap();
        let mut section = Matrix6::zeros();
        section.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(2.0);
        let mut whole = Matrix6::zeros();
        for (frame, length) in frames.iter().zip(span.node_lengths()) {
            let carried = se3::adjoint(&frame.inverse());
            whole += carried.transpose() * Share::Length(length).mass(&section) * carried;
        }
        // Mass 6 kg; inertia of a rod about its end m L²/3 = 18 kg m².
        assert!((whole[(3, 3)] - 6.0).abs() < 1e-14 && (whole[(1, 1)] - 18.0).abs() < 1e-13, "{whole}");
    }

    #[test]
    fn frames_at_one_point_are_refused() {
        let frames = [0.0, 0.0, 0.5].map(on_circle);
        assert!(matches!(QuadraticSpan::through(frames.each_ref()), Err(SpanError::NoLength { .. })));
    }
}
