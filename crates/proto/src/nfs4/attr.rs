//! Which attributes there are (RFC 8881 §5.6, §5.7, RFC 7862 §12.1, RFC 8275, RFC 8276, RFC 9754).

use crate::numbered::numbered;

/// How an attribute can be used (RFC 8881 §5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrAccess {
    /// Can be read and not set.
    Read,
    /// Can be set and not read.
    Set,
    /// Can be read and set.
    ReadSet,
}

/// Whether a server must have an attribute (RFC 8881 §5.1, §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrLevel {
    /// Every server of the attribute's minor version and later ones has it.
    Required,
    /// A server may do without it.
    Recommended,
}

/// What the RFCs' tables say of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttrInfo {
    /// The attribute.
    pub attr: Attr,
    /// Whether a server must have it.
    pub level: AttrLevel,
    /// How it can be used.
    pub access: AttrAccess,
    /// The minor version it came with.
    pub first_minor: u32,
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $name:literal $level:ident $access:ident $minor:literal,)*) => {
        numbered! {
            /// The attributes, by number (RFC 8881 §5.6, §5.7).
            pub enum Attr {
                $($(#[$doc])* $variant = $number $name,)*
            }
        }

        /// What the RFCs say of each attribute, in the order of their numbers.
        pub const ATTRS: &[AttrInfo] = &[$(AttrInfo {
            attr: Attr::$variant,
            level: AttrLevel::$level,
            access: AttrAccess::$access,
            first_minor: $minor,
        },)*];
    };
}

attributes! {
    /// Which attributes the file system has (RFC 8881 §5.8.1.1).
    SupportedAttrs = 0 "supported_attrs" Required Read 0,
    /// What kind of object it is (RFC 8881 §5.8.1.2).
    Type = 1 "type" Required Read 0,
    /// When file handles expire (RFC 8881 §5.8.1.3).
    FhExpireType = 2 "fh_expire_type" Required Read 0,
    /// Another value after every change (RFC 8881 §5.8.1.4).
    Change = 3 "change" Required Read 0,
    /// Length in bytes (RFC 8881 §5.8.1.5).
    Size = 4 "size" Required ReadSet 0,
    /// Whether files can have several names (RFC 8881 §5.8.1.6).
    LinkSupport = 5 "link_support" Required Read 0,
    /// Whether there are symbolic links (RFC 8881 §5.8.1.7).
    SymlinkSupport = 6 "symlink_support" Required Read 0,
    /// Whether the object has named attributes (RFC 8881 §5.8.1.8).
    NamedAttr = 7 "named_attr" Required Read 0,
    /// Names the file system (RFC 8881 §5.8.1.9).
    Fsid = 8 "fsid" Required Read 0,
    /// Whether two handles mean two objects (RFC 8881 §5.8.1.10).
    UniqueHandles = 9 "unique_handles" Required Read 0,
    /// Seconds that state lives without a sign of life (RFC 8881 §5.8.1.11).
    LeaseTime = 10 "lease_time" Required Read 0,
    /// Why READDIR could not tell an entry's attributes (RFC 8881 §5.8.1.12).
    RdattrError = 11 "rdattr_error" Required Read 0,
    /// The access control list (RFC 8881 §6.2.1).
    Acl = 12 "acl" Recommended ReadSet 0,
    /// Which kinds of entries access control lists may have (RFC 8881 §6.2.1.2).
    AclSupport = 13 "aclsupport" Recommended Read 0,
    /// Whether the object changed since the last backup (RFC 8881 §5.8.2.1).
    Archive = 14 "archive" Recommended ReadSet 0,
    /// Whether times can be set (RFC 8881 §5.8.2.2).
    CanSetTime = 15 "cansettime" Recommended Read 0,
    /// Whether names are compared without case (RFC 8881 §5.8.2.3).
    CaseInsensitive = 16 "case_insensitive" Recommended Read 0,
    /// Whether names keep their case (RFC 8881 §5.8.2.4).
    CasePreserving = 17 "case_preserving" Recommended Read 0,
    /// Whether only a privileged user may give files away (RFC 8881 §5.8.2.6).
    ChownRestricted = 18 "chown_restricted" Recommended Read 0,
    /// The object's handle (RFC 8881 §5.8.1.13).
    FileHandle = 19 "filehandle" Required Read 0,
    /// Names the object within its file system (RFC 8881 §5.8.2.7).
    FileId = 20 "fileid" Recommended Read 0,
    /// Objects this user can still make (RFC 8881 §5.8.2.8).
    FilesAvail = 21 "files_avail" Recommended Read 0,
    /// Objects that can still be made (RFC 8881 §5.8.2.9).
    FilesFree = 22 "files_free" Recommended Read 0,
    /// Objects the file system can hold (RFC 8881 §5.8.2.10).
    FilesTotal = 23 "files_total" Recommended Read 0,
    /// Where else the file system is found (RFC 8881 §5.8.2.12).
    FsLocations = 24 "fs_locations" Recommended Read 0,
    /// Whether the object is hidden (RFC 8881 §5.8.2.15).
    Hidden = 25 "hidden" Recommended ReadSet 0,
    /// Whether all objects of the file system support the same attributes (RFC 8881 §5.8.2.16).
    Homogeneous = 26 "homogeneous" Recommended Read 0,
    /// The longest file (RFC 8881 §5.8.2.17).
    MaxFileSize = 27 "maxfilesize" Recommended Read 0,
    /// The most names of one object (RFC 8881 §5.8.2.18).
    MaxLink = 28 "maxlink" Recommended Read 0,
    /// The longest name (RFC 8881 §5.8.2.19).
    MaxName = 29 "maxname" Recommended Read 0,
    /// The largest READ (RFC 8881 §5.8.2.20).
    MaxRead = 30 "maxread" Recommended Read 0,
    /// The largest WRITE (RFC 8881 §5.8.2.21).
    MaxWrite = 31 "maxwrite" Recommended Read 0,
    /// What the content is (RFC 8881 §5.8.2.22).
    MimeType = 32 "mimetype" Recommended ReadSet 0,
    /// Permission bits (RFC 8881 §6.2.4).
    Mode = 33 "mode" Recommended ReadSet 0,
    /// Whether names that are too long are refused (RFC 8881 §5.8.2.24).
    NoTrunc = 34 "no_trunc" Recommended Read 0,
    /// Names the object has (RFC 8881 §5.8.2.25).
    NumLinks = 35 "numlinks" Recommended Read 0,
    /// Owner (RFC 8881 §5.8.2.26).
    Owner = 36 "owner" Recommended ReadSet 0,
    /// Group (RFC 8881 §5.8.2.27).
    OwnerGroup = 37 "owner_group" Recommended ReadSet 0,
    /// Bytes this user can still take (RFC 8881 §5.8.2.28).
    QuotaAvailHard = 38 "quota_avail_hard" Recommended Read 0,
    /// Bytes this user can take before being warned (RFC 8881 §5.8.2.29).
    QuotaAvailSoft = 39 "quota_avail_soft" Recommended Read 0,
    /// Bytes this user has taken (RFC 8881 §5.8.2.30).
    QuotaUsed = 40 "quota_used" Recommended Read 0,
    /// Device number, for devices (RFC 8881 §5.8.2.31).
    RawDev = 41 "rawdev" Recommended Read 0,
    /// Bytes free for this user (RFC 8881 §5.8.2.32).
    SpaceAvail = 42 "space_avail" Recommended Read 0,
    /// Bytes free (RFC 8881 §5.8.2.33).
    SpaceFree = 43 "space_free" Recommended Read 0,
    /// Bytes in all (RFC 8881 §5.8.2.34).
    SpaceTotal = 44 "space_total" Recommended Read 0,
    /// Bytes the object takes on disk (RFC 8881 §5.8.2.35).
    SpaceUsed = 45 "space_used" Recommended Read 0,
    /// Whether the object belongs to the operating system (RFC 8881 §5.8.2.36).
    System = 46 "system" Recommended ReadSet 0,
    /// Last read (RFC 8881 §5.8.2.37).
    TimeAccess = 47 "time_access" Recommended Read 0,
    /// Sets the last read (RFC 8881 §5.8.2.38).
    TimeAccessSet = 48 "time_access_set" Recommended Set 0,
    /// Last backup (RFC 8881 §5.8.2.39).
    TimeBackup = 49 "time_backup" Recommended ReadSet 0,
    /// When the object was made (RFC 8881 §5.8.2.40).
    TimeCreate = 50 "time_create" Recommended ReadSet 0,
    /// The smallest difference of times (RFC 8881 §5.8.2.41).
    TimeDelta = 51 "time_delta" Recommended Read 0,
    /// Last change of the attributes (RFC 8881 §5.8.2.42).
    TimeMetadata = 52 "time_metadata" Recommended Read 0,
    /// Last change of the data (RFC 8881 §5.8.2.43).
    TimeModify = 53 "time_modify" Recommended Read 0,
    /// Sets the last change of the data (RFC 8881 §5.8.2.44).
    TimeModifySet = 54 "time_modify_set" Recommended Set 0,
    /// Number of the directory a file system's root covers (RFC 8881 §5.8.2.23).
    MountedOnFileId = 55 "mounted_on_fileid" Recommended Read 0,
    /// How long notice of a directory's own attributes may take (RFC 8881 §5.11.1).
    DirNotifDelay = 56 "dir_notif_delay" Recommended Read 1,
    /// How long notice of entries' attributes may take (RFC 8881 §5.11.2).
    DirentNotifDelay = 57 "dirent_notif_delay" Recommended Read 1,
    /// Access control entries that allow or deny (RFC 8881 §6.2.2).
    Dacl = 58 "dacl" Recommended ReadSet 1,
    /// Access control entries that audit or alarm (RFC 8881 §6.2.3).
    Sacl = 59 "sacl" Recommended ReadSet 1,
    /// Changes when the server's policy for the file system does (RFC 8881 §5.8.2.5).
    ChangePolicy = 60 "change_policy" Recommended Read 1,
    /// What kind of copy the file system is (RFC 8881 §5.8.2.14).
    FsStatus = 61 "fs_status" Recommended Read 1,
    /// Layout types of the file system (RFC 8881 §5.12.1).
    FsLayoutTypes = 62 "fs_layout_types" Recommended Read 1,
    /// How the client would like the file to be laid out (RFC 8881 §5.12.4).
    LayoutHint = 63 "layout_hint" Recommended Set 1,
    /// Layout types of the file (RFC 8881 §5.12.5).
    LayoutTypes = 64 "layout_types" Recommended Read 1,
    /// Size of transfer that suits the layout (RFC 8881 §5.12.3).
    LayoutBlksize = 65 "layout_blksize" Recommended Read 1,
    /// Alignment of transfers that suits the layout (RFC 8881 §5.12.2).
    LayoutAlignment = 66 "layout_alignment" Recommended Read 1,
    /// Where else the file system is found, in detail (RFC 8881 §5.8.2.13).
    FsLocationsInfo = 67 "fs_locations_info" Recommended Read 1,
    /// Which transfers should go to the metadata server (RFC 8881 §5.12.6).
    MdsThreshold = 68 "mdsthreshold" Recommended Read 1,
    /// How long the file must be kept (RFC 8881 §5.13.1).
    RetentionGet = 69 "retention_get" Recommended Read 1,
    /// Sets how long the file must be kept (RFC 8881 §5.13.2).
    RetentionSet = 70 "retention_set" Recommended Set 1,
    /// How long the file must be kept after an event (RFC 8881 §5.13.3).
    RetentEvtGet = 71 "retentevt_get" Recommended Read 1,
    /// Sets how long the file must be kept after an event (RFC 8881 §5.13.4).
    RetentEvtSet = 72 "retentevt_set" Recommended Set 1,
    /// Reasons to keep the file without end (RFC 8881 §5.13.5).
    RetentionHold = 73 "retention_hold" Recommended ReadSet 1,
    /// Sets some of the permission bits (RFC 8881 §6.2.5).
    ModeSetMasked = 74 "mode_set_masked" Recommended Set 1,
    /// Attributes that an exclusive create can set (RFC 8881 §5.8.1.14).
    SuppattrExclcreat = 75 "suppattr_exclcreat" Required Read 1,
    /// Which characters names may have (RFC 8881 §5.8.2.11).
    FsCharsetCap = 76 "fs_charset_cap" Recommended Read 1,
    /// What the ranges of CLONE must be multiples of (RFC 7862 §12.2.1).
    CloneBlksize = 77 "clone_blksize" Recommended Read 2,
    /// Bytes that removing the file would free (RFC 7862 §12.2.2).
    SpaceFreed = 78 "space_freed" Recommended Read 2,
    /// What can be told from two values of `change` (RFC 7862 §12.2.3).
    ChangeAttrType = 79 "change_attr_type" Recommended Read 2,
    /// The security label (RFC 7862 §12.2.4).
    SecLabel = 80 "sec_label" Recommended ReadSet 2,
    /// Permission bits and umask of a new object (RFC 8275).
    ModeUmask = 81 "mode_umask" Recommended Set 2,
    /// Whether the file system has extended attributes (RFC 8276 §8.2.1).
    XattrSupport = 82 "xattr_support" Recommended Read 2,
    /// Whether reading the data takes long (RFC 9754).
    Offline = 83 "offline" Recommended Read 2,
    /// Last read, as a delegation's holder sees it (RFC 9754 §5).
    TimeDelegAccess = 84 "time_deleg_access" Recommended Set 2,
    /// Last change of the data, as a delegation's holder sees it (RFC 9754 §5).
    TimeDelegModify = 85 "time_deleg_modify" Recommended Set 2,
    /// What OPEN supports (RFC 9754).
    OpenArguments = 86 "open_arguments" Recommended Read 2,
}

impl Attr {
    /// What the RFCs say of it.
    pub fn info(self) -> &'static AttrInfo {
        &ATTRS[self as usize]
    }

    /// Whether GETATTR and READDIR may ask for it.
    pub fn is_readable(self) -> bool {
        self.info().access != AttrAccess::Set
    }

    /// Whether SETATTR and creating operations may set it.
    pub fn is_settable(self) -> bool {
        self.info().access != AttrAccess::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_attribute_at_its_number() {
        assert_eq!(ATTRS.len(), 87);
        for (number, info) in (0..).zip(ATTRS) {
            assert_eq!(u32::from(info.attr), number);
            assert_eq!(info.attr.info(), info);
        }
    }

    #[test]
    fn the_table_counts_as_the_rfcs_do() {
        let count = |minor: u32, level| {
            ATTRS.iter().filter(|a| a.first_minor == minor && a.level == level).count()
        };
        assert_eq!([0, 1, 2].map(|minor| count(minor, AttrLevel::Required)), [13, 1, 0]);
        assert_eq!([0, 1, 2].map(|minor| count(minor, AttrLevel::Recommended)), [43, 20, 10]);
        let settable: Vec<_> =
            Attr::ALL.iter().filter(|a| a.is_settable()).map(|&a| u32::from(a)).collect();
        let expected = [
            4, 12, 14, 25, 32, 33, 36, 37, 46, 48, 49, 50, 54, 58, 59, 63, 70, 72, 73, 74, 80, 81,
            84, 85,
        ];
        assert_eq!(settable, expected);
    }
}
