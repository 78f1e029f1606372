//! A point of unit mass that is led along q(t) = t³/6 [ArnoldCardonaBruls2015, §3.2].
//!
//! The simplest constrained motion with v̈ ≠ 0: all its errors are those of the transient phase, and the
//! error in λ after n steps from exact starting values is c_n h exactly [ArnoldCardonaBruls2015, Eq. (53)].

use kreisel::dae::{Dae, Point, Residual, Shape, Wanted};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// The system q̈ + λ = 0, q − t³/6 = 0 with the solution λ = −t.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrescribedCubic;

impl Dae for PrescribedCubic {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(1)).with_rheonomic_constraints([1])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        out.equilibrium[0] = at.acceleration[0] + at.multipliers[0];
        out.violation[0] = at.configuration[0] - at.time.powi(3) / 6.0;
    }

    fn gradient(&self, _: &Point, out: &mut BlockMatrix) {
        out.fill(1.0);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.violation_rate.take() {
            out[0] = -0.5 * at.time * at.time;
        }
        if let Some(out) = wanted.curvature.take() {
            out[0] = -at.time;
        }
        if let Some((weights, out)) = wanted.tangent.take() {
            out.dynamic.fill(weights.mass);
            out.gradient.fill(1.0);
        }
    }
}
