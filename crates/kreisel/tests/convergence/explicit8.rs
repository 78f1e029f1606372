//! `explicit8`: order 8 in positions, velocities and multipliers, against solutions of another kind.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, last, model, read};
use kreisel::dae::{Dae, Point, Residual, Shape, Values, Wanted};
use kreisel::integrate::{
    EXPLICIT8, ErrorControl, INDEX2, Integration, Integrator, Parameters, Settings, StepError,
};
use kreisel::lie::{Group, Matrix3, Space, quaternion, skew, vector3};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::solve::block::BlockMatrix;
use kreisel_papers::problem::heavy_top::TopSolution;
use kreisel_papers::problem::{DrivenTop, HeavyTop, NonlinearReactions};
use std::f64::consts::FRAC_PI_2;

fn settings(step: f64) -> Settings {
    Settings::new(EXPLICIT8, Parameters::chung_hulbert(0.9).unwrap(), step)
}

fn fixed(step: f64) -> Integrator {
    Integrator::with(settings(step))
}

fn controlled(rtol: f64, horizon: f64) -> Integrator {
    Integrator::with(settings(1.0).with_error_control(ErrorControl::new(rtol, horizon)))
}

pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// Largest difference relative to the largest entry.
pub(crate) fn relative(a: &[f64], b: &[f64]) -> f64 {
    largest(a.iter().zip(b).map(|(a, b)| a - b)) / largest(b.iter().copied())
}

/// Largest entry of the Lie algebra error.
pub(crate) fn distance(space: &Space, a: &[f64], b: &[f64]) -> f64 {
    let mut difference = vec![0.0; space.dimension()];
    space.difference(a, b, &mut difference).unwrap();
    largest(difference)
}

/// Errors in q, in v and in λ; those of v and λ are relative.
pub(crate) type Errors = [f64; 3];

pub(crate) fn errors(space: &Space, found: &Values, exact: &Values) -> Errors {
    let multipliers = |values: &Values| [&values.multipliers[..], &values.nonholonomic_multipliers].concat();
    [
        distance(space, &found.configuration, &exact.configuration),
        relative(&found.velocity, &exact.velocity),
        relative(&multipliers(found), &multipliers(exact)),
    ]
}

pub(crate) fn orders(coarse: Errors, fine: Errors) -> Errors {
    std::array::from_fn(|i| (coarse[i] / fine[i]).log2())
}

pub(crate) fn top_errors(group: Group, state: &Values, exact: &TopSolution) -> Errors {
    let (q, x) = (exact.rotation, exact.position);
    let u = if group == Group::Se3 { q.inverse_transform_vector(&exact.velocity) } else { exact.velocity };
    let omega = exact.angular_velocity;
    [
        distance(&Space::new([group]), &state.configuration, &[q.w, q.i, q.j, q.k, x.x, x.y, x.z]),
        relative(&state.velocity, &[omega.x, omega.y, omega.z, u.x, u.y, u.z]),
        relative(&state.multipliers, exact.multipliers.as_slice()),
    ]
}

/// The heavy top on SO(3)×R³ with its equations in fixed axes, Φ = R X − x, in place of axes of the body.
/// Where constraints hold it is the same motion; stages of a step are beside them by its error, and there it
/// is another one.
struct FixedAxes(HeavyTop);

impl Dae for FixedAxes {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let (rotation, position) = (quaternion(at.configuration), vector3(&at.configuration[4..]));
        let (omega, lambda) = (vector3(at.velocity), vector3(at.multipliers));
        let (omega_dot, u_dot) = (vector3(at.acceleration), vector3(&at.acceleration[3..]));
        let (inertia, centre) = (self.0.inertia, self.0.centre);
        let torque = inertia.component_mul(&omega_dot)
            + omega.cross(&inertia.component_mul(&omega))
            + centre.cross(&rotation.inverse_transform_vector(&lambda));
        let force = self.0.mass * (u_dot - self.0.gravity) - lambda;
        out.equilibrium[..3].copy_from_slice(torque.as_slice());
        out.equilibrium[3..].copy_from_slice(force.as_slice());
        out.violation.copy_from_slice((rotation * centre - position).as_slice());
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let rotation = quaternion(at.configuration).to_rotation_matrix();
        let by_turn = -rotation.matrix() * skew(&self.0.centre);
        let identity = Matrix3::identity();
        let values = by_turn.iter().copied().chain(identity.iter().map(|value| -value));
        out.values_mut().iter_mut().zip(values).for_each(|(out, value)| *out = value);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.curvature.take() {
            let omega = vector3(at.velocity);
            let inwards = quaternion(at.configuration) * omega.cross(&omega.cross(&self.0.centre));
            out.copy_from_slice(inwards.as_slice());
        }
    }
}

