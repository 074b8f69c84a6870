//! OPEN, as far as state is concerned (RFC 8881 §18.16, RFC 7530 §16.16).

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use super::grant::{Delegation, Grant, Offer, WhyNot, Wish};
use super::held::{Kind, OwnerTerms};
use super::open_file::{File, Open};
use super::recall::{Clash, Intrusion};
use super::right::{Opener, Right};
use super::share::{Opened as Modes, Share};
use super::want::Want;
use super::{Attempt, Shard};
use crate::client::Client;
use crate::owner::{Owner, OwnerKind};
use crate::stateid::next_seqid;
use crate::{ClientId, Effect, FileKey, Now, State};

/// What the client claims (RFC 8881 §18.16.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: a new open (`CLAIM_NULL`, `CLAIM_FH`).
    New,
    /// An open from before a server restart, and perhaps a delegation: for writing, or for
    /// reading (`CLAIM_PREVIOUS`).
    Previous {
        /// The delegation.
        delegation: Option<bool>,
    },
    /// A delegation, of which this open is a part (`CLAIM_DELEGATE_CUR`, `CLAIM_DELEG_CUR_FH`).
    Delegated(StateId),
    /// A delegation from before a client restart (`CLAIM_DELEGATE_PREV`,
    /// `CLAIM_DELEG_PREV_FH`), which this server does not keep.
    DelegatedBefore,
}

/// An open.
#[derive(Clone, Copy, Debug)]
pub struct OpenArgs<'a> {
    /// The client: of the session, or of the owner in NFSv4.0.
    pub client: ClientId,
    /// The open owner's name.
    pub owner: &'a [u8],
    /// The file.
    pub file: FileKey,
    /// The modes.
    pub share: Share,
    /// What is claimed.
    pub claim: Claim,
    /// An existing file is going to be truncated.
    pub truncates: bool,
    /// The delegation the client wishes.
    pub want: Want,
    /// The delegations that the back end allows.
    pub offer: Offer,
    /// Whose permissions were looked at and found to be enough.
    pub opener: Option<Opener>,
}

/// What came of it.
#[derive(Debug)]
pub struct Opened {
    /// The open's stateid; none if the client wanted either it or a delegation and got the latter
    /// (`OPEN4_RESULT_NO_OPEN_STATEID`, RFC 9754 §3).
    pub stateid: Option<StateId>,
    /// The owner has to be confirmed (`OPEN4_RESULT_CONFIRM`).
    pub confirm: bool,
    /// The delegation.
    pub delegation: Delegation,
    /// Takes it all back, if what comes next fails.
    pub undo: OpenUndo,
}

/// How a file was before an open.
#[derive(Debug)]
pub struct OpenUndo {
    file: FileKey,
    open: Option<(u64, Before)>,
    delegation: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Before {
    /// The owner did not have it open.
    Closed,
    /// The owner had it open like this.
    Open { share: Share, opened: Modes, seqid: u32 },
}

impl State {
    /// Whether locking may go on at all: what claims nothing has to wait for grace to end,
    /// and for the client to say that it has claimed everything; what claims must be
    /// allowed to (RFC 8881 §8.4.2.1, §18.51.3).
    pub(crate) fn check_claim(
        &self,
        client: &Client,
        reclaim: bool,
        now: Now,
    ) -> Result<(), Status> {
        if reclaim {
            self.grace.may_reclaim(client, now)
        } else {
            self.may_ask_for_new(client, now)
        }
    }

    /// Whether OPEN may go on, before anything is looked up or made.
    pub fn open_precheck(&self, now: Now, client: ClientId, claim: Claim) -> Result<(), Status> {
        let client = self.living(now, client)?;
        self.check_open_claim(&client, claim, now)
    }

    fn check_open_claim(&self, client: &Client, claim: Claim, now: Now) -> Result<(), Status> {
        match claim {
            Claim::New => self.check_claim(client, false, now),
            Claim::Previous { .. } => self.check_claim(client, true, now),
            // Good in grace as well: the delegation proves that there is no conflict.
            Claim::Delegated(_) => Ok(()),
            Claim::DelegatedBefore => Err(Status::NotSupp),
        }
    }

