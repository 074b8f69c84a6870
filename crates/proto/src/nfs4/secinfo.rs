//! SECINFO and `SECINFO_NO_NAME` (RFC 8881 §18.29, §18.45).

use hayase_xdr::{Array, Decode, Encode, Opaque, Reader, Result, Xdr};

use super::{Component, OPAQUE_LIMIT, Res4};
use crate::numbered::numbered;

/// `RPCSEC_GSS` as a security flavor (RFC 2203 §4).
const RPCSEC_GSS: u32 = 6;

/// Names a mechanism or an algorithm (RFC 8881 §3.2, `sec_oid4`).
pub type SecOid<'a> = Opaque<'a, OPAQUE_LIMIT>;
/// Names a GSS context (RFC 8881 §18.33, `gsshandle4_t`).
pub type GssHandle<'a> = Opaque<'a, OPAQUE_LIMIT>;

numbered! {
    /// What GSS is to do (RFC 2203 §5.3.2.2, `rpc_gss_svc_t`).
    pub enum GssService {
        /// Say who calls.
        None = 1 "RPC_GSS_SVC_NONE",
        /// Also see to it that nothing is changed.
        Integrity = 2 "RPC_GSS_SVC_INTEGRITY",
        /// Also see to it that nobody else can read it.
        Privacy = 3 "RPC_GSS_SVC_PRIVACY",
    }
}

/// SECINFO (RFC 8881 §18.29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SecInfoArgs<'a> {
    /// The name in the current directory.
    pub name: Component<'a>,
}

/// A way to be authenticated (RFC 8881 §18.29, `secinfo4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecInfo<'a> {
    /// By a GSS mechanism.
    Gss(RpcSecGssInfo<'a>),
    /// By another flavor: 0 for `AUTH_NONE`, 1 for `AUTH_SYS`.
    Flavor(u32),
}

/// A GSS mechanism (RFC 8881 §18.29, `rpcsec_gss_info`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RpcSecGssInfo<'a> {
    /// The mechanism.
    pub oid: SecOid<'a>,
    /// Quality of protection.
    pub qop: u32,
    /// What GSS is to do.
    pub service: GssService,
}

impl<'a> Decode<'a> for SecInfo<'a> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(match from.word()? {
            RPCSEC_GSS => SecInfo::Gss(RpcSecGssInfo::decode(from)?),
            flavor => SecInfo::Flavor(flavor),
        })
    }
}

impl Encode for SecInfo<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            SecInfo::Gss(info) => {
                RPCSEC_GSS.encode(to);
                info.encode(to);
            }
            SecInfo::Flavor(flavor) => flavor.encode(to),
        }
    }
}

/// Ways to be authenticated, the preferred first (RFC 8881 §18.29, `SECINFO4resok`).
pub type SecInfoResOk<'a> = Array<SecInfo<'a>, 64>;

/// What SECINFO answers (RFC 8881 §18.29).
pub type SecInfoRes<'a> = Res4<SecInfoResOk<'a>>;

numbered! {
    /// Whose security is asked for (RFC 8881 §18.45, `secinfo_style4`).
    pub enum SecInfoStyle {
        /// The current file handle's.
        CurrentFh = 0 "SECINFO_STYLE4_CURRENT_FH",
        /// Its parent's.
        Parent = 1 "SECINFO_STYLE4_PARENT",
    }
}

/// `SECINFO_NO_NAME` (RFC 8881 §18.45).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SecInfoNoNameArgs {
    /// Whose security is asked for.
    pub style: SecInfoStyle,
}

/// What `SECINFO_NO_NAME` answers (RFC 8881 §18.45).
pub type SecInfoNoNameRes<'a> = SecInfoRes<'a>;
