//! Entries of directories: making and listing them.

use crate::{Attr, Node, SetAttr};

/// How to make a regular file (RFC 1813 §3.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Take an existing regular file as it is, but apply a new size.
    Unchecked(SetAttr),
    /// Fail if it exists.
    Guarded(SetAttr),
    /// Fail if it exists, unless it was made with this same verifier, also before a restart.
    Exclusive(u64),
    /// The same, with attributes for a new file (RFC 8881 §18.16.3, `EXCLUSIVE4_1`). What keeps the
    /// verifier is not among them: times and size are left out.
    ExclusiveWith(u64, SetAttr),
}

/// What to make other than a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewNode<'a> {
    /// A directory.
    Directory,
    /// A symbolic link with this target.
    Symlink(&'a [u8]),
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device of this major and minor number.
    Character(u32, u32),
    /// A block device of this major and minor number.
    Block(u32, u32),
}

/// One entry of a directory, as it is handed to an [`EntrySink`].
#[derive(Clone, Copy, Debug)]
pub struct DirEntry<'a> {
    /// The entry's name, `.` and `..` included.
    pub name: &'a [u8],
    /// The entry's file id.
    pub fileid: u64,
    /// Where a later listing goes on behind this entry; never 0.
    pub cookie: u64,
    /// Handle and attributes, if they were asked for and could be had.
    pub node: Option<Node>,
}

/// Takes entries; answers whether this one still had room. One that had none is not listed.
pub type EntrySink<'a> = dyn FnMut(&DirEntry<'_>) -> bool + 'a;

/// The end of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirRead {
    /// Whether no entry is left behind those listed.
    pub eof: bool,
    /// The directory's attributes.
    pub attr: Attr,
}
