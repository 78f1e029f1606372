//! `kreisel watch` from outside: what its page says while a model is saved, broken and mended.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod watching;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use watching::Watching;

const SWING: &str = include_str!("../src/command/starter.toml");

#[test]
fn a_model_is_run_whenever_it_is_saved_and_mistakes_are_shown() {
    let folder = TempDir::new().unwrap();
    let model = folder.path().join("swing.toml");
    fs::write(&model, SWING).unwrap();
    let mut watching = Watching::start(folder.path(), &["swing.toml", "--end-time", "0.2"]);
    let first = watching.until(|state| state["standing"] == "done");
    assert!(
        first["title"] == "swing.toml" && first["words"].as_str().unwrap().starts_with("good"),
        "{first}"
    );
    assert_eq!(
        watching.get("page"),
        fs::read_to_string(folder.path().join("results/swing/report.html")).unwrap()
    );

    fs::write(&model, SWING.replace("[[revolute]]", "[[revolut]]")).unwrap();
    let wrong = watching.until(|state| state["standing"] == "wrong");
    let message = wrong["message"].as_str().unwrap();
    assert!(message.contains("did you mean `revolute`?") && !message.contains('\u{1b}'), "{message}");
    assert_eq!(wrong["page"], first["page"], "the last page stays");

    fs::write(&model, SWING.replace("length = ", "length = 2 #")).unwrap();
    let second = watching.until(|state| state["standing"] == "done");
    assert!(second["page"].as_u64() > first["page"].as_u64() && second["message"] == "", "{second}");
    watching.interrupt();
    assert_eq!(watching.ended(), Some(130));
}

#[test]
fn a_long_run_is_seen_while_it_lasts_and_given_up_when_the_model_is_saved() {
    let folder = TempDir::new().unwrap();
    let model = folder.path().join("swing.toml");
    fs::write(&model, SWING).unwrap();
    // Hours of work, and nothing of it is waited for.
    let mut watching = Watching::start(
        folder.path(),
        &["swing.toml", "--end-time", "1e6", "--step", "1 ms", "--output-step", "100"],
    );
    let begun = watching.until(|state| state["page"].as_u64() > Some(0));
    assert!(begun["standing"] == "running" && begun["part"].as_f64().unwrap() > 0.0, "{begun}");
    let page = watching.get("page");
    assert!(page.contains("\"status\":\"running\"") && page.contains("rod.position"), "{}", page.len());
    watching.until(|state| state["page"].as_u64() > Some(1));
    fs::write(&model, SWING.replace("[[revolute]]", "[[revolut]]")).unwrap();
    watching.until(|state| state["standing"] == "wrong");
    fs::write(&model, SWING).unwrap();
    watching.until(|state| state["standing"] == "running" && state["part"].as_f64() > Some(0.0));
    watching.interrupt();
    assert_eq!(watching.ended(), Some(130));
}

/// A command that ends by itself.
fn refused(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    command.arg("watch").args(arguments).arg("--no-browser").current_dir(folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?} has an address");
    output
}

#[test]
fn what_no_saved_file_can_mend_ends_at_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("swing.toml"), SWING).unwrap();
    fs::write(path.join("other.toml"), format!("{SWING}\n")).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    run.args(["run", "other.toml", "--quiet", "--end-time", "10 ms"]);
    assert!(run.current_dir(path).status().unwrap().success());
    for (arguments, words) in [
        (&["-"][..], "no file to watch"),
        (&["swnig.toml"], "did you mean `swing.toml`?"),
        (&["swing.toml", "--set", "lenght=2"], "there is no parameter `lenght`"),
        (&["swing.toml", "--end-time", "soon"], "--end-time"),
        (&["swing.toml", "--out", "results/other"], "holds results of another model"),
    ] {
        let said = String::from_utf8(refused(path, arguments).stderr).unwrap();
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_file_may_be_called_stdin() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("stdin"), SWING).unwrap();
    let mut watching = Watching::start(folder.path(), &["stdin", "--end-time", "10 ms"]);
    watching.until(|state| state["standing"] == "done");
}

#[test]
fn every_file_that_a_model_names_is_watched_whether_it_can_be_read_or_not() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();
    let bob = "[[body]]\nname = 'bob'\nmass = 1\ninertia = [1, 1, 1]\n";
    write("m.toml", "include = ['parts.toml', 'more.toml']\n[simulation]\nend-time = 0.01\nstep = '1 ms'\n");
    write("parts.toml", &bob.replace("mass", "mas"));
    let mut watching = Watching::start(path, &["m.toml"]);
    let says = |words: &'static str| {
        move |state: &serde_json::Value| {
            state["standing"] == "wrong" && state["message"].as_str().unwrap().contains(words)
        }
    };
    // The other one is not there yet.
    watching.until(says("more.toml"));
    let table = "[[table]]\nname = 'push'\nfile = 'push.csv'\n[[force]]\nname = 'f'\nbody = 'bob'\nforce = ['push(t)', 0, 0]\n";
    write("more.toml", table);
    watching.until(says("more.toml:3"));
    write("push.csv", "0,0\n1,nothing\n");
    watching.until(says("nothing"));
    write("push.csv", "0,0\n1,1\n");
    watching.until(says("parts.toml:3"));
    write("parts.toml", bob);
    let first = watching.until(|state| state["standing"] == "done");
    // And once more, now that all is read.
    for name in ["parts.toml", "push.csv"] {
        fs::write(path.join(name), format!("{}\n", fs::read_to_string(path.join(name)).unwrap())).unwrap();
        let next = watching.until(|state| state["standing"] == "done");
        assert!(next["page"].as_u64() > first["page"].as_u64(), "{name}: {next}");
    }
}

/// Arguments of programs are seen by everybody on the computer.
#[test]
fn the_program_that_opens_the_page_is_not_told_the_token() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("swing.toml"), SWING).unwrap();
    let browser = path.join("browser");
    fs::write(&browser, "#!/bin/sh\nprintf '%s\\n' \"$@\" > told.new\nmv told.new told\nexec sleep 3\n")
        .unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    command.args(["watch", "swing.toml", "--end-time", "10 ms"]).current_dir(path).env("BROWSER", &browser);
    let mut watching = Watching::of(command);
    // A browser that stays open keeps nobody waiting.
    watching.until(|state| state["standing"] == "done");
    let start = Instant::now();
    while !path.join("told").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the browser was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = fs::read_to_string(path.join("told")).unwrap();
    let token = watching.path.trim_matches('/').to_owned();
    assert!(token.len() == 32 && !told.contains(&token) && !told.contains(&watching.host), "{told}");
    let page = PathBuf::from(told.trim());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&page), mode(page.parent().unwrap())), (0o600, 0o700), "{}", page.display());
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains(&format!("url=http://{}{}", watching.host, watching.path)), "{text}");
    watching.interrupt();
    assert_eq!(watching.ended(), Some(130));
    assert!(!page.exists() && !page.parent().unwrap().exists(), "{} stays", page.display());
}
