//! The formulations with what each of them keeps, behind one door.

use super::bdf2::{Bdf2, TwoSteps};
use super::force_level::{ForceLevel, MassBase};
use super::index2::{Index2, StabilizerProducts};
use super::index3::Index3;
use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{Method, Settings};
use super::soi2::{Soi2, Tilde};
use super::state::{MatrixPoint, State};
use super::updated_lagrangian::{LocalCoordinates, UpdatedLagrangian};
use crate::constrained::{Copies, Layout};
use crate::dae::{Couplings, Dae, Shape};
use crate::solve::newton::{ContractionHistory, Newton, NewtonFailure, NonlinearSystem};

/// What a method needs beside trial values and workspace.
pub(super) enum Formulation {
    Index3,
    Index2(StabilizerProducts),
    HhtI3(Box<ForceLevel>),
    Soi2(Box<(ForceLevel, Tilde)>),
    UpdatedLagrangian(Box<LocalCoordinates>),
    Bdf2(Box<TwoSteps>),
}

/// The step that is solved for.
pub(super) struct Step<'a> {
    pub dae: &'a dyn Dae,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// t_n.
    pub time: f64,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    /// Where the matrix is evaluated, if that is to be noted.
    pub matrix_point: Option<&'a mut MatrixPoint>,
}

impl<'a> Step<'a> {
    /// The equations of `index3`, at force level with `hht-i3`.
    fn index3(self, force_level: Option<&'a ForceLevel>) -> Index3<'a> {
        let Self { dae, settings, coefficients, base, trial, work, matrix_point, .. } = self;
        Index3 { dae, settings, coefficients, base, trial, work, force_level, matrix_point }
    }
}

impl Formulation {
    /// The formulation of a method and the layout of its Newton matrix.
    pub fn new(settings: &Settings, shape: &Shape, couplings: &Couplings) -> (Layout, Self) {
        let layout = |copies: Copies| Layout::new(shape, couplings, copies, []);
        let force_level = || ForceLevel::new(shape, couplings);
        match settings.method {
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
            Method::UpdatedLagrangian => {
                let local = LocalCoordinates::new(settings.parametrization, shape, couplings);
                (layout(Copies::ONE), Self::UpdatedLagrangian(Box::new(local)))
            }
            Method::Bdf2 => {
                let (layout, steps) = TwoSteps::new(settings, shape, couplings);
                (layout, Self::Bdf2(Box::new(steps)))
            }
        }
    }

    fn force_level(&mut self) -> Option<&mut ForceLevel> {
        match self {
            Self::Index3 | Self::Index2(_) | Self::UpdatedLagrangian(_) | Self::Bdf2(_) => None,
            Self::HhtI3(force_level) => Some(force_level),
            Self::Soi2(parts) => Some(&mut parts.0),
        }
    }

    /// Evaluates what is known before a step.
    pub fn prepare(
        &mut self,
        dae: &dyn Dae,
        shape: &Shape,
        settings: &Settings,
        step: f64,
        state: &mut State,
    ) {
        if let Self::Bdf2(steps) = self {
            steps.prepare(state, step);
        }
        if let Some(force_level) = self.force_level() {
            force_level.prepare(dae, shape, settings, step, state);
        }
    }

    /// Makes the factors again that were in use at a point of the matrix.
    pub fn restore(
        &mut self,
        newton: &mut Newton,
        step: Step<'_>,
        base_velocity: &[f64],
        memory: ContractionHistory,
    ) -> Result<(), NewtonFailure> {
        if let Some(force_level) = self.force_level() {
            if base_velocity.len() != step.trial.values.velocity.len() {
                // The state is one of another method, whose factors are of no use.
                return Ok(());
            }
            let base = MassBase {
                time: step.time,
                configuration: step.base,
                velocity: base_velocity,
                internal_states: &step.trial.values.internal_states,
                memory: &step.trial.values.memory,
            };
            let distance = (1.0 + step.settings.parameters.offset()) * step.coefficients.step;
            force_level.set_mass(step.dae, &step.work.shape, &base, distance);
        }
        self.with_equations(step, |equations| newton.restore(equations, memory))
    }

