//! Many bodies of which any two may touch.

use std::path::Path;

use kreisel::dae::Control;
use kreisel::integrate::{ErrorControl, Integrator, Saved};
use kreisel::machine::Machine;
use kreisel::statics;

use super::read;

fn pile(count: &str) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/settling-balls.toml");
    Machine::read(&path, &[("n", count)]).map_err(|errors| errors.render(false)).unwrap()
}

#[test]
fn balls_settle_and_lose_what_they_fell() {
    let machine = pile("12");
    let run = machine.simulate().unwrap();
    let signal = |name: &str| run.signal(name).unwrap();
    let largest = |name: &str| signal(name).iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let fallen = signal("energy.potential")[0] - signal("energy.potential").last().unwrap();
    assert!(fallen > 0.0);
    // A tolerance of 1e-3 and a hundred impacts.
    assert!(largest("energy.balance") < 0.05 * fallen, "{} of {fallen}", largest("energy.balance"));
    assert!(*signal("energy.kinetic").last().unwrap() < 0.05 * fallen);
    for ball in 0..12 {
        let [x, y, z] =
            ["x", "y", "z"].map(|axis| *signal(&format!("ball-{ball}.position.{axis}")).last().unwrap());
        // Walls and floor hold to a few tenths of a millimetre: the weight of a ball is 0.8 N, the stiffness
        // 20 N/mm.
        assert!(x.abs() < 0.0685 && y.abs() < 0.0685 && z > 0.0195, "ball {ball}: {x} {y} {z}");
    }
}

#[test]
fn the_number_of_candidates_grows_like_the_number_of_bodies() {
    let pairs = |count: &str| {
        let machine = pile(count);
        let plan = machine.plan().unwrap();
        let run =
            Integrator::with(plan.integration).start(machine.system(), machine.initial().clone()).unwrap();
        machine.system().group_contact("pile", &run.values().point()).pairs as f64
    };
    let (small, large) = (pairs("64"), pairs("512"));
    // Inner balls have six neighbours to share, those at walls and floor a plane each.
    assert!(large < 9.0 * small && large < 10.0 * 512.0, "{small} {large}");
}

/// Candidates, Newton iterations and iterations over pairs, per ball and step where that applies, as balls
/// strike the floor after a free fall with long steps.
fn work_of_falling(count: f64, side: &str) -> [f64; 3] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/settling-balls.toml");
    let machine = Machine::read(&path, &[("n", &count.to_string()), ("side", side)]).unwrap();
    let plan = machine.plan().unwrap();
    // Errors of the same size in m, a thousandth of a ball, however large the pile is.
    let control = plan.integration.error_control().unwrap();
    let rtol = control.rtol * 0.04 / machine.characteristic_length();
    let settings = plan.integration.with_error_control(ErrorControl { rtol, ..control });
    let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
    // The balls begin a centimetre above the floor, √(2 · 0.01/g) = 0.0452 s of free fall.
    run.advance(0.045).unwrap();
    let (before, iterations_before) = (run.statistics(), run.dropped_block_iterations());
    run.advance(0.06).unwrap();
    let pairs = machine.system().group_contact("pile", &run.values().point()).pairs as f64 / count;
    let work = run.statistics();
    let solves = (work.iterations - before.iterations) as f64;
    let iterations = (run.dropped_block_iterations() - iterations_before) as f64;
    [pairs, solves / (work.steps - before.steps) as f64, iterations / solves]
}

#[test]
fn the_work_per_ball_hardly_grows_with_the_number_of_balls() {
    let (small, large) = (work_of_falling(64.0, "4"), work_of_falling(216.0, "6"));
    // Five planes, and half of six neighbours in a lattice; the walls and the margins of the fall are worth
    // two more. All pairs would be 36 and 112 a ball.
    assert!(small[0] < 10.0 && large[0] < 10.0, "{small:?} {large:?}");
    // Newton's iteration and that over the pairs see stiffness and step, not the number of balls.
    assert!(large[1] < 1.3 * small[1] && large[1] < 4.0, "{small:?} {large:?}");
    assert!(small[2] > 0.0 && large[2] < 1.5 * small[2] && large[2] < 20.0, "{small:?} {large:?}");
}

