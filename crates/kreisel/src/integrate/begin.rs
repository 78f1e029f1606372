//! How an integration begins: settings that suit the system, consistent initial values or a saved state.

use std::sync::Arc;

use super::Integrator;
use super::control::{ControlHistory, damps_enough};
use super::error::{StartError, StateError};
use super::integration::{Integration, StepReport, Work};
use super::interval::Scratch;
use super::judge::Judge;
use super::saved::Saved;
use super::scheme::{Family, Stability, StartPoint, Tools, Trial};
use super::settings::Settings;
use super::state::State;
use crate::constrained::{
    Kkt, KktFailure, Redundancy, StartReport, check_initial, closed, refuse, start_velocity,
};
use crate::dae::{Dae, Initial, Notes, Shape, Values};
use crate::solve::newton::{NewtonCounts, Refresh, Stop};

impl Integrator {
    /// Makes the initial values consistent and finds the method's starting values.
    pub fn start<'d>(&self, dae: &'d dyn Dae, initial: Initial) -> Result<Integration<'d>, StartError> {
        let mut integration = self.prepare(dae)?;
        check_initial(dae, &integration.tools.shape, &initial)?;
        let redundancy_at = |configuration: &[f64]| {
            Redundancy::find_moving(dae, initial.time, configuration, &initial.velocity)
        };
        integration.set_redundancy(redundancy_at(&initial.configuration));
        let Tools { shape, kkt, .. } = &mut integration.tools;
        let (configuration, mut report) = closed(dae, shape, &initial, &vec![0.0; shape.memory], kkt)?;
        if report.position_change.iter().any(|change| *change != 0.0) {
            // Which constraints depend on others may differ where the machine fits together.
            integration.set_redundancy(redundancy_at(&configuration));
        }
        let Tools { shape, kkt, .. } = &mut integration.tools;
        integration.state.now = consistent_values(dae, shape, &initial, configuration, &mut report, kkt)?;
        integration.start_report = report;
        let failed = |failure: KktFailure| failure.at_start(dae, initial.time);
        let at = StartPoint { time: initial.time, side: integration.tools.settings.first_side() };
        let step = integration.tools.settings.step;
        integration.start_method(step, at).map_err(failed)?;
        let Values { time, configuration, velocity, acceleration, memory, .. } = &integration.state.now;
        let kkt = &mut integration.tools.kkt;
        let misses = kkt.contradicting_accelerations(dae, *time, configuration, velocity, acceleration);
        refuse(dae, "accelerations", &misses)?;
        integration.state.merged_start = kkt.system.solver.merged();
        if dae.couplings_differ(&vec![0.0; memory.len()], memory) {
            integration.renew_couplings();
        }
        if let Some(control) = integration.tools.settings.error_control {
            // The attempt starts anew for it: a step that is too large for that is cut like any other.
            integration.state.control = ControlHistory::starting(control.first_step());
        }
        integration.previous = integration.state.now.clone();
        Ok(integration)
    }

    /// Goes on from what was saved, to the same bits as without interruption.
    pub fn resume<'d>(&self, dae: &'d dyn Dae, saved: &Saved) -> Result<Integration<'d>, ResumeError> {
        let mut integration = self.prepare(dae)?;
        let Integration { tools, scheme, state, previous, .. } = &mut integration;
        *state = saved.state_for(tools.settings.method.word(), &tools.shape)?;
        tools.kkt.set_states(&state.now.internal_states, &state.now.memory);
        tools.kkt.set_compliance(&state.compliance);
        *previous = state.now.clone();
        if dae.couplings_differ(&vec![0.0; state.now.memory.len()], &state.now.memory) {
            scheme.fit(tools, &dae.couplings(Some(&state.now.memory)));
        }
        if state.merged_start.as_ref().is_some_and(|parts| !tools.kkt.system.solver.merge(parts)) {
            return Err(StateError::Damaged.into());
        }
        saved.restore(&mut **scheme)?;
        scheme.resume(tools, state)?;
        if let Some(control) = tools.settings.error_control
            && state.control.next_step <= 0.0
        {
            // Saved with fixed steps: the last of them is what is known of the motion.
            let last = state.clock.step;
            let step = if last > 0.0 { control.clamp(last) } else { control.first_step() };
            state.control = ControlHistory::starting(step);
        }
        integration.count_work();
        Ok(integration)
    }

    fn prepare<'d>(&self, dae: &'d dyn Dae) -> Result<Integration<'d>, StartError> {
        let shape = Arc::new(dae.shape());
        let settings = settings_for(&shape, *self.settings());
        check_settings(&settings)?;
        let [mass, stiffness] =
            [settings.mass_scale, settings.stiffness_scale].map(Option::unwrap_or_default);
        let tools = Tools {
            dae,
            settings,
            // Initial values know no step, and their rows are those of masses.
            kkt: Kkt::new(dae, if mass > 0.0 { mass } else { shape.scales.mass }),
            judge: Judge::new(&shape, settings.method),
            shape,
            notes: Notes::default(),
            stepper: settings.method,
            choice: None,
            counts: NewtonCounts::default(),
            known_error: None,
        };
        let scheme = (settings.method.0.new)(&tools, &dae.couplings(None))?;
        check_parameters(&settings, &tools.shape)?;
        check_scales(mass, stiffness)?;
        Ok(Integration {
            scheme,
            state: State::default(),
            trial: Trial::new(&tools.shape),
            previous: Values::default(),
            last_increment: vec![0.0; tools.shape.velocity_count()],
            scratch: Scratch::default(),
            start_report: StartReport::default(),
            redundancy: Redundancy::default(),
            last_report: StepReport::default(),
            work: Work::default(),
            tools,
        })
    }
}

