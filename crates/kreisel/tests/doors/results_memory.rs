//! The memory of a run does not grow with its length: results go to the files as they come.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::machine::SettingTexts;
use kreisel::part::MachineReader;
use kreisel::report::RecordedMotion;
use kreisel::run::{Job, RunEnding};

/// Most bytes that a run and its files hold at a time, and that reading the motion back holds.
fn peaks(end: f64) -> [u64; 2] {
    let machine = crate::common::read(&format!(
        "[simulation]
        end-time = {end}
        step = 1e-3
        [[body]]
        name = 'rod'
        mass = 1
        inertia = [1e-3, 0.1, 0.1]
        position = [0.5, 0, 0]
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'rod']
        point = [0, 0, 0]
        axis = [0, 1, 0]"
    ));
    let machine = machine.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("results");
    let run = allocation_counter::measure(|| {
        let plan = machine.settings().plan().unwrap();
        let outcome = Job::new(&machine, &plan).report(false).run_into(&folder).unwrap();
        assert_eq!(outcome.ending, RunEnding::Done);
    });
    let size = std::fs::metadata(folder.join("trajectory.vtkhdf")).unwrap().len();
    // Of a body 13 numbers, and a dozen signals that are not zero.
    assert!(size as f64 > 200.0 * end / 1e-3, "every step is in the file of {size} bytes");
    let picture = allocation_counter::measure(|| {
        RecordedMotion::read(&folder.join("trajectory.vtkhdf"), 1, 1000).unwrap();
    });
    [run.bytes_max, picture.bytes_max]
}

#[test]
fn a_run_of_ten_times_the_length_needs_no_more_memory() {
    let [short, short_picture] = peaks(2.0);
    let [long, long_picture] = peaks(20.0);
    // What is held is one chunk of each table and the right edge of its index: a level more takes some kB a
    // table.
    assert!(long < short + 100_000, "{short} bytes for 2,000 steps, {long} for 20,000");
    // The picture reads all times, 8 bytes a step in a few copies, and no more of the motion than it shows;
    // the file has several hundred bytes a step.
    let per_step = (long_picture as f64 - short_picture as f64) / 18_000.0;
    assert!(per_step < 100.0, "{short_picture} bytes for 2,000 steps, {long_picture} for 20,000");
}

/// Bytes of the files of a run of the heavy top with so many records, without the page.
fn heavy_top_bytes(records: f64) -> f64 {
    let settings = SettingTexts::default()
        .with("method", "index2")
        .with("step", 1e-4)
        .with("end-time", 1e-4 * records)
        .with("output-step", 1e-4);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    let machine = MachineReader::new().with_settings(&settings).read(&path).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("results");
    let plan = machine.plan().unwrap();
    let outcome = Job::new(&machine, &plan).report(false).run_into(&folder).unwrap();
    assert_eq!(outcome.ending, RunEnding::Done);
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    files.sum::<u64>() as f64
}

#[test]
fn a_record_of_the_heavy_top_takes_at_most_600_bytes() {
    // Two runs, so that what every file has once does not count: drawings are few, and are in both.
    let per_record = (heavy_top_bytes(24_000.0) - heavy_top_bytes(12_000.0)) / 12_000.0;
    // 13 numbers of a body, 8 bytes each, and as many signals as text and as numbers.
    assert!((300.0..600.0).contains(&per_record), "{per_record} bytes a record");
}
