//! Writing what READDIR answers, entry by entry, within what the client asked for
//! (RFC 8881 §18.23).

use hayase_xdr::{Encode, Opaque, padding};

use super::{NfsStat, Status, Verifier};

/// The cookie verifier before the list.
const HEAD_BYTES: usize = 8;
/// The end of the list and the `eof` flag.
const TAIL_BYTES: usize = 8;
/// The word before each entry that says one follows.
const FOLLOWS_BYTES: usize = 4;
/// Bitmap and values of an entry without attributes.
const NO_ATTRS_BYTES: usize = 8;

/// Writes the answer of READDIR. Attributes are written in place, by a
/// [`FattrWriter`](super::FattrWriter) in a closure; an entry that turns out too long
/// is taken back.
#[derive(Debug)]
pub struct ReaddirWriter<'b> {
    to: &'b mut Vec<u8>,
    start: usize,
    end: usize,
    names_left: usize,
    empty: bool,
    refused: bool,
}

impl<'b> ReaddirWriter<'b> {
    /// Writes status and verifier. `max` bounds the whole `resok`: the call's `maxcount`,
    /// after the server's own limit.
    ///
    /// Writes nothing and fails with [`Status::TooSmall`] if not even an empty list fits.
    pub fn begin(to: &'b mut Vec<u8>, cookieverf: Verifier, max: u32) -> Result<Self, Status> {
        let left = (max as usize).checked_sub(HEAD_BYTES + TAIL_BYTES).ok_or(Status::TooSmall)?;
        let start = to.len();
        NfsStat::OK.encode(to);
        cookieverf.encode(to);
        let end = to.len() + left;
        Ok(ReaddirWriter { to, start, end, names_left: usize::MAX, empty: true, refused: false })
    }

    /// Also bounds names and cookies of all entries together: the call's `dircount`, zero for
    /// none. One entry is always let through, so that every client gets on.
    #[must_use]
    pub fn with_dircount(mut self, dircount: u32) -> Self {
        self.names_left = if dircount == 0 { usize::MAX } else { dircount as usize };
        self
    }

    /// Writes an entry if it fits; `attrs` appends its `fattr4`. If it does not fit, nothing
    /// is written, and the listing has to end here: a later entry may not take its place.
    ///
    /// If `attrs` fails, nothing is written either.
    pub fn push<E>(
        &mut self,
        cookie: u64,
        name: &[u8],
        attrs: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let name_len = 8 + 4 + name.len() + padding(name.len());
        let least = FOLLOWS_BYTES + name_len + NO_ATTRS_BYTES;
        self.refused |= least > self.end - self.to.len();
        self.refused |= name_len > self.names_left && !self.empty;
        if self.refused {
            return Ok(false);
        }
        let entry_at = self.to.len();
        true.encode(self.to);
        cookie.encode(self.to);
        Opaque::<{ u32::MAX }>(name).encode(self.to);
        let written = attrs(self.to);
        self.refused = written.is_ok() && self.to.len() > self.end;
        if written.is_err() || self.refused {
            self.to.truncate(entry_at);
            return written.map(|()| false);
        }
        self.names_left = self.names_left.saturating_sub(name_len);
        self.empty = false;
        Ok(true)
    }

    /// Bytes left for entries.
    pub fn left(&self) -> usize {
        self.end - self.to.len()
    }

    /// Whether no entry has been written.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Ends the listing. `eof` says that the directory ends here.
    ///
    /// If there were entries and none fitted, takes back all that was written
    /// and fails with [`Status::TooSmall`].
    pub fn finish(self, eof: bool) -> Result<(), Status> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs4::{Attr, Bitmap, FattrWriter, ReaddirRes};
    use hayase_xdr::from_bytes;

    const WANTED: Bitmap = Bitmap::of(&[Attr::FileId]);
    /// Status, verifier, end of list and `eof`.
    const EMPTY_BYTES: usize = 4 + 8 + 8;
    /// One follows, cookie, name, bitmap, values.
    const ENTRY_BYTES: usize = 4 + 8 + 12 + 8 + 12;

