//! What tests share: chance that can be repeated, and clients that open and lock.

use hayase_proto::nfs4::{StateId, Status};
use hayase_vfs::Handle;

use super::lock::{LockArgs, LockBy, LockFailure, LockGrant, LockKind};
use super::{
    ByteRange, Change, Claim, Closed, Delegation, Grant, IoAccess, IoGrant, Offer, OpenArgs,
    Opened, Share, Want, WantKind,
};
use crate::owner::{Heard, Replay, SeqOp, Turn};
use crate::testing::{World, world, world_after, world_with};
use crate::{ClientId, ClientRecord, Config, Effect, FileKey};

/// A small generator of numbers that look random: the same seed gives the same run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Seeds for `count` runs: fixed ones, or the one in `HAYASE_SEED`.
    pub(crate) fn seeds(count: u64) -> Vec<u64> {
        match std::env::var("HAYASE_SEED").ok().and_then(|seed| seed.parse().ok()) {
            Some(seed) => vec![seed],
            None => (1..=count).collect(),
        }
    }

    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % bound
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Puts them in some other order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

/// A file by number.
pub(crate) fn file(number: u32) -> FileKey {
    FileKey { export: 1, handle: Handle::new(&number.to_be_bytes()).unwrap() }
}

pub(crate) const READ: LockKind = LockKind { write: false, blocking: false };
pub(crate) const WRITE: LockKind = LockKind { write: true, blocking: false };
pub(crate) const WRITE_WAIT: LockKind = LockKind { write: true, blocking: true };

/// Bytes from `offset` on.
pub(crate) fn bytes(offset: u64, length: u64) -> ByteRange {
    ByteRange::new(offset, length).unwrap()
}

/// A server with clients that work with files.
pub(crate) struct Bench {
    pub(crate) world: World,
}

impl Bench {
    /// Nothing but the server.
    pub(crate) fn new() -> Self {
        Bench { world: world() }
    }

    pub(crate) fn with(config: Config) -> Self {
        Bench { world: world_with(config, Vec::new()) }
    }

    /// A server that was restarted.
    pub(crate) fn after(records: Vec<ClientRecord>) -> Self {
        Bench { world: world_after(records) }
    }

    /// A client of NFSv4.1 that can be called back.
    pub(crate) fn client(&mut self, name: &str) -> ClientId {
        let (client, _) = self.world.mounted(name);
        self.world.state.callback_path(client, true);
        client
    }

    /// A client of NFSv4.0 that can be called back.
    pub(crate) fn client_v40(&mut self, name: &str) -> ClientId {
        let client = self.world.mounted_v40(name);
        self.world.state.callback_path(client, true);
        client
    }

    /// A client with a lease, which it keeps.
    pub(crate) fn renew(&self, client: ClientId) {
        self.world.client(client).renew(self.world.now);
    }

