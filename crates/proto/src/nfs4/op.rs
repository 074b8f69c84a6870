//! The operations of a COMPOUND (RFC 8881 §18, RFC 7530 §16, RFC 7862 §15, RFC 8276 §8.4).

use crate::numbered::numbered;

numbered! {
    /// The operations of all minor versions (RFC 8881 §16.2.1, `nfs_opnum4`).
    pub enum Op {
        /// Asks what the caller may do (RFC 8881 §18.1).
        Access = 3 "ACCESS",
        /// Gives up an open (RFC 8881 §18.2).
        Close = 4 "CLOSE",
        /// Makes unstable writes stable (RFC 8881 §18.3).
        Commit = 5 "COMMIT",
        /// Makes an object that is no regular file (RFC 8881 §18.4).
        Create = 6 "CREATE",
        /// Gives up delegations that wait for recovery (RFC 8881 §18.5).
        DelegPurge = 7 "DELEGPURGE",
        /// Gives a delegation back (RFC 8881 §18.6).
        DelegReturn = 8 "DELEGRETURN",
        /// Reads attributes (RFC 8881 §18.7).
        GetAttr = 9 "GETATTR",
        /// Tells the current file handle (RFC 8881 §18.8).
        GetFh = 10 "GETFH",
        /// Gives a file another name (RFC 8881 §18.9).
        Link = 11 "LINK",
        /// Locks a range (RFC 8881 §18.10).
        Lock = 12 "LOCK",
        /// Tests for a lock (RFC 8881 §18.11).
        LockT = 13 "LOCKT",
        /// Unlocks a range (RFC 8881 §18.12).
        LockU = 14 "LOCKU",
        /// Finds a name in a directory (RFC 8881 §18.13).
        Lookup = 15 "LOOKUP",
        /// Goes to the parent directory (RFC 8881 §18.14).
        LookupP = 16 "LOOKUPP",
        /// Goes on if attributes differ (RFC 8881 §18.15).
        NVerify = 17 "NVERIFY",
        /// Opens, and possibly makes, a regular file (RFC 8881 §18.16).
        Open = 18 "OPEN",
        /// Goes to the named attributes (RFC 8881 §18.17).
        OpenAttr = 19 "OPENATTR",
        /// NFSv4.0 only: confirms a new owner (RFC 7530 §16.18).
        OpenConfirm = 20 "OPEN_CONFIRM",
        /// Gives up part of an open's access (RFC 8881 §18.18).
        OpenDowngrade = 21 "OPEN_DOWNGRADE",
        /// Sets the current file handle (RFC 8881 §18.19).
        PutFh = 22 "PUTFH",
        /// Goes to the public directory (RFC 8881 §18.20).
        PutPubFh = 23 "PUTPUBFH",
        /// Goes to the root (RFC 8881 §18.21).
        PutRootFh = 24 "PUTROOTFH",
        /// Reads a file's data (RFC 8881 §18.22).
        Read = 25 "READ",
        /// Lists a directory (RFC 8881 §18.23).
        Readdir = 26 "READDIR",
        /// Reads a symbolic link's text (RFC 8881 §18.24).
        Readlink = 27 "READLINK",
        /// Removes a name (RFC 8881 §18.25).
        Remove = 28 "REMOVE",
        /// Moves a name (RFC 8881 §18.26).
        Rename = 29 "RENAME",
        /// NFSv4.0 only: keeps the lease (RFC 7530 §16.28).
        Renew = 30 "RENEW",
        /// Goes back to the saved file handle (RFC 8881 §18.27).
        RestoreFh = 31 "RESTOREFH",
        /// Saves the current file handle (RFC 8881 §18.28).
        SaveFh = 32 "SAVEFH",
        /// Asks which security a name needs (RFC 8881 §18.29).
        SecInfo = 33 "SECINFO",
        /// Changes attributes (RFC 8881 §18.30).
        SetAttr = 34 "SETATTR",
        /// NFSv4.0 only: introduces a client (RFC 7530 §16.33).
        SetClientId = 35 "SETCLIENTID",
        /// NFSv4.0 only: confirms a client (RFC 7530 §16.34).
        SetClientIdConfirm = 36 "SETCLIENTID_CONFIRM",
        /// Goes on if attributes are equal (RFC 8881 §18.31).
        Verify = 37 "VERIFY",
        /// Writes a file's data (RFC 8881 §18.32).
        Write = 38 "WRITE",
        /// NFSv4.0 only: forgets a lock owner (RFC 7530 §16.37).
        ReleaseLockOwner = 39 "RELEASE_LOCKOWNER",
        /// Changes the back channel's program and security (RFC 8881 §18.33).
        BackchannelCtl = 40 "BACKCHANNEL_CTL",
        /// Binds the connection to a session (RFC 8881 §18.34).
        BindConnToSession = 41 "BIND_CONN_TO_SESSION",
        /// Introduces a client (RFC 8881 §18.35).
        ExchangeId = 42 "EXCHANGE_ID",
        /// Makes a session and confirms the client (RFC 8881 §18.36).
        CreateSession = 43 "CREATE_SESSION",
        /// Ends a session (RFC 8881 §18.37).
        DestroySession = 44 "DESTROY_SESSION",
        /// Frees a stateid that holds nothing (RFC 8881 §18.38).
        FreeStateId = 45 "FREE_STATEID",
        /// Asks for a delegation of a directory (RFC 8881 §18.39).
        GetDirDelegation = 46 "GET_DIR_DELEGATION",
        /// Asks what a device id stands for (RFC 8881 §18.40).
        GetDeviceInfo = 47 "GETDEVICEINFO",
        /// Lists a file system's device ids (RFC 8881 §18.41).
        GetDeviceList = 48 "GETDEVICELIST",
        /// Tells what was written by a layout (RFC 8881 §18.42).
        LayoutCommit = 49 "LAYOUTCOMMIT",
        /// Asks where a file's data lies (RFC 8881 §18.43).
        LayoutGet = 50 "LAYOUTGET",
        /// Gives layouts back (RFC 8881 §18.44).
        LayoutReturn = 51 "LAYOUTRETURN",
        /// Asks which security the current file handle needs (RFC 8881 §18.45).
        SecInfoNoName = 52 "SECINFO_NO_NAME",
        /// Places the compound in its session (RFC 8881 §18.46).
        Sequence = 53 "SEQUENCE",
        /// Changes the client's secret (RFC 8881 §18.47).
        SetSsv = 54 "SET_SSV",
        /// Asks which stateids are good (RFC 8881 §18.48).
        TestStateId = 55 "TEST_STATEID",
        /// Asks for a delegation without opening (RFC 8881 §18.49).
        WantDelegation = 56 "WANT_DELEGATION",
        /// Forgets a client (RFC 8881 §18.50).
        DestroyClientId = 57 "DESTROY_CLIENTID",
        /// Says that nothing more will be reclaimed (RFC 8881 §18.51).
        ReclaimComplete = 58 "RECLAIM_COMPLETE",
        /// Reserves space (RFC 7862 §15.1).
        Allocate = 59 "ALLOCATE",
        /// Copies inside the server or between servers (RFC 7862 §15.2).
        Copy = 60 "COPY",
        /// Announces a copy to another server (RFC 7862 §15.3).
        CopyNotify = 61 "COPY_NOTIFY",
        /// Punches a hole (RFC 7862 §15.4).
        Deallocate = 62 "DEALLOCATE",
        /// Tells how data will be used (RFC 7862 §15.5).
        IoAdvise = 63 "IO_ADVISE",
        /// Reports errors at data servers (RFC 7862 §15.6).
        LayoutError = 64 "LAYOUTERROR",
        /// Reports work at data servers (RFC 7862 §15.7).
        LayoutStats = 65 "LAYOUTSTATS",
        /// Stops a copy that runs by itself (RFC 7862 §15.8).
        OffloadCancel = 66 "OFFLOAD_CANCEL",
        /// Asks how far a copy is (RFC 7862 §15.9).
        OffloadStatus = 67 "OFFLOAD_STATUS",
        /// Reads data and holes (RFC 7862 §15.10).
        ReadPlus = 68 "READ_PLUS",
        /// Finds the next data or hole (RFC 7862 §15.11).
        Seek = 69 "SEEK",
        /// Writes a pattern many times (RFC 7862 §15.12).
        WriteSame = 70 "WRITE_SAME",
        /// Shares a range with another file (RFC 7862 §15.13).
        Clone = 71 "CLONE",
        /// Reads an extended attribute (RFC 8276 §8.4.1).
        GetXattr = 72 "GETXATTR",
        /// Sets an extended attribute (RFC 8276 §8.4.2).
        SetXattr = 73 "SETXATTR",
        /// Lists extended attributes (RFC 8276 §8.4.3).
        ListXattrs = 74 "LISTXATTRS",
        /// Removes an extended attribute (RFC 8276 §8.4.4).
        RemoveXattr = 75 "REMOVEXATTR",
        /// The answer to an operation that does not exist (RFC 8881 §18.52).
        Illegal = 10044 "ILLEGAL",
    }
}

