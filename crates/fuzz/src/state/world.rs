//! A server that can be restarted, and what outlives it.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hayase_buf::ReplyBuf;
use hayase_mem::MemFs;
use hayase_nfs::{
    Answered, Carrier, Channel, Dialer, HandleKey, Limits, NfsService, Peer, Records, Replied,
    Setup,
};
use hayase_proto::nfs4::{
    CompoundWriter, GetFhArgs, LookupArgs, PROC_COMPOUND, PROGRAM, PutRootFhArgs, Res4, VERSION,
};
use hayase_state::{ClientName, ClientRecord, Config};
use hayase_vfs::{Access, Cred, Cx, Durability, Handle, Name, Open, SetAttr, Vfs, Wait, Wcc};
use hayase_xdr::Opaque;

use super::callback::reply_to;
use super::send::Answer;
use super::{COURTESY, GRACE, LEASE};
use crate::server::{NoNames, flatten, record, table};

/// The line of exports(5).
const EXPORT: &str = "/srv *(rw,insecure,no_root_squash)";
/// The files that are opened.
pub(super) const NAMES: [&[u8]; 3] = [b"a", b"b", b"c"];
/// Where clients of NFSv4.0 listen: at this port and those after it.
pub(super) const FIRST_PORT: u16 = 2 << 8;

/// Locks as others in this crate's tests do: what is in there is whole between statements.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records of clients on stable storage.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<BTreeMap<ClientName, ClientRecord>>>);

impl Kept {
    pub(super) fn all(&self) -> Vec<ClientRecord> {
        lock(&self.0).values().cloned().collect()
    }

    pub(super) fn has(&self, name: &ClientName) -> bool {
        lock(&self.0).contains_key(name)
    }
}

impl Records for Kept {
    fn put(&self, record: &ClientRecord) -> io::Result<()> {
        lock(&self.0).insert(record.owner.clone(), record.clone());
        Ok(())
    }

    fn remove(&self, name: &ClientName) -> io::Result<()> {
        lock(&self.0).remove(name);
        Ok(())
    }
}

/// What the server sent on a connection of its own accord.
#[derive(Default)]
pub(super) struct Inbox(Mutex<Vec<Vec<u8>>>);

impl Inbox {
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl Channel for Inbox {
    fn send(&self, record: &[u8]) {
        lock(&self.0).push(record.to_vec());
    }
}

/// A connection to the server, and what came over it unasked.
pub(super) struct Line {
    pub(super) peer: Peer,
    pub(super) inbox: Arc<Inbox>,
}

/// The network that clients of NFSv4.0 are called over.
#[derive(Clone, Default)]
pub(super) struct Network(Arc<Calls>);

#[derive(Default)]
struct Calls {
    broken: AtomicBool,
    /// Port and record of each.
    made: Mutex<Vec<(u16, Vec<u8>)>>,
}

impl Network {
    pub(super) fn set_broken(&self, broken: bool) {
        self.0.broken.store(broken, Ordering::Relaxed);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.0.broken.load(Ordering::Relaxed)
    }

    /// The calls to this port, which are forgotten.
    pub(super) fn take(&self, port: u16) -> Vec<Vec<u8>> {
        let mut made = lock(&self.0.made);
        made.extract_if(.., |(to, _)| *to == port).map(|(_, record)| record).collect()
    }
}

impl Dialer for Network {
    fn call(&self, address: SocketAddr, record: Vec<u8>, replied: Replied) {
        if self.is_broken() {
            return replied(None);
        }
        let reply = reply_to(&record);
        lock(&self.0.made).push((address.port(), record));
        replied(Some(reply));
    }
}

/// A server and everything around it.
pub(super) struct World {
    pub(super) service: NfsService,
    disk: Arc<MemFs>,
    clock: Arc<AtomicU64>,
    pub(super) records: Kept,
    pub(super) network: Network,
    /// Counts the starts of the server.
    pub(super) starts: u64,
    next_xid: u32,
}

impl World {
    /// A server on a file system with a few files.
    pub(super) fn new() -> Self {
        let disk = Arc::new(MemFs::new());
        disk.set_root(0, 0, 0o777);
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Sync,
            opened: Access::NONE,
        };
        for name in NAMES {
            let how = Open::Guarded(SetAttr { mode: Some(0o666), ..SetAttr::default() });
            let name = Name::new(name).expect("a name");
            disk.create(&cx, &disk.root(), name, &how, &mut Wcc::default()).expect("a file");
        }
        let (records, network) = (Kept::default(), Network::default());
        let clock = Arc::new(AtomicU64::new(1));
        let service = start(&disk, &clock, &records, &network, 1);
        World { service, disk, clock, records, network, starts: 1, next_xid: 1 }
    }

