//! Mistakes made on purpose, for tests that ask whether an experiment notices them. Nothing of it is in a program.

use std::cell::Cell;

use kreisel::integrate::{Parameters, Settings, Start};
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
}

thread_local! {
    static ACTIVE: Cell<Option<Mutation>> = const { Cell::new(None) };
}

/// Runs something with a mistake.
pub fn with<T>(mutation: Mutation, run: impl FnOnce() -> T) -> T {
    ACTIVE.set(Some(mutation));
    let outcome = run();
    ACTIVE.set(None);
    outcome
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
        Some(Mutation::EarlyStop) => settings.with_newton_tolerances(1e-3, 1e-3),
        _ => settings,
    }
}
