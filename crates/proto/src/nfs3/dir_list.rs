//! Directory listings: written entry by entry within a budget, read without
//! recursion or allocation (RFC 1813 §3.3.16, `dirlist3`; §3.3.17, `dirlistplus3`).

use std::marker::PhantomData;

use hayase_xdr::{Decode, Encode, Reader, Result};

use super::{DirHead, PostOpAttr, Res3, Status};

/// The end of a list and the `eof` flag.
const TAIL_BYTES: usize = 8;
/// The word before each entry that says one follows.
const FOLLOWS_BYTES: usize = 4;

/// An entry of a listing, which knows its size before it is written.
pub trait DirEntry: Encode {
    /// Bytes on the wire.
    fn encoded_len(&self) -> usize;

    /// Bytes of number, name and cookie: what READDIRPLUS counts as `dircount` (RFC 1813 §3.3.17).
    fn name_len(&self) -> usize;
}

/// Writes the answer of READDIR or READDIRPLUS, entry by entry, within what the client asked for.
#[derive(Debug)]
pub struct DirListWriter<'b> {
    to: &'b mut Vec<u8>,
    start: usize,
    left: usize,
    names_left: usize,
    empty: bool,
    refused: bool,
}

impl<'b> DirListWriter<'b> {
    /// Writes status and head. `max` bounds the whole `resok`: READDIR's
    /// `count` or READDIRPLUS's `maxcount`, after the server's own limit.
    ///
    /// Writes nothing and fails with [`Status::TooSmall`] if not even an empty list fits.
    pub fn begin(
        to: &'b mut Vec<u8>,
        head: &DirHead,
        max: u32,
    ) -> std::result::Result<Self, Status> {
        let left =
            (max as usize).checked_sub(head.encoded_len() + TAIL_BYTES).ok_or(Status::TooSmall)?;
        let start = to.len();
        Res3::<_, PostOpAttr>::Ok(*head).encode(to);
        Ok(DirListWriter { to, start, left, names_left: usize::MAX, empty: true, refused: false })
    }

    /// Also bounds number, name and cookie of all entries together: READDIRPLUS's
    /// `dircount`. One entry is always let through, so that every client gets on.
    #[must_use]
    pub fn with_dircount(mut self, dircount: u32) -> Self {
        self.names_left = dircount as usize;
        self
    }

    /// Writes an entry if it fits. If not, nothing is written, and the listing
    /// has to end here: a later entry may not take the place of this one.
    pub fn push(&mut self, entry: &impl DirEntry) -> bool {
        let len = FOLLOWS_BYTES + entry.encoded_len();
        let names_len = entry.name_len();
        self.refused |= len > self.left || (names_len > self.names_left && !self.empty);
        if self.refused {
            return false;
        }
        true.encode(self.to);
        entry.encode(self.to);
        self.left -= len;
        self.names_left = self.names_left.saturating_sub(names_len);
        self.empty = false;
        true
    }

    /// Bytes left for entries.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Whether no entry has been written.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Ends the listing. `eof` says that the directory ends here.
    ///
    /// If there were entries and none fitted, takes back all that was written
    /// and fails with [`Status::TooSmall`].
    pub fn finish(self, eof: bool) -> std::result::Result<(), Status> {
        if self.empty && self.refused {
            self.abandon();
            return Err(Status::TooSmall);
        }
        false.encode(self.to);
        (eof && !self.refused).encode(self.to);
        Ok(())
    }

    /// Takes back all that was written, for another answer.
    pub fn abandon(self) {
        self.to.truncate(self.start);
    }
}

/// A received listing, checked as a whole when it was decoded and read again entry by entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirList<'a, E> {
    /// The entries with the word that ends them.
    entries: &'a [u8],
    eof: bool,
    entry: PhantomData<E>,
}

impl<'a, E: Decode<'a>> DirList<'a, E> {
    /// Whether the directory ends with these entries.
    pub fn eof(&self) -> bool {
        self.eof
    }

    /// The entries in order.
    pub fn iter(&self) -> DirListIter<'a, E> {
        DirListIter { rest: Reader::new(self.entries), entry: PhantomData }
    }
}

impl<'a, E: Decode<'a>> IntoIterator for &DirList<'a, E> {
    type Item = E;
    type IntoIter = DirListIter<'a, E>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The entries of a [`DirList`].
#[derive(Clone, Debug)]
pub struct DirListIter<'a, E> {
    rest: Reader<'a>,
    entry: PhantomData<E>,
}

impl<'a, E: Decode<'a>> Iterator for DirListIter<'a, E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        // The bytes were decoded once already, so only the list's end yields None.
        Option::<E>::decode(&mut self.rest).ok().flatten()
    }
}

impl<'a, E: Decode<'a>> Decode<'a> for DirList<'a, E> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let start = from.rest();
        while Option::<E>::decode(from)?.is_some() {}
        let entries = &start[..start.len() - from.rest().len()];
        Ok(DirList { entries, eof: bool::decode(from)?, entry: PhantomData })
    }
}

