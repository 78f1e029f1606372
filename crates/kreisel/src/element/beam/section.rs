//! What a section of a beam resists and weighs, per length.

use thiserror::Error;

use crate::lie::{Matrix3, Matrix6, Vector3, Vector6, skew};

/// Why matrices do not belong to a section.
#[derive(Clone, Copy, Error, PartialEq)]
#[non_exhaustive]
pub enum SectionError {
    /// The stiffness has a direction that resists nothing or pushes away.
    #[error("the stiffness must be positive definite, but its smallest eigenvalue is {smallest:.3e}")]
    Stiffness {
        /// Smallest eigenvalue of the scaled matrix.
        smallest: f64,
    },
    /// The mass has a direction without inertia.
    #[error("the mass matrix must be positive definite, but its smallest eigenvalue is {smallest:.3e}")]
    Mass {
        /// Smallest eigenvalue of the scaled matrix.
        smallest: f64,
    },
    /// The matrix is not symmetric.
    #[error("the matrix must be symmetric, but entries differ by {difference:.3e}")]
    NotSymmetric {
        /// Largest difference of two entries that ought to be equal.
        difference: f64,
    },
    /// The mass matrix is not that of a piece of matter.
    #[error(
        "the mass matrix must have the form ((J, m c̃), (−m c̃, m 1)) of a mass m at c, but an entry is off by {difference:.3e}"
    )]
    NotMatter {
        /// Largest difference.
        difference: f64,
    },
}

shown_by_message!(SectionError);

/// Stiffness and mass of a section, about its reference point in its axes (x along the beam).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    stiffness: Matrix6,
    mass: Matrix6,
}

/// Relative difference up to which entries count as equal: matrices are copied with few digits.
const SAME: f64 = 1e-6;

/// Largest ratio GA h²/EI of an element with three nodes.
const MAX_SHEAR: f64 = 1e7;

impl Section {
    /// A section with full matrices over (rotation, translation): stiffness in Nm², Nm and N, mass per
    /// length.
    pub fn new(stiffness: Matrix6, mass: Matrix6) -> Result<Self, SectionError> {
        let (stiffness, mass) = (symmetric(&stiffness)?, symmetric(&mass)?);
        let smallest = smallest_eigenvalue(&stiffness);
        if smallest.is_nan() || smallest <= 0.0 {
            return Err(SectionError::Stiffness { smallest });
        }
        check_matter(&mass)?;
        let smallest = smallest_eigenvalue(&mass);
        if smallest.is_nan() || smallest <= 0.0 {
            return Err(SectionError::Mass { smallest });
        }
        Ok(Self { stiffness, mass })
    }

    /// K over (κ, γ).
    pub fn stiffness(&self) -> &Matrix6 {
        &self.stiffness
    }

    /// K⁻¹.
    pub fn flexibility(&self) -> Matrix6 {
        let inverse = self.stiffness.try_inverse().expect("the stiffness is positive definite");
        0.5 * (inverse + inverse.transpose())
    }

    /// K for an element of a length that adds up bending from small differences of its shear: stiffer shear
    /// than 1e7 EI/h² and EA is taken as that. The deflection of a clamped element under a force at its end
    /// changes by 3 EI/(GA h²) of it, less than 3e-7, and forces keep the digits that the differences would
    /// cost.
    pub(super) fn resolved_stiffness(&self, length: f64) -> Matrix6 {
        let k = &self.stiffness;
        let limit = |bending: usize| k[(3, 3)].max(MAX_SHEAR * k[(bending, bending)] / (length * length));
        // γ_y belongs to bending about z, and γ_z to that about y.
        let limits = [(4, limit(2)), (5, limit(1))];
        if limits.iter().all(|&(shear, limit)| k[(shear, shear)] <= limit) {
            return *k;
        }
        let mut flexibility = self.flexibility();
        for (shear, limit) in limits {
            if k[(shear, shear)] > limit {
                flexibility[(shear, shear)] += 1.0 / limit;
            }
        }
        let stiffness = flexibility.try_inverse().expect("a flexibility that grows stays positive definite");
        0.5 * (stiffness + stiffness.transpose())
    }

    /// M per length over (Ω, U).
    pub fn mass(&self) -> &Matrix6 {
        &self.mass
    }
}

/// The stiffness diag(GJ, EI_y, EI_z, EA, GA_y, GA_z) of a symmetric section, with the places of its centres.
///
/// Stretch acts at the elastic centre e and shear at the shear centre c, points (y, z) of the section: with
/// the curvatures κ the fibre at e is stretched by γ_x + κ_y e_z − κ_z e_y, and the material at c is sheared
/// by γ_y − κ_x c_z and γ_z + κ_x c_y.
pub fn stiffness_about(diagonal: &Vector6, elastic_centre: [f64; 2], shear_centre: [f64; 2]) -> Matrix6 {
    let mut local = Matrix6::identity();
    let [ey, ez] = elastic_centre;
    let [cy, cz] = shear_centre;
    local[(3, 1)] = ez;
    local[(3, 2)] = -ey;
    local[(4, 0)] = -cz;
    local[(5, 0)] = cy;
    local.transpose() * Matrix6::from_diagonal(diagonal) * local
}

