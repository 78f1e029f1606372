//! Mistakes made on purpose, for tests that ask whether an experiment notices them. Nothing of it is in a
//! program.

use std::cell::Cell;

use kreisel::integrate::{ErrorControl, IterationMatrix, Parameters, Predictor, Settings, Start, StepChange};
use kreisel::lie::Vector3;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Ω × J Ω with the wrong sign.
    GyroscopicSign,
    /// J larger by a hundredth where it multiplies Ω̇.
    Inertia,
    /// No weight.
    Weight,
    /// The reaction without its moment.
    ReactionMoment,
    /// No term of the constraints' second derivative, so that starting values are wrong.
    Curvature,
    /// The trivial starting values in place of those that keep the order.
    TrivialStart,
    /// Stronger damping than asked for, ρ∞ = 0.5.
    Damping,
    /// Newton's iteration stops after a correction of a thousandth.
    EarlyStop,
    /// Accelerations of the last step as the first guess of Newton's iteration.
    Predictor,
    /// The matrix of Newton's iteration without stiffness.
    Matrix,
    /// A second moment of mass of the beams that is a tenth too large.
    BeamInertia,
    /// A torsional stiffness of the beams that is a hundredth too large.
    BeamStiffness,
    /// A force that is a hundredth too large.
    Load,
    /// A drive that is a hundredth too fast.
    Drive,
    /// Forces scaled by a constant in place of h⁻².
    Scale,
    /// A reaction with the wrong sign.
    ReactionSign,
    /// a_n left where it is when the step changes.
    UncorrectedStep,
    /// An exact value at the wrong time.
    Reference,
    /// A run that keeps to five times the accuracy that it was asked for.
    Accuracy,
    /// Steps by a tolerance that is a hundred times as large as the one that was given.
    Tolerance,
}

thread_local! {
    static ACTIVE: Cell<Option<Mutation>> = const { Cell::new(None) };
}

/// Runs something with a mistake, or without one.
pub fn with<T>(mutation: impl Into<Option<Mutation>>, run: impl FnOnce() -> T) -> T {
    let before = ACTIVE.replace(mutation.into());
    let outcome = run();
    ACTIVE.set(before);
    outcome
}

/// The mistake that is made on this thread.
pub fn active() -> Option<Mutation> {
    ACTIVE.get()
}

/// Whether a mistake is made.
pub fn is_active(mutation: Mutation) -> bool {
    ACTIVE.get() == Some(mutation)
}

/// What the heavy top's torque has too much.
pub fn torque(inertia: &Vector3, omega: &Vector3, omega_dot: &Vector3, moment: &Vector3) -> Vector3 {
    match ACTIVE.get() {
        Some(Mutation::GyroscopicSign) => -2.0 * omega.cross(&inertia.component_mul(omega)),
        Some(Mutation::Inertia) => 0.01 * inertia.component_mul(omega_dot),
        Some(Mutation::ReactionMoment) => -moment,
        _ => Vector3::zeros(),
    }
}

/// Settings with the mistakes that are settings.
pub fn settings(settings: Settings) -> Settings {
    match ACTIVE.get() {
        Some(Mutation::TrivialStart) => settings.with_start(Start::Trivial),
        Some(Mutation::Damping) => {
            settings.with_parameters(Parameters::chung_hulbert(0.5).unwrap_or(settings.parameters()))
        }
        Some(Mutation::Predictor) => settings.with_predictor(Predictor::ConstantAcceleration),
        Some(Mutation::Matrix) => settings.with_iteration_matrix(IterationMatrix::Simplified),
        Some(Mutation::Scale) => settings.with_mass_scale(0.0).with_stiffness_scale(1.0),
        Some(Mutation::UncorrectedStep) => {
            settings.with_step_change(StepChange { adjust_acceleration: false, ..settings.step_change() })
        }
        Some(Mutation::Tolerance) => {
            let loose = |control: ErrorControl| ErrorControl { rtol: 100.0 * control.rtol, ..control };
            settings.with_error_control(settings.error_control().map(loose))
        }
        Some(Mutation::EarlyStop) => settings.with_newton_tolerances(1e-3, 1e-3),
        _ => settings,
    }
}

/// The text of a model with a mistake in it.
pub fn model(text: String) -> String {
    let (right, wrong) = match ACTIVE.get() {
        Some(Mutation::BeamInertia) => ("[20, 10, 10]", "[22, 10, 10]"),
        Some(Mutation::BeamStiffness) => ("torsional-stiffness = 1e3", "torsional-stiffness = 1.01e3"),
        Some(Mutation::Load) => ("50*max", "50.5*max"),
        Some(Mutation::Drive) => ("speed = -5", "speed = -5.05"),
        _ => return text,
    };
    text.replace(right, wrong)
}

/// A multiplier of [JayNegrut2008, Eqs. (15)].
pub fn reaction(multiplier: f64) -> f64 {
    if is_active(Mutation::ReactionSign) { -multiplier } else { multiplier }
}

/// Distance in time at which an exact value is looked up.
pub fn reference(distance: f64) -> f64 {
    if is_active(Mutation::Reference) { 0.0 } else { distance }
}

/// The accuracy that a run keeps to.
pub fn accuracy(wanted: f64) -> f64 {
    if is_active(Mutation::Accuracy) { 5.0 * wanted } else { wanted }
}