    /// The effects since the last time.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        self.world
            .effects()
            .into_iter()
            .filter(|effect| {
                !matches!(effect, Effect::ProbeCallback { .. } | Effect::RecordClient { .. })
            })
            .collect()
    }

    /// Who was asked to give a delegation back since the last time.
    pub(crate) fn recalls(&mut self) -> Vec<ClientId> {
        self.effects()
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Recall { client, .. } => Some(client),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn open_with(&mut self, args: &OpenArgs<'_>) -> Result<Opened, Status> {
        self.world.state.open(self.world.now, args, &mut self.world.effects)
    }

    /// Opens without any delegation.
    pub(crate) fn try_open(
        &mut self,
        client: ClientId,
        owner: &str,
        at: FileKey,
        share: Share,
    ) -> Result<StateId, Status> {
        self.open_with(&open_args(client, owner, at, share)).map(|opened| opened.stateid.unwrap())
    }

    pub(crate) fn open(
        &mut self,
        client: ClientId,
        owner: &str,
        at: FileKey,
        share: Share,
    ) -> StateId {
        self.try_open(client, owner, at, share).unwrap()
    }

    /// Opens with a wish for a delegation.
    pub(crate) fn open_wishing(
        &mut self,
        client: ClientId,
        at: FileKey,
        share: Share,
        kind: WantKind,
    ) -> Result<(StateId, Delegation), Status> {
        let want = Want { kind, ..Want::default() };
        let args = OpenArgs { want, offer: Offer::any(1), ..open_args(client, "o", at, share) };
        self.open_with(&args).map(|opened| (opened.stateid.unwrap(), opened.delegation))
    }

    /// Opens, expecting a delegation.
    pub(crate) fn delegated(&mut self, client: ClientId, at: FileKey, share: Share) -> Grant {
        match self.open_wishing(client, at, share, WantKind::Any).unwrap().1 {
            Delegation::Granted(grant) => grant,
            other => panic!("no delegation: {other:?}"),
        }
    }

    pub(crate) fn close(
        &mut self,
        client: ClientId,
        stateid: &StateId,
        at: FileKey,
    ) -> Result<Closed, Status> {
        let caller = self.caller(client);
        self.world.state.close(self.world.now, caller, stateid, &at, &mut self.world.effects)
    }

    pub(crate) fn downgrade(
        &mut self,
        client: ClientId,
        stateid: &StateId,
        at: FileKey,
        share: Share,
    ) -> Result<StateId, Status> {
        let caller = self.caller(client);
        self.world.state.open_downgrade(self.world.now, caller, stateid, &at, share)
    }

    /// As whom the client calls: in a session, or not.
    pub(crate) fn caller(&self, client: ClientId) -> Option<ClientId> {
        let minor_version = self.world.state.clients.get(client)?.minor_version();
        (minor_version > 0).then_some(client)
    }

    pub(crate) fn lock_with(&mut self, args: &LockArgs<'_>) -> Result<LockGrant, LockFailure> {
        self.world.state.lock(self.world.now, args, &mut self.world.effects)
    }

    /// Locks as a lock owner that is new to the open.
    pub(crate) fn lock_new(
        &mut self,
        client: ClientId,
        (stateid, owner): (StateId, &str),
        at: FileKey,
        range: ByteRange,
        kind: LockKind,
    ) -> Result<StateId, LockFailure> {
        let by = LockBy::Open { stateid, client, owner: owner.as_bytes(), seqid: 0 };
        let caller = self.caller(client);
        let args = LockArgs { client: caller, file: at, by, bytes: range, kind, reclaim: false };
        self.lock_with(&args).map(|grant| grant.stateid)
    }

    /// Locks as a lock owner that has locked before.
    pub(crate) fn lock_more(
        &mut self,
        client: ClientId,
        stateid: StateId,
        at: FileKey,
        range: ByteRange,
        kind: LockKind,
    ) -> Result<StateId, LockFailure> {
        let caller = self.caller(client);
        let by = LockBy::Lock(stateid);
        let args = LockArgs { client: caller, file: at, by, bytes: range, kind, reclaim: false };
        self.lock_with(&args).map(|grant| grant.stateid)
    }

    pub(crate) fn unlock(
        &mut self,
        client: ClientId,
        stateid: &StateId,
        at: FileKey,
        range: ByteRange,
    ) -> Result<StateId, Status> {
        let (now, caller) = (self.world.now, self.caller(client));
        self.world.state.unlock(now, caller, stateid, &at, range, &mut self.world.effects)
    }

    pub(crate) fn lock_test(
        &mut self,
        client: ClientId,
        owner: &str,
        at: FileKey,
        range: ByteRange,
        write: bool,
    ) -> Result<(), LockFailure> {
        let (now, owner) = (self.world.now, owner.as_bytes());
        self.world.state.lock_test(now, client, owner, &at, range, write, &mut self.world.effects)
    }

    pub(crate) fn io(
        &mut self,
        client: ClientId,
        stateid: &StateId,
        at: FileKey,
        access: IoAccess,
    ) -> Result<IoGrant, Status> {
        let (now, caller) = (self.world.now, self.caller(client));
        self.world.state.authorize_io(now, caller, stateid, &at, access, &mut self.world.effects)
    }

    pub(crate) fn change(
        &mut self,
        by: Option<ClientId>,
        at: FileKey,
        change: Change,
    ) -> Result<(), Status> {
        self.world.state.change(self.world.now, by, &at, change, &mut self.world.effects)
    }

    pub(crate) fn delegreturn(
        &mut self,
        client: ClientId,
        stateid: &StateId,
        at: FileKey,
    ) -> Result<(), Status> {
        let (now, caller) = (self.world.now, self.caller(client));
        self.world.state.delegreturn(now, caller, stateid, &at, &mut self.world.effects)
    }

    /// The state that is left, to be compared with none.
    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.world.state.file_counts(), crate::FileCounts::default());
    }
}

