//! Equations of a step of the two-step backward differentiation formula, with scalings of equations and
//! unknowns.
//!
//! Each step works in exponential local coordinates about q_n, q = q_n ∘ exp(x̃), where q_n is x = 0 and
//! q_{n−1} is x_{n−1} = −(increment of the step before); on R^k this is the method of
//! [BottassoBauchauCardona2007, Eqs. (1), (2)]. With ω = h/h_{n−1}, α₀ = (1 + 2ω)/(1 + ω), α₁ = 1 + ω and α₂
//! = ω²/(1 + ω) (3/2, 2 and 1/2 where steps are equal):
//!
//! ```text
//! h v = T(x) (α₀ x + α₂ x_{n−1}),   h v̇ = α₀ v − α₁ v_n + α₂ v_{n−1},   r(q, v, v̇, c, λ) = 0,   Φ(q) = 0
//! ```
//!
//! The three-field form has x, v and λ as unknowns [BottassoBauchauCardona2007, Eq. (4)], the two-field form
//! x and λ [BottassoBauchauCardona2007, Eq. (37)]. First-order states are those of [`super::first_order`]
//! with ρ∞ = 0: there w_{n+1} is (c_{n+1} − c_n)/h, and 3/2 w_{n+1} − 1/2 w_n = ċ_{n+1} is the same formula.
//!
//! Where constraints hold, v_n differs from the velocity by −h (h + h_{n−1})/6 x⃛, and so does v_{n−1}: the
//! differences cancel in v̇. Where step sizes change, the residual B v of both velocities is rescaled to what
//! the next step will have, or λ would fall to first order.

use super::super::integration::is_same_step;
use super::super::settings::{IterationMatrix, Settings};
use super::super::state::{Clock, State};
use super::alpha::{Alpha, Base, Formulation};
use super::implicit::{Room, Step, StepEquations, TwoParts};
use super::option::{MethodOption, option};
use super::parameters::Parameters;
use super::work::Coefficients;
use super::{Family, Item, Method, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply};
use crate::dae::{Couplings, TangentOperators, TangentWeights};
use crate::lie::Space;
use crate::solve::block::BlockMatrix;
use crate::solve::newton::{NonlinearSystem, Refresh};

/// Index-3 DAE by the two-step backward differentiation formula in local coordinates about the start of each
/// step; on R^k the method of [BottassoBauchauCardona2007, Eqs. (1), (2)].
pub const BDF2: Method = Method(&SchemeEntry {
    word: "bdf2",
    doc: "is the two-step backward differentiation formula, which damps more: always with a `spectral-radius` of 0",
    family: Family::Fixed,
    leaves_hidden_residual: TwoSteps::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(TwoSteps::position_error_constant),
    max_turn: 1.5,
    max_turn_se3: 0.45,
    one_size: false,
    options: &[Form::ENTRY, Scaling::ENTRY],
    suit: |settings| {
        // First-order states of ρ∞ = 0 obey the same formula. The matrix depends on the past, so that it is
        // of no use in another step.
        settings.parameters = Parameters::chung_hulbert(0.0).unwrap_or(settings.parameters);
        if settings.newton.refresh != Refresh::EveryIteration {
            settings.newton.refresh = Refresh::EveryStep;
        }
    },
    new: Alpha::<TwoSteps>::boxed,
});

/// Unknowns of a step of [`BDF2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Positions, velocities and multipliers [BottassoBauchauCardona2007, Eq. (4)].
    ThreeField,
    /// Positions and multipliers; velocities are eliminated [BottassoBauchauCardona2007, Eq. (37)].
    TwoField,
}

option! {
    Form,
    "form",
    "Unknowns of a step of `bdf2`: positions and multipliers, or velocities as well.",
    "Unknowns of `bdf2` in place of the model's",
    TwoField = "two-field",
    ThreeField = "three-field",
}

/// Scaling of equations and unknowns of [`BDF2`], with s = k_ave + m_ave/h² in place of h⁻²
/// [BottassoBauchauCardona2007, Eq. (28)].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// None.
    Unscaled,
    /// Constraints divided by h [BottassoBauchauCardona2007, Eqs. (16), (44)].
    Left,
    /// Equilibrium divided by h s besides, and multipliers by s [BottassoBauchauCardona2007, Eqs. (23), (24),
    /// (48), (49)].
    LeftRight,
    /// Velocities multiplied by h besides [BottassoBauchauCardona2007, Eq. (29)]; in the two-field form as
    /// [`Scaling::LeftRight`].
    LeftRightVelocities,
}

