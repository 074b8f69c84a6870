//! Locks of version 3, by the lock manager: two clients, version 4, and programs beside the server.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Case;
use super::v4::locks::{ALL, ranges, refused, wait_until_released, whole};
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;
use crate::session::{FileId, LockKind, LockMode, Open, Session};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("locks.conflicts", "v3, v4 and local programs keep each other out", conflicts),
    Case::new("locks.awaited", "who waits for a lock is called when it is free", awaited),
    Case::new("locks.rebooted", "a client that was restarted holds nothing any more", rebooted),
    Case::new("locks.statd", "the same where this host's own rpc.statd is told", statd),
    Case::new("locks.reclaimed", "a restarted server gives locks back to who held them", reclaimed),
];

use LockKind::{Flock, Open as OpenFile, Process};
use LockMode::{Exclusive, Shared, Unlocked};

/// Where version 4 is mounted beside.
const MOUNT_4: &str = "/mnt/nfs4";

fn open(session: &Session, mount: &str, name: &str) -> Result<FileId> {
    session.open(format!("{mount}/{name}"), Open::RDWR, 0)
}

/// Two clients with locks, and a session of root's on each.
fn two(scene: &mut Scene, setup: Setup) -> Result<([Client; 2], [Session; 2])> {
    let clients = scene.ordinary_two(Backing::Memory, setup, "vers=3")?;
    let sessions = [clients[0].root()?, clients[1].root()?];
    Ok((clients, sessions))
}

fn conflicts(scene: &mut Scene) -> Result<()> {
    let (clients, [a, b]) = two(scene, Setup::default())?;
    clients[1].mount("vers=4.2", &scene.path(), MOUNT_4)?;
    a.put(format!("{MOUNT}/file"), 0o644, b"content")?;
    let mine = open(&a, MOUNT, "file")?;
    for mount in [MOUNT, MOUNT_4] {
        let other = open(&b, mount, "file")?;
        ranges(&a, mine, &b, other).with_context(|| format!("{mount}: ranges"))?;
        for kind in [Process, OpenFile, Flock] {
            whole(&a, mine, &b, other, kind).with_context(|| format!("{mount}: {kind:?}"))?;
        }
        b.close(other)?;
        scene.note(mount);
    }

    let program = scene.local_session()?;
    let local = scene.directory().join("file").display().to_string();
    let ours = program.open(&*local, Open::RDWR, 0)?;
    for kind in [Process, OpenFile] {
        a.lock(mine, Process, Exclusive, (10, 10))?;
        refused(program.lock(ours, kind, Exclusive, ALL), "a local program, the client's lock")?;
        program.lock(ours, kind, Exclusive, (20, 0))?;
        refused(a.lock(mine, Process, Shared, (25, 1)), "the client, a program's lock")?;
        ensure!(a.is_locked(mine, Shared, (25, 1))?, "F_GETLK does not see a program's lock");
        program.lock(ours, kind, Unlocked, ALL)?;
        a.lock(mine, Process, Exclusive, ALL)?;
        a.lock(mine, Process, Unlocked, ALL)?;
    }

    // Who may lock: as exports(5) has it, who may read.
    a.put(format!("{MOUNT}/private"), 0o600, b"content")?;
    a.lock(open(&a, MOUNT, "private")?, Process, Exclusive, ALL)?;
    a.lock(mine, Process, Exclusive, (5, 10))?;
    let listed = scene.ask_server("locks")?;
    let locks = listed["entries"].as_array().context("a list of locks")?;
    let of_client = locks.iter().filter(|lock| lock["client"] == clients[0].address().to_string());
    same!(of_client.count(), 2, "locks that the server lists of the client");
    a.close(mine)?;
    Ok(())
}

fn awaited(scene: &mut Scene) -> Result<()> {
    let (clients, [a, b]) = two(scene, Setup::default())?;
    clients[0].mount("vers=4.2", &scene.path(), MOUNT_4)?;
    a.put(format!("{MOUNT}/file"), 0o644, b"content")?;
    let (mine, other) = (open(&a, MOUNT, "file")?, open(&b, MOUNT, "file")?);
    // A client that is not called asks by itself only after half a minute.
    let limit = Duration::from_secs(4);
    let soon = |what: &str, after: Duration| {
        ensure!(after < limit, "{what}: taken {after:?} after it was free");
        Ok(())
    };
    for kind in [Process, Flock] {
        a.lock(mine, kind, Exclusive, ALL)?;
        let after = wait_until_released(&b, other, kind, || a.lock(mine, kind, Unlocked, ALL))?;
        scene.note(format!("{kind:?}: unlocked, taken after {after:?}"));
        soon("version 3", after)?;
        refused(a.lock(mine, kind, Exclusive, ALL), "the lock that the other waited for")?;
        b.lock(other, kind, Unlocked, ALL)?;
    }
    let mine = open(&a, MOUNT_4, "file")?;
    a.lock(mine, Process, Exclusive, ALL)?;
    let after = wait_until_released(&b, other, Process, || a.lock(mine, Process, Unlocked, ALL))?;
    soon("version 4", after)?;
    b.lock(other, Process, Unlocked, ALL)?;

    let program = scene.local_session()?;
    let local = scene.directory().join("file").display().to_string();
    let ours = program.open(&*local, Open::RDWR, 0)?;
    program.lock(ours, OpenFile, Exclusive, ALL)?;
    let release = || program.lock(ours, OpenFile, Unlocked, ALL);
    soon("a local program", wait_until_released(&b, other, Process, release)?)?;

    // One that gives up is not given the lock behind its back.
    let path = format!("{MOUNT}/file");
    clients[0].run(&format!("timeout 2 flock -x {path} true"))?;
    b.lock(other, Process, Unlocked, ALL)?;
    thread::sleep(Duration::from_secs(1));
    b.lock(other, Process, Exclusive, ALL)
}

