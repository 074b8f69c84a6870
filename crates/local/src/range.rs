//! Holes, space, copies and clones (RFC 7862 §15.1, §15.2, §15.4, §15.5, §15.11, §15.13).

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hayase_vfs::{
    Advice, Copied, Cx, Durability, Error, Handle, Result, Seek, Sought, Source, Stability, Wcc,
};
use rustix::fs::{
    Advice as KernelAdvice, FallocateFlags, SeekFrom, Stat, copy_file_range, fadvise, fallocate,
    fstat, seek,
};
use rustix::io::{Errno, ReadWriteFlags};

use crate::Core;
use crate::errno::{OrError, Sys, error};
use crate::nodes::Node;
use crate::read::{read_some, with_scratch};
use crate::sys;
use crate::write::{must_be_regular, write_all};

/// The last byte that a file can have, and one.
const END: u64 = i64::MAX as u64;

/// No file system's blocks are larger.
const LARGEST_BLOCK: u64 = 64 << 10;

/// What one call copies at most, so that no worker is away for long; a multiple of every block.
const COPY_BYTES: u64 = 1 << 30;

impl Core {
    pub(crate) fn seek(&self, cx: &Cx<'_>, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        cx.may_block()?;
        let (node, file, stat) = self.open_to_read(cx, of)?;
        self.may_read(cx, &node, &stat)?;
        let size = stat.st_size as u64;
        if offset >= size {
            return Err(Error::NoDevice);
        }
        // This moves the position of a descriptor that is shared; nobody reads from it.
        let found = match what {
            Seek::Data => seek(&file, SeekFrom::Data(offset)),
            Seek::Hole => seek(&file, SeekFrom::Hole(offset)),
        };
        let offset = match found {
            // No data is left, or the file has just become shorter.
            Err(Errno::NXIO) => size,
            other => other.or_error("seek", &file)?,
        };
        Ok(Sought { offset, eof: offset >= size })
    }

    pub(crate) fn allocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let too_long = offset.checked_add(len).is_none_or(|end| end > END);
        self.change_space(cx, of, wcc, |file, _| {
            // The kernel refuses a length of 0.
            if too_long {
                return Err(Errno::FBIG);
            }
            fallocate(file, FallocateFlags::empty(), offset, len)
        })
    }

    pub(crate) fn deallocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.change_space(cx, of, wcc, |file, size| {
            // Behind the file's last block is nothing, and may be nothing the kernel can name.
            let there = size.next_multiple_of(LARGEST_BLOCK).saturating_sub(offset);
            match len.min(there) {
                0 if len == 0 => Err(Errno::INVAL),
                0 => Ok(()),
                len => fallocate(file, flags, offset, len),
            }
        })
    }

    /// Changes where a file, whose size is told, has storage. As the caller.
    fn change_space(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        wcc: &mut Wcc,
        change: impl Fn(&OwnedFd, u64) -> Sys<()>,
    ) -> Result<()> {
        let (node, file) = self.open_to_write(cx, of, wcc)?;
        let size = wcc.before.map_or(0, |attr| attr.size);
        let mut result = change(&file, size);
        while result == Err(Errno::INTR) {
            result = change(&file, size);
        }
        self.wrote_space(cx, &node, wcc, result.or_error("fallocate", &file))
    }

    /// The end of a change that is as durable as attributes are.
    fn wrote_space(
        &self,
        cx: &Cx<'_>,
        node: &Arc<Node>,
        wcc: &mut Wcc,
        result: Result<()>,
    ) -> Result<()> {
        node.wrote();
        wcc.after = Some(node.attr_of(&node.stat()?));
        result?;
        self.sync_all(cx, node)
    }

    /// A regular file that the caller, as whom this thread then acts, may write to.
    fn open_to_write(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        wcc: &mut Wcc,
    ) -> Result<(Arc<Node>, Arc<OwnedFd>)> {
        self.may_change(cx)?;
        let (node, before) = self.live(cx, of)?;
        must_be_regular(&node)?;
        wcc.before = Some(node.attr_of(&before));
        wcc.after = wcc.before;
        self.may_write(cx, &node, &before)?;
        let file = self.writer(&node)?;
        self.identity.become_caller(cx.cred)?;
        Ok((node, file))
    }

    pub(crate) fn copy_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        self.may_change(cx)?;
        let (source, source_file, stat) = self.open_to_read(cx, from.0)?;
        self.may_read(cx, &source, &stat)?;
        self.copy_into(cx, (&source_file, &stat, from.1), to, len, stability, wcc)
    }

    /// A file for another file system to copy from.
    pub(crate) fn source(&self, cx: &Cx<'_>, of: &Handle) -> Result<Source> {
        cx.may_block()?;
        let (node, file, stat) = self.open_to_read(cx, of)?;
        self.may_read(cx, &node, &stat)?;
        Ok(Source { file })
    }

    pub(crate) fn copy_from(
        &self,
        cx: &Cx<'_>,
        from: (&Source, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        self.may_change(cx)?;
        let stat = fstat(&from.0.file).or_error("stat", &from.0.file)?;
        self.copy_into(cx, (&from.0.file, &stat, from.1), to, len, stability, wcc)
    }

    /// Copies from an open file, of which permissions have been looked at, with its attributes.
    fn copy_into(
        &self,
        cx: &Cx<'_>,
        (source, source_stat, from): (&OwnedFd, &Stat, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        let (node, file) = self.open_to_write(cx, to.0, wcc)?;
        let len = len.min(COPY_BYTES).min((source_stat.st_size as u64).saturating_sub(from));
        if to.1.checked_add(len).is_none_or(|end| end > END) {
            return Err(Error::TooBig);
        }
        let target_stat = fstat(&file).or_error("stat", &file)?;
        let same =
            (source_stat.st_dev, source_stat.st_ino) == (target_stat.st_dev, target_stat.st_ino);
        if same && from.abs_diff(to.1) < len {
            return Err(Error::Invalid);
        }
        let (count, failure) = copy(source, from, &file, to.1, len);
        node.wrote();
        wcc.after = Some(node.attr_of(&node.stat()?));
        match failure {
            // What was copied counts; who asks for the rest meets the error then.
            Some(errno) if count == 0 || errno == Errno::IO => {
                return Err(error(errno, "copy", &file));
            }
            _ => {}
        }
        match (stability, cx.durability) {
            (Stability::Unstable, _) | (_, Durability::Async) => {}
            (Stability::DataSync, Durability::Sync) => self.sync_data(&node)?,
            (Stability::FileSync, Durability::Sync) => self.sync_all(cx, &node)?,
        }
        Ok(Copied { count, stability })
    }

    pub(crate) fn clone_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.may_change(cx)?;
        let (source, source_file, stat) = self.open_to_read(cx, from.0)?;
        self.may_read(cx, &source, &stat)?;
        let (node, file) = self.open_to_write(cx, to.0, wcc)?;
        let end = from.1.checked_add(len).filter(|end| *end <= stat.st_size as u64);
        let cloned = match end {
            Some(_) => sys::clone_range(&source_file, from.1, len, &file, to.1),
            None => Err(Errno::INVAL),
        };
        self.wrote_space(cx, &node, wcc, cloned.or_error("clone", &file))
    }

    /// Hints about how a range is read are no good here: all clients share the descriptor that
    /// they would hold for.
    pub(crate) fn advise(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        advice: Advice,
    ) -> Result<bool> {
        cx.may_block()?;
        let (node, file, stat) = self.open_to_read(cx, of)?;
        self.may_read(cx, &node, &stat)?;
        let advice = match advice {
            Advice::WillNeed => KernelAdvice::WillNeed,
            Advice::DontNeed => KernelAdvice::DontNeed,
            Advice::Normal | Advice::Sequential | Advice::Random | Advice::NoReuse => {
                return Ok(false);
            }
        };
        let len = len.min(END.saturating_sub(offset));
        Ok(offset < END && fadvise(&file, offset, NonZeroU64::new(len), advice).is_ok())
    }
}

