//! Parts that are switched on and off, or changed, while a machine runs.
//!
//! The structure of the equations stays. A force that is off adds nothing; a joint that is off has empty
//! rows, whose multipliers vanish like those of redundant constraints. Which parts are switched is remembered
//! with the state: a slot holds 0 for a part as it was at the start and 1 for the opposite. An element may
//! have several versions, one for each variant of the machine; another slot holds the number of the variant.

use thiserror::Error;

use super::{System, SystemElement, SystemJoint};
use crate::dae::Point;

/// Handle of a switch of a [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SwitchId(pub(super) usize);

/// A switch of the parts of a name.
pub(super) struct Switch {
    /// Place in the memory of the system.
    pub slot: usize,
    pub on_at_start: bool,
}

/// Why a joint cannot be switched on where the machine is.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum SwitchError {
    /// Its equations do not hold.
    #[error(
        "`{name}` cannot be switched on at t = {time} s: it misses by {size:.1e} there. Use a `[[lock]]`, which holds a joint \
         wherever it is, or an event where the parts meet"
    )]
    Position {
        /// The joint.
        name: String,
        /// The time.
        time: f64,
        /// Norm of its equations.
        size: f64,
    },
    /// Its bodies move against each other.
    #[error(
        "`{name}` cannot be switched on at t = {time} s without an impulse: its parts move against each other at {size:.1e} there. \
         Brake with a spring, damper or friction first, and switch at an event where the rate is zero"
    )]
    Impulse {
        /// The joint.
        name: String,
        /// The time.
        time: f64,
        /// Norm of the rates of its equations.
        size: f64,
    },
}

shown_by_message!(SwitchError);

/// Equations of a joint that is switched on must hold to this part of the machine's length, or of 1 rad: far
/// above what steps leave in constraints, far below what anybody draws.
const POSITION_SLACK: f64 = 1e-9;
/// Largest rate, in lengths and rad per second, that switching a joint on may take away. A choice: what a
/// careful model leaves at the end of a motion, not an impact.
const RATE_SLACK: f64 = 1e-4;

impl System {
    /// Whether the parts of a switch are on.
    pub fn is_on(&self, switch: SwitchId, memory: &[f64]) -> bool {
        let switch = &self.switches[switch.0];
        switch.on_at_start == (memory[switch.slot] == 0.0)
    }

    /// Number of the variant; 0 at the start.
    pub fn variant(&self, memory: &[f64]) -> usize {
        self.variant.map_or(0, |slot| memory[slot] as usize)
    }

    /// Changes the variant in a memory: other versions of elements act from now on.
    pub fn set_variant(&self, variant: usize, memory: &mut [f64]) {
        if let Some(slot) = self.variant {
            memory[slot] = variant as f64;
        }
    }

    /// Whether an element is the version for the present variant.
    pub(super) fn is_version_of(&self, entry: &SystemElement, memory: &[f64]) -> bool {
        entry.variant.is_none_or(|own| own == self.variant(memory))
    }

    /// Elements that are on.
    pub(super) fn active_elements<'a>(&'a self, at: &'a Point) -> impl Iterator<Item = &'a SystemElement> {
        self.active_elements_of(&self.elements, at)
    }

    /// Those of some elements that are on.
    pub(super) fn active_elements_of<'a>(
        &'a self,
        elements: &'a [SystemElement],
        at: &'a Point,
    ) -> impl Iterator<Item = &'a SystemElement> {
        let is_on = |entry: &&SystemElement| {
            entry.switch.is_none_or(|switch| self.is_on(switch, at.memory))
                && self.is_version_of(entry, at.memory)
        };
        elements.iter().filter(is_on)
    }

    /// Joints that are on.
    pub(super) fn active_joints<'a>(&'a self, at: &'a Point) -> impl Iterator<Item = &'a SystemJoint> {
        self.active_joints_of(&self.joints, at)
    }

    /// The same with what continues their equations.
    pub(super) fn active_joint_parts<'a>(&'a self, at: &'a Point) -> impl Iterator<Item = &'a SystemJoint> {
        self.active_joints(at).chain(self.active_joints_of(&self.continued, at))
    }

    /// Those of some joints that are on.
    pub(super) fn active_joints_of<'a>(
        &'a self,
        joints: &'a [SystemJoint],
        at: &'a Point,
    ) -> impl Iterator<Item = &'a SystemJoint> {
        joints.iter().filter(|entry| entry.switch.is_none_or(|switch| self.is_on(switch, at.memory)))
    }

    /// Switches parts on or off in a memory; a joint must fit where the machine is.
    ///
    /// Gives whether anything changed.
    pub fn switch(
        &self,
        switch: SwitchId,
        on: bool,
        at: &Point,
        memory: &mut [f64],
    ) -> Result<bool, SwitchError> {
        if self.is_on(switch, memory) == on {
            return Ok(false);
        }
        let Switch { slot, on_at_start } = self.switches[switch.0];
        memory[slot] = if on == on_at_start { 0.0 } else { 1.0 };
        for entry in self.joints.iter().filter(|entry| on && entry.switch == Some(switch)) {
            let own = &mut memory[entry.memory.clone()];
            self.with_motion(&entry.nodes, at, &entry.memory, |motion| entry.joint.engage(motion, own));
            self.check_fit(entry, &Point { memory, ..*at })?;
        }
        Ok(true)
    }

    fn check_fit(&self, entry: &SystemJoint, at: &Point) -> Result<(), SwitchError> {
        let [position, rate] = self.with_all_seen(at, |seen| self.joint_residuals(entry, seen));
        let (name, time, length) = (entry.name.clone(), at.time, self.shape.scales.length);
        if position > POSITION_SLACK * length.max(1.0) {
            return Err(SwitchError::Position { name, time, size: position });
        }
        if rate > RATE_SLACK * length.max(1.0) {
            return Err(SwitchError::Impulse { name, time, size: rate });
        }
        Ok(())
    }
}
