//! `trajectory.csv`: every signal, a row for each output time.

use std::time::Instant;

use super::{Opened, OutputEntry, OutputFile};
use crate::bytes::{Damaged, Reader};
use crate::results::vtkhdf::FLUSH_INTERVAL;
use crate::results::{CsvWriter, ResultFile, WriteError, csv};
use crate::run::recorder::{Record, Sink};

pub(in crate::run) const ENTRY: OutputEntry =
    OutputEntry { file: csv::FILE, static_file: "static.csv", begin, resume: Some(resume) };

struct TableOutput {
    writer: CsvWriter<ResultFile>,
    last_flush: Instant,
}

fn begin(OutputFile { file, path, contents }: OutputFile) -> Opened {
    let writer = CsvWriter::over(&contents.axis, file, path, &contents.channels)?;
    Ok(Box::new(TableOutput { writer, last_flush: Instant::now() }))
}

fn resume(OutputFile { file, path, contents }: OutputFile, reader: &mut Reader) -> Opened {
    let mut saved = || reader.whole().map_err(|Damaged| WriteError::unknown_place(path));
    let saved = [saved()?, saved()?];
    let writer = CsvWriter::resume(file, path, &contents.channels, saved)?;
    Ok(Box::new(TableOutput { writer, last_flush: Instant::now() }))
}

impl Sink for TableOutput {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.writer.push(record.time, record.values)?;
        if self.last_flush.elapsed() >= FLUSH_INTERVAL {
            self.last_flush = Instant::now();
            self.writer.flush()?;
        }
        Ok(())
    }

    fn save(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.writer.sync()?.iter().for_each(|number| out.extend(number.to_le_bytes()));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }
}
