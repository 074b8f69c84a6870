//! Records: pipelined, large, in fragments, however the stream is cut (RFC 5531 §11).

use std::time::Duration;

use crate::lab::{Lab, Random, fragment, limits};

/// A record of this length whose bytes can be told apart.
fn record(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[test]
fn pipelined_calls_are_answered_in_their_order() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let call = |number: usize| format!("call number {number}").into_bytes();
    let all: Vec<u8> = (0..5000).flat_map(|number| fragment(true, &call(number))).collect();
    let mut sender = peer.0.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut sender, &all).unwrap());
        for number in 0..5000 {
            assert_eq!(peer.receive(), call(number));
        }
    });
}

#[test]
fn a_record_of_any_length_arrives() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let lens = [0, 1, 2, 3, 4, 5, 996, 999, 1000, 1001, 1004, 1023, 1024, 1025, 4096, 65_531];
    for len in lens.into_iter().chain([65_532, 65_533, 65_536, 70_000, 99_999, 100_000]) {
        assert!(peer.ask(&record(len)) == record(len), "{len} bytes");
    }
    // And all of them at once.
    for len in lens {
        peer.send(&record(len));
    }
    for len in lens {
        assert!(peer.receive() == record(len), "{len} bytes");
    }
}

#[test]
fn a_record_in_fragments_arrives_whatever_the_split() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let whole = record(12);
    for first in 0..=12 {
        for second in first..=12 {
            let parts = [&whole[..first], &whole[first..second], &whole[second..]];
            for (number, part) in parts.into_iter().enumerate() {
                peer.raw(&fragment(number == 2, part));
            }
            assert_eq!(peer.receive(), whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn any_records_in_any_fragments_in_any_segments_arrive() {
    let lab = Lab::new(limits());
    for seed in 1..=20 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..40 {
            let most = [10, 100, 1100, 5000, 100_000][random.below(5)];
            let whole = record(random.below(most + 1));
            let mut rest = &whole[..];
            while random.below(3) != 0 {
                let (part, after) = rest.split_at(random.below(rest.len() + 1));
                stream.extend(fragment(false, part));
                rest = after;
            }
            stream.extend(fragment(true, rest));
            expected.push(whole);
        }
        let mut peer = lab.connect();
        let mut sender = peer.0.try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut rest = &stream[..];
                while !rest.is_empty() {
                    let most = [1, 7, 100, 3000, 70_000][random.below(5)];
                    let (now, later) = rest.split_at(rest.len().min(1 + random.below(most)));
                    std::io::Write::write_all(&mut sender, now).unwrap();
                    if random.below(20) == 0 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    rest = later;
                }
            });
            for whole in expected {
                assert!(peer.receive() == whole, "seed {seed}: a record of {} bytes", whole.len());
            }
        });
    }
}

#[test]
fn bytes_that_come_one_by_one_are_enough() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let stream = [
        fragment(true, b"one"),
        fragment(false, b"t"),
        fragment(false, b""),
        fragment(true, b"wo"),
        fragment(true, b""),
        fragment(true, b"three"),
    ]
    .concat();
    for byte in stream {
        peer.raw(&[byte]);
        std::thread::sleep(Duration::from_millis(1));
    }
    for expected in [&b"one"[..], b"two", b"", b"three"] {
        assert_eq!(peer.receive(), expected);
    }
}

#[test]
fn thousands_of_tiny_fragmented_records_at_once_need_no_stack() {
    // Each was handled inside the handling of the one before it: 64 KiB of them overflowed the
    // stack of a shard, and so ended the server.
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let one = [fragment(false, b"a"), fragment(true, b"b")].concat();
    let all = one.repeat(100_000);
    let mut sender = peer.0.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut sender, &all).unwrap());
        for _ in 0..100_000 {
            assert_eq!(peer.receive(), b"ab");
        }
    });
}

#[test]
fn large_records_wait_for_a_buffer_and_all_arrive() {
    let lab = Lab::new(limits());
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let mut peer = lab.connect();
                for len in [90_000, 5000, 100_000] {
                    assert!(peer.ask(&record(len)) == record(len));
                    for part in record(len).chunks(30_000) {
                        peer.raw(&fragment(false, part));
                    }
                    peer.raw(&fragment(true, b""));
                    assert!(peer.receive() == record(len));
                }
            });
        }
    });
}
