//! Attributes, to the wire and from it (RFC 8881 §5).

mod acl;
mod label;
mod quota;
mod read;
mod set;
mod supported;

pub(crate) use acl::set as set_acl;
pub(crate) use label::{check as check_labels, set as set_label};
pub(crate) use read::{Extra, check_readable, write, write_error, write_number};
pub(crate) use set::{Created, New, parse_created, parse_set};
pub(crate) use supported::supported;
