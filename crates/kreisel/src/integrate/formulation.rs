//! The formulations with what each of them keeps, behind one door.

use super::force_level::{ForceLevel, MassBase};
use super::index2::{Index2, StabilizerProducts};
use super::index3::Index3;
use super::layout::{Copies, Layout};
use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{Method, Settings};
use super::soi2::{Soi2, Tilde};
use super::state::{MatrixPoint, State};
use crate::dae::{Couplings, Dae, Shape};
use crate::solve::newton::{Newton, NewtonFailure};

/// What a method needs beside trial values and workspace.
pub(super) enum Formulation {
    Index3,
    Index2(StabilizerProducts),
    HhtI3(Box<ForceLevel>),
    Soi2(Box<(ForceLevel, Tilde)>),
}

/// The step that is solved for.
pub(super) struct Step<'a, D: ?Sized> {
    pub dae: &'a D,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// t_n.
    pub time: f64,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    pub matrix_point: &'a mut MatrixPoint,
}

/// What Newton is asked for.
#[derive(Clone, Copy)]
enum Task {
    Solve,
    /// Make the factors again with this rate of contraction.
    Restore(f64),
}

impl Formulation {
    /// The formulation of a method and the layout of its Newton matrix.
    pub fn new(method: Method, shape: &Shape, couplings: &Couplings) -> (Layout, Self) {
        let layout = |copies: Copies| Layout::new(shape, couplings, copies, []);
        let force_level = || ForceLevel::new(shape, couplings);
        match method {
            Method::Index3 => (layout(Copies::ONE), Self::Index3),
            Method::Index2 => {
                let (layout, products) = StabilizerProducts::new(shape, couplings);
                (layout, Self::Index2(products))
            }
            Method::HhtI3 => (layout(Copies::ONE), Self::HhtI3(Box::new(force_level()))),
            Method::Soi2 | Method::HhtSoi2 => {
                let parts = (force_level(), Tilde::new(shape, couplings));
                (layout(Copies::TWO), Self::Soi2(Box::new(parts)))
            }
        }
    }

    fn force_level(&mut self) -> Option<&mut ForceLevel> {
        match self {
            Self::Index3 | Self::Index2(_) => None,
            Self::HhtI3(force_level) => Some(force_level),
            Self::Soi2(parts) => Some(&mut parts.0),
        }
    }

    /// Evaluates what is known before a step.
    pub fn prepare<D: Dae + ?Sized>(
        &mut self,
        dae: &D,
        shape: &Shape,
        settings: &Settings,
        step: f64,
        state: &mut State,
    ) {
        if let Some(force_level) = self.force_level() {
            force_level.prepare(dae, shape, settings, step, state);
        }
    }

    /// Solves the equations of a prepared step.
    pub fn solve<D: Dae + ?Sized>(
        &mut self,
        newton: &mut Newton,
        step: Step<D>,
    ) -> Result<usize, NewtonFailure> {
        self.run(newton, step, Task::Solve)
    }

    /// Makes the factors again that were in use at a point of the matrix.
    pub fn restore<D: Dae + ?Sized>(
        &mut self,
        newton: &mut Newton,
        step: Step<D>,
        base_velocity: &[f64],
        rate: f64,
    ) -> Result<(), NewtonFailure> {
        if let Some(force_level) = self.force_level() {
            if base_velocity.len() != step.trial.velocity.len() {
                // The state is one of another method, whose factors are of no use.
                return Ok(());
            }
            let base = MassBase {
                time: step.time,
                configuration: step.base,
                velocity: base_velocity,
                states: &step.trial.states,
                memory: &step.trial.memory,
            };
            let distance = (1.0 + step.settings.parameters.offset()) * step.coefficients.step;
            force_level.set_mass(step.dae, &step.work.shape, &base, distance);
        }
        self.run(newton, step, Task::Restore(rate)).map(|_| ())
    }

    fn run<D: Dae + ?Sized>(
        &mut self,
        newton: &mut Newton,
        step: Step<D>,
        task: Task,
    ) -> Result<usize, NewtonFailure> {
        let Step { dae, settings, coefficients, time, base, trial, work, matrix_point } = step;
        match self {
            Self::Index3 => {
                let force_level = None;
                let mut equations =
                    Index3 { dae, settings, coefficients, base, trial, work, force_level, matrix_point };
                task.run(newton, &mut equations, settings)
            }
            Self::HhtI3(force_level) => {
                let force_level = Some(&**force_level);
                let mut equations =
                    Index3 { dae, settings, coefficients, base, trial, work, force_level, matrix_point };
                task.run(newton, &mut equations, settings)
            }
            Self::Index2(products) => {
                let mut equations =
                    Index2 { dae, settings, coefficients, base, trial, work, products, matrix_point };
                equations.set_base_gradient(time);
                task.run(newton, &mut equations, settings)
            }
            Self::Soi2(parts) => {
                let (force_level, tilde) = &mut **parts;
                let mut equations =
                    Soi2 { dae, settings, coefficients, base, trial, work, force_level, tilde, matrix_point };
                task.run(newton, &mut equations, settings)
            }
        }
    }

    /// Takes into the state what the next step needs of this one.
    pub fn accept(&mut self, state: &mut State) {
        if let Some(force_level) = self.force_level() {
            force_level.accept(state);
        }
    }
}

impl Task {
    fn run(
        self,
        newton: &mut Newton,
        equations: &mut impl crate::solve::newton::NonlinearSystem,
        settings: &Settings,
    ) -> Result<usize, NewtonFailure> {
        match self {
            Self::Solve => newton.solve(equations, &settings.newton),
            Self::Restore(rate) => newton.restore(equations, rate).map(|()| 0),
        }
    }
}
