//! What the kernel's errors mean to NFS, in one place.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

use hayase_vfs::Error;
use rustix::io::Errno;

/// The result of a system call.
pub(crate) type Sys<T> = Result<T, Errno>;

/// Where something went wrong, for the log: found out only when it is needed.
pub(crate) fn path_of(file: BorrowedFd<'_>) -> PathBuf {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::read_link(link).unwrap_or_else(|_| PathBuf::from("(unknown)"))
}

/// The word for `errno`, if NFS has one.
fn word(errno: Errno) -> Option<Error> {
    Some(match errno {
        Errno::PERM => Error::NotOwner,
        Errno::NOENT => Error::NotFound,
        Errno::NXIO | Errno::NODEV => Error::NoDevice,
        // A mount point cannot be removed, a running program not be written: no error of ours,
        // and waiting does not help.
        Errno::ACCESS | Errno::BUSY | Errno::TXTBSY => Error::Access,
        Errno::EXIST => Error::Exists,
        Errno::XDEV => Error::CrossDevice,
        Errno::NOTDIR => Error::NotDirectory,
        Errno::ISDIR => Error::IsDirectory,
        // An id that the file system cannot store is EOVERFLOW.
        Errno::INVAL | Errno::OVERFLOW => Error::Invalid,
        Errno::FBIG => Error::TooBig,
        Errno::NOSPC => Error::NoSpace,
        Errno::ROFS => Error::ReadOnly,
        Errno::MLINK => Error::TooManyLinks,
        Errno::NAMETOOLONG => Error::NameTooLong,
        Errno::NOTEMPTY => Error::NotEmpty,
        Errno::DQUOT => Error::Quota,
        Errno::STALE => Error::Stale,
        Errno::LOOP => Error::WrongType,
        Errno::NODATA => Error::NoXattr,
        Errno::TOOBIG => Error::XattrTooBig,
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => Error::NotSupported,
        Errno::AGAIN
        | Errno::MFILE
        | Errno::NFILE
        | Errno::NOMEM
        | Errno::NOBUFS
        | Errno::INTR
        | Errno::TIMEDOUT => Error::Delay,
        _ => return None,
    })
}

/// The word for an error of the call `what` on `file`. What has no word of its own is logged.
pub(crate) fn error(errno: Errno, what: &str, file: impl AsFd) -> Error {
    let known = word(errno);
    if matches!(known, None | Some(Error::Delay)) {
        let path = path_of(file.as_fd());
        tracing::warn!(what, path = %path.display(), error = %errno, "a system call failed");
    }
    known.unwrap_or(Error::Io)
}

/// Turns the result of a system call into the result of an operation.
pub(crate) trait OrError<T> {
    /// The same, with an error in the words of NFS; `what` was tried on `file`.
    fn or_error(self, what: &str, file: impl AsFd) -> Result<T, Error>;
}

impl<T> OrError<T> for Sys<T> {
    fn or_error(self, what: &str, file: impl AsFd) -> Result<T, Error> {
        self.map_err(|errno| error(errno, what, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_word_is_an_io_error() {
        let here = std::fs::File::open("/").unwrap();
        assert_eq!(error(Errno::NOSPC, "write", &here), Error::NoSpace);
        assert_eq!(error(Errno::IO, "write", &here), Error::Io);
        assert_eq!(error(Errno::UCLEAN, "write", &here), Error::Io);
        assert_eq!(path_of(here.as_fd()), PathBuf::from("/"));
    }
}
