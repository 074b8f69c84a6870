//! Having another status monitor of this host watch clients: clients that were restarted tell the
//! monitor that the portmapper knows, and there is one of them only.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;

use hayase_proto::nlm;
use hayase_proto::nsm::{self, MonArgs, MonId, MyId, Outcome, Proc, StatRes};
use hayase_rpc::decode_reply;
use hayase_state::{ClientName, Protocol};
use hayase_xdr::{Encode, Opaque, Reader, from_bytes};

use crate::nlm::{Program, encode_call_out};
use crate::v4::Shared;

/// Whom the monitor is to call; Linux's calls no other program and procedure.
const WE: MyId<'_> = MyId {
    name: Opaque(b"127.0.0.1"),
    program: nlm::PROGRAM,
    version: nlm::VERSION,
    procedure: nlm::Proc::SmNotify as u32,
};

impl Shared {
    /// Another monitor runs on this host.
    pub(crate) fn use_host_monitor(&self) {
        self.nsm.others.store(true, Ordering::Relaxed);
    }

    /// A client of NFSv3 holds locks.
    pub(crate) fn watch_host(&self, name: &ClientName) {
        let host = &name.bytes;
        let client = host.escape_ascii().to_string();
        let mon_id = MonId { mon_name: Opaque(host), my_id: WE };
        let args = MonArgs { mon_id, private: self.monitor_secret(host) };
        self.ask_monitor(name, Proc::Mon, &args, move |xid, reply| {
            if !reply.is_some_and(|reply| is_watched(xid, &reply)) {
                tracing::warn!(
                    "this host's rpc.statd does not answer, or refuses to watch {client}: if that is \
                     restarted, its locks stay until `hayase unlock` releases them"
                );
            }
        });
    }

    /// It holds none any more.
    pub(crate) fn unwatch_host(&self, name: &ClientName) {
        let mon_id = MonId { mon_name: Opaque(&name.bytes), my_id: WE };
        // One that is watched in vain does no harm.
        self.ask_monitor(name, Proc::Unmon, &mon_id, |_, _| {});
    }

    fn ask_monitor(
        &self,
        name: &ClientName,
        procedure: Proc,
        args: &impl Encode,
        replied: impl FnOnce(u32, Option<Vec<u8>>) + Send + 'static,
    ) {
        if name.protocol != Protocol::Nlm || !self.nsm.others.load(Ordering::Relaxed) {
            return;
        }
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let program = Program { host, number: nsm::PROGRAM, version: nsm::VERSION };
        let target = [nsm::PROGRAM, nsm::VERSION, procedure.into()];
        let xid = self.nsm.next_xid();
        let record = encode_call_out(xid, target, &self.host_name, args);
        self.caller.call(program, record, Box::new(move |reply| replied(xid, reply)));
    }
}

/// Whether the monitor's reply to MON says that it watches.
fn is_watched(xid: u32, reply: &[u8]) -> bool {
    let mut reader = Reader::new(reply);
    let Ok((answered, Ok(()))) = decode_reply(&mut reader) else { return false };
    let met = |res: StatRes| res.outcome == Outcome::Success;
    answered == xid && from_bytes(reader.rest()).is_ok_and(met)
}

#[cfg(test)]
mod tests {
    use hayase_rpc::{Refusal, accept, refuse};
    use hayase_xdr::to_vec;

    use super::*;

    #[test]
    fn a_monitor_may_refuse() {
        let reply = |outcome| {
            let mut reply = Vec::new();
            accept(7, &mut reply);
            reply.extend(to_vec(&StatRes { outcome, state: 3 }));
            reply
        };
        assert!(is_watched(7, &reply(Outcome::Success)));
        assert!(!is_watched(7, &reply(Outcome::Fail)));
        assert!(!is_watched(8, &reply(Outcome::Success)));
        let mut refused = Vec::new();
        refuse(7, Refusal::ProcUnavail, &mut refused);
        assert!(!is_watched(7, &refused));
    }
}
