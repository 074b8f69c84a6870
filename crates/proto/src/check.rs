//! What must hold for the bytes of every wire type: one check, used by tests and by fuzzing.

use hayase_xdr::{Decode, Encode, Error, Result, from_bytes, to_vec};

use crate::portmap::{pmap, rpcb};
use crate::{mount, nfs3, nfs4, nfsacl, nlm, nsm, rquota};

/// A type, as far as a check needs it.
#[derive(Clone, Copy, Debug)]
pub struct WireType {
    /// Its name, with its module.
    pub name: &'static str,
    recode: fn(&[u8]) -> Result<Vec<u8>>,
    /// Whether it may be written in fewer bytes than it was read from, since a bitmap
    /// is written without zero words at its end.
    may_shrink: bool,
}

impl WireType {
    /// Decodes bytes as this type and encodes what was read.
    pub fn recode(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        (self.recode)(bytes)
    }

    /// Feeds the type any bytes. If it takes them: encoding gives as many bytes
    /// again (or fewer, if there are bitmaps), those decode to the same, and no
    /// shorter piece of them decodes.
    ///
    /// Panics where that does not hold.
    pub fn check(&self, bytes: &[u8]) {
        let Ok(wire) = self.recode(bytes) else { return };
        // Only padding may differ: it is ignored when read and zero when written.
        let shrank = self.may_shrink && wire.len() < bytes.len();
        assert!(shrank || wire.len() == bytes.len(), "{}: another length", self.name);
        self.check_valid(&wire);
    }

    /// Checks bytes that this type's encoder wrote.
    ///
    /// Panics where they do not hold.
    pub fn check_valid(&self, wire: &[u8]) {
        assert_eq!(self.recode(wire).as_deref(), Ok(wire), "{}: another value", self.name);
        for len in 0..wire.len() {
            let cut = self.recode(&wire[..len]);
            assert_eq!(cut, Err(Error::Truncated), "{}: cut at {len}", self.name);
        }
        let longer = [wire, &[0]].concat();
        assert_eq!(self.recode(&longer), Err(Error::Trailing(1)), "{}: trailing", self.name);
    }
}

fn recode<'a, T: Decode<'a> + Encode>(bytes: &'a [u8]) -> Result<Vec<u8>> {
    from_bytes::<T>(bytes).map(|value| to_vec(&value))
}

macro_rules! wire_types {
    ($($module:ident $may_shrink:literal { $($name:ident $(<$lifetime:lifetime>)?,)* })*) => {
        /// Every type of this crate that travels.
        pub const TYPES: &[WireType] = &[$($(
            WireType {
                name: concat!(stringify!($module), "::", stringify!($name)),
                may_shrink: $may_shrink,
                recode: |bytes| recode::<$module::$name$(<$lifetime>)?>(bytes),
            },
        )*)*];
    };
}

