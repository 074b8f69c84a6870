//! The bytes of a regular file: pages that exist, holes between them, and what a
//! crash would bring back.

use std::collections::BTreeMap;
use std::ops::Range;

use hayase_vfs::Time;

use crate::PAGE_BYTES;

type Page = Box<[u8]>;

/// Sparse data. Bytes of a page behind the file's end are zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    size: u64,
    pages: BTreeMap<u64, Page>,
    unstable: Option<Unstable>,
}

/// What is on stable storage where that is not what is in `Data`.
#[derive(Clone, Debug)]
struct Unstable {
    size: u64,
    mtime: Time,
    /// Pages changed since they were stable; None for one that did not exist then.
    pages: BTreeMap<u64, Option<Page>>,
}

impl Data {
    /// All hole.
    pub(crate) fn hole(size: u64) -> Self {
        Data { size, ..Data::default() }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Pages that take up storage.
    pub(crate) fn page_count(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Fills `into` with the bytes at an offset; the file must reach that far.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        let mut at = 0;
        while at < into.len() {
            let (page, inside) = locate(offset + at as u64);
            let len = (PAGE_BYTES - inside).min(into.len() - at);
            match self.pages.get(&page) {
                Some(bytes) => into[at..at + len].copy_from_slice(&bytes[inside..inside + len]),
                None => into[at..at + len].fill(0),
            }
            at += len;
        }
    }

    /// How many of `len` bytes at `offset` fit when `spare` more pages may be used.
    pub(crate) fn fitting(&self, offset: u64, len: usize, mut spare: u64) -> usize {
        let mut at = 0;
        while at < len {
            let (page, inside) = locate(offset + at as u64);
            if !self.pages.contains_key(&page) {
                if spare == 0 {
                    return at;
                }
                spare -= 1;
            }
            at += (PAGE_BYTES - inside).min(len - at);
        }
        len
    }

    /// Writes bytes; `offset + bytes.len()` must not overflow.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8], mtime: Time) {
        let mut at = 0;
        while at < bytes.len() {
            let (page, inside) = locate(offset + at as u64);
            let len = (PAGE_BYTES - inside).min(bytes.len() - at);
            self.remember(page, mtime);
            let memory = self.pages.entry(page).or_insert_with(|| vec![0; PAGE_BYTES].into());
            memory[inside..inside + len].copy_from_slice(&bytes[at..at + len]);
            at += len;
        }
        self.size = self.size.max(offset + bytes.len() as u64);
    }

    /// Cuts the file off or extends it with a hole.
    pub(crate) fn truncate(&mut self, size: u64, mtime: Time) {
        let (last, inside) = locate(size);
        let first_gone = if inside == 0 { last } else { last + 1 };
        let gone: Vec<u64> = self.pages.range(first_gone..).map(|(page, _)| *page).collect();
        for page in gone {
            self.remember(page, mtime);
            self.pages.remove(&page);
        }
        if inside != 0 && size < self.size && self.pages.contains_key(&last) {
            self.remember(last, mtime);
            if let Some(bytes) = self.pages.get_mut(&last) {
                bytes[inside..].fill(0);
            }
        }
        self.unstable(mtime);
        self.size = size;
    }

    /// The first byte from `offset` on that is in a page; the size if there is none.
    pub(crate) fn next_data(&self, offset: u64) -> u64 {
        let first = self.pages.range(locate(offset).0..).next();
        let start = first.map_or(self.size, |(page, _)| page * PAGE_BYTES as u64);
        start.clamp(offset, self.size)
    }

    /// The first byte from `offset` on that is in no page; the size if there is none.
    pub(crate) fn next_hole(&self, offset: u64) -> u64 {
        let first = locate(offset).0;
        let full = self.pages.range(first..).zip(first..).take_while(|((page, _), at)| *page == at);
        let start = (first + full.count() as u64) * PAGE_BYTES as u64;
        start.clamp(offset, self.size)
    }

    /// How many pages of a range, which is not empty, do not exist.
    pub(crate) fn missing(&self, range: Range<u64>) -> u64 {
        let (first, last) = (locate(range.start).0, locate(range.end - 1).0);
        last - first + 1 - self.pages.range(first..=last).count() as u64
    }

    /// Makes the pages of a range, which is not empty, and lets the file reach as far.
    pub(crate) fn allocate(&mut self, range: Range<u64>, mtime: Time) {
        for page in locate(range.start).0..=locate(range.end - 1).0 {
            if !self.pages.contains_key(&page) {
                self.remember(page, mtime);
                self.pages.insert(page, vec![0; PAGE_BYTES].into());
            }
        }
        self.unstable(mtime);
        self.size = self.size.max(range.end);
    }

