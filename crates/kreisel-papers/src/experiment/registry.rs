//! The table of experiments: one line each, in the order in which they are listed and run.

use super::Paper::{LieAlgebra, LieGroup, Projection, Scaling, Soi2, StepControl, Validation};
use super::RunTime::{Instant, Seconds, TensOfSeconds};
use super::{
    Experiment, ExperimentError, Outcome, Paper, Progress, RunTime, cam, equal_error, lie_algebra, lie_group,
    named_accuracy, projection, scaling, soi2, step_control, step_sizes, validation,
};
use std::fmt::Write;

/// Every experiment there is.
#[rustfmt::skip] // a table: one line an experiment
pub static EXPERIMENTS: &[Experiment] = &[
    row("lie-algebra-eq53", "Error constants of the transient phase", LieAlgebra, Instant, lie_algebra::eq53::run),
    row("lie-algebra-fig03", "Heavy top: reference solution against an independent one", LieAlgebra, Seconds, lie_algebra::fig03::run),
    row("lie-algebra-fig04", "Heavy top: velocity in world axes and in body axes", LieAlgebra, Seconds, lie_algebra::fig04::run),
    row("lie-algebra-fig05", "Mathematical pendulum: transient error in λ, index 3", LieAlgebra, Instant, lie_algebra::fig05::run),
    row("lie-algebra-fig06", "Heavy top, index 3: errors on [0, 1] over h", LieAlgebra, Instant, lie_algebra::fig06::run),
    row("lie-algebra-fig07", "Heavy top, index 3: oscillation of λ₁ in the transient phase", LieAlgebra, Instant, lie_algebra::fig07::run),
    row("lie-algebra-fig08", "Heavy top, index 3: errors on [0.5, 1] over h", LieAlgebra, Instant, lie_algebra::fig08::run),
    row("lie-algebra-fig09", "Heavy top, index 3: residuals of the constraints", LieAlgebra, Instant, lie_algebra::fig09::run),
    row("lie-algebra-fig10", "Heavy top, index 3: residuals of the hidden constraints", LieAlgebra, Instant, lie_algebra::fig10::run),
    row("lie-algebra-fig11", "Heavy top, stabilized index 2: errors on [0, 1] over h", LieAlgebra, Seconds, lie_algebra::fig11::run),
    row("lie-algebra-fig12", "Heavy top, stabilized index 2: multipliers", LieAlgebra, Instant, lie_algebra::fig12::run),
    row("lie-algebra-fig13", "Heavy top, stabilized index 2: error in λ₁", LieAlgebra, Instant, lie_algebra::fig13::run),
    row("lie-algebra-fig14", "Heavy top, stabilized index 2: stabilizing multipliers η", LieAlgebra, Instant, lie_algebra::fig14::run),
    row("lie-algebra-fig15", "Heavy top, stabilized index 2: residuals of the hidden constraints", LieAlgebra, Instant, lie_algebra::fig15::run),
    row("lie-algebra-fig16", "Heavy top, stabilized index 2: starting value a₀", LieAlgebra, Instant, lie_algebra::fig16::run),
    row("lie-algebra-fig17", "Heavy top, index 3: only a₀ improved", LieAlgebra, Instant, lie_algebra::fig17::run),
    row("lie-algebra-fig18", "Heavy top, index 3: error in λ₁ with the start of Table 2", LieAlgebra, Instant, lie_algebra::fig18::run),
    row("lie-algebra-fig19", "Heavy top, index 3: hidden constraints with the start of Table 2", LieAlgebra, Instant, lie_algebra::fig19::run),
    row("lie-algebra-fig20", "Heavy top, index 3: multipliers with the start of Table 2", LieAlgebra, Instant, lie_algebra::fig20::run),
    row("lie-algebra-fig21", "Heavy top, index 3: errors on [0, 1] with the start of Table 2", LieAlgebra, Instant, lie_algebra::fig21::run),
    row("lie-algebra-radii", "Other spectral radii, 0.6 and 0.8: orders and transients", LieAlgebra, Seconds, lie_algebra::radii::run),
    row("lie-algebra-sec35", "Condition of the iteration matrix, and how often it is renewed", LieAlgebra, Instant, lie_algebra::sec35::run),
    row("lie-algebra-slow-top", "Slow heavy top, index 3: errors on [0, 1] on both groups", LieAlgebra, Instant, lie_algebra::slow_top::run),
    row("lie-group-fig2", "Heavy top: Lie group method against updated Lagrangian ones", LieGroup, Instant, lie_group::fig2::run),
    row("lie-group-fig4", "Right-angle cantilever: iterations, energy, order", LieGroup, Seconds, lie_group::fig4::run_all),
    row("lie-group-fig6", "Flexible four-bar with a misaligned hinge: iterations, order", LieGroup, Seconds, lie_group::fig6::run_all),
    row("lie-group-values", "Both flexible machines against other elements, groups and programs", LieGroup, Seconds, lie_group::values::run_all),
    row("projection-fig1", "Heavy top: hidden constraints with a velocity projection", Projection, Instant, projection::fig1),
    row("projection-fig2", "Heavy top: multipliers after a velocity projection", Projection, Instant, projection::fig2),
    row("scaling-fig1", "Pendulum by BDF2, unscaled: corrections fall until round-off stops them", Scaling, Instant, scaling::fig1),
    row("scaling-fig2", "Pendulum by BDF2, three fields: last decreasing corrections over h", Scaling, Seconds, scaling::fig2),
    row("scaling-fig3", "Pendulum by BDF2, three fields: last decreasing corrections by field", Scaling, Seconds, scaling::fig3),
    row("scaling-fig4", "Pendulum by BDF2, three fields: condition numbers over h", Scaling, Seconds, scaling::fig4),
    row("scaling-fig5", "Pendulum by BDF2, velocities scaled as well: last decreasing corrections", Scaling, Seconds, scaling::fig5),
    row("scaling-fig6", "Pendulum by BDF2, velocities scaled as well: condition numbers", Scaling, Seconds, scaling::fig6),
    row("scaling-fig7", "Pendulum by BDF2, two fields: last decreasing corrections over h", Scaling, Seconds, scaling::fig7),
    row("scaling-fig8", "Pendulum by BDF2, two fields: condition numbers over h", Scaling, Seconds, scaling::fig8),
    row("scaling-fig10", "Cam strikes a beam, index 3: with balanced pivots no scaling fails", Scaling, TensOfSeconds, cam::fig10),
    row("scaling-fig11", "Cam strikes a beam, index 3: the scaling s over time", Scaling, TensOfSeconds, cam::fig11),
    row("scaling-step-sizes", "Joints and a beam, index 3 and index 2: round-off over h", Scaling, Instant, step_sizes::run),
    row("soi2-fig1", "SOI2 with unequal steps: forces nonlinear in the multipliers", Soi2, Instant, soi2::fig1),
    row("soi2-fig2", "SOI2 with unequal steps that are not corrected for", Soi2, Instant, soi2::fig2),
    row("soi2-fig4", "SOI2 with unequal steps: pendulum with spring and damper", Soi2, Instant, soi2::fig4),
    row("soi2-theorem1", "SOI2 with the trivial start: the part rⁿδ₀ of the error", Soi2, Instant, soi2::theorem1),
    row("soi2-fig6", "Slider-crank, HHT-I3: velocity constraints at the crank's pin", Soi2, Instant, soi2::fig6),
    row("soi2-fig7", "Slider-crank, HHT-SOI2: velocity constraints at the crank's pin", Soi2, Instant, soi2::fig7),
    row("step-control-work-precision", "Steps by the error: errors and work over the tolerance", StepControl, TensOfSeconds, step_control::work_precision),
    row("step-control-two-scales", "Steps by the error against fixed ones on flat ellipses", StepControl, Instant, step_control::two_scales),
    row("step-control-equal-error", "Steps by the error against the fewest fixed ones of equal error, 36 runs", StepControl, TensOfSeconds, equal_error::run),
    row("step-control-accuracy", "An accuracy that is named, against exact solutions", StepControl, Seconds, named_accuracy::run),
    row("validation-other-programs", "Kreisel beside other programs, closed forms and experiments", Validation, TensOfSeconds, validation::run),
];

