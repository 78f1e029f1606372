//! What Figs. 19 and 20 share: a vector with the classical and with the modified starting values.

use super::super::heavy_top::{Moment, TopRun, largest, oscillation, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::{Group, Vector3};
use kreisel::report::figure::{FigureStyle, Panel};

const STEP: f64 = 1e-3;

/// The interval of the figures.
const END: f64 = 0.1;

/// A part of the largest value that is less than a line's width in the figure.
const INVISIBLE: f64 = 0.01;

/// A vector that is drawn, and what in it may oscillate.
pub struct Quantity {
    /// Its letter.
    pub letter: &'static str,
    /// Axis label with unit.
    pub label: &'static str,
    /// Its value.
    pub value: fn(&Moment) -> Vector3,
    /// Its value without the exact solution, which turns with the top and is no oscillation of the method.
    pub deviation: fn(&Moment) -> Vector3,
}

/// The index-3 integrator on SO(3)×R³ with h = 1e-3: no oscillation with Table 2, a visible one without.
pub fn compare_starts(quantity: &Quantity, progress: &Progress) -> Result<Outcome, ExperimentError> {
    let starts = [
        ("classical starting values", Start::Trivial),
        ("starting values of Table 2", Start::OrderPreserving),
    ];
    progress.expect(starts.len());
    let panels = starts.map(|(name, _)| Panel::linear(name));
    let Quantity { letter, label, value, deviation } = quantity;
    let table = Table::new(["start".to_owned(), format!("max ‖{letter}‖"), "oscillation".to_owned()]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    for (panel, (name, start)) in starts.into_iter().enumerate() {
        let history = TopRun::new(Group::So3xR3, INDEX3, STEP)?.starting(start).until(END).run()?;
        let moments = history.all();
        let size = largest(moments, |moment| value(moment).norm());
        let of = |component: usize| oscillation(moments, |moment| deviation(moment)[component]);
        let amplitude = (0..3).map(of).fold(0.0, f64::max);
        outcome.table.row([name.to_owned(), number(size), number(amplitude)]);
        let name = format!("oscillation against max ‖{letter}‖, {name}");
        outcome.check(match start {
            Start::OrderPreserving => Check::at_most(name, INVISIBLE, amplitude / size),
            _ => Check::at_least(name, 10.0 * INVISIBLE, amplitude / size),
        });
        for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
            let curve =
                over_time(&format!("{letter}{digit}"), moments, |moment| value(moment)[component], label);
            outcome.curve(curve.in_panel(panel));
        }
        progress.advance();
    }
    Ok(outcome)
}
