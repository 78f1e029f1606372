//! What every coordinate and joint keeps, at random motions: derivatives against dual numbers of values that
//! are written here once more, and independence of where the world's frame lies.

mod nonholonomic;

use std::sync::Arc;

use num_dual::{Dual2_64, DualNum, HyperDual64};
use proptest::prelude::*;

use super::{CoordinateJoint, Guide, GuidedBody, Joint, Row, RowValues, TimeLaw, Turn, lower_pair};
use crate::kinematics::Coordinate::{
    self, Angle, Direction, Distance, RotationVector, Translation, UniversalAngle,
};
use crate::kinematics::{LocalGradient, LocalTangent, MAX_ROWS, Motion, NodeId, NodeMotion};
use crate::lie::{Pose, UnitQuaternion, Vector3, Vector6};

/// All that can be asked of equations.
struct Answers {
    violation: [f64; MAX_ROWS],
    wrenches: [Vector6; 2],
    rates: [f64; MAX_ROWS],
    gradient: LocalGradient,
    stiffness: LocalTangent,
    rate_gradient: LocalGradient,
    by_time: [[f64; MAX_ROWS]; 2],
}

impl Answers {
    /// What a joint on at most two nodes answers, with as many equations as multipliers.
    fn of(ask: impl FnOnce(RowValues), multipliers: &[f64]) -> Self {
        let mut found = Self {
            violation: [0.0; MAX_ROWS],
            wrenches: [Vector6::zeros(); 2],
            rates: [0.0; MAX_ROWS],
            gradient: LocalGradient::zeros(),
            stiffness: LocalTangent::zeros(2),
            rate_gradient: LocalGradient::zeros(),
            by_time: [[0.0; MAX_ROWS]; 2],
        };
        let count = multipliers.len();
        ask(RowValues {
            multipliers,
            violation: Some(&mut found.violation[..count]),
            wrenches: Some(&mut found.wrenches),
            rates: Some(&mut found.rates[..count]),
            gradient: Some(&mut found.gradient),
            stiffness: Some(&mut found.stiffness),
            rate_gradient: Some(&mut found.rate_gradient),
            by_time: Some(&mut found.by_time),
        });
        found
    }
}

/// Numbers in which values are written here.
trait Number: DualNum<Primitive = f64> + Copy {}
impl<D: DualNum<Primitive = f64> + Copy> Number for D {}

type Triple<D> = [D; 3];

/// A rigid motion in dual numbers: rows of the rotation matrix, and position.
#[derive(Clone, Copy)]
struct DualPose<D> {
    rotation: [Triple<D>; 3],
    position: Triple<D>,
}

fn dot<D: Number>(a: Triple<D>, b: Triple<D>) -> D {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn product<D: Number>(a: &[Triple<D>; 3], b: &[Triple<D>; 3]) -> [Triple<D>; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| dot(a[i], column(b, j))))
}

fn column<D: Number>(matrix: &[Triple<D>; 3], j: usize) -> Triple<D> {
    matrix.map(|row| row[j])
}

fn unit_matrix<D: Number>() -> [Triple<D>; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| D::from(f64::from(i == j))))
}

impl<D: Number> DualPose<D> {
    fn constant(pose: &Pose) -> Self {
        let matrix = pose.rotation.to_rotation_matrix().into_inner();
        Self {
            rotation: std::array::from_fn(|i| std::array::from_fn(|j| D::from(matrix[(i, j)]))),
            position: std::array::from_fn(|i| D::from(pose.position[i])),
        }
    }

    fn compose(&self, other: &Self) -> Self {
        let moved = |i: usize| dot(self.rotation[i], other.position) + self.position[i];
        Self { rotation: product(&self.rotation, &other.rotation), position: std::array::from_fn(moved) }
    }

