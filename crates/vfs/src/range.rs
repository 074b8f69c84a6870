//! Holes, space and copies (RFC 7862 §4, §6, §7).

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::Stability;

/// What to look for in a file (RFC 7862 §15.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// Bytes that may be something else than zero.
    Data,
    /// Bytes that are zero and take up no storage; one is at the end of every file.
    Hole,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The first byte of it; the file's size if there is none.
    pub offset: u64,
    /// Whether there is none inside the file.
    pub eof: bool,
}

/// What a copy has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Bytes copied, from the first on. Fewer than asked for is no failure: go on behind
    /// them. None: the source ends here.
    pub count: u64,
    /// How stable they are: at least as asked.
    pub stability: Stability,
}

/// An open file that its reader may read, for another file system to copy from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file. Where it is at is nobody's to rely on.
    pub file: Arc<OwnedFd>,
}

/// How data will be used (RFC 7862 §15.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// In no special way.
    Normal,
    /// From the start to the end.
    Sequential,
    /// Here and there.
    Random,
    /// Soon.
    WillNeed,
    /// Not soon.
    DontNeed,
    /// Once.
    NoReuse,
}
