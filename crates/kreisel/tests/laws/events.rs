//! Events, locks and switches in model files, and step sizes that the error decides on there.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::last;
use kreisel::machine::{Machine, StepSize};
use kreisel::run::{Recorder, Run, RunEnding, Trajectory};

/// Standard gravity.
const G: f64 = 9.80665;
/// Twice the tolerance in s to which the time of an event is found if the model gives none.
const EVENT: f64 = 2e-9;

fn machine(text: &str) -> Machine {
    Machine::from_text("test.toml", text).map_err(|errors| errors.render(false)).unwrap()
}

fn run(machine: &Machine) -> (Run<'_>, RunEnding, Trajectory) {
    let plan = machine.settings().plan().unwrap();
    let mut run = machine.start(&plan).unwrap();
    let mut recorder = Recorder::new(machine, plan.output_step, Trajectory::new(machine));
    let ending = run.advance(&mut recorder);
    let trajectory = recorder.finish(run.integration().values()).unwrap();
    (run, ending, trajectory)
}

/// Every way to step: fixed or by the error, both methods.
const WAYS: [&str; 4] = [
    "step = 0.01\nmethod = 'index2'",
    "step = 0.01\nmethod = 'index3'",
    "step = 'auto'\nrtol = 1e-6\nmethod = 'index2'",
    "step = 'auto'\nrtol = 1e-6\nmethod = 'index3'",
];

const BALL: &str = "
    [[point-mass]]
    name = 'ball'
    mass = 2
    position = [0, 0, 1]
";

#[test]
fn a_falling_ball_stops_the_run_where_it_crosses_a_height() {
    for way in WAYS {
        let machine = machine(&format!(
            "{BALL}
            [simulation]
            end-time = 1
            {way}
            [[event]]
            name = 'half-way'
            zero-of = 'ball.position.z - 0.5'
            direction = 'falling'
            [[event]]
            name = 'floor'
            zero-of = 'ball.position.z'
            stop = true
            [[event]]
            name = 'never'
            zero-of = 'ball.position.z - 0.7'
            direction = 'rising'"
        ));
        let (run, ending, _) = run(&machine);
        // A constant acceleration is integrated exactly, so only the tolerance of the event is left.
        let times = [(1.0 / G).sqrt(), (2.0 / G).sqrt()];
        let names: Vec<&str> = run.events().iter().map(|record| record.event.as_str()).collect();
        assert_eq!(names, ["half-way", "floor"], "{way}");
        for (record, time) in run.events().iter().zip(times) {
            assert!((record.time - time).abs() < EVENT, "{way}: {record:?}, {time}");
        }
        assert!(matches!(&ending, RunEnding::Event(record) if record.event == "floor"), "{ending:?}");
        assert_eq!(run.integration().values().time, run.events()[1].time);
    }
}

/// A mass that glides along x at 1 m/s.
const CART: &str = "[gravity]
    acceleration = [0, 0, 0]
    [[point-mass]]
    name = 'cart'
    mass = 1
    velocity = [1, 0, 0]";

/// The cart, forces along x by name, of which one is off at first, and an event where it passes a place.
fn cart_through_a_gate(way: &str, forces: &[(&str, &str)], off: &str, place: f64, action: &str) -> Machine {
    let force = |(name, force): &(&str, &str)| {
        format!("[[force]]\nname = '{name}'\nbody = 'cart'\nforce = [{force}, 0, 0]\n")
    };
    let forces: String = forces.iter().map(force).collect();
    machine(&format!(
        "{CART}
        [simulation]
        end-time = 2
        off-at-start = ['{off}']
        {way}
        {forces}
        [[event]]
        name = 'gate'
        zero-of = 'cart.position.x - {place:?}'
        {action}"
    ))
}

