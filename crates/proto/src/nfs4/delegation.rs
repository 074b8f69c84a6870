//! DELEGPURGE, DELEGRETURN, `WANT_DELEGATION` and `GET_DIR_DELEGATION`
//! (RFC 8881 §18.5, §18.6, §18.39, §18.49).

use hayase_xdr::Xdr;

use super::{Bitmap, ClientId, DelegationType, NfsTime, OpenDelegation, Res4, StateId, Verifier};

/// DELEGPURGE (RFC 8881 §18.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DelegPurgeArgs {
    /// The client; from NFSv4.1 on the session tells.
    pub clientid: ClientId,
}

/// What DELEGPURGE answers (RFC 8881 §18.5).
pub type DelegPurgeRes = Res4<()>;

/// DELEGRETURN (RFC 8881 §18.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DelegReturnArgs {
    /// The delegation.
    pub deleg_stateid: StateId,
}

/// What DELEGRETURN answers (RFC 8881 §18.6).
pub type DelegReturnRes = Res4<()>;

/// `WANT_DELEGATION` (RFC 8881 §18.49).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WantDelegationArgs {
    /// Which delegation: bits of [`share_want`](super::share_want).
    pub want: u32,
    /// By what right.
    pub claim: DelegClaim,
}

/// By what right a delegation is wanted; the numbers are those of
/// [`OpenClaim`](super::OpenClaim) (RFC 8881 §18.49, `deleg_claim4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum DelegClaim {
    /// The client had this delegation before the server restarted.
    #[xdr(1)]
    Previous(DelegationType),
    /// No special right.
    #[xdr(4)]
    Fh,
    /// The client had a delegation before it restarted.
    #[xdr(6)]
    DelegPrevFh,
}

/// What `WANT_DELEGATION` answers (RFC 8881 §18.49).
pub type WantDelegationRes<'a> = Res4<OpenDelegation<'a>>;

/// `GET_DIR_DELEGATION` (RFC 8881 §18.39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetDirDelegationArgs {
    /// Whether to tell when there are resources for one.
    pub signal_deleg_avail: bool,
    /// Which changes to tell: numbers of [`NotifyType`](super::NotifyType).
    pub notification_types: Bitmap,
    /// How long notice of entries' attributes may take.
    pub child_attr_delay: NfsTime,
    /// How long notice of the directory's attributes may take.
    pub dir_attr_delay: NfsTime,
    /// Attributes of entries to tell.
    pub child_attributes: Bitmap,
    /// Attributes of the directory to tell.
    pub dir_attributes: Bitmap,
}

/// A delegation of a directory (RFC 8881 §18.39, `GET_DIR_DELEGATION4resok`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DirDelegation {
    /// The directory's cookie verifier.
    pub cookieverf: Verifier,
    /// Names the delegation.
    pub stateid: StateId,
    /// Which changes will be told.
    pub notification: Bitmap,
    /// Attributes of entries that will be told.
    pub child_attributes: Bitmap,
    /// Attributes of the directory that will be told.
    pub dir_attributes: Bitmap,
}

/// A delegation of a directory, or none (RFC 8881 §18.39, `GET_DIR_DELEGATION4res_non_fatal`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum GetDirDelegationResOk {
    /// A delegation.
    #[xdr(0)]
    Ok(DirDelegation),
    /// None. Tells whether the server will say when there is one.
    #[xdr(1)]
    Unavail(bool),
}

/// What `GET_DIR_DELEGATION` answers (RFC 8881 §18.39).
pub type GetDirDelegationRes = Res4<GetDirDelegationResOk>;
