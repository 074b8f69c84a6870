use hayase_proto::nfs3::{Res3, Status};
use hayase_proto::nfsacl::*;
use hayase_xdr::{Array, Opaque};

use crate::{Sample, samples};

pub(crate) fn add(to: &mut Vec<Sample>) {
    let entry = AclEntry { tag: tag::USER, id: 1000, perm: 6 };
    let lists = AclLists {
        access_count: 2,
        access: Array(vec![entry, AclEntry { tag: tag::OTHER, id: 0, perm: 0 }]),
        default_count: 1,
        default: Array(vec![AclEntry { tag: tag::MASK | tag::DEFAULT, id: 0, perm: 7 }]),
    };
    let object = Opaque(&b"handle"[..]);
    let ok = GetAclResOk { attributes: None, mask: which::ALL, lists: lists.clone() };
    samples!(to: nfsacl {
        Proc [Proc::Null, Proc::SetAcl]
        AclEntry [entry]
        AclLists [AclLists::default(), lists.clone()]
        GetAclArgs<'_> [GetAclArgs { object, mask: which::ACCESS }]
        GetAclResOk [ok.clone()]
        GetAclRes [Res3::Ok(ok), Res3::Fail(Status::Stale, None)]
        SetAclArgs<'_> [SetAclArgs { object, mask: which::DEFAULT, lists }]
        SetAclRes [Res3::Ok(None), Res3::Fail(Status::NotSupp, None)]
    });
}
