//! What can be asked, and answered.

use std::io;
use std::sync::Arc;

use crate::{Directory, Mapping};

/// A question to the name services.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// The number of the user with this name on the wire.
    UserId(Box<str>),
    /// The number of the group with this name on the wire.
    GroupId(Box<str>),
    /// The name on the wire of a user.
    UserName(u32),
    /// The name on the wire of a group.
    GroupName(u32),
    /// The groups of a user.
    Groups(u32),
}

/// What is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Id(u32),
    Name(Arc<str>),
    Groups(Arc<[u32]>),
    /// There is no such user or group.
    Nobody,
}

impl Question {
    /// Asks. It takes its time.
    pub(crate) fn ask(&self, of: &dyn Directory, mapping: &Mapping) -> io::Result<Answer> {
        let answer = match self {
            Question::UserId(name) => {
                let local = mapping.local_user(name);
                local.map(|name| of.user_id(name)).transpose()?.flatten().and_then(id)
            }
            Question::GroupId(name) => {
                let local = mapping.local_group(name);
                local.map(|name| of.group_id(name)).transpose()?.flatten().and_then(id)
            }
            Question::UserName(uid) => {
                let local = of.user_name(*uid)?;
                local.and_then(|name| mapping.wire_user(&name)).map(name)
            }
            Question::GroupName(gid) => {
                let local = of.group_name(*gid)?;
                local.and_then(|name| mapping.wire_group(&name)).map(name)
            }
            Question::Groups(uid) => of.groups(*uid)?.map(|groups| Answer::Groups(groups.into())),
        };
        Ok(answer.unwrap_or(Answer::Nobody))
    }
}

/// The number of nobody at all is no number: the kernel takes it for "leave it as it is".
fn id(id: u32) -> Option<Answer> {
    (id != u32::MAX).then_some(Answer::Id(id))
}

fn name(name: String) -> Answer {
    Answer::Name(name.into())
}
