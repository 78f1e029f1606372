//! How fast Newton's increments shrink, and what one solve tells the next.
//!
//! A matrix of the present solve contracts quadratically, θ = C‖δ‖; one of an earlier solve linearly, with a
//! rate θ that hardly depends on ‖δ‖ but on the direction: what the old matrix fits worst shrinks slowest,
//! and is seen only when the rest is gone. Both are measured and remembered, so that the first increment
//! alone shows whether a second one is needed. So is what the matrix in use has cost and how often it was
//! used: whether another one is worth its price.

/// Rate assumed before one was measured: nothing is accepted after a single iteration with it.
const UNKNOWN_RATE: f64 = 0.9;
/// How much larger than measured the constant C of the quadratic contraction is taken in the next solve.
const SAFETY: f64 = 2.0;
/// Growth of C with every solve that did not measure it.
const AGEING: f64 = 1.1;
/// Growth of the rate with an old matrix with every solve that did not measure it.
const STALE_GROWTH: f64 = 1.25;
/// Smallest second increment, in units of the tolerance, that says something about C; below there is
/// round-off. It also limits how long C is believed: 1.1⁴² · 2 · 0.01 > 1, so that it is measured every 43
/// solves while increments stay as large.
const MIN_MEANINGFUL: f64 = 0.01;
/// Part of the last rate below which a newly measured one is not believed.
const FORGETTING: f64 = 0.3;
/// Part of the tolerance that may be left with an old matrix. What a fresh one leaves is squared by the next
/// increment and mostly far below its estimate; an old one leaves what is estimated, in the same directions
/// solve after solve, and multipliers of the index-3 formulation magnify it by 1/h².
const SHARE: f64 = 0.1;
/// Part of the largest rate of earlier solves below which that of an old matrix is not believed in the next
/// one.
const RELAXING: f64 = 0.7;
/// Most solves for which an old matrix is not tried again after it was of no use.
const LONGEST_PAUSE: f64 = 64.0;

/// An increment that is followed by one larger than this part of it did not contract: it is round-off.
const STANDING: f64 = 0.1;
/// Solves for which increments above the tolerance are believed after one of them turned out to contract.
const LONGEST_TRUST: f64 = 64.0;

/// What one solve tells the next; part of the state that a restart needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContractionHistory {
    /// Slowest rate at which increments shrank lately with a matrix of an earlier solve.
    pub rate: f64,
    /// Constant C of the quadratic contraction with a matrix of the same solve; it grows while nobody
    /// measures it.
    pub constant: f64,
    /// The constant when it was measured last.
    pub measured: f64,
    /// What the matrix in use and the iterations with it have cost, in iterations.
    pub spent: f64,
    /// How many solves used it; none if the next one is to renew it.
    pub uses: f64,
    /// How many solves to come renew their matrix without trying the old one.
    pub pause: f64,
    /// How many did so the last time.
    pub last_pause: f64,
    /// How many solves to come take what is left above the tolerance for contraction, and do not ask whether
    /// it is round-off.
    pub trust: f64,
}

impl Default for ContractionHistory {
    fn default() -> Self {
        Self {
            rate: UNKNOWN_RATE,
            constant: UNKNOWN_RATE,
            measured: UNKNOWN_RATE,
            spent: 0.0,
            uses: 0.0,
            pause: 0.0,
            last_pause: 0.0,
            trust: 0.0,
        }
    }
}

impl ContractionHistory {
    /// Its numbers, to be saved.
    pub fn numbers(&self) -> [f64; 8] {
        let Self { rate, constant, measured, spent, uses, pause, last_pause, trust } = *self;
        [rate, constant, measured, spent, uses, pause, last_pause, trust]
    }

    /// The memory with these numbers.
    pub fn from_numbers([rate, constant, measured, spent, uses, pause, last_pause, trust]: [f64; 8]) -> Self {
        Self { rate, constant, measured, spent, uses, pause, last_pause, trust }
    }

    /// Whether the last increment, of this size, may be round-off: it is above the tolerance although a fresh
    /// matrix has been used before it, and nothing was found out about that lately.
    pub fn doubts(&self, contraction: &Contraction, norm: f64) -> bool {
        self.trust == 0.0 && norm > 1.0 && contraction.renewed && contraction.pairs > 0
    }

    /// Whether the next solve should begin with the matrix in use.
    pub fn is_worth_keeping(&self) -> bool {
        self.uses > 0.0 && self.pause == 0.0
    }

    /// Rate to be expected after a first increment of this size, with a matrix of the same solve or an older
    /// one.
    pub fn expected_rate(&self, norm: f64, fresh: bool) -> f64 {
        // What was measured in earlier solves is trusted less with every solve that did not confirm it.
        let rate = if fresh { AGEING * self.constant * norm } else { 2.0 * self.rate };
        rate.min(UNKNOWN_RATE)
    }

