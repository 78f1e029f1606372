//! How large an error is in units of the tolerance.

use super::control::ErrorControl;
use super::scheme::Method;
use super::turns::TurningNodes;
use crate::dae::{Equation, Shape};

/// The error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorSize {
    /// In units of what a step may add.
    pub size: f64,
    /// The equation of the coordinate or state where it is largest.
    pub worst: Equation,
    /// It shrinks with this power of the step size.
    pub order: u32,
}

impl ErrorSize {
    fn none(order: u32) -> Self {
        Self { size: 0.0, worst: Equation::Equilibrium(0), order }
    }

    /// Takes up another error if it is larger; what is not a number is the largest.
    fn consider(&mut self, size: f64, worst: impl FnOnce() -> Equation) {
        if size.is_nan() || size > self.size {
            *self = Self { size, worst: worst(), ..*self };
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// An error, or none if rounding would make as much of none; what is not a number stays so.
fn above(floor: f64, error: f64) -> f64 {
    if error <= floor { 0.0 } else { error }
}

/// What steps are judged by.
pub(super) struct Judge {
    pub turns: TurningNodes,
    length: f64,
    /// Size against which each state is judged.
    state_scales: Vec<f64>,
    /// Which states the step size need not follow.
    fading_states: Vec<bool>,
}

impl Judge {
    pub fn new(shape: &Shape, method: Method) -> Self {
        let length = shape.scales.length;
        let mut fading_states = shape.fading_states.clone();
        fading_states.resize(shape.state_count(), false);
        Self {
            turns: TurningNodes::new(&shape.space, method),
            length,
            state_scales: shape.scales_of_states(),
            fading_states,
        }
    }

    /// The largest of the errors of a step, one per velocity coordinate and of an order in the step size;
    /// `floor` is what rounding adds to them, in units of the length and of 1 rad.
    pub fn motion_error(
        &self,
        shape: &Shape,
        configuration: &[f64],
        control: &ErrorControl,
        (errors, order): (&[f64], u32),
        floor: f64,
    ) -> ErrorSize {
        let mut worst = ErrorSize::none(order);
        for block in shape.space.norm_blocks() {
            let (scale, size) = match block.is_rotation {
                true => (1.0, 1.0),
                false => (self.length, norm(&configuration[block.coordinates]).max(self.length)),
            };
            let allowed = scale * control.allowed_in_a_step(size / scale, order);
            let values = &errors[block.velocities.clone()];
            let error = above(floor * scale, norm(values)) / allowed;
            worst.consider(error, || {
                let largest = values.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
                Equation::Equilibrium(block.velocities.start + largest.map_or(0, |(index, _)| index))
            });
        }
        worst
    }

    /// Largest entry of a velocity in 1/s (or of an acceleration in 1/s²): angular, or in lengths of the
    /// machine.
    pub fn speed(&self, shape: &Shape, velocity: &[f64]) -> f64 {
        let [positions, angles] = self.sizes(shape, velocity);
        positions.max(angles)
    }

    /// Largest entries of a change: of positions in lengths of the machine, and of angles in rad.
    pub fn sizes(&self, shape: &Shape, change: &[f64]) -> [f64; 2] {
        let mut sizes = [0.0_f64; 2];
        for block in shape.space.norm_blocks() {
            let unit = if block.is_rotation { 1.0 } else { self.length };
            let size = &mut sizes[usize::from(block.is_rotation)];
            *size = change[block.velocities].iter().fold(*size, |size, value| size.max(value.abs() / unit));
        }
        sizes
    }

    /// The largest entry of changes of positions, velocities and states: in units of 1 rad and of the
    /// machine's length, of a speed in 1/s, and of the states or their scales.
    pub fn largest_part(
        &self,
        shape: &Shape,
        [positions, velocities, states]: [&[f64]; 3],
        speed: f64,
        internal_states: &[f64],
        order: u32,
    ) -> ErrorSize {
        let mut worst = ErrorSize::none(order);
        for block in shape.space.norm_blocks() {
            let unit = if block.is_rotation { 1.0 } else { self.length };
            for i in block.velocities {
                let size = (positions[i].abs() / unit).max(velocities[i].abs() / (speed * unit));
                worst.consider(size, || Equation::Equilibrium(i));
            }
        }
        for (i, change) in states.iter().enumerate().filter(|(i, _)| !self.fading_states[*i]) {
            let size = internal_states[i].abs().max(self.state_scales[i]);
            worst.consider(change.abs() / size, || Equation::State(i));
        }
        worst
    }

    /// Takes up the errors of states in a step: relative to a state, or to its scale where it is small, as is
    /// the floor.
    pub fn add_state_errors(
        &self,
        internal_states: &[f64],
        control: &ErrorControl,
        (errors, floor): (impl Iterator<Item = f64>, f64),
        worst: &mut ErrorSize,
    ) {
        for (i, error) in errors.enumerate().filter(|(i, _)| !self.fading_states[*i]) {
            let scale = self.state_scales[i];
            let size = internal_states[i].abs().max(scale);
            let allowed = scale * control.allowed_in_a_step(size / scale, worst.order);
            worst.consider(above(floor * size, error.abs()) / allowed, || Equation::State(i));
        }
    }
}
