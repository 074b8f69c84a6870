//! Open files, whatever "open" means in the version that is spoken.

use hayase_proto::nfs4::StateId;

use crate::{FileHandle, SetAttributes};

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Both.
    Both,
}

/// What to do about a file that is not there, or is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Create {
    /// It has to be there.
    #[default]
    Never,
    /// Make it with these attributes if it is not there. Of one that is there, only a size of 0
    /// is set.
    IfMissing(SetAttributes),
    /// Make it with these attributes; that it is there already is an error.
    New(SetAttributes),
}

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHow {
    /// What for.
    pub access: Access,
    /// Whether to make it.
    pub create: Create,
}

impl OpenHow {
    /// An existing file, for reading.
    pub const READ: OpenHow = OpenHow { access: Access::Read, create: Create::Never };
    /// An existing file, for reading and writing.
    pub const WRITE: OpenHow = OpenHow { access: Access::Both, create: Create::Never };

    /// For reading and writing, made with these permission bits if it is not there.
    pub const fn create(mode: u32) -> Self {
        OpenHow { access: Access::Both, create: Create::IfMissing(SetAttributes::mode(mode)) }
    }

    /// For reading and writing, made with these permission bits; an error if it is there.
    pub const fn create_new(mode: u32) -> Self {
        OpenHow { access: Access::Both, create: Create::New(SetAttributes::mode(mode)) }
    }
}

/// A file that can be read and written.
///
/// Cloning it makes another name for the same open: it is to be closed once.
/// NFSv3 knows no opens: there it is a handle, and closing it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    pub(crate) handle: FileHandle,
    pub(crate) state: OpenState,
}

/// What NFSv4 knows an open by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenState {
    /// Where the mount keeps the open; 0 for none.
    pub(crate) id: u64,
    /// Of which recovery the stateid is: it is good while the mount has seen no other.
    pub(crate) epoch: u64,
    pub(crate) stateid: StateId,
}

impl OpenState {
    /// No open at all.
    pub(crate) const NONE: OpenState = OpenState { id: 0, epoch: 0, stateid: StateId::ANONYMOUS };
}

impl OpenFile {
    /// A file that is not opened on the server, for reading and writing by its handle alone: always
    /// so in NFSv3; by the anonymous stateid in NFSv4 (RFC 8881 §8.2.3), which not every
    /// server takes.
    pub fn anonymous(handle: FileHandle) -> Self {
        OpenFile { handle, state: OpenState::NONE }
    }

    /// The file's handle.
    pub fn handle(&self) -> &FileHandle {
        &self.handle
    }
}
