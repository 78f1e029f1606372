//! Reads tables of doubles back from files that the writer beside it has written, and from no others.
//!
//! Every number that leads on is checked: what it points to lies in the file, trees have as many chunks as
//! their table has rows and as there is room for, and each chunk is where its place in the order says. So the
//! work and the memory for a file are bounded by its size, whatever is in it.

use super::chunk_tree::{MAX_ENTRIES, MAX_LEVELS, UNDEFINED};
use super::image::{
    ATTRIBUTE, DATASPACE, DATATYPE, ElementType, FILL_VALUE, HEADER_PREFIX, LAYOUT, ROOT_ENTRY,
    SUPERBLOCK_SIZE, SYMBOL_TABLE, superblock_versions,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use thiserror::Error;

/// Why a table cannot be read.
#[derive(Error)]
pub(crate) enum ReadFault {
    /// The operating system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Not what the writer writes.
    #[error("it is not a file as Kreisel writes it ({0})")]
    Form(&'static str),
    /// A group without that member.
    #[error("it has no `{0}`")]
    Missing(String),
    /// Numbers that have no room.
    #[error("`{0}` is larger than the file")]
    TooLarge(String),
}

shown_by_message!(ReadFault);

use ReadFault::Form;

type Fallible<T> = Result<T, ReadFault>;

/// Most bytes that are read at once: the file may have a hole as large as one likes.
const MAX_BYTES: u64 = 1 << 29;

/// A file that is read.
#[derive(Debug)]
pub(crate) struct Hdf5Reader<R = File> {
    file: R,
    size: u64,
    root: u64,
}

/// A table of doubles in a file.
#[derive(Debug)]
pub(crate) struct FloatTable {
    /// Number of rows.
    pub rows: u64,
    /// Numbers in a row.
    pub columns: u64,
    chunk_rows: u64,
    /// Where each chunk is; nowhere if it holds zeros alone.
    chunks: Vec<u64>,
}

/// A number in little-endian order; the slice has as many bytes as the number.
fn whole(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl<R: Read + Seek> Hdf5Reader<R> {
    /// Reads the superblock.
    pub fn new(mut file: R) -> Fallible<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        let mut reader = Self { file, size, root: 0 };
        let block = reader.bytes(0, SUPERBLOCK_SIZE as u64)?;
        let versions = superblock_versions();
        let base = whole(&block[24..32]);
        if block[..versions.len()] != versions || base != 0 {
            return Err(Form("its superblock"));
        }
        reader.root = whole(&block[ROOT_ENTRY + 8..ROOT_ENTRY + 16]);
        Ok(reader)
    }

    /// A table by its path, such as `nodes/position`.
    pub fn table(&mut self, path: &str) -> Fallible<FloatTable> {
        let address = self.address(path)?;
        self.table_at(address, path, None)
    }

    /// Tables of one column and so many rows, all in one group, whole. Chunks that are missing are zeros, and
    /// several may lie in one place: so there may be more numbers than the file has room for.
    pub fn columns(&mut self, group: &str, names: &[&str], rows: u64) -> Fallible<Vec<Vec<f64>>> {
        let address = self.address(group)?;
        let mut found = vec![None; names.len()];
        let places: BTreeMap<&[u8], usize> = names.iter().map(|name| name.as_bytes()).zip(0..).collect();
        self.members(address, |name, member| {
            if let Some(&place) = places.get(name) {
                found[place] = Some(member);
            }
            false
        })?;
        let column = |(name, address): (&&str, Option<u64>)| {
            let address = address.ok_or_else(|| ReadFault::Missing(format!("{group}/{name}")))?;
            let table = self.table_at(address, name, Some(rows))?;
            self.rows(&table, 0, rows)
        };
        names.iter().zip(found).map(column).collect()
    }

    /// Where an object is.
    fn address(&mut self, path: &str) -> Fallible<u64> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(self.root, |group, wanted| {
            let mut found = None;
            self.members(group, |name, address| {
                found = (name == wanted.as_bytes()).then_some(address);
                found.is_some()
            })?;
            found.ok_or_else(|| ReadFault::Missing(path.to_owned()))
        })
    }

    /// A table; with a number of rows it has one column and may be longer than its chunks in the file.
    fn table_at(&mut self, address: u64, path: &str, known: Option<u64>) -> Fallible<FloatTable> {
        let too_large = || ReadFault::TooLarge(path.to_owned());
        let messages = self.messages(address)?;
        let content =
            |kind| messages.iter().find(|(other, _)| *other == kind).map(|(_, content)| &content[..]);
        let float = ElementType::Float.datatype();
        if !content(DATATYPE).is_some_and(|datatype| datatype.starts_with(&float)) {
            return Err(Form("a table of other numbers than doubles"));
        }
        let (rows, columns) = content(DATASPACE).and_then(shape).ok_or(Form("the shape of a table"))?;
        let row_size = columns.checked_mul(8).filter(|size| *size > 0).ok_or_else(too_large)?;
        if known.is_some_and(|known| (rows, columns) != (known, 1)) {
            return Err(Form("signals of several lengths"));
        }
        // Others are stored as they are, so that none is longer than its file.
        if known.is_none() && rows.checked_mul(row_size).is_none_or(|bytes| bytes > self.size) {
            return Err(too_large());
        }
        let rank = if columns_are_given(content(DATASPACE).unwrap_or_default()) { 2 } else { 1 };
        let (root, chunk_rows) = content(LAYOUT)
            .and_then(|layout| chunks(layout, rank, columns))
            .ok_or(Form("how a table is stored"))?;
        let chunk_size = chunk_rows.checked_mul(row_size).ok_or_else(too_large)?;
        let count = rows.div_ceil(chunk_rows);
        if known.is_none() && count.checked_mul(chunk_size).is_none_or(|bytes| bytes > self.size) {
            return Err(too_large());
        }
        let has_gaps = known.is_some();
        let mut tree = Walk { rank, chunk_rows, chunk_size, count, has_gaps, chunks: Vec::new() };
        if count > 0 && !(has_gaps && root == UNDEFINED) {
            let level = self.level(root)?;
            self.walk(root, level, &mut tree)?;
        }
        if has_gaps {
            tree.chunks.resize(count as usize, UNDEFINED);
        }
        match tree.chunks.len() as u64 == count {
            true => Ok(FloatTable { rows, columns, chunk_rows, chunks: tree.chunks }),
            false => Err(Form("a table with missing rows")),
        }
    }

    /// Some rows of a table, one after the other.
    pub fn rows(&mut self, table: &FloatTable, start: u64, count: u64) -> Fallible<Vec<f64>> {
        let end =
            start.checked_add(count).filter(|end| *end <= table.rows).ok_or(Form("rows beyond the end"))?;
        let mut numbers = Vec::with_capacity((count * table.columns) as usize);
        let mut row = start;
        while row < end {
            let (chunk, within) = (row / table.chunk_rows, row % table.chunk_rows);
            let taken = (table.chunk_rows - within).min(end - row);
            let row_size = 8 * table.columns;
            row += taken;
            if table.chunks[chunk as usize] == UNDEFINED {
                numbers.resize(numbers.len() + (taken * table.columns) as usize, 0.0);
                continue;
            }
            let bytes = self.bytes(table.chunks[chunk as usize] + within * row_size, taken * row_size)?;
            numbers.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        }
        Ok(numbers)
    }

    /// Bytes of the file.
    fn bytes(&mut self, address: u64, length: u64) -> Fallible<Vec<u8>> {
        if address.checked_add(length).is_none_or(|end| end > self.size) {
            return Err(Form("an address beyond its end"));
        }
        if length > MAX_BYTES {
            return Err(Form("a length"));
        }
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(address))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Kinds and contents of the messages of an object (IV.A.1.a).
    fn messages(&mut self, address: u64) -> Fallible<Vec<(u16, Vec<u8>)>> {
        let prefix = self.bytes(address, HEADER_PREFIX as u64)?;
        if prefix[..2] != [1, 0] {
            return Err(Form("the header of an object"));
        }
        let (count, length) = (whole(&prefix[2..4]), whole(&prefix[8..12]));
        let bytes = self.bytes(address + HEADER_PREFIX as u64, length)?;
        let mut rest = &bytes[..];
        let mut messages = Vec::new();
        for _ in 0..count {
            let Some((head, behind)) = rest.split_at_checked(8) else { return Err(Form("a message")) };
            let (kind, size) = (whole(&head[..2]) as u16, whole(&head[2..4]) as usize);
            let Some((content, behind)) = behind.split_at_checked(size) else {
                return Err(Form("a message"));
            };
            if ![DATASPACE, DATATYPE, FILL_VALUE, LAYOUT, ATTRIBUTE, SYMBOL_TABLE].contains(&kind) {
                return Err(Form("a message of an unknown kind"));
            }
            messages.push((kind, content.to_vec()));
            rest = behind;
        }
        Ok(messages)
    }

    /// Shows names and addresses of the members of a group until that is enough (III.B, III.C and III.D).
    fn members(&mut self, group: u64, mut is_enough: impl FnMut(&[u8], u64) -> bool) -> Fallible<()> {
        let messages = self.messages(group)?;
        let table = messages.iter().find(|(kind, _)| *kind == SYMBOL_TABLE).map(|(_, content)| content);
        let Some(table) = table.filter(|content| content.len() >= 16) else { return Err(Form("a group")) };
        let (tree, heap) = (whole(&table[..8]), whole(&table[8..16]));
        let heap = self.bytes(heap, 32)?;
        if heap[..5] != *b"HEAP\0" {
            return Err(Form("the names of a group"));
        }
        let names = self.bytes(whole(&heap[24..32]), whole(&heap[8..16]))?;
        let head = self.bytes(tree, 24)?;
        if head[..6] != *b"TREE\0\0" {
            return Err(Form("the members of a group"));
        }
        let leaves = whole(&head[6..8]);
        let entries = self.bytes(tree + 24, 8 + 16 * leaves)?;
        for leaf in 0..leaves as usize {
            let leaf = whole(&entries[8 + 16 * leaf..16 + 16 * leaf]);
            let head = self.bytes(leaf, 8)?;
            if head[..6] != *b"SNOD\x01\0" {
                return Err(Form("the members of a group"));
            }
            let members = self.bytes(leaf + 8, 40 * whole(&head[6..8]))?;
            for member in members.chunks_exact(40) {
                let text = usize::try_from(whole(&member[..8])).ok().and_then(|start| names.get(start..));
                let name = text.and_then(|text| text.split(|byte| *byte == 0).next());
                if name.is_some_and(|name| is_enough(name, whole(&member[8..16]))) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The level of a node of an index; its leaves have 0.
    fn level(&mut self, node: u64) -> Fallible<usize> {
        match *self.bytes(node, 6)? {
            [b'T', b'R', b'E', b'E', 1, level] if usize::from(level) < MAX_LEVELS => Ok(level.into()),
            _ => Err(Form("the index of a table")),
        }
    }

    /// Finds the chunks below a node, in order, until there are as many as the table has (III.A.1).
    fn walk(&mut self, node: u64, level: usize, tree: &mut Walk) -> Fallible<()> {
        if self.level(node)? != level {
            return Err(Form("the index of a table"));
        }
        let used = whole(&self.bytes(node + 6, 2)?) as usize;
        if used == 0 || used > MAX_ENTRIES {
            return Err(Form("the index of a table"));
        }
        let key_size = 8 + 8 * (tree.rank + 1);
        let bytes = self.bytes(node + 24, (used * (key_size + 8)) as u64)?;
        for entry in bytes.chunks_exact(key_size + 8) {
            let (child, row) = (whole(&entry[key_size..]), whole(&entry[8..16]));
            let (next, chunk) = (tree.chunks.len() as u64, row / tree.chunk_rows);
            if next == tree.count || (tree.has_gaps && chunk >= tree.count) {
                return Ok(());
            }
            // A child begins with the chunk that comes next, or behind a gap.
            let is_next = chunk == next || (tree.has_gaps && chunk > next);
            if !is_next || !row.is_multiple_of(tree.chunk_rows) || child == UNDEFINED {
                return Err(Form("the order of an index"));
            }
            tree.chunks.resize(chunk as usize, UNDEFINED);
            if level > 0 {
                self.walk(child, level - 1, tree)?;
                // So that there are no more nodes to be seen than chunks.
                if tree.chunks.len() as u64 <= chunk {
                    return Err(Form("the order of an index"));
                }
            } else if child.checked_add(tree.chunk_size).is_none_or(|end| end > self.size) {
                return Err(Form("an address beyond its end"));
            } else {
                tree.chunks.push(child);
            }
        }
        Ok(())
    }
}

/// What is found of an index.
struct Walk {
    rank: usize,
    chunk_rows: u64,
    chunk_size: u64,
    /// Chunks that the table has.
    count: u64,
    /// Whether some of them may be missing.
    has_gaps: bool,
    chunks: Vec<u64>,
}

/// Rows and columns of a dataspace (IV.A.2.b, version 1).
fn shape(space: &[u8]) -> Option<(u64, u64)> {
    let dimension = |index: usize| space.get(8 + 8 * index..16 + 8 * index).map(whole);
    match (space.first()?, space.get(1)?) {
        (1, 1) => Some((dimension(0)?, 1)),
        (1, 2) => Some((dimension(0)?, dimension(1)?)),
        _ => None,
    }
}

fn columns_are_given(space: &[u8]) -> bool {
    space.get(1) == Some(&2)
}

/// The root of the index of a table, and the rows of its chunks (IV.A.2.i, version 3).
fn chunks(layout: &[u8], rank: usize, columns: u64) -> Option<(u64, u64)> {
    let [3, 2, dimensions, rest @ ..] = layout else { return None };
    let size = |index: usize| rest.get(8 + 4 * index..12 + 4 * index).map(whole);
    let fits = usize::from(*dimensions) == rank + 1 && size(rank)? == 8 && (rank == 1 || size(1)? == columns);
    let rows = size(0).filter(|rows| *rows > 0)?;
    fits.then_some((whole(rest.get(..8)?), rows))
}
