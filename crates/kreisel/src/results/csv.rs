//! Signals as a table of text that spreadsheets, NumPy and pandas read.
//!
//! One head line, `time [s],top.position.z [m],…`, then one line per output time. Numbers have as many digits
//! as it takes to give every `f64` back bit for bit, `-9.80665`, and none more; numbers that are none are
//! written `NaN`, `inf` and `-inf`.

use super::channel::{self, Channel, find_signal};
use super::checksum::ResultFile;
use super::error::{DAMAGED, ReadError, WriteError};
use crate::file::read_own;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Name of the table of a run.
pub const FILE: &str = "trajectory.csv";

/// Writes a table row by row, without keeping it.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    sink: BufWriter<W>,
    path: PathBuf,
    signal_count: usize,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a table with the time and these signals as columns; `path` is only named in errors.
    pub fn new(sink: W, path: &Path, signals: &[Channel]) -> Result<Self, WriteError> {
        Self::over(&Channel::time(), sink, path, signals)
    }

    /// Starts a table over something else than time: a load factor, the number of a mode.
    pub fn over(first: &Channel, sink: W, path: &Path, signals: &[Channel]) -> Result<Self, WriteError> {
        channel::check(signals)?;
        let mut sink = BufWriter::with_capacity(1 << 16, sink);
        write_head(&mut sink, first, signals).map_err(|source| WriteError::io(path, source))?;
        Ok(Self { sink, path: path.to_owned(), signal_count: signals.len() })
    }

    /// Adds a row: the time (or what the table is over) and one value for each signal.
    pub fn push(&mut self, time: f64, values: &[f64]) -> Result<(), WriteError> {
        if values.len() != self.signal_count {
            let (expected, got) = (self.signal_count, values.len());
            return Err(WriteError::RowLength { what: "values", expected, got });
        }
        write_row(&mut self.sink, time, values).map_err(|source| WriteError::io(&self.path, source))
    }

    /// Hands every row so far to the operating system, where a killed run cannot lose it.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.sink.flush().map_err(|source| WriteError::io(&self.path, source))
    }

    /// Flushes and gives the sink back.
    pub fn finish(self) -> Result<W, WriteError> {
        self.sink.into_inner().map_err(|error| WriteError::io(&self.path, error.into_error()))
    }
}

impl CsvWriter<ResultFile> {
    /// Brings every row so far to the disk, and tells where the next one will begin and what the sum of all
    /// rows is.
    pub(crate) fn sync(&mut self) -> Result<[u64; 2], WriteError> {
        self.flush()?;
        let file = self.sink.get_mut();
        let synced = file.file().sync_data().and_then(|()| Ok([file.end(), file.sum_without(&[])?]));
        synced.map_err(|source| WriteError::io(&self.path, source))
    }

    /// Goes on with a table from where [`CsvWriter::sync`] said; rows that were written after it are dropped.
    pub(crate) fn resume(
        mut file: ResultFile,
        path: &Path,
        signals: &[Channel],
        [position, sum]: [u64; 2],
    ) -> Result<Self, WriteError> {
        channel::check(signals)?;
        let refuse = |reason| WriteError::NotResumable { path: path.to_owned(), reason };
        let mut head = Vec::new();
        let written = write_head(&mut head, &Channel::time(), signals);
        let mut found = vec![0; head.len()];
        let looked = written
            .and_then(|()| file.file().metadata())
            .and_then(|metadata| {
                let is_there = metadata.len() >= position && position >= head.len() as u64;
                if is_there { file.read_at(0, &mut found).map(|()| true) } else { Ok(false) }
            })
            .map_err(|source| WriteError::io(path, source))?;
        if !looked {
            return Err(refuse("it is shorter than the checkpoint says"));
        }
        if found != head {
            return Err(refuse("it has other columns than the model"));
        }
        let measured = file.measure(position).and_then(|()| file.sum_without(&[]));
        if measured.map_err(|source| WriteError::io(path, source))? != sum {
            return Err(refuse(DAMAGED));
        }
        file.cut(position).map_err(|source| WriteError::io(path, source))?;
        let sink = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { sink, path: path.to_owned(), signal_count: signals.len() })
    }
}

fn write_head(sink: &mut impl Write, first: &Channel, signals: &[Channel]) -> io::Result<()> {
    write!(sink, "{first}")?;
    for signal in signals {
        write!(sink, ",{signal}")?;
    }
    writeln!(sink)
}

fn write_row(sink: &mut impl Write, time: f64, values: &[f64]) -> io::Result<()> {
    write_number(sink, time)?;
    for value in values {
        sink.write_all(b",")?;
        write_number(sink, *value)?;
    }
    writeln!(sink)
}

