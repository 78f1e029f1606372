//! Multipliers at the ends of the last steps: what a guess goes on from, and the curve between ends.

use super::super::interval::Ends;
use super::Item;
use crate::dae::{Shape, Values};

/// Multipliers of the steps behind.
#[derive(Default)]
pub(super) struct PastMultipliers {
    /// Before the last step, and before those.
    pub holonomic: [Vec<f64>; 3],
    /// The same of nonholonomic constraints.
    pub nonholonomic: [Vec<f64>; 3],
    /// Sizes of the last three steps since the start, the last one first; 0 for those that there are not.
    /// Negative for one before the start whose multipliers lie on the tangent there.
    steps: Vec<f64>,
    /// Time that the last step reached.
    reached: f64,
}

impl PastMultipliers {
    pub fn new(shape: &Shape) -> Self {
        let zeros = |count: usize| std::array::from_fn(|_| vec![0.0; count]);
        Self {
            holonomic: zeros(shape.constraint_count()),
            nonholonomic: zeros(shape.nonholonomic_count()),
            steps: vec![0.0; 3],
            reached: 0.0,
        }
    }

    /// Where a method starts, and a step before by slopes, if these are known.
    pub fn start(&mut self, now: &Values, slopes: Option<[&Vec<f64>; 2]>, step: f64) {
        self.holonomic.iter_mut().for_each(|values| values.copy_from_slice(&now.multipliers));
        let all = &mut self.nonholonomic;
        all.iter_mut().for_each(|values| values.copy_from_slice(&now.nonholonomic_multipliers));
        self.steps.fill(0.0);
        if let Some(slopes) = slopes {
            self.steps[0] = -step;
            let before = [&mut self.holonomic[0], &mut self.nonholonomic[0]];
            for (values, slopes) in before.into_iter().zip(slopes) {
                values.iter_mut().zip(slopes).for_each(|(value, slope)| *value -= step * slope);
            }
        }
    }

    /// Takes the values of another.
    pub fn copy_from(&mut self, other: &Self) {
        let past = self.holonomic.iter_mut().chain(&mut self.nonholonomic);
        let others = other.holonomic.iter().chain(&other.nonholonomic);
        past.zip(others).for_each(|(to, from)| to.clone_from(from));
        self.steps.clone_from(&other.steps);
        self.reached = other.reached;
    }

    /// Takes up what was before a step that reaches a time.
    pub fn accept(&mut self, now: &Values, step: f64, time: f64) {
        self.holonomic.rotate_right(1);
        self.holonomic[0].copy_from_slice(&now.multipliers);
        self.nonholonomic.rotate_right(1);
        self.nonholonomic[0].copy_from_slice(&now.nonholonomic_multipliers);
        self.steps.rotate_right(1);
        self.steps[0] = step;
        self.reached = time;
    }

    /// Goes on from a time.
    pub fn resume(&mut self, time: f64) {
        self.reached = time;
    }

    pub fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("last steps", Item::Numbers(&mut self.steps));
        let names = ["previous multipliers", "earlier multipliers", "earliest multipliers"];
        let past = names.into_iter().zip(&mut self.holonomic);
        past.for_each(|(name, values)| each(name, Item::Numbers(values)));
        let names = [
            "previous nonholonomic multipliers",
            "earlier nonholonomic multipliers",
            "earliest nonholonomic multipliers",
        ];
        let past = names.into_iter().zip(&mut self.nonholonomic);
        past.for_each(|(name, values)| each(name, Item::Numbers(values)));
    }

    /// Puts the cubic through the last four ends of steps in place of straight lines: steps may be large
    /// where the motion is simple.
    pub fn interpolate(&self, within: &Ends, time: f64, out: &mut Values) {
        let Ends { from, to, .. } = within;
        // A step that is not taken yet begins where the past ends.
        let is_pending = (from.time - self.reached).abs() < (to.time - self.reached).abs();
        let (behind, length) = (usize::from(!is_pending), to.time - from.time);
        let before = [self.steps[behind] / length, self.steps[behind + 1] / length];
        let Some(bow) = Bow::new((time - from.time) / length, before) else { return };
        let past = [behind, behind + 1].map(|place| self.holonomic[place].as_slice());
        bow.add([&from.multipliers, &to.multipliers], past, &mut out.multipliers);
        let ends = [from.nonholonomic_multipliers.as_slice(), &to.nonholonomic_multipliers];
        let past = [behind, behind + 1].map(|place| self.nonholonomic[place].as_slice());
        bow.add(ends, past, &mut out.nonholonomic_multipliers);
    }
}

/// What a cubic through the ends of a step and two values before has beside the straight line, at one place.
struct Bow {
    /// Sizes of the steps before, in units of the step.
    before: [f64; 2],
    /// Whether the value before is not one of the motion but lies on its tangent at the start of the step.
    is_tangent: bool,
    /// s (s − 1), and that times (s + r₁), of the place s.
    weights: [f64; 2],
    /// Values of the same at the earlier of the places before.
    weights_before: [f64; 2],
}

/// A step before that is shorter than this part of the step says little about it: divided differences over it
/// magnify errors of multipliers by its inverse.
const MIN_PART_BEFORE: f64 = 0.05;

impl Bow {
    /// For a place in a step, in units of it; absent where nothing is known of what came before.
    fn new(place: f64, [last, earlier]: [f64; 2]) -> Option<Self> {
        let (last, is_tangent) = (last.abs(), last < 0.0);
        if !(last >= MIN_PART_BEFORE && place.is_finite()) {
            return None;
        }
        let weights = |s: f64| [s * (s - 1.0), s * (s - 1.0) * (s + last)];
        let earliest = -(last + earlier);
        let has_two = earlier >= MIN_PART_BEFORE;
        Some(Self {
            before: [last, earlier],
            is_tangent,
            weights: weights(place),
            weights_before: if has_two { weights(earliest) } else { [0.0; 2] },
        })
    }

    fn add(&self, [from, to]: [&[f64]; 2], [last, earlier]: [&[f64]; 2], out: &mut [f64]) {
        let [first, second] = self.before;
        for (i, out) in out.iter_mut().enumerate() {
            let slope = to[i] - from[i];
            let square = if self.is_tangent {
                slope - (from[i] - last[i]) / first
            } else {
                (last[i] - from[i] + first * slope) / (first * (first + 1.0))
            };
            let mut bow = square * self.weights[0];
            if self.weights_before[1] != 0.0 {
                let parabola = from[i] - (first + second) * slope + square * self.weights_before[0];
                bow += (earlier[i] - parabola) / self.weights_before[1] * self.weights[1];
            }
            *out += bow;
        }
    }
}
