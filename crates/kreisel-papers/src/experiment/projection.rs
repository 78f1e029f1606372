//! Experiments of [ArnoldCardonaBruls2015Projection, §3]: what a velocity projection does to the index-3
//! integrator.
//!
//! The heavy top on SO(3)×R³ with order-preserving starting values and a projection of the velocity onto the
//! hidden constraints at t* = 0.7. The paper writes the constraint as R X − x = 0, in world axes; at X − Rᵀx
//! = 0 it has the same solutions, with residuals R B v and multipliers R λ.

use super::heavy_top::{History, Moment, TopRun, largest, oscillation, over_time};
use super::ladder::Ladder;
use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

/// Time t* of the projection.
const PROJECTION: f64 = 0.7;

fn projected(step: f64) -> Result<History, ExperimentError> {
    let run = TopRun::new(Group::So3xR3, INDEX3, step)?.starting(Start::OrderPreserving);
    run.projecting_velocity_at(PROJECTION).run()
}

/// The residual of the hidden constraints in world axes.
fn residual(moment: &Moment) -> f64 {
    (moment.rotation * moment.hidden_residual).x
}

/// First component of B v with the projection, for two step sizes [ArnoldCardonaBruls2015Projection, Fig. 1].
pub fn fig1(progress: &Progress) -> Result<Outcome, ExperimentError> {
    const STEPS: [f64; 2] = [1e-3, 5e-4];
    progress.expect(STEPS.len());
    let panels = STEPS.map(|h| Panel::linear(format!("h = {h:e}")));
    let table = Table::new(["h", "max |(B v)₁| on [0, t*)", "at t*", "jump", "oscillation before", "after"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let mut amplitudes = Vec::new();
    for (panel, step) in STEPS.into_iter().enumerate() {
        let history = projected(step)?;
        let (before, after) = (history.between(0.0, PROJECTION - step), history.between(PROJECTION, 1.0));
        let amplitude = largest(before, residual);
        let left = after[0].hidden_residual.norm();
        let jump = before[before.len() - 1].hidden_residual.norm();
        let oscillations = [oscillation(before, residual), oscillation(after, residual)];
        let cells = [step, amplitude, left, jump, oscillations[0], oscillations[1]];
        outcome.table.row(cells.map(number));
        let name = |what: &str| format!("{what}, h = {step:e}");
        // The projection solves linear equations whose right side is the residual.
        outcome.check(Check::at_most(name("‖B v‖ at t* against the step before"), 1e-10, left / jump));
        outcome.check(Check::at_least(
            name("oscillation after t* against before"),
            10.0,
            oscillations[1] / oscillations[0],
        ));
        outcome.curve(over_time("(B v)₁", history.all(), residual, "residual (B v)₁ [m/s]").in_panel(panel));
        amplitudes.push(amplitude);
        progress.advance();
    }
    outcome.check(Check::near(
        "amplitude for h = 1e-3 against 5e-4",
        4.0,
        amplitudes[0] / amplitudes[1],
        0.05,
    ));
    Ok(outcome)
}

/// Multipliers after the projection and their order [ArnoldCardonaBruls2015Projection, Fig. 2].
pub fn fig2(progress: &Progress) -> Result<Outcome, ExperimentError> {
    const STEPS: [f64; 5] = [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4];
    progress.expect(STEPS.len());
    let mut outcome = Outcome::new(
        Table::new(["interval", "h", "q", "v", "λ"]),
        FigureStyle::side_by_side([
            Panel::linear("multipliers, h = 1e-3"),
            Panel::log_log("errors in λ").with_slopes([1.0, 2.0]),
        ]),
    );
    let (mut whole, mut before) = (Ladder::new("[0, 1]"), Ladder::new("[0, t*]"));
    for step in STEPS {
        let history = projected(step)?;
        whole.push(step, history.all());
        before.push(step, history.between(0.0, PROJECTION));
        if step == 1e-3 {
            check_transient(&mut outcome, &history, step);
            draw_multipliers(&mut outcome, &history);
        }
        progress.advance();
    }
    for (ladder, name, order) in [(whole, "[0, 1]", 1.0), (before, "[0, t*]", 2.0)] {
        ladder.tabulate(&mut outcome);
        ladder.check_order(&mut outcome, "λ", order);
        outcome.curve(ladder.curve("λ", name).in_panel(1));
    }
    Ok(outcome)
}

/// The oscillation begins with the projection and is gone after about 100 steps.
fn check_transient(outcome: &mut Outcome, history: &History, step: f64) {
    let amplitude = |from: f64, to: f64| {
        let of = |component: usize| {
            oscillation(history.between(from, to), |moment| moment.multiplier_error(component))
        };
        (0..3).map(of).fold(0.0, f64::max)
    };
    let peak = amplitude(PROJECTION, 1.0);
    let before = amplitude(0.0, PROJECTION);
    outcome.check(Check::at_most("oscillation of λ before t* against after", 0.02, before / peak));
    // |c_n| of [ArnoldCardonaBruls2015, Eq. (53)] is 0.2 of its maximum at n = 50 and 0.004 at n = 100.
    let late = amplitude(PROJECTION + 50.0 * step, 1.0);
    outcome.check(Check::within("part left after 50 steps", 0.1..=0.3, late / peak));
    let late = amplitude(PROJECTION + 100.0 * step, 1.0);
    outcome.check(Check::at_most("part left after 100 steps", 0.01, late / peak));
}

fn draw_multipliers(outcome: &mut Outcome, history: &History) {
    for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
        let in_world_axes = |moment: &Moment| (moment.rotation * moment.multipliers)[component];
        let moments = history.between(0.65, 0.8);
        outcome.curve(over_time(&format!("λ{digit}"), moments, in_world_axes, "multipliers λ [N]"));
    }
}
