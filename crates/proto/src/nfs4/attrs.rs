//! Attributes as values: what GETATTR tells, and what SETATTR sets (RFC 8881 §5, §18.7, §18.30).

use hayase_xdr::{Decode, Encode, Error, Opaque, Reader, Result};

use super::{
    Acl, Attr, Bitmap, ChangeAttrType, ChangePolicy, FType, Fattr, FattrWriter, FileHandle,
    FsLocations, FsLocationsInfo, FsStatus, Fsid, LayoutHint, LayoutTypes, MdsThreshold,
    ModeMasked, ModeUmask, NfsAcl41, NfsStat, NfsTime, OpenArguments, RetentionGet, RetentionSet,
    SecLabel, SetTime, SpecData, Status,
};

/// Declares a set of attributes, each of which may be missing, in the order of their numbers.
macro_rules! attr_set {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($field:ident: $type:ty = $attr:ident,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        pub struct $name<'a> {
            $(
                #[doc = concat!("[`Attr::", stringify!($attr), "`].")]
                pub $field: Option<$type>,
            )*
        }

        impl<'a> $name<'a> {
            /// The attributes that can be in it.
            pub const KNOWN: Bitmap = Bitmap::of(&[$(Attr::$attr),*]);

            /// The attributes that are in it.
            pub fn mask(&self) -> Bitmap {
                let mut mask = Bitmap::EMPTY;
                $(if self.$field.is_some() {
                    mask.insert(Attr::$attr);
                })*
                mask
            }

            /// Appends a `fattr4` of those attributes that are in it and wanted, and tells which.
            pub fn write(&self, wanted: Bitmap, to: &mut Vec<u8>) -> Bitmap {
                let mut writer = FattrWriter::begin(to, wanted & self.mask());
                $(writer.push_some(Attr::$attr, self.$field.as_ref());)*
                writer.finish()
            }

            fn read(fattr: Fattr<'a>) -> Result<Self> {
                let mut values = Reader::new(fattr.values.0);
                let mut attrs = $name::default();
                $(if fattr.mask.contains(Attr::$attr) {
                    attrs.$field = Some(Decode::decode(&mut values)?);
                })*
                values.finish()?;
                Ok(attrs)
            }
        }

        /// As [`Fattr`], refused if it has other attributes than these.
        impl<'a> Decode<'a> for $name<'a> {
            fn decode(from: &mut Reader<'a>) -> Result<Self> {
                $name::try_from(Fattr::decode(from)?)
            }
        }

        /// As [`Fattr`].
        impl Encode for $name<'_> {
            fn encode(&self, to: &mut Vec<u8>) {
                self.write($name::KNOWN, to);
            }
        }

        impl<'a> TryFrom<Fattr<'a>> for $name<'a> {
            type Error = Error;

            fn try_from(fattr: Fattr<'a>) -> Result<Self> {
                let unknown = fattr.mask - $name::KNOWN;
                if !unknown.is_empty() {
                    let number = unknown.iter().next().unwrap_or(Bitmap::CAPACITY);
                    return Err(Error::UnknownValue(number));
                }
                $name::read(fattr)
            }
        }
    };
}

