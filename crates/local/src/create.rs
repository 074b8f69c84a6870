//! Making files, directories and links (RFC 1813 §3.3.8 to §3.3.11, §3.3.15), and SETATTR.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use hayase_vfs::{
    Access, Attr, Cred, Cx, Error, FileType, Handle, Name, NewNode, Node as Found, Open, Result,
    SetAttr, SetTime, Time, Wcc,
};
use rustix::fs::{
    self, AtFlags, CWD, Gid, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid,
};
use rustix::io::Errno;

use crate::Core;
use crate::attr::{ctime, kind};
use crate::errno::{OrError, Sys, error};
use crate::identity::Identity;
use crate::nodes::Node;
use crate::permission::WRITE;
use crate::sys;

const SET_ID: u32 = 0o6000;

/// How often a race with a local program is tried again.
const TRIES: usize = 8;

/// Takes the permission bits of `mode`.
fn mode_bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o7777)
}

/// What an exclusive create leaves in the new file for a retry to find, also after a restart
/// (RFC 1813 §3.3.8): 31 bits of the verifier in the seconds of each time stamp, which every file
/// system keeps, and the two bits left in the nanoseconds.
fn verifier_times(verifier: u64) -> (Time, Time) {
    let time = |half: u32| Time { secs: i64::from(half & 0x7fff_ffff), nanos: half >> 31 };
    (time((verifier >> 32) as u32), time(verifier as u32))
}

/// Whether a file was made by an exclusive create with this verifier, and not used since.
fn is_made_with(stat: &Stat, verifier: u64) -> bool {
    let (atime, mtime) = verifier_times(verifier);
    // Some file systems drop nanoseconds: then the time of creation has none either.
    let whole_seconds = stat.st_ctime_nsec == 0;
    let same = |secs: i64, nanos: u64, time: Time| {
        secs == time.secs && (nanos == u64::from(time.nanos) || whole_seconds)
    };
    stat.st_size == 0
        && same(stat.st_atime, stat.st_atime_nsec, atime)
        && same(stat.st_mtime, stat.st_mtime_nsec, mtime)
}

/// Whether a file can be the one that its caller has just made. One of somebody else's, put in its
/// place meanwhile, is not to be used as if the caller had been let to open it.
fn is_new(stat: &Stat, maker: &Cred) -> bool {
    kind(stat.st_mode) == FileType::Regular
        && (stat.st_uid, stat.st_nlink, stat.st_size) == (maker.uid, 1, 0)
}

