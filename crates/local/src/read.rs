//! READ (RFC 1813 §3.3.6): small amounts copied, large ones left where they are.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hayase_buf::{ALIGNMENT, Buffer, Payload, Span};
use hayase_vfs::{Cx, Error, FileType, Handle, Read, ReadData, Result, Wait};
use rustix::fs::{Advice, Stat, fadvise, fstat};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

use crate::Core;
use crate::errno::{OrError, Sys};
use crate::nodes::Node;
use crate::stream::{Stream, Transfer, Way};
use crate::sys;

/// Up to this many bytes are copied into the reply; above, sending from the page cache is cheaper.
const INLINE_BYTES: usize = 32 << 10;

/// Pages of the page cache.
const PAGE_BYTES: u64 = 4096;

/// How far the disk is kept ahead of a sequential reader.
const AHEAD_BYTES: u64 = 4 << 20;

/// Without `cachestat` one byte in each stretch of this many is probed.
const PROBE_BYTES: u64 = 128 << 10;

/// Data on its way from the disk is waited for at one byte in each stretch of this many.
const FETCH_BYTES: usize = 64 << 10;

/// What copies go through.
const SCRATCH_BYTES: usize = 256 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Whether this kernel has no `cachestat`.
static NO_CACHESTAT: AtomicBool = AtomicBool::new(false);

impl Core {
    pub(crate) fn read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read> {
        let (node, file, stat) = self.open_to_read(cx, of)?;
        self.may_read(cx, &node, &stat)?;
        let size = stat.st_size as u64;
        let len = u64::from(count).min(size.saturating_sub(offset)) as usize;
        let data = if len == 0 {
            ReadData::Inline(0)
        } else if len <= INLINE_BYTES {
            match read_inline(&file, offset, len, inline, !node.mount.in_memory()) {
                Err(Error::WouldBlock) if cx.wait == Wait::Allowed => {
                    node.mount.wait_for(|| read_inline(&file, offset, len, inline, false))?
                }
                read => read?,
            }
        } else {
            self.read_large(cx, &node, file, offset, len, size)?
        };
        // Nothing at all, inside the size that was: the file has just become shorter.
        let shorter = data.is_empty() && len > 0;
        let eof = shorter || offset.saturating_add(data.len() as u64) >= size;
        Ok(Read { data, eof, attr: node.attr_of(&stat) })
    }

    /// A regular file's node, open for reading, and its present attributes.
    pub(crate) fn open_to_read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
    ) -> Result<(Arc<Node>, Arc<OwnedFd>, Stat)> {
        let mut node = self.node(cx, of)?;
        match node.kind {
            FileType::Regular => {}
            FileType::Directory => return Err(Error::IsDirectory),
            _ => return Err(Error::Invalid),
        }
        let mut file = Arc::clone(self.reader(&node)?);
        let mut stat = fstat(&file).or_error("stat", &file)?;
        if stat.st_nlink == 0 {
            // As in `live`.
            drop((node, file));
            (node, stat) = self.live(cx, of)?;
            file = Arc::clone(self.reader(&node)?);
        }
        Ok((node, file, stat))
    }

    /// Leaves data that is in the page cache to be sent from there; otherwise reads it, with the
    /// disk kept busy ahead of a sequential reader.
    fn read_large(
        &self,
        cx: &Cx<'_>,
        node: &Arc<Node>,
        file: Arc<OwnedFd>,
        offset: u64,
        len: usize,
        size: u64,
    ) -> Result<ReadData> {
        if node.mount.in_memory() || self.is_cached(&file, offset, len as u64)? {
            return Ok(ReadData::Payload(Payload::Span(Span { file, offset, len })));
        }
        cx.may_block()?;
        node.mount.wait_for(|| self.read_cold(node, file, offset, len, size))
    }

    /// Reads what is not in the page cache: into it, to be sent from there, or past it.
    fn read_cold(
        &self,
        node: &Arc<Node>,
        file: Arc<OwnedFd>,
        offset: u64,
        len: usize,
        size: u64,
    ) -> Result<ReadData> {
        let transfer = Transfer::begin(node.stream(), Way::Read);
        if let Some(direct) = self.past_the_cache(node, &transfer, offset, len, size)
            && let Some(buffer) = self.buffer_of(len.next_multiple_of(ALIGNMENT))
            && let Some(read) = read_direct(node, &direct, buffer, offset, len)
        {
            return read;
        }
        read_ahead(node.stream(), &file, offset, len as u64, size);
        if fetch(&file, offset, len as u64) {
            return Ok(ReadData::Payload(Payload::Span(Span { file, offset, len })));
        }
        // The file has become shorter, or the disk fails somewhere: what can be had is sent.
        let buffer = self.buffer_of(len);
        let mut buffer = buffer.unwrap_or_else(|| Buffer::unpooled(len.min(FETCH_BYTES)));
        let len = len.min(buffer.len());
        let len = read_some(&file, &mut buffer[..len], offset).or_error("read", &file)?;
        Ok(ReadData::Payload(Payload::Buffer { buffer, len }))
    }

    /// A buffer of the pool for so many bytes.
    fn buffer_of(&self, len: usize) -> Option<Buffer> {
        self.options.pool.take().filter(|buffer| buffer.len() >= len)
    }

    /// Whether reading this range waits for nothing.
    fn is_cached(&self, file: &OwnedFd, offset: u64, len: u64) -> Result<bool> {
        let last = offset + len - 1;
        if !NO_CACHESTAT.load(Ordering::Relaxed) {
            let mut counted = sys::cached_pages(file, offset, len);
            if counted == Err(Errno::PERM) {
                // For owners and writers only, since it tells what others read.
                self.identity.become_server()?;
                counted = sys::cached_pages(file, offset, len);
            }
            match counted {
                // Pages that are being read count as well: the last one, read last, tells.
                Ok(pages) => {
                    let wanted = last / PAGE_BYTES - offset / PAGE_BYTES + 1;
                    return Ok(pages >= wanted && is_byte_cached(file, last));
                }
                Err(Errno::NOSYS) => NO_CACHESTAT.store(true, Ordering::Relaxed),
                Err(_) => {}
            }
        }
        let mut probes = (offset..last).step_by(PROBE_BYTES as usize);
        Ok(is_byte_cached(file, last) && probes.all(|at| is_byte_cached(file, at)))
    }
}

