//! Telling hosts that they have the lock they waited for (`NLM4_GRANTED`, `NLM4_GRANTED_MSG`).
//!
//! A host that says it does not want the lock loses it. But if it had been called before and
//! its answer did not come, that may only mean that it took the lock at the first call: then it
//! keeps it, and unlocks it in its own time.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hayase_proto::nlm::{Lock, Proc, Res, Status, TestArgs};
use hayase_rpc::decode_reply;
use hayase_state::{Locker, Now};
use hayase_xdr::{Opaque, Reader, from_bytes};

use super::file::length;
use super::waits::{Waiting, Wanted};
use crate::v4::Shared;

/// How long a host is called that does not answer. Then it loses the lock: one that waits asks for
/// the lock by itself now and then, and would have got it.
const PATIENCE: Duration = Duration::from_secs(120);
/// Until it is called again: so long after the first time, and longer after each.
const AGAIN: Duration = Duration::from_secs(5);
/// But never longer.
const AGAIN_AT_MOST: Duration = Duration::from_secs(30);

/// A host that has a lock and has to be told.
pub(super) struct Grant {
    pub(super) wanted: Wanted,
    by_message: bool,
    since: Now,
    next: Now,
    tries: u32,
    in_flight: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// The host says this.
    Answered(Status),
    /// It got the call, and will say what it thinks by one of its own.
    Sent,
    /// It cannot be reached.
    Lost,
}

/// Calls that have ended, noted at the next tick.
#[derive(Clone, Default)]
pub(super) struct Ended(Arc<Mutex<Vec<(u64, Outcome)>>>);

impl Ended {
    fn push(&self, grant: u64, outcome: Outcome) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((grant, outcome));
    }

    fn take(&self) -> Vec<(u64, Outcome)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn status_of(xid: u32, reply: &[u8]) -> Option<Status> {
    let mut reader = Reader::new(reply);
    let (answered, Ok(())) = decode_reply(&mut reader).ok()? else { return None };
    (answered == xid).then(|| from_bytes::<Res<'_>>(reader.rest()).ok())?.map(|res| res.status)
}

impl Shared {
    /// Somebody who waited has the lock now: tells its host. In the file's lane.
    pub(super) fn nlm_granted(&self, waiting: &Waiting) {
        let (wanted, now) = (Wanted::of(&waiting.lock), self.now());
        let mut inner = self.nlm.lock();
        inner.leave(&wanted);
        inner.last_grant += 1;
        let (id, by_message) = (inner.last_grant, waiting.by_message);
        let grant = Grant { wanted, by_message, since: now, next: now, tries: 0, in_flight: false };
        inner.grants.insert(id, grant);
        drop(inner);
        self.nlm_call_granted(id);
    }

    /// Calls the host of a grant.
    fn nlm_call_granted(&self, id: u64) {
        let now = self.now();
        let mut inner = self.nlm.lock();
        let Some(grant) = inner.grants.get_mut(&id).filter(|grant| !grant.in_flight) else {
            return;
        };
        grant.in_flight = true;
        let wait = AGAIN.saturating_mul(1 << grant.tries.min(8)).min(AGAIN_AT_MOST);
        grant.tries += 1;
        grant.next = Now(now.0 + wait);
        let (wanted, by_message) = (grant.wanted.clone(), grant.by_message);
        drop(inner);
        let Locker::Nlm { host, svid, owner } = &wanted.locker else { return };
        let Some(address) = address(host) else { return };
        let handle = self.seal(&wanted.file);
        let cookie = id.to_be_bytes();
        let args = TestArgs {
            cookie: Opaque(&cookie),
            exclusive: wanted.write,
            lock: Lock {
                caller_name: Opaque(&self.host_name),
                fh: Opaque(handle.as_nfs3().0),
                oh: Opaque(owner),
                svid: svid.cast_signed(),
                offset: wanted.bytes.start(),
                length: length(wanted.bytes),
            },
        };
        let procedure = if by_message { Proc::GrantedMsg } else { Proc::Granted };
        let ended = self.nlm.ended.clone();
        self.call_lock_manager(address, procedure, &args, move |xid, reply| {
            let outcome = match reply {
                None => Outcome::Lost,
                Some(_) if by_message => Outcome::Sent,
                Some(reply) => status_of(xid, &reply).map_or(Outcome::Lost, Outcome::Answered),
            };
            ended.push(id, outcome);
        });
    }

    /// A host answers `GRANTED_MSG`. Only the one that was told is heard.
    pub(super) fn nlm_heard(&self, host: &str, cookie: &[u8], status: Status) {
        let Ok(id) = cookie.try_into().map(u64::from_be_bytes) else { return };
        let is_its = |grant: &Grant| grant.wanted.locker.host() == Some(host.as_bytes());
        if self.nlm.lock().grants.get(&id).is_some_and(is_its) {
            self.nlm.ended.push(id, Outcome::Answered(status));
        }
    }

    /// Notes what came of calls, and calls again.
    pub(super) fn tick_nlm_grants(&self) {
        let now = self.now();
        for (id, outcome) in self.nlm.ended.take() {
            let mut inner = self.nlm.lock();
            let Some(grant) = inner.grants.get_mut(&id) else { continue };
            grant.in_flight = false;
            let sure = grant.tries == 1;
            match outcome {
                Outcome::Sent | Outcome::Lost | Outcome::Answered(Status::DeniedGracePeriod) => {}
                Outcome::Answered(status) if status != Status::Granted && sure => {
                    drop(inner);
                    self.nlm_take_back(id);
                }
                Outcome::Answered(_) => {
                    inner.grants.remove(&id);
                }
            }
        }
        let idle = |grant: &Grant| !grant.in_flight && grant.next <= now;
        let due: Vec<(u64, bool)> = {
            let inner = self.nlm.lock();
            let due = inner.grants.iter().filter(|(_, grant)| idle(grant));
            due.map(|(id, grant)| (*id, now.0.saturating_sub(grant.since.0) > PATIENCE)).collect()
        };
        for (id, is_over) in due {
            if is_over { self.nlm_give_up(id) } else { self.nlm_call_granted(id) }
        }
    }

    fn nlm_give_up(&self, id: u64) {
        if let Some(wanted) = self.nlm_take_back(id) {
            let host = wanted.locker.host().unwrap_or_default().escape_ascii();
            tracing::warn!(
                "{host} cannot be told that it has the lock it waited for, and loses it: its lock \
                 manager (nlockmgr) and its portmapper have to be reachable from here"
            );
        }
    }

    /// Takes a lock away whose host does not want it.
    fn nlm_take_back(&self, id: u64) -> Option<Wanted> {
        let wanted = self.nlm.lock().grants.get(&id).map(|grant| grant.wanted.clone())?;
        let lane = self.nlm.lanes.lane(&wanted.file);
        // Meanwhile the host may have asked for it after all.
        self.nlm.lock().grants.remove(&id)?;
        let mut effects = Vec::new();
        let (locker, bytes) = (&wanted.locker, wanted.bytes);
        self.state.nlm_unlock(self.now(), locker, wanted.file, bytes, &mut effects);
        // What failed has been logged.
        let _ = self.perform_all(effects);
        drop(lane);
        self.nlm_turns();
        Some(wanted)
    }
}

/// The address that a host is known by.
pub(crate) fn address(host: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(host).ok()?.parse().ok()
}
