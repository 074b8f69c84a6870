//! Requests as compounds of NFSv4 (RFC 7530 §16, RFC 8881 §18).

mod attributes;
mod decode;
mod encode;
mod ops;

pub(super) use decode::{decode, read_head};
pub(crate) use encode::reclaim_args;
pub(super) use encode::{bind, encode};
pub(super) use ops::Ops;
pub(crate) use ops::Results;
