//! `kreisel check`: explains a model without running it.

use super::flag::{Json, Model, json_text};
use super::{CommandError, Ending, NO_SENSE, told};
use crate::output::Printer;
use kreisel::dae::Note;
use kreisel::machine::{Machine, Mobility, RunPlan};
use serde::Serialize;
use std::fmt::Write;
use std::io;

/// Explain a model without running it: bodies, mass, degrees of freedom, constraints, what was assumed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  kreisel check models/door.toml")]
pub struct Check {
    #[command(flatten)]
    model: Model,

    #[command(flatten)]
    json: Json,
}

impl Check {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let machine = self.model.read()?;
        let explanation = Explanation::new(&machine, &machine.plan()?)?;
        self.json.write(&explanation)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&json_text(&explanation))?;
        } else {
            printer.print(&explanation.text())?;
        }
        Ok(if explanation.error.is_some() { Ending::CheckFailed } else { Ending::Done })
    }
}

/// What a model means.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Explanation {
    bodies: usize,
    mass: f64,
    degrees_of_freedom: usize,
    velocity_coordinates: usize,
    constraint_equations: usize,
    independent_equations: usize,
    characteristic_length: f64,
    joints: Vec<JointLine>,
    signals: Vec<String>,
    assumptions: Vec<String>,
    warnings: Vec<String>,
    /// The warnings as data.
    notes: Vec<Note>,
    /// Why the machine cannot be started.
    error: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct JointLine {
    name: String,
    kind: String,
    equations: usize,
    /// Equations that those of the joints before imply.
    implied: usize,
}

impl JointLine {
    fn words(&self) -> String {
        let implied = match self.implied {
            0 => String::new(),
            count => format!(", {count} implied by the others"),
        };
        format!("{} `{}`: {}{implied}", self.kind, self.name, equations(self.equations))
    }
}

fn equations(count: usize) -> String {
    if count == 1 { "1 equation".to_owned() } else { format!("{count} equations") }
}

/// A number with six significant digits at most, without rounding errors of a sum.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

impl Explanation {
    /// Goes the way of a run as far as its first step. What makes no sense is an error as it is there; what
    /// is found by computing is part of the answer.
    fn new(machine: &Machine, plan: &RunPlan) -> Result<Self, CommandError> {
        let mut assumptions = [machine.assumptions(), &plan.assumptions].concat();
        let (notes, mobility, error) = match machine.begin(plan) {
            Ok(run) => {
                assumptions.extend(run.integration().choice().map(str::to_owned));
                let mobility = Mobility::from_redundancy(machine.system(), run.integration().redundancy());
                (machine.start_notes(&run), mobility, None)
            }
            Err(error) => {
                let initial = machine.initial();
                let mobility = Mobility::new(machine.system(), initial.time, &initial.configuration);
                let mut notes = machine.notes().clone();
                notes.extend(machine.mobility_notes(&mobility));
                let error = CommandError::of_run(machine, error);
                if error.exit_code() == NO_SENSE {
                    return Err(error);
                }
                (notes, mobility, Some(error.to_string()))
            }
        };
        Ok(Self {
            bodies: machine.frames().bodies().len(),
            mass: machine.frames().mass(),
            degrees_of_freedom: mobility.degrees_of_freedom(),
            velocity_coordinates: mobility.velocity_coordinates,
            constraint_equations: mobility.equations,
            independent_equations: mobility.independent,
            characteristic_length: machine.characteristic_length(),
            joints: joint_lines(machine, &mobility),
            signals: machine.channels().iter().map(ToString::to_string).collect(),
            assumptions,
            warnings: notes.texts(),
            notes: notes.into_iter().collect(),
            error,
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, words: String| {
            let _ = writeln!(text, "{name:<23}{words}");
        };
        line("bodies", self.bodies.to_string());
        line("mass", format!("{} kg", rounded(self.mass)));
        line("degrees of freedom", self.freedom());
        line("characteristic length", format!("{} m", rounded(self.characteristic_length)));
        for words in self.constraints() {
            line("constraint", words);
        }
        line("signals", format!("{}: {}", self.signals.len(), shortened(&self.signals)));
        self.assumptions.iter().for_each(|assumption| line("assumed", assumption.clone()));
        told(&self.notes, "`--json` has them all").into_iter().for_each(|warning| line("warning", warning));
        self.error.iter().for_each(|error| line("cannot start", error.clone()));
        text
    }

    /// A line for each joint; of large machines one for each kind, and for each joint with implied equations.
    fn constraints(&self) -> Vec<String> {
        const MAX_LINES: usize = 50;
        if self.joints.len() <= MAX_LINES {
            return self.joints.iter().map(JointLine::words).collect();
        }
        let mut lines: Vec<String> = Vec::new();
        let mut kinds: Vec<&str> = Vec::new();
        for joint in &self.joints {
            if !kinds.contains(&joint.kind.as_str()) {
                kinds.push(&joint.kind);
            }
        }
        for kind in kinds {
            let of_kind = || self.joints.iter().filter(|joint| joint.kind == kind);
            let count: usize = of_kind().map(|joint| joint.equations).sum();
            lines.push(format!("{} × {kind}: {}", of_kind().count(), equations(count)));
        }
        lines.extend(self.joints.iter().filter(|joint| joint.implied > 0).map(JointLine::words));
        lines
    }

    fn freedom(&self) -> String {
        let (all, equations) = (self.velocity_coordinates, self.constraint_equations);
        format!(
            "{} = {all} velocity coordinates − {} independent of {}",
            self.degrees_of_freedom,
            self.independent_equations,
            self::equations(equations)
        )
    }
}

/// The first few of many signals.
fn shortened(signals: &[String]) -> String {
    const MAX_SHOWN: usize = 6;
    let shown = signals.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if signals.len() > MAX_SHOWN { format!("{shown}, …") } else { shown }
}

fn joint_lines(machine: &Machine, mobility: &Mobility) -> Vec<JointLine> {
    let system = machine.system();
    (0..system.joint_count())
        .map(|index| {
            let name = system.joint_name(index);
            let kind = machine.frames().joint_kind_at(index, name).unwrap_or("drive or coupling");
            let implied =
                mobility.implied.iter().find(|(joint, _)| *joint == index).map_or(0, |(_, count)| *count);
            JointLine {
                name: name.to_owned(),
                kind: kind.to_owned(),
                equations: system.joint_equation_count(index),
                implied,
            }
        })
        .collect()
}