/// Whole numbers have no point, so that a column of zeros is short.
fn write_number(sink: &mut impl Write, value: f64) -> io::Result<()> {
    const MAX_WHOLE: f64 = 1e15;
    let whole = value as i64;
    if value.to_bits() == (whole as f64).to_bits() && value.abs() < MAX_WHOLE {
        write!(sink, "{whole}")
    } else if value.is_finite() {
        Ok(serde_json::to_writer(sink, &value)?)
    } else {
        write!(sink, "{value}")
    }
}

/// Most signals of a table that is read: the file for ParaView has no more.
const MAX_SIGNALS: usize = 1_000_000;

/// Most numbers of a table that is read, 800 MB of them.
const MAX_NUMBERS: usize = 100_000_000;

/// Bytes of the longest head that is read: names of as many signals as a run may have.
const MAX_HEAD: u64 = 1 << 27;

/// A table read back into columns.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    /// The times of the rows, in s.
    pub times: Vec<f64>,
    /// The signals, without the time.
    pub signals: Vec<Channel>,
    /// The values of each signal, in the order of `signals`.
    pub columns: Vec<Vec<f64>>,
}

impl CsvTable {
    /// Reads a table that [`CsvWriter`] wrote.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_over(&Channel::time(), path)
    }

    /// The same of a table whose rows stand over something else; `times` has its values.
    pub fn read_over(first: &Channel, path: &Path) -> Result<Self, ReadError> {
        let file = read_own(path).map_err(|source| ReadError::io(path, source))?;
        Self::read_lines(first, BufReader::new(file), path)
    }

    /// Reads what the columns of a table over time are, and none of its rows.
    pub fn read_signals(path: &Path) -> Result<Vec<Channel>, ReadError> {
        let file = read_own(path).map_err(|source| ReadError::io(path, source))?;
        let mut line = String::new();
        if !next_line(&mut BufReader::new(file.take(MAX_HEAD)), &mut line, path)? {
            return Err(ReadError::Empty { path: path.to_owned() });
        }
        Ok(Self::with_head(&Channel::time(), line.trim_end(), path)?.signals)
    }

    /// Reads a table from any source of lines; `path` is only named in errors.
    pub fn read_from(source: impl BufRead, path: &Path) -> Result<Self, ReadError> {
        Self::read_lines(&Channel::time(), source, path)
    }

    fn read_lines(first: &Channel, mut source: impl BufRead, path: &Path) -> Result<Self, ReadError> {
        let mut line = String::new();
        if !next_line(&mut source, &mut line, path)? {
            return Err(ReadError::Empty { path: path.to_owned() });
        }
        let mut table = Self::with_head(first, line.trim_end(), path)?;
        let mut number = 1;
        let columns = table.signals.len() + 1;
        while next_line(&mut source, &mut line, path)? {
            number += 1;
            let row = line.trim_end();
            if !row.is_empty() {
                if table.times.len() >= MAX_NUMBERS / columns {
                    return Err(ReadError::TooManyNumbers { path: path.to_owned(), most: MAX_NUMBERS });
                }
                table.push_row(row, number, path)?;
            }
        }
        Ok(table)
    }

    /// The values of the signal of that name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let index = find_signal(self.signals.iter().map(|signal| signal.name.as_str()), name)?;
        self.columns.get(index).map(Vec::as_slice)
    }

    fn with_head(wanted: &Channel, head: &str, path: &Path) -> Result<Self, ReadError> {
        let mut heads = head.split(',');
        let first = heads.next().unwrap_or_default();
        if first != wanted.to_string() {
            return Err(ReadError::NoTime { path: path.to_owned(), head: shortened(first) });
        }
        if head.bytes().filter(|letter| *letter == b',').count() > MAX_SIGNALS {
            return Err(ReadError::TooManyNumbers { path: path.to_owned(), most: MAX_SIGNALS });
        }
        let signals = heads.map(Channel::parse).collect::<Result<Vec<_>, _>>()?;
        let columns = vec![Vec::new(); signals.len()];
        Ok(Self { times: Vec::new(), signals, columns })
    }

    fn push_row(&mut self, row: &str, line: usize, path: &Path) -> Result<(), ReadError> {
        let (expected, got) = (self.signals.len() + 1, row.split(',').count());
        if got != expected {
            return Err(ReadError::RowLength { path: path.to_owned(), line, expected, got });
        }
        let mut cells = row.split(',');
        let names = std::iter::once("time").chain(self.signals.iter().map(|signal| signal.name.as_str()));
        let columns = std::iter::once(&mut self.times).chain(&mut self.columns);
        for ((text, name), column) in cells.by_ref().zip(names).zip(columns) {
            column.push(text.trim().parse().map_err(|_| ReadError::NotANumber {
                path: path.to_owned(),
                line,
                column: name.to_owned(),
                text: shortened(text),
            })?);
        }
        Ok(())
    }
}

