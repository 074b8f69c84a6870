//! Requests as procedures of NFSv3 (RFC 1813 §3).

use hayase_proto::nfs3::{
    self, CommitArgs, CommitRes, CreateArgs, CreateHow3, CreateRes, DirOpArgs3, FType3, Fattr3,
    FsStatArgs, FsStatRes, GetAttrArgs, GetAttrRes, LinkArgs, LinkRes, LookupArgs, LookupRes,
    MkdirArgs, NfsTime3, Proc, ReadArgs, ReadRes, ReaddirArgs, ReaddirRes, ReaddirplusArgs,
    ReaddirplusRes, ReadlinkArgs, ReadlinkRes, RemoveArgs, RemoveRes, RenameArgs, RenameRes, Res3,
    RmdirArgs, Sattr3, SetAttrArgs, SetAttrRes, SymlinkArgs, SymlinkData3, WriteArgsHead, WriteRes,
};
use hayase_xdr::{Decode, Encode, Opaque, Reader, from_bytes};

use super::{Failure, NewOpen, Outcome, Step};
use crate::request::{Cursor, Entry, Found, Listing};
use crate::{
    Attributes, Create, FileHandle, FileType, FsStat, Name, Reply, Request, SetAttributes, SetTime,
    Time,
};

/// Bytes of a listing's reply.
const LISTING_BYTES: u32 = 64 << 10;
/// Bytes of names in a listing with attributes.
const LISTING_NAME_BYTES: u32 = 8 << 10;

/// Appends a procedure's arguments, but for the data of WRITE.
pub(super) fn encode(request: &Request, step: &Step, to: &mut Vec<u8>) -> Proc {
    match request {
        Request::Open { dir, name, .. }
        | Request::MkDir { dir, name, .. }
        | Request::Symlink { dir, name, .. }
            if *step == Step::Find =>
        {
            LookupArgs { what: place(dir, name) }.encode(to);
            Proc::Lookup
        }
        _ => encode_first(request, to),
    }
}

fn encode_first(request: &Request, to: &mut Vec<u8>) -> Proc {
    match request {
        Request::Null => Proc::Null,
        Request::GetAttr { file } => {
            GetAttrArgs { object: handle(file) }.encode(to);
            Proc::GetAttr
        }
        Request::SetAttr { file, set } => set_attr(file, set, to),
        Request::Truncate { file, size } => set_attr(&file.handle, &SetAttributes::size(*size), to),
        Request::Access { file, wanted } => {
            nfs3::AccessArgs { object: handle(file), access: *wanted }.encode(to);
            Proc::Access
        }
        Request::Lookup { dir, name } => {
            LookupArgs { what: place(dir, name) }.encode(to);
            Proc::Lookup
        }
        Request::ReadLink { link } => {
            ReadlinkArgs { symlink: handle(link) }.encode(to);
            Proc::Readlink
        }
        Request::Open { dir, name, how } => {
            let how = match &how.create {
                Create::Never => {
                    LookupArgs { what: place(dir, name) }.encode(to);
                    return Proc::Lookup;
                }
                Create::IfMissing(set) => CreateHow3::Unchecked(sattr(set)),
                Create::New(set) => CreateHow3::Guarded(sattr(set)),
            };
            CreateArgs { place: place(dir, name), how }.encode(to);
            Proc::Create
        }
        Request::Close { .. } => unreachable!("NFSv3 has nothing to close"),
        Request::Read { file, offset, len, .. } => {
            ReadArgs { file: handle(&file.handle), offset: *offset, count: *len }.encode(to);
            Proc::Read
        }
        Request::Write { file, offset, len, stable, .. } => {
            let (file, offset, count, stable) = (handle(&file.handle), *offset, *len, *stable);
            WriteArgsHead { file, offset, count, stable, data_len: count }.encode(to);
            Proc::Write
        }
        Request::Commit { file, offset, len } => {
            CommitArgs { file: handle(&file.handle), offset: *offset, count: *len }.encode(to);
            Proc::Commit
        }
        Request::ReadDir { dir, from: Cursor { cookie, verifier }, with_attributes } => {
            let (dir, cookie, cookieverf) = (handle(dir), *cookie, *verifier);
            if *with_attributes {
                let (dircount, maxcount) = (LISTING_NAME_BYTES, LISTING_BYTES);
                ReaddirplusArgs { dir, cookie, cookieverf, dircount, maxcount }.encode(to);
                Proc::Readdirplus
            } else {
                ReaddirArgs { dir, cookie, cookieverf, count: LISTING_BYTES }.encode(to);
                Proc::Readdir
            }
        }
        Request::MkDir { dir, name, mode } => {
            let attributes = Sattr3 { mode: Some(*mode), ..Sattr3::default() };
            MkdirArgs { place: place(dir, name), attributes }.encode(to);
            Proc::Mkdir
        }
        Request::Symlink { dir, name, target } => {
            let symlink_attributes = Sattr3::default();
            let symlink = SymlinkData3 { symlink_attributes, symlink_data: Opaque(target) };
            SymlinkArgs { place: place(dir, name), symlink }.encode(to);
            Proc::Symlink
        }
        Request::Link { file, dir, name } => {
            LinkArgs { file: handle(file), link: place(dir, name) }.encode(to);
            Proc::Link
        }
        Request::Rename(rename) => {
            let from = place(&rename.from_dir, &rename.from);
            RenameArgs { from, to: place(&rename.to_dir, &rename.to) }.encode(to);
            Proc::Rename
        }
        Request::Remove { dir, name } => {
            RemoveArgs { object: place(dir, name) }.encode(to);
            Proc::Remove
        }
        Request::RmDir { dir, name } => {
            RmdirArgs { object: place(dir, name) }.encode(to);
            Proc::Rmdir
        }
        Request::FsStat { file } => {
            FsStatArgs { fsroot: handle(file) }.encode(to);
            Proc::FsStat
        }
    }
}

