//! What is known of the other end of a connection.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hayase_exports::{ExportOptions, Match, Names};

use crate::call::{Abort, Fault};
use crate::{Export, ExportId, ExportTable};
use hayase_proto::nfs3::Status;
use hayase_vfs::Wait;

/// What a call came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A connection.
    Tcp,
    /// A datagram.
    Udp,
}

/// One connection, or the sender of one datagram.
#[derive(Debug)]
pub struct Peer {
    /// Where it comes from.
    pub address: SocketAddr,
    /// What it came over.
    pub carrier: Carrier,
    /// What has been decided for it, so that the next call finds it without looking.
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    generation: u64,
    grants: Vec<Arc<Grant>>,
}

/// An export as one peer may use it. Each connection has its own, so that using it
/// writes to no memory that other connections use.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) export: Arc<Export>,
    pub(crate) options: ExportOptions,
}

impl Peer {
    /// A peer about which nothing has been decided.
    pub fn new(address: SocketAddr, carrier: Carrier) -> Self {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        Peer { address, carrier, known: Mutex::default() }
    }

    /// The export of this id as the peer may use it.
    pub(crate) fn grant(
        &self,
        id: ExportId,
        table: &ExportTable,
        names: &dyn Names,
        wait: Wait,
    ) -> Result<Arc<Grant>, Fault> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.generation != table.generation {
            *known = Known { generation: table.generation, grants: Vec::new() };
        }
        if let Some(grant) = known.grants.iter().find(|grant| grant.export.id == id) {
            return Ok(Arc::clone(grant));
        }
        drop(known); // a name may have to be looked up, which takes its time
        let export = table.by_id(id).ok_or(Fault::Status(Status::Stale))?;
        let grant = Arc::new(self.decide(export, names, wait)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.generation == table.generation {
            known.grants.push(Arc::clone(&grant));
        }
        Ok(grant)
    }

    /// Whether and how the peer may use an export.
    pub(crate) fn decide(
        &self,
        export: &Arc<Export>,
        names: &dyn Names,
        wait: Wait,
    ) -> Result<Grant, Fault> {
        let address = self.address.ip();
        let options = match (export.rules.without_names(address), wait) {
            (Match::Granted(options), _) => *options,
            (Match::Refused, _) => return Err(Fault::Status(Status::Acces)),
            (Match::NeedsNames, Wait::Never) => return Err(Fault::Abort(Abort::WouldBlock)),
            (Match::NeedsNames, Wait::Allowed) => {
                *export.rules.matching(address, names).ok_or(Fault::Status(Status::Acces))?
            }
        };
        if !options.permits_port(self.address.port()) {
            tracing::info!(
                "{} is refused {}: its port is above 1023; export with insecure to allow that",
                self.address,
                export.path.escape_ascii(),
            );
            return Err(Fault::Status(Status::Perm));
        }
        Ok(Grant { export: Arc::clone(export), options })
    }
}
