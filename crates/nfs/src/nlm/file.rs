//! The file a request is about, who asks, and what failures are called.

use hayase_proto::nfs3;
use hayase_proto::nlm::{Lock, NetObj, Status};
use hayase_state::{ByteRange, Locker};
use hayase_vfs::{Access, Error, FileType};

use crate::call::{Abort, Call, Fault, Target};

/// Why a request is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There will be no result.
    Abort(Abort),
    /// The result is this status.
    Status(Status),
}

impl From<Status> for Refused {
    fn from(status: Status) -> Self {
        Refused::Status(status)
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Abort(abort) => Refused::Abort(abort),
            Fault::Status(status) => Refused::Status(match status {
                nfs3::Status::Stale | nfs3::Status::BadHandle => Status::StaleFh,
                nfs3::Status::Rofs => Status::Rofs,
                nfs3::Status::FBig => Status::FBig,
                // The only status after which clients ask again.
                nfs3::Status::Jukebox => Status::DeniedGracePeriod,
                _ => Status::Failed,
            }),
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Fault::from(error).into()
    }
}

/// A status, or none at all.
pub(super) fn status(done: Result<Status, Refused>) -> Result<Status, Abort> {
    match done {
        Ok(status) | Err(Refused::Status(status)) => Ok(status),
        Err(Refused::Abort(abort)) => Err(abort),
    }
}

/// A file that the caller may lock. As exports(5) has it, that is who may read it or owns it, unless
/// the export has `insecure_locks`: then anybody.
pub(super) fn lockable(call: &Call<'_>, fh: NetObj<'_>) -> Result<Target, Refused> {
    let file = call.lock_target(fh.0)?;
    let (vfs, cx) = (file.vfs(), file.cx());
    let (granted, attr) = vfs.access(&cx, &file.handle, Access::READ)?;
    if attr.kind != FileType::Regular {
        return Err(Status::Failed.into());
    }
    let permitted = granted.intersects(Access::READ) || attr.uid == cx.cred.uid;
    if file.options().secure_locks && !permitted {
        return Err(Status::Failed.into());
    }
    Ok(file)
}

/// Who locks.
pub(super) fn locker(call: &Call<'_>, svid: i32, oh: NetObj<'_>) -> Locker {
    Locker::nlm(call.host().as_bytes(), svid.cast_unsigned(), oh.0)
}

/// What is locked.
pub(super) fn bytes(lock: &Lock<'_>) -> Result<ByteRange, Refused> {
    let length = if lock.length == 0 { u64::MAX } else { lock.length };
    ByteRange::new(lock.offset, length).map_err(|_| Status::FBig.into())
}

/// How many bytes, as it travels.
pub(super) fn length(bytes: ByteRange) -> u64 {
    if bytes.last() == u64::MAX { 0 } else { bytes.length() }
}

impl Call<'_> {
    /// The address that the caller is known by.
    pub(crate) fn host(&self) -> String {
        self.peer.address.ip().to_string()
    }
}