/// An open that claims nothing and gets no delegation.
pub(crate) fn open_args(
    client: ClientId,
    owner: &str,
    file: FileKey,
    share: Share,
) -> OpenArgs<'_> {
    OpenArgs {
        client,
        owner: owner.as_bytes(),
        file,
        share,
        claim: Claim::New,
        truncates: false,
        want: Want::default(),
        offer: Offer::NONE,
        opener: None,
    }
}

/// What a request of an owner of NFSv4.0 came to.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome<T> {
    Ran(T),
    Replayed(Replay),
    Refused(Status),
}

impl<T> Outcome<T> {
    pub(crate) fn ran(self) -> T
    where
        T: std::fmt::Debug,
    {
        match self {
            Outcome::Ran(what) => what,
            other => panic!("did not run: {other:?}"),
        }
    }
}

/// Runs a request of NFSv4.0 in its turn. The answer kept is the seqid and the status.
pub(crate) fn in_turn<T>(
    bench: &mut Bench,
    heard: Result<Heard, Status>,
    run: impl FnOnce(&mut Bench) -> Result<T, Status>,
) -> Outcome<Result<T, Status>> {
    match heard {
        Err(status) => Outcome::Refused(status),
        Ok(Heard::Replay(replay)) => Outcome::Replayed(replay),
        Ok(Heard::Turn(turn)) => Outcome::Ran(finish(turn, run(bench))),
    }
}

fn finish<T>(turn: Turn, result: Result<T, Status>) -> Result<T, Status> {
    let status = result.as_ref().err().copied();
    turn.finish(status, format!("{status:?}").as_bytes(), None);
    result
}

/// An open owner of NFSv4.0, counting like pynfs: from zero, moved by whoever calls.
pub(crate) struct Owner40 {
    pub(crate) client: ClientId,
    pub(crate) name: &'static str,
    pub(crate) seqid: u32,
    /// Delegations its OPENs can get.
    pub(crate) offer: Offer,
}

impl Owner40 {
    pub(crate) fn new(client: ClientId, name: &'static str) -> Self {
        Owner40 { client, name, seqid: 0, offer: Offer::NONE }
    }

    /// OPEN with the present seqid.
    pub(crate) fn send_open(
        &self,
        bench: &mut Bench,
        at: FileKey,
        share: Share,
    ) -> Outcome<Result<Opened, Status>> {
        let (now, name) = (bench.world.now, self.name.as_bytes());
        let effects = &mut bench.world.effects;
        let heard = bench.world.state.open_turn(now, self.client, name, self.seqid, effects);
        in_turn(bench, heard, |bench| {
            let args =
                OpenArgs { offer: self.offer, ..open_args(self.client, self.name, at, share) };
            bench.open_with(&args)
        })
    }

    /// An operation by stateid with the present seqid.
    pub(crate) fn send<T>(
        &self,
        bench: &mut Bench,
        op: SeqOp,
        stateid: &StateId,
        at: FileKey,
        run: impl FnOnce(&mut Bench) -> Result<T, Status>,
    ) -> Outcome<Result<T, Status>> {
        let heard = bench.world.state.stateid_turn(bench.world.now, op, stateid, &at, self.seqid);
        in_turn(bench, heard, run)
    }

