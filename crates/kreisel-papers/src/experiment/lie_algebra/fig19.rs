//! Residuals of the hidden constraints with the starting values of Table 2 [ArnoldCardonaBruls2015, Fig. 19].
//!
//! The classical starting values fulfil B v₀ = 0, and the residual oscillates. Those of Table 2 begin with
//! the residual of size h² that the method has anyway, and it does not.

use super::super::{ExperimentError, Outcome, Progress};
use super::transient::{Quantity, compare_starts};

/// Compares B v for both starts.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let residual = Quantity {
        letter: "(B v)",
        label: "residual B v [m/s]",
        value: |moment| moment.hidden_residual,
        deviation: |moment| moment.hidden_residual,
    };
    compare_starts(&residual, progress)
}
