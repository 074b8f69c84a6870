//! What servers answer when they refuse.

use std::fmt;
use std::io::ErrorKind;

use hayase_proto::{mount, nfs3, nfs4};

/// Why a server did not do what it was asked, in any version.
///
/// The numbers below 10,000 are the same in all versions (RFC 1813 §2.6, RFC 8881 §15.1).
#[derive(Clone, Copy)]
pub struct Status {
    number: u32,
    name: &'static str,
}

impl Status {
    /// There is no such name.
    pub const NOENT: Status = Status::known(2, "NOENT");
    /// The caller may not do this.
    pub const ACCESS: Status = Status::known(13, "ACCESS");
    /// The name is taken.
    pub const EXIST: Status = Status::known(17, "EXIST");
    /// A directory is needed here.
    pub const NOTDIR: Status = Status::known(20, "NOTDIR");
    /// A directory cannot be used here.
    pub const ISDIR: Status = Status::known(21, "ISDIR");
    /// The arguments make no sense.
    pub const INVAL: Status = Status::known(22, "INVAL");
    /// The file system is full.
    pub const NOSPC: Status = Status::known(28, "NOSPC");
    /// The directory is not empty.
    pub const NOTEMPTY: Status = Status::known(66, "NOTEMPTY");
    /// The handle's object is gone.
    pub const STALE: Status = Status::known(70, "STALE");
    /// The server does not do this.
    pub const NOTSUPP: Status = Status::known(10004, "NOTSUPP");

    /// The server knows no such open.
    pub(crate) const BADSTATEID: Status = Status::known(10025, "NFS4ERR_BAD_STATEID");

    const fn known(number: u32, name: &'static str) -> Self {
        Status { number, name }
    }

    /// The number on the wire.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The RFC's name, such as `NFS4ERR_NOENT`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The kind of I/O error that it is like.
    pub fn kind(self) -> ErrorKind {
        match self.number {
            1 | 13 => ErrorKind::PermissionDenied,
            2 => ErrorKind::NotFound,
            17 => ErrorKind::AlreadyExists,
            18 => ErrorKind::CrossesDevices,
            20 => ErrorKind::NotADirectory,
            21 => ErrorKind::IsADirectory,
            22 => ErrorKind::InvalidInput,
            27 => ErrorKind::FileTooLarge,
            28 => ErrorKind::StorageFull,
            30 => ErrorKind::ReadOnlyFilesystem,
            31 => ErrorKind::TooManyLinks,
            63 => ErrorKind::InvalidFilename,
            66 => ErrorKind::DirectoryNotEmpty,
            69 => ErrorKind::QuotaExceeded,
            70 => ErrorKind::StaleNetworkFileHandle,
            10004 => ErrorKind::Unsupported,
            _ => ErrorKind::Other,
        }
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Status {}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl From<nfs3::Status> for Status {
    fn from(status: nfs3::Status) -> Self {
        Status { number: status.into(), name: status.name() }
    }
}

impl From<nfs4::Status> for Status {
    fn from(status: nfs4::Status) -> Self {
        Status { number: status.into(), name: status.name() }
    }
}

impl From<mount::Status> for Status {
    fn from(status: mount::Status) -> Self {
        Status { number: status.into(), name: status.name() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_refusal_is_the_same_in_all_versions() {
        let v3 = Status::from(nfs3::Status::NoEnt);
        let v4 = Status::from(nfs4::Status::NoEnt);
        assert_eq!((v3, v4), (Status::NOENT, Status::NOENT));
        assert_eq!((v3.name(), v4.to_string().as_str()), ("NFS3ERR_NOENT", "NFS4ERR_NOENT"));
        assert_eq!(v4.kind(), ErrorKind::NotFound);
        assert_ne!(v3, Status::from(mount::Status::Acces));
    }
}
