//! Multipliers with the starting values of Table 2 [ArnoldCardonaBruls2015, Fig. 20].
//!
//! The oscillation that the classical starting values cause disappears.

use super::super::{ExperimentError, Outcome, Progress};
use super::transient::{Quantity, compare_starts};

/// Compares λ for both starts.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let multipliers = Quantity {
        letter: "λ",
        label: "multipliers λ [N]",
        value: |moment| moment.multipliers,
        deviation: |moment| moment.multipliers - moment.exact.multipliers,
    };
    compare_starts(&multipliers, progress)
}
