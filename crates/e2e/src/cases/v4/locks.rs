//! Locks that two clients, and programs beside the server, want of the same file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::super::Case;
use super::{TwoClients, at, two_clients};
use crate::scene::{Backing, Scale, Scene};
use crate::server::Setup;
use crate::session::{Errno, FileId, LockKind, LockMode, Open, Session, fails};
use crate::version::Version::{V40, V41, V42};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.locks", "ranges, modes, and whom closing a file unlocks for", conflicts),
    Case::new("v4.locks_awaited", "who waits for a lock gets it soon after it is free", awaited),
    Case::new("v4.locks_append", "two clients append under a lock and lose nothing", append),
    Case::new(
        "v4.locks_local",
        "clients and programs beside the server keep each other out",
        local,
    ),
];

use LockKind::{Flock, Open as OpenFile, Process};
use LockMode::{Exclusive, Shared, Unlocked};

/// All of a file.
pub(in crate::cases) const ALL: (u64, u64) = (0, 0);

pub(in crate::cases) fn refused(result: Result<()>, what: &str) -> Result<()> {
    fails(result, Errno::AGAIN, what)
}

fn conflicts(scene: &mut Scene) -> Result<()> {
    let clients = two_clients(scene, Backing::Memory, Setup::default())?;
    // The lock is the file's, whatever each speaks.
    for (mine, other) in [(V40, V40), (V41, V41), (V42, V42), (V40, V42)] {
        let TwoClients { sessions: [a, b], .. } = &clients;
        let name = format!("{mine}-{other}");
        a.put(at(mine, &name), 0o644, b"content")?;
        let open = |session: &Session, version| session.open(at(version, &name), Open::RDWR, 0);
        let (mine, other) = (open(a, mine)?, open(b, other)?);
        ranges(a, mine, b, other).with_context(|| format!("{name}: ranges"))?;
        for kind in [Process, OpenFile, Flock] {
            whole(a, mine, b, other, kind).with_context(|| format!("{name}: {kind:?}"))?;
        }
        a.close(mine)?;
        b.close(other)?;
        scene.note(name);
    }
    Ok(())
}

/// Parts of a file, by `fcntl(2)`.
pub(in crate::cases) fn ranges(
    a: &Session,
    mine: FileId,
    b: &Session,
    other: FileId,
) -> Result<()> {
    a.lock(mine, Process, Exclusive, (100, 100))?;
    for range in [(100, 100), (0, 101), (199, 1), (150, 0), ALL] {
        refused(b.lock(other, Process, Exclusive, range), &format!("to write {range:?}"))?;
        refused(b.lock(other, Process, Shared, range), &format!("to read {range:?}"))?;
        ensure!(b.is_locked(other, Shared, range)?, "F_GETLK sees no lock in {range:?}");
    }
    for range in [(0, 100), (200, 0)] {
        ensure!(!b.is_locked(other, Exclusive, range)?, "F_GETLK sees a lock in {range:?}");
        b.lock(other, Process, Exclusive, range)?;
    }
    refused(a.lock(mine, Process, Exclusive, ALL), "all of it, beside the other's")?;
    b.lock(other, Process, Unlocked, ALL)?;

    // A hole in the middle: one lock becomes two.
    a.lock(mine, Process, Unlocked, (140, 20))?;
    b.lock(other, Process, Exclusive, (140, 20))?;
    refused(b.lock(other, Process, Exclusive, (139, 1)), "before the hole")?;
    refused(b.lock(other, Process, Exclusive, (160, 1)), "after the hole")?;
    b.lock(other, Process, Unlocked, ALL)?;

    // From writing to reading, and back when the other is out of the way.
    a.lock(mine, Process, Shared, (100, 100))?;
    b.lock(other, Process, Shared, (0, 0))?;
    refused(a.lock(mine, Process, Exclusive, (120, 1)), "one of two readers wants to write")?;
    b.lock(other, Process, Unlocked, ALL)?;
    a.lock(mine, Process, Exclusive, (100, 100))?;

    // The last byte there can be.
    let last = (i64::MAX as u64, 1);
    a.lock(mine, Process, Exclusive, last)?;
    refused(b.lock(other, Process, Exclusive, last), "the last byte")?;
    a.lock(mine, Process, Unlocked, ALL)?;
    b.lock(other, Process, Exclusive, ALL)?;
    b.lock(other, Process, Unlocked, ALL)
}

