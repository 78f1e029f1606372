//! The models in `models/` do what their opening comments promise: closed forms, reference solutions, other
//! programs.
//!
//! The integrator is of second order: unless a comment says more, a tolerance is a few times (ωh)² of the
//! fastest motion, times the size of what is compared and the length of the run. Kinematics that a drive
//! leads are [exact](CLOSED) but for what Newton's iteration leaves.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI, TAU};
use std::path::{Path, PathBuf};

use crate::common::{column, last, model as machine_with, stepping, within};
use kreisel::constrained::Redundancy;
use kreisel::dae::Notes;
use kreisel::lie::Group;
use kreisel::machine::{Machine, Mobility, SettingTexts};
use kreisel::run::Trajectory;
use kreisel_papers::problem::{HeavyTop, ode};
use nalgebra::{DMatrix, DVector};

/// Gravity of models that do not say one.
const G0: f64 = 9.80665;
/// What Newton's iteration leaves in constraints, and so in what a drive leads: its last correction is far
/// below its tolerance, and rounding of lengths and angles of a few m and rad is left.
const CLOSED: f64 = 1e-12;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn machine(name: &str) -> Machine {
    machine_with(name, &[], &stepping(name))
}

fn simulate(name: &str) -> Trajectory {
    machine(name).simulate().unwrap()
}

/// A run to an end time of its own.
fn simulate_until(name: &str, end: f64) -> Trajectory {
    let settings = stepping(name).with("end-time", format!("{end:e}"));
    machine_with(name, &[], &settings).simulate().unwrap()
}

/// Largest difference between a signal and what is expected in each row.
fn difference(run: &Trajectory, signal: &str, expected: impl Fn(usize) -> f64) -> f64 {
    let values = column(run, signal).iter().enumerate();
    values.map(|(row, value)| (value - expected(row)).abs()).fold(0.0, f64::max)
}

/// Arithmetic-geometric mean; K(k) = π/(2 AGM(1, k')).
fn agm(mut a: f64, mut b: f64) -> f64 {
    // Digits double: six rounds are plenty for numbers that are not many orders of magnitude apart.
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// Angle, rate and acceleration of the smooth start that drives use.
fn smooth_start(speed: f64, duration: f64, t: f64) -> [f64; 3] {
    if t >= duration {
        return [speed * (t - 0.5 * duration), speed, 0.0];
    }
    let phase = TAU * t / duration;
    let angle = speed / duration * (0.5 * t * t + (duration / TAU).powi(2) * (phase.cos() - 1.0));
    [angle, speed / duration * (t - duration / TAU * phase.sin()), speed / duration * (1.0 - phase.cos())]
}

/// Chain of equal links in a plane, in absolute angles upwards from the horizontal.
#[derive(Clone, Copy)]
struct PlanarChain {
    length: f64,
    mass: f64,
    /// Inertia of a link about its centre of mass.
    inertia: f64,
    /// Where on a link its centre of mass is: ½ for a rod, 1 for a point mass at its end.
    centre: f64,
    gravity: f64,
}

impl PlanarChain {
    /// Σ_j a_ij (cos(θ_i − θ_j) θ̈_j + sin(θ_i − θ_j) θ̇_j²) = −m g l cos θ_i (c + links beyond i), by
    /// Lagrange.
    fn rate<const N: usize>(&self, y: &[f64; N]) -> [f64; N] {
        let n = N / 2;
        let (angles, speeds) = y.split_at(n);
        let beyond = |i: usize| (n - 1 - i) as f64;
        let square = self.mass * self.length * self.length;
        let mut mass = DMatrix::zeros(n, n);
        let mut right = DVector::zeros(n);
        for i in 0..n {
            right[i] = -self.mass * self.gravity * self.length * angles[i].cos() * (self.centre + beyond(i));
            for j in 0..n {
                let a = if i == j {
                    self.inertia + square * (self.centre * self.centre + beyond(i))
                } else {
                    square * (self.centre + beyond(i.max(j)))
                };
                let (sin, cos) = (angles[i] - angles[j]).sin_cos();
                mass[(i, j)] = a * cos;
                right[i] -= a * sin * speeds[j] * speeds[j];
            }
        }
        let accelerations = mass.cholesky().unwrap().solve(&right);
        std::array::from_fn(|k| if k < n { speeds[k] } else { accelerations[k - n] })
    }

    /// Tip after a fall from the horizontal at rest.
    fn tip<const N: usize>(&self, time: f64, steps: usize) -> [f64; 2] {
        let mut y = [0.0; N];
        ode::integrate(|_, y| self.rate(y), 0.0, time, steps, &mut y);
        let sum = |f: fn(f64) -> f64| y[..N / 2].iter().map(|&angle| self.length * f(angle)).sum();
        [sum(f64::cos), sum(f64::sin)]
    }
}

/// The box of the chains' links: 0.1 m long, 50 mm thick, 1 kg.
fn box_chain() -> PlanarChain {
    let inertia = (0.05_f64.powi(2) + 0.1_f64.powi(2)) / 12.0;
    PlanarChain { length: 0.1, mass: 1.0, inertia, centre: 0.5, gravity: 9.81 }
}

#[test]
fn every_model_opens_with_a_comment_and_keeps_its_constraints() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let comment = std::fs::read_to_string(&path).unwrap();
        let lines = comment.lines().take_while(|line| line.starts_with('#')).count();
        assert!(lines >= 4, "{name}: the comment says too little");
        let machine = machine(&name);
        assert_eq!(*machine.notes(), Notes::default(), "{name}");
        let plan = machine.plan().unwrap();
        let run = machine.start(&plan).unwrap();
        // The models' initial values are consistent as they are.
        let notes = machine.consistency_notes(run.integration().start_report());
        assert_eq!(notes, Notes::default(), "{name}");
        let settings = stepping(&name).with("end-time", format!("{}", 20.0 * plan.integration.step()));
        let run = machine_with(&name, &[], &settings).simulate().unwrap();
        let length = machine.characteristic_length();
        // A net of many bars ends its iterations near their tolerance, others at rounding.
        within(&name, difference(&run, "constraint.position", |_| 0.0), 1e-9 * length.max(1.0));
        count += 1;
    }
    assert!(count >= 16, "{count} models");
}