    /// exp of a twist up to its second power, exact in numbers whose third derivatives are cut off.
    fn exp(twist: [D; 6]) -> Self {
        let [x, y, z] = [twist[0], twist[1], twist[2]];
        let (zero, linear) = (D::from(0.0), [twist[3], twist[4], twist[5]]);
        let skew = [[zero, -z, y], [z, zero, -x], [-y, x, zero]];
        let square = product(&skew, &skew);
        let identity = unit_matrix::<D>();
        let half = D::from(0.5);
        Self {
            rotation: std::array::from_fn(|i| {
                std::array::from_fn(|j| identity[i][j] + skew[i][j] + half * square[i][j])
            }),
            position: std::array::from_fn(|i| linear[i] + half * dot(skew[i], linear)),
        }
    }

    /// Rotation about a constant axis by Rodrigues' formula.
    fn turn(axis: &Vector3, angle: D) -> Self {
        let (sin, cos) = angle.sin_cos();
        let a = [axis.x, axis.y, axis.z].map(D::from);
        let skew = [[D::from(0.0), -a[2], a[1]], [a[2], D::from(0.0), -a[0]], [-a[1], a[0], D::from(0.0)]];
        let square = product(&skew, &skew);
        let (identity, rest) = (unit_matrix::<D>(), D::from(1.0) - cos);
        let entry = |i: usize, j: usize| identity[i][j] + sin * skew[i][j] + rest * square[i][j];
        Self {
            rotation: std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))),
            position: [D::from(0.0); 3],
        }
    }
}

/// Value of a coordinate of two frames in the world; angles up to half turns.
fn value<D: Number>(coordinate: Coordinate, first: &DualPose<D>, second: &DualPose<D>) -> D {
    let axis = |frame: &DualPose<D>, i: usize| column(&frame.rotation, i);
    let between: Triple<D> = std::array::from_fn(|i| second.position[i] - first.position[i]);
    let cosine = |i: usize, j: usize| dot(axis(first, i), axis(second, j));
    match coordinate {
        Translation(i) => dot(axis(first, i), between),
        Direction(i, j) => cosine(i, j),
        Angle => cosine(1, 0).atan2(cosine(0, 0)),
        UniversalAngle(0) => cosine(2, 1).atan2(cosine(1, 1)),
        UniversalAngle(_) => cosine(0, 2).atan2(cosine(0, 0)),
        Distance => dot(between, between).sqrt(),
        RotationVector(i) => {
            let relative: [Triple<D>; 3] = std::array::from_fn(|i| std::array::from_fn(|j| cosine(i, j)));
            rotation_vector(&relative)[i]
        }
        // No coordinate has this rate; `kinematics::coordinate` checks it.
        Coordinate::AngularVelocity(_) => D::from(0.0),
    }
}

/// log R, for small angles by its power series Σ −(I − R)^k/k, for larger ones by the angle of the trace.
fn rotation_vector<D: Number>(rotation: &[Triple<D>; 3]) -> Triple<D> {
    let axial = |m: &[Triple<D>; 3]| [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let cosine = (rotation[0][0] + rotation[1][1] + rotation[2][2] - D::from(1.0)) * D::from(0.5);
    if cosine.re() < 0.9 {
        let angle = cosine.acos();
        return axial(rotation).map(|twice_sine| twice_sine * angle / (angle.sin() * D::from(2.0)));
    }
    let identity = unit_matrix::<D>();
    let rest: [Triple<D>; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| identity[i][j] - rotation[i][j]));
    let (mut power, mut sum) = (identity, [[D::from(0.0); 3]; 3]);
    // |I − R| ≤ √(2 (1 − 0.9)) < 0.45, and 0.45^60 is far below the rounding.
    for k in 1..60 {
        power = product(&power, &rest);
        for (sum, power) in sum.iter_mut().flatten().zip(power.iter().flatten()) {
            *sum -= *power / D::from(f64::from(k));
        }
    }
    axial(&sum).map(|twice| twice * D::from(0.5))
}

