//! What a file system can do beyond what NFSv3 knows of.

/// How [`crate::Attr::change`] changes (RFC 7862 §12.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeKind {
    /// In any way.
    #[default]
    Undefined,
    /// It only grows.
    Monotonic,
    /// By one with every change.
    VersionCounter,
    /// It is the ctime, and as fine as that.
    TimeMetadata,
}

/// What a file system can do; by default nothing. An operation for which there is no feature here
/// fails with [`crate::Error::NotSupported`] where it cannot be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // independent of each other
pub struct Features {
    /// Extended attributes.
    pub xattrs: bool,
    /// POSIX access control lists.
    pub acls: bool,
    /// Files know when they were made.
    pub birth_times: bool,
    /// Ranges can be cloned; they begin and end at multiples of this.
    pub clone_bytes: Option<u32>,
    /// Locks of clients and of local programs respect each other.
    pub mirrored_locks: bool,
    /// Security labels.
    pub labels: bool,
    /// What users store is counted, and may be limited.
    pub quotas: bool,
    /// How the change attribute changes.
    pub change: ChangeKind,
}
