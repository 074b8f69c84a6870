//! Stopping: what was begun is finished, what was not is not.

use std::time::{Duration, Instant};

use crate::lab::{Lab, PATIENCE, limits};

#[test]
fn calls_that_were_begun_are_answered_before_the_server_stops() {
    let mut lab = Lab::new(limits());
    // Two, so that each shard has one.
    let mut idle = [lab.connect(), lab.connect()];
    for peer in &mut idle {
        assert_eq!(peer.ask(b"hello"), b"hello");
    }
    let mut waiting = lab.connect();
    waiting.send(b"park");
    lab.actor.wait_parked(1);
    let transport = lab.transport.take().unwrap();
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| transport.stop(PATIENCE));
        for peer in &mut idle {
            peer.is_closed();
        }
        // What comes now is not run any more.
        waiting.send(b"too late");
        lab.actor.open_gate();
        assert_eq!(waiting.receive(), b"park");
        waiting.is_closed();
        assert!(stopped.join().unwrap());
    });
    assert!(std::net::TcpStream::connect(lab.address).is_err(), "nobody listens any more");
}

#[test]
fn large_replies_are_sent_to_their_end() {
    // Closing with unread calls reset the connection, and what the kernel had not sent was lost.
    let mut lab = Lab::new(limits());
    let mut peer = lab.connect();
    for _ in 0..8 {
        peer.send(&[&b"load"[..], &(1_u32 << 20).to_be_bytes()].concat());
    }
    assert_eq!(peer.receive().len(), 4 + (1 << 20));
    let transport = lab.transport.take().unwrap();
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| transport.stop(PATIENCE));
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut peer.0, &mut rest).unwrap();
        assert_eq!(rest.len() % (8 + (1 << 20)), 0, "replies are whole");
        assert!(stopped.join().unwrap());
    });
}

#[test]
fn calls_that_come_too_late_cost_no_reply_that_is_on_its_way() {
    // They reset the connection once it was closed, and the client's kernel dropped what it had.
    let mut lab = Lab::new(limits());
    let mut peer = lab.connect();
    assert_eq!(peer.ask(b"hello"), b"hello");
    let transport = lab.transport.take().unwrap();
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| transport.stop(PATIENCE));
        // The end is seen first, and answered with more calls.
        let mut end = [0];
        assert_eq!(std::io::Read::read(&mut peer.0, &mut end).unwrap(), 0);
        for _ in 0..10 {
            peer.send(b"too late");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(std::io::Read::read(&mut peer.0, &mut end).unwrap(), 0, "not reset");
        drop(peer);
        assert!(stopped.join().unwrap());
    });
}

#[test]
fn a_peer_that_does_not_hang_up_is_not_waited_for_long() {
    let mut lab = Lab::new(limits());
    let mut peer = lab.connect();
    assert_eq!(peer.ask(b"hello"), b"hello");
    assert!(lab.transport.take().unwrap().stop(PATIENCE));
    drop(peer);
}

#[test]
fn patience_ends() {
    let mut lab = Lab::new(limits());
    let mut peer = lab.connect();
    peer.send(b"park");
    lab.actor.wait_parked(1);
    let began = Instant::now();
    assert!(!lab.transport.take().unwrap().stop(Duration::from_millis(100)));
    assert!(began.elapsed() < PATIENCE);
    lab.actor.open_gate();
    assert_eq!(peer.receive(), b"park");
}

#[test]
fn a_server_without_connections_stops_at_once() {
    let mut lab = Lab::new(limits());
    assert!(lab.transport.take().unwrap().stop(PATIENCE));
}

#[test]
fn a_pulse_is_felt_while_the_shards_run() {
    let mut lab = Lab::new(limits());
    let mut waiting = lab.connect();
    waiting.send(b"park");
    lab.actor.wait_parked(1);
    let transport = lab.transport.take().unwrap();
    let pulse = transport.pulse();
    assert!(pulse(PATIENCE), "a worker that waits does not count");
    lab.actor.open_gate();
    assert_eq!(waiting.receive(), b"park");
    assert!(transport.stop(PATIENCE));
    assert!(!pulse(Duration::from_millis(10)));
}
