//! READDIR and READDIRPLUS of one directory from beginning to end, over and over; each slot is a
//! walker of its own.

use hayase_proto::nfs3::{self, CookieVerf, DirHead, Entry3, EntryPlus3, PostOpAttr, Proc};
use hayase_proto::nfs4::{self, Attr, Bitmap, Entry4, Op, PutFhArgs, Res4, Verifier};
use hayase_xdr::{Decode, Opaque, Reader};

use super::attributes::USUAL;
use super::{Call, Done, Failure, Procedure, Workload};
use crate::load::client::{Handle, Results, success};
use crate::load::target::Version;

/// What Linux asks for where it lists names alone…
const NAMES: Bitmap = Bitmap::of(&[Attr::RdattrError, Attr::MountedOnFileId]);
/// … and what on top of the usual where it wants attributes.
const HANDLES: Bitmap = Bitmap::of(&[Attr::RdattrError, Attr::FileHandle]);

/// Where a walker is.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    cookie: u64,
    verf: CookieVerf,
}

/// Lists a directory.
#[derive(Debug)]
pub struct Listing {
    version: Version,
    directory: Handle,
    /// With attributes and handles.
    plus: bool,
    max_bytes: u32,
    positions: Vec<Position>,
}

impl Listing {
    /// Lists from `slots` slots at once, with attributes and handles if `plus`.
    pub fn new(
        version: Version,
        directory: Handle,
        plus: bool,
        max_bytes: u32,
        slots: usize,
    ) -> Self {
        let positions = vec![Position::default(); slots];
        Listing { version, directory, plus, max_bytes, positions }
    }

    /// The next entry's cookie.
    fn next_cookie(&self, reader: &mut Reader<'_>) -> hayase_xdr::Result<Option<u64>> {
        Ok(match (self.version, self.plus) {
            (Version::V3, false) => Option::<Entry3<'_>>::decode(reader)?.map(|entry| entry.cookie),
            (Version::V3, true) => {
                Option::<EntryPlus3<'_>>::decode(reader)?.map(|entry| entry.cookie)
            }
            (Version::V4 { .. }, _) => {
                Option::<Entry4<'_>>::decode(reader)?.map(|entry| entry.cookie)
            }
        })
    }
}

impl Workload for Listing {
    fn procedure(&self) -> Procedure {
        match (self.version, self.plus) {
            (Version::V3, false) => Procedure::V3(Proc::Readdir),
            (Version::V3, true) => Procedure::V3(Proc::Readdirplus),
            (Version::V4 { .. }, _) => Procedure::V4(Op::Readdir),
        }
    }

    fn next(&mut self, slot: usize, call: &mut Call<'_>) -> bool {
        let Position { cookie, verf: cookieverf } = self.positions[slot];
        let dir = Opaque(&self.directory[..]);
        let (dircount, maxcount) = (self.max_bytes, self.max_bytes);
        match (self.version, self.plus) {
            (Version::V3, false) => {
                call.args(&nfs3::ReaddirArgs { dir, cookie, cookieverf, count: maxcount });
            }
            (Version::V3, true) => {
                call.args(&nfs3::ReaddirplusArgs { dir, cookie, cookieverf, dircount, maxcount });
            }
            (Version::V4 { .. }, plus) => {
                let attr_request = if plus { USUAL | HANDLES } else { NAMES };
                let args =
                    nfs4::ReaddirArgs { cookie, cookieverf, dircount, maxcount, attr_request };
                call.on(&self.directory).op(&args);
            }
        }
        true
    }

    fn finish(&mut self, slot: usize, result: &[u8], _: usize) -> Result<Option<Done>, Failure> {
        // After a failure it begins again.
        let position = std::mem::take(&mut self.positions[slot]);
        let (verf, mut reader) = match self.version {
            Version::V3 => begin3(result)?,
            Version::V4 { .. } => begin4(result)?,
        };
        let (mut entries, mut cookie) = (0, position.cookie);
        while let Some(next) = self.next_cookie(&mut reader)? {
            cookie = next;
            entries += 1;
        }
        if !bool::decode(&mut reader)? {
            self.positions[slot] = Position { cookie, verf };
        }
        Ok(Some(Done { bytes: 0, entries }))
    }
}

