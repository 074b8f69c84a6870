//! The table of all operations: of which minor versions each is, what it needs, and how it
//! is run.

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{Op, Status};
use hayase_xdr::{Decode, Encode, Reader};

use super::compound::Compound;
use super::fault::Fault;
use super::ops;

/// Runs an operation: decodes its arguments, does it, appends what follows the status.
type Run = fn(&mut Compound<'_>, &mut Reader<'_>, &mut ReplyBuf) -> Result<(), Fault>;

/// What the compound has to know of an operation.
pub(super) struct Entry {
    pub(super) op: Op,
    /// There has to be a current file handle.
    pub(super) needs_current: bool,
    /// It changes files or state, or waits for the disk: not for a shard.
    pub(super) changes: bool,
    /// The most bytes its result takes, if it changes something: checked before it runs.
    pub(super) reply_bytes: usize,
    pub(super) run: Run,
}

/// A line of the table for an operation that takes arguments and makes a result.
macro_rules! line {
    ($op:ident, $run:path, $($flag:ident)*) => {
        line!(raw $op, |compound, args, reply| {
            let decoded = decode(args)?;
            compound.next = next(args);
            let result = $run(compound, decoded)?;
            result.encode(reply.bytes_mut());
            Ok(())
        }, $($flag)*)
    };
    (raw $op:ident, $run:expr, $($flag:ident)*) => {
        Entry {
            op: Op::$op,
            needs_current: false $(|| is_current(Flag::$flag))*,
            changes: false $(|| is_change(Flag::$flag))*,
            reply_bytes: SMALL,
            run: $run,
        }
    };
}

#[derive(Clone, Copy)]
enum Flag {
    /// Needs a current file handle.
    Current,
    /// Changes something.
    Changes,
}

const fn is_current(flag: Flag) -> bool {
    matches!(flag, Flag::Current)
}

const fn is_change(flag: Flag) -> bool {
    matches!(flag, Flag::Changes)
}

/// Enough for the result of any operation but those that carry data.
const SMALL: usize = 256;

static TABLE: &[Entry] = &[
    line!(Access, ops::access::access, Current),
    line!(Commit, ops::commit::commit, Current Changes),
    line!(Create, ops::create::create, Current Changes),
    line!(raw GetAttr, ops::getattr::getattr, Current),
    line!(raw GetFh, ops::getfh::getfh, Current),
    line!(Link, ops::link::link, Current Changes),
    line!(Lookup, ops::lookup::lookup, Current),
    line!(LookupP, ops::lookupp::lookupp, Current),
    line!(NVerify, ops::verify::nverify, Current),
    line!(OpenAttr, ops::openattr::openattr, Current),
    line!(PutFh, ops::putfh::putfh,),
    line!(PutPubFh, ops::putrootfh::putpubfh,),
    line!(PutRootFh, ops::putrootfh::putrootfh,),
    line!(raw Readdir, ops::readdir::readdir, Current Changes),
    line!(raw Readlink, ops::readlink::readlink, Current),
    line!(Remove, ops::remove::remove, Current Changes),
    line!(Rename, ops::rename::rename, Current Changes),
    line!(RestoreFh, ops::savefh::restorefh,),
    line!(SaveFh, ops::savefh::savefh, Current),
    line!(SecInfo, ops::secinfo::secinfo, Current),
    line!(raw SetAttr, ops::setattr::setattr, Current Changes),
    line!(Verify, ops::verify::verify, Current),
    line!(SecInfoNoName, ops::secinfo::secinfo_no_name, Current),
];

/// The line of an operation, if the minor version knows it.
pub(super) fn entry(op: Op, minor: u32) -> Option<&'static Entry> {
    if !op.is_known_in(minor) {
        return None;
    }
    TABLE.iter().find(|entry| entry.op == op)
}

/// The operation that follows, if it is one.
fn next(args: &Reader<'_>) -> Option<Op> {
    let mut ahead = *args;
    ahead.word().ok().and_then(|number| Op::try_from(number).ok())
}

/// Decodes an operation's arguments.
pub(super) fn decode<'a, T: Decode<'a>>(args: &mut Reader<'a>) -> Result<T, Fault> {
    T::decode(args).map_err(|_| Fault::Status(Status::BadXdr))
}
