//! A server's calls to its clients (RFC 8881 §20, RFC 7862 §16).

use hayase_xdr::{Array, Decode, Encode, Reader, Result, Xdr};

use super::{
    Bitmap, Fattr, FileHandle, Fsid, LayoutIoMode, LayoutType, LockOwner, NfsStat, OpenDelegation,
    Res4, SessionId, StateId, Status, WriteResponse,
};

/// The most calls in one list of referring calls that are read, and the most lists.
pub const MAX_REFERRING: u32 = 1024;

/// `CB_GETATTR` (RFC 8881 §20.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbGetAttrArgs<'a> {
    /// The file.
    pub fh: FileHandle<'a>,
    /// Attributes wanted: `change`, `size`, and the delegated times.
    pub attr_request: Bitmap,
}

/// What `CB_GETATTR` answers (RFC 8881 §20.1).
pub type CbGetAttrRes<'a> = Res4<Fattr<'a>>;

/// `CB_RECALL` (RFC 8881 §20.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbRecallArgs<'a> {
    /// The delegation.
    pub stateid: StateId,
    /// Whether the file will be truncated, so that the client need not write to it.
    pub truncate: bool,
    /// The file.
    pub fh: FileHandle<'a>,
}

/// What `CB_RECALL` answers (RFC 8881 §20.2).
pub type CbRecallRes = Res4<()>;

/// `CB_LAYOUTRECALL` (RFC 8881 §20.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbLayoutRecallArgs<'a> {
    /// The type of the layouts.
    pub layout_type: LayoutType,
    /// What the layouts are for.
    pub iomode: LayoutIoMode,
    /// Whether the data will lie elsewhere, so that the client need not write to it.
    pub changed: bool,
    /// Which layouts.
    pub recall: LayoutRecall<'a>,
}

/// Which layouts are recalled (RFC 8881 §20.3, `layoutrecall4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum LayoutRecall<'a> {
    /// A range of a file.
    #[xdr(1)]
    File(LayoutRecallFile<'a>),
    /// All of a file system.
    #[xdr(2)]
    Fsid(Fsid),
    /// All.
    #[xdr(3)]
    All,
}

/// A range of a file whose layouts are recalled (RFC 8881 §20.3, `layoutrecall_file4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutRecallFile<'a> {
    /// The file.
    pub fh: FileHandle<'a>,
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end.
    pub length: u64,
    /// Names the file's layouts.
    pub stateid: StateId,
}

/// What `CB_LAYOUTRECALL` answers (RFC 8881 §20.3).
pub type CbLayoutRecallRes = Res4<()>;

/// `CB_PUSH_DELEG` (RFC 8881 §20.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbPushDelegArgs<'a> {
    /// The file.
    pub fh: FileHandle<'a>,
    /// The delegation.
    pub delegation: OpenDelegation<'a>,
}

/// What `CB_PUSH_DELEG` answers (RFC 8881 §20.5).
pub type CbPushDelegRes = Res4<()>;

/// `CB_RECALL_ANY` (RFC 8881 §20.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbRecallAnyArgs {
    /// How many the client may keep.
    pub objects_to_keep: u32,
    /// Of which kinds: numbers of [`rca4_type`].
    pub type_mask: Bitmap,
}

/// What `CB_RECALL_ANY` answers (RFC 8881 §20.6).
pub type CbRecallAnyRes = Res4<()>;

/// Kinds of what can be recalled: numbers in a bitmap (RFC 8881 §20.6).
pub mod rca4_type {
    /// Delegations for reading.
    pub const RDATA_DLG: u32 = 0;
    /// Delegations for writing.
    pub const WDATA_DLG: u32 = 1;
    /// Delegations of directories.
    pub const DIR_DLG: u32 = 2;
    /// Files layouts.
    pub const FILE_LAYOUT: u32 = 3;
    /// Block layouts.
    pub const BLK_LAYOUT: u32 = 4;
    /// First of the object layouts.
    pub const OBJ_LAYOUT_MIN: u32 = 8;
    /// Last of the object layouts.
    pub const OBJ_LAYOUT_MAX: u32 = 9;
    /// First of other layouts.
    pub const OTHER_LAYOUT_MIN: u32 = 12;
    /// Last of other layouts.
    pub const OTHER_LAYOUT_MAX: u32 = 15;
    /// First of the flexible files layouts (RFC 8435).
    pub const FF_LAYOUT_MIN: u32 = 16;
    /// Last of the flexible files layouts (RFC 8435).
    pub const FF_LAYOUT_MAX: u32 = 17;
}

