//! First-order and algebraic states: order, step sizes, restarts, statics.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::constrained::ConsistencyError;
use kreisel::dae::{
    Control, Couplings, Dae, Initial, Point, Residual, Shape, StateGroup, Tangent, TangentWeights, Values,
};
use kreisel::element::{Body, Element, ElementFacts, Forces, StateId};
use kreisel::integrate::{
    BDF2, ErrorControl, Family, HHT_I3, HHT_SOI2, INDEX2, INDEX3, Integrator, Method, Parameters, SOI2,
    Saved, Settings, StartError, UPDATED_LAGRANGIAN,
};
use kreisel::joint::{CoordinateJoint, lower_pair};
use kreisel::kinematics::{FramePair, Motion, NodeId};
use kreisel::lie::{Group, Matrix3, Pose, Space, UnitQuaternion, Vector3, Vector6};
use kreisel::solve::block::BlockMatrix;
use kreisel::statics;
use kreisel::system::{System, SystemBuilder};
use kreisel_papers::problem::DrivenTop;
use kreisel_papers::problem::driven_top::DrivenSolution;

const METHODS: [Method; 6] = [INDEX3, INDEX2, SOI2, HHT_I3, HHT_SOI2, BDF2];

fn settings(method: Method, step: f64) -> Settings {
    let parameters = if method.family() == Family::Hht {
        Parameters::hht_by_radius(0.8).unwrap()
    } else {
        Parameters::chung_hulbert(0.6).unwrap()
    };
    Settings::new(method, parameters, step).with_newton_tolerances(1e-13, 1e-14)
}

/// Steps of one size, or h/3, 2h/3, h/3, …
fn steps(count: usize, end: f64, alternating: bool) -> Vec<f64> {
    let h = end / count as f64;
    if !alternating {
        return vec![h; count];
    }
    (0..count).flat_map(|_| [h / 3.0, 2.0 * h / 3.0]).collect()
}

/// States after each quarter of the steps.
fn quarters<D: Dae>(dae: &D, initial: Initial, method: Method, steps: &[f64]) -> Vec<Values> {
    let mut run = Integrator::with(settings(method, steps[0])).start(dae, initial).unwrap();
    let mut states = Vec::new();
    for quarter in steps.chunks(steps.len() / 4) {
        quarter.iter().for_each(|&step| _ = run.step_by(step).unwrap());
        states.push(run.values().clone());
    }
    states
}

