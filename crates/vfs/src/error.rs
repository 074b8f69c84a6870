//! Why a file system operation failed.

use std::fmt;

/// The result of a file system operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed, in the words that NFS has for it.
///
/// Back ends turn their `io::Error`s into this in one place; what has no name
/// of its own is [`Error::Io`], and is logged where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// Would have to wait on a thread that must not ([`crate::Wait::Never`]). Nothing was done.
    WouldBlock,
    /// The operation is only for the owner or the superuser.
    NotOwner,
    /// No such file or directory.
    NotFound,
    /// The storage failed.
    Io,
    /// No such device.
    NoDevice,
    /// Permission denied.
    Access,
    /// It exists already.
    Exists,
    /// The two files are on different file systems.
    CrossDevice,
    /// Not a directory.
    NotDirectory,
    /// A directory.
    IsDirectory,
    /// An argument makes no sense for this file.
    Invalid,
    /// The file would grow beyond the largest size.
    TooBig,
    /// No space left.
    NoSpace,
    /// The file system is read-only.
    ReadOnly,
    /// Too many hard links.
    TooManyLinks,
    /// A name is too long.
    NameTooLong,
    /// The directory is not empty.
    NotEmpty,
    /// The caller's quota is used up.
    Quota,
    /// The file that the handle named is gone.
    Stale,
    /// The handle was never one of ours.
    BadHandle,
    /// The file is not a symbolic link, or another wrong type for the operation.
    WrongType,
    /// SETATTR's guard does not match the file's ctime.
    NotSync,
    /// No directory position has this cookie.
    BadCookie,
    /// The operation is not supported on this file system.
    NotSupported,
    /// A limit of the server is reached; trying again later helps.
    Delay,
    /// The file has no extended attribute of this name.
    NoXattr,
    /// The value of an extended attribute is too long.
    XattrTooBig,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::WouldBlock => "the operation would have to wait",
            Error::NotOwner => "only the owner may do this",
            Error::NotFound => "no such file or directory",
            Error::Io => "the storage failed",
            Error::NoDevice => "no such device",
            Error::Access => "permission denied",
            Error::Exists => "it exists already",
            Error::CrossDevice => "the files are on different file systems",
            Error::NotDirectory => "not a directory",
            Error::IsDirectory => "a directory",
            Error::Invalid => "invalid argument",
            Error::TooBig => "the file would be too large",
            Error::NoSpace => "no space left",
            Error::ReadOnly => "the file system is read-only",
            Error::TooManyLinks => "too many hard links",
            Error::NameTooLong => "the name is too long",
            Error::NotEmpty => "the directory is not empty",
            Error::Quota => "the quota is used up",
            Error::Stale => "the file is gone",
            Error::BadHandle => "not a handle of this server",
            Error::WrongType => "the wrong type of file",
            Error::NotSync => "the file has changed",
            Error::BadCookie => "no such directory position",
            Error::NotSupported => "not supported by this file system",
            Error::Delay => "the server is at a limit, try again",
            Error::NoXattr => "no such extended attribute",
            Error::XattrTooBig => "the value of the extended attribute is too long",
        })
    }
}

impl std::error::Error for Error {}
