//! Friction in joints: forces, bristles and their derivatives are those of dual numbers, by the motion, by
//! bristles and by λ.
//!
//! Tolerances against the second computation are some hundred roundings of the largest force or rate;
//! derivatives have a digit less.

use kreisel::element::contact::{CoulombFriction, Friction, LuGreFriction};
use kreisel::element::{Bearing, JointFriction, SlidingMotion, StateId};
use kreisel::kinematics::{Coordinate, Motion, NodeId, NodeMotion};
use kreisel::lie::{Pose, Vector6};
use num_dual::Dual64;

use super::answers::{ALL, Answers, answers};
use super::numbers::{Between, Node, Number, V3, matrix, product, times, transposed};
use super::pairs::Numbers;

const COULOMB: CoulombFriction =
    CoulombFriction { sliding: 0.4, sticking: 0.7, stribeck_speed: 1.5, transition_speed: 0.8 };
const LUGRE: LuGreFriction = LuGreFriction {
    stiffness: 30.0,
    damping: 0.4,
    viscosity: 0.2,
    sliding: 0.3,
    sticking: 0.5,
    stribeck_speed: 1.2,
    exponent: 2.0,
};

/// The friction of a joint a second time, over any number.
struct Oracle {
    offsets: [Pose; 2],
    sliding_motion: SlidingMotion,
    bearing: Bearing,
}

impl Oracle {
    /// √(Σ λ² + ε²) − ε of forces, with ε = 1e-6 N, and twice that of moments at the ends of the bearing.
    fn pressing<T: Number>(&self, multipliers: &[T]) -> T {
        let smooth = |values: &[T], small: f64| {
            let square = values.iter().fold(T::from(small * small), |sum, value| sum + *value * *value);
            square.sqrt() - T::from(small)
        };
        let force = smooth(&multipliers[self.bearing.forces.clone()], 1e-6);
        match self.bearing.length {
            Some(length) => {
                let moment = smooth(&multipliers[self.bearing.moments.clone()], 1e-6 * length);
                force + moment * T::from(2.0 / length)
            }
            None => force,
        }
    }

    fn between(&self, coordinate: Coordinate) -> Between {
        Between { nodes: [Some(0), Some(1)], offsets: self.offsets, coordinate }
    }

    /// Angular velocity of the second body against the first, in the world, and in axes of the first frame.
    fn spin<T: Number>(&self, nodes: &[Node<T>]) -> V3<T> {
        let world =
            |node: &Node<T>| times(&node.rotation, &[node.velocity[0], node.velocity[1], node.velocity[2]]);
        let (first, second) = (world(&nodes[0]), world(&nodes[1]));
        let apart = std::array::from_fn(|i| second[i] - first[i]);
        times(&transposed(&self.axes(nodes)), &apart)
    }

    /// Axes of the first frame in the world.
    fn axes<T: Number>(&self, nodes: &[Node<T>]) -> [[T; 3]; 3] {
        let offset = matrix(&self.offsets[0].rotation.to_rotation_matrix().into_inner());
        product(&nodes[0].rotation, &offset)
    }