/// The largest of several errors, component by component.
fn largest(errors: impl Iterator<Item = [f64; 5]>) -> [f64; 5] {
    errors.fold([0.0; 5], |largest, errors| std::array::from_fn(|i| largest[i].max(errors[i])))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Errors in q, v, λ and the states.
fn top_errors(group: Group, state: &Values, exact: &DrivenSolution) -> [f64; 5] {
    let (top, q) = (&exact.top, exact.top.rotation);
    let exact_q = [&[q.w, q.i, q.j, q.k], top.position.as_slice()].concat();
    let mut difference = [0.0; 6];
    Space::new([group]).difference(&state.configuration, &exact_q, &mut difference).unwrap();
    let u = if group == Group::Se3 { q.inverse_transform_vector(&top.velocity) } else { top.velocity };
    let v = [top.angular_velocity.as_slice(), u.as_slice()].concat();
    [
        distance(&difference, &[0.0; 6]),
        distance(&state.velocity, &v),
        distance(&state.multipliers, top.multipliers.as_slice()),
        (state.internal_states[0] - exact.internal_states[0]).abs(),
        (state.internal_states[1] - exact.internal_states[1]).abs(),
    ]
}

/// Orders between the runs of two numbers of steps.
fn orders(coarse: [f64; 5], fine: [f64; 5]) -> [f64; 5] {
    std::array::from_fn(|i| (coarse[i] / fine[i]).log2())
}

#[test]
fn motion_reaction_and_states_of_a_driven_top_converge_with_order_two() {
    let end = 0.4;
    for group in [Group::So3xR3, Group::Se3] {
        let top = DrivenTop::new(group);
        let exact = [1.0, 2.0, 3.0, 4.0].map(|quarter| top.reference(0.25 * quarter * end));
        let on_se3 = group == Group::Se3;
        let methods = METHODS.into_iter().chain((!on_se3).then_some(UPDATED_LAGRANGIAN));
        for method in methods {
            // Steps of varying size cost `updated-lagrangian` an order in the λ of this top, also where no
            // state acts on it.
            let varying = method != UPDATED_LAGRANGIAN;
            for alternating in [false, true].into_iter().filter(|alternating| varying || !alternating) {
                let errors = [400, 800].map(|count| {
                    let steps = steps(count, end, alternating);
                    let states = quarters(&top, top.initial(), method, &steps);
                    largest(states.iter().zip(&exact).map(|(state, exact)| top_errors(group, state, exact)))
                });
                for (what, order) in ["q", "v", "λ", "c", "s"].iter().zip(orders(errors[0], errors[1])) {
                    // The next terms of the error are a few percent at these steps.
                    let case = format!("{what}: {method:?} {group:?} alternating {alternating}");
                    assert!((order - 2.0).abs() < 0.15, "{case}: order {order}, {errors:?}");
                }
            }
        }
    }
}

/// A pendulum of unit length and mass in the plane, turned by a lagging torque c that the string's force
/// feeds.
struct LaggingPendulum;

const GRAVITY: f64 = 9.81;

impl LaggingPendulum {
    fn initial() -> Initial {
        // φ = 0.7, φ̇ = 0.3 with x = sin φ, y = −cos φ.
        let (sin, cos) = 0.7_f64.sin_cos();
        let mut initial = Initial::new(0.0, [sin, -cos], [0.3 * cos, 0.3 * sin]);
        initial.internal_states = vec![0.4];
        initial
    }

    /// q, v, λ and c by the classical Runge–Kutta method on φ, φ̇ and c.
    fn reference(end: f64) -> [f64; 6] {
        let rate = |[phi, omega, c]: [f64; 3]| {
            let lambda = omega * omega + GRAVITY * phi.cos();
            [omega, -GRAVITY * phi.sin() + c, -2.0 * c + 0.1 * lambda + omega]
        };
        let (count, mut y) = (20_000, [0.7, 0.3, 0.4]);
        let h = end / f64::from(count);
        let moved = |y: [f64; 3], k: [f64; 3], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
        for _ in 0..count {
            let k1 = rate(y);
            let k2 = rate(moved(y, k1, 0.5 * h));
            let k3 = rate(moved(y, k2, 0.5 * h));
            let k4 = rate(moved(y, k3, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        let [phi, omega, c] = y;
        let (sin, cos) = phi.sin_cos();
        [sin, -cos, omega * cos, omega * sin, omega * omega + GRAVITY * cos, c]
    }
}

impl Dae for LaggingPendulum {
    fn shape(&self) -> Shape {
        let state = StateGroup { size: 1, algebraic: false };
        Shape::new(Space::vector(2)).with_constraints([1]).with_internal_states([state])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let ([x, y], [u, w]) = ([at.configuration[0], at.configuration[1]], [at.velocity[0], at.velocity[1]]);
        let (lambda, c) = (at.multipliers[0], at.internal_states[0]);
        out.equilibrium[0] = at.acceleration[0] + x * lambda + y * c;
        out.equilibrium[1] = at.acceleration[1] + GRAVITY + y * lambda - x * c;
        out.violation[0] = 0.5 * (x * x + y * y - 1.0);
        out.internal_rates[0] = -2.0 * c + 0.1 * lambda + x * w - y * u;
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        out.values_mut().copy_from_slice(at.configuration);
    }
}

fn pendulum_errors(state: &Values, exact: &[f64; 6]) -> [f64; 5] {
    [
        distance(&state.configuration, &exact[..2]),
        distance(&state.velocity, &exact[2..4]),
        (state.multipliers[0] - exact[4]).abs(),
        (state.internal_states[0] - exact[5]).abs(),
        (state.internal_states[0] - exact[5]).abs(),
    ]
}

#[test]
fn motion_tension_and_state_of_a_pendulum_converge_with_order_two() {
    let end = 1.3;
    let exact = [1.0, 2.0, 3.0, 4.0].map(|quarter| LaggingPendulum::reference(0.25 * quarter * end));
    for method in METHODS {
        for alternating in [false, true] {
            let errors = [200, 400].map(|count| {
                let steps = steps(count, end, alternating);
                let states = quarters(&LaggingPendulum, LaggingPendulum::initial(), method, &steps);
                largest(states.iter().zip(&exact).map(|(state, exact)| pendulum_errors(state, exact)))
            });
            for (what, order) in ["q", "v", "λ", "c"].iter().zip(orders(errors[0], errors[1])) {
                let case = format!("{what}: {method:?} alternating {alternating}");
                assert!((order - 2.0).abs() < 0.15, "{case}: order {order}, {errors:?}");
            }
        }
    }
}

#[test]
fn a_run_from_saved_bytes_goes_on_to_the_same_bits() {
    for method in [INDEX3, INDEX2, SOI2, BDF2] {
        let top = DrivenTop::new(Group::Se3);
        let settings = settings(method, 1e-3);
        let integrator = Integrator::with(settings);
        let mut whole = integrator.start(&top, top.initial()).unwrap();
        (0..20).for_each(|_| _ = whole.step().unwrap());
        let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
        let mut resumed = integrator.resume(&top, &saved).unwrap();
        for _ in 0..20 {
            whole.step().unwrap();
            resumed.step().unwrap();
        }
        assert_eq!(whole.values(), resumed.values(), "{method:?}");
    }
}

/// c alone decides on the step: it decays in a millisecond, then follows a slow wave.
struct FastState;

impl Dae for FastState {
    fn shape(&self) -> Shape {
        let state = StateGroup { size: 1, algebraic: false };
        Shape::new(Space::vector(1)).with_internal_states([state])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        out.equilibrium[0] = at.acceleration[0];
        out.internal_rates[0] = -1000.0 * (at.internal_states[0] - at.time.sin());
    }
}

#[test]
fn the_error_of_a_state_decides_on_the_step() {
    // c = 1000 (1000 sin t − cos t)/(10⁶ + 1) + C e^(−1000 t).
    let slow = |t: f64| 1000.0 * (1000.0 * t.sin() - t.cos()) / (1e6 + 1.0);
    let exact = |t: f64| slow(t) + (1.0 - slow(0.0)) * (-1000.0 * t).exp();
    let mut initial = Initial::new(0.0, [0.0], [1.0]);
    initial.internal_states = vec![1.0];
    let mut counts = Vec::new();
    for tolerance in [1e-3, 1e-5] {
        let control = ErrorControl::new(tolerance, 2.0);
        let settings = Settings::auto(INDEX3, Parameters::chung_hulbert(0.8).unwrap(), control);
        let mut run = Integrator::with(settings).start(&FastState, initial.clone()).unwrap();
        let (mut largest, mut first, mut last) = (0.0_f64, 0.0, 0.0);
        while run.values().time < 2.0 {
            let report = run.step().unwrap();
            if first == 0.0 {
                first = report.step;
            }
            last = report.step;
            largest = largest.max((run.values().internal_states[0] - exact(run.values().time)).abs());
        }
        // Errors per unit of time are kept to the tolerance: in the decay they add up to no more than that.
        assert!(largest < 2.0 * tolerance, "{tolerance}: {largest}");
        assert!(first < 1e-3 && last > 10.0 * first, "{first} {last}");
        counts.push(run.statistics().steps);
    }
    // A hundredth of the error takes ten times the steps.
    let ratio = counts[1] as f64 / counts[0] as f64;
    assert!((4.0..16.0).contains(&ratio), "{counts:?}");
}

/// 0 = 0 · s: nothing determines s.
struct Undetermined;

impl Dae for Undetermined {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(1)).with_internal_states([StateGroup { size: 1, algebraic: true }])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        out.equilibrium[0] = at.acceleration[0] - at.internal_states[0];
        out.internal_rates[0] = at.configuration[0];
    }
}

#[test]
fn an_algebraic_state_that_nothing_determines_is_named() {
    let mut initial = Initial::new(0.0, [1.0], [0.0]);
    initial.internal_states = vec![0.0];
    let outcome = Integrator::new(INDEX3, 0.8, 1e-3).unwrap().start(&Undetermined, initial);
    let Err(error) = outcome else { panic!("a singular system was accepted") };
    assert!(matches!(error, StartError::Initial(ConsistencyError::Singular { .. })), "{error}");
    assert!(error.to_string().contains("state 0"), "{error}");
}

/// A torque c about the x axis between two bodies that lags behind their motion and the force in a joint, and
/// drives an algebraic state s that pushes the second body: everything that an element may do.
struct Lag {
    nodes: [NodeId; 2],
    states: [StateId; 2],
    joints: [usize; 1],
}

impl Element for Lag {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts {
            internal_states: &self.states,
            rate_count: 2,
            joints: &self.joints,
            ..ElementFacts::on(&self.nodes)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let [c, s] = [at.internal_states[0], at.internal_states[1]];
        let (first, second) = (&at.nodes[0], &at.nodes[1]);
        if let Some(wrenches) = out.wrenches.take() {
            wrenches[0][0] += c;
            wrenches[1][0] -= c + 0.02 * at.multipliers[1];
            wrenches[1][4] += s * second.velocity[4];
        }
        if let Some(rates) = out.rates.take() {
            let slide = first.velocity[0] - second.velocity[3];
            rates[0] = -2.0 * c + slide + 0.3 * first.pose.position.y * s + 0.01 * at.multipliers[0];
            rates[1] = s + 0.2 * s.powi(3) - c - 0.1 * second.velocity[1];
        }
    }
}

/// Two bodies on spherical joints with a [`Lag`] between them.
fn lagging_chain(group: Group) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let frame = |x: f64| Pose::new(UnitQuaternion::identity(), Vector3::new(x, 0.0, 0.0));
    let nodes = [0.5, 1.5].map(|x| {
        let pose = frame(x);
        builder.node(format!("link at {x}"), group, pose, Vector6::new(0.2, 0.0, 0.5, 0.0, 0.0, 0.0))
    });
    for (name, node) in ["first", "second"].into_iter().zip(nodes) {
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.05, 0.1, 0.12));
        builder.element(name, Body::new(node, 1.0, inertia, Vector3::new(0.0, 0.0, -9.81)));
    }
    let ends = [([None, Some(nodes[0])], [0.0, -0.5]), ([Some(nodes[0]), Some(nodes[1])], [0.5, -0.5])];
    let mut joint = 0;
    for (name, (ends, offsets)) in ["anchor", "hinge"].into_iter().zip(ends) {
        let mut list = Vec::new();
        let pair = FramePair::new(ends, offsets.map(frame), &mut list);
        joint = builder.joint(name, CoordinateJoint::new(list, vec![pair], lower_pair::spherical()));
    }
    let states = [builder.state("c", 0.3, 1.0), builder.algebraic_state("s", 0.0, 1.0)];
    builder.element("lag", Lag { nodes, states, joints: [joint] });
    builder.build(0.0).unwrap()
}

