//! What a restart needs, and its form in bytes.

use super::control::ControlHistory;
use super::error::StateError;
use super::guess::Guess;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Point, Values};
use crate::solve::newton::ContractionHistory;

/// State of an integration between two steps.
///
/// A run that continues from a saved state gives the same bits as one that was not interrupted: the
/// state also says where the matrix in use was evaluated, and the factors are made again from there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The solution at t_n, with the velocity that is shown: at the start that of the user.
    pub now: Values,
    /// Size of the step that led here; 0 at the start.
    pub step: f64,
    /// Size of the step for which v_n and a_n are prepared.
    pub prepared_step: f64,
    /// Time from which steps of the present size are counted.
    pub origin: f64,
    /// How many steps of the present size were taken from there.
    pub count: u64,
    /// How many steps of the last size were taken one after the other, wherever the clock was set in between.
    pub equal_steps: u64,
    /// What the control of the step size remembers.
    pub control: ControlHistory,
    /// Whether the method started here at a corner of the inputs, and has not taken a step since.
    pub after_corner: bool,
    /// Velocity v_n of the method; at the start it may differ from the user's by the correction that keeps
    /// the order.
    pub base_velocity: Vec<f64>,
    /// Algorithmic acceleration a_n ≈ v̇(t_n + Δ_α h).
    pub algorithmic_acceleration: Vec<f64>,
    /// Algorithmic acceleration before the last step, for a change of step size.
    pub previous_algorithmic_acceleration: Vec<f64>,
    /// The one before that, for the first guess of the next step.
    pub earlier_algorithmic_acceleration: Vec<f64>,
    /// And the one before that.
    pub earliest_algorithmic_acceleration: Vec<f64>,
    /// M a of the last step for methods that balance forces at two times; empty with others and at the start.
    pub inertia_force: Vec<f64>,
    /// M a before the last step, for a change of step size; as long as `inertia_force`.
    pub previous_inertia_force: Vec<f64>,
    /// Multipliers before the last step, for the first guess of the next.
    pub previous_multipliers: Vec<f64>,
    /// The ones before those, for the same.
    pub earlier_multipliers: Vec<f64>,
    /// And the ones before those.
    pub earliest_multipliers: Vec<f64>,
    /// How the next step is guessed.
    pub guess: Guess,
    /// Stabilizing multipliers η_n of the last step with `index2`; zero otherwise.
    pub stabilizers: Vec<f64>,
    /// Rates of the states before the last step.
    pub previous_state_rates: Vec<f64>,
    /// Algorithmic rates w_n of the states.
    pub algorithmic_state_rates: Vec<f64>,
    /// Algorithmic rates of the states before the last step, for a change of step size.
    pub previous_algorithmic_state_rates: Vec<f64>,
    /// How far each constraint may give way to its multiplier because it is redundant; empty if none is.
    pub compliance: Vec<f64>,
    /// Size of the step before the last, with `bdf2`.
    pub previous_step: f64,
    /// Velocity v_{n−1} with `bdf2`; empty with other methods.
    pub previous_velocity: Vec<f64>,
    /// Coordinates of q_{n−1} about q_n with `bdf2`; empty with other methods.
    pub previous_increment: Vec<f64>,
    /// How the linear solvers order their work, which decides the rounding.
    pub merged: Merged,
    /// What Newton's iteration remembers of the steps before.
    pub newton: ContractionHistory,
    /// Where the matrix in use was evaluated; absent before the first.
    pub matrix_point: Option<MatrixPoint>,
}

/// Parts of the matrices that are eliminated together with their neighbours because they are singular by
/// themselves (massless bodies); absent before the first factorisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// In the iteration matrix of a step.
    pub step: Option<Vec<usize>>,
    /// In the matrix of starting values and projections.
    pub start: Option<Vec<usize>>,
}

/// Arguments of the iteration matrix in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixPoint {
    /// Values at the end of that step.
    pub values: Values,
    /// Step size.
    pub step: f64,
    /// Configuration at the start of that step.
    pub base: Vec<f64>,
    /// Increment h Δq of that step.
    pub increment: Vec<f64>,
    /// Velocity at the start of that step, with methods that evaluate the mass matrix on the way.
    pub base_velocity: Vec<f64>,
    /// Part of the increment that keeps the position constraints with `soi2`.
    pub correction: Vec<f64>,
    /// λ̃ − λ with `soi2`.
    pub multiplier_changes: Vec<f64>,
    /// ψ̃ − ψ with `soi2`.
    pub nonholonomic_multiplier_changes: Vec<f64>,
}

const MAGIC: &[u8; 8] = b"KREISELS";
const VERSION: u32 = 11;