    /// Residual wrenches in body axes, and the rates of bristles.
    fn evaluate<T: Number>(
        &self,
        nodes: &[Node<T>],
        bristles: &V3<T>,
        multipliers: &[T],
    ) -> (Vec<[T; 6]>, V3<T>) {
        let arm = T::from(self.bearing.arm);
        let sliding: V3<T> = match self.sliding_motion {
            SlidingMotion::Along(coordinate) => {
                [arm * self.between(coordinate).rate(nodes), T::zero(), T::zero()]
            }
            SlidingMotion::AllAround => self.spin(nodes).map(|rate| arm * rate),
        };
        let speed = sliding.iter().fold(T::zero(), |sum, v| sum + *v * *v).sqrt();
        let (friction_force, rate): (V3<T>, V3<T>) = match self.bearing.friction {
            Friction::Coulomb(law) => {
                let ratio = speed * T::from(1.0 / law.stribeck_speed);
                let bump = T::from(law.sticking - law.sliding) * (-ratio * ratio).exp();
                let coefficient = T::from(law.sliding) + bump;
                let value = coefficient * (speed * T::from(1.0 / law.transition_speed)).tanh();
                (sliding.map(|v| v * value / speed), [T::zero(); 3])
            }
            Friction::LuGre(law) => {
                let ratio = (speed * T::from(1.0 / law.stribeck_speed)).powf(law.exponent);
                let level = T::from(law.sliding) + T::from(law.sticking - law.sliding) * (-ratio).exp();
                let slip = T::from(law.stiffness) * speed / level;
                let rate: V3<T> = std::array::from_fn(|i| sliding[i] - slip * bristles[i]);
                let friction_force = std::array::from_fn(|i| {
                    bristles[i] * T::from(law.stiffness)
                        + rate[i] * T::from(law.damping)
                        + sliding[i] * T::from(law.viscosity)
                });
                (friction_force, rate)
            }
            Friction::None => panic!("not tested"),
        };
        let limit = self.pressing(multipliers) * arm;
        let wrenches = match self.sliding_motion {
            SlidingMotion::Along(coordinate) => {
                let gradient = self.between(coordinate).gradient(nodes);
                gradient
                    .into_iter()
                    .map(|wrench| wrench.map(|entry| entry * limit * friction_force[0]))
                    .collect()
            }
            SlidingMotion::AllAround => {
                // The moment brakes the second body against the first; residuals are inertia minus moments.
                let moment = times(&self.axes(nodes), &friction_force.map(|entry| entry * limit));
                let on = |node: &Node<T>, sign: f64| {
                    let [x, y, z] =
                        times(&transposed(&node.rotation), &moment).map(|entry| entry * T::from(sign));
                    [x, y, z, T::zero(), T::zero(), T::zero()]
                };
                vec![on(&nodes[0], -1.0), on(&nodes[1], 1.0)]
            }
        };
        (wrenches, rate)
    }
}

