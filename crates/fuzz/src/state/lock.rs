//! LOCK and LOCKT.

use hayase_proto::nfs4::{
    ExistLockOwner, LockArgs, LockDenied, LockFail, LockOwner, LockTArgs, LockType, Locker,
    OpenToLockOwner, PutFhArgs, Res4, StateId, Status,
};
use hayase_xdr::Opaque;

use super::Run;
use super::client::{Client, Counts};
use super::model::{BYTES, Locks};
use super::world::NAMES;

/// A range of bytes, and how it is to be locked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) write: bool,
}

impl Range {
    /// Offset and length on the wire. The last byte stands for all that follow.
    pub(super) fn on_wire(&self) -> (u64, u64) {
        let to_end = self.first + self.count == BYTES;
        (self.first as u64, if to_end { u64::MAX } else { self.count as u64 })
    }

    fn kind(&self, waits: bool) -> LockType {
        match (self.write, waits) {
            (false, false) => LockType::Read,
            (true, false) => LockType::Write,
            (false, true) => LockType::ReadW,
            (true, true) => LockType::WriteW,
        }
    }
}

/// The lock owners of NFSv4.0 and those that open are apart; so are their names.
pub(super) fn lock_owner_name(owner: u8) -> [u8; 2] {
    Client::owner_name(owner + 16)
}

