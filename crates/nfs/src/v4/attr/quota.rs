//! Quotas (RFC 8881 §5.8.2.25 to §5.8.2.27): what the owner and the group of a file may still store.

use hayase_proto::nfs4::{Attr as WireAttr, Bitmap};
use hayase_vfs::{Attr, Handle, Quota, QuotaOf};

use crate::call::Target;
use crate::v4::fault::Fault;

/// The attributes that quotas are told as.
pub(super) const QUOTAS: Bitmap =
    Bitmap::of(&[WireAttr::QuotaAvailHard, WireAttr::QuotaAvailSoft, WireAttr::QuotaUsed]);

/// What counts for one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) avail_hard: Option<u64>,
    pub(super) avail_soft: Option<u64>,
    pub(super) used: Option<u64>,
}

/// The quotas of a file's owner and group.
pub(super) fn of(file: &Target, own: &Handle, attr: &Attr) -> Result<Told, Fault> {
    let (vfs, cx) = (file.vfs(), file.cx());
    let user = vfs.quota(&cx, own, QuotaOf::User(attr.uid))?;
    let group = vfs.quota(&cx, own, QuotaOf::Group(attr.gid))?;
    Ok(told([user, group].into_iter().flatten()))
}

/// The tighter limit counts. `quota_used` goes with the limit that is met first; where nothing is
/// limited, with the owner.
fn told(quotas: impl Iterator<Item = Quota> + Clone) -> Told {
    let tightest = quotas.clone().filter(|quota| quota.soft_left().is_some());
    let tightest = tightest.min_by_key(Quota::soft_left).or_else(|| quotas.clone().next());
    Told {
        avail_hard: quotas.clone().filter_map(|quota| quota.hard_left()).min(),
        avail_soft: quotas.filter_map(|quota| quota.soft_left()).min(),
        used: tightest.map(|quota| quota.used_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_limit_counts() {
        let quota = |used_bytes, soft_bytes, hard_bytes| Quota {
            used_bytes,
            soft_bytes,
            hard_bytes,
            ..Quota::default()
        };
        let free = quota(7, None, None);
        let wide = quota(10, Some(80), Some(100));
        let narrow = quota(40, Some(50), None);
        let all = |quotas: &[Quota]| {
            let Told { avail_hard, avail_soft, used } = told(quotas.iter().copied());
            (avail_hard, avail_soft, used)
        };
        assert_eq!(all(&[]), (None, None, None));
        assert_eq!(all(&[free]), (None, None, Some(7)));
        assert_eq!(all(&[free, wide]), (Some(90), Some(70), Some(10)));
        assert_eq!(all(&[wide, narrow]), (Some(90), Some(10), Some(40)));
    }
}
