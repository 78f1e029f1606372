//! The elastic element between two frames of a beam.
//!
//! With G = T⁻¹(d) the screw d = log(H_A⁻¹ H_B) changes by δd = G δh_B + (d̂ − G) δh_A, because T⁻¹(−d) =
//! T⁻¹(d) − d̂. An energy W(e) of the mean strain e = (d − d₀)/L acts on the frames with its gradient g =
//! ∂W/∂(L e):
//!
//! ```text
//! r_B = Gᵀ g,   r_A = (d̂ − G)ᵀ g = d̂ᵀ g − r_B                    [SonnevilleCardonaBruls2014, Sec. 4]
//! ```
//!
//! Of a transverse force most of what the screw shows as shear is bending: the element is bowed like an S,
//! which K* of [`Span::stiffness`] knows. But the stretch of the screw is measured along the normal of the
//! middle section, and there an S is not what a shear is. In a plane let the sections be sheared by σ
//! against the axis, and let the axis leave its chord by an angle −b P(s) with P = 6 s² − ½ (s from −½ to ½),
//! Legendre's second polynomial, as a force across makes it; b is the angle between chord and mean of the end
//! sections. The screw has the shear γ = σ + b. With the stretch ε along the normals of the sections the axis
//! is longer than the material by ε + ½ σ², and the chord shorter than the axis by ½ b² mean(P²) = b²/10. The
//! screw shows the chord seen along the normal, the chord less ½ γ². Altogether
//!
//! ```text
//! stretch of the screw = ε + ½ σ² − b²/10 − ½ (σ + b)²,   so   ε = stretch of the screw + γ b − ⅖ b²
//! ```
//!
//! Without the last two terms, q, a pull N turns the sections of slender elements over as soon as it exceeds
//! 12 EI/L²: it finds the S too short by ⅗ b². With them the stiffness against an S is 12 EI/L² + N/5, the
//! first two terms of the exact one. That of a C and that of the chord are right without.
//!
//! In space a third term joins them. A screw that is bent by ψ and twisted by τ is a helix: the plane of its
//! bending turns with the sections. An element whose end sections turn about their own axes stays in its
//! plane instead, and that is an S in the axes of the sections, b = m with m = τψ/12 along the axis of
//! the bending. Counted as above, with ε of the helix, the stretch relative to that of the untwisted arc is
//! (to fourth order, b = γ)
//!
//! ```text
//! b²/10 − b m + 3/10 m²,   which is −(3/5) m² at b = m and −(11/5) m² at its smallest, b = 5 m
//! ```
//!
//! so that a pull N twists limp elements as soon as it exceeds 33 GJ/(L ψ)². But tangents of the axis alone
//! decide how long it is, and these say b − m in place of b: (b − m)²/10, in which b m has a fifth of the
//! weight above. So ⅘ b m is added to q, as a product of vectors with m = θ_t θ/12 across the axis t, θ
//! the turn of the screw; what is left is (b − m)²/10 + m²/5. Nothing is added where b = 0: helices stay
//! exact.
//!
//! With b linear in e ([`Span::bow`]) and with the axis t₆ = (0, t)
//!
//! ```text
//! q = ½ eᵀ Q e + (C e)·w,   w = θ_t θ − (θ_t θ)₀,   a = ∂q/∂e,   H = ∂a/∂e
//! ε̄ = e + t₆ q,   W = L/2 ε̄ᵀ K* ε̄,   A = ∂ε̄/∂e = 1 + t₆ aᵀ
//! n = K* (ε̄ + η A ė),   g = Aᵀ n = n + N a,   N = t·n_force
//! ∂g/∂e = Aᵀ K* A + N H = K* + a yᵀ + y aᵀ + N H,   y = K* t₆ + ½ (t₆ᵀ K* t₆) a     (no damping)
//! ```
//!
//! n are the section forces in the middle. The square of the whole stretch has to stay: without its term of
//! fourth order slender elements lock. Pure bending, torsion and stretch have b = 0 and are as exact as the
//! screw is. With β = GA/(GA + 12 EI/L²) the stiffness against an S is (1 − β) GA − N (1 − 2β + ⅘ β²),
//! positive for every N below GA: elements of any length are stable up to where a beam with shear [Simo1985]
//! itself turns over. Only d enters, so that rigid motions cost nothing and the way to a shape does not
//! matter.
//!
//! The derivative of the matrices G and d̂ in r makes the geometric stiffness. It is proportional to n, and a
//! first guess that turns a slender beam a little wrongly stretches it a lot: Newton's matrix there holds
//! forces that never act. Its steps take n from the last step instead, and then where the corrections lead,
//! which is Newton's method for forces and motions as separate unknowns [MagisanoLeonettiGarcea2017, Sec. 3].
//! η is the time of a Kelvin–Voigt damping in proportion to the stiffness.