option! {
    Scaling,
    "scaling",
    "Scaling of equations and unknowns of `bdf2`, to study: only the first (with two fields the first two) makes round-off \
     independent of the step.",
    "Scaling of `bdf2` in place of the model's",
    LeftRightVelocities = "left-right-velocities",
    LeftRight = "left-right",
    Left = "left",
    Unscaled = "unscaled",
}

/// Constant of h³ x⃛ in the local error h² (h + h_{n−1})/(6 α₀) x⃛ with equal steps.
const ERROR_CONSTANT: f64 = 2.0 / 9.0;

/// α₀ and α₂ of the formula; α₁ is their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Formula {
    leading: f64,
    last: f64,
}

impl Formula {
    /// The formula for a step that is `ratio` times as long as the one before.
    fn new(ratio: f64) -> Self {
        Self { leading: (1.0 + 2.0 * ratio) / (1.0 + ratio), last: ratio * ratio / (1.0 + ratio) }
    }
}

/// Factors of the rows (kinematics apart, which have 1) and of the unknowns beside those of [`Coefficients`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factors {
    constraint: f64,
    /// Change of v per change of its unknown.
    velocity: f64,
}

/// What a step knows of the two before it, and what its trial values mean.
#[derive(Clone, Debug)]
pub(super) struct TwoSteps {
    /// Size of the step before the last.
    previous_step: f64,
    /// Velocity v_{n−1}.
    previous_velocity: Vec<f64>,
    /// Coordinates of q_{n−1} about q_n.
    previous_increment: Vec<f64>,
    form: Form,
    scaling: Scaling,
    step: f64,
    formula: Formula,
    /// α₂ x_{n−1}.
    past_increment: Vec<f64>,
    /// α₂ v_{n−1} − α₁ v_n.
    past_velocity: Vec<f64>,
    /// h ẋ = α₀ x + α₂ x_{n−1}.
    difference: Vec<f64>,
    /// T(x) h ẋ.
    moved: Vec<f64>,
    /// T + ∂(T w)/∂x/α₀ of all nodes, with w = h ẋ held.
    velocity_operators: TangentOperators,
    /// Scratch: a matrix of the largest node.
    slope: Vec<f64>,
}

impl StepEquations for TwoSteps {
    fn show(&mut self, mut step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        step.coefficients = self.coefficients(step.coefficients);
        visit(&mut Bdf2Step { step, steps: self });
    }

    fn settle(&mut self, on: &Tools, trial: &mut Trial) {
        self.map(&on.shape.space, self.step, trial);
    }
}

