//! Sessions, layouts and callbacks: NFSv4.1.

use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Decode, Opaque, Reader, from_bytes, to_vec};

use crate::{
    Piece::{Bytes, Hyper, Word},
    golden, wire,
};

const SESSION: SessionId = *b"sixteen bytes id";
const STATEID: StateId = StateId { seqid: 1, other: *b"twelve bytes" };

#[test]
fn exchange_id() {
    let args = |state_protect, client_impl_id| ExchangeIdArgs {
        clientowner: ClientOwner { verifier: *b"bootverf", ownerid: Opaque(b"host") },
        flags: exchange_id_flag::SUPP_MOVED_REFER | exchange_id_flag::BIND_PRINC_STATEID,
        state_protect,
        client_impl_id,
    };
    let head = || wire(&[Bytes(b"bootverf"), Word(4), Bytes(b"host"), Word(0x101)]);
    golden(args(StateProtectArgs::None, None), &[head(), wire(&[Word(0), Word(0)])].concat());
    let ops = StateProtectOps {
        must_enforce: [Op::ExchangeId, Op::CreateSession].into_iter().collect(),
        must_allow: Bitmap::EMPTY,
    };
    let date = NfsTime { seconds: -1, nseconds: 5 };
    let implementation = NfsImplId { domain: Opaque(b"kernel.org"), name: Opaque(b"Li"), date };
    golden(
        args(StateProtectArgs::MachCred(ops), Some(implementation)),
        &[
            head(),
            wire(&[Word(1), Word(2), Word(0), Word(0xc00), Word(0)]),
            wire(&[Word(1), Word(10), Bytes(b"kernel.org\0\0"), Word(2), Bytes(b"Li\0\0")]),
            wire(&[Hyper(u64::MAX), Word(5)]),
        ]
        .concat(),
    );
    let ok = ExchangeIdResOk {
        clientid: 5,
        sequenceid: 1,
        flags: exchange_id_flag::USE_NON_PNFS | exchange_id_flag::CONFIRMED_R,
        state_protect: StateProtectRes::None,
        server_owner: ServerOwner { minor_id: 2, major_id: Opaque(b"major") },
        server_scope: Opaque(b"scope"),
        server_impl_id: None,
    };
    golden(
        ExchangeIdRes::Ok(ok),
        &wire(&[
            Word(0),
            Hyper(5),
            Word(1),
            Word(0x8001_0000),
            Word(0),
            Hyper(2),
            Word(5),
            Bytes(b"major\0\0\0"),
            Word(5),
            Bytes(b"scope\0\0\0"),
            Word(0),
        ]),
    );
}

#[test]
fn sessions() {
    let channel = |maxrequests, rdma_ird| ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: 1 << 20,
        maxresponsesize: 1 << 20,
        maxresponsesize_cached: 4096,
        maxoperations: 8,
        maxrequests,
        rdma_ird,
    };
    let sys =
        AuthSysParms { stamp: 1, machinename: Opaque(b"h"), uid: 2, gid: 3, gids: Array(vec![4]) };
    golden(
        CreateSessionArgs {
            clientid: 5,
            sequence: 1,
            flags: create_session_flag::CONN_BACK_CHAN,
            fore_chan_attrs: channel(64, None),
            back_chan_attrs: channel(1, Some(9)),
            cb_program: 0x4000_0000,
            sec_parms: Array(vec![CbSecParms::None, CbSecParms::Sys(sys)]),
        },
        &[
            wire(&[Hyper(5), Word(1), Word(2)]),
            wire(&[Word(0), Word(1 << 20), Word(1 << 20), Word(4096), Word(8), Word(64), Word(0)]),
            wire(&[Word(0), Word(1 << 20), Word(1 << 20), Word(4096), Word(8), Word(1)]),
            wire(&[Word(1), Word(9)]),
            wire(&[Word(0x4000_0000), Word(2), Word(0), Word(1)]),
            wire(&[Word(1), Word(1), Bytes(b"h\0\0\0"), Word(2), Word(3), Word(1), Word(4)]),
        ]
        .concat(),
    );
    let ok = SequenceResOk {
        sessionid: SESSION,
        sequenceid: 2,
        slotid: 3,
        highest_slotid: 4,
        target_highest_slotid: 5,
        status_flags: seq4_status::RESTART_RECLAIM_NEEDED,
    };
    assert_eq!(to_vec(&ok).len(), SequenceResOk::WIRE_BYTES);
    golden(
        SequenceRes::Ok(ok),
        &wire(&[
            Word(0),
            Bytes(b"sixteen bytes id"),
            Word(2),
            Word(3),
            Word(4),
            Word(5),
            Word(0x100),
        ]),
    );
    let codes = Array(vec![NfsStat::OK, Status::Expired.into()]);
    golden(TestStateIdRes::Ok(codes), &wire(&[Word(0), Word(2), Word(0), Word(10_011)]));
}