#[test]
fn a_force_is_switched_on_where_a_mass_passes() {
    for way in WAYS {
        let machine = cart_through_a_gate(way, &[("push", "2")], "push", 1.0, "switch-on = ['push']");
        let (run, ending, trajectory) = run(&machine);
        assert_eq!(ending, RunEnding::Done, "{way}");
        let passed = run.events()[0].time;
        assert!((passed - 1.0).abs() < EVENT, "{way}: {passed}");
        // x = 1 + (t − 1) + (t − 1)²: 3 at the end, with energy from the work of the force alone.
        let x = last(&trajectory, "cart.position.x");
        // 2 m/s² from a time on that is wrong by so much, for a second.
        assert!((x - 3.0).abs() < 2.0 * EVENT, "{way}: {x}");
        // The force of 2 N along a metre, in steps that end at the event: rounding and Newton's tolerance.
        let balance = trajectory.signal("energy.balance").unwrap();
        assert!(balance.iter().all(|value| value.abs() < 1e-7), "{way}");
    }
}

#[test]
fn a_passage_and_the_way_back_within_one_step_are_both_found() {
    // A ball whose top is at t = 0.15 passes a height a little below 10 ms before and after: both in the step
    // from 0.1 s to 0.2 s, at whose ends it is below. 1 ms is still more than a hundredth of the step.
    for half in [0.01, 0.001] {
        for (direction, expected) in [
            ("both", vec![0.15 - half, 0.15 + half]),
            ("rising", vec![0.15 - half]),
            ("falling", vec![0.15 + half]),
        ] {
            for way in ["step = 0.1\nmethod = 'index2'", "step = 0.1\nmethod = 'index3'", WAYS[2], WAYS[3]] {
                let machine = machine(&format!(
                    "[parameters]
                    g = {G}
                    [[point-mass]]
                    name = 'ball'
                    mass = 1
                    velocity = [0, 0, '0.15*g']
                    [simulation]
                    end-time = 0.3
                    {way}
                    [[event]]
                    name = 'line'
                    zero-of = 'ball.position.z - g*(0.15^2 - {half}^2)/2'
                    direction = '{direction}'"
                ));
                let (run, ending, _) = run(&machine);
                assert_eq!(ending, RunEnding::Done);
                let times: Vec<f64> = run.events().iter().map(|record| record.time).collect();
                assert_eq!(times.len(), expected.len(), "{way}, {direction}, {half}: {times:?}");
                for (time, expected) in times.iter().zip(&expected) {
                    // The motion is exact; the time is as accurate as its tolerance.
                    assert!((time - expected).abs() < EVENT, "{way}, {direction}: {times:?}");
                }
            }
        }
    }
}

#[test]
fn a_height_that_is_only_nearly_reached_is_no_event() {
    let machine = machine(&format!(
        "[parameters]
        g = {G}
        [[point-mass]]
        name = 'ball'
        mass = 1
        velocity = [0, 0, '0.15*g']
        [simulation]
        end-time = 0.3
        step = 0.1
        [[event]]
        name = 'line'
        zero-of = 'ball.position.z - g*0.15^2/2 - 1e-6'"
    ));
    assert!(run(&machine).0.events().is_empty());
}

/// A mass on a spring along x whose stiffness events change.
fn tuned_spring(way: &str, events: &str) -> String {
    format!(
        "[parameters]
        k = 100
        soft = 'k/4'
        [gravity]
        acceleration = [0, 0, 0]
        [[point-mass]]
        name = 'cart'
        mass = 1
        position = [1.1, 0, 0]
        [simulation]
        end-time = 1
        {way}
        [[spring-damper]]
        name = 'spring'
        bodies = ['ground', 'cart']
        stiffness = 'k'
        free-length = 1
        [[sensor]]
        of = 'cart'
        quantity = 'velocity'
        {events}"
    )
}

