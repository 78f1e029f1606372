//! How large the multipliers' first-order error grows before it is damped out [ArnoldCardonaBruls2015, §3.2].
//!
//! On the constraint q = 0 one step of the generalized-α method multiplies the errors (e^λ, r, e^a) by the
//! matrix T∞ = (T⁺)⁻¹ T⁰. Its only eigenvalue is −ρ∞, in one Jordan block of size three, so its powers grow
//! before they decay. Natural starting values leave r₀ = C_q h v̈(t₀), and the multipliers carry e_n^λ = c_n
//! h v̈(t₀) + O(h²) with
//!
//! c_n = C_q (1 + ρ∞)² (n(n−1)/2 (ρ∞² − 1)(−ρ∞)ⁿ⁻² + n (2 − ρ∞)(−ρ∞)ⁿ⁻¹) [ArnoldCardonaBruls2015, Eq. (53)]
//!
//! The maxima that the paper prints are those of |c_n / C_q|. On the constraint q(t) = t³/6 the index-3
//! integrator itself shows them: there e_n^λ = c_n h without any further term.

use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::problem::PrescribedCubic;
use kreisel::dae::Initial;
use kreisel::integrate::{INDEX3, Integrator, Parameters, Settings, Start};
use kreisel::report::figure::{FigureStyle, Series};
use nalgebra::{Matrix3, Vector3};

/// ρ∞, and the step and size of the largest |c_n / C_q| that the paper prints.
const ERROR_CONSTANTS: [(f64, usize, &str); 3] = [(0.6, 3, "6.8"), (0.9, 15, "31.9"), (0.99, 161, "334.3")];

/// ρ∞, and the step and size of the largest ‖T∞ⁿ‖₂ that the paper prints.
const MATRIX_POWERS: [(f64, usize, &str); 2] = [(0.6, 3, "7.4"), (0.9, 14, "34.3")];

/// Long enough for the slowest case, ρ∞ = 0.99, to fall from 334 below 1e-3.
const STEPS: usize = 2000;

/// Step size of the run; the constants do not depend on it.
const STEP: f64 = 1e-2;

/// Steps of the run, some more than the latest maximum needs.
const RUN_STEPS: usize = 200;

/// Compares the maxima with the printed ones, and Eq. (53) with powers of the matrix and with a run.
pub fn run(_: &Progress) -> Result<Outcome, ExperimentError> {
    let mut outcome = Outcome::new(
        Table::new(["ρ∞", "C_q", "n", "max |c_n / C_q|", "in a run", "n'", "max ‖T∞ⁿ'‖₂"]),
        FigureStyle::log_log(),
    );
    for (spectral_radius, step, printed) in ERROR_CONSTANTS {
        let parameters = Parameters::chung_hulbert(spectral_radius)?;
        let c_q = parameters.position_error_constant();
        let constants: Vec<f64> = (1..=STEPS).map(|n| error_constant(spectral_radius, n)).collect();
        let (largest_at, largest) = largest(&constants);
        let name = |what: &str| format!("{what}, ρ∞ = {spectral_radius}");
        outcome.check(Check::printed(name("max |c_n / C_q|"), printed, largest));
        outcome.check(Check::count(name("step n of the maximum"), step, largest_at));
        let powers = infinite_frequency_powers(&parameters);
        outcome.check(agreement(name("c_n against powers of T∞"), &constants, &powers));

        let measured: Vec<f64> =
            multiplier_errors(parameters)?.iter().map(|error| error / (c_q * STEP)).collect();
        let (run_at, in_run) = self::largest(&measured);
        outcome.check(Check::printed(name("max |e_n^λ / (C_q h)| on q = t³/6"), printed, in_run));
        outcome.check(Check::count(name("step n of the maximum on q = t³/6"), step, run_at));
        let differences = measured.iter().zip(&constants).map(|(e, c)| (e - c).abs());
        // Positions (nh)³/6 are exact to ε: errors ε n³h/6 in λ, which T∞ amplifies like the error itself,
        // some 1e-8.
        let deviation = differences.fold(0.0, f64::max) / largest;
        outcome.check(Check::at_most(name("e_n^λ against c_n h on q = t³/6"), 1e-6, deviation));

        let norms: Vec<f64> = powers.iter().map(|power| power.singular_values().max()).collect();
        let (norm_at, norm) = self::largest(&norms);
        if let Some((_, step, printed)) = MATRIX_POWERS.iter().find(|row| row.0 == spectral_radius) {
            outcome.check(Check::printed(name("max ‖T∞ⁿ‖₂"), printed, norm));
            outcome.check(Check::count(name("step n of the largest ‖T∞ⁿ‖₂"), *step, norm_at));
        }
        outcome.table.row([
            number(spectral_radius),
            number(c_q),
            largest_at.to_string(),
            number(largest),
            number(in_run),
            norm_at.to_string(),
            number(norm),
        ]);
        outcome.curve(transient(spectral_radius, &constants));
    }
    Ok(outcome)
}

