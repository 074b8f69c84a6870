//! Finding files that the index knows, and those that it does not know any more.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hayase_vfs::{Error, Handle, Name as EntryName, Result, Wait};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir, Statx};

use crate::Core;
use crate::errno::OrError;
use crate::handle::{Key, Name};
use crate::lookup::{KEY_FIELDS, key};
use crate::mounts::{Mount, magic};
use crate::nodes::Node;

/// Directories from the root to a file, at most.
const DEPTH: usize = 512;

/// A walk through the tree ends after this long or this many entries.
const WALK_TIME: Duration = Duration::from_secs(20);
const WALK_ENTRIES: usize = 5_000_000;

/// What was not found is not searched again for this long; so many of these are remembered.
const MISSING_TIME: Duration = Duration::from_secs(30);
const MISSING: usize = 4096;

/// Searches, one at a time: each may read the whole tree.
#[derive(Debug, Default)]
pub(crate) struct Searches(Mutex<HashMap<Key, Instant>>);

/// The key of a handle, if the index is responsible for it.
fn indexed(handle: &Handle) -> Option<Key> {
    match Name::parse(handle) {
        Some(Name::Index(key)) => Some(key),
        _ => None,
    }
}

fn key_of(mount: &Mount, file: &OwnedFd) -> Result<Key> {
    let stat = fs::statx(file, c"", AtFlags::EMPTY_PATH, KEY_FIELDS).or_error("statx", file)?;
    Ok(key(mount.tag, &stat))
}

impl Core {
    /// Notes that the file of `handle` has this name in `dir`.
    pub(crate) fn note_name(
        &self,
        handle: &Handle,
        dir: &Node,
        name: &[u8],
        wait: Wait,
    ) -> Result<()> {
        if dir.mount.by_kernel {
            return Ok(());
        }
        match (indexed(handle), indexed(&dir.handle)) {
            // The root of a mount is found without.
            (Some(key), Some(dir)) if dir.tag == key.tag => {
                self.index.put(key, dir, name, wait).map_err(|_| Error::WouldBlock)
            }
            _ => Ok(()),
        }
    }

    /// Notes that what has this name in `dir` has got it just now.
    pub(crate) fn note_rename(&self, dir: &Node, name: EntryName<'_>) {
        if dir.mount.by_kernel {
            return;
        }
        if let Some(handle) = self.handle_of_entry(dir, name) {
            // A worker's thread: it waits if need be.
            let _ = self.note_name(&handle, dir, name.as_bytes(), Wait::Allowed);
        }
    }

    /// Notes that a file is gone.
    pub(crate) fn note_gone(&self, handle: &Handle) {
        if let Some(key) = indexed(handle) {
            self.index.remove(key);
        }
    }

    /// Opens the file of a key, with `O_PATH`.
    pub(crate) fn find_indexed(&self, wanted: Key) -> Result<(OwnedFd, Arc<Mount>)> {
        self.identity.become_server()?;
        let mount = self.mounts.by_tag(wanted.tag).ok_or(Error::Stale)?;
        if mount.by_kernel {
            return Err(Error::Stale);
        }
        if let Some(file) = self.follow(&mount, wanted, 0)? {
            return Ok((file, mount));
        }
        if let Some(file) = self.search(&mount, wanted)? {
            return Ok((file, mount));
        }
        self.index.remove(wanted);
        Err(Error::Stale)
    }

