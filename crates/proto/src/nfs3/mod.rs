//! NFS version 3 (RFC 1813).

mod attr;
mod create;
mod dir_list;
mod fs;
mod lookup;
mod object;
mod read;
mod readdir;
mod remove;
mod res;
mod status;
mod write;

pub use attr::{
    FType3, Fattr3, NfsTime3, PostOpAttr, PreOpAttr, Sattr3, SetTime, SpecData3, WccAttr, WccData,
};
pub use create::{
    CreateArgs, CreateHow3, CreateRes, CreateResOk, DeviceData3, MkdirArgs, MkdirRes, MknodArgs,
    MknodData3, MknodRes, SymlinkArgs, SymlinkData3, SymlinkRes,
};
pub use dir_list::{DirEntry, DirList, DirListIter, DirListWriter};
pub use fs::{
    FsInfoArgs, FsInfoRes, FsInfoResOk, FsStatArgs, FsStatRes, FsStatResOk, PathConfArgs,
    PathConfRes, PathConfResOk, fsf,
};
pub use lookup::{
    DirOpArgs3, LookupArgs, LookupRes, LookupResOk, ReadlinkArgs, ReadlinkRes, ReadlinkResOk,
};
pub use object::{
    AccessArgs, AccessRes, AccessResOk, GetAttrArgs, GetAttrRes, SetAttrArgs, SetAttrRes, access,
};
pub use read::{ReadArgs, ReadHeadRes, ReadRes, ReadResHead, ReadResOk};
pub use readdir::{
    DirHead, Entry3, EntryPlus3, ReaddirArgs, ReaddirRes, ReaddirResOk, ReaddirplusArgs,
    ReaddirplusRes, ReaddirplusResOk,
};
pub use remove::{
    LinkArgs, LinkRes, LinkResBody, RemoveArgs, RemoveRes, RenameArgs, RenameRes, RenameResBody,
    RmdirArgs, RmdirRes,
};
pub use res::Res3;
pub use status::Status;
pub use write::{
    CommitArgs, CommitRes, CommitResOk, DataSpan, StableHow, WriteArgs, WriteArgsHead, WriteRes,
    WriteResOk,
};

use hayase_xdr::Opaque;

use crate::numbered::numbered;

/// The RPC program number of NFS (RFC 1813 §2.2).
pub const PROGRAM: u32 = 100_003;
/// The version these types are of (RFC 1813 §2.2).
pub const VERSION: u32 = 3;
/// The port a server listens on unless told otherwise (RFC 1813 §2.3).
pub const PORT: u16 = 2049;
/// The longest file handle (RFC 1813 §2.4).
pub const FHSIZE: u32 = 64;

/// What names a file to the server; means nothing to the client (RFC 1813 §2.5, `nfs_fh3`).
pub type FileHandle<'a> = Opaque<'a, FHSIZE>;
/// A file handle that may be left out of a reply (RFC 1813 §2.5, `post_op_fh3`).
pub type PostOpFh<'a> = Option<FileHandle<'a>>;
/// One component of a path. Unlimited on the wire: a name that is too long
/// is answered with [`Status::NameTooLong`] (RFC 1813 §2.5, `filename3`).
pub type FileName<'a> = Opaque<'a>;
/// The text of a symbolic link, unlimited like names (RFC 1813 §2.5, `nfspath3`).
pub type Path<'a> = Opaque<'a>;
/// Says whether a directory's cookies are still good (RFC 1813 §2.5, `cookieverf3`).
pub type CookieVerf = [u8; 8];
/// Makes an exclusive create recognizable when it is repeated (RFC 1813 §2.5, `createverf3`).
pub type CreateVerf = [u8; 8];
/// Changes when the server may have lost unstable writes (RFC 1813 §2.5, `writeverf3`).
pub type WriteVerf = [u8; 8];

numbered! {
    /// The procedures of NFSv3 (RFC 1813 §3).
    pub enum Proc {
        /// Does nothing (§3.3.0).
        Null = 0 "NULL",
        /// Reads an object's attributes (§3.3.1).
        GetAttr = 1 "GETATTR",
        /// Changes an object's attributes (§3.3.2).
        SetAttr = 2 "SETATTR",
        /// Finds a name in a directory (§3.3.3).
        Lookup = 3 "LOOKUP",
        /// Asks what the caller may do (§3.3.4).
        Access = 4 "ACCESS",
        /// Reads a symbolic link's text (§3.3.5).
        Readlink = 5 "READLINK",
        /// Reads a file's data (§3.3.6).
        Read = 6 "READ",
        /// Writes a file's data (§3.3.7).
        Write = 7 "WRITE",
        /// Makes a regular file (§3.3.8).
        Create = 8 "CREATE",
        /// Makes a directory (§3.3.9).
        Mkdir = 9 "MKDIR",
        /// Makes a symbolic link (§3.3.10).
        Symlink = 10 "SYMLINK",
        /// Makes a device node, socket or FIFO (§3.3.11).
        Mknod = 11 "MKNOD",
        /// Removes what is not a directory (§3.3.12).
        Remove = 12 "REMOVE",
        /// Removes a directory (§3.3.13).
        Rmdir = 13 "RMDIR",
        /// Moves a name (§3.3.14).
        Rename = 14 "RENAME",
        /// Gives a file another name (§3.3.15).
        Link = 15 "LINK",
        /// Lists a directory (§3.3.16).
        Readdir = 16 "READDIR",
        /// Lists a directory with attributes and handles (§3.3.17).
        Readdirplus = 17 "READDIRPLUS",
        /// Tells how full the file system is (§3.3.18).
        FsStat = 18 "FSSTAT",
        /// Tells what the server can do (§3.3.19).
        FsInfo = 19 "FSINFO",
        /// Tells POSIX limits (§3.3.20).
        PathConf = 20 "PATHCONF",
        /// Makes unstable writes stable (§3.3.21).
        Commit = 21 "COMMIT",
    }
}
