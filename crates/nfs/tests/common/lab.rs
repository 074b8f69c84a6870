//! The server and its clients.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hayase_buf::{Payload, ReplyBuf, Segment};
use hayase_exports::{Names, Rules};
use hayase_mem::MemFs;
use hayase_nfs::{
    Answered, Carrier, Channel, Export, ExportId, ExportTable, HandleKey, Limits, NfsService, Peer,
    Setup,
};
use hayase_vfs::{Access, Cx, Handle, LocalLock, LockMode, LockRange, SetAttr, Vfs, Wait, Wcc};

use super::{Args, Attr, KEEP, Reply, args, mnt, proc, program, read_body, stat};

/// A name service that knows nobody.
pub struct NoNames;

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

/// A server, and the file systems behind its exports in their order.
pub struct Lab {
    pub service: NfsService,
    pub disks: Vec<Arc<MemFs>>,
    next_xid: AtomicU32,
}

impl Lab {
    /// A server of these lines of exports(5), each a file system of its own.
    pub fn new(exports: &str) -> Self {
        Lab::over(exports, MemFs::new)
    }

    /// The same with file systems that are made so.
    pub fn over(exports: &str, make: impl Fn() -> MemFs) -> Self {
        Lab::set_up(exports, make, Setup::default())
    }

    /// The same with all that can be set up.
    pub fn set_up(exports: &str, make: impl Fn() -> MemFs, setup: Setup) -> Self {
        let disks: Vec<_> = exports.lines().map(|_| Arc::new(make())).collect();
        let table = table(exports, &disks);
        let key = HandleKey::new(*b"a key for tests!");
        let service = NfsService::new(table, key, Box::new(NoNames), Limits::default(), setup);
        Lab { service, disks, next_xid: AtomicU32::new(1) }
    }

    /// One export, `/srv`, on which everyone may do everything.
    pub fn open() -> Self {
        Lab::new("/srv *(rw,insecure,no_root_squash)")
    }

    /// The first file system.
    pub fn disk(&self) -> &MemFs {
        &self.disks[0]
    }

    /// A local program wants a file of the first export; whether that is watched for.
    pub fn wanted_locally(&self, name: &str) -> bool {
        self.locally(name, |disk, _, file| disk.conflict_locally(file))
    }

    /// A local program changes the mode of a file of the first export.
    pub fn chmod_locally(&self, name: &str, mode: u32) {
        let set = SetAttr { mode: Some(mode), ..SetAttr::default() };
        let set = |disk: &MemFs, cx: &Cx<'_>, file: &Handle| {
            disk.set_attr(cx, file, &set, None, &mut Wcc::default())
        };
        self.locally(name, set).expect("the superuser may");
    }

    /// A local program locks a file of the first export for writing, or gives its lock up.
    pub fn lock_locally(&self, name: &str, locked: bool) {
        let lock = LocalLock { range: LockRange::ALL, mode: LockMode::Write, pid: Some(7) };
        self.locally(name, |disk, _, file| disk.lock_locally(file, locked.then_some(lock)));
    }

    /// Does something to a file of the first export past the server.
    fn locally<T>(&self, name: &str, act: impl FnOnce(&MemFs, &Cx<'_>, &Handle) -> T) -> T {
        let cred = hayase_vfs::Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: hayase_vfs::Durability::Sync,
            opened: Access::NONE,
        };
        let disk = self.disk();
        let name = hayase_vfs::Name::new(name.as_bytes()).expect("a name");
        let node = disk.lookup(&cx, &disk.root(), name).expect("a file");
        act(disk, &cx, &node.handle)
    }

    /// Other exports of the first file systems.
    pub fn export(&self, exports: &str) {
        self.service.set_exports(table(exports, &self.disks));
    }

    /// The superuser, from a privileged port.
    pub fn root(&self) -> Client<'_> {
        self.user(0, 0)
    }

    /// A user without supplementary groups, from a privileged port.
    pub fn user(&self, uid: u32, gid: u32) -> Client<'_> {
        Client::new(self, "192.0.2.1:700").with_user(uid, gid, &[])
    }

    pub fn next_xid(&self) -> u32 {
        self.next_xid.fetch_add(1, Ordering::Relaxed)
    }
}

