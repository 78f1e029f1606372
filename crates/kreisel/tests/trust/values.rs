//! Numbers that can be relied on: who made one that is none, the same bits again, and machines that are hard
//! to compute.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::column;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::run::Trajectory;
use std::path::{Path, PathBuf};

fn machine(text: &str) -> Machine {
    Machine::from_text("trust.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn simulate(text: &str) -> Trajectory {
    machine(text).simulate().unwrap_or_else(|error| panic!("{error}"))
}

/// A ball with a force and a spring that can be given what makes them fail.
fn ball(force: &str, end: &str) -> String {
    format!(
        "[simulation]\nend-time = {end}\nstep = 0.01\n[[point-mass]]\nname = 'ball'\nmass = 1\nposition = [1, 0, 0]\n\
         [[force]]\nname = 'breeze'\nbody = 'ball'\nforce = [1, 0, 0]\n\
         [[force]]\nname = 'wind'\nbody = 'ball'\nforce = [\"{force}\", 0, 0]\n"
    )
}

#[test]
fn a_number_that_is_none_is_caught_at_the_part_that_made_it() {
    // 0/0 from the first moment, a root of what becomes negative at 0.35 s, a force whose square overflows at
    // 0.36 s.
    let cases = [
        ("(t - t)/(t - t)", "at the start"),
        ("sqrt(0.35 - t)", "at t = 0.3"),
        ("exp(1000*t)", "at t = 0.3"),
    ];
    for (force, when) in cases {
        let error = machine(&ball(force, "1")).simulate().unwrap_err().to_string();
        assert!(error.contains("what `wind` gives is not a finite number"), "{force}: {error}");
        assert!(error.contains(when), "{force}: {error}");
    }
}

#[test]
fn a_part_that_gives_no_number_is_named_and_no_equation_of_another_one() {
    // Around the hinge's own axis nothing is spoiled; the first row that is happens to be one of another axis.
    let hinge = "[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n\
         [[revolute]]\nname = 'h'\nbodies = ['ground', 'b']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n\
         [[joint-force]]\nname = 'm'\njoint = 'h'\ntorque = 'ln(t)'\n";
    let expected = "what `m` gives is not a finite number at the start (t = 0 s)";
    let run = machine(&format!("[simulation]\nend-time = 1\nstep = 0.01\n{hinge}")).simulate().unwrap_err();
    assert!(run.to_string().starts_with(expected), "{run}");
    assert!(!run.to_string().contains("balance"), "{run}");
}

/// Bodies without a size that could be, free and on a hinge, and ones that are merely light or heavy.
#[test]
fn extreme_masses_and_inertias_are_computed_or_refused_at_their_body() {
    let extremes = [1.0, 1e30, 1e-30];
    for mass in extremes {
        for inertia in extremes {
            for hinge in [false, true] {
                let joint = "[[revolute]]\nname = 'h'\nbodies = ['ground', 'b']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n";
                let text = format!(
                    "[simulation]\nend-time = 0.1\nstep = 1e-3\n[gravity]\nacceleration = [0, 0, -10]\n[[body]]\nname = 'b'\n\
                     mass = {mass:e}\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\nposition = [0.5, 0, 0]\n{}",
                    if hinge { joint } else { "" }
                );
                let read = Machine::from_text("trust.toml", &text);
                if mass != inertia {
                    let message = read.err().map(|errors| errors.to_string()).unwrap_or_default();
                    assert!(message.contains("radius of gyration") && message.contains(":9"), "{message}");
                    continue;
                }
                let run = read.unwrap().simulate().unwrap_or_else(|error| panic!("{text}: {error}"));
                // A fall of g t²/2, or a turn by φ with φ'' = 4 cos φ, which is 2 t² − 4 t⁶/15 for small t.
                let turn: f64 = 0.02 - 4e-6 / 15.0;
                let z = *column(&run, "b.position.z").last().unwrap();
                let (expected, tolerance) = if hinge { (-0.5 * turn.sin(), 1e-8) } else { (-0.05, 1e-9) };
                assert!((z - expected).abs() < tolerance, "{mass:e}, {inertia:e}, {hinge}: {z}");
            }
        }
    }
}

#[test]
fn repeated_runs_and_runs_side_by_side_give_the_same_bits() {
    let bits = || -> Vec<u64> {
        let settings = SettingTexts::default().with("end-time", "0.2");
        let path = models().join("four-bar.toml");
        let run = MachineReader::new().with_settings(&settings).read(&path).unwrap().simulate().unwrap();
        run.columns.iter().flatten().map(|value| value.to_bits()).collect()
    };
    let alone = bits();
    let together: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(bits)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(together.iter().all(|other| *other == alone));
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// A double pendulum of a length; times scale with its root.
fn pendulum(length: f64, end: f64) -> String {
    let root = length.sqrt();
    format!(
        "[simulation]\nend-time = {:e}\nstep = {:e}\ndefault-sensors = false\n[gravity]\nacceleration = [0, -10, 0]\n\
         [[body]]\nname = 'a'\nmass = 1\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\nposition = [{:e}, 0, 0]\n\
         [[body]]\nname = 'b'\nmass = 1\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\nposition = [{:e}, 0, 0]\n\
         [[revolute]]\nname = 'p'\nbodies = ['ground', 'a']\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n\
         [[revolute]]\nname = 'q'\nbodies = ['a', 'b']\npoint = [{length:e}, 0, 0]\naxis = [0, 0, 1]\n\
         [[sensor]]\nof = 'p'\nquantity = 'angle'\n[[sensor]]\nof = 'q'\nquantity = 'angle'\n",
        end * root,
        2e-3 * root,
        0.5 * length,
        1.5 * length,
        inertia = length * length / 12.0,
    )
}

fn largest_difference(one: &Trajectory, other: &Trajectory, signal: &str) -> f64 {
    let pairs = column(one, signal).iter().zip(column(other, signal));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn machines_of_ten_kilometres_and_ten_micrometres_move_alike() {
    // Newton's tolerance is 1e-10, and the motion makes errors grow.
    let tolerance = 1e-8;
    for method in ["index3", "soi2", "index2"] {
        let text = |length| {
            let method = format!("[simulation]\nmethod = '{method}'");
            pendulum(length, 2.0).replacen("[simulation]", &method, 1)
        };
        let middle = simulate(&text(1.0));
        for length in [1e4, 1e-5] {
            let scaled = simulate(&text(length));
            assert_eq!(scaled.times.len(), middle.times.len());
            for signal in ["p.angle", "q.angle"] {
                let difference = largest_difference(&middle, &scaled, signal);
                assert!(difference < tolerance, "{method}, {length} m, {signal}: {difference:e}");
            }
        }
    }
}

#[test]
fn stiffnesses_may_differ_by_twelve_orders_of_magnitude() {
    for method in ["index3", "index2", "soi2"] {
        // Two masses in a row on springs of 1 N/m and 1e12 N/m: the stiff one holds like a rod, so both swing
        // with √(1/2) rad/s.
        let text = format!(
            "[simulation]\nend-time = 20\nstep = '1 ms'\nspectral-radius = 0.8\nmethod = '{method}'\n[gravity]\nacceleration = [0, 0, 0]\n\
             [[point-mass]]\nname = 'a'\nmass = 1\nposition = [1.5, 0, 0]\n[[point-mass]]\nname = 'b'\nmass = 1\nposition = [2.5, 0, 0]\n\
             [[spring-damper]]\nname = 'soft'\nbodies = ['ground', 'a']\nstiffness = 1\nfree-length = 1\n\
             [[spring-damper]]\nname = 'stiff'\nbodies = ['a', 'b']\nstiffness = 1e12\nfree-length = 1\n"
        );
        let run = simulate(&text);
        let root = 0.5_f64.sqrt();
        // Second order: (ωh)² ωt/12 of half a metre is 3e-7; 1e-12 of stiffness is 1e-12 of length.
        let error = crate::common::difference(&run, "a.position.x", |t| 1.0 + 0.5 * (root * t).cos());
        assert!(error < 1e-6, "{method}: {error:e}");
        let stretch = column(&run, "b.position.x").iter().zip(column(&run, "a.position.x"));
        let worst = stretch.map(|(b, a)| (b - a - 1.0).abs()).fold(0.0, f64::max);
        // A quarter of a newton stretches by 2.5e-13 m; rounding of positions of 2 m is as much.
        assert!(worst < 1e-11, "{method}: {worst:e}");
    }
}

/// A parallelogram with bars of one length, which lies flat twice a turn: both closed forms branch there.
const PARALLELOGRAM: &str = "[simulation]\nend-time = 3\nstep = '2 ms'\nspectral-radius = 0.6\n\
    [gravity]\nacceleration = [0, 0, 0]\n\
    [[body]]\nname = 'left'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0.5, 0]\nangular-velocity = [0, 0, 2]\nvelocity = [-1, 0, 0]\n\
    [[body]]\nname = 'right'\nmass = 1\ninertia = [1, 1, 1]\nposition = [2, 0.5, 0]\nangular-velocity = [0, 0, 2]\nvelocity = [-1, 0, 0]\n\
    [[body]]\nname = 'bar'\nmass = 1\ninertia = [1, 1, 1]\nposition = [1, 1, 0]\nvelocity = [-2, 0, 0]\n\
    [[revolute]]\nname = 'a'\nbodies = ['ground', 'left']\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n\
    [[revolute]]\nname = 'b'\nbodies = ['left', 'bar']\npoint = [0, 1, 0]\naxis = [0, 0, 1]\n\
    [[revolute]]\nname = 'c'\nbodies = ['bar', 'right']\npoint = [2, 1, 0]\naxis = [0, 0, 1]\n\
    [[spherical]]\nname = 'd'\nbodies = ['ground', 'right']\npoint = [2, 0, 0]\n";

#[test]
fn a_loop_through_its_singular_position_goes_on_or_says_what_it_is() {
    match machine(PARALLELOGRAM).simulate() {
        Ok(run) => {
            // The energy tells a motion from nonsense, whichever branch it takes.
            let total = column(&run, "energy.total");
            let worst = total.iter().map(|energy| (energy / total[0] - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 0.05, "{worst}");
        }
        Err(error) => assert!(error.to_string().contains("singular position"), "{error}"),
    }
}

/// A ball on two rods of given lengths from the points 0 and 2 of a line.
fn two_rods(x: f64, velocity: f64, lengths: [f64; 2]) -> String {
    let [one, other] = lengths;
    format!(
        "[simulation]\nend-time = 0.01\nstep = '1 ms'\n[gravity]\nacceleration = [0, 0, 0]\n\
         [[point-mass]]\nname = 'ball'\nmass = 1\nposition = [{x}, 0.5, 0]\nvelocity = [{velocity}, 0, 1]\n\
         [[distance]]\nname = 'rod'\nbodies = ['ground', 'ball']\nlength = {one}\n\
         [[marker]]\nname = 'far'\nposition = [2, 0, 0]\n\
         [[distance]]\nname = 'other'\nbodies = ['ground.far', 'ball']\nlength = {other}\n"
    )
}

#[test]
fn positions_and_velocities_that_do_not_fit_are_corrected_where_they_can_be() {
    // Both rods are 1.25 m: the ball belongs on the circle x = 1, y² + z² = 0.5625, and moves along it. A
    // stated velocity is corrected up to a hundredth of it.
    let refused = machine(&two_rods(1.1, 0.7, [1.25; 2]));
    let Err(error) = refused.start(&refused.plan().unwrap()) else { panic!("it was started") };
    let words = error.to_string();
    assert!(
        words.contains("the velocity of `ball` from 1.2207 m/s to 1 m/s") && words.contains("`rod`"),
        "{words}"
    );
    let machine = machine(&two_rods(1.1, 0.005, [1.25; 2]));
    let run = machine.start(&machine.plan().unwrap()).unwrap();
    let (state, report) = (run.integration().values(), run.integration().start_report());
    let [x, y, z] = state.configuration[..] else { panic!("a point has three coordinates") };
    // Newton's absolute tolerance.
    assert!((x - 1.0).abs() < 1e-12 && (y.hypot(z) - 0.75).abs() < 1e-12, "{x} {y} {z}");
    assert!(state.velocity[0].abs() < 1e-12, "{:?}", state.velocity);
    assert!((state.velocity[2] - 1.0).abs() < 1e-12, "{:?}", state.velocity);
    assert!(report.position_violation > 0.01 && report.velocity_violation > 0.003, "{report:?}");
}

#[test]
fn a_start_that_nothing_can_correct_is_refused_with_the_joints_and_what_they_miss() {
    // Rods of 0.5 m reach from 0 and 2 to nothing that is common: they miss by half a metre each.
    let machine = machine(&two_rods(1.0, 0.0, [0.5; 2]));
    let Err(error) = machine.start(&machine.plan().unwrap()) else { panic!("it was started") };
    let words = error.to_string();
    assert!(words.contains("does not fit together at the start"), "{words}");
    assert!(words.contains("`rod`") && words.contains("`other`") && words.contains("misses by"), "{words}");
}

/// A model in a folder of its own, beside which a part and a surface lie.
fn reaching_out(folder: &Path, name: &str, line: &str) -> PathBuf {
    let inside = folder.join("model");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(folder.join("part.toml"), "[[point-mass]]\nname = 'ball'\nmass = 1\n").unwrap();
    let triangle = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        let corner = |[x, y, z]: [f64; 3]| format!("vertex {x} {y} {z}\n");
        format!("facet normal 0 0 0\nouter loop\n{}{}{}endloop\nendfacet\n", corner(a), corner(b), corner(c))
    };
    let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let faces = [triangle(o, y, x), triangle(o, x, z), triangle(o, z, y), triangle(x, y, z)].concat();
    std::fs::write(folder.join("part.stl"), format!("solid a\n{faces}endsolid a\n")).unwrap();
    let path = inside.join(name);
    std::fs::write(&path, format!("{line}\n[simulation]\nend-time = 1\n")).unwrap();
    path
}

#[test]
fn a_model_reaches_files_outside_of_its_folder_only_where_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let absolute = folder.path().join("part.toml");
    let surface =
        "[[body]]\nname = 'a'\ndensity = 1\nshape = { kind = 'stl', file = '../part.stl', unit = 1 }";
    let mut lines = vec![
        "include = ['../part.toml']".to_owned(),
        format!("include = ['{}']", absolute.display()),
        surface.to_owned(),
    ];
    if cfg!(unix) {
        lines.push("include = ['link.toml']".to_owned());
    }
    for (number, line) in lines.iter().enumerate() {
        let path = reaching_out(folder.path(), &format!("{number}.toml"), line);
        #[cfg(unix)]
        if line.contains("link") {
            std::os::unix::fs::symlink(&absolute, path.with_file_name("link.toml")).unwrap();
        }
        let Err(refused) = Machine::read(&path, &[]) else { panic!("{line} was accepted") };
        let words = refused.render(false);
        assert!(words.contains("outside of the") && words.contains("--allow-outside"), "{line}: {words}");
        let allowed = SettingTexts::default().allowing_outside(true);
        if let Err(errors) = MachineReader::new().with_settings(&allowed).read(&path) {
            panic!("{line}: {}", errors.render(false));
        }
    }
}