const KINDS: [Coordinate; 16] = [
    Translation(0),
    Translation(1),
    Translation(2),
    Direction(0, 0),
    Direction(0, 1),
    Direction(1, 0),
    Direction(1, 2),
    Direction(2, 0),
    Direction(2, 2),
    Angle,
    UniversalAngle(0),
    UniversalAngle(1),
    Distance,
    RotationVector(0),
    RotationVector(1),
    RotationVector(2),
];

fn vector(size: f64) -> impl Strategy<Value = Vector3> {
    [-size..size, -size..size, -size..size].prop_map(Vector3::from)
}

fn any_pose() -> impl Strategy<Value = Pose> {
    (vector(2.0), vector(1.0))
        .prop_map(|(turn, place)| Pose::new(UnitQuaternion::from_scaled_axis(turn), place))
}

fn any_twist() -> impl Strategy<Value = Vector6> {
    (vector(1.0), vector(1.0)).prop_map(|(a, b)| crate::kinematics::join(&a, &b))
}

/// Two bodies with a frame on each.
#[derive(Clone, Debug)]
struct Two {
    bodies: [Pose; 2],
    offsets: [Pose; 2],
    twists: [Vector6; 2],
}

/// Two bodies anywhere; now and then with frames that nearly agree, where rotation vectors are small.
fn two() -> impl Strategy<Value = Two> {
    let near = prop_oneof![Just(1.0), Just(0.05), Just(1e-4)];
    (any_pose(), any_pose(), any_pose(), vector(1.5), vector(1.0), any_twist(), any_twist(), near).prop_map(
        |(first, first_offset, second_offset, turn, place, first_twist, second_twist, near)| {
            let relative = Pose::new(UnitQuaternion::from_scaled_axis(near * turn), place);
            let second = first * first_offset * relative * second_offset.inverse();
            Two {
                bodies: [first, second],
                offsets: [first_offset, second_offset],
                twists: [first_twist, second_twist],
            }
        },
    )
}

impl Two {
    fn motions(&self) -> [NodeMotion; 2] {
        std::array::from_fn(|i| NodeMotion {
            velocity: self.twists[i],
            ..NodeMotion::at_rest(self.bodies[i])
        })
    }

    /// Value with the bodies moved by exp(ε₁ e_b) and then by exp(ε₂ e_a); a and b count both twists.
    fn moved(&self, coordinate: Coordinate, b: usize, a: usize) -> HyperDual64 {
        let small = |direction: usize, eps: HyperDual64, body: usize| {
            let mut twist = [HyperDual64::from(0.0); 6];
            if direction / 6 == body {
                twist[direction % 6] = eps;
            }
            DualPose::exp(twist)
        };
        let eps1 = HyperDual64::new(0.0, 1.0, 0.0, 0.0);
        let eps2 = HyperDual64::new(0.0, 0.0, 1.0, 0.0);
        let [first, second] = std::array::from_fn(|body| {
            DualPose::constant(&self.bodies[body])
                .compose(&small(b, eps1, body))
                .compose(&small(a, eps2, body))
                .compose(&DualPose::constant(&self.offsets[body]))
        });
        value(coordinate, &first, &second)
    }

    /// Whether an angle or distance is well defined: near a pole of it all derivatives grow without bound.
    fn suits(&self, coordinate: Coordinate) -> bool {
        let [first, second] = std::array::from_fn(|i| self.bodies[i] * self.offsets[i]);
        let relative = first.inverse() * second;
        let matrix = relative.rotation.to_rotation_matrix().into_inner();
        match coordinate {
            Angle => matrix[(2, 0)].abs() < 0.9,
            UniversalAngle(_) => matrix[(0, 1)].abs() < 0.9,
            Distance => relative.position.norm() > 0.2,
            RotationVector(_) => relative.rotation.angle() < 2.8,
            _ => true,
        }
    }
}