    /// Rate to count on where increments shrank at `measured`.
    pub fn cautious_rate(&self, measured: f64, fresh: bool) -> f64 {
        // The first increments with an old matrix are large where it fits, and shrink fast; what is left
        // behind them is small and shrinks slowly. So the slowest rate of the solves before counts as well.
        if fresh { measured } else { measured.max(self.rate) }
    }

    /// Takes up a solve: `kept` if it began with an old matrix, which costs `price` iterations to renew.
    ///
    /// The mean cost of a solve falls as long as the last one cost less than the mean: a matrix is kept until
    /// then.
    pub fn take(&mut self, contraction: &Contraction, iterations: usize, kept: bool, price: f64) {
        let iterations = iterations as f64;
        let tried_once = self.uses <= 1.0;
        self.trust = match contraction.confirmed {
            true => LONGEST_TRUST,
            false => (self.trust - 1.0).max(0.0),
        };
        self.constant *= AGEING;
        if contraction.renewed {
            if let Some(constant) = contraction.measured_constant(self.measured) {
                (self.constant, self.measured) = (constant, constant);
            }
            (self.spent, self.uses) = (price + iterations, 1.0);
        } else {
            self.rate = contraction.next_rate(self.rate);
            (self.spent, self.uses) = (self.spent + iterations, self.uses + 1.0);
        }
        match (kept, contraction.renewed) {
            (true, true) if tried_once => {
                self.last_pause = (2.0 * self.last_pause).clamp(1.0, LONGEST_PAUSE);
                self.pause = self.last_pause;
            }
            (true, _) => self.last_pause = 0.0,
            (false, _) => self.pause = (self.pause - 1.0).max(0.0),
        }
        if iterations > self.spent / self.uses {
            self.uses = 0.0;
        }
    }
}

/// How fast the increments of one solve shrink.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contraction {
    previous_norm: Option<f64>,
    /// Size of the first increment and constant C of the quadratic contraction after it.
    first_norm: Option<f64>,
    constant: Option<f64>,
    /// Estimate from the last pairs of increments.
    rate: Option<f64>,
    /// Largest rate of the solve.
    largest: Option<f64>,
    /// How many rates were measured.
    pairs: usize,
    /// Whether the matrix was evaluated in this solve.
    pub renewed: bool,
    /// Whether the last increment came from a matrix of its own point.
    fresh: bool,
    /// Largest constant C of increments from matrices of their own points.
    quadratic: Option<f64>,
    /// Whether a last increment above the tolerance was found to contract.
    confirmed: bool,
}

impl Contraction {
    /// Takes up the size of an increment, and whether its matrix is one of its own point; gives the rate that
    /// the next one can be expected to shrink at, if there was one before it.
    pub fn measure(&mut self, norm: f64, fresh: bool) -> Option<f64> {
        if let Some(previous) = self.previous_norm {
            let measured = norm / previous;
            let first = *self.first_norm.get_or_insert(previous);
            self.constant.get_or_insert(norm.max(MIN_MEANINGFUL) / (first * first));
            if self.fresh {
                let constant = norm.max(MIN_MEANINGFUL) / (previous * previous);
                self.quadratic = Some(self.quadratic.map_or(constant, |largest| largest.max(constant)));
            }
            // Increments turn as they shrink, and a single pair of them can shrink by chance.
            let rate = self.rate.map_or(measured, |rate| measured.max(FORGETTING * rate));
            self.rate = Some(rate);
            self.pairs += 1;
            self.largest = Some(self.largest.map_or(rate, |largest| largest.max(rate)));
        }
        self.previous_norm = Some(norm);
        self.fresh = fresh;
        let quadratic =
            self.quadratic.filter(|_| fresh).map_or(f64::INFINITY, |constant| SAFETY * constant * norm);
        self.rate.map(|rate| rate.min(quadratic))
    }

    /// Takes up what would come after the last increment. If that is no smaller, the last one was round-off,
    /// and contraction has brought the increments below the tolerance before.
    ///
    /// Multipliers of long chains are such: the round-off of one joint's position moves all the links behind
    /// it.
    pub fn look_ahead(&mut self, norm: f64, next: f64) {
        self.confirmed = next <= STANDING * norm;
        if let (false, Some(first)) = (self.confirmed, self.first_norm) {
            self.constant = Some(MIN_MEANINGFUL / (first * first));
        }
    }

    /// Part of the tolerance that the error after the last correction may take.
    pub fn share(&self) -> f64 {
        if self.renewed { 1.0 } else { SHARE }
    }

    /// Forgets the increments so far: the next one is not their successor.
    pub fn restart(&mut self) {
        *self = Self { renewed: self.renewed, ..Self::default() };
    }

