//! Motions with contact whose course is known in closed form.

use kreisel::machine::Trajectory;

use super::read;

fn run(text: &str) -> Trajectory {
    read(text).unwrap().simulate().unwrap()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

/// A ball that falls from half a metre onto the ground.
fn falling_ball(law: &str, rtol: f64, end: f64) -> Trajectory {
    run(&format!(
        "[simulation]
        end-time = {end}
        step = 'auto'
        rtol = {rtol}
        [gravity]
        acceleration = [0, 0, -10]
        [[body]]
        name = 'ball'
        shape = {{ kind = 'sphere', radius = 0.1 }}
        density = 1000
        position = [0, 0, 0.6]
        [[contact]]
        name = 'floor'
        bodies = ['ground', 'ball']
        {law}"
    ))
}

/// Heights to which the ball's energy lifts its lowest point, one for each flight.
fn peaks(run: &Trajectory) -> Vec<f64> {
    let signal = |name: &str| run.signal(name).unwrap();
    let (height, kinetic, potential) =
        (signal("ball.position.z"), signal("energy.kinetic"), signal("energy.potential"));
    let mass = 4000.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let top = |&n: &usize| height[n] >= height[n - 1] && height[n] > height[n + 1] && height[n] > 0.1;
    let tops = (1..height.len() - 1).filter(top);
    tops.map(|n| (kinetic[n] + potential[n]) / (10.0 * mass) - 0.1).collect()
}

#[test]
fn a_bouncing_ball_rises_by_the_square_of_its_restitution() {
    let law = "law = 'hertz'\nyoungs-modulus = '10 GPa'\nrestitution = 0.7";
    let run = falling_ball(law, 1e-5, 1.9);
    let peaks = peaks(&run);
    // From h = 0.5 m: speeds √(2 g h), and times √(2h/g) (1 + 2e + 2e² + …) between impacts.
    assert!(peaks.len() >= 3, "{peaks:?}");
    for (n, peak) in peaks.iter().enumerate() {
        let height = 0.5 * 0.49_f64.powi(n as i32 + 1);
        // Gravity works over the depth of an impact, below 1 mm.
        assert!((peak - height).abs() < 1e-3 + 2e-3 * height, "bounce {n}: {peak} instead of {height}");
    }
}

#[test]
fn every_law_loses_what_it_books() {
    for law in [
        "stiffness = '1000 kN/m'\ndamping = 200\ntransition-depth = 1e-5",
        "law = 'hertz'\nyoungs-modulus = '1 GPa'\nrestitution = 0.5",
        "law = 'flores'\nyoungs-modulus = '1 GPa'\nrestitution = 0.5",
    ] {
        let balance = |rtol: f64| {
            let run = falling_ball(law, rtol, 0.5);
            let energy = run.signal("energy.kinetic").unwrap();
            assert!(largest(run.signal("energy.dissipated").unwrap()) > 0.1, "{law}");
            largest(run.signal("energy.balance").unwrap()) / largest(energy)
        };
        let (coarse, fine) = (balance(1e-4), balance(1e-6));
        // Errors per step are kept to the tolerance, and the energy follows.
        assert!(coarse < 3e-2 && fine < 3e-4, "{law}: {coarse:e} {fine:e}");
    }
}

#[test]
fn a_lossless_ball_comes_back() {
    let run = falling_ball("law = 'hertz'\nyoungs-modulus = '1 GPa'", 1e-6, 1.2);
    for peak in peaks(&run) {
        // Numerical damping of the method within an impact of some hundred steps.
        assert!((peak - 0.5).abs() < 2e-3, "{peak}");
    }
}

#[test]
fn a_slipping_ball_begins_to_roll_at_five_sevenths_of_its_speed() {
    let text = "
        [simulation]
        end-time = 0.8
        step = 1e-3
        [gravity]
        acceleration = [0, 0, -10]
        [[body]]
        name = 'ball'
        mass = 2
        shape = { kind = 'sphere', radius = 0.1 }
        position = [0, 0, '0.1 - 20/1e6']
        velocity = [3, 0, 0]
        [[contact]]
        name = 'floor'
        bodies = ['ground', 'ball']
        stiffness = 1e6
        friction = 0.2
        transition-speed = 1e-4
        [[sensor]]
        of = 'ball'
        quantity = 'velocity'
        [[sensor]]
        of = 'ball'
        quantity = 'angular-velocity'
    ";
    let run = run(text);
    let (speed, turning) =
        (run.signal("ball.velocity.x").unwrap(), run.signal("ball.angular-velocity.y").unwrap());
    // Sliding: v = v₀ − μ g t and ω r = (5/2) μ g t until t = 2 v₀/(7 μ g) = 0.4286 s.
    let index = run.times.iter().position(|time| (time - 0.2).abs() < 1e-9).unwrap();
    // A step turns the ball by 0.01 rad: errors of this squared; the lever is the radius less half the depth of 20 µm.
    assert!((speed[index] - 2.6).abs() < 1e-4, "{}", speed[index]);
    assert!((0.1 * turning[index] - 1.0).abs() < 5e-4, "{}", turning[index]);
    let (last, rolling) = (speed[speed.len() - 1], 0.1 * turning[turning.len() - 1]);
    assert!((last - 15.0 / 7.0).abs() < 5e-4, "{last}");
    assert!((last - rolling).abs() < 1e-3, "{last} {rolling}");
    let force = run.signal("floor.force.z").unwrap();
    // The start of rolling shakes the ball on its spring a little.
    assert!((force[force.len() - 1] - 20.0).abs() < 0.02, "{:?}", force.last());
}

/// A body on a plane that falls by an angle towards x, with a coefficient of friction.
fn slope(body: &str, angle: f64, friction: f64) -> Trajectory {
    let (sin, cos) = angle.to_radians().sin_cos();
    run(&format!(
        "[simulation]
        end-time = 0.5
        step = 1e-3
        [gravity]
        acceleration = [{}, 0, {}]
        [[body]]
        name = 'body'
        {body}
        [[contact]]
        name = 'slope'
        bodies = ['ground', 'body']
        stiffness = 1e6
        damping = 1e3
        friction = {friction}
        transition-speed = 1e-4
        [[sensor]]
        of = 'body'
        quantity = 'velocity'",
        10.0 * sin,
        -10.0 * cos
    ))
}

#[test]
fn a_box_sticks_on_a_slope_below_the_angle_of_friction_and_slides_above() {
    let body = "shape = { kind = 'box', size = [0.2, 0.2, 0.1] }\nmass = 1\nposition = [0, 0, 0.05]";
    let held = slope(body, 20.0, 0.5);
    let last = |run: &Trajectory, name: &str| *run.signal(name).unwrap().last().unwrap();
    // tan 20°/0.5 = tanh(v/v_t) gives a creep of 0.93 v_t.
    assert!((last(&held, "body.velocity.x") - 0.93e-4).abs() < 2e-6, "{}", last(&held, "body.velocity.x"));
    let sliding = slope(body, 20.0, 0.2);
    let (sin, cos) = 20.0_f64.to_radians().sin_cos();
    let speed = 10.0 * (sin - 0.2 * cos) * 0.5;
    // The box settles by some micrometres first, and meanwhile presses less.
    assert!((last(&sliding, "body.velocity.x") / speed - 1.0).abs() < 2e-3);
}

#[test]
fn a_cylinder_rolls_on_its_edges_with_two_thirds_of_the_acceleration() {
    let body = "shape = { kind = 'cylinder', radius = 0.1, length = 0.2 }\nmass = 1\nposition = [0, 0, 0.1]
        orientation = { axis = [1, 0, 0], angle = '90 deg' }";
    let run = slope(body, 10.0, 0.4);
    let speed = *run.signal("body.velocity.x").unwrap().last().unwrap();
    let expected = 2.0 / 3.0 * 10.0 * 10.0_f64.to_radians().sin() * 0.5;
    // It settles first, and slips until friction has turned it.
    assert!((speed / expected - 1.0).abs() < 2e-3, "{speed} {expected}");
}

#[test]
fn a_cylinder_stands_on_its_end() {
    let body = "shape = { kind = 'cylinder', radius = 0.1, length = 0.2 }\nmass = 1\nposition = [0, 0, 0.1]";
    let run = slope(body, 5.0, 0.4);
    let height = run.signal("body.position.z").unwrap();
    // Tilting over its edge would raise or lower the centre by millimetres.
    assert!(height.iter().all(|z| (z - 0.1).abs() < 2e-4), "{:?}", height.last());
}

#[test]
fn two_balls_exchange_their_speeds() {
    let text = "
        [simulation]
        end-time = 0.2
        step = 'auto'
        rtol = 1e-6
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'first'
        mass = 1
        shape = { kind = 'sphere', radius = 0.1 }
        position = [-0.15, 0, 0]
        velocity = [1, 0, 0]
        [[body]]
        name = 'second'
        mass = 1
        shape = { kind = 'sphere', radius = 0.1 }
        position = [0.1, 0, 0]
        [[contact]]
        name = 'impact'
        bodies = ['first', 'second']
        law = 'hertz'
        youngs-modulus = '1 GPa'
        restitution = 0.8
        [[sensor]]
        of = 'first'
        quantity = 'velocity'
        [[sensor]]
        of = 'second'
        quantity = 'velocity'
    ";
    let run = run(text);
    let last = |name: &str| *run.signal(name).unwrap().last().unwrap();
    // v₁ = (1 − e)/2, v₂ = (1 + e)/2.
    assert!((last("first.velocity.x") - 0.1).abs() < 2e-4, "{}", last("first.velocity.x"));
    assert!((last("second.velocity.x") - 0.9).abs() < 2e-4, "{}", last("second.velocity.x"));
}
