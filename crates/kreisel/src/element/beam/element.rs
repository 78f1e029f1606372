//! The elastic element between two frames of a beam.
//!
//! With G = T⁻¹(d) the screw d = log(H_A⁻¹ H_B) changes by δd = G δh_B + (d̂ − G) δh_A, because
//! T⁻¹(−d) = T⁻¹(d) − d̂. The section forces n = K (ε + η ε̇) then act on the frames with
//!
//! ```text
//! r_B = Gᵀ n,   r_A = (d̂ − G)ᵀ n = d̂ᵀ n − r_B                    [SonnevilleCardonaBruls2014, Sec. 4]
//! ```
//!
//! the gradient of the energy if nothing is damped. The derivative of the matrices G and d̂ in them makes the
//! geometric stiffness. It is proportional to n, and a first guess that turns a slender beam a little wrongly
//! stretches it a lot: Newton's matrix there holds forces that never act. Its steps take n from the last step
//! instead, and then where the corrections lead, which is Newton's method for forces and motions as separate
//! unknowns [MagisanoLeonettiGarcea2017, Sec. 3]. K is that of [`Span::stiffness`]. η is the time of a
//! Kelvin–Voigt damping in proportion to the stiffness.

use super::carrier::Carriers;
use super::{BeamEnd, Section, Span};
use crate::dae::TangentWeights;
use crate::element::{Element, ElementFacts, Forces};
use crate::kinematics::{LocalTangent, Motion, join, split};
use crate::lie::{Matrix3, Matrix6, Pose, Vector6, se3, skew, so3};

/// Strain of an element and the forces in its sections, in section axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamStrain {
    /// Curvatures κ in 1/m and stretches γ, beyond those of the initial shape.
    pub strain: Vector6,
    /// Torque in Nm and force in N, as the part at larger s exerts them on the part at smaller s.
    pub force: Vector6,
}

/// A geometrically exact beam element.
#[derive(Clone, Debug)]
pub struct Beam {
    carriers: Carriers<2>,
    /// K/L.
    stiffness: Matrix6,
    /// Inverse of the section's own stiffness, for strains to be shown.
    flexibility: Matrix6,
    /// The screw d₀ of the initial shape.
    reference: Vector6,
    /// η in s.
    damping_time: f64,
}

/// The screw between the ends and its rate.
struct ElementShape {
    twist: Vector6,
    rate: Vector6,
    operator: se3::InverseTangent,
    /// Twists of the two ends.
    velocities: [Vector6; 2],
}

impl Beam {
    /// An element between two ends that stand in their initial places.
    pub fn new(ends: [BeamEnd; 2], span: &Span, section: &Section, damping_time: f64) -> Self {
        let flexibility = section.flexibility();
        Self {
            carriers: Carriers::new(ends),
            stiffness: span.stiffness(&flexibility) / span.length(),
            flexibility,
            reference: *span.twist(),
            damping_time,
        }
    }

    /// The screw d₀ between the ends of the initial shape.
    pub fn reference(&self) -> &Vector6 {
        &self.reference
    }

    /// Length of the initial shape in m.
    pub fn length(&self) -> f64 {
        self.reference.fixed_rows::<3>(3).norm()
    }

    /// Section force and torque per mean strain (d − d₀)/L of the element.
    pub fn section_stiffness(&self) -> Matrix6 {
        self.length() * self.stiffness
    }

    /// Strain and section forces, damping included.
    pub fn strain(&self, at: &Motion) -> BeamStrain {
        let shape = self.shape(at);
        let elastic = self.stiffness * (shape.twist - self.reference);
        BeamStrain { strain: self.flexibility * elastic, force: self.force(&shape) }
    }

    fn shape(&self, at: &Motion) -> ElementShape {
        let ([first, second], velocities) = (self.carriers.frames(at), self.carriers.velocities(at));
        let twist = screw(&first, &second);
        let operator = se3::InverseTangent::at(&twist).expect("the logarithm has less than a full turn");
        let rate = match self.damping_time != 0.0 {
            true => {
                operator.multiply(&(velocities[1] - velocities[0]))
                    + se3::hat_multiply(&twist, &velocities[0])
            }
            false => Vector6::zeros(),
        };
        ElementShape { twist, rate, operator, velocities }
    }

    /// n = K (ε + η ε̇).
    fn force(&self, shape: &ElementShape) -> Vector6 {
        self.stiffness * (shape.twist - self.reference + self.damping_time * shape.rate)
    }

    /// Adds what section forces n do to the nodes.
    fn add_wrenches(&self, shape: &ElementShape, force: &Vector6, out: &mut [Vector6]) {
        let second = shape.operator.transpose_multiply(force);
        let first = bracket_transpose(&shape.twist, force) - second;
        self.carriers.add_wrenches(&[first, second], out);
    }
}