impl From<Damaged> for StateError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl State {
    /// The solution at another time and with another memory.
    pub(super) fn point<'a>(&'a self, time: f64, memory: &'a [f64]) -> Point<'a> {
        Point { time, velocity: &self.base_velocity, memory, ..self.now.point() }
    }

    /// The solution as it is shown.
    pub fn values(&self) -> &Values {
        &self.now
    }

    /// Time after another step of a size.
    ///
    /// Steps of one size are counted from where the size began: sums of many steps would drift by rounding.
    pub(super) fn time_after(&self, step: f64) -> f64 {
        if step == self.step && self.count > 0 {
            self.origin + (self.count + 1) as f64 * step
        } else {
            self.now.time + step
        }
    }

    /// Moves the clock by a step.
    pub(super) fn count_step(&mut self, step: f64) {
        let time = self.time_after(step);
        self.equal_steps = if step == self.step { self.equal_steps + 1 } else { 1 };
        if step == self.step && self.count > 0 {
            self.count += 1;
        } else {
            (self.origin, self.count) = (self.now.time, 1);
        }
        (self.now.time, self.step) = (time, step);
    }

    /// Sets the clock to a time that a sum of steps was to reach.
    pub(super) fn set_time(&mut self, time: f64) {
        if time != self.now.time {
            (self.now.time, self.count) = (time, 0);
        }
    }

    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer(Vec::new());
        writer.0.extend_from_slice(MAGIC);
        writer.0.extend_from_slice(&VERSION.to_le_bytes());
        let ControlHistory { next_step, last_error, last_ratio } = self.control;
        let clock = [self.now.time, self.step, self.prepared_step, self.origin];
        let numbers = clock.into_iter().chain([next_step, last_error, last_ratio]);
        numbers.chain(self.newton.numbers()).for_each(|value| writer.number(value));
        writer.whole(self.count);
        writer.whole(self.equal_steps);
        writer.0.push(u8::from(self.after_corner));
        writer.0.push(self.guess as u8);
        for values in self.arrays() {
            writer.numbers(values);
        }
        writer.number(self.previous_step);
        writer.indices(self.merged.step.as_ref());
        writer.indices(self.merged.start.as_ref());
        writer.0.push(u8::from(self.matrix_point.is_some()));
        if let Some(point) = &self.matrix_point {
            writer.number(point.values.time);
            writer.number(point.step);
            for values in point.arrays() {
                writer.numbers(values);
            }
        }
        writer.0
    }

    /// Reads a state that [`State::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut reader = Reader(bytes);
        if reader.bytes::<8>().map_err(|_| StateError::Unknown)? != *MAGIC {
            return Err(StateError::Unknown);
        }
        let found = u32::from_le_bytes(reader.bytes()?);
        if found != VERSION {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let time = reader.number()?;
        let mut state = State {
            step: reader.number()?,
            prepared_step: reader.number()?,
            origin: reader.number()?,
            control: ControlHistory {
                next_step: reader.number()?,
                last_error: reader.number()?,
                last_ratio: reader.number()?,
            },
            newton: ContractionHistory::from_numbers(reader.some_numbers()?),
            count: reader.whole()?,
            equal_steps: reader.whole()?,
            after_corner: reader.flag()?,
            guess: Guess::from_number(reader.bytes()?).ok_or(StateError::Damaged)?,
            ..State::default()
        };
        state.now.time = time;
        for values in state.arrays_mut() {
            *values = reader.numbers()?;
        }
        state.previous_step = reader.number()?;
        state.merged = Merged { step: reader.indices()?, start: reader.indices()? };
        if reader.flag()? {
            let time = reader.number()?;
            let mut point = MatrixPoint { step: reader.number()?, ..MatrixPoint::default() };
            point.values.time = time;
            for values in point.arrays_mut() {
                *values = reader.numbers()?;
            }
            state.matrix_point = Some(point);
        }
        if !reader.0.is_empty() {
            return Err(StateError::Damaged);
        }
        Ok(state)
    }

    fn arrays(&self) -> [&Vec<f64>; 25] {
        [
            &self.now.configuration,
            &self.base_velocity,
            &self.now.velocity,
            &self.now.acceleration,
            &self.algorithmic_acceleration,
            &self.previous_algorithmic_acceleration,
            &self.earlier_algorithmic_acceleration,
            &self.earliest_algorithmic_acceleration,
            &self.inertia_force,
            &self.previous_inertia_force,
            &self.now.multipliers,
            &self.previous_multipliers,
            &self.earlier_multipliers,
            &self.earliest_multipliers,
            &self.now.nonholonomic_multipliers,
            &self.stabilizers,
            &self.now.internal_states,
            &self.now.internal_rates,
            &self.previous_state_rates,
            &self.algorithmic_state_rates,
            &self.previous_algorithmic_state_rates,
            &self.now.memory,
            &self.compliance,
            &self.previous_velocity,
            &self.previous_increment,
        ]
    }

    fn arrays_mut(&mut self) -> [&mut Vec<f64>; 25] {
        [
            &mut self.now.configuration,
            &mut self.base_velocity,
            &mut self.now.velocity,
            &mut self.now.acceleration,
            &mut self.algorithmic_acceleration,
            &mut self.previous_algorithmic_acceleration,
            &mut self.earlier_algorithmic_acceleration,
            &mut self.earliest_algorithmic_acceleration,
            &mut self.inertia_force,
            &mut self.previous_inertia_force,
            &mut self.now.multipliers,
            &mut self.previous_multipliers,
            &mut self.earlier_multipliers,
            &mut self.earliest_multipliers,
            &mut self.now.nonholonomic_multipliers,
            &mut self.stabilizers,
            &mut self.now.internal_states,
            &mut self.now.internal_rates,
            &mut self.previous_state_rates,
            &mut self.algorithmic_state_rates,
            &mut self.previous_algorithmic_state_rates,
            &mut self.now.memory,
            &mut self.compliance,
            &mut self.previous_velocity,
            &mut self.previous_increment,
        ]
    }
}

