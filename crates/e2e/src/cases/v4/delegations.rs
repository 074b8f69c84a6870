//! Delegations: given, used, called back, and taken from the dead.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::super::Case;
use super::super::mount::calls;
use super::{short_lease, some_versions};
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::session::LockKind::Process;
use crate::session::LockMode::{Exclusive, Shared, Unlocked};
use crate::session::{Errno, Open, Session, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.delegations", "given to a lone reader, called back for a writer", recalled),
    Case::new("v4.delegations_locks", "locks under one are the server's when it is back", locked),
    Case::new("v4.delegations_local", "called back for programs beside the server", local),
    Case::new("v4.delegations_dead", "one that dies with a delegation delays others a lease", dead),
    Case::new("v4.delegations_write", "a lone writer's is called back with all it wrote", write),
    Case::new("v4.delegations_write_dead", "nothing acknowledged dies with a writer", write_dead),
];

fn path(name: &str) -> String {
    format!("{MOUNT}/{name}")
}

fn count(client: &Client, procedure: &str) -> Result<u64> {
    calls(&client.check("cat /proc/self/mountstats")?, procedure)
}

/// Opens, reads and closes; true when the server did not hear of the opening.
fn opens_alone(client: &Client, session: &Session, name: &str) -> Result<bool> {
    let before = count(client, "OPEN")? + count(client, "OPEN_NOATTR")?;
    let file = session.open(path(name), Open::RDONLY, 0)?;
    session.read(file, 0, 10)?;
    session.close(file)?;
    Ok(count(client, "OPEN")? + count(client, "OPEN_NOATTR")? == before)
}

fn recalled(scene: &mut Scene) -> Result<()> {
    let [(a, reader), (b, writer)] = both(scene, Setup::default(), "vers=4.2")?;
    for version in some_versions(scene) {
        for client in [&a, &b] {
            client.unmount(MOUNT)?;
            client.mount(&format!("vers={version}"), &scene.path(), MOUNT)?;
        }
        let name = format!("file-{version}");
        std::fs::write(scene.directory().join(&name), "before")?;
        until(Duration::from_secs(15), "a lone reader gets a delegation", || {
            opens_alone(&a, &reader, &name)
        })?;
        let returned = count(&a, "DELEGRETURN")?;
        let begun = Instant::now();
        writer.put(path(&name), 0o644, b"changed")?;
        let took = begun.elapsed();
        ensure!(took < Duration::from_secs(3), "{version}: the writer waited for {took:?}");
        same!(reader.get(path(&name))?, b"changed", "{version}: what the other wrote");
        ensure!(count(&a, "DELEGRETURN")? > returned, "{version}: the delegation is not returned");
        for change in [
            |s: &Session, name: &str| s.chmod(path(name), 0o600),
            |s: &Session, name: &str| s.truncate(path(name), 3),
            |s: &Session, name: &str| s.rename(path(name), path("renamed")),
            |s: &Session, _: &str| s.unlink(path("renamed")),
        ] {
            opens_alone(&a, &reader, &name).ok();
            let begun = Instant::now();
            change(&writer, &name)?;
            ensure!(begun.elapsed() < Duration::from_secs(3), "{version}: {:?}", begun.elapsed());
        }
        scene.note(format!("{version}: given and called back, the writer waited {took:?}"));
    }
    Ok(())
}

/// A client with a delegation keeps its locks to itself, until it has to give it back.
fn locked(scene: &mut Scene) -> Result<()> {
    let [(a, reader), (_b, writer)] = both(scene, Setup::default(), "vers=4.2")?;
    std::fs::write(scene.directory().join("file"), "before")?;
    until(Duration::from_secs(15), "a lone reader gets a delegation", || {
        opens_alone(&a, &reader, "file")
    })?;
    let mine = reader.open(path("file"), Open::RDONLY, 0)?;
    let locks = count(&a, "LOCK")?;
    reader.lock(mine, Process, Shared, (2, 10))?;
    same!(count(&a, "LOCK")?, locks, "locks that the server heard of");
    let begun = Instant::now();
    let other = writer.open(path("file"), Open::RDWR, 0)?;
    let took = begun.elapsed();
    ensure!(took < Duration::from_secs(3), "the writer waited for {took:?}");
    let whole = (0, 0);
    fails(writer.lock(other, Process, Exclusive, whole), Errno::AGAIN, "what the reader locked")?;
    reader.lock(mine, Process, Unlocked, (2, 10))?;
    writer.lock(other, Process, Exclusive, whole)?;
    scene.note(format!("the writer waited {took:?}"));
    Ok(())
}

fn local(scene: &mut Scene) -> Result<()> {
    let [(a, reader), _] = both(scene, Setup::default(), "vers=4.2")?;
    let there = scene.directory().join("file");
    std::fs::write(&there, "before")?;
    until(Duration::from_secs(15), "a lone reader gets a delegation", || {
        opens_alone(&a, &reader, "file")
    })?;
    let begun = Instant::now();
    std::fs::write(&there, "changed here")?;
    ensure!(begun.elapsed() < Duration::from_secs(3), "a program waited {:?}", begun.elapsed());
    // However the server learns of it, opening again shows it.
    thread::sleep(Duration::from_millis(200));
    same!(reader.get(path("file"))?, b"changed here", "what a program beside the server wrote");
    Ok(())
}

