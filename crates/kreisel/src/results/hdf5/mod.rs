//! A small writer of HDF5 files whose tables grow while a run lasts, and a reader of what it wrote.
//!
//! It writes the oldest form of the format, which every HDF5 library reads: version 0 superblock, version 1
//! object headers, symbol-table groups, chunked tables indexed by version 1 B-trees (the names and numbers
//! are those of the "HDF5 File Format Specification, Version 3.0" of The HDF Group). That form has no
//! checksums, so a table grows by overwriting a few numbers in place.
//!
//! | where in the file | what | when written |
//! |---|---|---|
//! | superblock | where the root group is | last at each flush |
//! | the front, [`image::Image`] | groups, headers with the lengths of all tables; room for it is there twice | at each flush, in turn here and there |
//! | the tail | chunks of the tables and nodes of their indices | as they fill, and at each flush |
//!
//! A flush writes the tail, then the front to the place that nobody reads, then the superblock, which makes
//! that place the content of the file. The front alone says how long the tables are; what lies beyond is
//! never looked at, and what lies before is written over with the same bytes. Linux breaks off the write of a
//! killed process between two pages only; the superblock and each node of an index lie within one page. So a
//! process may die at any moment, and the file reads as it was after the last flush, all tables alike.
//! (Without power the order of writes is the disk's affair; only [`Hdf5File::sync`] waits for it.) Memory
//! holds one chunk of each table and the right edge of its index, however long the run.
//!
//! The crate hdf5-pure, with which the tests read these files back, was tried for writing: it appends to
//! tables of one dimension only, and the points of a VTKHDF file have two. [`reader`] knows this form alone;
//! it is a tenth of the code of a library that reads them all, of which every user would build the rest.

mod chunk_tree;
pub(super) mod image;
#[cfg(any(feature = "report", test))]
mod reader;
mod table;

use super::checksum::ResultFile;
use crate::bytes::{Damaged, Reader, Writer};
use image::Image;
#[cfg(any(feature = "report", test))]
pub(crate) use reader::Hdf5Reader;
#[cfg(feature = "report")]
pub(crate) use reader::ReadFault;
use std::io;
use std::ops::Range;
use table::{ChunkedTable, damaged};
pub(super) use table::{TableId, TableShape};

/// An HDF5 file that is being written.
#[derive(Debug)]
pub(super) struct Hdf5File {
    disk: Disk,
    image: Image,
    tables: Vec<ChunkedTable>,
}

impl Hdf5File {
    /// Puts a finished image at the front of an empty file; its growing tables get their ids in order of
    /// creation.
    pub fn create(file: ResultFile, mut image: Image) -> io::Result<Self> {
        let tables = image.take_tables().into_iter().map(ChunkedTable::new).collect();
        let mut disk = Disk::new(file, image.end());
        image.set_end_of_file(disk.end);
        let (address, texts) = image.text_heap();
        disk.write_at(address, texts)?;
        let mut created = Self { disk, image, tables };
        // Both places, so that the file is as long as it says.
        created.publish()?;
        created.publish()?;
        Ok(created)
    }

    /// Saves where the file stands, for a later [`Hdf5File::resume`]; it must have been flushed.
    pub fn save(&mut self, out: &mut Writer) -> io::Result<()> {
        out.whole(self.disk.end);
        self.tables.iter().for_each(|table| table.save(out));
        let open = self.open_ranges();
        out.whole(self.disk.file.sum_without(&open)?);
        Ok(())
    }

    /// What a run that goes on writes again: the front, the edges of the indices, and what chunks have not
    /// filled yet. All other bytes stay as they are.
    fn open_ranges(&self) -> Vec<Range<u64>> {
        let tables = self.tables.iter().flat_map(ChunkedTable::open_ranges);
        std::iter::once(0..self.image.end()).chain(tables).collect()
    }

