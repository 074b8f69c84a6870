//! What a lane can be asked, and what it answers.

use std::time::Instant;

use hayase_buf::Buffer;

use crate::{Attributes, Error, FileHandle, FsStat, Name, OpenFile, OpenHow, SetAttributes};

pub use hayase_proto::nfs3::StableHow as Stable;

/// Where a server's time for a call went.
pub use hayase_rpc::Timing;

/// Bits to ask about with [`Request::Access`] (RFC 1813 §3.3.4, RFC 8881 §18.1).
pub use hayase_proto::nfs3::access;

/// An operation, for [`Lane::submit`](crate::Lane::submit).
#[derive(Debug)]
pub enum Request {
    /// Does nothing, but to go there and back. → [`Reply::Done`]
    Null,
    /// A file's attributes. → [`Reply::Attributes`]
    GetAttr {
        /// The file.
        file: FileHandle,
    },
    /// Changes a file's attributes. → [`Reply::Done`]
    SetAttr {
        /// The file.
        file: FileHandle,
        /// What to change.
        set: SetAttributes,
    },
    /// Sets the length of a file that is open for writing. → [`Reply::Done`]
    Truncate {
        /// The file.
        file: OpenFile,
        /// Bytes it shall have.
        size: u64,
    },
    /// What the caller may do with a file. → [`Reply::Access`]
    Access {
        /// The file.
        file: FileHandle,
        /// Bits of [`access`].
        wanted: u32,
    },
    /// Finds a name. → [`Reply::Found`]
    Lookup {
        /// Where.
        dir: FileHandle,
        /// The name.
        name: Name,
    },
    /// A symbolic link's text. → [`Reply::Text`]
    ReadLink {
        /// The link.
        link: FileHandle,
    },
    /// Opens or makes a regular file. → [`Reply::Opened`]
    Open {
        /// Where.
        dir: FileHandle,
        /// The name.
        name: Name,
        /// What for, and whether to make it.
        how: OpenHow,
    },
    /// Closes a file; NFSv3 answers at once. → [`Reply::Done`]
    Close {
        /// The file.
        file: OpenFile,
    },
    /// Reads data, straight into the buffer. → [`Reply::Read`]
    Read {
        /// The file.
        file: OpenFile,
        /// The first byte.
        offset: u64,
        /// Bytes wanted: at most [`Transfer::read_max`](crate::Transfer::read_max) and the buffer's length.
        len: u32,
        /// Where to; comes back in [`Done::buffer`].
        buffer: Buffer,
    },
    /// Writes the buffer's first bytes. → [`Reply::Written`]
    Write {
        /// The file.
        file: OpenFile,
        /// Where the first byte goes.
        offset: u64,
        /// Bytes: at most [`Transfer::write_max`](crate::Transfer::write_max) and the buffer's length.
        len: u32,
        /// How safe they have to be.
        stable: Stable,
        /// The data; comes back in [`Done::buffer`].
        buffer: Buffer,
    },
    /// Makes written data stable. → [`Reply::Committed`]
    Commit {
        /// The file.
        file: OpenFile,
        /// The first byte.
        offset: u64,
        /// Bytes; 0 means to the end of the file.
        len: u32,
    },
    /// Lists a directory, a part at a time. → [`Reply::Listing`]
    ReadDir {
        /// The directory.
        dir: FileHandle,
        /// From where on; [`Cursor::START`] first, then [`Listing::next`].
        from: Cursor,
        /// Whether to ask for each entry's handle and attributes, too.
        with_attributes: bool,
    },
    /// Makes a directory. → [`Reply::Found`]
    MkDir {
        /// Where.
        dir: FileHandle,
        /// Its name.
        name: Name,
        /// Permission bits.
        mode: u32,
    },
    /// Makes a symbolic link. → [`Reply::Found`]
    Symlink {
        /// Where.
        dir: FileHandle,
        /// Its name.
        name: Name,
        /// Its text.
        target: Box<[u8]>,
    },
    /// Gives a file a further name. → [`Reply::Done`]
    Link {
        /// The file.
        file: FileHandle,
        /// Where.
        dir: FileHandle,
        /// The further name.
        name: Name,
    },
    /// Moves a name, over what is there. → [`Reply::Done`]
    Rename(Box<Rename>),
    /// Removes a name of what is no directory. → [`Reply::Done`]
    Remove {
        /// Where.
        dir: FileHandle,
        /// The name.
        name: Name,
    },
    /// Removes an empty directory. → [`Reply::Done`]
    RmDir {
        /// Where.
        dir: FileHandle,
        /// The name.
        name: Name,
    },
    /// How full a file system is. → [`Reply::FsStat`]
    FsStat {
        /// Anything on it.
        file: FileHandle,
    },
}

