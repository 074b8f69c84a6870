//! Reply headers (RFC 5531 §9).

use hayase_xdr::{Decode, Encode, Error, Reader, Result};

use crate::{OpaqueAuth, RPC_VERSION};

const REPLY: u32 = 1;
const MSG_ACCEPTED: u32 = 0;
const MSG_DENIED: u32 = 1;

/// Why authentication failed (`auth_stat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AuthStat {
    /// The credential cannot be read.
    BadCred = 1,
    /// The flavor is not taken here at all.
    RejectedCred = 2,
    /// The verifier cannot be read or is not the one the flavor wants.
    BadVerf = 3,
    /// The flavor is too weak for what is asked.
    TooWeak = 5,
}

/// Every way to answer a call other than with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The program is not served here.
    ProgUnavail,
    /// The program is served, in other versions.
    ProgMismatch {
        /// Lowest version served.
        low: u32,
        /// Highest version served.
        high: u32,
    },
    /// The program has no such procedure.
    ProcUnavail,
    /// The arguments cannot be decoded.
    GarbageArgs,
    /// Something failed on our side that the protocol has no status for.
    SystemErr,
    /// Not RPC version 2.
    RpcMismatch,
    /// The credential does not do.
    Auth(AuthStat),
}

/// Appends the header of a successful reply; the result follows.
pub fn accept(xid: u32, to: &mut Vec<u8>) {
    accepted(xid, 0, to);
}

/// Appends a whole reply that refuses the call.
pub fn refuse(xid: u32, why: Refusal, to: &mut Vec<u8>) {
    match why {
        Refusal::ProgUnavail => accepted(xid, 1, to),
        Refusal::ProgMismatch { low, high } => {
            accepted(xid, 2, to);
            low.encode(to);
            high.encode(to);
        }
        Refusal::ProcUnavail => accepted(xid, 3, to),
        Refusal::GarbageArgs => accepted(xid, 4, to),
        Refusal::SystemErr => accepted(xid, 5, to),
        Refusal::RpcMismatch => denied(xid, &[0, RPC_VERSION, RPC_VERSION], to),
        Refusal::Auth(stat) => denied(xid, &[1, stat as u32], to),
    }
}

fn accepted(xid: u32, accept_stat: u32, to: &mut Vec<u8>) {
    let words = [xid, REPLY, MSG_ACCEPTED, 0, 0, accept_stat]; // 0, 0: an AUTH_NONE verifier
    for word in words {
        word.encode(to);
    }
}

fn denied(xid: u32, body: &[u32], to: &mut Vec<u8>) {
    for word in [xid, REPLY, MSG_DENIED].iter().chain(body) {
        word.encode(to);
    }
}

/// Reads a reply header and leaves `from` at the result, if there is one.
/// The number is the call's xid.
pub fn decode_reply(from: &mut Reader<'_>) -> Result<(u32, std::result::Result<(), Refusal>)> {
    let xid = from.word()?;
    match from.word()? {
        REPLY => {}
        other => return Err(Error::UnknownValue(other)),
    }
    let outcome = match from.word()? {
        MSG_ACCEPTED => {
            OpaqueAuth::decode(from)?;
            match from.word()? {
                0 => Ok(()),
                1 => Err(Refusal::ProgUnavail),
                2 => Err(Refusal::ProgMismatch { low: from.word()?, high: from.word()? }),
                3 => Err(Refusal::ProcUnavail),
                4 => Err(Refusal::GarbageArgs),
                5 => Err(Refusal::SystemErr),
                other => return Err(Error::UnknownValue(other)),
            }
        }
        MSG_DENIED => Err(match (from.word()?, from.word()?) {
            (0, _low) => {
                let _high = from.word()?;
                Refusal::RpcMismatch
            }
            (1, 1) => Refusal::Auth(AuthStat::BadCred),
            (1, 3) => Refusal::Auth(AuthStat::BadVerf),
            (1, 5) => Refusal::Auth(AuthStat::TooWeak),
            (1, _) => Refusal::Auth(AuthStat::RejectedCred),
            (other, _) => return Err(Error::UnknownValue(other)),
        }),
        other => return Err(Error::UnknownValue(other)),
    };
    Ok((xid, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_back_as_they_were_written() {
        let refusals = [
            Refusal::ProgUnavail,
            Refusal::ProgMismatch { low: 3, high: 4 },
            Refusal::ProcUnavail,
            Refusal::GarbageArgs,
            Refusal::SystemErr,
            Refusal::RpcMismatch,
            Refusal::Auth(AuthStat::BadCred),
            Refusal::Auth(AuthStat::RejectedCred),
            Refusal::Auth(AuthStat::BadVerf),
            Refusal::Auth(AuthStat::TooWeak),
        ];
        for why in refusals {
            let mut wire = Vec::new();
            refuse(5, why, &mut wire);
            let mut reader = Reader::new(&wire);
            assert_eq!(decode_reply(&mut reader), Ok((5, Err(why))));
            // The highest version of a mismatch was left.
            assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    fn bytes_are_as_the_rfc_draws_them() {
        let mut wire = Vec::new();
        accept(0x0102_0304, &mut wire);
        let words = [0x0102_0304_u32, 1, 0, 0, 0, 0];
        assert_eq!(wire, words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<_>>());
        wire.clear();
        refuse(9, Refusal::RpcMismatch, &mut wire);
        let words = [9_u32, 1, 1, 0, 2, 2];
        assert_eq!(wire, words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<_>>());
    }
}