    /// Shows the equations of a step to `visit`.
    pub fn with_equations<R>(
        &mut self,
        step: Step<'_>,
        visit: impl FnOnce(&mut dyn NonlinearSystem) -> R,
    ) -> R {
        match self {
            Self::Index3 => visit(&mut step.index3(None)),
            Self::UpdatedLagrangian(local) => {
                visit(&mut UpdatedLagrangian { linear: step.index3(None), local })
            }
            Self::HhtI3(force_level) => visit(&mut step.index3(Some(force_level))),
            Self::Index2(products) => {
                let Step { dae, settings, coefficients, time, base, trial, work, matrix_point } = step;
                let mut equations =
                    Index2 { dae, settings, coefficients, base, trial, work, products, matrix_point };
                equations.set_base_gradient(time);
                visit(&mut equations)
            }
            Self::Bdf2(steps) => {
                let Step { dae, settings, coefficients, base, trial, work, matrix_point, .. } = step;
                let coefficients = steps.coefficients(coefficients);
                visit(&mut Bdf2 { dae, settings, coefficients, base, trial, work, steps, matrix_point })
            }
            Self::Soi2(parts) => {
                let Step { dae, settings, coefficients, base, trial, work, matrix_point, .. } = step;
                let (force_level, tilde) = &mut **parts;
                visit(&mut Soi2 {
                    dae,
                    settings,
                    coefficients,
                    base,
                    trial,
                    work,
                    force_level,
                    tilde,
                    matrix_point,
                })
            }
        }
    }

    /// Turns the solution of a step into values on the group.
    pub fn settle(&mut self, shape: &Shape, settings: &Settings, state: &State, trial: &mut Trial) {
        match self {
            Self::UpdatedLagrangian(local) => {
                local.settle(&shape.space, &settings.parameters, state, trial);
            }
            Self::Bdf2(steps) => steps.settle(&shape.space, trial),
            _ => {}
        }
    }

    /// a at the end of a step, if it does not follow from v̇.
    pub fn algorithmic_acceleration(&self) -> Option<&[f64]> {
        match self {
            Self::UpdatedLagrangian(local) => Some(local.algorithmic_acceleration()),
            _ => None,
        }
    }