#[test]
fn a_layout_of_files() {
    let files = FileLayout {
        deviceid: [7; 16],
        util: nfl_util::COMMIT_THRU_MDS | 1 << 20,
        first_stripe_index: 1,
        pattern_offset: 0,
        fh_list: Array(vec![Opaque(b"ds-one"), Opaque(b"ds-2")]),
    };
    let body = wire(&[
        Bytes(&[7; 16]),
        Word(0x0010_0002),
        Word(1),
        Hyper(0),
        Word(2),
        Word(6),
        Bytes(b"ds-one\0\0"),
        Word(4),
        Bytes(b"ds-2"),
    ]);
    golden(files, &body);
    let content = LayoutContent { layout_type: LayoutType::NFSV4_1_FILES, body: Opaque(&body) };
    let layout = Layout { offset: 0, length: u64::MAX, iomode: LayoutIoMode::Rw, content };
    let ok =
        LayoutGetResOk { return_on_close: true, stateid: STATEID, layout: Array(vec![layout]) };
    let bytes = [
        wire(&[Word(0), Word(1), Word(1), Bytes(b"twelve bytes"), Word(1)]),
        wire(&[Hyper(0), Hyper(u64::MAX), Word(2), Word(1), Word(56)]),
        body.clone(),
    ]
    .concat();
    golden(LayoutGetRes::Ok(ok), &bytes);
    let later = LayoutGetRes::Fail(LayoutGetFail::LayoutTryLater(true));
    golden(later, &wire(&[Word(10_058), Word(1)]));

    let path = |addr| NetAddr { netid: Opaque(b"tcp"), addr: Opaque(addr) };
    golden(
        FileLayoutDsAddr {
            stripe_indices: Array(vec![0, 1]),
            multipath_ds_list: Array(vec![Array(vec![path(b"a")]), Array(vec![path(b"b")])]),
        },
        &wire(&[
            Word(2),
            Word(0),
            Word(1),
            Word(2),
            Word(1),
            Word(3),
            Bytes(b"tcp\0"),
            Word(1),
            Bytes(b"a\0\0\0"),
            Word(1),
            Word(3),
            Bytes(b"tcp\0"),
            Word(1),
            Bytes(b"b\0\0\0"),
        ]),
    );
    let too_small = GetDeviceInfoRes::Fail(GetDeviceInfoFail::TooSmall(512));
    golden(too_small, &wire(&[Word(10_005), Word(512)]));
}

#[test]
fn a_callback_and_its_reply() {
    let mut written = Vec::new();
    let mut writer = CompoundWriter::begin_callback(&mut written, b"", 1, 0);
    let referring_calls = Array(vec![ReferringCall { sequenceid: 8, slotid: 1 }]);
    writer.push(&CbSequenceArgs {
        sessionid: SESSION,
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
        referring_call_lists: Array(vec![ReferringCallList {
            sessionid: SESSION,
            referring_calls,
        }]),
    });
    writer.push(&CbRecallArgs { stateid: STATEID, truncate: false, fh: Opaque(b"file") });
    writer.finish();
    let call = wire(&[
        Word(0), // no tag
        Word(1),
        Word(0), // no ident
        Word(2),
        Word(11), // CB_SEQUENCE
        Bytes(b"sixteen bytes id"),
        Word(1),
        Word(0),
        Word(0),
        Word(0),
        Word(1),
        Bytes(b"sixteen bytes id"),
        Word(1),
        Word(8),
        Word(1),
        Word(4), // CB_RECALL
        Word(1),
        Bytes(b"twelve bytes"),
        Word(0),
        Word(4),
        Bytes(b"file"),
    ]);
    assert_eq!(written, call);
    let mut from = Reader::new(&call);
    let head = CbCompoundHead { tag: Opaque(b""), minorversion: 1, callback_ident: 0, count: 2 };
    assert_eq!(CbCompoundHead::decode(&mut from), Ok(head));
    for op in [CbOp::Sequence, CbOp::Recall] {
        assert_eq!(CbOp::decode(&mut from), Ok(op));
        op.skip_args(&mut from).unwrap();
    }
    assert_eq!(from.rest(), []);

    let reply = wire(&[Word(10_025), Word(0), Word(1), Word(4), Word(10_025)]);
    let reply = CompoundReply::<CbOp>::decode(&mut Reader::new(&reply)).unwrap();
    let results: Vec<_> = reply.map(Result::unwrap).collect();
    assert_eq!(results.len(), 1);
    assert_eq!(
        (results[0].op, results[0].status.status()),
        (CbOp::Recall, Some(Status::BadStateId))
    );
}

#[test]
fn recalled_layouts_and_pushed_delegations() {
    golden(
        CbLayoutRecallArgs {
            layout_type: LayoutType::NFSV4_1_FILES,
            iomode: LayoutIoMode::Any,
            changed: true,
            recall: LayoutRecall::Fsid(Fsid { major: 1, minor: 2 }),
        },
        &wire(&[Word(1), Word(3), Word(1), Word(2), Hyper(1), Hyper(2)]),
    );
    let delegation = OpenDelegation::NoneExt(WhyNoDelegation::Resource(true));
    golden(
        CbPushDelegArgs { fh: Opaque(b"file"), delegation },
        &wire(&[Word(4), Bytes(b"file"), Word(3), Word(2), Word(1)]),
    );
    assert!(from_bytes::<LayoutRecall<'_>>(&wire(&[Word(4)])).is_err());
}
