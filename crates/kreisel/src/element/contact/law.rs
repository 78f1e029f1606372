//! How hard surfaces push when they touch, and their friction.
//!
//! With the depth δ and its rate δ̇ the normal force is one of
//!
//! ```text
//! N = k δ + c w(δ) δ̇,   w = δ/(δ + δ₀)                        linear spring and damper
//! N = K δ^(3/2) (1 + x δ̇/v₀),   K = 4/3 E* √R                 Hertz with losses
//! ```
//!
//! and never negative: surfaces do not pull. v₀ is the speed at which the surfaces met. With m v dv/dδ = −N
//! the second law is integrated in closed form: with the speeds v₀ before and e v₀ after the contact
//!
//! ```text
//! x − ln(1 + x) = −e x − ln(1 − e x)
//! ```
//!
//! whatever masses and radii are. [`NormalLaw::hertz`] takes the x of this equation, so that the restitution
//! is e; for e → 1 it is 3 (1 − e)/2 [HuntCrossley1975, contact force model]. [`NormalLaw::flores`] takes the
//! x = 8 (1 − e)/(5 e) of [FloresMachadoSilvaMartins2011, contact force model].

use crate::lie::{Matrix3, Vector3};

/// Force of two surfaces against each other along their common normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormalLaw {
    /// A spring and a damper, which begins to act over a short way so that the force does not jump.
    Linear {
        /// Stiffness k in N/m.
        stiffness: f64,
        /// Damping c in N·s/m.
        damping: f64,
        /// Depth δ₀ in m at which half of the damping acts.
        transition: f64,
    },
    /// Hertz's force between rounded surfaces, with losses that grow with the force.
    Hertz {
        /// E* in Pa: 1/E* = (1 − ν₁²)/E₁ + (1 − ν₂²)/E₂.
        modulus: f64,
        /// x, from the restitution.
        loss: f64,
        /// Speed in m/s below which the speed of meeting does not count.
        rest_speed: f64,
    },
}

/// A normal force and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NormalForce {
    /// N.
    pub force: f64,
    /// ∂N/∂δ.
    pub by_depth: f64,
    /// ∂N/∂δ̇.
    pub by_rate: f64,
    /// The part that is stored.
    pub elastic: f64,
    /// Energy stored.
    pub energy: f64,
}

/// Smallest restitution that the laws with losses can have: they need 1/e times the elastic force.
pub const MIN_RESTITUTION: f64 = 0.01;

impl NormalLaw {
    /// Hertz's force with the losses that give exactly this restitution, from [`MIN_RESTITUTION`] to 1.
    pub fn hertz(modulus: f64, restitution: f64, rest_speed: f64) -> Self {
        Self::Hertz { modulus, loss: loss_for(restitution), rest_speed }
    }

    /// Hertz's force with the losses of Flores and others; the restitution comes close to the one given.
    pub fn flores(modulus: f64, restitution: f64, rest_speed: f64) -> Self {
        let e = restitution.clamp(MIN_RESTITUTION, 1.0);
        Self::Hertz { modulus, loss: 8.0 * (1.0 - e) / (5.0 * e), rest_speed }
    }

    /// Whether the speed of meeting counts.
    pub fn needs_speed(&self) -> bool {
        matches!(self, Self::Hertz { loss, .. } if *loss > 0.0)
    }

    /// The force at a depth and its rate between surfaces that met at a speed and have an effective radius R.
    pub fn at(&self, depth: f64, rate: f64, meeting_speed: f64, radius: f64) -> NormalForce {
        if depth <= 0.0 {
            return NormalForce::default();
        }
        let (elastic, stiffness, energy, lost, lost_by_depth, lost_by_rate) = match *self {
            Self::Linear { stiffness, damping, transition } => {
                let elastic = stiffness * depth;
                let weight = depth / (depth + transition);
                let slope = transition / ((depth + transition) * (depth + transition));
                let lost = damping * weight;
                (elastic, stiffness, 0.5 * elastic * depth, lost * rate, damping * slope * rate, lost)
            }
            Self::Hertz { modulus, loss, rest_speed } => {
                let factor = 4.0 / 3.0 * modulus * radius.sqrt();
                let root = depth.sqrt();
                let (elastic, slope) = (factor * depth * root, 1.5 * factor * root);
                let x = loss / meeting_speed.max(rest_speed);
                (elastic, slope, 0.4 * elastic * depth, elastic * x * rate, slope * x * rate, elastic * x)
            }
        };
        let force = elastic + lost;
        if force <= 0.0 {
            return NormalForce { elastic, energy, ..NormalForce::default() };
        }
        NormalForce { force, by_depth: stiffness + lost_by_depth, by_rate: lost_by_rate, elastic, energy }
    }
}

