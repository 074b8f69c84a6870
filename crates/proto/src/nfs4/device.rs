//! What device ids stand for: GETDEVICEINFO and GETDEVICELIST (RFC 8881 §3.3.14,
//! §3.3.15, §18.40, §18.41).

use hayase_xdr::{Array, Opaque, Xdr};

use super::res::failure_with_body;
use super::{Bitmap, LayoutType, Res4, Verifier};

/// The most device ids in one answer that are read.
pub const MAX_DEVICES: u32 = 4096;

/// Names where data lies, within a layout type (RFC 8881 §3.3.14, `deviceid4`).
pub type DeviceId = [u8; 16];

/// What a device id stands for (RFC 8881 §3.3.15, `device_addr4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DeviceAddr<'a> {
    /// Tells what the body means.
    pub layout_type: LayoutType,
    /// [`FileLayoutDsAddr`](super::FileLayoutDsAddr) for the files layout.
    pub body: Opaque<'a>,
}

/// GETDEVICEINFO (RFC 8881 §18.40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetDeviceInfoArgs {
    /// The device id.
    pub device_id: DeviceId,
    /// The layout type it was told with.
    pub layout_type: LayoutType,
    /// The most bytes of the answer; zero to only change the notifications.
    pub maxcount: u32,
    /// Which changes to tell: numbers of [`NotifyDeviceIdType`](super::NotifyDeviceIdType).
    pub notify_types: Bitmap,
}

/// What GETDEVICEINFO answers (RFC 8881 §18.40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetDeviceInfoResOk<'a> {
    /// What it stands for.
    pub device_addr: DeviceAddr<'a>,
    /// Which changes will be told.
    pub notification: Bitmap,
}

failure_with_body! {
    /// Why it is not told what a device id stands for (RFC 8881 §18.40).
    pub enum GetDeviceInfoFail {
        /// The answer would need so many bytes (`gdir_mincount`).
        TooSmall(u32),
    }
}

/// What GETDEVICEINFO answers (RFC 8881 §18.40).
pub type GetDeviceInfoRes<'a> = Res4<GetDeviceInfoResOk<'a>, GetDeviceInfoFail>;

/// GETDEVICELIST, which NFSv4.2 did away with (RFC 8881 §18.41, RFC 7862 §14.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetDeviceListArgs {
    /// The layout type.
    pub layout_type: LayoutType,
    /// The most device ids wanted.
    pub maxdevices: u32,
    /// Where to go on; zero for the start.
    pub cookie: u64,
    /// The verifier that came with the cookie.
    pub cookieverf: Verifier,
}

/// What GETDEVICELIST answers (RFC 8881 §18.41).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct GetDeviceListResOk {
    /// Where to go on.
    pub cookie: u64,
    /// Goes with the cookie.
    pub cookieverf: Verifier,
    /// The device ids.
    pub deviceid_list: Array<DeviceId, MAX_DEVICES>,
    /// Whether these are the last.
    pub eof: bool,
}

/// What GETDEVICELIST answers (RFC 8881 §18.41).
pub type GetDeviceListRes = Res4<GetDeviceListResOk>;
