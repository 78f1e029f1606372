//! The index-3 integrator with only a₀ improved [ArnoldCardonaBruls2015, Fig. 17].
//!
//! Relative error in λ₁ on SO(3)×R³: the large first-order term comes from v₀, and a better a₀ does not
//! change it up to plot accuracy.

use super::super::heavy_top::{Moment, TopRun, largest, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

const STEP: f64 = 1e-3;

/// The interval of the figure.
const END: f64 = 0.1;

/// Runs both starting values.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let starts = [("a₀ = v̇(t₀)", Start::Trivial), ("a₀ of Table 1", Start::ImprovedAcceleration)];
    progress.expect(starts.len());
    let panels = starts.map(|(name, _)| Panel::linear(name));
    let mut outcome =
        Outcome::new(Table::new(["start", "max error in λ₁"]), FigureStyle::side_by_side(panels));
    let error = |moment: &Moment| moment.multiplier_error(0);
    let mut sizes = Vec::new();
    for (panel, (name, start)) in starts.into_iter().enumerate() {
        let history = TopRun::new(Group::So3xR3, INDEX3, STEP)?.starting(start).until(END).run()?;
        sizes.push(largest(history.all(), error));
        outcome.table.row([name.to_owned(), number(sizes[panel])]);
        outcome.curve(over_time("λ₁", history.all(), error, "relative error in λ₁").in_panel(panel));
        progress.advance();
    }
    // Plot accuracy: a percent or two of the largest value.
    outcome.check(Check::near(
        "largest error with the better a₀ against a₀ = v̇(t₀)",
        1.0,
        sizes[1] / sizes[0],
        0.02,
    ));
    Ok(outcome)
}
