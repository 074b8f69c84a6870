//! What is told of directories and device ids: `CB_NOTIFY` and `CB_NOTIFY_DEVICEID`
//! (RFC 8881 §20.4, §20.12).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{Bitmap, Component, DeviceId, Fattr, FileHandle, LayoutType, Res4, StateId, Verifier};
use crate::numbered::numbered;

/// The most changes in one call that are read.
pub const MAX_CHANGES: u32 = 1024;

numbered! {
    /// Kinds of changes of a directory: numbers in a bitmap (RFC 8881 §20.4, `notify_type4`).
    pub enum NotifyType {
        /// An entry's attributes changed: [`NotifyAttr`].
        ChangeChildAttrs = 0 "NOTIFY4_CHANGE_CHILD_ATTRS",
        /// The directory's attributes changed: [`NotifyAttr`].
        ChangeDirAttrs = 1 "NOTIFY4_CHANGE_DIR_ATTRS",
        /// An entry is gone: [`NotifyRemove`].
        RemoveEntry = 2 "NOTIFY4_REMOVE_ENTRY",
        /// An entry is new: [`NotifyAdd`].
        AddEntry = 3 "NOTIFY4_ADD_ENTRY",
        /// An entry has another name: [`NotifyRename`].
        RenameEntry = 4 "NOTIFY4_RENAME_ENTRY",
        /// Cookies have another verifier: [`NotifyVerifier`].
        ChangeCookieVerifier = 5 "NOTIFY4_CHANGE_COOKIE_VERIFIER",
    }
}

/// Changes (RFC 8881 §20.4, `notify4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Notify<'a> {
    /// Their kinds: numbers of [`NotifyType`] or [`NotifyDeviceIdType`].
    pub mask: Bitmap,
    /// The changes, in the order of their kinds.
    pub vals: Opaque<'a>,
}

/// `CB_NOTIFY` (RFC 8881 §20.4).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CbNotifyArgs<'a> {
    /// The delegation.
    pub stateid: StateId,
    /// The directory.
    pub fh: FileHandle<'a>,
    /// What changed.
    pub changes: Array<Notify<'a>, MAX_CHANGES>,
}

/// What `CB_NOTIFY` answers (RFC 8881 §20.4).
pub type CbNotifyRes = Res4<()>;

/// An entry (RFC 8881 §20.4, `notify_entry4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyEntry<'a> {
    /// Its name.
    pub file: Component<'a>,
    /// Its attributes.
    pub attrs: Fattr<'a>,
}

/// The entry before another (RFC 8881 §20.4, `prev_entry4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct PrevEntry<'a> {
    /// The entry.
    pub entry: NotifyEntry<'a>,
    /// Its cookie.
    pub cookie: u64,
}

/// An entry's or the directory's attributes changed (RFC 8881 §20.4, `notify_attr4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyAttr<'a> {
    /// The entry; the directory itself has no name.
    pub changed_entry: NotifyEntry<'a>,
}

/// An entry is gone (RFC 8881 §20.4, `notify_remove4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyRemove<'a> {
    /// The entry.
    pub old_entry: NotifyEntry<'a>,
    /// Its cookie.
    pub old_entry_cookie: u64,
}

/// An entry is new (RFC 8881 §20.4, `notify_add4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyAdd<'a> {
    /// The entry it replaced.
    pub old_entry: Option<NotifyRemove<'a>>,
    /// The entry.
    pub new_entry: NotifyEntry<'a>,
    /// Its cookie.
    pub new_entry_cookie: Option<u64>,
    /// The entry before it.
    pub prev_entry: Option<PrevEntry<'a>>,
    /// Whether it is the last.
    pub last_entry: bool,
}

/// An entry has another name (RFC 8881 §20.4, `notify_rename4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyRename<'a> {
    /// Before.
    pub old_entry: NotifyRemove<'a>,
    /// After.
    pub new_entry: NotifyAdd<'a>,
}

/// Cookies have another verifier (RFC 8881 §20.4, `notify_verifier4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyVerifier {
    /// Before.
    pub old_cookieverf: Verifier,
    /// After.
    pub new_cookieverf: Verifier,
}

numbered! {
    /// Kinds of changes of device ids: numbers in a bitmap
    /// (RFC 8881 §20.12, `notify_deviceid_type4`).
    pub enum NotifyDeviceIdType {
        /// It stands for something else: [`NotifyDeviceIdChange`].
        Change = 1 "NOTIFY_DEVICEID4_CHANGE",
        /// It is gone: [`NotifyDeviceIdDelete`].
        Delete = 2 "NOTIFY_DEVICEID4_DELETE",
    }
}

/// `CB_NOTIFY_DEVICEID` (RFC 8881 §20.12).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CbNotifyDeviceIdArgs<'a> {
    /// What changed.
    pub changes: Array<Notify<'a>, MAX_CHANGES>,
}

/// What `CB_NOTIFY_DEVICEID` answers (RFC 8881 §20.12).
pub type CbNotifyDeviceIdRes = Res4<()>;

/// A device id is gone (RFC 8881 §20.12, `notify_deviceid_delete4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyDeviceIdDelete {
    /// The layout type.
    pub layout_type: LayoutType,
    /// The device id.
    pub deviceid: DeviceId,
}

/// A device id stands for something else (RFC 8881 §20.12, `notify_deviceid_change4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyDeviceIdChange {
    /// The layout type.
    pub layout_type: LayoutType,
    /// The device id.
    pub deviceid: DeviceId,
    /// Whether the old meaning is good no more.
    pub immediate: bool,
}