impl Formulation for TwoSteps {
    const LEAVES_HIDDEN_RESIDUAL: bool = true;
    const HAS_PAST_VALUES: bool = true;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let (settings, shape) = (&on.settings, &on.shape);
        let copies = match settings.option() {
            Form::TwoField => Copies::ONE,
            Form::ThreeField => Copies::THREE_FIELDS,
        };
        let zeros = vec![0.0; shape.velocity_count()];
        let largest = shape.node_sizes().into_iter().max().unwrap_or(0);
        let steps = Self {
            previous_step: settings.step,
            previous_velocity: zeros.clone(),
            previous_increment: zeros.clone(),
            form: settings.option(),
            scaling: settings.option(),
            step: settings.step,
            formula: Formula::new(1.0),
            past_increment: zeros.clone(),
            past_velocity: zeros.clone(),
            difference: zeros.clone(),
            moved: zeros,
            velocity_operators: TangentOperators::general(&shape.space),
            slope: vec![0.0; largest * largest],
        };
        (Room { layout: Layout::new(shape, couplings, copies, []), extras: Vec::new() }, steps)
    }

    /// Values one step before the start, by Taylor's formula with x⃛ = v̈ + v̂ v̇/2.
    fn start(&mut self, on: &Tools, state: &State, step: f64, jerk: Option<&[f64]>) {
        let (now, jerk) = (state.values(), jerk.unwrap_or_default());
        let (h, v, acceleration) = (step, &now.velocity, &now.acceleration);
        let mut bracket = vec![0.0; v.len()];
        on.shape.space.hat_multiply(v, acceleration, &mut bracket);
        for (i, jerk) in jerk.iter().enumerate() {
            let a = acceleration[i];
            // What was added to v₀ for the sake of λ belongs to the velocity before as well.
            let added = state.base_velocity()[i] - v[i];
            self.previous_velocity[i] = v[i] - h * (a - 0.5 * h * jerk) + added;
            self.previous_increment[i] = -h * (v[i] - 0.5 * h * (a - h / 3.0 * (jerk + 0.5 * bracket[i])));
        }
        self.previous_step = step;
    }

    /// Takes up the past of a step.
    fn prepare(&mut self, _: &Tools, base: &Base, step: f64) {
        let before = base.state.clock.step;
        self.step = step;
        self.formula = Formula::new(if before > 0.0 { step / before } else { 1.0 });
        let Formula { leading, last } = self.formula;
        for (out, x) in self.past_increment.iter_mut().zip(&self.previous_increment) {
            *out = last * x;
        }
        let unscaled = base.state.base_velocity();
        for (i, out) in self.past_velocity.iter_mut().enumerate() {
            let (v, mut previous) = (base.velocity[i], self.previous_velocity[i]);
            if base.rescaled {
                // v_{n−1} moves as v_n does.
                previous = (previous - unscaled[i]) + v;
            }
            *out = last * previous - (leading + last) * v;
        }
    }

    fn accept(&mut self, base: &Base, step: f64, trial: &Trial, _: &[f64]) {
        let last_step = base.state.clock.step;
        self.previous_velocity.copy_from_slice(base.velocity);
        self.previous_increment.iter_mut().zip(&trial.increment).for_each(|(out, x)| *out = -x);
        self.previous_step = if last_step > 0.0 { last_step } else { step };
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("previous step", Item::Number(&mut self.previous_step));
        each("previous velocity", Item::Numbers(&mut self.previous_velocity));
        each("previous increment", Item::Numbers(&mut self.previous_increment));
    }

    /// The residual of the hidden constraints in v_n and v_{n−1} depends on the last two steps, and is
    /// rescaled to what the next step will have; a change of size therefore shows in two steps.
    fn residual_growth(&self, clock: &Clock, _: f64, step: f64) -> Option<f64> {
        let last = clock.step;
        let growth = step * (step + last) / (last * (last + self.previous_step));
        (last > 0.0 && !is_same_step(growth, 1.0)).then_some(growth)
    }

    fn position_error_constant(_: &Parameters) -> f64 {
        ERROR_CONSTANT
    }

    /// C_q h³ x⃛ in all, with the third derivative v̈ + v̂ v̇/2 of the coordinates.
    fn curvature_error(
        _: &Settings,
        space: &Space,
        (velocity, acceleration): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        space.hat_multiply(velocity, acceleration, out);
        out.iter_mut().for_each(|value| *value *= 0.5 * ERROR_CONSTANT);
    }

    fn error_growth(step: f64, before: f64) -> f64 {
        let ratio = step / before;
        (1.0 + ratio) * (1.0 + ratio) / (6.0 * ratio * (1.0 + 2.0 * ratio)) / ERROR_CONSTANT
    }

    /// v of the formula lacks h² x⃛/3, of which the local error 2/9 h³ x⃛ is the 3/2-th part.
    fn perturbation(step: f64) -> f64 {
        -1.5 * step * step
    }
}

impl TwoSteps {
    /// Coefficients of the formula, with the scaling that is asked for.
    fn coefficients(&self, usual: Coefficients) -> Coefficients {
        let velocity = self.formula.leading / usual.step;
        let (force, multiplier) = match self.scaling {
            Scaling::Unscaled | Scaling::Left => (usual.step, 1.0),
            Scaling::LeftRight | Scaling::LeftRightVelocities => (usual.force, usual.multiplier),
        };
        Coefficients { velocity, acceleration: velocity * velocity, force, multiplier, ..usual }
    }

    fn factors(&self, step: f64) -> Factors {
        Factors {
            constraint: if self.scaling == Scaling::Unscaled { step } else { 1.0 },
            velocity: if self.scaling == Scaling::LeftRightVelocities { 1.0 / step } else { 1.0 },
        }
    }

    /// Values that follow from x, and from v in the three-field form.
    fn map(&mut self, space: &Space, step: f64, trial: &mut Trial) {
        let leading = self.formula.leading;
        for (out, (x, past)) in
            self.difference.iter_mut().zip(trial.increment.iter().zip(&self.past_increment))
        {
            *out = leading * x + past;
        }
        space.tangent_multiply(&trial.increment, &self.difference, &mut self.moved);
        if self.form == Form::TwoField {
            trial.values.velocity.iter_mut().zip(&self.moved).for_each(|(v, moved)| *v = moved / step);
        }
        for (i, out) in trial.values.acceleration.iter_mut().enumerate() {
            *out = (leading * trial.values.velocity[i] + self.past_velocity[i]) / step;
        }
    }

