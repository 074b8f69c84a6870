//! Layout types (RFC 8881 §3.3.13).

use crate::numbered::extensible;

extensible! {
    /// How data lies at data servers; others are registered with IANA
    /// (RFC 8881 §3.3.13, `layouttype4`).
    pub struct LayoutType {
        /// Stripes over NFSv4.1 servers (RFC 8881 §13).
        NFSV4_1_FILES = 1 "LAYOUT4_NFSV4_1_FILES",
        /// Object storage (RFC 5664).
        OSD2_OBJECTS = 2 "LAYOUT4_OSD2_OBJECTS",
        /// Block devices (RFC 5663).
        BLOCK_VOLUME = 3 "LAYOUT4_BLOCK_VOLUME",
        /// Servers of any NFS version (RFC 8435).
        FLEX_FILES = 4 "LAYOUT4_FLEX_FILES",
        /// SCSI devices (RFC 8154).
        SCSI = 5 "LAYOUT4_SCSI",
    }
}