/// A name and what it is to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The directory it is in.
    pub from_dir: FileHandle,
    /// The name.
    pub from: Name,
    /// The directory it shall be in.
    pub to_dir: FileHandle,
    /// The name it shall have.
    pub to: Name,
}

impl Request {
    /// The operation, as the RFCs of NFSv4 name it.
    pub fn operation(&self) -> &'static str {
        match self {
            Request::Null => "NULL",
            Request::GetAttr { .. } => "GETATTR",
            Request::SetAttr { .. } | Request::Truncate { .. } => "SETATTR",
            Request::Access { .. } => "ACCESS",
            Request::Lookup { .. } => "LOOKUP",
            Request::ReadLink { .. } => "READLINK",
            Request::Open { .. } => "OPEN",
            Request::Close { .. } => "CLOSE",
            Request::Read { .. } => "READ",
            Request::Write { .. } => "WRITE",
            Request::Commit { .. } => "COMMIT",
            Request::ReadDir { .. } => "READDIR",
            Request::MkDir { .. } => "MKDIR",
            Request::Symlink { .. } => "SYMLINK",
            Request::Link { .. } => "LINK",
            Request::Rename(_) => "RENAME",
            Request::Remove { .. } => "REMOVE",
            Request::RmDir { .. } => "RMDIR",
            Request::FsStat { .. } => "FSSTAT",
        }
    }

    /// Takes back the buffer.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self {
            Request::Read { buffer, .. } | Request::Write { buffer, .. } => Some(buffer),
            _ => None,
        }
    }
}

/// What a request that succeeded is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is done; there is nothing more to tell.
    Done,
    /// A file's attributes.
    Attributes(Attributes),
    /// Those bits that are allowed.
    Access(u32),
    /// What a name stands for.
    Found(Found),
    /// A symbolic link's text.
    Text(Box<[u8]>),
    /// An open file.
    Opened(Box<Opened>),
    /// Data has arrived in the buffer.
    Read {
        /// Bytes of it: fewer than asked at the end of the file, or if the server likes.
        count: u32,
        /// Whether the file ends with these bytes.
        eof: bool,
    },
    /// Data has been written.
    Written {
        /// Bytes of it, which may be fewer than asked.
        count: u32,
        /// How safe they are.
        committed: Stable,
        /// As long as COMMIT answers the same, unstable data was not lost.
        verifier: [u8; 8],
    },
    /// Data is stable, if the verifier is that of the writes.
    Committed {
        /// Other than that of a WRITE if what it wrote may have been lost.
        verifier: [u8; 8],
    },
    /// A part of a directory.
    Listing(Listing),
    /// How full a file system is.
    FsStat(FsStat),
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its handle.
    pub handle: FileHandle,
    /// Its attributes, if the server told them.
    pub attributes: Option<Attributes>,
}

/// A file that has been opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The file.
    pub file: OpenFile,
    /// Its attributes, if the server told them.
    pub attributes: Option<Attributes>,
}

/// Where in a directory to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) cookie: u64,
    pub(crate) verifier: [u8; 8],
}

impl Cursor {
    /// The beginning.
    pub const START: Cursor = Cursor { cookie: 0, verifier: [0; 8] };
}

/// A part of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Names, without `.` and `..`.
    pub entries: Vec<Entry>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: Name,
    /// Names the file within its file system.
    pub fileid: u64,
    /// Its handle, if that was asked for and the server told it.
    pub handle: Option<FileHandle>,
    /// Its attributes, if they were asked for and the server told them.
    pub attributes: Option<Attributes>,
}

/// A request that is finished.
#[derive(Debug)]
pub struct Done {
    /// What it was submitted with.
    pub token: u64,
    /// What came of it.
    pub result: Result<Reply, Error>,
    /// The buffer of a READ or WRITE.
    pub buffer: Option<Buffer>,
    /// When it was submitted.
    pub submitted: Instant,
    /// When the last byte of its last call went to the kernel. That of `received` if it never did.
    pub sent: Instant,
    /// When the last byte of the reply had arrived.
    pub received: Instant,
    /// Where the server says the time of the last call went; `None` if it was not
    /// [asked](crate::Options::ask_timing) or does not tell.
    pub server: Option<Timing>,
    /// How often it was sent again: after a lost connection, or because the server asked for patience.
    pub resent: u32,
}

/// A lane has as many requests under way as it may. Here is the one that was too much.
#[derive(Debug)]
pub struct Full(pub Box<Request>);