    /// Takes into the state what the next step needs of this one.
    pub fn accept(&mut self, state: &mut State) {
        if let Some(force_level) = self.force_level() {
            force_level.accept(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::Initial;
    use crate::dae::coupled::Coupled;
    use crate::integrate::{GeneralizedAlpha, Parameters};
    use crate::lie::Group;
    use crate::solve::block::BlockMatrix;

    const METHODS: [Method; 6] =
        [Method::Index3, Method::Index2, Method::Soi2, Method::HhtI3, Method::HhtSoi2, Method::Bdf2];

    fn parameters(method: Method) -> Parameters {
        if method.is_hht() { Parameters::hht(0.2).unwrap() } else { Parameters::chung_hulbert(0.4).unwrap() }
    }

    /// Largest difference between the iteration matrix and differences of the residual, relative to the
    /// matrix.
    fn deviation(dae: &dyn Dae, initial: Initial, method: Method) -> f64 {
        deviation_with(dae, initial, Settings::new(method, parameters(method), STEP))
    }

    /// A large step makes every term count.
    const STEP: f64 = 0.1;

    fn deviation_with(dae: &dyn Dae, initial: Initial, settings: Settings) -> f64 {
        let h = STEP;
        let run = GeneralizedAlpha::with(settings).start(dae, initial).unwrap();
        let mut state = run.state().clone();
        let (shape, couplings) = (dae.shape(), dae.couplings());
        let (layout, mut formulation) = Formulation::new(&settings, &shape, &couplings);
        let pattern = layout.pattern.clone();
        let mut work = Workspace::new(shape.clone(), &couplings, layout);
        let mut trial = Trial::new(&shape);
        formulation.prepare(dae, &shape, &settings, h, &mut state);
        trial.predict(&state, &settings.parameters, settings.predictor, h);
        let coefficients = Coefficients::new(&settings.parameters, h, 1.3, 0.7);
        let base = state.now.configuration.clone();
        let time = state.now.time;
        let step = Step {
            dae,
            settings: &settings,
            coefficients,
            time,
            base: &base,
            trial: &mut trial,
            work: &mut work,
            matrix_point: None,
        };
        formulation.with_equations(step, |equations| {
            let size = pattern.row_count();
            // Away from the predicted values, so that no multiplier and no correction is zero.
            let away: Vec<f64> = (0..size).map(|i| 0.02 * (1.0 + i as f64).sin()).collect();
            equations.correct(&away, 1.0);
            let mut residual = vec![0.0; size];
            equations.evaluate(Some(&mut residual), None);
            let mut matrix = BlockMatrix::zeros(pattern.clone());
            equations.evaluate(None, Some(&mut matrix));
            let (mut largest, mut entries) = (0.0_f64, 0.0_f64);
            for column in 0..size {
                let unit: Vec<f64> = (0..size).map(|i| f64::from(u8::from(i == column))).collect();
                let mut exact = vec![0.0; size];
                matrix.multiply_add(1.0, &unit, &mut exact);
                let distance = 1e-6;
                let mut at = |fraction: f64| {
                    equations.correct(&unit, fraction);
                    let mut values = vec![0.0; size];
                    equations.evaluate(Some(&mut values), None);
                    equations.correct(&unit, -fraction);
                    values
                };
                let (forth, back) = (at(distance), at(-distance));
                for ((forth, back), exact) in forth.iter().zip(&back).zip(&exact) {
                    let slope = (forth - back) / (2.0 * distance);
                    largest = largest.max((slope - exact).abs());
                    entries = entries.max(exact.abs());
                }
            }
            largest / entries
        })
    }

    #[test]
    fn iteration_matrices_are_the_derivatives_of_the_equations_of_a_step() {
        for method in METHODS {
            for group in [Group::Se3, Group::So3xR3] {
                for coupled in [Coupled::new(group), Coupled::general(group)] {
                    let found = deviation(&coupled, coupled.initial(), method);
                    // Central differences over 1e-6 are good to nine digits.
                    assert!(found < 1e-7, "{method:?} on {coupled:?}: {found:e}");
                }
            }
        }
    }

    /// Two bodies, a hinge, a ball joint, and a damper that couples their velocities.
    const PENDULUM: &str = "
[simulation]
group = 'GROUP'
[[body]]
name = 'arm'
mass = 2
shape = { kind = 'box', size = [0.5, 0.1, 0.2] }
position = [0.25, 0, 0]
markers = [{ name = 'tip', position = [0.1, 0.2, 0.1] }]
[[body]]
name = 'bob'
mass = 3
shape = { kind = 'box', size = [0.4, 0.3, 0.1] }
position = [0.7, 0, 0]
markers = [{ name = 'side', position = [0.1, -0.3, 0.2] }]
[[revolute]]
name = 'hinge'
bodies = ['ground', 'arm']
point = [0, 0, 0]
axis = [0, 1, 0]
[[spherical]]
name = 'ball'
bodies = ['arm', 'bob']
point = [0.5, 0, 0]
[[spring-damper]]
name = 'damper'
bodies = ['arm.tip', 'bob.side']
stiffness = 40
damping = 7
";

    #[test]
    fn so_are_those_of_machines_which_fold_their_derivatives() {
        for method in [Method::Index3, Method::Index2] {
            for group in ["se3", "so3xr3"] {
                let text = PENDULUM.replace("GROUP", group);
                let machine = crate::machine::Machine::from_text("pendulum.toml", &text).unwrap();
                assert!(machine.system.shape().folds);
                let found = deviation(&machine.system, machine.initial.clone(), method);
                assert!(found < 1e-7, "{method:?} on {group}: {found:e}");
            }
        }
    }

    #[test]
    fn so_are_those_of_every_form_and_scaling_of_bdf2() {
        use crate::integrate::{Form, Scaling};
        let scalings = [Scaling::Unscaled, Scaling::Left, Scaling::LeftRight, Scaling::LeftRightVelocities];
        for form in [Form::ThreeField, Form::TwoField] {
            for scaling in scalings {
                let usual = Settings::new(Method::Bdf2, parameters(Method::Bdf2), STEP);
                let settings = Settings { form, scaling, ..usual };
                let coupled = Coupled::general(Group::Se3);
                let found = deviation_with(&coupled, coupled.initial(), settings);
                assert!(found < 1e-7, "{form:?} {scaling:?}: {found:e}");
            }
        }
    }
}
