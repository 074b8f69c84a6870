//! NFS version 4: minor versions 0 (RFC 7530, RFC 7531), 1 (RFC 8881) and 2
//! (RFC 7862), with extended attributes (RFC 8276), umask (RFC 8275) and delegated
//! times (RFC 9754).
//!
//! The minor versions share their types: each only adds operations, attributes and
//! arms of unions, so one set of types serves all three.
//!
//! A server decodes a compound one operation at a time: [`CompoundHead`], then
//! for each operation its number and the arguments [`Operation`] names. Results are
//! [`Res4`], made of what an ordinary function returned.

mod acl;
mod attr;
mod attr_ops;
mod attr_types;
mod attrs;
mod bitmap;
mod cb;
mod cb_op;
mod client40;
mod compound;
mod copy;
mod delegation;
mod device;
mod dir_ops;
mod exchange_id;
mod fattr;
mod fs_locations;
mod handle;
mod layout;
mod layout_files;
mod layout_report;
mod layout_type;
mod lock;
mod lookup;
mod net_addr;
mod notify;
mod op;
mod open;
mod open_res;
mod operation;
mod read;
mod read_plus;
mod readdir;
mod readdir_writer;
mod reply;
mod res;
mod secinfo;
mod sequence;
mod session;
mod space;
mod stateid;
mod status;
mod write;
mod write_span;
mod xattr;

pub use acl::{
    Acl, MAX_ACES, NfsAce, NfsAcl41, ace_flag, ace_mask, ace_type, acl_flag, acl_support,
};
pub use attr::{ATTRS, Attr, AttrAccess, AttrInfo, AttrLevel};
pub use attr_ops::{
    AccessArgs, AccessRes, AccessResOk, GetAttrArgs, GetAttrRes, NVerifyArgs, NVerifyRes,
    SetAttrArgs, SetAttrRes, VerifyArgs, VerifyRes, access,
};
pub use attr_types::{
    ChangeAttrType, ChangeInfo, ChangePolicy, FType, FsStatus, FsStatusType, Fsid, LayoutHint,
    LayoutTypes, MdsThreshold, ModeMasked, ModeUmask, NfsTime, OpenArguments, RetentionGet,
    RetentionSet, SecLabel, SetTime, SpecData, ThresholdItem, fh4, fs_charset_cap, threshold,
};
pub use attrs::{Attrs, SetAttrs, SetAttrsError};
pub use bitmap::{Bitmap, BitmapIter};
pub use compound::{CompoundHead, CompoundResHead, CompoundResWriter, CompoundWriter};
pub use dir_ops::{
    CreateArgs, CreateRes, CreateResOk, CreateType, LinkArgs, LinkRes, OpenAttrArgs, OpenAttrRes,
    RemoveArgs, RemoveRes, RenameArgs, RenameRes, RenameResOk,
};
pub use fattr::{Fattr, FattrWriter};
pub use fs_locations::{
    FsLocation, FsLocations, FsLocationsInfo, FsLocationsItem, FsLocationsServer, MAX_LOCATIONS,
    fsli4bx, fsli4gf, fsli4if, fsli4tf,
};
pub use handle::{
    GetFhArgs, GetFhRes, IllegalArgs, IllegalRes, PutFhArgs, PutFhRes, PutPubFhArgs, PutPubFhRes,
    PutRootFhArgs, PutRootFhRes, RestoreFhArgs, RestoreFhRes, SaveFhArgs, SaveFhRes,
};
pub use layout_type::LayoutType;
pub use lookup::{LookupArgs, LookupPArgs, LookupPRes, LookupRes, ReadlinkArgs, ReadlinkRes};
pub use op::Op;
pub use operation::{OpSet, Operation};
pub use reply::{CompoundReply, OpResult};
pub use res::{Failure, Res4};
pub use stateid::{LockOwner, OpenOwner, StateId, StateOwner};
pub use status::{NfsStat, Status};