#[test]
fn an_event_sets_a_parameter_and_the_motion_goes_on_without_a_jump() {
    let events = "
        [[event]]
        name = 'harder'
        zero-of = 'cart.position.x - 1'
        direction = 'falling'
        set = { k = '4*k' }
        [[event]]
        name = 'softer'
        zero-of = 't - 0.8'
        set = { k = 'soft' }";
    // With steps of 1 ms the phase of 20 rad/s lags by (ωh)²/12 of 13 rad, 4e-4 rad of an amplitude of 0.05
    // m; errors that add up to 1e-6 of the length are smaller.
    for way in ["step = 1e-3\nmethod = 'index2'", "step = 1e-3\nmethod = 'index3'", WAYS[2], WAYS[3]] {
        let machine = machine(&tuned_spring(way, events));
        let (run, ending, trajectory) = run(&machine);
        assert_eq!(ending, RunEnding::Done, "{way}");
        let first = std::f64::consts::PI / 20.0;
        // It passes the middle again and again, but there is nothing new in setting 400 once more; then 25.
        // A quarter of a period at 10 rad/s: (ωh)²/12 of π/2 rad is 1.3e-5 rad, over ω.
        assert!((run.events()[0].time - first).abs() < 3e-6, "{way}: {:?}", run.events());
        let x_at = |t: f64| match t {
            t if t < first => [0.1 * (10.0 * t).cos(), -(10.0 * t).sin()],
            t if t < 0.8 => [-0.05 * (20.0 * (t - first)).sin(), -(20.0 * (t - first)).cos()],
            t => {
                let [x, v] = [-0.05 * (20.0 * (0.8 - first)).sin(), -(20.0 * (0.8 - first)).cos()];
                let (sin, cos) = (5.0 * (t - 0.8)).sin_cos();
                [x * cos + v / 5.0 * sin, v * cos - 5.0 * x * sin]
            }
        };
        for (index, &t) in trajectory.times.iter().enumerate() {
            let [x, v] = x_at(t);
            let found =
                ["cart.position.x", "cart.velocity.x"].map(|name| trajectory.signal(name).unwrap()[index]);
            assert!((found[0] - 1.0 - x).abs() < 3e-5, "{way}, {t}: {found:?} {x}");
            assert!((found[1] - v).abs() < 6e-4, "{way}, {t}: {found:?} {v}");
        }
        // Energy that the softer spring does not hold any more is booked as work. 0.5 J times a few (ωh)²/12.
        let balance = trajectory.signal("energy.balance").unwrap();
        assert!(balance.iter().all(|value| value.abs() < 1e-4), "{way}");
    }
}

#[test]
fn a_sensor_of_a_force_shows_the_value_that_an_event_has_set() {
    let machine = machine(
        "[parameters]
        thrust = 1
        [gravity]
        acceleration = [0, 0, 0]
        [[point-mass]]
        name = 'cart'
        mass = 1
        [simulation]
        end-time = 1
        step = 0.01
        off-at-start = ['push']
        [[force]]
        name = 'push'
        body = 'cart'
        force = ['thrust', 0, 0]
        [[event]]
        name = 'on'
        zero-of = 't - 0.2'
        switch-on = ['push']
        [[event]]
        name = 'more'
        zero-of = 't - 0.5'
        set = { thrust = 3 }
        [[sensor]]
        of = 'cart'
        quantity = 'velocity'",
    );
    let trajectory = machine.simulate().unwrap();
    let shown = trajectory.signal("push.force.x").unwrap();
    for (&t, &force) in trajectory.times.iter().zip(shown) {
        let expected = match t {
            t if t < 0.195 => 0.0,
            t if t > 0.205 && t < 0.495 => 1.0,
            t if t > 0.505 => 3.0,
            _ => continue,
        };
        assert_eq!(force, expected, "at {t}");
    }
    let velocity = *trajectory.signal("cart.velocity.x").unwrap().last().unwrap();
    // 0.3 s of 1 N and 0.5 s of 3 N; constant forces are integrated exactly.
    assert!((velocity - 1.8).abs() < 1e-8, "{velocity}");
}