/// Values with which a motion starts at a consistent configuration, without accelerations and multipliers;
/// reports what was changed in the user's velocity.
fn consistent_values(
    dae: &dyn Dae,
    shape: &Shape,
    initial: &Initial,
    configuration: Vec<f64>,
    report: &mut StartReport,
    kkt: &mut Kkt,
) -> Result<Values, StartError> {
    let mut now = Values::zeros(shape);
    now.time = initial.time;
    kkt.remember(dae, initial.time, &configuration, &mut now.memory);
    now.velocity = start_velocity(dae, initial, &configuration, report, kkt)?;
    now.configuration = configuration;
    now.internal_states.copy_from_slice(&initial.internal_states);
    // Empty ones are no guess.
    now.multipliers.iter_mut().zip(&initial.multipliers).for_each(|(to, from)| *to = *from);
    let guesses = &initial.nonholonomic_multipliers;
    now.nonholonomic_multipliers.iter_mut().zip(guesses).for_each(|(to, from)| *to = *from);
    Ok(now)
}

/// Settings with what a system and a method do not leave open.
fn settings_for(shape: &Shape, mut settings: Settings) -> Settings {
    settings = settings.settled();
    if settings.newton.refresh == Refresh::WhenCheaper && !shape.costly_tangent {
        settings.newton.refresh = Refresh::EveryStep;
    }
    settings.mass_scale.get_or_insert(shape.scales.mass);
    settings.stiffness_scale.get_or_insert(shape.scales.stiffness);
    settings
}

/// Why a saved state cannot be taken up.
#[derive(Clone, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ResumeError {
    /// The settings do not suit the system.
    #[error(transparent)]
    Settings(#[from] StartError),
    /// The state is not one of this system.
    #[error(transparent)]
    State(#[from] StateError),
}

shown_by_message!(ResumeError);

fn check_settings(settings: &Settings) -> Result<(), StartError> {
    if !(settings.step > 0.0 && settings.step.is_finite()) {
        return Err(StartError::Step(settings.step));
    }
    for (name, value) in [("newton-rtol", settings.newton_rtol), ("newton-atol", settings.newton_atol)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(StartError::Tolerance { name, value });
        }
    }
    if settings.newton.stop == Stop::SmallResidual {
        for value in settings.residual_tolerances {
            if !(value > 0.0 && value.is_finite()) {
                return Err(StartError::Tolerance { name: "residual-tolerances", value });
            }
        }
    }
    if let Some(control) = &settings.error_control {
        control.check()?;
    }
    Ok(())
}

/// Whether parameters suit a method and a system.
fn check_parameters(settings: &Settings, shape: &Shape) -> Result<(), StartError> {
    if settings.method.family() == Family::Hht && settings.parameters.alpha_m() != 0.0 {
        return Err(StartError::NotHht(settings.parameters.alpha_m()));
    }
    let constrained = shape.constraint_count() > 0;
    let radius = settings.parameters.spectral_radius();
    let by_error = settings.error_control.is_some() && settings.method.family() != Family::Fixed;
    if by_error && !settings.allow_unstable && !damps_enough(radius) {
        return Err(StartError::UndampedSteps(radius));
    }
    match settings.parameters.stability() {
        _ if settings.allow_unstable => Ok(()),
        Stability::Unstable => Err(StartError::Unstable),
        Stability::Limit if constrained && settings.method.0.leaves_hidden_residual => {
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
