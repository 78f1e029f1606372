//! First guess of a step: which polynomial through the last values of a and λ is followed.
//!
//! Smooth motions are best guessed by a cubic, shaken ones by nothing at all: each further value multiplies
//! what changes its sign from step to step. So the last step decides: the guess that would have been best
//! there is taken.

use super::super::settings::Predictor;
use super::super::state::Clock;
use super::parameters::Parameters;

/// How a and λ are guessed from their last values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Guess {
    /// v̇ = 0, and the last λ.
    Zero,
    /// The last values.
    Constant,
    /// The line through the last two.
    #[default]
    Line,
    /// The parabola through the last three.
    Parabola,
    /// The cubic through the last four.
    Cubic,
}

/// Steps of one size after which a parabola has its three values, and a cubic its four.
const STEPS_OF_PARABOLA: u64 = 3;
const STEPS_OF_CUBIC: u64 = 4;

impl Guess {
    /// All of them, in the order of their numbers in saved states.
    const ALL: [Self; 5] = [Self::Zero, Self::Constant, Self::Line, Self::Parabola, Self::Cubic];

    /// The guess with this number in a saved state.
    pub(super) fn from_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// The guess for the next step, of a given size; `self` would have been best for the last one.
    pub(super) fn next(self, clock: &Clock, predictor: Predictor, step: f64) -> Self {
        let known = clock.step > 0.0;
        let equidistant = clock.step == step && clock.equal_steps >= STEPS_OF_PARABOLA;
        match (predictor, self) {
            (Predictor::ZeroAcceleration, _) => Self::Zero,
            (Predictor::Adaptive, Self::Cubic) if equidistant && clock.equal_steps < STEPS_OF_CUBIC => {
                Self::Parabola
            }
            (Predictor::Adaptive, guess) if equidistant => guess,
            (Predictor::LinearAcceleration | Predictor::Adaptive, _) if known => Self::Line,
            _ => Self::Constant,
        }
    }

    /// The next value after the last four, the last one first; `ahead` is the new step in units of the last.
    #[inline]
    pub(super) fn follow(self, [last, previous, earlier, earliest]: [f64; 4], ahead: f64) -> f64 {
        match self {
            Self::Zero | Self::Constant => last,
            Self::Line => last + ahead * (last - previous),
            Self::Parabola => 3.0 * (last - previous) + earlier,
            Self::Cubic => 4.0 * (last + earlier) - 6.0 * previous - earliest,
        }
    }
}

/// How wrong each guess would have been for a step.
pub(super) struct GuessErrors {
    squares: [f64; 5],
    /// v̇ = 0 instead of v̇_{n+1} changes a_{n+1} by this part of v̇_{n+1} [ArnoldCardonaBruls2015, Eq.
    /// (37d)].
    zero: f64,
}

impl GuessErrors {
    pub fn new(parameters: &Parameters) -> Self {
        let zero = (1.0 - parameters.alpha_f()) / (1.0 - parameters.alpha_m());
        Self { squares: [0.0; 5], zero }
    }

    /// Adds those of some coordinates, from v̇ and a after the step and the four values of a before, the last
    /// one first.
    pub fn add(
        &mut self,
        acceleration: &[f64],
        next: &[f64],
        [last, previous, earlier, earliest]: [&[f64]; 4],
    ) {
        for i in 0..next.len() {
            let first = next[i] - last[i];
            let second = first - (last[i] - previous[i]);
            let third = second - (last[i] - 2.0 * previous[i] + earlier[i]);
            let fourth = third - (last[i] - 3.0 * (previous[i] - earlier[i]) - earliest[i]);
            let errors = [self.zero * acceleration[i], first, second, third, fourth];
            for (square, error) in self.squares.iter_mut().zip(errors) {
                *square += error * error;
            }
        }
    }

    /// The guess that would have been best.
    pub fn best_guess(&self) -> Guess {
        let smallest = self.squares.iter().copied().fold(f64::INFINITY, f64::min);
        let place = self.squares.iter().rposition(|square| *square == smallest);
        place.map_or(Guess::Constant, |place| Guess::ALL[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(values: [f64; 5]) -> Guess {
        let [earliest, earlier, previous, last, next] = values.map(|value| [value]);
        let parameters = Parameters::chung_hulbert(0.8).unwrap();
        let mut errors = GuessErrors::new(&parameters);
        errors.add(&next, &next, [&last, &previous, &earlier, &earliest]);
        errors.best_guess()
    }

    #[test]
    fn the_guess_that_would_have_been_right_is_found() {
        assert_eq!(best([9.0, 7.0, 3.0, 2.0, 2.0]), Guess::Constant);
        assert_eq!(best([9.0, 7.0, 3.0, 4.0, 5.0]), Guess::Line);
        assert_eq!(best([9.0, 1.0, 4.0, 9.0, 16.0]), Guess::Parabola);
        assert_eq!(best([0.0, 1.0, 8.0, 27.0, 64.0]), Guess::Cubic);
        assert_eq!(best([1.0, -1.0, 1.0, -1.0, 1.0]), Guess::Zero);
    }

    #[test]
    fn lines_parabolas_and_cubics_are_followed() {
        assert_eq!(Guess::Line.follow([5.0, 3.0, 100.0, 100.0], 1.0), 7.0);
        assert_eq!(Guess::Line.follow([5.0, 3.0, 100.0, 100.0], 0.5), 6.0);
        assert_eq!(Guess::Parabola.follow([9.0, 4.0, 1.0, 100.0], 1.0), 16.0);
        assert_eq!(Guess::Cubic.follow([64.0, 27.0, 8.0, 1.0], 1.0), 125.0);
    }
}
