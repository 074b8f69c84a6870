use hayase_proto::nfs3::*;
use hayase_xdr::{Encode, Opaque, from_bytes, to_vec};

use crate::{Sample, samples};

const TIME: NfsTime3 = NfsTime3 { seconds: 1_700_000_000, nseconds: 999_999_999 };
const SPEC: SpecData3 = SpecData3 { major: 8, minor: 1 };
const FH: FileHandle<'static> = Opaque(b"handle of odd length!");
const ATTR: Fattr3 = Fattr3 {
    ftype: FType3::Reg,
    mode: 0o644,
    nlink: 1,
    uid: 1000,
    gid: 100,
    size: 1 << 40,
    used: 4096,
    rdev: SPEC,
    fsid: 0xfeed_0000_0000_0001,
    fileid: 42,
    atime: TIME,
    mtime: TIME,
    ctime: TIME,
};
const WCC_ATTR: WccAttr = WccAttr { size: 7, mtime: TIME, ctime: TIME };
const WCC: WccData = WccData { before: Some(WCC_ATTR), after: Some(ATTR) };
const NO_WCC: WccData = WccData { before: None, after: None };
const SATTR: Sattr3 = Sattr3 {
    mode: Some(0o600),
    uid: Some(1),
    gid: None,
    size: Some(9),
    atime: SetTime::ServerTime,
    mtime: SetTime::ClientTime(TIME),
};
const NO_SATTR: Sattr3 = Sattr3 {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: SetTime::DontChange,
    mtime: SetTime::DontChange,
};
const PLACE: DirOpArgs3<'static> = DirOpArgs3 { dir: FH, name: Opaque(b"name") };
const DEVICE: DeviceData3 = DeviceData3 { dev_attributes: NO_SATTR, spec: SPEC };
const MADE: CreateResOk<'static> =
    CreateResOk { obj: Some(FH), obj_attributes: Some(ATTR), dir_wcc: WCC };
const MOVED: RenameResBody = RenameResBody { fromdir_wcc: WCC, todir_wcc: NO_WCC };
const LINKED: LinkResBody = LinkResBody { file_attributes: Some(ATTR), linkdir_wcc: WCC };
const READ_OK: ReadResOk<'static> =
    ReadResOk { file_attributes: Some(ATTR), count: 3, eof: true, data: Opaque(b"abc") };
const READ_HEAD: ReadResHead = ReadResHead { file_attributes: None, count: 70_000, eof: false };
const WROTE: WriteResOk =
    WriteResOk { file_wcc: WCC, count: 10, committed: StableHow::FileSync, verf: *b"verifier" };
const COMMITTED: CommitResOk = CommitResOk { file_wcc: NO_WCC, verf: *b"verifier" };
const HEAD: DirHead = DirHead { dir_attributes: Some(ATTR), cookieverf: *b"cookies!" };
const ENTRY: Entry3<'static> = Entry3 { fileid: 5, name: Opaque(b"five."), cookie: 6 };
const PLUS: EntryPlus3<'static> = EntryPlus3 {
    fileid: 5,
    name: Opaque(b"five."),
    cookie: 6,
    name_attributes: Some(ATTR),
    name_handle: Some(FH),
};
const BARE_PLUS: EntryPlus3<'static> =
    EntryPlus3 { name_attributes: None, name_handle: None, ..PLUS };
const STAT: FsStatResOk = FsStatResOk {
    obj_attributes: None,
    tbytes: 1 << 50,
    fbytes: 2,
    abytes: 3,
    tfiles: 4,
    ffiles: 5,
    afiles: 6,
    invarsec: 7,
};
const INFO: FsInfoResOk = FsInfoResOk {
    obj_attributes: Some(ATTR),
    rtmax: 1 << 20,
    rtpref: 2,
    rtmult: 3,
    wtmax: 4,
    wtpref: 5,
    wtmult: 6,
    dtpref: 7,
    maxfilesize: u64::MAX >> 1,
    time_delta: NfsTime3 { seconds: 0, nseconds: 1 },
    properties: fsf::LINK | fsf::SYMLINK | fsf::HOMOGENEOUS | fsf::CANSETTIME,
};
const CONF: PathConfResOk = PathConfResOk {
    obj_attributes: None,
    linkmax: 32_000,
    name_max: 255,
    no_trunc: true,
    chown_restricted: true,
    case_insensitive: false,
    case_preserving: true,
};

