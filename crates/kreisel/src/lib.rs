//! Kreisel simulates machines made of rigid and flexible parts.

pub mod lie;
pub mod model;
pub mod solve;