    /// Goes the way that the index tells.
    fn follow(&self, mount: &Mount, wanted: Key, depth: usize) -> Result<Option<OwnedFd>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if wanted == mount.root_key {
            let root = || fs::openat(&mount.dir, c".", flags, Mode::empty());
            return self.with_room(root).or_error("open", &mount.dir).map(Some);
        }
        let Some(place) = self.index.find(wanted).filter(|_| depth < DEPTH) else {
            return Ok(None);
        };
        let in_use = Name::Index(place.dir).handle().and_then(|handle| self.nodes.get(&handle));
        let opened;
        let dir = match &in_use {
            Some(dir) => &dir.path,
            None => match self.follow(mount, place.dir, depth + 1)? {
                Some(dir) => {
                    opened = dir;
                    &opened
                }
                None => return Ok(None),
            },
        };
        let file = self.with_room(|| fs::openat(dir, &*place.name, flags, Mode::empty()));
        if let Ok(file) = file
            && key_of(mount, &file)? == wanted
        {
            return Ok(Some(file));
        }
        // Renamed in its directory, most likely.
        let Some(name) = entries_of(dir, mount, wanted).found else { return Ok(None) };
        self.learn(wanted, place.dir, &name);
        Ok(fs::openat(dir, &*name, flags, Mode::empty()).ok())
    }

    /// Looks through the whole tree.
    fn search(&self, mount: &Mount, wanted: Key) -> Result<Option<OwnedFd>> {
        let mut missing = self.searches.0.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.get(&wanted).is_some_and(|since| since.elapsed() < MISSING_TIME) {
            return Ok(None);
        }
        // Somebody else's search may just have found it.
        if let Some(file) = self.follow(mount, wanted, 0)? {
            return Ok(Some(file));
        }
        tracing::debug!(ino = wanted.ino, "searching for a file that the index does not know");
        if self.walk(mount, wanted)? {
            return self.follow(mount, wanted, 0);
        }
        if missing.len() >= MISSING {
            missing.retain(|_, since| since.elapsed() < MISSING_TIME);
            if missing.len() >= MISSING {
                missing.clear();
            }
        }
        missing.insert(wanted, Instant::now());
        Ok(None)
    }

    fn learn(&self, key: Key, dir: Key, name: &[u8]) {
        // A search waits for the disk anyway.
        let _ = self.index.put(key, dir, name, Wait::Allowed);
    }

    /// Walks the tree until the file is found, and puts the way to it into the index.
    fn walk(&self, mount: &Mount, wanted: Key) -> Result<bool> {
        let begun = Instant::now();
        let mut seen = 0;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = fs::openat(&mount.dir, c".", flags, Mode::empty());
        let root = root.or_error("open", &mount.dir)?;
        let entries = entries_of(&root, mount, wanted);
        // Each level: its directory, its key, its name, and the subdirectories still to be seen.
        let mut levels = vec![(root, mount.root_key, Box::from(&b""[..]), entries)];
        while let Some((dir, dir_key, _, entries)) = levels.last_mut() {
            if let Some(name) = entries.found.take() {
                self.learn(wanted, *dir_key, &name);
                for pair in levels.windows(2) {
                    self.learn(pair[1].1, pair[0].1, &pair[1].2);
                }
                return Ok(true);
            }
            seen += std::mem::take(&mut entries.count);
            if begun.elapsed() > WALK_TIME || seen > WALK_ENTRIES {
                tracing::warn!(
                    entries = seen,
                    "gave up searching for a file that the index does not know: the tree is too large"
                );
                return Ok(false);
            }
            let Some(name) = entries.directories.pop() else {
                levels.pop();
                continue;
            };
            let Ok(below) = fs::openat(&*dir, &*name, flags, Mode::empty()) else { continue };
            let stat = fs::statx(&below, c"", AtFlags::EMPTY_PATH, KEY_FIELDS);
            let Ok(stat) = stat else { continue };
            if stat.stx_mnt_id == mount.id && levels.len() < DEPTH {
                let entries = entries_of(&below, mount, wanted);
                levels.push((below, key(mount.tag, &stat), name, entries));
            }
        }
        Ok(false)
    }
}

/// A directory's entries, as far as a search needs them.
#[derive(Debug, Default)]
struct Entries {
    found: Option<Box<[u8]>>,
    directories: Vec<Box<[u8]>>,
    count: usize,
}

/// Reads a directory; stops at the entry of the wanted file. What cannot be read is empty.
fn entries_of(dir: &OwnedFd, mount: &Mount, wanted: Key) -> Entries {
    let mut entries = Entries::default();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(file) = fs::openat(dir, c".", flags, Mode::empty()) else { return entries };
    let mut buffer = Vec::with_capacity(64 << 10);
    let mut list = RawDir::new(&file, buffer.spare_capacity_mut());
    // Layered file systems list other inode numbers than they stat.
    let trust_numbers = mount.magic != magic::OVERLAY;
    while let Some(Ok(entry)) = list.next() {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        entries.count += 1;
        let stat = || -> Option<Statx> {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            let stat = fs::statx(&file, name, flags, KEY_FIELDS | fs::StatxFlags::TYPE).ok()?;
            (stat.stx_mnt_id == mount.id).then_some(stat)
        };
        let likely = wanted.ino == entry.ino() || !trust_numbers;
        if likely && stat().is_some_and(|stat| key(mount.tag, &stat) == wanted) {
            entries.found = Some(name.to_bytes().into());
            return entries;
        }
        let directory = match entry.file_type() {
            FileType::Unknown => stat().is_some_and(|stat| {
                FileType::from_raw_mode(stat.stx_mode.into()) == FileType::Directory
            }),
            kind => kind == FileType::Directory,
        };
        if directory {
            entries.directories.push(name.to_bytes().into());
        }
    }
    entries
}
