//! Attributes to the wire: GETATTR, READDIR and VERIFY.

use hayase_proto::nfs4::{
    Attr, Bitmap, ChangeAttrType, FType, FattrWriter, FsLocations, LayoutType, NfsStat, NfsTime,
    OpenArguments, SpecData, Status, fh4, fs_charset_cap, open_args,
};
use hayase_vfs::{ChangeKind, Features, FileType, FsInfo, FsStat, PathConf, Time};
use hayase_xdr::Array;

use super::acl;
use super::label;
use super::quota::{self, QUOTAS};
use super::supported::{exclusive, supported, supported_with};
use crate::handle::WireHandle;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Subject;
use crate::v4::owner::Told;

const FS_STAT: Bitmap = Bitmap::of(&[
    Attr::FilesAvail,
    Attr::FilesFree,
    Attr::FilesTotal,
    Attr::SpaceAvail,
    Attr::SpaceFree,
    Attr::SpaceTotal,
]);
const FS_INFO: Bitmap =
    Bitmap::of(&[Attr::LinkSupport, Attr::SymlinkSupport, Attr::MaxFileSize, Attr::TimeDelta]);
const PATH_CONF: Bitmap =
    Bitmap::of(&[Attr::CaseInsensitive, Attr::ChownRestricted, Attr::MaxLink, Attr::MaxName]);

const FEATURES: Bitmap = Bitmap::of(&[
    Attr::Acl,
    Attr::AclSupport,
    Attr::SupportedAttrs,
    Attr::SuppattrExclcreat,
    Attr::SecLabel,
    Attr::CloneBlksize,
    Attr::ChangeAttrType,
    Attr::XattrSupport,
]);

/// What can only be set.
const ONLY_SET: Bitmap = Bitmap::of(&[
    Attr::TimeAccessSet,
    Attr::TimeModifySet,
    Attr::LayoutHint,
    Attr::RetentionSet,
    Attr::RetentEvtSet,
    Attr::ModeSetMasked,
    Attr::ModeUmask,
    Attr::TimeDelegAccess,
    Attr::TimeDelegModify,
]);

/// What pseudo directories answer of their file system.
const NO_SPACE: FsStat = FsStat {
    total_bytes: 0,
    free_bytes: 0,
    avail_bytes: 0,
    total_files: 0,
    free_files: 0,
    avail_files: 0,
};
const PSEUDO_INFO: FsInfo = FsInfo {
    max_file_bytes: i64::MAX as u64,
    time_delta: Time { secs: 0, nanos: 1 },
    hard_links: true,
    symlinks: true,
};
const PSEUDO_CONF: PathConf =
    PathConf { link_max: 255, name_max: 255, chown_restricted: true, case_insensitive: false };

/// Fails if attributes are asked for that can only be set (RFC 8881 §5.5).
pub(crate) fn check_readable(wanted: &Bitmap) -> Result<(), Status> {
    if (*wanted & ONLY_SET).is_empty() { Ok(()) } else { Err(Status::Inval) }
}

/// What an answer can have beside the attributes of the object.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extra {
    /// Tell also that nothing went wrong, as READDIR does.
    pub(crate) rdattr_error: Option<NfsStat>,
}

/// What has to be asked of the file system before anything can be written.
struct Facts {
    stat: FsStat,
    info: FsInfo,
    conf: PathConf,
    features: Features,
    acl: Option<acl::Told>,
    label: Option<Vec<u8>>,
    owner: Option<Told>,
    group: Option<Told>,
    birth: Option<Time>,
    mounted_on: u64,
    quota: quota::Told,
}

