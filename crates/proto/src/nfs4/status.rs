//! What can go wrong (RFC 8881 §15, RFC 7530 §13, RFC 7862 §11, RFC 8276 §8.3).

use std::fmt;

use hayase_xdr::Xdr;

use crate::numbered::numbered;

numbered! {
    /// Why an operation failed: `nfsstat4` without its zero, which is
    /// [`Res4::Ok`](super::Res4::Ok) (RFC 8881 §15.1).
    pub enum Status {
        /// Only the owner or a privileged user may do this.
        Perm = 1 "NFS4ERR_PERM",
        /// There is no such name.
        NoEnt = 2 "NFS4ERR_NOENT",
        /// The disk failed.
        Io = 5 "NFS4ERR_IO",
        /// There is no such device.
        Nxio = 6 "NFS4ERR_NXIO",
        /// The caller may not do this.
        Access = 13 "NFS4ERR_ACCESS",
        /// The name is taken.
        Exist = 17 "NFS4ERR_EXIST",
        /// The two places are on different file systems.
        XDev = 18 "NFS4ERR_XDEV",
        /// A directory is needed here.
        NotDir = 20 "NFS4ERR_NOTDIR",
        /// A directory cannot be used here.
        IsDir = 21 "NFS4ERR_ISDIR",
        /// The arguments make no sense for this object.
        Inval = 22 "NFS4ERR_INVAL",
        /// The file would become larger than it may be.
        FBig = 27 "NFS4ERR_FBIG",
        /// The file system is full.
        NoSpc = 28 "NFS4ERR_NOSPC",
        /// The file system is read-only.
        Rofs = 30 "NFS4ERR_ROFS",
        /// The file has too many names already.
        MLink = 31 "NFS4ERR_MLINK",
        /// The name is longer than it may be.
        NameTooLong = 63 "NFS4ERR_NAMETOOLONG",
        /// The directory is not empty.
        NotEmpty = 66 "NFS4ERR_NOTEMPTY",
        /// The user's quota is used up.
        DQuot = 69 "NFS4ERR_DQUOT",
        /// The handle's object is gone.
        Stale = 70 "NFS4ERR_STALE",
        /// The handle was never one of this server's.
        BadHandle = 10001 "NFS4ERR_BADHANDLE",
        /// The directory cookie is not good any more.
        BadCookie = 10003 "NFS4ERR_BAD_COOKIE",
        /// The server does not do this.
        NotSupp = 10004 "NFS4ERR_NOTSUPP",
        /// Not even the smallest answer fits what was asked for.
        TooSmall = 10005 "NFS4ERR_TOOSMALL",
        /// The server failed in a way that has no other number.
        ServerFault = 10006 "NFS4ERR_SERVERFAULT",
        /// The server cannot make objects of this type.
        BadType = 10007 "NFS4ERR_BADTYPE",
        /// The answer takes long; ask again later.
        Delay = 10008 "NFS4ERR_DELAY",
        /// NVERIFY found the attributes equal.
        Same = 10009 "NFS4ERR_SAME",
        /// Another owner's lock is in the way.
        Denied = 10010 "NFS4ERR_DENIED",
        /// The lease ran out and the state with it.
        Expired = 10011 "NFS4ERR_EXPIRED",
        /// Another owner's lock or share reservation forbids this transfer.
        Locked = 10012 "NFS4ERR_LOCKED",
        /// The server just started and waits for reclaims.
        Grace = 10013 "NFS4ERR_GRACE",
        /// A volatile handle has expired.
        FhExpired = 10014 "NFS4ERR_FHEXPIRED",
        /// Another open's share reservation forbids this open.
        ShareDenied = 10015 "NFS4ERR_SHARE_DENIED",
        /// This export needs another security flavor.
        WrongSec = 10016 "NFS4ERR_WRONGSEC",
        /// The client id belongs to another principal.
        ClidInUse = 10017 "NFS4ERR_CLID_INUSE",
        /// NFSv4.0 only: the server ran out of something.
        Resource = 10018 "NFS4ERR_RESOURCE",
        /// The file system has moved to another server.
        Moved = 10019 "NFS4ERR_MOVED",
        /// There is no current file handle.
        NoFileHandle = 10020 "NFS4ERR_NOFILEHANDLE",
        /// The server does not speak this minor version.
        MinorVersMismatch = 10021 "NFS4ERR_MINOR_VERS_MISMATCH",
        /// The client id is from before a server restart.
        StaleClientId = 10022 "NFS4ERR_STALE_CLIENTID",
        /// The stateid is from before a server restart.
        StaleStateId = 10023 "NFS4ERR_STALE_STATEID",
        /// The stateid's seqid is not the newest.
        OldStateId = 10024 "NFS4ERR_OLD_STATEID",
        /// The stateid names nothing.
        BadStateId = 10025 "NFS4ERR_BAD_STATEID",
        /// NFSv4.0 only: the owner's seqid is out of sequence.
        BadSeqId = 10026 "NFS4ERR_BAD_SEQID",
        /// VERIFY found the attributes different.
        NotSame = 10027 "NFS4ERR_NOT_SAME",
        /// The lock range overlaps others in a way the server cannot split.
        LockRange = 10028 "NFS4ERR_LOCK_RANGE",
        /// A symbolic link cannot be used here.
        Symlink = 10029 "NFS4ERR_SYMLINK",
        /// There is no saved file handle.
        RestoreFh = 10030 "NFS4ERR_RESTOREFH",
        /// NFSv4.0 only: a file system of this lease has moved.
        LeaseMoved = 10031 "NFS4ERR_LEASE_MOVED",
        /// The server does not support this attribute.
        AttrNotSupp = 10032 "NFS4ERR_ATTRNOTSUPP",
        /// A reclaim came outside of the grace period.
        NoGrace = 10033 "NFS4ERR_NO_GRACE",
        /// There is nothing to reclaim, or not by this client.
        ReclaimBad = 10034 "NFS4ERR_RECLAIM_BAD",
        /// The reclaim conflicts with another.
        ReclaimConflict = 10035 "NFS4ERR_RECLAIM_CONFLICT",
        /// The arguments could not be decoded.
        BadXdr = 10036 "NFS4ERR_BADXDR",
        /// The file is still locked.
        LocksHeld = 10037 "NFS4ERR_LOCKS_HELD",
        /// The file is not open for this kind of access.
        OpenMode = 10038 "NFS4ERR_OPENMODE",
        /// The owner or group string names nobody.
        BadOwner = 10039 "NFS4ERR_BADOWNER",
        /// The name is not UTF-8, or has a character the server refuses.
        BadChar = 10040 "NFS4ERR_BADCHAR",
        /// The name cannot be used, like `.` and `..`.
        BadName = 10041 "NFS4ERR_BADNAME",
        /// The server cannot lock ranges like this.
        BadRange = 10042 "NFS4ERR_BAD_RANGE",
        /// The server cannot change a lock's kind in place.
        LockNotSupp = 10043 "NFS4ERR_LOCK_NOTSUPP",
        /// There is no such operation.
        OpIllegal = 10044 "NFS4ERR_OP_ILLEGAL",
        /// Waiting for this lock would never end.
        Deadlock = 10045 "NFS4ERR_DEADLOCK",
        /// The file is open and therefore cannot be changed like this.
        FileOpen = 10046 "NFS4ERR_FILE_OPEN",
        /// An administrator took the state away.
        AdminRevoked = 10047 "NFS4ERR_ADMIN_REVOKED",
        /// The server cannot reach the client's callback service.
        CbPathDown = 10048 "NFS4ERR_CB_PATH_DOWN",
        /// The layout's I/O mode does not fit.
        BadIoMode = 10049 "NFS4ERR_BADIOMODE",
        /// The layout is malformed or does not fit the file.
        BadLayout = 10050 "NFS4ERR_BADLAYOUT",
        /// `SET_SSV`'s digest is wrong.
        BadSessionDigest = 10051 "NFS4ERR_BAD_SESSION_DIGEST",
        /// There is no such session.
        BadSession = 10052 "NFS4ERR_BADSESSION",
        /// The session has no such slot.
        BadSlot = 10053 "NFS4ERR_BADSLOT",
        /// `RECLAIM_COMPLETE` was said before.
        CompleteAlready = 10054 "NFS4ERR_COMPLETE_ALREADY",
        /// The connection is not bound to the session.
        ConnNotBoundToSession = 10055 "NFS4ERR_CONN_NOT_BOUND_TO_SESSION",
        /// The client waits for this delegation already.
        DelegAlreadyWanted = 10056 "NFS4ERR_DELEG_ALREADY_WANTED",
        /// Requests on the back channel are still open.
        BackChanBusy = 10057 "NFS4ERR_BACK_CHAN_BUSY",
        /// No layout now; ask again later.
        LayoutTryLater = 10058 "NFS4ERR_LAYOUTTRYLATER",
        /// No layout for this file at all.
        LayoutUnavailable = 10059 "NFS4ERR_LAYOUTUNAVAILABLE",
        /// The client has no such layout.
        NoMatchingLayout = 10060 "NFS4ERR_NOMATCHING_LAYOUT",
        /// The state is being recalled.
        RecallConflict = 10061 "NFS4ERR_RECALLCONFLICT",
        /// The server does not know this layout type.
        UnknownLayoutType = 10062 "NFS4ERR_UNKNOWN_LAYOUTTYPE",
        /// The slot's sequence id is out of order.
        SeqMisordered = 10063 "NFS4ERR_SEQ_MISORDERED",
        /// SEQUENCE is not the first operation.
        SequencePos = 10064 "NFS4ERR_SEQUENCE_POS",
        /// The request is larger than the session allows.
        ReqTooBig = 10065 "NFS4ERR_REQ_TOO_BIG",
        /// The reply would be larger than the session allows.
        RepTooBig = 10066 "NFS4ERR_REP_TOO_BIG",
        /// The reply would be larger than the session caches.
        RepTooBigToCache = 10067 "NFS4ERR_REP_TOO_BIG_TO_CACHE",
        /// A repeated request whose reply was not kept.
        RetryUncachedRep = 10068 "NFS4ERR_RETRY_UNCACHED_REP",
        /// The compound could not be repeated safely.
        UnsafeCompound = 10069 "NFS4ERR_UNSAFE_COMPOUND",
        /// More operations than the session allows.
        TooManyOps = 10070 "NFS4ERR_TOO_MANY_OPS",
        /// This operation needs a SEQUENCE before it.
        OpNotInSession = 10071 "NFS4ERR_OP_NOT_IN_SESSION",
        /// None of the hash algorithms is supported.
        HashAlgUnsupp = 10072 "NFS4ERR_HASH_ALG_UNSUPP",
        /// The client id still has state.
        ClientIdBusy = 10074 "NFS4ERR_CLIENTID_BUSY",
        /// A data server was asked for bytes of another's stripes.
        PnfsIoHole = 10075 "NFS4ERR_PNFS_IO_HOLE",
        /// The repeated request is not the one it claims to repeat.
        SeqFalseRetry = 10076 "NFS4ERR_SEQ_FALSE_RETRY",
        /// The highest slot is no slot of the session.
        BadHighSlot = 10077 "NFS4ERR_BAD_HIGH_SLOT",
        /// The session is gone but for its reply cache.
        DeadSession = 10078 "NFS4ERR_DEADSESSION",
        /// None of the encryption algorithms is supported.
        EncrAlgUnsupp = 10079 "NFS4ERR_ENCR_ALG_UNSUPP",
        /// A data server was used without a layout.
        PnfsNoLayout = 10080 "NFS4ERR_PNFS_NO_LAYOUT",
        /// This operation has to be alone in its compound.
        NotOnlyOp = 10081 "NFS4ERR_NOT_ONLY_OP",
        /// This needs the credential the state was made with.
        WrongCred = 10082 "NFS4ERR_WRONG_CRED",
        /// The object's type does not fit the operation.
        WrongType = 10083 "NFS4ERR_WRONG_TYPE",
        /// No delegation of this directory.
        DirDelegUnavail = 10084 "NFS4ERR_DIRDELEG_UNAVAIL",
        /// The client refused the delegation it was offered.
        RejectDeleg = 10085 "NFS4ERR_REJECT_DELEG",
        /// A layout was asked for while one is being returned.
        ReturnConflict = 10086 "NFS4ERR_RETURNCONFLICT",
        /// The delegation or layout was revoked.
        DelegRevoked = 10087 "NFS4ERR_DELEG_REVOKED",
        /// The other server cannot copy between servers (RFC 7862 §11.1.2).
        PartnerNotSupp = 10088 "NFS4ERR_PARTNER_NOTSUPP",
        /// The other server does not allow this copy (RFC 7862 §11.1.2).
        PartnerNoAuth = 10089 "NFS4ERR_PARTNER_NO_AUTH",
        /// The server does not support this arm of the union (RFC 7862 §11.1.1).
        UnionNotSupp = 10090 "NFS4ERR_UNION_NOTSUPP",
        /// The destination does not allow the copy (RFC 7862 §11.1.2).
        OffloadDenied = 10091 "NFS4ERR_OFFLOAD_DENIED",
        /// The label's format is not supported (RFC 7862 §11.1.3).
        WrongLfs = 10092 "NFS4ERR_WRONG_LFS",
        /// The label is malformed (RFC 7862 §11.1.3).
        BadLabel = 10093 "NFS4ERR_BADLABEL",
        /// The copy cannot be made as required (RFC 7862 §11.1.2).
        OffloadNoReqs = 10094 "NFS4ERR_OFFLOAD_NO_REQS",
        /// There is no such extended attribute (RFC 8276 §8.3.1).
        NoXattr = 10095 "NFS4ERR_NOXATTR",
        /// The extended attribute is larger than it may be (RFC 8276 §8.3.2).
        Xattr2Big = 10096 "NFS4ERR_XATTR2BIG",
    }
}

/// A status as a number: zero for success, and possibly one that is not known here
/// (RFC 8881 §15.1, `nfsstat4`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Xdr)]
pub struct NfsStat(pub u32);

impl NfsStat {
    /// `NFS4_OK`.
    pub const OK: NfsStat = NfsStat(0);

    /// Whether this is success.
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }

    /// The failure, if it is one and known here.
    pub fn status(self) -> Option<Status> {
        Status::try_from(self.0).ok()
    }
}

impl From<Status> for NfsStat {
    fn from(status: Status) -> Self {
        NfsStat(status.into())
    }
}

impl<T> From<Result<T, Status>> for NfsStat {
    fn from(result: Result<T, Status>) -> Self {
        result.err().map_or(NfsStat::OK, NfsStat::from)
    }
}

impl fmt::Display for NfsStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_ok(), self.status()) {
            (true, _) => f.write_str("NFS4_OK"),
            (false, Some(status)) => f.write_str(status.name()),
            (false, None) => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for NfsStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