const fn row(
    id: &'static str,
    title: &'static str,
    paper: Paper,
    run_time: RunTime,
    run: fn(&Progress) -> Result<Outcome, ExperimentError>,
) -> Experiment {
    Experiment { id, title, paper, run_time, run }
}

/// The experiments as the table of the book.
pub fn markdown_table() -> String {
    let mut table = String::from("| id | what it shows | run time |\n|---|---|---|\n");
    for Experiment { id, title, run_time, .. } in EXPERIMENTS {
        let _ = writeln!(table, "| `{id}` | {title} | {} |", run_time.words());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_begin_with_their_papers_word() {
        for (place, experiment) in EXPERIMENTS.iter().enumerate() {
            assert!(experiment.id.starts_with(&format!("{}-", experiment.paper.word())), "{}", experiment.id);
            let is_kebab =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            assert!(experiment.id.chars().all(is_kebab), "{}", experiment.id);
            assert!(
                EXPERIMENTS[..place].iter().all(|earlier| earlier.id != experiment.id),
                "{}",
                experiment.id
            );
        }
    }

    #[test]
    fn titles_fit_a_line_and_end_without_a_stop() {
        for experiment in EXPERIMENTS {
            assert!((10..=80).contains(&experiment.title.chars().count()), "{}", experiment.title);
            assert!(!experiment.title.ends_with('.'), "{}", experiment.title);
        }
    }
}