fn dead(scene: &mut Scene) -> Result<()> {
    const LEASE_SECS: u32 = 6;
    let [(dying, a), (living, b)] = both(scene, short_lease(LEASE_SECS), "vers=4.2")?;
    // Written, read, and open for writing: what a server gives delegations for, if it does.
    for number in 0..10 {
        let name = path(&format!("file{number}"));
        a.put(&*name, 0o644, b"acknowledged")?;
        a.get(&*name)?;
        let file = a.open(&*name, Open::RDWR, 0)?;
        a.write(file, 0, b"ACK")?;
        a.sync(file)?;
    }
    std::fs::write(scene.directory().join("lent"), "lent")?;
    until(Duration::from_secs(15), "a lone reader gets a delegation", || {
        opens_alone(&dying, &a, "lent")
    })?;
    drop(a);
    drop(dying);
    let begun = Instant::now();
    same!(b.get(path("lent"))?, b"lent", "a file lent to a dead reader");
    b.put(path("lent"), 0o644, b"changed")?;
    let after = begun.elapsed();
    scene.note(format!("a file lent to the dead is changed after {after:?}"));
    ensure!(after > Duration::from_secs(1), "the delegation had gone before its owner died");
    let retries = count(&living, "OPEN")?;
    for number in 0..10 {
        let name = path(&format!("file{number}"));
        same!(b.get(&*name)?, b"ACKnowledged", "what the dead client had synced");
        b.put(&*name, 0o644, b"mine now")?;
    }
    let took = begun.elapsed();
    scene.note(format!(
        "all files are changed {took:?} after their owner's death, {retries} OPEN calls"
    ));
    let limit = Duration::from_secs(u64::from(LEASE_SECS) + 5);
    ensure!(took < limit, "the other waited for {took:?}");
    Ok(())
}

/// A server that lends for writing too, whatever local programs may do.
fn lends_all(setup: Setup) -> Setup {
    let more = ["--delegations", "always"].map(str::to_owned);
    Setup { arguments: [setup.arguments, more.to_vec()].concat(), ..setup }
}

/// Opens to read and write, writes and closes; true when the server did not hear of the opening,
/// as only with a delegation for writing.
fn writes_alone(client: &Client, session: &Session, name: &str, data: &[u8]) -> Result<bool> {
    let before = count(client, "OPEN")? + count(client, "OPEN_NOATTR")?;
    let file = session.open(path(name), Open::RDWR, 0)?;
    session.write(file, 0, data)?;
    session.close(file)?;
    Ok(count(client, "OPEN")? + count(client, "OPEN_NOATTR")? == before)
}

fn write(scene: &mut Scene) -> Result<()> {
    let [(a, one), (b, other)] = both(scene, lends_all(Setup::default()), "vers=4.2")?;
    for version in some_versions(scene) {
        for client in [&a, &b] {
            client.unmount(MOUNT)?;
            client.mount(&format!("vers={version}"), &scene.path(), MOUNT)?;
        }
        let name = format!("file-{version}");
        one.put(path(&name), 0o644, b"before")?;
        until(Duration::from_secs(15), "a lone writer gets a delegation for writing", || {
            writes_alone(&a, &one, &name, b"first!")
        })?;
        let returned = count(&a, "DELEGRETURN")?;
        ensure!(writes_alone(&a, &one, &name, b"cached")?, "{version}: it still has it");
        let begun = Instant::now();
        same!(other.get(path(&name))?, b"cached", "{version}: what a writer closed");
        let took = begun.elapsed();
        ensure!(took < Duration::from_secs(3), "{version}: the reader waited for {took:?}");
        ensure!(count(&a, "DELEGRETURN")? > returned, "{version}: the delegation is not returned");
        // While the file is open; another one, since what was fought about is not lent again soon.
        let name = format!("open-{version}");
        one.put(path(&name), 0o644, b"before")?;
        until(Duration::from_secs(15), "a lone writer gets a delegation for writing", || {
            writes_alone(&a, &one, &name, b"first!")
        })?;
        let held = one.open(path(&name), Open::RDWR, 0)?;
        one.write(held, 0, b"open, ")?;
        one.sync(held)?;
        same!(other.get(path(&name))?, b"open, ", "{version}: what a writer has synced");
        one.write(held, 6, b"and on")?;
        one.close(held)?;
        same!(other.get(path(&name))?, b"open, and on", "{version}: written after the recall");
        scene.note(format!("{version}: lent for writing; the reader waited {took:?}"));
    }
    Ok(())
}

fn write_dead(scene: &mut Scene) -> Result<()> {
    const LEASE_SECS: u32 = 6;
    let setup = lends_all(short_lease(LEASE_SECS));
    let [(dying, a), (_living, b)] = both(scene, setup, "vers=4.2")?;
    a.put(path("file"), 0o644, b"before")?;
    until(Duration::from_secs(15), "a lone writer gets a delegation for writing", || {
        writes_alone(&dying, &a, "file", b"BEFORE")
    })?;
    let file = a.open(path("file"), Open::RDWR, 0)?;
    a.write(file, 0, b"acknowledged")?;
    a.sync(file)?;
    ensure!(writes_alone(&dying, &a, "file", b"acknowledged")?, "it still has the delegation");
    drop(a);
    drop(dying);
    let begun = Instant::now();
    same!(b.get(path("file"))?, b"acknowledged", "what the dead writer had synced");
    let took = begun.elapsed();
    scene.note(format!("a file lent to a dead writer is read after {took:?}"));
    ensure!(took > Duration::from_secs(1), "the delegation had gone before its owner died");
    let limit = Duration::from_secs(u64::from(LEASE_SECS) + 5);
    ensure!(took < limit, "the other waited for {took:?}");
    b.put(path("file"), 0o644, b"mine now")?;
    same!(b.get(path("file"))?, b"mine now", "what the living wrote over it");
    Ok(())
}

fn both(scene: &mut Scene, setup: Setup, options: &str) -> Result<[(Client, Session); 2]> {
    let [first, second] = scene.ordinary_two(Backing::Disk, setup, options)?;
    let sessions = (first.root()?, second.root()?);
    Ok([(first, sessions.0), (second, sessions.1)])
}
