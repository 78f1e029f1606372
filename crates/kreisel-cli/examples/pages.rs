//! Writes what goes into a release beside the command: completions for shells and manual pages.
//!
//! `cargo run -p kreisel-cli --example pages -- DIR`, which `cargo xtask dist` does.

use clap::CommandFactory;
use clap_complete::Shell;
use kreisel_cli::command::Arguments;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name a folder"))?;
    let (completions, manual) = (Path::new(&folder).join("completions"), Path::new(&folder).join("man"));
    std::fs::create_dir_all(&completions)?;
    std::fs::create_dir_all(&manual)?;
    let mut command = Arguments::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut command, "kreisel", &completions)?;
    }
    clap_mangen::generate_to(command, &manual)
}
