//! Coordinates that are driven from where they are to where they are wanted, in steps in which the machine
//! follows: loops are closed on the way, so that it stays on its branch, and full turns are counted.

use super::compliance::compliance;
use super::consistent::{check_initial, closed};
use super::error::{ConsistencyError, Miss};
use super::kkt::{Kkt, largest};
use super::led::Led;
use super::redundancy::Redundancy;
use crate::dae::{Dae, Initial, ResidualValues, Shape, Values};
use crate::lie::Space;

/// Violations below this part of the machine's size, and of its speeds, are rounding: as much as closed loops
/// may leave.
pub(crate) const ROUNDING: f64 = 1e-10;
/// Largest steps in which loops follow a coordinate: in rad, and as a part of the machine's length.
const STEPS: (f64, f64) = (0.1, 0.05);
/// Most of these steps, as long as turns are counted in them.
const MAX_STEPS: f64 = 10_000.0;
/// Into so many parts a step is cut where loops do not close after it, or bodies turn too far in it.
const FINEST: u64 = 16;
/// Largest angle in rad by which bodies may turn in a step, so that no two turn by half a turn relative to each
/// other: then it is known which way they went.
const TURN: f64 = 1.5;
/// Largest sum of the angles, in rad, over which turns are counted: some 16 000 turns, a second of work.
const MAX_ANGLE: f64 = 1e5;

/// The configuration in which a tree would stand if it were moved from one to some values of the coordinates.
pub(crate) type Carried<'a> = dyn Fn(&[f64], &[f64]) -> Vec<f64> + 'a;

/// How a machine follows some of its coordinates.
pub(crate) struct Way<'a> {
    /// The machine with one constraint more for each coordinate, which keeps it at zero.
    pub dae: &'a dyn Dae,
    /// The first of these.
    pub first: usize,
    /// Which of the coordinates are angles.
    pub angles: &'a [bool],
    /// How a tree would follow.
    pub carried: &'a Carried<'a>,
}

/// Why a machine cannot follow.
#[derive(Debug)]
pub(crate) enum FollowError {
    /// Loops do not close any more.
    Unreachable {
        /// What is left of the constraints.
        misses: Vec<Miss>,
        /// How far the coordinates came.
        reached: Vec<f64>,
    },
    /// Angles, in rad in all, whose turns are not counted one by one.
    TooFar(f64),
    /// What the equations say.
    Other(ConsistencyError),
}

