//! What the transport asks of the protocol above it.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use hayase_buf::ReplyBuf;
use hayase_rpc::{Timing, announce_timing};
use hayase_vfs::{Wait, disk_time_of};

use crate::Handle;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The reply was appended.
    Reply,
    /// No reply is due, now or later.
    Silent,
    /// Nothing was done, because it would have to wait: run the record again on a worker.
    WouldBlock,
    /// The peer does not speak the protocol: close the connection.
    Close,
}

/// What a call came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A connection: replies may be large.
    Tcp,
    /// A datagram: the reply must fit one, too.
    Udp,
}

/// Answers records. Called from all shards and workers at once.
pub trait Service: Send + Sync + 'static {
    /// What the service keeps for each connection.
    type Peer: Send + Sync;

    /// A connection was accepted, or a datagram came. What is sent by the handle goes out on
    /// the connection beside the replies; a datagram has none.
    fn connected(&self, peer: SocketAddr, carrier: Carrier, handle: Option<Handle>) -> Self::Peer;

    /// A connection has ended. Calls of it may still be running on workers.
    fn disconnected(&self, _peer: &Self::Peer) {}

    /// Where the bulk data of a large record starts, judged from its first bytes, so
    /// that it can be received page-aligned. A hint: any answer is correct.
    fn payload_offset(&self, head: &[u8]) -> Option<usize>;

    /// Answers one record by appending the reply, without record mark, to `reply`.
    ///
    /// On a shard `wait` is [`Wait::Never`], and the answer may be
    /// [`Disposition::WouldBlock`]; on a worker it is [`Wait::Allowed`].
    fn call(
        &self,
        peer: &Self::Peer,
        record: &[u8],
        wait: Wait,
        reply: &mut ReplyBuf,
    ) -> Disposition;
}

/// Has the service answer one record. A bug in it costs one connection or datagram, not a
/// thread that serves many.
pub(crate) fn call<S: Service>(
    service: &S,
    peer: &S::Peer,
    record: &[u8],
    wait: Wait,
    reply: &mut ReplyBuf,
) -> Disposition {
    let called = catch_unwind(AssertUnwindSafe(|| service.call(peer, record, wait, reply)));
    called.unwrap_or_else(|_| {
        tracing::error!("a call panicked; its connection is closed");
        Disposition::Close
    })
}

/// The same for a call that asks how long it takes, and was received at `received`.
#[cold]
pub(crate) fn timed_call<S: Service>(
    service: &S,
    peer: &S::Peer,
    record: &[u8],
    wait: Wait,
    received: Instant,
    reply: &mut ReplyBuf,
) -> Disposition {
    let begun = reply.mark();
    let began = Instant::now();
    let (disposition, disk) = disk_time_of(|| call(service, peer, record, wait, reply));
    if disposition == Disposition::Reply
        && let Some(at) = announce_timing(reply.bytes_since_mut(begun))
    {
        let queued = began.saturating_duration_since(received);
        let served = began.elapsed().saturating_sub(disk);
        reply.insert(begun, at, &Timing { queued, served, disk }.to_bytes());
    }
    disposition
}
