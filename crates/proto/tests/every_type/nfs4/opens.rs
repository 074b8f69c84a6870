use hayase_proto::nfs4::*;
use hayase_xdr::Opaque;

use super::{CHANGE, FATTR, NAME, OWNER, STATEID, TIME};
use crate::{Sample, samples};

const VERF_ATTR: CreateVerfAttr<'static> = CreateVerfAttr { verf: *b"creation", attrs: FATTR };
const CUR: ClaimDelegateCur<'static> = ClaimDelegateCur { delegate_stateid: STATEID, file: NAME };
const OPEN: OpenArgs<'static> = OpenArgs {
    seqid: 1,
    share_access: share_access::BOTH | share_want::ANY_DELEG,
    share_deny: share_deny::NONE,
    owner: OWNER,
    openhow: OpenHow::Create(CreateHow::Exclusive41(VERF_ATTR)),
    claim: OpenClaim::Null(NAME),
};
const ACE: NfsAce<'static> =
    NfsAce { ace_type: ace_type::DENIED, flag: 0, access_mask: 0, who: Opaque(b"") };
const READ: ReadDelegation<'static> =
    ReadDelegation { stateid: STATEID, recall: false, permissions: ACE };
const BLOCKS: ModifiedLimit = ModifiedLimit { num_blocks: 5, bytes_per_block: 4096 };
const WRITE: WriteDelegation<'static> = WriteDelegation {
    stateid: STATEID,
    recall: true,
    space_limit: SpaceLimit::Size(u64::MAX),
    permissions: ACE,
};
const OPENED: OpenResOk<'static> = OpenResOk {
    stateid: STATEID,
    cinfo: CHANGE,
    rflags: open_result::LOCKTYPE_POSIX,
    attrset: FATTR.mask,
    delegation: OpenDelegation::Read(READ),
};
const NEW_LOCKER: OpenToLockOwner<'static> =
    OpenToLockOwner { open_seqid: 2, open_stateid: STATEID, lock_seqid: 0, lock_owner: OWNER };
const LOCKER: ExistLockOwner = ExistLockOwner { lock_stateid: STATEID, lock_seqid: 9 };
const LOCK: LockArgs<'static> = LockArgs {
    locktype: LockType::WriteW,
    reclaim: false,
    offset: 10,
    length: u64::MAX,
    locker: Locker::New(NEW_LOCKER),
};
const DENIED: LockDenied<'static> =
    LockDenied { offset: 0, length: 100, locktype: LockType::Read, owner: OWNER };

pub(crate) fn add(to: &mut Vec<Sample>) {
    opens(to);
    opened(to);
    locks(to);
    delegations(to);
}

fn opens(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        OpenArgs<'_> [
            OPEN,
            OpenArgs { openhow: OpenHow::NoCreate, claim: OpenClaim::Fh, ..OPEN },
        ]
        OpenHow<'_> [OpenHow::NoCreate, OpenHow::Create(CreateHow::Unchecked(FATTR))]
        CreateHow<'_> [
            CreateHow::Unchecked(FATTR),
            CreateHow::Guarded(Fattr::EMPTY),
            CreateHow::Exclusive(*b"verifier"),
            CreateHow::Exclusive41(VERF_ATTR),
        ]
        CreateVerfAttr<'_> [VERF_ATTR]
        OpenClaim<'_> [
            OpenClaim::Null(NAME),
            OpenClaim::Previous(DelegationType::Write),
            OpenClaim::DelegateCur(CUR),
            OpenClaim::DelegatePrev(NAME),
            OpenClaim::Fh,
            OpenClaim::DelegCurFh(STATEID),
            OpenClaim::DelegPrevFh,
        ]
        ClaimDelegateCur<'_> [CUR]
        DelegationType [DelegationType::None, DelegationType::WriteAttrs]
    });
}

