//! Having another status monitor of this host watch clients: clients that were restarted tell the
//! monitor that the portmapper knows, and there is one of them only.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;

use hayase_proto::nlm;
use hayase_proto::nsm::{self, MonArgs, MonId, MyId, Proc};
use hayase_state::{ClientName, Protocol};
use hayase_xdr::{Encode, Opaque};

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
        let mon_id = MonId { mon_name: Opaque(host), my_id: WE };
        self.ask_monitor(name, Proc::Mon, &MonArgs { mon_id, private: self.monitor_secret(host) });
    }

    /// It holds none any more.
    pub(crate) fn unwatch_host(&self, name: &ClientName) {
        let mon_id = MonId { mon_name: Opaque(&name.bytes), my_id: WE };
        self.ask_monitor(name, Proc::Unmon, &mon_id);
    }

    fn ask_monitor(&self, name: &ClientName, procedure: Proc, args: &impl Encode) {
        if name.protocol != Protocol::Nlm || !self.nsm.others.load(Ordering::Relaxed) {
            return;
        }
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let program = Program { host, number: nsm::PROGRAM, version: nsm::VERSION };
        let target = [nsm::PROGRAM, nsm::VERSION, procedure.into()];
        let record = encode_call_out(self.nsm.next_xid(), target, &self.host_name, args);
        let client = name.bytes.escape_ascii().to_string();
        let replied = move |reply: Option<Vec<u8>>| {
            if reply.is_none() {
                tracing::warn!(
                    "this host's rpc.statd does not answer: if {client} is restarted, its locks \
                     stay until `hayase unlock` releases them"
                );
            }
        };
        self.caller.call(program, record, Box::new(replied));
    }
}