pub use cb::{
    CbGetAttrArgs, CbGetAttrRes, CbIllegalArgs, CbIllegalRes, CbLayoutRecallArgs,
    CbLayoutRecallRes, CbNotifyLockArgs, CbNotifyLockRes, CbOffloadArgs, CbOffloadRes,
    CbPushDelegArgs, CbPushDelegRes, CbRecallAnyArgs, CbRecallAnyRes, CbRecallArgs, CbRecallRes,
    CbRecallSlotArgs, CbRecallSlotRes, CbRecallableObjAvailArgs, CbRecallableObjAvailRes,
    CbSequenceArgs, CbSequenceRes, CbSequenceResOk, CbWantsCancelledArgs, CbWantsCancelledRes,
    LayoutRecall, LayoutRecallFile, OffloadInfo, ReferringCall, ReferringCallList, rca4_type,
};
pub use cb_op::{CB_PROC_COMPOUND, CB_PROC_NULL, CB_PROGRAM, CB_VERSION, CbCompoundHead, CbOp};
pub use client40::{
    CbClient, NfsClientId, ReleaseLockOwnerArgs, ReleaseLockOwnerRes, RenewArgs, RenewRes,
    SetClientIdArgs, SetClientIdConfirmArgs, SetClientIdConfirmRes, SetClientIdFail,
    SetClientIdRes, SetClientIdResOk,
};
pub use copy::{
    CloneArgs, CloneRes, CopyArgs, CopyFail, CopyNotifyArgs, CopyNotifyRes, CopyNotifyResOk,
    CopyRequirements, CopyRes, CopyResOk, NetLoc, OffloadCancelArgs, OffloadCancelRes,
    OffloadStatusArgs, OffloadStatusRes, OffloadStatusResOk, WriteResponse,
};
pub use delegation::{
    DelegClaim, DelegPurgeArgs, DelegPurgeRes, DelegReturnArgs, DelegReturnRes, DirDelegation,
    GetDirDelegationArgs, GetDirDelegationRes, GetDirDelegationResOk, WantDelegationArgs,
    WantDelegationRes,
};
pub use device::{
    DeviceAddr, DeviceId, GetDeviceInfoArgs, GetDeviceInfoFail, GetDeviceInfoRes,
    GetDeviceInfoResOk, GetDeviceListArgs, GetDeviceListRes, GetDeviceListResOk,
};
pub use exchange_id::{
    ClientOwner, DestroyClientIdArgs, DestroyClientIdRes, ExchangeIdArgs, ExchangeIdRes,
    ExchangeIdResOk, NfsImplId, ServerOwner, SsvInfo, SsvParms, StateProtectArgs, StateProtectOps,
    StateProtectRes, exchange_id_flag,
};
pub use layout::{
    Layout, LayoutCommitArgs, LayoutCommitRes, LayoutContent, LayoutGetArgs, LayoutGetFail,
    LayoutGetRes, LayoutGetResOk, LayoutIoMode, LayoutReturn, LayoutReturnArgs, LayoutReturnFile,
    LayoutReturnRes, LayoutUpdate,
};
pub use layout_files::{
    FileLayout, FileLayoutDsAddr, FileLayoutHint, MAX_STRIPES, MultipathList, nfl_util, nflh_care,
};
pub use layout_report::{
    DeviceError, IoInfo, LayoutErrorArgs, LayoutErrorRes, LayoutStatsArgs, LayoutStatsRes,
};
pub use lock::{
    ExistLockOwner, LockArgs, LockDenied, LockFail, LockRes, LockTArgs, LockTRes, LockType,
    LockUArgs, LockURes, Locker, OpenToLockOwner,
};
pub use net_addr::NetAddr;
pub use notify::{
    CbNotifyArgs, CbNotifyDeviceIdArgs, CbNotifyDeviceIdRes, CbNotifyRes, Notify, NotifyAdd,
    NotifyAttr, NotifyDeviceIdChange, NotifyDeviceIdDelete, NotifyDeviceIdType, NotifyEntry,
    NotifyRemove, NotifyRename, NotifyType, NotifyVerifier, PrevEntry,
};
pub use open::{
    ClaimDelegateCur, CreateHow, CreateVerfAttr, DelegationType, OpenArgs, OpenClaim, OpenHow,
    open_args, share_access, share_deny, share_want,
};
pub use open_res::{
    CloseArgs, CloseRes, ModifiedLimit, OpenConfirmArgs, OpenConfirmRes, OpenDelegation,
    OpenDowngradeArgs, OpenDowngradeRes, OpenRes, OpenResOk, ReadDelegation, SpaceLimit,
    WhyNoDelegation, WriteDelegation, open_result,
};
pub use read::{ReadArgs, ReadHeadRes, ReadRes, ReadResHead, ReadResOk};
pub use read_plus::{
    ReadPlusArgs, ReadPlusContent, ReadPlusContentHead, ReadPlusData, ReadPlusDataHead,
    ReadPlusHeadRes, ReadPlusHole, ReadPlusRes, ReadPlusResHead, ReadPlusResOk,
};
pub use readdir::{Entry4, ReaddirArgs, ReaddirRes, ReaddirResOk};
pub use readdir_writer::ReaddirWriter;
pub use secinfo::{
    GssHandle, GssService, RpcSecGssInfo, SecInfo, SecInfoArgs, SecInfoNoNameArgs,
    SecInfoNoNameRes, SecInfoRes, SecInfoResOk, SecInfoStyle, SecOid,
};
pub use sequence::{
    FreeStateIdArgs, FreeStateIdRes, MAX_STATEIDS, ReclaimCompleteArgs, ReclaimCompleteRes,
    SequenceArgs, SequenceRes, SequenceResOk, SetSsvArgs, SetSsvRes, TestStateIdArgs,
    TestStateIdRes, seq4_status,
};
pub use session::{
    AuthSysParms, BackchannelCtlArgs, BackchannelCtlRes, BindConnToSessionArgs,
    BindConnToSessionRes, BindConnToSessionResOk, CbSecParms, ChannelAttrs, ChannelDirFromClient,
    ChannelDirFromServer, CreateSessionArgs, CreateSessionRes, CreateSessionResOk,
    DestroySessionArgs, DestroySessionRes, GssCbHandles, create_session_flag,
};
pub use space::{
    AllocateArgs, AllocateRes, AppDataBlock, DataContent, DeallocateArgs, DeallocateRes, IoAdvice,
    IoAdviseArgs, IoAdviseRes, SeekArgs, SeekRes, SeekResOk, WriteSameArgs, WriteSameRes,
};
pub use write::{CommitArgs, CommitRes, WriteArgs, WriteArgsHead, WriteRes, WriteResOk};
pub use write_span::write_data_span;
pub use xattr::{
    GetXattrArgs, GetXattrRes, ListXattrsArgs, ListXattrsRes, ListXattrsResOk, RemoveXattrArgs,
    RemoveXattrRes, SetXattrArgs, SetXattrOption, SetXattrRes, XattrKey, XattrValue,
};

