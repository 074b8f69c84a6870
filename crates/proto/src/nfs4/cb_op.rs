//! The operations of a `CB_COMPOUND`, and its head (RFC 8881 §19, §20).

use hayase_xdr::{Encode, Opaque, Xdr};

use super::CompoundWriter;
use crate::numbered::numbered;

/// The callback program's number, unless the client chose another (RFC 8881 §19).
pub const CB_PROGRAM: u32 = 0x4000_0000;
/// The callback program's version (RFC 8881 §19).
pub const CB_VERSION: u32 = 1;
/// The procedure that does nothing (RFC 8881 §19.1).
pub const CB_PROC_NULL: u32 = 0;
/// The procedure that does everything (RFC 8881 §19.2).
pub const CB_PROC_COMPOUND: u32 = 1;

numbered! {
    /// The operations of a server's calls to its clients (RFC 8881 §19.2, `nfs_cb_opnum4`).
    pub enum CbOp {
        /// Asks for attributes of a file that is delegated for writing (RFC 8881 §20.1).
        GetAttr = 3 "CB_GETATTR",
        /// Recalls a delegation (RFC 8881 §20.2).
        Recall = 4 "CB_RECALL",
        /// Recalls layouts (RFC 8881 §20.3).
        LayoutRecall = 5 "CB_LAYOUTRECALL",
        /// Tells changes of a directory (RFC 8881 §20.4).
        Notify = 6 "CB_NOTIFY",
        /// Offers a delegation the client wanted (RFC 8881 §20.5).
        PushDeleg = 7 "CB_PUSH_DELEG",
        /// Wants anything back that can be recalled (RFC 8881 §20.6).
        RecallAny = 8 "CB_RECALL_ANY",
        /// Tells that there are resources (RFC 8881 §20.7).
        RecallableObjAvail = 9 "CB_RECALLABLE_OBJ_AVAIL",
        /// Wants slots back (RFC 8881 §20.8).
        RecallSlot = 10 "CB_RECALL_SLOT",
        /// Places the compound in its session (RFC 8881 §20.9).
        Sequence = 11 "CB_SEQUENCE",
        /// Tells that wishes for delegations are forgotten (RFC 8881 §20.10).
        WantsCancelled = 12 "CB_WANTS_CANCELLED",
        /// Tells that a lock may be had (RFC 8881 §20.11).
        NotifyLock = 13 "CB_NOTIFY_LOCK",
        /// Tells changes of device ids (RFC 8881 §20.12).
        NotifyDeviceId = 14 "CB_NOTIFY_DEVICEID",
        /// Tells how a copy ended (RFC 7862 §16.1).
        Offload = 15 "CB_OFFLOAD",
        /// The answer to an operation that does not exist (RFC 8881 §20.13).
        Illegal = 10044 "CB_ILLEGAL",
    }
}

/// A callback compound's arguments before its operations (RFC 8881 §19.2, `CB_COMPOUND4args`).
///
/// Then follow `count` times an operation's number and its arguments. The result
/// is that of COMPOUND.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CbCompoundHead<'a> {
    /// Comes back in the reply; for people who read traces.
    pub tag: Opaque<'a>,
    /// The minor version all operations are of.
    pub minorversion: u32,
    /// NFSv4.0 only: what SETCLIENTID said.
    pub callback_ident: u32,
    /// How many operations follow, as announced.
    pub count: u32,
}

impl<'b> CompoundWriter<'b, CbOp> {
    /// Begins a `CB_COMPOUND` at the end of `to`.
    pub fn begin_callback(
        to: &'b mut Vec<u8>,
        tag: &[u8],
        minorversion: u32,
        callback_ident: u32,
    ) -> Self {
        CbCompoundHead { tag: Opaque(tag), minorversion, callback_ident, count: 0 }.encode(to);
        CompoundWriter::after_head(to)
    }
}
