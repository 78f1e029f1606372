//! What every joint that holds velocities keeps: its equations and their derivatives against dual numbers of
//! velocities that are written here once more.

use super::*;
use crate::joint::{JointFacts, KnifeEdge, Rate, RateTerm, Rolling, Rows, VelocityCoupling, Wheel};

/// κ of a wheel that rolls, written down without the derivatives: velocities of the two points that touch.
fn rolling_nonholonomic(wheel: Wheel, radius: f64, two: &Two, direction: usize, b: usize) -> HyperDual64 {
    // Poses moved by exp(ε₁ e_b), then along the twists by ε₂: the derivative by ε₂ is the velocity.
    let eps1 = HyperDual64::new(0.0, 1.0, 0.0, 0.0);
    let eps2 = HyperDual64::new(0.0, 0.0, 1.0, 0.0);
    let constant = |value: f64| HyperDual64::from(value);
    let [first, second] = std::array::from_fn(|body| {
        let mut small = [constant(0.0); 6];
        if b / 6 == body {
            small[b % 6] = eps1;
        }
        let moved = DualPose::constant(&two.bodies[body]).compose(&DualPose::exp(small));
        let along = DualPose::exp(std::array::from_fn(|i| eps2 * two.twists[body][i]));
        let offset = DualPose::constant(&two.offsets[body]);
        (moved.compose(&offset), moved.compose(&along).compose(&offset))
    });
    let between = |frames: (&DualPose<HyperDual64>, &DualPose<HyperDual64>)| -> Triple<HyperDual64> {
        let (plane, wheel) = frames;
        let offset: Triple<HyperDual64> = std::array::from_fn(|i| wheel.position[i] - plane.position[i]);
        std::array::from_fn(|i| dot(column(&plane.rotation, i), offset))
    };
    let axis =
        |plane: &DualPose<HyperDual64>, wheel: &DualPose<HyperDual64>, j: usize| -> Triple<HyperDual64> {
            std::array::from_fn(|i| dot(column(&plane.rotation, i), column(&wheel.rotation, j)))
        };
    // Arm at the moved pose; the material point keeps its coordinates in the wheel while the time passes.
    let n = axis(&first.0, &second.0, 2);
    let arm: Triple<HyperDual64> = match wheel {
        Wheel::Sphere => [constant(0.0), constant(0.0), constant(-radius)],
        Wheel::Disc => {
            let s = (constant(1.0) - n[2] * n[2]).sqrt();
            let up = [constant(0.0), constant(0.0), constant(1.0)];
            std::array::from_fn(|i| (up[i] - n[2] * n[i]) / s * constant(-radius))
        }
    };
    let in_wheel: Triple<HyperDual64> = std::array::from_fn(|j| dot(axis(&first.0, &second.0, j), arm));
    let later = between((&first.1, &second.1));
    (0..3).fold(later[direction], |sum, j| sum + axis(&first.1, &second.1, j)[direction] * in_wheel[j])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_rolling_wheel_has_the_slip_and_the_derivatives_of_dual_numbers(two in two(), radius in 0.1..2.0) {
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let motions = two.motions();
        let at = Motion::new(0.0, &motions);
        let [first, second] = std::array::from_fn(|i| two.bodies[i] * two.offsets[i]);
        let relative = first.inverse() * second;
        // Near a flat disc all derivatives grow without bound.
        prop_assume!(relative.rotation.to_rotation_matrix()[(2, 2)].abs() < 0.9);
        for wheel in [Wheel::Disc, Wheel::Sphere] {
            let joint = Rolling::new(nodes, two.offsets, wheel, radius);
            check_nonholonomic(&joint, &at, |row, b| rolling_nonholonomic(wheel, radius, &two, row, b))?;
            check_holonomic_by_differences(&joint, &at)?;
        }
    }

    #[test]
    fn a_blade_has_the_slip_and_the_derivatives_of_dual_numbers(two in two()) {
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let motions = two.motions();
        let at = Motion::new(0.0, &motions);
        let joint = KnifeEdge::new(nodes, two.offsets);
        check_nonholonomic(&joint, &at, |_, b| {
            // The rate of d along the axis y of the second frame as it is before the time passes.
            let still = Two { twists: [Vector6::zeros(); 2], ..two.clone() };
            let across: Triple<HyperDual64> =
                std::array::from_fn(|i| still.along(Direction(i, 1), b));
            (0..3).fold(HyperDual64::from(0.0), |sum, i| sum + across[i] * two.along(Translation(i), b))
        })?;
    }

    #[test]
    fn a_velocity_coupling_has_the_derivatives_of_dual_numbers(two in two(), law in any_law()) {
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let motions = two.motions();
        let at = Motion::new(TIME, &motions);
        let term = |rate: Rate, factor: f64| RateTerm { nodes, offsets: two.offsets, rate, factor };
        let terms = [
            term(Rate::Coordinate(Translation(1)), 0.7),
            term(Rate::Coordinate(Direction(0, 2)), -1.3),
            term(Rate::OwnVelocity(2), 0.4),
            term(Rate::OwnAngularVelocity(0), 2.1),
            term(Rate::AngularVelocity(1), -0.6),
        ];
        let joint = VelocityCoupling::new(&terms, Arc::new(law));
        // Differences of the gradient are what the derivatives are compared with here: rates have no simpler
        // form.
        check_nonholonomic_by_differences(&joint, &at)?;
        let found = Answers::of(|values| (&joint as &dyn Joint).ask_nonholonomic(&at, values), &[0.0]);
        let [values, rates] = found.by_time;
        let exact = law.value(time());
        prop_assert!(close(values[0], -exact.re) && close(rates[0], -exact.v1));
    }
}

