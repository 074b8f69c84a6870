//! What callers may do with files. The kernel is the only judge; its answers are
//! remembered per file until the attributes they rest on change.

use std::sync::{Mutex, PoisonError};

use hayase_vfs::{Access, Cred, Cx, Error, Result, Time};
use rustix::fs::Stat;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::Core;
use crate::attr::ctime;
use crate::errno::error;
use crate::hash;
use crate::identity::Identity;
use crate::nodes::Node;
use crate::sys;

/// Read permission.
pub(crate) const READ: u32 = 4;
/// Write permission.
pub(crate) const WRITE: u32 = 2;
/// Execute or search permission.
pub(crate) const EXECUTE: u32 = 1;

/// Callers whose answers are kept per file.
const CALLERS: usize = 4;

/// Time stamps of older kernels advance in ticks of up to 10 ms: two changes within one look alike.
const TICK_NANOS: i64 = 20_000_000;

/// What an answer of the kernel rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Basis {
    ctime: Time,
    mode: u32,
    uid: u32,
    gid: u32,
}

impl Basis {
    fn of(stat: &Stat) -> Self {
        Basis { ctime: ctime(stat), mode: stat.st_mode, uid: stat.st_uid, gid: stat.st_gid }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    caller: u64,
    known: u8,
    granted: u8,
}

/// The kernel's answers about one file.
#[derive(Debug, Default)]
pub(crate) struct Decisions(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    basis: Basis,
    /// Answers given within a tick of the last change, or carried over a write of ours, are asked
    /// again after a second: an ACL may have changed unseen.
    expires_secs: Option<i64>,
    answers: [Answer; CALLERS],
    next: u8,
}

impl Remembered {
    /// Forgets everything if it does not hold for `basis` any more.
    fn refresh(&mut self, basis: Basis) {
        let expired = self.expires_secs.is_some_and(|at| now().secs >= at);
        if self.basis == basis && !expired {
            return;
        }
        let now = now();
        let age = (now.secs - basis.ctime.secs)
            .saturating_mul(1_000_000_000)
            .saturating_add(i64::from(now.nanos) - i64::from(basis.ctime.nanos));
        let settled = age > TICK_NANOS;
        let expires_secs = (!settled).then_some(now.secs + 1);
        *self = Remembered { basis, expires_secs, ..Remembered::default() };
    }
}

fn now() -> Time {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    Time { secs: now.tv_sec, nanos: now.tv_nsec as u32 }
}

impl Decisions {
    fn recall(&self, stat: &Stat, caller: u64, wanted: u32) -> Option<u32> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.refresh(Basis::of(stat));
        let answer = remembered.answers.iter().find(|answer| answer.caller == caller)?;
        (u32::from(answer.known) & wanted == wanted).then_some(u32::from(answer.granted) & wanted)
    }

    fn remember(&self, stat: &Stat, caller: u64, known: u32, granted: u32) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.refresh(Basis::of(stat));
        let at = remembered.answers.iter().position(|answer| answer.caller == caller);
        let at = at.unwrap_or_else(|| {
            let at = usize::from(remembered.next) % CALLERS;
            remembered.next = remembered.next.wrapping_add(1);
            remembered.answers[at] = Answer { caller, ..Answer::default() };
            at
        });
        let answer = &mut remembered.answers[at];
        answer.known |= known as u8;
        answer.granted = (answer.granted & !(known as u8)) | granted as u8;
    }

    /// Forgets everything: an ACL changes, which may not be seen.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Remembered::default();
    }

    /// Takes the answers over a write of ours, which changes nothing but size and time stamps.
    pub(crate) fn carry(&self, before: &Stat, after: &Stat) {
        let (before, after) = (Basis::of(before), Basis::of(after));
        if (Basis { ctime: before.ctime, ..after }) != before {
            return;
        }
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.basis == before {
            remembered.basis = after;
            let soon = now().secs + 1;
            remembered.expires_secs = Some(remembered.expires_secs.unwrap_or(soon).min(soon));
        }
    }
}

impl Core {
    /// Which of the rights in `wanted` the caller has, asked of the kernel unless it is known.
    /// `stat` are the present attributes.
    pub(crate) fn rights(&self, cx: &Cx<'_>, node: &Node, stat: &Stat, wanted: u32) -> Result<u32> {
        if wanted == 0 {
            return Ok(0);
        }
        let caller = self.caller_key(cx.cred);
        if let Some(granted) = node.decisions.recall(stat, caller, wanted) {
            return Ok(granted);
        }
        self.identity.become_caller(cx.cred)?;
        let granted = if ask(node, wanted)? {
            wanted
        } else if wanted.is_power_of_two() {
            0
        } else {
            let mut granted = 0;
            for right in [READ, WRITE, EXECUTE] {
                if wanted & right != 0 && ask(node, right)? {
                    granted |= right;
                }
            }
            granted
        };
        node.decisions.remember(stat, caller, wanted, granted);
        Ok(granted)
    }

    /// READ needs read permission, or execute permission, since a client must read a program to
    /// run it; the owner always may, so that a file opened before a chmod stays usable
    /// (RFC 1813 §4.4), and so may who is known to have opened it.
    pub(crate) fn may_read(&self, cx: &Cx<'_>, node: &Node, stat: &Stat) -> Result<()> {
        if cx.opened.intersects(Access::READ)
            || self.identity.is_superuser(cx.cred)
            || self.identity.owns(cx.cred, stat.st_uid)
        {
            return Ok(());
        }
        let granted =
            self.rights(cx, node, stat, READ)? != 0 || self.rights(cx, node, stat, EXECUTE)? != 0;
        granted.then_some(()).ok_or(Error::Access)
    }

    /// WRITE and truncation need write permission; the owner always may (RFC 1813 §4.4), and so
    /// may who is known to have opened the file.
    pub(crate) fn may_write(&self, cx: &Cx<'_>, node: &Node, stat: &Stat) -> Result<()> {
        if cx.opened.intersects(Access::MODIFY)
            || self.identity.is_superuser(cx.cred)
            || self.identity.owns(cx.cred, stat.st_uid)
        {
            return Ok(());
        }
        let granted = self.rights(cx, node, stat, WRITE)? != 0;
        granted.then_some(()).ok_or(Error::Access)
    }

    /// Fails unless changes are allowed at all, and on this thread.
    pub(crate) fn may_change(&self, cx: &Cx<'_>) -> Result<()> {
        if self.options.read_only {
            return Err(Error::ReadOnly);
        }
        cx.may_block()
    }

    fn caller_key(&self, cred: &Cred) -> u64 {
        if self.identity == Identity::Server {
            return 1;
        }
        let ids = [cred.uid, cred.gid].into_iter().chain(cred.groups.iter().copied());
        // An answer of caller 0 is an empty place.
        ids.fold(self.hash_seed, |hash, id| hash::mix(hash, u64::from(id))).max(1)
    }
}

/// Asks the kernel about one set of rights.
fn ask(node: &Node, rights: u32) -> Result<bool> {
    match sys::access(&node.path, rights) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::TXTBSY) => Ok(false),
        Err(errno) => Err(error(errno, "access", &node.path)),
    }
}
