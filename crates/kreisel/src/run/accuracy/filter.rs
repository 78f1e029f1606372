//! Velocities and reactions without their fast vibrations.
//!
//! Of a vibration that steps are too large for, the motion has no more than a small amplitude, and positions
//! are right. Velocities and forces have it in full, in any phase, and no run tells more of them than their
//! slow part. That is found by low-pass filters inside the run, step by step: from values at output times
//! vibrations that are faster than these come back as slow ones.
//!
//! Which vibrations steps resolve is known after the runs only, and filters must be the same in all runs that
//! are compared. So there are some, each twice as fast as the one before. Each is a row of four lags
//! τ ẏ = u − y of one time constant: at the period P = 2πτ a vibration is a fourth of what it was, at P/4 a
//! three-hundredth.

use std::f64::consts::TAU;

use crate::bytes::{Damaged, Reader, Writer};

/// Filters, and the periods from which on they let motions pass, in parts of the run, the longest first.
pub(super) const FILTERS: usize = PERIODS.len();
const PERIODS: [f64; 6] = [1.0 / 8.0, 1.0 / 16.0, 1.0 / 32.0, 1.0 / 64.0, 1.0 / 128.0, 1.0 / 256.0];
/// Lags of a filter.
const LAGS: usize = 4;

/// A velocity with an angular velocity, or a torque with a force.
pub(super) type SixNumbers = [f64; 6];

/// Filters of some signals.
#[derive(Clone)]
pub(super) struct Filters {
    /// Length of the run, in s.
    length: f64,
    /// The signals where they were seen last; empty before that.
    last: Vec<SixNumbers>,
    /// What the lags make of them: those of a signal side by side, filter by filter.
    lags: Vec<[[SixNumbers; LAGS]; FILTERS]>,
}

impl Filters {
    /// For a run of a length in s.
    pub fn new(length: f64) -> Self {
        Self { length, last: Vec::new(), lags: Vec::new() }
    }

    /// The same without what was seen.
    pub fn another(&self) -> Self {
        Self::new(self.length)
    }

    /// The period from which on a filter lets motions pass, in s.
    pub fn period(&self, filter: usize) -> f64 {
        PERIODS[filter] * self.length
    }

    /// Some signals have other values from now on, the ones from this index on.
    pub fn jump(&mut self, first: usize, to: &[SixNumbers]) {
        if let Some(last) = self.last.get_mut(first..) {
            last.iter_mut().zip(to).for_each(|(last, to)| *last = *to);
        }
    }

    /// Goes on by a time in s, in which the signals change evenly to these.
    pub fn advance(&mut self, time: f64, to: impl Iterator<Item = SixNumbers> + Clone) {
        if self.last.is_empty() {
            self.last = to.clone().collect();
            self.lags = to.map(|signal| [[signal; LAGS]; FILTERS]).collect();
            return;
        }
        if time <= 0.0 {
            return;
        }
        let weights = PERIODS.map(|period| LagWeights::new(TAU * time / (period * self.length)));
        for ((last, lags), to) in self.last.iter_mut().zip(&mut self.lags).zip(to) {
            for (weights, row) in weights.iter().zip(lags) {
                let (mut before, mut after) = (*last, to);
                for lag in row {
                    let next = weights.next(lag, &before, &after);
                    before = std::mem::replace(lag, next);
                    after = next;
                }
            }
            *last = to;
        }
    }

    /// What the filters let pass now, all of a signal side by side.
    pub fn now(&self) -> Vec<[SixNumbers; FILTERS]> {
        self.lags.iter().map(|filters| filters.each_ref().map(|lags| lags[LAGS - 1])).collect()
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.numbers(self.last.as_flattened());
        out.numbers(self.lags.as_flattened().as_flattened().as_flattened());
    }

    /// Takes up what was seen of so many signals.
    pub fn restore(&mut self, signals: usize, reader: &mut Reader) -> Result<(), Damaged> {
        let (last, lags) = (reader.numbers()?, reader.numbers()?);
        let (last, rest) = last.as_chunks();
        let (lags, others) = lags.as_chunks().0.as_chunks::<LAGS>().0.as_chunks::<FILTERS>();
        let is_whole = rest.is_empty() && others.is_empty() && last.len() == lags.len();
        if !is_whole || !(last.is_empty() || last.len() == signals) {
            return Err(Damaged);
        }
        (self.last, self.lags) = (last.to_vec(), lags.to_vec());
        Ok(())
    }
}

/// What a lag becomes in some time: so much of itself, and of what drives it before and after.
struct LagWeights {
    own: f64,
    before: f64,
    after: f64,
}

impl LagWeights {
    /// For a time in time constants. What drives the lag changes along a line, for which this is exact.
    fn new(time: f64) -> Self {
        let own = (-time).exp();
        let mean = -(-time).exp_m1() / time;
        Self { own, before: mean - own, after: 1.0 - mean }
    }

    fn next(&self, lag: &SixNumbers, before: &SixNumbers, after: &SixNumbers) -> SixNumbers {
        std::array::from_fn(|i| self.own * lag[i] + self.before * before[i] + self.after * after[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the third filter lets pass of a vibration of a period, with steps of a size, over a run of 32 s.
    fn left_of(period: f64, step: f64) -> f64 {
        let mut filters = Filters::new(32.0);
        assert_eq!(filters.period(2), 1.0);
        let signal = |time: f64| [(TAU * time / period).sin(); 6];
        filters.advance(0.0, std::iter::once(signal(0.0)));
        let mut most = 0.0_f64;
        for count in 1..=(32.0 / step) as usize {
            let time = count as f64 * step;
            filters.advance(step, std::iter::once(signal(time)));
            // The start has died away after three of the periods that pass.
            if time > 3.0 {
                most = most.max(filters.now()[0][2][0].abs());
            }
        }
        most
    }

    #[test]
    fn vibrations_are_cut_and_slow_motions_pass() {
        for (period, step, left) in [(1.0, 1e-3, 0.25), (0.25, 1e-3, 1.0 / 289.0), (16.0, 1e-3, 0.992)] {
            let found = left_of(period, step);
            // (1 + (P/T)²)⁻²; steps that are straight lines leave out a thousandth of it.
            assert!((found / left - 1.0).abs() < 3e-3, "{period}: {found}");
        }
    }

    #[test]
    fn what_is_saved_goes_on_to_the_same_bits() {
        let mut filters = Filters::new(2.0);
        let signal = |count: usize| std::iter::repeat_n([count as f64; 6], 3);
        (0..5).for_each(|count| filters.advance(0.1, signal(count)));
        let mut out = Writer::default();
        filters.save(&mut out);
        let mut again = filters.another();
        again.restore(3, &mut Reader(&out.0)).unwrap();
        [&mut filters, &mut again].into_iter().for_each(|it| it.advance(0.1, signal(7)));
        assert_eq!(filters.now(), again.now());
        assert!(again.restore(2, &mut Reader(&out.0)).is_err());
    }
}