#[test]
fn parameters_that_cannot_change_on_the_way_are_refused_with_their_line() {
    let event = "[[event]]\nname = 'e'\nzero-of = 't - 0.5'\n";
    for (text, words) in [
        (format!("{event}set = {{ kk = 1 }}"), vec!["kk", "`k`", "parameter"]),
        (format!("{event}set = {{ k = -1 }}"), vec!["stiffness = 'k'", "zero or positive", "k = -1"]),
        (format!("{event}set = {{ k = 'cart.position.x' }}"), vec!["cart.position.x"]),
        (format!("{event}set = 3"), vec!["set", "table"]),
        (
            format!("{event}set = {{ k = 1 }}\n[[point-mass]]\nname = 'other'\nmass = 'k'"),
            vec!["'other'", "free of `k`", "[[spring-damper]]"],
        ),
        (
            format!("{event}set = {{ k = 1 }}\n[[point-mass]]\nname = 'other'\nmass = 'soft'"),
            vec!["'other'", "free of `soft`"],
        ),
        (
            "[[event]]\nname = 'e'\nzero-of = 'cart.position.x - k/200'\nset = { k = 1 }".to_string(),
            vec!["event `e`", "free of `k`"],
        ),
        (
            format!(
                "{event}set = {{ k = 200 }}\n[[force]]\nrepeat = 'k/100'\nbody = 'cart'\nforce = [1, 0, 0]"
            ),
            vec!["which parts there are"],
        ),
        (
            (0..65).map(|n| format!("[[event]]\nzero-of = 't - 0.5'\nset = {{ k = {n} }}\n")).collect(),
            vec!["64 combinations", "66"],
        ),
    ] {
        let model = tuned_spring("step = 0.01", &text);
        let message = Machine::from_text("test.toml", &model).err().map(|errors| errors.render(false));
        let message = message.unwrap_or_default();
        assert!(words.iter().all(|word| message.contains(word)), "{text}: {message}");
        assert!(message.contains("test.toml:"), "{message}");
    }
}

/// A rod released from the horizontal, held by a lock at its turning point from the first rest on.
fn held_rod(way: &str, event: &str) -> Machine {
    machine(&format!(
        "[simulation]
        end-time = 3
        off-at-start = ['brake']
        {way}
        [[body]]
        name = 'rod'
        mass = 1
        inertia = [1e-6, '1/12', '1/12']
        position = [0.5, 0, 0]
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'rod']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[lock]]
        name = 'brake'
        joint = 'pin'
        {event}"
    ))
}

#[test]
fn a_lock_holds_a_rod_at_its_turning_point_and_lets_it_go_again() {
    for way in WAYS {
        let machine = held_rod(
            way,
            "[[event]]
            name = 'rest'
            zero-of = 'pin.rate'
            direction = 'falling'
            switch-on = ['brake']
            [[event]]
            name = 'release'
            zero-of = 't - 2'
            switch-off = ['brake']",
        );
        let (run, ending, trajectory) = run(&machine);
        assert_eq!(ending, RunEnding::Done, "{way}");
        let rest = run.events()[0].time;
        // The rate falls through zero at the far turning point, half a period after the release: 1.934 s/2
        // for a rod of 1 m released from the horizontal, to its last digit.
        assert!((rest - 0.967).abs() < 5e-4, "{way}: {:?}", run.events());
        assert_eq!(run.events()[1].event, "release");
        assert!((run.events()[1].time - 2.0).abs() < EVENT);
        let (angle, torque) =
            (trajectory.signal("pin.angle").unwrap(), trajectory.signal("brake.torque.y").unwrap());
        let mut held = 0;
        for (index, &time) in trajectory.times.iter().enumerate() {
            if time > rest + 0.02 && time < 1.98 {
                held += 1;
                // It comes as high as it was: errors of the energy on the way down and on the way up cancel.
                assert!((angle[index] - std::f64::consts::PI).abs() < 1e-6, "{way}: {}", angle[index]);
                // On the other side the weight at half a metre is held, by the cosine of what the angle
                // misses: Newton's tolerance is left.
                assert!((torque[index].abs() - 0.5 * G).abs() < 1e-9, "{way}: {}", torque[index]);
            } else if time < rest - 0.02 {
                assert_eq!(torque[index], 0.0, "{way} at {time}");
            }
        }
        assert!(held > 0, "{way}");
        // It swings back after the release.
        let last = *angle.last().unwrap();
        assert!(last < 1.0, "{way}: {last}");
        // Of 4.9 J a few (ωh)²/12, with up to 5 rad/s in steps of 10 ms.
        let kept = trajectory.signal("energy.balance").unwrap().iter().all(|value| value.abs() < 1e-2);
        assert!(kept, "{way}");
    }
}

