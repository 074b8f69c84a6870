use hayase_proto::portmap::{pmap, rpcb};
use hayase_proto::{mount, portmap};
use hayase_xdr::{Array, LinkedList, Opaque, to_vec};

use crate::{
    Piece::{Bytes, Word},
    golden, wire,
};

#[test]
fn mount_and_exports() {
    golden(mount::MntArgs { dirpath: Opaque(b"/srv") }, &wire(&[Word(4), Bytes(b"/srv")]));
    let ok = mount::MntResOk { fhandle: Opaque(b"root"), auth_flavors: Array(vec![1]) };
    golden(mount::MntRes::Ok(ok), &wire(&[Word(0), Word(4), Bytes(b"root"), Word(1), Word(1)]));
    golden(mount::MntRes::Fail(mount::Status::Acces), &wire(&[Word(13)]));
    golden(mount::MntRes1::Fail(2), &wire(&[Word(2)]));
    golden(
        LinkedList(vec![
            mount::ExportNode { dir: Opaque(b"/a"), groups: LinkedList(vec![Opaque(b"*")]) },
            mount::ExportNode { dir: Opaque(b"/b"), groups: LinkedList(vec![]) },
        ]) as mount::ExportRes<'_>,
        &wire(&[
            Word(1),
            Word(2),
            Bytes(b"/a\0\0"),
            Word(1),
            Word(1),
            Bytes(b"*\0\0\0"),
            Word(0),
            Word(1),
            Word(2),
            Bytes(b"/b\0\0"),
            Word(0),
            Word(0),
        ]),
    );
}

#[test]
fn portmap_and_rpcbind() {
    let mapping = pmap::Mapping { prog: 100_003, vers: 3, prot: pmap::IPPROTO_TCP, port: 2049 };
    golden(
        LinkedList(vec![mapping]) as pmap::DumpRes,
        &wire(&[Word(1), Word(100_003), Word(3), Word(6), Word(2049), Word(0)]),
    );
    golden(
        rpcb::Rpcb {
            prog: 100_005,
            vers: 3,
            netid: Opaque(b"udp"),
            addr: Opaque(b"0.0.0.0.78.80"),
            owner: Opaque(b""),
        },
        &wire(&[
            Word(100_005),
            Word(3),
            Word(3),
            Bytes(b"udp\0"),
            Word(13),
            Bytes(b"0.0.0.0.78.80\0\0\0"),
            Word(0),
        ]),
    );
    let empty_stat = rpcb::StatByVers::default();
    assert_eq!(to_vec(&empty_stat), vec![0; 3 * (13 + 2 + 2) * 4]);
}

#[test]
fn numbers_are_the_rfcs() {
    assert_eq!((mount::PROGRAM, portmap::PROGRAM, portmap::PORT), (100_005, 100_000, 111));
    assert_eq!(mount::Status::try_from(63), Ok(mount::Status::NameTooLong));
    assert_eq!(rpcb::Proc::try_from(12), Ok(rpcb::Proc::GetStat));
    assert_eq!(pmap::Proc::try_from(5), Ok(pmap::Proc::CallIt));
}
