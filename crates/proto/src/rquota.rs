//! RQUOTA, by which clients of NFSv3 ask how much their users may store. It came with NFS from Sun;
//! there is no RFC. Version 2 also knows quotas of groups.

use hayase_xdr::{Opaque, Xdr};

use crate::numbered::numbered;

/// The RPC program number.
pub const PROGRAM: u32 = 100_011;
/// The version that knows users only.
pub const VERSION_1: u32 = 1;
/// The version that knows users and groups.
pub const VERSION_2: u32 = 2;
/// The longest path in bytes (`RQ_PATHLEN`).
pub const PATH_MAX: u32 = 1024;

/// A path of the server.
pub type Path<'a> = Opaque<'a, PATH_MAX>;

numbered! {
    /// The procedures, of both versions.
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// What is stored and may be.
        GetQuota = 1 "GETQUOTA",
        /// The same, if it is limited and enforced.
        GetActiveQuota = 2 "GETACTIVEQUOTA",
        /// Sets what may be stored.
        SetQuota = 3 "SETQUOTA",
        /// The same, if it is limited and enforced.
        SetActiveQuota = 4 "SETACTIVEQUOTA",
    }
}

numbered! {
    /// What came of a request (`gqr_status`).
    pub enum Status {
        /// It is told.
        Ok = 1 "Q_OK",
        /// Nothing is limited.
        NoQuota = 2 "Q_NOQUOTA",
        /// The caller may not know.
        Perm = 3 "Q_EPERM",
    }
}

numbered! {
    /// Whose quota it is, in version 2.
    pub enum Kind {
        /// A user's.
        User = 0 "RQUOTA_USRQUOTA",
        /// A group's.
        Group = 1 "RQUOTA_GRPQUOTA",
    }
}

/// GETQUOTA and GETACTIVEQUOTA of version 1 (`getquota_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetArgs<'a> {
    /// A path in the file system that is meant.
    pub path: Path<'a>,
    /// The user.
    pub uid: i32,
}

/// GETQUOTA and GETACTIVEQUOTA of version 2 (`ext_getquota_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ExtGetArgs<'a> {
    /// A path in the file system that is meant.
    pub path: Path<'a>,
    /// [`Kind`]; others have none.
    pub kind: i32,
    /// The user or group.
    pub id: i32,
}

/// Limits to be set (`sq_dqblk`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Xdr)]
pub struct SetBlock {
    /// Blocks beyond which nothing is stored.
    pub block_hard_limit: u32,
    /// Blocks that may be exceeded for a while.
    pub block_soft_limit: u32,
    /// Blocks stored.
    pub blocks: u32,
    /// Files beyond which there are no more.
    pub file_hard_limit: u32,
    /// Files that may be exceeded for a while.
    pub file_soft_limit: u32,
    /// Files.
    pub files: u32,
    /// Seconds for which blocks may be exceeded.
    pub block_secs: u32,
    /// Seconds for which files may be exceeded.
    pub file_secs: u32,
}

/// SETQUOTA and SETACTIVEQUOTA of version 1 (`setquota_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetArgs<'a> {
    /// What to set.
    pub command: i32,
    /// A path in the file system that is meant.
    pub path: Path<'a>,
    /// The user.
    pub id: i32,
    /// The limits.
    pub block: SetBlock,
}

/// SETQUOTA and SETACTIVEQUOTA of version 2 (`ext_setquota_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ExtSetArgs<'a> {
    /// What to set.
    pub command: i32,
    /// A path in the file system that is meant.
    pub path: Path<'a>,
    /// The user or group.
    pub id: i32,
    /// [`Kind`]; others have none.
    pub kind: i32,
    /// The limits.
    pub block: SetBlock,
}

/// What is stored and may be (`rquota`). A limit of 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Xdr)]
pub struct Quota {
    /// Bytes of a block.
    pub block_bytes: i32,
    /// Whether limits are enforced.
    pub active: bool,
    /// Blocks beyond which nothing is stored.
    pub block_hard_limit: u32,
    /// Blocks that may be exceeded for a while.
    pub block_soft_limit: u32,
    /// Blocks stored.
    pub blocks: u32,
    /// Files beyond which there are no more.
    pub file_hard_limit: u32,
    /// Files that may be exceeded for a while.
    pub file_soft_limit: u32,
    /// Files.
    pub files: u32,
    /// Seconds until too many blocks are not borne any more.
    pub block_secs_left: u32,
    /// Seconds until too many files are not borne any more.
    pub file_secs_left: u32,
}

/// What GETQUOTA, SETQUOTA and the others answer (`getquota_rslt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum Res {
    /// What is stored and may be.
    #[xdr(1)]
    Ok(Quota),
    /// Nothing is limited.
    #[xdr(2)]
    NoQuota,
    /// The caller may not know, or not set it.
    #[xdr(3)]
    Perm,
}
