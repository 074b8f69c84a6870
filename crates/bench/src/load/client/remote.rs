//! What is done to a server's files before and after the load, whichever version is spoken.

use anyhow::Result;
use hayase_proto::nfs4::StateId;

use super::{Caller, Handle};

/// A server's files, one call at a time.
pub trait Remote {
    /// Limits of the file system of `root`.
    fn limits(&mut self, root: &[u8]) -> Result<Limits>;

    /// Finds a name, if it is there.
    fn lookup(&mut self, dir: &[u8], name: &str) -> Result<Option<Handle>>;

    /// Makes a directory.
    fn make_directory(&mut self, dir: &[u8], name: &str) -> Result<()>;

    /// Opens a file for reading and writing, and makes it if it is not there.
    fn open(&mut self, dir: &[u8], name: &str) -> Result<(OpenFile, Extent)>;

    /// Sets a file's length.
    fn truncate(&mut self, file: &OpenFile, size: u64) -> Result<()>;

    /// Writes the beginning of data, unstable. Tells how much.
    fn write(&mut self, file: &OpenFile, offset: u64, data: &[u8]) -> Result<u32>;

    /// Makes what was written stable.
    fn commit(&mut self, file: &OpenFile) -> Result<()>;

    /// Closes a file.
    fn close(&mut self, file: &OpenFile) -> Result<()>;

    /// Makes a new connection one of this client's.
    fn join(&mut self, connection: &mut Caller) -> Result<()>;

    /// The session that calls are made in; NFSv3 has none.
    fn session(&self) -> Option<Session>;

    /// Leaves the server. Nothing is open.
    fn end(&mut self) -> Result<()>;
}

/// What one call can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a READ.
    pub read_max: u32,
    /// Bytes of a WRITE.
    pub write_max: u32,
}

/// A file that can be read and written.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its handle.
    pub handle: Handle,
    /// What NFSv4 reads and writes it by.
    pub stateid: StateId,
}

/// How long a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub size: u64,
    /// Bytes that it takes on the disk.
    pub used: u64,
}

/// A session (RFC 8881 §2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its name.
    pub id: hayase_proto::nfs4::SessionId,
    /// The minor version spoken in it.
    pub minor: u32,
    /// Slots granted, the first of which is for what is not timed.
    pub slots: u32,
}
