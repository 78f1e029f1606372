//! Equations of a step of the generalized-α-SOI2 method [JayNegrut2008, Eqs. (13)], on a Lie group.
//!
//! Positions move with an acceleration ã of their own, so that Φ and B v + Φ_t can both hold:
//!
//! ```text
//! x = h (v_n + h (½ − β) a_n + h β ã),   q_{n+1} = q_n ∘ exp(x̃)
//! v_{n+1} = v_n + h (1 − γ) a_n + h γ a,   ṽ_{n+1} alike with ã
//! ```
//!
//! The paper has q_{n+1} = q_n + x on R^k; on a group x is an element of the Lie algebra and nothing else
//! changes. Velocities follow from y = x − w with w = β h² (ã − a). Unknowns are y, w, λ/s, μ/s, ψ/s and ν/s,
//! where μ = λ̃ − λ and ν = ψ̃ − ψ. With the balance of forces E(λ, ψ) of [`super::force_level`] the
//! equations are
//!
//! ```text
//! E(λ, ψ)/s = 0                                                             [JayNegrut2008, Eq. (13e)]
//! (β' M_{1+α} w + E(λ + μ, ψ + ν) − E(λ, ψ))/s = 0                          Eq. (13d) less (13e)
//! Φ = 0,   h (B v + Φ_t) = 0,   h κ(q, v) = 0,   h κ(q, ṽ) = 0              Eqs. (13f) to (13i)
//! ```
//!
//! Where reactions are Bᵀλ + Aᵀψ the second line is β' M_{1+α} w + Bᵀμ + Aᵀν, and costs no further evaluation
//! of forces.

use super::super::state::State;
use super::alpha::{Alpha, Base, Formulation};
use super::force_level::{ForceLevel, PastMass};
use super::implicit::{MatrixPoint, Room, Step, StepEquations, TwoParts};
use super::start::Slopes;
use super::work::Coefficients;
use super::{Family, Item, Method, MethodOption, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply};
use crate::dae::{Couplings, Point, Reactions, Shape, Tangent, Values, Wanted, ask};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// Generalized-α-SOI2: position, velocity and nonholonomic constraints hold, forces are balanced at two times
/// [JayNegrut2008, Eqs. (13)].
pub const SOI2: Method = Method(&SchemeEntry {
    word: "soi2",
    doc: "keeps both and suits forces that depend on reactions",
    family: Family::ChungHulbert,
    leaves_hidden_residual: Soi2::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(Soi2::position_error_constant),
    max_turn: 2.0,
    max_turn_se3: 0.5,
    one_size: false,
    options: &[PastMass::ENTRY],
    suit: |_| {},
    new: Alpha::<Soi2>::boxed,
});

/// SOI2 with α_m = 0 [JayNegrut2008, Eqs. (17)].
pub const HHT_SOI2: Method =
    Method(&SchemeEntry { word: "hht-soi2", doc: "is a relative of `soi2`", family: Family::Hht, ..*SOI2.0 });

/// The formulation.
pub(super) struct Soi2 {
    force_level: ForceLevel,
    changes: Changes,
    tilde: Tilde,
}

/// By how much values with a tilde differ from those without.
#[derive(Clone, Debug)]
struct Changes {
    /// The part of the increment that keeps the position constraints, w = β h² (ã − a).
    increment: Vec<f64>,
    /// λ̃ − λ.
    multipliers: Vec<f64>,
    /// ψ̃ − ψ.
    nonholonomic_multipliers: Vec<f64>,
    /// Whether any of them may be other than zero.
    any: bool,
}

/// Arrays for the values with a tilde.
#[derive(Clone, Debug)]
struct Tilde {
    tangent: Tangent,
    /// E(λ̃, ψ̃) − E(λ, ψ).
    forces: Vec<f64>,
    values: TildeValues,
}

/// ṽ, λ̃ and ψ̃, with no acceleration.
#[derive(Clone, Debug)]
struct TildeValues(Values);

impl Tilde {
    fn new(shape: &Shape, couplings: &Couplings) -> Self {
        Self {
            tangent: Tangent::zeros(couplings),
            forces: vec![0.0; shape.velocity_count()],
            values: TildeValues(Values::zeros(shape)),
        }
    }
}

