//! Who the client says it is.

use std::hash::{BuildHasher, Hasher, RandomState};

use hayase_proto::{mount, nfs3, nfs4};
use hayase_rpc::{ASKING_STAMP, AuthSysArgs, CallHeader, OpaqueAuth, encode_call, flavor};
use hayase_xdr::{Array, Opaque, to_vec};

use crate::Options;

/// Groups that an `AUTH_SYS` credential has room for (RFC 5531 appendix A).
const GROUPS: usize = 16;
/// Bytes of a machine's name that it has room for.
const MACHINE_BYTES: usize = 255;

/// An RPC program in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) number: u32,
    pub(crate) version: u32,
}

impl Program {
    pub(crate) const NFS3: Program = Program { number: nfs3::PROGRAM, version: nfs3::VERSION };
    pub(crate) const NFS4: Program = Program { number: nfs4::PROGRAM, version: nfs4::VERSION };
    pub(crate) const MOUNT: Program = Program { number: mount::PROGRAM, version: mount::VERSION_3 };
}

/// The body of an `AUTH_SYS` credential (RFC 5531 appendix A), encoded once.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    body: Vec<u8>,
    /// Whether it asks servers how long calls take.
    pub(crate) asks_timing: bool,
}

impl Identity {
    pub(crate) fn new(options: &Options) -> Self {
        let machine = options.machine.as_bytes();
        let sys = AuthSysArgs {
            stamp: if options.ask_timing { ASKING_STAMP } else { 0 },
            machine_name: Opaque(&machine[..machine.len().min(MACHINE_BYTES)]),
            uid: options.uid,
            gid: options.gid,
            gids: Array(options.groups.iter().copied().take(GROUPS).collect()),
        };
        Identity { body: to_vec(&sys), asks_timing: options.ask_timing }
    }

    /// The header of a call. Its xid is the first word, its procedure the sixth.
    pub(crate) fn header(&self, program: Program, proc: u32, xid: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&self.body) };
        let Program { number: prog, version: vers } = program;
        let header = CallHeader { xid, prog, vers, proc, cred, verf: OpaqueAuth::NONE };
        encode_call(&header, &mut bytes);
        bytes
    }
}

/// A number that no other run of a client is likely to draw.
///
/// Xids start with one: servers answer a call that they take for a repeated one from their cache,
/// even on another connection (RFC 5531 §9), so no two clients of this host, past ones included,
/// may count from the same number.
pub(crate) fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