use super::carrier::Carriers;
use super::{BeamEnd, BowStretch, Section, Span};
use crate::dae::TangentWeights;
use crate::element::{Element, ElementFacts, Forces};
use crate::kinematics::{LocalTangent, Motion, join, split};
use crate::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6, se3, skew, so3};

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
    /// K*/L.
    stiffness: Matrix6,
    /// Q/L and C.
    bow: BowStretch,
    /// (θ_t θ)₀.
    initial_turns: Vector3,
    /// Direction t of the axis.
    axis: Vector3,
    /// K* t₆/L.
    pull: Vector6,
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
    /// d − d₀.
    change: Vector6,
    /// q L.
    bow_stretch: f64,
    /// a.
    bow: Vector6,
}

impl Beam {
    /// An element between two ends that stand in their initial places.
    pub fn new(ends: [BeamEnd; 2], span: &Span, section: &Section, damping_time: f64) -> Self {
        let (flexibility, length) = (section.flexibility(), span.length());
        let stiffness = span.stiffness(&flexibility);
        let bow = span.bow(&flexibility, &stiffness);
        let axis = span.axis();
        Self {
            carriers: Carriers::new(ends),
            stiffness: stiffness / length,
            bow: BowStretch { straight: bow.straight / length, ..bow },
            initial_turns: turns(&axis, &split(span.twist()).0),
            axis,
            pull: stiffness * join(&Vector3::zeros(), &axis) / length,
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

    /// Strain and section forces, damping included.
    pub fn strain(&self, at: &Motion) -> BeamStrain {
        let shape = self.shape(at);
        let elastic = self.stiffness * self.stretched(&shape);
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
        let change = twist - self.reference;
        let (bow_stretch, bow) = self.bow(&twist, &change);
        ElementShape { twist, rate, operator, velocities, change, bow_stretch, bow }
    }

    /// q L and a.
    fn bow(&self, twist: &Vector6, change: &Vector6) -> (f64, Vector6) {
        let (turn, _) = split(twist);
        let (straight, bent) = (self.bow.straight * change, self.bow.twisted * change);
        let turns = turns(&self.axis, &turn) - self.initial_turns;
        let mut gradient = straight + self.bow.twisted.tr_mul(&turns);
        let mut by_turn = gradient.fixed_rows_mut::<3>(0);
        by_turn += self.axis * bent.dot(&turn) + self.axis.dot(&turn) * bent;
        (0.5 * straight.dot(change) + bent.dot(&turns), gradient)
    }

    /// H/L.
    fn bow_curvature(&self, shape: &ElementShape) -> Matrix6 {
        let (turn, _) = split(&shape.twist);
        let bent: Vector3 = self.bow.twisted * shape.change;
        // ∂w/∂θ.
        let by_turn = turn * self.axis.transpose() + self.axis.dot(&turn) * Matrix3::identity();
        let mut half = Matrix6::zeros();
        half.fixed_view_mut::<6, 3>(0, 0).copy_from(&self.bow.twisted.tr_mul(&by_turn));
        let mut both_turns = half.fixed_view_mut::<3, 3>(0, 0);
        both_turns += self.axis * bent.transpose();
        self.bow.straight + half + half.transpose()
    }

    /// v + s t₆.
    fn along(&self, mut v: Vector6, s: f64) -> Vector6 {
        let mut translation = v.fixed_rows_mut::<3>(3);
        translation += s * self.axis;
        v
    }

    /// ε̄ L = (e + t₆ q) L.
    fn stretched(&self, shape: &ElementShape) -> Vector6 {
        self.along(shape.change, shape.bow_stretch)
    }

    /// A v.
    fn with_bow(&self, shape: &ElementShape, v: &Vector6) -> Vector6 {
        self.along(*v, shape.bow.dot(v))
    }

    /// n = K* (ε̄ + η A ė).
    fn force(&self, shape: &ElementShape) -> Vector6 {
        let mut strain = self.stretched(shape);
        if self.damping_time != 0.0 {
            strain += self.damping_time * self.with_bow(shape, &shape.rate);
        }
        self.stiffness * strain
    }

    /// N of section forces n.
    fn tension(&self, force: &Vector6) -> f64 {
        force.fixed_rows::<3>(3).dot(&self.axis)
    }

    /// g = n + N a.
    fn gradient(&self, shape: &ElementShape, force: &Vector6) -> Vector6 {
        force + self.tension(force) * shape.bow
    }

    /// Wrenches of section forces n on the two end sections, in their axes.
    fn end_wrenches(&self, shape: &ElementShape, force: &Vector6) -> [Vector6; 2] {
        let gradient = self.gradient(shape, force);
        let second = shape.operator.transpose_multiply(&gradient);
        [bracket_transpose(&shape.twist, &gradient) - second, second]
    }

    /// Adds what section forces n do to the nodes.
    fn add_wrenches(&self, shape: &ElementShape, force: &Vector6, out: &mut [Vector6]) {
        self.carriers.add_wrenches(&self.end_wrenches(shape, force), out);
    }

    /// Wrenches on the two end sections, in their axes, with the sign of the equilibrium.
    pub fn section_wrenches(&self, at: &Motion) -> [Vector6; 2] {
        let shape = self.shape(at);
        self.end_wrenches(&shape, &self.force(&shape))
    }

    /// Aᵀ K* A/L.
    fn bowed_stiffness(&self, shape: &ElementShape) -> Matrix6 {
        let y = self.pull + 0.5 * self.tension(&self.pull) * shape.bow;
        let product = shape.bow * y.transpose();
        self.stiffness + product + product.transpose()
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
            let stretch = self.stretched(&shape);
            energies.strain = 0.5 * stretch.dot(&(self.stiffness * stretch));
        }
        if let Some(power) = out.power.take() {
            let rate = self.with_bow(&shape, &shape.rate);
            power.dissipated = self.damping_time * rate.dot(&(self.stiffness * rate));
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
                self.force(&shape) + self.stiffness * self.with_bow(&shape, &change)
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
        let mut matrix = self.bowed_stiffness(shape);
        if damped {
            let matrix = self.damping_time * matrix;
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
            if damped {
                // ∂ḋ/∂d at fixed twists of the ends, with d̂ v = −v̂ d; and A changes with d.
                let [first, second] = shape.velocities;
                let by_twist = shape.operator.derivative(&(second - first)) - se3::hat(&first);
                let by_bow = (self.pull + self.tension(&self.pull) * shape.bow)
                    * (self.bow_curvature(shape) * shape.rate).transpose();
                matrix += self.damping_time * (matrix * by_twist + by_bow);
            }
            matrix += self.tension(&force) * self.bow_curvature(shape);
            let force = self.gradient(shape, &force);
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

/// θ_t θ of a turn θ.
#[inline]
fn turns(axis: &Vector3, turn: &Vector3) -> Vector3 {
    axis.dot(turn) * turn
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
