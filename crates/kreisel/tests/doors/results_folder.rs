//! A results folder: whole files or none, and nobody else's files touched.
#![allow(clippy::unwrap_used, reason = "tests and their helpers stop at the first surprise")]

use kreisel::results::{Computation, EndStatus, ModelIdentity, OutputFolder, RunSummary, WriteError};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn model() -> ModelIdentity {
    ModelIdentity::new("models/top.toml", b"[[body]]")
}

fn other_model() -> ModelIdentity {
    ModelIdentity::new("models/other.toml", b"[[spring]]")
}

fn summary(status: EndStatus) -> RunSummary {
    let mut summary = RunSummary::new(model());
    summary.status = status;
    summary
}

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results/top");
    (dir, path)
}

fn run(path: &Path, name: &str, content: &str) -> Vec<PathBuf> {
    let mut folder = OutputFolder::begin(path, Computation::Run, model(), false).unwrap();
    folder.create(name).unwrap().write_all(content.as_bytes()).unwrap();
    folder.finish(&mut summary(EndStatus::Done)).unwrap()
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn finished_run_leaves_final_names_only() {
    let (_dir, path) = place();
    let files = run(&path, "trajectory.csv", "1");
    assert_eq!(names(&path), ["run.json", "trajectory.csv"]);
    assert_eq!(files, [path.join("trajectory.csv"), path.join("run.json")]);
    let summary = RunSummary::from_json(&fs::read(path.join("run.json")).unwrap()).unwrap();
    assert_eq!((summary.status, summary.files), (EndStatus::Done, vec!["trajectory.csv".to_owned()]));
}

#[test]
fn no_final_name_exists_while_the_run_lasts() {
    let (_dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("trajectory.csv").unwrap().write_all(b"half").unwrap();
    assert!(!path.join("trajectory.csv").exists());
    assert_eq!(fs::read(path.join("trajectory.partial.csv")).unwrap(), b"half");
}

#[test]
fn interrupted_run_keeps_what_it_computed() {
    let (_dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("trajectory.csv").unwrap().write_all(b"so far").unwrap();
    folder.finish(&mut summary(EndStatus::Interrupted)).unwrap();
    assert_eq!(fs::read(path.join("trajectory.csv")).unwrap(), b"so far");
}

#[test]
fn rerun_replaces_its_own_files_and_leaves_the_users() {
    let (_dir, path) = place();
    run(&path, "trajectory.vtkhdf", "old");
    fs::write(path.join("notes.txt"), "mine").unwrap();
    run(&path, "trajectory.csv", "new");
    assert_eq!(names(&path), ["notes.txt", "run.json", "trajectory.csv"]);
}

#[test]
fn killed_rerun_leaves_the_finished_results_and_the_next_run_sweeps_up() {
    let (_dir, path) = place();
    run(&path, "trajectory.csv", "old");
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("trajectory.csv").unwrap().write_all(b"half").unwrap();
    drop(folder);
    assert_eq!(fs::read(path.join("trajectory.csv")).unwrap(), b"old");
    run(&path, "trajectory.csv", "new");
    assert_eq!(names(&path), ["run.json", "trajectory.csv"]);
    assert_eq!(fs::read(path.join("trajectory.csv")).unwrap(), b"new");
}

#[test]
fn killed_run_is_swept_up_whatever_its_files_were_called() {
    let (_dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("modes.csv").unwrap();
    fs::write(path.join("notes.partial.txt"), "mine").unwrap();
    drop(folder);
    run(&path, "trajectory.csv", "new");
    assert_eq!(names(&path), ["notes.partial.txt", "run.json", "trajectory.csv"]);
}

#[test]
fn killed_first_run_does_not_bar_the_next() {
    let (_dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("trajectory.csv").unwrap();
    drop(folder);
    let text = fs::read(path.join("run.json")).unwrap();
    assert_eq!(RunSummary::from_json(&text).unwrap().status, EndStatus::Running);
    run(&path, "trajectory.csv", "new");
}

#[test]
fn abandoned_run_leaves_no_trace() {
    let (dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    folder.create("trajectory.csv").unwrap();
    folder.abandon().unwrap();
    assert!(!path.exists());
    run(&path, "trajectory.csv", "old");
    OutputFolder::begin(&path, Computation::Run, model(), false).unwrap().abandon().unwrap();
    assert_eq!(names(&path), ["run.json", "trajectory.csv"]);
    drop(dir);
}

#[test]
fn foreign_folder_is_refused_unless_forced() {
    let (_dir, path) = place();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("thesis.tex"), "mine").unwrap();
    let refused = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap_err();
    assert!(matches!(refused, WriteError::NotOurs { .. }), "{refused}");
    assert_eq!(names(&path), ["thesis.tex"]);
    OutputFolder::begin(&path, Computation::Run, model(), true)
        .unwrap()
        .finish(&mut summary(EndStatus::Done))
        .unwrap();
    assert_eq!(names(&path), ["run.json", "thesis.tex"]);
}

#[test]
fn folder_of_another_model_is_refused_unless_forced() {
    let (_dir, path) = place();
    run(&path, "trajectory.csv", "1");
    let refused = OutputFolder::begin(&path, Computation::Run, other_model(), false).unwrap_err();
    assert!(
        matches!(&refused, WriteError::OtherModel { model, .. } if model == "models/top.toml"),
        "{refused}"
    );
    OutputFolder::begin(&path, Computation::Run, other_model(), true).unwrap();
}

#[test]
fn edited_or_moved_model_is_the_same_model() {
    let (_dir, path) = place();
    run(&path, "trajectory.csv", "1");
    for model in
        [ModelIdentity::new("models/top.toml", b"edited"), ModelIdentity::new("moved.toml", b"[[body]]")]
    {
        OutputFolder::begin(&path, Computation::Run, model, false).unwrap();
    }
}

#[test]
fn a_json_of_another_program_is_not_taken_for_ours() {
    let (_dir, path) = place();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("run.json"), r#"{"program":"other"}"#).unwrap();
    assert!(matches!(
        OutputFolder::begin(&path, Computation::Run, model(), false),
        Err(WriteError::NotOurs { .. })
    ));
}

#[test]
fn two_runs_at_once_are_refused_even_when_forced() {
    let (_dir, path) = place();
    let _first = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    assert!(matches!(
        OutputFolder::begin(&path, Computation::Run, model(), true),
        Err(WriteError::Busy { .. })
    ));
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    let (_dir, path) = place();
    let mut folder = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap();
    for name in ["", ".", "..", "../x", "a/b", "/x", "a\\b", "run.json", ".kreisel-lock", "c:x", "a\nb"] {
        assert!(matches!(folder.create(name), Err(WriteError::BadFileName { .. })), "{name:?}");
    }
}

#[test]
fn names_in_a_tampered_summary_cannot_reach_outside() {
    let (dir, path) = place();
    run(&path, "trajectory.csv", "1");
    let victim = dir.path().join("victim");
    fs::write(&victim, "keep").unwrap();
    let text = fs::read_to_string(path.join("run.json")).unwrap();
    fs::write(path.join("run.json"), text.replace("\"trajectory.csv\"", "\"../../victim\"")).unwrap();
    run(&path, "trajectory.csv", "2");
    assert_eq!(fs::read(&victim).unwrap(), b"keep");
}

#[cfg(unix)]
#[test]
fn symbolic_links_in_the_folder_are_replaced_not_followed() {
    let (dir, path) = place();
    run(&path, "trajectory.csv", "1");
    let victim = dir.path().join("victim");
    fs::write(&victim, "keep").unwrap();
    for name in ["trajectory.csv", "trajectory.partial.csv", "run.partial.json"] {
        let _ = fs::remove_file(path.join(name));
        std::os::unix::fs::symlink(&victim, path.join(name)).unwrap();
    }
    run(&path, "trajectory.csv", "2");
    assert_eq!(fs::read(&victim).unwrap(), b"keep");
    assert!(fs::symlink_metadata(path.join("trajectory.csv")).unwrap().is_file());
}

/// Somebody else's file beside a results folder, and what leads to it under a name of ours.
#[cfg(unix)]
fn trap(dir: &TempDir, path: &Path, name: &str) -> PathBuf {
    let victim = dir.path().join("victim");
    fs::write(&victim, "keep").unwrap();
    let _ = fs::remove_file(path.join(name));
    std::os::unix::fs::symlink(&victim, path.join(name)).unwrap();
    victim
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_a_link_is_refused_and_its_target_kept() {
    let (dir, path) = place();
    run(&path, "trajectory.csv", "1");
    let victim = trap(&dir, &path, ".kreisel-lock");
    for error in [
        OutputFolder::begin(&path, Computation::Run, model(), false).unwrap_err(),
        OutputFolder::begin(&path, Computation::Run, model(), true).unwrap_err(),
        OutputFolder::resume(&path, model()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("symbolic link"), "{error}");
    }
    assert_eq!(fs::read(&victim).unwrap(), b"keep");
    // A second name of somebody's file is no better than a link.
    fs::remove_file(path.join(".kreisel-lock")).unwrap();
    fs::hard_link(&victim, path.join(".kreisel-lock")).unwrap();
    let error = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap_err();
    assert!(error.to_string().contains("another name"), "{error}");
    assert_eq!(fs::read(&victim).unwrap(), b"keep");
}

#[cfg(unix)]
#[test]
fn a_run_goes_on_with_no_table_that_is_a_link() {
    for name in ["trajectory.csv", "trajectory.partial.csv"] {
        let (dir, path) = place();
        run(&path, "trajectory.csv", "1");
        let victim = trap(&dir, &path, name);
        let mut folder = OutputFolder::resume(&path, model()).unwrap();
        let error = folder.reopen("trajectory.csv").unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{name}: {error}");
        assert_eq!(fs::read(&victim).unwrap(), b"keep");
    }
}

#[test]
fn a_file_in_the_folders_place_is_named() {
    let (dir, _) = place();
    let path = dir.path().join("taken");
    fs::write(&path, "").unwrap();
    for path in [path.clone(), path.join("below")] {
        let error = OutputFolder::begin(&path, Computation::Run, model(), false).unwrap_err();
        assert!(matches!(error, WriteError::NotAFolder { .. }), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_named() {
    // /proc refuses new folders to everyone, root included.
    let path = Path::new("/proc/kreisel-results");
    let error = OutputFolder::begin(path, Computation::Run, model(), false).unwrap_err();
    assert!(error.to_string().contains("/proc/kreisel-results"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    use kreisel::results::{Channel, CsvWriter};
    // /dev/full answers every write as a full disk does.
    let path = Path::new("/dev/full");
    let sink = fs::OpenOptions::new().write(true).open(path).unwrap();
    let mut writer = CsvWriter::new(sink, path, &[Channel::new("a", "m")]).unwrap();
    writer.push(0.0, &[1.0]).unwrap();
    let error = writer.flush().unwrap_err();
    assert!(matches!(error, WriteError::DiskFull { .. }), "{error}");
}

#[test]
fn default_folder_is_named_for_the_model() {
    let default = |path: &str| OutputFolder::default_path(Path::new(path));
    assert_eq!(default("models/heavy-top.toml").unwrap(), Path::new("results/heavy-top"));
    for path in ["", "..", "/", "...toml"] {
        assert!(matches!(default(path), Err(WriteError::NoModelName { .. })), "{path}");
    }
}
