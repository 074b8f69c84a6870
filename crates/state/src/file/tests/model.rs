//! Random operations of several clients against a model that is as simple as can be: lists of
//! opens, arrays of bytes, lists of delegations. A failure tells its seed; run that alone by
//! `HAYASE_SEED=17 cargo test -p hayase-state model`.

use std::collections::BTreeMap;

use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::{Bench, Random, bytes, file, open_args, status_of};
use crate::file::{
    ByteRange, Change, Delegation, IoAccess, LockKind, Offer, OpenArgs, Share, Want, WantKind,
};
use crate::{ClientId, Now};

const CLIENTS: usize = 4;
const FILES: u32 = 3;
const BYTES: u64 = 24;
const OWNERS: [&str; 2] = ["o", "p"];
const LOCK_OWNERS: [&str; 2] = ["l", "m"];
const LEASE_SECS: u64 = 90;

/// A client, an open owner, a file.
type OpenKey = (usize, &'static str, u32);

#[derive(Clone, Debug)]
struct ModelOpen {
    stateid: StateId,
    share: Share,
    modes: Vec<Share>,
    locks: BTreeMap<&'static str, StateId>,
}

#[derive(Clone, Debug)]
struct ModelDelegation {
    stateid: StateId,
    write: bool,
    recalled: Option<Now>,
}

/// Who has locked a byte: client and lock owner; for writing or not, and through which open.
type Byte = BTreeMap<(usize, &'static str), (bool, &'static str)>;

/// Whose locks there are, by file and byte; as the server tells and as the model has it.
type Locked = BTreeMap<(u32, u64), BTreeMap<(usize, Vec<u8>), bool>>;

struct Model {
    bench: Bench,
    random: Random,
    ids: Vec<ClientId>,
    names: u64,
    heard: Vec<Now>,
    opens: BTreeMap<OpenKey, ModelOpen>,
    bytes: BTreeMap<(u32, u64), Byte>,
    delegations: BTreeMap<(usize, u32), ModelDelegation>,
    /// How often what happened: a test that never sees a conflict tests nothing.
    seen: BTreeMap<&'static str, u32>,
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut model = Model {
            bench: Bench::new(),
            random: Random::new(seed),
            ids: Vec::new(),
            names: 0,
            heard: Vec::new(),
            opens: BTreeMap::new(),
            bytes: BTreeMap::new(),
            delegations: BTreeMap::new(),
            seen: BTreeMap::new(),
        };
        for _ in 0..CLIENTS {
            let id = model.mount();
            model.ids.push(id);
            model.heard.push(model.bench.world.now);
        }
        model
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn mount(&mut self) -> ClientId {
        self.names += 1;
        self.bench.client(&format!("client {}", self.names))
    }

    /// A client does something: it is alive, or comes anew if it was expelled.
    fn someone(&mut self) -> usize {
        let client = self.random.below(CLIENTS as u64) as usize;
        if self.bench.world.knows(self.ids[client]) {
            self.bench.renew(self.ids[client]);
        } else {
            self.ids[client] = self.mount();
        }
        self.heard[client] = self.bench.world.now;
        client
    }

    fn is_over(&self, client: usize) -> bool {
        self.secs_since(self.heard[client]) > LEASE_SECS
    }

    fn secs_since(&self, then: Now) -> u64 {
        self.bench.world.now.0.saturating_sub(then.0).as_secs()
    }

    fn expel(&mut self, client: usize) {
        assert!(!self.bench.world.knows(self.ids[client]), "client {client} is still there");
        self.saw("client expelled");
        self.opens.retain(|key, _| key.0 != client);
        self.delegations.retain(|key, _| key.0 != client);
        for byte in self.bytes.values_mut() {
            byte.retain(|key, _| key.0 != client);
        }
    }

    fn share(&mut self) -> Share {
        let share = self.random.pick(&[Share::READ, Share::WRITE, Share::BOTH]);
        let deny = self.random.below(12);
        share.denying(deny == 0, deny == 1)
    }

    fn range(&mut self) -> (ByteRange, u64, u64) {
        let (a, b) = (self.random.below(BYTES), self.random.below(BYTES));
        let (start, last) = (a.min(b), a.max(b));
        (bytes(start, last - start + 1), start, last)
    }

    /// Delegations of others that stand in the way: those of living clients are recalled, which
    /// is what is returned; the others cost their clients everything.
    fn intrude(&mut self, client: Option<usize>, at: u32, with_readers: bool) -> bool {
        let conflicts: Vec<usize> = self
            .delegations
            .iter()
            .filter(|((holder, f), delegation)| {
                *f == at && Some(*holder) != client && (delegation.write || with_readers)
            })
            .map(|((holder, _), _)| *holder)
            .collect();
        let mut recalled = false;
        let now = self.bench.world.now;
        for holder in conflicts {
            if self.is_over(holder) {
                self.expel(holder);
            } else if let Some(delegation) = self.delegations.get_mut(&(holder, at)) {
                delegation.recalled.get_or_insert(now);
                recalled = true;
            }
        }
        recalled
    }

    fn open(&mut self) {
        let client = self.someone();
        let (owner, at, share) =
            (self.random.pick(&OWNERS), self.random.below(u64::from(FILES)) as u32, self.share());
        let kind = self.random.pick(&[WantKind::No, WantKind::Any, WantKind::Read]);
        let want = Want { kind, ..Want::default() };
        let args = OpenArgs {
            want,
            offer: Offer::any(1),
            ..open_args(self.ids[client], owner, file(at), share)
        };
        let got = self.bench.open_with(&args);

        let clash: Vec<usize> = self
            .opens
            .iter()
            .filter(|(key, open)| key.2 == at && open.share.conflicts_with(share))
            .map(|(key, _)| key.0)
            .collect();
        if clash.iter().any(|other| !self.is_over(*other)) {
            assert_eq!(got.unwrap_err(), Status::ShareDenied);
            self.saw("open denied");
            return;
        }
        for other in clash {
            self.expel(other);
        }
        if self.intrude(Some(client), at, share.writes() || share.denies_read()) {
            assert_eq!(got.unwrap_err(), Status::Delay);
            self.saw("open delayed");
            return;
        }
        let opened = got.unwrap();
        let stateid = opened.stateid.unwrap();
        let entry = self.opens.entry((client, owner, at)).or_insert_with(|| ModelOpen {
            stateid: StateId { seqid: 0, ..stateid },
            share,
            modes: Vec::new(),
            locks: BTreeMap::new(),
        });
        assert_eq!(stateid, StateId { seqid: entry.stateid.seqid + 1, ..entry.stateid });
        entry.stateid = stateid;
        entry.modes.push(share);
        entry.share = entry.share.and(share);
        if let Delegation::Granted(grant) = opened.delegation {
            self.check_grant(client, at, grant.write);
            self.saw(if grant.write { "write delegation" } else { "read delegation" });
            let delegation =
                ModelDelegation { stateid: grant.stateid, write: grant.write, recalled: None };
            assert!(self.delegations.insert((client, at), delegation).is_none());
        }
    }

    /// A delegation may be refused for many reasons, but granted only if nobody else is
    /// disturbed.
    fn check_grant(&self, client: usize, at: u32, write: bool) {
        for (key, open) in &self.opens {
            let disturbed = write || open.share.writes() || open.share.denies_read();
            assert!(!(key.2 == at && key.0 != client && disturbed), "granted against {key:?}");
        }
        for (key, delegation) in &self.delegations {
            let disturbed = write || delegation.write;
            assert!(!(key.1 == at && key.0 != client && disturbed), "granted against {key:?}");
        }
    }

    /// An open of a client that is alive.
    fn some_open(&mut self) -> Option<OpenKey> {
        let client = self.someone();
        let keys: Vec<OpenKey> = self.opens.keys().filter(|key| key.0 == client).copied().collect();
        (!keys.is_empty()).then(|| self.random.pick(&keys))
    }

    fn close(&mut self) {
        let Some(key) = self.some_open() else { return };
        let open = self.opens.remove(&key).unwrap();
        self.bench.close(self.ids[key.0], &open.stateid, file(key.2)).unwrap();
        for (_, byte) in self.bytes.iter_mut().filter(|((at, _), _)| *at == key.2) {
            byte.retain(|holder, (_, through)| !(holder.0 == key.0 && *through == key.1));
        }
    }

    fn downgrade(&mut self) {
        let Some(key) = self.some_open() else { return };
        let to = self.share();
        let open = self.opens[&key].clone();
        let got = self.bench.downgrade(self.ids[key.0], &open.stateid, file(key.2), to);
        // RFC 8881 §18.18.3: access and deny are each a union of some of the modes opened.
        let union_of = |part: fn(Share) -> u32| {
            let inside = |mode: &&Share| part(**mode) & !part(to) == 0;
            let parts: Vec<u32> = open.modes.iter().filter(inside).map(|m| part(*m)).collect();
            !parts.is_empty() && parts.iter().fold(0, |a, b| a | b) == part(to)
        };
        if !(union_of(Share::access) && union_of(Share::deny)) {
            assert_eq!(got, Err(Status::Inval));
            return;
        }
        let open = self.opens.get_mut(&key).unwrap();
        open.stateid.seqid += 1;
        assert_eq!(got, Ok(open.stateid));
        *self.seen.entry("downgrade").or_default() += 1;
        open.share = to;
        open.modes
            .retain(|mode| mode.access() & !to.access() == 0 && mode.deny() & !to.deny() == 0);
        open.modes.push(to);
    }

    fn lock(&mut self) {
        let Some(key) = self.some_open() else { return };
        let (owner, write) = (self.random.pick(&LOCK_OWNERS), self.random.below(2) == 0);
        let (range, start, last) = self.range();
        let kind = LockKind { write, blocking: false };
        let open = self.opens[&key].clone();
        let id = self.ids[key.0];
        let again = open.locks.get(owner).copied().filter(|_| self.random.below(3) > 0);
        let got = match again {
            Some(stateid) => self.bench.lock_more(id, stateid, file(key.2), range, kind),
            None => self.bench.lock_new(id, (open.stateid, owner), file(key.2), range, kind),
        };
        let allowed = if write { open.share.writes() } else { open.share.reads() };
        if !allowed {
            assert_eq!(status_of(got.unwrap_err()), Status::OpenMode);
            return;
        }
        let me = (key.0, owner);
        let mut others: Vec<usize> = Vec::new();
        for at in start..=last {
            let byte = self.bytes.entry((key.2, at)).or_default();
            others.extend(
                byte.iter()
                    .filter(|(who, (writes, _))| **who != me && (write || *writes))
                    .map(|(who, _)| who.0),
            );
        }
        if others.iter().any(|other| !self.is_over(*other)) {
            assert_eq!(status_of(got.unwrap_err()), Status::Denied);
            self.saw("lock denied");
            return;
        }
        for other in others {
            self.expel(other);
        }
        let stateid = got.unwrap();
        self.saw("lock granted");
        let known = open.locks.get(owner).map_or(0, |known| known.seqid);
        assert_eq!(stateid.seqid, known + 1);
        self.opens.get_mut(&key).unwrap().locks.insert(owner, stateid);
        for at in start..=last {
            self.bytes.get_mut(&(key.2, at)).unwrap().insert(me, (write, key.1));
        }
    }

    fn unlock(&mut self) {
        let Some(key) = self.some_open() else { return };
        let owner = self.random.pick(&LOCK_OWNERS);
        let (range, start, last) = self.range();
        let Some(stateid) = self.opens[&key].locks.get(owner).copied() else { return };
        let got = self.bench.unlock(self.ids[key.0], &stateid, file(key.2), range).unwrap();
        assert_eq!(got, StateId { seqid: stateid.seqid + 1, ..stateid });
        self.opens.get_mut(&key).unwrap().locks.insert(owner, got);
        for at in start..=last {
            self.bytes.entry((key.2, at)).or_default().remove(&(key.0, owner));
        }
    }

    fn io(&mut self) {
        let client = self.someone();
        let at = self.random.below(u64::from(FILES)) as u32;
        let access = self.random.pick(&[IoAccess::Read, IoAccess::Write]);
        let write = access == IoAccess::Write;
        let got = self.bench.io(self.ids[client], &StateId::ANONYMOUS, file(at), access);
        let denying: Vec<usize> = self
            .opens
            .iter()
            .filter(|(key, open)| {
                let denied =
                    if write { open.share.denies_write() } else { open.share.denies_read() };
                key.2 == at && denied
            })
            .map(|(key, _)| key.0)
            .collect();
        if denying.iter().any(|other| !self.is_over(*other)) {
            assert_eq!(got, Err(Status::Locked));
            self.saw("data locked");
            return;
        }
        for other in denying {
            self.expel(other);
        }
        let recalled = self.intrude(Some(client), at, write);
        assert_eq!(got.err(), recalled.then_some(Status::Delay));
        self.saw(if recalled { "data delayed" } else { "data free" });
    }

    fn io_by_stateid(&mut self) {
        let Some(key) = self.some_open() else { return };
        let access = self.random.pick(&[IoAccess::Read, IoAccess::Write]);
        let open = &self.opens[&key];
        let denied = self
            .opens
            .iter()
            .any(|(other, open)| *other != key && other.2 == key.2 && open.share.denies_read());
        let expected = match access {
            IoAccess::Write if !open.share.writes() => Some(Status::OpenMode),
            IoAccess::Read if !open.share.reads() && denied => Some(Status::Locked),
            _ => None,
        };
        let stateid = open.stateid;
        let got = self.bench.io(self.ids[key.0], &stateid, file(key.2), access);
        assert_eq!(got.err(), expected);
    }

    fn change(&mut self) {
        let by = (self.random.below(3) > 0).then(|| self.someone());
        let at = self.random.below(u64::from(FILES)) as u32;
        let change = self.random.pick(&[Change::Read, Change::Attributes, Change::Names]);
        let got = self.bench.change(by.map(|by| self.ids[by]), file(at), change);
        let recalled = self.intrude(by, at, change != Change::Read);
        assert_eq!(got.err(), recalled.then_some(Status::Delay));
        self.saw(if recalled { "change delayed" } else { "change made" });
    }

    fn give_back(&mut self) {
        let client = self.someone();
        let held: Vec<(usize, u32)> =
            self.delegations.keys().filter(|key| key.0 == client).copied().collect();
        let Some(key) = held.first() else { return };
        let delegation = self.delegations.remove(key).unwrap();
        self.bench.delegreturn(self.ids[client], &delegation.stateid, file(key.1)).unwrap();
    }

    fn pass(&mut self) {
        let secs = self.random.pick(&[1, 7, 40, 95]);
        self.bench.world.pass(secs);
        let overdue: Vec<(usize, u32)> = self
            .delegations
            .iter()
            .filter(|(_, d)| d.recalled.is_some_and(|then| self.secs_since(then) >= LEASE_SECS))
            .map(|(key, _)| *key)
            .collect();
        for key in overdue {
            self.delegations.remove(&key);
            self.saw("delegation revoked");
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=4 => self.open(),
            5..=6 => self.close(),
            7 => self.downgrade(),
            8..=11 => self.lock(),
            12..=13 => self.unlock(),
            14 => self.io(),
            15 => self.io_by_stateid(),
            16 => self.change(),
            17..=18 => self.give_back(),
            _ => self.pass(),
        }
    }

    /// What the server says there is, compared with the model.
    fn check(&self) {
        let client = |id: &ClientId| self.ids.iter().position(|known| known == id).unwrap();
        let number = |key| (0..FILES).find(|n| file(*n) == key).unwrap();
        let mut opens: Vec<_> = self
            .bench
            .world
            .state
            .opens(None)
            .iter()
            .map(|open| {
                let owner = OWNERS.iter().find(|name| name.as_bytes() == &*open.owner).unwrap();
                ((client(&open.client), *owner, number(open.file)), open.stateid, open.share)
            })
            .collect();
        opens.sort_by_key(|open| open.0);
        let expected: Vec<_> =
            self.opens.iter().map(|(key, open)| (*key, open.stateid, open.share)).collect();
        assert_eq!(opens, expected);

        let mut locked = Locked::new();
        for lock in self.bench.world.state.locks() {
            let who = (client(&lock.locker.client().unwrap()), lock.locker.owner().to_vec());
            for at in lock.bytes.start()..=lock.bytes.last() {
                let byte = locked.entry((number(lock.file), at)).or_default();
                assert_eq!(byte.insert(who.clone(), lock.write), None);
            }
        }
        let mut expected = Locked::new();
        for (at, byte) in self.bytes.iter().filter(|(_, byte)| !byte.is_empty()) {
            expected.insert(
                *at,
                byte.iter()
                    .map(|((client, owner), (write, _))| {
                        ((*client, owner.as_bytes().to_vec()), *write)
                    })
                    .collect(),
            );
        }
        assert_eq!(locked, expected);

        let mut delegations: Vec<_> = self
            .bench
            .world
            .state
            .delegations()
            .iter()
            .map(|info| {
                ((client(&info.client), number(info.file)), info.stateid, info.write, info.recalled)
            })
            .collect();
        delegations.sort_by_key(|delegation| delegation.0);
        let expected: Vec<_> = self
            .delegations
            .iter()
            .map(|(key, d)| (*key, d.stateid, d.write, d.recalled.is_some()))
            .collect();
        assert_eq!(delegations, expected);
    }

    /// Everything is given up, and nothing is left.
    fn end(&mut self) {
        for client in 0..CLIENTS {
            if self.bench.world.knows(self.ids[client]) {
                let found = self.bench.world.client(self.ids[client]);
                let now = self.bench.world.now;
                self.bench.world.state.purge(&found, now, &mut Vec::new());
                assert_eq!(found.held.ranges(), 0);
            }
        }
        self.bench.assert_nothing_is_left();
    }
}

/// Tells the seed when a run fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HAYASE_SEED={}", self.0);
        }
    }
}

#[test]
fn random_operations_agree_with_the_model() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let seeds = Random::seeds(40);
    for seed in &seeds {
        let _tell = Seed(*seed);
        let mut model = Model::new(*seed);
        for _ in 0..600 {
            model.step();
            model.check();
        }
        model.end();
        for (what, times) in &model.seen {
            *seen.entry(what).or_default() += times;
        }
    }
    if seeds.len() > 1 {
        assert_eq!(seen.len(), 14, "{seen:?}");
        assert!(seen.values().all(|times| *times >= 20), "{seen:?}");
    }
}
