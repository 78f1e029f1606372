//! Problems of the literature, written down as [`crate::dae::Dae`] directly, and what they are compared with.

pub mod heavy_top;
pub mod ode;
pub mod pendulum;
pub mod prescribed;

pub use heavy_top::HeavyTop;
pub use pendulum::Pendulum;
pub use prescribed::PrescribedCubic;
