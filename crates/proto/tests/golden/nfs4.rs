//! Whole compounds and operations of NFSv4.0.

use hayase_proto::nfs4::*;
use hayase_xdr::{Decode, Encode, Opaque, Reader, from_bytes, to_vec};

use crate::{
    Piece::{Bytes, Hyper, Word},
    golden, wire,
};

const STATEID: StateId = StateId { seqid: 3, other: *b"twelve bytes" };

#[test]
fn a_compound_and_its_reply() {
    let call = wire(&[
        Word(3),
        Bytes(b"tag\0"),
        Word(0), // minor version
        Word(3), // operations
        Word(22),
        Word(5), // PUTFH
        Bytes(b"\xde\xad\xbe\xef\x01\0\0\0"),
        Word(15),
        Word(1), // LOOKUP
        Bytes(b"x\0\0\0"),
        Word(9),
        Word(2), // GETATTR: type, change, size; mode
        Word(0x1a),
        Word(0x2),
    ]);
    let mut written = Vec::new();
    let mut writer = CompoundWriter::begin(&mut written, b"tag", 0);
    let attr_request = Bitmap::of(&[Attr::Type, Attr::Change, Attr::Size, Attr::Mode]);
    writer
        .push(&PutFhArgs { object: Opaque(b"\xde\xad\xbe\xef\x01") })
        .push(&LookupArgs { objname: Opaque(b"x") })
        .push(&GetAttrArgs { attr_request });
    writer.finish();
    assert_eq!(written, call);

    let reply = wire(&[
        Word(0),
        Word(3),
        Bytes(b"tag\0"),
        Word(3), // results
        Word(22),
        Word(0), // PUTFH
        Word(15),
        Word(0), // LOOKUP
        Word(9),
        Word(0), // GETATTR
        Word(2),
        Word(0x1a),
        Word(0x2),
        Word(24), // bytes of values
        Word(1),  // a regular file
        Hyper(77),
        Hyper(4096),
        Word(0o644),
    ]);
    let mut read = CompoundReply::decode(&mut Reader::new(&reply)).unwrap();
    assert_eq!((read.status, read.tag), (NfsStat::OK, Opaque(b"tag")));
    assert_eq!(read.res::<PutFhArgs<'_>>(), Ok(Res4::Ok(())));
    assert_eq!(read.res::<LookupArgs<'_>>(), Ok(Res4::Ok(())));
    let Ok(Res4::Ok(fattr)) = read.res::<GetAttrArgs>() else { panic!("no attributes") };
    let attrs = Attrs {
        ftype: Some(FType::Reg),
        change: Some(77),
        size: Some(4096),
        mode: Some(0o644),
        ..Attrs::default()
    };
    assert_eq!(Attrs::try_from(fattr), Ok(attrs.clone()));

    let mut written = Vec::new();
    let mut writer = CompoundResWriter::begin(&mut written, b"tag");
    for op in [Op::PutFh, Op::Lookup] {
        writer.begin_op(op, &mut written);
        Res4::<(), Status>::Ok(()).encode(&mut written);
    }
    writer.begin_op(Op::GetAttr, &mut written);
    NfsStat::OK.encode(&mut written);
    attrs.write(attr_request, &mut written);
    writer.finish(NfsStat::OK, &mut written);
    assert_eq!(written, reply);
}

#[test]
fn setattr_tells_what_it_set_in_both_arms() {
    let obj_attributes = Fattr {
        mask: Bitmap::of(&[Attr::Size, Attr::Mode]),
        values: Opaque(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xa0]),
    };
    golden(
        SetAttrArgs { stateid: STATEID, obj_attributes },
        &wire(&[
            Word(3),
            Bytes(b"twelve bytes"),
            Word(2),
            Word(0x10),
            Word(0x2),
            Word(12),
            Hyper(0),
            Word(0o640),
        ]),
    );
    golden(SetAttrRes { status: None, attrsset: Bitmap::EMPTY }, &wire(&[Word(0), Word(0)]));
    let attrsset = Bitmap::of(&[Attr::Size]);
    golden(
        SetAttrRes { status: Some(Status::Perm), attrsset },
        &wire(&[Word(1), Word(1), Word(0x10)]),
    );
}

#[test]
fn open_and_its_delegations() {
    let owner = OpenOwner { clientid: 0x1122_3344_5566_7788, owner: Opaque(b"owner") };
    golden(
        OpenArgs {
            seqid: 7,
            share_access: share_access::BOTH,
            share_deny: share_deny::NONE,
            owner,
            openhow: OpenHow::Create(CreateHow::Exclusive(*b"verifier")),
            claim: OpenClaim::Null(Opaque(b"new")),
        },
        &wire(&[
            Word(7),
            Word(3),
            Word(0),
            Hyper(0x1122_3344_5566_7788),
            Word(5),
            Bytes(b"owner\0\0\0"),
            Word(1), // create
            Word(2), // exclusive
            Bytes(b"verifier"),
            Word(0), // by name
            Word(3),
            Bytes(b"new\0"),
        ]),
    );
    golden(OpenClaim::Previous(DelegationType::Write), &wire(&[Word(1), Word(2)]));
    golden(OpenClaim::DelegCurFh(STATEID), &wire(&[Word(5), Word(3), Bytes(b"twelve bytes")]));

    let permissions = NfsAce {
        ace_type: ace_type::ALLOWED,
        flag: 0,
        access_mask: ace_mask::READ_DATA,
        who: Opaque(b"EVERYONE@"),
    };
    let delegation = WriteDelegation {
        stateid: STATEID,
        recall: false,
        space_limit: SpaceLimit::Blocks(ModifiedLimit { num_blocks: 5, bytes_per_block: 512 }),
        permissions,
    };
    let ok = OpenResOk {
        stateid: STATEID,
        cinfo: ChangeInfo { atomic: true, before: 1, after: 2 },
        rflags: open_result::CONFIRM | open_result::LOCKTYPE_POSIX,
        attrset: Bitmap::of(&[Attr::Mode]),
        delegation: OpenDelegation::Write(delegation),
    };
    golden(
        OpenRes::Ok(ok),
        &wire(&[
            Word(0),
            Word(3),
            Bytes(b"twelve bytes"),
            Word(1), // atomic
            Hyper(1),
            Hyper(2),
            Word(6),
            Word(2), // attributes set
            Word(0),
            Word(2),
            Word(2), // a delegation for writing
            Word(3),
            Bytes(b"twelve bytes"),
            Word(0),
            Word(2), // limited by blocks
            Word(5),
            Word(512),
            Word(0), // the access control entry
            Word(0),
            Word(1),
            Word(9),
            Bytes(b"EVERYONE@\0\0\0"),
        ]),
    );
    golden(OpenRes::Fail(Status::ShareDenied), &wire(&[Word(10_015)]));
}

#[test]
fn a_denied_lock_says_whose() {
    let lock_owner = LockOwner { clientid: 1, owner: Opaque(b"lock") };
    let locker = Locker::New(OpenToLockOwner {
        open_seqid: 8,
        open_stateid: STATEID,
        lock_seqid: 0,
        lock_owner,
    });
    golden(
        LockArgs { locktype: LockType::Write, reclaim: false, offset: 10, length: 20, locker },
        &wire(&[
            Word(2),
            Word(0),
            Hyper(10),
            Hyper(20),
            Word(1), // a new owner
            Word(8),
            Word(3),
            Bytes(b"twelve bytes"),
            Word(0),
            Hyper(1),
            Word(4),
            Bytes(b"lock"),
        ]),
    );
    let denied =
        LockDenied { offset: 0, length: u64::MAX, locktype: LockType::Read, owner: lock_owner };
    let denied_wire = wire(&[
        Word(10_010),
        Hyper(0),
        Hyper(u64::MAX),
        Word(1),
        Hyper(1),
        Word(4),
        Bytes(b"lock"),
    ]);
    golden(LockRes::Fail(LockFail::Denied(denied)), &denied_wire);
    golden(LockTRes::Fail(LockFail::Denied(denied)), &denied_wire);
    golden(LockTRes::Ok(()), &wire(&[Word(0)]));
    golden(LockRes::Fail(Status::Grace.into()), &wire(&[Word(10_013)]));
}

#[test]
fn clients_and_security() {
    let netaddr = NetAddr { netid: Opaque(b"tcp"), addr: Opaque(b"192.0.2.1.8.1") };
    golden(
        SetClientIdArgs {
            client: NfsClientId { verifier: *b"bootverf", id: Opaque(b"me") },
            callback: CbClient { cb_program: 0x4000_0000, cb_location: netaddr },
            callback_ident: 9,
        },
        &wire(&[
            Bytes(b"bootverf"),
            Word(2),
            Bytes(b"me\0\0"),
            Word(0x4000_0000),
            Word(3),
            Bytes(b"tcp\0"),
            Word(13),
            Bytes(b"192.0.2.1.8.1\0\0\0"),
            Word(9),
        ]),
    );
    golden(
        SetClientIdRes::Fail(SetClientIdFail::ClidInUse(netaddr)),
        &wire(&[Word(10_017), Word(3), Bytes(b"tcp\0"), Word(13), Bytes(b"192.0.2.1.8.1\0\0\0")]),
    );
    let krb5p = RpcSecGssInfo { oid: Opaque(b"oid"), qop: 0, service: GssService::Privacy };
    let flavors = hayase_xdr::Array(vec![SecInfo::Gss(krb5p), SecInfo::Flavor(1)]);
    golden(
        SecInfoRes::Ok(flavors),
        &wire(&[Word(0), Word(2), Word(6), Word(3), Bytes(b"oid\0"), Word(0), Word(3), Word(1)]),
    );
}

#[test]
fn readdir() {
    let bytes = wire(&[
        Word(0),
        Bytes(b"cookies!"),
        Word(1), // an entry
        Hyper(3),
        Word(1),
        Bytes(b"a\0\0\0"),
        Word(1),
        Word(1 << 20),
        Word(8),
        Hyper(42),
        Word(1), // another
        Hyper(4),
        Word(5),
        Bytes(b"bcdef\0\0\0"),
        Word(0),
        Word(0),
        Word(0), // no more
        Word(1), // the end
    ]);
    let mut written = Vec::new();
    let mut writer = ReaddirWriter::begin(&mut written, *b"cookies!", 512).unwrap();
    let attrs = |attrs: Attrs<'static>| {
        move |to: &mut Vec<u8>| {
            attrs.write(Attrs::KNOWN, to);
            Ok::<_, Status>(())
        }
    };
    let numbered = Attrs { fileid: Some(42), ..Attrs::default() };
    assert_eq!(writer.push(3, b"a", attrs(numbered)), Ok(true));
    assert_eq!(writer.push(4, b"bcdef", attrs(Attrs::default())), Ok(true));
    writer.finish(true).unwrap();
    assert_eq!(written, bytes);

    let Ok(ReaddirRes::Ok(read)) = from_bytes(&bytes) else { panic!("not read") };
    let names: Vec<_> = read.list.iter().map(|entry| entry.name.0).collect();
    assert_eq!(names, [&b"a"[..], b"bcdef"]);
    assert!(read.list.eof());
}

