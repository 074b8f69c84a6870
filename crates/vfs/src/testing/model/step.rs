//! One random operation: how it is chosen and what it answers.

use std::collections::BTreeMap;

use super::choices::{Choices, Plan};
use crate::testing::Client;
use crate::testing::client::mode;
use crate::{
    Acl, Attr, Cred, Features, FileType, Handle, NewNode, Node, Open, Perm, PosixAcl, Result,
    SetAttr, SetTime, SetXattr, Stability, Time,
};

/// Files are named by their place in the list of known ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Attr(usize),
    SetAttr(usize, SetAttr, Guard),
    Lookup(usize, &'static str),
    Parent(usize),
    Access(usize),
    ReadLink(usize),
    Read(usize, u64, u32),
    Write { file: usize, offset: u64, len: usize, fill: u8, stability: Stability },
    Commit(usize, u64, u32),
    Create(usize, &'static str, Open),
    Make { dir: usize, name: &'static str, what: NewNode<'static>, mode: u32 },
    Remove(usize, &'static str),
    RemoveDir(usize, &'static str),
    Rename { from: (usize, &'static str), to: (usize, &'static str) },
    Link { file: usize, dir: usize, name: &'static str },
    List(usize, usize),
    Allocate(usize, u64, u64),
    Deallocate(usize, u64, u64),
    Copy { from: (usize, u64), to: (usize, u64), len: u64 },
    Xattr(usize, &'static str),
    Xattrs(usize),
    SetXattr { file: usize, name: &'static str, len: usize, how: SetXattr },
    RemoveXattr(usize, &'static str),
    Acl(usize),
    SetAcl(usize, ChosenAcl),
}

/// Access control lists, as bits: of access, and of what new files get.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenAcl {
    access: Option<u32>,
    default: Option<u32>,
}

/// A guard of SETATTR.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guard {
    None,
    Right,
    Wrong,
}

/// What an operation answers.
#[derive(Debug)]
pub(super) enum Answer {
    Nothing,
    Node(Node),
    Attr(Attr),
    Number(u64),
    Bytes(Vec<u8>, bool),
    Names(Vec<Vec<u8>>),
    Acl(Acl),
    /// By name, with the file id of each.
    List(BTreeMap<Vec<u8>, u64>),
}

/// Few names, so that they meet.
const NAMES: &[&str] = &["a", "b", "c", "d", "e", "\u{e4}", "long name with spaces"];
const MODES: &[u32] = &[0o777, 0o755, 0o700, 0o644, 0o666, 0o640, 0o000, 0o111, 0o1777, 0o2775];
/// Modes that lock no ordinary user out of his own files.
const OWN_MODES: &[u32] = &[0o777, 0o755, 0o700, 0o744, 0o1777];
const OFFSETS: &[u64] = &[0, 1, 100, 4095, 4096, 10_000, 65_536, 1 << 20, (1 << 32) + 1];
const LENGTHS: &[usize] = &[0, 1, 10, 100, 4096, 5000, 70_000];
const STABILITIES: &[Stability] =
    &[Stability::Unstable, Stability::Unstable, Stability::DataSync, Stability::FileSync];

impl Step {
    /// Chooses an operation; `known` files can be named, and these features used.
    pub(super) fn choose(plan: &mut Plan<'_>, known: usize, features: &Features) -> Self {
        if plan.choices.one_in(5) {
            return Step::choose_beyond(plan, known, features);
        }
        let modes = if plan.identities { MODES } else { OWN_MODES };
        let Plan { choices, identities, devices, verifier, .. } = plan;
        let file = choices.below(known);
        let name = choices.of(NAMES);
        match choices.below(34) {
            0 => Step::Attr(file),
            1..=4 => {
                let guard = choices.of(&[Guard::None, Guard::None, Guard::Right, Guard::Wrong]);
                Step::SetAttr(file, choose_set(choices, modes, *identities), guard)
            }
            5 | 6 => Step::Lookup(file, name),
            7 => Step::Parent(file),
            8 => Step::Access(file),
            9 => Step::ReadLink(file),
            10 | 11 => Step::Read(file, choices.of(OFFSETS), choices.of(LENGTHS) as u32),
            12..=15 => Step::Write {
                file,
                offset: choices.of(OFFSETS),
                len: choices.of(LENGTHS),
                fill: choices.below(256) as u8,
                stability: choices.of(STABILITIES),
            },
            16 => Step::Commit(file, choices.of(OFFSETS), choices.of(LENGTHS) as u32),
            17..=19 => {
                let size = choices.one_in(4).then(|| choices.of(OFFSETS));
                // Whether cutting takes set-id bits from a new file too is left open.
                let bits = if size.is_some() { 0o1777 } else { 0o7777 };
                let set = SetAttr { size, ..mode(choices.of(modes) & bits) };
                *verifier += 1;
                let how = choices.of(&[
                    Open::Unchecked(set),
                    Open::Guarded(set),
                    Open::Exclusive(*verifier),
                ]);
                Step::Create(file, name, how)
            }
            20..=23 => {
                let what = match choices.below(12) {
                    0..=6 => NewNode::Directory,
                    7 | 8 => NewNode::Symlink(choices.of(NAMES).as_bytes()),
                    9 => NewNode::Socket,
                    10 if *devices => NewNode::Character(1, 3),
                    _ => NewNode::Fifo,
                };
                Step::Make { dir: file, name, what, mode: choices.of(modes) & 0o1777 }
            }
            24 | 25 => Step::Remove(file, name),
            26 => Step::RemoveDir(file, name),
            27..=30 => {
                Step::Rename { from: (file, name), to: (choices.below(known), choices.of(NAMES)) }
            }
            31 => Step::Link { file, dir: choices.below(known), name },
            _ => Step::List(file, choices.of(&[1, 2, 5, 100])),
        }
    }

    /// Chooses one that NFSv3 has not.
    fn choose_beyond(plan: &mut Plan<'_>, known: usize, features: &Features) -> Self {
        let one_user = !plan.identities;
        let choices = &mut plan.choices;
        let file = choices.below(known);
        let (offset, len) = (choices.of(OFFSETS), choices.of(LENGTHS) as u64);
        match choices.below(14) {
            0 | 1 => Step::Allocate(file, offset, len),
            2 | 3 => Step::Deallocate(file, offset, len),
            4..=6 => {
                let to = (choices.below(known), choices.of(OFFSETS));
                Step::Copy { from: (file, offset), to, len }
            }
            7 | 8 if features.xattrs => {
                let how = choices.of(&[SetXattr::Either, SetXattr::Create, SetXattr::Replace]);
                let len = choices.of(&[0, 5, 100]);
                Step::SetXattr { file, name: choices.of(NAMES), len, how }
            }
            9 if features.xattrs => Step::Xattr(file, choices.of(NAMES)),
            10 if features.xattrs => Step::RemoveXattr(file, choices.of(NAMES)),
            11 if features.xattrs => Step::Xattrs(file),
            12 if features.acls => {
                // One user alone is not to lock himself out.
                let own = if one_user { 0o700 } else { 0 };
                let mut bits =
                    |odds| choices.one_in(odds).then(|| own | choices.below(1 << 24) as u32);
                let (default, access) = (bits(4), bits(2));
                Step::SetAcl(file, ChosenAcl { access, default })
            }
            _ if features.acls => Step::Acl(file),
            _ => Step::Attr(file),
        }
    }

    /// Does it to one side's file system; `known` are that side's handles.
    pub(super) fn perform(&self, client: &Client<'_>, known: &[Handle]) -> Result<Answer> {
        match *self {
            Step::Attr(of) => client.attr(&known[of]).map(Answer::Attr),
            Step::SetAttr(of, set, guard) => {
                let of = &known[of];
                let guard = match guard {
                    Guard::None => None,
                    Guard::Right => client.attr(of).ok().map(|attr| attr.ctime),
                    Guard::Wrong => Some(Time { secs: 1, nanos: 1 }),
                };
                client.set_guarded(of, &set, guard)?;
                let attr = client.attr(of)?;
                for (set, is) in [(set.atime, attr.atime), (set.mtime, attr.mtime)] {
                    if let SetTime::To(time) = set {
                        assert_eq!(is, time, "a time was set, but not to what was asked");
                    }
                }
                Ok(Answer::Attr(attr))
            }
            Step::Lookup(dir, name) => client.lookup(&known[dir], name).map(Answer::Node),
            Step::Parent(dir) => client.parent(&known[dir]).map(Answer::Node),
            Step::Access(of) => client.access(&known[of]).map(|all| Answer::Number(all.0.into())),
            Step::ReadLink(of) => {
                client.read_link(&known[of]).map(|target| Answer::Bytes(target, true))
            }
            Step::Read(of, offset, count) => {
                client.read(&known[of], offset, count).map(|(data, eof)| Answer::Bytes(data, eof))
            }
            Step::Write { file, offset, len, fill, stability } => {
                let data: Vec<u8> = (0..len).map(|at| (at as u8).wrapping_mul(7) ^ fill).collect();
                let written = client.write_as(&known[file], offset, data, stability)?;
                Ok(Answer::Number(written.count.into()))
            }
            Step::Commit(of, offset, count) => {
                client.commit(&known[of], offset, count).map(|()| Answer::Nothing)
            }
            Step::Create(dir, name, how) => {
                let made = client.open(&known[dir], name, &how)?;
                if matches!(how, Open::Exclusive(_)) {
                    let again = client.open(&known[dir], name, &how)?;
                    assert_eq!(again.handle, made.handle, "a repeated exclusive create");
                    // The mode that it has until now is the file system's own business.
                    client.chmod(&made.handle, 0o640)?;
                    return Ok(Answer::Node(Node { attr: client.attr(&made.handle)?, ..made }));
                }
                Ok(Answer::Node(made))
            }
            Step::Make { dir, name, what, mode } => {
                client.make(&known[dir], name, &what, mode).map(Answer::Node)
            }
            Step::Remove(dir, name) => client.remove(&known[dir], name).map(|()| Answer::Nothing),
            Step::RemoveDir(dir, name) => client.rmdir(&known[dir], name).map(|()| Answer::Nothing),
            Step::Rename { from, to } => client
                .rename((&known[from.0], from.1), (&known[to.0], to.1))
                .map(|()| Answer::Nothing),
            Step::Link { file, dir, name } => {
                client.link(&known[file], &known[dir], name).map(Answer::Attr)
            }
            Step::Allocate(of, offset, len) => {
                client.allocate(&known[of], offset, len).map(|()| Answer::Nothing)
            }
            Step::Deallocate(of, offset, len) => {
                client.deallocate(&known[of], offset, len).map(|()| Answer::Nothing)
            }
            Step::Copy { from, to, len } => {
                let (source, target) = ((&known[from.0], from.1), (&known[to.0], to.1));
                client.copy(source, target, len, Stability::Unstable).map(Answer::Number)
            }
            Step::Xattr(of, name) => {
                client.xattr(&known[of], name).map(|value| Answer::Bytes(value, true))
            }
            Step::Xattrs(of) => client.xattr_names(&known[of], 3).map(Answer::Names),
            Step::SetXattr { file, name, len, how } => client
                .set_xattr(&known[file], name, vec![len as u8; len], how)
                .map(|()| Answer::Nothing),
            Step::RemoveXattr(of, name) => {
                client.remove_xattr(&known[of], name).map(|()| Answer::Nothing)
            }
            Step::Acl(of) => client.acl(&known[of]).map(Answer::Acl),
            Step::SetAcl(of, chosen) => {
                let acl =
                    Acl { access: chosen.access.map(list), default: chosen.default.map(list) };
                client.set_acl(&known[of], &acl)?;
                client.attr(&known[of]).map(Answer::Attr)
            }
            Step::List(dir, most) => {
                let all = client.list_by(&known[dir], most)?;
                let by_name: BTreeMap<_, _> =
                    all.iter().map(|entry| (entry.name.clone(), entry.fileid)).collect();
                assert_eq!(by_name.len(), all.len(), "an entry was listed twice");
                Ok(Answer::List(by_name))
            }
        }
    }

    /// Whether the superuser, or the owner, must do it: Linux may forbid others to link what
    /// they may not write (`fs.protected_hardlinks`), which is no business of a back end.
    pub(super) fn is_for_owners(&self) -> Option<usize> {
        match self {
            Step::Link { file, .. } => Some(*file),
            _ => None,
        }
    }
}

/// A list of these bits: nine for classes, three for a mask, and for two users and two groups.
fn list(bits: u32) -> PosixAcl {
    let perm = |shift: u32| Perm::of_mode(bits >> shift);
    let named = |ids: [u32; 2], shift: u32| {
        let named = [(ids[0], perm(shift)), (ids[1], perm(shift + 3))];
        named.into_iter().filter(|(_, perm)| !perm.is_none()).collect::<Vec<_>>()
    };
    let (users, groups) = (named([1000, 1001], 12), named([1000, 2000], 18));
    let mask = (!users.is_empty() || !groups.is_empty()).then(|| perm(9));
    PosixAcl::new(bits, users, groups, mask).unwrap()
}

fn choose_set(choices: &mut Choices<'_>, modes: &[u32], identities: bool) -> SetAttr {
    let mut set = SetAttr::default();
    match choices.below(8) {
        0 | 1 => set.mode = Some(choices.of(modes)),
        2..=4 => set.size = Some(choices.of(OFFSETS)),
        5 if identities => set.uid = Some(choices.of(&[0, 1000, 1001])),
        6 if identities => set.gid = Some(choices.of(&[0, 1000, 2000])),
        5..=7 => {
            let chosen = time(choices);
            set.atime = choices.of(&[SetTime::Keep, SetTime::Now, chosen]);
            set.mtime = choices.of(&[SetTime::Now, chosen]);
            if set.atime == SetTime::Keep && set.mtime == SetTime::Now {
                // One alone is not what `touch` does, and who may do it is not agreed upon.
                set.atime = SetTime::Now;
            }
        }
        _ => {}
    }
    set
}

fn time(choices: &mut Choices<'_>) -> SetTime {
    SetTime::To(Time { secs: choices.of(&[0, 1_000_000_000, 2_000_000_000]), nanos: 0 })
}

/// Some callers that share groups.
pub(super) fn callers() -> [Cred; 4] {
    let user = |uid, gid, groups: &[u32]| Cred { uid, gid, groups: groups.into() };
    [Cred::root(), Cred::root(), user(1000, 1000, &[]), user(1001, 1000, &[2000])]
}

/// Attributes that two file systems must agree on.
pub(super) fn comparable(attr: &Attr) -> impl PartialEq + std::fmt::Debug {
    let Attr { kind, mode, nlink, uid, gid, size, rdev, .. } = *attr;
    let is_dir = kind == FileType::Directory;
    let mode = if kind == FileType::Symlink { 0 } else { mode };
    (kind, mode, uid, gid, rdev, if is_dir { None } else { Some((size, nlink)) })
}
