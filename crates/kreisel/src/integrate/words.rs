//! Words of model files for what a user chooses among, each written once.

/// A choice whose every value has a word.
pub trait Words: Copy + 'static {
    /// Every value, in the order in which they are listed.
    const ALL: &'static [Self];
    /// Their words, in the same order.
    const WORDS: &'static [&'static str];

    /// The word for a value.
    fn word(self) -> &'static str;

    /// The value that a word means.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Gives the values of an enum their words.
macro_rules! words {
    ($($choice:ident { $($value:ident = $word:literal),+ $(,)? })+) => {$(
        impl $crate::integrate::Words for $choice {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    )+};
}

pub(crate) use words;
