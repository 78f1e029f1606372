//! Texts put together while compiling, for keys whose sentence follows from a table.

/// A text of at most so many bytes, and how many it needs: written once without room to find its length.
pub struct ConstText<const ROOM: usize> {
    /// Its bytes, as far as there is room.
    pub bytes: [u8; ROOM],
    /// How many there are.
    pub length: usize,
}

impl<const ROOM: usize> ConstText<ROOM> {
    /// A text that begins so.
    pub const fn new(piece: &str) -> Self {
        Self { bytes: [0; ROOM], length: 0 }.add(piece)
    }

    /// The text with a piece behind it.
    #[must_use]
    pub const fn add(mut self, piece: &str) -> Self {
        let mut at = 0;
        while at < piece.len() {
            if self.length < ROOM {
                self.bytes[self.length] = piece.as_bytes()[at];
            }
            (at, self.length) = (at + 1, self.length + 1);
        }
        self
    }

    /// The text with a word in backticks behind it.
    #[must_use]
    pub const fn add_word(self, word: &str) -> Self {
        self.add("`").add(word).add("`")
    }
}

/// The text that a function `const fn write<const ROOM: usize>() -> ConstText<ROOM>` writes.
macro_rules! const_text {
    ($write:ident) => {{
        const LENGTH: usize = $write::<0>().length;
        const BYTES: [u8; LENGTH] = $write::<LENGTH>().bytes;
        match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("texts in a row are a text"),
        }
    }};
}
pub(crate) use const_text;
