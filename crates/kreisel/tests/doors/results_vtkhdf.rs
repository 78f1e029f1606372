//! `trajectory.vtkhdf`, read back by other libraries than the one that writes it.
//!
//! The nodes of the sample turn about the z axis in closed form; `read_back.py` knows the same formulas.
#![allow(clippy::unwrap_used, reason = "tests and their helpers stop at the first surprise")]

use kreisel::results::scene::{Geometry, SceneBeam, SceneBody, SceneElement, SceneFrame, SceneShape};
use kreisel::results::vtkhdf::FORMAT_VERSION;
use kreisel::results::{Channel, CsvWriter, NodeState, Scene, SceneNode, VtkHdfWriter, WriteError};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const NAMES: [&str; 5] = ["crank", "rod", "beam.at-0", "beam.at-0.5", "Träger-1"];
const RATE: f64 = 2.0;

fn scene() -> Scene {
    let nodes = NAMES.iter().map(|name| SceneNode { name: (*name).to_owned() }).collect();
    Scene { nodes, beams: vec![beam([2, 3])], bodies: vec![crank()], ..Scene::default() }
}

/// One element of length 2; without a screw of its own, all of the nodes' screw is strain.
fn beam(nodes: [usize; 2]) -> SceneBeam {
    let element = SceneElement {
        nodes: nodes.map(Some),
        frames: [SceneFrame::default(); 2],
        length: 2.0,
        reference: [0.0; 6],
        stiffness: std::array::from_fn(|row| {
            std::array::from_fn(|column| if row == column { 10.0 } else { 0.0 })
        }),
        bow: [[0.0; 6]; 6],
        twisted_bow: [[0.0; 6]; 3],
    };
    SceneBeam { name: "beam".to_owned(), size: [0.1, 0.1], round: true, elements: vec![element] }
}

/// A cube with edges of 0.4 on the first node.
fn crank() -> SceneBody {
    let geometry = Geometry::Box { size: [0.4; 3] };
    let shape = SceneShape { geometry, frame: SceneFrame::default(), default_shape: false, colour: None };
    SceneBody { name: "crank".to_owned(), node: 0, mass: 1.0, shapes: vec![shape], markers: Vec::new() }
}

/// Corners of the cube at a step, with their velocities: they circle with the node and turn with it.
fn corners(step: usize) -> Vec<([f64; 3], [f64; 3])> {
    let angle = RATE * time(step);
    let corner = |index: usize| {
        let [x, y, z] = [0, 1, 2].map(|axis| if index >> axis & 1 == 1 { 0.2 } else { -0.2 });
        let (sin, cos) = angle.sin_cos();
        let position = [cos + cos * x - sin * y, sin + sin * x + cos * y, z];
        (position, [-RATE * position[1], RATE * position[0], 0.0])
    };
    (0..8).map(corner).collect()
}

fn signals() -> Vec<Channel> {
    vec![
        Channel::new("crank.angle", "rad"),
        Channel::new("crank.torque.z", "N m"),
        Channel::new("energy.total", "J"),
        Channel::new("crank.mass", "kg"),
        Channel::new("brake", "1"),
    ]
}

fn time(step: usize) -> f64 {
    step as f64 / 128.0
}

/// Node k circles at the height k with the angle 2 t + k.
fn node(step: usize, k: usize) -> NodeState {
    let angle = RATE * time(step) + k as f64;
    let (sin, cos) = angle.sin_cos();
    let (half_sin, half_cos) = (0.5 * angle).sin_cos();
    NodeState {
        position: [cos, sin, k as f64],
        rotation: [half_cos, 0.0, 0.0, half_sin],
        velocity: [-RATE * sin, RATE * cos, 0.0],
        angular_velocity: [0.0, 0.0, RATE],
    }
}

/// The last two repeat themselves, one of them until it changes.
fn values(step: usize) -> [f64; 5] {
    let t = time(step);
    let brake = if step < 1500 { 1.0 } else { 3.5 };
    [RATE * t, (3.0 * t).sin(), 1e-300 * (1.0 + t), 7.5, brake]
}

fn push(writer: &mut VtkHdfWriter, step: usize) {
    let nodes: Vec<_> = (0..NAMES.len()).map(|k| node(step, k)).collect();
    writer.push(time(step), &nodes, &values(step)).unwrap();
}

