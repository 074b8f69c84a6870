//! COMPOUND, from the outside: heads, and writing calls and replies operation by
//! operation (RFC 8881 §16.2).

use std::marker::PhantomData;

use hayase_xdr::{Encode, Opaque, Xdr};

use super::{NfsStat, Op, OpSet, Operation};

/// A compound's arguments before its operations (RFC 8881 §16.2.1, `COMPOUND4args`).
///
/// Then follow `count` times an operation's number and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CompoundHead<'a> {
    /// Comes back in the reply; for people who read traces.
    pub tag: Opaque<'a>,
    /// The minor version all operations are of.
    pub minorversion: u32,
    /// How many operations follow, as announced.
    pub count: u32,
}

/// A compound's result before those of its operations (RFC 8881 §16.2.2, `COMPOUND4res`).
///
/// Then follow `count` times an operation's number and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CompoundResHead<'a> {
    /// The status of the last operation that ran.
    pub status: NfsStat,
    /// The call's tag.
    pub tag: Opaque<'a>,
    /// How many results follow: those of all operations that ran.
    pub count: u32,
}

/// Writes a compound's arguments.
#[derive(Debug)]
pub struct CompoundWriter<'b, N = Op> {
    to: &'b mut Vec<u8>,
    count_at: usize,
    count: u32,
    ops: PhantomData<N>,
}

impl<'b> CompoundWriter<'b> {
    /// Begins a COMPOUND at the end of `to`.
    pub fn begin(to: &'b mut Vec<u8>, tag: &[u8], minorversion: u32) -> Self {
        CompoundHead { tag: Opaque(tag), minorversion, count: 0 }.encode(to);
        CompoundWriter::after_head(to)
    }
}

impl<'b, N: OpSet> CompoundWriter<'b, N> {
    /// Goes on after a head whose last word is the count.
    pub(super) fn after_head(to: &'b mut Vec<u8>) -> Self {
        let count_at = to.len() - 4;
        CompoundWriter { to, count_at, count: 0, ops: PhantomData }
    }

    /// Appends an operation.
    pub fn push<O: Operation<Ops = N>>(&mut self, args: &O) -> &mut Self {
        self.count += 1;
        O::OP.into().encode(self.to);
        args.encode(self.to);
        self
    }

    /// Writes the count and tells it.
    pub fn finish(self) -> u32 {
        self.to[self.count_at..self.count_at + 4].copy_from_slice(&self.count.to_be_bytes());
        self.count
    }
}

/// Writes a compound's result, whose status and count are known when it ends.
///
/// It does not hold on to the buffer, so that payloads can be put in between.
#[derive(Debug)]
pub struct CompoundResWriter {
    status_at: usize,
    count_at: usize,
    count: u32,
}

impl CompoundResWriter {
    /// Begins a result at the end of `to`.
    pub fn begin(to: &mut Vec<u8>, tag: &[u8]) -> Self {
        let status_at = to.len();
        CompoundResHead { status: NfsStat::OK, tag: Opaque(tag), count: 0 }.encode(to);
        CompoundResWriter { status_at, count_at: to.len() - 4, count: 0 }
    }

    /// Begins the next operation's result: its number. The result has to follow.
    pub fn begin_op(&mut self, op: impl Into<u32>, to: &mut Vec<u8>) {
        self.count += 1;
        op.into().encode(to);
    }

    /// Uncounts the last operation, whose bytes the caller has taken back.
    pub fn retract_op(&mut self) {
        self.count -= 1;
    }

    /// How many operations' results there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Writes status and count into `to`, which is what [`begin`](Self::begin) was given.
    pub fn finish(self, status: NfsStat, to: &mut [u8]) {
        to[self.status_at..self.status_at + 4].copy_from_slice(&status.0.to_be_bytes());
        to[self.count_at..self.count_at + 4].copy_from_slice(&self.count.to_be_bytes());
    }
}