fn next_line(source: &mut impl BufRead, line: &mut String, path: &Path) -> Result<bool, ReadError> {
    line.clear();
    let count = source.read_line(line).map_err(|source| ReadError::io(path, source))?;
    Ok(count > 0)
}

/// The beginning of a text, short enough for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(signals: &[Channel], rows: &[(f64, Vec<f64>)]) -> String {
        let mut writer = CsvWriter::new(Vec::new(), Path::new("t.csv"), signals).unwrap();
        for (time, values) in rows {
            writer.push(*time, values).unwrap();
        }
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    fn read(text: &str) -> Result<CsvTable, ReadError> {
        CsvTable::read_from(text.as_bytes(), Path::new("t.csv"))
    }

    #[test]
    fn numbers_have_the_digits_that_they_need() {
        let text = written(&[Channel::new("top.position.z", "m")], &[(0.1, vec![-9.80665])]);
        assert_eq!(text, "time [s],top.position.z [m]\n0.1,-9.80665\n");
        let text = written(&[Channel::new("x", "m")], &[(3.0, vec![-0.0]), (-2e14, vec![1e15])]);
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(rows[0], "3,-0.0");
        assert!(rows[1].starts_with("-200000000000000,1"), "{rows:?}");
        // Third parts have no end, neighbours of them others.
        let third = [1.0_f64 / 3.0, (1.0_f64 / 3.0).next_up()];
        let text = written(&[Channel::new("x", "m")], &[(third[0], vec![third[1]])]);
        assert_eq!(text.lines().nth(1).unwrap(), "0.3333333333333333,0.33333333333333337");
    }

    #[test]
    fn numbers_that_are_none_have_names_that_numpy_reads() {
        let values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let signals = ["a", "b", "c"].map(|name| Channel::new(name, "1"));
        let text = written(&signals, &[(0.0, values)]);
        assert_eq!(text.lines().nth(1).unwrap(), "0,NaN,inf,-inf");
        let table = read(&text).unwrap();
        assert!(table.columns[0][0].is_nan() && table.columns[1][0] == f64::INFINITY);
    }

    proptest! {
        #[test]
        fn every_number_comes_back_bit_for_bit(bits in proptest::collection::vec(any::<u64>(), 1..20)) {
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|x| !x.is_nan()).collect();
            let rows: Vec<_> = values.iter().map(|&value| (value, vec![-value])).collect();
            let table = read(&written(&[Channel::new("x", "m")], &rows)).unwrap();
            for (row, &value) in values.iter().enumerate() {
                prop_assert_eq!(table.times[row].to_bits(), value.to_bits());
                prop_assert_eq!(table.column("x").unwrap()[row].to_bits(), (-value).to_bits());
            }
        }

        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "\\PC*(\n[0-9e,.nai-]*){0,4}") {
            let _ = read(&text);
            let _ = read(&format!("time [s],a [m]\n{text}"));
        }
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let head = "time [s],a [m]\n";
        assert!(matches!(read(""), Err(ReadError::Empty { .. })));
        assert!(matches!(read("a [m]\n"), Err(ReadError::NoTime { .. })));
        assert!(matches!(
            read(&format!("{head}1,2\n1\n")),
            Err(ReadError::RowLength { line: 3, got: 1, .. })
        ));
        let error = read(&format!("{head}1,two\n")).unwrap_err();
        assert_eq!(error.to_string(), "`t.csv`, line 2, column `a`: `two` is not a number");
    }

    #[test]
    fn windows_line_ends_and_blank_lines_are_read() {
        let table = read("time [s],a [m]\r\n0,1\r\n\r\n1,2\r\n").unwrap();
        assert_eq!((table.times, table.columns), (vec![0.0, 1.0], vec![vec![1.0, 2.0]]));
    }

    #[test]
    fn a_row_of_the_wrong_length_is_refused() {
        let mut writer = CsvWriter::new(Vec::new(), Path::new("t.csv"), &[Channel::new("a", "m")]).unwrap();
        let error = writer.push(0.0, &[]).unwrap_err();
        assert!(matches!(error, WriteError::RowLength { expected: 1, got: 0, .. }));
    }
}
