//! The front of an HDF5 file: superblock, groups, headers, and all that never grows.
//!
//! Built from the leaves up: a group is given the addresses of its members. All behind the superblock and the
//! texts has room in the file twice, and the image knows where its own addresses stand, so that it can
//! [`Image::switch`] from one place to the other. Section numbers are those of the "HDF5 File Format
//! Specification, Version 3.0".

use super::chunk_tree::UNDEFINED;
use super::table::{TableHeader, TableId, TableShape};
use std::collections::BTreeMap;

/// Offset in the image of a number that may change.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ImageOffset(usize);

/// Address of an object header.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Address(u64);

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Attribute<'a> {
    /// A text of variable length, UTF-8.
    Text(&'a str),
    /// A text of fixed length, ASCII, as VTK wants its `Type`.
    Ascii(&'a str),
    /// One whole number.
    Integer(i64),
    /// Several whole numbers.
    Integers(&'a [i64]),
}

/// What the elements of a table are.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum ElementType {
    /// Double precision.
    Float,
    /// Single precision.
    Single,
    /// 64-bit integer; rows that were never written read as this value.
    Integer {
        /// The value.
        fill: i64,
    },
}

/// Half the most members of a B-tree node of a group (III.A.1).
const GROUP_TREE_RANK: usize = 16;
/// Bytes before the first message of an object header (IV.A.1.a).
pub(super) const HEADER_PREFIX: usize = 16;
pub(super) const SUPERBLOCK_SIZE: usize = 96;
const END_OF_FILE: ImageOffset = ImageOffset(40);
pub(super) const ROOT_ENTRY: usize = 56;
/// Texts in one heap collection; object numbers have 16 bits (III.E).
const TEXTS_PER_COLLECTION: usize = 60_000;

/// The bytes at the front of a file.
#[derive(Debug)]
pub(in super::super) struct Image {
    bytes: Vec<u8>,
    /// Where the part begins that has room in the file twice.
    twin_start: usize,
    /// Whether the addresses are those of the second place.
    is_second: bool,
    /// Offsets of all addresses that point into that part.
    links: Vec<usize>,
    leaf_rank: usize,
    texts: BTreeMap<String, [u8; 16]>,
    tables: Vec<TableHeader>,
}

impl Image {
    /// An image whose groups have at most `max_members` members and whose texts are among `texts`.
    pub fn new<'a>(max_members: usize, texts: impl IntoIterator<Item = &'a str>) -> Self {
        // As many leaves as one tree node can hold, each with 2 × rank members.
        let leaf_rank = max_members.div_ceil(4 * GROUP_TREE_RANK).max(4);
        let mut image = Self {
            bytes: vec![0; SUPERBLOCK_SIZE],
            twin_start: 0,
            is_second: false,
            links: Vec::new(),
            leaf_rank,
            texts: texts.into_iter().map(|text| (text.to_owned(), [0; 16])).collect(),
            tables: Vec::new(),
        };
        image.write_superblock();
        image.write_texts();
        image.twin_start = image.bytes.len();
        image
    }

    /// The superblock: what decides which of the two places is the file's content.
    pub fn superblock(&self) -> &[u8] {
        &self.bytes[..SUPERBLOCK_SIZE]
    }

    /// Where a superblock says that the root group is.
    pub fn root_entry<'a>(&self, superblock: &'a [u8]) -> &'a [u8] {
        &superblock[ROOT_ENTRY + 8..ROOT_ENTRY + 16]
    }

    /// Texts, behind the superblock.
    pub fn text_heap(&self) -> (u64, &[u8]) {
        (SUPERBLOCK_SIZE as u64, &self.bytes[SUPERBLOCK_SIZE..self.twin_start])
    }

    /// Groups and headers, and the place where they are now.
    pub fn twin(&self) -> (u64, &[u8]) {
        let start = if self.is_second { self.bytes.len() } else { self.twin_start };
        (start as u64, &self.bytes[self.twin_start..])
    }

    /// Moves groups and headers from one of their two places to the other.
    pub fn switch(&mut self) {
        let distance = (self.bytes.len() - self.twin_start) as u64;
        let shift = if self.is_second { distance.wrapping_neg() } else { distance };
        for &link in &self.links {
            let address = self.bytes[link..link + 8].try_into().map_or(0, u64::from_le_bytes);
            self.bytes[link..link + 8].copy_from_slice(&address.wrapping_add(shift).to_le_bytes());
        }
        self.is_second = !self.is_second;
    }

    /// Where the front ends, both places included.
    pub fn end(&self) -> u64 {
        (2 * self.bytes.len() - self.twin_start) as u64
    }

    pub fn set_u64(&mut self, place: ImageOffset, value: u64) {
        self.bytes[place.0..place.0 + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub fn set_end_of_file(&mut self, end: u64) {
        self.set_u64(END_OF_FILE, end);
    }

    pub(super) fn take_tables(&mut self) -> Vec<TableHeader> {
        std::mem::take(&mut self.tables)
    }

    /// Adds a table without rows that can grow.
    pub fn growing(
        &mut self,
        shape: TableShape,
        element: ElementType,
        attributes: &[(&str, Attribute<'_>)],
    ) -> (Address, TableId) {
        let columns: Vec<u64> = shape.columns.into_iter().collect();
        let mut header = Header::default();
        let space = header.push(DATASPACE, &dataspace(&[&[0], &columns[..]].concat(), true));
        header.push(DATATYPE, &element.datatype());
        header.push(FILL_VALUE, &element.fill());
        let layout = header.push(LAYOUT, &chunked_layout(shape, &columns, element.size()));
        self.push_attributes(&mut header, attributes);
        let (address, base) = self.write_header(&header);
        // The row count follows 8 bytes of dataspace, the index address 3 bytes of layout.
        let (row_count, index) = (ImageOffset(base + space + 8), ImageOffset(base + layout + 3));
        self.tables.push(TableHeader { shape, element_size: element.size(), row_count, index });
        (address, TableId(self.tables.len() - 1))
    }

    /// Adds a table of whole numbers that stays as it is.
    pub fn integers(&mut self, values: &[i64]) -> Address {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.fixed(&ElementType::Integer { fill: 0 }.datatype(), values.len(), &data)
    }

    /// Adds a table of texts that stays as it is.
    pub fn texts(&mut self, values: &[&str]) -> Address {
        let data: Vec<u8> = values.iter().flat_map(|text| self.text_reference(text)).collect();
        self.fixed(&text_datatype(), values.len(), &data)
    }

    fn fixed(&mut self, datatype: &[u8], count: usize, data: &[u8]) -> Address {
        let data_address = if data.is_empty() { UNDEFINED } else { self.append(data) as u64 };
        let mut header = Header::default();
        header.push(DATASPACE, &dataspace(&[count as u64], false));
        header.push(DATATYPE, datatype);
        header.push(FILL_VALUE, &[2, 2, 2, 0, 0, 0, 0, 0]);
        let layout = [&[3, 1][..], &data_address.to_le_bytes(), &(data.len() as u64).to_le_bytes()].concat();
        let layout = header.push(LAYOUT, &layout);
        let (address, base) = self.write_header(&header);
        if !data.is_empty() {
            self.links.push(base + layout + 2);
        }
        address
    }

    /// Adds a group of named members; the places are those of the attributes' values.
    ///
    /// A member may be in several groups, and more than once in a group under several names.
    pub fn group(
        &mut self,
        attributes: &[(&str, Attribute<'_>)],
        members: &[(&str, Address)],
    ) -> (Address, Vec<ImageOffset>) {
        let (tree, heap) = self.write_members(members);
        let mut header = Header::default();
        let table = header.push(SYMBOL_TABLE, &[tree.to_le_bytes(), heap.to_le_bytes()].concat());
        let values = self.push_attributes(&mut header, attributes);
        let (address, base) = self.write_header(&header);
        self.links.extend([base + table, base + table + 8]);
        (address, values.into_iter().map(|value| ImageOffset(base + value)).collect())
    }

    /// Makes a group the root of the file.
    pub fn set_root(&mut self, root: Address) {
        self.set_u64(ImageOffset(ROOT_ENTRY + 8), root.0);
        self.links.push(ROOT_ENTRY + 8);
        self.count_link(root);
    }

    /// III.B, III.C and III.D: names in a heap, members in leaves in the order of names, leaves in one tree
    /// node.
    fn write_members(&mut self, members: &[(&str, Address)]) -> (u64, u64) {
        let mut members = members.to_vec();
        members.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        let (heap, offsets) = self.write_heap(&members);
        let mut node = b"TREE\0\0".to_vec();
        let leaf_size = 2 * self.leaf_rank;
        node.extend((members.len().div_ceil(leaf_size) as u16).to_le_bytes());
        node.extend([0xff; 16]); // no siblings
        node.extend(0_u64.to_le_bytes());
        let mut children = Vec::new();
        for (leaf, names) in members.chunks(leaf_size).zip(offsets.chunks(leaf_size)) {
            children.push(node.len());
            node.extend((self.write_leaf(leaf, names) as u64).to_le_bytes());
            node.extend(names.last().copied().unwrap_or_default().to_le_bytes());
        }
        node.resize(24 + (4 * GROUP_TREE_RANK + 1) * 8, 0);
        let tree = self.append(&node);
        self.links.extend(children.into_iter().map(|child| tree + child));
        (tree as u64, heap)
    }

    fn write_heap(&mut self, members: &[(&str, Address)]) -> (u64, Vec<u64>) {
        let mut names = vec![0; 8]; // the empty name
        let mut offsets = Vec::with_capacity(members.len());
        for (name, _) in members {
            offsets.push(names.len() as u64);
            names.extend(name.as_bytes());
            names.push(0);
            pad(&mut names);
        }
        let data = self.append(&names) as u64;
        let no_free_room = 1_u64;
        let numbers = [names.len() as u64, no_free_room, data].map(u64::to_le_bytes).concat();
        let heap = self.append(&[&b"HEAP\0\0\0\0"[..], &numbers].concat());
        self.links.push(heap + 8 + 16);
        (heap as u64, offsets)
    }

    fn write_leaf(&mut self, members: &[(&str, Address)], names: &[u64]) -> usize {
        let mut leaf = b"SNOD\x01\0".to_vec();
        leaf.extend((members.len() as u16).to_le_bytes());
        for ((_, member), name) in members.iter().zip(names) {
            self.count_link(*member);
            leaf.extend(name.to_le_bytes());
            leaf.extend(member.0.to_le_bytes());
            leaf.extend([0; 24]); // nothing cached
        }
        leaf.resize(8 + 2 * self.leaf_rank * 40, 0);
        let start = self.append(&leaf);
        self.links.extend((0..members.len()).map(|member| start + 8 + 40 * member + 8));
        start
    }

    /// Counts one more name of an object (IV.A.1.a).
    fn count_link(&mut self, object: Address) {
        let place = object.0 as usize + 4;
        let count = self.bytes[place..place + 4].try_into().map_or(0, u32::from_le_bytes);
        self.bytes[place..place + 4].copy_from_slice(&(count + 1).to_le_bytes());
    }

    fn push_attributes(&self, header: &mut Header, attributes: &[(&str, Attribute<'_>)]) -> Vec<usize> {
        attributes
            .iter()
            .map(|(name, value)| {
                let (datatype, space, data) = self.attribute_parts(value);
                let sizes = [name.len() + 1, datatype.len(), space.len()];
                let mut message = vec![1, 0];
                message.extend(sizes.iter().flat_map(|&size| (size as u16).to_le_bytes()));
                for part in [[name.as_bytes(), &[0]].concat(), datatype, space] {
                    message.extend(part);
                    pad(&mut message);
                }
                let value_offset = message.len();
                message.extend(data);
                header.push(ATTRIBUTE, &message) + value_offset
            })
            .collect()
    }

    fn attribute_parts(&self, value: &Attribute<'_>) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let integer = ElementType::Integer { fill: 0 }.datatype();
        match value {
            Attribute::Text(text) => {
                (text_datatype(), dataspace(&[], false), self.text_reference(text).to_vec())
            }
            Attribute::Ascii(text) => {
                (ascii_datatype(text.len()), dataspace(&[], false), text.as_bytes().to_vec())
            }
            Attribute::Integer(number) => (integer, dataspace(&[], false), number.to_le_bytes().to_vec()),
            Attribute::Integers(numbers) => {
                let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                (integer, dataspace(&[numbers.len() as u64], false), data)
            }
        }
    }

    fn text_reference(&self, text: &str) -> [u8; 16] {
        *self.texts.get(text).expect("every text was announced to Image::new")
    }

    /// III.E: the global heap, where texts of variable length are.
    fn write_texts(&mut self) {
        let mut texts: Vec<String> = std::mem::take(&mut self.texts).into_keys().collect();
        for part in texts.chunks_mut(TEXTS_PER_COLLECTION) {
            let start = self.bytes.len() as u64;
            let mut collection = b"GCOL\x01\0\0\0".to_vec();
            collection.extend([0; 8]);
            for (number, text) in (1_u16..).zip(part) {
                collection.extend(number.to_le_bytes());
                collection.extend([1, 0, 0, 0, 0, 0]); // one reference
                let text_length = text.len();
                collection.extend((text_length as u64).to_le_bytes());
                collection.extend(text.as_bytes());
                pad(&mut collection);
                self.texts.insert(std::mem::take(text), text_reference(text_length, start, number));
            }
            close_collection(&mut collection);
            self.append(&collection);
        }
    }

    /// II.A, version 0.
    fn write_superblock(&mut self) {
        let mut block = superblock_versions().to_vec();
        block.extend((self.leaf_rank as u16).to_le_bytes());
        block.extend((GROUP_TREE_RANK as u16).to_le_bytes());
        block.extend([0; 4]);
        for address in [0, UNDEFINED, 0, UNDEFINED] {
            block.extend(address.to_le_bytes());
        }
        self.bytes[..block.len()].copy_from_slice(&block);
    }

    /// IV.A.1.a: writes a header; returns its address and the offset of its first message.
    fn write_header(&mut self, header: &Header) -> (Address, usize) {
        let mut bytes = vec![1, 0];
        bytes.extend(header.message_count.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes()); // names, counted by count_link
        bytes.extend((header.messages.len() as u32).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(&header.messages);
        let start = self.append(&bytes);
        (Address(start as u64), start + HEADER_PREFIX)
    }

    fn append(&mut self, bytes: &[u8]) -> usize {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        pad(&mut self.bytes);
        start
    }
}

pub(super) const DATASPACE: u16 = 0x01;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const FILL_VALUE: u16 = 0x05;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const ATTRIBUTE: u16 = 0x0c;
pub(super) const SYMBOL_TABLE: u16 = 0x11;

/// The messages of an object header.
#[derive(Default)]
struct Header {
    messages: Vec<u8>,
    message_count: u16,
}

impl Header {
    /// Adds a message and returns the offset of its content among the messages.
    fn push(&mut self, kind: u16, content: &[u8]) -> usize {
        let mut content = content.to_vec();
        pad(&mut content);
        self.messages.extend(kind.to_le_bytes());
        self.messages.extend((content.len() as u16).to_le_bytes());
        self.messages.extend([0; 4]);
        let start = self.messages.len();
        self.messages.extend(content);
        self.message_count += 1;
        start
    }
}

/// How a file begins (II.A): what it is, versions, and that addresses and lengths have 8 bytes.
pub(super) fn superblock_versions() -> [u8; 16] {
    *b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0"
}

impl ElementType {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Self::Float | Self::Integer { .. } => 8,
            Self::Single => 4,
        }
    }

    /// IV.A.2.d: IEEE double, IEEE single or signed 64-bit integer, little-endian.
    pub(super) fn datatype(self) -> Vec<u8> {
        match self {
            Self::Float => vec![0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0],
            Self::Single => vec![0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0],
            Self::Integer { .. } => vec![0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0],
        }
    }

    /// IV.A.2.f, version 2: room is taken chunk by chunk.
    fn fill(self) -> Vec<u8> {
        let fill = match self {
            Self::Float | Self::Single => 0,
            Self::Integer { fill } => fill,
        };
        [&[2, 3, 2, 1, self.size() as u8, 0, 0, 0][..], &fill.to_le_bytes()[..self.size()]].concat()
    }
}

/// IV.A.2.d: variable-length UTF-8 text, whose base type is an unsigned byte.
fn text_datatype() -> Vec<u8> {
    vec![0x19, 1, 1, 0, 16, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0]
}

/// IV.A.2.d: text of fixed length, padded with zeros.
fn ascii_datatype(length: usize) -> Vec<u8> {
    [&[0x13, 1, 0, 0][..], &(length as u32).to_le_bytes()].concat()
}

/// IV.A.2.b, version 1; a table that grows has no limit in its first dimension.
fn dataspace(dimensions: &[u64], grows: bool) -> Vec<u8> {
    let mut space = vec![1, dimensions.len() as u8, u8::from(grows), 0, 0, 0, 0, 0];
    space.extend(dimensions.iter().flat_map(|size| size.to_le_bytes()));
    if grows {
        let limits = std::iter::once(&u64::MAX).chain(dimensions.iter().skip(1));
        space.extend(limits.flat_map(|size| size.to_le_bytes()));
    }
    space
}

/// IV.A.2.i, version 3.
fn chunked_layout(shape: TableShape, columns: &[u64], element_size: usize) -> Vec<u8> {
    let sizes = std::iter::once(shape.chunk_rows).chain(columns.iter().copied()).chain([element_size as u64]);
    let mut layout = vec![3, 2, columns.len() as u8 + 2];
    layout.extend(UNDEFINED.to_le_bytes());
    layout.extend(sizes.flat_map(|size| (size as u32).to_le_bytes()));
    layout
}

/// How a text of variable length stands in a table: its length, its heap collection, its number there.
fn text_reference(length: usize, collection: u64, number: u16) -> [u8; 16] {
    let mut reference = [0; 16];
    reference[..4].copy_from_slice(&(length as u32).to_le_bytes());
    reference[4..12].copy_from_slice(&collection.to_le_bytes());
    reference[12..14].copy_from_slice(&number.to_le_bytes());
    reference
}

/// Fills a heap collection up to its least size and enters the size.
fn close_collection(collection: &mut Vec<u8>) {
    const MIN_SIZE: usize = 4096;
    let used = collection.len();
    let size = (used + 16).max(MIN_SIZE);
    collection.resize(size, 0);
    // Object 0 is the room that is left, its own 16 bytes included.
    collection[used + 8..used + 16].copy_from_slice(&((size - used) as u64).to_le_bytes());
    collection[8..16].copy_from_slice(&(size as u64).to_le_bytes());
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}