/// Lends this thread's buffer for data that is on its way elsewhere.
pub(crate) fn with_scratch<T>(use_it: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut scratch = SCRATCH.take();
    scratch.resize(SCRATCH_BYTES, 0);
    let result = use_it(&mut scratch);
    SCRATCH.set(scratch);
    result
}

/// Asks the disk for what is wanted, and for what a sequential reader will want next.
fn read_ahead(stream: &Stream, file: &OwnedFd, offset: u64, len: u64, size: u64) {
    let end = offset + len;
    let before = stream.read_end.swap(end, Ordering::Relaxed);
    let ahead = stream.ahead_end.load(Ordering::Relaxed);
    // What was asked for is on its way.
    let asked = ahead >= end && ahead <= end + AHEAD_BYTES;
    let known = if asked { ahead } else { offset };
    // Requests of one reader arrive a little out of order.
    let sequential = before.abs_diff(offset) <= AHEAD_BYTES;
    let goal = if sequential { (end + AHEAD_BYTES).min(size) } else { end };
    // In large steps: asking costs a system call.
    if goal > known && (!asked || goal - known >= AHEAD_BYTES / 2 || goal == size) {
        stream.ahead_end.store(goal, Ordering::Relaxed);
        let len = std::num::NonZeroU64::new(goal - known);
        // Advice: reading works without.
        let _ = fadvise(file, known, len, Advice::WillNeed);
    }
}

/// Waits until a range is in the page cache; whether all of it is.
fn fetch(file: &OwnedFd, offset: u64, len: u64) -> bool {
    let last = offset + len - 1;
    let mut byte = [0];
    let mut has = |at| loop {
        match pread(file, &mut byte, at) {
            Err(Errno::INTR) => {}
            read => return read == Ok(1),
        }
    };
    (offset..last).step_by(FETCH_BYTES).all(&mut has) && has(last)
}

/// Reads past the page cache; `None` if that cannot be done here.
fn read_direct(
    node: &Node,
    file: &OwnedFd,
    mut buffer: Buffer,
    offset: u64,
    len: usize,
) -> Option<Result<ReadData>> {
    // Whole blocks: what the file has not is not read.
    let whole = len.next_multiple_of(ALIGNMENT);
    match read_some(file, &mut buffer[..whole], offset) {
        Ok(read) => {
            let len = read.min(len);
            Some(Ok(ReadData::Payload(Payload::Buffer { buffer, len })))
        }
        Err(Errno::INVAL | Errno::OPNOTSUPP) => {
            node.stream().refuse_direct();
            None
        }
        Err(errno) => Some(Err(errno).or_error("read", file)),
    }
}

/// Reads until the buffer is full, the file ends, or an error comes after some data.
pub(crate) fn read_some(file: &OwnedFd, buffer: &mut [u8], offset: u64) -> Sys<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match pread(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) if filled == 0 => return Err(errno),
            // The data before the error is good; the client asks for the rest.
            Err(_) => break,
        }
    }
    Ok(filled)
}

fn is_byte_cached(file: &OwnedFd, offset: u64) -> bool {
    let mut byte = [0];
    let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
    preadv2(file, &mut buffers, offset, ReadWriteFlags::NOWAIT) == Ok(1)
}

/// Copies data into the reply; with `nowait` only if it is in the page cache.
fn read_inline(
    file: &OwnedFd,
    offset: u64,
    len: usize,
    inline: &mut Vec<u8>,
    nowait: bool,
) -> Result<ReadData> {
    let start = inline.len();
    let mut filled = 0;
    while filled < len {
        let at = offset + filled as u64;
        match sys::read_append(file, inline, len - filled, at, nowait) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN | Errno::OPNOTSUPP) if nowait => {
                inline.truncate(start);
                return Err(Error::WouldBlock);
            }
            Err(errno) => {
                inline.truncate(start);
                return Err(errno).or_error("read", file);
            }
        }
    }
    Ok(ReadData::Inline(filled))
}
