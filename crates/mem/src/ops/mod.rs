//! The operations, by what they act on.

mod attrs;
mod bytes;
mod links;
mod listing;
mod nodes;
mod rename;
