//! Which arguments and results belong to which operation (RFC 8881 §16.2).

use std::fmt;

use hayase_xdr::{Decode, Encode, Error, Reader, Result};

#[allow(clippy::wildcard_imports)] // the table names every operation's types
use super::*;

/// The operations of one compound procedure: COMPOUND's or `CB_COMPOUND`'s.
pub trait OpSet: Copy + fmt::Debug + PartialEq + Into<u32> + TryFrom<u32, Error = Error> {
    /// Reads over the operation's arguments.
    fn skip_args(self, from: &mut Reader<'_>) -> Result<()>;

    /// Reads over the operation's result.
    fn skip_res(self, from: &mut Reader<'_>) -> Result<()>;
}

/// The arguments of an operation, which know its number and result.
pub trait Operation: Encode {
    /// The numbers this operation's is one of.
    type Ops: OpSet;
    /// The operation's number.
    const OP: Self::Ops;
    /// The operation's result, with its status.
    type Res<'r>: Decode<'r> + Encode;
}

/// The table of operations: `Number: Args => Res`.
macro_rules! operations {
    ($ops:ident { $($op:ident: $args:ident $(<$lifetime:lifetime>)? => $res:ident $(<$res_lifetime:lifetime>)?,)* }) => {
        $(impl Operation for $args $(<$lifetime>)? {
            type Ops = $ops;
            const OP: $ops = $ops::$op;
            type Res<'r> = $res $(<$res_lifetime>)?;
        })*

        impl OpSet for $ops {
            fn skip_args(self, from: &mut Reader<'_>) -> Result<()> {
                match self {
                    $($ops::$op => $args::decode(from).map(drop),)*
                }
            }

            fn skip_res(self, from: &mut Reader<'_>) -> Result<()> {
                match self {
                    $($ops::$op => $res::decode(from).map(drop),)*
                }
            }
        }
    };
}

operations! {
    Op {
        Access: AccessArgs => AccessRes,
        Close: CloseArgs => CloseRes,
        Commit: CommitArgs => CommitRes,
        Create: CreateArgs<'_> => CreateRes,
        DelegPurge: DelegPurgeArgs => DelegPurgeRes,
        DelegReturn: DelegReturnArgs => DelegReturnRes,
        GetAttr: GetAttrArgs => GetAttrRes<'r>,
        GetFh: GetFhArgs => GetFhRes<'r>,
        Link: LinkArgs<'_> => LinkRes,
        Lock: LockArgs<'_> => LockRes<'r>,
        LockT: LockTArgs<'_> => LockTRes<'r>,
        LockU: LockUArgs => LockURes,
        Lookup: LookupArgs<'_> => LookupRes,
        LookupP: LookupPArgs => LookupPRes,
        NVerify: NVerifyArgs<'_> => NVerifyRes,
        Open: OpenArgs<'_> => OpenRes<'r>,
        OpenAttr: OpenAttrArgs => OpenAttrRes,
        OpenConfirm: OpenConfirmArgs => OpenConfirmRes,
        OpenDowngrade: OpenDowngradeArgs => OpenDowngradeRes,
        PutFh: PutFhArgs<'_> => PutFhRes,
        PutPubFh: PutPubFhArgs => PutPubFhRes,
        PutRootFh: PutRootFhArgs => PutRootFhRes,
        Read: ReadArgs => ReadRes<'r>,
        Readdir: ReaddirArgs => ReaddirRes<'r>,
        Readlink: ReadlinkArgs => ReadlinkRes<'r>,
        Remove: RemoveArgs<'_> => RemoveRes,
        Rename: RenameArgs<'_> => RenameRes,
        Renew: RenewArgs => RenewRes,
        RestoreFh: RestoreFhArgs => RestoreFhRes,
        SaveFh: SaveFhArgs => SaveFhRes,
        SecInfo: SecInfoArgs<'_> => SecInfoRes<'r>,
        SetAttr: SetAttrArgs<'_> => SetAttrRes,
        SetClientId: SetClientIdArgs<'_> => SetClientIdRes<'r>,
        SetClientIdConfirm: SetClientIdConfirmArgs => SetClientIdConfirmRes,
        Verify: VerifyArgs<'_> => VerifyRes,
        Write: WriteArgs<'_> => WriteRes,
        ReleaseLockOwner: ReleaseLockOwnerArgs<'_> => ReleaseLockOwnerRes,
        BackchannelCtl: BackchannelCtlArgs<'_> => BackchannelCtlRes,
        BindConnToSession: BindConnToSessionArgs => BindConnToSessionRes,
        ExchangeId: ExchangeIdArgs<'_> => ExchangeIdRes<'r>,
        CreateSession: CreateSessionArgs<'_> => CreateSessionRes,
        DestroySession: DestroySessionArgs => DestroySessionRes,
        FreeStateId: FreeStateIdArgs => FreeStateIdRes,
        GetDirDelegation: GetDirDelegationArgs => GetDirDelegationRes,
        GetDeviceInfo: GetDeviceInfoArgs => GetDeviceInfoRes<'r>,
        GetDeviceList: GetDeviceListArgs => GetDeviceListRes,
        LayoutCommit: LayoutCommitArgs<'_> => LayoutCommitRes,
        LayoutGet: LayoutGetArgs => LayoutGetRes<'r>,
        LayoutReturn: LayoutReturnArgs<'_> => LayoutReturnRes,
        SecInfoNoName: SecInfoNoNameArgs => SecInfoNoNameRes<'r>,
        Sequence: SequenceArgs => SequenceRes,
        SetSsv: SetSsvArgs<'_> => SetSsvRes<'r>,
        TestStateId: TestStateIdArgs => TestStateIdRes,
        WantDelegation: WantDelegationArgs => WantDelegationRes<'r>,
        DestroyClientId: DestroyClientIdArgs => DestroyClientIdRes,
        ReclaimComplete: ReclaimCompleteArgs => ReclaimCompleteRes,
        Allocate: AllocateArgs => AllocateRes,
        Copy: CopyArgs<'_> => CopyRes,
        CopyNotify: CopyNotifyArgs<'_> => CopyNotifyRes<'r>,
        Deallocate: DeallocateArgs => DeallocateRes,
        IoAdvise: IoAdviseArgs => IoAdviseRes,
        LayoutError: LayoutErrorArgs => LayoutErrorRes,
        LayoutStats: LayoutStatsArgs<'_> => LayoutStatsRes,
        OffloadCancel: OffloadCancelArgs => OffloadCancelRes,
        OffloadStatus: OffloadStatusArgs => OffloadStatusRes,
        ReadPlus: ReadPlusArgs => ReadPlusRes<'r>,
        Seek: SeekArgs => SeekRes,
        WriteSame: WriteSameArgs<'_> => WriteSameRes,
        Clone: CloneArgs => CloneRes,
        GetXattr: GetXattrArgs<'_> => GetXattrRes<'r>,
        SetXattr: SetXattrArgs<'_> => SetXattrRes,
        ListXattrs: ListXattrsArgs => ListXattrsRes<'r>,
        RemoveXattr: RemoveXattrArgs<'_> => RemoveXattrRes,
        Illegal: IllegalArgs => IllegalRes,
    }
}

operations! {
    CbOp {
        GetAttr: CbGetAttrArgs<'_> => CbGetAttrRes<'r>,
        Recall: CbRecallArgs<'_> => CbRecallRes,
        LayoutRecall: CbLayoutRecallArgs<'_> => CbLayoutRecallRes,
        Notify: CbNotifyArgs<'_> => CbNotifyRes,
        PushDeleg: CbPushDelegArgs<'_> => CbPushDelegRes,
        RecallAny: CbRecallAnyArgs => CbRecallAnyRes,
        RecallableObjAvail: CbRecallableObjAvailArgs => CbRecallableObjAvailRes,
        RecallSlot: CbRecallSlotArgs => CbRecallSlotRes,
        Sequence: CbSequenceArgs => CbSequenceRes,
        WantsCancelled: CbWantsCancelledArgs => CbWantsCancelledRes,
        NotifyLock: CbNotifyLockArgs<'_> => CbNotifyLockRes,
        NotifyDeviceId: CbNotifyDeviceIdArgs<'_> => CbNotifyDeviceIdRes,
        Offload: CbOffloadArgs<'_> => CbOffloadRes,
        Illegal: CbIllegalArgs => CbIllegalRes,
    }
}
