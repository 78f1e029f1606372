//! `kreisel reproduce`: runs the experiments of the papers and compares with what they print.

use super::flag::{Json, Plot};
use super::{CommandError, Ending, say};
use crate::figure;
use crate::output::Printer;
use crate::reproduce::{ProgressLines, Selection, Summary, select, text_report};
use kreisel_papers::experiment::{EXPERIMENTS, Experiment, Finished, run_all};
use serde::Serialize;
use std::fmt::Write;
use std::io;

/// Run the papers' experiments and compare with the published results.
///
/// Prints for each experiment the table a paper would print, then every check with the expected and the
/// measured value. `kreisel reproduce --list` shows what there is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel reproduce --list
  kreisel reproduce lie-algebra-eq53
  kreisel reproduce lie-algebra --plot figures
  kreisel reproduce all --json=results.json")]
pub struct Reproduce {
    /// Experiments by id, all of a paper by its word (such as lie-algebra), or everything by `all`
    #[arg(value_name = "ID|WORD|all", required_unless_present = "list")]
    names: Vec<String>,

    /// List the experiments: id, expected run time, title
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    json: Json,

    #[command(flatten)]
    plot: Plot,
}

impl Reproduce {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let everything = [String::from("all")];
        let names = if self.names.is_empty() { &everything[..] } else { &self.names[..] };
        let selection = select(EXPERIMENTS, names)?;
        self.json.check()?;
        if self.list {
            return self.print_list(&selection.experiments);
        }
        self.plot.prepare()?;
        self.run_selection(selection)
    }

    fn print_list(&self, experiments: &[&'static Experiment]) -> Result<Ending, CommandError> {
        let entries: Vec<ListEntry> = experiments.iter().copied().map(ListEntry::from).collect();
        self.json.write(&entries)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&super::flag::json_text(&entries))?;
        } else {
            printer.print(&text_list(&entries))?;
        }
        Ok(Ending::Done)
    }

    fn run_selection(&self, selection: Selection) -> Result<Ending, CommandError> {
        let lines = ProgressLines::new();
        let mut printer = Printer::new(io::stdout());
        let mut summaries = Vec::new();
        let nobody_else_waits = self.json.file().is_none() && !self.plot.is_wanted();
        let running = lines.clone();
        for finished in run_all(selection.experiments, move |id| running.start(id)) {
            self.plot.write(finished.experiment.id, || draw(&finished))?;
            if !self.json.prints() {
                lines.suspend(|| printer.print(&text_report(&finished)))?;
            }
            if printer.is_closed() && nobody_else_waits {
                return Ok(Ending::Done);
            }
            summaries.push(Summary::new(finished));
        }
        self.deliver(&summaries, selection.is_single, &mut printer)?;
        let failed = summaries.iter().any(|summary| !summary.passed());
        if summaries.len() > 1 {
            say(&totals(&summaries));
        }
        Ok(if failed { Ending::CheckFailed } else { Ending::Done })
    }

    /// One id gives one object, everything else an array.
    fn deliver(
        &self,
        summaries: &[Summary],
        is_single: bool,
        printer: &mut Printer<io::Stdout>,
    ) -> Result<(), CommandError> {
        match summaries {
            [one] if is_single => self.deliver_json(one, printer),
            all => self.deliver_json(&all, printer),
        }
    }

    fn deliver_json(
        &self,
        summary: &impl Serialize,
        printer: &mut Printer<io::Stdout>,
    ) -> Result<(), CommandError> {
        self.json.write(summary)?;
        if self.json.prints() {
            printer.print(&super::flag::json_text(summary))?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct ListEntry {
    id: &'static str,
    title: &'static str,
    paper: &'static str,
    run_time: &'static str,
}

impl From<&'static Experiment> for ListEntry {
    fn from(experiment: &'static Experiment) -> Self {
        Self {
            id: experiment.id,
            title: experiment.title,
            paper: experiment.paper.key(),
            run_time: experiment.run_time.words(),
        }
    }
}

fn text_list(entries: &[ListEntry]) -> String {
    let width = |of: fn(&ListEntry) -> &str| entries.iter().map(|entry| of(entry).len()).max().unwrap_or(0);
    let (id_width, time_width) = (width(|entry| entry.id), width(|entry| entry.run_time));
    entries.iter().fold(String::new(), |mut text, ListEntry { id, title, run_time, .. }| {
        let _ = writeln!(text, "{id:id_width$}  {run_time:time_width$}  {title}");
        text
    })
}

fn draw(finished: &Finished) -> String {
    let outcome = &finished.outcome;
    figure::svg(finished.experiment.title, &outcome.figure, &outcome.series)
}

fn totals(summaries: &[Summary]) -> String {
    let checks: usize = summaries.iter().map(|summary| summary.checks.len()).sum();
    let passed = summaries.iter().flat_map(|summary| &summary.checks).filter(|check| check.pass).count();
    let mut text = format!(
        "{} experiments, {checks} checks: {passed} passed, {} failed\n",
        summaries.len(),
        checks - passed
    );
    for summary in summaries.iter().filter(|summary| !summary.passed()) {
        let _ = writeln!(text, "failed: {}", summary.id);
    }
    text
}
