//! The initial shape of one element: a screw from its first frame to its second.

use thiserror::Error;

use crate::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6, se3, skew, so3};
use nalgebra::Matrix3x6;

/// Why two frames make no element.
#[derive(Clone, Copy, Error, PartialEq)]
#[non_exhaustive]
pub enum SpanError {
    /// The frames stand at one point.
    #[error("its ends are only {distance:e} m apart")]
    NoLength {
        /// Distance in m.
        distance: f64,
    },
    /// The frames are turned against each other so far that the way from one to the other is not clear.
    #[error("its ends are turned against each other by {angle:.3} rad")]
    TooMuchTurn {
        /// Angle in rad.
        angle: f64,
    },
}

shown_by_message!(SpanError);

/// Which half of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// From the first end to the middle; it moves with the first end.
    First,
    /// From the middle to the second end; it moves with the second end.
    Second,
}

/// The screw d₀ between the initial frames of an element, and its length.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    twist: Vector6,
    length: f64,
}

/// The stretch q = ½ eᵀ Q e + (C e)·w that a bow adds to the mean strain e of an element, with w = θ_t θ of its
/// turn θ less that of the initial shape.
#[derive(Clone, Copy, Debug)]
pub struct BowStretch {
    /// Q.
    pub straight: Matrix6,
    /// C.
    pub twisted: Matrix3x6<f64>,
}

/// Distance in m below which two frames stand at one point: rounding of places a few kilometres away.
const SHORTEST: f64 = 1e-12;
/// Largest initial turn of an element in rad: far enough from half a turn, where the screw jumps to the other
/// side.
pub const MAX_TURN: f64 = 2.5;
/// Gauss points and weights on (0, 1); exact for polynomials of degree 7.
const POINTS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// Gauss points and weights on (−1, 1), one of each pair; exact for polynomials of degree 15, and to 1e-11
/// for the sines of elements that are turned by [`MAX_TURN`].
const WHOLE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
];

impl Span {
    /// The screw between two frames whose x axes are the axis of the beam.
    pub fn between(first: &Pose, second: &Pose) -> Result<Self, SpanError> {
        let distance = (second.position - first.position).norm();
        if distance.is_nan() || distance < SHORTEST {
            return Err(SpanError::NoLength { distance });
        }
        let relative = first.inverse().compose(second);
        let angle = so3::log(&relative.rotation).norm();
        if angle > MAX_TURN {
            return Err(SpanError::TooMuchTurn { angle });
        }
        let twist = se3::log(&relative).map_err(|_| SpanError::TooMuchTurn { angle })?;
        Ok(Self { twist, length: twist.fixed_rows::<3>(3).norm() })
    }

    /// Length along the axis in m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The screw d₀ from the first frame to the second.
    pub fn twist(&self) -> &Vector6 {
        &self.twist
    }

    /// Frame at a part of the length, seen from the first frame.
    pub fn frame_at(&self, part: f64) -> Pose {
        se3::exp(&(part * self.twist))
    }

    /// Stiffness K* of the element, which turns the mean strain e = (d − d₀)/L into the section forces n that
    /// belong to it, from the flexibility F of the sections.
    ///
    /// Nothing acts between the ends, so that the section forces in section axes obey n′ = ε̂ᵀ n. With small
    /// loads ε is that of the initial screw: at the part s of the length from the middle, from −½ to ½, they
    /// are n(s) = exp(s d̂₀)ᵀ n(0). The force on the second end is n(½), and it is T⁻ᵀ(d₀) n by the
    /// definition of n, so that n = Sᵀ n(0) with the mean S of exp(s d̂₀). What n(s) stores along the element
    /// is the mean of ½ n(s)ᵀ F n(s) times the length:
    ///
    /// ```text
    /// K*⁻¹ = S⁻¹ mean(exp(s d̂₀) F exp(s d̂₀)ᵀ) S⁻ᵀ
    /// ```
    ///
    /// Linear statics of loads at the nodes are then exact there, however an element is curved, twisted and
    /// coupled. Of a straight one this is F + d̂₀ F d̂₀ᵀ/12: the moment changes along the element by s × f,
    /// which adds L²/12 t̃ᵀ F_κκ t̃ to the flexibility of shear, with the axis t and the flexibility F_κκ of
    /// bending and torsion (the residual bending flexibility).
    pub fn stiffness(&self, flexibility: &Matrix6) -> Matrix6 {
        let (mut mean, mut whole) = (Matrix6::zeros(), Matrix6::zeros());
        for (point, weight) in WHOLE {
            for part in [-0.5 * point, 0.5 * point] {
                let carried = se3::adjoint(&self.frame_at(part));
                mean += 0.5 * weight * carried;
                whole += 0.5 * weight * carried * flexibility * carried.transpose();
            }
        }
        let inverse = whole.try_inverse().expect("positive definite, carried by regular matrices");
        let stiffness = mean.transpose() * inverse * mean;
        0.5 * (stiffness + stiffness.transpose())
    }

