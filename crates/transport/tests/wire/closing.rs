//! How connections end.

use std::time::{Duration, Instant};

use crate::lab::{Lab, eventually, fragment, limits};

/// Well below the time after which idle connections are closed.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_peer_that_has_said_everything_gets_every_answer_and_then_the_end() {
    // When the end came together with the last call, the server did not notice it, and the
    // connection stayed until it had been idle for six minutes.
    let lab = Lab::new(limits());
    for count in [0, 1, 2, 50] {
        let began = Instant::now();
        let mut peer = lab.connect();
        peer.raw(&fragment(true, b"call").repeat(count));
        peer.finish();
        for _ in 0..count {
            assert_eq!(peer.receive(), b"call");
        }
        peer.is_closed();
        assert!(began.elapsed() < SOON);
    }
    eventually("all are gone", || lab.connections() == 0);
}

#[test]
fn an_end_that_comes_later_is_noticed_too() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    assert_eq!(peer.ask(b"call"), b"call");
    peer.finish();
    peer.is_closed();
    let mut peer = lab.connect();
    peer.send(b"call");
    drop(peer);
    eventually("both are gone", || lab.connections() == 0);
}

#[test]
fn calls_on_the_workers_are_answered_before_the_end() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    peer.raw(&[fragment(true, b"park"), fragment(true, b"work"), fragment(true, b"now")].concat());
    peer.finish();
    let mut early = vec![peer.receive(), peer.receive()];
    early.sort();
    assert_eq!(early, [&b"now"[..], b"work"]);
    lab.actor.open_gate();
    assert_eq!(peer.receive(), b"park");
    peer.is_closed();
}

#[test]
fn an_end_inside_a_record_is_an_end() {
    let lab = Lab::new(limits());
    for begun in [
        vec![0x80],
        fragment(true, b"record")[..7].to_vec(),
        fragment(true, &vec![0; 50_000])[..20_000].to_vec(),
        fragment(false, b"record"),
        [fragment(false, b"record"), vec![0x80]].concat(),
    ] {
        let mut peer = lab.connect();
        peer.raw(&begun);
        peer.finish();
        peer.is_closed();
    }
    eventually("all are gone", || lab.connections() == 0);
}

#[test]
fn a_connection_that_vanishes_takes_nothing_with_it() {
    let lab = Lab::new(limits());
    for _ in 0..20 {
        let mut peer = lab.connect();
        peer.send(b"park");
        peer.send(&[&b"load"[..], &(1_u32 << 20).to_be_bytes()].concat());
        drop(peer); // with unread data, so it is a reset
    }
    lab.is_alive();
    lab.actor.open_gate();
    eventually("all are gone", || lab.connections() == 0);
    lab.is_alive();
}

#[test]
fn the_service_may_close_a_connection() {
    let lab = Lab::new(limits());
    for record in [&b"quit"[..], b"drop"] {
        let mut peer = lab.connect();
        assert_eq!(peer.ask(b"hello"), b"hello");
        peer.send(record);
        peer.is_closed();
    }
    lab.is_alive();
}

#[test]
fn no_reply_is_no_bytes() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    peer.raw(&[fragment(true, b"mute"), fragment(true, b"call"), fragment(true, b"mute")].concat());
    assert_eq!(peer.receive(), b"call");
    peer.finish();
    peer.is_closed();
}

#[test]
fn a_panic_of_the_service_costs_its_connection_only() {
    let lab = Lab::new(limits());
    let mut witness = lab.connect();
    assert_eq!(witness.ask(b"before"), b"before");
    for _ in 0..5 {
        for record in [&b"boom"[..], b"bomb"] {
            let mut peer = lab.connect();
            assert_eq!(peer.ask(b"hello"), b"hello");
            peer.send(record);
            peer.is_closed();
        }
        assert_eq!(witness.ask(b"during"), b"during");
        assert_eq!(witness.ask(b"work on workers"), b"work on workers");
    }
    eventually("the others are gone", || lab.connections() == 1);
}
