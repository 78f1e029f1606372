//! Bristles, and friction in joints by the force that they transmit.

use kreisel::run::Trajectory;

use super::read;

fn run(text: &str) -> Trajectory {
    read(text).unwrap().simulate().unwrap()
}

fn last(run: &Trajectory, name: &str) -> f64 {
    *run.signal(name).unwrap().last().unwrap()
}

#[test]
fn bristles_hold_a_body_on_a_slope_without_creep() {
    let text = "
        [simulation]
        end-time = 1
        step = 1e-3
        [gravity]
        acceleration = [2, 0, -10]
        [[point-mass]]
        name = 'block'
        mass = 1
        position = [0, 0, -1e-5]
        [[contact]]
        name = 'slope'
        bodies = ['ground', 'block']
        stiffness = 1e6
        damping = 1e3
        friction = 0.3
        friction-law = 'lugre'
        bristle-stiffness = 1e4
        bristle-damping = 100
        [[sensor]]
        of = 'block'
        quantity = 'velocity'
    ";
    let run = run(text);
    // Bristles that bend to σ₀ z = 0.2 without turning back let the body go dx = dz/(1 − σ₀ z/μ), in all μ/σ₀
    // ln 3.
    assert!(
        (last(&run, "block.position.x") - 3e-5 * 3.0_f64.ln()).abs() < 1e-7,
        "{}",
        last(&run, "block.position.x")
    );
    assert!(last(&run, "block.velocity.x").abs() < 1e-7, "{}", last(&run, "block.velocity.x"));
    // At rest the bristles carry the load, to rounding.
    assert!((last(&run, "slope.force.x") + 2.0).abs() < 1e-9, "{}", last(&run, "slope.force.x"));
}

/// A sphere that slides on a plane and is turned by friction until it rolls.
fn sliding_sphere(more: &str) -> String {
    format!(
        "
        [simulation]
        end-time = 0.4
        {more}
        [[body]]
        name = 'sphere'
        mass = 1
        inertia = [4e-3, 4e-3, 4e-3]
        position = [0, 0, 0.09999]
        velocity = [2, 0, 0]
        shape = {{ kind = 'sphere', radius = 0.1 }}
        [[contact]]
        name = 'floor'
        bodies = ['ground', 'sphere']
        stiffness = 1e6
        damping = 1e3
        friction = 0.3
        friction-law = 'lugre'
        "
    )
}

#[test]
fn a_sphere_slides_on_bristles_with_large_steps_until_it_rolls() {
    for (settings, law) in [
        ("step = 1e-3", ""),
        ("step = 1e-3", "bristle-damping = 200"),
        ("step = 1e-4", "bristle-damping = 200"),
        ("rtol = 1e-4", ""),
        ("rtol = 1e-4", "bristle-damping = 200"),
        ("step = 1e-3\nmethod = 'index3'", ""),
    ] {
        let machine = read(&format!("{}{law}\n", sliding_sphere(settings))).unwrap();
        let run = machine.simulate().unwrap_or_else(|error| panic!("{settings} {law}: {error}"));
        // Slides with −μ g until v = 5/7 v₀, at t = 2 v₀/(7 μ g) = 0.194 s, then rolls.
        let way = last(&run, "sphere.position.x");
        let slip = 2.0 * 2.0 / (7.0 * 0.3 * 9.80665);
        let expected = 2.0 * slip - 0.5 * 0.3 * 9.80665 * slip * slip + 10.0 / 7.0 * (0.4 - slip);
        let energies = run.signal("energy.total").unwrap();
        let (first, most) = (energies[0], energies.iter().fold(f64::MIN, |most, value| most.max(*value)));
        assert!((way - expected).abs() < 1e-3 * expected, "{settings} {law}: {way} {expected}");
        // Friction takes energy; steps of a stiff contact may add a little to 3 J.
        assert!(most < first + 1e-3, "{settings} {law}: {first} {most}");
    }
}

