//! Laws of time: prescribed motions and loads with their first and second derivatives.
//!
//! A drive needs value, rate and acceleration. Expressions are differentiated symbolically, tables by
//! their spline. The smooth start brings a drive from rest to constant speed without a jump of the
//! acceleration [BrulsCardonaArnold2012, Eq. (86)]. [`Law::corners`] names the times on which steps must
//! land: jumps and kinks of the value or of its rate.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::error::{ExpressionMistake, Mistake, ModelError};
use super::expression::program::Program;
use super::expression::{self, CornerFinder, Expression};
use super::source::Text;
use super::table::Table;

/// Value of a law with its derivatives in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawValue {
    /// The value.
    pub value: f64,
    /// First derivative in time.
    pub rate: f64,
    /// Second derivative in time.
    pub acceleration: f64,
}

/// Where a law jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// When, in s.
    pub time: f64,
    /// Value before it.
    pub before: f64,
    /// Value after it.
    pub after: f64,
}

/// A function of time.
#[derive(Clone, Debug)]
pub enum Law {
    /// Always the same.
    Constant(f64),
    /// A straight line in time.
    ConstantSpeed {
        /// Value at time zero.
        start: f64,
        /// Change per second.
        speed: f64,
    },
    /// From rest to constant speed with a smooth acceleration.
    SmoothStart(SmoothStart),
    /// An expression of `t`.
    Expression(Arc<TimeExpression>),
    /// Interpolated points.
    Table(Arc<Table>),
}

/// The smooth start [BrulsCardonaArnold2012, Eq. (86)], begun at any time and value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothStart {
    /// Value before the start.
    pub start: f64,
    /// Time t₀ at which the motion begins, in s.
    pub start_time: f64,
    /// Speed ω that is reached.
    pub speed: f64,
    /// Time t_s that the acceleration takes, in s; positive.
    pub duration: f64,
}

impl SmoothStart {
    /// θ = (ω/t_s)(t²/2 + (t_s/2π)² (cos(2πt/t_s) − 1)) while accelerating, then ω(t − t_s/2)
    /// [BrulsCardonaArnold2012, Eq. (86), with t counted from the start].
    pub fn evaluate(&self, time: f64) -> LawValue {
        let Self { start, speed, duration, .. } = *self;
        let t = time - self.start_time;
        if t <= 0.0 {
            return LawValue { value: start, rate: 0.0, acceleration: 0.0 };
        }
        if t >= duration {
            return LawValue { value: start + speed * (t - 0.5 * duration), rate: speed, acceleration: 0.0 };
        }
        let phase = TAU * t / duration;
        let half_sine = (0.5 * phase).sin();
        // cos φ − 1 = −2 sin²(φ/2) keeps the digits near the start.
        let cosine_less_one = -2.0 * half_sine * half_sine;
        let radius = duration / TAU;
        LawValue {
            value: start + speed / duration * (0.5 * t * t + radius * radius * cosine_less_one),
            rate: speed / duration * (t - radius * phase.sin()),
            acceleration: -speed / duration * cosine_less_one,
        }
    }
}

/// An expression of time alone, with its derivatives and its corners.
#[derive(Debug)]
pub struct TimeExpression {
    motion: Program,
    corners: CornerFinder,
}

impl TimeExpression {
    fn evaluate(&self, time: f64) -> LawValue {
        let mut outputs = [0.0; 3];
        self.motion.run(&[time], &mut outputs);
        let [value, rate, acceleration] = outputs;
        LawValue { value, rate, acceleration }
    }
}

impl Law {
    /// Law of an expression that has no variable but time.
    pub fn from_expression(expression: &Expression, text: &Text) -> Result<Self, ModelError> {
        if let Some(value) = expression.constant() {
            return expression::finite(value, text).map(Self::Constant);
        }
        let build = || -> Result<TimeExpression, ExpressionMistake> {
            Ok(TimeExpression { motion: expression.motion_program()?, corners: expression.corner_finder()? })
        };
        build()
            .map(|law| Self::Expression(Arc::new(law)))
            .map_err(|mistake| ModelError::new(Mistake::Expression(mistake), text.place().clone()))
    }

    /// Value and derivatives at a time; allocates nothing.
    pub fn evaluate(&self, time: f64) -> LawValue {
        match self {
            Self::Constant(value) => LawValue { value: *value, rate: 0.0, acceleration: 0.0 },
            Self::ConstantSpeed { start, speed } => {
                LawValue { value: start + speed * time, rate: *speed, acceleration: 0.0 }
            }
            Self::SmoothStart(law) => law.evaluate(time),
            Self::Expression(law) => law.evaluate(time),
            Self::Table(table) => {
                let [value, rate, acceleration] = table.evaluate(time);
                LawValue { value, rate, acceleration }
            }
        }
    }