/// Mass matrix of a mass per length at a point (y, z) of the section, with its inertia per length about this
/// point.
pub fn mass_about(mass: f64, inertia: &Matrix3, centre: [f64; 2]) -> Matrix6 {
    let arm = skew(&Vector3::new(0.0, centre[0], centre[1]));
    let mut matrix = Matrix6::zeros();
    matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&(inertia - mass * arm * arm));
    matrix.fixed_view_mut::<3, 3>(0, 3).copy_from(&(mass * arm));
    matrix.fixed_view_mut::<3, 3>(3, 0).copy_from(&(-mass * arm));
    matrix.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(mass);
    matrix
}

fn symmetric(matrix: &Matrix6) -> Result<Matrix6, SectionError> {
    let difference = (matrix - matrix.transpose()).amax();
    if difference.is_nan() || difference > SAME * matrix.amax() {
        return Err(SectionError::NotSymmetric { difference });
    }
    Ok(0.5 * (matrix + matrix.transpose()))
}

/// Smallest eigenvalue of the matrix with its diagonal scaled to one; units of its parts do not matter then.
fn smallest_eigenvalue(matrix: &Matrix6) -> f64 {
    let diagonal = matrix.diagonal();
    if let Some(entry) = diagonal.iter().find(|entry| entry.is_nan() || **entry <= 0.0) {
        return *entry;
    }
    let scale = diagonal.map(|entry| 1.0 / entry.sqrt());
    let scaled = Matrix6::from_fn(|i, j| scale[i] * matrix[(i, j)] * scale[j]);
    scaled.symmetric_eigenvalues().min()
}

/// Translations weigh the same in each direction, and couple with rotations by a first moment.
fn check_matter(mass: &Matrix6) -> Result<(), SectionError> {
    let block: Matrix3 = mass.fixed_view::<3, 3>(3, 3).into();
    let coupling: Matrix3 = mass.fixed_view::<3, 3>(3, 0).into();
    let difference = (block - Matrix3::from_diagonal_element(mass[(3, 3)])).amax();
    let lopsided = (coupling + coupling.transpose()).amax();
    if difference > SAME * block.amax() || lopsided > SAME * coupling.amax() {
        return Err(SectionError::NotMatter { difference: difference.max(lopsided) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> (Matrix6, Matrix6) {
        let stiffness = Matrix6::from_diagonal(&Vector6::new(1.0, 2.0, 3.0, 400.0, 500.0, 600.0));
        let mass = mass_about(2.0, &Matrix3::from_diagonal(&Vector3::new(0.3, 0.1, 0.2)), [0.0, 0.0]);
        (stiffness, mass)
    }

    #[test]
    fn a_section_refuses_what_is_not_positive() {
        let (stiffness, mass) = plain();
        assert!(Section::new(stiffness, mass).is_ok());
        let mut wrong = stiffness;
        wrong[(1, 1)] = -2.0;
        assert!(matches!(Section::new(wrong, mass), Err(SectionError::Stiffness { .. })));
        let mut wrong = mass;
        wrong[(0, 0)] = 0.0;
        assert!(matches!(Section::new(stiffness, wrong), Err(SectionError::Mass { .. })));
        let mut wrong = mass;
        wrong[(4, 4)] = 3.0;
        assert!(matches!(Section::new(stiffness, wrong), Err(SectionError::NotMatter { .. })));
        let mut wrong = stiffness;
        wrong[(0, 5)] = 1.0;
        assert!(matches!(Section::new(wrong, mass), Err(SectionError::NotSymmetric { .. })));
    }

    #[test]
    fn a_mass_off_the_axis_has_steiner_parts() {
        let mass = mass_about(2.0, &Matrix3::identity(), [3.0, 0.0]);
        // m c² about x and z; the momentum of a turn about z points against x.
        assert_eq!((mass[(0, 0)], mass[(1, 1)], mass[(2, 2)]), (19.0, 1.0, 19.0));
        assert_eq!((mass[(3, 2)], mass[(5, 0)]), (-6.0, 6.0));
        assert!(check_matter(&mass).is_ok());
    }

    #[test]
    fn a_force_through_the_shear_centre_does_not_twist() {
        let diagonal = Vector6::new(1.0, 2.0, 3.0, 400.0, 500.0, 600.0);
        let stiffness = stiffness_about(&diagonal, [0.1, 0.2], [0.3, -0.4]);
        // Force along z at the shear centre: torque about x of c_y times the force.
        let load = Vector6::new(0.3 * 7.0, 0.0, 0.0, 0.0, 0.0, 7.0);
        let strain = stiffness.try_inverse().unwrap() * load;
        assert!(strain[0].abs() < 1e-14 && (strain[5] - 7.0 / 600.0).abs() < 1e-14, "{strain}");
        // A pull at the elastic centre stretches without bending: torque e × (f, 0, 0) = (0, e_z f, −e_y f).
        let pull = Vector6::new(0.0, 0.2 * 8.0, -0.1 * 8.0, 8.0, 0.0, 0.0);
        let strain = stiffness.try_inverse().unwrap() * pull;
        assert!(strain.fixed_rows::<3>(0).norm() < 1e-14 && (strain[3] - 0.02).abs() < 1e-14, "{strain}");
    }
}
