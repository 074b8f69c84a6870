//! LOCK (RFC 8881 §18.10, RFC 7530 §16.10).

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use super::held::Kind;
use super::lock_table::{Conflict, Locker};
use super::open_file::File;
use super::range::ByteRange;
use super::ranges::Range;
use super::{Attempt, is_callers, minor_of};
use crate::client::Client;
use crate::owner::{Owner, OwnerKind};
use crate::stateid::{check_seqid, next_seqid};
use crate::{ClientId, Effect, FileKey, Now, State};

/// A lock's kind (RFC 8881 §18.10.1, `nfs_lock_type4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockKind {
    /// For writing (`WRITE_LT`, `WRITEW_LT`).
    pub write: bool,
    /// The client will ask until it gets it (`READW_LT`, `WRITEW_LT`).
    pub blocking: bool,
}

/// Who locks.
#[derive(Clone, Copy, Debug)]
pub enum LockBy<'a> {
    /// A lock owner that has not locked through this open before (`open_to_lock_owner4`).
    Open {
        /// The open's stateid.
        stateid: StateId,
        /// The lock owner's client, which only NFSv4.0 looks at.
        client: ClientId,
        /// The lock owner's name.
        owner: &'a [u8],
        /// The lock owner's seqid, in NFSv4.0.
        seqid: u32,
    },
    /// A lock owner that has (`exist_lock_owner4`).
    Lock(StateId),
}

/// A lock.
#[derive(Clone, Copy, Debug)]
pub struct LockArgs<'a> {
    /// The session's client; none in NFSv4.0.
    pub client: Option<ClientId>,
    /// The file.
    pub file: FileKey,
    /// Who locks.
    pub by: LockBy<'a>,
    /// What.
    pub bytes: ByteRange,
    /// How.
    pub kind: LockKind,
    /// It was held before a server restart.
    pub reclaim: bool,
}

/// A granted lock.
#[derive(Debug)]
pub struct LockGrant {
    /// The stateid of the owner's locks.
    pub stateid: StateId,
    /// Whose lock it is.
    pub locker: Locker,
    /// Takes it back, if a local program turns out to hold a lock there.
    pub undo: LockUndo,
}

/// How an owner's locks were before.
#[derive(Debug)]
pub struct LockUndo {
    file: FileKey,
    number: u64,
    bytes: ByteRange,
    before: Vec<Range>,
    /// The stateid was made for this lock.
    made: bool,
    /// The stateid's seqid before.
    seqid: u32,
}

/// Why a lock was not granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockFailure {
    /// Someone else holds a lock (`NFS4ERR_DENIED`).
    Denied(Conflict),
    /// Something else.
    Status(Status),
}

impl From<Status> for LockFailure {
    fn from(status: Status) -> Self {
        LockFailure::Status(status)
    }
}

/// Whether it worked out; a denial is an answer as well.
pub(crate) type LockResult<T> = Result<Result<T, Conflict>, Status>;

pub(crate) fn flatten<T>(result: LockResult<T>) -> Result<T, LockFailure> {
    result?.map_err(LockFailure::Denied)
}