/// `CB_RECALLABLE_OBJ_AVAIL` (RFC 8881 §20.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbRecallableObjAvailArgs {
    /// How many the client may have.
    pub objects_to_keep: u32,
    /// Of which kinds: numbers of [`rca4_type`].
    pub type_mask: Bitmap,
}

/// What `CB_RECALLABLE_OBJ_AVAIL` answers (RFC 8881 §20.7).
pub type CbRecallableObjAvailRes = Res4<()>;

/// `CB_RECALL_SLOT` (RFC 8881 §20.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbRecallSlotArgs {
    /// The highest slot the client should use.
    pub target_highest_slotid: u32,
}

/// What `CB_RECALL_SLOT` answers (RFC 8881 §20.8).
pub type CbRecallSlotRes = Res4<()>;

/// A call of the client's that this one follows from (RFC 8881 §20.9, `referring_call4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReferringCall {
    /// Its sequence id.
    pub sequenceid: u32,
    /// Its slot.
    pub slotid: u32,
}

/// Calls in one session that this one follows from (RFC 8881 §20.9, `referring_call_list4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ReferringCallList {
    /// The session.
    pub sessionid: SessionId,
    /// The calls.
    pub referring_calls: Array<ReferringCall, MAX_REFERRING>,
}

/// `CB_SEQUENCE` (RFC 8881 §20.9).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CbSequenceArgs {
    /// The session.
    pub sessionid: SessionId,
    /// The slot's next sequence id; the same again for a repeat.
    pub sequenceid: u32,
    /// The slot.
    pub slotid: u32,
    /// The highest slot the server uses.
    pub highest_slotid: u32,
    /// Whether to keep the reply for repeats.
    pub cachethis: bool,
    /// Calls that must have been answered before.
    pub referring_call_lists: Array<ReferringCallList, MAX_REFERRING>,
}

/// What `CB_SEQUENCE` answers (RFC 8881 §20.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbSequenceResOk {
    /// The session.
    pub sessionid: SessionId,
    /// The call's sequence id.
    pub sequenceid: u32,
    /// The call's slot.
    pub slotid: u32,
    /// The highest slot that can be used.
    pub highest_slotid: u32,
    /// The highest slot that should be used.
    pub target_highest_slotid: u32,
}

/// What `CB_SEQUENCE` answers (RFC 8881 §20.9).
pub type CbSequenceRes = Res4<CbSequenceResOk>;

/// `CB_WANTS_CANCELLED` (RFC 8881 §20.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbWantsCancelledArgs {
    /// Wishes that waited for others are forgotten.
    pub contended_wants_cancelled: bool,
    /// Wishes that waited for resources are forgotten.
    pub resourced_wants_cancelled: bool,
}

/// What `CB_WANTS_CANCELLED` answers (RFC 8881 §20.10).
pub type CbWantsCancelledRes = Res4<()>;

/// `CB_NOTIFY_LOCK` (RFC 8881 §20.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbNotifyLockArgs<'a> {
    /// The file.
    pub fh: FileHandle<'a>,
    /// Who waits.
    pub lock_owner: LockOwner<'a>,
}

/// What `CB_NOTIFY_LOCK` answers (RFC 8881 §20.11).
pub type CbNotifyLockRes = Res4<()>;

/// How a copy ended (RFC 7862 §16.1, `offload_info4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffloadInfo {
    /// Well.
    Ok(WriteResponse),
    /// With this status, after so many bytes.
    Fail(Status, u64),
}

impl Decode<'_> for OffloadInfo {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match NfsStat::decode(from)? {
            NfsStat::OK => OffloadInfo::Ok(WriteResponse::decode(from)?),
            NfsStat(number) => OffloadInfo::Fail(Status::try_from(number)?, u64::decode(from)?),
        })
    }
}

impl Encode for OffloadInfo {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            OffloadInfo::Ok(response) => {
                NfsStat::OK.encode(to);
                response.encode(to);
            }
            OffloadInfo::Fail(status, bytes_copied) => {
                status.encode(to);
                bytes_copied.encode(to);
            }
        }
    }
}

/// `CB_OFFLOAD` (RFC 7862 §16.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbOffloadArgs<'a> {
    /// The destination.
    pub fh: FileHandle<'a>,
    /// Names the copy.
    pub stateid: StateId,
    /// How it ended.
    pub offload_info: OffloadInfo,
}

/// What `CB_OFFLOAD` answers (RFC 7862 §16.1).
pub type CbOffloadRes = Res4<()>;

/// `CB_ILLEGAL`, which nobody sends (RFC 8881 §20.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbIllegalArgs;

/// What an operation that does not exist is answered (RFC 8881 §20.13).
pub type CbIllegalRes = Res4<()>;
