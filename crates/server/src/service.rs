//! The protocol as the transport wants to be answered.

use std::net::SocketAddr;
use std::sync::Arc;

use hayase_buf::ReplyBuf;
use hayase_nfs::{Answered, Channel, NfsService, Peer};
use hayase_transport::{Carrier, Disposition, Handle, Service};
use hayase_vfs::Wait;

/// A connection as the protocol sends calls of its own on it.
struct Sender(Handle);

impl Channel for Sender {
    fn send(&self, record: &[u8]) {
        self.0.send(record);
    }
}

/// NFS behind a transport.
pub(crate) struct Programs(pub(crate) NfsService);

impl Service for Programs {
    type Peer = Peer;

    fn connected(&self, peer: SocketAddr, carrier: Carrier, handle: Option<Handle>) -> Peer {
        // A socket that was handed over may take IPv4 as IPv6; rules of exports tell them apart.
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let carrier = match carrier {
            Carrier::Tcp => hayase_nfs::Carrier::Tcp,
            Carrier::Udp => hayase_nfs::Carrier::Udp,
        };
        let peer = self.0.connected(peer, carrier);
        match handle {
            Some(handle) => peer.with_channel(Arc::new(Sender(handle))),
            None => peer,
        }
    }

    fn disconnected(&self, peer: &Peer) {
        self.0.disconnected(peer);
    }

    fn payload_offset(&self, head: &[u8]) -> Option<usize> {
        self.0.payload_offset(head)
    }

    fn call(&self, peer: &Peer, record: &[u8], wait: Wait, reply: &mut ReplyBuf) -> Disposition {
        match self.0.call(peer, record, wait, reply) {
            Answered::Reply => Disposition::Reply,
            Answered::Silent => Disposition::Silent,
            Answered::WouldBlock => Disposition::WouldBlock,
            Answered::Garbage => Disposition::Close,
        }
    }
}