    /// Goes on with a file from a saved position; what was written behind it is dropped at the next flush.
    ///
    /// Nodes of an index that were written over since are those of its right edge, which is saved whole. The
    /// place in use stays untouched until the next flush is complete, as ever. Bytes that are not written
    /// again have to be those that were saved.
    pub fn resume(file: ResultFile, mut image: Image, reader: &mut Reader) -> io::Result<Self> {
        let end = reader.whole().map_err(|Damaged| damaged())?;
        if end < image.end() || end > file.file().metadata()?.len() {
            return Err(damaged());
        }
        let mut disk = Disk::new(file, end);
        let mut superblock = vec![0; image.superblock().len()];
        disk.read_at(0, &mut superblock)?;
        if image.root_entry(&superblock) != image.root_entry(image.superblock()) {
            image.switch();
        }
        if image.root_entry(&superblock) != image.root_entry(image.superblock()) {
            return Err(damaged());
        }
        let headers = image.take_tables();
        let restored = headers.into_iter().map(|header| ChunkedTable::restore(header, reader, &mut disk));
        let tables = restored.collect::<io::Result<_>>()?;
        let saved = reader.whole().map_err(|Damaged| damaged())?;
        let mut resumed = Self { disk, image, tables };
        resumed.disk.file.measure(end)?;
        let open = resumed.open_ranges();
        if resumed.disk.file.sum_without(&open)? != saved {
            return Err(damaged());
        }
        let (address, texts) = resumed.image.text_heap();
        resumed.disk.write_at(address, texts)?;
        Ok(resumed)
    }

    /// Cuts off what lies behind the part in use.
    pub fn cut(&mut self) -> io::Result<()> {
        self.disk.file.cut(self.disk.end)
    }

    /// Adds numbers to a table, row by row.
    pub fn append_floats(&mut self, id: TableId, values: &[f64]) -> io::Result<()> {
        values.iter().try_for_each(|value| self.tables[id.0].append(value.to_le_bytes(), &mut self.disk))
    }

    /// Adds numbers to a table of single precision, row by row.
    pub fn append_singles(&mut self, id: TableId, values: &[f64]) -> io::Result<()> {
        let mut append =
            |value: &f64| self.tables[id.0].append((*value as f32).to_le_bytes(), &mut self.disk);
        values.iter().try_for_each(&mut append)
    }

    /// Adds one whole number to a table of one column.
    pub fn append_integer(&mut self, id: TableId, value: i64) -> io::Result<()> {
        self.tables[id.0].append(value.to_le_bytes(), &mut self.disk)
    }

    /// Adds rows of a table's fill value, which take no room.
    pub fn append_fill(&mut self, id: TableId, rows: u64) {
        self.tables[id.0].append_fill(rows);
    }

    /// Makes a table empty. What it held keeps its room in the file: the last flush still speaks of it.
    pub fn clear(&mut self, id: TableId) {
        self.tables[id.0].clear();
    }

    /// Makes everything so far part of the file as others read it, and enters `numbers` into its front.
    pub fn flush(&mut self, numbers: &[(image::ImageOffset, i64)]) -> io::Result<()> {
        for table in &mut self.tables {
            table.write(&mut self.disk)?;
        }
        self.tables.iter().for_each(|table| table.enter(&mut self.image));
        numbers.iter().for_each(|&(place, number)| self.image.set_u64(place, number.cast_unsigned()));
        self.image.set_end_of_file(self.disk.end);
        self.publish()
    }

    /// Writes the front to the place that is not in use, then lets the superblock point to it.
    fn publish(&mut self) -> io::Result<()> {
        self.image.switch();
        let (address, twin) = self.image.twin();
        let written = self.disk.write_at(address, twin);
        let written = written.and_then(|()| self.disk.write_at(0, self.image.superblock()));
        if written.is_err() {
            // The other place is still the one in use.
            self.image.switch();
        }
        written
    }

    /// Brings what was flushed to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.file.file().sync_all()
    }
}