impl Facts {
    fn gather(
        compound: &Compound<'_>,
        subject: &Subject<'_>,
        wanted: &Bitmap,
    ) -> Result<Facts, Fault> {
        let (attr, owners) = (&subject.attr, compound.owners());
        let asked = |group: Bitmap| if (*wanted & group).is_empty() { None } else { subject.file };
        let stat = match asked(FS_STAT) {
            Some(file) => file.vfs().fs_stat(&file.cx(), &subject.own)?,
            None => NO_SPACE,
        };
        let info = match asked(FS_INFO) {
            Some(file) => file.vfs().fs_info(&file.cx(), &subject.own)?,
            None => PSEUDO_INFO,
        };
        let conf = match asked(PATH_CONF) {
            Some(file) => file.vfs().path_conf(&file.cx(), &subject.own)?,
            None => PSEUDO_CONF,
        };
        let features = match asked(FEATURES) {
            Some(file) => {
                let features = file.vfs().features(&file.cx(), &subject.own)?;
                Features { labels: features.labels && file.options().security_label, ..features }
            }
            None => Features::default(),
        };
        let acl = match subject.file {
            Some(file) if features.acls && wanted.contains(Attr::Acl) => {
                Some(acl::told(acl::of(file, &subject.own, attr)?, owners)?)
            }
            _ => None,
        };
        let label = match subject.file {
            Some(file) if features.labels && wanted.contains(Attr::SecLabel) => {
                label::of(file, &subject.own)?
            }
            _ => None,
        };
        let birth = match asked(Bitmap::of(&[Attr::TimeCreate])) {
            Some(file) => file.vfs().birth_time(&file.cx(), &subject.own)?,
            None => None,
        };
        let mounted_on = match asked(Bitmap::of(&[Attr::MountedOnFileId])) {
            Some(file) if subject.mounted_on.is_none() => {
                file.vfs().mounted_on(&file.cx(), &subject.own, attr)?
            }
            _ => subject.mounted_on.unwrap_or(attr.fileid),
        };
        let owner = wanted.contains(Attr::Owner).then(|| owners.user(attr.uid)).transpose()?;
        let group =
            wanted.contains(Attr::OwnerGroup).then(|| owners.group(attr.gid)).transpose()?;
        let quota = match asked(QUOTAS) {
            Some(file) => quota::of(file, &subject.own, attr)?,
            None => quota::Told::default(),
        };
        Ok(Facts { stat, info, conf, features, acl, label, owner, group, birth, mounted_on, quota })
    }
}

/// Appends a `fattr4` of what is wanted and supported.
pub(crate) fn write(
    compound: &Compound<'_>,
    subject: &Subject<'_>,
    wanted: Bitmap,
    extra: Extra,
    to: &mut Vec<u8>,
) -> Result<(), Fault> {
    let minor = compound.minor;
    let mut wanted = wanted & supported(minor);
    if extra.rdattr_error.is_none() {
        wanted.remove(Attr::RdattrError);
    }
    let facts = Facts::gather(compound, subject, &wanted)?;
    let Facts { stat, info, conf, features, acl, label, owner, group, birth, mounted_on, quota } =
        facts;
    let attr = &subject.attr;
    let transfer = u64::from(compound.call.server.limits.transfer_bytes);

    let mut w = FattrWriter::begin(to, wanted);
    w.push(Attr::SupportedAttrs, &supported_with(minor, &features));
    w.push(Attr::Type, &ftype(attr.kind));
    w.push(Attr::FhExpireType, &fh4::PERSISTENT);
    w.push(Attr::Change, &attr.change);
    w.push(Attr::Size, &attr.size);
    w.push(Attr::LinkSupport, &info.hard_links);
    w.push(Attr::SymlinkSupport, &info.symlinks);
    w.push(Attr::NamedAttr, &false);
    w.push(Attr::Fsid, &subject.fsid);
    w.push(Attr::UniqueHandles, &true);
    w.push(Attr::LeaseTime, &compound.call.server.v4.lease_secs());
    w.push_some(Attr::RdattrError, extra.rdattr_error.as_ref());
    w.push_some(Attr::Acl, acl.as_ref());
    w.push(Attr::AclSupport, &if features.acls { acl::SUPPORT } else { 0 });
    w.push(Attr::CanSetTime, &true);
    w.push(Attr::CaseInsensitive, &conf.case_insensitive);
    w.push(Attr::CasePreserving, &true);
    w.push(Attr::ChownRestricted, &conf.chown_restricted);
    let handle = w.wants(Attr::FileHandle).then(|| subject.wire_handle(compound.call.server));
    w.push_some(Attr::FileHandle, handle.as_ref().map(WireHandle::as_nfs4).as_ref());
    w.push(Attr::FileId, &attr.fileid);
    w.push(Attr::FilesAvail, &stat.avail_files);
    w.push(Attr::FilesFree, &stat.free_files);
    w.push(Attr::FilesTotal, &stat.total_files);
    if w.wants(Attr::FsLocations) {
        let nowhere = || FsLocations { fs_root: Array(Vec::new()), locations: Array(Vec::new()) };
        let places = subject.file.map_or_else(nowhere, |file| compound.places(file));
        w.push(Attr::FsLocations, &places);
    }
    w.push(Attr::Homogeneous, &true);
    w.push(Attr::MaxFileSize, &info.max_file_bytes);
    w.push(Attr::MaxLink, &conf.link_max);
    w.push(Attr::MaxName, &conf.name_max);
    w.push(Attr::MaxRead, &transfer);
    w.push(Attr::MaxWrite, &transfer);
    w.push(Attr::Mode, &attr.mode);
    w.push(Attr::NoTrunc, &true);
    w.push(Attr::NumLinks, &attr.nlink);
    w.push_some(Attr::Owner, owner.as_ref().map(Told::as_opaque).as_ref());
    w.push_some(Attr::OwnerGroup, group.as_ref().map(Told::as_opaque).as_ref());
    w.push_some(Attr::QuotaAvailHard, quota.avail_hard.as_ref());
    w.push_some(Attr::QuotaAvailSoft, quota.avail_soft.as_ref());
    w.push_some(Attr::QuotaUsed, quota.used.as_ref());
    w.push(Attr::RawDev, &SpecData { major: attr.rdev.0, minor: attr.rdev.1 });
    w.push(Attr::SpaceAvail, &stat.avail_bytes);
    w.push(Attr::SpaceFree, &stat.free_bytes);
    w.push(Attr::SpaceTotal, &stat.total_bytes);
    w.push(Attr::SpaceUsed, &attr.used);
    w.push(Attr::TimeAccess, &time(attr.atime));
    w.push_some(Attr::TimeCreate, birth.map(time).as_ref());
    w.push(Attr::TimeDelta, &time(info.time_delta));
    w.push(Attr::TimeMetadata, &time(attr.ctime));
    w.push(Attr::TimeModify, &time(attr.mtime));
    w.push(Attr::MountedOnFileId, &mounted_on);
    w.push(Attr::FsLayoutTypes, &Array::<LayoutType, 64>(Vec::new()));
    w.push(Attr::SuppattrExclcreat, &(exclusive(minor) & supported_with(minor, &features)));
    w.push(Attr::FsCharsetCap, &fs_charset_cap::CONTAINS_NON_UTF8);
    w.push_some(Attr::CloneBlksize, features.clone_bytes.as_ref());
    w.push(Attr::ChangeAttrType, &change_attr_type(features.change));
    w.push_some(Attr::SecLabel, label.as_deref().map(label::told).as_ref());
    w.push(Attr::XattrSupport, &features.xattrs);
    w.push(Attr::OpenArguments, &open_arguments());
    w.finish();
    Ok(())
}

