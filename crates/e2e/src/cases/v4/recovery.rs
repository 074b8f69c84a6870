//! Leases that run out, servers that crash, clients that die: who keeps what.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::super::Case;
use super::{TwoClients, at, short_lease, two_clients};
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::session::LockKind::{Flock, Process};
use crate::session::LockMode::{Exclusive, Unlocked};
use crate::session::{Errno, FileId, Open, Session, fails};
use crate::version::Version::{self, V40, V41, V42};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.crash_locks", "locks and open files outlive kill -9 of the server", locks),
    Case::new("v4.crash_grace", "grace is over when the only client has its state again", grace)
        .limit_secs(300),
    Case::new("v4.crash_fio", "fio under a lock goes on over kill -9; the lock is kept", fio)
        .needs(&["fio"])
        .limit_secs(600),
    Case::new("v4.idle", "two leases without a call, and two without a link, lose nothing", idle),
    Case::new("v4.dead_client", "a dead client's locks are free after its lease", dead),
];

const ALL: (u64, u64) = (0, 0);
/// Linux lets five seconds pass before it says that it is still there.
const LEASE_SECS: u32 = 6;

/// Fails unless somebody else has the lock.
fn taken(session: &Session, file: FileId, what: &str) -> Result<()> {
    fails(session.lock(file, Process, Exclusive, ALL), Errno::AGAIN, what)
}

/// What a client has of a file per version.
struct Held {
    version: Version,
    /// The one that has the lock.
    mine: FileId,
    /// The other client, with the file open.
    other: FileId,
    /// Open and removed.
    gone: FileId,
}

fn locks(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients } =
        two_clients(scene, Backing::Disk, short_lease(LEASE_SECS))?;
    let mut held = Vec::new();
    for version in Version::FOUR {
        let path = |name: &str| at(version, &format!("{version}-{name}"));
        let mine = a.create(path("locked"), 0o644)?;
        a.write(mine, 0, b"before")?;
        a.sync(mine)?;
        let other = b.open(path("locked"), Open::RDWR, 0)?;
        a.lock(mine, Process, Exclusive, (0, 100))?;
        a.lock(mine, Process, Exclusive, (200, 0))?;
        b.lock(other, Process, Exclusive, (100, 100))?;
        let gone = a.create(path("gone"), 0o644)?;
        a.write(gone, 0, b"unlinked")?;
        a.sync(gone)?;
        a.unlink(path("gone"))?;
        held.push(Held { version, mine, other, gone });
    }
    for crash in 0..scene.size(1, 4) {
        scene.kill_server()?;
        thread::sleep(Duration::from_millis(300));
        scene.restart_server()?;
        let begun = Instant::now();
        // All that have something must come and claim it before others get anything new.
        for Held { version, mine, other, .. } in &held {
            for (session, file) in [(&a, *mine), (&b, *other)] {
                session.write(file, 1000, b"x")?;
                session.sync(file).with_context(|| format!("{version}: writing after a crash"))?;
            }
        }
        scene.note(format!("all claimed {:?} after the restart", begun.elapsed()));
        for Held { version, mine, other, gone } in &held {
            let text = format!("crash{crash}");
            a.write(*mine, 0, text.as_bytes())?;
            a.sync(*mine)?;
            taken(&b, *other, &format!("{version}: the lock of the other after crash {crash}"))?;
            let mine_again = a.lock(*mine, Process, Exclusive, (100, 1));
            fails(mine_again, Errno::AGAIN, "the part that the other has locked")?;
            scene.note(format!("{version}: locks tried {:?} after the restart", begun.elapsed()));
            clients[0].drop_caches()?;
            same!(
                a.read(*mine, 0, text.len() as u32)?,
                text.as_bytes(),
                "{version}: the locked file"
            );
            // By its handle alone nothing finds a removed file: the client has kept its name.
            same!(a.read(*gone, 0, 100)?, b"unlinked", "{version}: the removed file");
        }
        ensure!(begun.elapsed() < Duration::from_secs(40), "recovery took {:?}", begun.elapsed());
    }
    for Held { mine, other, .. } in &held {
        a.lock(*mine, Process, Unlocked, ALL)?;
        b.lock(*other, Process, Exclusive, ALL)?;
    }
    Ok(())
}

