//! Clients that wait for a lock which a local program holds. The kernel tells nobody when it is
//! given up, so it is asked now and then; a client that is not told asks by itself only every
//! half minute (`CB_NOTIFY_LOCK`, RFC 8881 §20.11).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hayase_state::{ByteRange, ClientId, FileKey, Locker, Now};
use hayase_vfs::{Access, Cred, Cx, Durability, Wait};

use super::callback::Message;
use super::mirror;
use super::setup::Shared;
use crate::ExportId;

/// Most that wait. Beyond, waiting works by the client's asking alone.
const MOST: usize = 4096;

/// The kernel is asked about so many of them a second.
const LOOKS: usize = 128;

/// Who did not ask again for so long does not wait any more: twice what clients take between
/// two attempts, and a little.
const PATIENCE: Duration = Duration::from_secs(75);

/// A lock that is waited for.
struct Waiting {
    client: ClientId,
    owner: Arc<[u8]>,
    file: FileKey,
    bytes: ByteRange,
    write: bool,
    asked: Now,
}

/// Who waits, the one that was looked at longest ago first.
#[derive(Default)]
pub(super) struct LocalWaits(Mutex<VecDeque<Waiting>>);

impl LocalWaits {
    // The queue is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// A client asks for a lock: what it waited for on this file it does not any more.
    pub(crate) fn asks_for_lock(&self, file: &FileKey, locker: &Locker) {
        let Locker::V4 { client, owner } = locker else { return };
        let of_this = |waiting: &Waiting| {
            waiting.file == *file && waiting.client == *client && waiting.owner == *owner
        };
        self.local_waits.lock().retain(|waiting| !of_this(waiting));
    }

    /// A client waits for a lock that a local program holds.
    pub(crate) fn awaits_local(
        &self,
        file: FileKey,
        locker: &Locker,
        (bytes, write): (ByteRange, bool),
    ) {
        let Locker::V4 { client, owner } = locker else { return };
        let (client, owner, asked) = (*client, Arc::clone(owner), self.now());
        let mut waits = self.local_waits.lock();
        if waits.len() < MOST {
            waits.push_back(Waiting { client, owner, file, bytes, write, asked });
        }
    }

    /// Once a second: tells those who can have their lock now.
    pub(super) fn tick_local_waits(&self) {
        let now = self.now();
        let looked_at: Vec<_> = {
            let mut waits = self.local_waits.lock();
            waits.retain(|waiting| now.0.saturating_sub(waiting.asked.0) <= PATIENCE);
            let count = waits.len().min(LOOKS);
            waits.drain(..count).collect()
        };
        for waiting in looked_at {
            if self.is_free_locally(&waiting) {
                let Waiting { client, owner, file, .. } = waiting;
                self.tell(client, Message::NotifyLock { owner, file });
            } else {
                self.local_waits.lock().push_back(waiting);
            }
        }
    }

    /// Whether no local program is in the way. If that cannot be told, the client finds out.
    fn is_free_locally(&self, waiting: &Waiting) -> bool {
        let exports = self.exports.load();
        let Some(export) = exports.by_id(ExportId(waiting.file.export)) else { return true };
        let Some(range) = mirror::range(waiting.bytes) else { return true };
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Async,
            opened: Access::NONE,
        };
        let mode = mirror::mode(waiting.write);
        !matches!(export.vfs.test_lock(&cx, &waiting.file.handle, range, mode), Ok(Some(_)))
    }
}