impl Op {
    /// The minor version the operation came with.
    pub const fn first_minor(self) -> u32 {
        match self as u32 {
            0..=39 | 10044 => 0,
            40..=58 => 1,
            _ => 2,
        }
    }

    /// Whether the operation is of NFSv4.0 alone and not to be served later
    /// (RFC 8881 §17, "mandatory to not implement").
    pub const fn is_only_of_minor_0(self) -> bool {
        matches!(
            self,
            Op::OpenConfirm
                | Op::Renew
                | Op::SetClientId
                | Op::SetClientIdConfirm
                | Op::ReleaseLockOwner
        )
    }

    /// Whether the minor version knows the operation at all. One it does not
    /// know is answered with [`Status::OpIllegal`](super::Status::OpIllegal).
    pub const fn is_known_in(self, minor: u32) -> bool {
        self.first_minor() <= minor && !matches!(self, Op::Illegal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_versions_know_their_operations() {
        let count = |minor| Op::ALL.iter().filter(|op| op.is_known_in(minor)).count();
        assert_eq!([0, 1, 2].map(count), [37, 56, 73]);
        assert_eq!(Op::ALL.iter().filter(|op| op.is_only_of_minor_0()).count(), 5);
        assert!(Op::try_from(2).is_err() && Op::try_from(76).is_err());
    }
}
