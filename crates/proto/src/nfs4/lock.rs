//! LOCK, LOCKT and LOCKU (RFC 8881 §18.10 to §18.12).

use hayase_xdr::Xdr;

use super::res::failure_with_body;
use super::{LockOwner, Res4, StateId};
use crate::numbered::numbered;

numbered! {
    /// The kinds of locks (RFC 8881 §3.2, `nfs_lock_type4`).
    pub enum LockType {
        /// For reading: others may too.
        Read = 1 "READ_LT",
        /// For writing: nobody else may.
        Write = 2 "WRITE_LT",
        /// For reading, and the client will wait.
        ReadW = 3 "READW_LT",
        /// For writing, and the client will wait.
        WriteW = 4 "WRITEW_LT",
    }
}

impl LockType {
    /// Whether nobody else may hold a lock of the range.
    pub const fn is_exclusive(self) -> bool {
        matches!(self, LockType::Write | LockType::WriteW)
    }

    /// Whether the client will wait, and so wants to be told or served fairly.
    pub const fn waits(self) -> bool {
        matches!(self, LockType::ReadW | LockType::WriteW)
    }
}

/// LOCK (RFC 8881 §18.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LockArgs<'a> {
    /// The kind of lock.
    pub locktype: LockType,
    /// Whether the client had the lock before the server restarted.
    pub reclaim: bool,
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end, however far that is.
    pub length: u64,
    /// Who locks.
    pub locker: Locker<'a>,
}

/// Who locks (RFC 8881 §18.10, `locker4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum Locker<'a> {
    /// An owner that has locks of this file already.
    #[xdr(0)]
    Existing(ExistLockOwner),
    /// An owner that has no lock of this file yet.
    #[xdr(1)]
    New(OpenToLockOwner<'a>),
}

/// An owner that has no lock of the file yet (RFC 8881 §3.3.11, `open_to_lock_owner4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenToLockOwner<'a> {
    /// NFSv4.0 only: the open owner's next sequence number.
    pub open_seqid: u32,
    /// The open the lock belongs to.
    pub open_stateid: StateId,
    /// NFSv4.0 only: the lock owner's first sequence number.
    pub lock_seqid: u32,
    /// The lock owner.
    pub lock_owner: LockOwner<'a>,
}

/// An owner that has locks of the file (RFC 8881 §18.10, `exist_lock_owner4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ExistLockOwner {
    /// Names the owner's locks of the file.
    pub lock_stateid: StateId,
    /// NFSv4.0 only: the lock owner's next sequence number.
    pub lock_seqid: u32,
}

/// A lock that is in the way (RFC 8881 §18.10, `LOCK4denied`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LockDenied<'a> {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes; all ones means to the end.
    pub length: u64,
    /// Its kind.
    pub locktype: LockType,
    /// Whose it is.
    pub owner: LockOwner<'a>,
}

failure_with_body! {
    /// Why a lock cannot be had (RFC 8881 §18.10, §18.11).
    pub enum LockFail<'a> {
        /// A lock is in the way.
        Denied(LockDenied<'a>),
    }
}

/// What LOCK answers: names the owner's locks of the file (RFC 8881 §18.10).
pub type LockRes<'a> = Res4<StateId, LockFail<'a>>;

/// LOCKT (RFC 8881 §18.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LockTArgs<'a> {
    /// The kind of lock.
    pub locktype: LockType,
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end.
    pub length: u64,
    /// Who would lock.
    pub owner: LockOwner<'a>,
}

/// What LOCKT answers (RFC 8881 §18.11).
pub type LockTRes<'a> = Res4<(), LockFail<'a>>;

/// LOCKU (RFC 8881 §18.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LockUArgs {
    /// The kind of lock; ignored.
    pub locktype: LockType,
    /// NFSv4.0 only: the lock owner's next sequence number.
    pub seqid: u32,
    /// Names the owner's locks of the file.
    pub lock_stateid: StateId,
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end.
    pub length: u64,
}

/// What LOCKU answers: names the owner's locks of the file (RFC 8881 §18.12).
pub type LockURes = Res4<StateId>;
