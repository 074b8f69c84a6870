use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{CHANGE, NAME, STATEID, TIME};
use crate::{Sample, samples};

const ADDR: NetLoc<'static> =
    NetLoc::NetAddr(NetAddr { netid: Opaque(b"tcp6"), addr: Opaque(b"::1.8.1") });
const HOW: CopyRequirements = CopyRequirements { consecutive: true, synchronous: false };
const RESPONSE: WriteResponse = WriteResponse {
    callback_id: Some(STATEID),
    count: 1 << 40,
    committed: StableHow::Unstable,
    writeverf: *b"verifier",
};
const COPIED: CopyResOk = CopyResOk { response: RESPONSE, requirements: HOW };
const HOLE: ReadPlusHole = ReadPlusHole { offset: 4096, length: 1 << 30 };
const DATA: ReadPlusData<'static> = ReadPlusData { offset: 0, data: Opaque(b"some data") };
const DATA_HEAD: ReadPlusDataHead = ReadPlusDataHead { offset: 0, data_len: 9 };
const BLOCK: AppDataBlock<'static> = AppDataBlock {
    offset: 0,
    block_size: 4096,
    block_count: 100,
    reloff_blocknum: u64::MAX,
    block_num: 0,
    reloff_pattern: 0,
    pattern: Opaque(b"pattern"),
};

pub(crate) fn add(to: &mut Vec<Sample>) {
    copies(to);
    space(to);
    read_plus(to);
    xattrs(to);
}

fn copies(to: &mut Vec<Sample>) {
    let announced = CopyNotifyResOk {
        lease_time: TIME,
        stateid: STATEID,
        source_server: Array(vec![ADDR, NetLoc::Name(Opaque(b"a.example"))]),
    };
    let progress = OffloadStatusResOk { count: 7, complete: Some(NfsStat::OK) };
    samples!(to: nfs4 {
        NetLoc<'_> [
            NetLoc::Name(Opaque(b"a.example")),
            NetLoc::Url(Opaque(b"nfs://a/")),
            ADDR,
        ]
        CopyArgs<'_> [CopyArgs {
            src_stateid: STATEID,
            dst_stateid: STATEID,
            src_offset: 1,
            dst_offset: 2,
            count: 3,
            consecutive: true,
            synchronous: true,
            source_server: Array(vec![ADDR]),
        }]
        CopyRequirements [HOW]
        WriteResponse [RESPONSE, WriteResponse { callback_id: None, ..RESPONSE }]
        CopyResOk [COPIED]
        CopyRes [
            CopyRes::Ok(COPIED),
            CopyRes::Fail(CopyFail::OffloadNoReqs(HOW)),
            CopyRes::Fail(Status::PartnerNotSupp.into()),
        ]
        CopyNotifyArgs<'_> [CopyNotifyArgs { src_stateid: STATEID, destination_server: ADDR }]
        CopyNotifyResOk<'_> [announced.clone()]
        CopyNotifyRes<'_> [CopyNotifyRes::Ok(announced), CopyNotifyRes::Fail(Status::NotSupp)]
        OffloadCancelArgs [OffloadCancelArgs { stateid: STATEID }]
        OffloadCancelRes [OffloadCancelRes::Ok(())]
        OffloadStatusArgs [OffloadStatusArgs { stateid: STATEID }]
        OffloadStatusResOk [progress, OffloadStatusResOk { count: 0, complete: None }]
        OffloadStatusRes [
            OffloadStatusRes::Ok(progress),
            OffloadStatusRes::Fail(Status::BadStateId),
        ]
        CloneArgs [CloneArgs {
            src_stateid: STATEID,
            dst_stateid: STATEID,
            src_offset: 1,
            dst_offset: 2,
            count: 3,
        }]
        CloneRes [CloneRes::Fail(Status::Inval)]
    });
}

