//! `kreisel watch` from outside: what its page says while a model is saved, broken and mended.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A watching command, ended with the test.
struct Watching {
    child: Child,
    host: String,
    path: String,
    version: u64,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
        command.arg("watch").args(arguments).arg("--no-browser").current_dir(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let (host, path) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
        Self { child, host: host.to_owned(), path: format!("/{path}"), version: 0 }
    }

    fn get(&self, place: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "GET {}{place} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.host).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        body.to_owned()
    }

    /// Waits until the page says what is wanted.
    fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let state: Value =
                serde_json::from_str(&self.get(&format!("state?after={}", self.version))).unwrap();
            self.version = state["version"].as_u64().unwrap();
            if is_wanted(&state) {
                return state;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{state}");
        }
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    fn ended(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

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

#[test]
fn what_cannot_be_watched_is_said() {
    let folder = TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(["watch", "-", "--no-browser"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no file to watch"));
}