wire_types! {
    nfs3 false {
        Proc, Status, FType3, SpecData3, NfsTime3, Fattr3, PostOpAttr, PreOpAttr, WccAttr, WccData,
        SetTime, Sattr3, FileHandle<'_>, PostOpFh<'_>, FileName<'_>, Path<'_>, DirOpArgs3<'_>,
        GetAttrArgs<'_>, GetAttrRes, SetAttrArgs<'_>, SetAttrRes, LookupArgs<'_>, LookupResOk<'_>,
        LookupRes<'_>, AccessArgs<'_>, AccessResOk, AccessRes, ReadlinkArgs<'_>,
        ReadlinkResOk<'_>, ReadlinkRes<'_>, ReadArgs<'_>, ReadResOk<'_>, ReadRes<'_>, ReadResHead,
        ReadHeadRes, StableHow, WriteArgs<'_>, WriteArgsHead<'_>, WriteResOk, WriteRes,
        CreateHow3, CreateArgs<'_>, CreateResOk<'_>, CreateRes<'_>, MkdirArgs<'_>, MkdirRes<'_>,
        SymlinkData3<'_>, SymlinkArgs<'_>, SymlinkRes<'_>, DeviceData3, MknodData3, MknodArgs<'_>,
        MknodRes<'_>, RemoveArgs<'_>, RemoveRes, RmdirArgs<'_>, RmdirRes, RenameArgs<'_>,
        RenameResBody, RenameRes, LinkArgs<'_>, LinkResBody, LinkRes, ReaddirArgs<'_>, Entry3<'_>,
        DirHead, ReaddirResOk<'_>, ReaddirRes<'_>, ReaddirplusArgs<'_>, EntryPlus3<'_>,
        ReaddirplusResOk<'_>, ReaddirplusRes<'_>, FsStatArgs<'_>, FsStatResOk, FsStatRes,
        FsInfoArgs<'_>, FsInfoResOk, FsInfoRes, PathConfArgs<'_>, PathConfResOk, PathConfRes,
        CommitArgs<'_>, CommitResOk, CommitRes,
    }
    nfs4 true {
        Op, Status, NfsStat, StateId, StateOwner<'_>, OpenOwner<'_>, LockOwner<'_>, Bitmap,
        FileHandle<'_>, Component<'_>, LinkText<'_>, Pathname<'_>, Attr, FType, NfsTime, SetTime,
        SpecData, Fsid, ChangePolicy, ChangeInfo, ModeMasked, ModeUmask, SecLabel<'_>,
        ChangeAttrType, FsStatusType, FsStatus<'_>, RetentionGet, RetentionSet, LayoutType,
        LayoutHint<'_>, ThresholdItem<'_>, MdsThreshold<'_>, LayoutTypes, OpenArguments,
        NfsAce<'_>, Acl<'_>, NfsAcl41<'_>, FsLocation<'_>, FsLocations<'_>, FsLocationsServer<'_>,
        FsLocationsItem<'_>, FsLocationsInfo<'_>, Fattr<'_>, Attrs<'_>, SetAttrs<'_>,
        CompoundHead<'_>, CompoundResHead<'_>,
        PutFhArgs<'_>, PutFhRes, PutPubFhArgs, PutPubFhRes, PutRootFhArgs, PutRootFhRes, GetFhArgs,
        GetFhRes<'_>, RestoreFhArgs, RestoreFhRes, SaveFhArgs, SaveFhRes, IllegalArgs, IllegalRes,
        LookupArgs<'_>, LookupRes, LookupPArgs, LookupPRes, ReadlinkArgs, ReadlinkRes<'_>,
        AccessArgs, AccessResOk, AccessRes, GetAttrArgs, GetAttrRes<'_>, SetAttrArgs<'_>,
        SetAttrRes, VerifyArgs<'_>, VerifyRes, NVerifyArgs<'_>, NVerifyRes,
        CreateType<'_>, CreateArgs<'_>, CreateResOk, CreateRes, LinkArgs<'_>, LinkRes,
        RemoveArgs<'_>, RemoveRes, RenameArgs<'_>, RenameResOk, RenameRes, OpenAttrArgs,
        OpenAttrRes,
        OpenArgs<'_>, OpenHow<'_>, CreateHow<'_>, CreateVerfAttr<'_>, OpenClaim<'_>,
        ClaimDelegateCur<'_>, DelegationType, OpenResOk<'_>, OpenRes<'_>, OpenDelegation<'_>,
        ReadDelegation<'_>, WriteDelegation<'_>, SpaceLimit, ModifiedLimit, WhyNoDelegation,
        CloseArgs, CloseRes, OpenConfirmArgs, OpenConfirmRes, OpenDowngradeArgs, OpenDowngradeRes,
        LockType, LockArgs<'_>, Locker<'_>, OpenToLockOwner<'_>, ExistLockOwner, LockDenied<'_>,
        LockRes<'_>, LockTArgs<'_>, LockTRes<'_>, LockUArgs, LockURes,
        NetAddr<'_>, SetClientIdArgs<'_>, NfsClientId<'_>, CbClient<'_>, SetClientIdResOk,
        SetClientIdRes<'_>, SetClientIdConfirmArgs, SetClientIdConfirmRes, RenewArgs, RenewRes,
        ReleaseLockOwnerArgs<'_>, ReleaseLockOwnerRes,
        ExchangeIdArgs<'_>, ClientOwner<'_>, NfsImplId<'_>, StateProtectArgs<'_>, StateProtectOps,
        SsvParms<'_>, StateProtectRes<'_>, SsvInfo<'_>, ServerOwner<'_>, ExchangeIdResOk<'_>,
        ExchangeIdRes<'_>, DestroyClientIdArgs, DestroyClientIdRes,
        CreateSessionArgs<'_>, CreateSessionResOk, CreateSessionRes, ChannelAttrs, CbSecParms<'_>,
        AuthSysParms<'_>, GssCbHandles<'_>, DestroySessionArgs, DestroySessionRes,
        ChannelDirFromClient, ChannelDirFromServer, BindConnToSessionArgs, BindConnToSessionResOk,
        BindConnToSessionRes, BackchannelCtlArgs<'_>, BackchannelCtlRes,
        SequenceArgs, SequenceResOk, SequenceRes, SetSsvArgs<'_>, SetSsvRes<'_>,
        ReclaimCompleteArgs, ReclaimCompleteRes, FreeStateIdArgs, FreeStateIdRes, TestStateIdArgs,
        TestStateIdRes,
        SecOid<'_>, GssHandle<'_>, GssService, SecInfoArgs<'_>, SecInfo<'_>, RpcSecGssInfo<'_>,
        SecInfoResOk<'_>, SecInfoRes<'_>, SecInfoStyle, SecInfoNoNameArgs, SecInfoNoNameRes<'_>,
        DelegPurgeArgs, DelegPurgeRes, DelegReturnArgs, DelegReturnRes, WantDelegationArgs,
        DelegClaim, WantDelegationRes<'_>, GetDirDelegationArgs, DirDelegation,
        GetDirDelegationResOk, GetDirDelegationRes,
        ReadArgs, ReadResOk<'_>, ReadRes<'_>, ReadResHead, ReadHeadRes, WriteArgs<'_>,
        WriteArgsHead, WriteResOk, WriteRes, CommitArgs, CommitRes, ReaddirArgs, Entry4<'_>,
        ReaddirResOk<'_>, ReaddirRes<'_>,
        LayoutIoMode, LayoutContent<'_>, Layout<'_>, LayoutGetArgs, LayoutGetResOk<'_>,
        LayoutGetRes<'_>, LayoutUpdate<'_>, LayoutCommitArgs<'_>, LayoutCommitRes,
        LayoutReturnArgs<'_>, LayoutReturn<'_>, LayoutReturnFile<'_>, LayoutReturnRes,
        DeviceAddr<'_>, GetDeviceInfoArgs, GetDeviceInfoResOk<'_>, GetDeviceInfoRes<'_>,
        GetDeviceListArgs, GetDeviceListResOk, GetDeviceListRes,
        FileLayout<'_>, MultipathList<'_>, FileLayoutDsAddr<'_>, FileLayoutHint,
        DeviceError, LayoutErrorArgs, LayoutErrorRes, IoInfo, LayoutStatsArgs<'_>, LayoutStatsRes,
        NetLoc<'_>, CopyArgs<'_>, CopyRequirements, WriteResponse, CopyResOk, CopyRes,
        CopyNotifyArgs<'_>, CopyNotifyResOk<'_>, CopyNotifyRes<'_>, OffloadCancelArgs,
        OffloadCancelRes, OffloadStatusArgs, OffloadStatusResOk, OffloadStatusRes, CloneArgs,
        CloneRes,
        AllocateArgs, AllocateRes, DeallocateArgs, DeallocateRes, DataContent, SeekArgs, SeekResOk,
        SeekRes, WriteSameArgs<'_>, AppDataBlock<'_>, WriteSameRes, IoAdvice, IoAdviseArgs,
        IoAdviseRes,
        ReadPlusArgs, ReadPlusData<'_>, ReadPlusHole, ReadPlusContent<'_>, ReadPlusResOk<'_>,
        ReadPlusRes<'_>, ReadPlusResHead, ReadPlusHeadRes, ReadPlusDataHead, ReadPlusContentHead,
        XattrKey<'_>, XattrValue<'_>, GetXattrArgs<'_>, GetXattrRes<'_>, SetXattrOption,
        SetXattrArgs<'_>, SetXattrRes, ListXattrsArgs, ListXattrsResOk<'_>, ListXattrsRes<'_>,
        RemoveXattrArgs<'_>, RemoveXattrRes,
        CbOp, CbCompoundHead<'_>, CbGetAttrArgs<'_>, CbGetAttrRes<'_>, CbRecallArgs<'_>,
        CbRecallRes, CbLayoutRecallArgs<'_>, LayoutRecall<'_>, LayoutRecallFile<'_>,
        CbLayoutRecallRes, CbPushDelegArgs<'_>, CbPushDelegRes, CbRecallAnyArgs, CbRecallAnyRes,
        CbRecallableObjAvailArgs, CbRecallableObjAvailRes, CbRecallSlotArgs, CbRecallSlotRes,
        ReferringCall, ReferringCallList, CbSequenceArgs, CbSequenceResOk, CbSequenceRes,
        CbWantsCancelledArgs, CbWantsCancelledRes, CbNotifyLockArgs<'_>, CbNotifyLockRes,
        OffloadInfo, CbOffloadArgs<'_>, CbOffloadRes, CbIllegalArgs, CbIllegalRes,
        NotifyType, Notify<'_>, CbNotifyArgs<'_>, CbNotifyRes, NotifyEntry<'_>, PrevEntry<'_>,
        NotifyAttr<'_>, NotifyRemove<'_>, NotifyAdd<'_>, NotifyRename<'_>, NotifyVerifier,
        NotifyDeviceIdType, CbNotifyDeviceIdArgs<'_>, CbNotifyDeviceIdRes, NotifyDeviceIdDelete,
        NotifyDeviceIdChange,
    }
    nfsacl false {
        Proc, AclEntry, AclLists, GetAclArgs<'_>, GetAclResOk, GetAclRes, SetAclArgs<'_>, SetAclRes,
    }
    mount false {
        Proc, Status, DirPath<'_>, Name<'_>, MntArgs<'_>, MntResOk<'_>, MntRes<'_>, MntRes1,
        MountBody<'_>, DumpRes<'_>, ExportNode<'_>, ExportRes<'_>,
    }
    nlm false {
        Proc, Status, NetObj<'_>, HostName<'_>, Holder<'_>, Lock<'_>, TestArgs<'_>, LockArgs<'_>,
        CancelArgs<'_>, UnlockArgs<'_>, Res<'_>, TestReply<'_>, TestRes<'_>, ShareOf<'_>,
        ShareArgs<'_>, ShareRes<'_>, FreeAllArgs<'_>, SmNotifyArgs<'_>,
    }
    nsm false {
        Proc, Outcome, HostName<'_>, StatArgs<'_>, MyId<'_>, MonId<'_>, MonArgs<'_>, StatRes, Stat,
        NotifyArgs<'_>,
    }
    rquota false {
        Proc, Status, Kind, Path<'_>, GetArgs<'_>, ExtGetArgs<'_>, SetBlock, SetArgs<'_>,
        ExtSetArgs<'_>, Quota, Res,
    }
    pmap false {
        Proc, Mapping, DumpRes, CallArgs<'_>, CallResult<'_>,
    }
    rpcb false {
        Proc, Text<'_>, Rpcb<'_>, DumpRes<'_>, RmtCallArgs<'_>, RmtCallRes<'_>, Entry<'_>,
        GetAddrListRes<'_>, Netbuf<'_>, ProcCounts, AddrCount<'_>, RmtCallCount<'_>, Stat<'_>,
        StatByVers<'_>,
    }
}