fn grace(scene: &mut Scene) -> Result<()> {
    // The lease and grace of every day: a minute and a half.
    let begun = Instant::now();
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=4.2")?;
    let session = client.root()?;
    let file = session.create(format!("{MOUNT}/file"), 0o644)?;
    session.lock(file, Process, Exclusive, ALL)?;
    ensure!(begun.elapsed() < Duration::from_secs(20), "a first start has no grace");
    for round in 0..3 {
        scene.kill_server()?;
        scene.restart_server()?;
        let begun = Instant::now();
        session.write(file, 0, b"again")?;
        session.sync(file)?;
        session.put(format!("{MOUNT}/new{round}"), 0o644, b"x")?;
        let took = begun.elapsed();
        scene.note(format!("new files {took:?} after the restart"));
        ensure!(took < Duration::from_secs(20), "a new file took {took:?}");
    }
    // With nobody to wait for there is none: in good order, too.
    session.close(file)?;
    drop(session);
    client.unmount(MOUNT)?;
    thread::sleep(Duration::from_millis(500));
    scene.stop_server()?;
    scene.restart_server()?;
    let begun = Instant::now();
    client.mount("vers=4.1", &scene.path(), MOUNT)?;
    client.root()?.put(format!("{MOUNT}/last"), 0o644, b"x")?;
    ensure!(begun.elapsed() < Duration::from_secs(20), "grace for nobody: {:?}", begun.elapsed());
    client.unmount(MOUNT)?;
    thread::sleep(Duration::from_millis(500));
    // Version 4.0 has no word for being done; that it asks for new files shows it.
    client.mount("vers=4.0", &scene.path(), MOUNT)?;
    let session = client.root()?;
    let file = session.create(format!("{MOUNT}/old"), 0o644)?;
    session.lock(file, Process, Exclusive, ALL)?;
    scene.kill_server()?;
    scene.restart_server()?;
    let begun = Instant::now();
    session.put(format!("{MOUNT}/new"), 0o644, b"x")?;
    let took = begun.elapsed();
    scene.note(format!("4.0: a new file {took:?} after the restart"));
    ensure!(took < Duration::from_secs(40), "4.0: a new file took {took:?}");
    session.write(file, 0, b"mine")?;
    session.sync(file).context("4.0: writing under a lock that was claimed")
}

fn fio(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients } =
        two_clients(scene, Backing::Disk, short_lease(LEASE_SECS))?;
    let (mib, versions) = scene.size((24, &[V42][..]), (256, &Version::FOUR[..]));
    for version in versions {
        let directory = at(*version, "");
        let path = at(*version, &format!("lock-{version}"));
        let mine = a.create(&*path, 0o644)?;
        a.lock(mine, Flock, Exclusive, ALL)?;
        let other = b.open(&*path, Open::RDWR, 0)?;
        let name = format!("job-{version}");
        let common = format!("--name={name} --rw=randwrite --bs=16k --size={mib}M");
        let mut fio = clients[0].start(&format!(
            "fio {common} --directory={directory} --rate={}k --ioengine=libaio --direct=1 \
             --iodepth=8 --lockfile=readwrite --verify=crc32c --verify_fatal=1 --end_fsync=1",
            mib * 1024 / 4
        ))?;
        thread::sleep(Duration::from_millis(1500));
        ensure!(fio.is_running()?, "fio ended before the server was killed");
        scene.kill_server()?;
        thread::sleep(Duration::from_millis(500));
        scene.restart_server()?;
        fails(b.lock(other, Flock, Exclusive, ALL), Errno::AGAIN, "the lock after the restart")?;
        ensure!(fio.is_running()?, "fio ended too soon");
        fio.succeed(Duration::from_secs(120))?;
        scene.note(format!("{version}: fio went on and verified"));
        fails(b.lock(other, Flock, Exclusive, ALL), Errno::AGAIN, "the lock at the end")?;
        a.close(mine)?;
        b.lock(other, Flock, Exclusive, ALL)?;
        scene.host(&format!(
            "fio {common} --directory={} --verify=crc32c --verify_fatal=1 --verify_only",
            scene.path()
        ))?;
    }
    Ok(())
}

