//! READDIR and READDIRPLUS of one directory from beginning to end, over and over; each slot is a
//! walker of its own.

use hayase_proto::nfs3::{
    CookieVerf, DirHead, Entry3, EntryPlus3, PostOpAttr, Proc, ReaddirArgs, ReaddirplusArgs, Status,
};
use hayase_xdr::{Decode, Encode, Opaque, Reader};

use super::{Done, Failure, Workload};
use crate::client::Handle;

/// Where a walker is.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    cookie: u64,
    verf: CookieVerf,
}

/// Lists a directory.
#[derive(Debug)]
pub struct Listing {
    directory: Handle,
    plus: bool,
    max_bytes: u32,
    positions: Vec<Position>,
}

impl Listing {
    /// Lists from `slots` slots at once, by READDIRPLUS if `plus`.
    pub fn new(directory: Handle, plus: bool, max_bytes: u32, slots: usize) -> Self {
        Listing { directory, plus, max_bytes, positions: vec![Position::default(); slots] }
    }
}

impl Workload for Listing {
    fn proc(&self) -> Proc {
        if self.plus { Proc::Readdirplus } else { Proc::Readdir }
    }

    fn next(&mut self, slot: usize, to: &mut Vec<u8>) -> bool {
        let Position { cookie, verf: cookieverf } = self.positions[slot];
        let (dir, max) = (Opaque(&self.directory[..]), self.max_bytes);
        if self.plus {
            ReaddirplusArgs { dir, cookie, cookieverf, dircount: max, maxcount: max }.encode(to);
        } else {
            ReaddirArgs { dir, cookie, cookieverf, count: max }.encode(to);
        }
        true
    }

    fn finish(&mut self, slot: usize, result: &[u8], _: usize) -> Result<Done, Failure> {
        let mut reader = Reader::new(result);
        let status = reader.word()?;
        if status != 0 {
            self.positions[slot] = Position::default();
            PostOpAttr::decode(&mut reader)?;
            return Err(Failure::Status(Status::try_from(status)?));
        }
        let DirHead { cookieverf: verf, .. } = DirHead::decode(&mut reader)?;
        let (mut entries, mut cookie) = (0, self.positions[slot].cookie);
        while let Some(next) = next_cookie(self.plus, &mut reader)? {
            cookie = next;
            entries += 1;
        }
        let eof = bool::decode(&mut reader)?;
        self.positions[slot] = if eof { Position::default() } else { Position { cookie, verf } };
        Ok(Done { bytes: 0, entries })
    }
}

fn next_cookie(plus: bool, reader: &mut Reader<'_>) -> hayase_xdr::Result<Option<u64>> {
    Ok(if plus {
        Option::<EntryPlus3<'_>>::decode(reader)?.map(|entry| entry.cookie)
    } else {
        Option::<Entry3<'_>>::decode(reader)?.map(|entry| entry.cookie)
    })
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs3::DirListWriter;
    use hayase_xdr::from_bytes;

    use super::*;

    #[test]
    fn a_walker_goes_on_behind_the_last_entry_and_starts_again_at_the_end() {
        let mut listing = Listing::new(b"dir".to_vec().into(), false, 4096, 2);
        let head = DirHead { dir_attributes: None, cookieverf: [5; 8] };
        for (eof, next) in [(false, 9), (true, 0)] {
            let mut result = Vec::new();
            let mut writer = DirListWriter::begin(&mut result, &head, 4096).unwrap();
            for cookie in 7..10 {
                writer.push(&Entry3 { fileid: 1, name: Opaque(b"name"), cookie });
            }
            writer.finish(eof).unwrap();
            let done = Done { bytes: 0, entries: 3 };
            assert_eq!(listing.finish(1, &result, result.len()), Ok(done));
            let mut args = Vec::new();
            listing.next(1, &mut args);
            assert_eq!(from_bytes::<ReaddirArgs<'_>>(&args).unwrap().cookie, next);
            args.clear();
            listing.next(0, &mut args);
            assert_eq!(from_bytes::<ReaddirArgs<'_>>(&args).unwrap().cookie, 0);
        }
    }
}
