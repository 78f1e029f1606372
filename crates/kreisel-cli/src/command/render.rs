//! `kreisel render`: the machine at chosen times as a picture.

use super::{CommandError, Ending};
use crate::output::{Printer, write_whole};
use crate::picture::{self, Size, View};
use kreisel::report::Recording;
use std::io;
use std::path::PathBuf;

/// Draw the machine of a run at one or more times, as PNG.
///
/// Several times stand side by side as a film strip, all at one scale.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel render results/heavy-top --frame 0.5 -o top.png
  kreisel render results/heavy-top --strip 5 --view front -o strip.png")]
pub struct Render {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// A time in s; may be repeated, and is the end of the run if not given
    #[arg(long = "frame", value_name = "TIME", conflicts_with = "strip")]
    frames: Vec<f64>,

    /// So many times, evenly spread over the run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=40))]
    strip: Option<u32>,

    /// From which side the machine is seen
    #[arg(long, value_enum, default_value_t)]
    view: View,

    /// Width and height of one frame in pixels
    #[arg(long, value_name = "W,H", value_delimiter = ',', num_args = 1, default_value = "960,720",
          value_parser = clap::value_parser!(u32).range(16..=4096))]
    size: Vec<u32>,

    /// The picture to write
    #[arg(long, short, value_name = "FILE", default_value = "picture.png")]
    output: PathBuf,
}

impl Render {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        if self.output.extension().is_none_or(|ending| ending != "png") {
            return Err(CommandError::NoPixels { file: self.output.clone() });
        }
        let [width, height] = self.size[..] else {
            return Err(CommandError::PictureSize { given: self.size.len() });
        };
        let recording = Recording::read(&self.folder)?;
        let times = self.times(&recording)?;
        let content = picture::png(&recording, &times, self.view, Size { width, height })?;
        write_whole(&self.output, &content)?;
        Printer::new(io::stdout()).print(&format!("{}\n", self.output.display()))?;
        Ok(Ending::Done)
    }

    fn times(&self, recording: &Recording) -> Result<Vec<f64>, CommandError> {
        let recorded = &recording.motion.times;
        let (Some(&start), Some(&end)) = (recorded.first(), recorded.last()) else {
            return Ok(Vec::new());
        };
        if let Some(&time) = self.frames.iter().find(|time| !(start..=end).contains(*time)) {
            return Err(CommandError::TimeOutside { time, start, end });
        }
        Ok(match self.strip {
            Some(1) => vec![start],
            Some(count) => {
                let part = |frame: u32| f64::from(frame) / f64::from(count - 1);
                (0..count).map(|frame| start + part(frame) * (end - start)).collect()
            }
            None if self.frames.is_empty() => vec![end],
            None => self.frames.clone(),
        })
    }
}
