//! Runs of machines, as any user would make them, into whatever keeps their records.

use super::ExperimentError;
use kreisel::integrate::{Settings, Statistics};
use kreisel::machine::Machine;
use kreisel::results::{NodeState, WriteError};
use kreisel::run::{Record, Recorder, RunEnding, RunError, Sink};
use rayon::prelude::*;

/// Runs a machine until a time, and gives records at multiples of `output_step` to a sink.
pub fn run_into<S: Sink>(
    machine: &Machine,
    settings: Settings,
    end: f64,
    output_step: f64,
    sink: S,
) -> Result<(S, Statistics), ExperimentError> {
    let mut plan = machine.plan()?;
    (plan.end_time, plan.integration) = (end, settings);
    let mut run = machine.start(&plan)?;
    let mut recorder = Recorder::new(machine, Some(output_step), sink);
    let ending = run.advance(&mut recorder);
    let sink = recorder.finish(run.integration().values())?;
    match ending {
        RunEnding::Failed(error) => Err(error.into()),
        RunEnding::Refused(error) => Err(RunError::Refused(error).into()),
        RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => Ok((sink, run.statistics())),
    }
}

/// Does the same with all items, on all cores; a mistake that a test makes goes along.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(test)]
    let mistake = crate::problem::mutation::active();
    #[cfg(test)]
    let work = |item: &T| crate::problem::mutation::with(mistake, || work(item));
    items.par_iter().map(work).collect()
}

/// Positions and rotations of all nodes, at each output time.
#[derive(Clone, Debug, Default)]
pub struct Poses(pub Vec<Vec<NodeState>>);

impl Sink for Poses {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.0.push(record.nodes.to_vec());
        Ok(())
    }
}

impl Poses {
    /// Largest distance of a node from where it is in another run; infinite where the two have not as many
    /// records.
    pub fn distance(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return f64::INFINITY;
        }
        let nodes = self.0.iter().flatten().zip(other.0.iter().flatten());
        // What is not a number is larger than all.
        nodes
            .map(|(a, b)| distance(&a.position, &b.position))
            .fold(0.0, |largest, d| if d <= largest { largest } else { d })
    }

    /// Diagonal of the box around all places.
    pub fn extent(&self) -> f64 {
        let corner = |outermost: fn(f64, f64) -> f64, start: f64| {
            let positions = self.0.iter().flatten().map(|node| node.position);
            positions.fold([start; 3], |corner, position| {
                std::array::from_fn(|axis| outermost(corner[axis], position[axis]))
            })
        };
        distance(&corner(f64::min, f64::INFINITY), &corner(f64::max, f64::NEG_INFINITY))
    }
}

/// Distance of two points.
pub fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
