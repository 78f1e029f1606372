//! `--plot DIR` writes figures as SVG files.

use crate::output::{WriteError, write_whole};
use kreisel::results::{self, make_folder};
#[cfg(test)]
use std::fs;
use std::path::PathBuf;

/// The flag `--plot DIR`.
#[derive(Debug, clap::Args)]
pub struct Plot {
    /// Write each figure as SVG into the folder DIR, which is created if missing
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

impl Plot {
    /// Whether figures were asked for.
    pub fn is_wanted(&self) -> bool {
        self.plot.is_some()
    }

    /// Creates the folder, so that a wrong name is found before any work.
    pub fn prepare(&self) -> Result<(), results::WriteError> {
        match &self.plot {
            Some(folder) => make_folder(folder),
            None => Ok(()),
        }
    }

    /// Writes `figure` as `DIR/name.svg`, if figures were asked for.
    pub fn write(&self, name: &str, figure: impl FnOnce() -> String) -> Result<(), WriteError> {
        match &self.plot {
            Some(folder) => write_whole(&folder.join(format!("{name}.svg")), figure().as_bytes()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_flag_no_figure_is_drawn() {
        let plot = Plot { plot: None };
        plot.prepare().unwrap();
        plot.write("name", || panic!("drawn without being asked for")).unwrap();
    }

    #[test]
    fn the_folder_is_created_and_the_figure_named_after_the_experiment() {
        let folder = std::env::temp_dir().join(format!("kreisel-plot-{}/deep", std::process::id()));
        let plot = Plot { plot: Some(folder.clone()) };
        plot.prepare().unwrap();
        plot.write("name", || "<svg/>".to_owned()).unwrap();
        assert_eq!(fs::read_to_string(folder.join("name.svg")).unwrap(), "<svg/>");
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
}
