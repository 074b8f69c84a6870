//! WRITE and COMMIT (RFC 1813 §3.3.7, §3.3.21), and what makes changes durable.
//!
//! Errors of writing back are reported once, by a sync, to the descriptors that
//! were open when they happened. So data is synced through the descriptor it was
//! written through, and a failure, wherever it is found, changes the write
//! verifier: every client then sends again what it has not committed.

use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hayase_buf::ALIGNMENT;
use hayase_vfs::{Cx, Durability, Error, FileType, Handle, Result, Stability, Wcc, Written};
use rustix::fs::{Stat, fdatasync, fstat, fsync, ftruncate, syncfs};
use rustix::io::{Errno, ReadWriteFlags, pwrite, pwritev2};

use crate::Core;
use crate::errno::{OrError, Sys, error, path_of};
use crate::group_sync::Extent;
use crate::nodes::Node;
use crate::stream::{LARGE_BYTES, Transfer, Way};

/// Who wants a sync and so learns of its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// A client, in this operation.
    ByClient,
    /// We do, to close a descriptor: the writer is told later.
    ByUs,
}

impl Core {
    pub(crate) fn write(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Written> {
        self.may_change(cx)?;
        let (node, before) = self.live(cx, of)?;
        must_be_regular(&node)?;
        wcc.before = Some(node.attr_of(&before));
        wcc.after = wcc.before;
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > i64::MAX as u64) {
            return Err(Error::TooBig);
        }
        self.may_write(cx, &node, &before)?;
        let file = self.writer(&node)?;
        // As the caller, so that the kernel takes set-id bits away and counts quotas.
        self.identity.become_caller(cx.cred)?;
        let extent = match (stability, cx.durability) {
            (Stability::Unstable, _) | (_, Durability::Async) => None,
            (Stability::DataSync, Durability::Sync) => Some(Extent::Data),
            (Stability::FileSync, Durability::Sync) => Some(Extent::All),
        };
        let (count, failure) = match extent {
            Some(extent) if !node.mount.in_memory() => {
                self.write_stable(&node, &file, data, offset, extent)?
            }
            _ => {
                let size = (before.st_size as u64).max(offset + data.len() as u64);
                let past = self.write_past_the_cache(cx, &node, data, offset, size)?;
                let written =
                    past.unwrap_or_else(|| write_all(&file, data, offset, ReadWriteFlags::empty()));
                node.wrote();
                written
            }
        };
        if failure == Some(Errno::IO) {
            self.sync_failed(&node, Errno::IO);
        }
        let after = fstat(&file).or_error("stat", &file)?;
        wcc.after = Some(node.attr_of(&after));
        node.decisions.carry(&before, &after);
        match failure {
            Some(Errno::IO) => Err(Error::Io),
            // What was written counts; the client sends the rest and meets the error then.
            Some(errno) if count == 0 => Err(error(errno, "write", &file)),
            _ => Ok(Written { count: count as u32, stability }),
        }
    }

    /// Writes past the page cache if that pays; `None` if nothing was written.
    fn write_past_the_cache(
        &self,
        cx: &Cx<'_>,
        node: &Arc<Node>,
        data: &[u8],
        offset: u64,
        size: u64,
    ) -> Result<Option<(usize, Option<Errno>)>> {
        if data.len() < LARGE_BYTES || data.as_ptr().align_offset(ALIGNMENT) != 0 {
            return Ok(None);
        }
        let transfer = Transfer::begin(node.stream(), Way::Write);
        let direct = self.past_the_cache(node, &transfer, offset, data.len(), size);
        // It is opened as the server, if it was not open.
        self.identity.become_caller(cx.cred)?;
        let Some(direct) = direct else { return Ok(None) };
        let write = || write_all(&direct, data, offset, ReadWriteFlags::empty());
        Ok(match node.mount.wait_for(write) {
            (0, Some(Errno::INVAL | Errno::OPNOTSUPP)) => {
                node.stream().refuse_direct();
                None
            }
            written => Some(written),
        })
    }

