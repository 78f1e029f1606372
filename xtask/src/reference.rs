//! Another commit of the project, checked out and built beside the present tree.
//!
//! A commit never changes, so its tree and its programs are kept: `CACHE/COMMIT/tree`,
//! `CACHE/COMMIT/kreisel-dev`.

use crate::{cargo, root, say};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How `kreisel` is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As the tests use it; less to wait for.
    Dev,
    /// As users have it.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// What cargo is asked for. Tests of the whole workspace have other features of crates than the command
    /// alone, and whoever compares has just built the tests.
    fn build(self) -> &'static [&'static str] {
        match self {
            Self::Dev => &["test", "--quiet", "--workspace", "--test", "run", "--no-run"],
            Self::Release => &["build", "--quiet", "--release"],
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Dev => "debug/kreisel",
            Self::Release => "release/kreisel",
        }
    }
}

/// A commit beside the present tree.
pub struct Reference {
    /// Everything that is kept of this commit.
    pub folder: PathBuf,
    cache: PathBuf,
    /// Two chores with the same cache wait for each other.
    _lock: File,
}

impl Reference {
    /// Checks a commit out, unless that was done before.
    pub fn check_out(cache: &Path, commit: &str) -> Result<Self, String> {
        let name = git(&["rev-parse", "--short=12", "--verify", &format!("{commit}^{{commit}}")])?;
        let folder = cache.join(name.trim());
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock =
            File::create(cache.join("lock")).map_err(|error| format!("{}: {error}", cache.display()))?;
        lock.lock().map_err(|error| format!("{}: {error}", cache.display()))?;
        let reference = Self { folder, cache: cache.to_owned(), _lock: lock };
        if !reference.tree().join("Cargo.toml").exists() {
            // By force: a tree that was deleted by hand is still on git's list.
            let tree = reference.tree();
            git(&["worktree", "add", "--force", "--detach", &tree.to_string_lossy(), name.trim()])?;
        }
        Ok(reference)
    }

    /// The files of the commit.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// The commit's `kreisel`.
    pub fn program(&self, profile: Profile) -> Result<PathBuf, String> {
        let kept = self.folder.join(format!("kreisel-{}", profile.name()));
        if !kept.exists() {
            say(&format!("building kreisel of {} ({})\n", self.folder.display(), profile.name()));
            build(&self.tree(), &self.cache.join("build"), profile, &kept)?;
        }
        Ok(kept)
    }
}

/// `kreisel` of the present tree, copied to where the next build does not replace it.
pub fn present_program(cache: &Path, profile: Profile) -> Result<PathBuf, String> {
    say(&format!("building kreisel of this tree ({})\n", profile.name()));
    let folder = cache.join("now");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let kept = folder.join(format!("kreisel-{}", profile.name()));
    build(&root(), &cargo::target(), profile, &kept)?;
    Ok(kept)
}

/// Where everything is kept unless the user names another folder.
pub fn default_cache() -> PathBuf {
    cargo::target().join("reference")
}

fn build(tree: &Path, target: &Path, profile: Profile, kept: &Path) -> Result<(), String> {
    let mut command = cargo_in(tree, target);
    finish(command.args(profile.build()), &format!("the build of kreisel of {}", tree.display()))?;
    // A copy under its final name is complete, whenever this program is killed.
    let partial = kept.with_extension("partial");
    fs::copy(target.join(profile.program()), &partial)
        .and_then(|_| fs::rename(&partial, kept))
        .map_err(|error| format!("{}: {error}", kept.display()))
}

fn cargo_in(tree: &Path, target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(tree).env("CARGO_TARGET_DIR", target);
    command
}

fn finish(command: &mut Command, words: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{words} failed: {status}")),
        Err(error) => Err(format!("cargo did not start: {error}")),
    }
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .output()
        .map_err(|error| format!("git did not start: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let words = String::from_utf8_lossy(&output.stderr);
        Err(format!("`git {}`: {}", arguments.join(" "), words.trim_end()))
    }
}
