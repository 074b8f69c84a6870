//! NFSACL version 3: the POSIX access control lists of files, beside NFSv3. Solaris brought it and
//! Linux speaks it; there is no RFC.

use hayase_xdr::{Array, Xdr};

use crate::nfs3::{FileHandle, PostOpAttr, Res3};
use crate::numbered::numbered;

/// The RPC program number.
pub const PROGRAM: u32 = 100_227;
/// The version that goes with NFSv3.
pub const VERSION: u32 = 3;
/// Entries that one list may have; clients and file systems stop there or earlier.
pub const ENTRIES_MAX: u32 = 1024;

numbered! {
    /// The procedures of version 3.
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// Reads the lists of a file.
        GetAcl = 1 "GETACL",
        /// Sets them.
        SetAcl = 2 "SETACL",
    }
}

/// What is asked for, or meant.
pub mod which {
    /// The list that decides who may do what.
    pub const ACCESS: u32 = 0x1;
    /// How long it is.
    pub const ACCESS_COUNT: u32 = 0x2;
    /// The list that new files in a directory get.
    pub const DEFAULT: u32 = 0x4;
    /// How long it is.
    pub const DEFAULT_COUNT: u32 = 0x8;
    /// Every bit that has a meaning.
    pub const ALL: u32 = 0xf;
}

/// Whom an entry is about.
pub mod tag {
    /// The owner.
    pub const USER_OBJ: u32 = 0x01;
    /// A named user.
    pub const USER: u32 = 0x02;
    /// The owning group.
    pub const GROUP_OBJ: u32 = 0x04;
    /// A named group.
    pub const GROUP: u32 = 0x08;
    /// The most that named users and all groups get.
    pub const MASK: u32 = 0x10;
    /// Everybody else.
    pub const OTHER: u32 = 0x20;
    /// Added to the others in the list for new files.
    pub const DEFAULT: u32 = 0x1000;
}

/// One entry (`aclent`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Xdr)]
pub struct AclEntry {
    /// One of [`tag`].
    pub tag: u32,
    /// The user or group.
    pub id: u32,
    /// Read 4, write 2, execute 1.
    pub perm: u32,
}

/// Both lists of a file, each after its length, which is told also without the list (`secattr`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Xdr)]
pub struct AclLists {
    /// Entries of the list that decides who may do what.
    pub access_count: u32,
    /// The entries.
    pub access: Array<AclEntry, ENTRIES_MAX>,
    /// Entries of the list that new files in a directory get.
    pub default_count: u32,
    /// The entries.
    pub default: Array<AclEntry, ENTRIES_MAX>,
}

/// GETACL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetAclArgs<'a> {
    /// The file.
    pub object: FileHandle<'a>,
    /// Bits of [`which`].
    pub mask: u32,
}

/// What GETACL answers when it can tell.
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct GetAclResOk {
    /// The file's attributes.
    pub attributes: PostOpAttr,
    /// What of the rest has a meaning.
    pub mask: u32,
    /// The lists.
    pub lists: AclLists,
}

/// What GETACL answers.
pub type GetAclRes = Res3<GetAclResOk, PostOpAttr>;

/// SETACL.
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct SetAclArgs<'a> {
    /// The file.
    pub object: FileHandle<'a>,
    /// Which of the lists are meant.
    pub mask: u32,
    /// The lists.
    pub lists: AclLists,
}

/// What SETACL answers: the file's attributes, in both arms.
pub type SetAclRes = Res3<PostOpAttr, PostOpAttr>;
