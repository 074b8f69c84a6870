//! Operations on the current and the saved file handle (RFC 8881 §18.8, §18.19 to
//! §18.21, §18.27, §18.28), and the answer to what is no operation (§18.52).

use hayase_xdr::Xdr;

use super::{FileHandle, Res4};

/// PUTFH (RFC 8881 §18.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct PutFhArgs<'a> {
    /// The new current file handle.
    pub object: FileHandle<'a>,
}

/// What PUTFH answers (RFC 8881 §18.19).
pub type PutFhRes = Res4<()>;

/// PUTPUBFH (RFC 8881 §18.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct PutPubFhArgs;

/// What PUTPUBFH answers (RFC 8881 §18.20).
pub type PutPubFhRes = Res4<()>;

/// PUTROOTFH (RFC 8881 §18.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct PutRootFhArgs;

/// What PUTROOTFH answers (RFC 8881 §18.21).
pub type PutRootFhRes = Res4<()>;

/// GETFH (RFC 8881 §18.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetFhArgs;

/// What GETFH answers: the current file handle (RFC 8881 §18.8).
pub type GetFhRes<'a> = Res4<FileHandle<'a>>;

/// RESTOREFH (RFC 8881 §18.27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RestoreFhArgs;

/// What RESTOREFH answers (RFC 8881 §18.27).
pub type RestoreFhRes = Res4<()>;

/// SAVEFH (RFC 8881 §18.28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SaveFhArgs;

/// What SAVEFH answers (RFC 8881 §18.28).
pub type SaveFhRes = Res4<()>;

/// ILLEGAL, which nobody sends (RFC 8881 §18.52).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct IllegalArgs;

/// What an operation that does not exist is answered, with the number of
/// [`Op::Illegal`](super::Op::Illegal) (RFC 8881 §18.52).
pub type IllegalRes = Res4<()>;
