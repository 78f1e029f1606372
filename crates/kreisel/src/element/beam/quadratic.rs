//! The elastic element through three frames of a beam.
//!
//! About its middle frame the element is a curve of degree two in the twists of the Lie algebra,
//!
//! ```text
//! H(s) = H_M exp(ξ(s)),   ξ = N_A d_A + N_B d_B,   d_A = log(H_M⁻¹ H_A),   d_B = log(H_M⁻¹ H_B),   s from −1 to 1
//! ```
//!
//! the screws of [SonnevilleCardonaBruls2014, Sec. 4], of which there are two here, joined by Lagrange's
//! polynomials. A rigid motion changes neither screw, nothing depends on how a shape was reached, and arcs
//! and helices are exact because their ξ is linear. The strain by s is e = T(ξ) ξ′; that of the initial
//! shape, e₀, is taken off, and with the length J = |e₀'s stretch| by s the energy is ½ Σ (e − e₀)ᵀ K/J (e −
//! e₀) over the two points of Gauss. With these, of four strains that an element with three nodes can tell
//! apart none asks for a shear that bending does not have, so that there is nothing to lock.
//!
//! The section forces n = K/J (e − e₀ + η ė) act on the screws with f = Σ (N Dᵀ + N′ Tᵀ) n, D = ∂(T(ξ)
//! ξ′)/∂ξ, and on the frames as in an element with two of them. Their change with the shape is the geometric
//! stiffness; it takes n from where Newton's corrections lead, for the reason told there.

use super::carrier::Carriers;
use super::element::{bracket_transpose, bracket_transpose_derivative, screw};
use super::quadratic_span::Weights;
use super::{BeamEnd, BeamStrain, QuadraticSpan, Section};
use crate::dae::TangentWeights;
use crate::element::{Element, ElementFacts, Forces};
use crate::kinematics::{LocalTangent, Motion};
use crate::lie::{Matrix6, Vector6, se3};

/// 1/√3: Gauss's two points, each of weight 1, are at ∓ this.
pub const GAUSS: f64 = 0.577_350_269_189_625_8;

/// Where in the list of frames the two ends are, and the middle.
const ENDS: [usize; 2] = [0, 2];
const MIDDLE: usize = 1;

/// A Gauss point: everything of it that does not move.
#[derive(Clone, Debug)]
struct GaussPoint {
    weights: Weights,
    /// K/J.
    stiffness: Matrix6,
    /// e₀.
    reference: Vector6,
    /// J.
    metric: f64,
}

/// A geometrically exact beam element with three nodes.
#[derive(Clone, Debug)]
pub struct QuadraticBeam {
    carriers: Carriers<3>,
    points: [GaussPoint; 2],
    /// η in s.
    damping_time: f64,
}

/// The screws from the middle to the ends, and their rates.
struct QuadraticShape {
    arms: [Vector6; 2],
    rates: [Vector6; 2],
    operators: [se3::InverseTangent; 2],
    /// Twists of the frames.
    velocities: [Vector6; 3],
}

/// A Gauss point in motion.
struct GaussKinematics {
    /// ξ′.
    slope: Vector6,
    operator: se3::TangentOperator,
    /// ∂e/∂d of the two arms: N D + N′ T.
    gradients: [Matrix6; 2],
    /// e − e₀.
    strain: Vector6,
    /// ė.
    rate: Vector6,
}

/// Derivatives of f for the two arms by both arms.
type ArmBlocks = [[Matrix6; 2]; 2];

impl QuadraticBeam {
    /// An element through first end, middle and second end, which stand in their initial places.
    pub fn new(ends: [BeamEnd; 3], span: &QuadraticSpan, section: &Section, damping_time: f64) -> Self {
        let stiffness = section.resolved_stiffness(span.length());
        let points = [-GAUSS, GAUSS].map(|s| {
            let weights = Weights::at(s);
            let metric = span.metric(&weights);
            let reference = span.strain(&weights);
            GaussPoint { weights, stiffness: stiffness / metric, reference, metric }
        });
        Self { carriers: Carriers::new(ends), points, damping_time }
    }

