//! The clients, and what the model knows of each.

use std::collections::BTreeMap;

use hayase_proto::nfs4::{SessionId, StateId};
use hayase_state::{ClientName, Protocol};

use super::world::{Line, World};
use super::{LEASE, MINORS, Run};

/// Slots that are used of a session.
pub(super) const SLOTS: usize = 3;

/// Whether a client has to be on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// It holds something that it may claim after a restart.
    Must,
    /// Somebody else may have been granted what it held.
    MustNot,
    /// Either is right.
    May,
}

/// The last request of a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) sequence: u32,
    pub(super) last: Option<Last>,
}

#[derive(Clone, Debug)]
pub(super) struct Last {
    pub(super) args: Vec<u8>,
    pub(super) result: Vec<u8>,
    pub(super) cached: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) slots: [Slot; SLOTS],
}

/// Which owners of NFSv4.0 count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counts {
    /// Those that open.
    Open(u8),
    /// Those that lock.
    Lock(u8),
}

/// What a client had when the server went down.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) file: usize,
    pub(super) owner: u8,
    pub(super) access: u32,
    pub(super) deny: u32,
    /// A delegation, and whether it was for writing.
    pub(super) lent: Option<bool>,
    /// Lock owner, first byte, bytes, for writing.
    pub(super) locks: Vec<(u8, usize, usize, bool)>,
}

#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Client {
    pub(super) at: usize,
    pub(super) minor: u32,
    pub(super) name: ClientName,
    /// Another one after each restart of the client.
    pub(super) boots: u64,
    pub(super) line: Line,
    /// The connection is bound for callbacks, and all that came was answered.
    pub(super) back: bool,
    /// In NFSv4.0, calls to it may have failed since it introduced itself.
    pub(super) doubted: bool,
    /// What the server calls it, if it does not have to introduce itself.
    pub(super) id: Option<u64>,
    /// The start of the server that gave the id.
    pub(super) start: u64,
    pub(super) session: Option<Session>,
    /// The newest seqids of owners.
    pub(super) seqids: BTreeMap<Counts, u32>,
    /// What was revoked and not freed: file and stateid.
    pub(super) revoked: Vec<(usize, StateId)>,
    pub(super) claims: Vec<Claim>,
    /// The server knows it, whatever it believes itself.
    pub(super) alive: bool,
    /// When the server heard of it last.
    pub(super) heard: u64,
    /// It said that it has nothing to claim any more.
    pub(super) complete: bool,
    /// Something was revoked that it has not taken notice of.
    pub(super) barred: bool,
    /// The verifier that the server knows.
    pub(super) known_boots: u64,
    pub(super) record: Record,
}

impl Client {
    pub(super) fn new(at: usize, world: &World) -> Self {
        let minor = MINORS[at];
        let protocol = if minor == 0 { Protocol::V40 } else { Protocol::V41 };
        Client {
            at,
            minor,
            name: ClientName { protocol, bytes: format!("client {at}").into_bytes().into() },
            boots: 1,
            line: world.connect(),
            back: false,
            doubted: false,
            id: None,
            start: 0,
            session: None,
            seqids: BTreeMap::new(),
            revoked: Vec::new(),
            claims: Vec::new(),
            alive: false,
            heard: 0,
            complete: false,
            barred: false,
            known_boots: 0,
            record: Record::May,
        }
    }

    /// Its lease is over.
    pub(super) fn is_courteous(&self, now: u64) -> bool {
        now - self.heard > LEASE
    }

    /// The next seqid of an owner.
    pub(super) fn next_seqid(&self, owner: Counts) -> u32 {
        self.seqids.get(&owner).map_or(1, |last| last + 1)
    }

    /// The name of an owner.
    pub(super) fn owner_name(owner: u8) -> [u8; 2] {
        [b'o', owner]
    }
}

impl Run<'_> {
    /// Some of these clients lost all they had to others.
    pub(super) fn expel(&mut self, clients: &[usize]) {
        for who in clients {
            self.forget(*who);
            self.clients[*who].record = Record::MustNot;
        }
    }

    /// The server does not know the client any more.
    pub(super) fn forget(&mut self, who: usize) {
        let client = &mut self.clients[who];
        client.alive = false;
        client.back = false;
        client.revoked.clear();
        client.claims.clear();
        self.model.forget(who);
        self.model.grace.claimants.remove(&self.clients[who].name);
    }

    /// Who holds what is not held in vain.
    pub(super) fn check_records(&self) {
        for client in &self.clients {
            let there = self.world.records.has(&client.name);
            match client.record {
                Record::Must => assert!(there, "client {} is not on record", client.at),
                Record::MustNot => assert!(!there, "client {} is on record", client.at),
                Record::May => {}
            }
        }
    }
}
