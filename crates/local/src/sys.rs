//! The system calls that rustix does not offer, or not for one thread alone.
//! All `unsafe` code of this crate is here.
#![allow(unsafe_code)]
// Bits and offsets go to the kernel as they are.
#![allow(clippy::cast_possible_wrap)]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use hayase_vfs::{LocalLock, LockMode, LockRange, QuotaOf};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::errno::Sys;

/// The longest kernel handle that fits into ours.
pub(crate) const KERNEL_HANDLE_MAX: usize = 36;

/// A file's name in its file system, made by the kernel (`struct file_handle`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelHandle {
    pub kind: u8,
    len: u8,
    bytes: [u8; KERNEL_HANDLE_MAX],
}

impl KernelHandle {
    /// A handle of these bytes, or nothing if they are none or too many. The kernel counts them
    /// in words of four, and would take another length for the same handle.
    pub(crate) fn new(kind: u8, from: &[u8]) -> Option<Self> {
        let mut bytes = [0; KERNEL_HANDLE_MAX];
        bytes.get_mut(..from.len())?.copy_from_slice(from);
        let whole = !from.is_empty() && from.len().is_multiple_of(4);
        whole.then_some(KernelHandle { kind, len: from.len() as u8, bytes })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// `struct file_handle` with room for the longest handle we keep.
#[repr(C)]
struct RawHandle {
    len: u32,
    kind: i32,
    bytes: [u8; KERNEL_HANDLE_MAX],
}

fn check(result: libc::c_long) -> Sys<usize> {
    if result >= 0 {
        return Ok(result as usize);
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// `name_to_handle_at`: the handle of `name` in `dir`, or of `dir` itself if
/// `name` is empty, and the id of the mount it is on. Does not follow a link.
pub(crate) fn name_to_handle(dir: impl AsFd, name: &CStr) -> Result<(KernelHandle, u64), Errno> {
    let mut raw =
        RawHandle { len: KERNEL_HANDLE_MAX as u32, kind: 0, bytes: [0; KERNEL_HANDLE_MAX] };
    let mut mount: libc::c_int = 0;
    let flags = if name.is_empty() { libc::AT_EMPTY_PATH } else { 0 };
    // SAFETY: `raw` has the layout of `struct file_handle` with as many bytes behind it as its
    // first field says; `name` is terminated; all pointers live through the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            dir.as_fd().as_raw_fd(),
            name.as_ptr(),
            &raw mut raw,
            &raw mut mount,
            flags,
        )
    })?;
    let bytes = raw.bytes.get(..raw.len as usize).ok_or(Errno::OVERFLOW)?;
    let kind = u8::try_from(raw.kind).map_err(|_| Errno::OVERFLOW)?;
    let handle = KernelHandle::new(kind, bytes).ok_or(Errno::OPNOTSUPP)?;
    Ok((handle, mount as u64))
}

/// `open_by_handle_at`: opens a file of the file system that `mount` is open on.
pub(crate) fn open_by_handle(
    mount: impl AsFd,
    handle: &KernelHandle,
    flags: OFlags,
) -> Sys<OwnedFd> {
    let mut raw =
        RawHandle { len: u32::from(handle.len), kind: i32::from(handle.kind), bytes: handle.bytes };
    let flags = flags | OFlags::CLOEXEC;
    // SAFETY: `raw` is a whole `struct file_handle`, of `len` ≤ KERNEL_HANDLE_MAX bytes.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_fd().as_raw_fd(),
            &raw mut raw,
            flags.bits() as libc::c_int,
        )
    })?;
    // SAFETY: the kernel just gave us this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// `setfsuid` for this thread alone; answers whether it took effect.
///
/// The call itself cannot fail visibly: it answers the previous id. Asking for
/// the impossible id -1 changes nothing and so reads the present one.
pub(crate) fn set_fs_uid(uid: u32) -> bool {
    // SAFETY: no pointers; the raw call concerns this thread only, unlike the C library's wrappers
    // for the real ids.
    unsafe {
        libc::syscall(libc::SYS_setfsuid, uid);
        libc::syscall(libc::SYS_setfsuid, u32::MAX) as u32 == uid && uid != u32::MAX
    }
}

