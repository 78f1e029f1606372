//! How large the multipliers' first-order error grows before it is damped out [ArnoldCardonaBruls2015, §3.2].
//!
//! On the constraint q = 0 one step of the generalized-α method multiplies the errors (e^λ, r, e^a) by the matrix
//! T∞ = (T⁺)⁻¹ T⁰. Its only eigenvalue is −ρ∞, in one Jordan block of size three, so its powers grow before they
//! decay. Natural starting values leave r₀ = C_q h v̈(t₀), and the multipliers carry e_n^λ = c_n h v̈(t₀) + O(h²) with
//!
//! c_n = C_q (1 + ρ∞)² (n(n−1)/2 (ρ∞² − 1)(−ρ∞)ⁿ⁻² + n (2 − ρ∞)(−ρ∞)ⁿ⁻¹)        [ArnoldCardonaBruls2015, Eq. (53)]
//!
//! The maxima that the paper prints are those of |c_n / C_q|.

use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::figure::{FigureStyle, Series};
use nalgebra::{Matrix3, Vector3};

/// ρ∞, and the step and size of the largest |c_n / C_q| that the paper prints.
const ERROR_CONSTANTS: [(f64, usize, &str); 3] = [(0.6, 3, "6.8"), (0.9, 15, "31.9"), (0.99, 161, "334.3")];

/// ρ∞, and the step and size of the largest ‖T∞ⁿ‖₂ that the paper prints.
const MATRIX_POWERS: [(f64, usize, &str); 2] = [(0.6, 3, "7.4"), (0.9, 14, "34.3")];

/// Long enough for the slowest case, ρ∞ = 0.99, to fall from 334 below 1e-3.
const STEPS: usize = 2000;

/// Compares the maxima with the printed ones, and Eq. (53) with powers of the matrix.
pub fn run(_: &Progress) -> Result<Outcome, ExperimentError> {
    let mut outcome = Outcome::new(
        Table::new(["ρ∞", "C_q", "n", "max |c_n / C_q|", "n'", "max ‖T∞ⁿ'‖₂"]),
        FigureStyle::log_log(),
    );
    for (spectral_radius, step, printed) in ERROR_CONSTANTS {
        let method = Parameters::chung_hulbert(spectral_radius);
        let constants: Vec<f64> = (1..=STEPS).map(|n| method.error_constant(n) / method.c_q()).collect();
        let (largest_at, largest) = largest(&constants);
        let name = |what: &str| format!("{what}, ρ∞ = {spectral_radius}");
        outcome.check(Check::printed(name("max |c_n / C_q|"), printed, largest));
        outcome.check(Check::count(name("step n of the maximum"), step, largest_at));
        let powers = method.infinite_frequency_powers();
        outcome.check(agreement(name("c_n against powers of T∞"), &method, &constants, &powers));

        let norms: Vec<f64> = powers.iter().map(|power| power.singular_values().max()).collect();
        let (norm_at, norm) = self::largest(&norms);
        if let Some((_, step, printed)) = MATRIX_POWERS.iter().find(|row| row.0 == spectral_radius) {
            outcome.check(Check::printed(name("max ‖T∞ⁿ‖₂"), printed, norm));
            outcome.check(Check::count(name("step n of the largest ‖T∞ⁿ‖₂"), *step, norm_at));
        }
        outcome.table.row([
            number(spectral_radius),
            number(method.c_q()),
            largest_at.to_string(),
            number(largest),
            norm_at.to_string(),
            number(norm),
        ]);
        outcome.curve(transient(spectral_radius, &constants));
    }
    Ok(outcome)
}

/// The first component of T∞ⁿ (0, C_q, 0) is c_n: a law between the printed formula and the method itself.
fn agreement(name: String, method: &Parameters, constants: &[f64], powers: &[Matrix3<f64>]) -> Check {
    let start = Vector3::new(0.0, method.c_q(), 0.0);
    let differences =
        constants.iter().zip(powers).map(|(c, power)| ((power * start)[0] / method.c_q() - c).abs());
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

/// The parameters of the generalized-α method, as the papers write them.
struct Parameters {
    spectral_radius: f64,
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

impl Parameters {
    /// [ArnoldCardonaBruls2015, Eq. (42)]
    fn chung_hulbert(spectral_radius: f64) -> Self {
        let alpha_m = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0);
        let alpha_f = spectral_radius / (spectral_radius + 1.0);
        let gamma = 0.5 + alpha_f - alpha_m;
        Self { spectral_radius, alpha_m, alpha_f, beta: 0.25 * (gamma + 0.5).powi(2), gamma }
    }

    /// C_q = (1 − 6β − 3Δ_α)/6 with Δ_α = α_m − α_f        [ArnoldCardonaBruls2015, Eqs. (40a), (41)]
    fn c_q(&self) -> f64 {
        (1.0 - 6.0 * self.beta - 3.0 * (self.alpha_m - self.alpha_f)) / 6.0
    }

    /// c_n of [ArnoldCardonaBruls2015, Eq. (53)].
    fn error_constant(&self, step: usize) -> f64 {
        let rho = self.spectral_radius;
        let n = step as f64;
        let power = |exponent: i32| (-rho).powi(exponent);
        let step = step as i32;
        self.c_q()
            * (1.0 + rho).powi(2)
            * (0.5 * n * (n - 1.0) * (rho * rho - 1.0) * power(step - 2) + n * (2.0 - rho) * power(step - 1))
    }

    /// T∞, T∞², … with T∞ = (T⁺)⁻¹ T⁰ for hω → ∞        [ArnoldCardonaBruls2015, §3.2, after Eq. (41)]
    fn infinite_frequency_powers(&self) -> Vec<Matrix3<f64>> {
        let Self { alpha_m, alpha_f, beta, gamma, .. } = *self;
        let next = Matrix3::new(0.0, 0.0, -beta, 0.0, 1.0, -gamma, 1.0 - alpha_f, 0.0, 1.0 - alpha_m);
        let previous = Matrix3::new(0.0, 1.0, 0.5 - beta, 0.0, 1.0, 1.0 - gamma, -alpha_f, 0.0, -alpha_m);
        let step = next.try_inverse().expect("β > 0 and α_f < 1 for Chung–Hulbert parameters") * previous;
        std::iter::successors(Some(step), |power| Some(step * power)).take(STEPS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_the_triple_eigenvalue_of_the_theory() {
        for (spectral_radius, ..) in ERROR_CONSTANTS {
            let step = Parameters::chung_hulbert(spectral_radius).infinite_frequency_powers()[0];
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
        assert_eq!(outcome.checks.len(), 3 * 3 + 2 * 2);
    }
}
