//! `READ_PLUS`: data and holes (RFC 7862 §15.10).

use hayase_xdr::{Array, Decode, Encode, Opaque, Reader, Result, Xdr};

use super::{DataContent, Res4, StateId};

/// The most pieces in one answer that are read.
pub const MAX_CONTENTS: u32 = 4096;

/// `READ_PLUS` (RFC 7862 §15.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusArgs {
    /// An open, a lock, a delegation, or a special stateid.
    pub stateid: StateId,
    /// The first byte wanted.
    pub offset: u64,
    /// Bytes wanted.
    pub count: u32,
}

/// Data of a file (RFC 7862 §15.10, `data4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusData<'a> {
    /// Where it is in the file.
    pub offset: u64,
    /// The bytes.
    pub data: Opaque<'a>,
}

/// A hole in a file (RFC 7862 §15.10, `data_info4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusHole {
    /// Where it begins.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// A piece of a file (RFC 7862 §15.10, `read_plus_content`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPlusContent<'a> {
    /// Data.
    Data(ReadPlusData<'a>),
    /// A hole.
    Hole(ReadPlusHole),
    /// Something that is not known here, and of which nothing is told.
    Other(DataContent),
}

impl<'a> Decode<'a> for ReadPlusContent<'a> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(match DataContent::decode(from)? {
            DataContent::DATA => ReadPlusContent::Data(ReadPlusData::decode(from)?),
            DataContent::HOLE => ReadPlusContent::Hole(ReadPlusHole::decode(from)?),
            other => ReadPlusContent::Other(other),
        })
    }
}

impl Encode for ReadPlusContent<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            ReadPlusContent::Data(data) => {
                DataContent::DATA.encode(to);
                data.encode(to);
            }
            ReadPlusContent::Hole(hole) => {
                DataContent::HOLE.encode(to);
                hole.encode(to);
            }
            ReadPlusContent::Other(other) => other.encode(to),
        }
    }
}

/// What `READ_PLUS` answers, with the data borrowed: the client's form
/// (RFC 7862 §15.10, `read_plus_res4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusResOk<'a> {
    /// Whether the file ends with these pieces.
    pub eof: bool,
    /// The pieces, in order.
    pub contents: Array<ReadPlusContent<'a>, MAX_CONTENTS>,
}

/// What `READ_PLUS` answers, whole (RFC 7862 §15.10).
pub type ReadPlusRes<'a> = Res4<ReadPlusResOk<'a>>;

/// All of `READ_PLUS`'s answer before the pieces: the server's form, which lets data
/// travel uncopied. Exactly `count` times a [`ReadPlusContentHead`] has to follow,
/// with its data (RFC 7862 §15.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusResHead {
    /// Whether the file ends with these pieces.
    pub eof: bool,
    /// How many pieces follow.
    pub count: u32,
}

/// What `READ_PLUS` answers, but for the pieces (RFC 7862 §15.10).
pub type ReadPlusHeadRes = Res4<ReadPlusResHead>;

/// Data of a file up to and with its length word; the data and its padding have to
/// follow (RFC 7862 §15.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadPlusDataHead {
    /// Where the data is in the file.
    pub offset: u64,
    /// Its bytes.
    pub data_len: u32,
}

/// A piece of a file, but for its data (RFC 7862 §15.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum ReadPlusContentHead {
    /// Data, which has to follow.
    #[xdr(0)]
    Data(ReadPlusDataHead),
    /// A hole.
    #[xdr(1)]
    Hole(ReadPlusHole),
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{from_bytes, to_vec};

    #[test]
    fn heads_and_their_data_are_what_a_client_decodes() {
        let hole = ReadPlusHole { offset: 0, length: 4096 };
        let mut wire = to_vec(&ReadPlusHeadRes::Ok(ReadPlusResHead { eof: true, count: 2 }));
        ReadPlusContentHead::Hole(hole).encode(&mut wire);
        let head = ReadPlusDataHead { offset: 4096, data_len: 5 };
        ReadPlusContentHead::Data(head).encode(&mut wire);
        wire.extend_from_slice(b"hello\0\0\0");
        let data = ReadPlusData { offset: 4096, data: Opaque(b"hello") };
        let contents = Array(vec![ReadPlusContent::Hole(hole), ReadPlusContent::Data(data)]);
        let ok = ReadPlusResOk { eof: true, contents };
        assert_eq!(from_bytes::<ReadPlusRes<'_>>(&wire), Ok(ReadPlusRes::Ok(ok)));
    }
}