fn writer(path: &Path) -> VtkHdfWriter {
    VtkHdfWriter::new(File::create(path).unwrap(), path, &scene(), &signals()).unwrap()
}

fn write(path: &Path, steps: usize) {
    let mut writer = writer(path);
    (0..steps).for_each(|step| push(&mut writer, step));
    writer.finish().unwrap();
}

fn assert_holds(path: &Path, steps: usize) {
    assert_all(path, steps, true);
}

/// What a file has to hold of a run that has ended, or of one that was killed.
fn assert_all(path: &Path, steps: usize, is_finished: bool) {
    let file = hdf5_pure::File::open(path).unwrap();
    let floats = |name: &str| file.dataset(name).unwrap().read_f64().unwrap();
    let whole = |name: &str| file.dataset(name).unwrap().read_i64().unwrap();
    let all = || (0..steps).flat_map(|step| (0..NAMES.len()).map(move |k| node(step, k)));
    assert_eq!(floats("signals/time"), (0..steps).map(time).collect::<Vec<_>>());
    let of_nodes = |name: &str| floats(&format!("nodes/{name}"));
    assert_eq!(of_nodes("position"), all().flat_map(|node| node.position).collect::<Vec<_>>());
    assert_eq!(of_nodes("rotation"), all().flat_map(|node| node.rotation).collect::<Vec<_>>());
    assert_eq!(of_nodes("velocity"), all().flat_map(|node| node.velocity).collect::<Vec<_>>());
    assert_eq!(
        of_nodes("angular-velocity"),
        all().flat_map(|node| node.angular_velocity).collect::<Vec<_>>()
    );
    // Which output times are drawn, and where their points are.
    let drawn: Vec<usize> =
        whole("VTKHDF/Steps/FieldDataOffsets/energy.total").iter().map(|step| *step as usize).collect();
    assert_eq!(floats("VTKHDF/Steps/Values"), drawn.iter().copied().map(time).collect::<Vec<_>>());
    assert_drawn_evenly(&drawn, steps, is_finished);
    let offsets = whole("VTKHDF/Steps/PointOffsets");
    let singles = |name: &str| {
        let dataset = file.dataset(name).unwrap();
        let columns = dataset.shape().unwrap()[1] as usize;
        let all = dataset.read_f32().unwrap();
        let rows = |offset: &i64| *offset as usize * columns..(*offset as usize + POINTS) * columns;
        offsets.iter().flat_map(|offset| all[rows(offset)].to_vec()).collect::<Vec<f32>>()
    };
    assert_points(&singles("VTKHDF/Points"), &singles("VTKHDF/PointData/velocity"), &drawn);
    let point_data = |name: &str| singles(&format!("VTKHDF/PointData/{name}"));
    assert_strains(&point_data("strain"), &point_data("section-force"), drawn.len());
    for (index, signal) in signals().iter().enumerate() {
        let expected: Vec<_> = (0..steps).map(|step| values(step)[index]).collect();
        assert_eq!(floats(&format!("signals/{}", signal.name)), expected);
    }
    let count = &file.group("VTKHDF/Steps").unwrap().attrs().unwrap()["NSteps"];
    assert_eq!(*count, hdf5_pure::AttrValue::I64(drawn.len() as i64));
}

/// All up to 1999; then at least a thousand at equal distances, and the last.
fn assert_drawn_evenly(drawn: &[usize], steps: usize, is_finished: bool) {
    if steps < 2000 {
        return assert_eq!(*drawn, (0..steps).collect::<Vec<_>>());
    }
    let distance = drawn[1];
    assert!((1000..=2000).contains(&drawn.len()) && drawn[0] == 0, "{} of {steps}", drawn.len());
    let (last, others) = drawn.split_last().unwrap();
    assert!(others.iter().enumerate().all(|(frame, step)| *step == frame * distance));
    let next = others.len() * distance;
    if is_finished {
        assert_eq!(*last, steps - 1);
        assert!(next >= steps - 1);
    } else {
        assert!(*last == next && next + distance > steps - 1, "{last} of {steps}");
    }
}

/// Points of a drawing: nodes, ends of the beam, corners.
const POINTS: usize = NAMES.len() + 2 + 8;

