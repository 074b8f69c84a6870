use hayase_proto::nfs4::*;
use hayase_xdr::{Encode, Opaque, from_bytes};

use super::{FATTR, NAME, STATEID};
use crate::{Sample, samples};

const READ_OK: ReadResOk<'static> = ReadResOk { eof: true, data: Opaque(b"abcde") };
const READ_HEAD: ReadResHead = ReadResHead { eof: false, count: 70_000 };
const WROTE: WriteResOk =
    WriteResOk { count: 10, committed: StableHow::FileSync, writeverf: *b"verifier" };

pub(crate) fn add(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        ReadArgs [ReadArgs { stateid: STATEID, offset: 1 << 40, count: 1 << 20 }]
        ReadResOk<'_> [READ_OK]
        ReadRes<'_> [ReadRes::Ok(READ_OK), ReadRes::Fail(Status::OpenMode)]
        ReadResHead [READ_HEAD]
        ReadHeadRes [ReadHeadRes::Ok(READ_HEAD), ReadHeadRes::Fail(Status::Io)]
        WriteArgs<'_> [WriteArgs {
            stateid: STATEID,
            offset: 4096,
            stable: StableHow::DataSync,
            data: Opaque(b"write"),
        }]
        WriteArgsHead [WriteArgsHead {
            stateid: STATEID,
            offset: 4096,
            stable: StableHow::Unstable,
            data_len: 5,
        }]
        WriteResOk [WROTE]
        WriteRes [WriteRes::Ok(WROTE), WriteRes::Fail(Status::NoSpc)]
        CommitArgs [CommitArgs { offset: 0, count: 0 }]
        CommitRes [CommitRes::Ok(*b"verifier"), CommitRes::Fail(Status::Io)]
        ReaddirArgs [ReaddirArgs {
            cookie: 3,
            cookieverf: *b"cookies!",
            dircount: 4096,
            maxcount: 32768,
            attr_request: FATTR.mask,
        }]
        Entry4<'_> [Entry4 { cookie: 3, name: NAME, attrs: FATTR }]
    });
    listings(to);
}

/// A listing can only be made by its writer, so samples are decoded from what it wrote.
fn listing(names: &[&[u8]], eof: bool) -> Vec<u8> {
    let mut wire = Vec::new();
    let mut writer = ReaddirWriter::begin(&mut wire, *b"cookies!", 4096).unwrap();
    for (cookie, name) in (3..).zip(names) {
        let attrs = |to: &mut Vec<u8>| {
            FATTR.encode(to);
            Ok::<_, Status>(())
        };
        assert_eq!(writer.push(cookie, name, attrs), Ok(true));
    }
    writer.finish(eof).unwrap();
    wire
}

fn listings(to: &mut Vec<Sample>) {
    let (empty, full) = (listing(&[], true), listing(&[b"a", b"name5"], false));
    let ok = |wire| match from_bytes::<ReaddirRes<'_>>(wire) {
        Ok(ReaddirRes::Ok(ok)) => ok,
        other => panic!("{other:?}"),
    };
    let (empty, full) = (ok(&empty), ok(&full));
    samples!(to: nfs4 {
        ReaddirResOk<'_> [empty, full]
        ReaddirRes<'_> [
            ReaddirRes::Ok(empty),
            ReaddirRes::Ok(full),
            ReaddirRes::Fail(Status::NotSame),
        ]
    });
}
