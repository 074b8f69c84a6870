//! NLM version 4, the network lock manager that goes with NFSv3 (RFC 1813 appendix II; what that
//! takes for granted: The Open Group, Protocols for Interworking: XNFS, version 3W, chapters 9
//! and 10).
//!
//! Versions 1 and 3 go with NFSv2, whose offsets have 32 bits.

use hayase_xdr::{Opaque, Xdr};

use crate::numbered::numbered;

/// The RPC program number (RFC 1813 §6.1.1).
pub const PROGRAM: u32 = 100_021;
/// The version that goes with NFSv3 (RFC 1813 §6.1.1).
pub const VERSION: u32 = 4;
/// The longest name of a host in bytes (`LM_MAXSTRLEN`).
pub const NAME_MAX: u32 = 1024;
/// The longest opaque object in bytes (`MAXNETOBJ_SZ`).
pub const OBJECT_MAX: u32 = 1024;

/// Bytes that only their maker understands (`netobj`).
pub type NetObj<'a> = Opaque<'a, OBJECT_MAX>;
/// A host's name for itself.
pub type HostName<'a> = Opaque<'a, NAME_MAX>;

numbered! {
    /// The procedures of version 4 (RFC 1813 §6.2). Those named `…_MSG` are answered by a call of
    /// the procedure named `…_RES` the other way.
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// Tests for locks of others.
        Test = 1 "TEST",
        /// Locks.
        Lock = 2 "LOCK",
        /// Gives up waiting for a lock.
        Cancel = 3 "CANCEL",
        /// Unlocks.
        Unlock = 4 "UNLOCK",
        /// The server tells the client that it has the lock it waited for.
        Granted = 5 "GRANTED",
        /// TEST, answered by `TEST_RES`.
        TestMsg = 6 "TEST_MSG",
        /// LOCK, answered by `LOCK_RES`.
        LockMsg = 7 "LOCK_MSG",
        /// CANCEL, answered by `CANCEL_RES`.
        CancelMsg = 8 "CANCEL_MSG",
        /// UNLOCK, answered by `UNLOCK_RES`.
        UnlockMsg = 9 "UNLOCK_MSG",
        /// GRANTED, answered by `GRANTED_RES`.
        GrantedMsg = 10 "GRANTED_MSG",
        /// The answer to `TEST_MSG`.
        TestRes = 11 "TEST_RES",
        /// The answer to `LOCK_MSG`.
        LockRes = 12 "LOCK_RES",
        /// The answer to `CANCEL_MSG`.
        CancelRes = 13 "CANCEL_RES",
        /// The answer to `UNLOCK_MSG`.
        UnlockRes = 14 "UNLOCK_RES",
        /// The answer to `GRANTED_MSG`.
        GrantedRes = 15 "GRANTED_RES",
        /// This host's own status monitor tells that a host was restarted. In no specification:
        /// Linux's monitor calls no other number.
        SmNotify = 16 "SM_NOTIFY",
        /// Opens a file as DOS programs do, with a deny mode.
        Share = 20 "SHARE",
        /// Takes that back.
        Unshare = 21 "UNSHARE",
        /// LOCK for a client that has no status monitor.
        NmLock = 22 "NM_LOCK",
        /// Such a client was restarted and holds nothing any more.
        FreeAll = 23 "FREE_ALL",
    }
}

numbered! {
    /// What came of a request (RFC 1813 §6.1.3, `nlm4_stats`).
    pub enum Status {
        /// It is done.
        Granted = 0 "NLM4_GRANTED",
        /// Somebody else's lock is in the way.
        Denied = 1 "NLM4_DENIED",
        /// The server has no room for more.
        DeniedNoLocks = 2 "NLM4_DENIED_NOLOCKS",
        /// The client will be told when it has the lock.
        Blocked = 3 "NLM4_BLOCKED",
        /// The server was restarted and waits for old locks to be claimed: ask again.
        DeniedGracePeriod = 4 "NLM4_DENIED_GRACE_PERIOD",
        /// Waiting would never end.
        Deadlock = 5 "NLM4_DEADLCK",
        /// The file system is read-only.
        Rofs = 6 "NLM4_ROFS",
        /// The file handle names nothing.
        StaleFh = 7 "NLM4_STALE_FH",
        /// The range reaches beyond what there can be.
        FBig = 8 "NLM4_FBIG",
        /// It failed, and would again.
        Failed = 9 "NLM4_FAILED",
    }
}

/// What a DOS program does (`fsh4_access`), and keeps others from (`fsh4_mode`): reading (1), writing
/// (2), both, or neither.
pub const SHARE_MAX: u32 = 3;

/// A lock that is in the way (`nlm4_holder`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Holder<'a> {
    /// It is for writing.
    pub exclusive: bool,
    /// The process that has it, as far as its host tells.
    pub svid: i32,
    /// The host's name for the owner.
    pub oh: NetObj<'a>,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; 0: to the end of the file.
    pub length: u64,
}

