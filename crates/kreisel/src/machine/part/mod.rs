//! The kinds of parts a model file may have, one file each.

pub mod beam;
pub mod beam_section;
pub mod body;
pub mod bushing;
pub mod contact;
pub mod contact_group;
mod contact_law;
pub mod coupling;
pub mod drive;
pub mod end_stop;
pub mod event;
pub mod force;
pub mod friction;
pub mod function;
pub mod gravity;
pub mod input;
pub mod joint;
pub mod joint_coordinate;
pub mod joint_force;
pub mod knife_edge;
pub mod lock;
pub mod marker;
pub mod point_mass;
pub mod rolling;
pub mod sensor;
pub mod shape;
pub mod simulation;
pub mod spring;
pub mod state;
pub mod velocity_coupling;

use super::MachineBuilder;
use crate::model::{ModelErrors, Part, PartKind};

/// A kind of part and how it is added to a machine.
#[derive(Clone, Copy)]
pub struct PartEntry {
    /// Its keys.
    pub kind: &'static PartKind,
    /// Reads a part of the kind and adds it.
    pub add: fn(&Part, &mut MachineBuilder) -> Result<(), ModelErrors>,
}

/// Every kind, in the order in which parts are read: each refers only to kinds before it.
pub static PARTS: &[&[PartEntry]] = &[BEFORE_JOINTS, &joint::PARTS, AFTER_JOINTS];

/// Kinds that joints refer to.
static BEFORE_JOINTS: &[PartEntry] = &[
    PartEntry { kind: &simulation::KIND, add: simulation::add },
    PartEntry { kind: &gravity::KIND, add: gravity::add },
    PartEntry { kind: &input::KIND, add: input::add },
    PartEntry { kind: &body::KIND, add: body::add },
    PartEntry { kind: &point_mass::KIND, add: point_mass::add },
    PartEntry { kind: &marker::KIND, add: marker::add },
    PartEntry { kind: &beam::KIND, add: beam::add },
];

/// Kinds that refer to joints.
static AFTER_JOINTS: &[PartEntry] = &[
    PartEntry { kind: &rolling::KIND, add: rolling::add },
    PartEntry { kind: &knife_edge::KIND, add: knife_edge::add },
    PartEntry { kind: &coupling::GEAR, add: coupling::add_gear },
    PartEntry { kind: &coupling::COUPLING, add: coupling::add_coupling },
    PartEntry { kind: &velocity_coupling::KIND, add: velocity_coupling::add },
    PartEntry { kind: &drive::KIND, add: drive::add },
    PartEntry { kind: &state::STATE, add: state::add_state },
    PartEntry { kind: &state::ALGEBRAIC, add: state::add_algebraic },
    PartEntry { kind: &state::TRANSFER_FUNCTION, add: state::add_transfer_function },
    PartEntry { kind: &state::STATE_SPACE, add: state::add_state_space },
    PartEntry { kind: &state::PID, add: state::add_pid },
    PartEntry { kind: &function::KIND, add: function::add },
    PartEntry { kind: &force::KIND, add: force::add },
    PartEntry { kind: &joint_force::KIND, add: joint_force::add },
    PartEntry { kind: &spring::POINTS, add: spring::add_between_points },
    PartEntry { kind: &spring::TORSIONAL, add: spring::add_torsional },
    PartEntry { kind: &bushing::KIND, add: bushing::add },
    PartEntry { kind: &friction::KIND, add: friction::add },
    PartEntry { kind: &end_stop::DISPLACEMENT, add: end_stop::add_displacement },
    PartEntry { kind: &end_stop::ANGLE, add: end_stop::add_angle },
    PartEntry { kind: &contact::KIND, add: contact::add },
    PartEntry { kind: &contact_group::KIND, add: contact_group::add },
    PartEntry { kind: &lock::KIND, add: lock::add },
    PartEntry { kind: &sensor::KIND, add: sensor::add },
    PartEntry { kind: &event::KIND, add: event::add },
];

/// Every kind, in the order in which parts are read.
pub fn parts() -> impl Iterator<Item = &'static PartEntry> {
    PARTS.iter().copied().flatten()
}

/// Every kind, for the document layer.
pub fn kinds() -> Vec<&'static PartKind> {
    parts().map(|entry| entry.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reader::kind_faults;

    #[test]
    fn every_kind_is_declared_without_fault() {
        for kind in kinds() {
            assert_eq!(kind_faults(kind), Vec::<String>::new(), "{}", kind.name);
        }
    }
}
