//! What the defaults of Newton's iteration leave of the error, and how much work they take.

use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, Settings, Statistics};
use kreisel::lie::{Group, vector3};
use kreisel::solve::newton::Refresh;
use kreisel_papers::problem::HeavyTop;

struct Run {
    /// Error of the position at the end, in m.
    position: f64,
    /// Largest relative error of λ.
    multiplier: f64,
    work: Statistics,
}

fn heavy_top(method: Method, change: impl FnOnce(Settings) -> Settings) -> Run {
    let (step, steps) = (1e-4, 5000);
    let top = HeavyTop::new(Group::So3xR3);
    let parameters = Parameters::chung_hulbert(0.9).expect("0.9 is a spectral radius");
    let settings = change(Settings::new(method, parameters, step));
    let times: Vec<f64> = (1..=steps).map(|n| f64::from(n) * step).collect();
    let mut run =
        Integrator::with(settings).start(&top, top.initial()).expect("the initial values are consistent");
    let (mut position, mut multiplier) = (0.0, 0.0_f64);
    for exact in top.reference(&times) {
        run.step().expect("every step converges");
        let state = run.values();
        position = (vector3(&state.configuration[4..]) - exact.position).norm();
        let deviation = vector3(&state.multipliers) - exact.multipliers;
        multiplier = multiplier.max(deviation.norm() / exact.multipliers.norm());
    }
    Run { position, multiplier, work: run.statistics() }
}

fn to_round_off(settings: Settings) -> Settings {
    settings.with_refresh(Refresh::EveryIteration).with_newton_tolerances(1e-14, 1e-14)
}

/// λ of `index3` magnifies what Newton leaves by 1/h² = 1e8; the error must still be the method's own.
#[test]
fn default_tolerances_leave_the_error_of_the_method() {
    for method in [INDEX3, INDEX2] {
        let converged = heavy_top(method, to_round_off);
        let default = heavy_top(method, |settings| settings);
        let change = |a: f64, b: f64| (a / b - 1.0).abs();
        // A thousandth of the method's error in x, a hundredth in λ, which magnifies what is left.
        assert!(change(default.position, converged.position) < 1e-3, "{method:?} {}", default.position);
        assert!(change(default.multiplier, converged.multiplier) < 1e-2, "{method:?} {}", default.multiplier);
    }
}

/// A kept matrix contracted slower than the rate claimed that was measured while it was fresh: with `index2`
/// the steps stopped too early and the error in x(1) was 4.8e-3 where the method's own is 4.6e-5.
#[test]
fn the_rate_of_a_fresh_matrix_is_not_claimed_for_a_kept_one() {
    for method in [INDEX3, INDEX2] {
        let converged = heavy_top(method, to_round_off);
        let kept = heavy_top(method, |settings| settings.with_refresh(Refresh::WhenSlow));
        // The tolerance of 1e-12 in an increment, kept up over all steps, is some 1e-6 in x.
        assert!((kept.position - converged.position).abs() < 2e-6, "{method:?} {}", kept.position);
        assert!(kept.work.matrices < kept.work.steps / 10, "{method:?} {:?}", kept.work);
    }
}

/// Kreisel itself, to notice change: work, not seconds.
#[test]
fn most_steps_of_the_heavy_top_need_one_iteration_and_one_matrix() {
    for method in [INDEX3, INDEX2] {
        let work = heavy_top(method, |settings| settings).work;
        // The first step knows nothing of the one before and may renew its matrix.
        assert!(work.matrices <= work.steps + 1, "{method:?} {work:?}");
        assert!(work.iterations < work.steps * 13 / 10, "{method:?} {work:?}");
        assert_eq!(work.residuals, work.iterations, "{method:?}");
    }
}
