//! `trajectory.vtkhdf`: the motion of every node and every signal, for ParaView and h5py.

use super::{Opened, OutputEntry, OutputFile};
use crate::bytes::{Reader, Writer};
use crate::results::{VtkHdfWriter, WriteError, vtkhdf};
use crate::run::recorder::{Record, Sink};

pub(in crate::run) const ENTRY: OutputEntry =
    OutputEntry { file: vtkhdf::FILE, static_file: "static.vtkhdf", begin, resume: Some(resume) };

fn begin(OutputFile { file, path, contents }: OutputFile) -> Opened {
    let writer = VtkHdfWriter::new(file, path, &contents.scene, &contents.channels)?;
    Ok(Box::new(writer.expecting(contents.records)))
}

fn resume(OutputFile { file, path, contents }: OutputFile, reader: &mut Reader) -> Opened {
    Ok(Box::new(VtkHdfWriter::resume(file, path, &contents.scene, &contents.channels, reader)?))
}

impl Sink for VtkHdfWriter {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        VtkHdfWriter::push(self, record.time, record.nodes, record.values)
    }

    fn save(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.flush()?;
        self.sync()?;
        let mut saved = Writer::default();
        VtkHdfWriter::save(self, &mut saved)?;
        out.extend(saved.0);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.complete()
    }
}