impl TildeValues {
    /// ṽ, λ̃ and ψ̃ of a trial.
    fn set(&mut self, trial: &Trial, changes: &Changes, coefficients: &Coefficients) {
        let sum = |out: &mut [f64], values: &[f64], factor: f64, changes: &[f64]| {
            for ((out, value), change) in out.iter_mut().zip(values).zip(changes) {
                *out = value + factor * change;
            }
        };
        let values = &trial.values;
        sum(&mut self.0.velocity, &values.velocity, coefficients.velocity, &changes.increment);
        sum(&mut self.0.multipliers, &values.multipliers, 1.0, &changes.multipliers);
        let (out, changes) = (&mut self.0.nonholonomic_multipliers, &changes.nonholonomic_multipliers);
        sum(out, &values.nonholonomic_multipliers, 1.0, changes);
    }

    /// Point of the forces with λ̃ and ψ̃: at v, not ṽ [JayNegrut2008, Eq. (13d)].
    fn force_point<'a>(&'a self, trial: &'a Trial) -> Point<'a> {
        Point {
            acceleration: &self.0.acceleration,
            multipliers: &self.0.multipliers,
            nonholonomic_multipliers: &self.0.nonholonomic_multipliers,
            ..trial.values.point()
        }
    }

    /// Point of the nonholonomic constraints at ṽ [JayNegrut2008, Eq. (13h)].
    fn nonholonomic_point<'a>(&'a self, trial: &'a Trial) -> Point<'a> {
        Point { acceleration: &self.0.acceleration, velocity: &self.0.velocity, ..trial.values.point() }
    }
}

impl StepEquations for Soi2 {
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        let Self { force_level, changes, tilde } = self;
        step.work.differenced += std::mem::take(&mut force_level.differenced);
        visit(&mut Soi2Step { step, force_level, changes, tilde });
    }

    fn clear(&mut self) {
        let Changes { increment, multipliers, nonholonomic_multipliers, any } = &mut self.changes;
        if std::mem::replace(any, false) {
            for values in [increment, multipliers, nonholonomic_multipliers] {
                values.fill(0.0);
            }
        }
    }

    /// The change λ̃ − λ belongs to the violation, and so does ψ̃ − ψ.
    fn raise_multipliers(&self, scale: f64, holonomic: &mut [f64], nonholonomic: &mut [f64]) {
        let raise = |out: &mut [f64], changes: &[f64]| {
            out.iter_mut().zip(changes).for_each(|(out, change)| *out = out.max(change.abs() / scale));
        };
        raise(holonomic, &self.changes.multipliers);
        raise(nonholonomic, &self.changes.nonholonomic_multipliers);
    }

    fn restore(&mut self, on: &Tools, point: &MatrixPoint) {
        self.force_level.restore(on, point);
        let Changes { increment, multipliers, nonholonomic_multipliers, any } = &mut self.changes;
        let noted = point.extras.iter().skip(1);
        for (values, noted) in [increment, multipliers, nonholonomic_multipliers].into_iter().zip(noted) {
            values.copy_from_slice(noted);
        }
        *any = true;
    }
}

impl Formulation for Soi2 {
    const LEAVES_HIDDEN_RESIDUAL: bool = false;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let shape = &on.shape;
        let [k, m, p] = [shape.velocity_count(), shape.constraint_count(), shape.nonholonomic_count()];
        let form = Self {
            force_level: ForceLevel::new(shape, couplings),
            changes: Changes {
                increment: vec![0.0; k],
                multipliers: vec![0.0; m],
                nonholonomic_multipliers: vec![0.0; p],
                any: false,
            },
            tilde: Tilde::new(shape, couplings),
        };
        let layout = Layout::new(shape, couplings, Copies::TWO, []);
        (Room { layout, extras: vec![k, k, m, p] }, form)
    }

    fn start(&mut self, _: &Tools, _: &State, _: f64, _: Option<&Slopes>) {
        self.force_level.start();
    }

    fn prepare(&mut self, on: &Tools, base: &Base, step: f64) {
        self.force_level.prepare(on, base, step);
    }

    fn accept(&mut self, _: &Base, _: f64, _: &Trial, next: &[f64]) {
        self.force_level.accept(next);
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        self.force_level.history(each);
    }
}

/// The equations of one step.
struct Soi2Step<'a> {
    step: Step<'a>,
    force_level: &'a ForceLevel,
    changes: &'a mut Changes,
    tilde: &'a mut Tilde,
}

