//! Words of the model file for what a user chooses among, each written once.

use super::{BodyGroup, StartFrom};
use crate::integrate::{Form, Method, Parametrization, SCHEMES, Scaling};

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

impl Words for Method {
    const ALL: &'static [Self] = SCHEMES;
    const WORDS: &'static [&'static str] = &{
        let mut words = [""; SCHEMES.len()];
        let mut place = 0;
        while place < words.len() {
            words[place] = SCHEMES[place].word();
            place += 1;
        }
        words
    };

    fn word(self) -> &'static str {
        Method::word(self)
    }
}

macro_rules! words {
    ($($choice:ident { $($value:ident = $word:literal),+ $(,)? })+) => {$(
        impl Words for $choice {
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

words! {
    Parametrization { RotationVector = "rotation-vector", Crv = "crv" }
    Form { TwoField = "two-field", ThreeField = "three-field" }
    Scaling {
        LeftRightVelocities = "left-right-velocities",
        LeftRight = "left-right",
        Left = "left",
        Unscaled = "unscaled",
    }
    BodyGroup { Se3 = "se3", So3xR3 = "so3xr3" }
    StartFrom { Given = "given", Static = "static" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_round_trip<T: Words + PartialEq>() {
        for (value, word) in T::ALL.iter().zip(T::WORDS) {
            assert_eq!(value.word(), *word);
            assert!(T::from_word(word) == Some(*value), "{word}");
        }
        assert!(T::from_word("").is_none());
    }

    #[test]
    fn every_word_means_the_value_that_has_it() {
        assert_round_trip::<Method>();
        assert_round_trip::<Parametrization>();
        assert_round_trip::<Form>();
        assert_round_trip::<Scaling>();
        assert_round_trip::<BodyGroup>();
        assert_round_trip::<StartFrom>();
    }
}
