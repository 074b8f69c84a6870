//! What has to be done outside.

use std::sync::Arc;

use hayase_proto::nfs4::StateId;

use crate::{ByteRange, ClientId, ClientName, ClientRecord, FileKey, Locker};

/// Something to do, in the order given, after the call that returned it and before the
/// reply it belongs to goes out.
///
/// Several threads may be performing effects at once. What is done about the record of one client
/// has to come out as if it were done in the order of the versions:
/// [`RecordOrder`](crate::RecordOrder) tells what has been overtaken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask a client to give a delegation back (RFC 8881 §20.2).
    Recall {
        /// Whose it is.
        client: ClientId,
        /// The delegation.
        stateid: StateId,
        /// The file.
        file: FileKey,
        /// Whether the client need not write its data back, since the file will be truncated.
        truncate: bool,
    },
    /// Keep on stable storage that this client may claim state again after a restart, then
    /// say so by [`State::client_recorded`](crate::State::client_recorded). The reply grants
    /// the client its first state: it must not go out before.
    RecordClient {
        /// What to keep.
        record: ClientRecord,
        /// Later decisions have higher numbers.
        version: u64,
    },
    /// Take such a record off stable storage. The reply may grant somebody else what this
    /// client could claim: it must not go out before.
    ForgetClient {
        /// Whose record.
        name: ClientName,
        /// Later decisions have higher numbers.
        version: u64,
    },
    /// Grace can end. Take these records off stable storage: their clients did not come
    /// back. Then call [`State::grace_over`](crate::State::grace_over). Until that is called grace goes on, and
    /// the effect comes again.
    EndGrace {
        /// Clients that may not claim anything any more, also not after another restart.
        forget: Vec<ClientName>,
        /// Later decisions have higher numbers.
        version: u64,
    },
    /// A client has a new way to be called back: try it, and send what waited for one.
    /// What comes of it is told by [`State::callback_path`](crate::State::callback_path).
    ProbeCallback {
        /// The client.
        client: ClientId,
    },
    /// Locks of a file have gone: bring the kernel's locks in line with the table
    /// ([`State::locked`](crate::State::locked)).
    LocksChanged {
        /// The file.
        file: FileKey,
    },
    /// A lock that a client waits for can be had now (`CB_NOTIFY_LOCK`, RFC 8881 §20.11). Clients
    /// of NFSv4.0 cannot be told.
    NotifyLock {
        /// The client.
        client: ClientId,
        /// The lock owner's name.
        owner: Arc<[u8]>,
        /// The file.
        file: FileKey,
    },
    /// A lock that a host of NFSv3 waits for may be had now: try to lock for it, and call it if that
    /// works out (`NLM4_GRANTED`).
    NlmTurn {
        /// Who waits.
        locker: Locker,
        /// The file.
        file: FileKey,
        /// The bytes.
        bytes: ByteRange,
        /// For writing.
        write: bool,
    },
    /// A delegation of the file has gone: give up what kept local programs away, if no other is
    /// left ([`State::delegation_count`](crate::State::delegation_count)).
    DelegationEnded {
        /// The file.
        file: FileKey,
    },
    /// No open, lock or delegation of the file is left: nothing has to be kept open for it.
    Unused {
        /// The file.
        file: FileKey,
    },
}
