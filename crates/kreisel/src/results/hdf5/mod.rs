//! A small writer of HDF5 files whose tables grow while a run lasts.
//!
//! It writes the oldest form of the format, which every HDF5 library reads: version 0 superblock, version 1 object
//! headers, symbol-table groups, chunked tables indexed by version 1 B-trees (the names and numbers are those of
//! the "HDF5 File Format Specification, Version 3.0" of The HDF Group). That form has no checksums, so a table
//! grows by overwriting a few numbers in place.
//!
//! | where in the file | what | when written |
//! |---|---|---|
//! | the front, [`image::Image`] | superblock, groups, headers with the lengths of all tables | whole, at each flush |
//! | the tail | chunks of the tables and nodes of their indices | as they fill, and at each flush |
//!
//! A flush writes the tail first and the front last. The front alone says how long the tables are; what lies beyond
//! is never looked at. So a process may die at any moment and the file still reads as it was at the last flush.
//! Should it die within the write of the front, which Linux may then break off between two pages, each table is
//! whole on its own, with its old or its new length. Memory holds one chunk of each table and the right edge of
//! its index, however long the run.
//!
//! The crate hdf5-pure, with which the tests read these files back, was tried for writing: it appends to tables of
//! one dimension only, and the points of a VTKHDF file have two.

mod chunk_tree;
pub(super) mod image;
mod table;

use image::Image;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use table::Table;
pub(super) use table::{TableId, TableShape};

/// An HDF5 file that is being written.
#[derive(Debug)]
pub(super) struct Hdf5File {
    disk: Disk,
    image: Image,
    tables: Vec<Table>,
}

impl Hdf5File {
    /// Puts a finished image at the front of an empty file; its growing tables get their ids in order of creation.
    pub fn create(file: File, mut image: Image) -> io::Result<Self> {
        let tables = image.take_tables().into_iter().map(Table::new).collect();
        let mut disk = Disk { file, end: image.end() };
        image.set_end_of_file(disk.end);
        disk.write_at(0, image.bytes())?;
        Ok(Self { disk, image, tables })
    }

    /// Adds numbers to a table, row by row.
    pub fn append_floats(&mut self, id: TableId, values: &[f64]) -> io::Result<()> {
        values.iter().try_for_each(|value| self.tables[id.0].append(value.to_le_bytes(), &mut self.disk))
    }

    /// Adds one whole number to a table of one column.
    pub fn append_integer(&mut self, id: TableId, value: i64) -> io::Result<()> {
        self.tables[id.0].append(value.to_le_bytes(), &mut self.disk)
    }

    /// Adds rows of a table's fill value, which take no room.
    pub fn append_fill(&mut self, id: TableId, rows: u64) {
        self.tables[id.0].append_fill(rows);
    }

    /// Makes everything so far part of the file as others read it, and enters `numbers` into its front.
    pub fn flush(&mut self, numbers: &[(image::Place, i64)]) -> io::Result<()> {
        for table in &mut self.tables {
            table.write(&mut self.disk)?;
        }
        self.image.set_end_of_file(self.disk.end);
        // New roots of the indices must be in place before any length makes use of them.
        let mut moved = false;
        for table in &self.tables {
            moved |= table.enter_index(&mut self.image);
        }
        if moved {
            self.disk.write_at(0, self.image.bytes())?;
        }
        self.tables.iter().for_each(|table| table.enter_length(&mut self.image));
        numbers.iter().for_each(|&(place, number)| self.image.set_u64(place, number.cast_unsigned()));
        self.disk.write_at(0, self.image.bytes())
    }

    /// Brings what was flushed to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.file.sync_all()
    }
}

/// The file and how much of it is in use.
#[derive(Debug)]
struct Disk {
    file: File,
    end: u64,
}

impl Disk {
    /// Takes room for `size` bytes at the tail and returns its address.
    fn allocate(&mut self, size: usize) -> u64 {
        let address = self.end;
        self.end += size as u64;
        address
    }

    fn write_at(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(address))?;
        self.file.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::image::{Attribute, Element};
    use super::*;
    use std::path::Path;