impl Soi2Step<'_> {
    /// Puts E(λ̃, ψ̃) − E(λ, ψ) into `tilde.forces`; needs the forces with λ and ψ, and B, in the workspace.
    fn evaluate_difference(&mut self) {
        let (work, trial, tilde) = (&mut *self.step.work, &*self.step.trial, &mut *self.tilde);
        tilde.forces.fill(0.0);
        if work.shape.reactions == Reactions::General {
            tilde.forces.iter_mut().zip(&work.residual.equilibrium).for_each(|(f, r)| *f -= r);
            work.evaluate_at(self.step.dae, &tilde.values.force_point(trial));
            tilde.forces.iter_mut().zip(&work.residual.equilibrium).for_each(|(f, r)| *f += r);
            return;
        }
        let gradient = &work.tangent.gradient;
        gradient.transpose_multiply_add(1.0, &self.changes.multipliers, &mut tilde.forces);
        if !self.changes.nonholonomic_multipliers.is_empty() {
            work.tangent.nonholonomic.fill(0.0);
            let nonholonomic_gradient = Some(&mut work.tangent.nonholonomic);
            let wanted = Wanted { nonholonomic_gradient, ..Wanted::default() };
            work.differenced += ask(self.step.dae, &trial.values.point(), wanted).count();
            let nonholonomic = &work.tangent.nonholonomic;
            nonholonomic.transpose_multiply_add(
                1.0,
                &self.changes.nonholonomic_multipliers,
                &mut tilde.forces,
            );
        }
    }

    /// Rows h (B v + Φ_t); leaves B in the workspace.
    fn hidden_rows(&mut self, out: &mut [f64]) {
        let (work, trial) = (&mut *self.step.work, &*self.step.trial);
        let hidden = &mut work.scratch.constraints;
        hidden.fill(0.0);
        if work.shape.rheonomic {
            let wanted = Wanted { violation_rate: Some(&mut *hidden), ..Wanted::default() };
            work.differenced += ask(self.step.dae, &trial.values.point(), wanted).count();
        }
        work.tangent.gradient.fill(0.0);
        self.step.dae.gradient(&trial.values.point(), &mut work.tangent.gradient);
        work.tangent.gradient.multiply_add(1.0, &trial.values.velocity, hidden);
        hidden.iter_mut().for_each(|value| *value *= self.step.coefficients.step);
        let inverse_scale = 1.0 / self.step.coefficients.scale;
        comply(&work.compliance, &trial.values.multipliers, inverse_scale, hidden);
        work.layout.scatter(RowKind::Holonomic, 1, hidden, out);
    }

    /// Adds the derivatives of E(λ, ψ) in the first rows of the nodes.
    fn add_balance(&self, exact: bool, out: &mut BlockMatrix) {
        let (work, coefficients) = (&*self.step.work, &self.step.coefficients);
        let (layout, factor) = (&work.layout, 1.0 / coefficients.scale);
        let inertia = factor * coefficients.acceleration;
        layout.add_nodes(&self.force_level.mass, None, inertia, CopyIndex::new(0, 0), out);
        layout.add_columns(RowKind::Holonomic, &work.shape, &work.tangent, 1.0, CopyIndex::new(0, 0), out);
        layout.add_columns(RowKind::Nonholonomic, &work.shape, &work.tangent, 1.0, CopyIndex::new(0, 0), out);
        if exact {
            layout.add_nodes(&work.tangent.dynamic, None, factor, CopyIndex::new(0, 0), out);
            for column in 0..2 {
                let part = CopyIndex::new(0, column);
                layout.add_nodes(&work.tangent.stiffness, Some(&work.operators), factor, part, out);
            }
        }
    }

    /// Adds the derivatives of β' M w + E(λ̃, ψ̃) − E(λ, ψ) in the second rows of the nodes.
    fn add_difference(&mut self, exact: bool, out: &mut BlockMatrix) {
        let (work, coefficients) = (&mut *self.step.work, &self.step.coefficients);
        let (layout, shape, factor) = (&work.layout, &work.shape, 1.0 / coefficients.scale);
        let inertia = factor * coefficients.acceleration;
        layout.add_nodes(&self.force_level.mass, None, inertia, CopyIndex::new(1, 1), out);
        if !exact && shape.reactions == Reactions::Gradient {
            layout.add_columns(RowKind::Holonomic, shape, &work.tangent, 1.0, CopyIndex::new(1, 1), out);
            layout.add_columns(RowKind::Nonholonomic, shape, &work.tangent, 1.0, CopyIndex::new(1, 1), out);
            return;
        }
        let Tilde { tangent, values, .. } = &mut *self.tilde;
        tangent.clear();
        let weights = coefficients.force_weights(self.step.settings.iteration_matrix);
        let wanted = Wanted { tangent: Some((weights, &mut *tangent)), ..Wanted::default() };
        work.differenced += ask(self.step.dae, &values.force_point(self.step.trial), wanted).count();
        for kind in [RowKind::Holonomic, RowKind::Nonholonomic] {
            layout.add_columns(kind, shape, tangent, 1.0, CopyIndex::new(1, 1), out);
            if shape.reactions == Reactions::General {
                layout.add_columns(kind, shape, tangent, 1.0, CopyIndex::new(1, 0), out);
                layout.add_columns(kind, shape, &work.tangent, -1.0, CopyIndex::new(1, 0), out);
            }
        }
        if shape.reactions == Reactions::General && !work.residual.internal_rates.is_empty() {
            let scaling = coefficients.state_scaling();
            layout.add_state_forces(&tangent.state_force, 1.0, &scaling, 1, out);
            layout.add_state_forces(&work.tangent.state_force, -1.0, &scaling, 1, out);
        }
        if exact {
            for (tangent, factor) in [(&*tangent, factor), (&work.tangent, -factor)] {
                layout.add_nodes(&tangent.dynamic, None, factor, CopyIndex::new(1, 0), out);
                for column in 0..2 {
                    let part = CopyIndex::new(1, column);
                    layout.add_nodes(&tangent.stiffness, Some(&work.operators), factor, part, out);
                }
            }
        }
    }

    /// Adds the derivatives of Φ and of h (B v + Φ_t).
    fn add_constraints(&self, exact: bool, out: &mut BlockMatrix) {
        let (work, h) = (&*self.step.work, self.step.coefficients.step);
        let (layout, operators) = (&work.layout, Some(&work.operators));
        let (gradient, rate) = (&work.tangent.gradient, &work.tangent.gradient_rate);
        let factor = h * self.step.coefficients.velocity;
        layout.add_rows(RowKind::Holonomic, gradient, None, factor, CopyIndex::new(1, 0), out);
        for column in 0..2 {
            layout.add_rows(RowKind::Holonomic, gradient, operators, 1.0, CopyIndex::new(0, column), out);
            if exact {
                layout.add_rows(RowKind::Holonomic, rate, operators, h, CopyIndex::new(1, column), out);
            }
        }
    }

    /// Adds the derivatives of and by states: rates depend on v through y, and on q through y and w.
    fn add_states(&self, out: &mut BlockMatrix) {
        let work = &*self.step.work;
        work.add_states(&self.step.coefficients, None, out);
        let scaling = self.step.coefficients.state_scaling();
        let stiffness = &work.tangent.state_stiffness;
        work.layout.add_state_nodes(stiffness, Some(&work.operators), 1.0, &scaling, 1, out);
    }

    /// Adds the derivatives of h κ(q, v) and h κ(q, ṽ).
    fn add_nonholonomic(&mut self, exact: bool, out: &mut BlockMatrix) {
        let (work, h) = (&mut *self.step.work, self.step.coefficients.step);
        if work.shape.nonholonomic_count() == 0 {
            return;
        }
        let (layout, operators, factor) =
            (&work.layout, Some(&work.operators), h * self.step.coefficients.velocity);
        let Tilde { tangent, values, .. } = &mut *self.tilde;
        tangent.clear();
        let weights = self.step.coefficients.force_weights(self.step.settings.iteration_matrix);
        let wanted = Wanted { tangent: Some((weights, &mut *tangent)), ..Wanted::default() };
        work.differenced += ask(self.step.dae, &values.nonholonomic_point(self.step.trial), wanted).count();
        layout.add_rows(
            RowKind::Nonholonomic,
            &work.tangent.nonholonomic,
            None,
            factor,
            CopyIndex::new(0, 0),
            out,
        );
        for column in 0..2 {
            layout.add_rows(
                RowKind::Nonholonomic,
                &tangent.nonholonomic,
                None,
                factor,
                CopyIndex::new(1, column),
                out,
            );
            if exact {
                for (row, tangent) in [(0, &work.tangent), (1, &*tangent)] {
                    let part = CopyIndex::new(row, column);
                    layout.add_rows(
                        RowKind::Nonholonomic,
                        &tangent.nonholonomic_stiffness,
                        operators,
                        h,
                        part,
                        out,
                    );
                }
            }
        }
    }
}

