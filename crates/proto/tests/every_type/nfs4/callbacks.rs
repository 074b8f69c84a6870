use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{FATTR, FH, NAME, OWNER, STATEID};
use crate::{Sample, samples};

const SESSION: SessionId = *b"a session's id!!";
const FILES: LayoutType = LayoutType::NFSV4_1_FILES;
const RECALLED: LayoutRecallFile<'static> =
    LayoutRecallFile { fh: FH, offset: 0, length: u64::MAX, stateid: STATEID };
const CALL: ReferringCall = ReferringCall { sequenceid: 4, slotid: 2 };
const SEQUENCED: CbSequenceResOk = CbSequenceResOk {
    sessionid: SESSION,
    sequenceid: 1,
    slotid: 0,
    highest_slotid: 3,
    target_highest_slotid: 3,
};
const COPIED: WriteResponse = WriteResponse {
    callback_id: None,
    count: 5,
    committed: StableHow::FileSync,
    writeverf: *b"verifier",
};
const ENTRY: NotifyEntry<'static> = NotifyEntry { file: NAME, attrs: FATTR };
const REMOVED: NotifyRemove<'static> = NotifyRemove { old_entry: ENTRY, old_entry_cookie: 5 };
const ADDED: NotifyAdd<'static> = NotifyAdd {
    old_entry: Some(REMOVED),
    new_entry: ENTRY,
    new_entry_cookie: Some(6),
    prev_entry: Some(PrevEntry { entry: ENTRY, cookie: 4 }),
    last_entry: true,
};
const CHANGES: Notify<'static> =
    Notify { mask: Bitmap::from_words([1 << 2, 0, 0, 0]), vals: Opaque(b"changes") };

pub(crate) fn add(to: &mut Vec<Sample>) {
    delegations_and_layouts(to);
    sessions_and_copies(to);
    notifications(to);
}

fn delegations_and_layouts(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        CbOp [CbOp::GetAttr, CbOp::Offload, CbOp::Illegal]
        CbCompoundHead<'_> [CbCompoundHead {
            tag: Opaque(b"cb"),
            minorversion: 0,
            callback_ident: 1,
            count: 1,
        }]
        CbGetAttrArgs<'_> [CbGetAttrArgs { fh: FH, attr_request: FATTR.mask }]
        CbGetAttrRes<'_> [CbGetAttrRes::Ok(FATTR), CbGetAttrRes::Fail(Status::BadHandle)]
        CbRecallArgs<'_> [CbRecallArgs { stateid: STATEID, truncate: false, fh: FH }]
        CbRecallRes [CbRecallRes::Ok(()), CbRecallRes::Fail(Status::BadStateId)]
        CbLayoutRecallArgs<'_> [CbLayoutRecallArgs {
            layout_type: FILES,
            iomode: LayoutIoMode::Any,
            changed: true,
            recall: LayoutRecall::File(RECALLED),
        }]
        LayoutRecall<'_> [
            LayoutRecall::File(RECALLED),
            LayoutRecall::Fsid(Fsid { major: 1, minor: 2 }),
            LayoutRecall::All,
        ]
        LayoutRecallFile<'_> [RECALLED]
        CbLayoutRecallRes [CbLayoutRecallRes::Fail(Status::NoMatchingLayout)]
        CbPushDelegArgs<'_> [CbPushDelegArgs { fh: FH, delegation: OpenDelegation::None }]
        CbPushDelegRes [CbPushDelegRes::Fail(Status::RejectDeleg)]
        CbRecallAnyArgs [CbRecallAnyArgs {
            objects_to_keep: 10,
            type_mask: [rca4_type::RDATA_DLG].into_iter().collect(),
        }]
        CbRecallAnyRes [CbRecallAnyRes::Ok(())]
        CbRecallableObjAvailArgs [CbRecallableObjAvailArgs {
            objects_to_keep: 10,
            type_mask: Bitmap::EMPTY,
        }]
        CbRecallableObjAvailRes [CbRecallableObjAvailRes::Ok(())]
        CbIllegalArgs [CbIllegalArgs]
        CbIllegalRes [CbIllegalRes::Fail(Status::OpIllegal)]
    });
}

fn sessions_and_copies(to: &mut Vec<Sample>) {
    let list = ReferringCallList { sessionid: SESSION, referring_calls: Array(vec![CALL, CALL]) };
    let sequence = CbSequenceArgs {
        sessionid: SESSION,
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
        referring_call_lists: Array(vec![list.clone()]),
    };
    let failed = OffloadInfo::Fail(Status::NoSpc, 4096);
    samples!(to: nfs4 {
        CbRecallSlotArgs [CbRecallSlotArgs { target_highest_slotid: 7 }]
        CbRecallSlotRes [CbRecallSlotRes::Ok(())]
        ReferringCall [CALL]
        ReferringCallList [list]
        CbSequenceArgs [sequence]
        CbSequenceResOk [SEQUENCED]
        CbSequenceRes [CbSequenceRes::Ok(SEQUENCED), CbSequenceRes::Fail(Status::BadSession)]
        CbWantsCancelledArgs [CbWantsCancelledArgs {
            contended_wants_cancelled: true,
            resourced_wants_cancelled: false,
        }]
        CbWantsCancelledRes [CbWantsCancelledRes::Ok(())]
        CbNotifyLockArgs<'_> [CbNotifyLockArgs { fh: FH, lock_owner: OWNER }]
        CbNotifyLockRes [CbNotifyLockRes::Ok(())]
        OffloadInfo [OffloadInfo::Ok(COPIED), failed]
        CbOffloadArgs<'_> [CbOffloadArgs { fh: FH, stateid: STATEID, offload_info: failed }]
        CbOffloadRes [CbOffloadRes::Fail(Status::Delay)]
    });
}

fn notifications(to: &mut Vec<Sample>) {
    let bare = NotifyAdd { old_entry: None, new_entry_cookie: None, prev_entry: None, ..ADDED };
    samples!(to: nfs4 {
        NotifyType [NotifyType::ChangeChildAttrs, NotifyType::ChangeCookieVerifier]
        Notify<'_> [CHANGES]
        CbNotifyArgs<'_> [CbNotifyArgs { stateid: STATEID, fh: FH, changes: Array(vec![CHANGES]) }]
        CbNotifyRes [CbNotifyRes::Ok(())]
        NotifyEntry<'_> [ENTRY]
        PrevEntry<'_> [PrevEntry { entry: ENTRY, cookie: 4 }]
        NotifyAttr<'_> [NotifyAttr { changed_entry: ENTRY }]
        NotifyRemove<'_> [REMOVED]
        NotifyAdd<'_> [ADDED, bare]
        NotifyRename<'_> [NotifyRename { old_entry: REMOVED, new_entry: bare }]
        NotifyVerifier [NotifyVerifier { old_cookieverf: [1; 8], new_cookieverf: [2; 8] }]
        NotifyDeviceIdType [NotifyDeviceIdType::Change, NotifyDeviceIdType::Delete]
        CbNotifyDeviceIdArgs<'_> [CbNotifyDeviceIdArgs { changes: Array(vec![CHANGES, CHANGES]) }]
        CbNotifyDeviceIdRes [CbNotifyDeviceIdRes::Ok(())]
        NotifyDeviceIdDelete [NotifyDeviceIdDelete { layout_type: FILES, deviceid: [3; 16] }]
        NotifyDeviceIdChange [NotifyDeviceIdChange {
            layout_type: FILES,
            deviceid: [3; 16],
            immediate: true,
        }]
    });
}