    /// Strain and section forces, damping included, at the two points of Gauss, ∓[`GAUSS`] half lengths from
    /// the middle.
    pub fn strains(&self, at: &Motion) -> [BeamStrain; 2] {
        let shape = self.shape(at);
        self.points.each_ref().map(|point| {
            let place = self.place(point, &shape);
            BeamStrain { strain: place.strain / point.metric, force: self.force(point, &place) }
        })
    }

    fn damped(&self) -> bool {
        self.damping_time != 0.0
    }

    fn shape(&self, at: &Motion) -> QuadraticShape {
        let (frames, velocities) = (self.carriers.frames(at), self.carriers.velocities(at));
        let arms = ENDS.map(|end| screw(&frames[MIDDLE], &frames[end]));
        let operators = arms
            .each_ref()
            .map(|arm| se3::InverseTangent::at(arm).expect("the logarithm has less than a full turn"));
        let rates = match self.damped() {
            true => arm_changes(&arms, &operators, &velocities),
            false => [Vector6::zeros(); 2],
        };
        QuadraticShape { arms, rates, operators, velocities }
    }

    fn place(&self, point: &GaussPoint, shape: &QuadraticShape) -> GaussKinematics {
        let (weights, slope) = (&point.weights, point.weights.slope(&shape.arms));
        let operator = se3::TangentOperator::at(&weights.value(&shape.arms));
        let (matrix, derivative) = (operator.matrix(), operator.derivative(&slope));
        let gradients = [0, 1].map(|arm| weights.values[arm] * derivative + weights.slopes[arm] * matrix);
        let strain = matrix * slope - point.reference;
        let rate = match self.damped() {
            true => gradients[0] * shape.rates[0] + gradients[1] * shape.rates[1],
            false => Vector6::zeros(),
        };
        GaussKinematics { slope, operator, gradients, strain, rate }
    }

    /// n = K/J (e − e₀ + η ė).
    fn force(&self, point: &GaussPoint, place: &GaussKinematics) -> Vector6 {
        point.stiffness * (place.strain + self.damping_time * place.rate)
    }

    /// Wrenches on the three sections, in their axes, with the sign of the equilibrium.
    pub fn section_wrenches(&self, at: &Motion) -> [Vector6; 3] {
        let shape = self.shape(at);
        let places = self.points.each_ref().map(|point| self.place(point, &shape));
        let forces = [0, 1].map(|index| self.force(&self.points[index], &places[index]));
        self.wrenches(&shape, &places, &forces)
    }

    /// Wrenches of section forces n at the points of Gauss on the three sections.
    fn wrenches(
        &self,
        shape: &QuadraticShape,
        places: &[GaussKinematics; 2],
        forces: &[Vector6; 2],
    ) -> [Vector6; 3] {
        let mut on_arms = [Vector6::zeros(); 2];
        for (place, force) in places.iter().zip(forces) {
            for (sum, gradient) in on_arms.iter_mut().zip(&place.gradients) {
                *sum += gradient.tr_mul(force);
            }
        }
        let mut wrenches = [Vector6::zeros(); 3];
        for arm in 0..2 {
            let end = shape.operators[arm].transpose_multiply(&on_arms[arm]);
            wrenches[ENDS[arm]] = end;
            wrenches[MIDDLE] += bracket_transpose(&shape.arms[arm], &on_arms[arm]) - end;
        }
        wrenches
    }

    /// Adds what section forces n at the points of Gauss do to the nodes.
    fn add_wrenches(
        &self,
        shape: &QuadraticShape,
        places: &[GaussKinematics; 2],
        forces: &[Vector6; 2],
        out: &mut [Vector6],
    ) {
        self.carriers.add_wrenches(&self.wrenches(shape, places, forces), out);
    }

