//! A number from outside of the machine, kept in its memory.

use super::Element;
use crate::dae::TangentWeights;
use crate::kinematics::{LocalForces, LocalTangent, Motion, NodeId};

/// Remembers how much an input differs from its initial value; it pushes nothing.
///
/// Every input has one, so that its value is part of the state even where no force uses it.
#[derive(Clone, Copy, Debug)]
pub struct HeldInput;

impl Element for HeldInput {
    fn nodes(&self) -> &[NodeId] {
        &[]
    }

    fn residual(&self, _: &Motion, _: &mut LocalForces) {}

    fn tangent(&self, _: &Motion, _: TangentWeights, _: &mut LocalTangent) {}

    fn memory_count(&self) -> usize {
        1
    }
}
