//! The checks, by what they are about.
//!
//! Each is a function; its name is what it checks. The list stands in
//! [`conformance!`](crate::conformance), what a group needs in its `NEEDS`.

pub(super) mod acls;
pub(super) mod attrs;
pub(super) mod changes;
pub(super) mod data;
pub(super) mod devices;
pub(super) mod exclusive;
pub(super) mod handles;
pub(super) mod labels;
pub(super) mod links;
pub(super) mod listing;
pub(super) mod locks;
pub(super) mod names;
pub(super) mod ownership;
pub(super) mod paging;
pub(super) mod permissions;
pub(super) mod ranges;
pub(super) mod rename;
pub(super) mod restart;
pub(super) mod special;
pub(super) mod stability;
pub(super) mod xattrs;
