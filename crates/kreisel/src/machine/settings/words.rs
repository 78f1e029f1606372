//! Words of the model file for how a machine is run.

use super::{BodyGroup, StartFrom};
use crate::integrate::words::words;

words! {
    BodyGroup { Se3 = "se3", So3xR3 = "so3xr3" }
    StartFrom { Given = "given", Static = "static" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{Form, Method, Parametrization, Scaling, Words};

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
