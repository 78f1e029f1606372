//! Options of methods: choices that only some of them leave.
//!
//! The file of a method has the enum with its words and what is said about it, and the entry of the method
//! lists it. The key of model files with its place in schema and book, the flag of the command, the argument
//! in Python and the entry in `run.json` follow, and in Rust
//! [`Settings::with_option`](super::Settings::with_option).

use super::super::words::Words;
use super::SCHEMES;

/// A choice that some methods leave. The first of its values is the one that is taken if nobody chooses.
pub trait MethodOption: Words {
    /// What is said about it.
    const ENTRY: &'static OptionEntry;
}

/// What is said about an option of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionEntry {
    /// Its key in model files.
    pub key: &'static str,
    /// Its words, that of the default first.
    pub words: &'static [&'static str],
    /// The default as it stands in model files, in quotes.
    pub default: &'static str,
    /// One sentence for schema and book.
    pub doc: &'static str,
    /// The help of the flag.
    pub help: &'static str,
}

/// Makes an enum an option: its key, its sentence for schema and book, the help of its flag, and its words.
macro_rules! option {
    ($choice:ident, $key:literal, $doc:expr, $help:literal, $first:ident = $default:literal $(, $value:ident = $word:literal)* $(,)?) => {
        $crate::integrate::words::words! { $choice { $first = $default $(, $value = $word)* } }

        impl $crate::integrate::MethodOption for $choice {
            const ENTRY: &'static $crate::integrate::OptionEntry = &$crate::integrate::OptionEntry {
                key: $key,
                words: <Self as $crate::integrate::Words>::WORDS,
                default: concat!("\"", $default, "\""),
                doc: $doc,
                help: $help,
            };
        }
    };
}

pub(super) use option;

/// The options of all methods, each once, in the order in which these are listed.
pub(crate) const OPTIONS: &[&OptionEntry] = LISTED.0.split_at(LISTED.1).0;

/// Room for the options of all methods; building fails where it is too small.
const ROOM: usize = 8;

/// The options of all methods, and how many there are.
const LISTED: (&[&OptionEntry; ROOM], usize) = {
    const NONE: &OptionEntry = &OptionEntry { key: "", words: &[], default: "", doc: "", help: "" };
    const FOUND: ([&OptionEntry; ROOM], usize) = {
        let (mut found, mut count) = ([NONE; ROOM], 0);
        let mut method = 0;
        while method < SCHEMES.len() {
            let own = SCHEMES[method].0.options;
            let mut option = 0;
            while option < own.len() {
                if place(&found, own[option].key) == ROOM {
                    found[count] = own[option];
                    count += 1;
                }
                option += 1;
            }
            method += 1;
        }
        (found, count)
    };
    (&FOUND.0, FOUND.1)
};

/// Where an option of a key stands in a list; the length of the list if nowhere.
const fn place(list: &[&OptionEntry], key: &str) -> usize {
    let mut place = 0;
    while place < list.len() && !is_same(list[place].key, key) {
        place += 1;
    }
    place
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// What was chosen of each option, as the place among its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen([u8; ROOM]);

impl Chosen {
    /// The value of an option; one that no method lists does not compile.
    pub fn get<O: MethodOption>(&self) -> O {
        O::ALL[usize::from(self.0[Self::place::<O>()])]
    }

    /// Chooses a value of an option.
    pub fn set<O: MethodOption>(&mut self, value: O) {
        let place = O::ALL.iter().position(|one| one.word() == value.word());
        self.0[Self::place::<O>()] = place.unwrap_or_default() as u8;
    }

    /// The word that was chosen of an option.
    pub fn word(&self, option: &OptionEntry) -> &'static str {
        option.words[usize::from(self.0[place(OPTIONS, option.key)])]
    }

    /// Chooses by key and word, if there are such.
    pub fn set_word(&mut self, key: &str, word: &str) -> Option<()> {
        let option = OPTIONS.iter().position(|option| option.key == key)?;
        let value = OPTIONS[option].words.iter().position(|one| *one == word)?;
        self.0[option] = value as u8;
        Some(())
    }

    fn place<O: MethodOption>() -> usize {
        const {
            let place = place(OPTIONS, O::ENTRY.key);
            assert!(place < OPTIONS.len(), "the entry of no method lists this option");
            place
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Columns, Form, Parametrization, PastMass, Scaling};
    use super::*;

    #[test]
    fn options_are_listed_once_and_the_first_word_is_the_default() {
        let known = [PastMass::ENTRY, Parametrization::ENTRY, Form::ENTRY, Scaling::ENTRY, Columns::ENTRY];
        assert_eq!(OPTIONS, known);
        for option in OPTIONS {
            assert_eq!(option.default, format!("\"{}\"", option.words[0]));
            assert_eq!(Chosen::default().word(option), option.words[0]);
        }
        assert!(is_same("form", "form") && !is_same("form", "for") && !is_same("form", "fork"));
    }

    #[test]
    fn a_word_and_its_value_choose_the_same() {
        for &scaling in Scaling::ALL {
            let [mut by_value, mut by_word] = [Chosen::default(); 2];
            by_value.set(scaling);
            by_word.set_word("scaling", scaling.word()).unwrap();
            assert_eq!((by_value, by_value.get::<Scaling>()), (by_word, scaling));
            assert_eq!(by_value.get::<Form>(), Form::TwoField);
        }
        assert_eq!(Chosen::default().set_word("scaling", "two-field"), None);
        assert_eq!(Chosen::default().set_word("scale", "left"), None);
    }
}
