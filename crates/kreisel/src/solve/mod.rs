//! Linear and nonlinear equations; knows nothing of mechanics.

pub mod block;
