//! Delegations: who has to give what back, and by when.

use hayase_proto::nfs4::{
    DelegReturnArgs, FreeStateIdArgs, LockOwner, PutFhArgs, ReleaseLockOwnerArgs, Res4, StateId,
    Status, TestStateIdArgs,
};
use hayase_xdr::{Array, Opaque};

use super::client::{Client, Record};
use super::model::Lent;
use super::{LEASE, Run};

/// Whom it costs what when somebody uses a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Intrusion {
    /// Clients whose leases are over: they lose everything.
    pub(super) expelled: Vec<usize>,
    /// Clients that have to give their delegation back first.
    pub(super) recalled: Vec<usize>,
}

impl Run<'_> {
    /// What it costs when somebody reads or, `with_readers`, changes a file.
    pub(super) fn intrude(&self, by: Option<usize>, file: usize, with_readers: bool) -> Intrusion {
        let mut intrusion = Intrusion::default();
        for lent in &self.model.files[file].lent {
            if Some(lent.client) == by || !(lent.write || with_readers) {
                continue;
            }
            if self.clients[lent.client].is_courteous(self.world.now()) {
                intrusion.expelled.push(lent.client);
            } else {
                intrusion.recalled.push(lent.client);
            }
        }
        intrusion
    }

    /// These clients were asked for their delegations of a file, if they had not been before.
    pub(super) fn note_recalled(&mut self, file: usize, clients: &[usize]) {
        let due = self.world.now() + LEASE;
        for who in clients {
            let lent = self.model.files[file].lent.iter_mut().find(|lent| lent.client == *who);
            let lent = lent.expect("it has one");
            if lent.due.is_none() {
                lent.due = Some(due);
                let stateid = lent.stateid;
                self.check_recalled(*who, &stateid);
            }
        }
    }

    /// A client got a delegation: nobody else must be using the file against it.
    pub(super) fn lend(
        &mut self,
        who: usize,
        file: usize,
        stateid: StateId,
        write: bool,
        recall: bool,
    ) {
        let due = recall.then(|| self.world.now() + LEASE);
        let file = &mut self.model.files[file];
        assert!(
            file.lent.iter().all(|lent| lent.client != who && !lent.write && !write),
            "lent twice"
        );
        let disturbed = file.opens.iter().any(|open| {
            open.client != who && (write || open.access & 2 != 0 || open.deny & 1 != 0)
        });
        assert!(!disturbed, "lent while others have it open");
        file.lent.push(Lent { client: who, stateid, write, due });
    }

    /// DELEGRETURN of a delegation, or of one that was revoked.
    pub(super) fn give_back(&mut self, who: usize) {
        let mut all: Vec<_> =
            self.model.lent_to(who).into_iter().map(|(file, at)| (file, Some(at))).collect();
        let gone = self.clients[who].revoked.len();
        all.extend((0..gone).map(|at| (at, None)));
        if all.is_empty() {
            return self.open(who);
        }
        let minor = self.clients[who].minor;
        let (file, at) = self.choices.pick(&all);
        let (file, stateid, expected) = if let Some(at) = at {
            let stateid = self.model.files[file].lent[at].stateid;
            let (stateid, fault) = self.some_seqid(who, stateid);
            (file, stateid, fault)
        } else {
            let (file, stateid) = self.clients[who].revoked[file];
            let why = if minor == 0 { Status::Expired } else { Status::DelegRevoked };
            (file, stateid, Some(why))
        };
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, false, |writer| {
            writer
                .push(&PutFhArgs { object: Opaque(&handle) })
                .push(&DelegReturnArgs { deleg_stateid: stateid });
        });
        let Some(answer) = answer else { return };
        assert_eq!(answer.status(), expected.map_or(Ok(()), Err), "DELEGRETURN of client {who}");
        if let Some(at) = at {
            if expected.is_none() {
                self.model.files[file].lent.remove(at);
            }
        } else if minor == 0 {
            // It knows now.
            self.clients[who].revoked.retain(|(_, gone)| *gone != stateid);
        }
    }

    /// Delegations that were not given back in time are revoked.
    pub(super) fn revoke(&mut self) {
        let now = self.world.now();
        for file in 0..self.model.files.len() {
            let overdue: Vec<_> = self.model.files[file]
                .lent
                .extract_if(.., |lent| lent.due.is_some_and(|due| due <= now))
                .collect();
            for lent in overdue {
                let client = &mut self.clients[lent.client];
                client.revoked.push((file, lent.stateid));
                client.record = Record::MustNot;
                client.barred = true;
            }
        }
    }

    /// `FREE_STATEID` and `TEST_STATEID`, or `RELEASE_LOCKOWNER`.
    pub(super) fn free(&mut self, who: usize) {
        self.ready(who);
        if self.clients[who].minor == 0 {
            return self.release(who);
        }
        self.test_all(who);
        let revoked = self.clients[who].revoked.clone();
        let held = self.model.stateids_of(who);
        let mut all: Vec<StateId> = revoked.iter().map(|(_, stateid)| *stateid).collect();
        all.extend(&held);
        if all.is_empty() {
            return;
        }
        let stateid = self.choices.pick(&all);
        let unlocked = self.model.files.iter().any(|file| {
            file.locks.iter().any(|locks| locks.stateid == stateid && locks.is_empty())
        });
        let was_revoked = !held.contains(&stateid);
        let answer = self.send(who, false, |writer| {
            writer.push(&FreeStateIdArgs { stateid });
        });
        let Some(answer) = answer else { return };
        let expected = if was_revoked || unlocked { Ok(()) } else { Err(Status::LocksHeld) };
        assert_eq!(answer.status(), expected, "FREE_STATEID of client {who}");
        if was_revoked {
            let client = &mut self.clients[who];
            client.revoked.retain(|(_, gone)| *gone != stateid);
            if client.revoked.is_empty() {
                client.barred = false;
                client.record = if client.complete { Record::Must } else { Record::May };
            }
        } else if unlocked {
            for file in &mut self.model.files {
                file.locks.retain(|locks| locks.stateid != stateid);
            }
        }
    }

    /// `TEST_STATEID` of all that a client has or had.
    pub(super) fn test_all(&mut self, who: usize) {
        let held = self.model.stateids_of(who);
        let gone: Vec<_> = self.clients[who].revoked.iter().map(|(_, stateid)| *stateid).collect();
        let stateids: Vec<_> = held.iter().chain(&gone).copied().collect();
        let answer = self.send(who, false, |writer| {
            writer.push(&TestStateIdArgs { stateids: Array(stateids.clone()) });
        });
        let Some(answer) = answer else { return };
        let Some(Res4::Ok(tested)) = answer.result::<TestStateIdArgs>() else {
            panic!("TEST_STATEID: {:?}", answer.status());
        };
        for (at, status) in tested.0.iter().enumerate() {
            let expected = (at >= held.len()).then_some(Status::DelegRevoked);
            assert_eq!(status.status(), expected, "TEST_STATEID of {:?}", stateids[at]);
        }
    }

    fn release(&mut self, who: usize) {
        let owner = self.choices.below(4) as u8;
        let of = |locks: &super::model::Locks| locks.client == who && locks.owner == owner;
        let clientid = self.clients[who].id.unwrap_or(0);
        let name = Client::owner_name(owner + 16);
        let answer = self.send(who, false, |writer| {
            let lock_owner = LockOwner { clientid, owner: Opaque(&name) };
            writer.push(&ReleaseLockOwnerArgs { lock_owner });
        });
        let Some(answer) = answer else { return };
        let held = self
            .model
            .files
            .iter()
            .any(|file| file.locks.iter().any(|locks| of(locks) && !locks.is_empty()));
        let expected = if held { Err(Status::LocksHeld) } else { Ok(()) };
        assert_eq!(answer.status(), expected, "RELEASE_LOCKOWNER of client {who}");
        if !held {
            self.model.files.iter_mut().for_each(|file| file.locks.retain(|locks| !of(locks)));
        }
    }
}
