//! Calls as a server reads them.

use hayase_buf::Buffer;
use hayase_proto::nfs3::{self, Proc};
use hayase_proto::nfs4::{CompoundHead, Op, OpSet, SequenceArgs, StateId};
use hayase_rpc::CallHeader;
use hayase_xdr::{Decode, Reader};

use super::{Codec, Head, OwnerSeq, Sequence, Step, Terms};
use crate::net::Identity;
use crate::request::{Cursor, Stable};
use crate::{
    FileHandle, Name, OpenFile, OpenHow, Options, Rename, Request, SetAttributes, Version,
};

fn handle(text: &str) -> FileHandle {
    FileHandle::from_bytes(text.as_bytes()).unwrap()
}

/// One of each request but NULL, with its procedure in NFSv3 and its operations in NFSv4.
fn requests() -> Vec<(Request, Option<Proc>, Vec<Op>)> {
    let (dir, name) = (handle("dir"), Name::new("name").unwrap());
    let file = OpenFile::anonymous(handle("file"));
    let (known, of) = ([Op::GetFh, Op::GetAttr], handle("file"));
    let with = |op| [&[Op::PutFh, op][..], &known].concat();
    let on = |op| vec![Op::PutFh, op];
    let two = |op| vec![Op::PutFh, Op::SaveFh, Op::PutFh, op];
    let rename =
        Rename { from_dir: handle("a"), from: name.clone(), to_dir: handle("b"), to: name.clone() };
    let buffer = || Buffer::unpooled(5);
    let list = |with_attributes| Request::ReadDir {
        dir: dir.clone(),
        from: Cursor::START,
        with_attributes,
    };
    let named = || (dir.clone(), name.clone());
    let open = |how| Request::Open { dir: named().0, name: named().1, how };
    vec![
        (Request::GetAttr { file: of.clone() }, Some(Proc::GetAttr), on(Op::GetAttr)),
        (
            Request::SetAttr { file: of.clone(), set: SetAttributes::mode(7) },
            Some(Proc::SetAttr),
            on(Op::SetAttr),
        ),
        (Request::Truncate { file: file.clone(), size: 3 }, Some(Proc::SetAttr), on(Op::SetAttr)),
        (Request::Access { file: of.clone(), wanted: 1 }, Some(Proc::Access), on(Op::Access)),
        (Request::Lookup { dir: named().0, name: named().1 }, Some(Proc::Lookup), with(Op::Lookup)),
        (Request::ReadLink { link: of.clone() }, Some(Proc::Readlink), on(Op::Readlink)),
        (open(OpenHow::READ), Some(Proc::Lookup), with(Op::Open)),
        (open(OpenHow::create(0o600)), Some(Proc::Create), with(Op::Open)),
        (open(OpenHow::create_new(0o600)), Some(Proc::Create), with(Op::Open)),
        (Request::Close { file: file.clone() }, None, on(Op::Close)),
        (
            Request::Read { file: file.clone(), offset: 1, len: 5, buffer: buffer() },
            Some(Proc::Read),
            on(Op::Read),
        ),
        (
            Request::Write {
                file: file.clone(),
                offset: 1,
                len: 5,
                stable: Stable::DataSync,
                buffer: buffer(),
            },
            Some(Proc::Write),
            on(Op::Write),
        ),
        (Request::Commit { file, offset: 0, len: 0 }, Some(Proc::Commit), on(Op::Commit)),
        (list(false), Some(Proc::Readdir), on(Op::Readdir)),
        (list(true), Some(Proc::Readdirplus), on(Op::Readdir)),
        (
            Request::MkDir { dir: named().0, name: named().1, mode: 0o700 },
            Some(Proc::Mkdir),
            with(Op::Create),
        ),
        (
            Request::Symlink { dir: named().0, name: named().1, target: (*b"to").into() },
            Some(Proc::Symlink),
            with(Op::Create),
        ),
        (
            Request::Link { file: of.clone(), dir: named().0, name: named().1 },
            Some(Proc::Link),
            two(Op::Link),
        ),
        (Request::Rename(Box::new(rename)), Some(Proc::Rename), two(Op::Rename)),
        (Request::Remove { dir: named().0, name: named().1 }, Some(Proc::Remove), on(Op::Remove)),
        (Request::RmDir { dir: named().0, name: named().1 }, Some(Proc::Rmdir), on(Op::Remove)),
        (Request::FsStat { file: of }, Some(Proc::FsStat), on(Op::GetAttr)),
    ]
}

fn codec(version: Version) -> Codec {
    Codec::new(version, &Identity::new(&Options::default()))
}

const SEQUENCE: Sequence =
    Sequence { session: *b"a session's name", slot: 5, id: 7, highest_slot: 8 };

fn terms(version: Version) -> Terms {
    Terms {
        xid: 0x1234_5678,
        sequence: version.has_sessions().then_some(SEQUENCE),
        stateid: StateId { seqid: 3, other: *b"an open file" },
        owner: OwnerSeq { name: *b"an owner", seqid: 9 },
        clientid: 77,
    }
}