    /// Times in a range at which the law or its rate jumps, ascending. The smooth start and a smooth
    /// table have none inside (their second derivatives are continuous). Conditions of an expression that
    /// are linear in `t` are solved exactly, others by sampling.
    pub fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let mut corners = match self {
            Self::Constant(_) | Self::ConstantSpeed { .. } | Self::SmoothStart(_) => Vec::new(),
            Self::Expression(law) => law.corners.corners(from, to),
            Self::Table(table) => table.corners(from, to),
        };
        corners.retain(|time| (from..=to).contains(time));
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        corners
    }

    /// The first jump at a corner between two times. Where a law of angles makes whole turns at once
    /// (`mod(t, 2*pi)`), `turn` says how much one is: nothing moves then.
    pub fn jump_at_corner(&self, from: f64, to: f64, turn: Option<f64>) -> Option<Jump> {
        let longest = if to.is_finite() { to - from } else { 1.0 };
        let corners = self.corners(from, to);
        corners.iter().enumerate().find_map(|(index, &corner)| {
            // Corners are rounded; before the first time nothing counts.
            let near = CORNER_WIDTH * longest.max(corner.abs());
            let (before, after) = ((corner - near).max(from), corner + near);
            // Two corners as close as that, with a change between them, are the two ends of a jump.
            let ends_a_jump = || {
                let is_double = corners.get(index + 1).is_some_and(|next| *next < after);
                let jump = if is_double { self.change_between(before, after, turn) } else { None };
                jump.map(|jump| Jump { time: corner, ..jump })
            };
            self.jump_within(before, after, turn).or_else(ends_a_jump)
        })
    }

    /// Corners between two times at which the rate jumps: how many, and the jump of the rate at the sharpest.
    pub fn kinks(&self, from: f64, to: f64) -> Option<(usize, Jump)> {
        let longest = if to.is_finite() { to - from } else { 1.0 };
        let mut fastest = 0.0_f64;
        let corners = self.corners(from, to);
        let mut kinks: Vec<Jump> = corners
            .iter()
            .enumerate()
            .filter_map(|(index, &corner)| {
                let width = CORNER_WIDTH * longest.max(corner.abs());
                // The rates of the pieces beside the corner, not of those behind the next one.
                let [last, next] = [index.checked_sub(1), Some(index + 1)];
                let beside = [last, next].map(|other| other.and_then(|other| corners.get(other)));
                let near =
                    beside.iter().flatten().map(|other| (corner - **other).abs() / 3.0).fold(width, f64::min);
                let [before, after] = [corner - near, corner + near].map(|time| self.evaluate(time));
                // A bend is as sharp as it is beside the rates around it.
                let around = [-1.0, 1.0].map(|side| self.evaluate(corner + side * BESIDE * width).rate.abs());
                fastest = around.into_iter().filter(|rate| rate.is_finite()).fold(fastest, f64::max);
                // Both rates at the corner itself: along their slopes.
                let (before, after) =
                    (before.rate + near * before.acceleration, after.rate - near * after.acceleration);
                (corner > from + near && corner < to - near).then_some(Jump { time: corner, before, after })
            })
            .collect();
        let size = |kink: &Jump| (kink.after - kink.before).abs();
        kinks.retain(|kink| size(kink) > SHARP * fastest);
        let sharpest = kinks.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        Some((kinks.len(), *sharpest))
    }

    /// A jump between two times, found where the law changes by more than its rates at both ends explain.
    ///
    /// The trapezoidal rule Δf = h (ḟ₀ + ḟ₁)/2 misses by O(h³) where the law is smooth, by O(h²) at a jump
    /// of the acceleration and by O(h) at one of the rate. Only a jump of the value, or a pole, misses by as
    /// much however short the interval is: it is halved towards the larger miss until it has no length.
    pub fn jump_within(&self, from: f64, to: f64, turn: Option<f64>) -> Option<Jump> {
        if matches!(self, Self::Constant(_) | Self::ConstantSpeed { .. } | Self::SmoothStart(_)) {
            return None;
        }
        let (mut start, mut end) = ((from, self.evaluate(from)), (to, self.evaluate(to)));
        let (first, size) = miss(start, end, turn);
        if first <= UNEXPLAINED * size {
            return None;
        }
        let mut last = first;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (start.0 + end.0);
            if middle <= start.0 || middle >= end.0 {
                break;
            }
            let middle = (middle, self.evaluate(middle));
            if middle.1.value.is_infinite() {
                return Some(Jump { time: middle.0, before: start.1.value, after: end.1.value });
            }
            let (left, right) = (miss(start, middle, turn).0, miss(middle, end, turn).0);
            (start, end) = if left >= right { (start, middle) } else { (middle, end) };
            last = left.max(right);
            if last < 0.5 * first {
                return None;
            }
        }
        let (before, after) = (start.1.value, end.1.value);
        let counts = last > ROUNDED * before.abs().max(after.abs());
        counts.then_some(Jump { time: end.0, before, after })
    }

    /// A change between two times at both of which the law stands still, nearly: steps that see only the ends
    /// take it for a jump.
    pub fn change_between(&self, from: f64, to: f64, turn: Option<f64>) -> Option<Jump> {
        if matches!(self, Self::Constant(_) | Self::ConstantSpeed { .. }) {
            return None;
        }
        // Just inside: at the ends themselves the rate may be that of another piece.
        let margin = CORNER_WIDTH * (to - from);
        let (start, end) = (self.evaluate(from + margin), self.evaluate(to - margin));
        let expected = 0.5 * (to - from) * (start.rate + end.rate);
        let change = (expected + less_whole_turns(end.value - start.value - expected, turn)).abs();
        let explained = (to - from) * start.rate.abs().max(end.rate.abs());
        let counts = explained < UNEXPLAINED * change
            && change > ROUNDED * start.value.abs().max(end.value.abs())
            && change > MIN_CHANGE;
        counts.then_some(Jump { time: to, before: start.value, after: end.value })
    }
}

