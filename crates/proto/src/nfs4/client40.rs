//! Clients of NFSv4.0: SETCLIENTID, `SETCLIENTID_CONFIRM`, RENEW and
//! `RELEASE_LOCKOWNER` (RFC 7530 §16.28, §16.33, §16.34, §16.37).

use hayase_xdr::{Opaque, Xdr};

use super::res::failure_with_body;
use super::{ClientId, LockOwner, NetAddr, OPAQUE_LIMIT, Res4, Verifier};

/// SETCLIENTID (RFC 7530 §16.33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetClientIdArgs<'a> {
    /// The client's name for itself.
    pub client: NfsClientId<'a>,
    /// Where it can be called back.
    pub callback: CbClient<'a>,
    /// Comes with every call back.
    pub callback_ident: u32,
}

/// A client's name for itself (RFC 7530 §2.2.12, `nfs_client_id4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NfsClientId<'a> {
    /// Another one after each restart.
    pub verifier: Verifier,
    /// The name, always the same.
    pub id: Opaque<'a, OPAQUE_LIMIT>,
}

/// Where a client can be called back (RFC 7530 §2.2.11, `cb_client4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbClient<'a> {
    /// The program number.
    pub cb_program: u32,
    /// The address.
    pub cb_location: NetAddr<'a>,
}

/// What SETCLIENTID answers (RFC 7530 §16.33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetClientIdResOk {
    /// The client id, to be confirmed.
    pub clientid: ClientId,
    /// Confirms it.
    pub setclientid_confirm: Verifier,
}

failure_with_body! {
    /// Why a client cannot be introduced (RFC 7530 §16.33).
    pub enum SetClientIdFail<'a> {
        /// Another principal uses the name, from this address (`client_using`).
        ClidInUse(NetAddr<'a>),
    }
}

/// What SETCLIENTID answers (RFC 7530 §16.33).
pub type SetClientIdRes<'a> = Res4<SetClientIdResOk, SetClientIdFail<'a>>;

/// `SETCLIENTID_CONFIRM` (RFC 7530 §16.34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetClientIdConfirmArgs {
    /// The client id.
    pub clientid: ClientId,
    /// What SETCLIENTID answered.
    pub setclientid_confirm: Verifier,
}

/// What `SETCLIENTID_CONFIRM` answers (RFC 7530 §16.34).
pub type SetClientIdConfirmRes = Res4<()>;

/// RENEW (RFC 7530 §16.28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RenewArgs {
    /// The client whose lease is renewed.
    pub clientid: ClientId,
}

/// What RENEW answers (RFC 7530 §16.28).
pub type RenewRes = Res4<()>;

/// `RELEASE_LOCKOWNER` (RFC 7530 §16.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReleaseLockOwnerArgs<'a> {
    /// The owner that will lock no more.
    pub lock_owner: LockOwner<'a>,
}

/// What `RELEASE_LOCKOWNER` answers (RFC 7530 §16.37).
pub type ReleaseLockOwnerRes = Res4<()>;