#[test]
fn the_heavy_top_has_the_errors_that_are_published_on_both_groups() {
    let reference = HeavyTop::new(Group::So3xR3).reference(&[1.0])[0].position;
    // Errors of the position at t = 1 s with h = 1 ms, ρ∞ = 0.9 and three equations of constraint, as the
    // Fortran program `gena` finds them.
    for (group, published) in [("so3xr3", 7.275e-3), ("se3", 8.286e-2)] {
        let settings =
            SettingTexts::default().with("group", group).with("step", "1 ms").with("end-time", "1");
        let run = machine_with("heavy-top", &[], &settings).simulate().unwrap();
        let error = (0..3)
            .map(|k| last(&run, ["top.position.x", "top.position.y", "top.position.z"][k]) - reference[k])
            .map(|part| part * part)
            .sum::<f64>()
            .sqrt();
        // Four digits are published, and the programs end their iterations at different tolerances.
        within(group, (error - published).abs(), 1e-3 * published);
    }
}

#[test]
fn the_pendulum_keeps_the_time_of_the_elliptic_integral() {
    // ω² = m g d/J about the pin, with the thin rod's J.
    let small = TAU / (1.5 * G0).sqrt();
    let period = small / agm(1.0, (0.25 * PI).cos());
    // The numbers of the model's text, to their last digit.
    assert!((period - 1.934).abs() < 5e-4 && (small - 1.638).abs() < 5e-4, "{period}, {small}");
    // After four periods and a quarter the rod passes the lowest point, a right angle below its start.
    // The phase of ωt = 27 rad is good to (ωh)²/12 of itself: to 1.3e-4 rad.
    let run = simulate_until("pendulum", 4.25 * period);
    within("angle", (last(&run, "pin.angle") - FRAC_PI_2).abs(), 2e-4);
    // All of m g l/2 is rotation then, and the pin pulls the rod up by m (g + ω² l/2) = 2.5 m g.
    within("rate", (last(&run, "pin.rate") - (3.0 * G0).sqrt()).abs(), 5e-5);
    within("force", (last(&run, "pin.force.z") - 2.5 * G0).abs(), 3e-4);
}

