//! `EXCHANGE_ID` and `DESTROY_CLIENTID` (RFC 8881 §18.35, §18.50).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{Bitmap, ClientId, GssHandle, NfsTime, OPAQUE_LIMIT, Res4, SecOid, Verifier};

/// The most algorithms or handles in one list that are read.
pub const MAX_SSV_LIST: u32 = 64;

/// `EXCHANGE_ID` (RFC 8881 §18.35).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ExchangeIdArgs<'a> {
    /// The client's name for itself.
    pub clientowner: ClientOwner<'a>,
    /// Bits of [`exchange_id_flag`].
    pub flags: u32,
    /// How the client wants its state protected.
    pub state_protect: StateProtectArgs<'a>,
    /// Who wrote the client.
    pub client_impl_id: Option<NfsImplId<'a>>,
}

/// A client's name for itself (RFC 8881 §2.4, `client_owner4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ClientOwner<'a> {
    /// Another one after each restart.
    pub verifier: Verifier,
    /// The name, always the same.
    pub ownerid: Opaque<'a, OPAQUE_LIMIT>,
}

/// Who wrote an implementation (RFC 8881 §3.3.21, `nfs_impl_id4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NfsImplId<'a> {
    /// The writer's domain.
    pub domain: Opaque<'a>,
    /// Name and version.
    pub name: Opaque<'a>,
    /// When it was built.
    pub date: NfsTime,
}

/// Flags of `EXCHANGE_ID` (RFC 8881 §18.35.3, RFC 7862 §14.1).
pub mod exchange_id_flag {
    /// The client follows referrals.
    pub const SUPP_MOVED_REFER: u32 = 0x0000_0001;
    /// The client follows migrations.
    pub const SUPP_MOVED_MIGR: u32 = 0x0000_0002;
    /// Ending a session also ends its requests (RFC 7862 §14.1).
    pub const SUPP_FENCE_OPS: u32 = 0x0000_0004;
    /// Stateids are bound to the principal.
    pub const BIND_PRINC_STATEID: u32 = 0x0000_0100;
    /// A server without pNFS.
    pub const USE_NON_PNFS: u32 = 0x0001_0000;
    /// A metadata server.
    pub const USE_PNFS_MDS: u32 = 0x0002_0000;
    /// A data server.
    pub const USE_PNFS_DS: u32 = 0x0004_0000;
    /// The bits that say what kind of server.
    pub const MASK_PNFS: u32 = 0x0007_0000;
    /// In arguments: change a confirmed client.
    pub const UPD_CONFIRMED_REC_A: u32 = 0x4000_0000;
    /// In results: the client is confirmed.
    pub const CONFIRMED_R: u32 = 0x8000_0000;
    /// All bits that arguments may have.
    pub const MASK_A: u32 = 0x4007_0107;
    /// All bits that results may have.
    pub const MASK_R: u32 = 0x8007_0107;
}

/// How a client wants its state protected (RFC 8881 §18.35, `state_protect4_a`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub enum StateProtectArgs<'a> {
    /// Not at all.
    #[xdr(0)]
    None,
    /// By the machine's credential.
    #[xdr(1)]
    MachCred(StateProtectOps),
    /// By a shared secret.
    #[xdr(2)]
    Ssv(SsvParms<'a>),
}

/// Which operations are protected (RFC 8881 §18.35, `state_protect_ops4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct StateProtectOps {
    /// Operations that must come with the credential.
    pub must_enforce: Bitmap,
    /// Operations that may come with it instead of the user's.
    pub must_allow: Bitmap,
}

/// How to protect by a shared secret (RFC 8881 §18.35, `ssv_sp_parms4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct SsvParms<'a> {
    /// Which operations are protected.
    pub ops: StateProtectOps,
    /// Hash algorithms the client knows.
    pub hash_algs: Array<SecOid<'a>, MAX_SSV_LIST>,
    /// Encryption algorithms the client knows.
    pub encr_algs: Array<SecOid<'a>, MAX_SSV_LIST>,
    /// Secrets the server should remember.
    pub window: u32,
    /// Handles the server should hand out.
    pub num_gss_handles: u32,
}

/// How a client's state is protected (RFC 8881 §18.35, `state_protect4_r`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub enum StateProtectRes<'a> {
    /// Not at all.
    #[xdr(0)]
    None,
    /// By the machine's credential.
    #[xdr(1)]
    MachCred(StateProtectOps),
    /// By a shared secret.
    #[xdr(2)]
    Ssv(SsvInfo<'a>),
}

/// How state is protected by a shared secret (RFC 8881 §18.35, `ssv_prot_info4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct SsvInfo<'a> {
    /// Which operations are protected.
    pub ops: StateProtectOps,
    /// The hash algorithm, as an index into the client's list.
    pub hash_alg: u32,
    /// The encryption algorithm, as an index into the client's list.
    pub encr_alg: u32,
    /// Bytes of the secret.
    pub ssv_len: u32,
    /// Secrets the server remembers.
    pub window: u32,
    /// Handles to use.
    pub handles: Array<GssHandle<'a>, MAX_SSV_LIST>,
}

/// Which server this is: connections to servers with the same owner and scope may
/// share a client id or even a session (RFC 8881 §2.5, `server_owner4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ServerOwner<'a> {
    /// Sessions can be shared if this is the same, too.
    pub minor_id: u64,
    /// Client ids can be shared if this is the same.
    pub major_id: Opaque<'a, OPAQUE_LIMIT>,
}

/// What `EXCHANGE_ID` answers (RFC 8881 §18.35).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ExchangeIdResOk<'a> {
    /// The client id.
    pub clientid: ClientId,
    /// The sequence id of the first `CREATE_SESSION`.
    pub sequenceid: u32,
    /// Bits of [`exchange_id_flag`].
    pub flags: u32,
    /// How the client's state is protected.
    pub state_protect: StateProtectRes<'a>,
    /// Which server this is.
    pub server_owner: ServerOwner<'a>,
    /// Servers of the same scope know each other's ids.
    pub server_scope: Opaque<'a, OPAQUE_LIMIT>,
    /// Who wrote the server.
    pub server_impl_id: Option<NfsImplId<'a>>,
}

/// What `EXCHANGE_ID` answers (RFC 8881 §18.35).
pub type ExchangeIdRes<'a> = Res4<ExchangeIdResOk<'a>>;

/// `DESTROY_CLIENTID` (RFC 8881 §18.50).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DestroyClientIdArgs {
    /// The client to forget.
    pub clientid: ClientId,
}

/// What `DESTROY_CLIENTID` answers (RFC 8881 §18.50).
pub type DestroyClientIdRes = Res4<()>;
