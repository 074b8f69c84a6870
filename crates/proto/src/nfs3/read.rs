//! READ (RFC 1813 §3.3.6).

use hayase_xdr::{Decode, Encode, Error, Opaque, Reader, Result, Xdr};

use super::{FileHandle, PostOpAttr, Res3};

/// READ (RFC 1813 §3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadArgs<'a> {
    /// The file.
    pub file: FileHandle<'a>,
    /// The first byte wanted.
    pub offset: u64,
    /// Bytes wanted.
    pub count: u32,
}

/// What READ answers, with the data borrowed: the client's form (RFC 1813 §3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadResOk<'a> {
    /// The file's attributes.
    pub file_attributes: PostOpAttr,
    /// Bytes read.
    pub count: u32,
    /// Whether the file ends with these bytes.
    pub eof: bool,
    /// The bytes.
    pub data: Opaque<'a>,
}

/// What READ answers, whole (RFC 1813 §3.3.6).
pub type ReadRes<'a> = Res3<ReadResOk<'a>, PostOpAttr>;

/// All of READ's answer before the data: the server's form, which lets the data
/// travel uncopied (RFC 1813 §3.3.6).
///
/// It is encoded up to and with the data's length word; exactly `count` bytes of
/// data and their padding have to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadResHead {
    /// The file's attributes.
    pub file_attributes: PostOpAttr,
    /// Bytes read, and so the length of the data.
    pub count: u32,
    /// Whether the file ends with these bytes.
    pub eof: bool,
}

/// What READ answers, but for the data (RFC 1813 §3.3.6).
pub type ReadHeadRes = Res3<ReadResHead, PostOpAttr>;

impl Decode<'_> for ReadResHead {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        let file_attributes = PostOpAttr::decode(from)?;
        let count = from.word()?;
        let eof = bool::decode(from)?;
        let data_len = from.word()?;
        if data_len != count {
            return Err(Error::UnknownValue(data_len));
        }
        Ok(ReadResHead { file_attributes, count, eof })
    }
}

impl Encode for ReadResHead {
    fn encode(&self, to: &mut Vec<u8>) {
        self.file_attributes.encode(to);
        self.count.encode(to);
        self.eof.encode(to);
        self.count.encode(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{from_bytes, to_vec};

    #[test]
    fn a_head_and_its_data_are_what_a_client_decodes() {
        let head = ReadResHead { file_attributes: None, count: 5, eof: true };
        let mut wire = to_vec(&ReadHeadRes::Ok(head));
        wire.extend_from_slice(b"hello\0\0\0");
        let ok = ReadResOk { file_attributes: None, count: 5, eof: true, data: Opaque(b"hello") };
        assert_eq!(from_bytes::<ReadRes<'_>>(&wire), Ok(ReadRes::Ok(ok)));
    }

    #[test]
    fn a_head_that_lies_about_its_data_is_refused() {
        let wire = [0_u32, 5, 0, 6].map(u32::to_be_bytes).concat();
        assert_eq!(from_bytes::<ReadResHead>(&wire), Err(Error::UnknownValue(6)));
    }
}