#[test]
fn the_double_pendulum_moves_as_its_equations_in_two_angles() {
    let rod = PlanarChain { length: 1.0, mass: 1.0, inertia: 1.0 / 12.0, centre: 0.5, gravity: 9.81 };
    // The motion is chaotic: errors grow more than ten times from the first second to the third.
    for (end, tolerance) in [(1.0, 2e-5), (3.0, 3e-4)] {
        let expected = rod.tip::<4>(end, (200.0 * end) as usize);
        let run = simulate_until("double-pendulum", end);
        within("x", (last(&run, "rod-1.end.position.x") - expected[0]).abs(), tolerance);
        within("y", (last(&run, "rod-1.end.position.y") - expected[1]).abs(), tolerance);
        if end == 1.0 {
            // What the model's comment says.
            within("comment", (expected[0] + 1.6621).abs().max((expected[1] + 1.0415).abs()), 5e-5);
        }
    }
}

#[test]
fn both_chains_fall_in_their_planes_as_equations_in_angles_say() {
    let [x, down] = box_chain().tip::<20>(1.0, 200);
    let (sin, cos) = 0.3_f64.sin_cos();
    // MuJoCo in joint coordinates, Runge-Kutta with h = 0.1 ms, five digits.
    let mujoco = [-0.90136, -0.15157, -0.04689];
    for (found, expected) in [x, cos * down, sin * down].iter().zip(mujoco) {
        within("reference", (found - expected).abs(), 1e-5);
    }
    for (name, expected) in
        [("chain-spherical", [x, cos * down, sin * down]), ("chain-revolute", [x, down, 0.0])]
    {
        let run = simulate(name);
        for (axis, expected) in ["x", "y", "z"].iter().zip(expected) {
            // Exudyn's error with the same step is 9.6e-5.
            within(name, (last(&run, &format!("tip.position.{axis}")) - expected).abs(), 1e-4);
        }
    }
    // A chain of two links with the same file.
    let expected = box_chain().tip::<4>(1.0, 200);
    for (name, [cos, sin]) in [("chain-spherical", [cos, sin]), ("chain-revolute", [1.0, 0.0])] {
        let run = machine_with(name, &[("n", "2")], &stepping(name)).simulate().unwrap();
        for (axis, value) in ["x", "y", "z"].iter().zip([expected[0], cos * expected[1], sin * expected[1]]) {
            within(name, (last(&run, &format!("tip.position.{axis}")) - value).abs(), 1e-4);
        }
    }
}

#[test]
fn the_slider_is_where_the_length_of_the_rod_puts_it() {
    let run = simulate("slider-crank-spatial");
    let angle = |row: usize| smooth_start(TAU, 0.5, run.times[row])[0];
    within("crank", difference(&run, "bearing.angle", angle), CLOSED);
    let place = |angle: f64| {
        let (y, z) = (0.15 - 0.1 * angle.sin(), 0.1 + 0.1 * angle.cos());
        (0.16_f64 - y * y - z * z).sqrt()
    };
    within("slider", difference(&run, "guide.displacement", |row| place(angle(row)) - place(0.0)), CLOSED);
    let speed = |row: usize| {
        let (delta, at) = (1e-5, angle(row));
        (place(at + delta) - place(at - delta)) / (2.0 * delta) * smooth_start(TAU, 0.5, run.times[row])[1]
    };
    // Differences with an error of 1e-10.
    within("speed", difference(&run, "guide.rate", speed), 5e-10);
    // The drive's work is all the energy there is; its power is summed up by the trapezoidal rule.
    within("energy", difference(&run, "energy.balance", |_| 0.0), 1e-4);
}

#[test]
fn the_universal_joint_has_the_cardan_error() {
    let run = simulate("universal-joint");
    let (sin, cos) = (PI / 6.0).sin_cos();
    let speed = 4.0 * PI;
    let first = |row: usize| speed * run.times[row];
    // atan2 keeps the branch of tan φ₂ = tan φ₁/cos β, within half a turn as the sensor shows it.
    let second = |row: usize| first(row).sin().atan2(cos * first(row).cos());
    for (row, turn) in column(&run, "output-turn.rotation-vector.z").iter().enumerate() {
        let apart = (turn - second(row)).rem_euclid(TAU);
        within("angle", apart.min(TAU - apart), CLOSED);
    }
    // dφ₂/dφ₁ = cos β/(1 − sin² β cos² φ₁), and its derivative.
    let ratio = |row: usize| cos / (1.0 - (sin * first(row).cos()).powi(2));
    within("speed", difference(&run, "output-shaft.angular-velocity.z", |row| speed * ratio(row)), CLOSED);
    // The motor carries load and inertia: M ω₁ = (load + J ω̇₂) ω₂.
    let inertia = 0.5 * 7850.0 * PI * 0.04_f64.powi(4) * 0.4;
    let torque = |row: usize| {
        let slope = -ratio(row).powi(2) / cos * sin * sin * (2.0 * first(row)).sin();
        (5.0 + inertia * speed * speed * slope) * ratio(row)
    };
    within("torque", difference(&run, "motor.torque.x", torque), 1e-4);
}