#[test]
fn numbers_are_the_rfcs() {
    assert_eq!((PROGRAM, VERSION, PORT), (100_003, 4, 2049));
    assert_eq!((Op::ALL.len(), CbOp::ALL.len(), Attr::ALL.len()), (74, 14, 87));
    assert_eq!(Op::try_from(10_044), Ok(Op::Illegal));
    assert_eq!((Op::Sequence as u32, Op::ReadPlus as u32, Op::GetXattr as u32), (53, 68, 72));
    assert_eq!(Op::SetClientIdConfirm.name(), "SETCLIENTID_CONFIRM");
    assert!(Status::try_from(0).is_err(), "success is an arm, not an error");
    assert!(Status::try_from(10_073).is_err(), "the number that is not used");
    assert_eq!(Status::DeadSession.to_string(), "NFS4ERR_DEADSESSION");
    assert_eq!(Status::Xattr2Big as u32, 10_096);
    let known = [NfsStat::OK, Status::Delay.into(), NfsStat(12)].map(|stat| stat.to_string());
    assert_eq!(known, ["NFS4_OK", "NFS4ERR_DELAY", "12"]);
    assert_eq!(format!("{:?}", LayoutType::NFSV4_1_FILES), "LAYOUT4_NFSV4_1_FILES");
    assert_eq!(format!("{:?}", LayoutType(9)), "LayoutType(9)");
}

#[test]
fn handles_over_128_bytes_are_refused_and_long_names_are_not() {
    let long_handle = wire(&[Word(129), Bytes(&[0; 132])]);
    assert!(from_bytes::<PutFhArgs<'_>>(&long_handle).is_err());
    let name = vec![b'n'; 70_000];
    let args = LookupArgs { objname: Opaque(&name) };
    assert_eq!(LookupArgs::decode(&mut Reader::new(&to_vec(&args))), Ok(args));
}
