//! What the engine asks of a target, whether it is a server or a directory.

use std::fmt;
use std::io;
use std::time::Instant;

use hayase_buf::Buffer;
use hayase_client::Timing;
use rustix::io::Errno;
use smallvec::SmallVec;

use super::recorder::Outcome;
use crate::report::Environment;

/// A name in a directory.
pub(crate) type Name = SmallVec<[u8; 24]>;

/// Somewhere files can be worked on. All of it but the ports may wait.
pub(crate) trait Storage: Sync {
    /// A file that is open.
    type File: Clone + Send + Sync;
    /// A directory.
    type Dir: Clone + Send + Sync;
    /// Where a thread puts its operations.
    type Port: Port<File = Self::File, Dir = Self::Dir> + Send;

    /// How the work of jobs that want so many connections is spread over threads.
    fn threading(&self, connections: u32) -> Threading;
    /// A port of a thread of its own, with so many connections, for so many operations at once of blocks of
    /// so many bytes at most.
    fn port(&self, connections: u32, depth: u32, block: u32) -> Result<Self::Port, Failure>;
    /// The directory that is the target.
    fn root(&self) -> Result<Self::Dir, Failure>;
    /// A directory that may not be there.
    fn find_dir(&self, parent: &Self::Dir, name: &str) -> Result<Option<Self::Dir>, Failure>;
    /// A directory, made if it is not there.
    fn dir(&self, parent: &Self::Dir, name: &str) -> Result<Self::Dir, Failure>;
    /// A file, opened, and its length; `None` if it is not there and is not to be made.
    fn open(
        &self,
        dir: &Self::Dir,
        name: &str,
        how: How,
    ) -> Result<Option<(Self::File, u64)>, Failure>;
    /// A file to ask the attributes of; it is not opened on the server.
    fn find(&self, dir: &Self::Dir, name: &Name) -> Result<Self::File, Failure>;
    /// Ends the use of a file.
    fn close(&self, file: Self::File) -> Result<(), Failure>;
    /// Has this side's page cache forget a file.
    fn forget(&self, file: &Self::File) -> Result<(), Failure>;
    /// All names of a directory, with whether each is one of a directory.
    fn list(&self, dir: &Self::Dir) -> Result<Vec<(Name, bool)>, Failure>;
    /// Removes an empty directory.
    fn remove_dir(&self, parent: &Self::Dir, name: &str) -> Result<(), Failure>;
    /// Removes a file.
    fn remove_file(&self, parent: &Self::Dir, name: &str) -> Result<(), Failure>;
    /// Bytes of a write that go in one piece.
    fn write_max(&self) -> u64;
    /// Says what it knows of where the run takes place.
    fn describe(&self, environment: &mut Environment);
}

/// How the work is spread over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threading {
    /// A thread for each operation that may be under way.
    Each,
    /// Some threads, each with up to `depth_max` operations under way over some of the connections;
    /// more threads where these could not have all under way.
    Lanes { threads: u32, connections: u32, depth_max: u32 },
}

/// How to open a file.
#[allow(clippy::struct_excessive_bools, reason = "they are flags of open(2)")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) direct: bool,
    pub(crate) sync: bool,
}

/// Where a thread puts its operations.
pub(crate) trait Port {
    type File;
    type Dir;

    /// How many operations can really be under way at once, if the server allows fewer than the depth.
    fn granted(&self) -> Option<u32> {
        None
    }

    /// Starts an operation; there are never more than the depth of the port.
    fn submit(&mut self, token: u64, op: Op<Self::File, Self::Dir>);
    /// Waits until an operation is done, or until then. An error means that the port is of no use any
    /// more.
    fn wait(&mut self, until: Option<Instant>, done: &mut Vec<Done>) -> Result<(), Failure>;
}

/// An operation.
#[derive(Debug)]
pub(crate) enum Op<F, D> {
    /// Fills the buffer's first `len` bytes.
    Read { file: F, offset: u64, len: u32, buffer: Buffer },
    /// Writes them.
    Write { file: F, offset: u64, len: u32, stable: bool, buffer: Buffer },
    /// Makes what was written stable.
    Sync { file: F },
    /// Makes an empty file.
    Create { dir: D, name: Name },
    /// Looks a name up, with attributes.
    Stat { dir: D, name: Name },
    /// Asks for attributes.
    GetAttr { file: F },
    /// Lists a directory to its end.
    ReadDir { dir: D, plus: bool },
    /// Gives a file another name.
    Rename { dir: D, from: Name, to: Name },
    /// Removes a file.
    Remove { dir: D, name: Name },
    /// Makes a directory.
    MkDir { dir: D, name: Name },
    /// Removes an empty directory.
    RmDir { dir: D, name: Name },
}

/// An operation that is done.
#[allow(clippy::struct_field_names, reason = "sent and done are the moments")]
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) token: u64,
    pub(crate) result: Result<Outcome, Failure>,
    pub(crate) buffer: Option<Buffer>,
    /// When it was given to the system, or its last byte to the kernel.
    pub(crate) sent: Instant,
    pub(crate) done: Instant,
    /// Of a write or sync over NFS: as long as it stays the same, nothing written was lost.
    pub(crate) verifier: Option<[u8; 8]>,
    /// Where the server says its part of the time went.
    pub(crate) server: Option<Timing>,
}

/// Why something cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) errno: i32,
    pub(crate) message: String,
    /// Whether there is no use in trying anything else.
    pub(crate) fatal: bool,
}

/// `EIO`, where no number fits better.
pub(crate) const EIO: i32 = 5;
/// `EILSEQ`, by which fio tells of data that is not what was written.
pub(crate) const EILSEQ: i32 = 84;

impl Failure {
    pub(crate) fn new(errno: i32, message: impl Into<String>) -> Self {
        Failure { errno, message: message.into(), fatal: false }
    }

    /// The system's error in doing that.
    pub(crate) fn system(what: impl fmt::Display, error: &io::Error) -> Self {
        Failure::new(error.raw_os_error().unwrap_or(EIO), format!("{what}: {error}"))
    }

    /// Says what to do about it, where that is known.
    pub(crate) fn advised(self) -> Self {
        let advice = match Errno::from_raw_os_error(self.errno) {
            Errno::NOSPC => "the target is full: free space there, or take a smaller size=",
            Errno::DQUOT => "the user's quota is used up: take a smaller size=",
            Errno::ROFS => "the target is read-only: only reading files that are there works",
            Errno::ACCESS | Errno::PERM => {
                "whoever runs this may not do that there; servers often take root for nobody"
            }
            Errno::TIMEDOUT => "is the server up? --timeout= waits longer, for a grace period, too",
            _ => return self,
        };
        Failure { message: format!("{}; {advice}", self.message), ..self }
    }

    /// Says in what it was met.
    pub(crate) fn within(self, what: impl fmt::Display) -> Self {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
