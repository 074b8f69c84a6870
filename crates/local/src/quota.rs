//! Quotas, as the kernel keeps them: those of users and groups on the mounted file systems that
//! have them, such as ext4 and XFS.

use hayase_vfs::{Cx, Handle, Quota, QuotaOf, Result};
use rustix::io::Errno;

use crate::Core;
use crate::errno::OrError;
use crate::mounts::Mount;
use crate::sys;

/// The kernel counts limits in these.
const BLOCK_BYTES: u64 = 1024;

impl Core {
    pub(crate) fn quota(&self, cx: &Cx<'_>, of: &Handle, whose: QuotaOf) -> Result<Option<Quota>> {
        cx.may_block()?;
        let node = self.node(cx, of)?;
        self.identity.become_server()?;
        match sys::quota(&node.mount.dir, whose) {
            Ok(counted) => Ok(Some(convert(&counted))),
            // Nothing has been counted yet.
            Err(Errno::NOENT) => Ok(Some(Quota::default())),
            // No quotas, none of this kind, a kernel before 5.14, or not ours to know.
            Err(Errno::SRCH | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM) => {
                Ok(None)
            }
            Err(error) => Err(error).or_error("quotactl", &node.path),
        }
    }
}

impl Mount {
    /// Whether the files of users are counted here.
    pub(crate) fn has_quotas(&self) -> bool {
        matches!(sys::quota(&self.dir, QuotaOf::User(0)), Ok(_) | Err(Errno::NOENT))
    }
}

fn convert(counted: &libc::dqblk) -> Quota {
    let limit = |limit: u64| (limit != 0).then_some(limit);
    let bytes = |blocks: u64| limit(blocks.saturating_mul(BLOCK_BYTES));
    Quota {
        used_bytes: counted.dqb_curspace,
        soft_bytes: bytes(counted.dqb_bsoftlimit),
        hard_bytes: bytes(counted.dqb_bhardlimit),
        used_files: counted.dqb_curinodes,
        soft_files: limit(counted.dqb_isoftlimit),
        hard_files: limit(counted.dqb_ihardlimit),
        bytes_until_secs: counted.dqb_btime,
        files_until_secs: counted.dqb_itime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_blocks_and_what_is_used_in_bytes() {
        let counted = libc::dqblk {
            dqb_bhardlimit: 8,
            dqb_bsoftlimit: 0,
            dqb_curspace: 5000,
            dqb_ihardlimit: 0,
            dqb_isoftlimit: 3,
            dqb_curinodes: 4,
            dqb_btime: 0,
            dqb_itime: 1_000_000_000,
            dqb_valid: 0,
        };
        let quota = convert(&counted);
        assert_eq!((quota.used_bytes, quota.used_files), (5000, 4));
        assert_eq!((quota.soft_bytes, quota.hard_bytes), (None, Some(8192)));
        assert_eq!((quota.soft_files, quota.hard_files), (Some(3), None));
        assert_eq!((quota.bytes_until_secs, quota.files_until_secs), (0, 1_000_000_000));
    }
}
