//! One piece of a copy.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use hayase_buf::Payload;
use hayase_vfs::{Access, Copied, Cx, Error, ReadData, Stability, Wcc};

use crate::call::Target;

/// What goes through memory at once where no kernel copies.
const MEMORY_BYTES: u32 = 256 << 10;

/// Source and target of a copy.
#[derive(Clone)]
pub(crate) struct Ends {
    pub(crate) from: Target,
    pub(crate) to: Target,
    /// What the caller has each open for.
    pub(crate) may_read: Access,
    pub(crate) may_write: Access,
    /// The first byte in each.
    pub(crate) from_offset: u64,
    pub(crate) to_offset: u64,
}

impl Ends {
    /// In which the source is read.
    pub(super) fn read_cx(&self) -> Cx<'_> {
        Cx { opened: self.may_read, ..self.from.cx() }
    }

    /// In which the target is written.
    pub(super) fn write_cx(&self) -> Cx<'_> {
        Cx { opened: self.may_write, ..self.to.cx() }
    }
}

/// The context to read a source and write a target in, both of one file system.
pub(crate) fn both<'w>(read: &Cx<'_>, write: &Cx<'w>) -> Cx<'w> {
    Cx { opened: read.opened | write.opened, ..*write }
}

/// Copies up to `len` bytes behind the first `done` ones. None: the source ends there.
pub(crate) fn copy_piece(ends: &Ends, done: u64, len: u64) -> Result<Copied, Error> {
    let Ends { from, to, .. } = ends;
    let (read_at, write_at) = (ends.from_offset + done, ends.to_offset + done);
    let (target, how, wcc) = ((&to.handle, write_at), Stability::Unstable, &mut Wcc::default());
    let (read, write) = (ends.read_cx(), ends.write_cx());
    if from.same_export(to) {
        let source = (&from.handle, read_at);
        return to.vfs().copy_range(&both(&read, &write), source, target, len, how, wcc);
    }
    // Two file systems, for each of which its own export says who the caller is.
    let copied = from
        .vfs()
        .source(&read, &from.handle)
        .and_then(|source| to.vfs().copy_from(&write, (&source, read_at), target, len, how, wcc));
    match copied {
        Err(Error::NotSupported) => through_memory(ends, read_at, write_at, len),
        copied => copied,
    }
}

/// Reads from one file system and writes to the other.
fn through_memory(ends: &Ends, read_at: u64, write_at: u64, len: u64) -> Result<Copied, Error> {
    let Ends { from, to, .. } = ends;
    let count = u32::try_from(len).unwrap_or(u32::MAX).min(MEMORY_BYTES);
    let mut bytes = Vec::new();
    let read = from.vfs().read(&ends.read_cx(), &from.handle, read_at, count, &mut bytes)?;
    let data = match &read.data {
        ReadData::Inline(_) => &bytes[..],
        ReadData::Payload(Payload::Buffer { buffer, len }) => &buffer[..*len],
        ReadData::Payload(Payload::Span(span)) => {
            bytes.resize(span.len, 0);
            let file = span.file.try_clone().map(File::from).map_err(|_| Error::Io)?;
            // A file that has just become shorter ends in zeros, as in a READ.
            read_fully(&file, &mut bytes, span.offset)?;
            &bytes[..]
        }
    };
    if data.is_empty() {
        return Ok(Copied { count: 0, stability: Stability::FileSync });
    }
    let wcc = &mut Wcc::default();
    let how = Stability::Unstable;
    let written = to.vfs().write(&ends.write_cx(), &to.handle, write_at, data, how, wcc)?;
    Ok(Copied { count: written.count.into(), stability: written.stability })
}

fn read_fully(file: &File, mut bytes: &mut [u8], mut offset: u64) -> Result<(), Error> {
    while !bytes.is_empty() {
        match file.read_at(bytes, offset) {
            Ok(0) => break,
            Ok(read) => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Error::Io),
        }
    }
    Ok(())
}

/// How large pieces are: so that each takes about a tenth of a second, whatever the disks are.
/// Cancelling a copy and stopping the server wait for a piece to end; a file system that lets
/// files share storage is done with the largest in no time.
#[derive(Debug)]
pub(super) struct Pace {
    bytes: u64,
}

impl Pace {
    const LEAST_BYTES: u64 = 1 << 20;
    const MOST_BYTES: u64 = 128 << 20;
    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_millis(200);

    pub(super) fn new() -> Self {
        Pace { bytes: 4 << 20 }
    }

    /// Bytes of the next piece. Powers of two: pieces begin at places that can be shared if the
    /// copy does.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A piece of that many bytes took so long.
    pub(super) fn note(&mut self, took: Duration) {
        if took < Self::SHORT {
            self.bytes = (self.bytes * 2).min(Self::MOST_BYTES);
        } else if took > Self::LONG {
            self.bytes = (self.bytes / 2).max(Self::LEAST_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_and_shrink_within_bounds() {
        let mut pace = Pace::new();
        for _ in 0..20 {
            pace.note(Duration::ZERO);
        }
        assert_eq!(pace.bytes(), Pace::MOST_BYTES);
        pace.note(Duration::from_millis(100));
        assert_eq!(pace.bytes(), Pace::MOST_BYTES);
        for _ in 0..20 {
            pace.note(Duration::from_secs(1));
            assert!(pace.bytes().is_power_of_two());
        }
        assert_eq!(pace.bytes(), Pace::LEAST_BYTES);
    }
}