/// What Linux copies as a whole or not at all when the writing process is killed.
const PAGE: u64 = 4096;

/// The file and how much of it is in use.
#[derive(Debug)]
struct Disk {
    file: ResultFile,
    end: u64,
    /// Every write, in order.
    #[cfg(test)]
    journal: Vec<(u64, Vec<u8>)>,
}

impl Disk {
    fn new(file: ResultFile, end: u64) -> Self {
        Self {
            file,
            end,
            #[cfg(test)]
            journal: Vec::new(),
        }
    }

    /// Takes room for `size` bytes at the tail and returns its address.
    fn allocate(&mut self, size: usize) -> u64 {
        let address = self.end;
        self.end += size as u64;
        address
    }

    /// The same, not across the border of two pages.
    fn allocate_within_page(&mut self, size: usize) -> u64 {
        if self.end % PAGE + size as u64 > PAGE {
            self.end = self.end.next_multiple_of(PAGE);
        }
        self.allocate(size)
    }

    fn read_at(&mut self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(address, bytes)
    }

    fn write_at(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        self.journal.push((address, bytes.to_vec()));
        self.file.write_at(address, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::image::{Attribute, ElementType, ImageOffset};
    use super::*;
    use std::fs::File;
    use std::path::Path;

    /// A file with a table of two dimensions, one of one dimension, one that is never written, and a number.
    struct Sample {
        file: Hdf5File,
        tables: [TableId; 3],
        count: ImageOffset,
        rows: i64,
    }

    impl Sample {
        fn create(path: &Path, chunk_rows: u64) -> Self {
            let mut image = Image::new(2, ["m"]);
            let shape = |columns| TableShape { columns, chunk_rows, is_sparse: false };
            let wide = image.growing(shape(Some(3)), ElementType::Float, &[("unit", Attribute::Text("m"))]);
            let long = image.growing(shape(None), ElementType::Integer { fill: 0 }, &[]);
            let sevens = image.growing(shape(None), ElementType::Integer { fill: 7 }, &[]);
            let inner = image.group(&[], &[("long", long.0), ("again", long.0)]).0;
            let members = [("wide", wide.0), ("inner", inner), ("sevens", sevens.0)];
            let (root, places) = image.group(&[("count", Attribute::Integer(0))], &members);
            image.set_root(root);
            let file = Hdf5File::create(File::create(path).unwrap().into(), image).unwrap();
            Self { file, tables: [wide.1, long.1, sevens.1], count: places[0], rows: 0 }
        }

        fn push(&mut self) {
            let x = self.rows as f64;
            self.file.append_floats(self.tables[0], &[x, -x, 0.5 * x]).unwrap();
            self.file.append_integer(self.tables[1], self.rows * self.rows).unwrap();
            self.file.append_fill(self.tables[2], 1);
            self.rows += 1;
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush(&[(self.count, self.rows)])
        }
    }

    fn assert_holds(content: Vec<u8>, rows: i64) {
        let file = hdf5_pure::File::from_bytes(content).unwrap();
        let wide = file.dataset("wide").unwrap();
        assert_eq!(wide.shape().unwrap(), [rows as u64, 3]);
        let expected = (0..rows).flat_map(|row| [row as f64, -row as f64, 0.5 * row as f64]);
        assert!(wide.read_f64().unwrap().into_iter().eq(expected), "{rows} rows");
        for name in ["inner/long", "inner/again"] {
            let long = file.dataset(name).unwrap().read_i64().unwrap();
            assert!(long.into_iter().eq((0..rows).map(|row| row * row)), "{name}, {rows} rows");
        }
        assert_eq!(file.dataset("sevens").unwrap().read_i64().unwrap(), vec![7; rows as usize]);
        assert_eq!(file.root().attrs().unwrap()["count"], hdf5_pure::AttrValue::I64(rows));
    }

    /// What our own reader makes of a table of three columns.
    fn own_rows(path: &Path, start: u64, count: u64) -> Vec<f64> {
        let mut reader = Hdf5Reader::new(File::open(path).unwrap()).unwrap();
        let table = reader.table("wide").unwrap();
        assert_eq!(table.columns, 3);
        reader.rows(&table, start, count).unwrap()
    }

    #[test]
    fn our_own_reader_finds_what_was_written_whole_and_in_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        for (chunk_rows, rows) in
            [(1, 0), (1, 1), (1, 65), (1, 4097), (7, 100), (200, 199), (200, 200), (200, 1001)]
        {
            let mut sample = Sample::create(&path, chunk_rows);
            (0..rows).for_each(|_| sample.push());
            sample.flush().unwrap();
            // Rows that are not flushed are not part of the file.
            sample.push();
            let expected: Vec<f64> =
                (0..rows).flat_map(|row| [row as f64, -row as f64, 0.5 * row as f64]).collect();
            assert_eq!(own_rows(&path, 0, rows as u64), expected, "{chunk_rows} {rows}");
            let (from, to) = (rows as usize / 3, rows as usize - rows as usize / 5);
            assert_eq!(own_rows(&path, from as u64, (to - from) as u64), expected[3 * from..3 * to]);
            let mut reader = Hdf5Reader::new(File::open(&path).unwrap()).unwrap();
            let table = reader.table("wide").unwrap();
            assert_eq!(table.rows, rows as u64);
            assert!(reader.rows(&table, rows as u64, 1).is_err());
            assert!(reader.table("inner/gone").unwrap_err().to_string().contains("no `inner/gone`"));
            assert!(reader.table("inner").is_err() && reader.table("inner/long").is_err());
        }
    }

    /// Stretches of zeros, of another number and of others, with flushes in between.
    #[test]
    fn what_repeats_itself_is_stored_once_and_comes_back() {
        const ROWS: usize = 4000;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let value = |row: usize| match row {
            0..500 => 0.0,
            500..1500 => 2.5,
            1500..1521 => row as f64,
            1521..1600 => f64::NAN,
            1600..3900 => 2.5,
            _ => -0.0,
        };
        for flushed in [1, 3, 37, 100, 4000] {
            let mut image = Image::new(2, []);
            let shape = TableShape { columns: None, chunk_rows: 10, is_sparse: true };
            let (address, id) = image.growing(shape, ElementType::Float, &[]);
            let (root, _) = image.group(&[], &[("values", address)]);
            image.set_root(root);
            let mut file = Hdf5File::create(File::create(&path).unwrap().into(), image).unwrap();
            let check = |rows: usize| {
                let mut reader = Hdf5Reader::new(File::open(&path).unwrap()).unwrap();
                let own = reader.columns("", &["values"], rows as u64);
                let other =
                    hdf5_pure::File::open(&path).unwrap().dataset("values").unwrap().read_f64().unwrap();
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                let expected: Vec<f64> = (0..rows).map(value).collect();
                assert_eq!(bits(&own.unwrap()[0]), bits(&expected), "{rows} rows, flushed every {flushed}");
                assert_eq!(bits(&other), bits(&expected), "{rows} rows, flushed every {flushed}");
            };
            for row in 0..ROWS {
                file.append_floats(id, &[value(row)]).unwrap();
                if (row + 1) % flushed == 0 {
                    file.flush(&[]).unwrap();
                    // Every state of the rows around a change, and some of the others.
                    if row % 101 == 0 || row % 500 < 12 || (1500..1610).contains(&row) {
                        check(row + 1);
                    }
                }
            }
            file.flush(&[]).unwrap();
            check(ROWS);
            if flushed == ROWS {
                // Of 400 chunks of 80 bytes, 50 are zeros and 330 of one number: without these, 20 are left beside
                // the index of 350 chunks, with 32 bytes each, and the front.
                let size = std::fs::metadata(&path).unwrap().len();
                assert!(size < 32_000, "{size} bytes");
            }
            let mut reader = Hdf5Reader::new(File::open(&path).unwrap()).unwrap();
            assert!(reader.columns("", &["values"], 3999).is_err());
            assert!(reader.table("values").is_err(), "a table with gaps");
        }
    }

    /// Bytes of the front and of the index are changed in turn; what comes back is numbers or a reason.
    #[test]
    fn a_damaged_file_is_refused_or_read_within_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let mut sample = Sample::create(&path, 1);
        (0..70).for_each(|_| sample.push());
        sample.flush().unwrap();
        let good = std::fs::read(&path).unwrap();
        let read = |bytes: &[u8]| {
            let mut reader = Hdf5Reader::new(io::Cursor::new(bytes))?;
            let table = reader.table("wide")?;
            reader.rows(&table, 0, table.rows)
        };
        assert_eq!(read(&good).unwrap().len(), 210);
        let mut refused = 0;
        // Of long stretches of zeros some are enough.
        for place in (0..good.len()).filter(|place| good[*place] != 0 || place % 5 == 0) {
            for value in [0, 0xff, good[place] ^ 1, good[place].wrapping_add(64)] {
                let mut bytes = good.clone();
                bytes[place] = value;
                match read(&bytes) {
                    Ok(numbers) => assert!(8 * numbers.len() <= good.len()),
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 100, "{refused} of {}", good.len());
        for length in (0..good.len()).step_by(37) {
            // The end holds other tables, too.
            let cut = read(&good[..length]);
            assert!(cut.is_err() || cut.unwrap() == read(&good).unwrap(), "{length} of {} bytes", good.len());
        }
    }

    #[test]
    fn tables_of_any_length_are_read_back_by_another_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        // One chunk per row and 64 children per node: one, two and three levels, and both sides of each
        // border.
        for rows in [0, 1, 63, 64, 65, 128, 129, 4095, 4096, 4097, 5000] {
            let mut sample = Sample::create(&path, 1);
            (0..rows).for_each(|_| sample.push());
            sample.flush().unwrap();
            assert_holds(std::fs::read(&path).unwrap(), rows);
        }
    }

    #[test]
    fn gaps_single_precision_and_tables_that_begin_anew_are_read_back_by_another_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let mut image = Image::new(3, []);
        let shape = TableShape { columns: None, chunk_rows: 3, is_sparse: true };
        let gaps = image.growing(shape, ElementType::Float, &[]);
        let pairs = TableShape { columns: Some(2), ..shape };
        let singles = image.growing(pairs, ElementType::Single, &[]);
        let anew = image.growing(shape, ElementType::Integer { fill: 0 }, &[]);
        let members = [("gaps", gaps.0), ("singles", singles.0), ("anew", anew.0)];
        let root = image.group(&[], &members).0;
        image.set_root(root);
        let mut file = Hdf5File::create(File::create(&path).unwrap().into(), image).unwrap();
        // Zeros at the start, then some numbers and many zeros in turn, over several nodes of the index.
        let value = |row: usize| if row < 10 || row % 50 < 44 { 0.0 } else { 0.1 * row as f64 };
        let rows = 2000;
        let (mut since, mut shown) = (0, 0);
        for row in 0..rows {
            file.append_floats(gaps.1, &[value(row)]).unwrap();
            file.append_singles(singles.1, &[value(row), -value(row)]).unwrap();
            if row % 700 == 500 {
                file.clear(anew.1);
                since = row;
            }
            file.append_integer(anew.1, row as i64).unwrap();
            if row % 101 == 0 {
                file.flush(&[]).unwrap();
                shown = since;
            }
            if row % 167 == 0 {
                let flushed = row - row % 101 + 1;
                let read = hdf5_pure::File::open(&path).unwrap();
                let expected: Vec<f64> = (0..flushed).map(value).collect();
                assert_eq!(read.dataset("gaps").unwrap().read_f64().unwrap(), expected);
                let pairs: Vec<f32> =
                    expected.iter().flat_map(|value| [*value as f32, -*value as f32]).collect();
                assert_eq!(read.dataset("singles").unwrap().read_f32().unwrap(), pairs);
                let numbers: Vec<i64> = (shown as i64..flushed as i64).collect();
                assert_eq!(read.dataset("anew").unwrap().read_i64().unwrap(), numbers, "{row}");
            }
        }
        // Zeros alone take nothing.
        file.flush(&[]).unwrap();
        let before = std::fs::metadata(&path).unwrap().len();
        (rows..rows + 10_000).for_each(|_| file.append_floats(gaps.1, &[0.0]).unwrap());
        file.flush(&[]).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), before);
    }

    /// Plays writes into a file in memory; shows it after each page, with the address of the write.
    fn replay(journal: &[(u64, Vec<u8>)], mut look: impl FnMut(&[u8], u64)) {
        let mut content: Vec<u8> = Vec::new();
        for (address, bytes) in journal {
            let (mut start, mut rest) = (*address as usize, &bytes[..]);
            while !rest.is_empty() {
                let page_end = (start + 1).next_multiple_of(PAGE as usize);
                let (page, behind) = rest.split_at(rest.len().min(page_end - start));
                content.resize(content.len().max(start + page.len()), 0);
                content[start..start + page.len()].copy_from_slice(page);
                (start, rest) = (start + page.len(), behind);
                look(&content, *address);
            }
        }
    }

    /// Once a kill within a flush left tables of several lengths.
    #[test]
    fn a_process_killed_between_any_two_pages_leaves_the_last_finished_flush() {
        let dir = tempfile::tempdir().unwrap();
        for (chunk_rows, flush_every) in [(1, 7), (3, 1), (200, 23)] {
            let mut sample = Sample::create(&dir.path().join("t.h5"), chunk_rows);
            let mut flushed = vec![0];
            for row in 0..300 {
                sample.push();
                if row % flush_every == 0 {
                    sample.flush().unwrap();
                    flushed.push(sample.rows);
                }
            }
            // A superblock ends a flush; creation writes two.
            let mut superblocks = 0;
            replay(&sample.file.disk.journal, |content, address| {
                superblocks += usize::from(address == 0);
                if superblocks >= 2 {
                    assert_holds(content.to_vec(), flushed[superblocks - 2]);
                }
            });
            assert_eq!(superblocks, flushed.len() + 1);
        }
    }

    #[test]
    fn a_flush_that_failed_leaves_the_place_in_use_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let mut sample = Sample::create(&path, 3);
        let in_use = sample.file.image.twin().0;
        let writable = std::mem::replace(&mut sample.file.disk.file, File::open(&path).unwrap().into());
        sample.flush().unwrap_err();
        assert_eq!(sample.file.image.twin().0, in_use);
        sample.file.disk.file = writable;
        sample.push();
        sample.flush().unwrap();
        assert_ne!(sample.file.image.twin().0, in_use);
        assert_holds(std::fs::read(&path).unwrap(), 1);
    }

    #[test]
    fn a_group_of_many_members_is_read_back_by_another_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let names: Vec<String> = (0..3000).map(|number| format!("signal-{number}")).collect();
        let mut image = Image::new(names.len(), names.iter().map(String::as_str));
        let members: Vec<_> = names.iter().map(|name| (name.as_str(), image.texts(&[name]))).collect();
        let root = image.group(&[], &members).0;
        image.set_root(root);
        Hdf5File::create(File::create(&path).unwrap().into(), image).unwrap();
        let file = hdf5_pure::File::open(&path).unwrap();
        for name in &names {
            assert_eq!(file.dataset(name).unwrap().read_string().unwrap(), [name.as_str()]);
        }
    }
}