attr_set! {
    /// Attributes that are read: by GETATTR, READDIR and, the delegated times, by
    /// `CB_GETATTR` (RFC 8881 §5.6, §5.7).
    pub struct Attrs {
        supported_attrs: Bitmap = SupportedAttrs,
        ftype: FType = Type,
        fh_expire_type: u32 = FhExpireType,
        change: u64 = Change,
        size: u64 = Size,
        link_support: bool = LinkSupport,
        symlink_support: bool = SymlinkSupport,
        named_attr: bool = NamedAttr,
        fsid: Fsid = Fsid,
        unique_handles: bool = UniqueHandles,
        lease_time: u32 = LeaseTime,
        rdattr_error: NfsStat = RdattrError,
        acl: Acl<'a> = Acl,
        aclsupport: u32 = AclSupport,
        archive: bool = Archive,
        cansettime: bool = CanSetTime,
        case_insensitive: bool = CaseInsensitive,
        case_preserving: bool = CasePreserving,
        chown_restricted: bool = ChownRestricted,
        filehandle: FileHandle<'a> = FileHandle,
        fileid: u64 = FileId,
        files_avail: u64 = FilesAvail,
        files_free: u64 = FilesFree,
        files_total: u64 = FilesTotal,
        fs_locations: FsLocations<'a> = FsLocations,
        hidden: bool = Hidden,
        homogeneous: bool = Homogeneous,
        maxfilesize: u64 = MaxFileSize,
        maxlink: u32 = MaxLink,
        maxname: u32 = MaxName,
        maxread: u64 = MaxRead,
        maxwrite: u64 = MaxWrite,
        mimetype: Opaque<'a> = MimeType,
        mode: u32 = Mode,
        no_trunc: bool = NoTrunc,
        numlinks: u32 = NumLinks,
        owner: Opaque<'a> = Owner,
        owner_group: Opaque<'a> = OwnerGroup,
        quota_avail_hard: u64 = QuotaAvailHard,
        quota_avail_soft: u64 = QuotaAvailSoft,
        quota_used: u64 = QuotaUsed,
        rawdev: SpecData = RawDev,
        space_avail: u64 = SpaceAvail,
        space_free: u64 = SpaceFree,
        space_total: u64 = SpaceTotal,
        space_used: u64 = SpaceUsed,
        system: bool = System,
        time_access: NfsTime = TimeAccess,
        time_backup: NfsTime = TimeBackup,
        time_create: NfsTime = TimeCreate,
        time_delta: NfsTime = TimeDelta,
        time_metadata: NfsTime = TimeMetadata,
        time_modify: NfsTime = TimeModify,
        mounted_on_fileid: u64 = MountedOnFileId,
        dir_notif_delay: NfsTime = DirNotifDelay,
        dirent_notif_delay: NfsTime = DirentNotifDelay,
        dacl: NfsAcl41<'a> = Dacl,
        sacl: NfsAcl41<'a> = Sacl,
        change_policy: ChangePolicy = ChangePolicy,
        fs_status: FsStatus<'a> = FsStatus,
        fs_layout_types: LayoutTypes = FsLayoutTypes,
        layout_types: LayoutTypes = LayoutTypes,
        layout_blksize: u32 = LayoutBlksize,
        layout_alignment: u32 = LayoutAlignment,
        fs_locations_info: FsLocationsInfo<'a> = FsLocationsInfo,
        mdsthreshold: MdsThreshold<'a> = MdsThreshold,
        retention_get: RetentionGet = RetentionGet,
        retentevt_get: RetentionGet = RetentEvtGet,
        retention_hold: u64 = RetentionHold,
        suppattr_exclcreat: Bitmap = SuppattrExclcreat,
        fs_charset_cap: u32 = FsCharsetCap,
        clone_blksize: u32 = CloneBlksize,
        space_freed: u64 = SpaceFreed,
        change_attr_type: ChangeAttrType = ChangeAttrType,
        sec_label: SecLabel<'a> = SecLabel,
        xattr_support: bool = XattrSupport,
        offline: bool = Offline,
        time_deleg_access: NfsTime = TimeDelegAccess,
        time_deleg_modify: NfsTime = TimeDelegModify,
        open_arguments: OpenArguments = OpenArguments,
    }
}

attr_set! {
    /// Attributes that are set: by SETATTR, CREATE and OPEN (RFC 8881 §5.5, §18.30).
    pub struct SetAttrs {
        size: u64 = Size,
        acl: Acl<'a> = Acl,
        archive: bool = Archive,
        hidden: bool = Hidden,
        mimetype: Opaque<'a> = MimeType,
        mode: u32 = Mode,
        owner: Opaque<'a> = Owner,
        owner_group: Opaque<'a> = OwnerGroup,
        system: bool = System,
        time_access_set: SetTime = TimeAccessSet,
        time_backup: NfsTime = TimeBackup,
        time_create: NfsTime = TimeCreate,
        time_modify_set: SetTime = TimeModifySet,
        dacl: NfsAcl41<'a> = Dacl,
        sacl: NfsAcl41<'a> = Sacl,
        layout_hint: LayoutHint<'a> = LayoutHint,
        retention_set: RetentionSet = RetentionSet,
        retentevt_set: RetentionSet = RetentEvtSet,
        retention_hold: u64 = RetentionHold,
        mode_set_masked: ModeMasked = ModeSetMasked,
        sec_label: SecLabel<'a> = SecLabel,
        mode_umask: ModeUmask = ModeUmask,
        time_deleg_access: NfsTime = TimeDelegAccess,
        time_deleg_modify: NfsTime = TimeDelegModify,
    }
}

