//! POSIX lists as NFSv4 has them, and back (RFC 8881 §6.2; after draft-ietf-nfsv4-acl-mapping).
//!
//! NFSv4 takes entries in order until every permission is allowed or denied. POSIX takes the one
//! class that a caller belongs to. So each class becomes an entry that allows, and one that denies
//! what a later entry would allow; those for groups stand together, since a caller may be in
//! several. The mask becomes denials before the allowances that it limits; that of the owning
//! group has all of the mask. The list that comes back from what was made here is the one it was
//! made from.
//!
//! Any other NFSv4 list becomes the POSIX list that grants at most as much: where the order of
//! entries says what POSIX cannot, it denies.

use std::collections::BTreeMap;

use super::{Acl, Perm, PosixAcl};
use crate::{Error, Result};

/// What an entry does. Audits and alarms are not for POSIX lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AceKind {
    /// Allows.
    Allow,
    /// Denies.
    Deny,
}

/// Whom an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// `OWNER@`.
    Owner,
    /// `GROUP@`.
    Group,
    /// `EVERYONE@`.
    Everyone,
    /// A user.
    User(u32),
    /// A group.
    NamedGroup(u32),
}

impl Who {
    /// Whether [`flag::IDENTIFIER_GROUP`] is set.
    pub fn is_group(self) -> bool {
        matches!(self, Who::Group | Who::NamedGroup(_))
    }
}

/// An entry (RFC 8881 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ace {
    /// What it does.
    pub kind: AceKind,
    /// Bits of [`flag`]; [`flag::IDENTIFIER_GROUP`] follows from `who`, and is not looked at.
    pub flags: u32,
    /// Bits of [`mask`].
    pub mask: u32,
    /// Whom it is about.
    pub who: Who,
}

/// How an entry is inherited and read (RFC 8881 §6.2.1.4).
pub mod flag {
    /// New files inherit it.
    pub const FILE_INHERIT: u32 = 0x01;
    /// New directories inherit it.
    pub const DIRECTORY_INHERIT: u32 = 0x02;
    /// What inherits it does not pass it on.
    pub const NO_PROPAGATE_INHERIT: u32 = 0x04;
    /// It counts only where it is inherited.
    pub const INHERIT_ONLY: u32 = 0x08;
    /// It is about a group.
    pub const IDENTIFIER_GROUP: u32 = 0x40;
    /// All that there are.
    pub const ALL: u32 = 0xff;
}

/// What an entry is about (RFC 8881 §6.2.1.3).
pub mod mask {
    /// Read data, list a directory.
    pub const READ: u32 = 0x01;
    /// Change data, add files.
    pub const WRITE_DATA: u32 = 0x02;
    /// Append data, add directories.
    pub const APPEND_DATA: u32 = 0x04;
    /// Execute, search.
    pub const EXECUTE: u32 = 0x20;
    /// Remove from a directory.
    pub const DELETE_CHILD: u32 = 0x40;
    /// What everybody has: read attributes and the list, use the file at the server.
    pub const ANYBODY: u32 = 0x12_0080;
    /// What the owner has besides: set times, mode and list.
    pub const OWNER: u32 = 0x04_0100;
}

/// Both, as POSIX knows no difference.
const INHERIT: u32 = flag::FILE_INHERIT | flag::DIRECTORY_INHERIT;

/// What writing is.
fn write_mask(directory: bool) -> u32 {
    let write = mask::WRITE_DATA | mask::APPEND_DATA;
    if directory { write | mask::DELETE_CHILD } else { write }
}

fn mask_of(perm: Perm, directory: bool) -> u32 {
    let bit = |has, bits| if perm.contains(has) { bits } else { 0 };
    bit(Perm::READ, mask::READ)
        | bit(Perm::WRITE, write_mask(directory))
        | bit(Perm::EXECUTE, mask::EXECUTE)
}

/// The permissions whose bits are all there.
fn perm_of(bits: u32, directory: bool) -> Perm {
    let perm = |has, all| if bits & all == all { has } else { Perm::NONE };
    perm(Perm::READ, mask::READ)
        | perm(Perm::WRITE, write_mask(directory))
        | perm(Perm::EXECUTE, mask::EXECUTE)
}

