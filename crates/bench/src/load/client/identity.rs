//! Who the client says it is.

use std::hash::{BuildHasher, Hasher, RandomState};

use hayase_rpc::{AuthSysArgs, CallHeader, OpaqueAuth, encode_call, flavor};
use hayase_xdr::{Array, Opaque, to_vec};

use super::Program;

/// Where the xids of a connection start. Servers answer a call that they take for a repeated one
/// from their cache, even on another connection (RFC 5531 §9), so no two connections of this
/// host, past ones included, may count from the same number.
pub fn first_xid() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}

/// The body of an `AUTH_SYS` credential (RFC 5531 appendix A), encoded once.
#[derive(Clone, Debug)]
pub struct Identity {
    body: Vec<u8>,
}

impl Identity {
    /// The user who runs this process.
    pub fn own() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let sys = AuthSysArgs {
            stamp: 0,
            machine_name: Opaque(b"hayase-load"),
            uid,
            gid,
            gids: Array(vec![gid]),
        };
        Identity { body: to_vec(&sys) }
    }

    /// The header of a call. Its xid is the first word.
    pub fn header(&self, program: Program, proc: u32, xid: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&self.body) };
        let Program { number: prog, version: vers } = program;
        let header = CallHeader { xid, prog, vers, proc, cred, verf: OpaqueAuth::NONE };
        encode_call(&header, &mut bytes);
        bytes
    }
}