#[test]
fn the_screw_press_is_a_spring_and_a_mass_of_eight_hundred_tonnes() {
    let run = simulate("screw-press");
    let (thread, stiffness, ram) = (TAU / 0.01, 1e6, 60.0);
    let mass: f64 = 2.0 * thread * thread + 160.0;
    let omega = (stiffness / mass).sqrt();
    let (swing, sag) = (18.0 / thread / omega, 160.0 * G0 / stiffness);
    let deepest = swing.hypot(sag) + sag;
    // The number of the model's text, to its last digit.
    assert!((deepest - 27.1e-3).abs() < 5e-5, "{deepest}");
    let depth = |t: f64| swing * (omega * t).sin() + sag * (1.0 - (omega * t).cos());
    let acceleration = |t: f64| omega * omega * (sag * (omega * t).cos() - swing * (omega * t).sin());
    // An error of 2e-7 m in the depth, and what the thread and the workpiece make of it.
    within("displacement", difference(&run, "guide.displacement", |row| depth(run.times[row])), 2e-7);
    within("angle", difference(&run, "thread.angle", |row| thread * depth(run.times[row])), 1e-4);
    // The spindle presses the ram down with what the workpiece takes, less the ram's weight.
    let thrust = |row: usize| {
        let t = run.times[row];
        -(stiffness * depth(t) + ram * (acceleration(t) - G0))
    };
    within("thrust", difference(&run, "thrust.force.z", thrust), 0.2);
}

#[test]
fn the_gear_pair_comes_up_to_speed_exponentially() {
    let run = simulate("gear-pair");
    let ratio: f64 = 0.4;
    let (first, second) = (0.5 * 1.2 * 0.05_f64.powi(2), 0.5 * 7.5 * 0.125_f64.powi(2));
    let (end, tau) = (5.0 / (0.5 * ratio * ratio), (first + ratio * ratio * second) / (0.5 * ratio * ratio));
    // 62.5 is exact, the other number that of the model's text to its last digit.
    assert!((end - 62.5).abs() < 1e-9 && (tau - 0.136).abs() < 5e-4, "{end}, {tau}");
    let rate = |row: usize| end * (1.0 - (-run.times[row] / tau).exp());
    let angle = |row: usize| end * run.times[row] - tau * rate(row);
    within("rate", difference(&run, "pinion-bearing.rate", rate), 1e-3);
    within("angle", difference(&run, "pinion-bearing.angle", angle), 1e-4);
    // Eight turns of the pinion, three of the wheel, and never a tooth apart.
    let pinion = column(&run, "pinion-bearing.angle");
    within("teeth", difference(&run, "wheel-bearing.angle", |row| -ratio * pinion[row]), CLOSED);
}

#[test]
fn the_plane_of_the_foucault_pendulum_turns_with_the_sine_of_the_latitude() {
    let run = simulate("foucault-pendulum");
    // The last of 36,000 steps of 0.1 s ends at the end, although rounding adds up.
    assert!(run.times.len() == 3601 && run.times[3600] == 3600.0, "{:?}", &run.times[3598..]);
    let (x, y) = (column(&run, "ball.position.x"), column(&run, "ball.position.y"));
    // Direction of the swing: principal axis of the path over one period, in the middle of it.
    let period = TAU * (67.0 / G0).sqrt();
    let rows: Vec<usize> = (0..x.len()).filter(|&row| run.times[row] > 3600.0 - 2.0 * period).collect();
    let sum = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&row| f(row)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|r| x[r] * x[r]), sum(&|r| y[r] * y[r]), sum(&|r| x[r] * y[r]));
    let found = 0.5 * (2.0 * xy).atan2(xx - yy);
    let expected = -7.292115e-5 * 48.846_f64.to_radians().sin() * (3600.0 - period);
    // A swing of 3 m on 67 m is a narrow ellipse, whose own precession is 3/8 (a/l)² = 7.5e-4 of the Earth's.
    within("direction", (found - expected).abs(), 2e-3 * expected.abs());
}

