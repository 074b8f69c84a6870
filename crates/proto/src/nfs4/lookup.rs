//! LOOKUP, LOOKUPP and READLINK: from names to objects (RFC 8881 §18.13, §18.14, §18.24).

use hayase_xdr::Xdr;

use super::{Component, LinkText, Res4};

/// LOOKUP (RFC 8881 §18.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LookupArgs<'a> {
    /// The name in the current directory.
    pub objname: Component<'a>,
}

/// What LOOKUP answers; the object becomes the current file handle (RFC 8881 §18.13).
pub type LookupRes = Res4<()>;

/// LOOKUPP (RFC 8881 §18.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LookupPArgs;

/// What LOOKUPP answers; the parent becomes the current file handle (RFC 8881 §18.14).
pub type LookupPRes = Res4<()>;

/// READLINK (RFC 8881 §18.24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadlinkArgs;

/// What READLINK answers: the link's text (RFC 8881 §18.24).
pub type ReadlinkRes<'a> = Res4<LinkText<'a>>;