impl TwoParts for Soi2Step<'_> {
    fn residual(&mut self, out: &mut [f64]) {
        self.tilde.values.set(self.step.trial, self.changes, &self.step.coefficients);
        let inverse_scale = 1.0 / self.step.coefficients.scale;
        self.step.work.evaluate_forces(self.step.dae, self.step.base, self.step.trial);
        let (work, trial) = (&mut *self.step.work, &*self.step.trial);
        comply(&work.compliance, &self.changes.multipliers, inverse_scale, &mut work.residual.violation);
        work.layout.scatter(RowKind::Holonomic, 0, &work.residual.violation, out);
        work.nonholonomic_rows(0, &trial.values.nonholonomic_multipliers, &self.step.coefficients, out);
        work.state_rows(trial, &self.step.coefficients, out);
        work.scratch.nodes.copy_from_slice(&work.residual.equilibrium);
        self.force_level.add(&trial.values.acceleration, &mut work.scratch.nodes);
        work.scratch.nodes.iter_mut().for_each(|value| *value *= inverse_scale);
        work.layout.scatter_nodes(0, &work.scratch.nodes, out);
        self.hidden_rows(out);
        self.evaluate_difference();
        let (work, tilde) = (&mut *self.step.work, &mut *self.tilde);
        let factor = self.step.coefficients.acceleration;
        self.force_level.mass.multiply_add(factor, &self.changes.increment, &mut tilde.forces);
        tilde.forces.iter_mut().for_each(|value| *value *= inverse_scale);
        work.layout.scatter_nodes(1, &tilde.forces, out);
        if !work.residual.nonholonomic.is_empty() {
            work.evaluate_at(self.step.dae, &tilde.values.nonholonomic_point(self.step.trial));
            work.nonholonomic_rows(1, &self.changes.nonholonomic_multipliers, &self.step.coefficients, out);
        }
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        let matrix = self.step.settings.iteration_matrix;
        let exact = matrix.is_complete();
        out.fill(0.0);
        self.tilde.values.set(self.step.trial, self.changes, &self.step.coefficients);
        self.step.work.differentiate_forces(self.step.dae, self.step.trial, &self.step.coefficients, matrix);
        self.add_balance(exact, out);
        self.add_difference(exact, out);
        self.add_constraints(exact, out);
        self.add_nonholonomic(exact, out);
        self.add_states(out);
        let work = &*self.step.work;
        if !work.compliance.is_empty() {
            let (holonomic, nonholonomic) = (&work.compliance, work.nonholonomic_compliance());
            work.layout.subtract_compliance(RowKind::Holonomic, holonomic, CopyIndex::new(0, 1), out);
            work.layout.subtract_compliance(RowKind::Holonomic, holonomic, CopyIndex::new(1, 0), out);
            work.layout.subtract_compliance(RowKind::Nonholonomic, nonholonomic, CopyIndex::new(0, 0), out);
            work.layout.subtract_compliance(RowKind::Nonholonomic, nonholonomic, CopyIndex::new(1, 1), out);
        }
        let Changes { increment, multipliers, nonholonomic_multipliers, .. } = &*self.changes;
        let base_velocity = &self.force_level.base_velocity;
        self.step.note(&[base_velocity, increment, multipliers, nonholonomic_multipliers]);
    }
}

