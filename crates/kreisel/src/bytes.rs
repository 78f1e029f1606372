//! Numbers as bytes, little-endian, and back: what saved states and checkpoints are made of.

/// The bytes end too early, or say what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Appends numbers.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn whole(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub fn numbers(&mut self, values: &[f64]) {
        self.whole(values.len() as u64);
        values.iter().for_each(|&value| self.number(value));
    }

    pub fn indices(&mut self, values: Option<&Vec<usize>>) {
        self.flag(values.is_some());
        let Some(values) = values else { return };
        self.whole(values.len() as u64);
        values.iter().for_each(|&value| self.whole(value as u64));
    }

    /// Bytes with their count before them.
    pub fn section(&mut self, bytes: &[u8]) {
        self.whole(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Takes numbers from the front.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(Damaged)?;
        self.0 = tail;
        Ok(*head)
    }

    pub fn number(&mut self) -> Result<f64, Damaged> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    pub fn some_numbers<const N: usize>(&mut self) -> Result<[f64; N], Damaged> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Ok(numbers)
    }

    pub fn whole(&mut self) -> Result<u64, Damaged> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    pub fn flag(&mut self) -> Result<bool, Damaged> {
        match self.bytes()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Damaged),
        }
    }

    /// How many things of a size follow; a count beyond the bytes that are left is damage, not a reason to
    /// allocate.
    pub fn count(&mut self, size: usize) -> Result<usize, Damaged> {
        let count = self.whole()?;
        if count > (self.0.len() / size) as u64 { Err(Damaged) } else { Ok(count as usize) }
    }

    pub fn numbers(&mut self) -> Result<Vec<f64>, Damaged> {
        (0..self.count(8)?).map(|_| self.number()).collect()
    }

    pub fn indices(&mut self) -> Result<Option<Vec<usize>>, Damaged> {
        if !self.flag()? {
            return Ok(None);
        }
        let count = self.count(8)?;
        let index = |_| usize::try_from(self.whole()?).map_err(|_| Damaged);
        (0..count).map(index).collect::<Result<_, _>>().map(Some)
    }

    pub fn section(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.count(1)?;
        let (head, tail) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = tail;
        Ok(head)
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged) }
    }
}
