//! Which NFS is spoken.

use std::fmt;
use std::str::FromStr;

use crate::url::UrlError;

/// A version of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// NFSv3 (RFC 1813).
    V3,
    /// NFSv4.0 (RFC 7530): state, without sessions.
    V40,
    /// NFSv4.1 (RFC 8881): sessions.
    V41,
    /// NFSv4.2 (RFC 7862).
    V42,
}

impl Version {
    /// All of them, the oldest first.
    pub const ALL: [Version; 4] = [Version::V3, Version::V40, Version::V41, Version::V42];

    /// As in URLs and mount options.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V3 => "3",
            Version::V40 => "4.0",
            Version::V41 => "4.1",
            Version::V42 => "4.2",
        }
    }

    /// The minor version of NFSv4.
    pub const fn minor(self) -> Option<u32> {
        match self {
            Version::V3 => None,
            Version::V40 => Some(0),
            Version::V41 => Some(1),
            Version::V42 => Some(2),
        }
    }

    /// Whether calls are made in sessions.
    pub const fn has_sessions(self) -> bool {
        matches!(self, Version::V41 | Version::V42)
    }
}

impl FromStr for Version {
    type Err = UrlError;

    /// Reads `3`, `4.0`, `4.1` or `4.2`. `4` alone says too little.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Version::ALL
            .into_iter()
            .find(|version| version.name() == text)
            .ok_or_else(|| UrlError::new(text, "is no version of NFS", "write 3, 4.0, 4.1 or 4.2"))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