fn fixed_axes_errors(steps: u32) -> Errors {
    let top = FixedAxes(HeavyTop::new(Group::So3xR3));
    let mut run = fixed(1.0 / f64::from(steps)).start(&top, top.0.initial()).unwrap();
    run.advance(1.0).unwrap();
    let exact = &top.0.reference(&[1.0])[0];
    let [q, v, _] = top_errors(Group::So3xR3, run.values(), exact);
    [q, v, relative(&run.values().multipliers, (exact.rotation * exact.multipliers).as_slice())]
}

fn top_errors_at_one(group: Group, steps: u32) -> Errors {
    let top = HeavyTop::new(group);
    let mut run = fixed(1.0 / f64::from(steps)).start(&top, top.initial()).unwrap();
    run.advance(1.0).unwrap();
    top_errors(group, run.values(), &top.reference(&[1.0])[0])
}

/// Errors in q, v and λ at t = 1 that an implementation in another language found, with 200 and 400 steps.
#[test]
fn heavy_top_errors_are_those_of_an_independent_implementation() {
    let in_body_axes = |group: Group| [200, 400].map(|steps| top_errors_at_one(group, steps));
    for (name, found, expected) in [
        (
            "SO(3)×R³, fixed axes",
            [200, 400].map(fixed_axes_errors),
            [[6.280e-8, 2.492e-9, 4.081e-8], [1.860e-10, 9.459e-12, 7.726e-11]],
        ),
        (
            "SO(3)×R³, axes of the body",
            in_body_axes(Group::So3xR3),
            [[7.749e-9, 3.045e-10, 1.015e-8], [2.212e-11, 1.485e-12, 2.385e-11]],
        ),
        // Its multipliers are those in fixed axes.
        ("SE(3)", in_body_axes(Group::Se3), [[5.75e-7, 2.50e-8, f64::NAN], [1.70e-9, 9.3e-11, f64::NAN]]),
    ] {
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            let is_near = expected.is_nan() || (found / expected - 1.0).abs() < 0.1;
            assert!(is_near, "{name}: {found:e} instead of {expected:e}");
        }
        assert!(orders(found[0], found[1]).iter().all(|order| *order >= 7.5), "{name}: {found:?}");
    }
}

/// Multipliers are as good as positions from the first step on.
#[test]
fn multipliers_of_the_first_steps_are_of_order_eight() {
    for group in [Group::So3xR3, Group::Se3] {
        let top = HeavyTop::new(group);
        let found = [0.008, 0.004].map(|step: f64| {
            let mut run = fixed(step).start(&top, top.initial()).unwrap();
            run.step().unwrap();
            top_errors(group, run.values(), &top.reference(&[step])[0])
        });
        // A local error is of order 9, and λ is a function of q and v.
        assert!(orders(found[0], found[1]).iter().all(|order| *order > 8.0), "{group:?}: {found:?}");
    }
}

/// Largest errors at seven places within each step.
fn errors_within_steps(group: Group, step: f64) -> Errors {
    let top = HeavyTop::new(group);
    let mut run = fixed(step).start(&top, top.initial()).unwrap();
    let mut values = Values::zeros(&top.shape());
    let mut worst = [0.0; 3];
    for _ in 0..(0.2 / step).round() as usize {
        run.step().unwrap();
        let (from, to) = (run.last_ends().from.time, run.last_ends().to.time);
        for place in 1..8 {
            let time = from + f64::from(place) / 8.0 * (to - from);
            run.interpolate(time, &mut values);
            let found = top_errors(group, &values, &top.reference(&[time])[0]);
            worst.iter_mut().zip(found).for_each(|(worst, found)| *worst = f64::max(*worst, found));
        }
    }
    worst
}