impl Run<'_> {
    pub(super) fn some_range(&mut self) -> Range {
        let first = self.choices.below(BYTES);
        let count = 1 + self.choices.below(BYTES - first);
        Range { first, count, write: self.choices.one_in(2) }
    }

    pub(super) fn lock(&mut self, who: usize) {
        let opens = self.model.opens_of(who);
        if opens.is_empty() {
            return self.open(who);
        }
        let (file, at) = self.choices.pick(&opens);
        let owner = self.choices.below(2) as u8;
        let range = self.some_range();
        let waits = self.choices.one_in(6);
        self.try_lock(who, (file, at), owner, range, waits, false);
    }

    /// Locks through an open as one of its two lock owners; whether that worked out.
    pub(super) fn try_lock(
        &mut self,
        who: usize,
        (file, at): (usize, usize),
        owner: u8,
        range: Range,
        waits: bool,
        reclaim: bool,
    ) -> bool {
        let open = self.model.files[file].opens[at].clone();
        let owner = open.owner * 2 + owner;
        let locks = &self.model.files[file].locks;
        let existing = locks.iter().position(|locks| locks.client == who && locks.owner == owner);
        let base = existing.map_or(open.stateid, |at| locks[at].stateid);
        let (stateid, fault) = if reclaim { (base, None) } else { self.some_seqid(who, base) };
        let client = &self.clients[who];
        let open_seqid = client.next_seqid(Counts::Open(open.owner));
        let lock_seqid = client.next_seqid(Counts::Lock(owner));
        let name = lock_owner_name(owner);
        let lock_owner = LockOwner { clientid: client.id.unwrap_or(0), owner: Opaque(&name) };
        let locker = match existing {
            Some(_) => Locker::Existing(ExistLockOwner { lock_stateid: stateid, lock_seqid }),
            None => Locker::New(OpenToLockOwner {
                open_seqid,
                open_stateid: stateid,
                lock_seqid,
                lock_owner,
            }),
        };
        let (offset, length) = range.on_wire();
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, fault.is_none(), |writer| {
            let locktype = range.kind(waits);
            writer.push(&PutFhArgs { object: Opaque(&handle) }).push(&LockArgs {
                locktype,
                reclaim,
                offset,
                length,
                locker,
            });
        });
        let Some(answer) = answer else { return false };
        let status = answer.status();
        self.count(who, Counts::Lock(owner), lock_seqid, status);
        if existing.is_none() {
            self.count(who, Counts::Open(open.owner), open_seqid, status);
        }
        let needed = if range.write { 2 } else { 1 };
        let refused = match fault {
            Some(fault) => Some(fault),
            None if open.access & needed == 0 => Some(Status::OpenMode),
            None if !reclaim && self.must_wait(who) => Some(Status::Grace),
            None => None,
        };
        if let Some(refused) = refused {
            assert_eq!(status, Err(refused), "{range:?} of client {who}");
            if refused == Status::Grace {
                self.note_put_off(who);
            }
            return false;
        }
        if let Some(Res4::Fail(LockFail::Denied(denied))) = answer.result::<LockArgs<'_>>() {
            // Whoever is willing to wait may have to wait for others who do.
            let others = self.check_denied(who, owner, file, range, &denied);
            assert!(others || waits, "{range:?} of client {who} is free");
            return false;
        }
        let Some(Res4::Ok(new)) = answer.result::<LockArgs<'_>>() else {
            panic!("{range:?} of client {who}: {status:?}");
        };
        let courteous = self.courteous_holders(who, owner, file, range);
        let courteous = courteous.expect("others hold it against this");
        assert!(!reclaim || courteous.is_empty(), "claimed twice");
        self.expel(&courteous);
        self.locked(who, file, owner, open.owner, range, new);
        self.note_granted(who);
        true
    }

    fn locked(&mut self, who: usize, file: usize, owner: u8, open: u8, range: Range, new: StateId) {
        let all = &mut self.model.files[file].locks;
        let at = all.iter().position(|locks| locks.client == who && locks.owner == owner);
        let locks = if let Some(at) = at {
            let before = all[at].stateid;
            assert_eq!(new, StateId { seqid: before.seqid + 1, ..before }, "the next stateid");
            &mut all[at]
        } else {
            assert_eq!(new.seqid, 1, "the first stateid");
            all.push(Locks { client: who, owner, stateid: new, open, bytes: [None; BYTES] });
            all.last_mut().expect("it was added just now")
        };
        locks.stateid = new;
        locks.bytes[range.first..range.first + range.count].fill(Some(range.write));
    }

    /// The holders of locks in the way whose leases are over; nothing if there is another one.
    fn courteous_holders(
        &self,
        who: usize,
        owner: u8,
        file: usize,
        range: Range,
    ) -> Option<Vec<usize>> {
        let now = self.world.now();
        let mut courteous = Vec::new();
        for locks in &self.model.files[file].locks {
            let own = locks.client == who && locks.owner == owner;
            if own || !locks.conflicts_with(range.first, range.count, range.write) {
                continue;
            }
            if locks.client == who || !self.clients[locks.client].is_courteous(now) {
                return None;
            }
            courteous.push(locks.client);
        }
        Some(courteous)
    }

    /// Whether a lock of others is in the way. If so, it is one of them that was told.
    fn check_denied(
        &self,
        who: usize,
        owner: u8,
        file: usize,
        range: Range,
        told: &LockDenied<'_>,
    ) -> bool {
        if self.courteous_holders(who, owner, file, range).is_some() {
            return false;
        }
        let first = told.offset as usize;
        let last = if told.length == u64::MAX { BYTES } else { first + told.length as usize };
        let write = told.locktype.is_exclusive();
        let holder = self.model.files[file].locks.iter().find(|locks| {
            self.clients[locks.client].id == Some(told.owner.clientid)
                && lock_owner_name(locks.owner) == told.owner.owner.0
        });
        let holder = holder.unwrap_or_else(|| panic!("{told:?} is nobody's"));
        assert!(
            holder.bytes[first..last].iter().all(|held| *held == Some(write)),
            "{told:?}: {holder:?}"
        );
        assert!(
            first < range.first + range.count && last > range.first,
            "{told:?} is not in the way"
        );
        assert!(write || range.write, "{told:?} is not against it");
        true
    }

    pub(super) fn test_lock(&mut self, who: usize) {
        self.ready(who);
        let file = self.choices.below(NAMES.len());
        let owner = self.choices.below(4) as u8;
        let range = self.some_range();
        self.try_test_lock(who, file, owner, range);
    }

    /// LOCKT; whether the range is free.
    pub(super) fn try_test_lock(
        &mut self,
        who: usize,
        file: usize,
        owner: u8,
        range: Range,
    ) -> bool {
        let (offset, length) = range.on_wire();
        let name = lock_owner_name(owner);
        let clientid = self.clients[who].id.unwrap_or(0);
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, false, |writer| {
            let owner = LockOwner { clientid, owner: Opaque(&name) };
            let locktype = range.kind(false);
            writer.push(&PutFhArgs { object: Opaque(&handle) }).push(&LockTArgs {
                locktype,
                offset,
                length,
                owner,
            });
        });
        let Some(answer) = answer else { return false };
        if self.must_wait(who) {
            assert_eq!(answer.status(), Err(Status::Grace), "LOCKT of client {who}");
            self.note_put_off(who);
            return false;
        }
        match answer.result::<LockTArgs<'_>>() {
            Some(Res4::Ok(())) => {
                let courteous = self.courteous_holders(who, owner, file, range);
                self.expel(&courteous.expect("others hold it against this"));
                true
            }
            Some(Res4::Fail(LockFail::Denied(denied))) => {
                assert!(self.check_denied(who, owner, file, range, &denied), "{range:?} is free");
                false
            }
            other => panic!("LOCKT: {other:?}"),
        }
    }
}