fn table(exports: &str, disks: &[Arc<MemFs>]) -> ExportTable {
    let entries = hayase_exports::parse(exports.as_bytes(), std::path::Path::new("exports"));
    let exports =
        entries.expect("the exports can be read").into_iter().zip(disks).map(|(entry, disk)| {
            let path = entry.path.as_os_str().as_encoded_bytes().to_vec();
            let (rules, unresolved) = Rules::of(&entry, &NoNames);
            assert!(unresolved.is_empty());
            let client_names = entry.grants.iter().map(|g| g.client.to_string()).collect();
            let id = ExportId::of(&path, entry.fsid());
            let vfs: Arc<dyn Vfs> = Arc::clone(disk) as _;
            Export { id, path, vfs, rules, client_names }
        });
    ExportTable::new(exports.collect(), true).expect("ids differ")
}

/// One client of a lab. It does what its methods say and panics where it cannot.
pub struct Client<'l> {
    lab: &'l Lab,
    peer: Peer,
    /// Credential and verifier as they travel.
    auth: Vec<u8>,
}

impl<'l> Client<'l> {
    /// A client at this address and port that does not say who it is (`AUTH_NONE`).
    pub fn new(lab: &'l Lab, address: &str) -> Self {
        let address: SocketAddr = address.parse().expect("an address with its port");
        let peer = lab.service.connected(address, Carrier::Tcp);
        Client { lab, peer, auth: args().words([0, 0, 0, 0]).bytes().to_vec() }
    }

    /// The same as this user (`AUTH_SYS`).
    pub fn with_user(self, uid: u32, gid: u32, groups: &[u32]) -> Self {
        let body = args().word(0).opaque(b"client").words([uid, gid, groups.len() as u32]);
        let body = body.words(groups.iter().copied());
        let auth = args().word(1).opaque(body.bytes()).words([0, 0]);
        Client { auth: auth.bytes().to_vec(), ..self }
    }

    pub fn with_carrier(mut self, carrier: Carrier) -> Self {
        self.peer = self.lab.service.connected(self.peer.address, carrier);
        self
    }

    /// Calls of the server's go to `channel`.
    pub fn with_channel(self, channel: Arc<dyn Channel>) -> Self {
        Client { peer: self.peer.with_channel(channel), ..self }
    }

    /// The connection ends.
    pub fn hang_up(&self) {
        self.lab.service.disconnected(&self.peer);
    }

    /// The record of a call.
    pub fn record(&self, xid: u32, [prog, vers, proc]: [u32; 3], args: &Args) -> Vec<u8> {
        let header = super::args().words([xid, 0, 2, prog, vers, proc]);
        header.raw(&self.auth).raw(args.bytes()).bytes().to_vec()
    }

    /// What the service does with a record.
    pub fn offer(&self, record: &[u8], wait: Wait) -> (Answered, Vec<u8>) {
        let mut reply = ReplyBuf::new();
        let answered = self.lab.service.call(&self.peer, record, wait, &mut reply);
        (answered, flatten(reply))
    }

