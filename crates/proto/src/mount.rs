//! MOUNT, by which NFSv3 clients get their first file handle (RFC 1813
//! appendix I; version 1: RFC 1094 appendix A).
//!
//! Version 2 is version 1 with PATHCONF, which no client of NFSv3 calls;
//! servers answer versions 1 and 3.

use hayase_xdr::{Array, LinkedList, Opaque, Xdr};

use crate::nfs3::FileHandle;
use crate::numbered::numbered;

/// The RPC program number (RFC 1813 §5.1.2).
pub const PROGRAM: u32 = 100_005;
/// The version that goes with NFSv2; clients still use it for DUMP, UMNT and EXPORT (RFC 1094 §A).
pub const VERSION_1: u32 = 1;
/// The version that goes with NFSv3 (RFC 1813 §5.1.2).
pub const VERSION_3: u32 = 3;
/// The longest path in bytes (RFC 1813 §5.1.4, `MNTPATHLEN`).
pub const PATH_MAX: u32 = 1024;
/// The longest host or group name in bytes (RFC 1813 §5.1.4, `MNTNAMLEN`).
pub const NAME_MAX: u32 = 255;
/// Elements a received list may have. The wire has no limit; what clients meet is far below.
pub const LIST_MAX: u32 = 65_536;

/// A path on the server (RFC 1813 §5.1.5, `dirpath`).
pub type DirPath<'a> = Opaque<'a, PATH_MAX>;
/// The name of a host or a group of hosts (RFC 1813 §5.1.5, `name`).
pub type Name<'a> = Opaque<'a, NAME_MAX>;

numbered! {
    /// The procedures of MOUNT, the same in versions 1 and 3 (RFC 1813 §5.2).
    pub enum Proc {
        /// Does nothing (§5.2.0).
        Null = 0 "NULL",
        /// From a path to a file handle (§5.2.1).
        Mnt = 1 "MNT",
        /// Lists who has mounted what (§5.2.2).
        Dump = 2 "DUMP",
        /// Forgets one mount of the caller's (§5.2.3).
        Umnt = 3 "UMNT",
        /// Forgets all mounts of the caller's (§5.2.4).
        UmntAll = 4 "UMNTALL",
        /// Lists what is exported (§5.2.5).
        Export = 5 "EXPORT",
    }
}

numbered! {
    /// Why MNT failed: `mountstat3` without its zero (RFC 1813 §5.1.5).
    pub enum Status {
        /// The caller is not who may do this.
        Perm = 1 "MNT3ERR_PERM",
        /// There is no such path.
        NoEnt = 2 "MNT3ERR_NOENT",
        /// The disk failed.
        Io = 5 "MNT3ERR_IO",
        /// The caller may not mount this.
        Acces = 13 "MNT3ERR_ACCES",
        /// The path is not a directory.
        NotDir = 20 "MNT3ERR_NOTDIR",
        /// The path makes no sense.
        Inval = 22 "MNT3ERR_INVAL",
        /// The path is too long.
        NameTooLong = 63 "MNT3ERR_NAMETOOLONG",
        /// The server does not do this.
        NotSupp = 10004 "MNT3ERR_NOTSUPP",
        /// The server failed in a way that has no other number.
        ServerFault = 10006 "MNT3ERR_SERVERFAULT",
    }
}

/// MNT and UMNT: the path, in both versions (RFC 1813 §5.2.1, §5.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MntArgs<'a> {
    /// What to mount, or to forget.
    pub dirpath: DirPath<'a>,
}

/// What MNT of version 3 answers when the path may be mounted (RFC 1813 §5.2.1, `mountres3_ok`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct MntResOk<'a> {
    /// The directory's handle.
    pub fhandle: FileHandle<'a>,
    /// Authentication flavors to use with it, the preferred one first.
    pub auth_flavors: Array<u32, 64>,
}

/// What MNT of version 3 answers (RFC 1813 §5.2.1, `mountres3`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MntRes<'a> {
    /// The handle and how to use it.
    Ok(MntResOk<'a>),
    /// Why not.
    Fail(Status),
}

/// What MNT of version 1 answers (RFC 1094 §A.5, `fhstatus`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MntRes1 {
    /// A handle of NFSv2.
    Ok([u8; 32]),
    /// Why not: an error number of Unix.
    Fail(u32),
}

/// An entry of DUMP (RFC 1813 §5.2.2, `mountbody`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MountBody<'a> {
    /// Who.
    pub hostname: Name<'a>,
    /// What.
    pub directory: DirPath<'a>,
}

/// What DUMP answers (RFC 1813 §5.2.2, `mountlist`).
pub type DumpRes<'a> = LinkedList<MountBody<'a>, LIST_MAX>;

/// An entry of EXPORT (RFC 1813 §5.2.5, `exportnode`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ExportNode<'a> {
    /// What is exported.
    pub dir: DirPath<'a>,
    /// To whom; nobody named means to everyone.
    pub groups: LinkedList<Name<'a>, LIST_MAX>,
}

/// What EXPORT answers (RFC 1813 §5.2.5, `exports`).
pub type ExportRes<'a> = LinkedList<ExportNode<'a>, LIST_MAX>;

mod codec {
    use hayase_xdr::{Decode, Encode, Reader, Result};

    use super::{MntRes, MntRes1, MntResOk, Status};

    const OK: u32 = 0;

    impl<'a> Decode<'a> for MntRes<'a> {
        fn decode(from: &mut Reader<'a>) -> Result<Self> {
            Ok(match from.word()? {
                OK => MntRes::Ok(MntResOk::decode(from)?),
                status => MntRes::Fail(Status::try_from(status)?),
            })
        }
    }

    impl Encode for MntRes<'_> {
        fn encode(&self, to: &mut Vec<u8>) {
            match self {
                MntRes::Ok(body) => {
                    OK.encode(to);
                    body.encode(to);
                }
                MntRes::Fail(status) => status.encode(to),
            }
        }
    }

    impl Decode<'_> for MntRes1 {
        fn decode(from: &mut Reader<'_>) -> Result<Self> {
            Ok(match from.word()? {
                OK => MntRes1::Ok(<[u8; 32]>::decode(from)?),
                errno => MntRes1::Fail(errno),
            })
        }
    }

    impl Encode for MntRes1 {
        fn encode(&self, to: &mut Vec<u8>) {
            match self {
                MntRes1::Ok(handle) => {
                    OK.encode(to);
                    handle.encode(to);
                }
                MntRes1::Fail(errno) => errno.encode(to),
            }
        }
    }
}
