//! Copies, holes, extended attributes and delegated times: NFSv4.2.

use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque, from_bytes, to_vec};

use crate::{
    Piece::{Bytes, Hyper, Word},
    golden, wire,
};

const STATEID: StateId = StateId { seqid: 1, other: *b"twelve bytes" };

#[test]
fn copies() {
    golden(
        CopyArgs {
            src_stateid: STATEID,
            dst_stateid: StateId::CURRENT,
            src_offset: 1,
            dst_offset: 2,
            count: 3,
            consecutive: true,
            synchronous: false,
            source_server: Array(vec![NetLoc::Name(Opaque(b"src"))]),
        },
        &wire(&[
            Word(1),
            Bytes(b"twelve bytes"),
            Word(1),
            Bytes(&[0; 12]),
            Hyper(1),
            Hyper(2),
            Hyper(3),
            Word(1),
            Word(0),
            Word(1),
            Word(1),
            Word(3),
            Bytes(b"src\0"),
        ]),
    );
    let response = WriteResponse {
        callback_id: Some(STATEID),
        count: 9,
        committed: StableHow::Unstable,
        writeverf: *b"verifier",
    };
    let requirements = CopyRequirements { consecutive: true, synchronous: false };
    golden(
        CopyRes::Ok(CopyResOk { response, requirements }),
        &wire(&[
            Word(0),
            Word(1),
            Word(1),
            Bytes(b"twelve bytes"),
            Hyper(9),
            Word(0),
            Bytes(b"verifier"),
            Word(1),
            Word(0),
        ]),
    );
    golden(
        CopyRes::Fail(CopyFail::OffloadNoReqs(requirements)),
        &wire(&[Word(10_094), Word(1), Word(0)]),
    );
    golden(OffloadInfo::Fail(Status::NoSpc, 77), &wire(&[Word(28), Hyper(77)]));
    let done = OffloadStatusResOk { count: 5, complete: Some(NfsStat::OK) };
    golden(OffloadStatusRes::Ok(done), &wire(&[Word(0), Hyper(5), Word(1), Word(0)]));
}

#[test]
fn holes_and_hints() {
    golden(
        SeekArgs { stateid: STATEID, offset: 4096, what: DataContent::HOLE },
        &wire(&[Word(1), Bytes(b"twelve bytes"), Hyper(4096), Word(1)]),
    );
    let data = ReadPlusData { offset: 0, data: Opaque(b"data!") };
    let contents = Array(vec![
        ReadPlusContent::Data(data),
        ReadPlusContent::Hole(ReadPlusHole { offset: 5, length: 100 }),
    ]);
    golden(
        ReadPlusRes::Ok(ReadPlusResOk { eof: true, contents }),
        &wire(&[
            Word(0),
            Word(1),
            Word(2),
            Word(0),
            Hyper(0),
            Word(5),
            Bytes(b"data!\0\0\0"),
            Word(1),
            Hyper(5),
            Hyper(100),
        ]),
    );
    let hints = [IoAdvice::Sequential, IoAdvice::InitProximity].into_iter().collect();
    golden(
        IoAdviseArgs { stateid: STATEID, offset: 1, count: 2, hints },
        &wire(&[Word(1), Bytes(b"twelve bytes"), Hyper(1), Hyper(2), Word(1), Word(0x402)]),
    );
}

#[test]
fn extended_attributes() {
    golden(
        SetXattrArgs {
            option: SetXattrOption::Replace,
            key: Opaque(b"key"),
            value: Opaque(b"value"),
        },
        &wire(&[Word(2), Word(3), Bytes(b"key\0"), Word(5), Bytes(b"value\0\0\0")]),
    );
    let ok =
        ListXattrsResOk { cookie: 2, names: Array(vec![Opaque(b"a"), Opaque(b"b")]), eof: true };
    golden(
        ListXattrsRes::Ok(ok),
        &wire(&[
            Word(0),
            Hyper(2),
            Word(2),
            Word(1),
            Bytes(b"a\0\0\0"),
            Word(1),
            Bytes(b"b\0\0\0"),
            Word(1),
        ]),
    );
    golden(GetXattrRes::Fail(Status::NoXattr), &wire(&[Word(10_095)]));
}

#[test]
fn what_linux_asks_of_open() {
    let number = |numbers: &[u32]| numbers.iter().copied().collect::<Bitmap>();
    let open_arguments = OpenArguments {
        share_access: number(&[1, 2, 3]),
        share_deny: number(&[0, 1, 2, 3]),
        share_access_want: number(&[
            open_args::WANT_ANY_DELEG,
            open_args::WANT_DELEG_TIMESTAMPS,
            open_args::WANT_OPEN_XOR_DELEGATION,
        ]),
        open_claim: number(&[0, 1, 4]),
        create_mode: number(&[0, 1, 3]),
    };
    let attrs = Attrs { open_arguments: Some(open_arguments), ..Attrs::default() };
    let bytes = wire(&[
        Word(3), // attribute 86
        Word(0),
        Word(0),
        Word(1 << 22),
        Word(40),
        Word(1),
        Word(0xe),
        Word(1),
        Word(0xf),
        Word(1),
        Word(0x30_0008),
        Word(1),
        Word(0x13),
        Word(1),
        Word(0xb),
    ]);
    golden(attrs, &bytes);
    assert_eq!(share_want::OPEN_XOR_DELEGATION, 1 << open_args::WANT_OPEN_XOR_DELEGATION);
    assert_eq!(share_want::DELEG_TIMESTAMPS, 1 << open_args::WANT_DELEG_TIMESTAMPS);
}

#[test]
fn the_holder_of_a_delegation_sets_times() {
    let time = |seconds| Some(NfsTime { seconds, nseconds: 0 });
    let set =
        SetAttrs { time_deleg_access: time(1), time_deleg_modify: time(2), ..SetAttrs::default() };
    let bytes = wire(&[
        Word(3),
        Word(0),
        Word(0),
        Word(0x30_0000),
        Word(24),
        Hyper(1),
        Word(0),
        Hyper(2),
        Word(0),
    ]);
    assert_eq!(to_vec(&set), bytes);
    let fattr: Fattr<'_> = from_bytes(&bytes).unwrap();
    assert_eq!(SetAttrs::parse(fattr, &SetAttrs::KNOWN), Ok(set));
    let delegation = ReadDelegation {
        stateid: STATEID,
        recall: false,
        permissions: NfsAce { ace_type: 0, flag: 0, access_mask: 0, who: Opaque(b"") },
    };
    golden(
        OpenDelegation::ReadAttrs(delegation),
        &wire(&[Word(4), Word(1), Bytes(b"twelve bytes"), Word(0), Hyper(0), Hyper(0)]),
    );
}
