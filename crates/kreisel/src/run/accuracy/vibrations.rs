//! Vibrations that the steps are too large for.
//!
//! What is faster than the steps can follow alternates from step to step: a frequency ω that the trapezoidal
//! rule advances by the phase 2 arctan(ωh/2) a step, and other methods alike, comes near half a turn where ωh
//! is large. Of values y_n at the steps, d_n = (y_{n+2} − 4y_{n+1} + 6y_n − 4y_{n−1} + y_{n−2})/16 is that
//! part: it is the amplitude of y where y alternates, and of the order h⁴ where y is smooth. Accelerations
//! show it first. One jump of them makes four d of alternating signs, and one value aside five: six in a row
//! are a vibration, and the smallest of them, A, is its acceleration. Positions that alternate with the
//! amplitude X have the mean velocities Δq = ±2X/h, whose d gives X. As v̇ satisfies the equations at the end
//! of each step, A = ω²X tells the frequency.

use super::Remedy;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Dae, Note, NoteKind};
use crate::integrate::Ends;
use crate::kinematics::NodeId;
use crate::lie::NormBlock;
use crate::system::System;

/// So many d with alternating signs are a vibration.
const IN_A_ROW: usize = 6;
/// Values that make a d.
const STEPS: usize = 5;
/// Their weights, the latest last.
const WEIGHTS: [f64; STEPS] = [0.0625, -0.25, 0.375, -0.25, 0.0625];
/// Steps may differ by this factor while a vibration is followed.
const SAME_STEP: f64 = 1.25;
/// Amplitudes above this part of the range of the motion cast doubt on it.
const MAX_AMPLITUDE: f64 = 5e-3;
/// Smaller ones are told where they make this part of the largest acceleration.
const MAX_ACCELERATION: f64 = 0.2;
/// Amplitudes below this part of the range are rounding.
const ROUND_OFF: f64 = 1e-12;
/// A step that is this part of 1/ω follows a vibration: twenty a period.
const GOOD_PHASE: f64 = 0.3;

/// The vibration of a rotation or a position.
struct Vibration {
    of: NormBlock,
    /// Sizes of the last d, each of the opposite sign of the one before; the present one last.
    row: [f64; IN_A_ROW],
    largest: Option<Largest>,
}

/// The largest amplitude of a vibration so far.
#[derive(Clone, Copy, Debug)]
struct Largest {
    /// In m or rad.
    amplitude: f64,
    /// Of the acceleration, in m/s² or rad/s².
    acceleration: f64,
    /// When, in s, and with which step.
    time: f64,
    step: f64,
}

/// Looks for vibrations that alternate from step to step.
pub(super) struct VibrationWatch {
    vibrations: Vec<Vibration>,
    /// Mean velocities of the last steps and accelerations at their ends, the latest last.
    velocities: [Vec<f64>; STEPS],
    accelerations: [Vec<f64>; STEPS],
    /// d of the accelerations of the step before.
    difference: Vec<f64>,
    /// Steps in a row without a restart, and the size of the last.
    steps: u64,
    step: f64,
    /// Largest accelerations of positions and of rotations.
    most: [f64; 2],
}

impl VibrationWatch {
    pub fn new(system: &System) -> Self {
        let space = system.shape().space;
        let vibration = |of| Vibration { of, row: [0.0; IN_A_ROW], largest: None };
        let zeros = || vec![0.0; space.dimension()];
        Self {
            vibrations: space.norm_blocks().map(vibration).collect(),
            velocities: std::array::from_fn(|_| zeros()),
            accelerations: std::array::from_fn(|_| zeros()),
            difference: zeros(),
            steps: 0,
            step: 0.0,
            most: [0.0; 2],
        }
    }

    /// Accelerations may jump where the method starts anew.
    pub fn started(&mut self) {
        self.steps = 0;
    }

    /// Takes a step.
    pub fn accepted(&mut self, ends: &Ends) {
        let Ends { from, to, increment } = ends;
        let step = to.time - from.time;
        if !(self.step / SAME_STEP..=self.step * SAME_STEP).contains(&step) {
            self.steps = 0;
        }
        (self.step, self.steps) = (step, self.steps + 1);
        let Self { vibrations, velocities, accelerations, difference, most, .. } = self;
        velocities.rotate_left(1);
        velocities[STEPS - 1].iter_mut().zip(*increment).for_each(|(u, x)| *u = x / step);
        accelerations.rotate_left(1);
        accelerations[STEPS - 1].copy_from_slice(&to.acceleration);
        for Vibration { of, row, largest } in vibrations {
            let most = &mut most[usize::from(of.is_rotation)];
            *most = most.max(norm(of.velocities.clone().map(|i| to.acceleration[i])));
            if self.steps < STEPS as u64 {
                row.fill(0.0);
                continue;
            }
            let (mut product, mut square) = (0.0, 0.0);
            for i in of.velocities.clone() {
                let alternating = alternating_part(accelerations, i);
                product += alternating * difference[i];
                square += alternating * alternating;
                difference[i] = alternating;
            }
            if product >= 0.0 {
                row.fill(0.0);
            }
            row.rotate_left(1);
            row[IN_A_ROW - 1] = square.sqrt();
            let acceleration = row.iter().copied().fold(f64::INFINITY, f64::min);
            if acceleration > largest.map_or(0.0, |largest| largest.acceleration) {
                let velocity = norm(of.velocities.clone().map(|i| alternating_part(velocities, i)));
                let amplitude = 0.5 * step * velocity;
                *largest = Some(Largest { amplitude, acceleration, time: to.time, step });
            }
        }
    }

