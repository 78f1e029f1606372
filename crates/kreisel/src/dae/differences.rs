//! Derivatives of a system by differences, for authors who give none.
//!
//! Central differences along `q ∘ exp(±δ ẽ_j)`; what is linear (∂r/∂v̇, and ∂r/∂λ where it is) comes out
//! to round-off. Written for small systems: every column costs two evaluations and the arrays are made
//! anew.

use std::sync::Arc;

use super::{
    Dae, Hidden, Point, Reactions, ResidualValues, Shape, Tangent, TangentWeights, Values, Wanted, ask,
};
use crate::solve::block::BlockMatrix;

/// Step of a central difference for quantities of size one: the cube root of ε balances the
/// truncation error δ² against the round-off ε/δ.
const STEP: f64 = 6e-6;

/// Difference quotient of all equations between a point moved forth and back.
fn quotient(
    dae: &dyn Dae,
    shape: &Shape,
    at: &Point,
    step: f64,
    mut shift: impl FnMut(&mut Values, f64),
) -> ResidualValues {
    let mut moved = Values::from(at);
    shift(&mut moved, step);
    let mut forth = ResidualValues::at(dae, shape, &moved.point());
    moved = Values::from(at);
    shift(&mut moved, -step);
    let back = ResidualValues::at(dae, shape, &moved.point());
    let scale = 0.5 / step;
    for (forth, back) in [
        (&mut forth.equilibrium, &back.equilibrium),
        (&mut forth.violation, &back.violation),
        (&mut forth.nonholonomic, &back.nonholonomic),
        (&mut forth.internal_rates, &back.internal_rates),
    ] {
        forth.iter_mut().zip(back).for_each(|(f, b)| *f = scale * (*f - b));
    }
    forth
}

/// Adds the derivative of the loads by the configuration, unless there are none.
pub(super) fn load_stiffness(dae: &dyn Dae, at: &Point, out: &mut BlockMatrix) -> bool {
    let shape = dae.shape();
    let count = shape.velocity_count();
    let loads = |at: &Point| {
        let mut loads = vec![0.0; count];
        ask(dae, at, Wanted { loads: Some(&mut loads), ..Wanted::default() });
        loads
    };
    if loads(at).iter().all(|load| *load == 0.0) {
        return false;
    }
    for column in 0..count {
        let mut direction = vec![0.0; count];
        direction[column] = 1.0;
        let [forth, back] = [STEP, -STEP].map(|step| {
            let mut moved = Values::from(at);
            shift_configuration(&shape, &mut moved, &direction, step);
            loads(&moved.point())
        });
        let slopes: Vec<f64> = forth.iter().zip(&back).map(|(f, b)| f - b).collect();
        add_column(out, column, 0.5 / STEP, &slopes);
    }
    true
}

/// Adds `factor · values` to one scalar column of a matrix, where it has blocks.
fn add_column(matrix: &mut BlockMatrix, column: usize, factor: f64, values: &[f64]) {
    let pattern = Arc::clone(matrix.pattern());
    let Some(group) = (0..pattern.column_group_count()).find(|&g| pattern.column_range(g).contains(&column))
    else {
        return;
    };
    let local = column - pattern.column_range(group).start;
    for (block, row_group) in pattern.column_blocks(group) {
        let rows = pattern.row_range(row_group);
        let mut target = matrix.block_mut(block);
        for (entry, value) in target.column_mut(local).iter_mut().zip(&values[rows]) {
            *entry += factor * value;
        }
    }
}

fn shift_configuration(shape: &Shape, moved: &mut Values, direction: &[f64], distance: f64) {
    let start = moved.configuration.clone();
    let increment: Vec<f64> = direction.iter().map(|d| distance * d).collect();
    shape.space.compose_exp(&start, &increment, &mut moved.configuration);
}

fn unit(size: usize, index: usize) -> Vec<f64> {
    (0..size).map(|i| if i == index { 1.0 } else { 0.0 }).collect()
}

fn step_for(value: f64) -> f64 {
    STEP * value.abs().max(1.0)
}

pub(super) fn tangent(dae: &dyn Dae, at: &Point, weights: TangentWeights, out: &mut Tangent) {
    let shape = dae.shape();
    dae.gradient(at, &mut out.gradient);
    for j in 0..shape.velocity_count() {
        let mass = quotient(dae, &shape, at, 1.0, |p, d| p.acceleration[j] += d);
        add_column(&mut out.dynamic, j, weights.mass, &mass.equilibrium);
        let damping = quotient(dae, &shape, at, step_for(at.velocity[j]), |p, d| p.velocity[j] += d);
        add_column(&mut out.dynamic, j, weights.damping, &damping.equilibrium);
        add_column(&mut out.nonholonomic, j, 1.0, &damping.nonholonomic);
        add_column(&mut out.state_damping, j, 1.0, &damping.internal_rates);
        if weights.stiffness {
            position_column(dae, &shape, at, j, out);
        }
    }
    if shape.reactions == Reactions::General {
        for j in 0..shape.constraint_count() {
            let step = step_for(at.multipliers[j]);
            let reaction = quotient(dae, &shape, at, step, |p, d| p.multipliers[j] += d);
            add_column(&mut out.reaction, j, 1.0, &reaction.equilibrium);
        }
        for j in 0..shape.nonholonomic_count() {
            let step = step_for(at.nonholonomic_multipliers[j]);
            let reaction = quotient(dae, &shape, at, step, |p, d| p.nonholonomic_multipliers[j] += d);
            add_column(&mut out.nonholonomic_reaction, j, 1.0, &reaction.equilibrium);
        }
    }
    if shape.state_count() > 0 {
        state_columns(dae, &shape, at, out);
    }
}

