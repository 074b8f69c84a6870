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
    /// It changes files or state, or waits for the disk: not for a shard, unless it is brief.
    pub(super) changes: bool,
    /// Whether it may be tried where nothing may wait.
    pub(super) brief: Brief,
    /// A second run would not answer the same.
    pub(super) once: bool,
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
            brief: brief(&[$(Flag::$flag),*]),
            once: false $(|| is_once(Flag::$flag))*,
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
    /// Changes something that a second run would find changed.
    Once,
    /// Changes nothing but state.
    State,
    /// Changes names, which takes no time where the file system needs none.
    Names,
}

/// What an operation that changes something needs to be done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brief {
    /// It may always have to wait.
    No,
    /// Nothing: what has to wait after all says so before anything is done.
    State,
    /// A file system whose changes do not wait.
    Names,
}

const fn brief(flags: &[Flag]) -> Brief {
    let mut brief = Brief::No;
    let mut at = 0;
    while at < flags.len() {
        match flags[at] {
            Flag::State => brief = Brief::State,
            Flag::Names => brief = Brief::Names,
            _ => {}
        }
        at += 1;
    }
    brief
}

const fn is_current(flag: Flag) -> bool {
    matches!(flag, Flag::Current)
}

const fn is_change(flag: Flag) -> bool {
    matches!(flag, Flag::Changes | Flag::Once)
}

const fn is_once(flag: Flag) -> bool {
    matches!(flag, Flag::Once)
}

/// Enough for the result of any operation but those that carry data.
const SMALL: usize = 256;

/// The number of the first operation; the others follow without gaps.
const FIRST: usize = Op::Access as usize;

/// In the order of their numbers.
static TABLE: [Entry; 73] = [
    line!(Access, ops::access::access, Current),
    line!(raw Close, ops::close::close, Current Once State),
    line!(Commit, ops::commit::commit, Current Changes),
    line!(Create, ops::create::create, Current Once),
    line!(raw DelegPurge, unsupported,),
    line!(DelegReturn, ops::stateids::delegreturn, Current Changes),
    line!(raw GetAttr, ops::getattr::getattr, Current),
    line!(raw GetFh, ops::getfh::getfh, Current),
    line!(Link, ops::link::link, Current Once),
    line!(raw Lock, ops::lock::lock, Current Once),
    line!(raw LockT, ops::lock::lockt, Current Changes),
    line!(raw LockU, ops::lock::locku, Current Once),
    line!(Lookup, ops::lookup::lookup, Current),
    line!(LookupP, ops::lookupp::lookupp, Current),
    line!(NVerify, ops::verify::nverify, Current),
    line!(raw Open, ops::open::open, Current Once),
    line!(OpenAttr, ops::openattr::openattr, Current),
    line!(raw OpenConfirm, ops::close::open_confirm, Current Once),
    line!(raw OpenDowngrade, ops::close::open_downgrade, Current Once),
    line!(PutFh, ops::putfh::putfh,),
    line!(PutPubFh, ops::putrootfh::putpubfh,),
    line!(PutRootFh, ops::putrootfh::putrootfh,),
    line!(raw Read, ops::read::read, Current),
    line!(raw Readdir, ops::readdir::readdir, Current Changes),
    line!(raw Readlink, ops::readlink::readlink, Current),
    line!(Remove, ops::remove::remove, Current Once Names),
    line!(Rename, ops::rename::rename, Current Once Names),
    line!(Renew, ops::clients40::renew,),
    line!(RestoreFh, ops::savefh::restorefh,),
    line!(SaveFh, ops::savefh::savefh, Current),
    line!(SecInfo, ops::secinfo::secinfo, Current),
    line!(raw SetAttr, ops::setattr::setattr, Current Once),
    line!(raw SetClientId, ops::clients40::setclientid, Changes),
    line!(SetClientIdConfirm, ops::clients40::setclientid_confirm, Changes),
    line!(Verify, ops::verify::verify, Current),
    line!(Write, ops::write::write, Current Changes),
    line!(ReleaseLockOwner, ops::lock::release_lockowner, Changes),
    line!(BackchannelCtl, ops::sessions::backchannel_ctl, Changes),
    line!(BindConnToSession, ops::sessions::bind_conn_to_session, Changes),
    line!(ExchangeId, ops::exchange_id::exchange_id, Changes),
    line!(CreateSession, ops::sessions::create_session, Changes),
    line!(DestroySession, ops::sessions::destroy_session, Changes),
    line!(FreeStateId, ops::stateids::free_stateid, Changes),
    line!(raw GetDirDelegation, unsupported,),
    line!(raw GetDeviceInfo, unsupported,),
    line!(raw GetDeviceList, unsupported,),
    line!(raw LayoutCommit, unsupported,),
    line!(raw LayoutGet, unsupported,),
    line!(raw LayoutReturn, unsupported,),
    line!(SecInfoNoName, ops::secinfo::secinfo_no_name, Current),
    line!(Sequence, ops::sequence::sequence,),
    line!(raw SetSsv, unsupported,),
    line!(TestStateId, ops::stateids::test_stateid,),
    line!(raw WantDelegation, unsupported,),
    line!(DestroyClientId, ops::sessions::destroy_clientid, Changes),
    line!(ReclaimComplete, ops::sessions::reclaim_complete, Changes),
    line!(Allocate, ops::space::allocate, Current Changes),
    line!(Copy, ops::copy::copy, Current Changes),
    line!(CopyNotify, ops::copy_notify::copy_notify, Current),
    line!(Deallocate, ops::space::deallocate, Current Changes),
    line!(IoAdvise, ops::advise::io_advise, Current),
    line!(LayoutError, ops::advise::layout_error, Current),
    line!(LayoutStats, ops::advise::layout_stats, Current),
    line!(OffloadCancel, ops::offload::offload_cancel, Current Changes),
    line!(OffloadStatus, ops::offload::offload_status, Current),
    line!(raw ReadPlus, ops::read_plus::read_plus, Current Changes),
    line!(Seek, ops::seek::seek, Current Changes),
    line!(raw WriteSame, unsupported,),
    line!(Clone, ops::clone::clone, Current Changes),
    line!(raw GetXattr, ops::xattr::getxattr, Current Changes),
    line!(SetXattr, ops::xattr::setxattr, Current Changes),
    line!(raw ListXattrs, ops::xattr::listxattrs, Current Changes),
    line!(RemoveXattr, ops::xattr::removexattr, Current Changes),
];

/// The line of an operation, if the minor version knows it.
pub(super) fn entry(op: Op, minor: u32) -> Option<&'static Entry> {
    if !op.is_known_in(minor) {
        return None;
    }
    TABLE.get((op as usize).checked_sub(FIRST)?)
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

/// What is not supported is refused whatever its arguments are.
fn unsupported(_: &mut Compound<'_>, _: &mut Reader<'_>, _: &mut ReplyBuf) -> Result<(), Fault> {
    Err(Status::NotSupp.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_line() {
        for op in Op::ALL.iter().filter(|op| **op != Op::Illegal) {
            assert_eq!(entry(*op, 2).map(|entry| entry.op), Some(*op));
        }
        assert_eq!(TABLE.len() + 1, Op::ALL.len());
        assert!(entry(Op::Illegal, 2).is_none());
        assert!(entry(Op::Sequence, 0).is_none() && entry(Op::Seek, 1).is_none());
    }
}
