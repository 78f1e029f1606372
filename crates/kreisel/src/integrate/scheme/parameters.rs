//! Parameters of the generalized-α family, with order and stability checked.

use thiserror::Error;

/// The four parameters α_m, α_f, β, γ of a generalized-α method [ArnoldCardonaBruls2015, Eqs. (37)].
///
/// Every value of this type satisfies the order condition γ = ½ − (α_m − α_f), α_m < 1, α_f < 1 and β ≠ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

/// Why a choice of parameters is refused.
#[derive(Clone, Copy, Error, PartialEq)]
#[non_exhaustive]
pub enum ParameterError {
    /// ρ∞ outside [0, 1].
    #[error("the spectral radius must lie between 0 and 1, not {0}")]
    SpectralRadius(f64),
    /// HHT's α outside [0, 1/3].
    #[error("the α of the HHT method must lie between 0 and 1/3, not {0}")]
    Hht(f64),
    /// Spectral radius outside [1/2, 1] with the HHT method.
    #[error("the spectral radius of the HHT method must lie between 0.5 and 1, not {0}")]
    HhtRadius(f64),
    /// The order condition [ArnoldCardonaBruls2015, Eq. (41)] is violated.
    #[error(
        "γ = {gamma} violates the order condition γ = 1/2 - (α_m - α_f) = {required}: the method would be of first order"
    )]
    Order {
        /// The given γ.
        gamma: f64,
        /// The γ that gives second order.
        required: f64,
    },
    /// α_m ≥ 1, α_f ≥ 1 or β = 0: the new configuration would not depend on the new forces.
    #[error(
        "α_m < 1, α_f < 1 and β > 0 are needed (got α_m = {alpha_m}, α_f = {alpha_f}, β = {beta}): otherwise the new position does not depend on the new forces"
    )]
    Explicit {
        /// The given α_m.
        alpha_m: f64,
        /// The given α_f.
        alpha_f: f64,
        /// The given β.
        beta: f64,
    },
}

shown_by_message!(ParameterError);

/// How the parameters stand to the stability conditions [ArnoldCardonaBruls2015, Eq. (134)].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// α_m < α_f < ½ and γ < 2β: errors in the multipliers die out.
    Damped,
    /// On the limit, as ρ∞ = 1 and the trapezoidal rule: stable without constraints and with `index2` only.
    Limit,
    /// Beyond the limit.
    Unstable,
}

/// Slack in comparing parameters that were computed with a few roundings.
const ROUNDING: f64 = 1e-12;

