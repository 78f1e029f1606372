//! How an integration begins: settings that suit the system, consistent initial values or a saved state.

use super::GeneralizedAlpha;
use super::error::{StartError, StateError};
use super::formulation::Formulation;
use super::integration::{Integration, StepReport};
use super::interval::Scratch;
use super::parameters::{Parameters, Stability};
use super::prepare::Unprepared;
use super::scheme::{Trial, Workspace};
use super::settings::{Method, Settings};
use super::start::{Side, starting_state};
use super::state::State;
use super::updated_lagrangian::node_without_coordinates;
use crate::constrained::{Kkt, Redundancy, StartReport, check_initial, closed};
use crate::dae::{Dae, Equation, Initial, Shape, Values};
use crate::solve::newton::{Newton, Refresh};

impl GeneralizedAlpha {
    /// Makes the initial values consistent and finds the method's starting values.
    pub fn start<'d>(&self, dae: &'d dyn Dae, initial: Initial) -> Result<Integration<'d>, StartError> {
        let mut integration = self.prepare(dae)?;
        check_initial(dae, &integration.work.shape, &initial)?;
        integration.set_redundancy(Redundancy::find_moving(
            dae,
            initial.time,
            &initial.configuration,
            &initial.velocity,
        ));
        let (shape, kkt) = (&integration.work.shape, &mut integration.kkt);
        let (configuration, mut report) = closed(dae, shape, &initial, kkt)?;
        if report.position_change.iter().any(|change| *change != 0.0) {
            // Which constraints depend on others may differ where the machine fits together.
            integration.set_redundancy(Redundancy::find_moving(
                dae,
                initial.time,
                &configuration,
                &initial.velocity,
            ));
        }
        let (shape, kkt) = (&integration.work.shape, &mut integration.kkt);
        let mut state =
            starting_state(dae, shape, &integration.settings, &initial, configuration, &mut report, kkt)?;
        state.compliance = integration.work.compliance.clone();
        state.merged.start = integration.kkt.system.solver.merged();
        integration.previous = state.now.clone();
        integration.state = state;
        let before = vec![0.0; integration.state.now.memory.len()];
        if dae.couplings_differ(&before, &integration.state.now.memory) {
            integration.renew_couplings();
        }
        integration.start_report = report;
        integration.state.prepared_step = integration.settings.step;
        if integration.settings.error_control.is_some() {
            let prepared = integration.choose_and_prepare(initial.time, Side::Both);
            prepared.map_err(|failure| failure.at_start(dae, initial.time))?;
            integration.previous = integration.state.now.clone();
        }
        Ok(integration)
    }

    /// Goes on from a saved state, to the same bits as without interruption.
    pub fn resume<'d>(&self, dae: &'d dyn Dae, state: State) -> Result<Integration<'d>, ResumeError> {
        let mut integration = self.prepare(dae)?;
        check_sizes(&integration.work.shape, integration.settings.method, &state)?;
        integration.kkt.set_states(&state.now.internal_states, &state.now.memory);
        integration.kkt.set_compliance(&state.compliance);
        integration.work.compliance = state.compliance.clone();
        integration.previous = state.now.clone();
        integration.state = state;
        if dae.couplings_differ(&vec![0.0; integration.state.now.memory.len()], &integration.state.now.memory)
        {
            integration.use_couplings();
        }
        integration.restore_merged()?;
        integration.restore_factors();
        Ok(integration)
    }

    fn prepare<'d>(&self, dae: &'d dyn Dae) -> Result<Integration<'d>, StartError> {
        let settings = suited(dae, *self.settings());
        let (shape, couplings) = (dae.shape(), dae.couplings());
        let scales = shape.scales;
        check_settings(&settings, &shape)?;
        check_groups(&settings, dae, &shape)?;
        let mass_scale = settings.mass_scale.unwrap_or(scales.mass);
        let stiffness_scale = settings.stiffness_scale.unwrap_or(scales.stiffness);
        check_scales(mass_scale, stiffness_scale)?;
        let (layout, formulation) = Formulation::new(&settings, &shape, &couplings);
        let error_rates = vec![0.0; shape.velocity_count()];
        Ok(Integration {
            dae,
            settings,
            state: State::default(),
            previous: Values::default(),
            last_increment: vec![0.0; shape.velocity_count()],
            scratch: Scratch::default(),
            trial: Trial::new(&shape),
            newton: Newton::new(layout.pattern.clone(), &layout.roles),
            // Initial values know no step, and their rows are those of masses.
            kkt: Kkt::new(dae, if mass_scale > 0.0 { mass_scale } else { scales.mass }),
            work: Workspace::new(shape, &couplings, layout),
            formulation,
            mass_scale,
            stiffness_scale,
            start_report: StartReport::default(),
            redundancy: Redundancy::default(),
            before: Unprepared::default(),
            error_rates,
            last_report: StepReport::default(),
            steps: 0,
            rejections: 0,
            failures: 0,
        })
    }
}

/// Settings with what a system and a method do not leave open: `bdf2` has first-order states of ρ∞ = 0, which
/// obey the same formula, and its matrix depends on the past, so that it is of no use in another step.
fn suited(dae: &dyn Dae, settings: Settings) -> Settings {
    let (bdf2, mut newton) = (settings.method == Method::Bdf2, settings.newton);
    newton.refresh = match newton.refresh {
        Refresh::WhenSlow if bdf2 => Refresh::EveryStep,
        Refresh::WhenCheaper if bdf2 || !dae.shape().costly_tangent => Refresh::EveryStep,
        refresh => refresh,
    };
    let own = settings.parameters;
    let parameters = if bdf2 { Parameters::chung_hulbert(0.0).unwrap_or(own) } else { own };
    Settings { parameters, newton, ..settings }
}

