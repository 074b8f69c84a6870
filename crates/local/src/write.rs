//! WRITE and COMMIT (RFC 1813 §3.3.7, §3.3.21), and what makes changes durable.
//!
//! Errors of writing back are reported once, by a sync, to the descriptors that
//! were open when they happened. So data is synced through the descriptor it was
//! written through, and a failure, wherever it is found, changes the write
//! verifier: every client then sends again what it has not committed.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hayase_vfs::{Cx, Durability, Error, FileType, Handle, Result, Stability, Wcc, Written};
use rustix::fs::{Stat, fdatasync, fstat, fsync, ftruncate, syncfs};
use rustix::io::{Errno, ReadWriteFlags, pwrite, pwritev2};

use crate::Core;
use crate::errno::{OrError, Sys, error, path_of};
use crate::mounts::Mount;
use crate::nodes::Node;

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
        let sync = match (stability, cx.durability) {
            (Stability::Unstable, _) | (_, Durability::Async) => ReadWriteFlags::empty(),
            (Stability::DataSync, Durability::Sync) => ReadWriteFlags::DSYNC,
            (Stability::FileSync, Durability::Sync) => ReadWriteFlags::SYNC,
        };
        let (count, failure) = write_all(&file, data, offset, sync);
        if sync.is_empty() || failure.is_some() {
            node.wrote();
        }
        let after = fstat(&file).or_error("stat", &file)?;
        wcc.after = Some(node.attr_of(&after));
        node.decisions.carry(&before, &after);
        match failure {
            Some(errno) if errno == Errno::IO => Err(self.sync_failed(&node, errno)),
            // What was written counts; the client sends the rest and meets the error then.
            Some(errno) if count == 0 => Err(error(errno, "write", &file)),
            _ => Ok(Written { count: count as u32, stability }),
        }
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
        if cx.durability == Durability::Sync {
            self.sync_data(&node)?;
        }
        wcc.after = node.stat().ok().map(|stat| node.attr_of(&stat));
        if self.failed.take(&node.handle) {
            return Err(Error::Io);
        }
        Ok(())
    }

    /// Brings a regular file's data to the disk, also data from before a restart of ours.
    fn sync_data(&self, node: &Arc<Node>) -> Result<()> {
        let file = self.file_to_sync(node)?;
        let result = node.run_sync(|| self.faults.sync().and_then(|()| fdatasync(&file)));
        self.checked(node, result)
    }

    /// Brings changed attributes of a file of any kind, and its data, to the disk.
    pub(crate) fn sync_attributes(&self, cx: &Cx<'_>, node: &Arc<Node>) -> Result<()> {
        if cx.durability == Durability::Async || node.mount.in_memory() {
            return Ok(());
        }
        let result = match node.kind {
            FileType::Regular | FileType::Directory => {
                let file = self.file_to_sync(node)?;
                node.run_sync(|| self.faults.sync().and_then(|()| fsync(&file)))
            }
            // There is no descriptor to sync these through.
            _ => node.run_sync(|| self.faults.sync().and_then(|()| node.mount.barrier())),
        };
        self.checked(node, result)
    }

    /// Brings changed entries of a directory to the disk.
    pub(crate) fn sync_entries(&self, cx: &Cx<'_>, dir: &Arc<Node>) -> Result<()> {
        self.sync_attributes(cx, dir)
    }

    /// Syncs a file for the server's own sake, before its descriptor is closed. A failure is told
    /// at the file's next COMMIT.
    pub(crate) fn flush(&self, node: &Arc<Node>) {
        let Some(file) = node.open_writer() else { return };
        let result = node.run_sync(|| self.faults.sync().and_then(|()| fdatasync(&file)));
        if self.checked(node, result).is_err() {
            self.failed.put(node.handle);
        }
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

    fn checked(&self, node: &Node, result: Sys<()>) -> Result<()> {
        match result {
            // Odd file systems have nothing to sync, and say so.
            Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::ROFS) => Ok(()),
            Err(errno) => Err(self.sync_failed(node, errno)),
        }
    }

    /// Data may be lost: clients shall send again what they have not committed.
    fn sync_failed(&self, node: &Node, errno: Errno) -> Error {
        let path = path_of(std::os::fd::AsFd::as_fd(&node.path));
        tracing::error!(
            path = %path.display(),
            error = %errno,
            "data could not be written to the disk; clients are asked to send it again"
        );
        self.renew_verifier();
        match errno {
            Errno::NOSPC => Error::NoSpace,
            Errno::DQUOT => Error::Quota,
            _ => Error::Io,
        }
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

impl Mount {
    /// Brings everything changed so far to the disk.
    fn barrier(&self) -> Sys<()> {
        syncfs(&self.dir)
    }
}

/// Counts what was written before a failure.
fn write_all(
    file: &OwnedFd,
    data: &[u8],
    offset: u64,
    sync: ReadWriteFlags,
) -> (usize, Option<Errno>) {
    let mut written = 0;
    let mut by_flag = !sync.is_empty();
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
            Err(errno) => return (written, Some(errno)),
        }
    }
    if sync.is_empty() || by_flag {
        return (written, None);
    }
    let synced = if sync == ReadWriteFlags::SYNC { fsync(file) } else { fdatasync(file) };
    // Whatever a sync fails with, the data is in doubt.
    (written, synced.err().map(|_| Errno::IO))
}

fn must_be_regular(node: &Node) -> Result<()> {
    match node.kind {
        FileType::Regular => Ok(()),
        FileType::Directory => Err(Error::IsDirectory),
        _ => Err(Error::Invalid),
    }
}

impl Core {
    /// Makes clients send unstable data again.
    fn renew_verifier(&self) {
        self.verifier.store(crate::fresh_number(), Ordering::Relaxed);
    }
}
