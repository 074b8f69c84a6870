//! What can go wrong (RFC 1813 §2.6).

use crate::numbered::numbered;

numbered! {
    /// Why a procedure failed: `nfsstat3` without its zero, which is
    /// [`Res3::Ok`](super::Res3::Ok) (RFC 1813 §2.6).
    pub enum Status {
        /// Only the owner or a privileged user may do this.
        Perm = 1 "NFS3ERR_PERM",
        /// There is no such name.
        NoEnt = 2 "NFS3ERR_NOENT",
        /// The disk failed.
        Io = 5 "NFS3ERR_IO",
        /// There is no such device.
        Nxio = 6 "NFS3ERR_NXIO",
        /// The caller may not do this.
        Acces = 13 "NFS3ERR_ACCES",
        /// The name is taken.
        Exist = 17 "NFS3ERR_EXIST",
        /// The two places are on different file systems.
        XDev = 18 "NFS3ERR_XDEV",
        /// The device does not support this.
        NoDev = 19 "NFS3ERR_NODEV",
        /// A directory is needed here.
        NotDir = 20 "NFS3ERR_NOTDIR",
        /// A directory cannot be used here.
        IsDir = 21 "NFS3ERR_ISDIR",
        /// The arguments make no sense for this object.
        Inval = 22 "NFS3ERR_INVAL",
        /// The file would become larger than it may be.
        FBig = 27 "NFS3ERR_FBIG",
        /// The file system is full.
        NoSpc = 28 "NFS3ERR_NOSPC",
        /// The file system is read-only.
        Rofs = 30 "NFS3ERR_ROFS",
        /// The file has too many names already.
        MLink = 31 "NFS3ERR_MLINK",
        /// The name is longer than it may be.
        NameTooLong = 63 "NFS3ERR_NAMETOOLONG",
        /// The directory is not empty.
        NotEmpty = 66 "NFS3ERR_NOTEMPTY",
        /// The user's quota is used up.
        DQuot = 69 "NFS3ERR_DQUOT",
        /// The handle's object is gone.
        Stale = 70 "NFS3ERR_STALE",
        /// The path leads to another server.
        Remote = 71 "NFS3ERR_REMOTE",
        /// The handle was never one of this server's.
        BadHandle = 10001 "NFS3ERR_BADHANDLE",
        /// The guard of a SETATTR did not match.
        NotSync = 10002 "NFS3ERR_NOT_SYNC",
        /// The directory cookie is not good any more.
        BadCookie = 10003 "NFS3ERR_BAD_COOKIE",
        /// The server does not do this.
        NotSupp = 10004 "NFS3ERR_NOTSUPP",
        /// Not even one entry fits the reply that was asked for.
        TooSmall = 10005 "NFS3ERR_TOOSMALL",
        /// The server failed in a way that has no other number.
        ServerFault = 10006 "NFS3ERR_SERVERFAULT",
        /// The server cannot make objects of this type.
        BadType = 10007 "NFS3ERR_BADTYPE",
        /// The answer takes long; ask again later.
        Jukebox = 10008 "NFS3ERR_JUKEBOX",
    }
}
