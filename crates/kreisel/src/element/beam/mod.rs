//! Geometrically exact beams: elements of two nodes whose motion along the axis is a screw, and of three
//! nodes.
//!
//! Between two nodes an element is interpolated on SE(3) by H(s) = H_A exp(s d/L), with the one twist
//!
//! ```text
//! d = log(H_A⁻¹ H_B),   strain ε = (d − d₀)/L,   energy W = L/2 εᵀ K ε     [SonnevilleCardonaBruls2014, Sec. 4]
//! ```
//!
//! so that the strain is constant, rigid motions leave it alone exactly, and pure bending, torsion and
//! stretch are represented exactly however large they are. There is nothing to lock, because a constant
//! curvature needs no shear. d₀ belongs to the initial shape, which may be curved and twisted.
//!
//! The stiffness knows that a transverse force bends the element as well ([`Span::stiffness`]), so that
//! linear statics are exact at the nodes.
//!
//! Inertia belongs to the nodes: each half of an element moves with its node as a rigid [`Segment`]. Kinetic
//! energy and momenta of a rigid motion of the initial shape are then exact, translation is exact in any
//! shape, and the mass matrix is constant and has a block per node.
//!
//! An element with three nodes ([`QuadraticBeam`]) joins two screws by a polynomial of degree two. Its mass
//! lies at its nodes too, by Lobatto's rule, so that everything but the elastic element is shared.
//!
//! The axis of a beam is the x axis of its sections. Strains are (κ, γ): twist rate κ_x, curvatures κ_y and
//! κ_z, stretch γ_x, shears γ_y and γ_z, all in section axes; section forces (torque, force) in the same
//! order.

mod carrier;
mod element;
mod halved;
mod profile;
mod quadratic;
mod quadratic_span;
mod section;
mod segment;
mod span;

pub use carrier::BeamEnd;
pub use element::{Beam, BeamStrain};
pub use halved::Halved;
pub use profile::{Material, Profile};
pub use quadratic::{GAUSS, QuadraticBeam};
pub use quadratic_span::{QuadraticSpan, Share, Weights};
pub use section::{Section, SectionError, mass_about, stiffness_about};
pub use segment::{Segment, SegmentLoad};
pub use span::{BowStretch, Half, MAX_TURN, Span, SpanError};