fn close(found: f64, expected: f64) -> bool {
    // Some hundred roundings, enlarged at worst by the inverse squares of the distances kept from the poles.
    (found - expected).abs() < 1e-11 * (1.0 + expected.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn derivatives_of_coordinates_are_those_of_dual_numbers(two in two()) {
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let motions = two.motions();
        let at = Motion::new(0.0, &motions);
        for coordinate in KINDS.into_iter().filter(|coordinate| two.suits(*coordinate)) {
            let joint = CoordinateJoint::between(nodes, two.offsets, vec![Row::lock(coordinate)]);
            let Answers { violation, wrenches, rates, gradient, mut stiffness, rate_gradient, .. } =
                Answers::of(|values| (&joint as &dyn Joint).ask_holonomic(&at, values), &[1.0]);
            for b in 0..12 {
                let mut rate = 0.0;
                for a in 0..12 {
                    let exact = two.moved(coordinate, b, a);
                    rate += exact.eps1eps2 * two.twists[a / 6][a % 6];
                    let hessian = stiffness.stiffness(a / 6, b / 6)[(a % 6, b % 6)];
                    prop_assert!(close(hessian, exact.eps1eps2), "{coordinate:?} {a} {b}: {hessian} {exact}");
                    let slope = gradient.rows[0][a / 6][a % 6];
                    prop_assert!(close(slope, exact.eps2), "{coordinate:?} {a}: {slope} {exact}");
                }
                let found = rate_gradient.rows[0][b / 6][b % 6];
                prop_assert!(close(found, rate), "{coordinate:?} {b}: rate {found} {rate}");
            }
            prop_assert!(close(violation[0], two.moved(coordinate, 0, 0).re), "{coordinate:?}");
            let exact: f64 = (0..12).map(|a| two.moved(coordinate, 0, a).eps2 * two.twists[a / 6][a % 6]).sum();
            prop_assert!(close(rates[0], exact), "{coordinate:?}: {} {exact}", rates[0]);
            for (wrench, row) in wrenches.iter().zip(&gradient.rows[0]) {
                prop_assert!((0..6).all(|k| close(wrench[k], row[k])), "{coordinate:?}: {wrench} {row}");
            }
        }
    }

    #[test]
    fn moving_the_whole_world_changes_no_coordinate_and_no_gradient_in_body_axes(
        two in two(),
        world in any_pose(),
    ) {
        let moved = Two { bodies: two.bodies.map(|body| world * body), ..two.clone() };
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        for coordinate in KINDS.into_iter().filter(|coordinate| two.suits(*coordinate)) {
            let joint = CoordinateJoint::between(nodes, two.offsets, vec![Row::lock(coordinate)]);
            let [(here, here_value), (there, there_value)] = [&two, &moved].map(|two| {
                let motions = two.motions();
                let at = Motion::new(0.0, &motions);
                let found = Answers::of(|values| (&joint as &dyn Joint).ask_holonomic(&at, values), &[1.0]);
                (found.gradient, found.violation[0])
            });
            prop_assert!(close(there_value, here_value), "{coordinate:?}");
            for node in 0..2 {
                for k in 0..6 {
                    prop_assert!(close(there.rows[0][node][k], here.rows[0][node][k]), "{coordinate:?}");
                }
            }
        }
    }

    #[test]
    fn a_led_row_has_the_time_derivatives_of_dual_numbers(two in two(), law in any_law()) {
        let nodes = [Some(NodeId(0)), Some(NodeId(1))];
        let motions = two.motions();
        let at = Motion::new(TIME, &motions);
        for coordinate in KINDS.into_iter().filter(|coordinate| two.suits(*coordinate)) {
            let row = Row::lead(coordinate, Arc::new(law));
            let joint = CoordinateJoint::between(nodes, two.offsets, vec![row]);
            let [first, second] = std::array::from_fn(|i| {
                along(&two.bodies[i], &two.twists[i]).compose(&DualPose::constant(&two.offsets[i]))
            });
            let exact = value(coordinate, &first, &second) - law.value(time());
            check_time_derivatives(&joint, &at, 0, exact)?;
        }
    }

    #[test]
    fn a_guided_body_has_the_time_derivatives_of_dual_numbers(
        (body, base, twist, rotation) in (any_pose(), any_pose(), any_twist(), vector(2.0)),
        (path, angles) in ([any_law(), any_law(), any_law()], [any_law(), any_law()]),
        axes in [vector(1.0), vector(1.0)],
    ) {
        prop_assume!(axes.iter().all(|axis| axis.norm() > 0.1));
        let axes = axes.map(|axis| axis.normalize());
        let rotation = UnitQuaternion::from_scaled_axis(rotation);
        let turn = |i: usize| Turn { axis: axes[i], angle: Arc::new(angles[i]) };
        let path_laws = path.map(|law| Arc::new(law) as Arc<dyn TimeLaw>);
        let guide = Guide { base, path: path_laws, turns: vec![turn(0), turn(1)], rotation };
        let joint = GuidedBody::new(NodeId(0), guide);
        let motions = [NodeMotion { velocity: twist, ..NodeMotion::at_rest(body) }];
        let at = Motion::new(TIME, &motions);
        let turned = DualPose::turn(&axes[0], angles[0].value(time()))
            .compose(&DualPose::turn(&axes[1], angles[1].value(time())))
            .compose(&DualPose::constant(&Pose::new(rotation, Vector3::zeros())));
        let place = DualPose { rotation: unit_matrix(), position: path.map(|law| law.value(time())) };
        let position = DualPose::constant(&base).compose(&place).position;
        let guide = DualPose { rotation: turned.rotation, position };
        let followed = along(&body, &twist);
        for (row, coordinate) in lower_pair::FIXED.into_iter().enumerate() {
            check_time_derivatives(&joint, &at, row, value(coordinate, &guide, &followed))?;
        }
    }
}

/// Time at which laws are evaluated.
const TIME: f64 = 0.7;

/// a + b t + c t² + sin(d t).
#[derive(Clone, Copy, Debug)]
struct TestLaw([f64; 4]);

fn any_law() -> impl Strategy<Value = TestLaw> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0, -2.0..2.0].prop_map(TestLaw)
}

