//! The answer of who watches a computation.

/// Whether a computation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop after this step.
    Stop,
}