    /// Writes what has to be on the disk before the answer. Whoever is alone writes and syncs only
    /// this; who comes while others do the same shares one sync with them.
    fn write_stable(
        &self,
        node: &Arc<Node>,
        file: &Arc<OwnedFd>,
        data: &[u8],
        offset: u64,
        extent: Extent,
    ) -> Result<(usize, Option<Errno>)> {
        let _under_way = UnderWay::begin(&node.sync_writers);
        if node.sync_writers.load(Ordering::Relaxed) == 1 {
            let sync = match extent {
                Extent::Data => ReadWriteFlags::DSYNC,
                Extent::All => ReadWriteFlags::SYNC,
            };
            let in_flight = node.sync_writes.read();
            let (count, failure) = node.mount.wait_for(|| write_all(file, data, offset, sync));
            if failure == Some(Errno::IO) {
                self.sync_failed(node, Errno::IO);
            }
            drop(in_flight);
            if failure.is_some() {
                node.wrote();
            }
            return Ok((count, failure));
        }
        let (count, failure) = write_all(file, data, offset, ReadWriteFlags::empty());
        node.wrote();
        if count > 0 {
            self.sync_file(node, extent, Asked::ByClient)?;
        }
        Ok((count, failure))
    }

    pub(crate) fn commit(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        _offset: u64,
        _count: u32,
        wcc: &mut Wcc,
    ) -> Result<()> {
        cx.may_block()?;
        let (node, before) = self.live(cx, of)?;
        must_be_regular(&node)?;
        wcc.before = Some(node.attr_of(&before));
        // Even of a clean file a sync has the disk empty its cache.
        if cx.durability == Durability::Sync && !node.is_clean() {
            self.sync_data(&node)?;
        }
        wcc.after = node.stat().ok().map(|stat| node.attr_of(&stat));
        if self.failed.take(&node.handle) {
            return Err(Error::Io);
        }
        Ok(())
    }

    /// Brings a regular file's data to the disk, also data from before a restart of ours.
    pub(crate) fn sync_data(&self, node: &Arc<Node>) -> Result<()> {
        self.sync_file(node, Extent::Data, Asked::ByClient)?;
        // A write that syncs may just have been given the error that was meant for us: when it is
        // through, the verifier tells.
        drop(node.sync_writes.write());
        Ok(())
    }

    /// Brings the length and other attributes of a file, and its data, to the disk.
    pub(crate) fn sync_all(&self, cx: &Cx<'_>, node: &Arc<Node>) -> Result<()> {
        if cx.durability == Durability::Async || node.mount.in_memory() {
            return Ok(());
        }
        self.sync_file(node, Extent::All, Asked::ByClient)
    }

    /// Brings changed attributes of a file of any kind to the disk. With a journal also what was
    /// changed before, such as the entry of a new file; answers whether that is so.
    pub(crate) fn sync_attributes(&self, cx: &Cx<'_>, node: &Arc<Node>) -> Result<bool> {
        if cx.durability == Durability::Async || node.mount.in_memory() {
            return Ok(true);
        }
        self.identity.become_server()?;
        if let Some(journal) = node.mount.journal() {
            let sync = |_| {
                let result = self.faults.sync().and_then(|()| journal.sync());
                result.inspect_err(|errno| self.sync_failed(node, *errno))
            };
            let synced = node.mount.wait_for(|| journal.group.run(Extent::All, sync));
            return synced.map(|()| true).map_err(word);
        }
        if matches!(node.kind, FileType::Regular | FileType::Directory) {
            self.sync_file(node, Extent::All, Asked::ByClient)?;
            return Ok(false);
        }
        // There is no descriptor to sync these through.
        self.run_sync(node, Extent::All, Asked::ByClient, |_| syncfs(&node.mount.dir))?;
        Ok(true)
    }

    /// Brings changed entries of a directory to the disk.
    pub(crate) fn sync_entries(&self, cx: &Cx<'_>, dir: &Arc<Node>) -> Result<()> {
        self.sync_all(cx, dir)
    }