    /// ∂ė/∂d of one arm, with the twists of the frames held.
    fn rate_gradient(
        &self,
        point: &GaussPoint,
        shape: &QuadraticShape,
        place: &GaussKinematics,
        arm: usize,
    ) -> Matrix6 {
        let weights = &point.weights;
        let (rate, slope_rate) = (weights.value(&shape.rates), weights.slope(&shape.rates));
        // ė = D ξ̇ + T ξ̇′: row k is that of eₖᵀ T(ξ) ξ′, differentiated twice.
        let (mut by_value, mut by_slope) = (place.operator.derivative(&slope_rate), Matrix6::zeros());
        for k in 0..6 {
            let mut unit = Vector6::zeros();
            unit[k] = 1.0;
            let mut row = by_value.row_mut(k);
            row += (place.operator.hessian(&place.slope, &unit) * rate).transpose();
            by_slope.set_row(k, &(place.operator.transpose_derivative(&unit) * rate).transpose());
        }
        // ∂ḋ/∂d, with d̂ v = −v̂ d.
        let [middle, end] = [MIDDLE, ENDS[arm]].map(|frame| shape.velocities[frame]);
        let arm_rate = shape.operators[arm].derivative(&(end - middle)) - se3::hat(&middle);
        weights.values[arm] * by_value + weights.slopes[arm] * by_slope + place.gradients[arm] * arm_rate
    }

    /// Adds Σ ∂eᵀ K/J ∂n to the blocks of the arms, and the change of ∂e under the forces n.
    fn add_stiffness(
        &self,
        point: &GaussPoint,
        shape: &QuadraticShape,
        place: &GaussKinematics,
        force: &Vector6,
        blocks: &mut ArmBlocks,
    ) {
        let weights = &point.weights;
        let by_both = place.operator.transpose_derivative(force);
        let by_value = place.operator.hessian(&place.slope, force);
        for column in 0..2 {
            let mut change = place.gradients[column];
            if self.damped() {
                change += self.damping_time * self.rate_gradient(point, shape, place, column);
            }
            let force_change = point.stiffness * change;
            for (row, blocks) in blocks.iter_mut().enumerate() {
                // ∂²(nᵀ e): N N ∂²/∂ξ², N′ N ∂(Tᵀ n)/∂ξ and its transpose for N N′.
                let [value, slope] = [weights.values[row], weights.slopes[row]];
                let geometric = value * weights.values[column] * by_value
                    + slope * weights.values[column] * by_both
                    + value * weights.slopes[column] * by_both.transpose();
                blocks[column] += place.gradients[row].tr_mul(&force_change) + geometric;
            }
        }
    }

    /// Hands on derivatives by the arms as derivatives by the twists of the frames.
    ///
    /// r_X = G_Xᵀ f_X on an end and Σ d̂_Xᵀ f_X − r_X on the middle; `own` are ∂(Gᵀ f)/∂d and ∂(d̂ᵀ f)/∂d at
    /// fixed f.
    fn add_products(
        &self,
        shape: &QuadraticShape,
        blocks: &ArmBlocks,
        own: Option<&[[Matrix6; 2]; 2]>,
        mut add: impl FnMut(usize, usize, &Matrix6),
    ) {
        let gradients = shape.operators.each_ref().map(se3::InverseTangent::matrix);
        let brackets = shape.arms.each_ref().map(se3::hat);
        for column in 0..2 {
            let mut rows = [Matrix6::zeros(); 3];
            for arm in 0..2 {
                let block = &blocks[arm][column];
                let mut end = gradients[arm].tr_mul(block);
                let mut both = brackets[arm].tr_mul(block);
                if let (Some(own), true) = (own, arm == column) {
                    end += own[arm][0];
                    both += own[arm][1];
                }
                rows[ENDS[arm]] = end;
                rows[MIDDLE] += both - end;
            }
            for (row, derivative) in rows.iter().enumerate() {
                let by_end = derivative * gradients[column];
                let by_middle = derivative * brackets[column] - by_end;
                self.carriers.add_block(row, ENDS[column], &by_end, &mut add);
                self.carriers.add_block(row, MIDDLE, &by_middle, &mut add);
            }
        }
    }

