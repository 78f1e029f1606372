//! Where the records of a run go that may have to be made again, with smaller steps, until it is accurate
//! enough: those of the last complete one count.

use super::recorder::{Record, Sink};
use crate::machine::Machine;
use crate::results::{NodeState, RunSummary, WriteError};

/// A sink for runs that are made one after the other, each finer than the one before.
pub(super) trait PassSink: Sink {
    /// A finer run begins. Those so far are kept until it is complete if they have a summary, and are
    /// forgotten if they have none.
    fn begin_anew(&mut self, machine: &Machine, complete: Option<&mut RunSummary>) -> Result<(), WriteError>;

    /// Forgets the run that was begun last: the complete one before counts.
    fn take_back(&mut self) -> Result<(), WriteError>;
}

/// Hands records on: at once, or those of the run that counts at the end.
pub(super) struct Held<S> {
    sink: S,
    /// Those of the present run; absent where records are handed on at once.
    present: Option<Records>,
    /// Those of the last complete one.
    complete: Option<Records>,
}

#[derive(Default)]
struct Records {
    times: Vec<f64>,
    values: Vec<f64>,
    nodes: Vec<NodeState>,
}

impl Records {
    fn hand_on(&self, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let count = self.times.len().max(1);
        let [values, nodes] = [self.values.len() / count, self.nodes.len() / count];
        for (index, &time) in self.times.iter().enumerate() {
            let values = &self.values[index * values..(index + 1) * values];
            let nodes = &self.nodes[index * nodes..(index + 1) * nodes];
            sink.push(&Record { time, values, nodes })?;
        }
        Ok(())
    }
}

impl<S: Sink> Held<S> {
    /// Over a sink, for one run or for several.
    pub fn new(sink: S, several: bool) -> Self {
        Self { sink, present: several.then(Records::default), complete: None }
    }

    /// The sink, with the records of the run that counts.
    pub fn release(mut self) -> Result<S, WriteError> {
        if let Some(records) = &self.present {
            records.hand_on(&mut self.sink)?;
        }
        Ok(self.sink)
    }
}

impl<S: Sink> Sink for Held<S> {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        let Some(records) = &mut self.present else { return self.sink.push(record) };
        records.times.push(record.time);
        records.values.extend_from_slice(record.values);
        records.nodes.extend_from_slice(record.nodes);
        Ok(())
    }
}

impl<S: Sink> PassSink for Held<S> {
    fn begin_anew(&mut self, _: &Machine, complete: Option<&mut RunSummary>) -> Result<(), WriteError> {
        let present = self.present.replace(Records::default());
        if complete.is_some() {
            self.complete = present;
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<(), WriteError> {
        self.present = self.complete.take();
        Ok(())
    }
}