impl Core {
    /// A directory whose entries are to be changed.
    pub(crate) fn directory(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Arc<Node>> {
        let node = self.node(cx, dir)?;
        if node.kind == FileType::Directory { Ok(node) } else { Err(Error::NotDirectory) }
    }

    /// Changes a directory as the caller, between its attributes before and after.
    pub(crate) fn change_entries<T>(
        &self,
        cx: &Cx<'_>,
        dir: &Node,
        wcc: &mut Wcc,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.identity.become_caller(cx.cred)?;
        let _order = dir.lock_changes();
        wcc.before = Some(self.attr_before(dir)?);
        let result = change();
        wcc.after = dir.stat().ok().map(|stat| dir.attr_of(&stat));
        result
    }

    /// Attributes of a directory before a change; it must not have been removed.
    pub(crate) fn attr_before(&self, dir: &Node) -> Result<Attr> {
        let stat = dir.stat()?;
        if stat.st_nlink == 0 {
            self.nodes.forget(&dir.handle);
            return Err(Error::Stale);
        }
        Ok(dir.attr_of(&stat))
    }

    pub(crate) fn create(
        &self,
        outer: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        let cx = &self.without_disk(outer);
        self.may_change(cx)?;
        let dir = self.directory(cx, dir)?;
        let (set, times) = match how {
            Open::Unchecked(set) | Open::Guarded(set) => (*set, None),
            Open::Exclusive(verifier) => (SetAttr::default(), Some(verifier_times(*verifier))),
            Open::ExclusiveWith(verifier, set) => {
                (SetAttr { size: None, ..*set }, Some(verifier_times(*verifier)))
            }
        };
        must_make_sense(&set)?;
        // Without a mode nobody but the owner gets at it until the client has set one.
        let mut set = SetAttr { mode: Some(set.mode.unwrap_or(0)), ..set };
        if let Some((atime, mtime)) = times {
            (set.atime, set.mtime) = (SetTime::To(atime), SetTime::To(mtime));
        }
        for _ in 0..TRIES {
            let made = self.change_entries(cx, &dir, wcc, || self.create_new(cx, &dir, name, &set));
            match made {
                Err(Error::Exists) => {}
                Err(error) => return Err(error),
                Ok((node, stat)) => {
                    let all = stat.is_none() && self.sync_attributes(cx, &node)?;
                    if !all {
                        self.sync_entries(cx, &dir)?;
                    }
                    let attr = node.attr_of(&stat.map_or_else(|| node.stat(), Ok)?);
                    return Ok(Found { handle: node.handle, attr });
                }
            }
            let existing = match self.find_entry(cx, &dir, name) {
                // It was removed just now.
                Err(Error::NotFound) => continue,
                other => other?,
            };
            if existing.kind != FileType::Regular {
                return Err(Error::Exists);
            }
            let stat = existing.stat()?;
            match how {
                Open::Guarded(_) => return Err(Error::Exists),
                Open::Exclusive(verifier) | Open::ExclusiveWith(verifier, _) => {
                    if !is_made_with(&stat, *verifier) {
                        return Err(Error::Exists);
                    }
                }
                Open::Unchecked(set) => {
                    if let Some(size) = set.size {
                        // What there is may be much.
                        outer.may_block()?;
                        self.truncate(cx, &existing, &stat, size)?;
                        self.sync_all(cx, &existing)?;
                    }
                }
            }
            return existing.found();
        }
        Err(Error::Delay)
    }

    /// A new file, and its attributes unless some were set after it was made.
    fn create_new(
        &self,
        cx: &Cx<'_>,
        dir: &Arc<Node>,
        name: Name<'_>,
        set: &SetAttr,
    ) -> Result<(Arc<Node>, Option<Stat>)> {
        let mode = mode_bits(set.mode.unwrap_or(0));
        let (path, file) = if self.identity == Identity::Caller && dir.mount.owned_by_maker() {
            (self.make_file(dir, name, mode)?, None)
        } else {
            let (path, file) = self.open_new(dir, name, mode)?;
            (path, Some(file))
        };
        let (node, stat) = self.adopt(cx, dir, name, path)?;
        if let Some(file) = file {
            node.adopt_writer(file, self.uptime_secs());
            self.watch_writer(&node);
        } else if !is_new(&stat, cx.cred) {
            // A local program has put another file in its place.
            return Err(Error::Exists);
        }
        // The mode was given with the create; a set-id bit that the kernel then left out is not
        // the caller's to set.
        let rest = SetAttr { mode: None, ..*set };
        if rest.is_empty() {
            return Ok((node, Some(stat)));
        }
        if let Err(error) = self.apply_to_new(cx, &node, &stat, &rest) {
            // As if it had never been.
            let _ = fs::unlinkat(&dir.path, name.as_bytes(), AtFlags::empty());
            self.nodes.forget(&node.handle);
            return Err(error);
        }
        Ok((node, None))
    }

    /// Makes a file by name and opens it with `O_PATH`: a descriptor with access to its data would be
    /// one more to open and to close. Data is written through one that the server opens.
    fn make_file(&self, dir: &Node, name: Name<'_>, mode: Mode) -> Result<OwnedFd> {
        let regular = fs::FileType::RegularFile;
        fs::mknodat(&dir.path, name.as_bytes(), regular, mode, 0).or_error("create", &dir.path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || fs::openat(&dir.path, name.as_bytes(), flags, Mode::empty());
        match self.with_room(open) {
            // A local program was there already: as if it had been before.
            Err(Errno::NOENT) => Err(Error::Exists),
            opened => opened.or_error("open", &dir.path).inspect_err(|_| {
                // As if it had never been.
                let _ = fs::unlinkat(&dir.path, name.as_bytes(), AtFlags::empty());
            }),
        }
    }

    /// Makes a file by opening it, for where the server might not be let to open it later: a
    /// descriptor with `O_PATH`, and one to write through.
    fn open_new(&self, dir: &Node, name: Name<'_>, mode: Mode) -> Result<(OwnedFd, OwnedFd)> {
        let flags = OFlags::CREATE
            | OFlags::EXCL
            | OFlags::WRONLY
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let open = || fs::openat(&dir.path, name.as_bytes(), flags, mode);
        let file = self.with_room(open).or_error("create", &dir.path)?;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let path = fs::openat(CWD, link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .or_error("open", &file)?;
        Ok((path, file))
    }

    pub(crate) fn make_node(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        self.may_change(cx)?;
        must_make_sense(set)?;
        let dir = self.directory(cx, dir)?;
        let (node, attributes_set) = self.change_entries(cx, &dir, wcc, || {
            make(&dir, name, what, mode_bits(set.mode.unwrap_or(0)))
                .or_error("make a node", &dir.path)?;
            let node = self.find_entry(cx, &dir, name)?;
            // mkdir leaves set-id bits out; a link has no mode.
            // What else it has then may come from an ACL.
            let bits = if *what == NewNode::Directory { set.mode.unwrap_or(0) & SET_ID } else { 0 };
            let mode = if bits == 0 { None } else { Some(bits | node.stat()?.st_mode & 0o7777) };
            let rest = SetAttr { mode, size: None, ..*set };
            if rest.is_empty() {
                return Ok((node, false));
            }
            if let Err(error) = self.apply_to_new(cx, &node, &node.stat()?, &rest) {
                let directory = node.kind == FileType::Directory;
                let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                let _ = fs::unlinkat(&dir.path, name.as_bytes(), flags);
                self.nodes.forget(&node.handle);
                return Err(error);
            }
            Ok((node, true))
        })?;
        let all = attributes_set && self.sync_attributes(cx, &node)?;
        if !all {
            self.sync_entries(cx, &dir)?;
        }
        node.found()
    }

    pub(crate) fn link(
        &self,
        cx: &Cx<'_>,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr> {
        self.may_change(cx)?;
        let (node, _) = self.live(cx, file)?;
        let dir = self.directory(cx, dir)?;
        self.change_entries(cx, &dir, wcc, || {
            if node.kind == FileType::Directory {
                return Err(Error::NotOwner);
            }
            fs::linkat(CWD, node.link(), &dir.path, name.as_bytes(), AtFlags::SYMLINK_FOLLOW)
                .or_error("link", &dir.path)
        })?;
        self.note_name(&node.handle, &dir, name.as_bytes(), cx.wait)?;
        self.sync_entries(cx, &dir)?;
        Ok(node.attr_of(&node.stat()?))
    }

    pub(crate) fn set_attr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        // How long it takes to change a length, depends on the length.
        let cx = &if set.size.is_none() { self.without_disk(cx) } else { *cx };
        self.may_change(cx)?;
        must_make_sense(set)?;
        let (node, _) = self.live(cx, of)?;
        {
            let _order = node.lock_changes();
            let before = node.stat()?;
            wcc.before = Some(node.attr_of(&before));
            let result = if guard.is_some_and(|guard| guard != ctime(&before)) {
                Err(Error::NotSync)
            } else {
                self.apply(cx, &node, &before, set)
            };
            wcc.after = node.stat().ok().map(|stat| node.attr_of(&stat));
            result?;
        }
        if set.size.is_some() {
            self.sync_all(cx, &node)
        } else if set.is_empty() {
            Ok(())
        } else {
            self.sync_attributes(cx, &node).map(drop)
        }
    }

    /// Changes attributes that are not among those of SETATTR, as the caller, between the
    /// attributes before and after.
    pub(crate) fn change_attributes(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        wcc: &mut Wcc,
        change: impl FnOnce(&Node) -> Result<()>,
    ) -> Result<()> {
        self.may_change(cx)?;
        let (node, _) = self.live(cx, of)?;
        self.identity.become_caller(cx.cred)?;
        {
            let _order = node.lock_changes();
            wcc.before = Some(node.attr_of(&node.stat()?));
            let result = change(&node);
            wcc.after = node.stat().ok().map(|stat| node.attr_of(&stat));
            result?;
        }
        self.sync_attributes(cx, &node).map(drop)
    }

    /// Sets attributes of a new file. A caller who may not give it to others still gets it made.
    fn apply_to_new(
        &self,
        cx: &Cx<'_>,
        node: &Arc<Node>,
        stat: &Stat,
        set: &SetAttr,
    ) -> Result<()> {
        let owners = SetAttr { uid: set.uid, gid: set.gid, ..SetAttr::default() };
        match self.apply(cx, node, stat, &owners) {
            Err(Error::NotOwner) => {}
            result => result?,
        }
        self.apply(cx, node, stat, &SetAttr { uid: None, gid: None, ..*set })
    }

    /// Sets attributes as the caller. The length first, since writing takes set-id bits away; the
    /// owner before the mode, for the same reason; the times last.
    fn apply(&self, cx: &Cx<'_>, node: &Arc<Node>, before: &Stat, set: &SetAttr) -> Result<()> {
        if let Some(size) = set.size {
            self.truncate(cx, node, before, size)?;
        }
        self.identity.become_caller(cx.cred)?;
        if set.uid.is_some() || set.gid.is_some() {
            let (uid, gid) = (set.uid.map(Uid::from_raw), set.gid.map(Gid::from_raw));
            let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
            fs::chownat(&node.path, c"", uid, gid, flags).or_error("chown", &node.path)?;
        }
        if let Some(mode) = set.mode {
            set_mode(node, mode)?;
        }
        self.set_times(cx, node, set)
    }

    fn set_times(&self, cx: &Cx<'_>, node: &Node, set: &SetAttr) -> Result<()> {
        if (set.atime, set.mtime) == (SetTime::Keep, SetTime::Keep) {
            return Ok(());
        }
        let spec = |time: SetTime| match time {
            SetTime::Keep => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            SetTime::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
            SetTime::To(time) => Timespec { tv_sec: time.secs, tv_nsec: time.nanos.into() },
        };
        let times = Timestamps { last_access: spec(set.atime), last_modification: spec(set.mtime) };
        let set_them = || fs::utimensat(&node.path, c"", &times, AtFlags::EMPTY_PATH);
        let mut result = set_them();
        let ours = [set.atime, set.mtime].iter().all(|time| !matches!(time, SetTime::To(_)));
        if ours && matches!(result, Err(Errno::PERM | Errno::ACCESS)) {
            // The server's time needs write permission only, which the system call grants for
            // both times together but not for one.
            let stat = node.stat()?;
            let opened = cx.opened.intersects(Access::MODIFY);
            if opened || self.rights(cx, node, &stat, WRITE)? != 0 {
                self.identity.become_server()?;
                result = set_them();
            }
        }
        result.or_error("set times", &node.path)
    }

    /// The node of a file that was just opened under `name` in `dir`.
    pub(crate) fn adopt(
        &self,
        cx: &Cx<'_>,
        dir: &Arc<Node>,
        name: Name<'_>,
        path: OwnedFd,
    ) -> Result<(Arc<Node>, Stat)> {
        let stat = fs::fstat(&path).or_error("stat", &path)?;
        let (handle, mount) = self.identify(dir, &path, stat.st_mode)?;
        self.note_name(&handle, dir, name.as_bytes(), cx.wait)?;
        let node = match self.nodes.get(&handle) {
            Some(node) => node,
            None => self.keep(cx, Node::new(handle, mount, stat.st_mode, path, &self.nodes)),
        };
        Ok((node, stat))
    }
}

fn make(dir: &Node, name: Name<'_>, what: &NewNode<'_>, mode: Mode) -> Sys<()> {
    let special = |file_type: fs::FileType, dev: u64| {
        fs::mknodat(&dir.path, name.as_bytes(), file_type, mode, dev)
    };
    match *what {
        NewNode::Directory => fs::mkdirat(&dir.path, name.as_bytes(), mode),
        NewNode::Symlink(target) => fs::symlinkat(target, &dir.path, name.as_bytes()),
        NewNode::Fifo => special(fs::FileType::Fifo, 0),
        NewNode::Socket => special(fs::FileType::Socket, 0),
        NewNode::Character(major, minor) => {
            special(fs::FileType::CharacterDevice, fs::makedev(major, minor))
        }
        NewNode::Block(major, minor) => {
            special(fs::FileType::BlockDevice, fs::makedev(major, minor))
        }
    }
}

/// Refuses values that no file can have, before anything is done.
fn must_make_sense(set: &SetAttr) -> Result<()> {
    let time = |time| matches!(time, SetTime::To(Time { nanos: 1_000_000_000.., .. }));
    // The id -1 means "as it is" to the kernel.
    if set.uid == Some(u32::MAX) || set.gid == Some(u32::MAX) || time(set.atime) || time(set.mtime)
    {
        return Err(Error::Invalid);
    }
    if set.size.is_some_and(|size| size > i64::MAX as u64) { Err(Error::TooBig) } else { Ok(()) }
}

fn set_mode(node: &Node, mode: u32) -> Result<()> {
    if node.kind == FileType::Symlink {
        return Err(Error::Invalid);
    }
    let result = match sys::chmod(&node.path, mode & 0o7777) {
        Err(Errno::NOSYS) => fs::chmod(node.link(), mode_bits(mode)),
        other => other,
    };
    result.map_err(|errno| error(errno, "chmod", &node.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_fits_into_time_stamps() {
        let (atime, mtime) = verifier_times(0xffff_ffff_8000_0001);
        assert_eq!(atime, Time { secs: 0x7fff_ffff, nanos: 1 });
        assert_eq!(mtime, Time { secs: 1, nanos: 1 });
        assert_eq!(verifier_times(5), (Time { secs: 0, nanos: 0 }, Time { secs: 5, nanos: 0 }));
    }

    #[test]
    fn kinds_are_recognized() {
        assert_eq!(kind(0o100_644), FileType::Regular);
        assert_eq!(kind(0o140_000), FileType::Socket);
    }
}
