//! Errors as `?` in `main` prints them: their message and not their fields.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::integrate::StartError;
use kreisel::report::ReportError;
use kreisel::results::{ReadError, WriteError};
use kreisel::run::{CheckpointError, DynamicsError};
use kreisel::statics::StaticsError;
use kreisel::sweep::SweepError;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

fn shown(error: impl Error) -> [String; 2] {
    [format!("{error:?}"), error.to_string()]
}

#[test]
fn errors_that_end_a_program_print_their_message() {
    let path = || PathBuf::from("results/top");
    let io = || io::Error::new(io::ErrorKind::PermissionDenied, "permission denied");
    let tolerance = StartError::Tolerance { name: "rtol", value: -1.0 };
    for ([debug, message], words) in [
        (shown(kreisel::read("no-such-file.toml").err().unwrap()), "no-such-file.toml"),
        (shown(StartError::Step(-1.0)), "the step size must be positive and finite, not -1"),
        (shown(tolerance), "rtol must be positive and finite, not -1"),
        (shown(StaticsError::NoLoad), "there is no load to follow"),
        (shown(DynamicsError::TooFar(2e5)), "the coordinates turn by 2.000e5 rad"),
        (shown(SweepError::VariesTwice("mass".to_owned())), "`mass` varies twice"),
        (shown(ReportError::NoFolder { path: path() }), "there is no folder `results/top`"),
        (
            shown(WriteError::NoPlace { path: path(), source: io() }),
            "no folder `results/top`: permission denied",
        ),
        (shown(ReadError::Io { path: path(), source: io() }), "cannot read `results/top`: permission denied"),
        (shown(CheckpointError::Ended { folder: path() }), "the run in `results/top` has ended"),
    ] {
        assert_eq!(debug, message);
        assert!(debug.contains(words) && !debug.contains('{'), "{debug}");
    }
}

/// What a new error is likely to be without, though nothing fails to compile.
#[test]
fn no_error_of_the_library_shows_its_fields() {
    let mut found = 0;
    for file in sources(Path::new("src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for derived in text.split("#[derive(").skip(1) {
            let Some((traits, item)) = derived.split_once(")]") else { continue };
            let traits: Vec<&str> = traits.split(',').map(str::trim).collect();
            let is_error = traits.iter().any(|name| matches!(*name, "Error" | "thiserror::Error"));
            found += usize::from(is_error);
            let name = item.lines().find(|line| line.contains("enum ") || line.contains("struct "));
            assert!(
                !is_error || !traits.contains(&"Debug"),
                "{}: `{}` takes `shown_by_message!` in place of a derived `Debug`",
                file.display(),
                name.unwrap_or_default()
            );
        }
    }
    assert!(found > 20, "{found} errors found");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
