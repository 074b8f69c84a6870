//! What the transport asks of the protocol above it.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hayase_buf::ReplyBuf;
use hayase_vfs::Wait;

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