/// The file system uid of this thread.
pub(crate) fn fs_uid() -> u32 {
    // SAFETY: as in `set_fs_uid`.
    unsafe { libc::syscall(libc::SYS_setfsuid, u32::MAX) as u32 }
}

/// `setfsgid` for this thread alone; answers whether it took effect.
pub(crate) fn set_fs_gid(gid: u32) -> bool {
    // SAFETY: as in `set_fs_uid`.
    unsafe {
        libc::syscall(libc::SYS_setfsgid, gid);
        libc::syscall(libc::SYS_setfsgid, u32::MAX) as u32 == gid && gid != u32::MAX
    }
}

/// `setgroups` for this thread alone.
pub(crate) fn set_groups(groups: &[u32]) -> Sys<()> {
    // SAFETY: the pointer is good for `groups.len()` ids and only read.
    check(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) }).map(drop)
}

/// Whether the caller of this thread may do all of `mode` (R, W, X = 4, 2, 1) with the open file,
/// by its effective and file system ids (`faccessat2`).
pub(crate) fn access(file: impl AsFd, mode: u32) -> Sys<()> {
    // SAFETY: the path is a constant, terminated string.
    check(unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            file.as_fd().as_raw_fd(),
            c"".as_ptr(),
            mode,
            libc::AT_EACCESS | libc::AT_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// `fchmodat2` of an open file, which may be open with `O_PATH` only (since Linux 6.6).
pub(crate) fn chmod(file: impl AsFd, mode: u32) -> Sys<()> {
    const SYS_FCHMODAT2: libc::c_long = 452;
    // SAFETY: the path is a constant, terminated string.
    check(unsafe {
        libc::syscall(
            SYS_FCHMODAT2,
            file.as_fd().as_raw_fd(),
            c"".as_ptr(),
            mode,
            libc::AT_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// How many pages of a range are in the page cache (`cachestat`, since Linux 6.5).
pub(crate) fn cached_pages(file: impl AsFd, offset: u64, len: u64) -> Sys<u64> {
    const SYS_CACHESTAT: libc::c_long = 451;
    let range = [offset, len];
    let mut counts = [0u64; 5]; // cached, dirty, in writeback, evicted, recently evicted
    // SAFETY: both arrays have the layouts of `struct cachestat_range` and `struct cachestat`.
    check(unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_fd().as_raw_fd(),
            range.as_ptr(),
            counts.as_mut_ptr(),
            0,
        )
    })?;
    Ok(counts[0])
}

/// `FICLONERANGE`: lets a range of one file share the storage of another's.
pub(crate) fn clone_range(
    from: &OwnedFd,
    from_offset: u64,
    len: u64,
    to: &OwnedFd,
    to_offset: u64,
) -> Sys<()> {
    let range = libc::file_clone_range {
        src_fd: from.as_raw_fd().into(),
        src_offset: from_offset,
        src_length: len,
        dest_offset: to_offset,
    };
    // SAFETY: this request reads a `struct file_clone_range`, which `range` is.
    check(unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONERANGE, &raw const range) }.into())
        .map(drop)
}

/// `struct xfs_fsop_geom_v1`, of which the UUID is wanted.
#[repr(C)]
struct XfsGeometry {
    before: [u64; 8],
    uuid: [u8; 16],
    behind: [u64; 4],
}

/// The UUID of the XFS that an open file is on (`XFS_IOC_FSGEOMETRY_V1`).
pub(crate) fn xfs_uuid(file: &OwnedFd) -> Sys<[u8; 16]> {
    const REQUEST: libc::Ioctl = libc::_IOR::<XfsGeometry>(b'X' as u32, 100);
    const { assert!(size_of::<XfsGeometry>() == 112) };
    let mut geometry = XfsGeometry { before: [0; 8], uuid: [0; 16], behind: [0; 4] };
    // SAFETY: this request writes a `struct xfs_fsop_geom_v1`, for which `geometry` has the room;
    // other file systems refuse it.
    check(unsafe { libc::ioctl(file.as_raw_fd(), REQUEST, &raw mut geometry) }.into())?;
    Ok(geometry.uuid)
}

/// What the kernel calls a lock of this range, which ends at `i64::MAX` at the latest.
fn flock(range: LockRange, mode: Option<LockMode>) -> libc::flock {
    // SAFETY: all bytes zero are a valid value of this struct of numbers.
    let mut lock: libc::flock = unsafe { MaybeUninit::zeroed().assume_init() };
    lock.l_type = match mode {
        None => libc::F_UNLCK,
        Some(LockMode::Read) => libc::F_RDLCK,
        Some(LockMode::Write) => libc::F_WRLCK,
    } as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = range.start() as i64;
    // 0: to the end.
    let to_end = range.last() >= i64::MAX as u64;
    lock.l_len = if to_end { 0 } else { (range.last() - range.start() + 1) as i64 };
    lock
}

/// Sets a lock of the open file description, or drops it (`F_OFD_SETLK`). Never waits.
pub(crate) fn set_lock(file: impl AsFd, range: LockRange, mode: Option<LockMode>) -> Sys<()> {
    let lock = flock(range, mode);
    // SAFETY: this command reads a `struct flock`, which `lock` is.
    check(unsafe {
        libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &raw const lock).into()
    })
    .map(drop)
}

/// A lock that is in the way of one of the open file description (`F_OFD_GETLK`).
pub(crate) fn conflicting_lock(
    file: impl AsFd,
    range: LockRange,
    mode: LockMode,
) -> Sys<Option<LocalLock>> {
    let mut lock = flock(range, Some(mode));
    // SAFETY: this command reads and writes a `struct flock`, which `lock` is.
    check(unsafe {
        libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock).into()
    })?;
    let mode = match i32::from(lock.l_type) {
        libc::F_RDLCK => LockMode::Read,
        libc::F_WRLCK => LockMode::Write,
        _ => return Ok(None),
    };
    let start = lock.l_start as u64;
    let last = if lock.l_len == 0 { u64::MAX } else { start + lock.l_len as u64 - 1 };
    let range = LockRange::new(start, last).ok_or(Errno::OVERFLOW)?;
    // Negative for locks that belong to no process.
    Ok(Some(LocalLock { range, mode, pid: u32::try_from(lock.l_pid).ok() }))
}