/// A listing can only be made by its writer, so samples are decoded from what it wrote.
fn listing<E: DirEntry>(entries: &[E], eof: bool) -> Vec<u8> {
    let mut wire = Vec::new();
    let mut writer = DirListWriter::begin(&mut wire, &HEAD, 4096).unwrap();
    for entry in entries {
        assert!(writer.push(entry));
    }
    writer.finish(eof).unwrap();
    wire
}

pub(crate) fn add(to: &mut Vec<Sample>) {
    procedures_on_objects(to);
    procedures_on_names(to);
    procedures_on_directories_and_file_systems(to);
}

fn procedures_on_objects(to: &mut Vec<Sample>) {
    samples!(to: nfs3 {
        FType3 [
            FType3::Reg, FType3::Dir, FType3::Blk, FType3::Chr, FType3::Lnk, FType3::Sock,
            FType3::Fifo,
        ]
        SpecData3 [SPEC]
        NfsTime3 [TIME]
        Fattr3 [ATTR]
        PostOpAttr [None, Some(ATTR)]
        PreOpAttr [None, Some(WCC_ATTR)]
        WccAttr [WCC_ATTR, WccAttr::from(&ATTR)]
        WccData [WCC, NO_WCC]
        SetTime [SetTime::DontChange, SetTime::ServerTime, SetTime::ClientTime(TIME)]
        Sattr3 [SATTR, NO_SATTR]
        FileHandle<'_> [Opaque(&[]), FH, Opaque(&[9; 64])]
        PostOpFh<'_> [None, Some(FH)]
        GetAttrArgs<'_> [GetAttrArgs { object: FH }]
        GetAttrRes [GetAttrRes::Ok(ATTR), GetAttrRes::Fail(Status::Stale, ())]
        SetAttrArgs<'_> [
            SetAttrArgs { object: FH, new_attributes: SATTR, guard: Some(TIME) },
            SetAttrArgs { object: FH, new_attributes: NO_SATTR, guard: None },
        ]
        SetAttrRes [SetAttrRes::Ok(WCC), SetAttrRes::Fail(Status::NotSync, NO_WCC)]
        AccessArgs<'_> [AccessArgs { object: FH, access: access::ALL }]
        AccessResOk [AccessResOk { obj_attributes: Some(ATTR), access: access::READ }]
        AccessRes [
            AccessRes::Ok(AccessResOk { obj_attributes: None, access: access::LOOKUP }),
            AccessRes::Fail(Status::Io, Some(ATTR)),
        ]
        ReadArgs<'_> [ReadArgs { file: FH, offset: 1 << 40, count: 1 << 20 }]
        ReadResOk<'_> [READ_OK]
        ReadRes<'_> [ReadRes::Ok(READ_OK), ReadRes::Fail(Status::IsDir, None)]
        ReadResHead [READ_HEAD]
        ReadHeadRes [ReadHeadRes::Ok(READ_HEAD), ReadHeadRes::Fail(Status::Acces, Some(ATTR))]
        StableHow [StableHow::Unstable, StableHow::DataSync, StableHow::FileSync]
        WriteArgs<'_> [WriteArgs {
            file: FH,
            offset: 4096,
            count: 5,
            stable: StableHow::DataSync,
            data: Opaque(b"write"),
        }]
        WriteArgsHead<'_> [WriteArgsHead {
            file: FH,
            offset: 4096,
            count: 5,
            stable: StableHow::Unstable,
            data_len: 5,
        }]
        WriteResOk [WROTE]
        WriteRes [WriteRes::Ok(WROTE), WriteRes::Fail(Status::NoSpc, WCC)]
        CommitArgs<'_> [CommitArgs { file: FH, offset: 0, count: 0 }]
        CommitResOk [COMMITTED]
        CommitRes [CommitRes::Ok(COMMITTED), CommitRes::Fail(Status::Io, WCC)]
    });
}

