//! What stands in the way of an open or a change.

use hayase_proto::nfs4::Status;

use super::open_file::File;
use super::recall::Intrusion;
use super::share::Share;
use crate::{ClientId, Config, Effect, FileKey, Now, State};

/// What somebody is about to do to a file without an open that allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Read its data.
    Read,
    /// Write its data or change its size.
    Write,
    /// Cut it to nothing.
    Truncate,
    /// Change its attributes, without the size.
    Attributes,
    /// Give it a name, take one away, or both.
    Names,
}

impl State {
    /// Asks for the delegations of others that conflict with a change; DELAY while there
    /// are any (RFC 8881 §10.4.4). `by` is the client that makes the change, if it is one of
    /// NFSv4 and known: its own delegations do not conflict.
    pub fn change(
        &self,
        now: Now,
        by: Option<ClientId>,
        file: &FileKey,
        change: Change,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        if !self.has_delegations() {
            return Ok(());
        }
        let intrusion = Intrusion {
            by,
            with_readers: change != Change::Read,
            truncate: change == Change::Truncate,
        };
        self.settle(now, effects, |effects| self.intrude(now, file, intrusion, effects))
    }
}

/// Opens that conflict with a new one but need not stay.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Yielding {
    /// Clients whose leases are over.
    pub(crate) courteous: Vec<ClientId>,
    /// Opens of NFSv4.0 that were never confirmed (RFC 7530 §16.18.5).
    pub(crate) unconfirmed: Vec<u64>,
}

impl File {
    /// Whether an open with these modes conflicts with those there are (RFC 8881 §9.7).
    pub(crate) fn share_clash(
        &self,
        share: Share,
        now: Now,
        config: &Config,
    ) -> Result<Yielding, Status> {
        let mut yielding = Yielding::default();
        if !self.shares.conflict_with(share) {
            return Ok(yielding);
        }
        if self.nlm_share_clash(share) {
            return Err(Status::ShareDenied);
        }
        let lease = std::time::Duration::from_secs(u64::from(config.lease_secs));
        let a_lease_ago = Now(now.0.saturating_sub(lease));
        for (number, open) in self.opens.iter() {
            if !open.share.conflicts_with(share) {
                continue;
            }
            if open.client.is_courteous(now, config) {
                yielding.courteous.push(open.client.id());
            } else if open
                .sequence
                .as_ref()
                .is_some_and(|owner| owner.is_unconfirmed_since(a_lease_ago))
            {
                yielding.unconfirmed.push(number);
            } else {
                return Err(Status::ShareDenied);
            }
        }
        yielding.courteous.dedup();
        Ok(yielding)
    }
}