/// The nodes, then the corners of the cube, to half a last digit of single precision: all are below 2.
fn assert_points(points: &[f32], velocities: &[f32], drawn: &[usize]) {
    assert_eq!((points.len(), velocities.len()), (3 * POINTS * drawn.len(), 3 * POINTS * drawn.len()));
    for (frame, &step) in drawn.iter().enumerate() {
        let nodes = (0..NAMES.len()).map(|k| (node(step, k).position, node(step, k).velocity));
        let ends = [2, 3].map(|k| (node(step, k).position, node(step, k).velocity));
        for (row, (position, velocity)) in nodes.chain(ends).chain(corners(step)).enumerate() {
            let first = 3 * (frame * POINTS + row);
            for axis in 0..3 {
                assert!((f64::from(points[first + axis]) - position[axis]).abs() <= 2.0 * ROUNDING);
                assert!((f64::from(velocities[first + axis]) - velocity[axis]).abs() <= 2.0 * ROUNDING);
            }
        }
    }
}

/// Of single precision: numbers below 4, as these are, are at most so far from what they stand for.
const ROUNDING: f64 = f32::EPSILON as f64;

/// From node 2 to node 3 it is a screw about the world's z: one turned by 1 rad, and 1 m up.
fn assert_strains(strains: &[f32], forces: &[f32], frames: usize) {
    assert_eq!((strains.len(), forces.len()), (6 * POINTS * frames, 6 * POINTS * frames));
    for (row, (strain, force)) in strains.chunks(6).zip(forces.chunks(6)).enumerate() {
        let is_end = (NAMES.len()..NAMES.len() + 2).contains(&(row % POINTS));
        // Half of it for each metre; both frames look outwards from the axis, at a distance of 1 m.
        let expected = if is_end { [0.0, 0.0, 0.5, 0.0, 0.5, 0.5] } else { [0.0; 6] };
        for axis in 0..6 {
            assert!((f64::from(strain[axis]) - expected[axis]).abs() < ROUNDING, "{strain:?}");
            assert!((f64::from(force[axis]) - 10.0 * expected[axis]).abs() < 10.0 * ROUNDING, "{force:?}");
        }
    }
}

#[test]
fn every_number_comes_back_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trajectory.vtkhdf");
    // Nothing, one row, both sides of a chunk's border, and an index of two levels.
    // One drawing short of too many, just too many, and many times as many.
    for steps in [0, 1, 1023, 1024, 1025, 1999, 2000, 2001, 70_000] {
        write(&path, steps);
        assert_holds(&path, steps);
    }
}

#[test]
fn names_and_units_stand_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trajectory.vtkhdf");
    write(&path, 3);
    let file = hdf5_pure::File::open(&path).unwrap();
    assert_eq!(file.dataset("nodes/name").unwrap().read_string().unwrap(), NAMES);
    let text = |value: &hdf5_pure::AttrValue| format!("{value:?}");
    for signal in signals() {
        let attributes = file.dataset(&format!("signals/{}", signal.name)).unwrap().attrs().unwrap();
        assert!(text(&attributes["unit"]).contains(&format!("\"{}\"", signal.unit)), "{attributes:?}");
    }
    let root = file.root().attrs().unwrap();
    assert_eq!(root["format-version"], hdf5_pure::AttrValue::I64(FORMAT_VERSION));
}

#[test]
fn a_killed_run_leaves_all_steps_up_to_its_last_flush() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trajectory.vtkhdf");
    let remains = dir.path().join("remains.vtkhdf");
    let mut writer = writer(&path);
    for flushed in [1, 1200, 1201, 4000] {
        let done = step_count(&path);
        (done..flushed).for_each(|step| push(&mut writer, step));
        writer.flush().unwrap();
        fs::copy(&path, &remains).unwrap();
        assert_all(&remains, flushed, false);
    }
    (4000..5400).for_each(|step| push(&mut writer, step));
    fs::copy(&path, &remains).unwrap();
    assert_all(&remains, 4000, false);
}

fn step_count(path: &Path) -> usize {
    let file = hdf5_pure::File::open(path).unwrap();
    file.dataset("signals/time").unwrap().shape().unwrap()[0] as usize
}