/// Part of a range of time within which a corner is looked at from both sides: well above the rounding of
/// times, and so short that what is smooth hardly changes.
const CORNER_WIDTH: f64 = 1e-6;
/// Part of a change that the rates at both ends may leave unexplained. A choice: smooth laws over a short
/// interval leave far less, a jump leaves nearly all.
const UNEXPLAINED: f64 = 0.1;
/// Changes of the rate at once that are kinks, in parts of the largest rate beside a corner. A choice: what
/// is smooth changes its rate by far less within a corner's width.
const SHARP: f64 = 1e-3;
/// How far beside, in widths of a corner.
const BESIDE: f64 = 1e4;
/// Halvings that find a jump within an interval: to neighbouring numbers if it is that of a step.
const HALVINGS: usize = 60;
/// Jumps below this part of the values are those of numbers that were rounded.
const ROUNDED: f64 = 1e-6;
/// Changes below this are rounding, in m or rad: some thousand ε of a number of size one.
const MIN_CHANGE: f64 = 1e-12;

/// What the rates at both ends leave unexplained of the change between two times, and the size of what they
/// and the values say.
fn miss(start: (f64, LawValue), end: (f64, LawValue), turn: Option<f64>) -> (f64, f64) {
    let (length, change) = (end.0 - start.0, end.1.value - start.1.value);
    let expected = 0.5 * length * (start.1.rate + end.1.rate);
    let size = change.abs().max(length * start.1.rate.abs()).max(length * end.1.rate.abs());
    (less_whole_turns(change - expected, turn).abs(), size)
}

/// A difference of angles without its whole turns, if it is nearly some of them; other differences as they
/// are. The differences around a pole are not.
fn less_whole_turns(difference: f64, turn: Option<f64>) -> f64 {
    let Some(turn) = turn else { return difference };
    let turns = (difference / turn).round();
    let rest = difference - turn * turns;
    if turns.abs() <= MAX_TURNS && rest.abs() <= NEARLY_WHOLE * turn { rest } else { difference }
}

