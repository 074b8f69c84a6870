//! Locks of clients and of the local programs that tests play.

use hayase_vfs::{Error, Handle, LocalLock, LockMode, LockRange, Result};

use crate::state::Turn;

impl Turn<'_> {
    pub(crate) fn mirror_lock(
        &mut self,
        of: &Handle,
        range: LockRange,
        mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        if let Some(mode) = mode
            && let Some(lock) = self.test_lock(of, range, mode)?
        {
            return Ok(Some(lock));
        }
        let locks = std::mem::take(&mut self.state.mirrored_locks);
        for (handle, old, held) in locks {
            let apart = handle != *of || !old.overlaps(range);
            let whole = apart.then_some(old);
            let cut = (!apart).then(|| old.without(range)).into_iter().flatten();
            let left = whole.into_iter().chain(cut).map(|left| (handle, left, held));
            self.state.mirrored_locks.extend(left);
        }
        self.state.mirrored_locks.extend(mode.map(|mode| (*of, range, mode)));
        Ok(None)
    }

    pub(crate) fn test_lock(
        &self,
        of: &Handle,
        range: LockRange,
        mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        self.data(self.state.resolve(of)?).map_err(|error| match error {
            Error::WrongType => Error::Invalid,
            other => other,
        })?;
        let in_the_way = |lock: &&(Handle, LocalLock)| {
            lock.0 == *of && lock.1.range.overlaps(range) && lock.1.mode.conflicts(mode)
        };
        Ok(self.state.local_locks.iter().find(in_the_way).map(|(_, lock)| *lock))
    }
}
