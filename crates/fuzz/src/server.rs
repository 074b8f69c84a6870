//! A server over `MemFs`, called without a network.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use hayase_buf::{Payload, ReplyBuf, Segment};
use hayase_exports::{Names, Rules, parse};
use hayase_mem::MemFs;
use hayase_nfs::{
    Answered, Carrier, Export, ExportId, ExportTable, HandleKey, Limits, NfsService, Peer, Setup,
};
use hayase_rpc::{AuthSysArgs, CallHeader, OpaqueAuth, encode_call, flavor};
use hayase_vfs::{Vfs, Wait};
use hayase_xdr::{Array, Opaque, to_vec};

/// A name service that knows nobody.
pub(crate) struct NoNames;

impl Names for NoNames {
    fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::Error::other("no such host"))
    }

    fn names(&self, _: IpAddr) -> Vec<String> {
        Vec::new()
    }

    fn netgroup(&self, _: &str) -> io::Result<Vec<String>> {
        Err(io::Error::other("no such netgroup"))
    }
}

/// A server, the file systems behind its exports, and a connection to it.
pub(crate) struct Server {
    pub(crate) service: NfsService,
    pub(crate) disks: Vec<Arc<MemFs>>,
    peer: Peer,
}

impl Server {
    /// A server of these lines of exports(5), one for each file system.
    pub(crate) fn new(exports: &str, disks: Vec<MemFs>) -> Self {
        let disks: Vec<_> = disks.into_iter().map(Arc::new).collect();
        let key = HandleKey::new(*b"key for fuzzing!");
        let table = table(exports, &disks);
        let service =
            NfsService::new(table, key, Box::new(NoNames), Limits::default(), Setup::default());
        let address: SocketAddr = ([192, 0, 2, 1], 700).into();
        let peer = service.connected(address, Carrier::Tcp);
        Server { service, disks, peer }
    }

    /// Exports the first file systems so.
    pub(crate) fn export(&self, exports: &str) {
        self.service.set_exports(table(exports, &self.disks));
    }

    /// Has a record answered: what became of it, and the reply's bytes.
    pub(crate) fn call(&self, record: &[u8], wait: Wait) -> (Answered, Vec<u8>) {
        let mut reply = ReplyBuf::new();
        let answered = self.service.call(&self.peer, record, wait, &mut reply);
        (answered, flatten(reply))
    }
}

pub(crate) fn table(exports: &str, disks: &[Arc<MemFs>]) -> ExportTable {
    let entries = parse(exports.as_bytes(), Path::new("exports")).expect("good exports");
    let exports = entries.into_iter().zip(disks).map(|(entry, disk)| {
        let path = entry.path.as_os_str().as_encoded_bytes().to_vec();
        let vfs: Arc<dyn Vfs> = Arc::clone(disk) as _;
        Export {
            id: ExportId::of(&path, entry.fsid()),
            path,
            vfs,
            rules: Rules::of(&entry, &NoNames).0,
            client_names: entry.grants.iter().map(|grant| grant.client.to_string()).collect(),
        }
    });
    ExportTable::new(exports.collect(), true).expect("ids differ")
}

/// The record of a call by this user.
pub(crate) fn record(xid: u32, [prog, vers, proc]: [u32; 3], uid: u32, args: &[u8]) -> Vec<u8> {
    let sys = AuthSysArgs {
        stamp: 0,
        machine_name: Opaque(b"client"),
        uid,
        gid: uid,
        gids: Array(Vec::new()),
    };
    let body = to_vec(&sys);
    let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&body) };
    let mut record = Vec::new();
    encode_call(&CallHeader { xid, prog, vers, proc, cred, verf: OpaqueAuth::NONE }, &mut record);
    record.extend_from_slice(args);
    record
}

/// The bytes of a reply as they would be sent.
pub(crate) fn flatten(mut reply: ReplyBuf) -> Vec<u8> {
    let (mut bytes, mut sent) = (Vec::new(), 0);
    loop {
        match reply.next_segment(sent) {
            Some((Segment::Bytes(part), _)) => {
                bytes.extend_from_slice(part);
                sent += part.len();
            }
            Some((Segment::Payload(Payload::Buffer { buffer, len }), _)) => {
                bytes.extend_from_slice(&buffer[..*len]);
                reply.pop_payload();
            }
            Some((Segment::Payload(Payload::Span(_)), _)) => panic!("MemFs has no files"),
            None => return bytes,
        }
    }
}