/// Most turns that an angle makes at once without being moved. A choice: laws that count turns anew drop one
/// or a few, and a pole gives any number.
const MAX_TURNS: f64 = 8.0;
/// Part of a turn that may be missing from whole ones: 2π in files is often given with four digits.
const NEARLY_WHOLE: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use num_dual::{Dual2_64, DualNum};

    use super::*;
    use crate::model::quantity::Dimension;
    use crate::model::table::{Interpolation, Outside};

    fn law(text: &str) -> Law {
        let text = Text::standalone("test", text);
        let time = |name: &str| (name == "t").then(|| name.to_string());
        let expression = Expression::compile(&text, Dimension::NONE, &|_| None, &time, &Vec::new).unwrap();
        Law::from_expression(&expression, &text).unwrap()
    }

    /// Compares rate and acceleration with central differences of the value.
    fn check_derivatives(law: &Law, times: impl IntoIterator<Item = f64>, scale: f64) {
        // The error of differences with step h is h² times a fourth derivative plus ε/h² of rounding.
        let step = 1e-4;
        for time in times {
            let [before, here, after] = [time - step, time, time + step].map(|time| law.evaluate(time));
            let rate = (after.value - before.value) / (2.0 * step);
            let acceleration = (after.rate - before.rate) / (2.0 * step);
            assert!((here.rate - rate).abs() < 1e-5 * scale, "t = {time}: {} {rate}", here.rate);
            assert!(
                (here.acceleration - acceleration).abs() < 1e-5 * scale,
                "t = {time}: {} {acceleration}",
                here.acceleration
            );
        }
    }

    #[test]
    fn expressions_have_the_derivatives_of_dual_numbers() {
        let law = law("0.3*sin(5*t)*exp(-t/2) + t^3/(1 + t^2) + sqrt(t + 1)");
        for time in [0.0, 0.1, 0.7, 2.5] {
            let t = Dual2_64::from_re(time).derivative();
            let expected =
                (t * 5.0).sin() * 0.3 * (-t / 2.0).exp() + t.powi(3) / (t.powi(2) + 1.0) + (t + 1.0).sqrt();
            let found = law.evaluate(time);
            // Some twenty roundings of terms below 10.
            assert!((found.value - expected.re).abs() < 1e-13);
            assert!((found.rate - expected.v1).abs() < 1e-13);
            assert!((found.acceleration - expected.v2).abs() < 1e-12);
        }
    }

    #[test]
    fn a_constant_expression_becomes_a_constant() {
        assert!(matches!(law("2*pi"), Law::Constant(_)));
    }

    #[test]
    fn the_smooth_start_matches_its_published_form_and_is_smooth() {
        // The four-bar mechanism of the paper: t_s = 0.5 s, ω = −5 rad/s.
        let (omega, ts) = (-5.0, 0.5);
        let start = SmoothStart { start: 0.0, start_time: 0.0, speed: omega, duration: ts };
        for time in [0.01_f64, 0.1, 0.25, 0.4, 0.499] {
            let published =
                (omega / ts) * (time * time / 2.0 + (ts / TAU).powi(2) * ((TAU * time / ts).cos() - 1.0));
            assert!((start.evaluate(time).value - published).abs() < 1e-15);
        }
        assert_eq!(start.evaluate(2.0).value, omega * (2.0 - 0.25));
        let law = Law::SmoothStart(start);
        check_derivatives(&law, [-0.1, 0.003, 0.1, 0.25, 0.4, 0.497, 0.6], 1e2);
        for time in [0.0, ts] {
            let (before, after) = (law.evaluate(time - 1e-9), law.evaluate(time + 1e-9));
            // The third derivative vanishes at both ends, so only the motion itself is left.
            assert!((before.value - after.value).abs() < 1.1e-8);
            assert!((before.rate - after.rate).abs() < 1e-12);
            assert!((before.acceleration - after.acceleration).abs() < 1e-6);
        }
        assert!(law.corners(-1.0, 1.0).is_empty());
    }

    #[test]
    fn the_smooth_start_keeps_its_digits_in_the_first_moment() {
        // For small t the value is ω π² t⁴/(6 t_s³), by the series of the cosine; relative error
        // (2πt/t_s)²/30.
        let start = SmoothStart { start: 0.0, start_time: 1.0, speed: 1.0, duration: 1.0 };
        let t = 1e-3;
        let series = std::f64::consts::PI.powi(2) * t * t * t * t / 6.0;
        // t²/2 + … cancels to the fourth order: ε/t² digits are left.
        assert!((start.evaluate(1.0 + t).value / series - 1.0).abs() < 1e-5);
    }

    #[test]
    fn tables_and_straight_lines_have_consistent_derivatives() {
        let points: Vec<(f64, f64)> = (0..12).map(|k| (0.3 * f64::from(k), f64::from(k).sin())).collect();
        let table = Table::new(&points, Interpolation::Smooth, Outside::Continue).unwrap();
        check_derivatives(&Law::Table(Arc::new(table)), (1..70).map(|k| 0.05 * f64::from(k) + 0.001), 1e3);
        check_derivatives(&Law::ConstantSpeed { start: 1.0, speed: 3.0 }, [0.0, 1.0], 1.0);
    }

    #[test]
    fn corners_of_conditions_linear_in_time_are_exact() {
        assert_eq!(law("abs(2*t - 1)").corners(0.0, 10.0), [0.5]);
        assert_eq!(law("step(t - 1)*2 + min(t/4, 1)").corners(0.0, 10.0), [1.0, 4.0]);
        assert_eq!(law("if(t < 0.25 || t > 0.75, 0, 1)").corners(0.0, 1.0), [0.25, 0.75]);
        assert_eq!(law("floor(2*t)").corners(0.1, 1.6), [0.5, 1.0, 1.5]);
        assert_eq!(law("mod(t, 2)").corners(0.5, 5.0), [2.0, 4.0]);
        assert_eq!(law("abs(t - 20)").corners(0.0, 10.0), [0.0_f64; 0]);
        assert!(law("sin(t) + t^2").corners(0.0, 10.0).is_empty());
    }

    #[test]
    fn corners_of_curved_conditions_are_found_by_sampling() {
        let corners = law("abs(sin(t))").corners(1.0, 10.0);
        let expected = [1.0, 2.0, 3.0].map(|k| k * std::f64::consts::PI);
        assert_eq!(corners.len(), 3);
        for (found, expected) in corners.iter().zip(expected) {
            // Bisection ends at neighbouring numbers; sin itself is exact to half a rounding.
            assert!((found - expected).abs() < 1e-14 * expected);
        }
    }

    #[test]
    fn jumps_are_told_from_kinks_and_from_whole_turns() {
        let jump = |text: &str, turn| law(text).jump_at_corner(0.0, 2.0, turn);
        for (text, [time, before, after]) in [
            ("step(t - 0.05)", [0.05, 0.0, 1.0]),
            ("t + floor(3*t)", [1.0 / 3.0, 1.0 / 3.0, 4.0 / 3.0]),
            ("5*mod(t, 0.5)", [0.5, 2.5, 0.0]),
            ("if(t <= 1, sin(t), 0)", [1.0, 1.0_f64.sin(), 0.0]),
            ("sign(t)", [0.0, 0.0, 1.0]),
            ("step(sin(3*t) - 0.5)", [0.5_f64.asin() / 3.0, 0.0, 1.0]),
        ] {
            let found = jump(text, None).unwrap();
            let near = |found: f64, expected: f64| (found - expected).abs() < 1e-5;
            assert!(near(found.time, time) && near(found.before, before), "{text}: {found:?}");
            assert!(near(found.after, after), "{text}: {found:?}");
        }
        for smooth in [
            "max(0, t - 1)",
            "step(t)",
            "step(t - 1)*(t - 1)^2",
            "abs(sin(9*t))",
            "if(t < 1, t, 2 - t)",
            "if(t < 1, 0.333333*t, 0.3333330001)",
            "sign(t - 1)*sqrt(abs(t - 1))",
            "min(1e4*t, 1)",
        ] {
            assert_eq!(jump(smooth, None), None, "{smooth}");
        }
        assert_eq!(jump("mod(8*t, 2*pi)", Some(TAU)), None);
        assert!(jump("mod(8*t, 2*pi)", None).is_some());
        assert!(jump("mod(8*t, 6)", Some(TAU)).is_some());
    }

    #[test]
    fn kinks_are_jumps_of_the_rate_while_it_runs() {
        let kinks = |law: &Law| law.kinks(0.0, 2.0);
        for (text, count, [time, before, after]) in [
            ("max(0, t - 1)", 1, [1.0, 0.0, 1.0]),
            ("abs(t - 0.5)*3", 1, [0.5, -3.0, 3.0]),
            ("if(t < 1, t^2, 1 + sin(t - 1))", 1, [1.0, 2.0, 1.0]),
            ("if(t < 1, t, 0.5 + t/2) + max(0, t - 1.5)", 2, [1.5, 0.5, 1.5]),
        ] {
            let (found, kink) = kinks(&law(text)).unwrap();
            assert_eq!((found, kink.time), (count, time), "{text}");
            // Rates are taken from 2e-6 s beside the corner along their slopes: second derivatives are of
            // that order.
            assert!(
                (kink.before - before).abs() < 1e-9 && (kink.after - after).abs() < 1e-9,
                "{text}: {kink:?}"
            );
        }
        for smooth in
            ["step(t - 1)*(t - 1)^2", "max(0, -t)", "max(0, t - 3)", "sin(9*t)", "step(t - 1)*(t - 1)^3"]
        {
            assert_eq!(kinks(&law(smooth)), None, "{smooth}");
        }
        let table = |interpolation, outside| {
            Law::Table(Arc::new(
                Table::new(&[(0.5, 0.0), (1.0, 1.0), (1.5, 1.0)], interpolation, outside).unwrap(),
            ))
        };
        assert_eq!(kinks(&table(Interpolation::Linear, Outside::Hold)).unwrap().0, 2);
        assert_eq!(kinks(&table(Interpolation::Smooth, Outside::Hold)).unwrap().0, 2);
        assert_eq!(kinks(&table(Interpolation::Smooth, Outside::Continue)), None);
    }

    #[test]
    fn a_table_that_changes_between_two_close_points_has_kinks_or_jumps() {
        let table = |width: f64| {
            let points = [(0.0, 0.0), (1.0, 0.0), (1.0 + width, 1.0), (2.0, 1.0)];
            Law::Table(Arc::new(Table::new(&points, Interpolation::Linear, Outside::Hold).unwrap()))
        };
        for width in [0.1, 1e-3, 1e-5, 3e-6, 2.1e-6] {
            let law = table(width);
            assert_eq!(law.jump_at_corner(0.0, 2.0, None), None, "{width}");
            let (count, kink) = law.kinks(0.0, 2.0).unwrap();
            assert_eq!(count, 2, "{width}");
            let speed = kink.before.abs().max(kink.after.abs());
            assert!((speed * width - 1.0).abs() < 1e-6, "{width}: {kink:?}");
        }
        // In less than a millionth of the run nothing moves: it is elsewhere.
        for width in [1.9e-6, 1e-6, 1e-9, 1e-12] {
            let jump = table(width).jump_at_corner(0.0, 2.0, None).unwrap();
            assert_eq!((jump.time, jump.before, jump.after), (1.0, 0.0, 1.0), "{width}");
        }
        // Many points of a smooth curve are neither.
        let points: Vec<(f64, f64)> = (0..=4000).map(|i| 5e-7 * f64::from(i)).map(|t| (t, t.sin())).collect();
        let dense =
            Law::Table(Arc::new(Table::new(&points, Interpolation::Linear, Outside::Continue).unwrap()));
        assert_eq!(dense.jump_at_corner(0.0, 2.0, None), None);
    }

    #[test]
    fn what_has_no_corner_is_found_within_a_step() {
        let pole = law("1/(t - 1)").jump_within(0.99, 1.005, None).unwrap();
        // Sixty halvings of 0.015 s, or where the pole is hit.
        assert!((pole.time - 1.0).abs() < 1e-9, "{pole:?}");
        let cut = law("atan2(sin(t), cos(t))");
        assert!(cut.jump_within(3.1, 3.2, None).is_some());
        assert_eq!(cut.jump_within(3.1, 3.2, Some(TAU)), None);
        // Smooth, but not for steps of 1 ms.
        let steep = law("tanh(1e6*(t - 0.0505))");
        assert_eq!(steep.jump_within(0.050, 0.051, None), None);
        assert!(steep.change_between(0.050, 0.051, None).is_some());
        // The first step of a smooth start, of a ramp and of a bend see small rates, not none.
        let start = Law::SmoothStart(SmoothStart { start: 0.0, start_time: 1.0, speed: 3.0, duration: 0.5 });
        for late in [0.01, 0.1, 0.5, 0.9] {
            for law in [&start, &law("max(0, t - 1)"), &law("max(0, t - 1)^2"), &law("sin(30*t)")] {
                let from = 1.0 - late * 0.01;
                assert_eq!(law.change_between(from, from + 0.01, None), None);
                assert_eq!(law.jump_within(from, from + 0.01, None), None);
            }
        }
    }

    #[test]
    fn corners_of_strange_ranges_and_conditions_are_few() {
        let infinite = f64::INFINITY;
        assert_eq!(law("abs(t - 1) + floor(t) + abs(sin(t))").corners(0.0, infinite), [1.0]);
        assert!(law("step(sqrt(-1 - t))").corners(0.0, 1.0).is_empty());
        assert!(law("floor(1e9*t)").corners(0.0, 1.0).is_empty());
        assert!(law("abs(sin(t))").corners(3.0, 1.0).is_empty());
    }

    #[test]
    fn laws_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Law>();
    }
}
