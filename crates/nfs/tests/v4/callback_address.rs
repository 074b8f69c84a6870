//! Where clients of NFSv4.0 are called back (RFC 7530 §16.33).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hayase_mem::MemFs;
use hayase_nfs::{Dialer, Replied, Setup};

use crate::common::{Client, Lab, args};
use crate::ops::{op, ops, run_as};

/// Notes who would be called.
#[derive(Clone, Default)]
struct Called(Arc<Mutex<Vec<SocketAddr>>>);

impl Dialer for Called {
    fn call(&self, address: SocketAddr, _: Vec<u8>, replied: Replied) {
        self.0.lock().unwrap().push(address);
        replied(None);
    }
}

/// Who is called when a client at an address asks to be called at another.
fn called(from: &str, netid: &str, addr: &str) -> Vec<SocketAddr> {
    let called = Called::default();
    let setup = Setup { dialer: Box::new(called.clone()), ..Setup::default() };
    let lab = Lab::set_up("/srv *(rw,insecure)", MemFs::new, setup);
    let client = Client::new(&lab, from).with_user(0, 0, &[]);
    let introduction = args().raw(b"verifier").opaque("name");
    let introduction = introduction.word(0x4000_0000).opaque(netid).opaque(addr).word(1);
    let mut results = run_as(&client, 0, &ops().op(op::SETCLIENTID, &introduction));
    let confirm = results.ok(op::SETCLIENTID).take(16).to_vec();
    results.end();
    run_as(&client, 0, &ops().op(op::SETCLIENTID_CONFIRM, &args().raw(&confirm)))
        .ok(op::SETCLIENTID_CONFIRM);
    for _ in 0..3 {
        lab.service.tick();
    }
    let mut called = called.0.lock().unwrap().clone();
    called.dedup();
    called
}

/// Nobody has the server connect to third parties.
#[test]
fn a_client_is_called_where_it_calls_from() {
    let own: SocketAddr = "192.0.2.1:2049".parse().unwrap();
    assert_eq!(called("192.0.2.1:700", "tcp", "192.0.2.1.8.1"), [own]);
    // Its connection may be one of IPv6 that carries IPv4.
    assert_eq!(called("[::ffff:192.0.2.1]:700", "tcp", "192.0.2.1.8.1"), [own]);
    let six: SocketAddr = "[2001:db8::1]:2049".parse().unwrap();
    assert_eq!(called("[2001:db8::1]:700", "tcp6", "2001:db8::1.8.1"), [six]);
    for (netid, addr) in [
        ("tcp", "192.0.2.9.8.1"),
        ("tcp", "127.0.0.1.0.22"),
        ("tcp6", "2001:db8::1.8.1"),
        ("tcp", "0.0.0.0.0.0"),
        ("tcp", "nowhere"),
        ("tcp", ""),
        ("udp", "192.0.2.1.8.1"),
    ] {
        assert_eq!(called("192.0.2.1:700", netid, addr), [], "{netid} {addr}");
    }
}
