//! Attributes of NFSv4 as the client knows them (RFC 8881 §5).

use hayase_proto::nfs4::{
    Attr, Bitmap, FType, Fattr, Fsid, NfsStat, NfsTime, SetAttrs, SetTime as SetTime4,
};
use hayase_xdr::{Decode, Error, Opaque, Reader};

use crate::{Attributes, FileHandle, FileType, FsStat, SetAttributes, SetTime, Time};

/// What is asked for to know a file.
pub(super) const STAT: Bitmap = Bitmap::of(&[
    Attr::Type,
    Attr::Change,
    Attr::Size,
    Attr::Fsid,
    Attr::FileId,
    Attr::Mode,
    Attr::NumLinks,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::SpaceUsed,
    Attr::TimeAccess,
    Attr::TimeMetadata,
    Attr::TimeModify,
]);

/// What is asked for of each entry of a listing, with attributes and without.
pub(super) const ENTRY_STAT: Bitmap = Bitmap::of(&[
    Attr::Type,
    Attr::Change,
    Attr::Size,
    Attr::Fsid,
    Attr::RdattrError,
    Attr::FileHandle,
    Attr::FileId,
    Attr::Mode,
    Attr::NumLinks,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::SpaceUsed,
    Attr::TimeAccess,
    Attr::TimeMetadata,
    Attr::TimeModify,
]);
pub(super) const ENTRY: Bitmap = Bitmap::of(&[Attr::RdattrError, Attr::FileId]);

/// What is asked for to know how full a file system is.
pub(super) const FULLNESS: Bitmap = Bitmap::of(&[
    Attr::FilesAvail,
    Attr::FilesFree,
    Attr::FilesTotal,
    Attr::SpaceAvail,
    Attr::SpaceFree,
    Attr::SpaceTotal,
]);

/// What a server told of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    kind: Option<FileType>,
    change: Option<u64>,
    size: Option<u64>,
    fsid: Option<(u64, u64)>,
    /// An entry of a listing of which nothing can be told.
    refused: bool,
    pub(super) handle: Option<FileHandle>,
    pub(super) fileid: Option<u64>,
    mode: Option<u32>,
    links: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    used: Option<u64>,
    accessed: Option<Time>,
    changed: Option<Time>,
    modified: Option<Time>,
}

impl Told {
    /// Reads attributes, which may be none but those that can be asked for here.
    pub(super) fn read(fattr: Fattr<'_>) -> hayase_xdr::Result<Self> {
        let Fattr { mask, values } = fattr;
        let unknown = mask - ENTRY_STAT;
        if !unknown.is_empty() {
            return Err(Error::UnknownValue(unknown.iter().next().unwrap_or(Bitmap::CAPACITY)));
        }
        let mut values = Values { mask, reader: Reader::new(values.0) };
        // In the order of their numbers.
        let told = Told {
            kind: values.next(Attr::Type)?.map(file_type),
            change: values.next(Attr::Change)?,
            size: values.next(Attr::Size)?,
            fsid: values.next::<Fsid>(Attr::Fsid)?.map(|fsid| (fsid.major, fsid.minor)),
            refused: values.next::<NfsStat>(Attr::RdattrError)?.is_some_and(|stat| !stat.is_ok()),
            handle: (values.next::<hayase_proto::nfs4::FileHandle<'_>>(Attr::FileHandle)?)
                .map(FileHandle::try_from)
                .transpose()?,
            fileid: values.next(Attr::FileId)?,
            mode: values.next(Attr::Mode)?,
            links: values.next(Attr::NumLinks)?,
            uid: values.next(Attr::Owner)?.and_then(number),
            gid: values.next(Attr::OwnerGroup)?.and_then(number),
            used: values.next(Attr::SpaceUsed)?,
            accessed: values.next(Attr::TimeAccess)?.map(time),
            changed: values.next(Attr::TimeMetadata)?.map(time),
            modified: values.next(Attr::TimeModify)?.map(time),
        };
        values.reader.finish()?;
        Ok(told)
    }

    /// All of a file's attributes; `None` if the server left one out.
    pub(super) fn attributes(&self) -> Option<Attributes> {
        if self.refused {
            return None;
        }
        Some(Attributes {
            kind: self.kind?,
            mode: self.mode?,
            links: self.links?,
            uid: self.uid,
            gid: self.gid,
            size: self.size?,
            used: self.used?,
            fsid: self.fsid?,
            fileid: self.fileid?,
            accessed: self.accessed?,
            modified: self.modified?,
            changed: self.changed?,
            change: self.change?,
        })
    }
}

/// The values of a `fattr4` one after the other.
struct Values<'a> {
    mask: Bitmap,
    reader: Reader<'a>,
}

impl<'a> Values<'a> {
    fn next<T: Decode<'a>>(&mut self, attr: Attr) -> hayase_xdr::Result<Option<T>> {
        self.mask.contains(attr).then(|| T::decode(&mut self.reader)).transpose()
    }
}

/// How full a file system is. A server need not know files or space: that is zero.
pub(super) fn fullness(fattr: Fattr<'_>) -> hayase_xdr::Result<FsStat> {
    let attrs = hayase_proto::nfs4::Attrs::try_from(fattr)?;
    Ok(FsStat {
        total_bytes: attrs.space_total.unwrap_or(0),
        free_bytes: attrs.space_free.unwrap_or(0),
        available_bytes: attrs.space_avail.unwrap_or(0),
        total_files: attrs.files_total.unwrap_or(0),
        free_files: attrs.files_free.unwrap_or(0),
        available_files: attrs.files_avail.unwrap_or(0),
    })
}

/// Appends attributes to set as a `fattr4`, and tells which. Owners are numbers as text, as with
/// `AUTH_SYS` they may be (RFC 8881 §5.9).
pub(super) fn encode_set(set: &SetAttributes, to: &mut Vec<u8>) -> Bitmap {
    let (uid, gid) = (set.uid.map(|uid| uid.to_string()), set.gid.map(|gid| gid.to_string()));
    let set_time = |time: SetTime| match time {
        SetTime::Now => SetTime4::ServerTime,
        SetTime::To(Time { seconds, nanos }) => {
            SetTime4::ClientTime(NfsTime { seconds, nseconds: nanos })
        }
    };
    let attrs = SetAttrs {
        size: set.size,
        mode: set.mode,
        owner: uid.as_ref().map(|uid| Opaque(uid.as_bytes())),
        owner_group: gid.as_ref().map(|gid| Opaque(gid.as_bytes())),
        time_access_set: set.accessed.map(set_time),
        time_modify_set: set.modified.map(set_time),
        ..SetAttrs::default()
    };
    attrs.write(SetAttrs::KNOWN, to)
}

/// An owner that is told as a number; `None` for a name.
fn number(owner: Opaque<'_>) -> Option<u32> {
    std::str::from_utf8(owner.0).ok()?.parse().ok()
}

fn time(time: NfsTime) -> Time {
    Time { seconds: time.seconds, nanos: time.nseconds }
}

fn file_type(kind: FType) -> FileType {
    match kind {
        FType::Reg => FileType::File,
        FType::Dir => FileType::Directory,
        FType::Blk => FileType::BlockDevice,
        FType::Chr => FileType::CharDevice,
        FType::Lnk => FileType::Symlink,
        FType::Sock => FileType::Socket,
        FType::Fifo => FileType::Fifo,
        FType::AttrDir | FType::NamedAttr => FileType::Named,
    }
}