#[test]
fn a_group_in_which_nobody_meets_anybody_changes_no_bit_and_no_count() {
    let balls = "
        [[body]]
        name = 'link-{i}'
        repeat = 5
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = ['i + 0.5', 0, 0]
        [[revolute]]
        name = 'hinge-0'
        bodies = ['ground', 'link-0']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[revolute]]
        name = 'hinge-{i+1}'
        repeat = 4
        bodies = ['link-{i}', 'link-{i+1}']
        point = ['i + 1', 0, 0]
        axis = [0, 1, 0]
        [[body]]
        name = 'ball-{i}'
        repeat = 2
        mass = 1
        shape = { kind = 'sphere', radius = 0.1 }
        position = ['100 + 10*i', 0, 0]
    ";
    let group = "
        [[contact-group]]
        name = 'group'
        members = ['ball-*']
        stiffness = 1e5
        damping = 20
        transition-depth = 1e-4
    ";
    let [without, with] = [balls.to_string(), format!("{balls}{group}")].map(|text| {
        let machine = read(&text).unwrap();
        let mut run = Integrator::new(kreisel::integrate::INDEX2, 0.9, 1e-3)
            .unwrap()
            .start(machine.system(), machine.initial().clone())
            .unwrap();
        // The balls fall by 5 m, many times their margin.
        run.advance(1.0).unwrap();
        (run.values().configuration.clone(), run.statistics())
    });
    assert_eq!(without, with);
}

#[test]
fn a_pile_goes_on_to_the_same_bits_after_a_restart() {
    let machine = pile("48");
    let method = Integrator::with(machine.plan().unwrap().integration);
    let mut run = method.start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(0.058).unwrap();
    let bytes = run.save().to_bytes();
    run.advance(0.062).unwrap();
    assert!(run.dropped_block_iterations() > 0);
    let mut again = method.resume(machine.system(), &Saved::from_bytes(&bytes).unwrap()).unwrap();
    again.advance(0.062).unwrap();
    assert_eq!(run.save().to_bytes(), again.save().to_bytes());
}

#[test]
fn a_group_moves_like_single_contacts_and_a_restart_goes_on_to_the_same_bits() {
    let balls = "
        [simulation]
        end-time = 0.3
        step = 1e-3
        [gravity]
        acceleration = [0, 0, -10]
        [[body]]
        name = 'a'
        density = 1000
        shape = { kind = 'sphere', radius = 0.05 }
        position = [0, 0, 0.1]
        [[body]]
        name = 'b'
        density = 1000
        shape = { kind = 'sphere', radius = 0.05 }
        position = [0.01, 0, 0.25]
    ";
    let law =
        "stiffness = 1e5\ndamping = 30\ntransition-depth = 1e-4\nfriction = 0.2\ntransition-speed = 1e-2\n";
    let single = |name: &str, bodies: &str| format!("[[contact]]\nname = '{name}'\nbodies = {bodies}\n{law}");
    let apart = format!(
        "{balls}{}{}{}",
        single("one", "['a', 'ground']"),
        single("two", "['b', 'ground']"),
        single("three", "['a', 'b']")
    );
    let together = format!("{balls}[[contact-group]]\nname = 'all'\nmembers = ['a', 'b', 'ground']\n{law}");
    let end = |text: &str| -> Vec<f64> {
        let machine = read(text).unwrap();
        let plan = machine.plan().unwrap();
        let mut run =
            Integrator::with(plan.integration).start(machine.system(), machine.initial().clone()).unwrap();
        run.advance(0.3).unwrap();
        run.values().configuration.clone()
    };
    let (first, second) = (end(&apart), end(&together));
    let difference = first.iter().zip(&second).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()));
    // The same equations, solved to Newton's tolerance; impacts magnify it.
    assert!(difference < 1e-6, "{difference:e}");

    let machine = read(&together).unwrap();
    let method = Integrator::with(machine.plan().unwrap().integration);
    let mut run = method.start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(0.15).unwrap();
    let bytes = run.save().to_bytes();
    run.advance(0.3).unwrap();
    let mut again = method.resume(machine.system(), &Saved::from_bytes(&bytes).unwrap()).unwrap();
    again.advance(0.3).unwrap();
    assert_eq!(run.values().configuration, again.values().configuration);
}