/// Not a test by itself: what the next test starts as a process of its own, and kills.
#[test]
fn long_writer() {
    let Some(path) = std::env::var_os(LONG_RUN) else { return };
    let mut writer = writer(Path::new(&path));
    for step in 0..200_000 {
        push(&mut writer, step);
        if step % 97 == 0 {
            writer.flush().unwrap();
        }
    }
}

const LONG_RUN: &str = "KREISEL_TEST_LONG_RUN";

#[test]
fn a_process_that_is_killed_leaves_a_readable_file() {
    let dir = tempfile::tempdir().unwrap();
    // A step takes 1.6 kB as long as all are drawn, and chunks that are not yet full half a megabyte: these are
    // about 600, 1500 and 2700 steps. A flush comes after each 97.
    for (size, least) in [(1_500_000, 300), (3_000_000, 1200), (4_500_000, 2100)] {
        let path = dir.path().join(format!("{size}.vtkhdf"));
        let mut child = Command::new(std::env::current_exe().unwrap());
        let writer = ["--exact", "results_vtkhdf::long_writer"];
        let mut child = child.args(writer).env(LONG_RUN, &path).spawn().unwrap();
        let start = Instant::now();
        while fs::metadata(&path).map_or(0, |data| data.len()) < size {
            assert!(start.elapsed() < Duration::from_secs(60), "the writer does not write");
            std::thread::sleep(Duration::from_micros(100));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let steps = step_count(&path);
        // Flushes come after 1, 98, 195, … steps.
        assert!(steps > least && steps % 97 == 1, "{steps} of {size} bytes");
        assert_all(&path, steps, false);
    }
}

#[test]
fn scenes_without_nodes_signals_or_lines_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trajectory.vtkhdf");
    let one = Scene { nodes: vec![SceneNode { name: "top".to_owned() }], ..Scene::default() };
    for scene in [Scene::default(), one] {
        let mut writer = VtkHdfWriter::new(File::create(&path).unwrap(), &path, &scene, &[]).unwrap();
        let nodes = vec![node(0, 0); scene.nodes.len()];
        writer.push(0.0, &nodes, &[]).unwrap();
        writer.finish().unwrap();
        let file = hdf5_pure::File::open(&path).unwrap();
        assert_eq!(file.dataset("VTKHDF/Points").unwrap().shape().unwrap(), [scene.nodes.len() as u64, 3]);
    }
}

#[test]
fn rows_and_lines_that_do_not_fit_the_scene_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trajectory.vtkhdf");
    let mut writer = writer(&path);
    let short = writer.push(0.0, &[node(0, 0)], &values(0));
    assert!(matches!(short, Err(WriteError::RowLength { what: "nodes", expected: 5, got: 1 })));
    let broken = Scene { beams: vec![beam([0, 5])], ..scene() };
    let refused = VtkHdfWriter::new(File::create(&path).unwrap(), &path, &broken, &[]);
    assert!(matches!(refused, Err(WriteError::UnknownNode { line: 0, node: 5, node_count: 5 })));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let path = Path::new("/dev/full");
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let error = VtkHdfWriter::new(file, path, &scene(), &signals()).unwrap_err();
    assert!(matches!(error, WriteError::DiskFull { .. }), "{error}");
}

/// The signals, and three columns of numbers that are none.
fn write_table(path: &Path, steps: usize) {
    let none = ["nan", "inf", "minus-inf"].map(|name| Channel::new(name, "1"));
    let signals = [signals(), none.to_vec()].concat();
    let mut writer = CsvWriter::new(File::create(path).unwrap(), path, &signals).unwrap();
    for step in 0..steps {
        let values = [&values(step)[..], &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]].concat();
        writer.push(time(step), &values).unwrap();
    }
    writer.finish().unwrap();
}

/// Needs a Python with h5py, numpy and vtk, named by the variable `KREISEL_PYTHON`.
#[test]
fn vtk_and_h5py_read_the_file() {
    let Some(python) = std::env::var_os("KREISEL_PYTHON") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    let dir = tempfile::tempdir().unwrap();
    for steps in [1, 300, 70_000] {
        let path = dir.path().join("trajectory.vtkhdf");
        write(&path, steps);
        let table = dir.path().join("trajectory.csv");
        write_table(&table, steps);
        let output =
            Command::new(&python).arg(&script).args([&path, &table]).arg(steps.to_string()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
    }
}
