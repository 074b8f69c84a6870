//! The owners of NFSv4.0 and their sequences (RFC 7530 §9.1.3, §9.1.7 to §9.1.11).
//!
//! Sessions make requests exactly once; NFSv4.0 has a counter in each owner for that. An
//! operation that bears one takes a [`Turn`] before it does anything: either the request is
//! the next one, or it was answered before and gets the same answer again, or it is out of
//! order. Whoever ran the operation hands the encoded result to [`Turn::finish`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use hayase_proto::nfs4::Status;

use crate::sharded::lock;
use crate::{FileKey, Now};

/// The longest result that is kept. Nothing with an owner's seqid is answered longer: OPEN's
/// with a delegation comes to some hundred bytes, a LOCK denied to 1,100.
const REPLY_BYTES: usize = 4096;

/// Opens or locks: both have owners, and names of one are not names of the other
/// (RFC 7530 §9.1.5, §16.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OwnerKind {
    /// `open_owner4`.
    Open,
    /// `lock_owner4`.
    Lock,
}

/// The operations that count in an owner (RFC 7530 §9.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeqOp {
    /// OPEN.
    Open,
    /// `OPEN_CONFIRM`.
    OpenConfirm,
    /// `OPEN_DOWNGRADE`.
    OpenDowngrade,
    /// CLOSE.
    Close,
    /// LOCK.
    Lock,
    /// LOCKU.
    LockU,
}

/// The answer a request got before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The encoded result: status and what follows.
    pub result: Arc<[u8]>,
    /// The file that became the current one (OPEN).
    pub file: Option<FileKey>,
}

/// What to do with a request.
#[derive(Debug)]
pub enum Heard {
    /// Run it, and finish the turn.
    Turn(Turn),
    /// It was run before: answer the same.
    Replay(Replay),
}

/// An owner of NFSv4.0.
pub(crate) struct Owner {
    /// What the client calls it.
    pub(crate) name: Arc<[u8]>,
    /// Of which kind it is.
    pub(crate) kind: OwnerKind,
    seq: Mutex<Seq>,
}

#[derive(Default)]
struct Seq {
    /// The newest request that counted.
    last: Option<u32>,
    /// What it was and what it got.
    answer: Option<(SeqOp, Replay)>,
    /// A request is being run.
    busy: bool,
    /// `OPEN_CONFIRM` was done, or is not needed (RFC 7530 §9.1.11).
    confirmed: bool,
    /// Opens or lock stateids.
    states: BTreeMap<u64, FileKey>,
    /// The open that the newest request closed; kept for the answer to a repetition
    /// (RFC 7530 §9.10.1).
    closed: Option<(u64, FileKey)>,
    /// When it was last heard of.
    used: Now,
}

/// What an owner has to say about a request.
enum Verdict {
    Next,
    /// As [`Next`](Verdict::Next), but what was not confirmed is void (RFC 7530 §16.18.5).
    Anew,
    Again(Replay),
}

impl Owner {
    /// An owner not heard of before.
    pub(crate) fn new(kind: OwnerKind, name: &[u8]) -> Arc<Owner> {
        Arc::new(Owner { name: name.into(), kind, seq: Mutex::default() })
    }

    /// Whether its opens are good (RFC 7530 §9.1.11).
    pub(crate) fn is_confirmed(&self) -> bool {
        lock(&self.seq).confirmed
    }

    /// Confirms its opens.
    pub(crate) fn confirm(&self) {
        lock(&self.seq).confirmed = true;
    }

    /// Sets the count of a lock owner that LOCK just made (RFC 7530 §16.10.5).
    pub(crate) fn start(&self, seqid: u32, now: Now) {
        let mut seq = lock(&self.seq);
        seq.last.get_or_insert(seqid);
        seq.confirmed = true;
        seq.used = now;
    }

    /// Notes a state of its.
    pub(crate) fn gain(&self, number: u64, file: FileKey) {
        lock(&self.seq).states.insert(number, file);
    }

    /// Forgets a state of its.
    pub(crate) fn lose(&self, number: u64) {
        lock(&self.seq).states.remove(&number);
    }

    /// Whether it has any state.
    pub(crate) fn has_states(&self) -> bool {
        !lock(&self.seq).states.is_empty()
    }

    /// Its states.
    pub(crate) fn states(&self) -> Vec<(u64, FileKey)> {
        lock(&self.seq).states.iter().map(|(number, file)| (*number, *file)).collect()
    }

    /// Remembers that the running request closed this open; returns the one before, if
    /// it is still remembered.
    pub(crate) fn close(&self, number: u64, file: FileKey) -> Option<(u64, FileKey)> {
        let mut seq = lock(&self.seq);
        seq.states.remove(&number);
        seq.closed.replace((number, file))
    }

