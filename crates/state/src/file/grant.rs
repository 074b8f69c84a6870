//! Whether an open gets a delegation, and which (RFC 8881 §10.4, §18.16.3).
//!
//! When in doubt, none: a delegation saves its client a little, and costs others a wait.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hayase_proto::nfs4::{StateId, Status};

use super::Files;
use super::held::Kind;
use super::lent::{Lent, SEQID, View};
use super::lock_table::LockTable;
use super::open_file::File;
use super::right::{Opener, Right};
use super::share::Share;
use super::want::{Want, WantKind};
use crate::client::Client;
use crate::{ClientId, Config, Effect, FileKey, Now, State};

/// What became of the wish for a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delegation {
    /// None, and nobody asked why (`OPEN_DELEGATE_NONE`).
    None,
    /// None, and why (`OPEN_DELEGATE_NONE_EXT`).
    Refused(WhyNot),
    /// Granted.
    Granted(Grant),
}

/// A delegation that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its stateid.
    pub stateid: StateId,
    /// For writing, else for reading.
    pub write: bool,
    /// The client keeps the file's times (`OPEN_DELEGATE_*_ATTRS_DELEG`, RFC 9754 §4).
    pub timestamps: bool,
    /// To be given back at once (reclaims only).
    pub recall: bool,
}

/// Why there is no delegation (RFC 8881 §18.16.2, `why_no_delegation4`). Promises to tell
/// later when there would be one are never made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WhyNot {
    /// The client wanted none.
    NotWanted = 0,
    /// Others use the file.
    Contention = 1,
    /// The server cannot now: too many, or the client cannot be called back.
    Resource = 2,
    /// Not for such a file.
    NotSuppFtype = 3,
    /// Not for writing such a file.
    WriteDelegNotSuppFtype = 4,
    /// The client has one for reading, which cannot become one for writing.
    NotSuppUpgrade = 5,
    /// The client has one for writing, which cannot become one for reading.
    NotSuppDowngrade = 6,
    /// The client took its wish back.
    Cancelled = 7,
    /// It is a directory.
    IsDir = 8,
}

/// What the back end and the export allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Delegations for reading.
    pub read: bool,
    /// Delegations for writing.
    pub write: bool,
    /// The file's change attribute, read before the grant.
    pub change: u64,
}

impl Offer {
    /// No delegation at all.
    pub const NONE: Offer = Offer { read: false, write: false, change: 0 };

    /// Any delegation.
    pub const fn any(change: u64) -> Offer {
        Offer { read: true, write: true, change }
    }
}

/// Who wishes what.
#[derive(Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) client: &'a Arc<Client>,
    pub(crate) file: FileKey,
    /// The modes of the open it comes with.
    pub(crate) share: Option<Share>,
    pub(crate) want: Want,
    pub(crate) offer: Offer,
    /// Whose permissions were looked at, if it comes with an open.
    pub(crate) opener: Option<Opener>,
}

impl Wish<'_> {
    /// Which kind it would be. A delegation for writing only with an open that writes: the
    /// client has shown that it may.
    fn kind(&self) -> Result<bool, WhyNot> {
        let writes = self.share.is_none_or(Share::writes);
        let write = match self.want.kind {
            WantKind::No => return Err(WhyNot::NotWanted),
            WantKind::Cancel => return Err(WhyNot::Cancelled),
            WantKind::Read => false,
            WantKind::Write => writes,
            WantKind::NoPreference | WantKind::Any => self.share.is_some() && writes,
        };
        match (write, self.offer) {
            (true, Offer { write: true, .. }) | (false, Offer { read: true, .. }) => Ok(write),
            (true, Offer { read: true, .. }) => Err(WhyNot::WriteDelegNotSuppFtype),
            _ => Err(WhyNot::NotSuppFtype),
        }
    }
}

impl File {
    /// Whether the opens and delegations of others leave room for one, and hosts of NFSv3, which lock
    /// without opening: who has a delegation locks by itself (RFC 8881 §10.4.2).
    fn has_room_for(&self, wish: &Wish<'_>, write: bool) -> Result<(), WhyNot> {
        let id = wish.client.id();
        if self.locks().is_some_and(LockTable::has_nlm) {
            return Err(WhyNot::Contention);
        }
        for lent in &self.lent {
            if lent.client.id() == id {
                return Err(match (lent.write, write) {
                    (false, true) => WhyNot::NotSuppUpgrade,
                    (true, false) => WhyNot::NotSuppDowngrade,
                    _ => WhyNot::Contention,
                });
            }
            if lent.write || write || lent.due.is_some() {
                return Err(WhyNot::Contention);
            }
        }
        let disturbs = |other: Share| write || other.writes() || other.denies_read();
        if self.opens.iter().any(|(_, open)| open.client.id() != id && disturbs(open.share)) {
            return Err(WhyNot::Contention);
        }
        Ok(())
    }
}

