//! READ (RFC 8881 §18.22).

use hayase_xdr::{Opaque, Xdr};

use super::{Res4, StateId};

/// READ (RFC 8881 §18.22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadArgs {
    /// An open, a lock, a delegation, or a special stateid.
    pub stateid: StateId,
    /// The first byte wanted.
    pub offset: u64,
    /// Bytes wanted.
    pub count: u32,
}

/// What READ answers, with the data borrowed: the client's form (RFC 8881 §18.22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadResOk<'a> {
    /// Whether the file ends with these bytes.
    pub eof: bool,
    /// The bytes.
    pub data: Opaque<'a>,
}

/// What READ answers, whole (RFC 8881 §18.22).
pub type ReadRes<'a> = Res4<ReadResOk<'a>>;

/// All of READ's answer before the data: the server's form, which lets the data
/// travel uncopied (RFC 8881 §18.22).
///
/// It ends with the data's length word; exactly `count` bytes of data and their
/// padding have to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadResHead {
    /// Whether the file ends with these bytes.
    pub eof: bool,
    /// Bytes read, and so the length of the data.
    pub count: u32,
}

/// What READ answers, but for the data (RFC 8881 §18.22).
pub type ReadHeadRes = Res4<ReadResHead>;

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{from_bytes, to_vec};

    #[test]
    fn a_head_and_its_data_are_what_a_client_decodes() {
        let mut wire = to_vec(&ReadHeadRes::Ok(ReadResHead { eof: true, count: 5 }));
        wire.extend_from_slice(b"hello\0\0\0");
        let ok = ReadResOk { eof: true, data: Opaque(b"hello") };
        assert_eq!(from_bytes::<ReadRes<'_>>(&wire), Ok(ReadRes::Ok(ok)));
    }
}