fn rebooted(scene: &mut Scene) -> Result<()> {
    let ([first, _second], [a, b]) = two(scene, Setup::default())?;
    a.put(format!("{MOUNT}/file"), 0o644, b"content")?;
    let (mine, other) = (open(&a, MOUNT, "file")?, open(&b, MOUNT, "file")?);
    a.lock(mine, Process, Exclusive, (0, 10))?;
    b.lock(other, Process, Exclusive, (100, 10))?;
    // What its start scripts do after a restart: it tells whom its status monitor knows. A guest's
    // state would not survive a restart, so that there would be nobody to tell.
    first.check("sm-notify -f")?;
    let limit = Duration::from_secs(20);
    crate::scene::until(limit, "the restarted client's locks go", || {
        Ok(b.lock(other, Process, Exclusive, (0, 10)).is_ok())
    })?;
    refused(a.lock(mine, Process, Exclusive, (100, 10)), "the other's lock stays")?;

    // One that is gone without a word keeps its locks, until somebody else says so.
    a.lock(mine, Process, Exclusive, (200, 10))?;
    let address = first.address();
    drop(first);
    thread::sleep(Duration::from_millis(500));
    refused(b.lock(other, Process, Exclusive, (200, 10)), "a lock of a client that is gone")?;
    let unlocked = scene.ask_server(&format!("unlock --client {address}"))?;
    same!(unlocked["owners"], 1, "owners whose locks were released");
    b.lock(other, Process, Exclusive, (200, 10))
}

fn statd(scene: &mut Scene) -> Result<()> {
    scene.host(
        "mkdir -p /run/rpcbind nsm/sm nsm/sm.bak && rpcbind -w && rpc.statd --no-notify -P \
         /run/e2e/nsm",
    )?;
    let (clients, [a, b]) = two(scene, Setup::default())?;
    let registered = scene.host("rpcinfo -p 127.0.0.1")?;
    let ours = |line: &&str| line.contains(" 2049 ");
    same!(
        registered.lines().filter(ours).filter(|line| line.contains("status")).count(),
        0,
        "status"
    );
    ensure!(registered.lines().filter(ours).any(|line| line.contains("nlockmgr")), "{registered}");
    a.put(format!("{MOUNT}/file"), 0o644, b"content")?;
    let (mine, other) = (open(&a, MOUNT, "file")?, open(&b, MOUNT, "file")?);
    a.lock(mine, Process, Exclusive, (0, 10))?;
    let limit = Duration::from_secs(20);
    let name = clients[0].address().to_string();
    crate::scene::until(limit, "rpc.statd watches the client", || {
        Ok(scene.host("ls nsm/sm")?.contains(&name))
    })?;
    clients[0].check("sm-notify -f")?;
    crate::scene::until(limit, "the restarted client's locks go", || {
        Ok(b.lock(other, Process, Exclusive, (0, 10)).is_ok())
    })
}

fn reclaimed(scene: &mut Scene) -> Result<()> {
    let arguments = ["--lease-secs", "20", "--grace-secs", "6"].map(str::to_owned).to_vec();
    let (clients, [a, b]) = two(scene, Setup { arguments, ..Setup::default() })?;
    a.put(format!("{MOUNT}/file"), 0o644, b"content")?;
    let (mine, other) = (open(&a, MOUNT, "file")?, open(&b, MOUNT, "file")?);
    a.lock(mine, Process, Exclusive, (0, 10))?;
    a.lock(mine, Process, Shared, (50, 10))?;
    // Its client's address is the only thing that is left of it.
    scene.kill_server()?;
    scene.restart_server()?;
    // Whoever asks for the lock in grace waits, and gets it no more then.
    refused(b.lock(other, Process, Exclusive, (0, 10)), "what was claimed")?;
    refused(b.lock(other, Process, Exclusive, (50, 10)), "what was claimed to read")?;
    b.lock(other, Process, Exclusive, (100, 10))?;
    let listed = scene.ask_server("locks")?;
    let locks = listed["entries"].as_array().context("a list of locks")?;
    let of_client = locks.iter().filter(|lock| lock["client"] == clients[0].address().to_string());
    same!(of_client.count(), 2, "locks that were claimed");
    a.lock(mine, Process, Unlocked, ALL)?;
    b.lock(other, Process, Exclusive, ALL)
}