fn opened(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        OpenResOk<'_> [OPENED]
        OpenRes<'_> [OpenRes::Ok(OPENED), OpenRes::Fail(Status::ShareDenied)]
        OpenDelegation<'_> [
            OpenDelegation::None,
            OpenDelegation::Read(READ),
            OpenDelegation::Write(WRITE),
            OpenDelegation::NoneExt(WhyNoDelegation::Contention(true)),
            OpenDelegation::ReadAttrs(READ),
            OpenDelegation::WriteAttrs(WRITE),
        ]
        ReadDelegation<'_> [READ]
        WriteDelegation<'_> [
            WRITE,
            WriteDelegation { space_limit: SpaceLimit::Blocks(BLOCKS), ..WRITE },
        ]
        SpaceLimit [SpaceLimit::Size(1), SpaceLimit::Blocks(BLOCKS)]
        ModifiedLimit [BLOCKS]
        WhyNoDelegation [
            WhyNoDelegation::NotWanted,
            WhyNoDelegation::Contention(false),
            WhyNoDelegation::Resource(true),
            WhyNoDelegation::NotSuppFtype,
            WhyNoDelegation::WriteDelegNotSuppFtype,
            WhyNoDelegation::NotSuppUpgrade,
            WhyNoDelegation::NotSuppDowngrade,
            WhyNoDelegation::Cancelled,
            WhyNoDelegation::IsDir,
        ]
        CloseArgs [CloseArgs { seqid: 4, open_stateid: STATEID }]
        CloseRes [CloseRes::Ok(STATEID), CloseRes::Fail(Status::LocksHeld)]
        OpenConfirmArgs [OpenConfirmArgs { open_stateid: STATEID, seqid: 2 }]
        OpenConfirmRes [OpenConfirmRes::Ok(STATEID), OpenConfirmRes::Fail(Status::BadSeqId)]
        OpenDowngradeArgs [OpenDowngradeArgs {
            open_stateid: STATEID,
            seqid: 3,
            share_access: share_access::READ,
            share_deny: share_deny::NONE,
        }]
        OpenDowngradeRes [OpenDowngradeRes::Ok(STATEID), OpenDowngradeRes::Fail(Status::Inval)]
    });
}

fn locks(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        LockType [LockType::Read, LockType::Write, LockType::ReadW, LockType::WriteW]
        LockArgs<'_> [LOCK, LockArgs { locker: Locker::Existing(LOCKER), ..LOCK }]
        Locker<'_> [Locker::Existing(LOCKER), Locker::New(NEW_LOCKER)]
        OpenToLockOwner<'_> [NEW_LOCKER]
        ExistLockOwner [LOCKER]
        LockDenied<'_> [DENIED]
        LockRes<'_> [
            LockRes::Ok(STATEID),
            LockRes::Fail(LockFail::Denied(DENIED)),
            LockRes::Fail(Status::Grace.into()),
        ]
        LockTArgs<'_> [LockTArgs {
            locktype: LockType::Write,
            offset: 1,
            length: 2,
            owner: OWNER,
        }]
        LockTRes<'_> [
            LockTRes::Ok(()),
            LockTRes::Fail(LockFail::Denied(DENIED)),
            LockTRes::Fail(Status::LockRange.into()),
        ]
        LockUArgs [LockUArgs {
            locktype: LockType::Read,
            seqid: 5,
            lock_stateid: STATEID,
            offset: 0,
            length: 1,
        }]
        LockURes [LockURes::Ok(STATEID), LockURes::Fail(Status::BadStateId)]
    });
}

fn delegations(to: &mut Vec<Sample>) {
    let dir = DirDelegation {
        cookieverf: *b"cookies!",
        stateid: STATEID,
        notification: Bitmap::from_words([0x3c, 0, 0, 0]),
        child_attributes: FATTR.mask,
        dir_attributes: Bitmap::EMPTY,
    };
    samples!(to: nfs4 {
        DelegPurgeArgs [DelegPurgeArgs { clientid: 1 }]
        DelegPurgeRes [DelegPurgeRes::Fail(Status::NotSupp)]
        DelegReturnArgs [DelegReturnArgs { deleg_stateid: STATEID }]
        DelegReturnRes [DelegReturnRes::Ok(())]
        WantDelegationArgs [WantDelegationArgs {
            want: share_want::READ_DELEG,
            claim: DelegClaim::Fh,
        }]
        DelegClaim [
            DelegClaim::Previous(DelegationType::Read),
            DelegClaim::Fh,
            DelegClaim::DelegPrevFh,
        ]
        WantDelegationRes<'_> [
            WantDelegationRes::Ok(OpenDelegation::Write(WRITE)),
            WantDelegationRes::Fail(Status::DelegAlreadyWanted),
        ]
        GetDirDelegationArgs [GetDirDelegationArgs {
            signal_deleg_avail: false,
            notification_types: Bitmap::from_words([0x3c, 0, 0, 0]),
            child_attr_delay: TIME,
            dir_attr_delay: TIME,
            child_attributes: FATTR.mask,
            dir_attributes: FATTR.mask,
        }]
        DirDelegation [dir]
        GetDirDelegationResOk [
            GetDirDelegationResOk::Ok(dir),
            GetDirDelegationResOk::Unavail(true),
        ]
        GetDirDelegationRes [
            GetDirDelegationRes::Ok(GetDirDelegationResOk::Unavail(false)),
            GetDirDelegationRes::Fail(Status::DirDelegUnavail),
        ]
    });
}