/// Two balls of 2 kg on top of each other, each on a vertical slide, 40 mm above the floor and apart.
const STACK: &str = "
    [simulation]
    end-time = 2
    step = 1e-3
    [gravity]
    acceleration = [0, 0, -10]
    [[body]]
    name = 'low'
    mass = 2
    shape = { kind = 'sphere', radius = 0.1 }
    position = [0, 0, 0.14]
    [[body]]
    name = 'high'
    mass = 2
    shape = { kind = 'sphere', radius = 0.1 }
    position = [0, 0, 0.38]
    [[prismatic]]
    name = 'low-slide'
    bodies = ['ground', 'low']
    axis = [0, 0, 1]
    [[prismatic]]
    name = 'high-slide'
    bodies = ['ground', 'high']
    axis = [0, 0, 1]
    [[contact-group]]
    name = 'stack'
    members = ['low', 'high', 'ground']
    stiffness = 1e4
    damping = 100
    [[sensor]]
    of = 'stack'
    quantity = 'contacts'
    [[sensor]]
    of = 'stack'
    quantity = 'normal-force'
    [[sensor]]
    of = 'stack'
    quantity = 'depth'
    ";

#[test]
fn a_group_comes_to_rest_with_the_forces_of_its_weight_and_shows_them() {
    let run = read(STACK).unwrap().simulate().unwrap();
    let last = |name: &str| *run.signal(name).unwrap().last().unwrap();
    assert_eq!((run.signal("stack.contacts").unwrap()[0], last("stack.contacts")), (0.0, 2.0));
    // 40 N on the floor and 20 N between the balls; the damping ratio of 0.2 and more leaves exp(−0.2·40·2)
    // of the fall.
    assert!((last("stack.normal-force") - 60.0).abs() < 1e-3, "{}", last("stack.normal-force"));
    assert!((last("stack.depth") - 4e-3).abs() < 1e-7, "{}", last("stack.depth"));
}

#[test]
fn a_group_finds_its_equilibrium_although_it_starts_apart() {
    let machine = read(STACK).unwrap();
    let found =
        statics::solve(machine.system(), machine.initial(), &statics::StaticSettings::default(), |_| {
            Control::Continue
        });
    let found = found.unwrap().equilibrium;
    let contact = machine.system().group_contact("stack", &found.point());
    // Newton's tolerance of 1e-10 or so of a length, times the stiffness.
    assert_eq!(contact.touching, 2);
    assert!((contact.normal_force - 60.0).abs() < 1e-5, "{contact:?}");
    assert!((contact.depth - 4e-3).abs() < 1e-9, "{contact:?}");
}

#[test]
fn wrong_groups_are_explained() {
    let body = "[simulation]\nend-time = 1\n[[body]]\nname = 'a'\nmass = 1\nshape = { kind = 'sphere', radius = 0.1 }\n";
    for (keys, words) in [
        ("members = ['b-*', 'ground']\nstiffness = 1", ["no body `b-*`", "a"]),
        ("members = ['ground']\nstiffness = 1", ["two or more", "`members`"]),
        ("members = ['a', 'ground']\nstiffness = 1", ["overlap by 0.1000 m", "barely touch"]),
        ("members = ['a', 'ground']\nstiffness = 1\nfriction-law = 'lugre'", ["bristles", "`[[contact]]`"]),
        ("members = ['a', 'ground']\nstiffness = 1\nfriction = -1", ["`friction`", "zero or positive"]),
        (
            "members = ['a', 'ground']\nlaw = 'hertz'\nyoungs-modulus = 1e9\nrestitution = 2",
            ["`restitution`", "from 0 (no rebound) to 1 (no loss)"],
        ),
    ] {
        let message = read(&format!("{body}[[contact-group]]\nname = 'g'\n{keys}\n")).err().unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{keys}: {message}");
    }
}