/// What OPEN takes (RFC 9754 §4). Promises for later are never made.
fn open_arguments() -> OpenArguments {
    OpenArguments {
        share_access: (1..=3_u32).collect(),
        share_deny: (0..=3_u32).collect(),
        share_access_want: [
            open_args::WANT_ANY_DELEG,
            open_args::WANT_NO_DELEG,
            open_args::WANT_CANCEL,
            open_args::WANT_DELEG_TIMESTAMPS,
            open_args::WANT_OPEN_XOR_DELEGATION,
        ]
        .into_iter()
        .collect(),
        open_claim: [0_u32, 1, 2, 4, 5].into_iter().collect(),
        create_mode: (0..=3_u32).collect(),
    }
}

fn change_attr_type(kind: ChangeKind) -> ChangeAttrType {
    match kind {
        ChangeKind::Undefined => ChangeAttrType::Undefined,
        ChangeKind::Monotonic => ChangeAttrType::MonotonicIncr,
        ChangeKind::VersionCounter => ChangeAttrType::VersionCounter,
        ChangeKind::TimeMetadata => ChangeAttrType::TimeMetadata,
    }
}

fn ftype(kind: FileType) -> FType {
    match kind {
        FileType::Regular => FType::Reg,
        FileType::Directory => FType::Dir,
        FileType::Block => FType::Blk,
        FileType::Character => FType::Chr,
        FileType::Symlink => FType::Lnk,
        FileType::Socket => FType::Sock,
        FileType::Fifo => FType::Fifo,
    }
}

fn time(time: Time) -> NfsTime {
    NfsTime { seconds: time.secs, nseconds: time.nanos }
}

/// Appends a `fattr4` that says only why there are no attributes (RFC 8881 §18.23.3).
pub(crate) fn write_error(status: Status, to: &mut Vec<u8>) {
    let mut w = FattrWriter::begin(to, Bitmap::of(&[Attr::RdattrError]));
    w.push(Attr::RdattrError, &NfsStat::from(status));
    w.finish();
}

/// Appends a `fattr4` of an entry of which only its number is known.
pub(crate) fn write_number(fileid: u64, wanted: Bitmap, to: &mut Vec<u8>) {
    let mut w = FattrWriter::begin(to, wanted);
    w.push(Attr::RdattrError, &NfsStat::OK);
    w.push(Attr::MountedOnFileId, &fileid);
    w.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_only_be_set_is_known() {
        let only_set = Attr::ALL.iter().copied().filter(|attr| !attr.is_readable());
        assert_eq!(only_set.collect::<Vec<_>>(), ONLY_SET.attrs().collect::<Vec<_>>());
    }
}
