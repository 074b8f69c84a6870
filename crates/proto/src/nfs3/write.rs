//! WRITE and COMMIT (RFC 1813 §3.3.7, §3.3.21).

use hayase_xdr::{Decode, Opaque, Reader, Result, Xdr};

use super::{FHSIZE, FileHandle, Res3, WccData, WriteVerf};

/// How safe written data must be before the reply (RFC 1813 §3.3.7, `stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Xdr)]
#[repr(u32)]
pub enum StableHow {
    /// May be lost in a crash until COMMIT.
    Unstable = 0,
    /// The data, and what is needed to find it, survive a crash.
    DataSync = 1,
    /// Data and all attributes survive a crash.
    FileSync = 2,
}

/// WRITE (RFC 1813 §3.3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteArgs<'a> {
    /// The file.
    pub file: FileHandle<'a>,
    /// Where the first byte goes.
    pub offset: u64,
    /// Bytes to write; should be the data's length.
    pub count: u32,
    /// How safe they must be.
    pub stable: StableHow,
    /// The bytes.
    pub data: Opaque<'a>,
}

/// All of WRITE's arguments before the data, with the data's length word (RFC 1813 §3.3.7).
///
/// What a server can read before the data has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteArgsHead<'a> {
    /// The file.
    pub file: FileHandle<'a>,
    /// Where the first byte goes.
    pub offset: u64,
    /// Bytes to write; should be `data_len`.
    pub count: u32,
    /// How safe they must be.
    pub stable: StableHow,
    /// Bytes of data that follow, before padding.
    pub data_len: u32,
}

/// Where WRITE's data lies in the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSpan {
    /// Bytes of the arguments before the data.
    pub offset: usize,
    /// Bytes of data as announced, before padding; hold it against a limit before trusting it.
    pub len: u32,
}

impl WriteArgsHead<'_> {
    /// With this many bytes of the arguments the head is complete, whatever the handle.
    pub const MAX_WIRE_BYTES: usize = 4 + FHSIZE as usize + 8 + 4 + 4 + 4;

    /// Finds the data, given the arguments as far as they have arrived.
    ///
    /// [`Truncated`](hayase_xdr::Error::Truncated) means that more bytes are
    /// needed; any other error will not go away.
    pub fn data_span(args: &[u8]) -> Result<DataSpan> {
        let mut reader = Reader::new(args);
        let head = WriteArgsHead::decode(&mut reader)?;
        Ok(DataSpan { offset: args.len() - reader.rest().len(), len: head.data_len })
    }
}

/// What WRITE answers when it wrote (RFC 1813 §3.3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteResOk {
    /// The file before and after.
    pub file_wcc: WccData,
    /// Bytes written, which may be fewer than asked.
    pub count: u32,
    /// How safe they are: at least as safe as asked.
    pub committed: StableHow,
    /// Changes when unstable data may have been lost.
    pub verf: WriteVerf,
}

/// What WRITE answers (RFC 1813 §3.3.7).
pub type WriteRes = Res3<WriteResOk, WccData>;

/// COMMIT (RFC 1813 §3.3.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CommitArgs<'a> {
    /// The file.
    pub file: FileHandle<'a>,
    /// The first byte to make stable.
    pub offset: u64,
    /// Bytes to make stable; zero means to the end of the file.
    pub count: u32,
}

/// What COMMIT answers when all is stable (RFC 1813 §3.3.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CommitResOk {
    /// The file before and after.
    pub file_wcc: WccData,
    /// Must be the one of the WRITEs, or they have to be sent again.
    pub verf: WriteVerf,
}

/// What COMMIT answers (RFC 1813 §3.3.21).
pub type CommitRes = Res3<CommitResOk, WccData>;

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{Error, to_vec};

    #[test]
    fn the_data_is_found_as_soon_as_the_head_is_there() {
        for handle_len in [0, 1, 33, 64] {
            let handle = vec![7; handle_len];
            let args = WriteArgs {
                file: Opaque(&handle),
                offset: 1 << 33,
                count: 10,
                stable: StableHow::Unstable,
                data: Opaque(b"0123456789"),
            };
            let wire = to_vec(&args);
            let data_at = wire.len() - 12;
            assert!(data_at <= WriteArgsHead::MAX_WIRE_BYTES);
            for len in 0..data_at {
                assert_eq!(WriteArgsHead::data_span(&wire[..len]), Err(Error::Truncated));
            }
            for len in data_at..wire.len() {
                let span = WriteArgsHead::data_span(&wire[..len]);
                assert_eq!(span, Ok(DataSpan { offset: data_at, len: 10 }));
            }
        }
    }

    #[test]
    fn a_head_that_cannot_become_right_says_so() {
        let long_handle = [&[0, 0, 0, 65][..], &[0; 200]].concat();
        let error = Error::TooLong { len: 65, max: 64 };
        assert_eq!(WriteArgsHead::data_span(&long_handle), Err(error));
        let stable_3 = [0_u32, 0, 0, 0, 3, 0].map(u32::to_be_bytes).concat();
        assert_eq!(WriteArgsHead::data_span(&stable_3), Err(Error::UnknownValue(3)));
    }
}
