//! Why a program could not be announced or found.

use std::io;

use hayase_rpc::Refusal;

use crate::Service;

/// Why a program could not be announced or found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens where rpcbind would.
    #[error("no rpcbind answers at {at}")]
    NotRunning {
        /// Where it was looked for.
        at: String,
    },
    /// Talking to rpcbind failed.
    #[error("rpcbind at {at}: {source}")]
    Io {
        /// Where it is.
        at: String,
        /// What failed; a time-out after two seconds is one of these.
        source: io::Error,
    },
    /// Rpcbind answered something that is no answer.
    #[error("rpcbind at {at} sent a reply that cannot be read: {what}")]
    BadReply {
        /// Where it is.
        at: String,
        /// What is wrong with the reply.
        what: String,
    },
    /// Rpcbind did not run the call.
    #[error("rpcbind at {at} refused {procedure}: {why:?}")]
    Refused {
        /// Where it is.
        at: String,
        /// What it was asked to do.
        procedure: &'static str,
        /// Its reason.
        why: Refusal,
    },
    /// Rpcbind answered no, without a reason.
    #[error(
        "rpcbind at {at} did not register {service}: it takes registrations from root only, \
         unless run with -i"
    )]
    Denied {
        /// Where it is.
        at: String,
        /// What was to be registered.
        service: Service,
    },
    /// Another program is registered there, and listens.
    #[error(
        "{service} cannot be registered: another server (owner {owner:?}) is registered for it at \
         {uaddr} and answers; stop that server first"
    )]
    Taken {
        /// What was to be registered.
        service: Service,
        /// Where the other listens, as rpcbind writes it.
        uaddr: String,
        /// Who registered it.
        owner: String,
    },
    /// There is no rpcbind, and the own portmapper cannot run either.
    #[error(
        "no rpcbind runs on this host and port {port} cannot be opened for an own portmapper: \
         {source}; start rpcbind, or allow binding ports below 1024"
    )]
    NoPortmapper {
        /// The port.
        port: u16,
        /// What failed.
        source: io::Error,
    },
}

impl Error {
    /// The service that another server is registered for.
    pub fn taken(&self) -> Option<&Service> {
        match self {
            Error::Taken { service, .. } => Some(service),
            _ => None,
        }
    }
}
