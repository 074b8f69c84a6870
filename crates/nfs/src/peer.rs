//! What is known of the other end of a connection.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hayase_exports::{ExportOptions, Flavor, Match, Names};
use hayase_vfs::{Error, Wait};

use crate::{Export, ExportId, ExportTable};

/// What a call came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A connection.
    Tcp,
    /// A datagram.
    Udp,
}

/// A way to send records to the other end beside the replies, such as calls of our own.
pub trait Channel: Send + Sync {
    /// Sends a record; if the connection has ended, nothing is sent.
    fn send(&self, record: &[u8]);
}

/// One connection, or the sender of one datagram.
pub struct Peer {
    /// Tells the connections of this process apart.
    pub(crate) id: u64,
    /// Calls of our own go here; a datagram has none.
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// The client of NFSv4.0 that used it last, 0 for none.
    client_40: AtomicU64,
    /// It has ended; calls of it may still be running.
    ended: AtomicBool,
    /// Where it comes from.
    pub address: SocketAddr,
    /// What it came over.
    pub carrier: Carrier,
    /// What has been decided for it, so that the next call finds it without looking.
    known: Arc<Decided>,
}

/// What has been decided for one peer. It holds on to file systems, and so can be told to forget.
#[derive(Debug, Default)]
pub(crate) struct Decided(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    generation: u64,
    /// By the ids of the exports.
    grants: Vec<Arc<Grant>>,
}

impl Decided {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was decided by exports of before.
    pub(crate) fn forget(&self, generation: u64) {
        let mut known = self.lock();
        if known.generation != generation {
            *known = Known { generation, grants: Vec::new() };
        }
    }

    /// The exports that the peer has used.
    pub(crate) fn exports(&self) -> Vec<ExportId> {
        self.lock().grants.iter().map(|grant| grant.export.id).collect()
    }
}

/// An export as one peer may use it. Each connection has its own, so that using it
/// writes to no memory that other connections use.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) export: Arc<Export>,
    pub(crate) options: ExportOptions,
    /// Those of calls without identity, if they differ.
    pub(crate) anonymous: Option<Box<ExportOptions>>,
    /// Those of calls that state one, if they differ.
    pub(crate) stated: Option<Box<ExportOptions>>,
}

impl Grant {
    fn new(export: &Arc<Export>, options: &ExportOptions) -> Self {
        Grant {
            export: Arc::clone(export),
            options: options.clone(),
            anonymous: options.with_flavor(Flavor::None).map(Box::new),
            stated: options.with_flavor(Flavor::Sys).map(Box::new),
        }
    }

    /// The options for calls with this flavor.
    pub(crate) fn options(&self, flavor: Flavor) -> &ExportOptions {
        let own = match flavor {
            Flavor::None => &self.anonymous,
            Flavor::Sys => &self.stated,
        };
        own.as_deref().unwrap_or(&self.options)
    }
}

impl Peer {
    /// A peer about which nothing has been decided.
    pub fn new(address: SocketAddr, carrier: Carrier) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        Peer {
            id,
            channel: None,
            client_40: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            address,
            carrier,
            known: Arc::default(),
        }
    }

    /// What has been decided for it.
    pub(crate) fn decided(&self) -> &Arc<Decided> {
        &self.known
    }

    /// Notes which client of NFSv4.0 uses the connection.
    pub(crate) fn note_client_40(&self, client: u64) {
        if self.client_40.load(Ordering::Relaxed) != client {
            self.client_40.store(client, Ordering::Relaxed);
        }
    }

    /// The client of NFSv4.0 that used the connection last.
    pub(crate) fn client_40(&self) -> Option<u64> {
        let client = self.client_40.load(Ordering::Relaxed);
        (client != 0).then_some(client)
    }

    /// Notes that the connection has ended.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Calls of our own go to `channel`.
    #[must_use]
    pub fn with_channel(self, channel: Arc<dyn Channel>) -> Self {
        Peer { channel: Some(channel), ..self }
    }

    /// The export of this id as the peer may use it.
    ///
    /// # Errors
    /// [`Error::Stale`] if there is no such export, else as [`Peer::decide`].
    pub(crate) fn grant(
        &self,
        id: ExportId,
        table: &ExportTable,
        names: &dyn Names,
        wait: Wait,
    ) -> Result<Arc<Grant>, Error> {
        let mut known = self.known.lock();
        // A call that began before the exports changed does not bring back what was forgotten: on a
        // connection on which nothing happens after it, that would stay.
        if known.generation < table.generation {
            *known = Known { generation: table.generation, grants: Vec::new() };
        }
        if known.generation == table.generation
            && let Ok(at) = known.grants.binary_search_by_key(&id, |grant| grant.export.id)
        {
            return Ok(Arc::clone(&known.grants[at]));
        }
        drop(known); // a name may have to be looked up, which takes its time
        let export = table.by_id(id).ok_or(Error::Stale)?;
        let grant = Arc::new(self.decide(export, names, wait)?);
        let mut known = self.known.lock();
        if known.generation == table.generation
            && let Err(at) = known.grants.binary_search_by_key(&id, |grant| grant.export.id)
        {
            known.grants.insert(at, Arc::clone(&grant));
        }
        Ok(grant)
    }

    /// Whether and how the peer may use an export.
    ///
    /// # Errors
    /// [`Error::Access`]; [`Error::NotOwner`] to a peer whose port is open to everyone on its
    /// host; [`Error::WouldBlock`] if names have to be looked up first.
    pub(crate) fn decide(
        &self,
        export: &Arc<Export>,
        names: &dyn Names,
        wait: Wait,
    ) -> Result<Grant, Error> {
        let address = self.address.ip();
        let options = match (export.rules.without_names(address), wait) {
            (Match::Granted(options), _) => options,
            (Match::Refused, _) => return Err(Error::Access),
            (Match::NeedsNames, Wait::Never) => return Err(Error::WouldBlock),
            (Match::NeedsNames, Wait::Allowed) => {
                export.rules.matching(address, names).ok_or(Error::Access)?
            }
        };
        let grant = Grant::new(export, options);
        let port = self.address.port();
        if !options.sec.iter().any(|flavor| grant.options(flavor).permits_port(port)) {
            return Err(Error::NotOwner);
        }
        Ok(grant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_exports::SystemNames;

    /// A call that was running while an export was removed held its file system from then on.
    #[test]
    fn a_call_of_before_does_not_bring_back_what_was_forgotten() {
        let table = |generation| {
            let entries = hayase_exports::parse(b"/srv *(insecure)", "exports".as_ref()).unwrap();
            let path = b"/srv".to_vec();
            let export = Export {
                id: ExportId::of(&path, None),
                vfs: Arc::new(hayase_mem::MemFs::new()),
                path,
                rules: hayase_exports::Rules::of(&entries[0], &SystemNames::default()).0,
                client_names: Vec::new(),
            };
            let mut table = ExportTable::new(vec![export], false).unwrap();
            table.generation = generation;
            table
        };
        let (before, after) = (table(1), table(2));
        let id = ExportId::of(b"/srv", None);
        let peer = Peer::new("192.0.2.1:700".parse().unwrap(), Carrier::Tcp);
        let names = SystemNames::default();
        let grant = |table| peer.grant(id, table, &names, Wait::Never).unwrap();
        grant(&before);
        assert_eq!(peer.decided().exports(), [id]);
        peer.decided().forget(2);
        grant(&before);
        assert_eq!(peer.decided().exports(), []);
        let kept = grant(&after);
        assert!(!Arc::ptr_eq(&grant(&before).export, &kept.export));
        assert!(Arc::ptr_eq(&grant(&after), &kept));
    }
}