    /// Derivatives of h v with respect to x, divided by α₀; needs [`TwoSteps::map`].
    fn differentiate(&mut self, space: &Space, increment: &[f64]) {
        self.velocity_operators.evaluate(space, increment);
        for node in 0..space.factor_count() {
            let range = space.velocity_range(node);
            let slope = &mut self.slope[..range.len() * range.len()];
            space.tangent_derivative(node, &increment[range.clone()], &self.difference[range], slope);
            self.velocity_operators.add(node, 1.0 / self.formula.leading, slope);
        }
    }
}

/// The equations of one step.
struct Bdf2Step<'a> {
    step: Step<'a>,
    steps: &'a mut TwoSteps,
}

impl Bdf2Step<'_> {
    fn factors(&self) -> Factors {
        self.steps.factors(self.step.coefficients.step)
    }

    /// Rows of the balance of forces among those of the nodes, and columns of velocities.
    fn second(&self) -> usize {
        usize::from(self.steps.form == Form::ThreeField)
    }

    /// Adds the derivatives of kinematics and forces.
    fn add_motion(&self, out: &mut BlockMatrix) {
        let (work, coefficients, steps) = (&*self.step.work, &self.step.coefficients, &*self.steps);
        let (layout, force, second) = (&work.layout, coefficients.force, self.second());
        let velocity_operators = Some(&steps.velocity_operators);
        match steps.form {
            Form::TwoField => {
                let factor = force * coefficients.velocity;
                layout.add_nodes(&work.tangent.dynamic, velocity_operators, factor, CopyIndex::FIRST, out);
            }
            Form::ThreeField => {
                let velocity = self.factors().velocity;
                layout.add_diagonal(velocity_operators, steps.formula.leading, CopyIndex::FIRST, out);
                layout.add_diagonal(None, -coefficients.step * velocity, CopyIndex::new(0, 1), out);
                layout.add_nodes(&work.tangent.dynamic, None, force * velocity, CopyIndex::new(1, 1), out);
            }
        }
        if self.step.settings.iteration_matrix.is_complete() {
            let part = CopyIndex::new(second, 0);
            layout.add_nodes(&work.tangent.stiffness, Some(&work.operators), force, part, out);
        }
        let factor = force * coefficients.multiplier;
        for kind in [RowKind::Holonomic, RowKind::Nonholonomic] {
            layout.add_columns(kind, &work.shape, &work.tangent, factor, CopyIndex::new(second, 0), out);
        }
    }

    /// Adds the derivatives of constraints.
    fn add_constraints(&self, out: &mut BlockMatrix) {
        let (work, h) = (&*self.step.work, self.step.coefficients.step);
        let (layout, operators, tangent) = (&work.layout, Some(&work.operators), &work.tangent);
        let Factors { constraint, velocity } = self.factors();
        layout.add_rows(RowKind::Holonomic, &tangent.gradient, operators, constraint, CopyIndex::FIRST, out);
        match self.steps.form {
            Form::TwoField => {
                let (by_velocity, factor) = (&self.steps.velocity_operators, self.steps.formula.leading);
                layout.add_rows(
                    RowKind::Nonholonomic,
                    &tangent.nonholonomic,
                    Some(by_velocity),
                    factor,
                    CopyIndex::FIRST,
                    out,
                );
            }
            Form::ThreeField => {
                layout.add_rows(
                    RowKind::Nonholonomic,
                    &tangent.nonholonomic,
                    None,
                    h * velocity,
                    CopyIndex::new(0, 1),
                    out,
                );
            }
        }
        if self.step.settings.iteration_matrix.is_complete() {
            layout.add_rows(
                RowKind::Nonholonomic,
                &tangent.nonholonomic_stiffness,
                operators,
                h,
                CopyIndex::FIRST,
                out,
            );
        }
        if !work.compliance.is_empty() {
            let unknown = self.step.coefficients.multiplier / self.step.coefficients.scale;
            let scaled = |values: &[f64], row: f64| -> Vec<f64> {
                values.iter().map(|value| row * unknown * value).collect()
            };
            let (holonomic, nonholonomic) =
                (scaled(&work.compliance, constraint), scaled(work.nonholonomic_compliance(), 1.0));
            layout.subtract_compliance(RowKind::Holonomic, &holonomic, CopyIndex::FIRST, out);
            layout.subtract_compliance(RowKind::Nonholonomic, &nonholonomic, CopyIndex::FIRST, out);
        }
    }

    /// Adds the derivatives of and by states.
    fn add_states(&self, out: &mut BlockMatrix) {
        let (work, coefficients) = (&*self.step.work, &self.step.coefficients);
        if self.steps.form == Form::TwoField {
            return work.add_states(coefficients, Some(&self.steps.velocity_operators), out);
        }
        let (layout, tangent, scaling) = (&work.layout, &work.tangent, coefficients.state_scaling());
        let velocity = self.factors().velocity;
        layout.add_states(tangent, &scaling, out);
        layout.add_state_forces(&tangent.state_force, 1.0, &scaling, 1, out);
        layout.add_state_nodes(&tangent.state_damping, None, velocity, &scaling, 1, out);
        layout.add_state_nodes(&tangent.state_stiffness, Some(&work.operators), 1.0, &scaling, 0, out);
    }
}