    /// What is worth telling of vibrations in a motion whose positions and angles have these ranges.
    pub fn note(&self, system: &System, remedy: Remedy, ranges: [Option<f64>; 2]) -> Option<Note> {
        let sized = self.vibrations.iter().filter_map(|vibration| {
            let kind = usize::from(vibration.of.is_rotation);
            let largest = vibration.largest?;
            Some((
                vibration,
                largest,
                largest.amplitude / ranges[kind]?,
                largest.acceleration / self.most[kind],
            ))
        });
        let told = sized.filter(|(.., part, of_most)| {
            *part > MAX_AMPLITUDE || (*of_most > MAX_ACCELERATION && *part > ROUND_OFF)
        });
        let (vibration, Largest { amplitude, acceleration, time, step, .. }, part, _) =
            told.max_by(|a, b| a.2.total_cmp(&b.2))?;
        let name = system.node_name(NodeId(vibration.of.factor));
        let unit = if vibration.of.is_rotation { "rad" } else { "m" };
        // What alternates is no slower than a phase of 2 a step.
        let frequency = (acceleration / amplitude).sqrt().max(2.0 / step);
        let good = GOOD_PHASE / frequency;
        let (kind, consequence, damp) = if part > MAX_AMPLITUDE {
            (NoteKind::UnresolvedVibrations, "the motion may be wrong", "damp them")
        } else {
            let forces = "accelerations and forces alternate from step to step";
            (NoteKind::SmallVibrations, forces, "take a smaller `spectral-radius`")
        };
        let advice = match remedy {
            Remedy::Steps => format!("take steps of {good:.1e} s, or {damp}"),
            Remedy::Tolerance | Remedy::Accuracy => format!("take a `max-step` of {good:.1e} s, or {damp}"),
        };
        let text = format!(
            "vibrations of amplitude {amplitude:.1e} {unit} ({:.1e} % of the range) at `{name}` are not resolved: their frequency of some \
             {:.1e} Hz is faster than steps of {step:.1e} s can follow; {consequence}: {advice}",
            100.0 * part,
            frequency / std::f64::consts::TAU,
        );
        Some(Note::new(kind, text).at(time).about(name).number(part).advice(advice))
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.whole(self.steps);
        out.numbers(&[self.step, self.most[0], self.most[1]]);
        for values in self.velocities.iter().chain(&self.accelerations).chain([&self.difference]) {
            out.numbers(values);
        }
        for Vibration { row, largest, .. } in &self.vibrations {
            out.numbers(row);
            out.flag(largest.is_some());
            if let Some(Largest { amplitude, acceleration, time, step }) = *largest {
                out.numbers(&[amplitude, acceleration, time, step]);
            }
        }
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.steps = reader.whole()?;
        let [step, positions, angles] = reader.numbers()?.try_into().map_err(|_| Damaged)?;
        (self.step, self.most) = (step, [positions, angles]);
        let arrays = self.velocities.iter_mut().chain(&mut self.accelerations);
        for values in arrays.chain([&mut self.difference]) {
            let numbers = reader.numbers()?;
            if numbers.len() != values.len() {
                return Err(Damaged);
            }
            *values = numbers;
        }
        for Vibration { row, largest, .. } in &mut self.vibrations {
            *row = reader.numbers()?.try_into().map_err(|_| Damaged)?;
            *largest = None;
            if reader.flag()? {
                let numbers = reader.numbers()?.try_into().map_err(|_| Damaged)?;
                let [amplitude, acceleration, time, step] = numbers;
                *largest = Some(Largest { amplitude, acceleration, time, step });
            }
        }
        Ok(())
    }
}

/// d of a coordinate.
fn alternating_part(values: &[Vec<f64>; STEPS], i: usize) -> f64 {
    WEIGHTS.iter().zip(values).map(|(weight, at)| weight * at[i]).sum()
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}
