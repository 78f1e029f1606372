//! `kreisel inverse`: the forces that drive the joints of a machine along a motion.

use super::flag::{Json, Model, json_text};
use super::{CommandError, Ending, counted};
use crate::output::{Printer, brief, write_whole};
use kreisel::machine::LedMotion;
use kreisel::results::CsvWriter;
use kreisel::run::{DrivingForces, Dynamics};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// Find the forces that drive the joints of a machine along a motion, and what the joints transmit.
///
/// The table of the motion has a column `time` and one for each joint coordinate that is led, by its name:
/// `elbow.angle [deg]`, or `elbow` if the joint has one. Rates (`elbow.rate`) and accelerations
/// (`elbow.acceleration`) follow from cubic splines unless they have columns of their own. The columns must
/// say how the whole machine moves. Writes a table: torque or force and power of each led coordinate
/// (`elbow.drive-torque`, `elbow.drive-power`) and the reaction of each joint (`elbow.force.x`), in world axes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel import models/arm.urdf && kreisel inverse arm/arm.toml --motion models/arm.csv
  kreisel inverse arm/arm.toml --motion models/arm.csv --set losses=0 -o frictionless.csv

Of forces and reactions that give the same motion, where more coordinates are led than are free or constraints
follow from each other, the smallest are taken, with torques over the length of the machine. Laws of time count
at the times of the table; states of the model keep the values with which they start.")]
pub struct InverseDynamics {
    #[command(flatten)]
    model: Model<false>,

    /// The table of the motion, in columns separated by commas, semicolons or tabs
    #[arg(long, value_name = "TABLE")]
    motion: PathBuf,

    /// The table to write
    #[arg(help_heading = "Results", long, short, value_name = "FILE", default_value = "inverse.csv")]
    output: PathBuf,

    /// Print nothing but errors
    #[arg(help_heading = "Results", long, short)]
    quiet: bool,

    #[command(flatten)]
    json: Json,
}

impl InverseDynamics {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let motion = LedMotion::read(&self.motion, &self.model.read()?)?;
        let dynamics = Dynamics::new(self.model.read_led(motion.coordinates())?);
        let found = dynamics.driving_forces(&motion)?;
        let mut writer = CsvWriter::new(Vec::new(), &self.output, &found.channels)?;
        for (time, row) in motion.times().iter().zip(&found.rows) {
            writer.push(*time, row)?;
        }
        write_whole(&self.output, &writer.finish()?)?;
        let summary = Summary::new(&motion, &dynamics, &found);
        self.json.write(&summary)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&json_text(&summary))?;
        } else if !self.quiet {
            printer.print(&self.text(&summary))?;
        }
        Ok(Ending::Done)
    }

    fn text(&self, summary: &Summary<'_>) -> String {
        let Summary { times, from, to, coordinates, dependent, redundant } = summary;
        let mut text = format!("{} from {from} s to {to} s\n", counted(*times as u64, "state", "states"));
        for led in coordinates {
            let Led { name, unit, least, greatest, mean_square, greatest_power } = led;
            let [least, greatest, effective, power] =
                [least, greatest, mean_square, greatest_power].map(|number| brief(*number));
            text += &format!(
                "{name}: {least} to {greatest} {unit}, root of the mean square {effective} {unit}, at most {power} W\n"
            );
        }
        if *dependent {
            text += "The coordinates depend on each other: of all forces that give this motion these are the smallest.\n";
        }
        if *redundant {
            text += "Constraints follow from each other: of all reactions that give this motion these are the smallest.\n";
        }
        text + &format!("{}\n", self.output.display())
    }
}

/// What was found, in numbers.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Summary<'a> {
    times: usize,
    from: f64,
    to: f64,
    coordinates: Vec<Led<'a>>,
    /// Whether more coordinates are led than are free.
    dependent: bool,
    /// Whether reactions are the smallest of many.
    redundant: bool,
}

/// What drives a coordinate.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Led<'a> {
    name: &'a str,
    unit: &'a str,
    least: f64,
    greatest: f64,
    /// Root of the mean of the squares over time.
    mean_square: f64,
    /// Largest power that is given to the machine.
    greatest_power: f64,
}

impl<'a> Summary<'a> {
    fn new(motion: &LedMotion, dynamics: &Dynamics, found: &'a DrivingForces) -> Self {
        let times = motion.times();
        let coordinates = (0..found.coordinates).map(|place| {
            let column = |place: usize| found.rows.iter().map(move |row| row[place]);
            let extreme = |place: usize, of: fn(f64, f64) -> f64| column(place).reduce(of).unwrap_or(0.0);
            let channel = &found.channels[place];
            Led {
                name: &channel.name,
                unit: &channel.unit,
                least: extreme(place, f64::min),
                greatest: extreme(place, f64::max),
                mean_square: effective(times, &column(place).collect::<Vec<f64>>()),
                greatest_power: extreme(found.coordinates + place, f64::max).max(0.0),
            }
        });
        Self {
            times: times.len(),
            from: times.first().copied().unwrap_or(0.0),
            to: times.last().copied().unwrap_or(0.0),
            coordinates: coordinates.collect(),
            dependent: !dynamics.is_independent(),
            redundant: dynamics.is_redundant(),
        }
    }
}

/// Root of the mean of the squares over time, with straight lines between the times.
fn effective(times: &[f64], values: &[f64]) -> f64 {
    let [Some(first), Some(last)] = [times.first(), times.last()] else { return 0.0 };
    if last <= first {
        return values.first().map_or(0.0, |value| value.abs());
    }
    let pairs = times.windows(2).zip(values.windows(2));
    let sum: f64 = pairs.map(|(t, v)| (t[1] - t[0]) * (v[0] * v[0] + v[0] * v[1] + v[1] * v[1]) / 3.0).sum();
    (sum / (last - first)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_square_of_a_ramp_is_a_third_of_that_of_its_end() {
        assert!((effective(&[0.0, 0.5, 2.0], &[0.0, 1.0, 4.0]) - 4.0 / 3.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(effective(&[1.0], &[-3.0]), 3.0);
    }
}
