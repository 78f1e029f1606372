//! Problems of the literature, written down as [`crate::dae::Dae`] directly, and what they are compared with.

pub mod heavy_top;
pub mod kepler;
pub mod ode;
pub mod pendulum;
pub mod prescribed;
pub mod stiff_pendulum;

pub use heavy_top::HeavyTop;
pub use kepler::Kepler;
pub use pendulum::Pendulum;
pub use prescribed::PrescribedCubic;
pub use stiff_pendulum::{StiffPendulum, StiffPendulumSolution};
