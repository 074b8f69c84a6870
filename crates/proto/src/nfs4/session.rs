//! Making and ending sessions: `CREATE_SESSION`, `DESTROY_SESSION`,
//! `BIND_CONN_TO_SESSION` and `BACKCHANNEL_CTL` (RFC 8881 §18.33, §18.34, §18.36, §18.37).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{ClientId, GssHandle, GssService, Res4, SessionId};
use crate::numbered::numbered;

/// Ways to call a client back that are read of one list.
pub const MAX_CB_SEC: u32 = 16;

/// `CREATE_SESSION` (RFC 8881 §18.36).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CreateSessionArgs<'a> {
    /// The client.
    pub clientid: ClientId,
    /// The client's next sequence id.
    pub sequence: u32,
    /// Bits of [`create_session_flag`].
    pub flags: u32,
    /// What the client wants of the channel to the server.
    pub fore_chan_attrs: ChannelAttrs,
    /// What the client offers of the channel back.
    pub back_chan_attrs: ChannelAttrs,
    /// The program number of calls back.
    pub cb_program: u32,
    /// How calls back may be authenticated.
    pub sec_parms: Array<CbSecParms<'a>, MAX_CB_SEC>,
}

/// What `CREATE_SESSION` answers (RFC 8881 §18.36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateSessionResOk {
    /// The session.
    pub sessionid: SessionId,
    /// The sequence id of the call.
    pub sequence: u32,
    /// Bits of [`create_session_flag`].
    pub flags: u32,
    /// What the channel to the server is like.
    pub fore_chan_attrs: ChannelAttrs,
    /// What the channel back is like.
    pub back_chan_attrs: ChannelAttrs,
}

/// What `CREATE_SESSION` answers (RFC 8881 §18.36).
pub type CreateSessionRes = Res4<CreateSessionResOk>;

/// Flags of `CREATE_SESSION` (RFC 8881 §18.36).
pub mod create_session_flag {
    /// Replies are kept over a restart.
    pub const PERSIST: u32 = 0x1;
    /// This connection is also for calls back.
    pub const CONN_BACK_CHAN: u32 = 0x2;
    /// This connection goes over to RDMA.
    pub const CONN_RDMA: u32 = 0x4;
}

/// What one channel of a session is like (RFC 8881 §18.36, `channel_attrs4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct ChannelAttrs {
    /// Bytes of padding before WRITE's data.
    pub headerpadsize: u32,
    /// The longest request, with its RPC header.
    pub maxrequestsize: u32,
    /// The longest reply, with its RPC header.
    pub maxresponsesize: u32,
    /// The longest reply that is kept for repeats.
    pub maxresponsesize_cached: u32,
    /// The most operations in a compound.
    pub maxoperations: u32,
    /// Slots: the most requests at once.
    pub maxrequests: u32,
    /// RDMA reads in flight.
    pub rdma_ird: Option<u32>,
}

/// How a call back is authenticated (RFC 8881 §18.33, `callback_sec_parms4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub enum CbSecParms<'a> {
    /// Not at all (`AUTH_NONE`).
    #[xdr(0)]
    None,
    /// By user and group numbers (`AUTH_SYS`).
    #[xdr(1)]
    Sys(AuthSysParms<'a>),
    /// By GSS (`RPCSEC_GSS`).
    #[xdr(6)]
    Gss(GssCbHandles<'a>),
}

/// User and group numbers (RFC 5531 §14, `authsys_parms`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct AuthSysParms<'a> {
    /// Anything.
    pub stamp: u32,
    /// The caller's host name.
    pub machinename: Opaque<'a, 255>,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Further groups.
    pub gids: Array<u32, 16>,
}

/// How to call back by GSS (RFC 8881 §18.33, `gss_cb_handles4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GssCbHandles<'a> {
    /// What GSS is to do.
    pub service: GssService,
    /// The server's handle.
    pub handle_from_server: GssHandle<'a>,
    /// The client's handle.
    pub handle_from_client: GssHandle<'a>,
}

/// `DESTROY_SESSION` (RFC 8881 §18.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DestroySessionArgs {
    /// The session to end.
    pub sessionid: SessionId,
}

/// What `DESTROY_SESSION` answers (RFC 8881 §18.37).
pub type DestroySessionRes = Res4<()>;

numbered! {
    /// What a connection is to be for (RFC 8881 §18.34, `channel_dir_from_client4`).
    pub enum ChannelDirFromClient {
        /// For calls to the server.
        Fore = 1 "CDFC4_FORE",
        /// For calls back.
        Back = 2 "CDFC4_BACK",
        /// For calls to the server, and for calls back if the server likes.
        ForeOrBoth = 3 "CDFC4_FORE_OR_BOTH",
        /// For calls back, and for calls to the server if the server likes.
        BackOrBoth = 7 "CDFC4_BACK_OR_BOTH",
    }
}

numbered! {
    /// What a connection is for (RFC 8881 §18.34, `channel_dir_from_server4`).
    pub enum ChannelDirFromServer {
        /// For calls to the server.
        Fore = 1 "CDFS4_FORE",
        /// For calls back.
        Back = 2 "CDFS4_BACK",
        /// For both.
        Both = 3 "CDFS4_BOTH",
    }
}

/// `BIND_CONN_TO_SESSION` (RFC 8881 §18.34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct BindConnToSessionArgs {
    /// The session.
    pub sessionid: SessionId,
    /// What the connection is to be for.
    pub dir: ChannelDirFromClient,
    /// Whether it goes over to RDMA.
    pub use_conn_in_rdma_mode: bool,
}

/// What `BIND_CONN_TO_SESSION` answers (RFC 8881 §18.34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct BindConnToSessionResOk {
    /// The session.
    pub sessionid: SessionId,
    /// What the connection is for.
    pub dir: ChannelDirFromServer,
    /// Whether it goes over to RDMA.
    pub use_conn_in_rdma_mode: bool,
}

/// What `BIND_CONN_TO_SESSION` answers (RFC 8881 §18.34).
pub type BindConnToSessionRes = Res4<BindConnToSessionResOk>;

/// `BACKCHANNEL_CTL` (RFC 8881 §18.33).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct BackchannelCtlArgs<'a> {
    /// The program number of calls back.
    pub cb_program: u32,
    /// How calls back may be authenticated.
    pub sec_parms: Array<CbSecParms<'a>, MAX_CB_SEC>,
}

/// What `BACKCHANNEL_CTL` answers (RFC 8881 §18.33).
pub type BackchannelCtlRes = Res4<()>;
