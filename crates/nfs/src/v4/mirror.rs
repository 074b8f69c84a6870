//! Locks of clients as local programs see them, and the other way round: the kernel's locks
//! are kept the same as the union of what clients have locked.

use hayase_proto::nfs4::Status;
use hayase_state::{ByteRange, Effect, FileKey};
use hayase_vfs::{
    Access, Cred, Cx, Durability, Error, Handle, LocalLock, LockMode, LockRange, Vfs, Wait,
};

use super::fault::Fault;
use super::setup::Shared;
use crate::ExportId;
use crate::call::Target;

impl Shared {
    /// Shows a lock that was granted to local programs. If one of them is in the way, the lock
    /// is taken back, and that lock is told.
    pub(crate) fn show_lock(
        &self,
        vfs: &dyn Vfs,
        key: &FileKey,
        bytes: ByteRange,
        take_back: impl FnOnce(&mut Vec<Effect>),
        effects: &mut Vec<Effect>,
    ) -> Result<Option<LocalLock>, Error> {
        let _lane = self.mirror.lane(key);
        let shown = self.show(vfs, key, bytes);
        if matches!(shown, Ok(None) | Err(Error::NotSupported)) {
            return Ok(None);
        }
        take_back(effects);
        let _ = self.show(vfs, key, bytes);
        shown
    }

    /// Locks of a file have gone.
    pub(super) fn show_unlocked(&self, key: &FileKey) {
        let exports = self.exports.load();
        let Some(export) = exports.by_id(ExportId(key.export)) else { return };
        let _lane = self.mirror.lane(key);
        match self.show(&*export.vfs, key, ByteRange::ALL) {
            Ok(_) | Err(Error::NotSupported | Error::Stale) => {}
            Err(error) => tracing::warn!("locks are not given back to local programs: {error}"),
        }
    }

    /// Makes the kernel's locks of a range what clients have locked there.
    fn show(
        &self,
        vfs: &dyn Vfs,
        key: &FileKey,
        bytes: ByteRange,
    ) -> Result<Option<LocalLock>, Error> {
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Async,
            opened: Access::NONE,
        };
        for (bytes, locked) in self.state.locked(key, bytes) {
            let mode = locked.map(mode);
            let Some(range) = range(bytes) else { continue };
            if let Some(conflict) = vfs.mirror_lock(&cx, &key.handle, range, mode)? {
                return Ok(Some(conflict));
            }
        }
        Ok(None)
    }
}

/// The lock of a local program that would be in the way.
pub(crate) fn local_lock(
    file: &Target,
    handle: &Handle,
    bytes: ByteRange,
    write: bool,
) -> Result<Option<LocalLock>, Fault> {
    let range = range(bytes).ok_or(Status::Inval)?;
    match file.vfs().test_lock(&file.cx(), handle, range, mode(write)) {
        Err(Error::NotSupported) => Ok(None),
        found => Ok(found?),
    }
}

pub(super) fn range(bytes: ByteRange) -> Option<LockRange> {
    LockRange::new(bytes.start(), bytes.last())
}

pub(super) fn mode(write: bool) -> LockMode {
    if write { LockMode::Write } else { LockMode::Read }
}