/// An independent implementation found 9.2e-9, 2.4e-9 and 1.3e-7 with 5 ms on SO(3)×R³; where it looked
/// within steps is not known.
#[test]
fn values_within_steps_are_of_order_eight() {
    let found = [5e-3, 2.5e-3].map(|step| errors_within_steps(Group::So3xR3, step));
    let expected = [9.2e-9, 2.4e-9, 1.3e-7];
    assert!(found[0].iter().zip(expected).all(|(found, expected)| *found < 2.0 * expected), "{found:?}");
    assert!(orders(found[0], found[1]).iter().all(|order| *order > 7.5), "{found:?}");
}

/// First-order and algebraic states that act on the motion and follow its reactions.
#[test]
fn states_have_order_eight_too() {
    for group in [Group::So3xR3, Group::Se3] {
        let driven = DrivenTop::new(group);
        let exact = driven.reference(0.5);
        let found = [8.0, 16.0].map(|steps| {
            let mut run = fixed(0.5 / steps).start(&driven, driven.initial()).unwrap();
            run.advance(0.5).unwrap();
            let [q, v, lambda] = top_errors(group, run.values(), &exact.top);
            [q, v, lambda, relative(&run.values().internal_states, &exact.internal_states)]
        });
        for (coarse, fine) in found[0].iter().zip(found[1]) {
            assert!((coarse / fine).log2() > 7.5, "{group:?}: {found:?}");
        }
    }
}

/// Forces nonlinear in both kinds of multipliers, with a nonholonomic constraint nonlinear in velocities.
#[test]
fn so_have_forces_nonlinear_in_multipliers() {
    let found = [5.0, 10.0].map(|steps| {
        let mut run = fixed(1.0 / steps).start(&NonlinearReactions, NonlinearReactions.initial()).unwrap();
        run.advance(1.0).unwrap();
        let ([q, v, _], [lambda, psi]) =
            (NonlinearReactions.motion(1.0), NonlinearReactions.multipliers(1.0));
        let values = run.values();
        let multipliers = [values.multipliers[0], values.nonholonomic_multipliers[0]];
        [
            largest(values.configuration.iter().zip(q).map(|(a, b)| a - b)),
            relative(&values.velocity, &v),
            relative(&multipliers, &[lambda, psi]),
        ]
    });
    assert!(orders(found[0], found[1]).iter().all(|order| *order > 7.5), "{found:?}");
}

/// A soft beam that falls: an explicit method can follow it.
pub(crate) const SOFT_BEAM: &str = "
[gravity]
acceleration = [0, 0, -9.81]
[[beam]]
name = 'beam'
from = [0, 0, 0]
to = [1, 0, 0]
start = 'ground'
elements = 2
section.axial-stiffness = 1e3
section.shear-stiffness = [1e3, 1e3]
section.torsional-stiffness = 10
section.bending-stiffness = [10, 10]
section.mass-per-length = 1
section.inertia-per-length = [0.02, 0.01, 0.01]
[[body]]
name = 'bob'
mass = 1
inertia = [0.01, 0.02, 0.03]
position = [1.2, 0.1, 0]
markers = [{ name = 'hook', position = [-0.2, -0.1, 0] }]
[[spherical]]
name = 'ball'
bodies = ['beam.end', 'bob.hook']
";

/// A four-bar of hinges all around: three equations follow from the others.
pub(crate) const FOUR_BAR: &str = "
[gravity]
acceleration = [0, -9.81, 0]
[[body]]
name = 'crank'
mass = 0.5
inertia = [1e-3, 2e-3, 2e-3]
position = [0, 0.1, 0]
orientation = { axis = [0, 0, 1], angle = '90 deg' }
angular-velocity = [0, 0, 9]
[[body]]
name = 'coupler'
mass = 1
inertia = [1e-3, 2e-2, 2e-2]
position = [0.2, 0.25, 0]
[[body]]
name = 'rocker'
mass = 1
inertia = [1e-3, 1e-2, 1e-2]
position = [0.4, 0.15, 0]
[[revolute]]
name = 'a'
bodies = ['ground', 'crank']
point = [0, 0, 0]
axis = [0, 0, 1]
[[revolute]]
name = 'b'
bodies = ['crank', 'coupler']
point = [0, 0.2, 0]
axis = [0, 0, 1]
[[revolute]]
name = 'c'
bodies = ['coupler', 'rocker']
point = [0.4, 0.3, 0]
axis = [0, 0, 1]
[[revolute]]
name = 'd'
bodies = ['ground', 'rocker']
point = [0.45, 0, 0]
axis = [0, 0, 1]
";

