//! Call headers (RFC 5531 §9).

use hayase_xdr::{Decode, Encode, Reader};

use crate::{AuthStat, OpaqueAuth, RPC_VERSION, Refusal};

const CALL: u32 = 0;

/// The header of a call, up to its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHeader<'a> {
    /// Pairs the reply with the call; a re-sent call keeps it.
    pub xid: u32,
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// Procedure number.
    pub proc: u32,
    /// Who calls.
    pub cred: OpaqueAuth<'a>,
    /// Proof of it.
    pub verf: OpaqueAuth<'a>,
}

/// Why a record is no call that can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotACall {
    /// Too short for a header, or not a call: nothing can be answered, so close the connection.
    Garbage,
    /// A call to be answered with this refusal.
    Refused {
        /// The call's transaction id.
        xid: u32,
        /// What to answer.
        why: Refusal,
    },
}

impl<'a> CallHeader<'a> {
    /// Reads a header and leaves `from` at the arguments.
    pub fn decode(from: &mut Reader<'a>) -> Result<Self, NotACall> {
        let xid = from.word().map_err(|_| NotACall::Garbage)?;
        if from.word() != Ok(CALL) {
            return Err(NotACall::Garbage);
        }
        let refused = |why| NotACall::Refused { xid, why };
        let mut word = || from.word().map_err(|_| NotACall::Garbage);
        if word()? != RPC_VERSION {
            return Err(refused(Refusal::RpcMismatch));
        }
        let (prog, vers, proc) = (word()?, word()?, word()?);
        let cred =
            OpaqueAuth::decode(from).map_err(|_| refused(Refusal::Auth(AuthStat::BadCred)))?;
        let verf =
            OpaqueAuth::decode(from).map_err(|_| refused(Refusal::Auth(AuthStat::BadVerf)))?;
        Ok(CallHeader { xid, prog, vers, proc, cred, verf })
    }
}

/// Appends a call header; the arguments follow.
pub fn encode_call(header: &CallHeader<'_>, to: &mut Vec<u8>) {
    for word in [header.xid, CALL, RPC_VERSION, header.prog, header.vers, header.proc] {
        word.encode(to);
    }
    header.cred.encode(to);
    header.verf.encode(to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::Opaque;

    fn header() -> CallHeader<'static> {
        CallHeader {
            xid: 7,
            prog: 100_003,
            vers: 3,
            proc: 1,
            cred: OpaqueAuth { flavor: 1, body: Opaque(b"body") },
            verf: OpaqueAuth::NONE,
        }
    }

    fn wire() -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_call(&header(), &mut bytes);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<CallHeader<'_>, NotACall> {
        CallHeader::decode(&mut Reader::new(bytes))
    }

    #[test]
    fn a_header_survives_the_wire() {
        assert_eq!(decode(&wire()), Ok(header()));
    }

    #[test]
    fn cut_headers_are_garbage_or_refused_by_what_is_missing() {
        let wire = wire();
        for len in 0..24 {
            assert_eq!(decode(&wire[..len]), Err(NotACall::Garbage), "cut at {len}");
        }
        let refused = |stat| Err(NotACall::Refused { xid: 7, why: Refusal::Auth(stat) });
        assert_eq!(decode(&wire[..30]), refused(AuthStat::BadCred));
        assert_eq!(decode(&wire[..40]), refused(AuthStat::BadVerf));
    }

    #[test]
    fn a_credential_over_400_bytes_is_refused() {
        let mut wire = wire();
        wire[28..32].copy_from_slice(&401_u32.to_be_bytes());
        wire.resize(2000, 0);
        let why = Refusal::Auth(AuthStat::BadCred);
        assert_eq!(decode(&wire), Err(NotACall::Refused { xid: 7, why }));
    }

    #[test]
    fn other_rpc_versions_are_refused_by_name() {
        let mut wire = wire();
        wire[11] = 3;
        assert_eq!(decode(&wire), Err(NotACall::Refused { xid: 7, why: Refusal::RpcMismatch }));
    }

    #[test]
    fn a_reply_is_not_a_call() {
        let mut wire = wire();
        wire[7] = 1;
        assert_eq!(decode(&wire), Err(NotACall::Garbage));
    }
}
