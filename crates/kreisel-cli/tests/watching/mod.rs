//! A running `kreisel watch`: its address, what its page says, and its end.

#![allow(dead_code, reason = "each program of tests uses what it needs")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A watching command, ended with the test.
pub struct Watching {
    child: Child,
    pub host: String,
    pub path: String,
    version: u64,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    /// Starts `kreisel watch` without a browser.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
        command.arg("watch").args(arguments).arg("--no-browser").current_dir(folder);
        Self::of(command)
    }

    /// Starts a command that watches, and waits for its address.
    pub fn of(command: Command) -> Self {
        Self::begun(command).unwrap()
    }

    /// The same; nothing if it ends without an address.
    pub fn begun(mut command: Command) -> Option<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").and_then(|address| address.split_once('/'));
        let Some((host, path)) = address else {
            assert!(!child.wait().unwrap().success(), "it ended well without an address");
            return None;
        };
        Some(Self { child, host: host.to_owned(), path: format!("/{path}"), version: 0 })
    }

    /// What the page has at a place.
    pub fn get(&self, place: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "GET {}{place} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.host).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        body.to_owned()
    }

    /// Waits until the page says what is wanted.
    pub fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
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

    /// Ends it as Ctrl-C does.
    pub fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Its exit code, once it has ended.
    pub fn ended(&mut self) -> Option<i32> {
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