/// The same equations without derivatives of their own: everything by differences.
struct Differenced<'a>(&'a System);

impl Dae for Differenced<'_> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn couplings(&self, memory: Option<&[f64]>) -> Couplings {
        self.0.couplings(memory)
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        self.0.residual(at, out);
    }
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.0.gradient(at, out);
    }
}

#[test]
fn derivatives_of_and_by_states_and_multipliers_are_those_of_the_equations() {
    for group in [Group::Se3, Group::So3xR3] {
        let (system, initial) = lagging_chain(group);
        let numbers = |count: usize, seed: f64| -> Vec<f64> {
            (0..count).map(|i| (seed + 1.7 * i as f64).sin()).collect()
        };
        let mut configuration = initial.configuration.clone();
        system.shape().space.compose_exp(&initial.configuration, &numbers(12, 0.3), &mut configuration);
        let at = Point {
            time: 0.0,
            configuration: &configuration,
            velocity: &numbers(12, 1.0),
            acceleration: &numbers(12, 2.0),
            multipliers: &numbers(6, 3.0),
            nonholonomic_multipliers: &[],
            internal_states: &numbers(2, 4.0),
            memory: &[],
        };
        let weights = TangentWeights { mass: 0.7, damping: 0.4, stiffness: true, remembered_forces: false };
        let couplings = system.couplings(None);
        let exact = Tangent::at(&system, &couplings, &at, weights);
        let differenced = Tangent::at(&Differenced(&system), &couplings, &at, weights);
        for (what, exact, differenced) in [
            ("dynamic", &exact.dynamic, &differenced.dynamic),
            ("stiffness", &exact.stiffness, &differenced.stiffness),
            ("reaction", &exact.reaction, &differenced.reaction),
            ("state force", &exact.state_force, &differenced.state_force),
            ("state damping", &exact.state_damping, &differenced.state_damping),
            ("state stiffness", &exact.state_stiffness, &differenced.state_stiffness),
            ("state by state", &exact.state_state, &differenced.state_state),
            ("state by multiplier", &exact.state_reaction, &differenced.state_reaction),
        ] {
            assert!(exact.values().iter().any(|value| *value != 0.0), "{what} is empty");
            // Central differences of both sides are good to nine digits.
            let error = distance(exact.values(), differenced.values());
            assert!(error < 1e-7, "{what} on {group:?}: {error:e}");
        }
    }
}

