//! Whether a stateid allows READ, WRITE and the like (RFC 8881 §8.2.5, §9.1.2, §18.22, §18.32).

use hayase_proto::nfs4::{StateId, Status};

use super::lent::SEQID;
use super::open_file::File;
use super::recall::Intrusion;
use super::right::Opener;
use super::share::{READ, WRITE};
use super::{Attempt, is_callers, minor_of};
use crate::client::Client;
use crate::stateid::{Minor, Named, check_seqid};
use crate::{ClientId, Effect, FileKey, Now, State};

/// What is to be done with the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoAccess {
    /// Read it.
    Read,
    /// Write it, or change the size.
    Write,
}

/// That it may be done, and on what ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoGrant {
    /// A special stateid, and nobody minds.
    Special,
    /// An open, or locks through an open.
    Open {
        /// Whose it is.
        client: ClientId,
        /// Who may do it whatever the permissions are by now.
        right: Option<Opener>,
    },
    /// A delegation.
    Delegation {
        /// Whose it is.
        client: ClientId,
        /// Who may do it whatever the permissions are by now.
        right: Option<Opener>,
    },
}

impl State {
    /// Whether the data of a file may be read or written with this stateid. `client` is the
    /// session's client; NFSv4.0 has none, and its use of a stateid renews the lease
    /// (RFC 7530 §9.5). Special stateids get DELAY while delegations of others are recalled.
    pub fn authorize_io(
        &self,
        now: Now,
        client: Option<ClientId>,
        stateid: &StateId,
        file: &FileKey,
        access: IoAccess,
        effects: &mut Vec<Effect>,
    ) -> Result<IoGrant, Status> {
        let minor = minor_of(client);
        let number = match self.files.names.read(stateid, minor)? {
            Named::State(number) => number,
            special => {
                let bypass = special == Named::ReadBypass && access == IoAccess::Read;
                return self.authorize_special(now, client, file, access, bypass, effects);
            }
        };
        let found = {
            let mut shard = self.files.shard(file);
            shard.file(file).and_then(|file| file.io(now, client, number, stateid.seqid, access))
        };
        found.unwrap_or_else(|| Err(self.missing(client, number)))
    }

    /// Without a state, only share reservations and delegations stand in the way. During grace it
    /// is not known which there will be (RFC 8881 §8.4.2.1).
    fn authorize_special(
        &self,
        now: Now,
        client: Option<ClientId>,
        key: &FileKey,
        access: IoAccess,
        bypass: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<IoGrant, Status> {
        if self.grace.is_active() && !bypass {
            return Err(Status::Grace);
        }
        let write = access == IoAccess::Write;
        self.settle(now, effects, |effects| {
            if !bypass {
                let mut shard = self.files.shard(key);
                if let Some(file) = shard.file(key) {
                    let courteous = file.denies_io(access, now, &self.config)?;
                    if !courteous.is_empty() {
                        return Ok(Attempt::Expel(courteous));
                    }
                }
            }
            let intrusion = Intrusion { by: client, with_readers: write, truncate: false };
            self.intrude(now, key, intrusion, effects)
        })?;
        Ok(IoGrant::Special)
    }
}

impl File {
    /// Whether some open denies the access; if only opens of clients whose leases are over do,
    /// these.
    fn denies_io(
        &self,
        access: IoAccess,
        now: Now,
        config: &crate::Config,
    ) -> Result<Vec<ClientId>, Status> {
        let bit = match access {
            IoAccess::Read => READ,
            IoAccess::Write => WRITE,
        };
        let mut courteous = Vec::new();
        if !self.shares.deny(bit) {
            return Ok(courteous);
        }
        for (_, open) in self.opens.iter().filter(|(_, open)| open.share.deny() as u8 & bit != 0) {
            if !open.client.is_courteous(now, config) {
                return Err(Status::Locked);
            }
            courteous.push(open.client.id());
        }
        Ok(courteous)
    }

    /// I/O with the state of this number; nothing if there is none.
    fn io(
        &self,
        now: Now,
        caller: Option<ClientId>,
        number: u64,
        seqid: u32,
        access: IoAccess,
    ) -> Option<Result<IoGrant, Status>> {
        let minor = minor_of(caller);
        let (open, newest) = if let Some(open) = self.opens.get(number) {
            (Some((number, open)), open.seqid)
        } else if let Some(state) = self.locks().and_then(|locks| locks.state(number)) {
            (self.opens.get(state.open).map(|open| (state.open, open)), state.seqid)
        } else {
            let lent = self.lent(number)?;
            let allowed = lent.write || access == IoAccess::Read;
            return Some(
                check(&lent.client, caller, seqid, SEQID, minor)
                    .and(if allowed { Ok(()) } else { Err(Status::OpenMode) })
                    .map(|()| {
                        renew(&lent.client, minor, now);
                        IoGrant::Delegation {
                            client: lent.client.id(),
                            right: lent.right.permits(access, lent.modes()),
                        }
                    }),
            );
        };
        // Locks go with their open.
        let (number, open) = open?;
        let allowed = || match access {
            IoAccess::Write if open.share.writes() => Ok(()),
            IoAccess::Write => Err(Status::OpenMode),
            IoAccess::Read if open.share.reads() => Ok(()),
            // Clients may have to read what they are going to write a part of; but an open for
            // writing was not tested against those who deny reading (RFC 8881 §9.1.2).
            IoAccess::Read if self.others_deny_read(number) => Err(Status::Locked),
            IoAccess::Read => Ok(()),
        };
        Some(
            check(&open.client, caller, seqid, newest, minor)
                .and(if open.is_confirmed() { Ok(()) } else { Err(Status::BadStateId) })
                .and_then(|()| allowed())
                .map(|()| {
                    renew(&open.client, minor, now);
                    IoGrant::Open {
                        client: open.client.id(),
                        right: open.right.permits(access, open.share),
                    }
                }),
        )
    }

    fn others_deny_read(&self, number: u64) -> bool {
        self.shares.deny(READ)
            && self.opens.iter().any(|(other, open)| other != number && open.share.denies_read())
    }
}

fn check(
    owner: &Client,
    caller: Option<ClientId>,
    seqid: u32,
    newest: u32,
    minor: Minor,
) -> Result<(), Status> {
    if is_callers(owner, caller) {
        check_seqid(seqid, newest, minor)
    } else {
        Err(Status::BadStateId)
    }
}

fn renew(client: &Client, minor: Minor, now: Now) {
    // With sessions, SEQUENCE does (RFC 8881 §8.3).
    if minor == Minor::Zero {
        client.renew(now);
    }
}