#[test]
fn a_lock_that_would_need_an_impulse_is_refused_with_the_way_out() {
    let machine = held_rod(
        WAYS[0],
        "[[event]]
        name = 'deep'
        zero-of = 'pin.angle - pi/2'
        switch-on = ['brake']",
    );
    let (_, ending, _) = run(&machine);
    let RunEnding::Refused(error) = ending else { panic!("{ending:?}") };
    let message = error.to_string();
    assert!(
        message.contains("`brake`") && message.contains("impulse") && message.contains("rate is zero"),
        "{message}"
    );
}

#[test]
fn a_lock_that_is_on_at_the_start_holds_the_initial_angle() {
    // Without `off-at-start` the brake holds from the beginning.
    let text = "[simulation]\nend-time = 1\nstep = 0.01
        [[body]]\nname = 'rod'\nmass = 1\ninertia = [1e-6, '1/12', '1/12']\nposition = [0.5, 0, 0]
        [[revolute]]\nname = 'pin'\nbodies = ['ground', 'rod']\npoint = [0, 0, 0]\naxis = [0, 1, 0]
        [[lock]]\nname = 'brake'\njoint = 'pin'";
    let held = machine(text).simulate().unwrap();
    // Newton's tolerance in the angle, and what it makes of the torque.
    assert!(held.signal("pin.angle").unwrap().iter().all(|angle| angle.abs() < 1e-9));
    assert!(
        held.signal("brake.torque.y").unwrap().iter().all(|torque| (torque.abs() - 0.5 * G).abs() < 1e-6)
    );
}

#[test]
fn a_reaction_that_vanishes_is_an_event() {
    // A mass on a table that falls away with growing acceleration: the table leaves the mass when it falls
    // faster than g, at t = g/6 for a path of −t³.
    let machine = machine(
        "[simulation]
        end-time = 2
        step = 0.01
        [[point-mass]]
        name = 'ball'
        mass = 2
        [[drive]]
        name = 'table'
        point = 'ball'
        path = [0, 0, '-t^3']
        [[event]]
        name = 'leaves'
        zero-of = 'table.force.z'
        switch-off = ['table']",
    );
    let (run, ending, trajectory) = run(&machine);
    assert_eq!(ending, RunEnding::Done);
    let leaves = G / 6.0;
    // Reactions are of second order in the step, and exact for a cubic up to round-off over h².
    assert!((run.events()[0].time - leaves).abs() < 1e-6, "{:?}", run.events());
    let z = last(&trajectory, "ball.position.z");
    let flight = 2.0 - leaves;
    let expected = -leaves.powi(3) - 3.0 * leaves * leaves * flight - 0.5 * G * flight * flight;
    // A cubic and a parabola are exact, and the table leaves without a jump in velocity, so that its time
    // hardly counts.
    assert!((z - expected).abs() < 1e-9, "{z} {expected}");
}