/// A call with the data that goes after it.
fn call(version: Version, request: &Request) -> Vec<u8> {
    let mut wire = Vec::new();
    codec(version).encode(request, &Step::First, &terms(version), &mut wire);
    if matches!(request, Request::Write { .. }) {
        wire.extend_from_slice(b"12345\0\0\0");
    }
    wire
}

#[test]
fn a_server_reads_the_operations_that_are_meant() {
    for version in [Version::V40, Version::V41, Version::V42] {
        for (request, _, ops) in requests() {
            let wire = call(version, &request);
            let mut reader = Reader::new(&wire);
            let header = CallHeader::decode(&mut reader).unwrap();
            assert_eq!(
                (header.xid, header.prog, header.vers, header.proc),
                (0x1234_5678, 100_003, 4, 1)
            );
            let head = CompoundHead::decode(&mut reader).unwrap();
            assert_eq!(Some(head.minorversion), version.minor());
            let mut expected = ops.clone();
            if version.has_sessions() {
                expected.insert(0, Op::Sequence);
                assert_eq!(Reader::word(&mut { reader }), Ok(Op::Sequence.into()));
                let mut args = reader;
                args.word().unwrap();
                let args = SequenceArgs::decode(&mut args).unwrap();
                let said = (args.sessionid, args.slotid, args.sequenceid, args.highest_slotid);
                assert_eq!(said, (SEQUENCE.session, 5, 7, 8));
                let changes =
                    matches!(ops[ops.len() - 1], Op::Close | Op::Link | Op::Rename | Op::Remove)
                        || ops.contains(&Op::Open)
                        || ops.contains(&Op::Create);
                assert_eq!(args.cachethis, changes, "{request:?}");
            }
            assert_eq!(head.count as usize, expected.len(), "{request:?}");
            for op in expected {
                assert_eq!(reader.word(), Ok(op.into()), "{request:?}");
                op.skip_args(&mut reader).unwrap();
            }
            reader.finish().unwrap();
        }
    }
}

#[test]
fn a_server_reads_the_procedure_that_is_meant() {
    for (request, proc, _) in requests() {
        let Some(proc) = proc else { continue };
        let wire = call(Version::V3, &request);
        let mut reader = Reader::new(&wire);
        let header = CallHeader::decode(&mut reader).unwrap();
        assert_eq!((header.vers, header.proc), (3, proc.into()), "{request:?}");
        if let Request::Write { .. } = request {
            let args = nfs3::WriteArgs::decode(&mut reader).unwrap();
            assert_eq!((args.offset, args.count, args.data.0), (1, 5, &b"12345"[..]));
        } else if let Request::Read { .. } = request {
            let args = nfs3::ReadArgs::decode(&mut reader).unwrap();
            assert_eq!((args.file.0, args.offset, args.count), (&b"file"[..], 1, 5));
        } else {
            continue;
        }
        reader.finish().unwrap();
    }
}

#[test]
fn only_the_own_sequences_answer_will_do() {
    use hayase_proto::nfs4::{
        CompoundResWriter, NfsStat, Res4, SequenceRes, SequenceResOk, Status,
    };
    use hayase_xdr::Encode;

    let answer = |res: SequenceRes| {
        let mut wire = Vec::new();
        hayase_rpc::accept(1, &mut wire);
        let mut writer = CompoundResWriter::begin(&mut wire, b"");
        writer.begin_op(Op::Sequence, &mut wire);
        res.encode(&mut wire);
        writer.finish(NfsStat::OK, &mut wire);
        wire.extend_from_slice(b"rest");
        wire
    };
    let ok = SequenceResOk {
        sessionid: SEQUENCE.session,
        sequenceid: 7,
        slotid: 5,
        highest_slotid: 30,
        target_highest_slotid: 20,
        status_flags: 0,
    };
    let codec = codec(Version::V41);
    let request = Request::GetAttr { file: handle("file") };
    let open = |wire: &[u8], sequence| match codec.open(wire, &request, Some(&sequence)) {
        Ok(Head::Results(told, rest)) => Ok((told, rest.to_vec())),
        other => Err(format!("{other:?}")),
    };
    let wire = answer(SequenceRes::Ok(ok));
    assert_eq!(open(&wire, SEQUENCE), Ok((Some(ok), b"rest".to_vec())));
    assert!(open(&wire, Sequence { id: 8, ..SEQUENCE }).is_err());
    assert!(open(&wire, Sequence { slot: 4, ..SEQUENCE }).is_err());
    assert!(open(&wire, Sequence { session: [0; 16], ..SEQUENCE }).is_err());
    let failed = open(&answer(Res4::Fail(Status::BadSlot)), SEQUENCE).unwrap_err();
    assert!(failed.contains("NoSequence"), "{failed}");
}