#[test]
fn bristles_that_are_damped_or_resolved_hold_a_block() {
    // Damped bristles leave what the tolerance lets through; steps that resolve their swing leave nothing.
    for (settings, law, most) in [
        ("step = 'auto'\nrtol = 1e-4", "bristle-damping = 300", 1e-6),
        ("step = 'auto'\nrtol = 1e-5", "", 1e-7),
        ("step = 'auto'\nrtol = 1e-4\nmax-step = 1e-3", "bristle-damping = 0", 1e-9),
        ("step = 1e-3", "bristle-damping = 0", 1e-9),
        // So soft bristles that each corner rests on less than the depth over which they engage.
        ("step = 1e-3", "bristle-stiffness = 1e4", 1e-9),
        ("step = 'auto'\nrtol = 1e-5", "bristle-stiffness = 1e4", 1e-7),
        ("step = 1e-3", "bristle-damping = 300", 1e-9),
    ] {
        let text = format!(
            "
            [simulation]
            end-time = 3
            {settings}
            [gravity]
            acceleration = [2, 0, -10]
            [[body]]
            name = 'block'
            mass = 1
            inertia = [1e-2, 1e-2, 1e-2]
            position = [0, 0, 0.09999]
            shape = {{ kind = 'box', size = [0.4, 0.4, 0.2] }}
            [[contact]]
            name = 'slope'
            bodies = ['ground', 'block']
            stiffness = 1e6
            damping = 1e3
            friction = 0.3
            friction-law = 'lugre'
            {law}
            "
        );
        let run = run(&text);
        let way = run.signal("block.position.x").unwrap();
        let middle = run.times.partition_point(|time| *time < 1.5);
        let rate = (way[way.len() - 1] - way[middle]) / (3.0 - run.times[middle]);
        assert!(rate.abs() < most, "{settings} {law}: {rate:e}");
    }
}

/// Data of the oscillator: pulled at a speed by a spring, normal force 10 N, mass 1 kg.
const SPRING: f64 = 2.0;
const PULL: f64 = 0.1;
const BRISTLES: [f64; 3] = [1e4, 31.6, 0.04];

/// Position of the oscillator at a time, by the classical method of fourth order with small steps.
fn stick_slip(end: f64) -> f64 {
    let rates = |t: f64, [x, v, z]: [f64; 3]| -> [f64; 3] {
        let level = 0.1 + 0.05 * (-(v / 1e-3) * (v / 1e-3)).exp();
        let bending = v - BRISTLES[0] * v.abs() / level * z;
        let friction = 10.0 * (BRISTLES[0] * z + BRISTLES[1] * bending + BRISTLES[2] * v);
        [v, SPRING * (PULL * t - x) - friction, bending]
    };
    let along =
        |a: [f64; 3], factor: f64, b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] + factor * b[i]) };
    // The fastest rate is σ₁ N/m + … ≈ 400/s in sticking and σ₀ v/μ ≈ 1e4/s in sliding at 0.1 m/s.
    let count = (end / 2e-5).round() as usize;
    let h = end / count as f64;
    let mut y = [0.0; 3];
    for n in 0..count {
        let t = n as f64 * h;
        let a = rates(t, y);
        let b = rates(t + 0.5 * h, along(y, 0.5 * h, a));
        let c = rates(t + 0.5 * h, along(y, 0.5 * h, b));
        let d = rates(t + h, along(y, h, c));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    y[0]
}

#[test]
fn the_stick_slip_oscillator_keeps_the_limit_cycle_of_its_equations() {
    let text = format!(
        "[simulation]
        end-time = 20
        step = 'auto'
        rtol = 1e-5
        atol = 1e-6
        output-step = 1
        [gravity]
        acceleration = [0, 0, -10]
        [[point-mass]]
        name = 'block'
        mass = 1
        position = [0, 0, -1e-5]
        [[force]]
        name = 'pull'
        body = 'block'
        force = ['{SPRING}*({PULL}*t - block.position.x)', 0, 0]
        [[contact]]
        name = 'floor'
        bodies = ['ground', 'block']
        stiffness = 1e6
        damping = 1e3
        friction-law = 'lugre'
        friction = 0.1
        static-friction = 0.15
        stribeck-speed = 1e-3
        bristle-stiffness = {}
        bristle-damping = {}
        viscous-friction = {}",
        BRISTLES[0], BRISTLES[1], BRISTLES[2]
    );
    let run = run(&text);
    let position = run.signal("block.position.x").unwrap();
    let mut moved = 0.0;
    for (time, x) in run.times.iter().zip(position).skip(1) {
        let expected = stick_slip(*time);
        // Slips of up to half a metre per second amplify the tolerance.
        assert!((x - expected).abs() < 2e-3, "{time} s: {x} instead of {expected}");
        moved = expected;
    }
    assert!(moved > 1.0);
}

/// A block on a slide along `axis` for a second, with a `[[joint-friction]]` of these keys and what follows
/// it.
fn slide(
    step: f64,
    gravity: [f64; 3],
    mass: f64,
    velocity: [f64; 3],
    axis: [f64; 3],
    friction: &str,
) -> Trajectory {
    run(&format!(
        "[simulation]
        end-time = 1
        step = {step}
        [gravity]
        acceleration = {gravity:?}
        [[body]]
        name = 'block'
        mass = {mass}
        inertia = [1, 1, 1]
        velocity = {velocity:?}
        [[prismatic]]
        name = 'slide'
        bodies = ['ground', 'block']
        axis = {axis:?}
        [[sensor]]
        of = 'block'
        quantity = 'velocity'
        [[joint-friction]]
        joint = 'slide'
        {friction}"
    ))
}

