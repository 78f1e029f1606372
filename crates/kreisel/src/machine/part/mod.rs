//! The kinds of parts a model file may have, one file each.

pub mod body;
pub mod gravity;
pub mod joint;
pub mod sensor;
pub mod simulation;

use super::Assembler;
use crate::model::{ModelErrors, Part, PartKind};

/// A kind of part and how it is added to a machine.
pub struct PartEntry {
    /// Its keys.
    pub kind: &'static PartKind,
    /// Reads a part of the kind and adds it.
    pub add: fn(&Part, &mut Assembler) -> Result<(), ModelErrors>,
}

/// Every kind, in the order in which parts are read: each refers only to kinds before it.
pub static PARTS: &[PartEntry] = &[
    PartEntry { kind: &simulation::KIND, add: simulation::add },
    PartEntry { kind: &gravity::KIND, add: gravity::add },
    PartEntry { kind: &body::KIND, add: body::add },
    PartEntry { kind: &joint::REVOLUTE, add: joint::add },
    PartEntry { kind: &joint::SPHERICAL, add: joint::add },
    PartEntry { kind: &sensor::KIND, add: sensor::add },
];

/// Every kind, for the document layer.
pub fn kinds() -> Vec<&'static PartKind> {
    PARTS.iter().map(|entry| entry.kind).collect()
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