/// The signal by which a thread hears of leases that are being broken.
fn lease_signal() -> libc::c_int {
    libc::SIGRTMIN() + 5
}

/// A lease that is being broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseSignal {
    /// That of the descriptor of this number.
    Of(i32),
    /// Nobody knows which.
    OfSome,
}

/// Blocks the signals about leases for this thread, and answers the descriptor from which it, and
/// only it, reads them.
pub(crate) fn take_lease_signals() -> Sys<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` makes `set` a valid set, which the other calls then change and read;
    // `pthread_sigmask` concerns this thread only, and the old mask is not asked for.
    let (blocked, fd) = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), lease_signal());
        // Sent instead when the queue of the other is full.
        libc::sigaddset(set.as_mut_ptr(), libc::SIGIO);
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        (blocked, libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))
    };
    if blocked != 0 {
        return Err(Errno::from_raw_os_error(blocked));
    }
    let fd = check(fd.into())?;
    // SAFETY: the kernel just gave us this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// The next signal that waits for this thread.
pub(crate) fn next_signal(signals: &OwnedFd) -> Sys<Option<LeaseSignal>> {
    let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
    // SAFETY: the pointer is good for the size of `info`.
    let read = check(unsafe {
        libc::read(signals.as_raw_fd(), info.as_mut_ptr().cast(), size_of_val(&info))
            as libc::c_long
    });
    match read {
        Ok(len) if len == size_of_val(&info) => {}
        Ok(_) => return Err(Errno::IO),
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(errno) => return Err(errno),
    }
    // SAFETY: the kernel has filled all of it.
    let info = unsafe { info.assume_init() };
    let is_sure = info.ssi_signo == lease_signal() as u32;
    Ok(Some(if is_sure { LeaseSignal::Of(info.ssi_fd) } else { LeaseSignal::OfSome }))
}

/// Takes a lease for reading on a file that is open for reading; the thread `tid` gets the signal
/// when it is broken.
pub(crate) fn take_read_lease(file: &OwnedFd, tid: i32) -> Sys<()> {
    #[repr(C)]
    struct Owner {
        kind: libc::c_int,
        id: libc::pid_t,
    }
    const F_SETOWN_EX: libc::c_int = 15;
    const F_OWNER_TID: libc::c_int = 0;
    const F_SETSIG: libc::c_int = 10;
    let owner = Owner { kind: F_OWNER_TID, id: tid };
    let fd = file.as_raw_fd();
    // SAFETY: this command reads a `struct f_owner_ex`, which `owner` is.
    check(unsafe { libc::fcntl(fd, F_SETOWN_EX, &raw const owner).into() })?;
    // SAFETY: these take numbers.
    unsafe {
        check(libc::fcntl(fd, F_SETSIG, lease_signal()).into())?;
        // Last: an owner that is set before stays, and no conflict can come before.
        check(libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK).into())?;
    }
    Ok(())
}

/// Whether a lease for reading is held and not being broken.
pub(crate) fn has_read_lease(file: &OwnedFd) -> bool {
    // SAFETY: this command takes no argument.
    let kind = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLEASE) };
    kind == libc::F_RDLCK
}

/// One `preadv2` of up to `len` bytes, appended to `to`, which need not be zeroed before.
/// With `nowait`, only from memory (`EAGAIN`, or short, where the disk is needed).
pub(crate) fn read_append(
    file: impl AsFd,
    to: &mut Vec<u8>,
    len: usize,
    offset: u64,
    nowait: bool,
) -> Sys<usize> {
    to.reserve(len);
    let spare: &mut [MaybeUninit<u8>] = &mut to.spare_capacity_mut()[..len];
    let iov = libc::iovec { iov_base: spare.as_mut_ptr().cast(), iov_len: len };
    let flags = if nowait { libc::RWF_NOWAIT } else { 0 };
    // SAFETY: `iov` describes spare capacity of `to`, which nothing else uses. The offset goes in
    // two halves, of which 64-bit kernels take the first whole and ignore the second.
    let read = check(unsafe {
        libc::syscall(
            libc::SYS_preadv2,
            file.as_fd().as_raw_fd(),
            &raw const iov,
            1,
            offset as libc::c_long,
            (offset >> 32) as libc::c_long,
            flags,
        )
    })?;
    // SAFETY: the kernel has filled the first `read` ≤ `len` bytes of the spare capacity.
    unsafe { to.set_len(to.len() + read) };
    Ok(read)
}

/// `Q_GETQUOTA` of `quotactl(2)`, which libc has for the C library's function only.
const Q_GETQUOTA: u32 = 0x80_0007;

/// `quotactl_fd`: what a user or a group stores in the file system that holds `file`, and may.
pub(crate) fn quota(file: impl AsFd, whose: QuotaOf) -> Sys<libc::dqblk> {
    let (kind, id) = match whose {
        QuotaOf::User(uid) => (0, uid),
        QuotaOf::Group(gid) => (1, gid),
    };
    let mut counted = MaybeUninit::<libc::dqblk>::zeroed();
    // SAFETY: the descriptor is open, and the kernel writes no more than a `dqblk` to where there
    // is room for one.
    check(unsafe {
        libc::syscall(
            libc::SYS_quotactl_fd,
            file.as_fd().as_raw_fd(),
            Q_GETQUOTA << 8 | kind,
            id,
            counted.as_mut_ptr(),
        )
    })?;
    // SAFETY: numbers only, all of them zero if not written by the kernel.
    Ok(unsafe { counted.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_appends_and_reads_no_further() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let mut to = b"head".to_vec();
        to.reserve(100);
        assert_eq!(read_append(&file, &mut to, 4, 3, false), Ok(4));
        assert_eq!(to, b"head3456");
        assert_eq!(read_append(&file, &mut to, 4, 10, false), Ok(0));
        assert_eq!(read_append(&file, &mut to, 50, 8, false), Ok(2));
        assert_eq!(to, b"head345689");
    }

    #[test]
    fn kernel_handles_are_bounded() {
        assert!(KernelHandle::new(1, &[]).is_none());
        assert!(KernelHandle::new(1, &[0; KERNEL_HANDLE_MAX + 1]).is_none());
        assert_eq!(KernelHandle::new(1, &[5; 8]).unwrap().bytes(), [5; 8]);
    }
}