fn position_column(dae: &dyn Dae, shape: &Shape, at: &Point, j: usize, out: &mut Tangent) {
    let direction = unit(shape.velocity_count(), j);
    let shift = |p: &mut Values, d: f64| shift_configuration(shape, p, &direction, d);
    let stiffness = quotient(dae, shape, at, STEP, shift);
    add_column(&mut out.stiffness, j, 1.0, &stiffness.equilibrium);
    add_column(&mut out.nonholonomic_stiffness, j, 1.0, &stiffness.nonholonomic);
    add_column(&mut out.state_stiffness, j, 1.0, &stiffness.internal_rates);
    let mut room = BlockMatrix::zeros(Arc::clone(out.gradient_rate.pattern()));
    let mut rate = |distance: f64| {
        let mut moved = Values::from(at);
        shift(&mut moved, distance);
        hidden_constraint(dae, shape, &moved.point(), &mut room)
    };
    let (forth, back) = (rate(STEP), rate(-STEP));
    let column: Vec<f64> = forth.iter().zip(&back).map(|(f, b)| (f - b) / (2.0 * STEP)).collect();
    add_column(&mut out.gradient_rate, j, 1.0, &column);
}

fn state_columns(dae: &dyn Dae, shape: &Shape, at: &Point, out: &mut Tangent) {
    for j in 0..shape.state_count() {
        let column =
            quotient(dae, shape, at, step_for(at.internal_states[j]), |p, d| p.internal_states[j] += d);
        add_column(&mut out.state_force, j, 1.0, &column.equilibrium);
        add_column(&mut out.state_state, j, 1.0, &column.internal_rates);
    }
    for j in 0..shape.constraint_count() {
        let column = quotient(dae, shape, at, step_for(at.multipliers[j]), |p, d| p.multipliers[j] += d);
        add_column(&mut out.state_reaction, j, 1.0, &column.internal_rates);
    }
}

/// B v + Φ_t.
fn hidden_constraint(dae: &dyn Dae, shape: &Shape, at: &Point, room: &mut BlockMatrix) -> Vec<f64> {
    let mut rates = vec![0.0; shape.constraint_count()];
    let hidden = Hidden { rates: &mut rates, room: Some(room), rheonomic: shape.rheonomic };
    ask(dae, at, Wanted { hidden: Some(hidden), ..Wanted::default() });
    rates
}

pub(super) fn violation_rate(dae: &dyn Dae, at: &Point, out: &mut [f64]) {
    let rate = quotient(dae, &dae.shape(), at, STEP, |p, d| p.time += d);
    out.copy_from_slice(&rate.violation);
}

/// Derivative of B v + Φ_t along the motion with v held: at q ∘ exp(±δ ṽ) and t ± δ.
pub(super) fn curvature(dae: &dyn Dae, at: &Point, out: &mut [f64]) {
    let shape = dae.shape();
    let mut room = BlockMatrix::zeros(dae.couplings(None).constraint_node);
    // A step that moves the configuration by about STEP whatever the speed.
    let speed = at.velocity.iter().fold(1.0_f64, |s, v| s.max(v.abs()));
    let step = STEP / speed;
    let mut rate = |distance: f64| {
        let mut moved = Values::from(at);
        shift_configuration(&shape, &mut moved, at.velocity, distance);
        moved.time += distance;
        hidden_constraint(dae, &shape, &moved.point(), &mut room)
    };
    let (forth, back) = (rate(step), rate(-step));
    for ((out, forth), back) in out.iter_mut().zip(&forth).zip(&back) {
        *out = (forth - back) / (2.0 * step);
    }
}

/// A = ∂κ/∂v.
pub(super) fn nonholonomic_gradient(dae: &dyn Dae, at: &Point, out: &mut BlockMatrix) {
    let shape = dae.shape();
    for j in 0..shape.velocity_count() {
        let column = quotient(dae, &shape, at, step_for(at.velocity[j]), |p, d| p.velocity[j] += d);
        add_column(out, j, 1.0, &column.nonholonomic);
    }
}

/// Derivative of κ along the motion with v held.
pub(super) fn nonholonomic_curvature(dae: &dyn Dae, at: &Point, out: &mut [f64]) {
    let shape = dae.shape();
    let speed = at.velocity.iter().fold(1.0_f64, |s, v| s.max(v.abs()));
    let rate = quotient(dae, &shape, at, STEP / speed, |p, d| {
        shift_configuration(&shape, p, at.velocity, d);
        p.time += d;
    });
    out.copy_from_slice(&rate.nonholonomic);
}
