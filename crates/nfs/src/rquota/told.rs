//! A quota in the numbers of 32 bits that the protocol has.

use std::time::{SystemTime, UNIX_EPOCH};

use hayase_proto::rquota::Quota as Told;
use hayase_vfs::Quota;

/// The smallest block in which is counted.
const BLOCK_BYTES: u64 = 1024;
/// The largest: more is told as the most there can be.
const LARGEST_BLOCK_BYTES: u64 = 1 << 30;

/// Seconds since the epoch.
pub(super) fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A quota as it travels: in blocks that are large enough for all its numbers to fit.
pub(super) fn told(quota: &Quota, now_secs: u64) -> Told {
    let [hard, soft] = [quota.hard_bytes, quota.soft_bytes].map(|limit| limit.unwrap_or(0));
    let most = hard.max(soft).max(quota.used_bytes);
    let mut block = BLOCK_BYTES;
    while most.div_ceil(block) > u64::from(u32::MAX) && block < LARGEST_BLOCK_BYTES {
        block *= 2;
    }
    let blocks = |bytes: u64| clamp(bytes.div_ceil(block));
    let left = |until: u64| clamp(until.saturating_sub(now_secs));
    Told {
        block_bytes: block as i32,
        active: true,
        block_hard_limit: blocks(hard),
        block_soft_limit: blocks(soft),
        blocks: blocks(quota.used_bytes),
        file_hard_limit: clamp(quota.hard_files.unwrap_or(0)),
        file_soft_limit: clamp(quota.soft_files.unwrap_or(0)),
        files: clamp(quota.used_files),
        block_secs_left: left(quota.bytes_until_secs),
        file_secs_left: left(quota.files_until_secs),
    }
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_counted_in_large_blocks() {
        let quota = Quota {
            used_bytes: 1025,
            soft_bytes: Some(1 << 20),
            hard_bytes: None,
            used_files: 5,
            bytes_until_secs: 1070,
            ..Quota::default()
        };
        let small = told(&quota, 1000);
        let expected = Told {
            block_bytes: 1024,
            active: true,
            blocks: 2,
            block_soft_limit: 1024,
            files: 5,
            block_secs_left: 70,
            ..Told::default()
        };
        assert_eq!(small, expected);
        let large = told(&Quota { hard_bytes: Some(1 << 50), ..quota }, 2000);
        assert_eq!((large.block_bytes, large.block_hard_limit), (1 << 19, 1 << 31));
        assert_eq!((large.blocks, large.block_soft_limit, large.block_secs_left), (1, 2, 0));
        let largest = told(&Quota { hard_bytes: Some(u64::MAX), ..quota }, 0);
        assert_eq!((largest.block_bytes, largest.block_hard_limit), (1 << 30, u32::MAX));
    }
}