    /// Adds the derivatives of what section forces n do, with given n in the geometric stiffness.
    fn add_tangent(
        &self,
        shape: &QuadraticShape,
        places: &[GaussKinematics; 2],
        forces: &[Vector6; 2],
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        let mut stiffness: ArmBlocks = [[Matrix6::zeros(); 2]; 2];
        let mut damping = stiffness;
        let mut on_arms = [Vector6::zeros(); 2];
        for ((point, place), force) in self.points.iter().zip(places).zip(forces) {
            if self.damped() {
                for (row, blocks) in damping.iter_mut().enumerate() {
                    let left = self.damping_time * place.gradients[row].tr_mul(&point.stiffness);
                    for (column, block) in blocks.iter_mut().enumerate() {
                        *block += left * place.gradients[column];
                    }
                }
            }
            if weights.stiffness {
                self.add_stiffness(point, shape, place, force, &mut stiffness);
                for (sum, gradient) in on_arms.iter_mut().zip(&place.gradients) {
                    *sum += gradient.tr_mul(force);
                }
            }
        }
        if self.damped() {
            self.add_products(shape, &damping, None, |i, j, block| *out.damping(i, j) += block);
        }
        if weights.stiffness {
            let own = [0, 1].map(|arm| {
                [
                    shape.operators[arm].transpose_derivative(&on_arms[arm]),
                    bracket_transpose_derivative(&on_arms[arm]),
                ]
            });
            self.add_products(shape, &stiffness, Some(&own), |i, j, block| {
                *out.stiffness(i, j) += block;
            });
        }
    }
}

/// Remembered forces of both Gauss points.
fn remembered(at: &Motion) -> [Vector6; 2] {
    [0, 1].map(|index| Vector6::from_column_slice(&at.memory[6 * index..6 * index + 6]))
}

/// δd = G δh_X + (d̂ − G) δh_M of both arms.
fn arm_changes(
    arms: &[Vector6; 2],
    operators: &[se3::InverseTangent; 2],
    moves: &[Vector6; 3],
) -> [Vector6; 2] {
    [0, 1].map(|arm| {
        operators[arm].multiply(&(moves[ENDS[arm]] - moves[MIDDLE]))
            + se3::hat_multiply(&arms[arm], &moves[MIDDLE])
    })
}

impl Element for QuadraticBeam {
    fn facts(&self) -> ElementFacts<'_> {
        let nodes = self.carriers.nodes();
        ElementFacts { memory: 12, follows: true, costly_tangent: true, ..ElementFacts::on(nodes) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let shape = self.shape(at);
        let places = self.points.each_ref().map(|point| self.place(point, &shape));
        let forces = || [0, 1].map(|index| self.force(&self.points[index], &places[index]));
        if let Some(wrenches) = out.wrenches.take() {
            self.add_wrenches(&shape, &places, &forces(), wrenches);
        }
        if let Some(wrenches) = out.remembered_wrenches.take() {
            self.add_wrenches(&shape, &places, &remembered(at), wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            let forces = if out.weights.remembered_forces { remembered(at) } else { forces() };
            self.add_tangent(&shape, &places, &forces, out.weights, tangent);
        }
        let points = self.points.iter().zip(&places);
        if let Some(energies) = out.energies.take() {
            let stored = |(point, place): (&GaussPoint, &GaussKinematics)| {
                0.5 * place.strain.dot(&(point.stiffness * place.strain))
            };
            energies.strain = points.clone().map(stored).sum();
        }
        if let Some(power) = out.power.take() {
            let lost = |(point, place): (&GaussPoint, &GaussKinematics)| {
                self.damping_time * place.rate.dot(&(point.stiffness * place.rate))
            };
            power.dissipated = points.map(lost).sum();
        }
    }

    fn remember(&self, at: &Motion, since: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        let shape = self.shape(since.map_or(at, |(before, _)| before));
        let changes =
            since.map(|(_, moves)| arm_changes(&shape.arms, &shape.operators, &self.carriers.moved(moves)));
        for (point, memory) in self.points.iter().zip(memory.chunks_exact_mut(6)) {
            let place = self.place(point, &shape);
            let mut force = self.force(point, &place);
            if let Some(changes) = &changes {
                let change = place.gradients[0] * changes[0] + place.gradients[1] * changes[1];
                force += point.stiffness * change;
            }
            memory.copy_from_slice(force.as_slice());
        }
    }
}