impl<E> Encode for DirList<'_, E> {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.entries);
        self.eof.encode(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::{Entry3, EntryPlus3, ReaddirRes, ReaddirplusRes};
    use hayase_xdr::{Error, Opaque, from_bytes, to_vec};

    const HEAD: DirHead = DirHead { dir_attributes: None, cookieverf: [7; 8] };
    /// Status word, head and tail.
    const EMPTY_BYTES: usize = 4 + 12 + 8;

    fn entry<'a>(cookie: u64) -> Entry3<'a> {
        Entry3 { fileid: 100 + cookie, name: Opaque(b"name5"), cookie }
    }

    fn plus(cookie: u64) -> EntryPlus3<'static> {
        let Entry3 { fileid, name, cookie } = entry(cookie);
        let name_handle = Some(Opaque(&b"handle"[..]));
        EntryPlus3 { fileid, name, cookie, name_attributes: None, name_handle }
    }

    #[test]
    fn a_listing_never_exceeds_its_budget_and_wastes_none() {
        let len = 4 + entry(0).encoded_len();
        for max in 20..400_u32 {
            let mut wire = vec![0xaa; 3];
            let mut writer = DirListWriter::begin(&mut wire, &HEAD, max).unwrap();
            let fitting = (1..=5).take_while(|&cookie| writer.push(&entry(cookie))).count();
            assert_eq!(fitting, ((max as usize - 20) / len).min(5));
            let done = writer.finish(true);
            if fitting == 0 {
                assert_eq!((done, wire.len()), (Err(Status::TooSmall), 3));
                continue;
            }
            assert_eq!((done, wire.len() - 3), (Ok(()), EMPTY_BYTES + fitting * len));
            assert!(wire.len() - 3 - 4 <= max as usize, "resok longer than {max}");
            let Ok(ReaddirRes::Ok(ok)) = from_bytes(&wire[3..]) else { panic!("{wire:?}") };
            assert_eq!(ok.head, HEAD);
            assert!(ok.list.iter().eq((1..=fitting as u64).map(entry)));
            assert_eq!(ok.list.eof(), fitting == 5, "no end may be told after a refusal");
        }
    }

    #[test]
    fn without_room_for_an_empty_list_nothing_is_written() {
        let mut wire = Vec::new();
        for max in 0..20 {
            assert!(matches!(DirListWriter::begin(&mut wire, &HEAD, max), Err(Status::TooSmall)));
        }
        assert_eq!(wire, []);
        DirListWriter::begin(&mut wire, &HEAD, 20).unwrap().finish(true).unwrap();
        let words = [0_u32, 0, 0x0707_0707, 0x0707_0707, 0, 1].map(u32::to_be_bytes);
        assert_eq!(wire, words.concat());
    }

    #[test]
    fn dircount_bounds_names_but_lets_one_entry_through() {
        let names = plus(0).name_len() as u32;
        for (dircount, expected) in [(0, 1), (1, 1), (names, 1), (2 * names, 2), (9 * names, 5)] {
            let mut wire = Vec::new();
            let mut writer =
                DirListWriter::begin(&mut wire, &HEAD, 4096).unwrap().with_dircount(dircount);
            let fitting = (1..=5).take_while(|&cookie| writer.push(&plus(cookie))).count();
            assert_eq!(fitting, expected, "dircount {dircount}");
            writer.finish(true).unwrap();
            let Ok(ReaddirplusRes::Ok(ok)) = from_bytes(&wire) else { panic!("{wire:?}") };
            assert_eq!(ok.list.into_iter().count(), expected);
        }
    }

    #[test]
    fn after_a_refusal_no_smaller_entry_slips_in() {
        let mut wire = Vec::new();
        let mut writer = DirListWriter::begin(&mut wire, &HEAD, 100).unwrap();
        assert!(writer.push(&entry(1)));
        assert!(!writer.push(&Entry3 { name: Opaque(&[b'x'; 200]), ..entry(2) }));
        assert!(!writer.push(&entry(3)));
        writer.finish(true).unwrap();
        let Ok(ReaddirRes::Ok(ok)) = from_bytes(&wire) else { panic!("{wire:?}") };
        assert_eq!((ok.list.iter().count(), ok.list.eof()), (1, false));
    }

    #[test]
    fn an_abandoned_listing_leaves_no_trace() {
        let mut wire = b"before".to_vec();
        let mut writer = DirListWriter::begin(&mut wire, &HEAD, 1000).unwrap();
        assert!(writer.is_empty());
        assert!(writer.push(&entry(1)));
        assert!(!writer.is_empty());
        writer.abandon();
        assert_eq!(wire, b"before");
    }

    #[test]
    fn a_million_entries_are_read_without_recursion() {
        let one = [&[0, 0, 0, 1][..], &to_vec(&entry(1))].concat();
        let mut wire = one.repeat(1_000_000);
        wire.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]);
        let list = from_bytes::<DirList<'_, Entry3<'_>>>(&wire).unwrap();
        assert_eq!(list.iter().count(), 1_000_000);
        wire.truncate(wire.len() - 8);
        let endless = from_bytes::<DirList<'_, Entry3<'_>>>(&wire);
        assert_eq!(endless, Err(Error::Truncated));
    }
}
