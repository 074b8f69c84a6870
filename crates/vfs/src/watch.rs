//! Hearing of local programs that want what a client holds a delegation of.

use crate::Handle;

/// Which local programs are conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watch {
    /// Those that open a file for writing, or cut it: for delegations to read.
    Writers,
    /// Those that open it at all: for delegations to write.
    Everybody,
}

/// Is told of a conflict, on a thread of the file system's own; must not wait. The program waits
/// until the file is watched no more, or the kernel loses its patience (`fs.lease-break-time`).
pub type ConflictListener = Box<dyn Fn(&Handle) + Send + Sync>;
