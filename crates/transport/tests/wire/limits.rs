//! What peers cannot make the server hold or endure.

use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hayase_transport::Limits;

use crate::lab::{Lab, PATIENCE, eventually, fragment, limits};

#[test]
fn a_record_longer_than_any_closes_the_connection() {
    let lab = Lab::new(limits());
    for stream in [
        0x8001_86a1_u32.to_be_bytes().to_vec(), // 100,001 bytes
        0x0001_86a1_u32.to_be_bytes().to_vec(),
        u32::MAX.to_be_bytes().to_vec(),
        0x7fff_ffff_u32.to_be_bytes().to_vec(),
        [fragment(false, &vec![0; 60_000]), fragment(true, &vec![0; 40_001])[..4].to_vec()]
            .concat(),
        [fragment(false, &[0; 500]), 0xffff_ffff_u32.to_be_bytes().to_vec()].concat(),
        [fragment(true, b""), u32::MAX.to_be_bytes().to_vec()].concat()[4..].to_vec(),
    ] {
        let mut peer = lab.connect();
        peer.raw(&stream);
        peer.is_closed();
    }
    lab.is_alive();
}

#[test]
fn a_record_before_one_that_is_too_long_is_answered() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    peer.send(b"first");
    assert_eq!(peer.receive(), b"first");
    peer.raw(&u32::MAX.to_be_bytes());
    peer.is_closed();
}

/// Sends records until the server takes no more for a while; answers how many bytes it took.
fn flood(peer: &mut std::net::TcpStream, record: &[u8]) -> usize {
    let stream = fragment(true, record).repeat(1 + 1_000_000 / (record.len() + 4));
    peer.set_write_timeout(Some(Duration::from_millis(700))).unwrap();
    let (mut at, mut taken) = (0, 0);
    loop {
        match peer.write(&stream[at..]) {
            Ok(len) => {
                taken += len;
                at = (at + len) % stream.len();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return taken;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(taken < 1 << 30, "the server takes everything and answers nobody");
    }
}

/// What the kernel may hold between the two ends, with much to spare.
const SOCKET_BUFFERS: usize = 16 << 20;

#[test]
fn a_client_that_reads_nothing_is_read_no_further() {
    let bounds = Limits { unsent_bytes: 64 << 10, ..limits() };
    let lab = Lab::new(bounds.clone());
    let mut slow = lab.connect();
    let record = [7; 900];
    let taken = flood(&mut slow.0, &record);
    let calls = lab.actor.calls.load(Ordering::SeqCst);
    assert!(calls * record.len() < SOCKET_BUFFERS + bounds.unsent_bytes, "{calls} calls were run");
    assert_eq!(lab.actor.calls.load(Ordering::SeqCst), calls, "and more are run");
    lab.is_alive();
    // When it reads, it gets every answer, in order.
    let whole = taken / (record.len() + 4);
    for _ in 0..whole {
        assert_eq!(slow.receive(), record);
    }
}

#[test]
fn replies_with_payloads_have_a_bound_too() {
    let bounds = Limits { unsent_payload_bytes: 2 << 20, ..limits() };
    let lab = Lab::new(bounds.clone());
    let mut slow = lab.connect();
    let record = [&b"load"[..], &(1_u32 << 20).to_be_bytes()].concat();
    flood(&mut slow.0, &record);
    let calls = lab.actor.calls.load(Ordering::SeqCst);
    let most = (SOCKET_BUFFERS + bounds.unsent_payload_bytes) >> 20;
    assert!(calls <= most + 1, "{calls} payloads of a MiB are held");
    lab.is_alive();
    for _ in 0..calls {
        let reply = slow.receive();
        assert_eq!(reply.len(), 4 + (1 << 20));
        assert!(reply.starts_with(b"loadxxxx"));
    }
}

#[test]
fn calls_in_flight_have_a_bound() {
    let bounds = Limits { calls_in_flight: 3, ..limits() };
    let lab = Lab::with_threads(bounds, 8);
    let mut peer = lab.connect();
    for _ in 0..20 {
        peer.send(b"park");
    }
    lab.actor.wait_parked(3);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(lab.actor.parked.load(Ordering::SeqCst), 3);
    lab.is_alive();
    lab.actor.open_gate();
    for _ in 0..20 {
        assert_eq!(peer.receive(), b"park");
    }
    assert!(lab.actor.most_parked.load(Ordering::SeqCst) <= 3);
}

#[test]
fn a_full_queue_of_the_workers_holds_back_those_who_want_more() {
    let bounds = Limits { queued_jobs: 2, ..limits() };
    let lab = Lab::with_threads(bounds, 1);
    let mut peers: Vec<_> = (0..6).map(|_| lab.connect()).collect();
    let large = [&b"park"[..], &vec![1; 50_000]].concat();
    for peer in &mut peers {
        peer.send(b"park");
        peer.raw(&[fragment(false, b"pa"), fragment(true, b"rk")].concat());
    }
    // Large ones hold their buffers while they wait; there are two.
    for peer in &mut peers[..2] {
        let mut stream = peer.0.try_clone().unwrap();
        stream.write_all(&fragment(true, &large)).unwrap();
    }
    lab.actor.wait_parked(1);
    lab.is_alive();
    lab.actor.open_gate();
    for (number, peer) in peers.iter_mut().enumerate() {
        let mut replies = vec![peer.receive(), peer.receive()];
        if number < 2 {
            replies.push(peer.receive());
        }
        replies.sort_by_key(Vec::len);
        assert_eq!(replies[..2], [b"park", b"park"]);
        assert!(number >= 2 || replies[2] == large);
    }
}

#[test]
fn connections_have_a_limit() {
    let lab = Lab::new(Limits { connections: 3, ..limits() });
    let mut open: Vec<_> = (0..3).map(|_| lab.connect()).collect();
    for peer in &mut open {
        assert_eq!(peer.ask(b"hello"), b"hello");
    }
    lab.connect().is_closed();
    assert_eq!(lab.connections(), 3);
    open.pop();
    eventually("the place is free", || lab.connections() == 2);
    lab.is_alive();
}

#[test]
fn idle_and_stalled_connections_are_closed_and_busy_ones_are_not() {
    let bounds = Limits {
        idle: Duration::from_secs(8),
        stalled: Duration::from_secs(2),
        unsent_bytes: 64 << 10,
        ..limits()
    };
    let lab = Lab::new(bounds);
    let began = Instant::now();
    let mut idle = lab.connect();
    assert_eq!(idle.ask(b"hello"), b"hello");
    let mut in_mark = lab.connect();
    in_mark.raw(&[0x80, 0]);
    let mut in_record = lab.connect();
    in_record.raw(&fragment(true, b"half a record")[..9]);
    let mut in_large = lab.connect();
    in_large.raw(&fragment(true, &vec![0; 50_000])[..30_000]);
    let mut in_fragments = lab.connect();
    in_fragments.raw(&fragment(false, b"begun"));
    let mut deaf = lab.connect();
    flood(&mut deaf.0, &[7; 900]);
    let mut busy = lab.connect();
    busy.send(b"park");
    for stalled in [&mut in_mark, &mut in_record, &mut in_large, &mut in_fragments] {
        stalled.is_closed();
    }
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert!(began.elapsed() < PATIENCE);
    // Whoever did not read finds what was on its way, and then the end.
    let mut rest = Vec::new();
    let _ = deaf.0.read_to_end(&mut rest);
    idle.is_closed();
    assert!(began.elapsed() >= Duration::from_secs(8));
    eventually("only the busy one is left", || lab.connections() == 1);
    lab.actor.open_gate();
    assert_eq!(busy.receive(), b"park");
}
