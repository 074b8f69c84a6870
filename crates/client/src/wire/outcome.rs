//! What a reply comes to.

use hayase_proto::nfs4::{StateId, Status as Status4};

use crate::{Attributes, FileHandle, Reply, Status};

/// Which of a request's calls it is. Most have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The request itself.
    First,
    /// NFSv3: what was made is looked up, since the server did not tell its handle.
    Find,
    /// NFSv4.0: the open of an owner that is new to the server is confirmed.
    Confirm(Box<NewOpen>),
    /// NFSv4.1: before the request is made again, its connection is bound to the session.
    Bind,
}

/// A file that the server has opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewOpen {
    pub(crate) handle: FileHandle,
    pub(crate) stateid: StateId,
    pub(crate) attributes: Option<Attributes>,
}

/// What a reply comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The request is finished.
    Reply(Reply),
    /// So it is, and the server has opened a file.
    Open(NewOpen),
    /// It takes another call.
    Next(Step),
}

/// Why there is no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The reply cannot be read.
    Broken(hayase_xdr::Error),
    /// The server refuses the operation.
    Status(Status),
    /// It refuses what comes before: the operation itself was not looked at.
    Early(Status),
}

impl From<hayase_xdr::Error> for Failure {
    fn from(error: hayase_xdr::Error) -> Self {
        Failure::Broken(error)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Failure::Status(status)
    }
}

impl From<Status4> for Failure {
    fn from(status: Status4) -> Self {
        Failure::Status(status.into())
    }
}

impl From<hayase_proto::nfs3::Status> for Failure {
    fn from(status: hayase_proto::nfs3::Status) -> Self {
        Failure::Status(status.into())
    }
}