#[test]
fn steps_by_the_error_land_on_jumps_of_the_input_and_output_is_interpolated() {
    let machine = machine(
        "[gravity]
        acceleration = [0, 0, 0]
        [simulation]
        end-time = 2
        step = 'auto'
        rtol = 1e-6
        output-step = 0.1
        [[point-mass]]
        name = 'cart'
        mass = 1
        [[force]]
        name = 'push'
        body = 'cart'
        force = [{ points = [[0, 0], [0.7, 0], [0.7000001, 6], [2, 6]], interpolation = 'linear' }, 0, 0]",
    );
    assert_eq!(machine.settings().step(), Some(StepSize::Auto));
    let trajectory = machine.simulate().unwrap();
    let expected: Vec<f64> = (0..=20).map(|n| f64::from(n) * 0.1).collect();
    // Rounding of multiples of the output step.
    assert!(
        trajectory.times.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
        "{:?}",
        trajectory.times
    );
    for (time, x) in trajectory.times.iter().zip(trajectory.signal("cart.position.x").unwrap()) {
        let exact = 3.0 * (time - 0.700_000_05).max(0.0).powi(2);
        // Constant forces are integrated and interpolated exactly; the ramp of 0.1 µs is of third order in
        // its length.
        assert!((x - exact).abs() < 1e-6, "{time}: {x} {exact}");
    }
    let steps = trajectory.signal("solver.step").unwrap();
    assert!(steps[1..].iter().all(|step| *step > 0.0));
}

#[test]
fn an_event_just_before_a_corner_of_a_load_does_not_end_the_run() {
    let corner = 1.0;
    // From a tenth of a step down to what rounding of the time leaves: less than a step can be between event
    // and corner.
    for gap in [1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 4e-16] {
        for (way, action) in
            WAYS.iter().flat_map(|way| ["", "switch-on = ['brake']"].map(|action| (way, action)))
        {
            let push = format!("{{ points = [[0, 0], [{corner}, 0], [2, 3]], interpolation = 'linear' }}");
            let forces = [("push", push.as_str()), ("brake", "-1")];
            let machine = cart_through_a_gate(way, &forces, "brake", corner - gap, action);
            let (run, ending, trajectory) = run(&machine);
            let words = format!("{way}, {action}, {gap:e}");
            assert_eq!(ending, RunEnding::Done, "{words}");
            assert_eq!(run.integration().values().time, 2.0, "{words}");
            assert_eq!(run.events().len(), 1, "{words}");
            assert!((run.events()[0].time - (corner - gap)).abs() < EVENT, "{words}");
            // x = t + (t − 1)³/2 after the corner, less (t − 1 + gap)²/2 with the brake: 2.5 and 2 at the
            // end.
            let braked = if action.is_empty() { 0.0 } else { 0.5 * (1.0 + gap) * (1.0 + gap) };
            let x = last(&trajectory, "cart.position.x");
            // A force that grows linearly is integrated with an error of h² per second, or by the tolerance.
            assert!((x - (2.5 - braked)).abs() < 1e-4, "{words}: {x}");
        }
    }
}