    fn push(writer: &mut ReaddirWriter<'_>, cookie: u64, name: &[u8]) -> bool {
        let attrs = |to: &mut Vec<u8>| {
            let mut attrs = FattrWriter::begin(to, WANTED);
            attrs.push(Attr::FileId, &(100 + cookie));
            attrs.finish();
            Ok::<_, Status>(())
        };
        writer.push(cookie, name, attrs).unwrap()
    }

    #[test]
    fn a_listing_never_exceeds_its_budget_and_wastes_none() {
        for max in 16..300_u32 {
            let mut wire = vec![0xaa; 3];
            let mut writer = ReaddirWriter::begin(&mut wire, [7; 8], max).unwrap();
            let fitting = (3..=7).take_while(|&cookie| push(&mut writer, cookie, b"name5")).count();
            assert_eq!(fitting, ((max as usize - 16) / ENTRY_BYTES).min(5));
            let done = writer.finish(true);
            if fitting == 0 {
                assert_eq!((done, wire.len()), (Err(Status::TooSmall), 3));
                continue;
            }
            assert_eq!((done, wire.len() - 3), (Ok(()), EMPTY_BYTES + fitting * ENTRY_BYTES));
            assert!(wire.len() - 3 - 4 <= max as usize, "resok longer than {max}");
            let Ok(ReaddirRes::Ok(ok)) = from_bytes(&wire[3..]) else { panic!("{wire:?}") };
            assert_eq!((ok.cookieverf, ok.list.iter().count()), ([7; 8], fitting));
            assert!(ok.list.iter().map(|entry| entry.cookie).eq(3..3 + fitting as u64));
            assert_eq!(ok.list.eof(), fitting == 5, "no end may be told after a refusal");
        }
    }

    #[test]
    fn without_room_for_an_empty_list_nothing_is_written() {
        let mut wire = Vec::new();
        for max in 0..16 {
            assert!(matches!(ReaddirWriter::begin(&mut wire, [0; 8], max), Err(Status::TooSmall)));
        }
        assert_eq!(wire, []);
        ReaddirWriter::begin(&mut wire, [7; 8], 16).unwrap().finish(true).unwrap();
        let words = [0_u32, 0x0707_0707, 0x0707_0707, 0, 1].map(u32::to_be_bytes);
        assert_eq!(wire, words.concat());
    }

    #[test]
    fn dircount_bounds_names_but_lets_one_entry_through() {
        for (dircount, expected) in [(0, 5), (1, 1), (20, 1), (40, 2), (180, 5)] {
            let mut wire = Vec::new();
            let writer = ReaddirWriter::begin(&mut wire, [0; 8], 4096).unwrap();
            let mut writer = writer.with_dircount(dircount);
            let fitting = (3..=7).take_while(|&cookie| push(&mut writer, cookie, b"name5")).count();
            assert_eq!(fitting, expected, "dircount {dircount}");
        }
    }

    #[test]
    fn after_a_refusal_no_smaller_entry_slips_in() {
        let mut wire = Vec::new();
        let mut writer = ReaddirWriter::begin(&mut wire, [0; 8], 150).unwrap();
        assert!(push(&mut writer, 3, b"name5"));
        let long = |to: &mut Vec<u8>| {
            to.extend_from_slice(&[0; 200]);
            Ok::<_, Status>(())
        };
        let before = writer.left();
        assert_eq!(writer.push(4, b"a", long), Ok(false));
        assert_eq!(writer.left(), before);
        assert!(!push(&mut writer, 5, b"b"));
        writer.finish(true).unwrap();
        let Ok(ReaddirRes::Ok(ok)) = from_bytes(&wire) else { panic!("{wire:?}") };
        assert_eq!((ok.list.iter().count(), ok.list.eof()), (1, false));
    }

    #[test]
    fn an_entry_whose_attributes_fail_leaves_no_trace() {
        let mut wire = b"before".to_vec();
        let mut writer = ReaddirWriter::begin(&mut wire, [0; 8], 1000).unwrap();
        let failing = |to: &mut Vec<u8>| {
            to.push(1);
            Err(Status::Access)
        };
        let left = writer.left();
        assert_eq!(writer.push(3, b"secret", failing), Err(Status::Access));
        assert!(writer.is_empty() && writer.left() == left);
        assert!(push(&mut writer, 4, b"open"));
        writer.abandon();
        assert_eq!(wire, b"before");
    }
}
