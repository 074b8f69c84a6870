//! Reading and writing data.

use hayase_buf::{Buffer, Payload};
use hayase_vfs::{Durability, Error, Handle, Read, ReadData, Result, Stability, Wcc, Written};

use crate::state::Turn;
use crate::{PAGE_BYTES, perm};

/// Reads up to this size are appended to the reply. Longer ones come as a payload, so that
/// users of this file system meet both.
const INLINE_BYTES: usize = PAGE_BYTES;

impl Turn<'_> {
    pub(crate) fn read(
        &mut self,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read> {
        let number = self.state.resolve(of)?;
        let data = self.data(number)?;
        perm::require_read(self.state.node(number), self.cred, self.opened)?;
        let left = data.size().saturating_sub(offset);
        let len = left.min(u64::from(count)) as usize;
        let eof = len as u64 == left;
        let data = if len <= INLINE_BYTES {
            let start = inline.len();
            inline.resize(start + len, 0);
            data.read(offset, &mut inline[start..]);
            ReadData::Inline(len)
        } else {
            let mut buffer = Buffer::unpooled(len);
            data.read(offset, &mut buffer);
            ReadData::Payload(Payload::Buffer { buffer, len })
        };
        let now = self.now;
        self.state.node_mut(number).meta.atime = now;
        Ok(Read { data, eof, attr: self.state.attr(number) })
    }

    pub(crate) fn write(
        &mut self,
        of: &Handle,
        offset: u64,
        bytes: &[u8],
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Written> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        let data = self.data(number)?;
        perm::require_write(self.state.node(number), self.cred, self.opened)?;
        if bytes.is_empty() {
            return Ok(Written { count: 0, stability });
        }
        let room = self.state.limits.file_bytes.saturating_sub(offset);
        if room == 0 {
            return Err(Error::TooBig);
        }
        let len = room.min(bytes.len() as u64) as usize;
        let len = data.fitting(offset, len, self.state.pages_free());
        if len == 0 {
            return Err(Error::NoSpace);
        }
        let mtime = self.state.node(number).meta.mtime;
        let stable = stability > Stability::Unstable && self.durability == Durability::Sync;
        let data = self.data_mut(number)?;
        let before = data.page_count();
        data.write(offset, &bytes[..len], mtime);
        let added = data.page_count() - before;
        self.state.pages_used += added;
        let (stranger, now) = (self.cred.uid != 0, self.now);
        self.update_unnoted(number, |meta| {
            meta.mtime = now;
            if stranger {
                meta.mode = perm::without_set_id(meta.mode);
            }
        });
        if stable {
            self.data_mut(number)?.settle(offset..offset + len as u64);
            self.state.journal.settle();
        }
        wcc.after = Some(self.state.attr(number));
        Ok(Written { count: len as u32, stability })
    }

    pub(crate) fn commit(
        &mut self,
        of: &Handle,
        offset: u64,
        count: u32,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        let end = match count {
            0 => u64::MAX,
            _ => offset.saturating_add(u64::from(count)),
        };
        self.data_mut(number)?.settle(offset..end);
        self.state.journal.settle();
        Ok(())
    }
}