/// Why attributes cannot be set as asked (RFC 8881 §18.30.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAttrsError {
    /// There is an attribute that is not supported.
    NotSupported,
    /// There is an attribute that can only be read.
    ReadOnly(Attr),
    /// The values are not what the mask announces.
    BadValues(Error),
}

impl From<SetAttrsError> for Status {
    fn from(error: SetAttrsError) -> Self {
        match error {
            SetAttrsError::NotSupported => Status::AttrNotSupp,
            SetAttrsError::ReadOnly(_) => Status::Inval,
            SetAttrsError::BadValues(_) => Status::BadXdr,
        }
    }
}

impl<'a> SetAttrs<'a> {
    /// Reads what a client wants to set, of the `supported` attributes.
    pub fn parse(fattr: Fattr<'a>, supported: &Bitmap) -> std::result::Result<Self, SetAttrsError> {
        if !fattr.mask.is_subset(supported) {
            return Err(SetAttrsError::NotSupported);
        }
        if let Some(attr) = (fattr.mask - SetAttrs::KNOWN).attrs().next() {
            return Err(SetAttrsError::ReadOnly(attr));
        }
        SetAttrs::read(fattr).map_err(SetAttrsError::BadValues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{from_bytes, to_vec};

    #[test]
    fn the_sets_are_those_of_the_table() {
        let known = |known: Bitmap| known.attrs().collect::<Vec<_>>();
        let settable: Vec<_> = Attr::ALL.iter().copied().filter(|a| a.is_settable()).collect();
        assert_eq!(known(SetAttrs::KNOWN), settable);
        let delegated = [Attr::TimeDelegAccess, Attr::TimeDelegModify];
        let read = |a: &Attr| a.is_readable() || delegated.contains(a);
        let readable: Vec<_> = Attr::ALL.iter().copied().filter(read).collect();
        assert_eq!(known(Attrs::KNOWN), readable);
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_its_status() {
        let settable = SetAttrs::KNOWN;
        let supported = settable | Bitmap::of(&[Attr::Change]);
        let parse = |mask, values, supported: &Bitmap| {
            SetAttrs::parse(Fattr { mask, values: Opaque(values) }, supported)
                .map_err(|error| (error, Status::from(error)))
        };
        let mode = Bitmap::of(&[Attr::Mode]);
        let size_and_change = Bitmap::of(&[Attr::Size, Attr::Change]);
        let not_supported = Err((SetAttrsError::NotSupported, Status::AttrNotSupp));
        assert_eq!(parse(mode, &[], &(settable - mode)), not_supported);
        assert_eq!(parse(size_and_change, &[0; 16], &settable), not_supported);
        let read_only = Err((SetAttrsError::ReadOnly(Attr::Change), Status::Inval));
        assert_eq!(parse(size_and_change, &[0; 16], &supported), read_only);
        let bad = |error| Err((SetAttrsError::BadValues(error), Status::BadXdr));
        assert_eq!(parse(mode, &[0; 3], &supported), bad(Error::Truncated));
        assert_eq!(parse(mode, &[0; 8], &supported), bad(Error::Trailing(4)));
        let beyond: Bitmap =
            from_bytes(&[5, 0, 0, 0, 0, 1].map(u32::to_be_bytes).concat()).unwrap();
        assert_eq!(parse(beyond, &[], &supported), not_supported);
        let set = SetAttrs { mode: Some(7), ..SetAttrs::default() };
        assert_eq!(parse(mode, &[0, 0, 0, 7], &supported), Ok(set));
    }

    #[test]
    fn a_set_is_written_as_far_as_it_is_wanted() {
        let attrs = Attrs { change: Some(1), size: Some(2), mode: Some(3), ..Attrs::default() };
        let wanted = Bitmap::of(&[Attr::Size, Attr::FileId, Attr::Mode]);
        let mut wire = Vec::new();
        let written = attrs.write(wanted, &mut wire);
        assert_eq!(written, Bitmap::of(&[Attr::Size, Attr::Mode]));
        let read = Attrs { size: Some(2), mode: Some(3), ..Attrs::default() };
        assert_eq!(from_bytes::<Attrs<'_>>(&wire), Ok(read));
        let all = to_vec(&attrs);
        assert_eq!(from_bytes::<SetAttrs<'_>>(&all), Err(Error::UnknownValue(3)));
    }
}