/// x with x − ln(1 + x) = −e x − ln(1 − e x), by bisection between 0 and 1/e.
fn loss_for(restitution: f64) -> f64 {
    let e = restitution.clamp(MIN_RESTITUTION, 1.0);
    if e == 1.0 {
        return 0.0;
    }
    // ln(1 + y) − y over y², which is well conditioned near 0 where x goes for e → 1.
    let excess = |y: f64| {
        // The next term is y⁴/6; above, ten digits are left of the difference.
        if y.abs() < 1e-3 {
            -0.5 + y / 3.0 - y * y / 4.0 + y * y * y / 5.0
        } else {
            (y.ln_1p() - y) / (y * y)
        }
    };
    let missing = |x: f64| excess(x) - e * e * excess(-e * x);
    let (mut low, mut high) = (0.0, 1.0 / e);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        // Too small an x leaves too much speed.
        if missing(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Regularised Coulomb friction: μ(v) tanh(v/v_t) N against the sliding velocity, where with a larger
/// coefficient of sticking μ(v) = μ + (μ_s − μ) exp(−(v/v_s)²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoulombFriction {
    /// Coefficient of sliding μ.
    pub sliding: f64,
    /// Coefficient of sticking μ_s, the same as μ or larger.
    pub sticking: f64,
    /// Speed v_s in m/s at which sticking has turned into sliding.
    pub stribeck_speed: f64,
    /// Speed v_t in m/s at which 76 % of the force act; below it surfaces creep.
    pub transition_speed: f64,
}

impl CoulombFriction {
    /// Friction with one coefficient.
    pub fn new(coefficient: f64, transition_speed: f64) -> Self {
        Self { sliding: coefficient, sticking: coefficient, stribeck_speed: 1.0, transition_speed }
    }

    /// Friction per normal force at a sliding velocity.
    fn force(&self, sliding: &Vector3) -> FrictionForce {
        let (beta, beta_by) = self.per_speed(sliding.norm());
        FrictionForce {
            value: beta * sliding,
            by_sliding: beta * Matrix3::identity() + beta_by * sliding * sliding.transpose(),
            ..FrictionForce::none()
        }
    }

    /// The coefficient at a speed over the speed, and the derivative of this ratio over the speed.
    fn per_speed(&self, speed: f64) -> (f64, f64) {
        let scaled = speed / self.transition_speed;
        let ratio = speed / self.stribeck_speed;
        let bump = (self.sticking - self.sliding) * (-ratio * ratio).exp();
        let coefficient = self.sliding + bump;
        // Below, tanh is straight to eight digits.
        if scaled < 1e-4 {
            return (coefficient / self.transition_speed, 0.0);
        }
        let turn = scaled.tanh();
        let value = coefficient * turn;
        let slope = -2.0 * ratio / self.stribeck_speed * bump * turn
            + coefficient * (1.0 - turn * turn) / self.transition_speed;
        let per_speed = value / speed;
        (per_speed, (slope - per_speed) / (speed * speed))
    }
}

/// LuGre friction: bristles of deflection z that bend, slip and spring back [CanudasDeWit1995, friction
/// model], per normal force as in the cam example of [BottassoBauchauCardona2007, Sec. 5]:
///
/// ```text
/// ż = v − σ₀ |v|/g(v) z,   φ = σ₀ z + σ₁ ż + σ₂ v,   g = μ + (μ_s − μ) exp(−(|v|/v_s)^γ)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LuGreFriction {
    /// Stiffness σ₀ of the bristles in 1/m.
    pub stiffness: f64,
    /// Damping σ₁ of the bristles in s/m.
    pub damping: f64,
    /// Viscous friction σ₂ in s/m.
    pub viscosity: f64,
    /// Coefficient of sliding μ.
    pub sliding: f64,
    /// Coefficient of sticking μ_s.
    pub sticking: f64,
    /// Stribeck speed v_s in m/s.
    pub stribeck_speed: f64,
    /// Exponent γ.
    pub exponent: f64,
}

/// Depth over which bristles engage, as part of the deflection μ/σ₀ of sliding: their rate must not jump
/// where surfaces meet.
const ENGAGEMENT: f64 = 0.1;

/// Time in s in which bristles straighten that touch nothing. A choice: a body that comes back later finds
/// them straight.
const STRAIGHTENING: f64 = 1e-3;

impl LuGreFriction {
    /// |v|/g(v) and its derivative by |v|.
    fn slip(&self, speed: f64) -> (f64, f64) {
        let ratio = (speed / self.stribeck_speed).powf(self.exponent);
        let bump = (self.sticking - self.sliding) * (-ratio).exp();
        let level = self.sliding + bump;
        // d/dv exp(−(v/v_s)^γ) v = −γ (v/v_s)^γ exp(…), which needs no division by v.
        let level_slope_times_speed = -bump * self.exponent * ratio;
        (speed / level, (1.0 - level_slope_times_speed / level) / level)
    }

