//! The shape of every NFSv3 result.

use hayase_xdr::{Decode, Encode, Reader, Result};

use super::Status;

/// The status word of a call that succeeded.
const OK: u32 = 0;

/// A result: the status, then the body of its arm. Both arms carry data
/// (RFC 1813 §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Res3<T, F> {
    /// `NFS3_OK` and the result (`resok`).
    Ok(T),
    /// Why not, and what the client can still learn (`resfail`).
    Fail(Status, F),
}

impl<T, F> Res3<T, F> {
    /// The status, if the call failed.
    pub fn status(&self) -> Option<Status> {
        match self {
            Res3::Ok(_) => None,
            Res3::Fail(status, _) => Some(*status),
        }
    }

    /// For callers that only need what succeeded.
    pub fn ok(self) -> std::result::Result<T, Status> {
        match self {
            Res3::Ok(body) => Ok(body),
            Res3::Fail(status, _) => Err(status),
        }
    }
}

impl<T, F> From<std::result::Result<T, (Status, F)>> for Res3<T, F> {
    fn from(result: std::result::Result<T, (Status, F)>) -> Self {
        match result {
            Ok(body) => Res3::Ok(body),
            Err((status, body)) => Res3::Fail(status, body),
        }
    }
}

impl<T, F> From<Res3<T, F>> for std::result::Result<T, (Status, F)> {
    fn from(res: Res3<T, F>) -> Self {
        match res {
            Res3::Ok(body) => Ok(body),
            Res3::Fail(status, body) => Err((status, body)),
        }
    }
}

impl<'a, T: Decode<'a>, F: Decode<'a>> Decode<'a> for Res3<T, F> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(match from.word()? {
            OK => Res3::Ok(T::decode(from)?),
            status => Res3::Fail(Status::try_from(status)?, F::decode(from)?),
        })
    }
}

impl<T: Encode, F: Encode> Encode for Res3<T, F> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Res3::Ok(body) => {
                OK.encode(to);
                body.encode(to);
            }
            Res3::Fail(status, body) => {
                status.encode(to);
                body.encode(to);
            }
        }
    }
}
