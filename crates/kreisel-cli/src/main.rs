//! The `kreisel` command: arguments in, messages out, no physics.

use std::process::ExitCode;

fn main() -> ExitCode {
    kreisel_cli::command::main()
}
