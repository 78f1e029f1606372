//! A number from outside of the machine, kept in its memory.

use super::{Element, ElementFacts, Forces};
use crate::kinematics::Motion;

/// Remembers how much an input differs from its initial value; it pushes nothing.
///
/// Every input has one, so that its value is part of the state even where no force uses it.
#[derive(Clone, Copy, Debug)]
pub struct HeldInput;

impl Element for HeldInput {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts { memory: 1, ..ElementFacts::on(&[]) }
    }

    fn evaluate(&self, _: &Motion, _: &mut Forces) {}
}
