//! The protocol as the transport wants to be answered.

use std::net::SocketAddr;

use hayase_buf::ReplyBuf;
use hayase_nfs::{Answered, NfsService, Peer};
use hayase_transport::{Carrier, Disposition, Service};
use hayase_vfs::Wait;

/// NFS behind a transport.
pub(crate) struct Programs(pub(crate) NfsService);

impl Service for Programs {
    type Peer = Peer;

    fn connected(&self, peer: SocketAddr, carrier: Carrier) -> Peer {
        let carrier = match carrier {
            Carrier::Tcp => hayase_nfs::Carrier::Tcp,
            Carrier::Udp => hayase_nfs::Carrier::Udp,
        };
        self.0.connected(peer, carrier)
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
