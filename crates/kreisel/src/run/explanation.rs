//! What looks like a mistake in a machine but is none.

use super::Run;
use crate::constrained::{ConsistencyError, StartReport};
use crate::dae::Dae;
use crate::integrate::{GeneralizedAlpha, Integration, Settings, StartError};
use crate::machine::{Machine, Mobility};

/// Violations of the user's initial values below this part of the machine's size are rounding.
const ROUNDING: f64 = 1e-6;

/// Most names in one warning.
const MAX_NAMES: usize = 8;

/// Most bodies in the report of assembly.
const MAX_MOVED: usize = 5;

impl Machine {
    /// Starts the machine with settings of the integrator, without a plan for a run.
    pub fn start_with(&self, settings: Settings) -> Result<Integration<'_>, StartError> {
        GeneralizedAlpha::with(settings).start(&self.system, self.starting_values()?)
    }

    /// The machine's size in m, against which lengths are judged.
    pub fn characteristic_length(&self) -> f64 {
        self.system.scales().length
    }

    /// Warnings that the start of a run gives.
    pub fn start_warnings(&self, run: &Run) -> Vec<String> {
        let integration = run.integration();
        let mut warnings = self.consistency_warnings(integration.start_report());
        warnings.extend(
            self.mobility_warnings(&Mobility::from_redundancy(&self.system, integration.redundancy())),
        );
        warnings
    }

    /// Where the model says the parts that an error at the start names: `model.toml:12:1: blade`.
    pub fn places_of(&self, error: &StartError) -> Vec<String> {
        let misses = match error {
            StartError::Initial(
                ConsistencyError::Position { misses, .. } | ConsistencyError::Contradiction { misses, .. },
            ) => misses.as_slice(),
            _ => &[],
        };
        // Misses are in words, the part's name between backticks.
        let names = misses.iter().take(MAX_NAMES).filter_map(|miss| miss.name.split('`').nth(1));
        let places = names.filter_map(|name| self.place(name).map(|place| (name, place)));
        places.map(|(name, place)| format!("{place}: `{name}`")).collect()
    }

    /// Why the machine cannot be started, with the lines of the parts that are to blame.
    pub fn start_message(&self, error: &StartError) -> String {
        let places = self.places_of(error).into_iter().map(|place| format!("\n  --> {place}"));
        format!("{error}{}", places.collect::<String>())
    }

    /// Warnings about initial values that had to be changed.
    pub fn consistency_warnings(&self, report: &StartReport) -> Vec<String> {
        let mut warnings = Vec::new();
        let length = self.characteristic_length();
        if report.position_violation > ROUNDING * length {
            warnings.push(format!(
                "the initial positions violate the joints by up to {:.2e}; assembly moved {}",
                report.position_violation,
                self.moved(&report.position_change),
            ));
        }
        // Who gives no velocities leaves them to the drives.
        let speed = largest(&self.initial.velocity);
        if speed > 0.0 && report.velocity_violation > ROUNDING * speed {
            warnings.push(format!(
                "the initial velocities violate the joints by up to {:.2e} and were changed by up to {:.2e}",
                report.velocity_violation,
                largest(&report.velocity_change),
            ));
        }
        warnings
    }

    /// The bodies that an increment moves most, in words.
    fn moved(&self, change: &[f64]) -> String {
        let space = self.system.shape().space;
        let length = self.characteristic_length();
        let mut moved: Vec<(f64, String)> = (self.frames().bodies().iter())
            .filter_map(|body| {
                let change = &change[space.velocity_range(body.node.0)];
                let turns = if change.len() > 3 { norm(&change[..3]) } else { 0.0 };
                let shifts = norm(&change[change.len() - 3..]);
                let size = shifts.max(length * turns);
                // Rounding of bodies that stay where they are is nobody's business.
                let parts = [(shifts, shifts, "m"), (turns, length * turns, "rad")];
                let words: Vec<String> = (parts.iter())
                    .filter(|(_, weight, _)| *weight > ROUNDING * size)
                    .map(|(value, _, unit)| format!("{value:.2e} {unit}"))
                    .collect();
                (size > ROUNDING * ROUNDING * length)
                    .then(|| (size, format!("`{}` by {}", body.name, words.join(" and "))))
            })
            .collect();
        moved.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = moved.len().saturating_sub(MAX_MOVED);
        let mut words: Vec<String> = moved.into_iter().take(MAX_MOVED).map(|(_, words)| words).collect();
        if more > 0 {
            words.push(format!("{more} more by less"));
        }
        words.join(", ")
    }

    /// Kind and name of a joint, by its index in the system.
    fn joint_words(&self, index: usize) -> String {
        let kind = self.frames().joint_at(index).map_or("joint", |joint| joint.kind);
        format!("{kind} `{}`", self.system.joint_name(index))
    }

    /// Warnings about bodies that nothing holds, redundant joints and machines that cannot move.
    pub fn mobility_warnings(&self, mobility: &Mobility) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.frames().joints().is_empty() {
            let counts = self.system.part_counts();
            let free = self.frames().bodies().iter().filter(|body| {
                let (elements, joints) = counts[body.node.0];
                // The body itself is one element.
                joints == 0 && elements <= 1
            });
            warnings.extend(free.map(|body| format!("no joint or force touches the body `{}`", body.name)));
        }
        for &(joint, count) in &mobility.implied {
            let (name, rows) = (self.joint_words(joint), self.system.joint_equation_count(joint));
            let verb = if count == 1 { "is" } else { "are" };
            warnings.push(format!("{name}: {count} of {rows} equations {verb} implied by the others"));
        }
        if !mobility.shared.is_empty() {
            let names: Vec<String> = (mobility.shared.iter().take(MAX_NAMES))
                .map(|&(joint, _)| format!("`{}`", self.system.joint_name(joint)))
                .collect();
            let more = if mobility.shared.len() > MAX_NAMES { ", …" } else { "" };
            warnings.push(format!(
                "reactions are shared arbitrarily among {}{more}; of all that give this motion the smallest are shown",
                names.join(", ")
            ));
        }
        let is_drive = |index: usize| self.frames().joint_at(index).is_some_and(|joint| joint.is_drive);
        let drives = mobility.shared.iter().filter(|(joint, _)| is_drive(*joint));
        let names: Vec<String> =
            drives.map(|&(joint, _)| format!("`{}`", self.system.joint_name(joint))).collect();
        if !names.is_empty() {
            warnings.push(format!(
                "locked by its drives: joints and other drives already decide what {} ask for; a run ends where they part",
                names.join(", ")
            ));
        }
        // What drives lead has no freedom left and moves all the same.
        let driven = self.system.shape().rheonomic;
        if mobility.degrees_of_freedom() == 0 && !driven {
            warnings.push("the machine cannot move: it has no degree of freedom".to_string());
        }
        warnings
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