#[test]
fn the_tennis_racket_turns_over_with_the_period_of_the_elliptic_integral() {
    let [i1, i2, i3] = [0.05_f64.powi(2) + 0.04, 0.05_f64.powi(2) + 0.09, 0.04 + 0.09].map(|sum| sum / 12.0);
    let (w1, w2) = (0.1, 10.0);
    let (energy, momentum) = (i1 * w1 * w1 + i2 * w2 * w2, (i1 * w1).powi(2) + (i2 * w2).powi(2));
    // Euler's equations for L² < 2E I₂: ω₂ ~ sn, ω₃ ~ cn, ω₁ ~ dn of λt.
    let lambda = ((i2 - i1) * (energy * i3 - momentum) / (i1 * i2 * i3)).sqrt();
    let square = (i3 - i2) * (momentum - energy * i1) / ((i2 - i1) * (energy * i3 - momentum));
    let period = 4.0 * 0.5 * PI / agm(1.0, (1.0 - square).sqrt()) / lambda;
    // The number of the model's text, to its last digit.
    assert!((period - 4.09).abs() < 5e-3, "{period}");
    // Half a period turns the book over: ω₂ has the other sign, ω₁ is as it was.
    for (end, sign) in [(0.5 * period, -1.0), (period, 1.0)] {
        let run = simulate_until("tennis-racket", end);
        for (axis, expected) in [("x", w1), ("y", sign * w2), ("z", 0.0)] {
            let found = last(&run, &format!("spin.angular-velocity.{axis}"));
            within(axis, (found - expected).abs(), 1e-5);
        }
        // Free rotation keeps its energy.
        within("energy", difference(&run, "energy.kinetic", |_| 0.5 * energy), 1e-5);
    }
}

#[test]
fn the_governor_settles_where_centrifugal_force_and_weight_agree() {
    let run = simulate("flyball-governor");
    let cosine: f64 = 3.0 * G0 / (0.3 * 14.0 * 14.0);
    // The number of the model's text, to its last digit.
    assert!((cosine.acos().to_degrees() - 59.98).abs() < 5e-3, "{}", cosine.acos().to_degrees());
    // The damper has brought the swing down by exp(−22) = 3e-10.
    for arm in ["arm-0", "arm-1"] {
        let angle = last(&run, &format!("{arm}.angle"));
        within(arm, (angle - (cosine.acos() - PI / 6.0)).abs(), 1e-9);
    }
    let lift = 2.0 * 0.3 * ((PI / 6.0).cos() - cosine);
    within("sleeve", (last(&run, "slide.displacement") - lift).abs(), 1e-9);
    // A link pulls the sleeve up by half its weight. Forces change by m l ω² = 60 N per rad of the swing that
    // is left.
    within("link", (last(&run, "link-0.force.z") - G0).abs(), 6e-8);
    within("motor", last(&run, "motor.torque.z").abs(), 6e-8);
}

/// Closed form of the four-bar: angles of coupler and rocker for an angle of the crank.
fn four_bar_angles(crank: f64) -> [f64; 2] {
    let (b, base) = ([0.1 * crank.cos(), 0.1 * crank.sin()], 0.4);
    let (dx, dy) = (base - b[0], -b[1]);
    let diagonal = dx.hypot(dy);
    let at_b = ((0.35_f64.powi(2) + diagonal * diagonal - 0.25 * 0.25) / (0.7 * diagonal)).acos();
    let coupler = dy.atan2(dx) + at_b;
    let c = [b[0] + 0.35 * coupler.cos(), b[1] + 0.35 * coupler.sin()];
    [coupler, c[1].atan2(c[0] - base)]
}

