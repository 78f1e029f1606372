//! The subcommands, one file each, and what they share: reading arguments, saying errors, exit codes.

pub mod flag;
pub mod reproduce;

use crate::output::WriteError;
use crate::reproduce::UnknownName;
use clap::{Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Simulates machines made of rigid and flexible parts, on Lie groups.
///
/// Data goes to standard output, words to standard error. Exit code 0: done; 1: the computation failed or a
/// check did not hold; 2: the request made no sense.
#[derive(Debug, Parser)]
#[command(name = "kreisel", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Reproduce),
}

/// How a subcommand that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything holds.
    Done,
    /// The work is done, and a check did not hold or a computation failed.
    CheckFailed,
}

/// Why a subcommand could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A name that stands for no experiment.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A file asked for by a flag has no folder to stand in.
    #[error("there is no folder {} to write {} into", folder.display(), file.display())]
    NoFolder {
        /// The folder that is missing.
        folder: PathBuf,
        /// The file asked for.
        file: PathBuf,
    },
    /// Results could not be delivered.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl CommandError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownName(_) | Self::NoFolder { .. } => 2,
            Self::Write(WriteError::Folder { .. }) => 2,
            Self::Write(_) => 1,
        }
    }
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Reproduce(command) => command.run(),
    };
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            say(&format!("error: {error}\n"));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Words for the user on standard error; a closed stream leaves nobody to tell.
fn say(words: &str) {
    let _ = std::io::stderr().write_all(words.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_help_text() {
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments().filter(|argument| argument.get_id() != "help") {
                assert!(argument.get_help().is_some(), "{} of {}", argument.get_id(), command.get_name());
            }
        }
    }
}