impl NonlinearSystem for Soi2Step<'_> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let (trial, coefficients, work) =
            (&mut *self.step.trial, &self.step.coefficients, &mut *self.step.work);
        work.layout.gather_nodes(0, increment, &mut work.scratch.nodes);
        for (i, y) in work.scratch.nodes.iter().enumerate() {
            trial.increment[i] += fraction * y;
            trial.values.velocity[i] += fraction * coefficients.velocity * y;
            trial.values.acceleration[i] += fraction * coefficients.acceleration * y;
        }
        work.layout.gather_nodes(1, increment, &mut work.scratch.nodes);
        self.changes.any = true;
        for (i, w) in work.scratch.nodes.iter().enumerate() {
            trial.increment[i] += fraction * w;
            self.changes.increment[i] += fraction * w;
        }
        let factor = fraction * coefficients.scale;
        for (which, multipliers) in [(0, &mut trial.values.multipliers), (1, &mut self.changes.multipliers)] {
            let changes = &mut work.scratch.constraints;
            work.layout.gather(RowKind::Holonomic, which, increment, changes);
            multipliers.iter_mut().zip(&*changes).for_each(|(lambda, change)| *lambda += factor * change);
        }
        work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        work.correct_nonholonomic(1, increment, factor, &mut self.changes.nonholonomic_multipliers);
        work.correct_states(increment, fraction, coefficients, trial);
    }

    fn tolerances(&self, out: &mut [f64]) {
        let (work, settings, coefficients) = (&*self.step.work, self.step.settings, &self.step.coefficients);
        work.tolerances(settings, self.step.trial, coefficients, out);
        let changes = &self.changes.multipliers;
        work.multiplier_tolerances(RowKind::Holonomic, 1, changes, settings, coefficients, out);
        let changes = &self.changes.nonholonomic_multipliers;
        work.multiplier_tolerances(RowKind::Nonholonomic, 1, changes, settings, coefficients, out);
    }
}