fn idle(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients } =
        two_clients(scene, Backing::Memory, short_lease(LEASE_SECS))?;
    let mut held = Vec::new();
    for version in Version::FOUR {
        let path = at(version, &format!("file-{version}"));
        let mine = a.create(&*path, 0o644)?;
        a.write(mine, 0, b"before")?;
        a.sync(mine)?;
        a.lock(mine, Process, Exclusive, (0, 100))?;
        let other = b.open(&*path, Open::RDWR, 0)?;
        b.lock(other, Process, Exclusive, (100, 100))?;
        held.push((version, mine, other));
    }
    // One has nothing to say, the other cannot. Nobody wants the lock of that one meanwhile, so
    // that it is kept longer than it must be.
    clients[0].set_link(false)?;
    thread::sleep(Duration::from_secs(u64::from(LEASE_SECS) * 2 + 1));
    clients[0].set_link(true)?;
    for (version, mine, other) in &held {
        a.write(*mine, 0, b"after-")?;
        a.sync(*mine).with_context(|| format!("{version}: writing after two leases alone"))?;
        scene.note(format!("{version}: the one that was away goes on"));
        let tried = b.lock(*other, Process, Exclusive, (0, 100));
        fails(tried, Errno::AGAIN, &format!("{version}: the lock of one that was away"))?;
        let tried = a.lock(*mine, Process, Exclusive, (100, 100));
        fails(tried, Errno::AGAIN, &format!("{version}: the lock of one that was idle"))?;
        b.write(*other, 6, b"idle")?;
        b.sync(*other).with_context(|| format!("{version}: writing after two idle leases"))?;
        let found = fs::read(scene.directory().join(format!("file-{version}")))?;
        same!(found, b"after-idle", "{version}: the file after all");
    }
    Ok(())
}

fn dead(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients: [dying, _living] } =
        two_clients(scene, Backing::Memory, short_lease(LEASE_SECS))?;
    let mut wanted = Vec::new();
    for version in [V40, V41, V42] {
        let path = at(version, &format!("file-{version}"));
        let mine = a.create(&*path, 0o644)?;
        a.write(mine, 0, b"acknowledged")?;
        a.sync(mine)?;
        a.lock(mine, Process, Exclusive, ALL)?;
        let other = b.open(&*path, Open::RDWR, 0)?;
        taken(&b, other, &format!("{version}: the lock before the client dies"))?;
        wanted.push((version, other));
    }
    drop(a);
    drop(dying);
    let begun = Instant::now();
    let lease = Duration::from_secs(u64::from(LEASE_SECS));
    for (version, other) in wanted {
        until(lease + Duration::from_secs(5), "the dead client's lock is free", || {
            let tried = b.lock(other, Process, Exclusive, ALL);
            let free = tried.is_ok();
            if !free {
                fails(tried, Errno::AGAIN, "the dead client's lock")?;
            }
            Ok(free)
        })?;
        let after = begun.elapsed();
        scene.note(format!("{version}: free {after:?} after the client's death"));
        ensure!(after > lease / 2, "{version}: the lock was taken from a client with a lease");
        same!(b.read(other, 0, 100)?, b"acknowledged", "{version}: what the dead client wrote");
    }
    Ok(())
}
