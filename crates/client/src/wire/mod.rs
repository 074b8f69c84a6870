//! Requests as the calls of each version, and replies back from them.

mod frame;
mod outcome;
#[cfg(test)]
mod tests;
mod v3;
mod v4;

pub(crate) use frame::{Codec, Head, OwnerSeq, ReadHead, Sequence, Terms};
pub(crate) use outcome::{Failure, NewOpen, Outcome, Step};
pub(crate) use v4::{Results, reclaim_args};