/// Copies by the kernel where it can, else through memory. Counts what was copied before a
/// failure.
fn copy(
    from: &OwnedFd,
    from_offset: u64,
    to: &OwnedFd,
    to_offset: u64,
    len: u64,
) -> (u64, Option<Errno>) {
    let (mut read_at, mut write_at) = (from_offset, to_offset);
    let mut left = len;
    while left > 0 {
        let step = usize::try_from(left).unwrap_or(usize::MAX);
        let copied = copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), step);
        match copied {
            // The source has just become shorter.
            Ok(0) => break,
            Ok(count) => left = left.saturating_sub(count as u64),
            Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                let (count, failure) = copy_by_memory(from, read_at, to, write_at, left);
                return (len - left + count, failure);
            }
            Err(errno) => return (len - left, Some(errno)),
        }
    }
    (len - left, None)
}

fn copy_by_memory(
    from: &OwnedFd,
    from_offset: u64,
    to: &OwnedFd,
    to_offset: u64,
    len: u64,
) -> (u64, Option<Errno>) {
    with_scratch(|scratch| {
        let mut done = 0;
        while done < len {
            let step = scratch.len().min(usize::try_from(len - done).unwrap_or(usize::MAX));
            let bytes = &mut scratch[..step];
            let read = match read_some(from, bytes, from_offset + done) {
                Ok(0) => break,
                Ok(read) => read,
                Err(errno) => return (done, Some(errno)),
            };
            let none = ReadWriteFlags::empty();
            let (written, failure) = write_all(to, &bytes[..read], to_offset + done, none);
            done += written as u64;
            if failure.is_some() {
                return (done, failure);
            }
        }
        (done, None)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn what_the_kernel_does_not_copy_goes_through_memory() {
        let mut from = tempfile::tempfile().unwrap();
        let data: Vec<u8> = (0..700_000_u32).map(|n| (n % 251) as u8).collect();
        from.write_all(&data).unwrap();
        let mut to = tempfile::tempfile().unwrap();
        let (from, to_fd) = (OwnedFd::from(from), OwnedFd::from(to.try_clone().unwrap()));
        assert_eq!(copy_by_memory(&from, 5, &to_fd, 3, 1 << 40), (data.len() as u64 - 5, None));
        let mut copied = Vec::new();
        to.read_to_end(&mut copied).unwrap();
        assert_eq!(&copied[..3], [0; 3]);
        assert!(copied[3..] == data[5..]);
    }
}
