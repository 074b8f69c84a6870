//! Which versions of NFS are served.

use hayase_proto::{nfs3, nfs4};

/// Versions of NFS, each served or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// NFSv3, with MOUNT version 3 and NFSACL.
    pub v3: bool,
    /// NFSv4.0, 4.1 and 4.2.
    pub v4: [bool; 3],
}

impl Default for Versions {
    fn default() -> Self {
        Self::ALL
    }
}

impl Versions {
    /// All there are.
    pub const ALL: Self = Self { v3: true, v4: [true; 3] };

    /// Whether there is any of NFSv4.
    pub fn any_v4(self) -> bool {
        self.v4.contains(&true)
    }

    /// Whether none is left.
    pub fn is_empty(self) -> bool {
        !self.v3 && !self.any_v4()
    }

    /// Whether a minor version of NFSv4 is served.
    pub(crate) fn has_minor(self, minor: u32) -> bool {
        self.v4.get(minor as usize).copied().unwrap_or(false)
    }

    /// The lowest and the highest version of the NFS program.
    pub(crate) fn range(self) -> (u32, u32) {
        let low = if self.v3 { nfs3::VERSION } else { nfs4::VERSION };
        let high = if self.any_v4() { nfs4::VERSION } else { nfs3::VERSION };
        (low, high)
    }
}
