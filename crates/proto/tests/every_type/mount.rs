use hayase_proto::mount::*;
use hayase_xdr::{Array, LinkedList, Opaque};

use crate::{Sample, samples};

pub(crate) fn add(to: &mut Vec<Sample>) {
    let ok = MntResOk { fhandle: Opaque(b"root"), auth_flavors: Array(vec![1, 390_003]) };
    let body = MountBody { hostname: Opaque(b"client"), directory: Opaque(b"/srv") };
    let node = ExportNode {
        dir: Opaque(b"/srv/data"),
        groups: LinkedList(vec![Opaque(b"192.0.2.0/24"), Opaque(b"*.example.org")]),
    };
    let open = ExportNode { dir: Opaque(b"/pub"), groups: LinkedList(vec![]) };
    samples!(to: mount {
        Proc [Proc::Null, Proc::Export]
        Status [Status::Perm, Status::ServerFault]
        DirPath<'_> [Opaque(b"/"), Opaque(&[b'x'; 1024])]
        Name<'_> [Opaque(b"host"), Opaque(&[b'x'; 255])]
        MntArgs<'_> [MntArgs { dirpath: Opaque(b"/srv/data") }]
        MntResOk<'_> [ok.clone()]
        MntRes<'_> [MntRes::Ok(ok), MntRes::Fail(Status::Acces)]
        MntRes1 [MntRes1::Ok([7; 32]), MntRes1::Fail(13)]
        MountBody<'_> [body]
        DumpRes<'_> [LinkedList(vec![]), LinkedList(vec![body, body])]
        ExportNode<'_> [node.clone(), open.clone()]
        ExportRes<'_> [LinkedList(vec![]), LinkedList(vec![node, open])]
    });
}
