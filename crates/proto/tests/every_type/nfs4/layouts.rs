use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{FH, STATEID, TIME};
use crate::{Sample, samples};

const DEVICE: DeviceId = *b"device of stripe";
const ADDR: NetAddr<'static> = NetAddr { netid: Opaque(b"tcp"), addr: Opaque(b"192.0.2.7.8.1") };
const FILES: LayoutType = LayoutType::NFSV4_1_FILES;
const CONTENT: LayoutContent<'static> =
    LayoutContent { layout_type: FILES, body: Opaque(b"layout") };
const LAYOUT: Layout<'static> =
    Layout { offset: 0, length: u64::MAX, iomode: LayoutIoMode::Rw, content: CONTENT };
const UPDATE: LayoutUpdate<'static> = LayoutUpdate { layout_type: FILES, body: Opaque(b"") };
const RETURNED: LayoutReturnFile<'static> =
    LayoutReturnFile { offset: 0, length: u64::MAX, stateid: STATEID, body: Opaque(b"") };
const ERROR: DeviceError =
    DeviceError { deviceid: DEVICE, status: NfsStat(10_075), opnum: Op::Read as u32 };
const INFO: GetDeviceInfoResOk<'static> = GetDeviceInfoResOk {
    device_addr: DeviceAddr { layout_type: FILES, body: Opaque(b"addr") },
    notification: Bitmap::from_words([6, 0, 0, 0]),
};

pub(crate) fn add(to: &mut Vec<Sample>) {
    layouts(to);
    devices(to);
    files(to);
    reports(to);
}

fn layouts(to: &mut Vec<Sample>) {
    let got = LayoutGetResOk {
        return_on_close: true,
        stateid: STATEID,
        layout: Array(vec![LAYOUT, LAYOUT]),
    };
    samples!(to: nfs4 {
        LayoutIoMode [LayoutIoMode::Read, LayoutIoMode::Rw, LayoutIoMode::Any]
        LayoutContent<'_> [CONTENT]
        Layout<'_> [LAYOUT]
        LayoutGetArgs [LayoutGetArgs {
            signal_layout_avail: false,
            layout_type: FILES,
            iomode: LayoutIoMode::Read,
            offset: 0,
            length: u64::MAX,
            minlength: 4096,
            stateid: STATEID,
            maxcount: 4096,
        }]
        LayoutGetResOk<'_> [got.clone()]
        LayoutGetRes<'_> [
            LayoutGetRes::Ok(got),
            LayoutGetRes::Fail(LayoutGetFail::LayoutTryLater(true)),
            LayoutGetRes::Fail(Status::LayoutUnavailable.into()),
        ]
        LayoutUpdate<'_> [UPDATE]
        LayoutCommitArgs<'_> [LayoutCommitArgs {
            offset: 0,
            length: 4096,
            reclaim: false,
            stateid: STATEID,
            last_write_offset: Some(4095),
            time_modify: Some(TIME),
            layoutupdate: UPDATE,
        }]
        LayoutCommitRes [
            LayoutCommitRes::Ok(Some(4096)),
            LayoutCommitRes::Ok(None),
            LayoutCommitRes::Fail(Status::BadLayout),
        ]
        LayoutReturnArgs<'_> [LayoutReturnArgs {
            reclaim: false,
            layout_type: FILES,
            iomode: LayoutIoMode::Any,
            layoutreturn: LayoutReturn::File(RETURNED),
        }]
        LayoutReturn<'_> [LayoutReturn::File(RETURNED), LayoutReturn::Fsid, LayoutReturn::All]
        LayoutReturnFile<'_> [RETURNED]
        LayoutReturnRes [
            LayoutReturnRes::Ok(Some(STATEID)),
            LayoutReturnRes::Ok(None),
            LayoutReturnRes::Fail(Status::NoMatchingLayout),
        ]
    });
}

fn devices(to: &mut Vec<Sample>) {
    let list = GetDeviceListResOk {
        cookie: 9,
        cookieverf: *b"cookies!",
        deviceid_list: Array(vec![DEVICE, DEVICE]),
        eof: true,
    };
    samples!(to: nfs4 {
        DeviceAddr<'_> [INFO.device_addr]
        GetDeviceInfoArgs [GetDeviceInfoArgs {
            device_id: DEVICE,
            layout_type: FILES,
            maxcount: 65536,
            notify_types: INFO.notification,
        }]
        GetDeviceInfoResOk<'_> [INFO]
        GetDeviceInfoRes<'_> [
            GetDeviceInfoRes::Ok(INFO),
            GetDeviceInfoRes::Fail(GetDeviceInfoFail::TooSmall(512)),
            GetDeviceInfoRes::Fail(Status::NoEnt.into()),
        ]
        GetDeviceListArgs [GetDeviceListArgs {
            layout_type: FILES,
            maxdevices: 10,
            cookie: 0,
            cookieverf: [0; 8],
        }]
        GetDeviceListResOk [list.clone()]
        GetDeviceListRes [GetDeviceListRes::Ok(list), GetDeviceListRes::Fail(Status::BadCookie)]
    });
}

fn files(to: &mut Vec<Sample>) {
    let one = FileLayout {
        deviceid: DEVICE,
        util: nfl_util::DENSE | (1 << 20),
        first_stripe_index: 1,
        pattern_offset: 0,
        fh_list: Array(vec![FH, Opaque(b"second")]),
    };
    let paths = Array(vec![ADDR, ADDR]);
    samples!(to: nfs4 {
        FileLayout<'_> [one.clone(), FileLayout { fh_list: Array(vec![]), ..one }]
        MultipathList<'_> [Array(vec![]), paths.clone()]
        FileLayoutDsAddr<'_> [FileLayoutDsAddr {
            stripe_indices: Array(vec![0, 1, 0]),
            multipath_ds_list: Array(vec![paths, Array(vec![ADDR])]),
        }]
        FileLayoutHint [FileLayoutHint {
            care: nflh_care::STRIPE_COUNT | nflh_care::STRIPE_UNIT_SIZE,
            util: 1 << 20,
            stripe_count: 8,
        }]
    });
}

fn reports(to: &mut Vec<Sample>) {
    let work = IoInfo { count: 10, bytes: 1 << 20 };
    samples!(to: nfs4 {
        DeviceError [ERROR]
        LayoutErrorArgs [LayoutErrorArgs {
            offset: 0,
            length: 1,
            stateid: STATEID,
            errors: Array(vec![ERROR, ERROR]),
        }]
        LayoutErrorRes [LayoutErrorRes::Ok(())]
        IoInfo [work, IoInfo::default()]
        LayoutStatsArgs<'_> [LayoutStatsArgs {
            offset: 0,
            length: u64::MAX,
            stateid: STATEID,
            read: work,
            write: IoInfo::default(),
            deviceid: DEVICE,
            layoutupdate: UPDATE,
        }]
        LayoutStatsRes [LayoutStatsRes::Fail(Status::NotSupp)]
    });
}
