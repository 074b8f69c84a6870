//! From an RPC record to its reply.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::ArcSwap;
use hayase_buf::ReplyBuf;
use hayase_exports::Names;
use hayase_identity::Identities;
use hayase_proto::{mount, nfs3, nfs4, nfsacl, nlm, nsm, rquota};
use hayase_rpc::{CallHeader, Credential, NotACall, Refusal, refuse};
use hayase_vfs::Wait;
use hayase_xdr::Reader;

use crate::call::{Abort, Call};
use crate::denied::Denials;
use crate::mount::MountList;
use crate::peer::{Carrier, Peer};
use crate::peers::Peers;
use crate::reply_cache::ReplyCache;
use crate::{ExportId, ExportTable, HandleKey, Limits, Setup, Versions, v3, v4};

/// Replies without data, names or large lists take less.
const USUAL_REPLY_BYTES: usize = 512;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The reply was appended.
    Reply,
    /// No reply is due.
    Silent,
    /// Nothing was done: run it again where waiting is allowed.
    WouldBlock,
    /// The record is not an RPC call.
    Garbage,
}

/// What all calls share.
pub(crate) struct Server {
    pub(crate) exports: Arc<ArcSwap<ExportTable>>,
    pub(crate) key: HandleKey,
    pub(crate) names: Box<dyn Names + Send + Sync>,
    pub(crate) identities: Arc<Identities>,
    pub(crate) limits: Limits,
    pub(crate) replies: ReplyCache,
    pub(crate) mounts: MountList,
    pub(crate) v4: Arc<v4::Shared>,
    pub(crate) copying: v4::Copying,
    pub(crate) peers: Peers,
    pub(crate) versions: Versions,
    pub(crate) denials: Denials,
}

/// The programs of one server: NFS, MOUNT, NFSACL, NLM, NSM and RQUOTA.
pub struct NfsService {
    pub(crate) server: Arc<Server>,
    generations: AtomicU64,
    /// Exports that have gone, and how often their state is still looked for: calls that had begun
    /// before may have made some.
    gone: Mutex<Vec<(ExportId, u32)>>,
}

/// Calls that had begun are over after so many seconds.
const LATE_CALLS_SECS: u32 = 30;

impl NfsService {
    /// A service of these exports. `key` keeps handles from being forged; `names`
    /// answers which client an address belongs to.
    pub fn new(
        exports: ExportTable,
        key: HandleKey,
        names: Box<dyn Names + Send + Sync>,
        limits: Limits,
        setup: Setup,
    ) -> Self {
        let replies = ReplyCache::new(limits.reply_cache_bytes);
        let mounts = MountList::new(limits.mount_list);
        let exports = Arc::new(ArcSwap::from_pointee(exports));
        let identities = Arc::clone(&setup.identities);
        let versions = setup.versions;
        let v4 = Arc::new(v4::Shared::new(setup, key.clone(), Arc::clone(&exports), &limits));
        v4.listen(&exports.load());
        let server = Arc::new_cyclic(|server| {
            let copying = v4::Copying::new(Weak::clone(server), limits.copy_threads);
            let peers = Peers::default();
            Server {
                exports,
                key,
                names,
                identities,
                limits,
                replies,
                mounts,
                v4,
                copying,
                peers,
                versions,
                denials: Denials::default(),
            }
        });
        NfsService { server, generations: AtomicU64::new(1), gone: Mutex::default() }
    }

    /// Replaces all exports at once. Handles of exports that stay, stay good. What clients have open
    /// and locked of others is closed, and no connection holds on to them.
    pub fn set_exports(&self, mut exports: ExportTable) {
        let generation = self.generations.fetch_add(1, Ordering::Relaxed);
        exports.generation = generation;
        self.server.v4.listen(&exports);
        let before = self.server.exports.swap(Arc::new(exports));
        self.server.peers.forget(generation);
        self.server.denials.forget();
        let exports = self.server.exports.load();
        let ids = before.iter().map(|export| export.id);
        let gone: Vec<_> = ids.filter(|id| exports.by_id(*id).is_none()).collect();
        drop(before);
        for id in &gone {
            self.server.v4.forget_export(*id);
        }
        self.gone().extend(gone.into_iter().map(|id| (id, LATE_CALLS_SECS)));
    }