    /// A file with a table of two dimensions, one of one dimension, and one that is never written.
    fn file(path: &Path, chunk_rows: u64) -> (Hdf5File, [TableId; 3]) {
        let mut image = Image::new(2, ["m"]);
        let shape = |columns| TableShape { columns, chunk_rows };
        let wide = image.growing(shape(Some(3)), Element::Float, &[("unit", Attribute::Text("m"))]);
        let long = image.growing(shape(None), Element::Integer { fill: 0 }, &[]);
        let sevens = image.growing(shape(None), Element::Integer { fill: 7 }, &[]);
        let inner = image.group(&[], &[("long", long.0), ("again", long.0)]).0;
        let root = image.group(&[], &[("wide", wide.0), ("inner", inner), ("sevens", sevens.0)]).0;
        image.set_root(root);
        (Hdf5File::create(File::create(path).unwrap(), image).unwrap(), [wide.1, long.1, sevens.1])
    }

    fn push(file: &mut Hdf5File, tables: [TableId; 3], row: i64) {
        let x = row as f64;
        file.append_floats(tables[0], &[x, -x, 0.5 * x]).unwrap();
        file.append_integer(tables[1], row * row).unwrap();
        file.append_fill(tables[2], 1);
    }

    fn assert_holds(path: &Path, rows: i64) {
        let file = hdf5_pure::File::open(path).unwrap();
        let wide = file.dataset("wide").unwrap();
        assert_eq!(wide.shape().unwrap(), [rows as u64, 3]);
        let expected = (0..rows).flat_map(|row| [row as f64, -row as f64, 0.5 * row as f64]);
        assert!(wide.read_f64().unwrap().into_iter().eq(expected), "{rows} rows");
        for name in ["inner/long", "inner/again"] {
            let long = file.dataset(name).unwrap().read_i64().unwrap();
            assert!(long.into_iter().eq((0..rows).map(|row| row * row)), "{name}, {rows} rows");
        }
        assert_eq!(file.dataset("sevens").unwrap().read_i64().unwrap(), vec![7; rows as usize]);
    }

    #[test]
    fn tables_of_any_length_are_read_back_by_another_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        // One chunk per row and 64 children per node: one, two and three levels, and both sides of each border.
        for rows in [0, 1, 63, 64, 65, 128, 129, 4095, 4096, 4097, 5000] {
            let (mut file, tables) = file(&path, 1);
            (0..rows).for_each(|row| push(&mut file, tables, row));
            file.flush(&[]).unwrap();
            assert_holds(&path, rows);
        }
    }

    #[test]
    fn what_was_flushed_stays_readable_whatever_follows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let (mut file, tables) = file(&path, 3);
        assert_holds(&path, 0);
        for row in 0..500 {
            push(&mut file, tables, row);
            let flushed = row / 7 * 7;
            if row == flushed {
                file.flush(&[]).unwrap();
            }
            // What a kill at this moment would leave.
            assert_holds(&path, flushed + 1);
        }
    }

    #[test]
    fn a_flush_that_breaks_off_leaves_each_table_with_its_old_or_new_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.h5");
        let (mut file, tables) = file(&path, 3);
        (0..7).for_each(|row| push(&mut file, tables, row));
        file.flush(&[]).unwrap();
        let old_front = file.image.bytes().to_vec();
        (7..10).for_each(|row| push(&mut file, tables, row));
        file.flush(&[]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for written in (0..old_front.len()).step_by(8) {
            let mut torn = whole.clone();
            torn[written..old_front.len()].copy_from_slice(&old_front[written..]);
            let file = hdf5_pure::File::from_bytes(torn).unwrap();
            let long = file.dataset("inner/long").unwrap().read_i64().unwrap();
            assert!([7, 10].contains(&long.len()), "{written}");
            assert!(long.iter().zip(0..).all(|(&value, row)| value == row * row), "{written}");
            let wide = file.dataset("wide").unwrap().read_f64().unwrap();
            assert!([21, 30].contains(&wide.len()) && wide[18..21] == [6.0, -6.0, 3.0], "{written}");
        }
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
        Hdf5File::create(File::create(&path).unwrap(), image).unwrap();
        let file = hdf5_pure::File::open(&path).unwrap();
        for name in &names {
            assert_eq!(file.dataset(name).unwrap().read_string().unwrap(), [name.as_str()]);
        }
    }
}
