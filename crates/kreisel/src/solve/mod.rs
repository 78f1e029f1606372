//! Linear and nonlinear equations; knows nothing of mechanics.

mod balance;
pub mod block;
pub mod contraction;
pub mod dense;
pub mod kernel;
pub mod linear;
mod loose;
pub mod newton;
pub mod sparse_lu;