fn space(to: &mut Vec<Sample>) {
    let found = SeekResOk { eof: false, offset: 4096 };
    let hints = [IoAdvice::Sequential, IoAdvice::WillNeed].into_iter().collect();
    samples!(to: nfs4 {
        AllocateArgs [AllocateArgs { stateid: STATEID, offset: 0, length: 4096 }]
        AllocateRes [AllocateRes::Fail(Status::NoSpc)]
        DeallocateArgs [DeallocateArgs { stateid: STATEID, offset: 0, length: 4096 }]
        DeallocateRes [DeallocateRes::Ok(())]
        DataContent [DataContent::DATA, DataContent::HOLE, DataContent(7)]
        SeekArgs [SeekArgs { stateid: STATEID, offset: 0, what: DataContent::HOLE }]
        SeekResOk [found]
        SeekRes [SeekRes::Ok(found), SeekRes::Fail(Status::Nxio)]
        WriteSameArgs<'_> [WriteSameArgs {
            stateid: STATEID,
            stable: StableHow::FileSync,
            adb: BLOCK,
        }]
        AppDataBlock<'_> [BLOCK]
        WriteSameRes [WriteSameRes::Ok(RESPONSE), WriteSameRes::Fail(Status::UnionNotSupp)]
        IoAdvice [IoAdvice::Normal, IoAdvice::InitProximity]
        IoAdviseArgs [IoAdviseArgs { stateid: STATEID, offset: 0, count: 0, hints }]
        IoAdviseRes [IoAdviseRes::Ok(hints), IoAdviseRes::Fail(Status::NotSupp)]
    });
}

fn read_plus(to: &mut Vec<Sample>) {
    let contents = Array(vec![
        ReadPlusContent::Data(DATA),
        ReadPlusContent::Hole(HOLE),
        ReadPlusContent::Other(DataContent(2)),
    ]);
    let ok = ReadPlusResOk { eof: true, contents };
    let head = ReadPlusResHead { eof: false, count: 3 };
    samples!(to: nfs4 {
        ReadPlusArgs [ReadPlusArgs { stateid: STATEID, offset: 0, count: 1 << 20 }]
        ReadPlusData<'_> [DATA]
        ReadPlusHole [HOLE]
        ReadPlusContent<'_> [
            ReadPlusContent::Data(DATA),
            ReadPlusContent::Hole(HOLE),
            ReadPlusContent::Other(DataContent(2)),
        ]
        ReadPlusResOk<'_> [ok.clone()]
        ReadPlusRes<'_> [ReadPlusRes::Ok(ok), ReadPlusRes::Fail(Status::IsDir)]
        ReadPlusResHead [head]
        ReadPlusHeadRes [ReadPlusHeadRes::Ok(head), ReadPlusHeadRes::Fail(Status::Io)]
        ReadPlusDataHead [DATA_HEAD]
        ReadPlusContentHead [
            ReadPlusContentHead::Data(DATA_HEAD),
            ReadPlusContentHead::Hole(HOLE),
        ]
    });
}

fn xattrs(to: &mut Vec<Sample>) {
    let list = ListXattrsResOk { cookie: 4, names: Array(vec![NAME, Opaque(b"b")]), eof: true };
    samples!(to: nfs4 {
        XattrKey<'_> [NAME]
        XattrValue<'_> [Opaque(b""), Opaque(b"a value")]
        GetXattrArgs<'_> [GetXattrArgs { name: NAME }]
        GetXattrRes<'_> [GetXattrRes::Ok(Opaque(b"value")), GetXattrRes::Fail(Status::NoXattr)]
        SetXattrOption [SetXattrOption::Either, SetXattrOption::Replace]
        SetXattrArgs<'_> [SetXattrArgs {
            option: SetXattrOption::Create,
            key: NAME,
            value: Opaque(b"value"),
        }]
        SetXattrRes [SetXattrRes::Ok(CHANGE), SetXattrRes::Fail(Status::Xattr2Big)]
        ListXattrsArgs [ListXattrsArgs { cookie: 0, maxcount: 4096 }]
        ListXattrsResOk<'_> [list.clone()]
        ListXattrsRes<'_> [ListXattrsRes::Ok(list), ListXattrsRes::Fail(Status::TooSmall)]
        RemoveXattrArgs<'_> [RemoveXattrArgs { name: NAME }]
        RemoveXattrRes [RemoveXattrRes::Ok(CHANGE), RemoveXattrRes::Fail(Status::NoXattr)]
    });
}