fn procedures_on_names(to: &mut Vec<Sample>) {
    let found = LookupResOk { object: FH, obj_attributes: Some(ATTR), dir_attributes: None };
    let text = ReadlinkResOk { symlink_attributes: Some(ATTR), data: Opaque(b"../target") };
    let symlink = SymlinkData3 { symlink_attributes: SATTR, symlink_data: Opaque(b"/a/b") };
    samples!(to: nfs3 {
        FileName<'_> [Opaque(b""), Opaque(b"a"), Opaque(&[b'x'; 300])]
        Path<'_> [Opaque(b"/a/b/c")]
        DirOpArgs3<'_> [PLACE]
        LookupArgs<'_> [LookupArgs { what: PLACE }]
        LookupResOk<'_> [found]
        LookupRes<'_> [LookupRes::Ok(found), LookupRes::Fail(Status::NoEnt, Some(ATTR))]
        ReadlinkArgs<'_> [ReadlinkArgs { symlink: FH }]
        ReadlinkResOk<'_> [text]
        ReadlinkRes<'_> [ReadlinkRes::Ok(text), ReadlinkRes::Fail(Status::Inval, None)]
        CreateHow3 [
            CreateHow3::Unchecked(SATTR),
            CreateHow3::Guarded(NO_SATTR),
            CreateHow3::Exclusive(*b"exclusiv"),
        ]
        CreateArgs<'_> [CreateArgs { place: PLACE, how: CreateHow3::Exclusive([1; 8]) }]
        CreateResOk<'_> [
            MADE,
            CreateResOk { obj: None, obj_attributes: None, dir_wcc: NO_WCC },
        ]
        CreateRes<'_> [CreateRes::Ok(MADE), CreateRes::Fail(Status::Exist, WCC)]
        MkdirArgs<'_> [MkdirArgs { place: PLACE, attributes: SATTR }]
        MkdirRes<'_> [MkdirRes::Ok(MADE), MkdirRes::Fail(Status::Rofs, NO_WCC)]
        SymlinkData3<'_> [symlink]
        SymlinkArgs<'_> [SymlinkArgs { place: PLACE, symlink }]
        SymlinkRes<'_> [SymlinkRes::Ok(MADE), SymlinkRes::Fail(Status::NotSupp, NO_WCC)]
        DeviceData3 [DEVICE]
        MknodData3 [
            MknodData3::Reg,
            MknodData3::Dir,
            MknodData3::Blk(DEVICE),
            MknodData3::Chr(DEVICE),
            MknodData3::Lnk,
            MknodData3::Sock(SATTR),
            MknodData3::Fifo(NO_SATTR),
        ]
        MknodArgs<'_> [MknodArgs { place: PLACE, what: MknodData3::Chr(DEVICE) }]
        MknodRes<'_> [MknodRes::Ok(MADE), MknodRes::Fail(Status::BadType, WCC)]
        RemoveArgs<'_> [RemoveArgs { object: PLACE }]
        RemoveRes [RemoveRes::Ok(WCC), RemoveRes::Fail(Status::NoEnt, WCC)]
        RmdirArgs<'_> [RmdirArgs { object: PLACE }]
        RmdirRes [RmdirRes::Ok(NO_WCC), RmdirRes::Fail(Status::NotEmpty, WCC)]
        RenameArgs<'_> [RenameArgs {
            from: PLACE,
            to: DirOpArgs3 { dir: Opaque(b"other"), name: Opaque(b"new name") },
        }]
        RenameResBody [MOVED]
        RenameRes [RenameRes::Ok(MOVED), RenameRes::Fail(Status::XDev, MOVED)]
        LinkArgs<'_> [LinkArgs { file: FH, link: PLACE }]
        LinkResBody [LINKED]
        LinkRes [LinkRes::Ok(LINKED), LinkRes::Fail(Status::MLink, LinkResBody::default())]
    });
}

