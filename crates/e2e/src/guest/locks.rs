//! Locks of files, by each of the system calls that make them.

use std::fs::File;
use std::os::fd::AsRawFd;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{self, Errno};

use crate::wire::{LockKind, LockMode, Range};

/// Takes, changes or drops a lock.
pub fn lock(
    file: &File,
    kind: LockKind,
    mode: LockMode,
    range: Range,
    wait: bool,
) -> io::Result<()> {
    let words = words(mode, range);
    let argument = match (kind, wait) {
        (LockKind::Process, false) => FcntlArg::F_SETLK(&words),
        (LockKind::Process, true) => FcntlArg::F_SETLKW(&words),
        (LockKind::Open, false) => FcntlArg::F_OFD_SETLK(&words),
        (LockKind::Open, true) => FcntlArg::F_OFD_SETLKW(&words),
        (LockKind::Flock, _) => return flock(file, operation(mode, wait)),
    };
    control(file, argument)
}

/// Whether somebody else's lock is in the way of one of the process's.
pub fn test(file: &File, mode: LockMode, range: Range) -> io::Result<bool> {
    let mut words = words(mode, range);
    control(file, FcntlArg::F_GETLK(&mut words))?;
    Ok(i32::from(words.l_type) != libc::F_UNLCK)
}

fn control(file: &File, argument: FcntlArg<'_>) -> io::Result<()> {
    match fcntl(file.as_raw_fd(), argument) {
        Ok(_) => Ok(()),
        Err(errno) => Err(Errno::from_raw_os_error(errno as i32)),
    }
}

fn words(mode: LockMode, (start, len): Range) -> libc::flock {
    libc::flock {
        l_type: match mode {
            LockMode::Shared => libc::F_RDLCK,
            LockMode::Exclusive => libc::F_WRLCK,
            LockMode::Unlocked => libc::F_UNLCK,
        } as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start.cast_signed(),
        l_len: len.cast_signed(),
        l_pid: 0,
    }
}

fn operation(mode: LockMode, wait: bool) -> FlockOperation {
    match (mode, wait) {
        (LockMode::Shared, false) => FlockOperation::NonBlockingLockShared,
        (LockMode::Shared, true) => FlockOperation::LockShared,
        (LockMode::Exclusive, false) => FlockOperation::NonBlockingLockExclusive,
        (LockMode::Exclusive, true) => FlockOperation::LockExclusive,
        (LockMode::Unlocked, _) => FlockOperation::Unlock,
    }
}