/// Reads a procedure's result.
pub(super) fn decode(request: &Request, step: &Step, result: &[u8]) -> Result<Outcome, Failure> {
    if *step == Step::Find {
        let found = found(result)?;
        return Ok(opened_or_found(request, found));
    }
    let reply = match request {
        Request::Null | Request::Close { .. } => Reply::Done,
        Request::GetAttr { .. } => {
            Reply::Attributes(attributes(&from_bytes::<GetAttrRes>(result)?.ok()?))
        }
        Request::SetAttr { .. } | Request::Truncate { .. } => {
            done(from_bytes::<SetAttrRes>(result)?)?
        }
        Request::Access { .. } => {
            Reply::Access(from_bytes::<nfs3::AccessRes>(result)?.ok()?.access)
        }
        Request::Lookup { .. } => Reply::Found(found(result)?),
        Request::ReadLink { .. } => {
            Reply::Text(from_bytes::<ReadlinkRes<'_>>(result)?.ok()?.data.0.into())
        }
        Request::Open { how, .. } if how.create == Create::Never => {
            return Ok(opened_or_found(request, found(result)?));
        }
        Request::Open { .. } | Request::MkDir { .. } | Request::Symlink { .. } => {
            let made = from_bytes::<CreateRes<'_>>(result)?.ok()?;
            let Some(handle) = made.obj else { return Ok(Outcome::Next(Step::Find)) };
            let attributes = made.obj_attributes.as_ref().map(attributes);
            return Ok(opened_or_found(request, Found { handle: handle.try_into()?, attributes }));
        }
        Request::Read { .. } => {
            let ok = from_bytes::<ReadRes<'_>>(result)?.ok()?;
            Reply::Read { count: ok.count, eof: ok.eof }
        }
        Request::Write { .. } => {
            let ok = from_bytes::<WriteRes>(result)?.ok()?;
            Reply::Written { count: ok.count, committed: ok.committed, verifier: ok.verf }
        }
        Request::Commit { .. } => {
            Reply::Committed { verifier: from_bytes::<CommitRes>(result)?.ok()?.verf }
        }
        Request::ReadDir { with_attributes: true, .. } => {
            let ok = from_bytes::<ReaddirplusRes<'_>>(result)?.ok()?;
            let entries = ok.list.iter().map(|entry| {
                let handle = entry.name_handle.map(FileHandle::try_from).transpose()?;
                let known = entry.name_attributes.as_ref().map(attributes);
                Ok((entry.name.0, entry.cookie, entry.fileid, handle, known))
            });
            listing(entries, ok.list.eof(), ok.head.cookieverf)?
        }
        Request::ReadDir { with_attributes: false, .. } => {
            let ok = from_bytes::<ReaddirRes<'_>>(result)?.ok()?;
            let entries = ok
                .list
                .iter()
                .map(|entry| Ok((entry.name.0, entry.cookie, entry.fileid, None, None)));
            listing(entries, ok.list.eof(), ok.head.cookieverf)?
        }
        Request::Link { .. } => done(from_bytes::<LinkRes>(result)?)?,
        Request::Rename(_) => done(from_bytes::<RenameRes>(result)?)?,
        Request::Remove { .. } | Request::RmDir { .. } => done(from_bytes::<RemoveRes>(result)?)?,
        Request::FsStat { .. } => {
            let ok = from_bytes::<FsStatRes>(result)?.ok()?;
            Reply::FsStat(FsStat {
                total_bytes: ok.tbytes,
                free_bytes: ok.fbytes,
                available_bytes: ok.abytes,
                total_files: ok.tfiles,
                free_files: ok.ffiles,
                available_files: ok.afiles,
            })
        }
    };
    Ok(Outcome::Reply(reply))
}

/// The beginning of READ's result: how many bytes, and whether the file ends with them.
pub(super) fn read_head(reader: &mut Reader<'_>) -> hayase_xdr::Result<Option<(u32, bool)>> {
    match Reader::word(&mut { *reader })? {
        0 => {}
        _ => return Ok(None),
    }
    match nfs3::ReadHeadRes::decode(reader)? {
        Res3::Ok(head) => Ok(Some((head.count, head.eof))),
        Res3::Fail(..) => Ok(None),
    }
}

type RawEntry<'a> = (&'a [u8], u64, u64, Option<FileHandle>, Option<Attributes>);

