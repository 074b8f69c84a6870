//! Who acts: the caller, whose permissions the kernel then judges, or the server.
//!
//! Linux keeps file system ids and supplementary groups per thread. A thread keeps
//! the identity of its last operation until one needs another; every operation
//! states whose it needs before it needs it, so an error or a panic in between
//! leaves nothing wrong behind. Code outside this crate that opens files on a
//! thread which serves requests calls [`act_as_server`] first.

use std::cell::RefCell;

use hayase_vfs::{Cred, Error, Result};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, capabilities, capabilities_secure_bits, set_capabilities,
};

use crate::sys;

/// The identity of this thread, as far as it is known.
struct Acting {
    /// None: whatever the thread inherited from the one that started it.
    uid: Option<u32>,
    gid: Option<u32>,
    groups: Vec<u32>,
    groups_known: bool,
}

thread_local! {
    static ACTING: RefCell<Acting> =
        const { RefCell::new(Acting { uid: None, gid: None, groups: Vec::new(), groups_known: false }) };
}

/// Whether operations can run as their callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Each operation runs as its caller.
    Caller,
    /// Everything runs as the server's own user.
    Server,
}

/// What acting as callers takes, by the names of capabilities(7).
const NEEDED: [(CapabilitySet, &str); 6] = [
    (CapabilitySet::SETUID, "CAP_SETUID"),
    (CapabilitySet::SETGID, "CAP_SETGID"),
    (CapabilitySet::DAC_OVERRIDE, "CAP_DAC_OVERRIDE"),
    (CapabilitySet::DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"),
    (CapabilitySet::CHOWN, "CAP_CHOWN"),
    (CapabilitySet::FOWNER, "CAP_FOWNER"),
];

/// What the server has as itself, if it may: all that has to do with files.
const FILES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::LINUX_IMMUTABLE)
    .union(CapabilitySet::MAC_OVERRIDE);

/// What this thread may do now.
pub(crate) fn effective() -> CapabilitySet {
    capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective)
}

/// The capabilities that are missing for acting as callers: all of them where the kernel would not
/// take them away with file system uid 0: whoever it is, a caller must not have them.
pub(crate) fn missing() -> Vec<&'static str> {
    let taken = capabilities_secure_bits()
        .is_ok_and(|bits| !bits.contains(CapabilitiesSecureBits::NO_SETUID_FIXUP));
    let have = if taken { effective() } else { CapabilitySet::empty() };
    let missing = NEEDED.iter().filter(|(needed, _)| !have.contains(*needed));
    missing.map(|(_, name)| *name).collect()
}

/// As whom requests act, and why, for the start-up message.
pub(crate) fn describe() -> String {
    let (missing, user) = (missing(), geteuid().as_raw());
    if missing.is_empty() {
        "requests act as their callers".to_owned()
    } else if missing.len() == NEEDED.len() {
        format!("everything acts as user {user}")
    } else {
        format!("everything acts as user {user}, for want of {}", missing.join(", "))
    }
}

impl Identity {
    /// What this process may do. The kernel gives a thread the capabilities for files with file
    /// system uid 0 and takes them away with any other, so that who has `CAP_SETUID` acts as
    /// callers whether it is root or not.
    pub(crate) fn of_this_process() -> Self {
        if missing().is_empty() { Identity::Caller } else { Identity::Server }
    }

    /// From here on this thread acts as `cred`.
    pub(crate) fn become_caller(self, cred: &Cred) -> Result<()> {
        match self {
            Identity::Caller => {
                ACTING.with_borrow_mut(|acting| acting.switch(cred.uid, cred.gid, &cred.groups))
            }
            Identity::Server => Ok(()),
        }
    }

    /// From here on this thread has the server's rights. Group ids stay as they are: nothing is
    /// created with these rights.
    pub(crate) fn become_server(self) -> Result<()> {
        match self {
            Identity::Caller => ACTING.with_borrow_mut(Acting::privileged),
            Identity::Server => Ok(()),
        }
    }

