//! How long a server took, told to who asks for it: an extension of our own.
//!
//! A client asks with a certain [stamp](ASKING_STAMP) in its `AUTH_SYS` credential, which means
//! nothing to other servers (RFC 5531 appendix A: "arbitrary"). Who is asked and knows of it answers
//! in the body of the reply's `AUTH_NONE` verifier, which is empty otherwise.

use std::time::Duration;

use crate::flavor;

/// The stamp of an `AUTH_SYS` credential that asks for a [`Timing`].
pub const ASKING_STAMP: u32 = 0x4861_5469; // "HaTi"

/// Bytes of a verifier with a timing.
pub const TIMING_BYTES: usize = 24;

/// Where a call has the flavor of its credential (RFC 5531 §9) …
const FLAVOR_AT: usize = 24;
/// … and the stamp within it.
const STAMP_AT: usize = FLAVOR_AT + 8;
/// Where a reply says whether it was accepted …
const DENIED_AT: usize = 8;
/// … and has its verifier: flavor, length, body.
const VERIFIER_AT: usize = 12;
/// Flavor and length of one with a timing.
const ANNOUNCED: [u8; 8] = [0, 0, 0, flavor::AUTH_NONE as u8, 0, 0, 0, TIMING_BYTES as u8];

/// Where a server's time for a call went. What it does not know, such as how long a call waited in a
/// socket before it was received, is in none of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From when the call was received until work on it began.
    pub queued: Duration,
    /// From then until the reply was encoded, without `disk`.
    pub served: Duration,
    /// Waiting for disks.
    pub disk: Duration,
}

/// Whether a call, without record mark, asks for a timing.
pub fn asks_for_timing(call: &[u8]) -> bool {
    call.get(STAMP_AT..STAMP_AT + 4) == Some(&ASKING_STAMP.to_be_bytes())
        && call.get(FLAVOR_AT..FLAVOR_AT + 4) == Some(&flavor::AUTH_SYS.to_be_bytes())
}

impl Timing {
    /// As the body of a verifier: the three in this order, in ns.
    pub fn to_bytes(self) -> [u8; TIMING_BYTES] {
        let mut bytes = [0; TIMING_BYTES];
        let parts = [self.queued, self.served, self.disk];
        for (to, part) in bytes.chunks_exact_mut(8).zip(parts) {
            let nanos = u64::try_from(part.as_nanos()).unwrap_or(u64::MAX);
            to.copy_from_slice(&nanos.to_be_bytes());
        }
        bytes
    }

    /// Reads it from a reply, without record mark; `None` if there is none in it.
    pub fn of_reply(reply: &[u8]) -> Option<Self> {
        let verifier = reply.get(VERIFIER_AT..VERIFIER_AT + 8 + TIMING_BYTES)?;
        let (announced, body) = verifier.split_at(8);
        if reply[DENIED_AT..DENIED_AT + 4] != [0; 4] || announced != ANNOUNCED {
            return None;
        }
        let part = |at: usize| {
            let mut nanos = [0; 8];
            nanos.copy_from_slice(&body[at..at + 8]);
            Duration::from_nanos(u64::from_be_bytes(nanos))
        };
        Some(Timing { queued: part(0), served: part(8), disk: part(16) })
    }
}

/// Announces a timing in a reply, without record mark; answers where in it the bytes have to be put.
/// `None`, and nothing is changed, if the reply has no empty verifier to put it in, as when the call was denied.
pub fn announce_timing(reply: &mut [u8]) -> Option<usize> {
    if reply.get(DENIED_AT..DENIED_AT + 4)? != [0; 4] {
        return None;
    }
    let verifier = reply.get_mut(VERIFIER_AT..VERIFIER_AT + 8)?;
    if verifier != [0; 8] {
        return None;
    }
    verifier.copy_from_slice(&ANNOUNCED);
    Some(VERIFIER_AT + 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AuthStat, AuthSysArgs, CallHeader, OpaqueAuth, Refusal, accept, decode_reply, encode_call,
        refuse,
    };
    use hayase_xdr::{Array, Opaque, Reader, to_vec};

    fn call(stamp: u32, flavor: u32) -> Vec<u8> {
        let machine_name = Opaque(&b"client"[..]);
        let body =
            to_vec(&AuthSysArgs { stamp, machine_name, uid: 0, gid: 0, gids: Array(vec![]) });
        let cred = OpaqueAuth { flavor, body: Opaque(&body) };
        let mut bytes = Vec::new();
        let (xid, prog, vers, proc) = (1, 100_003, 3, 1);
        let header = CallHeader { xid, prog, vers, proc, cred, verf: OpaqueAuth::NONE };
        encode_call(&header, &mut bytes);
        bytes
    }

    #[test]
    fn only_the_stamp_of_auth_sys_asks() {
        let asking = call(ASKING_STAMP, flavor::AUTH_SYS);
        assert!(asks_for_timing(&asking));
        assert!(!asks_for_timing(&call(0, flavor::AUTH_SYS)));
        assert!(!asks_for_timing(&call(ASKING_STAMP, flavor::RPCSEC_GSS)));
        for len in 0..STAMP_AT + 4 {
            assert!(!asks_for_timing(&asking[..len]), "cut at {len}");
        }
    }

    #[test]
    fn a_timing_travels_in_the_verifier_and_the_result_follows() {
        let timing = Timing {
            queued: Duration::from_nanos(1),
            served: Duration::from_micros(2),
            disk: Duration::from_secs(3),
        };
        let mut reply = Vec::new();
        accept(7, &mut reply);
        reply.extend_from_slice(b"rest");
        let at = announce_timing(&mut reply).unwrap();
        reply.splice(at..at, timing.to_bytes());
        let mut reader = Reader::new(&reply);
        assert_eq!(decode_reply(&mut reader), Ok((7, Ok(()))));
        assert_eq!(reader.rest(), b"rest");
        assert_eq!(Timing::of_reply(&reply), Some(timing));
        assert_eq!(announce_timing(&mut reply), None, "it has one");
        for len in 0..VERIFIER_AT + 8 + TIMING_BYTES {
            assert_eq!(Timing::of_reply(&reply[..len]), None, "cut at {len}");
        }
        let mut plain = Vec::new();
        accept(7, &mut plain);
        plain.extend_from_slice(&[0; 64]);
        assert_eq!(Timing::of_reply(&plain), None);
    }

    #[test]
    fn what_was_denied_or_is_too_short_is_left_alone() {
        let mut denied = Vec::new();
        refuse(7, Refusal::Auth(AuthStat::BadCred), &mut denied);
        let before = denied.clone();
        assert_eq!(announce_timing(&mut denied), None);
        assert_eq!(denied, before);
        let mut reply = Vec::new();
        accept(7, &mut reply);
        for len in 0..VERIFIER_AT + 8 {
            assert_eq!(announce_timing(&mut reply[..len].to_vec()), None, "cut at {len}");
        }
    }
}