/// Energy of the four-bar for an angle and rate of the crank.
fn four_bar_energy(crank: f64, rate: f64) -> f64 {
    let angles = |crank: f64| {
        let [coupler, rocker] = four_bar_angles(crank);
        [crank, coupler, rocker]
    };
    let centres = |crank: f64| {
        let [a, b, c] = angles(crank);
        let b_point = [0.1 * a.cos(), 0.1 * a.sin()];
        [
            [0.05 * a.cos(), 0.05 * a.sin()],
            [b_point[0] + 0.175 * b.cos(), b_point[1] + 0.175 * b.sin()],
            [0.4 + 0.125 * c.cos(), 0.125 * c.sin()],
        ]
    };
    let delta = 1e-5;
    let slope = |plus: f64, minus: f64| (plus - minus) / (2.0 * delta) * rate;
    let (before, after) = (crank - delta, crank + delta);
    let mut energy = 0.0;
    for (k, length) in [0.1, 0.35, 0.25].into_iter().enumerate() {
        let mass = 2700.0 * length * 0.02 * 0.01;
        let inertia = mass * (length * length + 0.02 * 0.02) / 12.0;
        let spin = slope(angles(after)[k], angles(before)[k]);
        let [vx, vy] = [0, 1].map(|axis| slope(centres(after)[k][axis], centres(before)[k][axis]));
        energy += 0.5 * inertia * spin * spin + 0.5 * mass * (vx * vx + vy * vy);
        energy += mass * 9.81 * centres(crank)[k][1];
    }
    energy
}

#[test]
fn the_four_bar_moves_and_takes_the_torque_of_a_planar_linkage() {
    let machine = machine("four-bar");
    let found = Redundancy::find(machine.system(), 0.0, &machine.initial().configuration);
    assert_eq!(found.implied.len(), 3, "{found:?}");
    // The torque follows accelerations, whose error is a few times (ωh)² = 1.6e-4 of themselves; the power is
    // 0.5 W.
    let run = simulate_until("four-bar", 2.0);
    let law = |t: f64| smooth_start(2.0 * TAU, 0.5, t);
    let rocker =
        |row: usize| four_bar_angles(FRAC_PI_2 + law(run.times[row])[0])[1] - four_bar_angles(FRAC_PI_2)[1];
    within("rocker", difference(&run, "d.angle", rocker), CLOSED);
    // The motor's power is what the energy gains; differences are good for eight digits.
    let energy = |t: f64| four_bar_energy(FRAC_PI_2 + law(t)[0], law(t)[1]);
    let (torque, rate) = (column(&run, "motor.torque.z"), column(&run, "a.rate"));
    let mut worst = 0.0_f64;
    for (row, &t) in run.times.iter().enumerate().skip(1) {
        let power = (energy(t + 1e-4) - energy(t - 1e-4)) / 2e-4;
        worst = worst.max((torque[row] * rate[row] - power).abs());
    }
    within("power", worst, 2e-4);
}

#[test]
fn the_latch_catches_the_flap_where_it_turns_and_lets_it_go_with_a_tighter_spring() {
    let machine = machine("latch");
    let run = machine.simulate().unwrap();
    let (rate, stiffness) = (PI / 0.25, 0.0625 * (PI / 0.25_f64).powi(2));
    let angle = |row: usize| match run.times[row] {
        t if t < 0.25 => FRAC_PI_2 * (1.0 - (rate * t).cos()),
        t if t < 0.75 => PI,
        t => FRAC_PI_2 * (1.0 + (2.0 * rate * (t - 0.75)).cos()),
    };
    // The phase lags by (ωh)²/12 of itself: of the 5 rad at 25 rad/s after the release by 6.6e-5 rad, times
    // π/2.
    within("angle", difference(&run, "hinge.angle", angle), 1.2e-4);
    for (row, &t) in run.times.iter().enumerate() {
        // The moments of catch, change and release belong to both sides.
        let torque = match t {
            t if t < 0.249 => 0.0,
            t if t > 0.251 && t < 0.499 => stiffness * FRAC_PI_2,
            t if t > 0.501 && t < 0.749 => 4.0 * stiffness * FRAC_PI_2,
            t if t > 0.751 => 0.0,
            _ => continue,
        };
        // At rest in the latch, where the cosine is flat, the angle is good to (1e-5)²; the rest is Newton's
        // tolerance.
        within("torque", (column(&run, "latch.torque.z")[row] - torque).abs(), 1e-6);
    }
    // What tightening puts in, (4 − 1) k (π/2)²/2, is booked as work.
    within("energy", difference(&run, "energy.balance", |_| 0.0), 2e-5);
}

