use hayase_proto::nfs3::*;
use hayase_xdr::{Opaque, from_bytes, to_vec};

use crate::{
    Piece::{self, Bytes, Hyper, Word},
    golden, wire,
};

const TIMES: [NfsTime3; 3] = [
    NfsTime3 { seconds: 1, nseconds: 2 },
    NfsTime3 { seconds: 3, nseconds: 4 },
    NfsTime3 { seconds: 5, nseconds: 6 },
];

const ATTR: Fattr3 = Fattr3 {
    ftype: FType3::Dir,
    mode: 0o755,
    nlink: 2,
    uid: 1000,
    gid: 100,
    size: 4096,
    used: 8192,
    rdev: SpecData3 { major: 8, minor: 1 },
    fsid: 0x1122_3344_5566_7788,
    fileid: 99,
    atime: TIMES[0],
    mtime: TIMES[1],
    ctime: TIMES[2],
};

const ATTR_PIECES: [Piece; 17] = [
    Word(2),
    Word(0o755),
    Word(2),
    Word(1000),
    Word(100),
    Hyper(4096),
    Hyper(8192),
    Word(8),
    Word(1),
    Hyper(0x1122_3344_5566_7788),
    Hyper(99),
    Word(1),
    Word(2),
    Word(3),
    Word(4),
    Word(5),
    Word(6),
];

#[test]
fn getattr() {
    golden(
        GetAttrArgs { object: Opaque(b"\xde\xad\xbe\xef\x01") },
        &wire(&[Word(5), Bytes(b"\xde\xad\xbe\xef\x01\0\0\0")]),
    );
    golden(GetAttrRes::Ok(ATTR), &[wire(&[Word(0)]), wire(&ATTR_PIECES)].concat());
    golden(GetAttrRes::Fail(Status::Stale, ()), &wire(&[Word(70)]));
}

#[test]
fn setattr() {
    let new_attributes = Sattr3 {
        mode: Some(0o640),
        uid: None,
        gid: Some(7),
        size: Some(1 << 32),
        atime: SetTime::ServerTime,
        mtime: SetTime::ClientTime(TIMES[0]),
    };
    golden(
        SetAttrArgs { object: Opaque(b"abcd"), new_attributes, guard: Some(TIMES[2]) },
        &wire(&[
            Word(4),
            Bytes(b"abcd"),
            Word(1),
            Word(0o640),
            Word(0),
            Word(1),
            Word(7),
            Word(1),
            Hyper(1 << 32),
            Word(1), // atime: the server's
            Word(2), // mtime: the client's
            Word(1),
            Word(2),
            Word(1), // guard
            Word(5),
            Word(6),
        ]),
    );
    let before = WccAttr { size: 9, mtime: TIMES[0], ctime: TIMES[1] };
    golden(
        SetAttrRes::Fail(Status::NotSync, WccData { before: Some(before), after: None }),
        &wire(&[Word(10002), Word(1), Hyper(9), Word(1), Word(2), Word(3), Word(4), Word(0)]),
    );
}

#[test]
fn lookup() {
    golden(
        LookupArgs { what: DirOpArgs3 { dir: Opaque(b"dir!"), name: Opaque(b"x") } },
        &wire(&[Word(4), Bytes(b"dir!"), Word(1), Bytes(b"x\0\0\0")]),
    );
    let ok =
        LookupResOk { object: Opaque(b"file"), obj_attributes: Some(ATTR), dir_attributes: None };
    golden(
        LookupRes::Ok(ok),
        &[wire(&[Word(0), Word(4), Bytes(b"file"), Word(1)]), wire(&ATTR_PIECES), wire(&[Word(0)])]
            .concat(),
    );
    golden(LookupRes::Fail(Status::NoEnt, None), &wire(&[Word(2), Word(0)]));
}

#[test]
fn read_and_write() {
    golden(
        ReadRes::Ok(ReadResOk { file_attributes: None, count: 2, eof: true, data: Opaque(b"hi") }),
        &wire(&[Word(0), Word(0), Word(2), Word(1), Word(2), Bytes(b"hi\0\0")]),
    );
    golden(
        WriteArgs {
            file: Opaque(b"file"),
            offset: 0x1_0000_0000,
            count: 3,
            stable: StableHow::FileSync,
            data: Opaque(b"abc"),
        },
        &wire(&[
            Word(4),
            Bytes(b"file"),
            Hyper(0x1_0000_0000),
            Word(3),
            Word(2),
            Word(3),
            Bytes(b"abc\0"),
        ]),
    );
    golden(
        WriteRes::Ok(WriteResOk {
            file_wcc: WccData::default(),
            count: 3,
            committed: StableHow::DataSync,
            verf: *b"boot-one",
        }),
        &wire(&[Word(0), Word(0), Word(0), Word(3), Word(1), Bytes(b"boot-one")]),
    );
}

