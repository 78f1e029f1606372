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
    /// Whether chunks of zeros alone take no room, and chunks of one other number that of the first of them.
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
    /// Where in the file that chunk will lie, once it has a place of its own.
    address: Option<u64>,
    /// A full chunk of one number throughout, and where it lies: more of that number lead there too.
    constant: Option<(ElementBytes, u64)>,
    /// Whether the index leads to that place for the chunk that is filling, because it was flushed.
    is_borrowed: bool,
}

/// The bytes of an element, and zeros behind those of a short one.
type ElementBytes = [u8; 8];

impl ChunkedTable {
    pub fn new(header: TableHeader) -> Self {
        let tree = ChunkTree::new(header.form());
        Self {
            header,
            tree,
            full_rows: 0,
            chunk: Vec::new(),
            address: None,
            constant: None,
            is_borrowed: false,
        }
    }

    /// Saves what a flushed table needs to go on; the filling chunk is in the file.
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.full_rows);
        out.whole(self.chunk.len() as u64);
        out.whole(self.address.unwrap_or(UNDEFINED));
        let (element, place) = self.constant.unwrap_or((ElementBytes::default(), UNDEFINED));
        [u64::from_le_bytes(element), place, self.is_borrowed.into()]
            .into_iter()
            .for_each(|number| out.whole(number));
        self.tree.save(out);
    }

    /// A table as it was saved; its filling chunk is read back.
    pub fn restore(header: TableHeader, reader: &mut Reader, disk: &mut Disk) -> io::Result<Self> {
        let size = header.chunk_size() as u64;
        let [full_rows, filled, address, element, place, borrowed] =
            take(reader).map_err(|Damaged| damaged())?;
        let tree = ChunkTree::restore(header.form(), reader, disk.end).map_err(|Damaged| damaged())?;
        let [address, place] = [address, place].map(|address| (address != UNDEFINED).then_some(address));
        let fits = |at: u64| at.checked_add(size).is_some_and(|past| past <= disk.end);
        let has_place = address.is_some_and(fits);
        let is_gap = header.shape.is_sparse && address.is_none();
        let is_borrowed = borrowed == 1;
        let is_known = place.is_none_or(|place| header.shape.is_sparse && fits(place));
        if borrowed > 1 || !is_known || (is_borrowed && (place.is_none() || address.is_some())) {
            return Err(damaged());
        }
        let constant = place.map(|place| (element.to_le_bytes(), place));
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
        } else if let Some((element, _)) = constant.filter(|_| is_borrowed) {
            chunk
                .chunks_mut(header.element_size)
                .for_each(|place| place.copy_from_slice(&element[..place.len()]));
        }
        let address = address.filter(|_| filled > 0);
        Ok(Self { header, tree, full_rows, chunk, address, constant, is_borrowed })
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
        if let (Some(element), Some(address)) = (self.repeated(), self.address) {
            self.constant = Some((element, address));
        }
        self.full_rows += self.header.shape.chunk_rows;
        self.chunk.clear();
        (self.address, self.is_borrowed) = (None, false);
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

    /// The element that the filling chunk has throughout, in a table in which that saves room.
    fn repeated(&self) -> Option<ElementBytes> {
        let (size, chunk) = (self.header.element_size, &self.chunk[..]);
        let is_repeated = self.header.shape.is_sparse && chunk.get(size..)? == &chunk[..chunk.len() - size];
        let mut element = ElementBytes::default();
        element[..size].copy_from_slice(&chunk[..size]);
        is_repeated.then_some(element)
    }

    /// Writes the filling chunk to its place; the first time, at full size, so that the place is kept. Zeros
    /// need none, where there may be gaps, and what was there before leads to where it lies.
    ///
    /// A chunk that was flushed in the place of another and went on differently gets its own, with the same
    /// rows up to there: who reads the file at the state of the flush finds them in both.
    fn write_chunk(&mut self, disk: &mut Disk) -> io::Result<()> {
        if let Some(address) = self.address {
            return disk.write_at(address, &self.chunk);
        }
        if let Some(element) = self.repeated() {
            if element == ElementBytes::default() {
                return Ok(());
            }
            if let Some((_, place)) = self.constant.filter(|(known, _)| *known == element) {
                let result = self.lead_to(place, disk);
                self.is_borrowed = true;
                return result;
            }
        }
        let size = self.header.chunk_size();
        let address = disk.allocate(size);
        let filled = self.chunk.len();
        self.chunk.resize(size, 0);
        let written = disk.write_at(address, &self.chunk);
        self.chunk.truncate(filled);
        written?;
        self.address = Some(address);
        self.lead_to(address, disk)
    }

    /// Enters where the filling chunk is into the index.
    fn lead_to(&mut self, address: u64, disk: &mut Disk) -> io::Result<()> {
        if self.is_borrowed {
            self.tree.move_last(address);
            return Ok(());
        }
        self.tree.push(self.full_rows / self.header.shape.chunk_rows, address, disk)
    }
}

fn take<const COUNT: usize>(reader: &mut Reader) -> Result<[u64; COUNT], Damaged> {
    let mut numbers = [0; COUNT];
    numbers.iter_mut().try_for_each(|number| reader.whole().map(|read| *number = read))?;
    Ok(numbers)
}

/// What a saved position says cannot be, or is not in the file.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the saved position does not fit the file")
}
