//! A server on the loopback interface, and connections to it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use hayase_buf::{Buffer, Payload, ReplyBuf};
use hayase_transport::{Carrier, Config, Disposition, Handle, Limits, Service, Transport, bind};
use hayase_vfs::{Wait, wait_for_disk};

/// Longer than anything here takes on a machine that is busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long `disk` waits for what it takes for a disk.
pub const DISK_TIME: Duration = Duration::from_millis(20);

/// A record says by its first four bytes what is to become of it.
#[derive(Default)]
pub struct Actor {
    /// `park` waits until this is true.
    gate: Mutex<bool>,
    opened: Condvar,
    /// Records that came.
    pub calls: AtomicUsize,
    /// `park` records that wait now, and the most there were at once.
    pub parked: AtomicUsize,
    pub most_parked: AtomicUsize,
}

impl Actor {
    pub fn open_gate(&self) {
        *self.gate.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn park(&self) {
        let parked = self.parked.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_parked.fetch_max(parked, Ordering::SeqCst);
        let gate = self.gate.lock().unwrap();
        drop(self.opened.wait_while(gate, |open| !*open).unwrap());
        self.parked.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits until `count` of `park` wait.
    pub fn wait_parked(&self, count: usize) {
        eventually("calls are parked", || self.parked.load(Ordering::SeqCst) == count);
    }
}

impl Service for Actor {
    type Peer = SocketAddr;

    fn connected(&self, peer: SocketAddr, _: Carrier, _: Option<Handle>) -> SocketAddr {
        peer
    }

    fn payload_offset(&self, head: &[u8]) -> Option<usize> {
        Some(head.len().min(100))
    }

    fn call(&self, _: &SocketAddr, record: &[u8], wait: Wait, reply: &mut ReplyBuf) -> Disposition {
        let (action, rest) = record.split_at_checked(4).unwrap_or((b"echo", record));
        let must_wait = matches!(action, b"park" | b"bomb" | b"work" | b"drop" | b"disk");
        if must_wait && wait == Wait::Never {
            reply.bytes_mut().extend_from_slice(b"what must not be sent");
            return Disposition::WouldBlock;
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
        match action {
            b"park" => self.park(),
            b"boom" | b"bomb" => panic!("this is part of a test"),
            b"quit" | b"drop" => return Disposition::Close,
            b"mute" => {
                reply.bytes_mut().extend_from_slice(b"what must not be sent");
                return Disposition::Silent;
            }
            b"fast" | b"disk" | b"data" => {
                if action == b"disk" {
                    wait_for_disk(|| std::thread::sleep(DISK_TIME));
                }
                let xid = u32::from_be_bytes(*action.first_chunk().unwrap());
                hayase_rpc::accept(xid, reply.bytes_mut());
                reply.bytes_mut().extend_from_slice(b"result");
                if action == b"data" {
                    let mut buffer = Buffer::unpooled(3);
                    buffer.fill(b'x');
                    reply.bytes_mut().extend_from_slice(b" with ");
                    reply.push_payload(Payload::Buffer { buffer, len: 3 });
                }
                return Disposition::Reply;
            }
            b"load" => {
                let len = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
                let mut buffer = Buffer::unpooled(len);
                buffer.fill(b'x');
                reply.bytes_mut().extend_from_slice(b"load");
                reply.push_payload(Payload::Buffer { buffer, len });
                return Disposition::Reply;
            }
            _ => {}
        }
        reply.bytes_mut().extend_from_slice(record);
        Disposition::Reply
    }
}

/// A server that runs until it is dropped.
pub struct Lab {
    pub actor: Arc<Actor>,
    pub transport: Option<Transport>,
    pub address: SocketAddr,
}

/// Small bounds, so that tests reach them.
pub fn limits() -> Limits {
    Limits { record_bytes: 100_000, small_record_bytes: 1000, buffers: 2, ..Limits::default() }
}

impl Lab {
    pub fn new(limits: Limits) -> Self {
        Lab::with_threads(limits, 2)
    }

    pub fn with_threads(limits: Limits, threads: usize) -> Self {
        let actor = Arc::new(Actor::default());
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let config = Config { shards: 2, threads, limits };
        let transport = Transport::start(&config, &actor, vec![listener]).unwrap();
        Lab { actor, transport: Some(transport), address }
    }

    pub fn connect(&self) -> Peer {
        Peer::new(TcpStream::connect(self.address).unwrap())
    }

    pub fn connections(&self) -> usize {
        self.transport.as_ref().unwrap().connection_counter()()
    }

    /// Someone else is still served.
    pub fn is_alive(&self) {
        let mut peer = self.connect();
        peer.send(b"still there?");
        assert_eq!(peer.receive(), b"still there?");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.actor.open_gate();
        if let Some(transport) = self.transport.take() {
            let stopped = transport.stop(PATIENCE);
            assert!(stopped || std::thread::panicking(), "the server does not stop");
        }
    }
}

/// One connection, the client's side.
pub struct Peer(pub TcpStream);

impl Peer {
    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Peer(stream)
    }

    /// Sends a record in one fragment.
    pub fn send(&mut self, record: &[u8]) {
        self.raw(&fragment(true, record));
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Receives a record.
    pub fn receive(&mut self) -> Vec<u8> {
        let mut mark = [0; 4];
        self.0.read_exact(&mut mark).expect("a reply comes");
        let mark = u32::from_be_bytes(mark);
        assert_ne!(mark & 1 << 31, 0, "replies are one fragment");
        let mut record = vec![0; (mark & !(1 << 31)) as usize];
        self.0.read_exact(&mut record).expect("the reply is whole");
        record
    }

    pub fn ask(&mut self, record: &[u8]) -> Vec<u8> {
        self.send(record);
        self.receive()
    }

    /// The server sends nothing more and closes the connection.
    pub fn is_closed(&mut self) {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => assert_eq!(rest, b"", "bytes before the end"),
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
            }
        }
    }

    /// Tells the server that nothing more will be sent.
    pub fn finish(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }
}

/// A fragment with its mark (RFC 5531 §11).
pub fn fragment(last: bool, data: &[u8]) -> Vec<u8> {
    let mark = data.len() as u32 | u32::from(last) << 31;
    [&mark.to_be_bytes(), data].concat()
}

/// Waits for something to become true.
#[track_caller]
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Numbers that look random and are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}
