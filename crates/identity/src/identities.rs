//! The front of the house: names to numbers, numbers to names, users to groups.

use std::fmt;
use std::io;
use std::sync::Arc;

use hayase_vfs::Wait;

use crate::asker::{Asker, Unanswered};
use crate::question::{Answer, Question};
use crate::{Directory, Limits, Mapping};

/// Longer names are nobody's (`LOGIN_NAME_MAX` and a domain).
const NAME_BYTES: usize = 512;

/// Which parts of the house are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Owners and groups of files are told by name; otherwise by number. Both are understood.
    pub send_names: bool,
    /// The groups of a user are those that this host knows, not those that a client states: so
    /// there can be more than the sixteen for which `AUTH_SYS` has room (`--manage-gids` of
    /// rpc.mountd(8)).
    pub manage_gids: bool,
}

/// Why a name has no number, or a user no groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmapped {
    /// There is none of this name here.
    Nobody,
    /// The name service takes long or fails: ask again later.
    Later,
    /// The name service has to be asked, and the thread must not wait.
    WouldBlock,
}

impl From<Unanswered> for Unmapped {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::WouldBlock => Unmapped::WouldBlock,
            Unanswered::Later => Unmapped::Later,
        }
    }
}

/// The name services would have to be asked on a thread that must not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WouldBlock;

/// Users and groups by name and number.
#[derive(Default)]
pub struct Identities {
    settings: Settings,
    /// None knows no name at all.
    asker: Option<Asker>,
}

impl Identities {
    /// Asks a directory, on threads of its own that act as the one that calls this.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn new(
        settings: Settings,
        directory: Box<dyn Directory>,
        mapping: Mapping,
        limits: Limits,
    ) -> io::Result<Self> {
        let asker = Some(Asker::start(directory, mapping, limits)?);
        Ok(Identities { settings, asker })
    }

    /// Whether the groups that a client states count for nothing.
    pub fn manages_gids(&self) -> bool {
        self.settings.manage_gids
    }

    /// The number of a user with this name on the wire.
    pub fn user_id(&self, name: &str, wait: Wait) -> Result<u32, Unmapped> {
        self.id(name, wait, Question::UserId)
    }

    /// The number of a group with this name on the wire.
    pub fn group_id(&self, name: &str, wait: Wait) -> Result<u32, Unmapped> {
        self.id(name, wait, Question::GroupId)
    }

    /// The name on the wire of a user. None if it is told by number: because it has no name,
    /// because that takes long, or because names are not sent.
    pub fn user_name(&self, uid: u32, wait: Wait) -> Result<Option<Arc<str>>, WouldBlock> {
        self.name(&Question::UserName(uid), wait)
    }

    /// The name on the wire of a group, in the same way.
    pub fn group_name(&self, gid: u32, wait: Wait) -> Result<Option<Arc<str>>, WouldBlock> {
        self.name(&Question::GroupName(gid), wait)
    }

    /// The groups of a user. Who is not known here has none.
    pub fn groups(&self, uid: u32, wait: Wait) -> Result<Arc<[u32]>, Unmapped> {
        match self.ask(&Question::Groups(uid), wait)? {
            Answer::Groups(groups) => Ok(groups),
            _ => Ok(Arc::default()),
        }
    }

    /// Forgets what the name services said.
    pub fn forget(&self) {
        if let Some(asker) = &self.asker {
            asker.forget();
        }
    }

    fn id(
        &self,
        name: &str,
        wait: Wait,
        question: fn(Box<str>) -> Question,
    ) -> Result<u32, Unmapped> {
        if name.len() > NAME_BYTES || !name.contains('@') {
            return Err(Unmapped::Nobody);
        }
        match self.ask(&question(name.into()), wait)? {
            Answer::Id(id) => Ok(id),
            _ => Err(Unmapped::Nobody),
        }
    }

    fn name(&self, question: &Question, wait: Wait) -> Result<Option<Arc<str>>, WouldBlock> {
        if !self.settings.send_names {
            return Ok(None);
        }
        match self.ask(question, wait) {
            Ok(Answer::Name(name)) => Ok(Some(name)),
            Ok(_) | Err(Unanswered::Later) => Ok(None),
            Err(Unanswered::WouldBlock) => Err(WouldBlock),
        }
    }

    fn ask(&self, question: &Question, wait: Wait) -> Result<Answer, Unanswered> {
        self.asker.as_ref().map_or(Ok(Answer::Nobody), |asker| asker.ask(question, wait))
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "identities_tests.rs"]
mod tests;
