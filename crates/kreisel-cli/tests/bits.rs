//! The same program gives the same bytes, whatever the number of threads and however often it runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Models of every kind of equation: redundant joints, beams with many unknowns, contact of many bodies,
/// events and states.
const MODELS: [(&str, &str); 6] = [
    ("four-bar", "0.2"),
    ("settling-balls", "0.02"),
    ("bouncing-ball", "0.5"),
    ("right-angle-beam", "1"),
    ("dc-motor-crank", "0.1"),
    ("grid", "0.05"),
];

/// The table of a run with a number of threads for everything that could use some.
///
/// In `trajectory.vtkhdf` the place of pages depends on when they are brought to the disk, and with it on the
/// clock.
fn table(model: &str, end: &str, threads: &str, folder: &Path) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    table_of(path.to_str().unwrap(), &["--end-time", end], threads, folder)
}

/// The same with any flags.
fn table_of(model: &str, flags: &[&str], threads: &str, folder: &Path) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(["run", model, "--no-report"])
        .args(flags)
        .args(["--out", folder.to_str().unwrap()])
        .envs([("RAYON_NUM_THREADS", threads), ("OMP_NUM_THREADS", threads)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read(folder.join("trajectory.csv")).unwrap()
}

#[test]
fn tables_are_the_same_with_any_number_of_threads_and_in_repeated_runs() {
    for (model, end) in MODELS {
        let folder = tempfile::tempdir().unwrap();
        let first = table(model, end, "1", &folder.path().join("first"));
        assert!(first.iter().filter(|&&byte| byte == b'\n').count() > 2, "{model} records something");
        for (index, threads) in ["1", "2", "3", "8"].iter().enumerate() {
            let again = table(model, end, threads, &folder.path().join(index.to_string()));
            assert!(first == again, "{model} with {threads} threads differs");
        }
    }
}

/// Methods that the models above do not take by themselves, free and with joints, and a table of two arguments.
#[test]
fn other_methods_and_tables_give_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let grid = folder.path().join("grid.toml");
    let text = "[simulation]\nend-time = 0.2\nstep = 1e-3\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n\
        velocity = [1, 0, 0]\n[[table]]\nname = 'f'\nx = [-1, 0, 1]\ny = [0, 0.1, 0.3]\n\
        values = [[1, 2, 3], [2, 5, 1], [0, 1, 7]]\ninterpolation = 'smooth'\n\
        [[force]]\nname = 'push'\nbody = 'b'\nforce = ['f(b.position.x, t)', 0, 0]\n";
    fs::write(&grid, text).unwrap();
    let models = ["heavy-top", "slider-crank-spatial", "tennis-racket"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml")));
    for method in ["explicit8", "bdf3", "extrapolated", "symplectic"] {
        for (number, model) in models.iter().chain([&grid]).enumerate() {
            let model = model.to_str().unwrap();
            let flags = ["--method", method, "--end-time", "0.1", "--step", "1 ms"];
            let place = |threads: &str| folder.path().join(format!("{method}-{number}-{threads}"));
            let [one, three] = ["1", "3"].map(|threads| table_of(model, &flags, threads, &place(threads)));
            assert!(one.iter().filter(|&&byte| byte == b'\n').count() > 50, "{method}, {model}");
            assert!(one == three, "{method}, {model}: with three threads it differs");
        }
    }
}

/// A hinged arm with a tyre on a wavy road.
const TYRE: &str = "[simulation]\nend-time = 0.2\nstep = 1e-3\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\n\
    [[revolute]]\nname = 'hinge'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n[[tyre]]\nname = 'tyre'\n\
    bodies = ['ground', 'arm']\nwheel-axis = [0, 1, 0]\nradius = 1\npoint = [0, 0, -0.9]\nvertical-stiffness = 1000\n\
    longitudinal-stiffness = 500\ncornering-stiffness = 400\nheight = '0.1*sin(x)'\n";

/// What a command leaves under a name, with so many threads, in a folder that is made for it.
fn left(arguments: &[&str], name: &str, threads: &str, folder: &Path) -> String {
    fs::create_dir(folder).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(arguments)
        .current_dir(folder)
        .envs([("RAYON_NUM_THREADS", threads), ("OMP_NUM_THREADS", threads)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Tyres, local coordinates, runs to an accuracy, equilibria, modes and driving forces.
#[test]
fn other_computations_give_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let tyre = folder.path().join("tyre.toml");
    fs::write(&tyre, TYRE).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let model = |name: &str| root.join("models").join(name).to_str().unwrap().to_owned();
    let (tyre, top, beam, racket) = (
        tyre.to_str().unwrap(),
        model("heavy-top.toml"),
        model("princeton-beam.toml"),
        model("tennis-racket.toml"),
    );
    let arm = folder.path().join("arm");
    let arm = arm.to_str().unwrap();
    let imported = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(["import", &model("arm.urdf"), "--out", arm])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let (arm, motion) = (format!("{arm}/arm.toml"), model("arm.csv"));
    let run = ["--no-report", "--out", "out"];
    let cases: [(&[&str], &str, usize); 6] = [
        (&[&["run", tyre], &run[..]].concat(), "out/trajectory.csv", 100),
        (
            &[
                &["run", &racket, "--method", "updated-lagrangian", "--group", "so3xr3", "--end-time", "0.1"],
                &run[..],
            ]
            .concat(),
            "out/trajectory.csv",
            20,
        ),
        (
            &[&["run", &top, "--accuracy", "1e-3", "--end-time", "0.2"], &run[..]].concat(),
            "out/trajectory.csv",
            20,
        ),
        (&["static", &beam, "--out", "out"], "out/static.csv", 2),
        (&["modes", &beam, "--out", "out"], "out/mode-shapes.csv", 10),
        (&["inverse", &arm, "--motion", &motion], "inverse.csv", 20),
    ];
    for (number, (arguments, name, lines)) in cases.into_iter().enumerate() {
        let place = |run: &str| folder.path().join(format!("{number}-{run}"));
        let first = left(arguments, name, "1", &place("first"));
        assert!(first.lines().count() >= lines, "{arguments:?}: {first}");
        for threads in ["1", "3"] {
            let again = left(arguments, name, threads, &place(threads));
            assert!(first == again, "{arguments:?} with {threads} threads differs");
        }
    }
}