    /// Syncs a file for the server's own sake, before its descriptor is closed. A failure is told
    /// at the file's next COMMIT.
    pub(crate) fn flush(&self, node: &Arc<Node>) {
        if node.open_writer().is_some() {
            // The failure is in the log, and kept for the writer.
            let _ = self.sync_file(node, Extent::Data, Asked::ByUs);
        }
    }

    fn sync_file(&self, node: &Arc<Node>, extent: Extent, asked: Asked) -> Result<()> {
        let file = self.file_to_sync(node)?;
        self.run_sync(node, extent, asked, |extent| match extent {
            Extent::Data => fdatasync(&file),
            Extent::All => fsync(&file),
        })
    }

    /// Runs a sync. A failure has all its consequences before another sync of the file can begin:
    /// that one would succeed, although data is lost.
    fn run_sync(
        &self,
        node: &Node,
        extent: Extent,
        asked: Asked,
        sync: impl FnOnce(Extent) -> Sys<()>,
    ) -> Result<()> {
        let sync = |extent| match self.faults.sync().and_then(|()| sync(extent)) {
            // Odd file systems have nothing to sync, and say so.
            Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::ROFS) => Ok(()),
            Err(errno) => {
                self.sync_failed(node, errno);
                if asked == Asked::ByUs {
                    self.failed.put(node.handle);
                }
                Err(errno)
            }
        };
        node.mount.wait_for(|| node.run_sync(extent, sync)).map_err(word)
    }

    fn file_to_sync(&self, node: &Arc<Node>) -> Result<Arc<OwnedFd>> {
        match node.open_writer() {
            Some(file) => Ok(file),
            // As an ordinary user we may be able to write a file that we cannot read.
            None => match self.reader(node) {
                Err(Error::Access) if node.kind == FileType::Regular => self.writer(node),
                reader => reader.map(Arc::clone),
            },
        }
    }

    /// Data may be lost: clients shall send again what they have not committed.
    fn sync_failed(&self, node: &Node, errno: Errno) {
        let path = path_of(node.path.as_fd());
        tracing::error!(
            path = %path.display(),
            error = %errno,
            "data could not be written to the disk; clients are asked to send it again"
        );
        self.renew_verifier();
    }

    /// Makes clients send unstable data again.
    fn renew_verifier(&self) {
        self.verifier.store(crate::fresh_number(), Ordering::Release);
    }

    /// Changes the length of a regular file.
    pub(crate) fn truncate(
        &self,
        cx: &Cx<'_>,
        node: &Arc<Node>,
        stat: &Stat,
        size: u64,
    ) -> Result<()> {
        must_be_regular(node)?;
        self.may_write(cx, node, stat)?;
        let file = self.writer(node)?;
        self.identity.become_caller(cx.cred)?;
        ftruncate(&file, size).or_error("truncate", &file)
    }

    pub(crate) fn sync(&self) -> Result<()> {
        let mut result = Ok(());
        self.nodes.for_each_shard(|nodes| {
            for node in nodes.iter().filter(|node| node.is_dirty()) {
                self.flush(node);
                if self.failed.contains(&node.handle) {
                    result = Err(Error::Io);
                }
            }
        });
        for mount in self.mounts.all() {
            if let Err(errno) = self.faults.sync().and_then(|()| syncfs(&mount.dir)) {
                tracing::error!(error = %errno, "a file system could not be written to the disk");
                self.renew_verifier();
                result = Err(Error::Io);
            }
        }
        result
    }
}

/// Counts who is at something.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        UnderWay(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a failed sync is to the client.
fn word(errno: Errno) -> Error {
    match errno {
        Errno::NOSPC => Error::NoSpace,
        Errno::DQUOT => Error::Quota,
        _ => Error::Io,
    }
}

