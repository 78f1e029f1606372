//! A table that grows by rows: one chunk in memory, the others in the file.

use super::Disk;
use super::chunk_tree::{ChunkForm, ChunkTree, MAX_ROWS, UNDEFINED};
use super::image::{Image, ImageOffset};
use crate::bytes::{Damaged, Reader, Writer};
use std::io;
use std::ops::Range;

/// Which of a file's growing tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct TableId(pub(super) usize);

/// Columns and chunks of a table.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct TableShape {
    /// Number of columns of a table of two dimensions; `None` for one dimension.
    pub columns: Option<u64>,
    /// Rows that are kept together in the file and in memory.
    pub chunk_rows: u64,
    /// Whether chunks of zeros alone take no room; [`reader`](super::reader) does not read such tables.
    pub is_sparse: bool,
}

/// Where the front of the file keeps what grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableHeader {
    pub shape: TableShape,
    /// Bytes of an element.
    pub element_size: usize,
    pub row_count: ImageOffset,
    pub index: ImageOffset,
}

impl TableHeader {
    fn chunk_size(&self) -> usize {
        self.shape.chunk_rows as usize * self.row_size()
    }

    fn row_size(&self) -> usize {
        self.shape.columns.unwrap_or(1) as usize * self.element_size
    }

    fn form(&self) -> ChunkForm {
        let rank = if self.shape.columns.is_some() { 2 } else { 1 };
        ChunkForm { rank, rows: self.shape.chunk_rows, bytes: self.chunk_size() as u32 }
    }
}

#[derive(Debug)]
pub(super) struct ChunkedTable {
    header: TableHeader,
    tree: ChunkTree,
    /// Rows in chunks that are full and in the file, or that are the fill value.
    full_rows: u64,
    /// The chunk that is filling.
    chunk: Vec<u8>,
    /// Where in the file that chunk will lie, once it has a place.
    address: Option<u64>,
}

impl ChunkedTable {
    pub fn new(header: TableHeader) -> Self {
        let tree = ChunkTree::new(header.form());
        Self { header, tree, full_rows: 0, chunk: Vec::new(), address: None }
    }

    /// Saves what a flushed table needs to go on; the filling chunk is in the file.
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.full_rows);
        out.whole(self.chunk.len() as u64);
        out.whole(self.address.unwrap_or(UNDEFINED));
        self.tree.save(out);
    }

    /// A table as it was saved; its filling chunk is read back.
    pub fn restore(header: TableHeader, reader: &mut Reader, disk: &mut Disk) -> io::Result<Self> {
        let size = header.chunk_size() as u64;
        let (full_rows, filled, address) = take(reader).map_err(|Damaged| damaged())?;
        let tree = ChunkTree::restore(header.form(), reader, disk.end).map_err(|Damaged| damaged())?;
        let address = (address != UNDEFINED).then_some(address);
        let has_place = address.is_some_and(|at| at.checked_add(size).is_some_and(|past| past <= disk.end));
        let is_gap = header.shape.is_sparse && address.is_none();
        if full_rows > MAX_ROWS
            || filled >= size
            || !filled.is_multiple_of(header.element_size as u64)
            || (filled > 0 && !has_place && !is_gap)
        {
            return Err(damaged());
        }
        let mut chunk = vec![0; filled as usize];
        if let Some(address) = address.filter(|_| filled > 0) {
            disk.read_at(address, &mut chunk)?;
        }
        Ok(Self { header, tree, full_rows, chunk, address: address.filter(|_| filled > 0) })
    }

    /// Places that are written again: the edge of the index, and what the filling chunk has left.
    pub fn open_ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let rest = self
            .address
            .map(|address| address + self.chunk.len() as u64..address + self.header.chunk_size() as u64);
        rest.into_iter().chain(self.tree.edge_ranges())
    }

    /// Forgets all rows; those in the file stay as they are and are no longer the table's.
    pub fn clear(&mut self) {
        *self = Self::new(self.header);
    }

    pub fn append<const SIZE: usize>(&mut self, element: [u8; SIZE], disk: &mut Disk) -> io::Result<()> {
        debug_assert_eq!(SIZE, self.header.element_size, "an element of another size");
        self.chunk.extend_from_slice(&element);
        if self.chunk.len() < self.header.chunk_size() {
            return Ok(());
        }
        self.write_chunk(disk)?;
        self.full_rows += self.header.shape.chunk_rows;
        self.chunk.clear();
        self.address = None;
        Ok(())
    }

    /// A table filled so has no chunks at all; it is not mixed with `append`.
    pub fn append_fill(&mut self, rows: u64) {
        self.full_rows += rows;
    }

    /// Writes what is in memory to the tail of the file.
    pub fn write(&mut self, disk: &mut Disk) -> io::Result<()> {
        if !self.chunk.is_empty() {
            self.write_chunk(disk)?;
        }
        self.tree.write_edge(disk)
    }

    /// Enters where the index is and the number of rows into the front of the file.
    pub fn enter(&self, image: &mut Image) {
        let open_rows = self.chunk.len() / self.header.row_size();
        image.set_u64(self.header.index, self.tree.root());
        image.set_u64(self.header.row_count, self.full_rows + open_rows as u64);
    }

    /// Writes the filling chunk to its place; the first time, at full size, so that the place is kept. Zeros
    /// need none, where there may be gaps.
    fn write_chunk(&mut self, disk: &mut Disk) -> io::Result<()> {
        if let Some(address) = self.address {
            return disk.write_at(address, &self.chunk);
        }
        if self.header.shape.is_sparse && self.chunk.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let size = self.header.chunk_size();
        let address = disk.allocate(size);
        let filled = self.chunk.len();
        self.chunk.resize(size, 0);
        let written = disk.write_at(address, &self.chunk);
        self.chunk.truncate(filled);
        written?;
        self.address = Some(address);
        self.tree.push(self.full_rows / self.header.shape.chunk_rows, address, disk)
    }
}

fn take(reader: &mut Reader) -> Result<(u64, u64, u64), Damaged> {
    Ok((reader.whole()?, reader.whole()?, reader.whole()?))
}

/// What a saved position says cannot be, or is not in the file.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the saved position does not fit the file")
}