    /// Looks again for state of exports that have gone.
    fn tick_gone(&self) {
        let exports = self.server.exports.load();
        let mut gone = std::mem::take(&mut *self.gone());
        gone.retain_mut(|(id, left)| {
            *left -= 1;
            *left > 0 && exports.by_id(*id).is_none()
        });
        for (id, _) in &gone {
            self.server.v4.forget_export(*id);
        }
        self.gone().extend(gone);
    }

    // The list is whole between statements: a poisoned lock is usable.
    fn gone(&self) -> MutexGuard<'_, Vec<(ExportId, u32)>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The exports as they are now.
    pub fn exports(&self) -> Arc<ExportTable> {
        self.server.exports.load_full()
    }

    /// A connection was accepted, or a datagram came.
    pub fn connected(&self, address: SocketAddr, carrier: Carrier) -> Peer {
        let peer = Peer::new(address, carrier);
        self.server.peers.add(&peer);
        peer
    }

    /// A connection has ended. Its calls may still be running.
    pub fn disconnected(&self, peer: &Peer) {
        peer.end();
        self.server.peers.remove(peer);
        self.server.v4.disconnected(peer);
    }

    /// What NFSv4 shares between all calls.
    pub(crate) fn v4(&self) -> &v4::Shared {
        &self.server.v4
    }

    /// To be called once a second: ends leases and grace.
    pub fn tick(&self) {
        self.tick_gone();
        self.server.denials.tick();
        self.server.v4.tick();
    }

    /// Tells clients of NFSv3 that the server was restarted, so that they claim their locks. To be
    /// called when they can find its lock manager.
    pub fn tell_of_restart(&self) {
        self.server.v4.tell_of_restart();
    }

    /// Another status monitor runs on this host, and clients tell that one when they were restarted:
    /// has it watch those that hold locks. It calls procedure 16 of NLM here.
    pub fn use_host_monitor(&self) {
        self.server.v4.use_host_monitor();
    }

    /// Stops what goes on without calls: copies. There will be no others.
    pub fn stop(&self) {
        self.server.copying.stop();
    }

    /// Where the data of a WRITE starts in its record, judged from the first bytes.
    pub fn payload_offset(&self, head: &[u8]) -> Option<usize> {
        let mut reader = Reader::new(head);
        let header = CallHeader::decode(&mut reader).ok()?;
        let write = nfs3::Proc::Write as u32;
        let args = reader.rest();
        let span = match (header.prog, header.vers, header.proc) {
            (nfs3::PROGRAM, nfs3::VERSION, proc) if proc == write => {
                nfs3::WriteArgsHead::data_span(args).ok()?
            }
            (nfs3::PROGRAM, nfs4::VERSION, nfs4::PROC_COMPOUND) => {
                nfs4::write_data_span(args).ok()??
            }
            _ => return None,
        };
        Some(head.len() - args.len() + span.offset)
    }

