//! The `hayase` command.
fn main() {}