/// A listing, without `.` and `..`.
pub(super) fn listing<'a>(
    raw: impl Iterator<Item = Result<RawEntry<'a>, Failure>>,
    eof: bool,
    verifier: [u8; 8],
) -> Result<Reply, Failure> {
    let mut entries = Vec::new();
    let mut last = None;
    for entry in raw {
        let (name, cookie, fileid, handle, attributes) = entry?;
        last = Some(cookie);
        if name == b"." || name == b".." {
            continue;
        }
        // A name with a slash would lead its reader elsewhere.
        let name =
            Name::new(name).map_err(|_| hayase_xdr::Error::UnknownValue(name.len() as u32))?;
        entries.push(Entry { name, fileid, handle, attributes });
    }
    let next = match last {
        _ if eof => None,
        Some(cookie) => Some(Cursor { cookie, verifier }),
        // Neither the end nor an entry: asking again would come to the same.
        None => return Err(Failure::Broken(hayase_xdr::Error::Truncated)),
    };
    Ok(Reply::Listing(Listing { entries, next }))
}

fn found(result: &[u8]) -> Result<Found, Failure> {
    let ok = from_bytes::<LookupRes<'_>>(result)?.ok()?;
    let attributes = ok.obj_attributes.as_ref().map(attributes);
    Ok(Found { handle: ok.object.try_into()?, attributes })
}

fn opened_or_found(request: &Request, found: Found) -> Outcome {
    if matches!(request, Request::Open { .. }) {
        let Found { handle, attributes } = found;
        let stateid = hayase_proto::nfs4::StateId::ANONYMOUS;
        Outcome::Open(NewOpen { handle, stateid, attributes })
    } else {
        Outcome::Reply(Reply::Found(found))
    }
}

fn done<T, F>(res: Res3<T, F>) -> Result<Reply, Failure> {
    res.ok()?;
    Ok(Reply::Done)
}

fn set_attr(file: &FileHandle, set: &SetAttributes, to: &mut Vec<u8>) -> Proc {
    SetAttrArgs { object: handle(file), new_attributes: sattr(set), guard: None }.encode(to);
    Proc::SetAttr
}

fn handle(handle: &FileHandle) -> nfs3::FileHandle<'_> {
    Opaque(handle.as_bytes())
}

fn place<'a>(dir: &'a FileHandle, name: &'a Name) -> DirOpArgs3<'a> {
    DirOpArgs3 { dir: handle(dir), name: Opaque(name.as_bytes()) }
}

fn sattr(set: &SetAttributes) -> Sattr3 {
    let time = |time: Option<SetTime>| match time {
        None => nfs3::SetTime::DontChange,
        Some(SetTime::Now) => nfs3::SetTime::ServerTime,
        // Seconds are unsigned there: the nearest that there is.
        Some(SetTime::To(Time { seconds, nanos })) => nfs3::SetTime::ClientTime(NfsTime3 {
            seconds: u32::try_from(seconds.max(0)).unwrap_or(u32::MAX),
            nseconds: nanos,
        }),
    };
    Sattr3 {
        mode: set.mode,
        uid: set.uid,
        gid: set.gid,
        size: set.size,
        atime: time(set.accessed),
        mtime: time(set.modified),
    }
}

fn attributes(attr: &Fattr3) -> Attributes {
    let time = |time: NfsTime3| Time { seconds: time.seconds.into(), nanos: time.nseconds };
    Attributes {
        kind: match attr.ftype {
            FType3::Reg => FileType::File,
            FType3::Dir => FileType::Directory,
            FType3::Blk => FileType::BlockDevice,
            FType3::Chr => FileType::CharDevice,
            FType3::Lnk => FileType::Symlink,
            FType3::Sock => FileType::Socket,
            FType3::Fifo => FileType::Fifo,
        },
        mode: attr.mode,
        links: attr.nlink,
        uid: Some(attr.uid),
        gid: Some(attr.gid),
        size: attr.size,
        used: attr.used,
        fsid: (attr.fsid, 0),
        fileid: attr.fileid,
        accessed: time(attr.atime),
        modified: time(attr.mtime),
        changed: time(attr.ctime),
        change: u64::from(attr.ctime.seconds) << 32 | u64::from(attr.ctime.nseconds),
    }
}