/// The NFSv4 list of a file of this mode.
pub fn to_nfs4(acl: &Acl, mode: u32, directory: bool) -> Vec<Ace> {
    let of_mode;
    let access = if let Some(access) = &acl.access {
        access
    } else {
        of_mode = PosixAcl::of_mode(mode);
        &of_mode
    };
    let mut aces = entries(access, directory, 0);
    if let Some(default) = acl.default.as_ref().filter(|_| directory) {
        aces.extend(entries(default, directory, INHERIT | flag::INHERIT_ONLY));
    }
    aces
}

/// The lists of a file that this NFSv4 list says; the access list is there.
///
/// # Errors
/// [`Error::Invalid`] for inheritance where there is nothing to inherit it, and what is no list at
/// all; [`Error::NotSupported`] for what POSIX cannot say, where granting less would not do.
pub fn from_nfs4(aces: &[Ace], directory: bool) -> Result<Acl> {
    let (mut here, mut below) = (Vec::new(), Vec::new());
    for ace in aces {
        if ace.flags & !flag::ALL != 0 {
            return Err(Error::Invalid);
        }
        let plain = Ace { flags: 0, ..*ace };
        let inherit = ace.flags & INHERIT;
        if inherit == 0 || ace.flags & flag::INHERIT_ONLY == 0 {
            here.push(plain);
        }
        match inherit {
            0 => {}
            _ if !directory => return Err(Error::Invalid),
            // What only files, only directories or only children inherit.
            INHERIT if ace.flags & flag::NO_PROPAGATE_INHERIT == 0 => below.push(plain),
            _ => return Err(Error::NotSupported),
        }
    }
    let default = if below.is_empty() { None } else { Some(list_of(&below, directory)?) };
    Ok(Acl { access: Some(list_of(&here, directory)?), default })
}

fn list_of(aces: &[Ace], directory: bool) -> Result<PosixAcl> {
    if let Some(acl) = recognize(aces, directory) {
        return Ok(acl);
    }
    let mut classes = Classes::default();
    for ace in aces {
        classes.take(ace);
    }
    classes.list(directory)
}

/// The entries of one list.
fn entries(acl: &PosixAcl, directory: bool, flags: u32) -> Vec<Ace> {
    use AceKind::{Allow, Deny};

    let limit = acl.mask().unwrap_or(Perm::ALL);
    let named = || acl.groups().iter().map(|(gid, perm)| (Who::NamedGroup(*gid), *perm));
    // Each with whether it denies only what would be allowed later.
    let mut steps =
        vec![(Allow, Who::Owner, acl.owner(), false), (Deny, Who::Owner, !acl.owner(), true)];
    for (uid, perm) in acl.users() {
        let who = Who::User(*uid);
        steps.extend([
            (Deny, who, *perm & !limit, false),
            (Allow, who, *perm, false),
            (Deny, who, !*perm, true),
        ]);
    }
    steps.push((Deny, Who::Group, !limit, false));
    steps.extend(named().map(|(who, perm)| (Deny, who, perm & !limit, false)));
    steps.push((Allow, Who::Group, acl.group(), false));
    steps.extend(named().map(|(who, perm)| (Allow, who, perm, false)));
    steps.push((Deny, Who::Group, !acl.group(), true));
    steps.extend(named().map(|(who, perm)| (Deny, who, !perm, true)));
    steps.push((Allow, Who::Everyone, acl.other(), false));

    // A mask that limits nothing and nobody is told by a denial of nothing.
    let nobody = acl.users().is_empty() && acl.groups().is_empty();
    let idle_mask = nobody && acl.mask() == Some(Perm::ALL);
    let mut later = Perm::NONE;
    let mut aces = Vec::with_capacity(steps.len());
    for (kind, who, perm, rest) in steps.into_iter().rev() {
        let perm = if rest { perm & later } else { perm };
        if kind == Allow {
            later = later | perm;
        }
        let marks = idle_mask && kind == Deny && who == Who::Group && !rest;
        if kind == Allow || !perm.is_none() || marks {
            let extra = match (kind, who) {
                (Deny, _) => 0,
                (Allow, Who::Owner) => mask::ANYBODY | mask::OWNER,
                (Allow, _) => mask::ANYBODY,
            };
            aces.push(Ace { kind, flags, mask: mask_of(perm, directory) | extra, who });
        }
    }
    aces.reverse();
    aces
}