/// Angular velocity after a second of a rotor of 2 kg and 0.05 kg m² whose joint at its centre rubs at 2 cm
/// by these keys.
fn rotor(joint: &str, step: f64, angular_velocity: f64, torque: f64, friction: &str) -> f64 {
    let run = run(&format!(
        "[simulation]
        end-time = 1
        step = {step}
        [gravity]
        acceleration = [0, 0, -10]
        [[body]]
        name = 'rotor'
        mass = 2
        inertia = [0.05, 0.05, 0.05]
        angular-velocity = [0, 0, {angular_velocity}]
        {joint}
        name = 'bearing'
        bodies = ['ground', 'rotor']
        point = [0, 0, 0]
        [[force]]
        name = 'pull'
        body = 'rotor'
        torque = [0, 0, {torque}]
        [[sensor]]
        of = 'rotor'
        quantity = 'angular-velocity'
        [[joint-friction]]
        joint = 'bearing'
        radius = 0.02
        {friction}"
    ));
    last(&run, "rotor.angular-velocity.z")
}

#[test]
fn friction_in_a_slide_follows_the_force_that_presses() {
    let friction = "friction = 0.25\ntransition-speed = 1e-3";
    let run = slide(1e-2, [3.0, 0.0, -8.0], 2.0, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], friction);
    // a = 3 − 0.25·8 = 1, exact for a constant acceleration up to Newton's tolerance.
    assert!((last(&run, "slide.rate") - 2.0).abs() < 1e-6, "{}", last(&run, "slide.rate"));
    let lost = last(&run, "energy.dissipated");
    // Friction of 0.25·16 N over 1.5 m.
    assert!((lost - 6.0).abs() < 1e-6, "{lost}");
}

#[test]
fn friction_in_a_bearing_brakes_a_rotor_by_its_weight() {
    // ω̇ = −μ r m g/J = −0.1·0.02·20/0.05 = −0.8 rad/s².
    for joint in ["[[revolute]]", "[[spherical]]"] {
        let braked = rotor(joint, 1e-2, 8.0, 0.0, "friction = 0.1\ntransition-rate = 1e-3");
        assert!((braked - 7.2).abs() < 1e-3, "{joint}: {braked}");
    }
}

#[test]
fn a_moment_presses_a_bearing_at_its_ends() {
    let friction = "friction = 0.1
        bearing-length = 0.5
        [[force]]
        name = 'twist'
        body = 'block'
        torque = [5, 0, 0]";
    let run = slide(1e-2, [0.0; 3], 2.0, [0.0, 0.0, 3.0], [0.0, 0.0, 1.0], friction);
    // The ends press with 5/0.5 = 10 N each: a = −0.1·20/2 = −1.
    let rate = last(&run, "slide.rate");
    assert!((rate - 2.0).abs() < 1e-3, "{rate}");
}

#[test]
fn bristles_hold_a_slide_without_creep() {
    let friction = "friction = 0.3\nfriction-law = 'lugre'\nbristle-stiffness = 1e4\nbristle-damping = 100";
    let run = slide(1e-3, [2.0, 0.0, -10.0], 1.0, [0.0; 3], [1.0, 0.0, 0.0], friction);
    // As on a slope: σ₀ z = 0.2 after a way of μ/σ₀ ln 3.
    let way = last(&run, "block.position.x");
    assert!((way - 3e-5 * 3.0_f64.ln()).abs() < 1e-7, "{way}");
    assert!(last(&run, "block.velocity.x").abs() < 1e-7, "{}", last(&run, "block.velocity.x"));
}

#[test]
fn bristles_brake_bearings_like_sliding_friction_and_a_larger_coefficient_holds() {
    for joint in ["[[revolute]]", "[[spherical]]"] {
        let bristles =
            "friction = 0.1\nfriction-law = 'lugre'\nbristle-stiffness = 1e5\nstribeck-speed = 1e-3";
        // ω̇ = −μ r m g/J = −0.8 rad/s² once the bristles are bent, after μ/σ₀ = 1 µm.
        let braked = rotor(joint, 1e-3, 8.0, 0.0, bristles);
        assert!((braked - 7.2).abs() < 1e-3, "{joint}: {braked}");
        // A torque of 0.05 Nm is above that of sliding, 0.04 Nm, and below that of sticking, 0.06 Nm: the
        // rotor creeps with tanh(ω/ω_t) μ_s = 0.125, at ω_t artanh(0.8333) = 1.2e-4 rad/s less what μ(v) has
        // fallen until there.
        let held = "friction = 0.1\nstatic-friction = 0.15\nstribeck-speed = 1\ntransition-rate = 1e-4";
        let creeping = rotor(joint, 1e-3, 0.0, 0.05, held);
        assert!((creeping / (1e-4 * (5.0_f64 / 6.0).atanh()) - 1.0).abs() < 1e-3, "{joint}: {creeping}");
    }
}
