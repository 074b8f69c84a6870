//! Bounds on what a user or a group may store.

/// Whose storage is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuotaOf {
    /// Files of this user.
    User(u32),
    /// Files of this group.
    Group(u32),
}

/// What is stored, and what may be. A limit that is not set is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Bytes stored.
    pub used_bytes: u64,
    /// Bytes that may be exceeded for a while.
    pub soft_bytes: Option<u64>,
    /// Bytes beyond which nothing is stored.
    pub hard_bytes: Option<u64>,
    /// Files.
    pub used_files: u64,
    /// Files that may be exceeded for a while.
    pub soft_files: Option<u64>,
    /// Files beyond which there are no more.
    pub hard_files: Option<u64>,
    /// When exceeding [`Quota::soft_bytes`] ends, in seconds since the epoch; 0 while nobody does.
    pub bytes_until_secs: u64,
    /// The same for [`Quota::soft_files`].
    pub files_until_secs: u64,
}

impl Quota {
    /// Bytes that may still be stored for good, if that is limited.
    pub fn soft_left(&self) -> Option<u64> {
        let limit = [self.soft_bytes, self.hard_bytes].into_iter().flatten().min();
        limit.map(|limit| limit.saturating_sub(self.used_bytes))
    }

    /// Bytes that may still be stored, if that is limited.
    pub fn hard_left(&self) -> Option<u64> {
        self.hard_bytes.map(|limit| limit.saturating_sub(self.used_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_never_less_than_nothing() {
        let quota = |used_bytes, soft_bytes, hard_bytes| Quota {
            used_bytes,
            soft_bytes,
            hard_bytes,
            ..Quota::default()
        };
        let left = |quota: Quota| (quota.soft_left(), quota.hard_left());
        assert_eq!(left(quota(5, None, None)), (None, None));
        assert_eq!(left(quota(5, Some(7), Some(9))), (Some(2), Some(4)));
        assert_eq!(left(quota(8, Some(7), Some(9))), (Some(0), Some(1)));
        assert_eq!(left(quota(10, Some(7), Some(9))), (Some(0), Some(0)));
        assert_eq!(left(quota(5, None, Some(9))), (Some(4), Some(4)));
        assert_eq!(left(quota(5, Some(7), None)), (Some(2), None));
    }
}