/// The list that these entries were made from, if they were.
fn recognize(aces: &[Ace], directory: bool) -> Option<PosixAcl> {
    let allowed = |who| {
        let mut found = aces.iter().filter(|ace| ace.kind == AceKind::Allow && ace.who == who);
        found.next().map(|ace| perm_of(ace.mask, directory))
    };
    let (owner, group, other) =
        (allowed(Who::Owner)?, allowed(Who::Group)?, allowed(Who::Everyone)?);
    let (mut users, mut groups) = (Vec::new(), Vec::new());
    for ace in aces.iter().filter(|ace| ace.kind == AceKind::Allow) {
        let perm = perm_of(ace.mask, directory);
        match ace.who {
            Who::User(uid) => users.push((uid, perm)),
            Who::NamedGroup(gid) => groups.push((gid, perm)),
            _ => {}
        }
    }
    let of_group = aces.iter().find(|ace| ace.who == Who::Group)?;
    let mask = match of_group.kind {
        AceKind::Deny => Some(!perm_of(of_group.mask, directory)),
        AceKind::Allow if users.is_empty() && groups.is_empty() => None,
        AceKind::Allow => Some(Perm::ALL),
    };
    let classes = owner.bits() << 6 | group.bits() << 3 | other.bits();
    let acl = PosixAcl::new(classes, users, groups, mask).ok()?;
    (entries(&acl, directory, 0) == aces).then_some(acl)
}

/// What has been decided for some class.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    allowed: u32,
    denied: u32,
}

impl Decided {
    fn decide(&mut self, kind: AceKind, bits: u32) {
        let open = bits & !(self.allowed | self.denied);
        match kind {
            AceKind::Allow => self.allowed |= open,
            AceKind::Deny => self.denied |= open,
        }
    }
}

/// All classes, as far as the entries went.
#[derive(Debug, Default)]
struct Classes {
    owner: Decided,
    users: BTreeMap<u32, Decided>,
    group: Decided,
    groups: BTreeMap<u32, Decided>,
    other: Decided,
    /// Of everybody who has not been named yet.
    unnamed: Decided,
}

impl Classes {
    fn take(&mut self, ace: &Ace) {
        let Ace { kind, mask, who, .. } = *ace;
        let unnamed = self.unnamed;
        match who {
            Who::Owner => self.owner.decide(kind, mask),
            Who::User(uid) => {
                let user = self.users.entry(uid).or_insert(unnamed);
                user.decide(kind, mask);
                // Who owns the file may be the one.
                let denied = user.denied & mask;
                self.owner.decide(AceKind::Deny, denied);
            }
            Who::Group => {
                self.group.decide(kind, mask);
                self.deny_members(self.group.denied & mask);
            }
            Who::NamedGroup(gid) => {
                let group = self.groups.entry(gid).or_insert(unnamed);
                group.decide(kind, mask);
                let denied = group.denied & mask;
                self.deny_members(denied);
            }
            Who::Everyone => {
                self.other.decide(kind, mask);
                self.everybody(|class| class.decide(kind, mask));
            }
        }
    }

    /// Anybody, and members of any other group, may be in a group that is denied something.
    fn deny_members(&mut self, denied: u32) {
        self.everybody(|class| class.decide(AceKind::Deny, denied));
    }

    /// All but others, who are in no class.
    fn everybody(&mut self, mut act: impl FnMut(&mut Decided)) {
        for class in [&mut self.owner, &mut self.group, &mut self.unnamed] {
            act(class);
        }
        self.users.values_mut().chain(self.groups.values_mut()).for_each(act);
    }

    fn list(&self, directory: bool) -> Result<PosixAcl> {
        let perm = |class: &Decided| perm_of(class.allowed, directory);
        let named = |classes: &BTreeMap<u32, Decided>| -> Vec<_> {
            classes.iter().map(|(id, class)| (*id, perm(class))).collect()
        };
        let (users, groups) = (named(&self.users), named(&self.groups));
        let group = perm(&self.group);
        let mask = (users.iter().chain(&groups)).map(|(_, perm)| *perm).reduce(|a, b| a | b);
        let classes = perm(&self.owner).bits() << 6 | group.bits() << 3 | perm(&self.other).bits();
        PosixAcl::new(classes, users, groups, mask.map(|mask| mask | group))
    }
}

#[cfg(test)]
mod tests;