    /// The server is gone and another one is there. Time goes on.
    pub(super) fn restart(&mut self) {
        self.starts += 1;
        self.disk.outlive_server();
        self.service = start(&self.disk, &self.clock, &self.records, &self.network, self.starts);
    }

    /// Seconds since the beginning.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(super) fn pass_second(&self) {
        self.clock.fetch_add(1, Ordering::Relaxed);
        self.service.tick();
    }

    /// A new connection.
    pub(super) fn connect(&self) -> Line {
        let inbox = Arc::new(Inbox::default());
        let address: SocketAddr = ([192, 0, 2, 1], 700).into();
        let peer = self.service.connected(address, Carrier::Tcp);
        Line { peer: peer.with_channel(Arc::clone(&inbox) as _), inbox }
    }

    /// The handles of the root and of the files, as clients see them.
    pub(super) fn files(&mut self) -> Vec<Vec<u8>> {
        let mut find = |path: &[&[u8]]| {
            let mut args = Vec::new();
            let mut writer = CompoundWriter::begin(&mut args, b"", 0);
            writer.push(&PutRootFhArgs);
            for name in path {
                writer.push(&LookupArgs { objname: Opaque(name) });
            }
            writer.push(&GetFhArgs);
            writer.finish();
            let record = self.record(&args);
            let answer = self.exchange(&self.connect(), &record);
            match answer.result::<GetFhArgs>() {
                Some(Res4::Ok(handle)) => handle.0.to_vec(),
                other => panic!("{path:?}: {other:?}"),
            }
        };
        let mut files = vec![find(&[b"srv"])];
        files.extend(NAMES.map(|name| find(&[b"srv", name])));
        files
    }

    /// The record of a compound.
    pub(super) fn record(&mut self, args: &[u8]) -> Vec<u8> {
        self.next_xid += 1;
        record(self.next_xid, [PROGRAM, VERSION, PROC_COMPOUND], 0, args)
    }

    /// Sends a compound; like the transport, first where nothing may wait.
    pub(super) fn exchange(&self, line: &Line, record: &[u8]) -> Answer {
        let call = |wait| {
            let mut reply = ReplyBuf::new();
            let answered = self.service.call(&line.peer, record, wait, &mut reply);
            (answered, flatten(reply))
        };
        let (mut answered, mut reply) = call(Wait::Never);
        if answered == Answered::WouldBlock {
            (answered, reply) = call(Wait::Allowed);
        }
        assert_eq!(answered, Answered::Reply);
        Answer::new(record, &reply)
    }

    /// A local program wants a file; whether anybody looks out for that.
    pub(super) fn want_locally(&self, file: usize) -> bool {
        self.disk.conflict_locally(&self.handle(file))
    }

    fn handle(&self, file: usize) -> Handle {
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Sync,
            opened: Access::NONE,
        };
        let name = Name::new(NAMES[file]).expect("a name");
        self.disk.lookup(&cx, &self.disk.root(), name).expect("the file").handle
    }
}

fn start(
    disk: &Arc<MemFs>,
    clock: &Arc<AtomicU64>,
    records: &Kept,
    network: &Network,
    instance: u64,
) -> NfsService {
    let config = Config {
        lease_secs: LEASE as u32,
        grace_secs: GRACE as u32,
        courtesy_secs: COURTESY as u32,
        ..Config::default()
    };
    let clock = Arc::clone(clock);
    let setup = Setup {
        instance,
        state: config,
        recovered: records.all(),
        records: Box::new(records.clone()),
        clock: Box::new(move || Duration::from_secs(clock.load(Ordering::Relaxed))),
        dialer: Box::new(network.clone()),
        ..Setup::default()
    };
    let key = HandleKey::new(*b"key for fuzzing!");
    let exports = table(EXPORT, std::slice::from_ref(disk));
    // Time stands still while a call is run: there is no use in waiting.
    let limits = Limits { held_calls: 0, ..Limits::default() };
    NfsService::new(exports, key, Box::new(NoNames), limits, setup)
}
