//! Which attributes there are.

use hayase_proto::nfs4::{Attr, Bitmap};
use hayase_vfs::Features;

const MINOR_0: Bitmap = Bitmap::of(&[
    Attr::SupportedAttrs,
    Attr::Type,
    Attr::FhExpireType,
    Attr::Change,
    Attr::Size,
    Attr::LinkSupport,
    Attr::SymlinkSupport,
    Attr::NamedAttr,
    Attr::Fsid,
    Attr::UniqueHandles,
    Attr::LeaseTime,
    Attr::RdattrError,
    Attr::Acl,
    Attr::AclSupport,
    Attr::CanSetTime,
    Attr::CaseInsensitive,
    Attr::CasePreserving,
    Attr::ChownRestricted,
    Attr::FileHandle,
    Attr::FileId,
    Attr::FilesAvail,
    Attr::FilesFree,
    Attr::FilesTotal,
    Attr::FsLocations,
    Attr::Homogeneous,
    Attr::MaxFileSize,
    Attr::MaxLink,
    Attr::MaxName,
    Attr::MaxRead,
    Attr::MaxWrite,
    Attr::Mode,
    Attr::NoTrunc,
    Attr::NumLinks,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::QuotaAvailHard,
    Attr::QuotaAvailSoft,
    Attr::QuotaUsed,
    Attr::RawDev,
    Attr::SpaceAvail,
    Attr::SpaceFree,
    Attr::SpaceTotal,
    Attr::SpaceUsed,
    Attr::TimeAccess,
    Attr::TimeAccessSet,
    Attr::TimeCreate,
    Attr::TimeDelta,
    Attr::TimeMetadata,
    Attr::TimeModify,
    Attr::TimeModifySet,
    Attr::MountedOnFileId,
]);

const MINOR_1: &[Attr] =
    &[Attr::FsLayoutTypes, Attr::ModeSetMasked, Attr::SuppattrExclcreat, Attr::FsCharsetCap];

const MINOR_2: &[Attr] = &[
    Attr::CloneBlksize,
    Attr::ChangeAttrType,
    Attr::SecLabel,
    Attr::ModeUmask,
    Attr::XattrSupport,
    Attr::TimeDelegAccess,
    Attr::TimeDelegModify,
    Attr::OpenArguments,
];

const ADDED_1: Bitmap = Bitmap::of(MINOR_1);
const ADDED_2: Bitmap = Bitmap::of(MINOR_2);

/// The attributes of a minor version (`supported_attrs`).
pub(crate) fn supported(minor: u32) -> Bitmap {
    match minor {
        0 => MINOR_0,
        1 => MINOR_0 | ADDED_1,
        _ => MINOR_0 | ADDED_1 | ADDED_2,
    }
}

/// The attributes of files of a file system that can do this.
pub(crate) fn supported_with(minor: u32, features: &Features) -> Bitmap {
    let mut attrs = supported(minor);
    if !features.acls {
        attrs.remove(Attr::Acl);
    }
    if !features.labels {
        attrs.remove(Attr::SecLabel);
    }
    if !features.birth_times {
        attrs.remove(Attr::TimeCreate);
    }
    if !features.quotas {
        for quota in [Attr::QuotaAvailHard, Attr::QuotaAvailSoft, Attr::QuotaUsed] {
            attrs.remove(quota);
        }
    }
    if features.clone_bytes.is_none() {
        attrs.remove(Attr::CloneBlksize);
    }
    attrs
}

const SETTABLE_BESIDE_VERIFIER: Bitmap = Bitmap::of(&[
    Attr::Acl,
    Attr::Mode,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::SecLabel,
    Attr::ModeUmask,
]);

/// What can be set together with an exclusive creation (`suppattr_exclcreat`): all but the
/// times, which hold the verifier, and the size.
pub(crate) fn exclusive(minor: u32) -> Bitmap {
    SETTABLE_BESIDE_VERIFIER & supported(minor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_proto::nfs4::AttrLevel;

    #[test]
    fn nothing_required_is_missing_and_nothing_comes_too_early() {
        for minor in 0..=2 {
            let supported = supported(minor);
            for attr in Attr::ALL {
                let info = attr.info();
                if supported.contains(*attr) {
                    assert!(info.first_minor <= minor, "{attr}");
                } else {
                    assert!(
                        info.first_minor > minor || info.level != AttrLevel::Required,
                        "{attr}"
                    );
                }
            }
        }
    }
}
