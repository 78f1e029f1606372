//! The rooms of the library and who may import whom.
//!
//! A room is a folder or file at the root of `crates/kreisel/src`.

/// A room with the rooms that it may import, itself left out.
pub struct Room {
    /// Its name.
    pub name: &'static str,
    /// What it may import.
    pub imports: &'static [&'static str],
}

/// Rooms without arrows of their own that any room may import.
const OPEN: &[&str] = &["bytes", "file", "memory", "message"];

/// Rooms that may import everything: the map, and the problems of the papers, which use the library as a
/// stranger does.
const FREE: &[&str] = &["lib", "problem"];

/// Arrows point down. Some rooms are yet to come.
const ROOMS: &[Room] = &[
    room("lie", &[]),
    room("solve", &[]),
    room("model", &[]),
    room("dae", &["lie", "solve"]),
    room("constrained", &["dae", "lie", "solve"]),
    room("integrate", &["constrained", "dae", "lie", "solve"]),
    room("statics", &["constrained", "dae", "lie", "solve"]),
    room("modes", &["constrained", "dae", "lie", "solve"]),
    room("sensitivity", &["constrained", "dae", "integrate", "lie", "solve"]),
    room("kinematics", &["dae", "lie"]),
    room("element", &["dae", "kinematics", "lie"]),
    room("joint", &["dae", "kinematics", "lie"]),
    room("system", &["dae", "element", "joint", "kinematics", "lie", "solve"]),
    room("results", &["lie", "solve"]),
    room(
        "machine",
        &[
            "constrained",
            "dae",
            "element",
            "integrate",
            "joint",
            "kinematics",
            "lie",
            "model",
            "results",
            "solve",
            "system",
        ],
    ),
    room(
        "part",
        &[
            "constrained",
            "dae",
            "element",
            "integrate",
            "joint",
            "kinematics",
            "lie",
            "machine",
            "model",
            "results",
            "solve",
            "system",
        ],
    ),
    room("report", &["lie", "results"]),
    room(
        "run",
        &[
            "constrained",
            "dae",
            "integrate",
            "kinematics",
            "lie",
            "machine",
            "modes",
            "report",
            "results",
            "sensitivity",
            "statics",
            "system",
        ],
    ),
    room("steady", &["constrained", "dae", "integrate", "lie", "modes", "sensitivity", "solve", "statics"]),
    room("import", &["lie", "model", "results"]),
    room("sweep", &["dae", "machine", "model", "part", "results", "run"]),
];

const fn room(name: &'static str, imports: &'static [&'static str]) -> Room {
    Room { name, imports }
}

/// The room of a module: its first name, and `lib` for the root of the crate.
pub fn of(module: &[impl AsRef<str>]) -> String {
    module.first().map_or("lib", AsRef::as_ref).to_owned()
}

/// Whether the table has this room.
pub fn is_known(name: &str) -> bool {
    OPEN.contains(&name) || FREE.contains(&name) || ROOMS.iter().any(|room| room.name == name)
}

/// Whether one room may import another.
pub fn may_import(from: &str, to: &str) -> bool {
    let listed = || ROOMS.iter().any(|room| room.name == from && room.imports.contains(&to));
    from == to || OPEN.contains(&to) || FREE.contains(&from) || listed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrow_of_the_table_leads_to_a_room_and_none_back() {
        for Room { name, imports } in ROOMS {
            for import in *imports {
                assert!(ROOMS.iter().any(|room| room.name == *import), "{name} imports {import}");
                assert!(!may_import(import, name), "{name} and {import} import each other");
            }
        }
    }

    #[test]
    fn a_module_is_in_the_room_of_its_folder() {
        assert_eq!(of(&["machine", "event"]), "machine");
        assert_eq!(of(&["part", "event"]), "part");
        assert_eq!(of(&["integrate", "scheme", "index2"]), "integrate");
        assert_eq!(of(&[""; 0]), "lib");
    }
}