#[test]
fn the_cranks_of_a_row_are_parallel_and_each_loop_has_three_equations_too_many() {
    for n in [1, 4, 30] {
        let machine = machine_with("crank-row", &[("n", &n.to_string())], &SettingTexts::default());
        let found = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
        assert_eq!(
            (machine.frames().bodies().len(), found.degrees_of_freedom()),
            (5 * n + 1, 3 * n),
            "{found:?}"
        );
        assert_eq!(found.equations - found.independent, 3 * n);
    }
    let run = simulate("crank-row");
    let law = |row: usize| PI / 6.0 * (PI * run.times[row]).sin().powi(2);
    for crank in 0..5 {
        within("angle", difference(&run, &format!("foot-{crank}.angle"), law), CLOSED);
    }
}

#[test]
fn bricards_loop_moves_on_its_curve_and_stays_closed() {
    let machine = machine("bricard-6r");
    let found = Redundancy::find(machine.system(), 0.0, &machine.initial().configuration);
    assert_eq!(found.implied.len(), 1, "{found:?}");
    let run = machine.simulate().unwrap();
    let angle = |hinge: usize| column(&run, &format!("hinge-{hinge}.angle"));
    for hinge in 2..6 {
        let alike = angle(hinge % 2);
        within(
            "alternate hinges",
            difference(&run, &format!("hinge-{hinge}.angle"), |row| alike[row]),
            CLOSED,
        );
    }
    // 1/sin p + 1/sin q = 1, without division where the loop is the cube.
    let curve = |row: usize| {
        let (p, q) = (angle(0)[row].sin(), angle(1)[row].sin());
        (p + q - p * q).abs()
    };
    within("curve", (0..run.times.len()).map(curve).fold(0.0, f64::max), CLOSED);
    let swing = angle(0).iter().fold(0.0_f64, |largest, angle| largest.max(angle.abs()));
    assert!(swing > 0.3, "the loop hardly moves: {swing}");
    within("loop", difference(&run, "constraint.position", |_| 0.0), CLOSED);
    within("energy", difference(&run, "energy.balance", |_| 0.0), 2e-5);
}

#[test]
fn the_door_shuts_like_an_overdamped_oscillator_and_its_hinges_share_its_weight() {
    let machine = machine("door");
    let found = Redundancy::find(machine.system(), 0.0, &machine.initial().configuration);
    assert_eq!(found.implied.len(), 10, "{found:?}");
    let run = machine.simulate().unwrap();
    let inertia = 25.0 * (0.81 + 0.0016) / 12.0 + 25.0 * 0.45 * 0.45;
    let (mean, spread) = (12.5 / inertia, ((12.5_f64 / inertia).powi(2) - 10.0 / inertia).sqrt());
    let (slow, fast) = (mean - spread, mean + spread);
    let closing = |t: f64| (fast * (-slow * t).exp() - slow * (-fast * t).exp()) / (fast - slow);
    // The model's text says that 1° is left after 10.2 s, to the last digit of the time.
    assert!((90.0 * closing(10.2) - 1.0).abs() < 0.01, "{}", closing(10.2));
    let angle = |row: usize| FRAC_PI_2 * (closing(run.times[row]) - 1.0);
    for hinge in 0..3 {
        within("angle", difference(&run, &format!("hinge-{hinge}.angle"), angle), 2e-5);
        // Reactions that are shared are known to the rounding of the violations, up to 1e-16 m, over the
        // compliance 1e-9 h²/m: up to 0.025 N, on average over equal hinges much less. The motion does not
        // feel them.
        within("weight", difference(&run, &format!("hinge-{hinge}.force.z"), |_| 25.0 * G0 / 3.0), 1e-4);
    }
    // Hinge forces hold the door on its circle: together m ω² w/2 towards the hinges when it has turned.
    let forces: Vec<&[f64]> = (0..3).map(|k| column(&run, &format!("hinge-{k}.force.x"))).collect();
    let door = column(&run, "door.position.x");
    for row in [1, 100, 300] {
        let (t, h) = (run.times[row], 1e-4);
        let x = |t: f64| 0.45 * (FRAC_PI_2 * (closing(t) - 1.0)).cos();
        within("position", (door[row] - x(t)).abs(), 2e-6);
        let expected = 25.0 * (x(t + h) - 2.0 * x(t) + x(t - h)) / (h * h);
        within("sum", (forces.iter().map(|force| force[row]).sum::<f64>() - expected).abs(), 2e-4);
    }
}