// The same on the wire of both versions.
pub use crate::nfs3::{DataSpan, DirList, DirListIter, StableHow};

use hayase_xdr::{Array, Opaque};

/// The RPC program number of NFS (RFC 8881 §16).
pub const PROGRAM: u32 = 100_003;
/// The version these types are of (RFC 8881 §16).
pub const VERSION: u32 = 4;
/// The port a server listens on unless told otherwise (RFC 8881 §2.9.3).
pub const PORT: u16 = 2049;
/// The procedure that does nothing (RFC 8881 §16.1).
pub const PROC_NULL: u32 = 0;
/// The procedure that does everything (RFC 8881 §16.2).
pub const PROC_COMPOUND: u32 = 1;

/// The longest file handle (RFC 8881 §3.1).
pub const FHSIZE: u32 = 128;
/// The longest owner, client name, server name and scope (RFC 8881 §3.1).
pub const OPAQUE_LIMIT: u32 = 1024;

/// What names a file to the server; means nothing to the client (RFC 8881 §3.2, `nfs_fh4`).
pub type FileHandle<'a> = Opaque<'a, FHSIZE>;
/// One component of a path. Unlimited on the wire: a name that is too long
/// is answered with [`Status::NameTooLong`] (RFC 8881 §3.2, `component4`).
pub type Component<'a> = Opaque<'a>;
/// The text of a symbolic link, unlimited like names (RFC 8881 §3.2, `linktext4`).
pub type LinkText<'a> = Opaque<'a>;
/// A path, component by component; empty for the root (RFC 8881 §3.2, `pathname4`).
pub type Pathname<'a> = Array<Component<'a>, 1024>;
/// Names a client to the server (RFC 8881 §3.2, `clientid4`).
pub type ClientId = u64;
/// Names a session (RFC 8881 §3.2, `sessionid4`).
pub type SessionId = [u8; 16];
/// Says whether something is still the same (RFC 8881 §3.2, `verifier4`).
pub type Verifier = [u8; 8];
