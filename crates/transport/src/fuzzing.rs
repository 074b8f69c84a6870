//! A connection without a shard, for the fuzz targets; not part of the API.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hayase_buf::ReplyBuf;
use hayase_vfs::Wait;

use crate::connection::{Connection, Core, TURN_BYTES, Turn};
use crate::inbox::{ConnectionId, Inbox};
use crate::input::Large;
use crate::workers::Workers;
use crate::{Carrier, Disposition, Handle, Limits, Service};

/// What came of a stream.
#[derive(Debug)]
pub struct Echoed {
    /// What the connection sent.
    pub sent: Vec<u8>,
    /// Whether it closed before the stream was at its end.
    pub closed_early: bool,
}

/// Answers every record with itself. For records that begin with an odd byte it first asks for
/// a worker, whose queue is always full.
#[derive(Default)]
struct Echo {
    refused: AtomicBool,
}

impl Service for Echo {
    type Peer = ();

    fn connected(&self, _: SocketAddr, _: Carrier, _: Option<Handle>) {}

    fn payload_offset(&self, head: &[u8]) -> Option<usize> {
        head.first().map(|byte| *byte as usize)
    }

    fn call(&self, (): &(), record: &[u8], _: Wait, reply: &mut ReplyBuf) -> Disposition {
        let odd = record.first().is_some_and(|byte| byte % 2 == 1);
        if odd && !self.refused.swap(true, Ordering::Relaxed) {
            return Disposition::WouldBlock;
        }
        self.refused.store(false, Ordering::Relaxed);
        reply.bytes_mut().extend_from_slice(record);
        Disposition::Reply
    }
}

/// Has a connection receive `stream` in pieces of these lengths, and then its end.
///
/// Panics where the connection does not come to an end.
pub fn echo(stream: &[u8], pieces: impl IntoIterator<Item = usize>, limits: &Limits) -> Echoed {
    let (ours, mut theirs) = pair();
    let mut core = core(limits);
    let id = ConnectionId { index: 0, generation: 0 };
    let mut connection = Connection::new(id, ours.into(), ([127, 0, 0, 1], 1).into(), (), 0);
    let mut pieces = pieces.into_iter();
    let (mut rest, mut sent) = (stream, Vec::new());
    loop {
        let at_end = rest.is_empty();
        if at_end {
            theirs.shutdown(Shutdown::Write).expect("a socket of our own is open");
        } else {
            let len = pieces.next().unwrap_or(rest.len()).clamp(1, rest.len());
            let taken = theirs.write(&rest[..len]).expect("a socket that is read takes more");
            rest = &rest[taken..];
        }
        connection.wake(true, true, at_end);
        loop {
            let turn = connection.turn(&mut core, false);
            receive(&mut theirs, &mut sent);
            match turn {
                Ok(Turn::Wait) => break,
                Ok(Turn::Again | Turn::Starved) => connection.wake(false, true, false),
                Err(_) => return Echoed { sent, closed_early: !at_end },
            }
        }
        assert!(!at_end, "the peer has hung up, and the connection waits");
    }
}

fn pair() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("two file descriptors are to be had");
    for socket in [&ours, &theirs] {
        socket.set_nonblocking(true).expect("a socket can be non-blocking");
    }
    (ours, theirs)
}

fn core(limits: &Limits) -> Core<Echo> {
    Core {
        service: Arc::new(Echo::default()),
        workers: Arc::new(Workers::start(0, 0).expect("no threads are always to be had")),
        inbox: Arc::new(Inbox::new().expect("a file descriptor is to be had")),
        pool: Large::pool(limits),
        limits: Arc::new(limits.clone()),
        receive_buffer: vec![0; TURN_BYTES].into(),
        batch: ReplyBuf::new(),
        in_flight: 0,
        now_secs: 0,
        moved: 0,
        others_wait: false,
    }
}

fn receive(from: &mut UnixStream, into: &mut Vec<u8>) {
    match from.read_to_end(into) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(error) => panic!("a socket of our own fails: {error}"),
    }
}
