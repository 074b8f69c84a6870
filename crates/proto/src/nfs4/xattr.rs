//! Extended attributes: GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR (RFC 8276 §8.4).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{ChangeInfo, Component, Res4};
use crate::numbered::numbered;

/// The most names in one answer that are read.
pub const MAX_XATTRS: u32 = 16_384;

/// The name of an extended attribute, without a prefix like `user.` (RFC 8276 §8.1, `xattrkey4`).
pub type XattrKey<'a> = Component<'a>;
/// The value of an extended attribute (RFC 8276 §8.1, `xattrvalue4`).
pub type XattrValue<'a> = Opaque<'a>;

/// GETXATTR (RFC 8276 §8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetXattrArgs<'a> {
    /// The name.
    pub name: XattrKey<'a>,
}

/// What GETXATTR answers: the value (RFC 8276 §8.4.1).
pub type GetXattrRes<'a> = Res4<XattrValue<'a>>;

numbered! {
    /// Whether an extended attribute may be made or replaced (RFC 8276 §8.4.2, `setxattr_option4`).
    pub enum SetXattrOption {
        /// Both.
        Either = 0 "SETXATTR4_EITHER",
        /// It must not be there.
        Create = 1 "SETXATTR4_CREATE",
        /// It must be there.
        Replace = 2 "SETXATTR4_REPLACE",
    }
}

/// SETXATTR (RFC 8276 §8.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetXattrArgs<'a> {
    /// Whether it may be made or replaced.
    pub option: SetXattrOption,
    /// The name.
    pub key: XattrKey<'a>,
    /// The value.
    pub value: XattrValue<'a>,
}

/// What SETXATTR answers: the object before and after (RFC 8276 §8.4.2).
pub type SetXattrRes = Res4<ChangeInfo>;

/// LISTXATTRS (RFC 8276 §8.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ListXattrsArgs {
    /// Where to go on; zero for the start.
    pub cookie: u64,
    /// The most bytes of the whole answer without its status.
    pub maxcount: u32,
}

/// What LISTXATTRS answers (RFC 8276 §8.4.3).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ListXattrsResOk<'a> {
    /// Where to go on.
    pub cookie: u64,
    /// The names.
    pub names: Array<XattrKey<'a>, MAX_XATTRS>,
    /// Whether these are the last.
    pub eof: bool,
}

/// What LISTXATTRS answers (RFC 8276 §8.4.3).
pub type ListXattrsRes<'a> = Res4<ListXattrsResOk<'a>>;

/// REMOVEXATTR (RFC 8276 §8.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RemoveXattrArgs<'a> {
    /// The name.
    pub name: XattrKey<'a>,
}

/// What REMOVEXATTR answers: the object before and after (RFC 8276 §8.4.4).
pub type RemoveXattrRes = Res4<ChangeInfo>;