/// Reads what is before the entries.
fn begin3(result: &[u8]) -> Result<(CookieVerf, Reader<'_>), Failure> {
    let mut reader = Reader::new(result);
    let status = reader.word()?;
    if status != 0 {
        PostOpAttr::decode(&mut reader)?;
        return Err(Failure::Status(nfs3::Status::try_from(status)?));
    }
    let DirHead { cookieverf, .. } = DirHead::decode(&mut reader)?;
    Ok((cookieverf, reader))
}

fn begin4(result: &[u8]) -> Result<(CookieVerf, Reader<'_>), Failure> {
    let mut results = Results::new(result);
    results.ok::<PutFhArgs<'_>, _, _>()?;
    let head: Res4<Verifier> = results.take_as(Op::Readdir)?;
    Ok((success(Op::Readdir, head)?, Reader::new(results.rest())))
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs3::{DirListWriter, ReaddirArgs};
    use hayase_proto::nfs4::{Fattr, PutFhRes};
    use hayase_xdr::{Encode, from_bytes};

    use super::*;

    const DONE: Option<Done> = Some(Done { bytes: 0, entries: 3 });

    fn next(listing: &mut Listing, slot: usize) -> Vec<u8> {
        let mut args = Vec::new();
        assert!(listing.next(slot, &mut Call::begin(&mut args)));
        args
    }

    #[test]
    fn a_walker_goes_on_behind_the_last_entry_and_starts_again_at_the_end() {
        let mut listing = Listing::new(Version::V3, b"dir".to_vec().into(), false, 4096, 2);
        let cookie = |args: Vec<u8>| from_bytes::<ReaddirArgs<'_>>(&args).unwrap().cookie;
        let head = DirHead { dir_attributes: None, cookieverf: [5; 8] };
        for (eof, expected) in [(false, 9), (true, 0)] {
            let mut result = Vec::new();
            let mut writer = DirListWriter::begin(&mut result, &head, 4096).unwrap();
            for cookie in 7..10 {
                writer.push(&Entry3 { fileid: 1, name: Opaque(b"name"), cookie });
            }
            writer.finish(eof).unwrap();
            assert_eq!(listing.finish(1, &result, result.len()), Ok(DONE));
            assert_eq!(cookie(next(&mut listing, 1)), expected);
            assert_eq!(cookie(next(&mut listing, 0)), 0);
        }
    }

    #[test]
    fn so_it_does_by_compounds() {
        let version = Version::V4 { minor: 2 };
        let mut listing = Listing::new(version, b"dir".to_vec().into(), false, 4096, 1);
        for (eof, cookie, cookieverf) in [(false, 9, [5; 8]), (true, 0, [0; 8])] {
            let mut result = Vec::new();
            Op::PutFh.encode(&mut result);
            PutFhRes::Ok(()).encode(&mut result);
            Op::Readdir.encode(&mut result);
            Res4::<Verifier>::Ok([5; 8]).encode(&mut result);
            for cookie in 7..10 {
                Some(Entry4 { cookie, name: Opaque(b"name"), attrs: Fattr::EMPTY })
                    .encode(&mut result);
            }
            None::<Entry4<'_>>.encode(&mut result);
            eof.encode(&mut result);
            assert_eq!(listing.finish(0, &result, result.len()), Ok(DONE));
            let mut expected = Vec::new();
            let mut call = Call::begin(&mut expected);
            let (dircount, maxcount, attr_request) = (4096, 4096, NAMES);
            let args = nfs4::ReaddirArgs { cookie, cookieverf, dircount, maxcount, attr_request };
            call.on(b"dir").op(&args);
            assert_eq!(next(&mut listing, 0), expected);
        }
    }
}