/// Counts what was written before a failure.
pub(crate) fn write_all(
    file: &OwnedFd,
    data: &[u8],
    offset: u64,
    sync: ReadWriteFlags,
) -> (usize, Option<Errno>) {
    let mut written = 0;
    let mut by_flag = !sync.is_empty();
    let mut failure = None;
    while written < data.len() {
        let rest = &data[written..];
        let at = offset + written as u64;
        let result = if by_flag {
            pwritev2(file, &[IoSlice::new(rest)], at, sync)
        } else {
            pwrite(file, rest, at)
        };
        match result {
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP) if by_flag => by_flag = false,
            Err(errno) => {
                failure = Some(errno);
                break;
            }
        }
    }
    if sync.is_empty() || by_flag || written == 0 {
        return (written, failure);
    }
    let synced = if sync == ReadWriteFlags::SYNC { fsync(file) } else { fdatasync(file) };
    // Whatever a sync fails with, the data is in doubt.
    (written, synced.err().map(|_| Errno::IO).or(failure))
}

pub(crate) fn must_be_regular(node: &Node) -> Result<()> {
    match node.kind {
        FileType::Regular => Ok(()),
        FileType::Directory => Err(Error::IsDirectory),
        _ => Err(Error::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use hayase_vfs::{Access, Cred, Name, Open, SetAttr, Vfs, Wait};

    use super::*;
    use crate::{LocalFs, Options};

    struct Scene {
        fs: LocalFs,
        cred: Cred,
        _dir: tempfile::TempDir,
    }

    impl Scene {
        fn new(max_open_files: Option<usize>) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let options = Options { max_open_files, ..Options::default() };
            let fs = LocalFs::open(dir.path(), options).unwrap();
            let uid = rustix::process::geteuid().as_raw();
            let gid = rustix::process::getegid().as_raw();
            let cred = Cred { uid, gid, ..Cred::root() };
            Scene { fs, cred, _dir: dir }
        }

        fn cx(&self) -> Cx<'_> {
            Cx {
                cred: &self.cred,
                wait: Wait::Allowed,
                durability: Durability::Sync,
                opened: Access::NONE,
            }
        }

        fn file(&self, name: &str) -> Handle {
            let how = Open::Guarded(SetAttr { mode: Some(0o644), ..SetAttr::default() });
            let name = Name::new(name.as_bytes()).unwrap();
            let wcc = &mut Wcc::default();
            self.fs.create(&self.cx(), &self.fs.root(), name, &how, wcc).unwrap().handle
        }

        fn write(&self, file: &Handle, stability: Stability) -> Result<Written> {
            self.fs.write(&self.cx(), file, 0, b"data", stability, &mut Wcc::default())
        }

        fn commit(&self, file: &Handle) -> Result<()> {
            self.fs.commit(&self.cx(), file, 0, 0, &mut Wcc::default())
        }

        fn fail_syncs(&self, count: usize) {
            self.fs.core.faults.syncs.store(count, Ordering::Relaxed);
        }

        fn is_open_for_writing(&self, file: &Handle) -> bool {
            self.fs.core.node(&self.cx(), file).unwrap().open_writer().is_some()
        }
    }

    #[test]
    fn a_failed_sync_changes_the_verifier() {
        let s = Scene::new(None);
        let file = s.file("f");
        s.write(&file, Stability::Unstable).unwrap();
        let verifier = s.fs.write_verifier();
        s.commit(&file).unwrap();
        assert_eq!(s.fs.write_verifier(), verifier);
        s.write(&file, Stability::Unstable).unwrap();
        s.fail_syncs(1);
        assert_eq!(s.commit(&file), Err(Error::Io));
        assert_ne!(s.fs.write_verifier(), verifier);
        let verifier = s.fs.write_verifier();
        s.commit(&file).unwrap();
        assert_eq!(s.fs.write_verifier(), verifier);
        // Each of the syncs of a file system as a whole.
        for failing in 1..=2 {
            s.write(&file, Stability::Unstable).unwrap();
            let verifier = s.fs.write_verifier();
            s.fail_syncs(failing);
            assert_eq!(s.fs.sync(), Err(Error::Io));
            assert_ne!(s.fs.write_verifier(), verifier);
            s.fail_syncs(0);
            assert_eq!(s.commit(&file), Err(Error::Io), "told once to the file's writer");
            s.commit(&file).unwrap();
        }
    }

    #[test]
    fn a_sync_that_fails_in_the_background_is_told_at_the_next_commit() {
        let s = Scene::new(None);
        let file = s.file("f");
        s.write(&file, Stability::Unstable).unwrap();
        let verifier = s.fs.write_verifier();
        s.fail_syncs(1);
        s.fs.core.close_idle_writers(0);
        assert!(!s.is_open_for_writing(&file));
        assert_ne!(s.fs.write_verifier(), verifier);
        assert_eq!(s.commit(&file), Err(Error::Io));
        s.commit(&file).unwrap();
    }

    #[test]
    fn a_sync_that_fails_when_descriptors_run_short_is_not_lost() {
        let s = Scene::new(Some(16));
        let verifier = s.fs.write_verifier();
        let files: Vec<Handle> = (0..40)
            .map(|n| {
                let file = s.file(&format!("f{n}"));
                s.write(&file, Stability::Unstable).unwrap();
                // Making the next file finds no clean one to close.
                s.fail_syncs(usize::MAX);
                let room = || s.fs.core.nodes.open_files.load(Ordering::Relaxed) <= 20;
                let cx = Cx { durability: Durability::Async, ..s.cx() };
                let name = format!("more{n}");
                let name = Name::new(name.as_bytes()).unwrap();
                let how = Open::Guarded(SetAttr::default());
                s.fs.create(&cx, &s.fs.root(), name, &how, &mut Wcc::default()).unwrap();
                s.fail_syncs(0);
                assert!(room());
                file
            })
            .collect();
        assert_ne!(s.fs.write_verifier(), verifier);
        let told = files.iter().filter(|file| s.commit(file) == Err(Error::Io)).count();
        assert!(told > 20, "{told}");
        assert!(files.iter().all(|file| s.commit(file).is_ok()));
    }

    #[test]
    fn who_shares_a_sync_that_fails_is_told() {
        let s = Scene::new(None);
        let file = s.file("f");
        let node = s.fs.core.node(&s.cx(), &file).unwrap();
        let verifier = s.fs.write_verifier();
        // Another one that is at it.
        let other = UnderWay::begin(&node.sync_writers);
        for stability in [Stability::DataSync, Stability::FileSync] {
            s.write(&file, stability).unwrap();
            assert!(!node.is_dirty(), "it was synced");
        }
        assert_eq!(s.fs.write_verifier(), verifier);
        s.fail_syncs(1);
        assert_eq!(s.write(&file, Stability::FileSync), Err(Error::Io));
        assert_ne!(s.fs.write_verifier(), verifier);
        s.write(&file, Stability::FileSync).unwrap();
        drop(other);
        assert_eq!(node.sync_writers.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_clean_file_is_not_synced_again() {
        let s = Scene::new(None);
        let file = s.file("f");
        s.write(&file, Stability::Unstable).unwrap();
        s.commit(&file).unwrap();
        s.fail_syncs(1);
        s.commit(&file).unwrap();
        s.write(&file, Stability::Unstable).unwrap();
        assert_eq!(s.commit(&file), Err(Error::Io), "this one has something to sync");
        // Nothing is known of a file that is not in use yet.
        let (other, cx) = (s.file("g"), s.cx());
        s.fail_syncs(1);
        assert_eq!(s.fs.commit(&cx, &other, 0, 0, &mut Wcc::default()), Err(Error::Io));
    }

    #[test]
    fn idle_files_are_closed_for_writing() {
        let s = Scene::new(None);
        let file = s.file("f");
        s.write(&file, Stability::Unstable).unwrap();
        s.fs.core.close_idle_writers(5);
        assert!(s.is_open_for_writing(&file), "not idle for long enough");
        s.fs.core.close_idle_writers(0);
        assert!(!s.is_open_for_writing(&file));
        s.commit(&file).unwrap();
        s.write(&file, Stability::FileSync).unwrap();
        assert!(s.is_open_for_writing(&file));
        s.fs.core.close_idle_writers(0);
        assert!(!s.is_open_for_writing(&file));
    }
}