/// A disc that rolls, disturbed from its circle.
pub(crate) const DISC: &str = "
[gravity]
acceleration = [0, 0, -9.81]
[[body]]
name = 'disc'
mass = 1
inertia = [0.01, 0.01, 0.02]
position = [0, 0, 0.187938524157182]
orientation = { axis = [0, 1, 0], angle = '70 deg' }
angular-velocity = [2, 0.3, -9]
[[rolling]]
name = 'track'
bodies = ['ground', 'disc']
radius = 0.2
";

/// An arm that a drive turns, and a bar that swings on its tip about another axis.
pub(crate) const DRIVEN_ARM: &str = "
[gravity]
acceleration = [0, 0, -9.81]
[[body]]
name = 'arm'
mass = 1
inertia = [0.01, 0.03, 0.03]
position = [0.3, 0, 0]
[[body]]
name = 'bar'
mass = 1
inertia = [0.02, 0.03, 0.02]
position = [0.6, 0.2, 0]
[[revolute]]
name = 'shoulder'
bodies = ['ground', 'arm']
point = [0, 0, 0]
axis = [0, 0, 1]
[[revolute]]
name = 'elbow'
bodies = ['arm', 'bar']
point = [0.6, 0, 0]
axis = [1, 0, 0]
[[drive]]
name = 'motor'
joint = 'shoulder'
angle = '6*t + 0.5*sin(3*t)'
";

pub(crate) fn with_group(text: &str, group: &str) -> Machine {
    read(&format!("[simulation]\ngroup = '{group}'\n{text}")).unwrap()
}

pub(crate) fn run_machine<'m>(machine: &'m Machine, integrator: Integrator) -> Integration<'m> {
    integrator.start(machine.system(), machine.initial().clone()).unwrap()
}

pub(crate) fn end_of(machine: &Machine, integrator: Integrator, end: f64) -> Values {
    let mut run = run_machine(machine, integrator);
    run.advance(end).unwrap();
    run.values().clone()
}

/// Values of `index2` with n, 2 n and 4 n steps, extrapolated to order 4 at least.
fn extrapolated(machine: &Machine, end: f64, steps: u32) -> Values {
    let space = machine.system().shape().space;
    let [coarse, middle, fine] = [1, 2, 4].map(|times| {
        let step = end / f64::from(times * steps);
        let settings = Settings::new(INDEX2, Parameters::chung_hulbert(0.9).unwrap(), step);
        end_of(machine, Integrator::with(settings.with_newton_tolerances(1e-13, 1e-14)), end)
    });
    // Errors of orders 2 and 3 vanish from a combination of the three.
    let combine = |a: &[f64], b: &[f64], c: &[f64]| -> Vec<f64> {
        let values = a.iter().zip(b).zip(c);
        values.map(|((a, b), c)| (32.0 * c - 12.0 * b + a) / 21.0).collect()
    };
    let mut out = fine.clone();
    let mut moved = [vec![0.0; space.dimension()], vec![0.0; space.dimension()]];
    space.difference(&fine.configuration, &coarse.configuration, &mut moved[0]).unwrap();
    space.difference(&fine.configuration, &middle.configuration, &mut moved[1]).unwrap();
    let change = combine(&moved[0], &moved[1], &vec![0.0; space.dimension()]);
    space.compose_exp(&fine.configuration, &change, &mut out.configuration);
    out.velocity = combine(&coarse.velocity, &middle.velocity, &fine.velocity);
    out.multipliers = combine(&coarse.multipliers, &middle.multipliers, &fine.multipliers);
    let [a, b, c] = [&coarse, &middle, &fine].map(|values| &values.nonholonomic_multipliers);
    out.nonholonomic_multipliers = combine(a, b, c);
    out
}