impl Two {
    /// Value of a coordinate with the bodies moved by exp(ε₁ e_b) and then along their twists by ε₂.
    fn along(&self, coordinate: Coordinate, b: usize) -> HyperDual64 {
        let eps1 = HyperDual64::new(0.0, 1.0, 0.0, 0.0);
        let eps2 = HyperDual64::new(0.0, 0.0, 1.0, 0.0);
        let [first, second] = std::array::from_fn(|body| {
            let mut small = [HyperDual64::from(0.0); 6];
            if b / 6 == body {
                small[b % 6] = eps1;
            }
            let along = DualPose::exp(std::array::from_fn(|i| eps2 * self.twists[body][i]));
            DualPose::constant(&self.bodies[body])
                .compose(&DualPose::exp(small))
                .compose(&along)
                .compose(&DualPose::constant(&self.offsets[body]))
        });
        value(coordinate, &first, &second)
    }
}

/// κ is the derivative by ε₂ of `exact`, ∂κ/∂q along direction b the mixed one; A is κ's derivative by the
/// twists, on which κ depends linearly, and the stiffness belongs to A.
fn check_nonholonomic(
    joint: &dyn Joint,
    at: &Motion,
    exact: impl Fn(usize, usize) -> HyperDual64,
) -> Result<(), TestCaseError> {
    let count = joint.facts().nonholonomic_rows;
    let Answers { rates, rate_gradient, .. } =
        Answers::of(|values| joint.ask_nonholonomic(at, values), &MULTIPLIERS[..count]);
    for (row, nonholonomic) in rates[..count].iter().enumerate() {
        for b in 0..12 {
            let exact = exact(row, b);
            prop_assert!(close(*nonholonomic, exact.eps2), "row {row}: {nonholonomic}, {exact}");
            let found = rate_gradient.rows[row][b / 6][b % 6];
            prop_assert!(close(found, exact.eps1eps2), "row {row}, {b}: {found}, {exact}");
        }
    }
    check_nonholonomic_by_differences(joint, at)
}