    /// What a bow adds to the stretch of the element, with its stiffness K* (see [`Beam`](super::Beam)).
    ///
    /// b = B e = R n_force, R = L²/12 t̃ᵀ F_κκ t̃, is the part of the shear γ = P e that is bending, and
    /// q = γ·b − ⅖ b·b + ⅘ b·m.
    pub fn bow(&self, flexibility: &Matrix6, stiffness: &Matrix6) -> BowStretch {
        let axis = self.axis();
        let arm = skew(&axis);
        let residual =
            self.length * self.length / 12.0 * arm.transpose() * flexibility.fixed_view::<3, 3>(0, 0) * arm;
        let bending: Matrix3x6<f64> = residual * stiffness.fixed_rows::<3>(3);
        let mut shear = Matrix3x6::zeros();
        shear.fixed_view_mut::<3, 3>(0, 3).copy_from(&(Matrix3::identity() - axis * axis.transpose()));
        let half = (shear - 0.4 * bending).transpose() * bending;
        BowStretch { straight: half + half.transpose(), twisted: 0.8 / 12.0 * bending }
    }

    /// Direction of the axis in the axes of the sections.
    pub(super) fn axis(&self) -> Vector3 {
        self.twist.fixed_rows::<3>(3) / self.length
    }

    /// Sums f(station seen from the node of the half) times the length that the station stands for.
    fn integrate(&self, half: Half, mut f: impl FnMut(f64, &Pose)) {
        for (point, weight) in POINTS {
            let part = match half {
                Half::First => 0.5 * point,
                Half::Second => -0.5 * point,
            };
            f(0.5 * weight * self.length, &self.frame_at(part));
        }
    }

    /// Mass matrix of a half as a rigid body on its node, from that of a section per length.
    pub fn half_mass(&self, half: Half, section: &Matrix6) -> Matrix6 {
        let mut mass = Matrix6::zeros();
        self.integrate(half, |length, station| {
            // Twist of the station from that of the node.
            let carried = se3::adjoint(&station.inverse());
            mass += length * carried.transpose() * section * carried;
        });
        0.5 * (mass + mass.transpose())
    }

    /// Wrench on the node of a half per load (torque, force) per length that keeps to the axes of the
    /// sections.
    pub fn half_following_load(&self, half: Half) -> Matrix6 {
        let mut wrench = Matrix6::zeros();
        self.integrate(half, |length, station| {
            wrench += length * se3::adjoint(&station.inverse()).transpose();
        });
        wrench
    }

    /// Wrench on the node of a half, in its axes, per load (torque, force) per length in the axes of the
    /// node.
    pub fn half_dead_load(&self, half: Half) -> Matrix6 {
        let (mut moment, mut whole) = (Vector3::zeros(), 0.0);
        self.integrate(half, |length, station| {
            moment += length * station.position;
            whole += length;
        });
        let mut wrench = whole * Matrix6::identity();
        wrench.fixed_view_mut::<3, 3>(0, 3).copy_from(&skew(&moment));
        wrench
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lie::UnitQuaternion;

    #[test]
    fn halves_of_a_straight_rod_have_its_mass_and_moment_of_inertia() {
        let end = Pose::new(UnitQuaternion::identity(), Vector3::new(3.0, 0.0, 0.0));
        let span = Span::between(&Pose::identity(), &end).unwrap();
        let mut section = Matrix6::zeros();
        section.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(2.0);
        let carried = se3::adjoint(&end.inverse());
        let whole = span.half_mass(Half::First, &section)
            + carried.transpose() * span.half_mass(Half::Second, &section) * carried;
        // Mass 6 kg; inertia of a rod about its end m L²/3 = 18 kg m².
        assert!((whole[(3, 3)] - 6.0).abs() < 1e-14 && (whole[(1, 1)] - 18.0).abs() < 1e-13, "{whole}");
    }

    #[test]
    fn an_arc_has_its_length_not_its_chord() {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.0, 1.0));
        let end = Pose::new(turn, Vector3::new(1.0_f64.sin(), 1.0 - 1.0_f64.cos(), 0.0));
        let span = Span::between(&Pose::identity(), &end).unwrap();
        // The logarithm of a pose of size one: some dozen roundings.
        assert!((span.length() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn frames_at_one_point_or_turned_too_far_are_refused() {
        let here = Pose::identity();
        assert!(matches!(Span::between(&here, &here), Err(SpanError::NoLength { .. })));
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(3.0, 0.0, 0.0));
        let there = Pose::new(turn, Vector3::x());
        assert!(matches!(Span::between(&here, &there), Err(SpanError::TooMuchTurn { .. })));
    }
}
