//! Kreisel simulates machines made of rigid and flexible parts.

#![forbid(unsafe_code)]

pub mod dae;
pub mod integrate;
pub mod lie;
pub mod problem;
pub mod solve;