impl Way<'_> {
    /// The configuration in which the coordinates have gone from the values that they have to others. What the
    /// system remembers follows if it counts turns.
    pub fn follow(
        &self,
        initial: &Initial,
        [begin, end]: [&[f64]; 2],
        memory: &mut [f64],
        counts_turns: bool,
    ) -> Result<Vec<f64>, FollowError> {
        let angle = self.angle(begin, end);
        if counts_turns && angle > MAX_ANGLE {
            return Err(FollowError::TooFar(angle));
        }
        let steps = if counts_turns { (angle / TURN).ceil().max(1.0) as u64 } else { 1 };
        let (shape, at_drawing) = (self.dae.shape(), memory.to_vec());
        let mut configuration = Vec::new();
        for step in 1..=steps {
            // Always from the beginning, so that rounding does not add up.
            configuration = (self.carried)(&initial.configuration, &target([begin, end], step, steps));
            self.remember(&shape, initial, &configuration, memory);
        }
        if self.is_closed(&shape, initial, &configuration, end, memory) {
            return Ok(configuration);
        }
        memory.copy_from_slice(&at_drawing);
        self.follow_loops(initial, [begin, end], counts_turns.then_some(memory))
    }

    /// The same for a machine whose loops do not close by themselves. Without a memory that follows, the system
    /// is as at a start wherever it is.
    pub fn follow_loops(
        &self,
        initial: &Initial,
        [begin, end]: [&[f64]; 2],
        mut memory: Option<&mut [f64]>,
    ) -> Result<Vec<f64>, FollowError> {
        let shape = self.dae.shape();
        check_initial(self.dae, &shape, initial).map_err(FollowError::Other)?;
        let mut kkt = Kkt::new(&self.led(begin), shape.scales.mass);
        let nothing = vec![0.0; shape.memory];
        let mut now = Initial { stated_position: Vec::new(), ..initial.clone() };
        let mut reached = begin.to_vec();
        let steps = self.steps(begin, end, shape.scales.length, memory.is_some()) * FINEST;
        let (mut done, mut stride) = (0, FINEST);
        // How all positions changed in the last step, for each of its parts: where branches meet the machine goes
        // straight on.
        let mut change: Option<Vec<f64>> = None;
        while done < steps {
            let next = (done + stride).min(steps);
            let wanted = target([begin, end], next, steps);
            let known = memory.as_deref().unwrap_or(&nothing);
            let guess = match &change {
                None => (self.carried)(&now.configuration, &wanted),
                Some(change) => advanced(&shape.space, &now.configuration, change, (next - done) as f64),
            };
            let trial = Initial { configuration: guess, ..now.clone() };
            let found = Redundancy::find(self.dae, now.time, &trial.configuration);
            kkt.set_compliance(&compliance(self.dae, &found));
            match closed(&self.led(&wanted), &shape, &trial, known, &mut kkt) {
                Err(ConsistencyError::Position { .. }) if stride > 1 => {
                    stride /= 2;
                    change = None;
                }
                Err(ConsistencyError::Position { misses, .. }) => {
                    return Err(FollowError::Unreachable { misses, reached });
                }
                Err(error) => return Err(FollowError::Other(error)),
                Ok((there, _))
                    if memory.is_some()
                        && stride > 1
                        && largest_turn(&shape.space, &now.configuration, &there) > TURN =>
                {
                    stride /= 2;
                }
                Ok((there, _)) => {
                    if let Some(memory) = memory.as_deref_mut() {
                        self.remember(&shape, initial, &there, memory);
                    }
                    change = change_between(&shape.space, &now.configuration, &there, (next - done) as f64);
                    now.configuration = there;
                    (done, reached) = (next, wanted);
                    stride = (2 * stride).min(FINEST);
                }
            }
        }
        Ok(now.configuration)
    }

    fn led<'b>(&'b self, position: &'b [f64]) -> Led<'b> {
        let Self { dae, first, angles, .. } = *self;
        Led { dae, first, angles, position, rate: &[], acceleration: &[], push: &[] }
    }

    /// Angles by which the coordinates turn, in all.
    fn angle(&self, begin: &[f64], end: &[f64]) -> f64 {
        let turns = begin.iter().zip(end).zip(self.angles).filter(|(_, is_angle)| **is_angle);
        turns.map(|((begin, end), _)| (end - begin).abs()).sum()
    }

    /// Steps in which loops follow.
    fn steps(&self, begin: &[f64], end: &[f64], length: f64, counts_turns: bool) -> u64 {
        let step = |is_angle: bool| if is_angle { STEPS.0 } else { STEPS.1 * length };
        let ways = begin.iter().zip(end).zip(self.angles);
        let most = ways.map(|((begin, end), is_angle)| (end - begin).abs() / step(*is_angle));
        let least = if counts_turns { self.angle(begin, end) / TURN } else { 1.0 };
        most.fold(1.0, f64::max).min(MAX_STEPS).max(least).ceil() as u64
    }

    /// Whether the coordinates have their values and all loops are closed.
    fn is_closed(
        &self,
        shape: &Shape,
        initial: &Initial,
        configuration: &[f64],
        end: &[f64],
        memory: &[f64],
    ) -> bool {
        let rest = Self::rest(shape, initial, memory);
        let at = rest.point_at(initial.time, configuration, &rest.velocity);
        let violation = ResidualValues::at(&self.led(end), shape, &at).violation;
        let extent = configuration.iter().fold(shape.scales.length, |extent, value| extent.max(value.abs()));
        largest(&violation).1 <= ROUNDING * extent
    }

    /// Lets the system renew its memory.
    fn remember(&self, shape: &Shape, initial: &Initial, configuration: &[f64], memory: &mut [f64]) {
        let rest = Self::rest(shape, initial, memory);
        self.dae.remember(&rest.point_at(initial.time, configuration, &rest.velocity), memory);
    }

    fn rest(shape: &Shape, initial: &Initial, memory: &[f64]) -> Values {
        let (internal_states, memory) = (initial.internal_states.clone(), memory.to_vec());
        Values { internal_states, memory, ..Values::zeros(shape) }
    }
}

/// Values after some of the steps from one end to the other; the last are exactly those of the end.
fn target([begin, end]: [&[f64]; 2], step: u64, steps: u64) -> Vec<f64> {
    if step == steps {
        return end.to_vec();
    }
    let part = step as f64 / steps as f64;
    begin.iter().zip(end).map(|(begin, end)| begin + part * (end - begin)).collect()
}

/// How positions change from one configuration to another, over some parts; none if bodies turn too far.
fn change_between(space: &Space, from: &[f64], to: &[f64], parts: f64) -> Option<Vec<f64>> {
    let mut change = vec![0.0; space.dimension()];
    space.difference(from, to, &mut change).ok()?;
    change.iter_mut().for_each(|value| *value /= parts);
    Some(change)
}

/// A configuration that goes on changing over some parts.
fn advanced(space: &Space, from: &[f64], change: &[f64], parts: f64) -> Vec<f64> {
    let change: Vec<f64> = change.iter().map(|value| parts * value).collect();
    let mut there = from.to_vec();
    space.compose_exp(from, &change, &mut there);
    there
}

/// Largest angle by which a body has turned.
fn largest_turn(space: &Space, from: &[f64], to: &[f64]) -> f64 {
    let Some(change) = change_between(space, from, to, 1.0) else { return f64::INFINITY };
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let turns = space.norm_blocks().filter(|block| block.is_rotation);
    turns.map(|block| norm(&change[block.velocities])).fold(0.0, f64::max)
}
