//! Checksums of result files, kept while the files are written.
//!
//! The checksum is the CRC-32 of zip, gzip and PNG, so that other programs can check it too. A CRC is a
//! polynomial over the bits of a file modulo another one, P, and a sum: what a byte adds depends on its value
//! and on its place only. So bytes may be written in any order, and a byte that is written over is taken out
//! and put in again. Places count from the start of the file, by factors x⁻⁸; that is x to the power of
//! 2³² − 1 − 8, since P is primitive. Bytes that are zero add nothing, and neither do holes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The polynomial P without its highest power; the highest bit stands for 1, the lowest for x³¹.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// 1, as such a polynomial.
const ONE: u32 = 1 << 31;
/// x to this power is 1.
const ORDER: u64 = (1 << 32) - 1;
/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// The product of two polynomials.
fn product(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    for bit in (0..32).rev() {
        if a >> bit & 1 == 1 {
            product ^= b;
        }
        b = (b >> 1) ^ if b & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    product
}

/// x to some power.
fn power(mut exponent: u64) -> u32 {
    let (mut power, mut square) = (ONE, ONE >> 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = product(power, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    power
}

/// The bits of so many bytes, as an exponent of x.
fn bits(bytes: u64) -> u64 {
    bytes % ORDER * 8 % ORDER
}

/// What bytes at a place add.
fn part(address: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(u32::MAX);
    hasher.update(bytes);
    product(!hasher.finalize(), power(ORDER - bits(address + bytes.len() as u64)))
}

/// The sum over a file so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    parts: u32,
    length: u64,
}

impl Sum {
    /// The CRC-32 of the whole, in eight hexadecimal digits.
    pub fn digits(self) -> String {
        let shift = power(bits(self.length));
        digits(!(product(self.parts, shift) ^ product(u32::MAX, shift)))
    }
}

fn digits(crc: u32) -> String {
    format!("{crc:08x}")
}

/// The CRC-32 of a content, in eight hexadecimal digits.
pub fn checksum(content: &[u8]) -> String {
    digits(crc32fast::hash(content))
}

/// The CRC-32 of all that comes from a source, in eight hexadecimal digits.
pub(super) fn checksum_of(mut source: impl Read) -> io::Result<String> {
    let (mut hasher, mut block) = (crc32fast::Hasher::new(), vec![0; BLOCK]);
    loop {
        match source.read(&mut block) {
            Ok(0) => return Ok(digits(hasher.finalize())),
            Ok(count) => hasher.update(&block[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The sum of a file that somebody else writes.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedSum(Arc<Mutex<Sum>>);

impl SharedSum {
    /// The sum now.
    pub fn get(&self) -> Sum {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, sum: Sum) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = sum;
    }
}

/// A file of results that is being written. Those of an [`OutputFolder`](super::OutputFolder) keep the
/// checksum of what they hold; others, made [from](From) a file, do not.
#[derive(Debug)]
pub struct ResultFile {
    file: File,
    /// Where the system reads and writes next.
    cursor: u64,
    sum: Option<SharedSum>,
    block: Vec<u8>,
}

impl From<File> for ResultFile {
    fn from(file: File) -> Self {
        Self { file, cursor: 0, sum: None, block: Vec::new() }
    }
}

impl ResultFile {
    /// An empty file, or one that will be [measured](Self::measure); it has to be open for reading, too.
    pub(super) fn summed(file: File) -> (Self, SharedSum) {
        let sum = SharedSum::default();
        (Self { sum: Some(sum.clone()), ..Self::from(file) }, sum)
    }

    /// The file itself, for all but writing.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Where the next bytes are added.
    pub(super) fn end(&self) -> u64 {
        self.sum.as_ref().map_or(self.cursor, |sum| sum.get().length)
    }

    /// Reads as many bytes as there is room for.
    pub(super) fn read_at(&mut self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.seek(address)?;
        // Wherever a failure leaves it.
        self.cursor = u64::MAX;
        self.file.read_exact(bytes)?;
        self.cursor = address + bytes.len() as u64;
        Ok(())
    }

    /// Writes bytes to a place. What stood there has its share taken out of the sum, as far as it was
    /// written over: a disk may become full in between.
    pub(super) fn write_at(&mut self, mut address: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_some(address, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => (address, bytes) = (address + count as u64, &bytes[count..]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_some(&mut self, address: u64, bytes: &[u8]) -> io::Result<usize> {
        let Some(shared) = self.sum.clone() else {
            self.seek(address)?;
            let count = self.file.write(bytes)?;
            self.cursor += count as u64;
            return Ok(count);
        };
        let mut sum = shared.get();
        let old = sum.length.saturating_sub(address).min(bytes.len() as u64) as usize;
        let mut block = std::mem::take(&mut self.block);
        block.resize(old, 0);
        let written = self.read_old(address, &mut block).and_then(|()| {
            self.seek(address)?;
            self.file.write(bytes)
        });
        if let Ok(count) = written {
            let past = address + count as u64;
            sum.parts ^= part(address, &block[..old.min(count)]) ^ part(address, &bytes[..count]);
            sum.length = sum.length.max(past);
            shared.set(sum);
            self.cursor = past;
        }
        self.block = block;
        written
    }

    fn read_old(&mut self, address: u64, block: &mut [u8]) -> io::Result<()> {
        if block.is_empty() { Ok(()) } else { self.read_at(address, block) }
    }

    fn seek(&mut self, address: u64) -> io::Result<()> {
        if self.cursor != address {
            self.cursor = self.file.seek(SeekFrom::Start(address))?;
        }
        Ok(())
    }

    /// Takes the sum of the first bytes of a file that is there already; the file is to be
    /// [cut](Self::cut) behind them before anything is added.
    pub(super) fn measure(&mut self, length: u64) -> io::Result<()> {
        let parts = self.parts(0..length)?;
        if let Some(shared) = &self.sum {
            shared.set(Sum { parts, length });
        }
        Ok(())
    }

    /// Drops what lies behind the first bytes.
    pub(super) fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// A number that tells whether anything was changed outside of some ranges, which do not overlap.
    pub(super) fn sum_without(&mut self, ranges: &[Range<u64>]) -> io::Result<u64> {
        let Some(Sum { mut parts, length }) = self.sum.as_ref().map(SharedSum::get) else { return Ok(0) };
        for range in ranges {
            parts ^= self.parts(range.start..range.end.min(length))?;
        }
        Ok(parts.into())
    }

    fn parts(&mut self, range: Range<u64>) -> io::Result<u32> {
        let (mut address, mut parts, mut block) = (range.start, 0, vec![0; BLOCK]);
        while address < range.end {
            let count = (range.end - address).min(BLOCK as u64) as usize;
            self.read_at(address, &mut block[..count])?;
            parts ^= part(address, &block[..count]);
            address += count as u64;
        }
        Ok(parts)
    }
}

/// Adds bytes at the end.
impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_some(self.end(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_checksum_is_the_published_one_of_nine_digits() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(checksum(b"123456789"), "cbf43926");
        assert_eq!(checksum_of(&b"123456789"[..]).unwrap(), "cbf43926");
        let (mut file, sum) = ResultFile::summed(tempfile::tempfile().unwrap());
        assert_eq!(sum.get().digits(), "00000000");
        file.write_all(b"12345").unwrap();
        file.write_all(b"6789").unwrap();
        assert_eq!(sum.get().digits(), "cbf43926");
    }

    #[test]
    fn powers_of_x_come_back_to_one() {
        assert_eq!(power(ORDER), ONE);
        assert_eq!(power(1), ONE >> 1);
        // Its prime factors: P is primitive.
        for prime in [3, 5, 17, 257, 65537] {
            assert_ne!(power(ORDER / prime), ONE, "{prime}");
        }
        // No file is that long, and yet.
        assert_eq!(bits(u64::MAX), (u128::from(u64::MAX) * 8 % u128::from(ORDER)) as u64);
    }

    proptest! {
        /// Bytes in any order, written over, with holes.
        #[test]
        fn the_sum_is_that_of_the_file_as_it_stands(
            writes in proptest::collection::vec((0_u64..300, proptest::collection::vec(any::<u8>(), 0..80)), 0..20),
            hidden in 0_u64..200,
        ) {
            let (mut file, sum) = ResultFile::summed(tempfile::tempfile().unwrap());
            let mut content: Vec<u8> = Vec::new();
            for (address, bytes) in &writes {
                file.write_at(*address, bytes).unwrap();
                let start = *address as usize;
                if !bytes.is_empty() {
                    content.resize(content.len().max(start + bytes.len()), 0);
                    content[start..start + bytes.len()].copy_from_slice(bytes);
                }
                prop_assert_eq!(sum.get().digits(), checksum(&content));
            }
            let length = content.len() as u64;
            let ranges = [hidden..hidden + 50, hidden + 60..hidden + 70];
            let without = file.sum_without(&ranges).unwrap();
            file.measure(length).unwrap();
            prop_assert_eq!(sum.get().digits(), checksum(&content));
            // What changes within the ranges is not seen, what changes outside of them is.
            for place in 0..length {
                file.write_at(place, &[!content[place as usize]]).unwrap();
                let same = file.sum_without(&ranges).unwrap() == without;
                prop_assert_eq!(same, ranges.iter().any(|range| range.contains(&place)));
                file.write_at(place, &[content[place as usize]]).unwrap();
            }
        }
    }
}