    /// The closed open that a next request shows to be forgotten.
    pub(crate) fn take_closed(&self) -> Option<(u64, FileKey)> {
        lock(&self.seq).closed.take()
    }

    /// Whether it can be forgotten: nothing depends on it, and it was not heard of
    /// since then (RFC 7530 §9.1.10).
    pub(crate) fn is_unused_since(&self, then: Now) -> bool {
        let seq = lock(&self.seq);
        seq.states.is_empty() && !seq.busy && seq.used < then
    }

    /// Whether it has opens that should have been confirmed by now (RFC 7530 §16.18.5).
    pub(crate) fn is_unconfirmed_since(&self, then: Now) -> bool {
        let seq = lock(&self.seq);
        !seq.confirmed && !seq.busy && seq.used < then
    }

    /// Compares the request's seqid with the newest (RFC 7530 §9.1.7). If it is next,
    /// the owner is busy until told otherwise.
    fn hear(&self, op: SeqOp, seqid: u32, now: Now) -> Result<Verdict, Status> {
        let mut seq = lock(&self.seq);
        seq.used = now;
        if seq.busy {
            // A request that is run at this moment came again: it will find its answer later.
            return Err(Status::Delay);
        }
        if let Some(last) = seq.last {
            if seqid == last {
                return match &seq.answer {
                    Some((was, replay)) if *was == op => Ok(Verdict::Again(replay.clone())),
                    _ => Err(Status::BadSeqId),
                };
            }
            let next = last.wrapping_add(1);
            let is_next = seqid == next || (next == 0 && seqid == 1);
            if !seq.confirmed && op == SeqOp::Open {
                seq.busy = true;
                return Ok(Verdict::Anew);
            }
            if !is_next {
                return Err(Status::BadSeqId);
            }
        }
        seq.busy = true;
        Ok(Verdict::Next)
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}(", self.kind)?;
        self.name.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// The right to run one request of an owner, or of an open owner and a lock owner.
/// Nobody else gets one until it is finished or dropped.
#[derive(Debug)]
pub struct Turn {
    op: SeqOp,
    owners: [Option<(Arc<Owner>, u32)>; 2],
    /// Opens to be cancelled, since their owner starts anew.
    void: Vec<(u64, FileKey)>,
}

impl Turn {
    /// Asks an owner for its turn.
    pub(crate) fn take(
        owner: &Arc<Owner>,
        op: SeqOp,
        seqid: u32,
        now: Now,
    ) -> Result<Heard, Status> {
        let void = match owner.hear(op, seqid, now)? {
            Verdict::Again(replay) => return Ok(Heard::Replay(replay)),
            Verdict::Next => Vec::new(),
            Verdict::Anew => owner.states(),
        };
        let owners = [Some((Arc::clone(owner), seqid)), None];
        Ok(Heard::Turn(Turn { op, owners, void }))
    }

    /// Adds the lock owner of a LOCK through an open. It must be next as well; the open owner
    /// has told already that the request is no repetition (RFC 7530 §9.1.9).
    pub(crate) fn add(&mut self, owner: &Arc<Owner>, seqid: u32, now: Now) -> Result<(), Status> {
        match owner.hear(self.op, seqid, now)? {
            Verdict::Again(_) => Err(Status::BadSeqId),
            Verdict::Next | Verdict::Anew => {
                self.owners[1] = Some((Arc::clone(owner), seqid));
                Ok(())
            }
        }
    }

    /// Opens that were never confirmed and are void now (RFC 7530 §16.18.5).
    pub(crate) fn void(&mut self) -> Vec<(u64, FileKey)> {
        std::mem::take(&mut self.void)
    }

    /// Keeps the answer. With some failures the request does not count, and the next one will
    /// bear the same seqid (RFC 7530 §9.1.7). `result` is the encoded result from its status
    /// on; `file` the current file OPEN left.
    pub fn finish(mut self, status: Option<Status>, result: &[u8], file: Option<FileKey>) {
        let counts = !matches!(
            status,
            Some(
                Status::StaleClientId
                    | Status::StaleStateId
                    | Status::BadStateId
                    | Status::BadSeqId
                    | Status::BadXdr
                    | Status::Resource
                    | Status::NoFileHandle
                    | Status::Moved
            )
        );
        let replay = (result.len() <= REPLY_BYTES)
            .then(|| (self.op, Replay { result: Arc::from(result), file }));
        for (owner, seqid) in self.owners.iter_mut().filter_map(Option::take) {
            let mut seq = lock(&owner.seq);
            seq.busy = false;
            if counts {
                seq.last = Some(seqid);
                seq.answer.clone_from(&replay);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        for (owner, _) in self.owners.iter_mut().filter_map(Option::take) {
            lock(&owner.seq).busy = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now(std::time::Duration::ZERO);

    fn take(owner: &Arc<Owner>, op: SeqOp, seqid: u32) -> Result<Heard, Status> {
        Turn::take(owner, op, seqid, NOW)
    }

    fn run(owner: &Arc<Owner>, op: SeqOp, seqid: u32, status: Option<Status>, result: &[u8]) {
        match take(owner, op, seqid) {
            Ok(Heard::Turn(turn)) => turn.finish(status, result, None),
            other => panic!("{op:?} {seqid}: {other:?}"),
        }
    }

    #[test]
    fn the_newest_request_gets_its_answer_again() {
        // RFC 7530 §9.1.7: r = L + 1 is run, r = L answered from memory, all else BAD_SEQID.
        let owner = Owner::new(OwnerKind::Open, b"o");
        owner.confirm();
        run(&owner, SeqOp::Open, 17, None, b"seventeen");
        let replay = Replay { result: Arc::from(&b"seventeen"[..]), file: None };
        assert!(matches!(take(&owner, SeqOp::Open, 17), Ok(Heard::Replay(r)) if r == replay));
        assert_eq!(take(&owner, SeqOp::Open, 16).err(), Some(Status::BadSeqId));
        assert_eq!(take(&owner, SeqOp::Open, 19).err(), Some(Status::BadSeqId));
        run(&owner, SeqOp::Close, 18, None, b"eighteen");
        assert_eq!(take(&owner, SeqOp::Open, 17).err(), Some(Status::BadSeqId));
    }

    #[test]
    fn a_repetition_must_be_of_the_same_operation() {
        // RFC 7530 §9.1.9: another operation with the newest seqid is BAD_SEQID.
        let owner = Owner::new(OwnerKind::Lock, b"o");
        owner.start(0, NOW);
        run(&owner, SeqOp::Lock, 1, None, b"");
        assert_eq!(take(&owner, SeqOp::LockU, 1).err(), Some(Status::BadSeqId));
    }

    #[test]
    fn some_failures_do_not_count() {
        // RFC 7530 §9.1.7: BAD_STATEID and the like leave the count, other failures move it.
        let owner = Owner::new(OwnerKind::Open, b"o");
        owner.confirm();
        run(&owner, SeqOp::Open, 1, Some(Status::NoEnt), b"noent");
        run(&owner, SeqOp::Open, 2, Some(Status::Resource), b"resource");
        run(&owner, SeqOp::Open, 2, Some(Status::Grace), b"grace");
        run(&owner, SeqOp::Open, 3, None, b"");
    }

    #[test]
    fn only_one_request_at_a_time() {
        // RFC 7530 §9.1.7: no more than one outstanding request; a dropped turn frees the owner.
        let owner = Owner::new(OwnerKind::Open, b"o");
        let turn = take(&owner, SeqOp::Open, 1).unwrap();
        assert_eq!(take(&owner, SeqOp::Open, 1).err(), Some(Status::Delay));
        drop(turn);
        run(&owner, SeqOp::Open, 1, None, b"");
    }

    #[test]
    fn seqids_wrap_to_one() {
        // RFC 7530 §9.1.3: past the highest comes one; clients that count to zero are taken too.
        for first in [0, 1] {
            let owner = Owner::new(OwnerKind::Open, b"o");
            owner.confirm();
            run(&owner, SeqOp::Open, u32::MAX, None, b"");
            run(&owner, SeqOp::Close, first, None, b"");
        }
    }

    #[test]
    fn an_owner_that_is_not_confirmed_may_start_anew() {
        // RFC 7530 §16.18.5: an OPEN out of sequence makes the one before a repetition.
        let owner = Owner::new(OwnerKind::Open, b"o");
        run(&owner, SeqOp::Open, 5, None, b"five");
        let file = FileKey { export: 0, handle: hayase_vfs::Handle::new(b"f").unwrap() };
        owner.gain(3, file);
        assert!(matches!(take(&owner, SeqOp::Open, 5), Ok(Heard::Replay(_))));
        match take(&owner, SeqOp::Open, 90) {
            Ok(Heard::Turn(mut turn)) => assert_eq!(turn.void(), [(3, file)]),
            other => panic!("{other:?}"),
        }
        assert_eq!(take(&owner, SeqOp::OpenConfirm, 7).err(), Some(Status::BadSeqId));
    }
}
