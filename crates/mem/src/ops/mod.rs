//! The operations, by what they act on.

mod acls;
mod attrs;
mod bytes;
mod labels;
mod links;
mod listing;
mod locks;
mod nodes;
mod ranges;
mod rename;
pub(crate) mod xattrs;