    /// Opens a file. It must exist by now, and must not have been truncated yet. Here as
    /// everywhere, the effects have to be performed also if the result is an error: DELAY
    /// comes with the recalls that are waited for.
    pub fn open(
        &self,
        now: Now,
        args: &OpenArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<Opened, Status> {
        let client = self.living(now, args.client)?;
        self.check_open_claim(&client, args.claim, now)?;
        let sequence = match client.minor_version() {
            0 => Some(self.open_owner(&client, args.owner, now, effects)?),
            _ => None,
        };
        let opened = self.settle(now, effects, |effects| {
            self.try_open(now, args, &client, sequence.as_ref(), effects)
        })?;
        self.note_state_granted(&client, effects);
        Ok(opened)
    }

    /// The open owner of a client of NFSv4.0.
    pub(crate) fn open_owner(
        &self,
        client: &Client,
        name: &[u8],
        now: Now,
        effects: &mut Vec<Effect>,
    ) -> Result<Arc<Owner>, Status> {
        let lease = self.lease();
        let terms = OwnerTerms {
            unused: Now(now.0.saturating_sub(2 * lease)),
            unconfirmed: Now(now.0.saturating_sub(lease)),
            next_sweep: Now(now.0 + lease / 2),
            bound: self.config.limits.states_per_client,
        };
        let mut void = Vec::new();
        let owner = client.held.owner_or_new(OwnerKind::Open, name, now, &terms, &mut void);
        self.cancel(void, now, effects);
        owner.map_err(|refused| refused.status(0))
    }

    fn try_open(
        &self,
        now: Now,
        args: &OpenArgs<'_>,
        client: &Arc<Client>,
        sequence: Option<&Arc<Owner>>,
        effects: &mut Vec<Effect>,
    ) -> Result<Attempt<Opened>, Status> {
        let mut shard = self.files.shard(&args.file);
        let contended = shard.contended.has(self.files.hash(&args.file), now);
        let file = shard.file_or_new(args.file);
        let attempt = self.open_in(file, now, args, client, sequence, contended, effects);
        if matches!(attempt, Err(Status::Delay)) {
            let hash = self.files.hash(&args.file);
            shard.contended.add(hash, now);
        }
        shard.tidy(args.file);
        attempt
    }

    #[allow(clippy::too_many_arguments)] // one call, taken apart only to tidy up after it
    fn open_in(
        &self,
        file: &mut File,
        now: Now,
        args: &OpenArgs<'_>,
        client: &Arc<Client>,
        sequence: Option<&Arc<Owner>>,
        contended: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<Attempt<Opened>, Status> {
        if let Claim::Delegated(stateid) = args.claim {
            self.check_delegation(file, client, &stateid)?;
        }
        let reclaim = matches!(args.claim, Claim::Previous { .. });

        let yielding = file
            .share_clash(args.share, now, &self.config)
            .map_err(|status| if reclaim { Status::ReclaimConflict } else { status })?;
        if !yielding.courteous.is_empty() {
            return Ok(Attempt::Expel(yielding.courteous));
        }
        let intrusion = Intrusion {
            by: Some(client.id()),
            with_readers: args.share.writes() || args.share.denies_read() || args.truncates,
            truncate: args.truncates,
        };
        match self.files.recall(file, args.file, intrusion, (now, &self.config), effects) {
            Clash::Nothing => {}
            Clash::Courteous(clients) => return Ok(Attempt::Expel(clients)),
            Clash::Recalled if reclaim => return Err(Status::ReclaimConflict),
            Clash::Recalled => return Err(Status::Delay),
        }
        for number in yielding.unconfirmed {
            file.remove_open(number);
        }

        let confirm = match sequence {
            Some(owner) if reclaim => {
                owner.confirm();
                false
            }
            Some(owner) => !owner.is_confirmed(),
            None => false,
        };
        let wish = Wish {
            client,
            file: args.file,
            share: Some(args.share),
            want: args.want,
            offer: args.offer,
            opener: args.opener,
        };
        let existing = file.opens.of_owner(client.id(), args.owner);
        let granted = if confirm {
            // Too troublesome should the confirmation not come (RFC 7530 §9.1.11).
            Err(WhyNot::Resource)
        } else {
            self.delegation(file, &wish, args.claim, contended, now)
        };
        let delegation = match granted {
            Ok(grant) => Delegation::Granted(grant),
            Err(why) if args.want.is_explicit() => Delegation::Refused(why),
            Err(_) => Delegation::None,
        };
        let undo_delegation = granted.ok().and_then(|grant| {
            self.files.names.number(&grant.stateid, crate::stateid::Minor::Later).ok()
        });
        // What the open denies others is known only to an open.
        let without_open = args.want.open_xor_delegation
            && granted.is_ok()
            && existing.is_none()
            && args.share.deny() == 0
            && !reclaim;
        let open = if without_open {
            None
        } else {
            match self.add_open(file, args, client, sequence, existing) {
                Ok(open) => Some(open),
                Err(status) => {
                    let lent = undo_delegation.and_then(|number| file.take_lent(number));
                    if let Some(lent) = lent {
                        self.files.recalls.remove(&lent);
                        self.files.count_returned(&lent);
                    }
                    return Err(status);
                }
            }
        };
        Ok(Attempt::Done(Opened {
            stateid: open.map(|(stateid, ..)| stateid),
            confirm,
            delegation,
            undo: OpenUndo {
                file: args.file,
                open: open.map(|(_, number, before)| (number, before)),
                delegation: undo_delegation,
            },
        }))
    }

    /// The delegation that comes with an open.
    fn delegation(
        &self,
        file: &mut File,
        wish: &Wish<'_>,
        claim: Claim,
        contended: bool,
        now: Now,
    ) -> Result<Grant, WhyNot> {
        match claim {
            Claim::New => {
                let write = self.files.decide(file, wish, contended, now, &self.config)?;
                self.files.lend(file, wish, write, &self.config)
            }
            Claim::Previous { delegation: Some(write) } => {
                self.files.lend_again(file, wish, write, (now, &self.config))
            }
            Claim::Previous { delegation: None } => Err(WhyNot::NotWanted),
            Claim::Delegated(_) | Claim::DelegatedBefore => Err(WhyNot::Contention),
        }
    }

    /// Adds the open, or to the one that its owner has (RFC 8881 §9.9).
    fn add_open(
        &self,
        file: &mut File,
        args: &OpenArgs<'_>,
        client: &Arc<Client>,
        sequence: Option<&Arc<Owner>>,
        existing: Option<u64>,
    ) -> Result<(StateId, u64, Before), Status> {
        if let Some(number) = existing
            && let Some(open) = file.opens.get_mut(number)
        {
            let before = Before::Open { share: open.share, opened: open.opened, seqid: open.seqid };
            open.seqid = next_seqid(open.seqid);
            open.right.add(args.opener, args.share);
            let seqid = open.seqid;
            let (share, mut opened) = (open.share.and(args.share), open.opened);
            opened.add(args.share);
            file.set_share(number, share, opened);
            return Ok((self.files.names.stateid(number, seqid), number, before));
        }
        let number = self.files.names.next();
        let bound = self.config.limits.states_per_client;
        client
            .held
            .add(number, Kind::Open, args.file, bound)
            .map_err(|refused| refused.status(client.minor_version()))?;
        if let Some(owner) = sequence {
            owner.gain(number, args.file);
        }
        let open = Open {
            seqid: 1,
            client: Arc::clone(client),
            owner: sequence.map_or_else(|| Arc::from(args.owner), |owner| Arc::clone(&owner.name)),
            sequence: sequence.cloned(),
            share: args.share,
            opened: Modes::once(args.share),
            right: Right::new(args.opener, args.share),
            locks: Vec::new(),
        };
        file.add_open(number, open);
        Ok((self.files.names.stateid(number, 1), number, Before::Closed))
    }

    /// Takes an open back that must not have been, since what was to follow it failed.
    pub fn open_undo(&self, now: Now, undo: &OpenUndo, effects: &mut Vec<Effect>) {
        let key = undo.file;
        let mut shard = self.files.shard(&key);
        let Some(file) = shard.file(&key) else { return };
        if let Some(number) = undo.delegation
            && let Some(lent) = file.take_lent(number)
        {
            self.files.recalls.remove(&lent);
            self.files.count_returned(&lent);
            effects.push(Effect::DelegationEnded { file: key });
        }
        match undo.open {
            None => {}
            Some((number, Before::Closed)) => {
                let released = file.remove_open(number).is_some_and(|(_, released)| released);
                if released {
                    file.locks_went(key, now, effects);
                }
            }
            Some((number, Before::Open { share, opened, seqid })) => {
                // If others came in between, they have seen the seqid: it stays.
                let untouched =
                    file.opens.get(number).is_some_and(|open| open.seqid == next_seqid(seqid));
                if untouched {
                    file.set_share(number, share, opened);
                    if let Some(open) = file.opens.get_mut(number) {
                        open.seqid = seqid;
                    }
                }
            }
        }
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
    }

    /// Cancels opens that were never confirmed and closed ones that nobody will ask about.
    pub(crate) fn cancel(&self, void: Vec<(u64, FileKey)>, now: Now, effects: &mut Vec<Effect>) {
        for (number, key) in void {
            let mut shard = self.files.shard(&key);
            shard.closed.remove(&number);
            let Some(file) = shard.file(&key) else { continue };
            if let Some((_, released)) = file.remove_open(number) {
                if released {
                    file.locks_went(key, now, effects);
                }
                if shard.tidy(key) {
                    effects.push(Effect::Unused { file: key });
                }
            }
        }
    }
}

impl Shard {
    /// The open that a stateid names, which must be the caller's, confirmed and the newest
    /// (RFC 8881 §8.2.4). Nothing if it is not there.
    pub(crate) fn open(
        &mut self,
        key: &FileKey,
        number: u64,
        caller: Option<ClientId>,
        seqid: u32,
    ) -> Option<Result<&mut Open, Status>> {
        let open = self.file(key)?.opens.get_mut(number)?;
        Some(if !super::is_callers(&open.client, caller) || !open.is_confirmed() {
            Err(Status::BadStateId)
        } else {
            crate::stateid::check_seqid(seqid, open.seqid, super::minor_of(caller)).map(|()| open)
        })
    }
}