/// Orders by successive halvings, and the limit against another method.
fn check_orders(name: &str, machine: &Machine, end: f64, steps: u32, other_steps: u32) {
    let space = machine.system().shape().space;
    let found = [1, 2, 4].map(|times| {
        let mut run = run_machine(machine, fixed(end / f64::from(times * steps)));
        [0.25, 0.5, 0.75, 1.0].map(|part| {
            run.advance(part * end).unwrap();
            run.values().clone()
        })
    });
    // The largest of four times: at one of them the error may pass through zero.
    let changes = [0, 1].map(|i| {
        let all = found[i].iter().zip(&found[i + 1]).map(|(coarse, fine)| errors(&space, coarse, fine));
        all.fold([0.0; 3], |worst: Errors, next| std::array::from_fn(|i| worst[i].max(next[i])))
    });
    let other = errors(&space, &found[2][3], &extrapolated(machine, end, other_steps));
    assert!(orders(changes[0], changes[1]).iter().all(|order| *order > 7.5), "{name}: {changes:?}");
    assert!(other[0] < 1e-9 && other[1] < 1e-9, "{name}: {other:?}");
    // Reactions that redundant joints share have the rounding of the other method, divided by a compliance of
    // 1e-9.
    let limit = if name.starts_with("spatial") { 1e-5 } else { 1e-9 };
    assert!(other[2] < limit, "{name}: {other:?}");
}

#[test]
fn loops_rolling_and_driven_machines_have_order_eight() {
    for group in ["so3xr3", "se3"] {
        check_orders(&format!("redundant loop, {group}"), &with_group(FOUR_BAR, group), 0.25, 8, 400);
        check_orders(&format!("rolling disc, {group}"), &with_group(DISC, group), 0.5, 32, 400);
        let texts = SettingTexts::default().with("group", group);
        check_orders(&format!("spatial loop, {group}"), &model("bricard-6r", &[], &texts), 0.4, 4, 200);
        check_orders(&format!("driven arm, {group}"), &with_group(DRIVEN_ARM, group), 0.5, 8, 400);
    }
}

/// Kinetic energy of a body that only turns, against its start.
#[test]
fn a_free_body_keeps_its_energy() {
    let text = "
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'body'
        mass = 1
        inertia = [1, 2, 3]
        angular-velocity = [0.01, 2, 0.01]
    ";
    let energy = |values: &Values| {
        let v = &values.velocity;
        0.5 * (v[0] * v[0] + 2.0 * v[1] * v[1] + 3.0 * v[2] * v[2])
    };
    let machine = read(text).unwrap();
    for rtol in [1e-8, 1e-10, 1e-12] {
        let mut run = run_machine(&machine, controlled(rtol, 100.0));
        let start = energy(run.values());
        run.advance(100.0).unwrap();
        let work = run.statistics();
        let error = (energy(run.values()) / start - 1.0).abs();
        if rtol == 1e-10 {
            assert!(error < 1e-10, "{error:e}");
            assert!(work.factorisations <= 5500, "{work:?}");
        }
    }
}

/// Two bars on hinges whose axes cross, from rest: neighbouring motions part exponentially.
#[test]
fn an_unstable_motion_is_followed_for_ten_seconds() {
    let text = "
        [gravity]
        acceleration = [0, 0, -9.81]
        [[body]]
        name = 'upper'
        mass = 1
        inertia = [0.02, 0.03, 0.01]
        position = [0.3, 0, 0]
        [[body]]
        name = 'lower'
        mass = 1
        inertia = [0.01, 0.02, 0.03]
        position = [0.6, 0.3, 0]
        [[revolute]]
        name = 'first'
        bodies = ['ground', 'upper']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[revolute]]
        name = 'second'
        bodies = ['upper', 'lower']
        point = [0.6, 0, 0]
        axis = [1, 0, 0]
    ";
    let machine = read(text).unwrap();
    let space = machine.system().shape().space;
    let [coarse, fine] = [1e-11, 1e-12].map(|rtol| end_of(&machine, controlled(rtol, 10.0), 10.0));
    let apart = distance(&space, &coarse.configuration, &fine.configuration).to_degrees();
    assert!(apart < 3e-5, "{apart:e}°");
}

#[test]
fn redundant_constraints_leave_no_trace() {
    let bricard = model("bricard-6r", &[], &SettingTexts::default());
    let crank = model("slider-crank-spatial", &[], &SettingTexts::default());
    for (name, machine, end) in [
        ("four-bar", with_group(FOUR_BAR, "so3xr3"), 1.0),
        ("Bricard", bricard, 1.0),
        ("slider-crank", crank, 1.0),
    ] {
        let space = machine.system().shape().space;
        let [coarse, fine] = [1e-13, 1e-14].map(|rtol| {
            let mut run = run_machine(&machine, controlled(rtol, end));
            run.advance(end).unwrap();
            run.values().clone()
        });
        let found = errors(&space, &coarse, &fine);
        assert!(found[0] < 1e-12, "{name}: {found:?}");
    }
}