/// Names, what rubs, and which multipliers press: as revolute, prismatic and spherical joints have them.
fn joints() -> [(&'static str, SlidingMotion, Bearing); 3] {
    let bearing = |arm: f64, length: Option<f64>, forces: usize, moments: usize| Bearing {
        friction: Friction::None,
        arm,
        length,
        forces: 0..forces,
        moments: forces..forces + moments,
    };
    [
        ("revolute", SlidingMotion::Along(Coordinate::Angle), bearing(0.3, Some(0.7), 3, 2)),
        ("prismatic", SlidingMotion::Along(Coordinate::Translation(2)), bearing(1.0, Some(0.4), 2, 3)),
        ("spherical", SlidingMotion::AllAround, bearing(0.2, None, 3, 0)),
    ]
}

fn close(name: &str, what: &str, found: &Vector6, expected: &[Dual64; 6], size: f64) {
    let expected = Vector6::from_fn(|i, _| expected[i].eps);
    // Rounding of some hundred operations.
    let error = (found - expected).amax();
    assert!(error < 1e-10 * size.max(1.0), "{name}, {what}: misses by {error:e} of {size:e}");
}

/// Compares all derivatives of one joint at one motion.
fn check(name: &str, oracle: &Oracle, motions: &[NodeMotion], states: &[f64; 3], multipliers: &[f64]) {
    let has_bristles = matches!(oracle.bearing.friction, Friction::LuGre(_));
    let count = if has_bristles { oracle.sliding_motion.dimension() } else { 0 };
    let nodes = [Some(NodeId(0)), Some(NodeId(1))];
    let element = JointFriction::new(nodes, oracle.offsets, 0, oracle.sliding_motion, oracle.bearing.clone())
        .with_bristles((0..count).map(StateId).collect());
    let at = Motion { internal_states: &states[..count], multipliers, ..Motion::new(0.0, motions) };
    let Answers { wrenches: forces, tangent, rates: found, internal_tangent: by_states, .. } =
        answers(&element, &at, ALL);

    let bent: V3<Dual64> = std::array::from_fn(|i| Dual64::from_re(if i < count { states[i] } else { 0.0 }));
    let constant: Vec<Node<Dual64>> = motions.iter().map(Node::constant).collect();
    let pressed: Vec<Dual64> = multipliers.iter().copied().map(Dual64::from_re).collect();
    let (plain, rates) = oracle.evaluate(&constant, &bent, &pressed);
    let size = 10.0 * forces.iter().map(Vector6::amax).fold(1.0, f64::max);
    for (found, expected) in forces.iter().zip(&plain) {
        let expected = Vector6::from_fn(|i, _| expected[i].re);
        // Here and below some hundred roundings of numbers that are larger in between.
        assert!((found - expected).amax() < 1e-10 * size, "{name}: force");
    }
    (0..count).for_each(|i| assert!((found[i] - rates[i].re).abs() < 1e-10, "{name}: rate of bristles"));

    for (j, k) in (0..12).map(|index| (index / 6, index % 6)) {
        for velocity in [false, true] {
            let mut nodes = constant.clone();
            if velocity {
                nodes[j].velocity[k].eps = 1.0;
            } else {
                nodes[j] = nodes[j].moved(&std::array::from_fn(|i| Dual64::new(0.0, f64::from(i == k))));
            }
            let (wrenches, rates) = oracle.evaluate(&nodes, &bent, &pressed);
            for (i, wrench) in wrenches.iter().enumerate() {
                let (_, damping, stiffness) = tangent.block(i, j);
                let column = if velocity { damping.column(k) } else { stiffness.column(k) };
                close(name, "by motion", &column.into_owned(), wrench, size);
            }
            let by = if velocity { &by_states.rate_by_velocity } else { &by_states.rate_by_configuration };
            for i in 0..count {
                assert!((by[i][j][k] - rates[i].eps).abs() < 1e-9, "{name}: rate {i} by {k} of node {j}");
            }
        }
    }
    for j in 0..count {
        let mut bent = bent;
        bent[j].eps = 1.0;
        let (wrenches, rates) = oracle.evaluate(&constant, &bent, &pressed);
        let by = &by_states.force_by_state[j];
        wrenches
            .iter()
            .enumerate()
            .for_each(|(i, wrench)| close(name, "by bristles", &by[i], wrench, 30.0 * size));
        for (by, rate) in by_states.rate_by_state.iter().zip(&rates).take(count) {
            assert!((by[j] - rate.eps).abs() < 1e-9, "{name}: rate by bristles");
        }
    }
    for j in 0..multipliers.len() {
        let mut pressed = pressed.clone();
        pressed[j].eps = 1.0;
        let (wrenches, _) = oracle.evaluate(&constant, &bent, &pressed);
        let by = &by_states.force_by_multiplier[j];
        wrenches.iter().enumerate().for_each(|(i, wrench)| close(name, "by λ", &by[i], wrench, size));
    }
}

#[test]
fn friction_in_joints_has_the_derivatives_of_dual_numbers() {
    for (name, sliding_motion, bearing) in joints() {
        for friction in [Friction::Coulomb(COULOMB), Friction::LuGre(LUGRE)] {
            for seed in 1..9 {
                let mut numbers = Numbers::new(seed);
                let oracle = Oracle {
                    offsets: [numbers.pose(), numbers.pose()],
                    sliding_motion,
                    bearing: Bearing { friction, ..bearing.clone() },
                };
                let mut motion =
                    || NodeMotion { velocity: numbers.twist(), ..NodeMotion::at_rest(numbers.pose()) };
                let motions = [motion(), motion()];
                let states = std::array::from_fn(|_| 0.01 * numbers.next());
                let multipliers: Vec<f64> =
                    (0..bearing.forces.len() + bearing.moments.len()).map(|_| 5.0 * numbers.next()).collect();
                check(name, &oracle, &motions, &states, &multipliers);
            }
        }
    }
}
