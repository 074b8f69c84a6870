//! Copies that go on after COPY was answered (RFC 7862 §4.4, §4.8, §15.2, §15.8, §15.9).
//!
//! Whoever copies holds an [`AsyncCopy`], counts in it what is done, and asks it whether anybody
//! still wants the rest. The client names it by its copy stateid until it has answered
//! `CB_OFFLOAD`, or has cancelled it. Copies go with their client; its sessions may come and go.

mod held;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hayase_proto::nfs4::{StateId, Status};

pub(crate) use held::HeldCopies;

use crate::sharded::lock;
use crate::{ClientId, FileKey, Now, State};

/// The seqid of copy stateids: it never changes, and zero would be invalid (RFC 7862 §4.8).
const SEQID: u32 = 1;

/// A copy that goes on, or of which the client has not taken notice yet.
#[derive(Debug)]
pub struct AsyncCopy {
    client: ClientId,
    number: u64,
    stateid: StateId,
    target: FileKey,
    copied_bytes: AtomicU64,
    /// It was cancelled, or its client is gone. Set with the end's lock held, so that of who
    /// ends it and who cancels it, the second knows of the first.
    unwanted: AtomicBool,
    end: Mutex<Option<Result<(), Status>>>,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    /// Bytes copied so far.
    pub copied_bytes: u64,
    /// How it ended, if it has.
    pub ended: Option<Result<(), Status>>,
}

/// Copies of all clients together.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    count: AtomicUsize,
}

impl AsyncCopy {
    /// Whose it is.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// What names it.
    pub fn stateid(&self) -> StateId {
        self.stateid
    }

    /// The file that is written to.
    pub fn target(&self) -> FileKey {
        self.target
    }

    /// Counts bytes that were copied.
    pub fn add(&self, bytes: u64) {
        self.copied_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes copied so far.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes.load(Ordering::Relaxed)
    }

    /// Whether it is to go on. Once it is not, it never is again.
    pub fn is_wanted(&self) -> bool {
        !self.unwanted.load(Ordering::Acquire)
    }

    /// Whether nothing will be written for it any more.
    pub fn has_ended(&self) -> bool {
        lock(&self.end).is_some()
    }

    /// How far it is.
    pub fn progress(&self) -> CopyProgress {
        // The end first: what was copied by then has been counted.
        let ended = *lock(&self.end);
        CopyProgress { copied_bytes: self.copied_bytes(), ended }
    }

    /// Nobody wants the rest; whether it has ended already.
    fn stop(&self) -> bool {
        let end = lock(&self.end);
        self.unwanted.store(true, Ordering::Release);
        end.is_some()
    }

    /// It has ended; whether somebody wants to know.
    fn finish(&self, result: Result<(), Status>) -> bool {
        let mut end = lock(&self.end);
        end.get_or_insert(result);
        self.is_wanted()
    }
}

impl Copies {
    /// Counts one more, within the bound.
    fn take_place(&self, bound: usize) -> bool {
        let add = |count| (count < bound).then_some(count + 1);
        self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn give_back(&self, places: usize) {
        self.count.fetch_sub(places, Ordering::Relaxed);
    }
}

impl State {
    /// Begins a copy of a client's, of which the answer to COPY tells the stateid. DELAY if there are
    /// as many as there may be.
    pub fn begin_copy(
        &self,
        now: Now,
        client: ClientId,
        target: FileKey,
    ) -> Result<Arc<AsyncCopy>, Status> {
        let client = self.living(now, client)?;
        let limits = &self.config.limits;
        if !self.copies.take_place(limits.copies) {
            return Err(Status::Delay);
        }
        let (number, stateid) = self.files.new_stateid(SEQID);
        let copy = Arc::new(AsyncCopy {
            client: client.id(),
            number,
            stateid,
            target,
            copied_bytes: AtomicU64::new(0),
            unwanted: AtomicBool::new(false),
            end: Mutex::default(),
        });
        let added = client.copies.add(&copy, limits.copies_per_client);
        if added.is_err() {
            self.copies.give_back(1);
        }
        added.map(|()| copy)
    }

    /// Nothing will be written for a copy any more. Answers whether its client has to be told;
    /// then the copy is kept until [`State::copy_told`].
    pub fn end_copy(&self, copy: &AsyncCopy, result: Result<(), Status>) -> bool {
        let wanted = copy.finish(result);
        if !wanted {
            self.forget_copy(copy.client, copy.number);
        }
        wanted
    }

    /// A client has answered what it was told of a copy's end.
    pub fn copy_told(&self, client: ClientId, stateid: &StateId) {
        if let Some(copy) = self.find_copy(client, stateid).filter(|copy| copy.has_ended()) {
            self.forget_copy(client, copy.number);
        }
    }

    /// Whether a client still has to be told that this copy has ended.
    pub fn is_copy_untold(&self, client: ClientId, stateid: &StateId) -> bool {
        self.find_copy(client, stateid).is_some_and(|copy| copy.has_ended())
    }

    /// `OFFLOAD_STATUS`: how far a copy is.
    pub fn copy_status(
        &self,
        client: ClientId,
        stateid: &StateId,
        target: &FileKey,
    ) -> Result<CopyProgress, Status> {
        let copy = self.find_copy(client, stateid).filter(|copy| copy.target == *target);
        copy.map(|copy| copy.progress()).ok_or(Status::BadStateId)
    }

    /// `OFFLOAD_CANCEL`: nobody wants the rest. When the copy
    /// [has ended](AsyncCopy::has_ended), its stateid is gone and the client can be answered;
    /// until then it can ask again.
    pub fn cancel_copy(
        &self,
        client: ClientId,
        stateid: &StateId,
        target: &FileKey,
    ) -> Result<Arc<AsyncCopy>, Status> {
        let copy = self.find_copy(client, stateid).filter(|copy| copy.target == *target);
        let copy = copy.ok_or(Status::BadStateId)?;
        if copy.stop() {
            self.forget_copy(client, copy.number);
        }
        Ok(copy)
    }

    /// Copies that go on or are not told, of all clients.
    pub fn copy_count(&self) -> usize {
        self.copies.count.load(Ordering::Relaxed)
    }

    /// A copy by its stateid, of which every part counts.
    fn find_copy(&self, client: ClientId, stateid: &StateId) -> Option<Arc<AsyncCopy>> {
        self.clients.get(client)?.copies.find(|copy| copy.stateid == *stateid)
    }

    fn forget_copy(&self, client: ClientId, number: u64) {
        let client = self.clients.get(client);
        if client.is_some_and(|client| client.copies.remove(number)) {
            self.copies.give_back(1);
        }
    }

    /// Takes all copies of a client; none can be added afterwards.
    pub(crate) fn forget_copies(&self, held: &HeldCopies) {
        let copies = held.close();
        for copy in &copies {
            copy.stop();
        }
        self.copies.give_back(copies.len());
    }
}
