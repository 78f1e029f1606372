//! Elements with states: derivatives of and by states are those of dual numbers.

use std::sync::Arc;

use kreisel::element::{
    Axes, Element, JointForce, LocalStateTangent, MarkerForce, Quantity, Signal, SignalFunction,
    StateEquations, StateId,
};
use kreisel::kinematics::{Coordinate, Frame, FramePair, Motion, NodeId, NodeMotion};
use kreisel::lie::{Pose, Vector6};
use num_dual::Dual64;
use proptest::prelude::*;

use super::answers::{ALL, answers};
use super::oracle::{Between, Node, Number, measured};
use super::{first_offset, node_strategy, second_offset, seeded, signals};

/// Two functions of three measured quantities and two states.
fn laws<T: Number>(s: &[T]) -> [T; 2] {
    [(s[0] * 0.7).sin() + s[1] * s[2] * s[3], s[2] * s[4].powi(2) - (s[3] * s[1]).cos()]
}

/// One of [`laws`], its slopes by dual numbers.
#[derive(Debug)]
struct OneLaw(usize);

impl SignalFunction for OneLaw {
    fn evaluate(&self, _: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        for (k, slope) in slopes.iter_mut().enumerate() {
            let seeded = signals.iter().enumerate().map(|(i, s)| Dual64::new(*s, f64::from(i == k)));
            *slope = laws(&seeded.collect::<Vec<_>>())[self.0].eps;
        }
        laws(signals)[self.0]
    }
}

/// The measured quantities, the second of the element's states and one of another's, which comes fourth.
fn all_signals() -> (Vec<(Between, bool)>, Vec<Signal>) {
    let (between, mut signals) = signals(&Pose::identity());
    signals.extend([Signal::State(StateId(1)), Signal::State(StateId(7))]);
    (between, signals)
}

const MATRIX: [f64; 9] = [-1.0, 0.4, 0.0, 0.2, -0.3, 1.1, 0.7, 0.0, 0.5];
const INPUT: [f64; 6] = [1.0, -0.5, 0.0, 2.0, 0.3, 0.8];

/// A c + B u over any number.
fn rates<T: Number>(between: &[(Between, bool)], nodes: &[Node<T>], states: &[T]) -> [T; 3] {
    let mut values = measured(nodes, between);
    values.extend([states[1], states[3]]);
    let u = laws(&values);
    std::array::from_fn(|i| {
        let own = (0..3).fold(T::from(0.0), |sum, j| sum + states[j] * MATRIX[3 * i + j]);
        own + u[0] * INPUT[2 * i] + u[1] * INPUT[2 * i + 1]
    })
}

fn tangent(element: &dyn Element, at: &Motion) -> Box<LocalStateTangent> {
    answers(element, at, ALL).internal_tangent
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn rates_of_states_have_the_derivatives_of_dual_numbers(
        nodes in node_strategy(),
        states in proptest::array::uniform4(-2.0..2.0),
    ) {
        let (between, signals) = all_signals();
        let own = (0..3).map(StateId).collect();
        let quantities = (0..2).map(|law| Quantity::Function(Arc::new(OneLaw(law)))).collect();
        let ends = vec![NodeId(0), NodeId(1)];
        let element = StateEquations::new(ends, own, MATRIX.to_vec(), INPUT.to_vec(), quantities, signals);
        let at = Motion { memory: &[0.0; 4], internal_states: &states, ..Motion::new(0.0, &nodes) };
        let found = tangent(&element, &at);
        let constant: Vec<Node<Dual64>> = nodes.iter().map(Node::constant).collect();
        let plain = states.map(Dual64::from_re);
        // Numbers of size ten at most, some hundred roundings; large curvatures near half a turn.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + b.abs());
        for j in 0..4 {
            let mut seeded = plain;
            seeded[j].eps = 1.0;
            let expected = rates(&between, &constant, &seeded);
            for (i, expected) in expected.iter().enumerate() {
                prop_assert!(near(found.rate_by_state[i][j], expected.eps), "rate {i} by state {j}");
            }
        }
        for (j, k) in (0..12).map(|index| (index / 6, index % 6)) {
            for what in [1, 2] {
                let mut duals = constant.clone();
                duals[j] = seeded(&nodes[j], what, k);
                let expected = rates(&between, &duals, &plain);
                for (i, expected) in expected.iter().enumerate() {
                    let by = if what == 1 { &found.rate_by_velocity } else { &found.rate_by_configuration };
                    prop_assert!(near(by[i][j][k], expected.eps), "rate {i} by {what} of node {j}, {k}");
                }
            }
        }
        let values = answers(&element, &at, ALL).rates;
        let plain: Vec<Node<f64>> = nodes.iter().map(Node::constant).collect();
        for (found, expected) in values.iter().zip(rates(&between, &plain, &states)) {
            prop_assert!(near(*found, expected));
        }
    }

    #[test]
    fn forces_have_the_derivatives_by_states_of_dual_numbers(
        nodes in node_strategy(),
        states in proptest::array::uniform2(-2.0..2.0),
    ) {
        let (between, signals) = all_signals();
        let (ends, offsets) = ([Some(0), Some(1)], [first_offset(), second_offset()]);
        let pair = || FramePair { nodes: ends, frames: offsets.map(Frame::new) };
        let list = || vec![NodeId(0), NodeId(1)];
        let joint = |force: Quantity| -> Box<dyn Element> {
            Box::new(JointForce::new(list(), pair(), Coordinate::Angle, force, signals.clone()))
        };
        let marker = |force: Quantity| -> Box<dyn Element> {
            let mut components: [Quantity; 6] = std::array::from_fn(|_| Quantity::Constant(0.0));
            components[4] = force;
            Box::new(MarkerForce::new(list(), second_offset(), Axes::World, components, signals.clone()))
        };
        let make: [&dyn Fn(Quantity) -> Box<dyn Element>; 2] = [&joint, &marker];
        let at = Motion { memory: &[0.0; 4], internal_states: &states, ..Motion::new(0.0, &nodes) };
        for make in make {
            // Wrenches are the force times those of a force of one.
            let unit = answers(&*make(Quantity::Constant(1.0)), &at, ALL);
            let found = tangent(&*make(Quantity::Function(Arc::new(OneLaw(1)))), &at);
            for j in 0..2 {
                let mut values = measured(&constant(&nodes), &between);
                let mut seeded = states.map(Dual64::from_re);
                seeded[j].eps = 1.0;
                values.extend(seeded);
                let slope = laws(&values)[1].eps;
                for node in 0..2 {
                    let expected: Vector6 = slope * unit.wrenches[node];
                    // Rounding of some hundred operations, and of their derivatives.
                    prop_assert!((found.force_by_state[j][node] - expected).amax() < 1e-10 * (1.0 + expected.amax()));
                }
            }
        }
    }
}

fn constant(nodes: &[NodeMotion]) -> Vec<Node<Dual64>> {
    nodes.iter().map(Node::constant).collect()
}