    /// Whether `cred` passes every permission check.
    pub(crate) fn is_superuser(self, cred: &Cred) -> bool {
        self == Identity::Caller && cred.uid == 0
    }

    /// Whether `cred`, as it will act, owns files of `uid`.
    pub(crate) fn owns(self, cred: &Cred, uid: u32) -> bool {
        match self {
            Identity::Caller => cred.uid == uid,
            Identity::Server => geteuid().as_raw() == uid,
        }
    }
}

/// Gives this thread the server's own identity and rights back, for work of the server outside a
/// file system operation. A thread may be left with the identity of its last caller.
pub fn act_as_server() {
    let (uid, gid) = (geteuid(), getegid().as_raw());
    ACTING.with_borrow_mut(|acting| {
        // A thread that was started by one acting as a caller is known by its id alone.
        let changed = acting.uid.is_some() || sys::fs_uid() != uid.as_raw();
        if changed && acting.switch(uid.as_raw(), gid, &[]).is_err() {
            tracing::error!("cannot go back to the server's own identity");
        }
        if changed && !uid.is_root() {
            acting.uid = None; // the next caller's id takes away again what is raised here
            raise_files();
        }
    });
}

/// A server that is not root has its rights by capabilities alone.
fn raise_files() {
    let Ok(mut sets) = capabilities(None) else { return };
    let raised = sets.effective | (sets.permitted & FILES);
    if sets.effective != raised {
        sets.effective = raised;
        if let Err(errno) = set_capabilities(None, sets) {
            tracing::error!("cannot have the server's own rights back: {errno}");
        }
    }
}

impl Acting {
    fn privileged(&mut self) -> Result<()> {
        if self.uid == Some(0) {
            return Ok(());
        }
        if self.uid.is_none() {
            drop_resource_limits_override();
        }
        self.uid = None;
        if !sys::set_fs_uid(0) {
            tracing::error!("setfsuid(0) was refused: has the server still CAP_SETUID?");
            return Err(Error::Io);
        }
        self.uid = Some(0);
        Ok(())
    }

    fn switch(&mut self, uid: u32, gid: u32, groups: &[u32]) -> Result<()> {
        if self.uid.is_none() {
            self.privileged()?;
        }
        if !self.groups_known || self.groups != groups {
            self.groups_known = false;
            if let Err(errno) = sys::set_groups(groups) {
                tracing::warn!(uid, count = groups.len(), error = %errno, "setgroups was refused");
                return Err(Error::Access);
            }
            self.groups.clear();
            self.groups.extend_from_slice(groups);
            self.groups_known = true;
        }
        if self.gid != Some(gid) {
            self.gid = None;
            if !sys::set_fs_gid(gid) {
                return Err(refused("setfsgid", gid));
            }
            self.gid = Some(gid);
        }
        if self.uid != Some(uid) {
            self.uid = None;
            if !sys::set_fs_uid(uid) {
                return Err(refused("setfsuid", uid));
            }
            self.uid = Some(uid);
        }
        Ok(())
    }
}

/// Some ids do not exist here, such as those outside a container's range.
fn refused(call: &str, id: u32) -> Error {
    tracing::warn!(id, "{call} was refused: the id does not exist here");
    Error::Access
}

/// Blocks and quotas beyond the limit are for local administration: `CAP_SYS_RESOURCE`, unlike the
/// capabilities for files, would stay with a caller's identity.
fn drop_resource_limits_override() {
    let Ok(mut sets) = capabilities(None) else { return };
    if sets.effective.contains(CapabilitySet::SYS_RESOURCE) {
        sets.effective.remove(CapabilitySet::SYS_RESOURCE);
        if let Err(errno) = set_capabilities(None, sets) {
            tracing::warn!(error = %errno, "callers may exceed reserved blocks and quotas");
        }
    }
}
