//! How parts see motion: nodes with poses and body twists, frames on them, relative coordinates, and the
//! local arrays that a part fills.

pub mod coordinate;
pub mod frame;
mod frame_pair;
mod local;
mod node_motion;
mod plain;

pub use coordinate::Coordinate;
pub use frame::{Frame, Relative};
pub use frame_pair::{FramePair, pair_between};
pub use local::{Energies, LocalGradient, LocalTangent, MAX_ROWS, Motion, Power};
pub(crate) use local::{STIFFNESS_ONLY, shift_pose};
pub use node_motion::{NodeMotion, join, split};
pub(crate) use node_motion::{
    TwistDerivatives, add_force, add_force_by_configuration, by_coordinates, node_pose, on_coordinates,
    twist_between,
};
pub(crate) use plain::PlainPair;

/// Handle of a node of a [`crate::system::System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// Most nodes that one element or joint may touch.
pub const MAX_NODES: usize = 4;
