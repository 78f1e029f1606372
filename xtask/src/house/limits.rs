//! The limits of `cargo xtask house` in one place. They may only shrink; `end` is where they are to end.

/// Arrows against the table of `rooms.rs` that still exist: from, to. One that is gone has to be taken out.
pub const ARROWS: &[(&str, &str)] = &[];

/// How many names of types and traits may be defined in more than one place of the library.
pub const NAMES_TWICE: usize = 0;

/// How many of these may have a public definition.
pub const PUBLIC_NAMES_TWICE: usize = 0;

/// Where names defined twice are to end.
pub const NAMES_TWICE_END: &str = "≤ 5";

/// Methods of a trait: all, and those that every implementation has to write.
pub struct TraitLimit {
    /// The trait.
    pub name: &'static str,
    /// At most now.
    pub most: (usize, usize),
    /// At most in the end.
    pub end: (usize, usize),
}

/// The traits that others implement; some are yet to come.
pub const TRAITS: &[TraitLimit] = &[
    methods("Dae", (10, 2), (10, 2)),
    methods("Joint", (5, 2), (5, 2)),
    methods("Element", (5, 2), (5, 2)),
    methods("NonlinearSystem", (4, 3), (4, 3)),
    methods("Scheme", (10, 3), (10, 4)),
    methods("LinearStep", (2, 2), (2, 2)),
    methods("Observer", (3, 1), (4, 1)),
    methods("Interval", (3, 3), (3, 3)),
    methods("Sensor", (2, 2), (2, 2)),
];

const fn methods(name: &'static str, most: (usize, usize), end: (usize, usize)) -> TraitLimit {
    TraitLimit { name, most, end }
}

/// Fields of a struct that other crates can reach.
pub struct StructLimit {
    /// The room of the struct.
    pub room: &'static str,
    /// The struct.
    pub name: &'static str,
    /// Open fields at most now: `pub` in a struct that is `pub`.
    pub most_open: usize,
    /// All fields in the end.
    pub end: &'static str,
}

/// The structs that hold what passes through the doors; some are yet to come.
pub const STRUCTS: &[StructLimit] = &[
    fields("integrate", "State", 0, "6, private"),
    fields("integrate", "Trial", 0, "2, private"),
    fields("integrate", "Workspace", 0, "≤ 14, private"),
    fields("integrate", "MatrixPoint", 0, "4, private"),
    fields("integrate", "Settings", 0, "private"),
    fields("machine", "MachineBuilder", 0, "≤ 12, private"),
    fields("machine", "Machine", 0, "≤ 8, private"),
    fields("machine", "RunSettings", 0, "private"),
];

const fn fields(room: &'static str, name: &'static str, most_open: usize, end: &'static str) -> StructLimit {
    StructLimit { room, name, most_open, end }
}

/// Fields that make a struct a copy of the vectors of a motion, if it has three of them.
pub const MOTION_FIELDS: &[&str] = &[
    "configuration",
    "velocity",
    "acceleration",
    "multipliers",
    "slip_multipliers",
    "nonholonomic_multipliers",
    "states",
    "internal_states",
];

/// How many structs have the vectors of a motion in the end.
pub const MOTION_END: &str = "3";

/// Something that users or authors add, known by the words of one that exists.
pub struct Thing {
    /// What is added.
    pub what: &'static str,
    /// The words of the one that is looked for.
    pub words: &'static [&'static str],
    /// In how many files it is to stand in the end.
    pub end: &'static str,
}

/// What is added most often.
pub const THINGS: &[Thing] = &[
    thing("method", &["bdf2", "Bdf2"], "1 + a line"),
    thing("joint of rows", &["universal", "Universal"], "a line"),
    thing("joint of new equations", &["knife_edge", "knife-edge", "KnifeEdge"], "1 + a line"),
    thing("force", &["bushing", "Bushing"], "1 + a line"),
    thing("sensor", &["angular-acceleration", "AngularAcceleration"], "1 + a line"),
    thing("setting", &["newton_rtol", "newton-rtol"], "1 + a line"),
    thing("output", &["scene.json", "scene::FILE"], "1 + a line"),
];

const fn thing(what: &'static str, words: &'static [&'static str], end: &'static str) -> Thing {
    Thing { what, words, end }
}

/// Folders that use the library as strangers do: what they mention is not written for a new thing.
pub const STRANGERS: &[&str] = &[
    "crates/kreisel/src/problem/",
    "crates/kreisel-cli/src/reproduce/",
    "crates/kreisel-papers/",
    "crates/kreisel-fuzz/",
];

/// Rooms of the library that belong to the papers.
pub const PAPERS: &[&str] = &["problem"];

/// Code lines of the library in the end.
pub const LINES_END: &str = "≤ 39500";
