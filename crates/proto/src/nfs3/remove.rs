//! REMOVE, RMDIR, RENAME, LINK: names without new objects (RFC 1813 §3.3.12 to §3.3.15).

use hayase_xdr::Xdr;

use super::{DirOpArgs3, FileHandle, PostOpAttr, Res3, WccData};

/// REMOVE (RFC 1813 §3.3.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RemoveArgs<'a> {
    /// The name to remove.
    pub object: DirOpArgs3<'a>,
}

/// What REMOVE answers: the directory before and after, in both arms (RFC 1813 §3.3.12).
pub type RemoveRes = Res3<WccData, WccData>;

/// RMDIR (RFC 1813 §3.3.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RmdirArgs<'a> {
    /// The directory to remove.
    pub object: DirOpArgs3<'a>,
}

/// What RMDIR answers: the parent before and after, in both arms (RFC 1813 §3.3.13).
pub type RmdirRes = Res3<WccData, WccData>;

/// RENAME (RFC 1813 §3.3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RenameArgs<'a> {
    /// The name as it is.
    pub from: DirOpArgs3<'a>,
    /// The name as it shall be.
    pub to: DirOpArgs3<'a>,
}

/// The body of both arms of RENAME's answer (RFC 1813 §3.3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct RenameResBody {
    /// The directory the name left, before and after.
    pub fromdir_wcc: WccData,
    /// The directory the name came to, before and after.
    pub todir_wcc: WccData,
}

/// What RENAME answers (RFC 1813 §3.3.14).
pub type RenameRes = Res3<RenameResBody, RenameResBody>;

/// LINK (RFC 1813 §3.3.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LinkArgs<'a> {
    /// The file to name.
    pub file: FileHandle<'a>,
    /// Its further name.
    pub link: DirOpArgs3<'a>,
}

/// The body of both arms of LINK's answer (RFC 1813 §3.3.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct LinkResBody {
    /// The file's attributes.
    pub file_attributes: PostOpAttr,
    /// The directory of the new name, before and after.
    pub linkdir_wcc: WccData,
}

/// What LINK answers (RFC 1813 §3.3.15).
pub type LinkRes = Res3<LinkResBody, LinkResBody>;
