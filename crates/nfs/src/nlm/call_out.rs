//! Calls to programs of clients: their lock managers and status monitors, which only their
//! portmappers know where to find.

use std::net::IpAddr;

use hayase_proto::nlm::{self, Proc};
use hayase_rpc::{AuthSysArgs, CallHeader, OpaqueAuth, encode_call, flavor};
use hayase_xdr::{Array, Encode, Opaque, to_vec};

use crate::call::Call;
use crate::v4::{Replied, Shared};

/// A program of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Where it runs.
    pub host: IpAddr,
    /// Its number.
    pub number: u32,
    /// Its version.
    pub version: u32,
}

/// Calls programs wherever they listen.
pub trait Caller: Send + Sync {
    /// Finds the program by its host's portmapper, sends it a record and waits for one to come back, all
    /// of it on another thread. A host that does not answer may be given up on at once.
    fn call(&self, program: Program, record: Vec<u8>, replied: Replied);
}

/// Reaches nobody.
#[derive(Clone, Copy, Debug)]
pub struct NoCaller;

impl Caller for NoCaller {
    fn call(&self, _: Program, _: Vec<u8>, replied: Replied) {
        replied(None);
    }
}

/// A call as it travels. It is the superuser's: some programs take nothing else.
pub(crate) fn encode(
    xid: u32,
    [program, version, procedure]: [u32; 3],
    machine_name: &[u8],
    args: &impl Encode,
) -> Vec<u8> {
    let sys = AuthSysArgs {
        stamp: 0,
        machine_name: Opaque(machine_name),
        uid: 0,
        gid: 0,
        gids: Array(Vec::new()),
    };
    let body = to_vec(&sys);
    let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&body) };
    let verf = OpaqueAuth::NONE;
    let header = CallHeader { xid, prog: program, vers: version, proc: procedure, cred, verf };
    let mut record = Vec::new();
    encode_call(&header, &mut record);
    args.encode(&mut record);
    record
}

impl Shared {
    /// Calls the lock manager of a host.
    pub(super) fn call_lock_manager(
        &self,
        host: IpAddr,
        procedure: Proc,
        args: &impl Encode,
        replied: impl FnOnce(u32, Option<Vec<u8>>) + Send + 'static,
    ) {
        let program = Program { host, number: nlm::PROGRAM, version: nlm::VERSION };
        let xid = self.nlm.next_xid();
        let target = [nlm::PROGRAM, nlm::VERSION, procedure.into()];
        let record = encode(xid, target, &self.host_name, args);
        self.caller.call(program, record, Box::new(move |reply| replied(xid, reply)));
    }
}

impl Call<'_> {
    /// Sends a result by a call. If it is lost, the client asks again.
    pub(super) fn answer_by_call(&self, procedure: Proc, result: &impl Encode) {
        let host = self.peer.address.ip();
        self.server.v4.call_lock_manager(host, procedure, result, |_, _| {});
    }
}
