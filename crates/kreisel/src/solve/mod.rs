//! Linear and nonlinear equations; knows nothing of mechanics.

mod balance;
pub mod block;
pub mod contraction;
pub mod dense;
pub(crate) mod dependent;
mod diagonal;
mod dropped;
pub mod kernel;
pub mod linear;
pub mod newton;
mod plain;
pub mod sparse_lu;
