//! Linear and nonlinear equations; knows nothing of mechanics.

pub mod block;
pub mod sparse_lu;
