//! Attributes, to the wire and from it (RFC 8881 §5).

mod acl;
mod quota;
mod read;
mod set;
mod supported;

pub(crate) use acl::set as set_acl;
pub(crate) use read::{Extra, check_readable, write, write_error, write_number};
pub(crate) use set::{Created, New, parse_created, parse_set};
pub(crate) use supported::supported;