/// Why a saved state cannot be taken up.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum ResumeError {
    /// The settings do not suit the system.
    #[error(transparent)]
    Settings(#[from] StartError),
    /// The state is not one of this system.
    #[error(transparent)]
    State(#[from] StateError),
}

fn check_settings(settings: &Settings, shape: &Shape) -> Result<(), StartError> {
    if !(settings.step > 0.0 && settings.step.is_finite()) {
        return Err(StartError::Step(settings.step));
    }
    for (name, value) in [("newton-rtol", settings.newton_rtol), ("newton-atol", settings.newton_atol)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(StartError::Tolerance { name, value });
        }
    }
    if let Some(control) = &settings.error_control {
        control.check()?;
    }
    if shape.nonholonomic_count() > 0 && settings.method == Method::UpdatedLagrangian {
        return Err(StartError::Unsupported("nonholonomic constraints"));
    }
    if settings.method.is_hht() && settings.parameters.alpha_m() != 0.0 {
        return Err(StartError::NotHht(settings.parameters.alpha_m()));
    }
    let constrained = shape.constraint_count() > 0;
    match settings.parameters.stability() {
        _ if settings.allow_unstable => Ok(()),
        Stability::Unstable => Err(StartError::Unstable),
        Stability::Limit if constrained && settings.method.leaves_hidden_residual() => {
            Err(StartError::UndampedMultipliers)
        }
        Stability::Damped | Stability::Limit => Ok(()),
    }
}

/// With m = 0 the scaling is the same for all steps, which k alone must then give.
fn check_scales(mass: f64, stiffness: f64) -> Result<(), StartError> {
    let fits = |scale: f64| scale >= 0.0 && scale.is_finite();
    if fits(mass) && fits(stiffness) && mass.max(stiffness) > 0.0 {
        return Ok(());
    }
    Err(StartError::NoScale { mass, stiffness })
}

fn check_groups(settings: &Settings, dae: &dyn Dae, shape: &Shape) -> Result<(), StartError> {
    match node_without_coordinates(&shape.space) {
        Some(node) if settings.method == Method::UpdatedLagrangian => {
            let first = Equation::Equilibrium(shape.space.velocity_range(node).start);
            Err(StartError::NoLocalCoordinates { equation: dae.describe(first) })
        }
        _ => Ok(()),
    }
}

fn check_sizes(shape: &Shape, method: Method, state: &State) -> Result<(), StateError> {
    let (k, m) = (shape.velocity_count(), shape.constraint_count());
    let mut sizes = vec![
        ("configuration coordinates", state.now.configuration.len(), shape.space.coordinate_count()),
        ("velocity coordinates", state.base_velocity.len(), k),
        ("velocity coordinates", state.now.velocity.len(), k),
        ("velocity coordinates", state.now.acceleration.len(), k),
        ("velocity coordinates", state.algorithmic_acceleration.len(), k),
        ("velocity coordinates", state.previous_algorithmic_acceleration.len(), k),
        ("velocity coordinates", state.earlier_algorithmic_acceleration.len(), k),
        ("velocity coordinates", state.earliest_algorithmic_acceleration.len(), k),
        ("constraints", state.now.multipliers.len(), m),
        ("constraints", state.previous_multipliers.len(), m),
        ("constraints", state.earlier_multipliers.len(), m),
        ("constraints", state.earliest_multipliers.len(), m),
        ("constraints", state.stabilizers.len(), m),
        ("nonholonomic constraints", state.now.nonholonomic_multipliers.len(), shape.nonholonomic_count()),
        ("states", state.now.internal_states.len(), shape.state_count()),
        ("states", state.now.internal_rates.len(), shape.state_count()),
        ("states", state.previous_state_rates.len(), shape.state_count()),
        ("states", state.algorithmic_state_rates.len(), shape.state_count()),
        ("states", state.previous_algorithmic_state_rates.len(), shape.state_count()),
        ("remembered numbers", state.now.memory.len(), shape.memory),
    ];
    if !state.compliance.is_empty() {
        sizes.push(("constraints", state.compliance.len(), m + shape.nonholonomic_count()));
    }
    if !state.inertia_force.is_empty() {
        sizes.push(("velocity coordinates", state.inertia_force.len(), k));
        sizes.push(("velocity coordinates", state.previous_inertia_force.len(), k));
    }
    if method == Method::Bdf2 {
        sizes.push(("velocity coordinates", state.previous_velocity.len(), k));
        sizes.push(("velocity coordinates", state.previous_increment.len(), k));
    }
    if let Some(point) = &state.matrix_point {
        sizes.extend([
            ("configuration coordinates", point.base.len(), shape.space.coordinate_count()),
            ("configuration coordinates", point.values.configuration.len(), shape.space.coordinate_count()),
            ("states", point.values.internal_rates.len(), shape.state_count()),
            ("velocity coordinates", point.increment.len(), k),
            ("velocity coordinates", point.values.velocity.len(), k),
            ("velocity coordinates", point.values.acceleration.len(), k),
            ("velocity coordinates", point.correction.len(), k),
            ("constraints", point.values.multipliers.len(), m),
            ("constraints", point.multiplier_changes.len(), m),
            (
                "nonholonomic constraints",
                point.values.nonholonomic_multipliers.len(),
                shape.nonholonomic_count(),
            ),
            (
                "nonholonomic constraints",
                point.nonholonomic_multiplier_changes.len(),
                shape.nonholonomic_count(),
            ),
            ("states", point.values.internal_states.len(), shape.state_count()),
            ("remembered numbers", point.values.memory.len(), shape.memory),
        ]);
    }
    match sizes.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(StateError::OtherSystem { what, found, expected }),
        None => Ok(()),
    }
}
