//! What clients hold, for people to look at, and to take away.

use hayase_state::{
    ClientId, ClientInfo, DelegationInfo, FileCounts, FileKey, HostInfo, LockInfo, OpenInfo,
    Release, SessionInfo, ShareInfo,
};
use hayase_vfs::{Access, Cred, Cx, Durability, Wait};

use crate::{ExportId, Limits, NfsService};

/// How much is held for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Clients of NFSv4.
    pub clients: usize,
    /// Their sessions.
    pub sessions: usize,
    /// Opens, locks and delegations of all of them.
    pub files: FileCounts,
    /// Bytes of replies kept in sessions.
    pub session_reply_bytes: usize,
    /// Copies that go on after COPY was answered, or whose end a client was not told.
    pub copies: usize,
    /// Hosts of NFSv3 that hold locks, or did a moment ago.
    pub hosts: usize,
    /// Locks that hosts of NFSv3 wait for, or have to be told that they have.
    pub lock_waits: usize,
}

impl NfsService {
    /// Every client of NFSv4.
    pub fn clients(&self) -> Vec<ClientInfo> {
        let v4 = self.v4();
        v4.state.clients(v4.now())
    }

    /// Every session.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.v4().state.sessions()
    }

    /// Every open of NFSv4, of one client or of all.
    pub fn opens(&self, client: Option<ClientId>) -> Vec<OpenInfo> {
        self.v4().state.opens(client)
    }

    /// Every delegation.
    pub fn delegations(&self) -> Vec<DelegationInfo> {
        self.v4().state.delegations()
    }

    /// Every file that a host of NFSv3 has open with a deny mode.
    pub fn shares(&self) -> Vec<ShareInfo> {
        self.v4().state.nlm_shares()
    }

    /// Every locked range.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.v4().state.locks()
    }

    /// Every host of NFSv3 that holds locks, or did a moment ago.
    pub fn hosts(&self) -> Vec<HostInfo> {
        let v4 = self.v4();
        v4.state.hosts(v4.now())
    }

    /// Takes locks and shares from hosts of NFSv3, also those they wait for; from how many owners.
    pub fn unlock(&self, what: &Release<'_>) -> usize {
        self.v4().nlm_release(what)
    }

    /// Takes everything from a client, which has to begin anew; whether there was one.
    pub fn evict(&self, client: ClientId) -> bool {
        let v4 = self.v4();
        let mut effects = Vec::new();
        let there = v4.state.evict(v4.now(), client, &mut effects);
        // What failed has been logged, and is tried again.
        let _ = v4.perform(effects);
        there
    }

    /// The bounds of the protocol.
    pub fn limits(&self) -> &Limits {
        &self.server.limits
    }

    /// The bounds of the state of NFSv4.
    pub fn state_limits(&self) -> &hayase_state::Limits {
        &self.v4().state.config().limits
    }

    /// How much is held.
    pub fn usage(&self) -> Usage {
        let state = &self.v4().state;
        Usage {
            clients: self.clients().len(),
            sessions: state.sessions().len(),
            files: state.file_counts(),
            session_reply_bytes: state.reply_cache_bytes(),
            copies: state.copy_count(),
            hosts: self.hosts().len(),
            lock_waits: self.v4().nlm.len(),
        }
    }

    /// Where a file is now, as far as that can be told, for a person to read. Waits for the disk.
    pub fn path_of(&self, file: &FileKey) -> String {
        let exports = self.exports();
        let Some(export) = exports.by_id(ExportId(file.export)) else {
            return format!("(no export {:08x})", file.export);
        };
        let root = String::from_utf8_lossy(&export.path).into_owned();
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Async,
            opened: Access::NONE,
        };
        if let Ok(path) = export.vfs.path(&cx, &file.handle) {
            return String::from_utf8_lossy(&path).into_owned();
        }
        match export.vfs.attr(&cx, &file.handle) {
            Ok(attr) => format!("{root}: file {}", attr.fileid),
            Err(_) => format!("{root}: a file that is gone"),
        }
    }
}