impl TestLaw {
    fn value(&self, t: Dual2_64) -> Dual2_64 {
        let [a, b, c, d] = self.0;
        t * b + t * t * c + (t * d).sin() + a
    }
}

impl TimeLaw for TestLaw {
    fn at(&self, time: f64) -> [f64; 3] {
        let value = self.value(Dual2_64::from(time).derivative());
        [value.re, value.v1, value.v2]
    }
}

fn time() -> Dual2_64 {
    Dual2_64::from(TIME).derivative()
}

/// A pose that moves with a constant twist.
fn along(pose: &Pose, twist: &Vector6) -> DualPose<Dual2_64> {
    let passed = Dual2_64::from(0.0).derivative();
    DualPose::constant(pose).compose(&DualPose::exp(std::array::from_fn(|i| passed * twist[i])))
}

/// With constant twists d/dt Φ = B V + Φ_t, and d²/dt² Φ is the rate's change along q and t.
fn check_time_derivatives(
    joint: &dyn Joint,
    at: &Motion,
    row: usize,
    exact: Dual2_64,
) -> Result<(), TestCaseError> {
    let multipliers = [0.0; MAX_ROWS];
    let Answers { rates, gradient, rate_gradient, by_time: [first, second], .. } =
        Answers::of(|values| joint.ask_holonomic(at, values), &multipliers[..joint.facts().rows]);
    let along = |gradient: &LocalGradient| -> f64 {
        gradient.rows[row].iter().zip(at.nodes).map(|(part, node)| part.dot(&node.velocity)).sum()
    };
    let (rate, acceleration) = (along(&gradient) + first[row], along(&rate_gradient) + second[row]);
    prop_assert!(close(rate, exact.v1), "row {row}: rate {rate}, {exact}");
    prop_assert!(close(rates[row], exact.v1), "row {row}: rate {}, {exact}", rates[row]);
    prop_assert!(close(acceleration, exact.v2), "row {row}: acceleration {acceleration}, {exact}");
    Ok(())
}