#[test]
fn constraints_hold_after_every_step() {
    let ball = "
        [gravity]
        acceleration = [0, 0, -9.81]
        [[body]]
        name = 'bar'
        mass = 1
        inertia = [0.01, 0.03, 0.03]
        position = [0.3, 0, 0]
        angular-velocity = [3, 0, 1]
        velocity = [0, 0.3, 0]
        [[spherical]]
        name = 'ball'
        bodies = ['ground', 'bar']
        point = [0, 0, 0]
    ";
    for (name, machine, rtol) in [
        ("pendulum", read(ball).unwrap(), 1e-8),
        ("pendulum", read(ball).unwrap(), 1e-4),
        ("four-bar", with_group(FOUR_BAR, "so3xr3"), 1e-6),
    ] {
        let mut run = run_machine(&machine, controlled(rtol, 100.0));
        let mut worst = [0.0_f64; 2];
        while run.values().time < 100.0 {
            run.step().unwrap();
            worst[0] = worst[0].max(run.position_residual());
            worst[1] = worst[1].max(largest(run.velocity_residual()));
        }
        assert!(worst[0] < 1e-13 && worst[1] < 1e-13, "{name}: {worst:?}");
    }
}

/// A rod on a ball joint with a mass on a stiff spring at its end.
pub(crate) fn stiff_pendulum(stiffness: f64) -> Machine {
    let damping = 0.14 * stiffness.sqrt();
    sprung_pendulum(&format!("-{stiffness:e}*slide.displacement - {damping:e}*slide.displacement-rate"))
}

/// A rod on a ball joint with a mass on a slide at its end, which a force holds.
pub(crate) fn sprung_pendulum(force: &str) -> Machine {
    let text = format!(
        "
        [gravity]
        acceleration = [0, 0, -9.81]
        [[body]]
        name = 'rod'
        mass = 1
        inertia = [0.01, 0.1, 0.1]
        position = [0.5, 0, 0]
        [[body]]
        name = 'bob'
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = [1, 0, 0]
        [[spherical]]
        name = 'ball'
        bodies = ['ground', 'rod']
        point = [0, 0, 0]
        [[prismatic]]
        name = 'slide'
        bodies = ['rod', 'bob']
        axis = [1, 0, 0]
        point = [1, 0, 0]
        [[joint-force]]
        name = 'spring'
        joint = 'slide'
        force = '{force}'
        "
    );
    read(&text).unwrap()
}

#[test]
fn a_stiff_part_is_found_and_named() {
    let machine = stiff_pendulum(1e8);
    let mut run = run_machine(&machine, controlled(1e-6, 0.5));
    for _ in 0..5 {
        run.step().unwrap();
    }
    let rate = run.carried("fastest rates").unwrap()[0];
    assert!((rate / 1e4 - 1.0).abs() < 0.01, "{rate}");
    run.advance(0.5).unwrap();
    assert!(run.notes().texts().iter().any(|text| text.contains("`bob`") && text.contains("index2")));
    // A motion that would take a million steps is refused, and so is a fixed step beyond stability.
    let machine = stiff_pendulum(1e16);
    let mut run = run_machine(&machine, controlled(1e-6, 0.5));
    let refusal = run.advance(0.5).unwrap_err();
    assert!(matches!(refusal, StepError::Stiff { .. }), "{refusal}");
    let machine = stiff_pendulum(1e8);
    let mut run = run_machine(&machine, fixed(1e-2));
    let refusal = run.advance(0.5).unwrap_err();
    assert!(matches!(refusal, StepError::UnstableStep { .. }), "{refusal}");
}

/// Rejections, and that errors follow the tolerance.
#[test]
fn few_steps_are_rejected() {
    let top = HeavyTop::new(Group::So3xR3);
    let four_bar = with_group(FOUR_BAR, "so3xr3");
    let (mut taken, mut rejected) = (0, 0);
    for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
        let mut run = controlled(rtol, 1.0).start(&top, top.initial()).unwrap();
        run.advance(1.0).unwrap();
        let [q, ..] = top_errors(Group::So3xR3, run.values(), &top.reference(&[1.0])[0]);
        assert!(q < 10.0 * rtol, "{rtol:e}: {q:e}");
        let work = run.statistics();
        (taken, rejected) = (taken + work.steps, rejected + work.rejections);
        let mut run = run_machine(&four_bar, controlled(rtol, 1.0));
        run.advance(1.0).unwrap();
        let work = run.statistics();
        (taken, rejected) = (taken + work.steps, rejected + work.rejections);
    }
    assert!(rejected * 100 <= 15 * (taken + rejected), "{rejected} of {}", taken + rejected);
}

