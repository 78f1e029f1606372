//! Kreisel simulates machines made of rigid and flexible parts.

#![forbid(unsafe_code)]

pub mod dae;
pub mod element;
pub mod integrate;
pub mod joint;
pub mod lie;
pub mod machine;
pub mod model;
pub mod problem;
pub mod results;
pub mod solve;
pub mod system;