    /// Opens and confirms if need be, and goes on to the next seqid.
    pub(crate) fn open(&mut self, bench: &mut Bench, at: FileKey, share: Share) -> StateId {
        let opened = self.send_open(bench, at, share).ran().unwrap();
        self.seqid += 1;
        let stateid = opened.stateid.unwrap();
        if !opened.confirm {
            return stateid;
        }
        let confirmed = self.send_confirm(bench, &stateid, at).ran().unwrap();
        self.seqid += 1;
        confirmed
    }

    pub(crate) fn send_confirm(
        &self,
        bench: &mut Bench,
        stateid: &StateId,
        at: FileKey,
    ) -> Outcome<Result<StateId, Status>> {
        self.send(bench, SeqOp::OpenConfirm, stateid, at, |bench| {
            bench.world.state.open_confirm(bench.world.now, stateid, &at)
        })
    }

    pub(crate) fn send_close(
        &self,
        bench: &mut Bench,
        stateid: &StateId,
        at: FileKey,
    ) -> Outcome<Result<Closed, Status>> {
        self.send(bench, SeqOp::Close, stateid, at, |bench| bench.close(self.client, stateid, at))
    }

    pub(crate) fn send_downgrade(
        &self,
        bench: &mut Bench,
        stateid: &StateId,
        at: FileKey,
        share: Share,
    ) -> Outcome<Result<StateId, Status>> {
        self.send(bench, SeqOp::OpenDowngrade, stateid, at, |bench| {
            bench.downgrade(self.client, stateid, at, share)
        })
    }

    /// LOCK through an open as a lock owner that is new to it.
    pub(crate) fn send_lock(
        &self,
        bench: &mut Bench,
        stateid: &StateId,
        at: FileKey,
        (owner, seqid): (&str, u32),
        (range, kind): (ByteRange, LockKind),
    ) -> Outcome<Result<StateId, Status>> {
        let heard = bench.world.state.new_lock_turn(
            bench.world.now,
            stateid,
            &at,
            self.seqid,
            self.client,
            owner.as_bytes(),
            seqid,
        );
        in_turn(bench, heard, |bench| {
            let by = LockBy::Open {
                stateid: *stateid,
                client: self.client,
                owner: owner.as_bytes(),
                seqid,
            };
            let args = LockArgs { client: None, file: at, by, bytes: range, kind, reclaim: false };
            bench.lock_with(&args).map(|grant| grant.stateid).map_err(status_of)
        })
    }
}

/// The status that goes on the wire.
#[allow(clippy::needless_pass_by_value)] // for map_err
pub(crate) fn status_of(failure: LockFailure) -> Status {
    match failure {
        LockFailure::Denied(_) => Status::Denied,
        LockFailure::Status(status) => status,
    }
}

/// LOCK as a lock owner that has locked, of NFSv4.0.
pub(crate) fn send_relock(
    bench: &mut Bench,
    stateid: &StateId,
    at: FileKey,
    seqid: u32,
    (range, kind): (ByteRange, LockKind),
) -> Outcome<Result<StateId, Status>> {
    let heard = bench.world.state.stateid_turn(bench.world.now, SeqOp::Lock, stateid, &at, seqid);
    in_turn(bench, heard, |bench| {
        let by = LockBy::Lock(*stateid);
        let args = LockArgs { client: None, file: at, by, bytes: range, kind, reclaim: false };
        bench.lock_with(&args).map(|grant| grant.stateid).map_err(status_of)
    })
}

/// LOCKU of NFSv4.0.
pub(crate) fn send_unlock(
    bench: &mut Bench,
    stateid: &StateId,
    at: FileKey,
    seqid: u32,
    range: ByteRange,
) -> Outcome<Result<StateId, Status>> {
    let heard = bench.world.state.stateid_turn(bench.world.now, SeqOp::LockU, stateid, &at, seqid);
    in_turn(bench, heard, |bench| {
        let now = bench.world.now;
        bench.world.state.unlock(now, None, stateid, &at, range, &mut bench.world.effects)
    })
}
