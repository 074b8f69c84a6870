use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{CHANGE, FATTR, FH, NAME, TIME};
use crate::{Sample, samples};

const SPEC: SpecData = SpecData { major: 8, minor: 1 };
const FSID: Fsid = Fsid { major: 1 << 60, minor: 2 };
const POLICY: ChangePolicy = ChangePolicy { major: 1, minor: 2 };
const LABEL: SecLabel<'static> = SecLabel { lfs: 0, pi: 1, data: Opaque(b"system_u:object_r:t") };
const ACE: NfsAce<'static> = NfsAce {
    ace_type: ace_type::ALLOWED,
    flag: ace_flag::IDENTIFIER_GROUP,
    access_mask: ace_mask::GENERIC_READ,
    who: Opaque(b"GROUP@"),
};
const FS_STATUS: FsStatus<'static> = FsStatus {
    absent: false,
    kind: FsStatusType::Versioned,
    source: Opaque(b"source"),
    current: Opaque(b"v2"),
    age: -1,
    version: TIME,
};
const KEEP: RetentionGet = RetentionGet { duration: u64::MAX, begin_time: Some(TIME) };
const KEEP_SET: RetentionSet = RetentionSet { enable: true, duration: Some(60) };
const HINT: LayoutHint<'static> =
    LayoutHint { layout_type: LayoutType::NFSV4_1_FILES, body: Opaque(b"hint") };
const THRESHOLD: ThresholdItem<'static> = ThresholdItem {
    layout_type: LayoutType::FLEX_FILES,
    hintset: Bitmap::from_words([1 << threshold::READ_SIZE, 0, 0, 0]),
    hintlist: Opaque(&[0; 8]),
};
const OPEN_ARGUMENTS: OpenArguments = OpenArguments {
    share_access: Bitmap::from_words([0xe, 0, 0, 0]),
    share_deny: Bitmap::from_words([0xf, 0, 0, 0]),
    share_access_want: Bitmap::from_words([1 << 21, 0, 0, 0]),
    open_claim: Bitmap::from_words([0x7f, 0, 0, 0]),
    create_mode: Bitmap::from_words([0xf, 0, 0, 0]),
};

fn acl() -> Acl<'static> {
    Array(vec![ACE, NfsAce { who: Opaque(b"EVERYONE@"), ..ACE }])
}

fn dacl() -> NfsAcl41<'static> {
    NfsAcl41 { flag: acl_flag::PROTECTED, aces: acl() }
}

fn location() -> FsLocation<'static> {
    FsLocation { server: Array(vec![Opaque(b"a.example")]), rootpath: Array(vec![NAME]) }
}

fn locations() -> FsLocations<'static> {
    FsLocations { fs_root: Array(vec![]), locations: Array(vec![location(), location()]) }
}

fn item() -> FsLocationsItem<'static> {
    let server =
        FsLocationsServer { currency: -5, info: Opaque(&[1; 12]), server: Opaque(b"b.example") };
    FsLocationsItem { entries: Array(vec![server]), rootpath: Array(vec![NAME, NAME]) }
}

fn locations_info() -> FsLocationsInfo<'static> {
    FsLocationsInfo {
        flags: fsli4if::VAR_SUB,
        valid_for: 60,
        fs_root: Array(vec![NAME]),
        items: Array(vec![item()]),
    }
}

pub(crate) fn add(to: &mut Vec<Sample>) {
    values(to);
    sets(to);
}

fn values(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        Attr [Attr::SupportedAttrs, Attr::OpenArguments]
        FType [FType::Reg, FType::NamedAttr]
        NfsTime [TIME]
        SetTime [SetTime::ServerTime, SetTime::ClientTime(TIME)]
        SpecData [SPEC]
        Fsid [FSID]
        ChangePolicy [POLICY]
        ChangeInfo [CHANGE]
        ModeMasked [ModeMasked { value: 0o600, mask: 0o7777 }]
        ModeUmask [ModeUmask { mode: 0o666, umask: 0o22 }]
        SecLabel<'_> [LABEL]
        ChangeAttrType [ChangeAttrType::MonotonicIncr, ChangeAttrType::Undefined]
        FsStatusType [FsStatusType::Fixed, FsStatusType::Referral]
        FsStatus<'_> [FS_STATUS]
        RetentionGet [KEEP, RetentionGet { duration: 0, begin_time: None }]
        RetentionSet [KEEP_SET, RetentionSet { enable: false, duration: None }]
        LayoutHint<'_> [HINT]
        ThresholdItem<'_> [THRESHOLD]
        MdsThreshold<'_> [Array(vec![]), Array(vec![THRESHOLD, THRESHOLD])]
        LayoutTypes [Array(vec![LayoutType::NFSV4_1_FILES, LayoutType::FLEX_FILES])]
        OpenArguments [OPEN_ARGUMENTS, OpenArguments::default()]
        NfsAce<'_> [ACE]
        Acl<'_> [Array(vec![]), acl()]
        NfsAcl41<'_> [dacl()]
        FsLocation<'_> [location()]
        FsLocations<'_> [locations(), FsLocations { fs_root: Array(vec![]), locations: Array(vec![]) }]
        FsLocationsServer<'_> [item().entries.0[0]]
        FsLocationsItem<'_> [item()]
        FsLocationsInfo<'_> [locations_info()]
        Fattr<'_> [Fattr::EMPTY, FATTR]
    });
}

