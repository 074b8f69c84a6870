//! Holes, space and copies.

use hayase_vfs::{Copied, Durability, Error, Handle, Result, Seek, Sought, Stability, Wcc};

use crate::state::Turn;
use crate::{PAGE_BYTES, perm};

const PAGE: u64 = PAGE_BYTES as u64;

/// What one call copies at most, so that its users meet short copies.
const COPY_BYTES: u64 = 16 * PAGE;

impl Turn<'_> {
    pub(crate) fn seek(&self, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        let number = self.state.resolve(of)?;
        let data = self.data(number)?;
        perm::require_read(self.state.node(number), self.cred, self.opened)?;
        if offset >= data.size() {
            return Err(Error::NoDevice);
        }
        let found = match what {
            Seek::Data => data.next_data(offset),
            Seek::Hole => data.next_hole(offset),
        };
        Ok(Sought { offset: found, eof: found == data.size() })
    }

    pub(crate) fn allocate(
        &mut self,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.changing_data(of, wcc)?;
        let end = offset.checked_add(len).filter(|end| *end <= self.state.limits.file_bytes);
        let end = end.ok_or(Error::TooBig)?;
        if len == 0 {
            return Err(Error::Invalid);
        }
        if self.data(number)?.missing(offset..end) > self.state.pages_free() {
            return Err(Error::NoSpace);
        }
        let mtime = self.state.node(number).meta.mtime;
        let data = self.data_mut(number)?;
        let (before, size) = (data.page_count(), data.size());
        data.allocate(offset..end, mtime);
        let added = data.page_count() - before;
        let longer = data.size() > size;
        self.state.pages_used += added;
        self.changed_data(number, longer);
        self.settle_data(number, wcc)
    }

    pub(crate) fn deallocate(
        &mut self,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.changing_data(of, wcc)?;
        if len == 0 {
            return Err(Error::Invalid);
        }
        let mtime = self.state.node(number).meta.mtime;
        let data = self.data_mut(number)?;
        let before = data.page_count();
        data.punch(offset..offset.saturating_add(len), mtime);
        let freed = before - data.page_count();
        self.state.pages_used -= freed;
        self.changed_data(number, true);
        self.settle_data(number, wcc)
    }

    pub(crate) fn copy_range(
        &mut self,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        let source = self.readable(from.0)?;
        self.changing_data(to.0, wcc)?;
        let left = self.data(source)?.size().saturating_sub(from.1);
        let len = len.min(left);
        if to.1.checked_add(len).is_none_or(|end| end > self.state.limits.file_bytes) {
            return Err(Error::TooBig);
        }
        if from.0 == to.0 && from.1.abs_diff(to.1) < len {
            return Err(Error::Invalid);
        }
        let mut bytes = vec![0; len.min(COPY_BYTES) as usize];
        self.data(source)?.read(from.1, &mut bytes);
        let written = self.write(to.0, to.1, &bytes, stability, wcc)?;
        Ok(Copied { count: written.count.into(), stability: written.stability })
    }

    pub(crate) fn clone_range(
        &mut self,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let source = self.readable(from.0)?;
        let number = self.changing_data(to.0, wcc)?;
        let size = self.data(source)?.size();
        let len = if len == 0 { size.saturating_sub(from.1) } else { len };
        let end = from.1.checked_add(len).filter(|end| *end <= size).ok_or(Error::Invalid)?;
        let to_end = to.1.checked_add(len).ok_or(Error::Invalid)?;
        if to_end > self.state.limits.file_bytes {
            return Err(Error::TooBig);
        }
        let ends_well =
            len.is_multiple_of(PAGE) || (end == size && to_end >= self.data(number)?.size());
        let overlap = source == number && from.1.abs_diff(to.1) < len;
        if !from.1.is_multiple_of(PAGE) || !to.1.is_multiple_of(PAGE) || !ends_well || overlap {
            return Err(Error::Invalid);
        }
        let pages = self.data(source)?.pages_of(from.1..end);
        if pages.len() as u64 > self.state.pages_free() {
            return Err(Error::NoSpace);
        }
        let mtime = self.state.node(number).meta.mtime;
        let data = self.data_mut(number)?;
        let before = data.page_count();
        data.punch(to.1..to_end.next_multiple_of(PAGE), mtime);
        for (offset, page) in pages {
            let at = to.1 + (offset - from.1);
            let len = (to_end - at).min(PAGE) as usize;
            data.write(at, &page[..len], mtime);
        }
        if to_end > data.size() {
            data.truncate(to_end, mtime);
        }
        let after = data.page_count();
        self.state.pages_used = self.state.pages_used + after - before;
        self.changed_data(number, true);
        self.settle_data(number, wcc)
    }

    /// The regular file that the caller may read.
    pub(crate) fn readable(&self, of: &Handle) -> Result<u64> {
        let number = self.state.resolve(of)?;
        self.data(number)?;
        perm::require_read(self.state.node(number), self.cred, self.opened)?;
        Ok(number)
    }

    /// The regular file that the caller may write to.
    fn changing_data(&self, of: &Handle, wcc: &mut Wcc) -> Result<u64> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        self.data(number)?;
        perm::require_write(self.state.node(number), self.cred, self.opened)?;
        Ok(number)
    }

    fn changed_data(&mut self, number: u64, contents: bool) {
        let (stranger, now) = (self.cred.uid != 0, self.now);
        self.update_unnoted(number, |meta| {
            if contents {
                meta.mtime = now;
            }
            if stranger {
                meta.mode = perm::without_set_id(meta.mode);
            }
        });
    }

    /// The end of a change that is as durable as attributes are.
    fn settle_data(&mut self, number: u64, wcc: &mut Wcc) -> Result<()> {
        if self.durability == Durability::Sync {
            self.data_mut(number)?.settle(0..u64::MAX);
            self.state.journal.settle();
        }
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }
}
