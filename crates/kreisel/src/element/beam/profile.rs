//! Sections by their shape: circle, tube, rectangle and I, of an isotropic material.
//!
//! Shear correction factors are those of [Cowper1966, Table 1], which depend on Poisson's ratio. The
//! torsional constant of a rectangle is the series of [TimoshenkoGoodier1951, Sec. 94], that of an I the sum
//! of its thin walls.

use super::section::{mass_about, stiffness_about};
use super::{Section, SectionError};
use crate::lie::{Matrix3, Vector3, Vector6};

use std::f64::consts::PI;

/// An isotropic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus in Pa.
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    pub poisson_ratio: f64,
    /// Density in kg/m³.
    pub density: f64,
}

/// The outline of a section, symmetric about its y and z axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Profile {
    /// A full circle.
    Circle {
        /// Radius in m.
        radius: f64,
    },
    /// A ring.
    Tube {
        /// Outer radius in m.
        outer_radius: f64,
        /// Inner radius in m.
        inner_radius: f64,
    },
    /// A full rectangle.
    Rectangle {
        /// Extent along y in m.
        width: f64,
        /// Extent along z in m.
        height: f64,
    },
    /// Two flanges along y and a web along z.
    ISection {
        /// Extent of the flanges along y in m.
        width: f64,
        /// Whole extent along z in m.
        height: f64,
        /// Thickness of each flange in m.
        flange: f64,
        /// Thickness of the web in m.
        web: f64,
    },
}

/// Numbers of an outline: area, second moments, torsional constant, shear correction factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Constants {
    pub(crate) area: f64,
    /// ∫z² dA and ∫y² dA.
    pub(crate) second_moments: [f64; 2],
    pub(crate) torsion: f64,
    /// For forces along y and along z.
    pub(crate) shear_factors: [f64; 2],
}

impl Profile {
    /// Stiffness and mass of the section.
    pub fn section(&self, material: &Material) -> Result<Section, SectionError> {
        let Constants { area, second_moments: [about_y, about_z], torsion, shear_factors } =
            self.constants(material.poisson_ratio);
        let Material { youngs_modulus: e, poisson_ratio, density } = *material;
        let g = e / (2.0 * (1.0 + poisson_ratio));
        let stiffness = Vector6::new(
            g * torsion,
            e * about_y,
            e * about_z,
            e * area,
            shear_factors[0] * g * area,
            shear_factors[1] * g * area,
        );
        let inertia = density * Vector3::new(about_y + about_z, about_y, about_z);
        let mass = mass_about(density * area, &Matrix3::from_diagonal(&inertia), [0.0; 2]);
        Section::new(stiffness_about(&stiffness, [0.0; 2], [0.0; 2]), mass)
    }

    pub(crate) fn constants(&self, nu: f64) -> Constants {
        match *self {
            Self::Circle { radius } => ring(radius, 0.0, nu),
            Self::Tube { outer_radius, inner_radius } => ring(outer_radius, inner_radius, nu),
            Self::Rectangle { width, height } => Constants {
                area: width * height,
                second_moments: [width * height.powi(3) / 12.0, height * width.powi(3) / 12.0],
                torsion: rectangle_torsion(width, height),
                shear_factors: [10.0 * (1.0 + nu) / (12.0 + 11.0 * nu); 2],
            },
            Self::ISection { width, height, flange, web } => i_section(width, height, flange, web, nu),
        }
    }
}

/// [Cowper1966, Table 1]: circle and hollow circle with the ratio m of the radii.
fn ring(outer: f64, inner: f64, nu: f64) -> Constants {
    let m = inner / outer;
    let square = (1.0 + m * m).powi(2);
    let factor = 6.0 * (1.0 + nu) * square / ((7.0 + 6.0 * nu) * square + (20.0 + 12.0 * nu) * m * m);
    let moment = PI / 4.0 * (outer.powi(4) - inner.powi(4));
    Constants {
        area: PI * (outer * outer - inner * inner),
        second_moments: [moment; 2],
        torsion: 2.0 * moment,
        shear_factors: [factor; 2],
    }
}