/// Every attribute, in sets small enough to try every word of them.
fn sets(to: &mut Vec<Sample>) {
    let sets = [of_file_systems(), of_objects(), of_minor_versions()].concat();
    let covered = sets.iter().fold(Bitmap::EMPTY, |all, set| all | set.mask());
    assert_eq!(covered, Attrs::KNOWN);
    for set in sets {
        samples!(to: nfs4 { Attrs<'_> [set] });
    }
    settable(to);
}

fn of_file_systems() -> Vec<Attrs<'static>> {
    let none = Attrs::default;
    vec![
        none(),
        Attrs {
            supported_attrs: Some(Attrs::KNOWN),
            ftype: Some(FType::Dir),
            fh_expire_type: Some(fh4::PERSISTENT),
            change: Some(1 << 40),
            size: Some(4096),
            link_support: Some(true),
            symlink_support: Some(true),
            named_attr: Some(false),
            fsid: Some(FSID),
            unique_handles: Some(true),
            lease_time: Some(90),
            rdattr_error: Some(Status::Access.into()),
            ..none()
        },
        Attrs {
            acl: Some(acl()),
            aclsupport: Some(acl_support::ALLOW | acl_support::DENY),
            archive: Some(false),
            cansettime: Some(true),
            case_insensitive: Some(false),
            case_preserving: Some(true),
            chown_restricted: Some(true),
            filehandle: Some(FH),
            fileid: Some(42),
            files_avail: Some(1),
            files_free: Some(2),
            files_total: Some(3),
            ..none()
        },
        Attrs {
            fs_locations: Some(locations()),
            hidden: Some(false),
            homogeneous: Some(true),
            maxfilesize: Some(u64::MAX >> 1),
            maxlink: Some(255),
            maxname: Some(255),
            maxread: Some(1 << 20),
            maxwrite: Some(1 << 20),
            mimetype: Some(Opaque(b"text/plain")),
            ..none()
        },
    ]
}

fn of_objects() -> Vec<Attrs<'static>> {
    let none = Attrs::default;
    vec![
        Attrs {
            mode: Some(0o755),
            no_trunc: Some(true),
            numlinks: Some(2),
            owner: Some(Opaque(b"1000")),
            owner_group: Some(Opaque(b"users@example.org")),
            quota_avail_hard: Some(1),
            quota_avail_soft: Some(2),
            quota_used: Some(3),
            rawdev: Some(SPEC),
            space_avail: Some(4),
            space_free: Some(5),
            space_total: Some(6),
            space_used: Some(7),
            system: Some(false),
            ..none()
        },
        Attrs {
            time_access: Some(TIME),
            time_backup: Some(TIME),
            time_create: Some(TIME),
            time_delta: Some(NfsTime { seconds: 0, nseconds: 1 }),
            time_metadata: Some(TIME),
            time_modify: Some(TIME),
            mounted_on_fileid: Some(2),
            dir_notif_delay: Some(TIME),
            dirent_notif_delay: Some(TIME),
            ..none()
        },
        Attrs { dacl: Some(dacl()), sacl: Some(dacl()), ..none() },
    ]
}

fn of_minor_versions() -> Vec<Attrs<'static>> {
    let none = Attrs::default;
    vec![
        Attrs {
            change_policy: Some(POLICY),
            fs_status: Some(FS_STATUS),
            fs_layout_types: Some(Array(vec![LayoutType::NFSV4_1_FILES])),
            layout_types: Some(Array(vec![])),
            layout_blksize: Some(1 << 20),
            layout_alignment: Some(4096),
            fs_locations_info: Some(locations_info()),
            ..none()
        },
        Attrs {
            mdsthreshold: Some(Array(vec![THRESHOLD])),
            retention_get: Some(KEEP),
            retentevt_get: Some(RetentionGet { duration: 1, begin_time: None }),
            retention_hold: Some(1),
            suppattr_exclcreat: Some(SetAttrs::KNOWN),
            fs_charset_cap: Some(fs_charset_cap::CONTAINS_NON_UTF8),
            ..none()
        },
        Attrs {
            clone_blksize: Some(4096),
            space_freed: Some(8192),
            change_attr_type: Some(ChangeAttrType::TimeMetadata),
            sec_label: Some(LABEL),
            xattr_support: Some(true),
            offline: Some(false),
            time_deleg_access: Some(TIME),
            time_deleg_modify: Some(TIME),
            open_arguments: Some(OPEN_ARGUMENTS),
            ..none()
        },
    ]
}

fn settable(to: &mut Vec<Sample>) {
    let none = SetAttrs::default;
    let sets = vec![
        none(),
        SetAttrs {
            size: Some(0),
            acl: Some(acl()),
            archive: Some(true),
            hidden: Some(true),
            mimetype: Some(Opaque(b"text/html")),
            mode: Some(0o600),
            owner: Some(Opaque(b"0")),
            owner_group: Some(Opaque(b"0")),
            system: Some(true),
            time_access_set: Some(SetTime::ServerTime),
            time_backup: Some(TIME),
            time_create: Some(TIME),
            time_modify_set: Some(SetTime::ClientTime(TIME)),
            ..none()
        },
        SetAttrs { dacl: Some(dacl()), sacl: Some(dacl()), layout_hint: Some(HINT), ..none() },
        SetAttrs {
            retention_set: Some(KEEP_SET),
            retentevt_set: Some(KEEP_SET),
            retention_hold: Some(3),
            mode_set_masked: Some(ModeMasked { value: 1, mask: 7 }),
            sec_label: Some(LABEL),
            mode_umask: Some(ModeUmask { mode: 0o777, umask: 0o27 }),
            time_deleg_access: Some(TIME),
            time_deleg_modify: Some(TIME),
            ..none()
        },
    ];
    let covered = sets.iter().fold(Bitmap::EMPTY, |all, set| all | set.mask());
    assert_eq!(covered, SetAttrs::KNOWN);
    for set in sets {
        samples!(to: nfs4 { SetAttrs<'_> [set] });
    }
}
