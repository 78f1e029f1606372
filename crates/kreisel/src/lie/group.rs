//! The groups from which a configuration space is built.

/// One factor of a configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// R^k with addition.
    Vector(usize),
    /// Rotations; velocity Ω in body axes.
    So3,
    /// Rotations and positions side by side; velocity (Ω, u) with u in world axes.
    So3xR3,
    /// Rigid motions; velocity (Ω, U) with U in body axes.
    Se3,
}

impl Group {
    /// Numbers in a velocity: k, 3, 6 or 6.
    #[inline]
    pub fn dimension(self) -> usize {
        match self {
            Group::Vector(k) => k,
            Group::So3 => 3,
            Group::So3xR3 | Group::Se3 => 6,
        }
    }

    /// Numbers in a configuration: k, 4, 7 or 7.
    #[inline]
    pub fn coordinate_count(self) -> usize {
        match self {
            Group::Vector(k) => k,
            Group::So3 => 4,
            Group::So3xR3 | Group::Se3 => 7,
        }
    }
}
