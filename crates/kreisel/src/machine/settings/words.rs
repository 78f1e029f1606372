//! Words of the model file for how a machine is run.

use super::{AccuracyOf, BodyGroup, Plane, StartFrom};
use crate::integrate::words::words;

words! {
    AccuracyOf { Positions = "positions", Velocities = "velocities", Reactions = "reactions", All = "all" }
    BodyGroup { Se3 = "se3", So3xR3 = "so3xr3" }
    Plane { Xy = "xy", Xz = "xz", Yz = "yz" }
    StartFrom { Given = "given", Static = "static" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{
        Form, IterationMatrix, Method, Parametrization, PastMass, Predictor, Scaling, Start, Words,
    };
    use crate::solve::newton::{Refresh, Stop};

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
        assert_round_trip::<PastMass>();
        assert_round_trip::<Start>();
        assert_round_trip::<Predictor>();
        assert_round_trip::<IterationMatrix>();
        assert_round_trip::<Refresh>();
        assert_round_trip::<Stop>();
        assert_round_trip::<AccuracyOf>();
        assert_round_trip::<BodyGroup>();
        assert_round_trip::<Plane>();
        assert_round_trip::<StartFrom>();
    }
}
