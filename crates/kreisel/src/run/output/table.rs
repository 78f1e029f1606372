//! `trajectory.csv`: every signal, a row for each output time.

use std::fs::File;
use std::time::Instant;

use super::{Opened, OutputEntry, OutputFile};
use crate::bytes::{Damaged, Reader};
use crate::results::vtkhdf::FLUSH_INTERVAL;
use crate::results::{CsvWriter, WriteError, csv};
use crate::run::recorder::{Record, Sink};

pub(super) const ENTRY: OutputEntry =
    OutputEntry { file: csv::FILE, static_file: "static.csv", begin, resume: Some(resume) };

struct TableOutput {
    writer: CsvWriter<File>,
    last_flush: Instant,
}

fn begin(OutputFile { file, path, contents }: OutputFile) -> Opened {
    let writer = CsvWriter::over(&contents.axis, file, path, &contents.channels)?;
    Ok(Box::new(TableOutput { writer, last_flush: Instant::now() }))
}

fn resume(OutputFile { file, path, contents }: OutputFile, reader: &mut Reader) -> Opened {
    let position = reader.whole().map_err(|Damaged| WriteError::unknown_place(path))?;
    let writer = CsvWriter::resume(file, path, &contents.channels, position)?;
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
        out.extend(self.writer.sync()?.to_le_bytes());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }
}