/// Friction by the force that a hinge bears: forces nonlinear in λ, in a machine.
#[test]
fn joint_friction_is_followed() {
    let text = "
        [gravity]
        acceleration = [0, 0, -9.81]
        [[body]]
        name = 'bar'
        mass = 1
        inertia = [0.01, 0.03, 0.03]
        position = [0.3, 0, 0]
        angular-velocity = [0, 20, 0]
        velocity = [0, 0, -6]
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'bar']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[joint-friction]]
        name = 'rub'
        joint = 'pin'
        friction = 0.3
        radius = 0.02
        transition-rate = 5
    ";
    check_orders("friction", &read(text).unwrap(), 0.25, 4, 400);
}

/// A bar that spins steadily is followed with turns of at most 4 rad, and a fixed step beyond is refused.
#[test]
fn turns_are_bounded() {
    let text = "
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'body'
        mass = 1
        inertia = [1, 1, 1.8]
        angular-velocity = [0.1, 0, 100]
    ";
    let machine = read(text).unwrap();
    let mut run = run_machine(&machine, controlled(1e-4, 10.0));
    while run.values().time < 10.0 {
        run.step().unwrap();
        assert!(run.last_report().step * 100.0 <= 4.0 + 1e-9, "{:?}", run.last_report());
    }
    let refusal = run_machine(&machine, fixed(0.05)).advance(1.0).unwrap_err();
    assert!(matches!(refusal, StepError::TurnTooFar { .. }), "{refusal}");
}

/// A run that is interrupted between steps of its own choice goes on to the same bits.
#[test]
fn a_controlled_run_is_taken_up_again_to_the_same_bits() {
    let machine = stiff_pendulum(1e4);
    let integrator = controlled(1e-6, 1.0);
    let mut whole = run_machine(&machine, integrator);
    whole.advance(0.3).unwrap();
    let saved = whole.save();
    let mut resumed = integrator.resume(machine.system(), &saved).unwrap();
    whole.advance(0.6).unwrap();
    resumed.advance(0.6).unwrap();
    assert_eq!(whole.save(), resumed.save());
}

/// A drive with a corner, sensors at output times within steps: the whole run against another method.
#[test]
fn a_run_with_corners_and_outputs_agrees_with_another_method() {
    let run = |method: &str, step: &str| {
        let texts = SettingTexts::default().with("method", method).with("step", step).with("rtol", "1e-9");
        let texts = texts.with("output-step", "10 ms").with("end-time", "1");
        model("four-bar", &[], &texts).simulate().unwrap()
    };
    let (explicit, other) = (run("explicit8", "auto"), run("index2", "0.05 ms"));
    for (signal, tolerance) in [("rocker.position.x", 1e-9), ("d.force.x", 1e-5), ("b.force.y", 1e-5)] {
        let found = largest(column(&explicit, signal).iter().zip(column(&other, signal)).map(|(a, b)| a - b));
        assert!(found < tolerance, "{signal}: {found:e}");
    }
}

/// A flap that a lock holds for half a second: its velocity vanishes to the last bit, and so do all errors. It is let
/// go with four times the stiffness, whose motion has a closed form.
#[test]
fn a_machine_that_is_held_goes_on_when_it_is_let_go() {
    let angle = (1.6 * std::f64::consts::PI).cos().mul_add(FRAC_PI_2, FRAC_PI_2);
    for group in ["se3", "so3xr3"] {
        for power in 6..=18 {
            let rtol = 10_f64.powf(-0.5 * f64::from(power));
            let texts = SettingTexts::default().with("method", "explicit8").with("group", group);
            let run = model("latch", &[], &texts.with("rtol", format!("{rtol:e}"))).simulate();
            let error = (last(&run.unwrap(), "hinge.angle") - angle).abs();
            // Some thirty steps with that error; the event is found to a nanosecond, at 40 rad/s.
            assert!(error < 30.0 * rtol + 1e-7, "{group}, {rtol:e}: {error:e}");
        }
    }
}
