use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{CHANGE, FATTR, FH, NAME, OWNER, STATEID};
use crate::{Sample, samples};

const SPEC: SpecData = SpecData { major: 8, minor: 1 };
const CREATED: CreateResOk =
    CreateResOk { cinfo: CHANGE, attrset: Bitmap::of(&[Attr::Mode, Attr::Size]) };
const RENAMED: RenameResOk = RenameResOk { source_cinfo: CHANGE, target_cinfo: CHANGE };

pub(crate) fn add(to: &mut Vec<Sample>) {
    basics(to);
    handles_and_attributes(to);
    names(to);
}

fn basics(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        Op [Op::Access, Op::RemoveXattr, Op::Illegal]
        Status [Status::Perm, Status::Xattr2Big]
        NfsStat [NfsStat::OK, Status::Delay.into(), NfsStat(9999)]
        StateId [STATEID, StateId::ANONYMOUS, StateId::READ_BYPASS]
        StateOwner<'_> [OWNER]
        OpenOwner<'_> [OWNER, OpenOwner { clientid: 0, owner: Opaque(&[1; 1024]) }]
        LockOwner<'_> [OWNER]
        Bitmap [Bitmap::EMPTY, Bitmap::of(&[Attr::Type, Attr::OpenArguments])]
        FileHandle<'_> [Opaque(b""), FH, Opaque(&[9; 128])]
        Component<'_> [Opaque(b""), NAME, Opaque(&[b'x'; 300])]
        LinkText<'_> [Opaque(b"../target")]
        Pathname<'_> [Array(vec![]), Array(vec![NAME, Opaque(b"b")])]
        LayoutType [LayoutType::NFSV4_1_FILES, LayoutType(0x8000_0001)]
        CompoundHead<'_> [CompoundHead { tag: Opaque(b"tag"), minorversion: 2, count: 3 }]
        CompoundResHead<'_> [CompoundResHead {
            status: Status::BadXdr.into(),
            tag: Opaque(b""),
            count: 1,
        }]
    });
}

fn handles_and_attributes(to: &mut Vec<Sample>) {
    let access = AccessResOk { supported: access::ALL, access: access::READ };
    samples!(to: nfs4 {
        PutFhArgs<'_> [PutFhArgs { object: FH }]
        PutFhRes [PutFhRes::Ok(()), PutFhRes::Fail(Status::Stale)]
        PutPubFhArgs [PutPubFhArgs]
        PutPubFhRes [PutPubFhRes::Ok(())]
        PutRootFhArgs [PutRootFhArgs]
        PutRootFhRes [PutRootFhRes::Fail(Status::WrongSec)]
        GetFhArgs [GetFhArgs]
        GetFhRes<'_> [GetFhRes::Ok(FH), GetFhRes::Fail(Status::NoFileHandle)]
        RestoreFhArgs [RestoreFhArgs]
        RestoreFhRes [RestoreFhRes::Fail(Status::RestoreFh)]
        SaveFhArgs [SaveFhArgs]
        SaveFhRes [SaveFhRes::Ok(())]
        IllegalArgs [IllegalArgs]
        IllegalRes [IllegalRes::Fail(Status::OpIllegal)]
        AccessArgs [AccessArgs { access: access::ALL_WITH_XATTR }]
        AccessResOk [access]
        AccessRes [AccessRes::Ok(access), AccessRes::Fail(Status::Access)]
        GetAttrArgs [GetAttrArgs { attr_request: Bitmap::of(&[Attr::Change]) }]
        GetAttrRes<'_> [GetAttrRes::Ok(FATTR), GetAttrRes::Fail(Status::Moved)]
        SetAttrArgs<'_> [SetAttrArgs { stateid: STATEID, obj_attributes: FATTR }]
        SetAttrRes [
            SetAttrRes { status: None, attrsset: FATTR.mask },
            SetAttrRes { status: Some(Status::NoSpc), attrsset: Bitmap::EMPTY },
        ]
        VerifyArgs<'_> [VerifyArgs { obj_attributes: FATTR }]
        VerifyRes [VerifyRes::Fail(Status::NotSame)]
        NVerifyArgs<'_> [NVerifyArgs { obj_attributes: Fattr::EMPTY }]
        NVerifyRes [NVerifyRes::Fail(Status::Same)]
    });
}

fn names(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        LookupArgs<'_> [LookupArgs { objname: NAME }]
        LookupRes [LookupRes::Ok(()), LookupRes::Fail(Status::NoEnt)]
        LookupPArgs [LookupPArgs]
        LookupPRes [LookupPRes::Ok(())]
        ReadlinkArgs [ReadlinkArgs]
        ReadlinkRes<'_> [ReadlinkRes::Ok(Opaque(b"text!")), ReadlinkRes::Fail(Status::Inval)]
        CreateType<'_> [
            CreateType::Dir,
            CreateType::Lnk(Opaque(b"text")),
            CreateType::Blk(SPEC),
            CreateType::Chr(SPEC),
            CreateType::Sock,
            CreateType::Fifo,
            CreateType::Other(1),
            CreateType::Other(77),
        ]
        CreateArgs<'_> [CreateArgs {
            objtype: CreateType::Lnk(Opaque(b"text")),
            objname: NAME,
            createattrs: FATTR,
        }]
        CreateResOk [CREATED]
        CreateRes [CreateRes::Ok(CREATED), CreateRes::Fail(Status::BadType)]
        LinkArgs<'_> [LinkArgs { newname: NAME }]
        LinkRes [LinkRes::Ok(CHANGE), LinkRes::Fail(Status::MLink)]
        RemoveArgs<'_> [RemoveArgs { target: NAME }]
        RemoveRes [RemoveRes::Ok(CHANGE), RemoveRes::Fail(Status::NotEmpty)]
        RenameArgs<'_> [RenameArgs { oldname: NAME, newname: Opaque(b"other") }]
        RenameResOk [RENAMED]
        RenameRes [RenameRes::Ok(RENAMED), RenameRes::Fail(Status::XDev)]
        OpenAttrArgs [OpenAttrArgs { createdir: true }]
        OpenAttrRes [OpenAttrRes::Fail(Status::NotSupp)]
    });
}
