//! Between the file system's values and those of NFSv3.

use hayase_proto::nfs3::{
    FType3, Fattr3, NfsTime3, Sattr3, SetTime as WireSetTime, SpecData3, StableHow, Status,
    WccAttr, WccData,
};
use hayase_vfs::{Attr, FileType, SetAttr, SetTime, Stability, Time, Wcc};

use crate::call::Fault;

const NANOS_PER_SEC: u32 = 1_000_000_000;

/// Attributes for the wire.
pub(crate) fn fattr(attr: &Attr) -> Fattr3 {
    Fattr3 {
        ftype: match attr.kind {
            FileType::Regular => FType3::Reg,
            FileType::Directory => FType3::Dir,
            FileType::Block => FType3::Blk,
            FileType::Character => FType3::Chr,
            FileType::Symlink => FType3::Lnk,
            FileType::Socket => FType3::Sock,
            FileType::Fifo => FType3::Fifo,
        },
        mode: attr.mode,
        nlink: attr.nlink,
        uid: attr.uid,
        gid: attr.gid,
        size: attr.size,
        used: attr.used,
        rdev: SpecData3 { major: attr.rdev.0, minor: attr.rdev.1 },
        fsid: attr.fsid,
        fileid: attr.fileid,
        atime: time(attr.atime),
        mtime: time(attr.mtime),
        ctime: time(attr.ctime),
    }
}

/// A time for the wire, which has 32 bits of seconds: 1970 to 2106.
#[allow(clippy::cast_sign_loss)] // times before 1970 wrap, as they do everywhere in NFSv3
pub(super) fn time(time: Time) -> NfsTime3 {
    NfsTime3 { seconds: time.secs as u32, nseconds: time.nanos }
}

/// A time from the wire.
pub(super) fn from_time(time: NfsTime3) -> Result<Time, Fault> {
    if time.nseconds >= NANOS_PER_SEC {
        return Err(Fault::Status(Status::Inval));
    }
    Ok(Time { secs: i64::from(time.seconds), nanos: time.nseconds })
}

/// Weak cache consistency data for the wire.
pub(super) fn wcc(wcc: &Wcc) -> WccData {
    let before = wcc.before.as_ref().map(|attr| WccAttr {
        size: attr.size,
        mtime: time(attr.mtime),
        ctime: time(attr.ctime),
    });
    WccData { before, after: wcc.after.as_ref().map(fattr) }
}

/// Attributes to set, from the wire.
pub(super) fn set_attr(set: &Sattr3) -> Result<SetAttr, Fault> {
    let set_time = |set: WireSetTime| {
        Ok::<_, Fault>(match set {
            WireSetTime::DontChange => SetTime::Keep,
            WireSetTime::ServerTime => SetTime::Now,
            WireSetTime::ClientTime(time) => SetTime::To(from_time(time)?),
        })
    };
    Ok(SetAttr {
        mode: set.mode.map(|mode| mode & 0o7777),
        uid: set.uid,
        gid: set.gid,
        size: set.size,
        atime: set_time(set.atime)?,
        mtime: set_time(set.mtime)?,
    })
}

/// How stable data is to be.
pub(super) fn stability(how: StableHow) -> Stability {
    match how {
        StableHow::Unstable => Stability::Unstable,
        StableHow::DataSync => Stability::DataSync,
        StableHow::FileSync => Stability::FileSync,
    }
}

/// How stable data is.
pub(super) fn stable_how(stability: Stability) -> StableHow {
    match stability {
        Stability::Unstable => StableHow::Unstable,
        Stability::DataSync => StableHow::DataSync,
        Stability::FileSync => StableHow::FileSync,
    }
}