#[test]
fn the_table_of_the_stewart_platform_moves_as_its_legs_were_told() {
    let run = simulate("stewart-platform");
    let wave = |row: usize, size: f64, rate: f64| size * (1.0 - (rate * run.times[row]).cos());
    within("x", difference(&run, "table.position.x", |row| wave(row, 0.1, 2.0)), CLOSED);
    within("y", difference(&run, "table.position.y", |_| 0.0), CLOSED);
    within("z", difference(&run, "table.position.z", |row| 1.0 + wave(row, 0.1, 3.0)), CLOSED);
    within("turn", difference(&run, "table.rotation-vector.z", |row| wave(row, 0.3, 1.5)), CLOSED);
    // Leg 2 by its own two ends.
    let spread = PI / 9.0;
    let length = |row: usize| {
        let at = |radius: f64, angle: f64| [radius * angle.cos(), radius * angle.sin()];
        let head = at(0.5, 2.0 * FRAC_PI_3 + spread + wave(row, 0.3, 1.5));
        let foot = at(0.8, 2.0 * FRAC_PI_3 - spread);
        let across = (head[0] + wave(row, 0.1, 2.0) - foot[0]).hypot(head[1] - foot[1]);
        across.hypot(1.0 + wave(row, 0.1, 3.0))
    };
    within("leg", difference(&run, "leg-2.displacement", length), CLOSED);
}

#[test]
fn the_net_falls_like_chains_side_by_side() {
    let settings = stepping("grid").with("end-time", "0.3");
    let run = machine_with("grid", &[("n", "10")], &settings).simulate().unwrap();
    let chain = PlanarChain { length: 0.1, mass: 0.05, inertia: 0.0, centre: 1.0, gravity: G0 };
    let [x, z] = chain.tip::<20>(0.3, 100);
    for (axis, expected) in [("x", x), ("y", 0.9), ("z", z)] {
        within(axis, (last(&run, &format!("corner.position.{axis}")) - expected).abs(), 2e-4);
    }
}

/// Largest and smallest value of a signal after a time.
fn range_after(run: &Trajectory, signal: &str, from: f64) -> [f64; 2] {
    let rows = column(run, signal).iter().zip(&run.times).filter(|(_, time)| **time >= from);
    rows.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], (value, _)| {
        [low.min(*value), high.max(*value)]
    })
}

#[test]
fn the_crane_swings_to_twice_the_angle_of_rest_and_sets_its_load_down_still() {
    // Positions to 1e-4 of the way of 30 m are swings to 3e-4 rad: 3e-3 of the largest.
    let settings = SettingTexts::default().with("accuracy", "1e-4");
    let run = machine_with("bridge-crane", &[], &settings).simulate().unwrap();
    let (l, a, g) = (10.0_f64, 0.5_f64, 9.80665_f64);
    let rest = (a / g).atan();
    let period = std::f64::consts::TAU * (l / (g * g + a * a).sqrt()).sqrt() * (1.0 + rest * rest / 16.0);
    let [low, high] = range_after(&run, "swing", 0.0);
    // The load lags behind the trolley while it speeds up and runs ahead while it brakes. The rope is 5 mm longer in
    // swinging, by 1e-3 of itself at most.
    within("lag", (high / (2.0 * rest) - 1.0).abs(), 3e-3);
    within("lead", (low / (2.0 * rest) + 1.0).abs(), 3e-3);
    let [low, high] = range_after(&run, "swing", 2.5 * period + 0.1);
    within("still", high.max(-low) / (2.0 * rest), 1e-2);
    // It is where the trolley went: a T² and half a period of rolling, a T²/2.
    let way = a * period * period * 1.5;
    within("way", (last(&run, "bridge.displacement") / way - 1.0).abs(), 1e-9);
    let hurried =
        machine_with("bridge-crane", &[("hurry", "1.3")], &SettingTexts::default()).simulate().unwrap();
    let [low, high] = range_after(&hurried, "swing", 20.0);
    assert!(high.max(-low) > rest, "{low} {high}");
}