    /// The rate with an old matrix for the next solve, of which `last` is what this one counted on.
    fn next_rate(&self, last: f64) -> f64 {
        let Some(largest) = self.largest else { return (STALE_GROWTH * last).min(UNKNOWN_RATE) };
        // A single pair of increments says nothing about what shrinks slowly; before a first measurement
        // nothing is known.
        let remembered = match (self.pairs > 1, last < UNKNOWN_RATE) {
            (true, true) => RELAXING * last,
            (true, false) => 0.0,
            (false, _) => STALE_GROWTH * last,
        };
        largest.max(remembered).min(UNKNOWN_RATE)
    }

    /// The constant C for the next solve if this one measured it; `last` is what was measured before.
    fn measured_constant(&self, last: f64) -> Option<f64> {
        // A constant above the unknown rate promises nothing for any increment above the tolerance, so it was
        // no measurement; otherwise increments in other directions may contract slower than the last ones.
        let remembered = if last < UNKNOWN_RATE { FORGETTING * last } else { 0.0 };
        self.constant.map(|constant| (SAFETY * constant).max(remembered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(history: &mut ContractionHistory, iterations: usize, renewed: bool) -> bool {
        let kept = history.is_worth_keeping();
        let contraction = Contraction { renewed: renewed || !kept, ..Contraction::default() };
        history.take(&contraction, iterations, kept, 6.0);
        kept
    }

    #[test]
    fn a_matrix_is_kept_until_a_solve_costs_more_than_the_mean() {
        let mut history = ContractionHistory::default();
        let kept = [1, 2, 3, 3, 4].map(|iterations| solve(&mut history, iterations, false));
        assert_eq!(kept, [false, true, true, true, true]);
        // (6 + 1 + 2 + 3 + 3 + 4)/5 = 3.8 < 4.
        assert!(!history.is_worth_keeping());
    }

    #[test]
    fn an_old_matrix_that_never_helps_is_tried_less_and_less() {
        let mut history = ContractionHistory::default();
        let tries = (0..1000).filter(|_| solve(&mut history, 3, true)).count();
        assert!(tries < 25, "{tries}");
    }

    #[test]
    fn one_fast_pair_of_increments_does_not_make_an_old_matrix_better() {
        let mut history = ContractionHistory { rate: 0.1, uses: 1.0, ..ContractionHistory::default() };
        let mut contraction = Contraction::default();
        contraction.measure(1e6, false);
        contraction.measure(1.0, false);
        history.take(&contraction, 2, true, 6.0);
        assert_eq!(history.rate, STALE_GROWTH * 0.1);
        assert_eq!(history.cautious_rate(1e-6, false), history.rate);
        // A third increment shows what is left behind the first two.
        let mut contraction = Contraction::default();
        contraction.measure(1e6, false);
        contraction.measure(1.0, false);
        contraction.measure(0.01, false);
        history.take(&contraction, 3, true, 6.0);
        assert_eq!(history.rate, RELAXING * (STALE_GROWTH * 0.1));
    }

    #[test]
    fn round_off_above_the_tolerance_does_not_count_as_contraction() {
        let mut history = ContractionHistory { constant: 1e-12, ..ContractionHistory::default() };
        let mut contraction = Contraction { renewed: true, ..Contraction::default() };
        contraction.measure(1e5, true);
        contraction.measure(10.0, false);
        assert!(history.doubts(&contraction, 10.0));
        contraction.look_ahead(10.0, 9.0);
        history.take(&contraction, 2, false, 6.0);
        assert_eq!(history.constant, SAFETY * 1e-12);
        assert_eq!(history.trust, 0.0);
        // One that contracts is believed, and so are the next ones.
        contraction.constant = Some(1e-9);
        contraction.look_ahead(10.0, 1e-3);
        history.take(&contraction, 2, false, 6.0);
        assert_eq!(history.constant, SAFETY * 1e-9);
        assert!(!history.doubts(&contraction, 10.0));
    }

    /// C has grown a hundredfold because nobody measured it; what is remembered is what it was.
    #[test]
    fn a_measurement_is_held_back_by_the_last_one_and_not_by_its_age() {
        let mut history =
            ContractionHistory { constant: 1e-4, measured: 1e-6, ..ContractionHistory::default() };
        let mut contraction = Contraction { renewed: true, ..Contraction::default() };
        contraction.measure(1e3, true);
        contraction.measure(0.1, false);
        history.take(&contraction, 2, false, 6.0);
        assert_eq!((history.constant, history.measured), (FORGETTING * 1e-6, FORGETTING * 1e-6));
        let alone = Contraction { renewed: true, ..Contraction::default() };
        history.take(&alone, 1, false, 6.0);
        assert_eq!((history.constant, history.measured), (AGEING * FORGETTING * 1e-6, FORGETTING * 1e-6));
    }

    #[test]
    fn a_first_measurement_is_not_held_back_by_what_was_assumed_before() {
        let mut history = ContractionHistory::default();
        let mut contraction = Contraction { renewed: true, ..Contraction::default() };
        contraction.measure(1e4, true);
        contraction.measure(1.0, false);
        history.take(&contraction, 2, false, 6.0);
        assert_eq!(history.constant, SAFETY * 1e-8);
    }
}
