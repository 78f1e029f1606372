//! Problems of the literature, written down as [`kreisel::dae::Dae`] directly, and what they are compared
//! with.

pub mod driven_top;
pub mod heavy_top;
pub mod kepler;
#[cfg(test)]
pub(crate) mod mutation;
pub mod nonlinear_reactions;
pub mod ode;
pub mod pendulum;
pub mod prescribed;
pub mod slider_crank;
pub mod spring_pendulum;

pub use driven_top::DrivenTop;
pub use heavy_top::HeavyTop;
pub use kepler::Kepler;
pub use nonlinear_reactions::NonlinearReactions;
pub use pendulum::Pendulum;
pub use prescribed::PrescribedCubic;
pub use slider_crank::SliderCrank;
pub use spring_pendulum::SpringPendulum;
