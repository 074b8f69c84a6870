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
mod client40;
mod compound;
mod delegation;
mod dir_ops;
mod exchange_id;
mod fattr;
mod fs_locations;
mod handle;
mod layout_type;
mod lock;
mod lookup;
mod net_addr;
mod op;
mod open;
mod open_res;
mod operation;
mod read;
mod readdir;
mod readdir_writer;
mod reply;
mod res;
mod secinfo;
mod sequence;
mod session;
mod stateid;
mod status;
mod write;
mod write_span;

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

pub use client40::{
    CbClient, NfsClientId, ReleaseLockOwnerArgs, ReleaseLockOwnerRes, RenewArgs, RenewRes,
    SetClientIdArgs, SetClientIdConfirmArgs, SetClientIdConfirmRes, SetClientIdFail,
    SetClientIdRes, SetClientIdResOk,
};
pub use delegation::{
    DelegClaim, DelegPurgeArgs, DelegPurgeRes, DelegReturnArgs, DelegReturnRes, DirDelegation,
    GetDirDelegationArgs, GetDirDelegationRes, GetDirDelegationResOk, WantDelegationArgs,
    WantDelegationRes,
};
pub use exchange_id::{
    ClientOwner, DestroyClientIdArgs, DestroyClientIdRes, ExchangeIdArgs, ExchangeIdRes,
    ExchangeIdResOk, NfsImplId, ServerOwner, SsvInfo, SsvParms, StateProtectArgs, StateProtectOps,
    StateProtectRes, exchange_id_flag,
};
pub use lock::{
    ExistLockOwner, LockArgs, LockDenied, LockFail, LockRes, LockTArgs, LockTRes, LockType,
    LockUArgs, LockURes, Locker, OpenToLockOwner,
};
pub use net_addr::NetAddr;
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
pub use write::{CommitArgs, CommitRes, WriteArgs, WriteArgsHead, WriteRes, WriteResOk};
pub use write_span::write_data_span;

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
