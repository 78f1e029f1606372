//! Geometrically exact beams: two-node elements whose motion along the axis is a screw.
//!
//! Between its nodes an element is interpolated on SE(3) by H(s) = H_A exp(s d/L), with the one twist
//!
//! ```text
//! d = log(H_A⁻¹ H_B),   strain ε = (d − d₀)/L,   energy W = L/2 εᵀ K ε     [SonnevilleCardonaBruls2014, Sec. 4]
//! ```
//!
//! so that the strain is constant, rigid motions leave it alone exactly, and pure bending, torsion and stretch
//! are represented exactly however large they are. There is nothing to lock, because a constant curvature needs no shear.
//! d₀ belongs to the initial shape, which may be curved and twisted.
//!
//! The stiffness knows that a transverse force bends the element as well ([`Span::stiffness`]), so that linear statics are
//! exact at the nodes.
//!
//! Inertia belongs to the nodes: each half of an element moves with its node as a rigid [`Segment`]. Kinetic energy
//! and momenta of a rigid motion of the initial shape are then exact, translation is exact in any shape, and the mass matrix
//! is constant and has a block per node.
//!
//! The axis of a beam is the x axis of its sections. Strains are (κ, γ): twist rate κ_x, curvatures κ_y and κ_z, stretch
//! γ_x, shears γ_y and γ_z, all in section axes; section forces (torque, force) in the same order.

mod element;
mod profile;
mod section;
mod segment;
mod span;

pub use element::{Beam, BeamEnd, BeamStrain};
pub use profile::{Material, Profile};
pub use section::{Section, SectionError, mass_about, stiffness_about};
pub use segment::{Segment, SegmentLoad};
pub use span::{Half, LARGEST_TURN, Span, SpanError};
