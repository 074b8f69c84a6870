//! What OPEN answers, and the operations on opens: CLOSE, `OPEN_CONFIRM`,
//! `OPEN_DOWNGRADE` (RFC 8881 §18.2, §18.16, §18.18, RFC 7530 §16.18).

use hayase_xdr::Xdr;

use super::{Bitmap, ChangeInfo, NfsAce, Res4, StateId};

/// What OPEN answers; the file becomes the current file handle (RFC 8881 §18.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenResOk<'a> {
    /// Names the open.
    pub stateid: StateId,
    /// The directory before and after.
    pub cinfo: ChangeInfo,
    /// Bits of [`open_result`].
    pub rflags: u32,
    /// Attributes that were set when the file was made.
    pub attrset: Bitmap,
    /// The delegation that comes with it.
    pub delegation: OpenDelegation<'a>,
}

/// What OPEN answers (RFC 8881 §18.16).
pub type OpenRes<'a> = Res4<OpenResOk<'a>>;

/// Flags of an open (RFC 8881 §18.16).
pub mod open_result {
    /// NFSv4.0 only: the client must send `OPEN_CONFIRM`.
    pub const CONFIRM: u32 = 0x02;
    /// Locks behave as POSIX says.
    pub const LOCKTYPE_POSIX: u32 = 0x04;
    /// The file stays while it is open, even if it is removed.
    pub const PRESERVE_UNLINKED: u32 = 0x08;
    /// There is a delegation and no open (RFC 9754).
    pub const NO_OPEN_STATEID: u32 = 0x10;
    /// The server may send `CB_NOTIFY_LOCK`.
    pub const MAY_NOTIFY_LOCK: u32 = 0x20;
}

/// A delegation, or why there is none (RFC 8881 §18.16, RFC 9754 §5, `open_delegation4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum OpenDelegation<'a> {
    /// None.
    #[xdr(0)]
    None,
    /// Others only read meanwhile.
    #[xdr(1)]
    Read(ReadDelegation<'a>),
    /// Nobody else uses the file meanwhile.
    #[xdr(2)]
    Write(WriteDelegation<'a>),
    /// None, and why. From NFSv4.1 on, if the client said what it wants.
    #[xdr(3)]
    NoneExt(WhyNoDelegation),
    /// As `Read`, and the client keeps the file's times (RFC 9754 §5).
    #[xdr(4)]
    ReadAttrs(ReadDelegation<'a>),
    /// As `Write`, and the client keeps the file's times (RFC 9754 §5).
    #[xdr(5)]
    WriteAttrs(WriteDelegation<'a>),
}

/// A delegation for reading (RFC 8881 §18.16, `open_read_delegation4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadDelegation<'a> {
    /// Names the delegation.
    pub stateid: StateId,
    /// Whether a reclaimed delegation has to be given back at once.
    pub recall: bool,
    /// Who may open for reading without asking the server.
    pub permissions: NfsAce<'a>,
}

/// A delegation for writing (RFC 8881 §18.16, `open_write_delegation4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteDelegation<'a> {
    /// Names the delegation.
    pub stateid: StateId,
    /// Whether a reclaimed delegation has to be given back at once.
    pub recall: bool,
    /// How much the client may hold back when the file is closed.
    pub space_limit: SpaceLimit,
    /// Who may open without asking the server.
    pub permissions: NfsAce<'a>,
}

/// How much a client may hold back (RFC 8881 §18.16, `nfs_space_limit4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum SpaceLimit {
    /// As long as the file is no longer than this.
    #[xdr(1)]
    Size(u64),
    /// So many modified blocks.
    #[xdr(2)]
    Blocks(ModifiedLimit),
}

/// So many modified blocks (RFC 8881 §18.16, `nfs_modified_limit4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ModifiedLimit {
    /// How many.
    pub num_blocks: u32,
    /// How large.
    pub bytes_per_block: u32,
}

/// Why there is no delegation (RFC 8881 §18.16, `open_none_delegation4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum WhyNoDelegation {
    /// The client wanted none.
    #[xdr(0)]
    NotWanted,
    /// Others use the file. Tells whether the server will send one later.
    #[xdr(1)]
    Contention(bool),
    /// The server has no resources. Tells whether it will say when it has.
    #[xdr(2)]
    Resource(bool),
    /// The file system has no delegations.
    #[xdr(3)]
    NotSuppFtype,
    /// The file system has no delegations for writing.
    #[xdr(4)]
    WriteDelegNotSuppFtype,
    /// The server cannot make the client's delegation a stronger one.
    #[xdr(5)]
    NotSuppUpgrade,
    /// The server cannot make the client's delegation a weaker one.
    #[xdr(6)]
    NotSuppDowngrade,
    /// The client took its wish back.
    #[xdr(7)]
    Cancelled,
    /// The object is a directory.
    #[xdr(8)]
    IsDir,
}

/// CLOSE (RFC 8881 §18.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CloseArgs {
    /// NFSv4.0 only: the owner's next sequence number.
    pub seqid: u32,
    /// The open.
    pub open_stateid: StateId,
}

/// What CLOSE answers: a stateid that means nothing any more (RFC 8881 §18.2).
pub type CloseRes = Res4<StateId>;

/// `OPEN_CONFIRM` (RFC 7530 §16.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenConfirmArgs {
    /// The open.
    pub open_stateid: StateId,
    /// The owner's next sequence number.
    pub seqid: u32,
}

/// What `OPEN_CONFIRM` answers: the open's new stateid (RFC 7530 §16.18).
pub type OpenConfirmRes = Res4<StateId>;

/// `OPEN_DOWNGRADE` (RFC 8881 §18.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenDowngradeArgs {
    /// The open.
    pub open_stateid: StateId,
    /// NFSv4.0 only: the owner's next sequence number.
    pub seqid: u32,
    /// What the open is still for: [`share_access`](super::share_access).
    pub share_access: u32,
    /// What others still may not do: [`share_deny`](super::share_deny).
    pub share_deny: u32,
}

/// What `OPEN_DOWNGRADE` answers: the open's new stateid (RFC 8881 §18.18).
pub type OpenDowngradeRes = Res4<StateId>;