impl MatrixPoint {
    fn arrays(&self) -> [&Vec<f64>; 14] {
        [
            &self.base,
            &self.increment,
            &self.values.configuration,
            &self.values.velocity,
            &self.values.acceleration,
            &self.values.multipliers,
            &self.values.nonholonomic_multipliers,
            &self.base_velocity,
            &self.correction,
            &self.multiplier_changes,
            &self.nonholonomic_multiplier_changes,
            &self.values.internal_states,
            &self.values.internal_rates,
            &self.values.memory,
        ]
    }

    fn arrays_mut(&mut self) -> [&mut Vec<f64>; 14] {
        [
            &mut self.base,
            &mut self.increment,
            &mut self.values.configuration,
            &mut self.values.velocity,
            &mut self.values.acceleration,
            &mut self.values.multipliers,
            &mut self.values.nonholonomic_multipliers,
            &mut self.base_velocity,
            &mut self.correction,
            &mut self.multiplier_changes,
            &mut self.nonholonomic_multiplier_changes,
            &mut self.values.internal_states,
            &mut self.values.internal_rates,
            &mut self.values.memory,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> State {
        State {
            now: Values {
                time: 0.1,
                configuration: vec![1.0, f64::MIN_POSITIVE],
                multipliers: vec![1e300],
                ..Values::default()
            },
            step: 1e-3,
            count: 7,
            equal_steps: 9,
            after_corner: true,
            control: ControlHistory { next_step: 2e-3, last_error: 0.5, last_ratio: 1.1 },
            base_velocity: vec![-0.0],
            earliest_algorithmic_acceleration: vec![0.5],
            earliest_multipliers: vec![-2.0],
            merged: Merged { step: Some(vec![3, 7]), start: None },
            matrix_point: Some(MatrixPoint { step: 0.2, base: vec![3.0], ..Default::default() }),
            ..Default::default()
        }
    }

    #[test]
    fn a_state_survives_its_bytes() {
        let state = sample();
        assert_eq!(State::from_bytes(&state.to_bytes()).unwrap(), state);
    }

    #[test]
    fn a_million_steps_of_one_size_end_without_rounding() {
        let mut state = State::default();
        state.now.time = 0.3;
        for _ in 0..1_000_000 {
            state.count_step(1e-3);
        }
        assert_eq!(state.now.time, 0.3 + 1e6 * 1e-3);
    }

    #[test]
    fn setting_the_clock_does_not_end_a_row_of_equal_steps() {
        let mut state = State::default();
        for _ in 0..3 {
            state.count_step(1e-3);
            state.set_time(state.now.time.next_up());
        }
        assert_eq!((state.count, state.equal_steps), (0, 3));
        state.count_step(2e-3);
        assert_eq!(state.equal_steps, 1);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = sample().to_bytes();
        for length in 0..bytes.len() {
            assert!(State::from_bytes(&bytes[..length]).is_err(), "{length} bytes were accepted");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(State::from_bytes(&longer), Err(StateError::Damaged));
        let mut huge = bytes.clone();
        // The length of the first array, after mark, version, 15 numbers, two counts and two bytes.
        huge[150..158].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(State::from_bytes(&huge), Err(StateError::Damaged));
        let mut newer = bytes;
        newer[8] = 1 + VERSION as u8;
        let newest = VERSION + 1;
        assert!(
            matches!(State::from_bytes(&newer), Err(StateError::Version { found, .. }) if found == newest)
        );
    }
}
