//! What can go wrong, and whose fault it is.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hayase_rpc::Refusal;

use crate::Status;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host of a URL has no address.
    #[error("find the address of {host}: {source}")]
    Resolve {
        /// The host.
        host: String,
        /// Why not.
        source: io::Error,
    },
    /// The server cannot be reached.
    #[error("connect to {server}: {source}")]
    Connect {
        /// Where it should be.
        server: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The connection broke where it could not be mended.
    #[error("the connection to {server} broke: {source}")]
    Broken {
        /// The server.
        server: SocketAddr,
        /// How.
        source: io::Error,
    },
    /// The server did not answer within [`Options::timeout`](crate::Options::timeout).
    #[error("{server} has not answered {operation} within {:.1} s{}", after.as_secs_f64(), last(.problem.as_deref()))]
    Timeout {
        /// The server.
        server: SocketAddr,
        /// What was asked.
        operation: &'static str,
        /// How long it had.
        after: Duration,
        /// What went wrong last meanwhile.
        problem: Option<String>,
    },
    /// The server refuses an operation.
    #[error("{operation}: {status}")]
    Status {
        /// What was asked.
        operation: &'static str,
        /// What it answered.
        status: Status,
    },
    /// The server refuses a call before it looks at the operation (RFC 5531 §9).
    #[error("{server} refuses {operation}: {}", refusal_text(.refusal))]
    Refused {
        /// The server.
        server: SocketAddr,
        /// What was asked.
        operation: &'static str,
        /// Why.
        refusal: Refusal,
    },
    /// The server answers what no server may.
    #[error("{server} breaks the protocol: {what}")]
    Protocol {
        /// The server.
        server: SocketAddr,
        /// How.
        what: String,
    },
    /// MOUNT is answered nowhere.
    #[error(
        "MOUNT is answered neither on the port of NFS nor by what the portmapper of {host} names: {why}"
    )]
    NoMount {
        /// The host.
        host: String,
        /// What the portmapper had to say.
        why: String,
    },
    /// A path cannot be mounted.
    #[error("{path} of {server} cannot be mounted: {why}")]
    Path {
        /// The path.
        path: String,
        /// The server.
        server: SocketAddr,
        /// Why not.
        why: Box<Error>,
    },
    /// The version of NFS that is spoken has no such operation.
    #[error("NFSv{version} has no {operation}")]
    Unsupported {
        /// What was asked.
        operation: &'static str,
        /// What is spoken.
        version: crate::Version,
    },
    /// What is no name of a file.
    #[error("{name:?} is no name of a file: it is empty, or has a / or a zero byte")]
    BadName {
        /// The name.
        name: String,
    },
    /// A READ or WRITE that one call cannot carry, or that its buffer has no room for.
    #[error("{operation} of {len} bytes: at most {max} fit the {}", place(*.of_buffer))]
    TooLong {
        /// READ or WRITE.
        operation: &'static str,
        /// Bytes.
        len: u32,
        /// At most.
        max: u32,
        /// Whether it is the buffer that is too small; otherwise it is the server's limit.
        of_buffer: bool,
    },
    /// This machine has no more sockets, or the like.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

fn last(problem: Option<&str>) -> String {
    problem.map_or_else(String::new, |problem| format!(" ({problem})"))
}

fn place(of_buffer: bool) -> &'static str {
    if of_buffer { "buffer" } else { "calls of this server" }
}

fn refusal_text(refusal: &Refusal) -> String {
    match refusal {
        Refusal::ProgUnavail => "the program is not served there".to_owned(),
        Refusal::ProgMismatch { low, high } => {
            format!("only versions {low} to {high} are served there")
        }
        Refusal::ProcUnavail => "it knows no such procedure".to_owned(),
        Refusal::GarbageArgs => "it cannot read the arguments".to_owned(),
        Refusal::SystemErr => "it failed".to_owned(),
        Refusal::RpcMismatch => "it does not speak RPC version 2".to_owned(),
        Refusal::Auth(why) => format!("AUTH_SYS credentials will not do ({why:?})"),
    }
}

impl Error {
    /// What the server answered, if that is what failed.
    pub fn status(&self) -> Option<Status> {
        match self {
            Error::Status { status, .. } => Some(*status),
            Error::Path { why, .. } => why.status(),
            _ => None,
        }
    }

    /// Whether the server answered this.
    pub fn is(&self, status: Status) -> bool {
        self.status() == Some(status)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Resolve { source, .. }
            | Error::Connect { source, .. }
            | Error::Broken { source, .. }
            | Error::System { source, .. } => source.kind(),
            Error::Timeout { .. } => io::ErrorKind::TimedOut,
            Error::Protocol { .. } => io::ErrorKind::InvalidData,
            Error::BadName { .. } => io::ErrorKind::InvalidFilename,
            Error::TooLong { .. } => io::ErrorKind::InvalidInput,
            Error::Unsupported { .. } => io::ErrorKind::Unsupported,
            Error::Status { .. } | Error::Path { .. } => {
                error.status().map_or(io::ErrorKind::Other, Status::kind)
            }
            Error::Refused { .. } | Error::NoMount { .. } => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