/// J = a b³ (1/3 − 64/π⁵ b/a Σ tanh(nπa/2b)/n⁵) over odd n, with b ≤ a.
fn rectangle_torsion(width: f64, height: f64) -> f64 {
    let (a, b) = (width.max(height), width.min(height));
    // The ninth term is below 1e-6 of the first.
    let sum: f64 =
        (0..9).map(|k| f64::from(2 * k + 1)).map(|n| (0.5 * n * PI * a / b).tanh() / n.powi(5)).sum();
    a * b.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * b / a * sum)
}

/// Thin walls; shear along the web by [Cowper1966, Table 1], along the flanges by those alone as rectangles.
fn i_section(width: f64, height: f64, flange: f64, web: f64, nu: f64) -> Constants {
    let clear = height - 2.0 * flange;
    let area = 2.0 * width * flange + clear * web;
    let distance = height - flange;
    let m = 2.0 * width * flange / (distance * web);
    let n2 = (width / distance).powi(2);
    let along_web = 10.0 * (1.0 + nu) * (1.0 + 3.0 * m).powi(2)
        / ((12.0 + 72.0 * m + 150.0 * m * m + 90.0 * m.powi(3))
            + nu * (11.0 + 66.0 * m + 135.0 * m * m + 90.0 * m.powi(3))
            + 30.0 * n2 * (m + m * m)
            + 5.0 * nu * n2 * (8.0 * m + 9.0 * m * m));
    let rectangle = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    Constants {
        area,
        second_moments: [
            (width * height.powi(3) - (width - web) * clear.powi(3)) / 12.0,
            (2.0 * flange * width.powi(3) + clear * web.powi(3)) / 12.0,
        ],
        torsion: (2.0 * width * flange.powi(3) + distance * web.powi(3)) / 3.0,
        shear_factors: [rectangle * 2.0 * width * flange / area, along_web],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torsion_of_rectangles_agrees_with_the_published_table() {
        // β of J = β a b³ in [TimoshenkoGoodier1951, Sec. 94]: 0.141 for a square, 0.229 for 2:1, 0.312 for
        // 10:1.
        for (a, beta) in [(1.0, 0.1406), (2.0, 0.229), (10.0, 0.312)] {
            assert!((rectangle_torsion(a, 1.0) / a - beta).abs() < 5e-4);
            assert_eq!(rectangle_torsion(a, 1.0), rectangle_torsion(1.0, a));
        }
    }

    #[test]
    fn a_tube_without_a_hole_is_a_circle_and_a_thin_one_has_half_its_area_in_shear() {
        let nu = 0.3;
        let circle = Profile::Circle { radius: 2.0 }.constants(nu);
        let full = Profile::Tube { outer_radius: 2.0, inner_radius: 0.0 }.constants(nu);
        assert_eq!(circle, full);
        // A few roundings of numbers of size one.
        assert!((circle.shear_factors[0] - 6.0 * 1.3 / 8.8).abs() < 1e-15);
        // [Cowper1966, Table 1], thin-walled round tube: 2 (1 + ν)/(4 + 3ν).
        let thin = Profile::Tube { outer_radius: 1.0, inner_radius: 0.9999 }.constants(nu);
        assert!((thin.shear_factors[0] - 2.6 / 4.9).abs() < 1e-6);
    }

    #[test]
    fn moments_of_an_i_are_those_of_its_three_rectangles() {
        let Constants { area, second_moments, .. } =
            Profile::ISection { width: 0.1, height: 0.2, flange: 0.01, web: 0.006 }.constants(0.3);
        let (flange, web) = (0.1 * 0.01, 0.18 * 0.006);
        let about_y = 2.0 * (flange * 0.095_f64.powi(2) + 0.1 * 0.01_f64.powi(3) / 12.0)
            + 0.006 * 0.18_f64.powi(3) / 12.0;
        // A few roundings: the numbers are below 1e-2.
        assert!((area - 2.0 * flange - web).abs() < 1e-15);
        assert!((second_moments[0] - about_y).abs() < 1e-15);
    }
}