#[test]
fn a_long_run_of_fixed_steps_ends_at_output_times_without_rounding() {
    let machine = machine(&format!("{BALL}[simulation]\nend-time = 20\nstep = 1e-3\noutput-step = 0.1"));
    let trajectory = machine.simulate().unwrap();
    for (n, time) in trajectory.times.iter().enumerate() {
        // Rounding of a multiple: nothing adds up over 20,000 steps.
        assert!((time - n as f64 * 0.1).abs() < 1e-14 * (1.0 + time), "{time}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let rest = "[[event]]\nname = 'e'\n";
    for (text, place, words) in [
        ("[simulation]\nend-time = 1\nstep = 'auto'\nrtol = 0", ":9", "positive"),
        ("[simulation]\nend-time = 1\nstep = 'auto'\nmin-step = 0.2\nmax-step = 0.1", ":10", "min-step"),
        ("[simulation]\nend-time = 1\nstep = 'aut'", ":8", "auto"),
        ("[simulation]\nend-time = 1\noff-at-start = ['bal']", ":8", "bal"),
        (&format!("{rest}zero-of = 'ball.position.q'"), ":8", "ball.position"),
        (&format!("{rest}zero-of = 'ball.position.z'\nswitch-on = ['push']"), ":9", "push"),
        (&format!("{rest}zero-of = 'ball.position.z'\nswitch-off = ['ball']"), ":9", "force, joint or lock"),
        (&format!("{rest}zero-of = 'ball.position.z'\ndirection = 'up'"), ":9", "rising"),
        (&format!("{rest}zero-of = 'ball.position.z'\ntolerance = 0"), ":9", "positive"),
        (rest, ":6", "zero-of"),
    ] {
        let error = Machine::from_text("test.toml", &format!("{BALL}{text}")).err();
        let message = error.map(|errors| errors.render(false)).unwrap_or_default();
        assert!(message.contains(place) && message.contains(words), "{text}: {message}");
    }
}

#[test]
fn an_expression_that_is_not_a_number_ends_the_run_with_event_and_time() {
    for way in WAYS {
        for (zero, least) in [("sqrt(0.505 - t) - 2", 0.5), ("ln(0.3 - t)", 0.295), ("sqrt(-1 - t)", 0.0)] {
            let machine = machine(&format!(
                "{BALL}\n[simulation]\nend-time = 1\n{way}\n[[event]]\nname = 'root'\nzero-of = '{zero}'\ndirection = 'rising'\n"
            ));
            let (_, ending, _) = run(&machine);
            let RunEnding::Refused(error) = ending else { panic!("{way} {zero}: {ending:?}") };
            let message = error.to_string();
            assert!(message.contains("event `root` is not a number at t = "), "{message}");
            let time = message.split("t = ").nth(1).unwrap().split(' ').next().unwrap();
            let time: f64 = time.parse().unwrap();
            // Found in the step in which it happens; those by the error are long in a free fall.
            assert!(time >= least && (way.contains("auto") || time < least + 0.02), "{message}");
        }
    }
}

#[test]
fn a_pole_is_no_event_and_a_zero_behind_it_is_one() {
    for way in WAYS {
        let machine = machine(&format!(
            "{BALL}
            [simulation]
            end-time = 1
            {way}
            max-step = 0.02
            [[event]]
            name = 'pole'
            zero-of = '1/(t - 0.4321)'
            [[event]]
            name = 'near'
            zero-of = '1/(t - 0.5 - 1e-9)'
            [[event]]
            name = 'at-a-step'
            zero-of = '1/(t - 0.5)'
            [[event]]
            name = 'tangent'
            zero-of = 'tan(5*t)'
            [[event]]
            name = 'jump'
            zero-of = 'if(ball.position.z > 0.5, 1, -1)'
            [[event]]
            name = 'behind'
            zero-of = '(t - 0.65)/(t - 0.55)'"
        ));
        let (run, ending, _) = run(&machine);
        assert_eq!(ending, RunEnding::Done, "{way}");
        let times = |name: &str| -> Vec<f64> {
            run.events().iter().filter(|event| event.event == name).map(|event| event.time).collect()
        };
        for name in ["pole", "near", "at-a-step"] {
            assert_eq!(times(name), Vec::<f64>::new(), "{way}: {name}");
        }
        // Zeros of the tangent are at kπ, its poles between them.
        let [zero] = times("tangent")[..] else { panic!("{way}: {:?}", times("tangent")) };
        assert!((zero - std::f64::consts::PI / 5.0).abs() < EVENT, "{way}: {zero}");
        let [behind] = times("behind")[..] else { panic!("{way}: {:?}", times("behind")) };
        assert!((behind - 0.65).abs() < EVENT, "{way}: {behind}");
        // A change of sign by a jump is a passage all the same.
        let [jump] = times("jump")[..] else { panic!("{way}: {:?}", times("jump")) };
        assert!((jump - (1.0 / G).sqrt()).abs() < EVENT, "{way}: {jump}");
    }
}