fn procedures_on_directories_and_file_systems(to: &mut Vec<Sample>) {
    let (empty, full) = (listing::<Entry3<'_>>(&[], true), listing(&[ENTRY, ENTRY], false));
    let plus_full = listing(&[PLUS, BARE_PLUS], true);
    let plus_empty = listing::<EntryPlus3<'_>>(&[], false);
    let list = from_bytes::<ReaddirRes<'_>>(&full).unwrap().ok().unwrap();
    let plus_list = from_bytes::<ReaddirplusRes<'_>>(&plus_full).unwrap().ok().unwrap();
    samples!(to: nfs3 {
        Proc [Proc::Null, Proc::Commit]
        Status [Status::Perm, Status::Jukebox]
        ReaddirArgs<'_> [ReaddirArgs { dir: FH, cookie: 0, cookieverf: [0; 8], count: 4096 }]
        Entry3<'_> [ENTRY]
        DirHead [HEAD, DirHead { dir_attributes: None, cookieverf: [0; 8] }]
        ReaddirResOk<'_> [list]
        ReaddirRes<'_> [
            from_bytes(&full).unwrap(),
            from_bytes(&empty).unwrap(),
            ReaddirRes::Fail(Status::BadCookie, Some(ATTR)),
        ]
        ReaddirplusArgs<'_> [ReaddirplusArgs {
            dir: FH,
            cookie: u64::MAX,
            cookieverf: [255; 8],
            dircount: 512,
            maxcount: 4096,
        }]
        EntryPlus3<'_> [PLUS, BARE_PLUS]
        ReaddirplusResOk<'_> [plus_list]
        ReaddirplusRes<'_> [
            from_bytes(&plus_full).unwrap(),
            from_bytes(&plus_empty).unwrap(),
            ReaddirplusRes::Fail(Status::NotSupp, None),
        ]
        FsStatArgs<'_> [FsStatArgs { fsroot: FH }]
        FsStatResOk [STAT]
        FsStatRes [FsStatRes::Ok(STAT), FsStatRes::Fail(Status::Stale, None)]
        FsInfoArgs<'_> [FsInfoArgs { fsroot: FH }]
        FsInfoResOk [INFO]
        FsInfoRes [FsInfoRes::Ok(INFO), FsInfoRes::Fail(Status::BadHandle, None)]
        PathConfArgs<'_> [PathConfArgs { object: FH }]
        PathConfResOk [CONF]
        PathConfRes [PathConfRes::Ok(CONF), PathConfRes::Fail(Status::ServerFault, Some(ATTR))]
    });
}

#[test]
fn entries_know_their_size() {
    fn knows(entry: &impl DirEntry) {
        assert_eq!(to_vec(entry).len(), entry.encoded_len());
    }
    for name in [&b""[..], b"1", b"four", b"five."] {
        knows(&Entry3 { name: Opaque(name), ..ENTRY });
        knows(&EntryPlus3 { name: Opaque(name), ..PLUS });
        knows(&EntryPlus3 { name: Opaque(name), ..BARE_PLUS });
        let bare = Entry3 { name: Opaque(name), ..ENTRY };
        assert_eq!(EntryPlus3 { name: Opaque(name), ..PLUS }.name_len(), to_vec(&bare).len());
    }
    for head in [HEAD, DirHead { dir_attributes: None, ..HEAD }] {
        let mut wire = Vec::new();
        head.encode(&mut wire);
        assert_eq!(wire.len(), head.encoded_len());
    }
    assert_eq!(to_vec(&ATTR).len(), Fattr3::WIRE_BYTES);
}
