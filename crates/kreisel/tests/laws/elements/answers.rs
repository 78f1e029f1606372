//! All that an element answers at a motion.

use kreisel::dae::TangentWeights;
use kreisel::element::{Element, Forces, LocalStateTangent};
use kreisel::kinematics::{Energies, LocalTangent, Motion, Power};
use kreisel::lie::Vector6;

/// Every derivative.
pub const ALL: TangentWeights =
    TangentWeights { mass: 1.0, damping: 1.0, stiffness: true, remembered_forces: false };

pub struct Answers {
    pub wrenches: Vec<Vector6>,
    pub tangent: LocalTangent,
    pub rates: Vec<f64>,
    pub internal_tangent: Box<LocalStateTangent>,
    pub energies: Energies,
    pub power: Power,
}

pub fn answers(element: &dyn Element, at: &Motion, weights: TangentWeights) -> Answers {
    let facts = element.facts();
    let mut found = Answers {
        wrenches: vec![Vector6::zeros(); at.nodes.len()],
        tangent: LocalTangent::zeros(at.nodes.len()),
        rates: vec![0.0; facts.rate_count],
        internal_tangent: Box::new(LocalStateTangent::zeros()),
        energies: Energies::default(),
        power: Power::default(),
    };
    let mut asked = Forces::default();
    asked.weights = weights;
    asked.wrenches = Some(&mut found.wrenches);
    asked.tangent = Some(&mut found.tangent);
    asked.rates = Some(&mut found.rates);
    asked.internal_tangent = Some(&mut found.internal_tangent);
    asked.energies = Some(&mut found.energies);
    asked.power = Some(&mut found.power);
    element.ask(at, asked);
    found
}