    /// Answers one record: appends the reply, without record mark, to `reply`.
    pub fn call(&self, peer: &Peer, record: &[u8], wait: Wait, reply: &mut ReplyBuf) -> Answered {
        let mark = reply.mark();
        if wait == Wait::Allowed {
            // A worker's reply begins with no memory; most need no more than this.
            reply.bytes_mut().reserve(USUAL_REPLY_BYTES);
        }
        let mut reader = Reader::new(record);
        let header = match CallHeader::decode(&mut reader) {
            Ok(header) => header,
            Err(NotACall::Garbage) if self.is_reply(peer, record) => return Answered::Silent,
            Err(NotACall::Garbage) => return Answered::Garbage,
            Err(NotACall::Refused { xid, why }) => {
                refuse(xid, why, reply.bytes_mut());
                return Answered::Reply;
            }
        };
        let answered = self.dispatch(peer, &header, reader.rest(), record, wait, reply);
        let why = match answered {
            Ok(answered) => return answered,
            Err(Abort::WouldBlock) => {
                reply.rollback(mark);
                return Answered::WouldBlock;
            }
            Err(Abort::Unanswered) => {
                reply.rollback(mark);
                return Answered::Silent;
            }
            Err(Abort::Refused(why)) => why,
        };
        reply.rollback(mark);
        refuse(header.xid, why, reply.bytes_mut());
        Answered::Reply
    }

    /// Takes a record that is the reply to a call of our own.
    fn is_reply(&self, peer: &Peer, record: &[u8]) -> bool {
        const REPLY: [u8; 4] = [0, 0, 0, 1];
        record.get(4..8) == Some(&REPLY) && self.server.v4.replied(peer, record)
    }

    fn dispatch(
        &self,
        peer: &Peer,
        header: &CallHeader<'_>,
        args: &[u8],
        record: &[u8],
        wait: Wait,
        reply: &mut ReplyBuf,
    ) -> Result<Answered, Abort> {
        served(header, peer.carrier, self.server.versions).map_err(Abort::Refused)?;
        let credential = Credential::check(header.cred, header.verf)
            .map_err(|stat| Abort::Refused(Refusal::Auth(stat)))?;
        let call = Call { server: &self.server, peer, credential, wait };
        match (header.prog, header.vers) {
            (nfs3::PROGRAM, nfs4::VERSION) => {
                let answered = v4::answer(&call, header, args, record, reply);
                if peer.has_ended() {
                    // The call may have bound the connection to a session after it ended.
                    self.server.v4.disconnected(peer);
                }
                answered
            }
            (nfs3::PROGRAM, _) => v3::answer(&call, header, args, record, reply),
            (nfsacl::PROGRAM, _) => crate::nfsacl::answer(&call, header, args, reply.bytes_mut()),
            (nlm::PROGRAM, _) => crate::nlm::answer(&call, header, args, record, reply.bytes_mut()),
            (nsm::PROGRAM, _) => crate::nsm::answer(&call, header, args, reply.bytes_mut()),
            (rquota::PROGRAM, _) => crate::rquota::answer(&call, header, args, reply.bytes_mut()),
            _ => crate::mount::answer(&call, header, args, reply.bytes_mut()),
        }
    }
}

impl Drop for NfsService {
    /// The threads that copy hold on to what all calls share.
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether the program is served here, in this version and over this carrier.
fn served(header: &CallHeader<'_>, carrier: Carrier, versions: Versions) -> Result<(), Refusal> {
    let (low, high) = match (header.prog, carrier) {
        (nfs3::PROGRAM, Carrier::Tcp) => versions.range(),
        (nfsacl::PROGRAM, Carrier::Tcp) if versions.v3 => (nfsacl::VERSION, nfsacl::VERSION),
        (mount::PROGRAM, _) if versions.v3 => (mount::VERSION_1, mount::VERSION_3),
        // Which says what is exported, and mounts nothing.
        (mount::PROGRAM, _) => (mount::VERSION_1, mount::VERSION_1),
        (nlm::PROGRAM, _) if versions.v3 => (nlm::VERSION, nlm::VERSION),
        (nsm::PROGRAM, _) if versions.v3 => (nsm::VERSION, nsm::VERSION),
        (rquota::PROGRAM, _) => (rquota::VERSION_1, rquota::VERSION_2),
        _ => return Err(Refusal::ProgUnavail),
    };
    let mount_2 = header.prog == mount::PROGRAM && header.vers == 2;
    if !(low..=high).contains(&header.vers) || mount_2 {
        return Err(Refusal::ProgMismatch { low, high });
    }
    Ok(())
}