    /// Turns a range into zeros, and its whole pages into a hole.
    pub(crate) fn punch(&mut self, range: Range<u64>, mtime: Time) {
        let first = locate(range.start).0;
        let last = locate(range.end.saturating_sub(1)).0;
        let touched: Vec<u64> = self.pages.range(first..=last.max(first)).map(|p| *p.0).collect();
        for page in touched {
            let start = page * PAGE_BYTES as u64;
            let from = range.start.saturating_sub(start) as usize;
            let to = (range.end.saturating_sub(start)).min(PAGE_BYTES as u64) as usize;
            self.remember(page, mtime);
            if (from, to) == (0, PAGE_BYTES) {
                self.pages.remove(&page);
            } else if let Some(bytes) = self.pages.get_mut(&page) {
                bytes[from..to].fill(0);
            }
        }
    }

    /// The pages in a range, each with its offset.
    pub(crate) fn pages_of(&self, range: Range<u64>) -> Vec<(u64, Box<[u8]>)> {
        let pages = locate(range.start).0..locate(range.end + PAGE_BYTES as u64 - 1).0;
        let pages = self.pages.range(pages);
        pages.map(|(page, bytes)| (page * PAGE_BYTES as u64, bytes.clone())).collect()
    }

    /// Makes the pages of a range stable, and the size as far as the range reaches.
    pub(crate) fn settle(&mut self, range: Range<u64>) {
        let size = self.size;
        let Some(unstable) = &mut self.unstable else { return };
        let first = locate(range.start).0;
        if range.end >= size {
            unstable.pages.retain(|page, _| *page < first);
            unstable.size = size;
        } else {
            let end = locate(range.end.saturating_sub(1)).0;
            unstable.pages.retain(|page, _| !(first..=end).contains(page));
            unstable.size = unstable.size.max(range.end);
        }
        if unstable.pages.is_empty() && unstable.size == size {
            self.unstable = None;
        }
    }

    /// Goes back to what is stable; answers the old mtime if that is something else.
    pub(crate) fn lose_unstable(&mut self) -> Option<Time> {
        let unstable = self.unstable.take()?;
        for (page, before) in unstable.pages {
            match before {
                Some(bytes) => self.pages.insert(page, bytes),
                None => self.pages.remove(&page),
            };
        }
        // What a partial commit left behind its own end is not part of the file.
        self.size = unstable.size;
        let (last, inside) = locate(self.size);
        self.pages.split_off(&if inside == 0 { last } else { last + 1 });
        if let Some(bytes) = self.pages.get_mut(&last) {
            bytes[inside..].fill(0);
        }
        Some(unstable.mtime)
    }

    fn unstable(&mut self, mtime: Time) -> &mut Unstable {
        let size = self.size;
        self.unstable.get_or_insert_with(|| Unstable { size, mtime, pages: BTreeMap::new() })
    }

    /// Keeps a page as it is on stable storage before its first change.
    fn remember(&mut self, page: u64, mtime: Time) {
        if self.unstable.as_ref().is_some_and(|unstable| unstable.pages.contains_key(&page)) {
            return;
        }
        let before = self.pages.get(&page).cloned();
        self.unstable(mtime).pages.insert(page, before);
    }
}

/// The page of an offset, and the place in it.
fn locate(offset: u64) -> (u64, usize) {
    (offset / PAGE_BYTES as u64, (offset % PAGE_BYTES as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time { secs: 1, nanos: 0 };

    fn all(data: &Data) -> Vec<u8> {
        let mut bytes = vec![1; data.size() as usize];
        data.read(0, &mut bytes);
        bytes
    }

    #[test]
    fn bytes_cut_off_do_not_come_back() {
        let mut data = Data::default();
        data.write(0, &[7; 10], NOW);
        data.truncate(4, NOW);
        data.truncate(8, NOW);
        assert_eq!(all(&data), [7, 7, 7, 7, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_settled_survives_and_the_rest_does_not() {
        let page = PAGE_BYTES as u64;
        let mut data = Data::default();
        data.write(0, b"first", NOW);
        data.write(2 * page, b"third", NOW);
        data.settle(0..5);
        assert_eq!(data.lose_unstable(), Some(NOW));
        assert_eq!(all(&data), b"first");
        data.write(1, b"XX", NOW);
        data.settle(0..page);
        assert_eq!(data.lose_unstable(), None);
        assert_eq!(all(&data), b"fXXst");
    }

    #[test]
    fn a_lost_truncation_brings_the_data_back() {
        let mut data = Data::default();
        data.write(0, &[1; 3 * PAGE_BYTES], NOW);
        data.settle(0..u64::MAX);
        data.truncate(5, NOW);
        assert_eq!(data.page_count(), 1);
        data.lose_unstable();
        assert_eq!(all(&data), [1; 3 * PAGE_BYTES]);
    }

    #[test]
    fn pages_are_counted_before_they_are_used() {
        let mut data = Data::default();
        data.write(PAGE_BYTES as u64, b"x", NOW);
        assert_eq!(data.fitting(10, 3 * PAGE_BYTES, 0), 0);
        assert_eq!(data.fitting(10, 3 * PAGE_BYTES, 1), 2 * PAGE_BYTES - 10);
        assert_eq!(data.fitting(10, 3 * PAGE_BYTES, 9), 3 * PAGE_BYTES);
    }
}