impl TwoParts for Bdf2Step<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        let (second, factors, h) = (self.second(), self.factors(), self.step.coefficients.step);
        let (work, trial, coefficients) =
            (&mut *self.step.work, &mut *self.step.trial, &self.step.coefficients);
        self.steps.map(&work.shape.space, h, trial);
        work.evaluate(self.step.dae, self.step.base, trial);
        if self.steps.form == Form::ThreeField {
            for (i, out) in work.scratch.nodes.iter_mut().enumerate() {
                *out = self.steps.moved[i] - h * trial.values.velocity[i];
            }
            work.layout.scatter_nodes(0, &work.scratch.nodes, out);
        }
        work.residual.equilibrium.iter_mut().for_each(|value| *value *= coefficients.force);
        work.layout.scatter_nodes(second, &work.residual.equilibrium, out);
        let compliance = &work.compliance;
        comply(compliance, &trial.values.multipliers, 1.0 / coefficients.scale, &mut work.residual.violation);
        work.residual.violation.iter_mut().for_each(|value| *value *= factors.constraint);
        work.layout.scatter(RowKind::Holonomic, 0, &work.residual.violation, out);
        work.nonholonomic_rows(0, &trial.values.nonholonomic_multipliers, coefficients, out);
        work.state_rows(trial, coefficients, out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        let exact = self.step.settings.iteration_matrix.is_complete();
        out.fill(0.0);
        let (work, trial) = (&mut *self.step.work, &mut *self.step.trial);
        self.steps.map(&work.shape.space, self.step.coefficients.step, trial);
        self.steps.differentiate(&work.shape.space, &trial.increment);
        let weights = TangentWeights {
            mass: self.step.coefficients.velocity,
            damping: f64::from(u8::from(exact)),
            stiffness: exact,
            remembered_forces: self.step.settings.iteration_matrix == IterationMatrix::Mixed,
        };
        work.follow(self.step.dae, trial, self.step.settings.iteration_matrix);
        work.tangent.hidden_wanted = false;
        work.differentiate_at(self.step.dae, &trial.values.point(), weights);
        work.operators.evaluate(&work.shape.space, &trial.increment);
        self.add_motion(out);
        self.add_constraints(out);
        self.add_states(out);
        self.step.note(&[]);
    }
}

impl NonlinearSystem for Bdf2Step<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let factors = self.factors();
        let (trial, coefficients, work) =
            (&mut *self.step.trial, &self.step.coefficients, &mut *self.step.work);
        work.layout.gather_nodes(0, increment, &mut work.scratch.nodes);
        trial.increment.iter_mut().zip(&work.scratch.nodes).for_each(|(x, z)| *x += fraction * z);
        if self.steps.form == Form::ThreeField {
            work.layout.gather_nodes(1, increment, &mut work.scratch.nodes);
            let factor = fraction * factors.velocity;
            trial.values.velocity.iter_mut().zip(&work.scratch.nodes).for_each(|(v, z)| *v += factor * z);
        }
        let factor = fraction * coefficients.multiplier;
        work.layout.gather(RowKind::Holonomic, 0, increment, &mut work.scratch.constraints);
        let changes = &work.scratch.constraints;
        trial.values.multipliers.iter_mut().zip(changes).for_each(|(lambda, z)| *lambda += factor * z);
        work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        work.correct_states(increment, fraction, coefficients, trial);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.step.work.tolerances(self.step.settings, self.step.trial, &self.step.coefficients, out);
        let layout = &self.step.work.layout;
        if self.steps.form == Form::ThreeField {
            let factor = 1.0 / (self.step.coefficients.step * self.factors().velocity);
            for (start, size) in layout.node_starts(1) {
                out[start..start + size].iter_mut().for_each(|value| *value *= factor);
            }
        }
        let factor = self.step.coefficients.scale / self.step.coefficients.multiplier;
        for kind in [RowKind::Holonomic, RowKind::Nonholonomic] {
            for (start, size) in layout.multiplier_starts(kind, 0) {
                out[start..start + size].iter_mut().for_each(|value| *value *= factor);
            }
        }
    }
}