#[test]
fn create_and_mknod() {
    let place = DirOpArgs3 { dir: Opaque(b"dir!"), name: Opaque(b"new") };
    let place_bytes = || wire(&[Word(4), Bytes(b"dir!"), Word(3), Bytes(b"new\0")]);
    golden(
        CreateArgs { place, how: CreateHow3::Exclusive(*b"verifier") },
        &[place_bytes(), wire(&[Word(2), Bytes(b"verifier")])].concat(),
    );
    golden(
        CreateArgs { place, how: CreateHow3::Guarded(Sattr3::default()) },
        &[place_bytes(), wire(&[Word(1), Hyper(0), Hyper(0), Hyper(0)])].concat(),
    );
    let device =
        DeviceData3 { dev_attributes: Sattr3::default(), spec: SpecData3 { major: 1, minor: 3 } };
    golden(
        MknodArgs { place, what: MknodData3::Chr(device) },
        &[place_bytes(), wire(&[Word(4), Hyper(0), Hyper(0), Hyper(0), Word(1), Word(3)])].concat(),
    );
    golden(MknodArgs { place, what: MknodData3::Dir }, &[place_bytes(), wire(&[Word(2)])].concat());
}

#[test]
fn readdirplus() {
    let bytes = [
        wire(&[Word(0), Word(0), Bytes(b"verifier")]),
        wire(&[Word(1), Hyper(99), Word(1), Bytes(b".\0\0\0"), Hyper(7), Word(1)]),
        wire(&ATTR_PIECES),
        wire(&[Word(1), Word(4), Bytes(b"self")]),
        wire(&[Word(1), Hyper(2), Word(2), Bytes(b"..\0\0"), Hyper(8), Word(0), Word(0)]),
        wire(&[Word(0), Word(1)]),
    ]
    .concat();
    let entries = [
        EntryPlus3 {
            fileid: 99,
            name: Opaque(b"."),
            cookie: 7,
            name_attributes: Some(ATTR),
            name_handle: Some(Opaque(b"self")),
        },
        EntryPlus3 {
            fileid: 2,
            name: Opaque(b".."),
            cookie: 8,
            name_attributes: None,
            name_handle: None,
        },
    ];
    let head = DirHead { dir_attributes: None, cookieverf: *b"verifier" };
    let mut written = Vec::new();
    let mut writer = DirListWriter::begin(&mut written, &head, 512).unwrap();
    assert!(entries.iter().all(|entry| writer.push(entry)));
    writer.finish(true).unwrap();
    assert_eq!(written, bytes);

    let Ok(ReaddirplusRes::Ok(read)) = from_bytes(&bytes) else { panic!("not read") };
    assert_eq!(read.head, head);
    assert!(read.list.iter().eq(entries));
    assert!(read.list.eof());
}

#[test]
fn numbers_are_the_rfcs() {
    assert_eq!(Proc::ALL.len(), 22);
    assert_eq!((PROGRAM, VERSION), (100_003, 3));
    for (number, &proc) in (0..).zip(Proc::ALL) {
        assert_eq!(Proc::try_from(number), Ok(proc));
        assert_eq!(u32::from(proc), number);
    }
    assert!(Proc::try_from(22).is_err());
    assert_eq!(Proc::Readdirplus.name(), "READDIRPLUS");
    assert_eq!(Status::NameTooLong.to_string(), "NFS3ERR_NAMETOOLONG");
    assert!(Status::try_from(0).is_err(), "success is an arm, not an error");
}

#[test]
fn handles_over_64_bytes_are_refused_and_long_names_are_not() {
    let long_handle = wire(&[Word(65), Bytes(&[0; 68])]);
    assert!(from_bytes::<GetAttrArgs<'_>>(&long_handle).is_err());
    let name = vec![b'n'; 70_000];
    let place = DirOpArgs3 { dir: Opaque(b"d"), name: Opaque(&name) };
    assert_eq!(from_bytes(&to_vec(&place)), Ok(place));
}
