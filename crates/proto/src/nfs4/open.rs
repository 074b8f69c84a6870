//! OPEN's arguments (RFC 8881 §18.16).

use hayase_xdr::Xdr;

use super::{Component, Fattr, OpenOwner, StateId, Verifier};
use crate::numbered::numbered;

/// OPEN (RFC 8881 §18.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenArgs<'a> {
    /// NFSv4.0 only: the owner's next sequence number.
    pub seqid: u32,
    /// What the open is for, and what delegation is wanted: [`share_access`] and [`share_want`].
    pub share_access: u32,
    /// What others may not do meanwhile: [`share_deny`].
    pub share_deny: u32,
    /// Who opens.
    pub owner: OpenOwner<'a>,
    /// Whether and how to make the file.
    pub openhow: OpenHow<'a>,
    /// Which file, and by what right.
    pub claim: OpenClaim<'a>,
}

/// Whether to make the file (RFC 8881 §18.16, `openflag4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum OpenHow<'a> {
    /// The file has to be there.
    #[xdr(0)]
    NoCreate,
    /// Make the file if it is not there.
    #[xdr(1)]
    Create(CreateHow<'a>),
}

/// How to make the file (RFC 8881 §18.16, `createhow4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum CreateHow<'a> {
    /// An existing file is opened; only a size of zero is set on it.
    #[xdr(0)]
    Unchecked(Fattr<'a>),
    /// An existing file is an error.
    #[xdr(1)]
    Guarded(Fattr<'a>),
    /// An existing file is an error, unless this verifier made it.
    #[xdr(2)]
    Exclusive(Verifier),
    /// As `Exclusive`, with attributes; from NFSv4.1 on.
    #[xdr(3)]
    Exclusive41(CreateVerfAttr<'a>),
}

/// Verifier and attributes of an exclusive create (RFC 8881 §18.16, `creatverfattr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateVerfAttr<'a> {
    /// Makes the create recognizable when it is repeated.
    pub verf: Verifier,
    /// Attributes to set, of those in `suppattr_exclcreat`.
    pub attrs: Fattr<'a>,
}

/// Which file to open, and by what right (RFC 8881 §18.16, `open_claim4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum OpenClaim<'a> {
    /// A name in the current directory; no special right.
    #[xdr(0)]
    Null(Component<'a>),
    /// The current file, which was open with this delegation before the server restarted.
    #[xdr(1)]
    Previous(DelegationType),
    /// A name in the current directory, by a delegation.
    #[xdr(2)]
    DelegateCur(ClaimDelegateCur<'a>),
    /// A name in the current directory, by a delegation from before the client restarted.
    #[xdr(3)]
    DelegatePrev(Component<'a>),
    /// The current file; no special right. From NFSv4.1 on.
    #[xdr(4)]
    Fh,
    /// The current file, by this delegation. From NFSv4.1 on.
    #[xdr(5)]
    DelegCurFh(StateId),
    /// The current file, by a delegation from before the client restarted. From NFSv4.1 on.
    #[xdr(6)]
    DelegPrevFh,
}

/// A name, and the delegation that gives the right to it
/// (RFC 8881 §18.16, `open_claim_delegate_cur4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ClaimDelegateCur<'a> {
    /// The delegation.
    pub delegate_stateid: StateId,
    /// The name in the current directory.
    pub file: Component<'a>,
}

numbered! {
    /// The kinds of delegations (RFC 8881 §18.16, RFC 9754 §5, `open_delegation_type4`).
    pub enum DelegationType {
        /// None.
        None = 0 "OPEN_DELEGATE_NONE",
        /// Others only read meanwhile.
        Read = 1 "OPEN_DELEGATE_READ",
        /// Nobody else uses the file meanwhile.
        Write = 2 "OPEN_DELEGATE_WRITE",
        /// None, and the reason is told.
        NoneExt = 3 "OPEN_DELEGATE_NONE_EXT",
        /// As `Read`, and the client keeps the file's times (RFC 9754 §5).
        ReadAttrs = 4 "OPEN_DELEGATE_READ_ATTRS_DELEG",
        /// As `Write`, and the client keeps the file's times (RFC 9754 §5).
        WriteAttrs = 5 "OPEN_DELEGATE_WRITE_ATTRS_DELEG",
    }
}

/// What an open is for (RFC 8881 §18.16).
pub mod share_access {
    /// Reading.
    pub const READ: u32 = 0x1;
    /// Writing.
    pub const WRITE: u32 = 0x2;
    /// Reading and writing.
    pub const BOTH: u32 = 0x3;
    /// The bits that say what the open is for.
    pub const MASK: u32 = 0xf;
}

/// What others may not do while a file is open (RFC 8881 §18.16).
pub mod share_deny {
    /// They may do all.
    pub const NONE: u32 = 0x0;
    /// Reading.
    pub const READ: u32 = 0x1;
    /// Writing.
    pub const WRITE: u32 = 0x2;
    /// Reading and writing.
    pub const BOTH: u32 = 0x3;
}

/// What delegation is wanted: bits of `share_access` from NFSv4.1 on (RFC 8881 §18.16).
pub mod share_want {
    /// The bits that say which delegation.
    pub const DELEG_MASK: u32 = 0xff00;
    /// Whichever the server thinks right.
    pub const NO_PREFERENCE: u32 = 0x0000;
    /// One for reading.
    pub const READ_DELEG: u32 = 0x0100;
    /// One for writing.
    pub const WRITE_DELEG: u32 = 0x0200;
    /// Any.
    pub const ANY_DELEG: u32 = 0x0300;
    /// None.
    pub const NO_DELEG: u32 = 0x0400;
    /// None any more; an earlier wish is taken back.
    pub const CANCEL: u32 = 0x0500;
    /// Tell when there are resources for one.
    pub const SIGNAL_DELEG_WHEN_RESRC_AVAIL: u32 = 0x1_0000;
    /// Send one when nobody contends any more.
    pub const PUSH_DELEG_WHEN_UNCONTENDED: u32 = 0x2_0000;
    /// One that lets the client keep the times (RFC 9754 §5).
    pub const DELEG_TIMESTAMPS: u32 = 0x10_0000;
    /// A delegation alone will do, without an open (RFC 9754).
    pub const OPEN_XOR_DELEGATION: u32 = 0x20_0000;
}

/// Bit numbers in [`OpenArguments::share_access_want`](super::OpenArguments::share_access_want)
/// (RFC 9754).
pub mod open_args {
    /// [`share_want::ANY_DELEG`](super::share_want::ANY_DELEG).
    pub const WANT_ANY_DELEG: u32 = 3;
    /// [`share_want::NO_DELEG`](super::share_want::NO_DELEG).
    pub const WANT_NO_DELEG: u32 = 4;
    /// [`share_want::CANCEL`](super::share_want::CANCEL).
    pub const WANT_CANCEL: u32 = 5;
    /// [`share_want::SIGNAL_DELEG_WHEN_RESRC_AVAIL`](super::share_want::SIGNAL_DELEG_WHEN_RESRC_AVAIL).
    pub const WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL: u32 = 17;
    /// [`share_want::PUSH_DELEG_WHEN_UNCONTENDED`](super::share_want::PUSH_DELEG_WHEN_UNCONTENDED).
    pub const WANT_PUSH_DELEG_WHEN_UNCONTENDED: u32 = 18;
    /// [`share_want::DELEG_TIMESTAMPS`](super::share_want::DELEG_TIMESTAMPS).
    pub const WANT_DELEG_TIMESTAMPS: u32 = 20;
    /// [`share_want::OPEN_XOR_DELEGATION`](super::share_want::OPEN_XOR_DELEGATION).
    pub const WANT_OPEN_XOR_DELEGATION: u32 = 21;
}
