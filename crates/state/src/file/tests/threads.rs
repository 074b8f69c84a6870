//! Many threads at once: nothing waits for ever, and nothing is left over.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::ClientId;
use crate::file::testing::{Bench, Random, WRITE, bytes, file, open_args};
use crate::file::{
    ByteRange, Change, Delegation, LockArgs, LockBy, Offer, OpenArgs, Share, Want, WantKind,
};

const THREADS: u64 = 8;

/// One client opens, locks, and gives delegations back, in the way of all others.
fn work(bench: &Bench, client: ClientId, seed: u64, delays: &AtomicUsize) {
    let (state, now) = (&bench.world.state, bench.world.now);
    let (mut random, mut effects) = (Random::new(seed), Vec::new());
    for _ in 0..2000 {
        let at = file(random.below(3) as u32);
        if let Some(grant) = state.delegation_of(client, &at) {
            state.delegreturn(now, Some(client), &grant.stateid, &at, &mut effects).unwrap();
        }
        let share = random.pick(&[Share::READ, Share::BOTH, Share::WRITE.denying(true, false)]);
        let want = Want { kind: WantKind::Any, ..Want::default() };
        let args = OpenArgs { want, offer: Offer::any(1), ..open_args(client, "o", at, share) };
        let Ok(opened) = state.open(now, &args, &mut effects) else {
            delays.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let stateid = opened.stateid.unwrap();
        let args = LockArgs {
            client: Some(client),
            file: at,
            by: LockBy::Open { stateid, client, owner: b"l", seqid: 0 },
            bytes: bytes(random.below(20), 5),
            kind: WRITE,
            reclaim: false,
        };
        match state.lock(now, &args, &mut effects) {
            Ok(grant) if random.below(3) == 0 => state.lock_undo(now, &grant.undo, &mut effects),
            Ok(grant) => {
                let all = ByteRange::ALL;
                state.unlock(now, Some(client), &grant.stateid, &at, all, &mut effects).unwrap();
            }
            Err(_) => drop(delays.fetch_add(1, Ordering::Relaxed)),
        }
        let _ = state.change(now, Some(client), &at, Change::Attributes, &mut effects);
        let _ = state.locked(&at, ByteRange::ALL);
        state.close(now, Some(client), &stateid, &at, &mut effects).unwrap();
        if let Delegation::Granted(grant) = opened.delegation {
            state.delegreturn(now, Some(client), &grant.stateid, &at, &mut effects).unwrap();
        }
        effects.clear();
    }
}

#[test]
fn many_threads_leave_nothing_behind() {
    // Invariant: short locks in one order, none held across anything that waits.
    let mut bench = Bench::new();
    let clients: Vec<ClientId> =
        (0..THREADS).map(|n| bench.client(&format!("client {n}"))).collect();
    let delays = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (seed, client) in (1..).zip(&clients) {
            let (bench, delays) = (&bench, &delays);
            scope.spawn(move || work(bench, *client, seed, delays));
        }
    });
    bench.assert_nothing_is_left();
    assert!(delays.into_inner() > 0);
    for client in clients {
        assert!(!bench.world.client(client).held.has_state());
    }
}

#[test]
fn a_client_can_be_forgotten_while_it_works() {
    // Invariant: what is closed gains nothing, however late the request that would add it.
    for seed in 1..20 {
        let mut bench = Bench::new();
        let id = bench.client("a");
        let client = bench.world.client(id);
        let (state, now) = (&bench.world.state, bench.world.now);
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let mut random = Random::new(seed * 10 + thread);
                    loop {
                        let owner = format!("owner {}", random.below(1000));
                        let at = file(random.below(50) as u32);
                        let args = open_args(id, &owner, at, Share::READ);
                        if state.open(now, &args, &mut Vec::new()).is_err() {
                            return;
                        }
                    }
                });
            }
            let client = &client;
            scope.spawn(move || {
                while state.file_counts().opens < 100 {
                    thread::yield_now();
                }
                state.purge(client, now, &mut Vec::new());
            });
        });
        bench.assert_nothing_is_left();
    }
}