/// A lock (`nlm4_lock`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Lock<'a> {
    /// The client's name for itself.
    pub caller_name: HostName<'a>,
    /// The file.
    pub fh: NetObj<'a>,
    /// The client's name for the owner.
    pub oh: NetObj<'a>,
    /// The process of the client.
    pub svid: i32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; 0: to the end of the file.
    pub length: u64,
}

/// TEST, and GRANTED (`nlm4_testargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct TestArgs<'a> {
    /// Comes back in the answer.
    pub cookie: NetObj<'a>,
    /// For writing.
    pub exclusive: bool,
    /// The lock.
    pub lock: Lock<'a>,
}

/// LOCK and `NM_LOCK` (`nlm4_lockargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LockArgs<'a> {
    /// Comes back in the answer.
    pub cookie: NetObj<'a>,
    /// The client waits for the lock.
    pub block: bool,
    /// For writing.
    pub exclusive: bool,
    /// The lock.
    pub lock: Lock<'a>,
    /// It was held before the server's restart.
    pub reclaim: bool,
    /// The client's state number, which changes when it is restarted.
    pub state: i32,
}

/// CANCEL (`nlm4_cancargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CancelArgs<'a> {
    /// Comes back in the answer.
    pub cookie: NetObj<'a>,
    /// As in the LOCK.
    pub block: bool,
    /// As in the LOCK.
    pub exclusive: bool,
    /// As in the LOCK.
    pub lock: Lock<'a>,
}

/// UNLOCK (`nlm4_unlockargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct UnlockArgs<'a> {
    /// Comes back in the answer.
    pub cookie: NetObj<'a>,
    /// What to unlock.
    pub lock: Lock<'a>,
}

/// What LOCK, CANCEL, UNLOCK, `NM_LOCK` and GRANTED answer (`nlm4_res`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Res<'a> {
    /// The call's.
    pub cookie: NetObj<'a>,
    /// What came of it.
    pub status: Status,
}

/// What TEST answers, without the cookie (`nlm4_testrply`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestReply<'a> {
    /// This lock is in the way.
    Denied(Holder<'a>),
    /// Anything else; never [`Status::Denied`].
    Other(Status),
}

/// What TEST answers (`nlm4_testres`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct TestRes<'a> {
    /// The call's.
    pub cookie: NetObj<'a>,
    /// What came of it.
    pub reply: TestReply<'a>,
}

/// A file as a DOS program opens it (`nlm4_share`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ShareOf<'a> {
    /// The client's name for itself.
    pub caller_name: HostName<'a>,
    /// The file.
    pub fh: NetObj<'a>,
    /// The client's name for the owner.
    pub oh: NetObj<'a>,
    /// What others may not: up to [`SHARE_MAX`].
    pub mode: u32,
    /// What the owner does: up to [`SHARE_MAX`].
    pub access: u32,
}

/// SHARE and UNSHARE (`nlm4_shareargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ShareArgs<'a> {
    /// Comes back in the answer.
    pub cookie: NetObj<'a>,
    /// What to open, and how.
    pub share: ShareOf<'a>,
    /// It was open before the server's restart.
    pub reclaim: bool,
}

/// What SHARE and UNSHARE answer (`nlm4_shareres`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ShareRes<'a> {
    /// The call's.
    pub cookie: NetObj<'a>,
    /// What came of it.
    pub status: Status,
    /// Means nothing.
    pub sequence: i32,
}

/// `FREE_ALL` (`nlm4_notify`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FreeAllArgs<'a> {
    /// The client's name for itself.
    pub name: HostName<'a>,
    /// Its state number.
    pub state: i32,
}

/// What this host's status monitor tells (`SM_NOTIFY` of the table of procedures).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SmNotifyArgs<'a> {
    /// The host that was restarted, as the monitor was asked to watch it.
    pub mon_name: HostName<'a>,
    /// Its state number now.
    pub state: i32,
    /// What the monitor was told to say here.
    pub private: [u8; 16],
}

mod test_reply {
    use hayase_xdr::{Decode, Encode, Reader, Result};

    use super::{Holder, Status, TestReply};

    impl<'a> Decode<'a> for TestReply<'a> {
        fn decode(from: &mut Reader<'a>) -> Result<Self> {
            Ok(match Status::decode(from)? {
                Status::Denied => TestReply::Denied(Holder::decode(from)?),
                other => TestReply::Other(other),
            })
        }
    }

    impl Encode for TestReply<'_> {
        fn encode(&self, to: &mut Vec<u8>) {
            match self {
                TestReply::Denied(holder) => {
                    Status::Denied.encode(to);
                    holder.encode(to);
                }
                TestReply::Other(status) => status.encode(to),
            }
        }
    }
}