impl State {
    /// Locks a range. The caller then makes the kernel's locks follow the table
    /// ([`locked`](State::locked)); if that fails, it says [`lock_undo`](State::lock_undo).
    pub fn lock(
        &self,
        now: Now,
        args: &LockArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<LockGrant, LockFailure> {
        let asked = match (args.client, args.by) {
            // NFSv4.0 names the client once more (RFC 7530 §16.10.2).
            (None, LockBy::Open { client, .. }) => Some(self.living(now, client)?.id()),
            _ => None,
        };
        flatten(self.settle(now, effects, |effects| self.try_lock(now, args, asked, effects)))
    }

    fn try_lock(
        &self,
        now: Now,
        args: &LockArgs<'_>,
        asked: Option<ClientId>,
        effects: &mut Vec<Effect>,
    ) -> Result<Attempt<Result<LockGrant, Conflict>>, Status> {
        let stateid = match &args.by {
            LockBy::Open { stateid, .. } | LockBy::Lock(stateid) => stateid,
        };
        let number = self.number(args.client, stateid)?;
        let mut shard = self.files.shard(&args.file);
        let found =
            shard.file(&args.file).and_then(|file| file.lock_base(args, number, stateid.seqid));
        let Some(found) = found else {
            drop(shard);
            return Err(self.missing(args.client, number));
        };
        let base = found?;
        if asked.is_some_and(|client| client != base.client.id()) {
            return Err(Status::BadStateId);
        }
        if args.client.is_none() {
            base.client.renew(now);
        }
        self.check_claim(&base.client, args.reclaim, now)?;
        let Some(file) = shard.file(&args.file) else { return Err(Status::BadStateId) };
        if base.client.held.ranges() >= self.config.limits.states_per_client {
            return Err(super::held::Refused::Full.status(base.client.minor_version()));
        }
        if let Some(refusal) = self.refuse(file, now, args, &base) {
            return refusal.map(|refusal| match refusal {
                Refusal::Denied(conflict) => Attempt::Done(Err(conflict)),
                Refusal::Courteous(clients) => Attempt::Expel(clients),
            });
        }
        let grant = self.grant_lock(file, now, args, &base)?;
        // A lock that was turned from writing to reading lets others in.
        if !args.kind.write && grant.undo.before.iter().any(|range| range.write) {
            file.call_waiters(args.file, now, effects);
        }
        Ok(Attempt::Done(Ok(grant)))
    }

    /// What keeps a lock from being granted.
    fn refuse(
        &self,
        file: &mut File,
        now: Now,
        args: &LockArgs<'_>,
        base: &Base,
    ) -> Option<Result<Refusal, Status>> {
        let (bytes, write) = (args.bytes, args.kind.write);
        let locks = file.locks()?;
        let (courteous, mut hard) =
            match self.obstacle(now, locks.conflicts(&base.locker, bytes, write)) {
                Ok(courteous) => (courteous, None),
                Err(conflict) => (Vec::new(), Some(conflict)),
            };
        if args.reclaim {
            return (hard.is_some() || !courteous.is_empty())
                .then_some(Err(Status::ReclaimConflict));
        }
        if hard.is_none() && args.kind.blocking {
            hard = locks.ahead_of(now, &base.locker, bytes, write);
        }
        if let Some(conflict) = hard {
            let lease = self.lease();
            file.locks_or_new().denied(
                now,
                lease,
                &base.locker,
                (bytes, write),
                args.kind.blocking,
            );
            return Some(Ok(Refusal::Denied(conflict)));
        }
        (!courteous.is_empty()).then_some(Ok(Refusal::Courteous(courteous)))
    }

    /// The client of a lock, if its lease is over.
    pub(crate) fn courteous_client(&self, locker: &Locker, now: Now) -> Option<ClientId> {
        let client = locker.client()?;
        match self.clients.get(client) {
            Some(found) => found.is_courteous(now, &self.config).then_some(client),
            // It is being forgotten at this moment.
            None => Some(client),
        }
    }

    fn grant_lock(
        &self,
        file: &mut File,
        now: Now,
        args: &LockArgs<'_>,
        base: &Base,
    ) -> Result<LockGrant, Status> {
        let (number, made) = match base.state {
            Some(number) => (number, false),
            None => (self.add_lock_state(file, now, args, base)?, true),
        };
        let locks = file.locks_or_new();
        let ranges = locks.ranges().len();
        let before = locks.lock(number, args.bytes, args.kind.write);
        base.client.held.count_ranges(locks.ranges().len(), ranges);
        let state = locks.state_mut(number).ok_or(Status::ServerFault)?;
        let was = state.seqid;
        state.seqid = next_seqid(was);
        Ok(LockGrant {
            stateid: self.files.names.stateid(number, state.seqid),
            locker: base.locker.clone(),
            undo: LockUndo { file: args.file, number, bytes: args.bytes, before, made, seqid: was },
        })
    }

    fn add_lock_state(
        &self,
        file: &mut File,
        now: Now,
        args: &LockArgs<'_>,
        base: &Base,
    ) -> Result<u64, Status> {
        let client = &base.client;
        let number = self.files.names.next();
        let bound = self.config.limits.states_per_client;
        client
            .held
            .add(number, Kind::Lock, args.file, bound)
            .map_err(|refused| refused.status(client.minor_version()))?;
        let sequence = match args.by {
            LockBy::Open { owner, seqid, .. } if client.minor_version() == 0 => {
                let owner = client.held.lock_owner(owner, seqid, now);
                owner.gain(number, args.file);
                Some(owner)
            }
            _ => None,
        };
        if let Some(open) = file.opens.get_mut(base.open) {
            open.locks.push(number);
        }
        file.locks_or_new().add_state(
            number,
            Arc::clone(client),
            base.open,
            &base.locker,
            sequence,
        );
        Ok(number)
    }

    /// Takes a granted lock back: the kernel knows of a local program's.
    pub fn lock_undo(&self, now: Now, undo: &LockUndo, effects: &mut Vec<Effect>) {
        let mut shard = self.files.shard(&undo.file);
        let Some(file) = shard.file(&undo.file) else { return };
        let Some(locks) = file.locks_mut() else { return };
        let ranges = locks.ranges().len();
        locks.restore(undo.number, undo.bytes, &undo.before);
        let after = locks.ranges().len();
        let Some(state) = locks.state_mut(undo.number) else { return };
        state.client.held.count_ranges(after, ranges);
        // If others came in between, they have seen the seqid: it stays.
        let untouched = state.seqid == next_seqid(undo.seqid);
        if untouched && undo.made {
            file.forget_lock(undo.number);
        } else if untouched {
            state.seqid = undo.seqid;
        }
        file.call_waiters(undo.file, now, effects);
    }
}

enum Refusal {
    Denied(Conflict),
    Courteous(Vec<ClientId>),
}

/// What a lock is built on.
struct Base {
    client: Arc<Client>,
    open: u64,
    locker: Locker,
    /// The stateid, if the lock owner has one through this open.
    state: Option<u64>,
}

impl File {
    /// Finds what LOCK's stateid names; nothing if it is not there.
    fn lock_base(
        &self,
        args: &LockArgs<'_>,
        number: u64,
        seqid: u32,
    ) -> Option<Result<Base, Status>> {
        let (base, newest) = match args.by {
            LockBy::Open { owner, .. } => {
                let open = self.opens.get(number)?;
                let client = Arc::clone(&open.client);
                let locker = Locker::V4 { client: client.id(), owner: Arc::from(owner) };
                let state = self.locks().and_then(|locks| locks.state_of(number, &locker));
                (Base { client, open: number, locker, state }, open.seqid)
            }
            LockBy::Lock(_) => {
                let locks = self.locks()?;
                let state = locks.state(number)?;
                let client = Arc::clone(&state.client);
                let locker = locks.locker(state.locker)?.clone();
                (Base { client, open: state.open, locker, state: Some(number) }, state.seqid)
            }
        };
        let open = self.opens.get(base.open)?;
        // As POSIX demands (RFC 8881 §18.10.4).
        let fits = if args.kind.write { open.share.writes() } else { open.share.reads() };
        Some(if !is_callers(&base.client, args.client) || !open.is_confirmed() {
            Err(Status::BadStateId)
        } else {
            check_seqid(seqid, newest, minor_of(args.client)).and(if fits {
                Ok(base)
            } else {
                Err(Status::OpenMode)
            })
        })
    }
}

impl super::held::Held {
    /// The lock owner that LOCK makes known.
    fn lock_owner(&self, name: &[u8], seqid: u32, now: Now) -> Arc<Owner> {
        let owner = self
            .owner(OwnerKind::Lock, name)
            .unwrap_or_else(|| self.insert_owner(Owner::new(OwnerKind::Lock, name)));
        owner.start(seqid, now);
        owner
    }
}
