//! The `kreisel` command: arguments in, messages out, no physics.
fn main() {}
