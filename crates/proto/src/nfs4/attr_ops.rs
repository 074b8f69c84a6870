//! ACCESS, GETATTR, SETATTR, VERIFY and NVERIFY (RFC 8881 §18.1, §18.7, §18.15, §18.30, §18.31).

use hayase_xdr::{Decode, Encode, Reader, Result, Xdr};

use super::{Bitmap, Fattr, NfsStat, Res4, StateId, Status};

/// ACCESS (RFC 8881 §18.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AccessArgs {
    /// What is asked about: bits of [`access`].
    pub access: u32,
}

/// What ACCESS answers (RFC 8881 §18.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AccessResOk {
    /// The bits that could be checked.
    pub supported: u32,
    /// The bits of them that are allowed.
    pub access: u32,
}

/// What ACCESS answers (RFC 8881 §18.1).
pub type AccessRes = Res4<AccessResOk>;

/// Bits of ACCESS (RFC 8881 §18.1, RFC 8276 §8.5).
pub mod access {
    /// Read a file, list a directory.
    pub const READ: u32 = 0x001;
    /// Find names in a directory.
    pub const LOOKUP: u32 = 0x002;
    /// Change a file's data, change a directory's names.
    pub const MODIFY: u32 = 0x004;
    /// Write at a file's end, make names in a directory.
    pub const EXTEND: u32 = 0x008;
    /// Remove names from a directory.
    pub const DELETE: u32 = 0x010;
    /// Execute a file.
    pub const EXECUTE: u32 = 0x020;
    /// Read extended attributes (RFC 8276 §8.5).
    pub const XAREAD: u32 = 0x040;
    /// Set and remove extended attributes (RFC 8276 §8.5).
    pub const XAWRITE: u32 = 0x080;
    /// List extended attributes (RFC 8276 §8.5).
    pub const XALIST: u32 = 0x100;
    /// All bits of NFSv4.0 and NFSv4.1.
    pub const ALL: u32 = 0x03f;
    /// All bits, with those of extended attributes.
    pub const ALL_WITH_XATTR: u32 = 0x1ff;
}

/// GETATTR (RFC 8881 §18.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetAttrArgs {
    /// The attributes wanted; those not supported are left out of the answer.
    pub attr_request: Bitmap,
}

/// What GETATTR answers (RFC 8881 §18.7). A server writes it with
/// [`FattrWriter`](super::FattrWriter) after [`NfsStat::OK`].
pub type GetAttrRes<'a> = Res4<Fattr<'a>>;

/// SETATTR (RFC 8881 §18.30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetAttrArgs<'a> {
    /// An open for writing, if the size is set; otherwise ignored.
    pub stateid: StateId,
    /// What to set; read it with [`SetAttrs::parse`](super::SetAttrs::parse).
    pub obj_attributes: Fattr<'a>,
}

/// What SETATTR answers: which attributes were set, also when it failed
/// half way (RFC 8881 §18.30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetAttrRes {
    /// Why not all was set.
    pub status: Option<Status>,
    /// What was set.
    pub attrsset: Bitmap,
}

impl Decode<'_> for SetAttrRes {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        let status = match NfsStat::decode(from)? {
            NfsStat::OK => None,
            NfsStat(number) => Some(Status::try_from(number)?),
        };
        Ok(SetAttrRes { status, attrsset: Bitmap::decode(from)? })
    }
}

impl Encode for SetAttrRes {
    fn encode(&self, to: &mut Vec<u8>) {
        self.status.map_or(NfsStat::OK, NfsStat::from).encode(to);
        self.attrsset.encode(to);
    }
}

/// VERIFY (RFC 8881 §18.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct VerifyArgs<'a> {
    /// What the attributes should be; otherwise [`Status::NotSame`].
    pub obj_attributes: Fattr<'a>,
}

/// What VERIFY answers (RFC 8881 §18.31).
pub type VerifyRes = Res4<()>;

/// NVERIFY (RFC 8881 §18.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NVerifyArgs<'a> {
    /// What the attributes should not be; otherwise [`Status::Same`].
    pub obj_attributes: Fattr<'a>,
}

/// What NVERIFY answers (RFC 8881 §18.15).
pub type NVerifyRes = Res4<()>;