/// Multipliers of as many equations as there may be.
const MULTIPLIERS: [f64; MAX_ROWS] = [0.8, -1.7, 0.3, 0.1, 0.2, 0.5];

/// A joint that answers no more than it has to.
struct GradientOnly<'j>(&'j dyn Joint);

impl Joint for GradientOnly<'_> {
    fn facts(&self) -> JointFacts<'_> {
        self.0.facts()
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let (gradient, by_time) = (out.nonholonomic.gradient.take(), out.nonholonomic.by_time.take());
        let nonholonomic = RowValues { gradient, by_time, ..RowValues::default() };
        self.0.evaluate(at, &mut Rows { nonholonomic, ..Rows::default() });
    }
}

/// Hand-written stiffness and rate gradient against the trait's own differences, good to about eight digits.
fn check_nonholonomic_by_differences(joint: &dyn Joint, at: &Motion) -> Result<(), TestCaseError> {
    let count = joint.facts().nonholonomic_rows;
    let ask =
        |joint: &dyn Joint| Answers::of(|values| joint.ask_nonholonomic(at, values), &MULTIPLIERS[..count]);
    let (mut exact, mut differenced) = (ask(joint), ask(&GradientOnly(joint)));
    for i in 0..2 {
        for k in 0..6 {
            let (exact, product) = (exact.wrenches[i][k], differenced.wrenches[i][k]);
            prop_assert!(close(exact, product), "{exact} {product}");
        }
    }
    for i in 0..2 {
        for j in 0..2 {
            let [exact, differenced] =
                [&mut exact, &mut differenced].map(|found| *found.stiffness.stiffness(i, j));
            let size = 1.0 + exact.norm();
            prop_assert!((exact - differenced).norm() < 1e-6 * size, "{exact} {differenced}");
        }
        for row in 0..count {
            let [exact, differenced] = [&exact, &differenced].map(|found| found.rate_gradient.rows[row][i]);
            prop_assert!((exact - differenced).norm() < 1e-6 * (1.0 + exact.norm()), "{exact} {differenced}");
        }
    }
    Ok(())
}

/// Gradient, stiffness and rate gradient of Φ against differences, good to about eight digits.
fn check_holonomic_by_differences(joint: &dyn Joint, at: &Motion) -> Result<(), TestCaseError> {
    const STEP: f64 = 6e-6;
    let ask = |at: &Motion| Answers::of(|values| joint.ask_holonomic(at, values), &[1.0]);
    let Answers { gradient, mut stiffness, rate_gradient, .. } = ask(at);
    for b in 0..12 {
        let moved = |distance: f64| {
            let mut nodes = [at.nodes[0], at.nodes[1]];
            crate::kinematics::shift_pose(&mut nodes[b / 6], b % 6, distance);
            let found = ask(&Motion { nodes: &nodes, ..*at });
            (found.violation[0], found.gradient)
        };
        let ((forth, forth_gradient), (back, back_gradient)) = (moved(STEP), moved(-STEP));
        let slope = (forth - back) / (2.0 * STEP);
        prop_assert!((gradient.rows[0][b / 6][b % 6] - slope).abs() < 1e-6 * (1.0 + slope.abs()));
        let mut rate_slope = 0.0;
        let mut size = 1.0;
        for a in 0..12 {
            let change =
                (forth_gradient.rows[0][a / 6][a % 6] - back_gradient.rows[0][a / 6][a % 6]) / (2.0 * STEP);
            let found = stiffness.stiffness(a / 6, b / 6)[(a % 6, b % 6)];
            prop_assert!((found - change).abs() < 1e-6 * (1.0 + change.abs()), "{a} {b}: {found} {change}");
            rate_slope += change * at.nodes[a / 6].velocity[a % 6];
            size += change.abs();
        }
        let found = rate_gradient.rows[0][b / 6][b % 6];
        prop_assert!((found - rate_slope).abs() < 1e-6 * size, "{b}: rate {found} {rate_slope}");
    }
    Ok(())
}
