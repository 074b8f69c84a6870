//! Files that hosts of NFSv3 have open with a deny mode, as DOS programs do (`NLM4_SHARE`). They and
//! the opens of NFSv4 keep each other out.

use hayase_proto::nfs4::Status;

use super::Attempt;
use super::lock_table::{LockTable, Locker, NlmShare};
use super::open_file::File;
use super::share::Share;
use crate::hosts::record_name;
use crate::{Effect, FileKey, Now, State};

/// Most of one file.
const SHARES_PER_FILE: usize = 1024;

/// A file that a host of NFSv3 opens with a deny mode.
#[derive(Clone, Copy, Debug)]
pub struct NlmShareArgs<'a> {
    /// Who opens it; of the lock manager.
    pub locker: &'a Locker,
    /// The host's name for itself.
    pub host_name: &'a [u8],
    /// The file.
    pub file: FileKey,
    /// What it does: 0 to 3.
    pub access: u32,
    /// What others may not: 0 to 3.
    pub deny: u32,
    /// It was open before the server's restart.
    pub reclaim: bool,
    /// Whether it was asked for from a port that only the host's superuser can have.
    pub privileged: bool,
}

impl File {
    /// Whether a share of a host of NFSv3 conflicts with an open.
    pub(crate) fn nlm_share_clash(&self, share: Share) -> bool {
        let shares = self.locks().map(LockTable::nlm_shares).unwrap_or_default();
        shares.iter().any(|other| other.share.conflicts_with(share))
    }

    /// Takes the shares of some lockers away; whose they were.
    pub(crate) fn take_nlm_shares(&mut self, which: impl Fn(&Locker) -> bool) -> Vec<Locker> {
        let Some(locks) = self.locks_mut() else { return Vec::new() };
        let gone: Vec<NlmShare> =
            locks.nlm_shares_mut().extract_if(.., |share| which(&share.locker)).collect();
        for share in &gone {
            self.shares.remove(share.share);
        }
        gone.into_iter().map(|share| share.locker).collect()
    }

    fn add_nlm_share(&mut self, locker: Locker, share: Share) {
        self.shares.add(share);
        self.locks_or_new().nlm_shares_mut().push(NlmShare { locker, share });
    }
}

impl State {
    /// Opens a file for a host of NFSv3. What the locker has open already is opened so instead.
    pub fn nlm_share(
        &self,
        now: Now,
        args: &NlmShareArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let NlmShareArgs { locker, file: key, reclaim, .. } = *args;
        let share = Share::nlm(args.access, args.deny)?;
        let host = locker.host().ok_or(Status::Inval)?;
        let name = record_name(host);
        if reclaim && !self.grace.may_host_reclaim(&name, now) {
            return Err(Status::NoGrace);
        }
        if !reclaim && self.grace.is_active() {
            self.grace.put_off_host(&name, now);
            return Err(Status::Grace);
        }
        self.meet_host(now, host, args.host_name, args.privileged)?;
        self.settle(now, effects, |effects| {
            let mut shard = self.files.shard(&key);
            let file = shard.file_or_new(key);
            let had = own_share(file, locker);
            let taken = file.take_nlm_shares(|other| other == locker).len();
            self.hosts.count(host, taken, 0);
            let full =
                file.locks().is_some_and(|locks| locks.nlm_shares().len() >= SHARES_PER_FILE);
            let clash = file.share_clash(share, now, &self.config);
            // As with locks: it was to be given back before.
            let lent = !reclaim && file.is_lent_against(share.writes() || args.deny != 0);
            let (granted, attempt) = match clash {
                _ if full => (had, Err(Status::Resource)),
                _ if lent => (had, Err(Status::Delay)),
                Err(status) => (had, Err(status)),
                // Opens that were never confirmed go by themselves, a lease after they were made.
                Ok(yielding) if !yielding.unconfirmed.is_empty() => (had, Err(Status::ShareDenied)),
                Ok(yielding) if !yielding.courteous.is_empty() => {
                    (had, Ok(Attempt::Expel(yielding.courteous)))
                }
                Ok(_) => {
                    self.note_host_granted(host, effects);
                    (Some(share), Ok(Attempt::Done(())))
                }
            };
            if let Some(share) = granted {
                file.add_nlm_share(locker.clone(), share);
                self.hosts.count(host, 0, 1);
            }
            shard.tidy(key);
            attempt
        })
    }

    /// Closes what [`nlm_share`](State::nlm_share) opened.
    pub fn nlm_unshare(&self, locker: &Locker, key: FileKey, effects: &mut Vec<Effect>) {
        let mut shard = self.files.shard(&key);
        let Some(file) = shard.file(&key) else { return };
        for locker in file.take_nlm_shares(|other| other == locker) {
            self.hosts.count(locker.host().unwrap_or_default(), 1, 0);
        }
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
    }
}

fn own_share(file: &File, locker: &Locker) -> Option<Share> {
    let shares = file.locks()?.nlm_shares();
    shares.iter().find(|share| share.locker == *locker).map(|share| share.share)
}