impl Files {
    /// Decides about a wish; the kind if it can be granted. `contended` tells that the file was fought
    /// about lately.
    pub(crate) fn decide(
        &self,
        file: &File,
        wish: &Wish<'_>,
        contended: bool,
        now: Now,
        config: &Config,
    ) -> Result<bool, WhyNot> {
        let write = wish.kind()?;
        file.has_room_for(wish, write)?;
        if contended {
            return Err(WhyNot::Contention);
        }
        let full = self.delegations.load(Ordering::Relaxed) >= config.limits.delegations;
        if full || !wish.client.callback_works() || !wish.client.held.is_trusted(now) {
            return Err(WhyNot::Resource);
        }
        Ok(write)
    }

    /// Grants one.
    pub(crate) fn lend(
        &self,
        file: &mut File,
        wish: &Wish<'_>,
        write: bool,
        config: &Config,
    ) -> Result<Grant, WhyNot> {
        let number = self.names.next();
        let bound = config.limits.states_per_client;
        if wish.client.held.add(number, Kind::Delegation, wish.file, bound).is_err() {
            return Err(WhyNot::Resource);
        }
        self.count_lent(write);
        let timestamps = wish.want.timestamps;
        file.lent.push(Lent {
            number,
            client: Arc::clone(wish.client),
            write,
            timestamps,
            right: Right::new(wish.opener, wish.share.unwrap_or(Share::READ)),
            due: None,
            view: View::new(wish.offer.change),
        });
        let stateid = self.names.stateid(number, SEQID);
        Ok(Grant { stateid, write, timestamps, recall: false })
    }

    /// Grants one that was held before a restart. The client gets it if nobody else claimed
    /// anything against it; if it cannot be called back, it has to return it at once
    /// (RFC 8881 §10.2.1, §18.16.3).
    pub(crate) fn lend_again(
        &self,
        file: &mut File,
        wish: &Wish<'_>,
        write: bool,
        (now, config): (Now, &Config),
    ) -> Result<Grant, WhyNot> {
        file.has_room_for(wish, write)?;
        let mut grant = self.lend(file, wish, write, config)?;
        if !wish.client.callback_works() {
            grant.recall = true;
            if let Some(lent) = file.lent.last_mut() {
                self.await_return(lent, wish.file, (now, config));
            }
        }
        Ok(grant)
    }
}

impl State {
    /// `WANT_DELEGATION` (RFC 8881 §18.49). `reclaim` claims one held before a restart:
    /// for writing, or for reading. Wishes are not remembered for later.
    pub fn want_delegation(
        &self,
        now: Now,
        client: ClientId,
        file: FileKey,
        (want, offer): (Want, Offer),
        reclaim: Option<bool>,
        effects: &mut Vec<Effect>,
    ) -> Result<Delegation, Status> {
        let client = self.living(now, client)?;
        if !want.is_explicit() && reclaim.is_none() {
            return Err(Status::Inval);
        }
        self.check_claim(&client, reclaim.is_some(), now)?;
        // The flag for no delegation means nothing here (RFC 8881 §18.49.3).
        if want.kind == WantKind::No {
            return Ok(Delegation::Refused(WhyNot::NotWanted));
        }
        let wish = Wish { client: &client, file, share: None, want, offer, opener: None };
        let mut shard = self.files.shard(&file);
        let contended = shard.contended.has(self.files.hash(&file), now);
        let entry = shard.file_or_new(file);
        let granted = match reclaim {
            Some(write) => self.files.lend_again(entry, &wish, write, (now, &self.config)),
            None => self
                .files
                .decide(entry, &wish, contended, now, &self.config)
                .and_then(|write| self.files.lend(entry, &wish, write, &self.config)),
        };
        shard.tidy(file);
        drop(shard);
        match granted {
            Ok(grant) => {
                self.note_state_granted(&client, effects);
                Ok(Delegation::Granted(grant))
            }
            Err(why) => Ok(Delegation::Refused(why)),
        }
    }
}
