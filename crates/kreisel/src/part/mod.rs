//! The kinds of parts a model file may have, one file each, and who reads model files with them.
//!
//! A file has the keys of its kinds, reads them, and adds to the
//! [`MachineBuilder`](crate::machine::MachineBuilder) what they mean. A program of its own adds kinds to a
//! [`MachineReader`].

#[macro_use]
mod sample;

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
mod plane;
pub mod point_mass;
mod reader;
pub mod rolling;
pub mod sensor;
pub mod shape;
pub mod simulation;
pub mod spring;
pub mod state;
pub mod table;
pub mod tyre;
pub mod velocity_coupling;

pub use reader::{MachineReader, read};

use crate::machine::PartEntry;
use crate::model::PartKind;

/// The kinds of every file, in the order in which parts are read: each refers only to kinds before it.
static FILES: &[&[PartEntry]] = &[
    simulation::PARTS,
    gravity::PARTS,
    table::PARTS,
    input::PARTS,
    body::PARTS,
    point_mass::PARTS,
    marker::PARTS,
    beam::PARTS,
    joint::PARTS,
    rolling::PARTS,
    knife_edge::PARTS,
    coupling::PARTS,
    velocity_coupling::PARTS,
    drive::PARTS,
    spring::PARTS,
    state::PARTS,
    function::PARTS,
    force::PARTS,
    joint_force::PARTS,
    bushing::PARTS,
    friction::PARTS,
    end_stop::PARTS,
    contact::PARTS,
    contact_group::PARTS,
    tyre::PARTS,
    lock::PARTS,
    sensor::PARTS,
    event::PARTS,
];

/// Every kind, in the order in which parts are read.
pub fn parts() -> impl Iterator<Item = &'static PartEntry> {
    FILES.iter().copied().flatten()
}

/// Every kind, for the document layer.
pub fn kinds() -> Vec<&'static PartKind> {
    parts().map(|entry| entry.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind_faults::kind_faults;

    #[test]
    fn every_kind_is_declared_without_fault() {
        for kind in kinds() {
            assert_eq!(kind_faults(kind), Vec::<String>::new(), "{}", kind.name);
        }
    }
}