impl Element for Beam {
    fn facts(&self) -> ElementFacts<'_> {
        let nodes = self.carriers.nodes();
        ElementFacts { memory: 6, follows: true, costly_tangent: true, ..ElementFacts::on(nodes) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let shape = self.shape(at);
        if let Some(wrenches) = out.wrenches.take() {
            self.add_wrenches(&shape, &self.force(&shape), wrenches);
        }
        if let Some(wrenches) = out.remembered_wrenches.take() {
            self.add_wrenches(&shape, &Vector6::from_column_slice(at.memory), wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            self.add_tangent(&shape, at, out.weights, tangent);
        }
        if let Some(energies) = out.energies.take() {
            let stretch = shape.twist - self.reference;
            energies.strain = 0.5 * stretch.dot(&(self.stiffness * stretch));
        }
        if let Some(power) = out.power.take() {
            power.dissipated = self.damping_time * shape.rate.dot(&(self.stiffness * shape.rate));
        }
    }

    fn remember(&self, at: &Motion, since: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        let force = match since {
            None => self.force(&self.shape(at)),
            Some((before, moves)) => {
                let (shape, [first, second]) = (self.shape(before), self.carriers.moved(moves));
                // δd = G δh_B + (d̂ − G) δh_A.
                let change =
                    shape.operator.multiply(&(second - first)) + se3::hat_multiply(&shape.twist, &first);
                self.force(&shape) + self.stiffness * change
            }
        };
        memory.copy_from_slice(force.as_slice());
    }
}

impl Beam {
    fn add_tangent(
        &self,
        shape: &ElementShape,
        at: &Motion,
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        let gradient = shape.operator.matrix();
        let bracket = se3::hat(&shape.twist);
        let damped = self.damping_time != 0.0;
        if damped {
            let matrix = self.damping_time * self.stiffness;
            self.add_products(
                &(gradient.tr_mul(&matrix)),
                &bracket.tr_mul(&matrix),
                &gradient,
                &bracket,
                |i, j, block| {
                    *out.damping(i, j) += block;
                },
            );
        }
        if weights.stiffness {
            let force = match weights.remembered_forces {
                true => Vector6::from_column_slice(at.memory),
                false => self.force(shape),
            };
            let mut matrix = self.stiffness;
            if damped {
                // ∂ḋ/∂d at fixed twists of the ends, with d̂ v = −v̂ d.
                let [first, second] = shape.velocities;
                let by_twist = shape.operator.derivative(&(second - first)) - se3::hat(&first);
                matrix += self.damping_time * self.stiffness * by_twist;
            }
            let second = gradient.tr_mul(&matrix) + shape.operator.transpose_derivative(&force);
            let both = bracket.tr_mul(&matrix) + bracket_transpose_derivative(&force);
            self.add_products(&second, &both, &gradient, &bracket, |i, j, block| {
                *out.stiffness(i, j) += block;
            });
        }
    }

    /// Adds the blocks of rows X (second end) and Y − X (first end) times (d̂ − G, G) of the columns.
    fn add_products(
        &self,
        second: &Matrix6,
        both: &Matrix6,
        gradient: &Matrix6,
        bracket: &Matrix6,
        mut add: impl FnMut(usize, usize, &Matrix6),
    ) {
        let first = both - second;
        for (rows, derivative) in [(0, &first), (1, second)] {
            let by_second = derivative * gradient;
            let by_first = derivative * bracket - by_second;
            self.carriers.add_block(rows, 0, &by_first, &mut add);
            self.carriers.add_block(rows, 1, &by_second, &mut add);
        }
    }
}

/// d = log(H_A⁻¹ H_B).
#[inline]
pub(super) fn screw(first: &Pose, second: &Pose) -> Vector6 {
    let relative = Pose::new(
        so3::compose(&first.rotation.inverse(), &second.rotation),
        first.rotation.inverse_transform_vector(&(second.position - first.position)),
    );
    se3::log(&relative).expect("the logarithm has less than a full turn")
}

/// d̂ᵀ n.
#[inline]
pub(super) fn bracket_transpose(twist: &Vector6, force: &Vector6) -> Vector6 {
    let ((theta, u), (torque, push)) = (split(twist), split(force));
    join(&(torque.cross(&theta) + push.cross(&u)), &push.cross(&theta))
}

/// ∂(d̂ᵀ n)/∂d.
#[inline]
pub(super) fn bracket_transpose_derivative(force: &Vector6) -> Matrix6 {
    let (torque, push) = split(force);
    let (torque, push): (Matrix3, Matrix3) = (skew(&torque), skew(&push));
    let mut out = Matrix6::zeros();
    out.fixed_view_mut::<3, 3>(0, 0).copy_from(&torque);
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(&push);
    out.fixed_view_mut::<3, 3>(3, 0).copy_from(&push);
    out
}