/// All of a file, by each system call.
pub(in crate::cases) fn whole(
    a: &Session,
    mine: FileId,
    b: &Session,
    other: FileId,
    kind: LockKind,
) -> Result<()> {
    a.lock(mine, kind, Exclusive, ALL)?;
    refused(b.lock(other, kind, Exclusive, ALL), "to write")?;
    refused(b.lock(other, kind, Shared, ALL), "to read")?;
    a.lock(mine, kind, Unlocked, ALL)?;
    b.lock(other, kind, Shared, ALL)?;
    a.lock(mine, kind, Shared, ALL)?;
    refused(a.lock(mine, kind, Exclusive, ALL), "one of two readers wants to write")?;
    // flock(2) drops a lock that it cannot change.
    b.lock(other, kind, Unlocked, ALL)?;
    a.lock(mine, kind, Exclusive, ALL)?;
    a.lock(mine, kind, Unlocked, ALL)
}

/// Waits for a lock in a thread of its own; how long after `release` it came.
pub(in crate::cases) fn wait_until_released(
    waiter: &Session,
    file: FileId,
    kind: LockKind,
    release: impl FnOnce() -> Result<()>,
) -> Result<Duration> {
    let got = AtomicBool::new(false);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let outcome = waiter.await_lock(file, kind, Exclusive, ALL);
            got.store(true, Ordering::Relaxed);
            outcome.map(|()| Instant::now())
        });
        thread::sleep(Duration::from_millis(300));
        let early = got.load(Ordering::Relaxed);
        let released = Instant::now();
        let release = release();
        let taken = waiting.join().ok().context("the waiting thread broke")?;
        release?;
        ensure!(!early, "{kind:?}: the lock was given to two at once, or refused: {taken:?}");
        Ok(taken?.duration_since(released))
    })
}

fn awaited(scene: &mut Scene) -> Result<()> {
    let clients = two_clients(scene, Backing::Memory, Setup::default())?;
    for version in [V40, V41, V42] {
        let TwoClients { sessions: [a, b], clients: [holder, _] } = &clients;
        let path = at(version, &format!("awaited-{version}"));
        a.put(&*path, 0o644, b"content")?;
        let open = |session: &Session| session.open(&*path, Open::RDWR, 0);
        let (mine, other) = (open(a)?, open(b)?);
        // A client of 4.0 asks again, at longer and longer intervals; later ones are told.
        let limit = Duration::from_secs(if version == V40 { 8 } else { 3 });
        for kind in [Process, Flock] {
            a.lock(mine, kind, Exclusive, ALL)?;
            let after = wait_until_released(b, other, kind, || a.lock(mine, kind, Unlocked, ALL))?;
            scene.note(format!("{version} {kind:?}: unlocked, taken after {after:?}"));
            ensure!(after < limit, "{version} {kind:?}: taken {after:?} after it was free");
            refused(a.lock(mine, kind, Exclusive, ALL), "the lock that the other waited for")?;
            b.lock(other, kind, Unlocked, ALL)?;
        }
        // The end of the process that has it frees it, too.
        let program = holder.root()?;
        let held = program.open(&*path, Open::RDWR, 0)?;
        program.lock(held, Process, Exclusive, ALL)?;
        let after = wait_until_released(b, other, Process, || {
            drop(program);
            Ok(())
        })?;
        scene.note(format!("{version}: process ended, taken after {after:?}"));
        ensure!(after < limit, "{version}: taken {after:?} after the process ended");
        b.lock(other, Process, Unlocked, ALL)?;
        a.close(mine)?;
        b.close(other)?;
    }
    Ok(())
}

