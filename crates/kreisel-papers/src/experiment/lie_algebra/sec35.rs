//! Scaled iteration matrices, and how often they must be renewed [ArnoldCardonaBruls2015, §3.5].
//!
//! With the scaling of equations and unknowns the condition numbers of the matrices (60) of the index-3 and
//! (62) of the stabilized index-2 integrator do not depend on the step size. The simplified matrix lasts
//! longer on SE(3), where the mass matrix and the constraint matrix are constant.

use super::super::heavy_top::{GROUPS, TopRun, group_name};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, INDEX3, Method};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel, Series};

const STEPS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Step sizes with which matrices are counted. At the largest the neglected hD slows the iteration down so
/// much that the matrix is renewed in vain now and then.
const COUNTED: [f64; 3] = [1e-3, 5e-4, 2.5e-4];

/// Equation of the matrix, its method, and its condition number from an independent implementation.
const MATRICES: [(&str, Method, &str); 2] = [("(60)", INDEX3, "3.55e3"), ("(62)", INDEX2, "2.52e3")];

/// Measures condition numbers on SO(3)×R³, then counts matrices on both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(MATRICES.len() * STEPS.len() + GROUPS.len() * COUNTED.len());
    let panel = Panel::log_log("SO(3)×R³, first step");
    let table = Table::new(["matrix", "group", "h", "condition number", "matrices in 1000 steps"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side([panel]));
    for (equation, method, independent) in MATRICES {
        let mut conditions = Vec::new();
        for step in STEPS {
            let condition = condition_of_first_matrix(method, step)?;
            let cells = [equation, "SO(3)×R³", &number(step), &number(condition), ""];
            outcome.table.row(cells);
            conditions.push(condition);
            progress.advance();
        }
        let name = |what: &str| format!("{what} of {equation}");
        outcome.check(Check::rounds_to(name("condition number"), independent, conditions[0]));
        let (low, high) =
            conditions.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), c| (c.min(low), c.max(high)));
        // The scaled matrix depends on h by terms of order h: ten times what (62) shows at h = 1e-3.
        outcome.check(Check::at_most(name("change for h = 1e-3 … 1e-8"), 1e-4, high / low - 1.0));
        let curve = Series::new(equation, STEPS.to_vec(), conditions);
        outcome.curve(curve.labelled("step size h [s]", "condition number"));
    }
    count_matrices(&mut outcome, progress)?;
    Ok(outcome)
}

/// Ratio of the largest to the smallest singular value of the first iteration matrix.
fn condition_of_first_matrix(method: Method, step: f64) -> Result<f64, ExperimentError> {
    let run = TopRun::new(Group::So3xR3, method, step)?;
    let mut integration = run.start()?;
    integration.step()?;
    let matrix = integration.iteration_matrix().ok_or("the method has an iteration matrix")?;
    let singular_values = matrix.to_dense().singular_values();
    Ok(singular_values.max() / singular_values.min())
}

/// The index-3 integrator with the simplified matrix and the paper's tolerances: 1000 steps of each size.
fn count_matrices(outcome: &mut Outcome, progress: &Progress) -> Result<(), ExperimentError> {
    for step in COUNTED {
        let mut counts = Vec::new();
        for group in GROUPS {
            let run = TopRun::new(group, INDEX3, step)?.stopping_early().keeping_simplified_matrix();
            let count = run.until(1000.0 * step).run()?.statistics.matrices as f64;
            outcome.table.row(["simplified", group_name(group), &number(step), "", &number(count)]);
            counts.push(count);
            progress.advance();
        }
        // Mass and constraint matrix are constant on SE(3), so the first matrix serves all steps; on SO(3)×R³
        // the top turns by 150 h in a step, and a matrix lasts for about a radian.
        let name = |group| format!("matrices in 1000 steps on {group}, h = {step:e}");
        outcome.check(Check::close(name("SE(3)"), 1.0, counts[1], 0.0));
        outcome.check(Check::at_least(name("SO(3)×R³"), 0.5 * 150.0 * 1000.0 * step, counts[0]));
    }
    Ok(())
}
