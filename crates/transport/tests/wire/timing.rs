//! Calls that ask how long they take.

use std::time::{Duration, Instant};

use hayase_rpc::{
    ASKING_STAMP, AuthSysArgs, CallHeader, OpaqueAuth, Timing, decode_reply, encode_call, flavor,
};
use hayase_xdr::{Array, Opaque, Reader, to_vec};

use crate::lab::{DISK_TIME, Lab, fragment, limits};

/// A call whose xid says what is to become of it.
fn call(action: [u8; 4], stamp: u32) -> Vec<u8> {
    let machine_name = Opaque(&b"client"[..]);
    let body = to_vec(&AuthSysArgs { stamp, machine_name, uid: 0, gid: 0, gids: Array(vec![]) });
    let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&body) };
    let xid = u32::from_be_bytes(action);
    let mut bytes = Vec::new();
    let header = CallHeader { xid, prog: 1, vers: 1, proc: 1, cred, verf: OpaqueAuth::NONE };
    encode_call(&header, &mut bytes);
    bytes
}

/// The timing in an accepted reply, and what follows the header.
fn opened(reply: &[u8]) -> (Option<Timing>, &[u8]) {
    let mut reader = Reader::new(reply);
    assert!(decode_reply(&mut reader).unwrap().1.is_ok());
    (Timing::of_reply(reply), reader.rest())
}

#[test]
fn who_asks_is_told_and_nobody_else() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    for action in [b"fast", b"disk"] {
        assert_eq!(opened(&peer.ask(&call(*action, 0))), (None, &b"result"[..]));
        let asked = Instant::now();
        let reply = peer.ask(&call(*action, ASKING_STAMP));
        let (timing, result) = opened(&reply);
        let Timing { queued, served, disk } = timing.unwrap();
        assert_eq!(result, b"result");
        assert!(queued + served + disk <= asked.elapsed());
        if action == b"disk" {
            assert!(disk >= DISK_TIME, "{disk:?}");
        } else {
            assert_eq!(disk, Duration::ZERO);
        }
    }
}

#[test]
fn waiting_for_a_worker_is_told() {
    let lab = Lab::with_threads(limits(), 1);
    let mut peer = lab.connect();
    peer.raw(&[&call(*b"disk", ASKING_STAMP)[..]; 2].map(|call| fragment(true, call)).concat());
    let first = peer.receive();
    let second = peer.receive();
    let (first, second) = (opened(&first).0.unwrap(), opened(&second).0.unwrap());
    assert!(second.queued >= DISK_TIME && second.queued >= first.queued, "{first:?} {second:?}");
}

#[test]
fn a_payload_stays_where_it_belongs() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let calls = [call(*b"data", ASKING_STAMP), call(*b"fast", 0), call(*b"data", ASKING_STAMP)];
    peer.raw(&calls.map(|call| fragment(true, &call)).concat());
    for result in [&b"result with xxx"[..], b"result", b"result with xxx"] {
        assert_eq!(opened(&peer.receive()).1, result);
    }
}