/// λ(t_n) − λ_n of the index-3 integrator with λ₀ = λ(t₀), v₀ = v(t₀) and a₀ = v̇(t₀ + Δ_α h).
fn multiplier_errors(parameters: Parameters) -> Result<Vec<f64>, ExperimentError> {
    let settings = Settings::new(INDEX3, parameters, STEP)
        .with_start(Start::ImprovedAcceleration)
        .with_newton_tolerances(1e-12, 1e-13);
    let initial = Initial::new(0.0, [0.0], [0.0]);
    let mut integration = Integrator::with(settings).start(&PrescribedCubic, initial)?;
    let mut errors = Vec::with_capacity(RUN_STEPS);
    for n in 1..=RUN_STEPS {
        integration.step()?;
        let exact = -(n as f64) * STEP;
        errors.push(exact - integration.values().multipliers[0]);
    }
    Ok(errors)
}

/// The first component of T∞ⁿ (0, 1, 0) is c_n / C_q: a law between the printed formula and the method
/// itself.
fn agreement(name: String, constants: &[f64], powers: &[Matrix3<f64>]) -> Check {
    let differences = constants.iter().zip(powers).map(|(c, power)| ((power * Vector3::y())[0] - c).abs());
    let (_, size) = largest(constants);
    // Each of the 2000 products may add a few roundings of the largest power.
    Check::at_most(name, 1e-10, differences.fold(0.0, f64::max) / size)
}

/// The step (counted from one) and size of the largest entry in absolute value.
fn largest(values: &[f64]) -> (usize, f64) {
    let sizes = values.iter().enumerate().map(|(place, value)| (place + 1, value.abs()));
    sizes.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// |c_n / C_q| until it has become negligible.
fn transient(spectral_radius: f64, constants: &[f64]) -> Series {
    const NEGLIGIBLE: f64 = 1e-3;
    let sizes: Vec<f64> = constants.iter().map(|c| c.abs()).take_while(|size| *size > NEGLIGIBLE).collect();
    let steps = (1..=sizes.len()).map(|n| n as f64).collect();
    Series::new(format!("ρ∞ = {spectral_radius}"), steps, sizes)
        .labelled("step n", "error constant |c_n / C_q|")
}

/// c_n / C_q of [ArnoldCardonaBruls2015, Eq. (53)].
pub fn error_constant(rho: f64, step: usize) -> f64 {
    let n = step as f64;
    let power = |exponent: i32| (-rho).powi(exponent);
    let step = step as i32;
    (1.0 + rho).powi(2)
        * (0.5 * n * (n - 1.0) * (rho * rho - 1.0) * power(step - 2) + n * (2.0 - rho) * power(step - 1))
}

/// T∞, T∞², … with T∞ = (T⁺)⁻¹ T⁰ for hω → ∞        [ArnoldCardonaBruls2015, §3.2, after Eq. (41)]
fn infinite_frequency_powers(parameters: &Parameters) -> Vec<Matrix3<f64>> {
    let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
    let (beta, gamma) = (parameters.beta(), parameters.gamma());
    let next = Matrix3::new(0.0, 0.0, -beta, 0.0, 1.0, -gamma, 1.0 - alpha_f, 0.0, 1.0 - alpha_m);
    let previous = Matrix3::new(0.0, 1.0, 0.5 - beta, 0.0, 1.0, 1.0 - gamma, -alpha_f, 0.0, -alpha_m);
    let step = next.try_inverse().expect("β > 0 and α_f < 1 for Chung–Hulbert parameters") * previous;
    std::iter::successors(Some(step), |power| Some(step * power)).take(STEPS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_the_triple_eigenvalue_of_the_theory() {
        for (spectral_radius, ..) in ERROR_CONSTANTS {
            let parameters = Parameters::chung_hulbert(spectral_radius).unwrap();
            let step = infinite_frequency_powers(&parameters)[0];
            let nilpotent = step + Matrix3::identity() * spectral_radius;
            // (T∞ + ρ∞ I)³ = 0 up to roundings of entries of size 10.
            assert!(nilpotent.pow(3).norm() < 1e-12);
            assert!(nilpotent.pow(2).norm() > 1e-2);
        }
    }

    #[test]
    fn every_printed_number_comes_out() {
        let outcome = run(&Progress::hidden()).unwrap();
        assert!(outcome.passed(), "{:#?}", outcome.checks);
        assert_eq!(outcome.checks.len(), 3 * 6 + 2 * 2);
    }
}
