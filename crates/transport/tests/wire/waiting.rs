//! Calls that have to wait, and those that do not have to wait for them.

use crate::lab::{Lab, fragment, limits};

#[test]
fn a_call_on_a_worker_holds_up_no_other() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    peer.send(b"park");
    lab.actor.wait_parked(1);
    for number in 0..100 {
        let call = format!("call {number}");
        assert_eq!(peer.ask(call.as_bytes()), call.as_bytes());
        assert_eq!(peer.ask(b"work"), b"work", "the other worker is free");
    }
    lab.actor.open_gate();
    assert_eq!(peer.receive(), b"park");
}

#[test]
fn records_of_every_kind_can_be_handed_over() {
    let lab = Lab::new(limits());
    let mut peer = lab.connect();
    let large = [&b"work"[..], &vec![3; 60_000]].concat();
    assert_eq!(peer.ask(b"work small"), b"work small");
    assert!(peer.ask(&large) == large);
    peer.raw(&[fragment(false, b"wo"), fragment(true, b"rk")].concat());
    assert_eq!(peer.receive(), b"work");
    peer.raw(&[fragment(false, &large[..10]), fragment(true, &large[10..])].concat());
    assert!(peer.receive() == large);
}

#[test]
fn every_call_is_answered_once_whichever_way_it_went() {
    let lab = Lab::new(limits());
    std::thread::scope(|scope| {
        for connection in 0..4 {
            let lab = &lab;
            scope.spawn(move || {
                let mut peer = lab.connect();
                let call = |number: usize| {
                    let action = if number.is_multiple_of(3) { "work" } else { "call" };
                    format!("{action} {connection} {number:06}").into_bytes()
                };
                let stream: Vec<u8> = (0..2000).flat_map(|n| fragment(true, &call(n))).collect();
                let mut sender = peer.0.try_clone().unwrap();
                std::thread::scope(|scope| {
                    scope.spawn(move || std::io::Write::write_all(&mut sender, &stream).unwrap());
                    let mut replies: Vec<_> = (0..2000).map(|_| peer.receive()).collect();
                    let mut expected: Vec<_> = (0..2000).map(call).collect();
                    replies.sort();
                    expected.sort();
                    assert!(replies == expected);
                });
            });
        }
    });
}
