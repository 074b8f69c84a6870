use hayase_proto::rquota::*;
use hayase_xdr::Opaque;

use crate::{Sample, samples};

pub(crate) fn add(to: &mut Vec<Sample>) {
    let path = Opaque(&b"/srv/data"[..]);
    let block = SetBlock { block_hard_limit: 9, ..SetBlock::default() };
    let quota = Quota { block_bytes: 1024, active: true, blocks: 5, ..Quota::default() };
    samples!(to: rquota {
        Proc [Proc::Null, Proc::SetActiveQuota]
        Status [Status::Ok, Status::Perm]
        Kind [Kind::User, Kind::Group]
        Path<'_> [path]
        GetArgs<'_> [GetArgs { path, uid: 1000 }]
        ExtGetArgs<'_> [ExtGetArgs { path, kind: 1, id: -2 }]
        SetBlock [block]
        SetArgs<'_> [SetArgs { command: 0, path, id: 1000, block }]
        ExtSetArgs<'_> [ExtSetArgs { command: 0, path, id: 1000, kind: 0, block }]
        Quota [quota]
        Res [Res::Ok(quota), Res::NoQuota, Res::Perm]
    });
}
