//! `kreisel plot`: draws signals of a run as SVG or PNG.

use super::flag::{chosen_signals, own_signals};
use super::{CommandError, Ending};
use crate::figure::{self, FigureStyle, Panel, Series};
use crate::output::{Printer, write_whole};
use kreisel::report::Recording;
use std::io;
use std::path::PathBuf;

/// Draw signals of a run over time, as SVG or PNG.
///
/// Signals of one unit share a plot; plots of several units stand side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel plot results/heavy-top
  kreisel plot results/heavy-top --sensor top.position.z -o height.svg
  kreisel plot results/heavy-top --sensor top.position --sensor \"energy.*\" -o plot.png")]
pub struct Plot {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// A signal, all components of one (`top.position`), or several by a pattern with `*`; may be repeated.
    /// The model's own sensors if not given, or else the coordinates of its joints
    #[arg(long = "sensor", value_name = "NAME")]
    sensors: Vec<String>,

    /// The picture to write; its ending, `.svg` or `.png`, says what it is
    #[arg(long, short, value_name = "FILE", default_value = "plot.svg")]
    output: PathBuf,

    /// What stands above the plot; the model's title if not given
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

impl Plot {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let ending = self.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !["svg", "png"].contains(&ending) {
            return Err(CommandError::UnknownPicture { file: self.output.clone() });
        }
        let recording = Recording::read(&self.folder)?;
        let svg = self.svg(&recording)?;
        let content = if ending == "png" { figure::png(&svg)? } else { svg.into_bytes() };
        write_whole(&self.output, &content)?;
        Printer::new(io::stdout()).print(&format!("{}\n", self.output.display()))?;
        Ok(Ending::Done)
    }

    fn svg(&self, recording: &Recording) -> Result<String, CommandError> {
        let table = &recording.table;
        let signals = match self.sensors.is_empty() {
            true => own_signals(recording),
            false => chosen_signals(table, &self.sensors)?,
        };
        let mut units: Vec<&str> = Vec::new();
        let mut series = Vec::new();
        for index in signals {
            let channel = &table.signals[index];
            let panel = units.iter().position(|unit| *unit == channel.unit).unwrap_or_else(|| {
                units.push(&channel.unit);
                units.len() - 1
            });
            let curve = Series::new(&channel.name, table.times.clone(), table.columns[index].clone());
            series.push(curve.labelled("time [s]", format!("[{}]", channel.unit)).in_panel(panel));
        }
        let style = FigureStyle::side_by_side(units.iter().map(|_| Panel::linear("")));
        let title = self.title.as_deref().unwrap_or(&recording.scene.title);
        Ok(figure::svg(title, &style, &with_names(series, &units)))
    }
}

/// A lone curve's axis is named after it.
fn with_names(mut series: Vec<Series>, units: &[&str]) -> Vec<Series> {
    for panel in 0..units.len() {
        if let [only] = &mut series.iter_mut().filter(|curve| curve.panel == panel).collect::<Vec<_>>()[..] {
            only.y_label = format!("{} {}", only.name, only.y_label);
        }
    }
    series
}