    /// Sends a record that is answered.
    #[track_caller]
    pub fn send(&self, record: &[u8]) -> Reply {
        let (answered, reply) = self.offer(record, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        Reply::new(reply)
    }

    /// Makes a call that is accepted and successful (RFC 5531 §9): the result.
    #[track_caller]
    pub fn call(&self, target: [u32; 3], args: &Args) -> Reply {
        let xid = self.lab.next_xid();
        let mut reply = self.send(&self.record(xid, target, args));
        reply.is([xid, 1, 0, 0, 0, 0]);
        reply
    }

    /// Calls a procedure of NFS version 3.
    #[track_caller]
    pub fn nfs(&self, proc: u32, args: &Args) -> Reply {
        self.call([program::NFS, 3, proc], args)
    }

    /// Calls a procedure of MOUNT version 3.
    #[track_caller]
    pub fn mount(&self, proc: u32, args: &Args) -> Reply {
        self.call([program::MOUNT, 3, proc], args)
    }

    /// Calls a procedure and answers its status. The result is well-formed to its last word,
    /// and leaves nothing out that the server can know.
    #[track_caller]
    pub fn status(&self, proc: u32, args: &Args) -> u32 {
        let mut reply = self.nfs(proc, args);
        let body = read_body(proc, &mut reply);
        reply.end();
        // Nothing is known of what the handle does not name, or of what is not exported.
        let blind = matches!(body.status, stat::STALE | stat::BADHANDLE);
        assert!(blind || body.is_full(), "{}: attributes are left out", proc::NAMES[proc as usize]);
        body.status
    }

    /// The root of an export.
    #[track_caller]
    pub fn root_of(&self, path: &str) -> Vec<u8> {
        let mut reply = self.mount(mnt::MNT, &args().opaque(path));
        reply.is([stat::OK]);
        reply.opaque()
    }

    /// The root of the export `/srv`.
    #[track_caller]
    pub fn srv(&self) -> Vec<u8> {
        self.root_of("/srv")
    }

    #[track_caller]
    pub fn attr(&self, object: &[u8]) -> Attr {
        let mut reply = self.nfs(proc::GETATTR, &args().opaque(object));
        reply.is([stat::OK]);
        reply.fattr()
    }

    #[track_caller]
    fn make(&self, proc: u32, args: &Args) -> Vec<u8> {
        let mut reply = self.nfs(proc, args);
        reply.is([stat::OK]);
        reply.handle()
    }

    /// An empty file of mode 0644.
    #[track_caller]
    pub fn file(&self, dir: &[u8], name: &str) -> Vec<u8> {
        self.make(proc::CREATE, &args().entry(dir, name).word(1).words(super::mode(0o644)))
    }

    /// A file of mode 0644 with data in it.
    #[track_caller]
    pub fn file_of(&self, dir: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
        let file = self.file(dir, name);
        self.put(&file, 0, data);
        file
    }

    /// A directory of mode 0755.
    #[track_caller]
    pub fn dir(&self, dir: &[u8], name: &str) -> Vec<u8> {
        self.make(proc::MKDIR, &args().entry(dir, name).words(super::mode(0o755)))
    }

    #[track_caller]
    pub fn symlink(&self, dir: &[u8], name: &str, target: &str) -> Vec<u8> {
        self.make(proc::SYMLINK, &args().entry(dir, name).words(KEEP).opaque(target))
    }

    #[track_caller]
    pub fn fifo(&self, dir: &[u8], name: &str) -> Vec<u8> {
        self.make(proc::MKNOD, &args().entry(dir, name).word(super::ftype::FIFO).words(KEEP))
    }

    #[track_caller]
    pub fn chmod(&self, object: &[u8], mode: u32) {
        let set = args().opaque(object).words(super::mode(mode)).word(0);
        assert_eq!(self.status(proc::SETATTR, &set), stat::OK);
    }

    /// Writes all of the data, to stable storage.
    #[track_caller]
    pub fn put(&self, file: &[u8], offset: u64, data: &[u8]) {
        let head = args().opaque(file).long(offset).words([data.len() as u32, 2]);
        assert_eq!(self.status(proc::WRITE, &head.opaque(data)), stat::OK);
    }

    /// The first MiB of a file.
    #[track_caller]
    pub fn data(&self, file: &[u8]) -> Vec<u8> {
        let mut reply = self.nfs(proc::READ, &args().opaque(file).long(0).word(1 << 20));
        reply.is([stat::OK]);
        reply.attr();
        reply.take(8);
        reply.opaque()
    }

    /// The handle that a name leads to, or why not.
    pub fn find(&self, dir: &[u8], name: &str) -> Result<Vec<u8>, u32> {
        let mut reply = self.nfs(proc::LOOKUP, &args().entry(dir, name));
        match reply.word() {
            stat::OK => Ok(reply.opaque()),
            status => Err(status),
        }
    }

    /// The names in a directory without `.` and `..`, in the order of the listing.
    #[track_caller]
    pub fn names(&self, dir: &[u8]) -> Vec<String> {
        let list = args().opaque(dir).words([0, 0, 0, 0, 1 << 20]);
        let mut reply = self.nfs(proc::READDIR, &list);
        reply.is([stat::OK]);
        reply.attr();
        reply.long();
        let mut names = Vec::new();
        while reply.bool() {
            reply.long();
            names.push(String::from_utf8_lossy(&reply.opaque()).into_owned());
            reply.long();
        }
        assert!(reply.bool(), "the listing is whole");
        names.retain(|name| name != "." && name != "..");
        names
    }
}

/// The bytes of a reply as they would be sent.
pub fn flatten(mut reply: ReplyBuf) -> Vec<u8> {
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