    /// Friction per normal force at a sliding velocity, with bristles across a normal.
    fn force(&self, sliding: &Vector3, normal: &Vector3, bristles: &Vector3) -> FrictionForce {
        let speed = sliding.norm();
        let (slip, slip_by) = self.slip(speed);
        let direction = if speed > 0.0 { sliding / speed } else { Vector3::zeros() };
        let identity = Matrix3::identity();
        let rate = sliding - self.stiffness * slip * bristles;
        let rate_by_sliding = identity - self.stiffness * slip_by * bristles * direction.transpose();
        let rate_by_state = -self.stiffness * slip * identity;
        let along = normal.dot(bristles);
        let across = identity - normal * normal.transpose();
        FrictionForce {
            value: self.stiffness * (bristles - along * normal)
                + self.damping * rate
                + self.viscosity * sliding,
            by_sliding: self.damping * rate_by_sliding + self.viscosity * identity,
            by_normal: -self.stiffness * (normal * bristles.transpose() + along * identity),
            by_state: self.stiffness * across + self.damping * rate_by_state,
            rate,
            rate_by_sliding,
            rate_by_state,
            engagement: ENGAGEMENT * self.sliding / self.stiffness,
        }
    }
}

/// Law of friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// Not at all.
    None,
    /// By a law of the sliding velocity.
    Coulomb(CoulombFriction),
    /// By bristles, whose deflection is a state.
    LuGre(LuGreFriction),
}

impl Friction {
    /// Friction per normal force.
    pub(crate) fn force(&self, sliding: &Vector3, normal: &Vector3, bristles: &Vector3) -> FrictionForce {
        match self {
            Self::None => FrictionForce::none(),
            Self::Coulomb(friction) => friction.force(sliding),
            Self::LuGre(friction) => friction.force(sliding, normal, bristles),
        }
    }

    /// Rate of bristles that touch nothing, per deflection.
    pub(super) fn straightening() -> f64 {
        -1.0 / STRAIGHTENING
    }
}

/// Friction φ per normal force, the rate ż of bristles, and derivatives by sliding velocity, normal and
/// bristles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrictionForce {
    pub value: Vector3,
    pub by_sliding: Matrix3,
    pub by_normal: Matrix3,
    pub by_state: Matrix3,
    pub rate: Vector3,
    pub rate_by_sliding: Matrix3,
    pub rate_by_state: Matrix3,
    /// Depth over which bristles engage.
    pub engagement: f64,
}

impl FrictionForce {
    fn none() -> Self {
        let (zero, zeros) = (Vector3::zeros(), Matrix3::zeros());
        Self {
            value: zero,
            by_sliding: zeros,
            by_normal: zeros,
            by_state: zeros,
            rate: zero,
            rate_by_sliding: zeros,
            rate_by_state: zeros,
            engagement: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_keeps_its_equation_and_tends_to_that_of_hunt_and_crossley() {
        for e in [0.1, 0.5, 0.9, 0.999] {
            let x = loss_for(e);
            let (left, right) = (x - x.ln_1p(), -e * x - (-e * x).ln_1p());
            // Differences of logarithms near 1 keep ten digits of x² for the largest e.
            assert!((left - right).abs() < 1e-9 * left.max(1e-4), "{e}: {left} {right}");
        }
        // For e = 0.01 the logarithm is that of 1 − e x = exp(−96): x is 1/e to all digits.
        assert!((0.01 * loss_for(0.01) - 1.0).abs() < 4.0 * f64::EPSILON);
        let e = 0.9999;
        // The next term of the expansion is of the order (1 − e)².
        assert!((loss_for(e) / (1.5 * (1.0 - e)) - 1.0).abs() < 2e-4);
        assert_eq!(loss_for(1.0), 0.0);
    }

    #[test]
    fn surfaces_never_pull() {
        let laws = [
            NormalLaw::Linear { stiffness: 1e3, damping: 50.0, transition: 1e-4 },
            NormalLaw::hertz(1e6, 0.5, 1e-3),
            NormalLaw::flores(1e6, 0.5, 1e-3),
        ];
        for law in laws {
            assert_eq!(law.at(-1e-3, 1.0, 1.0, 0.1), NormalForce::default());
            assert_eq!(law.at(1e-3, -1e3, 1.0, 0.1).force, 0.0);
            assert!(law.at(1e-3, 0.0, 1.0, 0.1).force > 0.0);
        }
    }

    #[test]
    fn derivatives_are_those_of_the_force() {
        let laws = [
            NormalLaw::Linear { stiffness: 1e3, damping: 50.0, transition: 1e-3 },
            NormalLaw::hertz(1e6, 0.7, 1e-3),
        ];
        for law in laws {
            for (depth, rate) in [(2e-3, 0.3), (5e-3, -0.1)] {
                let force = |depth: f64, rate: f64| law.at(depth, rate, 0.8, 0.05);
                let at = force(depth, rate);
                let h = 1e-7;
                // Central differences are good to about (h/δ)² and 1e-16/h.
                let by_depth = (force(depth + h, rate).force - force(depth - h, rate).force) / (2.0 * h);
                let by_rate = (force(depth, rate + h).force - force(depth, rate - h).force) / (2.0 * h);
                let stored = (force(depth + h, rate).energy - force(depth - h, rate).energy) / (2.0 * h);
                assert!((by_depth / at.by_depth - 1.0).abs() < 1e-6);
                assert!((by_rate / at.by_rate - 1.0).abs() < 1e-6);
                assert!((stored / at.elastic - 1.0).abs() < 1e-6);
            }
        }
    }
}