impl Parameters {
    /// The choice of Chung and Hulbert by the spectral radius ρ∞ at infinite frequency
    /// [ArnoldCardonaBruls2015, Eq. (42)].
    pub fn chung_hulbert(spectral_radius: f64) -> Result<Self, ParameterError> {
        if !(0.0..=1.0).contains(&spectral_radius) {
            return Err(ParameterError::SpectralRadius(spectral_radius));
        }
        let alpha_m = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0);
        let alpha_f = spectral_radius / (spectral_radius + 1.0);
        Self::with_optimal_beta(alpha_m, alpha_f)
    }

    /// The method of Hilber, Hughes and Taylor: α_m = 0, α_f = α in [0, 1/3].
    pub fn hht(alpha: f64) -> Result<Self, ParameterError> {
        if !(0.0..=1.0 / 3.0 + ROUNDING).contains(&alpha) {
            return Err(ParameterError::Hht(alpha));
        }
        Self::with_optimal_beta(0.0, alpha)
    }

    /// The method of Hilber, Hughes and Taylor with spectral radius ρ∞ = (1 − α)/(1 + α) at infinite
    /// frequency, in [1/2, 1].
    pub fn hht_by_radius(spectral_radius: f64) -> Result<Self, ParameterError> {
        if !(0.5 - ROUNDING..=1.0).contains(&spectral_radius) {
            return Err(ParameterError::HhtRadius(spectral_radius));
        }
        Self::hht((1.0 - spectral_radius) / (1.0 + spectral_radius))
    }

    /// Newmark's method: α_m = α_f = 0, so that second order leaves γ = ½.
    pub fn newmark(beta: f64, gamma: f64) -> Result<Self, ParameterError> {
        Self::new(0.0, 0.0, beta, gamma)
    }

    /// All four parameters.
    pub fn new(alpha_m: f64, alpha_f: f64, beta: f64, gamma: f64) -> Result<Self, ParameterError> {
        let usable = alpha_m < 1.0 && alpha_f < 1.0 && beta > 0.0 && beta.is_finite();
        if !usable || !alpha_m.is_finite() || !alpha_f.is_finite() {
            return Err(ParameterError::Explicit { alpha_m, alpha_f, beta });
        }
        let required = 0.5 - (alpha_m - alpha_f);
        if gamma.is_nan() || (gamma - required).abs() > ROUNDING {
            return Err(ParameterError::Order { gamma, required });
        }
        Ok(Self { alpha_m, alpha_f, beta, gamma })
    }

    fn with_optimal_beta(alpha_m: f64, alpha_f: f64) -> Result<Self, ParameterError> {
        let gamma = 0.5 + alpha_f - alpha_m;
        Self::new(alpha_m, alpha_f, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma)
    }

    /// α_m.
    pub fn alpha_m(&self) -> f64 {
        self.alpha_m
    }

    /// α_f.
    pub fn alpha_f(&self) -> f64 {
        self.alpha_f
    }

    /// β.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Δ_α = α_m − α_f: a_n approximates v̇ at t_n + Δ_α h [ArnoldCardonaBruls2015, Eq. (41)].
    pub fn offset(&self) -> f64 {
        self.alpha_m - self.alpha_f
    }

    /// C_q = (1 − 6β − 3Δ_α)/6, the constant of the local error in q [ArnoldCardonaBruls2015, Eq. (40a)].
    pub fn position_error_constant(&self) -> f64 {
        (1.0 - 6.0 * self.beta - 3.0 * self.offset()) / 6.0
    }

    /// Spectral radius at infinite frequency: the largest root of β z² + (½ + γ − 2β) z + ½ − γ + β, and
    /// α_f/(1 − α_f).
    pub fn spectral_radius(&self) -> f64 {
        let (beta, gamma) = (self.beta, self.gamma);
        let (linear, constant) = (0.5 + gamma - 2.0 * beta, 0.5 - gamma + beta);
        let discriminant = linear * linear - 4.0 * beta * constant;
        // A double root, as Chung and Hulbert choose β, is not pulled apart by rounding.
        let roots = if discriminant <= ROUNDING {
            (constant / beta).max(0.0).sqrt()
        } else {
            (linear.abs() + discriminant.sqrt()) / (2.0 * beta)
        };
        roots.max((self.alpha_f / (1.0 - self.alpha_f)).abs()).min(1.0)
    }

    /// Where the parameters stand to [ArnoldCardonaBruls2015, Eq. (134)].
    pub fn stability(&self) -> Stability {
        // Positive inside, zero on the limit, negative beyond.
        let margins = [self.alpha_f - self.alpha_m, 0.5 - self.alpha_f, 2.0 * self.beta - self.gamma];
        if margins.iter().all(|&margin| margin > ROUNDING) {
            Stability::Damped
        } else if margins.iter().all(|&margin| margin >= -ROUNDING) {
            Stability::Limit
        } else {
            Stability::Unstable
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_methods_are_members_of_the_family() {
        let trapezoidal = Parameters::newmark(0.25, 0.5).unwrap();
        assert_eq!(trapezoidal.stability(), Stability::Limit);
        assert_eq!(Parameters::hht(0.0).unwrap(), trapezoidal);
        // ρ∞ = 1: α_m = α_f = ½, β = ¼, γ = ½.
        let undamped = Parameters::chung_hulbert(1.0).unwrap();
        assert_eq!((undamped.alpha_m(), undamped.alpha_f()), (0.5, 0.5));
        assert_eq!((undamped.beta(), undamped.gamma()), (0.25, 0.5));
        assert_eq!(undamped.stability(), Stability::Limit);
        // ρ∞ = 0: α_m = −1, α_f = 0, γ = 3/2, β = 1.
        let strongest = Parameters::chung_hulbert(0.0).unwrap();
        assert_eq!((strongest.alpha_m(), strongest.beta(), strongest.gamma()), (-1.0, 1.0, 1.5));
        assert_eq!(strongest.stability(), Stability::Damped);
        // HHT with α = 0.05 is the one of ρ∞ = (1 − α)/(1 + α) = 0.905 [BrulsCardonaArnold2012, §7.2].
        assert_eq!(Parameters::hht(0.05).unwrap().stability(), Stability::Damped);
    }

    #[test]
    fn the_spectral_radius_is_found_again() {
        for radius in [0.0, 0.2, 0.9, 1.0] {
            let found = Parameters::chung_hulbert(radius).unwrap().spectral_radius();
            // A few roundings: double roots are taken as such.
            assert!((found - radius).abs() < 1e-12, "{radius}: {found}");
        }
        for radius in [0.5, 0.8, 1.0] {
            let found = Parameters::hht_by_radius(radius).unwrap().spectral_radius();
            // A few roundings of roots that stand apart.
            assert!((found - radius).abs() < 1e-12, "{radius}: {found}");
        }
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_reason() {
        assert!(matches!(Parameters::chung_hulbert(1.1), Err(ParameterError::SpectralRadius(_))));
        assert!(matches!(Parameters::chung_hulbert(f64::NAN), Err(ParameterError::SpectralRadius(_))));
        assert!(matches!(Parameters::hht(-0.05), Err(ParameterError::Hht(_))));
        assert!(matches!(Parameters::hht_by_radius(0.4), Err(ParameterError::HhtRadius(_))));
        // A few roundings.
        assert!((Parameters::hht_by_radius(0.5).unwrap().alpha_f() - 1.0 / 3.0).abs() < 1e-15);
        assert!(matches!(Parameters::newmark(0.3, 0.6), Err(ParameterError::Order { .. })));
        assert!(matches!(Parameters::newmark(0.0, 0.5), Err(ParameterError::Explicit { .. })));
        assert!(matches!(Parameters::new(1.0, 0.0, 0.25, -0.5), Err(ParameterError::Explicit { .. })));
        assert!(matches!(Parameters::new(0.0, 1.0, 0.25, 1.5), Err(ParameterError::Explicit { .. })));
        assert!(matches!(Parameters::new(f64::NAN, 0.0, 0.25, 0.5), Err(ParameterError::Explicit { .. })));
        assert_eq!(Parameters::new(0.0, 0.0, 0.2, 0.5).unwrap().stability(), Stability::Unstable);
    }
}
