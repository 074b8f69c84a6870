//! Chores of the tree.
fn main() {}
