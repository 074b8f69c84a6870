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
use crate::session::{Open, Session};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.delegations", "given to a lone reader, called back for a writer", recalled),
    Case::new("v4.delegations_local", "called back for programs beside the server", local),
    Case::new("v4.delegations_dead", "one that dies with a delegation delays others a lease", dead),
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

fn both(scene: &mut Scene, setup: Setup, options: &str) -> Result<[(Client, Session); 2]> {
    let [first, second] = scene.ordinary_two(Backing::Disk, setup, options)?;
    let sessions = (first.root()?, second.root()?);
    Ok([(first, sessions.0), (second, sessions.1)])
}
