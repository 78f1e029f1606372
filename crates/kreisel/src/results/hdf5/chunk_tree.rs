//! The index of a growing table: a version 1 B-tree of chunk addresses (specification III.A.1, node type 1).
//!
//! Chunks come in order, perhaps with gaps, so only the right edge of the tree ever changes. It is kept in memory; a node that
//! is full goes to the file and is forgotten. A node is written over with more entries than it had, so
//! whoever looks for an earlier chunk finds it in both; and it lies within a page, so that it is never half
//! old and half new.

use super::Disk;
use crate::bytes::{Damaged, Reader, Writer};
use std::io;
use std::ops::Range;

/// Twice the default half rank of chunk B-trees, which a version 0 superblock cannot change.
pub(super) const MAX_ENTRIES: usize = 64;
/// More levels than any file can have: each multiplies the chunks by [`MAX_ENTRIES`].
pub(super) const MAX_LEVELS: usize = 12;
/// More rows than any run records.
pub(super) const MAX_ROWS: u64 = 1 << 60;
/// The address of nothing.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// What a key of the tree says of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkForm {
    /// Number of dimensions of the table.
    pub rank: usize,
    /// Rows of the table in a chunk.
    pub rows: u64,
    /// Bytes of a chunk.
    pub bytes: u32,
}

#[derive(Debug)]
struct TreeNode {
    address: u64,
    left: u64,
    /// For each child: number of its first chunk, and its address.
    entries: Vec<(u64, u64)>,
}

/// The right edge of a tree, leaf first.
#[derive(Debug)]
pub(super) struct ChunkTree {
    form: ChunkForm,
    edge: Vec<TreeNode>,
    /// The number behind that of the last chunk.
    chunk_end: u64,
}

impl ChunkTree {
    pub fn new(form: ChunkForm) -> Self {
        Self { form, edge: Vec::new(), chunk_end: 0 }
    }

    /// Saves the edge for a later [`ChunkTree::restore`].
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.chunk_end);
        out.whole(self.edge.len() as u64);
        for node in &self.edge {
            out.whole(node.address);
            out.whole(node.left);
            out.whole(node.entries.len() as u64);
            for &(chunk, address) in &node.entries {
                out.whole(chunk);
                out.whole(address);
            }
        }
    }

    /// The tree as it was saved, in a file whose used part ends at `end`.
    pub fn restore(form: ChunkForm, reader: &mut Reader, end: u64) -> Result<Self, Damaged> {
        let mut tree = Self { chunk_end: reader.whole()?, ..Self::new(form) };
        let size = tree.node_size() as u64;
        let levels = reader.count(24)?;
        // Every level of a tree multiplies its chunks.
        if tree.chunk_end > MAX_ROWS / form.rows.max(1) || levels > MAX_LEVELS {
            return Err(Damaged);
        }
        for _ in 0..levels {
            let (address, left) = (reader.whole()?, reader.whole()?);
            let entries = (0..reader.count(16)?)
                .map(|_| Ok((reader.whole()?, reader.whole()?)))
                .collect::<Result<Vec<_>, _>>()?;
            let fits = address.checked_add(size).is_some_and(|past| past <= end);
            let known = entries.iter().all(|&(chunk, _)| chunk < tree.chunk_end);
            if !fits || !known || entries.is_empty() || entries.len() > MAX_ENTRIES {
                return Err(Damaged);
            }
            tree.edge.push(TreeNode { address, left, entries });
        }
        Ok(tree)
    }

    /// Address of the topmost node.
    pub fn root(&self) -> u64 {
        self.edge.last().map_or(UNDEFINED, |node| node.address)
    }

    /// Adds a chunk behind all others.
    pub fn push(&mut self, chunk: u64, address: u64, disk: &mut Disk) -> io::Result<()> {
        self.chunk_end = chunk + 1;
        self.insert(0, (chunk, address), disk)
    }

    /// Lets the last chunk lie elsewhere.
    pub fn move_last(&mut self, address: u64) {
        if let Some(entry) = self.edge.first_mut().and_then(|leaf| leaf.entries.last_mut()) {
            entry.1 = address;
        }
    }

    /// Where the right edge lies.
    pub fn edge_ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let size = self.node_size() as u64;
        self.edge.iter().map(move |node| node.address..node.address + size)
    }

    /// Writes the right edge to the file.
    pub fn write_edge(&self, disk: &mut Disk) -> io::Result<()> {
        for (level, node) in self.edge.iter().enumerate() {
            disk.write_at(node.address, &self.encode(level, node, UNDEFINED, self.chunk_end))?;
        }
        Ok(())
    }

    fn insert(&mut self, level: usize, entry: (u64, u64), disk: &mut Disk) -> io::Result<()> {
        let node_size = self.node_size();
        let Some(node) = self.edge.get_mut(level) else {
            self.grow(entry, disk);
            return Ok(());
        };
        if node.entries.len() < MAX_ENTRIES {
            node.entries.push(entry);
            return Ok(());
        }
        let address = disk.allocate_within_page(node_size);
        let fresh = TreeNode { address, left: node.address, entries: vec![entry] };
        let full = std::mem::replace(node, fresh);
        disk.write_at(full.address, &self.encode(level, &full, address, entry.0))?;
        if level + 1 == self.edge.len() {
            self.grow((full.entries[0].0, full.address), disk);
        }
        self.insert(level + 1, (entry.0, address), disk)
    }

    /// Puts a new root on top, with one entry.
    fn grow(&mut self, entry: (u64, u64), disk: &mut Disk) {
        let address = disk.allocate_within_page(self.node_size());
        self.edge.push(TreeNode { address, left: UNDEFINED, entries: vec![entry] });
    }

    fn key_size(&self) -> usize {
        8 + 8 * (self.form.rank + 1)
    }

    fn node_size(&self) -> usize {
        24 + (MAX_ENTRIES + 1) * self.key_size() + MAX_ENTRIES * 8
    }

    /// The node as the file has it; `end` is the number of the first chunk to its right.
    fn encode(&self, level: usize, node: &TreeNode, right: u64, end: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.node_size());
        bytes.extend(b"TREE\x01");
        bytes.push(level as u8);
        bytes.extend((node.entries.len() as u16).to_le_bytes());
        bytes.extend(node.left.to_le_bytes());
        bytes.extend(right.to_le_bytes());
        for &(chunk, address) in &node.entries {
            self.encode_key(chunk, self.form.bytes, &mut bytes);
            bytes.extend(address.to_le_bytes());
        }
        self.encode_key(end, 0, &mut bytes);
        bytes.resize(self.node_size(), 0);
        bytes
    }

    fn encode_key(&self, chunk: u64, size: u32, bytes: &mut Vec<u8>) {
        bytes.extend(size.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes()); // no filter is skipped
        bytes.extend((chunk * self.form.rows).to_le_bytes());
        bytes.resize(bytes.len() + 8 * self.form.rank, 0); // first column, first byte of an element
    }
}
