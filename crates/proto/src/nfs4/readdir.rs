//! READDIR (RFC 8881 §18.23).

use hayase_xdr::Xdr;

use super::{Bitmap, Component, DirList, Fattr, Res4, Verifier};

/// READDIR (RFC 8881 §18.23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirArgs {
    /// Where to go on; zero for the start.
    pub cookie: u64,
    /// The verifier that came with the cookie.
    pub cookieverf: Verifier,
    /// Bytes of names and cookies wanted: a hint, zero for none.
    pub dircount: u32,
    /// The most bytes of the whole answer without its status.
    pub maxcount: u32,
    /// Attributes wanted of each entry.
    pub attr_request: Bitmap,
}

/// An entry of a directory (RFC 8881 §18.23, `entry4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Entry4<'a> {
    /// Where to go on after this entry; never 0, 1 or 2.
    pub cookie: u64,
    /// The name.
    pub name: Component<'a>,
    /// The attributes.
    pub attrs: Fattr<'a>,
}

/// What READDIR answers, the client's form (RFC 8881 §18.23).
/// A server writes it entry by entry with [`ReaddirWriter`](super::ReaddirWriter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirResOk<'a> {
    /// Goes with all cookies of the list.
    pub cookieverf: Verifier,
    /// The entries, and whether they are the last.
    pub list: DirList<'a, Entry4<'a>>,
}

/// What READDIR answers (RFC 8881 §18.23).
pub type ReaddirRes<'a> = Res4<ReaddirResOk<'a>>;
