//! What may be asked of a system besides its residual, and who answers what it leaves open.

use std::sync::Arc;

use super::{Dae, Merged, Point, Residual, Tangent, TangentWeights, differences};
use crate::solve::block::BlockMatrix;

/// What is asked of a system at a point; all room holds zeros, but for a memory.
///
/// A system takes the fields that it answers, `if let Some(out) = wanted.curvature.take() { … }`, and leaves
/// the rest: [`ask`] fills it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Wanted<'a> {
    /// The equations; left open they are those of [`Dae::residual`].
    pub residual: Option<Residual<'a>>,
    /// Partial time derivative Φ_t of rheonomic constraints; asked only where [`super::Shape::rheonomic`] is
    /// set. Left open it is found by differences.
    pub violation_rate: Option<&'a mut [f64]>,
    /// The hidden constraints B v + Φ_t; left open they are products with [`Dae::gradient`].
    pub hidden: Option<Hidden<'a>>,
    /// Rest of the acceleration-level constraints: d/dt (B v + Φ_t) − B v̇, that is Z(q)(v,v) of
    /// [ArnoldCardonaBruls2015, Eq. (18)] and, with time, 2 B_t v + Φ_tt. Left open it is found by
    /// differences.
    pub curvature: Option<&'a mut [f64]>,
    /// A(q,v,t) = ∂κ/∂v, nonholonomic constraints × nodes. Left open it is found by differences.
    pub nonholonomic_gradient: Option<&'a mut BlockMatrix>,
    /// Rest of the differentiated nonholonomic constraints: dκ/dt − A v̇. Left open it is found by
    /// differences.
    pub nonholonomic_curvature: Option<&'a mut [f64]>,
    /// All derivatives. Left open they are found by differences, in arrays that are made anew.
    pub tangent: Option<(TangentWeights, &'a mut Tangent)>,
    /// Where derivatives of forces go instead of to [`Tangent::dynamic`] and [`Tangent::stiffness`]; asked
    /// with these and only of systems that merge.
    pub(crate) merged: Option<Merged<'a>>,
    /// Remembered section forces, moved on within a step from the point of one iteration matrix to that of
    /// the next, along the tangent at the first: what they will be if the iteration went where the first
    /// matrix sent it. The room is a whole memory. Left open they stay.
    pub followed: Option<(Point<'a>, &'a mut [f64])>,
    /// The part of the equilibrium that applied loads (forces, moments, gravity) make, with its sign: statics
    /// multiplies it by a load factor and leaves the rest as it is. Left open there is no such part.
    pub loads: Option<&'a mut [f64]>,
    /// Derivative of the loads by the configuration, nodes × nodes. Left open it is found by differences.
    pub load_stiffness: Option<&'a mut BlockMatrix>,
}

/// Room for the hidden constraints B v + Φ_t.
#[derive(Debug)]
pub struct Hidden<'a> {
    /// The constraints.
    pub rates: &'a mut [f64],
    /// Room for B, whatever it holds: who multiplies by it need not make an array.
    pub room: Option<&'a mut BlockMatrix>,
    /// Whether Φ_t may be other than zero: [`super::Shape::rheonomic`].
    pub rheonomic: bool,
}

/// What had to be found by differences, in words; costs time and digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differenced(Vec<&'static str>);

impl Differenced {
    /// How many requests.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Which ones.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }
}

/// Asks a system, and fills what it leaves open; says what was found by differences.
///
/// The only way by which integrators, statics and modes come to anything but [`Dae::residual`] and
/// [`Dae::gradient`].
pub fn ask(dae: &dyn Dae, at: &Point, mut wanted: Wanted) -> Differenced {
    dae.answer(at, &mut wanted);
    let Wanted { residual, violation_rate, hidden, curvature, .. } = wanted;
    let Wanted { nonholonomic_gradient, nonholonomic_curvature, tangent, load_stiffness, .. } = wanted;
    if let Some(mut out) = residual {
        dae.residual(at, &mut out);
    }
    let mut differenced = hidden.map_or_else(Differenced::default, |out| multiply(dae, at, out));
    let mut note = |name: &'static str| differenced.0.push(name);
    if let Some(out) = violation_rate {
        differences::violation_rate(dae, at, out);
        note("violation rate");
    }
    if let Some(out) = curvature {
        differences::curvature(dae, at, out);
        note("curvature");
    }
    if let Some(out) = nonholonomic_gradient {
        differences::nonholonomic_gradient(dae, at, out);
        note("nonholonomic gradient");
    }
    if let Some(out) = nonholonomic_curvature {
        differences::nonholonomic_curvature(dae, at, out);
        note("nonholonomic curvature");
    }
    if let Some((weights, out)) = tangent {
        differences::tangent(dae, at, weights, out);
        note("tangent");
    }
    if let Some(out) = load_stiffness
        && differences::load_stiffness(dae, at, out)
    {
        note("load stiffness");
    }
    differenced
}

/// B v + Φ_t by the gradient.
fn multiply(dae: &dyn Dae, at: &Point, out: Hidden) -> Differenced {
    let Hidden { rates, room, rheonomic } = out;
    let differenced = match rheonomic {
        true => ask(dae, at, Wanted { violation_rate: Some(&mut *rates), ..Wanted::default() }),
        false => Differenced::default(),
    };
    let mut own = None;
    let gradient = room
        .unwrap_or_else(|| own.insert(BlockMatrix::zeros(Arc::clone(&dae.couplings(None).constraint_node))));
    gradient.fill(0.0);
    dae.gradient(at, gradient);
    gradient.multiply_add(1.0, at.velocity, rates);
    differenced
}
