//! Errors of the heavy top for a ladder of step sizes: table, curves and observed orders.

use super::heavy_top::{Errors, History, Moment};
use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::report::figure::{FigureStyle, Panel, Series};

/// The step sizes of the papers' convergence plots.
pub const STEPS: [f64; 6] = [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4];

/// A component of the solution by name, and its error.
type Component = (&'static str, fn(&Errors) -> f64);

const COMPONENTS: [Component; 3] = [
    ("q", |errors| errors.configuration),
    ("v", |errors| errors.velocity),
    ("λ", |errors| errors.multipliers),
];

/// How far an observed order may lie from the theory's.
const TOLERANCE: f64 = 0.05;

/// Largest step size with which an order is judged. Above it the curves bend: at h = 4e-3 the error in q on
/// SE(3) is 1.9 rad.
const ASYMPTOTIC: f64 = 1e-3;

/// Largest errors of a run for each step size.
#[derive(Clone, Debug)]
pub struct Ladder {
    name: String,
    steps: Vec<f64>,
    errors: Vec<Errors>,
}

impl Ladder {
    /// Runs every step size and keeps the largest errors of a time interval.
    pub fn climb(
        name: &str,
        steps: &[f64],
        [from, to]: [f64; 2],
        progress: &Progress,
        run: impl Fn(f64) -> Result<History, ExperimentError>,
    ) -> Result<Self, ExperimentError> {
        let mut ladder = Self::new(name);
        for &step in steps {
            ladder.push(step, run(step)?.between(from, to));
            progress.advance();
        }
        Ok(ladder)
    }

    /// A ladder without step sizes yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), steps: Vec::new(), errors: Vec::new() }
    }

    /// Adds a step size with the largest errors of these steps.
    pub fn push(&mut self, step: f64, moments: &[Moment]) {
        self.steps.push(step);
        self.errors.push(Errors::largest(moments));
    }

    /// The part with step sizes that `keep` takes.
    pub fn part(&self, keep: impl Fn(f64) -> bool) -> Self {
        let kept = self.steps.iter().zip(&self.errors).filter(|(step, _)| keep(**step));
        let (steps, errors) = kept.map(|(step, errors)| (*step, *errors)).unzip();
        Self { name: self.name.clone(), steps, errors }
    }

    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Errors in a component, in the order of the step sizes.
    ///
    /// # Panics
    /// If `component` is not q, v or λ.
    pub fn errors_in(&self, component: &str) -> Vec<f64> {
        let (_, error) =
            COMPONENTS.iter().find(|(name, _)| *name == component).expect("the components are q, v and λ");
        self.errors.iter().map(error).collect()
    }

    /// Adds the rows of the table and the curves of a panel.
    pub fn show(&self, outcome: &mut Outcome, panel: usize) {
        self.tabulate(outcome);
        for (component, _) in COMPONENTS {
            outcome.curve(self.curve(component, component).in_panel(panel));
        }
    }

    /// Adds the rows of the table.
    pub fn tabulate(&self, outcome: &mut Outcome) {
        self.rows().into_iter().for_each(|cells| outcome.table.row(cells));
    }

    /// Name, step size and errors in q, v and λ, a row for each step size.
    pub fn rows(&self) -> Vec<[String; 5]> {
        let row = |(step, errors): (&f64, &Errors)| {
            let [q, v, lambda] = COMPONENTS.map(|(_, error)| number(error(errors)));
            [self.name.clone(), number(*step), q, v, lambda]
        };
        self.steps.iter().zip(&self.errors).map(row).collect()
    }

    /// The errors in a component over the step size.
    pub fn curve(&self, component: &str, name: &str) -> Series {
        Series::new(name, self.steps.clone(), self.errors_in(component))
            .labelled("step size h [s]", "largest error")
    }

    /// The part with which an order is judged: small steps, as far as there are any; for first order only the
    /// two smallest, since the second-order part of the error is larger than the first-order one for the
    /// others.
    fn judged(&self, order: f64) -> Self {
        let small = self.part(|step| step <= ASYMPTOTIC);
        let judged = if small.steps.len() < 2 { self.clone() } else { small };
        if order > 1.0 {
            return judged;
        }
        let mut steps = judged.steps.clone();
        steps.sort_by(f64::total_cmp);
        let limit = steps.get(1).copied().unwrap_or(f64::INFINITY);
        judged.part(|step| step <= limit)
    }

    /// Checks the order in a component.
    pub fn check_order(&self, outcome: &mut Outcome, component: &str, order: f64) {
        self.judged(order).check_order_within(outcome, component, order, TOLERANCE);
    }

    /// Checks the order in a component with all step sizes that there are.
    pub fn check_order_within(&self, outcome: &mut Outcome, component: &str, order: f64, tolerance: f64) {
        let name = format!("order in {component}, {}", self.name);
        outcome.check(Check::slope(name, order, &self.steps, &self.errors_in(component), tolerance));
    }

    /// Checks the orders in q, v and λ.
    pub fn check_orders(&self, outcome: &mut Outcome, orders: [f64; 3]) {
        for ((component, _), order) in COMPONENTS.iter().zip(orders) {
            self.check_order(outcome, component, order);
        }
    }
}

/// An outcome with the table of ladders and a double-logarithmic panel for each title, with lines of these
/// slopes.
pub fn outcome<const N: usize>(panels: [(&str, &[f64]); N]) -> Outcome {
    let panels = panels.map(|(title, slopes)| Panel::log_log(title).with_slopes(slopes.iter().copied()));
    Outcome::new(Table::new(["run", "h", "q", "v", "λ"]), FigureStyle::side_by_side(panels))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors h², h and 3h².
    fn ladder() -> Ladder {
        let errors = |h: f64| Errors { configuration: h * h, velocity: h, multipliers: 3.0 * h * h };
        Ladder { name: "synthetic".to_owned(), steps: STEPS.to_vec(), errors: STEPS.map(errors).to_vec() }
    }

    #[test]
    fn an_order_is_judged_for_each_component() {
        let mut outcome = outcome([("", &[2.0])]);
        ladder().check_orders(&mut outcome, [2.0, 1.0, 2.0]);
        assert!(outcome.passed(), "{:?}", outcome.checks);
        ladder().check_orders(&mut outcome, [2.0, 2.0, 2.0]);
        let failed: Vec<&Check> = outcome.checks.iter().filter(|check| !check.pass).collect();
        assert!(failed.len() == 1 && failed[0].name == "order in v, synthetic", "{failed:?}");
    }

    #[test]
    fn a_part_keeps_errors_beside_their_step_sizes() {
        let part = ladder().part(|h| h < 1e-3);
        assert_eq!(part.steps, [5e-4, 2.5e-4, 1.25e-4]);
        assert_eq!(part.errors_in("v"), part.steps);
    }
}
