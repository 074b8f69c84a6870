//! Why an operation fails.

use hayase_proto::nfs4::Status;
use hayase_vfs::Error;

use crate::call::{Abort, Unusable};

/// Why an operation ends without its ordinary result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The compound ends without a result.
    Abort(Abort),
    /// The operation's result is this status and nothing more.
    Status(Status),
    /// The result is this status, and what goes with it has been appended.
    Told(Status),
    /// The compound was answered before: this is its result.
    Replay(Box<[u8]>),
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Fault::Status(status)
    }
}

impl From<Abort> for Fault {
    fn from(abort: Abort) -> Self {
        Fault::Abort(abort)
    }
}

impl From<Unusable> for Fault {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Error(error) => error.into(),
            Unusable::WrongFlavor => Fault::Status(Status::WrongSec),
        }
    }
}

/// The words of a file system's errors in NFSv4 (RFC 8881 §15.1).
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Status(match error {
            Error::WouldBlock => return Fault::Abort(Abort::WouldBlock),
            Error::NotOwner => Status::Perm,
            Error::NotFound => Status::NoEnt,
            Error::Io => Status::Io,
            Error::NoDevice => Status::Nxio,
            Error::Access => Status::Access,
            Error::Exists => Status::Exist,
            Error::CrossDevice => Status::XDev,
            Error::NotDirectory => Status::NotDir,
            Error::IsDirectory => Status::IsDir,
            Error::Invalid => Status::Inval,
            Error::WrongType => Status::WrongType,
            Error::TooBig => Status::FBig,
            Error::NoSpace => Status::NoSpc,
            Error::ReadOnly => Status::Rofs,
            Error::TooManyLinks => Status::MLink,
            Error::NameTooLong => Status::NameTooLong,
            Error::NotEmpty => Status::NotEmpty,
            Error::Quota => Status::DQuot,
            Error::Stale => Status::Stale,
            Error::BadHandle => Status::BadHandle,
            // Guards are a thing of NFSv3.
            Error::NotSync => Status::ServerFault,
            Error::BadCookie => Status::BadCookie,
            Error::NotSupported => Status::NotSupp,
            Error::Delay => Status::Delay,
            Error::NoXattr => Status::NoXattr,
            Error::XattrTooBig => Status::Xattr2Big,
        })
    }
}

/// The status that a minor version has for a failure: NFSv4.0 knows fewer.
pub(super) fn in_minor(status: Status, minor: u32) -> Status {
    match (status, minor) {
        (Status::WrongType, 0) => Status::Inval,
        _ => status,
    }
}