fn append(scene: &mut Scene) -> Result<()> {
    let clients = two_clients(scene, Backing::Memory, Setup::default())?;
    let rounds = scene.size(40, 400);
    for (version, kind) in [(V40, Process), (V41, Flock), (V42, Process)] {
        let name = format!("log-{version}");
        let path = at(version, &name);
        clients.sessions[0].put(&*path, 0o644, b"")?;
        let write = |session: &Session, who: char| -> Result<()> {
            let file = session.open(&*path, Open::RDWR | Open::APPEND, 0)?;
            for round in 0..rounds {
                let begun = Instant::now();
                while let Err(error) = session.lock(file, kind, Exclusive, ALL) {
                    fails::<()>(Err(error), Errno::AGAIN, "taking the lock")?;
                    ensure!(begun.elapsed() < Duration::from_secs(30), "the lock is never free");
                    thread::sleep(Duration::from_millis(2));
                }
                let line = format!("{who} {round} {}\n", "x".repeat(round * 131 % 3000));
                session.append(file, line.as_bytes())?;
                session.lock(file, kind, Unlocked, ALL)?;
            }
            session.close(file)
        };
        let [a, b] = &clients.sessions;
        thread::scope(|scope| {
            let other = scope.spawn(|| write(b, 'b'));
            let mine = write(a, 'a');
            mine.and(other.join().ok().context("the other client's thread broke")?)
        })?;
        let found = std::fs::read_to_string(scene.directory().join(&name))?;
        same!(found.lines().count(), 2 * rounds, "{version} {kind:?}: lines of both");
        for who in ['a', 'b'] {
            let mut lines = found.lines().filter(|line| line.starts_with(who));
            for round in 0..rounds {
                let wanted = format!("{who} {round} {}", "x".repeat(round * 131 % 3000));
                same!(lines.next(), Some(wanted.as_str()), "{version} {kind:?}: line {round}");
            }
        }
        scene.note(format!("{version} {kind:?}: {} lines", 2 * rounds));
    }
    Ok(())
}

fn local(scene: &mut Scene) -> Result<()> {
    let clients = two_clients(scene, Backing::Memory, Setup::default())?;
    let [client, _] = &clients.sessions;
    let program = scene.local_session()?;
    for version in [V40, V41, V42] {
        let name = format!("local-{version}");
        client.put(at(version, &name), 0o644, b"content")?;
        let theirs = client.open(at(version, &name), Open::RDWR, 0)?;
        let local = scene.directory().join(&name).display().to_string();
        let ours = program.open(&*local, Open::RDWR, 0)?;
        for kind in [Process, OpenFile] {
            client.lock(theirs, Process, Exclusive, (10, 10))?;
            refused(program.lock(ours, kind, Exclusive, ALL), "a local program, the client's lock")
                .with_context(|| format!("{version} {kind:?}"))?;
            program.lock(ours, kind, Exclusive, (20, 0))?;
            refused(client.lock(theirs, Process, Shared, (25, 1)), "the client, a program's lock")
                .with_context(|| format!("{version} {kind:?}"))?;
            program.lock(ours, kind, Unlocked, ALL)?;
            client.lock(theirs, Process, Exclusive, ALL)?;
            client.lock(theirs, Process, Unlocked, (0, 30))?;
            program.lock(ours, kind, Exclusive, (0, 30))?;
            refused(program.lock(ours, kind, Exclusive, (30, 1)), "what the client kept")?;
            program.lock(ours, kind, Unlocked, ALL)?;
            client.lock(theirs, Process, Unlocked, ALL)?;
        }
        client.close(theirs)?;
        if scene.scale() == Scale::Quick && version != V40 {
            continue;
        }
        // A client that waits for a local program's lock gets it in the end; from version 4.1 on
        // it relies on being told, and asks by itself only every half minute.
        let theirs = client.open(at(version, &name), Open::RDWR, 0)?;
        program.lock(ours, OpenFile, Exclusive, ALL)?;
        let after = wait_until_released(client, theirs, Process, || {
            program.lock(ours, OpenFile, Unlocked, ALL)
        })?;
        scene.note(format!("{version}: taken {after:?} after a local program dropped it"));
        ensure!(after < Duration::from_secs(40), "taken only after {after:?}");
        client.close(theirs)?;
        program.lock(ours, OpenFile, Exclusive, ALL)?;
        program.close(ours)?;
    }
    Ok(())
}
