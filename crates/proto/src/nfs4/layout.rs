//! Layouts: LAYOUTGET, LAYOUTCOMMIT, LAYOUTRETURN (RFC 8881 §3.3.16 to §3.3.20, §18.42 to §18.44).

use hayase_xdr::{Array, Opaque, Xdr};

use super::res::failure_with_body;
use super::{LayoutType, NfsTime, Res4, StateId};
use crate::numbered::numbered;

/// The most layouts in one answer that are read.
pub const MAX_LAYOUTS: u32 = 256;

numbered! {
    /// What a layout is for (RFC 8881 §3.3.20, `layoutiomode4`).
    pub enum LayoutIoMode {
        /// Reading.
        Read = 1 "LAYOUTIOMODE4_READ",
        /// Reading and writing.
        Rw = 2 "LAYOUTIOMODE4_RW",
        /// Either, when layouts are given back or recalled.
        Any = 3 "LAYOUTIOMODE4_ANY",
    }
}

/// Where data lies (RFC 8881 §3.3.16, `layout_content4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutContent<'a> {
    /// Tells what the body means.
    pub layout_type: LayoutType,
    /// Where: [`FileLayout`](super::FileLayout) for the files layout.
    pub body: Opaque<'a>,
}

/// Where a range of a file lies (RFC 8881 §3.3.17, `layout4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Layout<'a> {
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end, however far that is.
    pub length: u64,
    /// What the layout is for.
    pub iomode: LayoutIoMode,
    /// Where the data lies.
    pub content: LayoutContent<'a>,
}

/// LAYOUTGET (RFC 8881 §18.43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutGetArgs {
    /// Whether to tell when there is a layout to have.
    pub signal_layout_avail: bool,
    /// The layout type wanted.
    pub layout_type: LayoutType,
    /// What the layout is for.
    pub iomode: LayoutIoMode,
    /// The first byte wanted.
    pub offset: u64,
    /// Bytes wanted; all ones means to the end.
    pub length: u64,
    /// Bytes needed.
    pub minlength: u64,
    /// An open, or the file's layouts.
    pub stateid: StateId,
    /// The most bytes of the answer.
    pub maxcount: u32,
}

/// What LAYOUTGET answers (RFC 8881 §18.43).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutGetResOk<'a> {
    /// Whether to give the layouts back when the file is closed.
    pub return_on_close: bool,
    /// Names the file's layouts.
    pub stateid: StateId,
    /// The layouts.
    pub layout: Array<Layout<'a>, MAX_LAYOUTS>,
}

failure_with_body! {
    /// Why there is no layout (RFC 8881 §18.43).
    pub enum LayoutGetFail {
        /// Not now. Tells whether the server will say when.
        LayoutTryLater(bool),
    }
}

/// What LAYOUTGET answers (RFC 8881 §18.43).
pub type LayoutGetRes<'a> = Res4<LayoutGetResOk<'a>, LayoutGetFail>;

/// What a layout type wants to be told (RFC 8881 §3.3.18, `layoutupdate4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutUpdate<'a> {
    /// Tells what the body means.
    pub layout_type: LayoutType,
    /// Empty for the files layout.
    pub body: Opaque<'a>,
}

/// LAYOUTCOMMIT (RFC 8881 §18.42).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutCommitArgs<'a> {
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end.
    pub length: u64,
    /// Whether this is about writes from before the server restarted.
    pub reclaim: bool,
    /// Names the file's layouts.
    pub stateid: StateId,
    /// The last byte written (`newoffset4`).
    pub last_write_offset: Option<u64>,
    /// When it was written (`newtime4`).
    pub time_modify: Option<NfsTime>,
    /// What the layout type wants to be told.
    pub layoutupdate: LayoutUpdate<'a>,
}

/// What LAYOUTCOMMIT answers: the file's length, if it changed (RFC 8881 §18.42, `newsize4`).
pub type LayoutCommitRes = Res4<Option<u64>>;

/// LAYOUTRETURN (RFC 8881 §18.44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutReturnArgs<'a> {
    /// Whether this is about layouts from before the server restarted.
    pub reclaim: bool,
    /// The type of the layouts.
    pub layout_type: LayoutType,
    /// What the layouts were for.
    pub iomode: LayoutIoMode,
    /// Which layouts.
    pub layoutreturn: LayoutReturn<'a>,
}

/// Which layouts are given back (RFC 8881 §18.44, `layoutreturn4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum LayoutReturn<'a> {
    /// A range of the current file.
    #[xdr(1)]
    File(LayoutReturnFile<'a>),
    /// All of the current file's file system.
    #[xdr(2)]
    Fsid,
    /// All.
    #[xdr(3)]
    All,
}

/// A range of a file whose layouts are given back (RFC 8881 §18.44, `layoutreturn_file4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutReturnFile<'a> {
    /// The first byte.
    pub offset: u64,
    /// Bytes; all ones means to the end.
    pub length: u64,
    /// Names the file's layouts.
    pub stateid: StateId,
    /// What the layout type wants to be told.
    pub body: Opaque<'a>,
}

/// What LAYOUTRETURN answers: names the file's layouts, if some are left
/// (RFC 8881 §18.44, `layoutreturn_stateid`).
pub type LayoutReturnRes = Res4<Option<StateId>>;