#[test]
fn all_methods_agree_on_a_chain_whose_element_reads_a_joint() {
    for group in [Group::Se3, Group::So3xR3] {
        let (system, initial) = lagging_chain(group);
        let end = |method: Method, count: usize| {
            quarters(&system, initial.clone(), method, &steps(count, 0.2, false)).pop().unwrap()
        };
        let reference = end(INDEX2, 1600);
        for method in METHODS {
            let errors = [100, 200].map(|count| {
                let state = end(method, count);
                let reaction = distance(&state.multipliers, &reference.multipliers);
                [distance(&state.internal_states, &reference.internal_states), reaction]
            });
            for (coarse, fine) in errors[0].iter().zip(errors[1]) {
                let order = (coarse / fine).log2();
                assert!((order - 2.0).abs() < 0.3, "{method:?} {group:?}: {order} {errors:?}");
            }
        }
    }
}

#[test]
fn statics_finds_states_at_rest() {
    // A mass on a spring of 2 N/m pulled by c, which follows 3 − x.
    struct Pulled;
    impl Dae for Pulled {
        fn shape(&self) -> Shape {
            Shape::new(Space::vector(1)).with_internal_states([StateGroup { size: 1, algebraic: false }])
        }
        fn residual(&self, at: &Point, out: &mut Residual) {
            let (x, c) = (at.configuration[0], at.internal_states[0]);
            out.equilibrium[0] = at.acceleration[0] + 2.0 * x - c;
            out.internal_rates[0] = 3.0 - x - c;
        }
    }
    let mut initial = Initial::new(0.0, [0.0], [0.0]);
    initial.internal_states = vec![0.0];
    let found = statics::solve(&Pulled, &initial, &statics::StaticSettings::default(), |_| Control::Continue)
        .unwrap();
    // 2x = c = 3 − x.
    assert!((found.equilibrium.values.configuration[0] - 1.0).abs() < 1e-12);
    assert!((found.equilibrium.values.internal_states[0] - 2.0).abs() < 1e-12);
}

#[test]
fn steps_with_states_allocate_nothing() {
    let (system, initial) = lagging_chain(Group::Se3);
    for method in [INDEX3, INDEX2, SOI2, BDF2] {
        let mut run = Integrator::with(settings(method, 1e-3)).start(&system, initial.clone()).unwrap();
        (0..3).for_each(|_| _ = run.step().unwrap());
        let counted = allocation_counter::measure(|| (0..50).for_each(|_| _ = run.step().unwrap()));
        assert_eq!(counted.count_total, 0, "{method:?}");
    }
}
