//! Claims after a restart of the server.

use hayase_proto::nfs4::{DelegationType, Status};

use super::Run;
use super::client::Claim;
use super::lent::Intrusion;
use super::lock::Range;
use super::model::BYTES;
use super::open::{Asked, Right};

impl Run<'_> {
    /// A client claims some of what it had, or says that this was all.
    pub(super) fn reclaim(&mut self, who: usize) {
        self.ready(who);
        let client = &mut self.clients[who];
        if client.claims.is_empty() {
            if client.minor > 0 {
                self.complete(who);
            }
            return;
        }
        let at = self.choices.below(client.claims.len());
        let claim = self.clients[who].claims.swap_remove(at);
        let expected = self.expect_claim(who);
        if expected.is_ok() {
            let now = self.world.now();
            self.model.grace.note_claim(&self.clients[who].name, now);
        }
        // Of several opens, one brings the delegation back.
        let again = self.model.files[claim.file].lent.iter().any(|lent| lent.client == who);
        let lent = match claim.lent {
            Some(false) if !again => DelegationType::Read,
            Some(true) if !again => DelegationType::Write,
            _ => DelegationType::None,
        };
        let asked = Asked {
            file: claim.file,
            owner: claim.owner,
            access: claim.access,
            deny: claim.deny,
            want: 0,
            truncate: false,
            claim: Right::Before(lent),
        };
        if self.try_open(who, &asked, expected.map(|()| Intrusion::default())) {
            self.reclaim_locks(who, &claim);
        }
    }

    fn expect_claim(&self, who: usize) -> Result<(), Status> {
        let (grace, client) = (&self.model.grace, &self.clients[who]);
        match grace.claimants.get(&client.name) {
            _ if !grace.active => Err(Status::NoGrace),
            None => Err(Status::ReclaimBad),
            Some(_) if client.minor > 0 && client.complete => Err(Status::NoGrace),
            Some(_) => Ok(()),
        }
    }

    fn reclaim_locks(&mut self, who: usize, claim: &Claim) {
        for (owner, first, count, write) in &claim.locks {
            let opens = &self.model.files[claim.file].opens;
            let open = opens.iter().position(|o| o.client == who && o.owner == claim.owner);
            let open = open.expect("it was claimed just now");
            let range = Range { first: *first, count: *count, write: *write };
            let done = self.try_lock(who, (claim.file, open), owner % 2, range, false, true);
            assert!(done, "what was held can be claimed");
        }
    }

    /// What a client would claim if the server went down now.
    pub(super) fn claims_of(&self, who: usize) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (file, at) in self.model.opens_of(who) {
            let open = &self.model.files[file].opens[at];
            let mut locks = Vec::new();
            let own = self.model.files[file]
                .locks
                .iter()
                .filter(|l| l.client == who && l.open == open.owner);
            for held in own {
                let mut first = 0;
                while first < BYTES {
                    let kind = held.bytes[first];
                    let count =
                        held.bytes[first..].iter().take_while(|byte| **byte == kind).count();
                    let needed = if kind == Some(true) { 2 } else { 1 };
                    // After a downgrade there may be locks that could not be had again.
                    if let Some(write) = kind.filter(|_| open.access & needed != 0) {
                        locks.push((held.owner, first, count, write));
                    }
                    first += count;
                }
            }
            let lent = self.model.files[file].lent.iter().find(|lent| lent.client == who);
            let lent = lent.map(|lent| lent.write);
            let (owner, access, deny) = (open.owner, open.access, open.deny);
            claims.push(Claim { file, owner, access, deny, lent, locks });
        }
        claims
    }
}
