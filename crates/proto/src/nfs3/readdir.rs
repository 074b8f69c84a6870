//! READDIR and READDIRPLUS (RFC 1813 §3.3.16, §3.3.17).

use hayase_xdr::{Xdr, padding};

use super::{
    CookieVerf, DirEntry, DirList, Fattr3, FileHandle, FileName, PostOpAttr, PostOpFh, Res3,
};

/// READDIR (RFC 1813 §3.3.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirArgs<'a> {
    /// The directory.
    pub dir: FileHandle<'a>,
    /// Where to go on: the last entry's cookie, or 0.
    pub cookie: u64,
    /// The verifier that came with the cookie, or zeros.
    pub cookieverf: CookieVerf,
    /// Most bytes of the answer's `resok`.
    pub count: u32,
}

/// An entry of a directory (RFC 1813 §3.3.16, `entry3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Entry3<'a> {
    /// The object's number within its file system.
    pub fileid: u64,
    /// Its name here.
    pub name: FileName<'a>,
    /// Where to go on after this entry.
    pub cookie: u64,
}

/// What READDIR and READDIRPLUS answer before the entries (RFC 1813 §3.3.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DirHead {
    /// The directory's attributes.
    pub dir_attributes: PostOpAttr,
    /// Goes with the cookies.
    pub cookieverf: CookieVerf,
}

/// What READDIR answers, the client's form (RFC 1813 §3.3.16).
/// A server writes it entry by entry with [`DirListWriter`](super::DirListWriter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirResOk<'a> {
    /// Attributes and verifier.
    pub head: DirHead,
    /// The entries, and whether they are the last.
    pub list: DirList<'a, Entry3<'a>>,
}

/// What READDIR answers (RFC 1813 §3.3.16).
pub type ReaddirRes<'a> = Res3<ReaddirResOk<'a>, PostOpAttr>;

/// READDIRPLUS (RFC 1813 §3.3.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirplusArgs<'a> {
    /// The directory.
    pub dir: FileHandle<'a>,
    /// Where to go on: the last entry's cookie, or 0.
    pub cookie: u64,
    /// The verifier that came with the cookie, or zeros.
    pub cookieverf: CookieVerf,
    /// Most bytes of names, numbers and cookies, without attributes and handles.
    pub dircount: u32,
    /// Most bytes of the answer's `resok`.
    pub maxcount: u32,
}

/// An entry of a directory with attributes and handle (RFC 1813 §3.3.17, `entryplus3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct EntryPlus3<'a> {
    /// The object's number within its file system.
    pub fileid: u64,
    /// Its name here.
    pub name: FileName<'a>,
    /// Where to go on after this entry.
    pub cookie: u64,
    /// Its attributes.
    pub name_attributes: PostOpAttr,
    /// Its handle.
    pub name_handle: PostOpFh<'a>,
}

/// What READDIRPLUS answers, the client's form (RFC 1813 §3.3.17).
/// A server writes it entry by entry with [`DirListWriter`](super::DirListWriter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReaddirplusResOk<'a> {
    /// Attributes and verifier.
    pub head: DirHead,
    /// The entries, and whether they are the last.
    pub list: DirList<'a, EntryPlus3<'a>>,
}

/// What READDIRPLUS answers (RFC 1813 §3.3.17).
pub type ReaddirplusRes<'a> = Res3<ReaddirplusResOk<'a>, PostOpAttr>;

impl DirHead {
    /// Bytes on the wire.
    pub fn encoded_len(&self) -> usize {
        optional_attr_len(self.dir_attributes.as_ref()) + self.cookieverf.len()
    }
}

impl DirEntry for Entry3<'_> {
    fn encoded_len(&self) -> usize {
        self.name_len()
    }

    fn name_len(&self) -> usize {
        8 + opaque_len(self.name.0.len()) + 8
    }
}

impl DirEntry for EntryPlus3<'_> {
    fn encoded_len(&self) -> usize {
        let handle_len = self.name_handle.map_or(0, |handle| opaque_len(handle.0.len()));
        self.name_len() + optional_attr_len(self.name_attributes.as_ref()) + 4 + handle_len
    }

    fn name_len(&self) -> usize {
        8 + opaque_len(self.name.0.len()) + 8
    }
}

fn optional_attr_len(attr: Option<&Fattr3>) -> usize {
    4 + attr.map_or(0, |_| Fattr3::WIRE_BYTES)
}

fn opaque_len(len: usize) -> usize {
    4 + len + padding(len)
}
