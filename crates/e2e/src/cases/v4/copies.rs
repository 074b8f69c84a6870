//! Copies that the server makes by itself, while the client waits for a call.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::super::Case;
use super::super::mount::calls;
use super::short_lease;
use crate::client::{Client, Running};
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::{Exports, Setup};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.copy_large", "cp of a large file is one COPY, and the data is right", large),
    Case::new("v4.copy_interrupted", "an interrupted copy stops the server's copying", interrupted)
        .needs(&["xfs_io"]),
    Case::new(
        "v4.copy_crash",
        "kill -9 in the middle of a copy: cp goes on, the data is right",
        crash,
    ),
    Case::new("v4.copy_beside", "other calls are answered while the server copies", beside)
        .needs(&["xfs_io"]),
    Case::new("v4.copy_exports", "cp from one export to another is made by the server", exports),
];

const MIB: u64 = 1 << 20;
/// So much is not copied while a test looks on.
const ENDLESS: u64 = 64 << 30;
const LIMIT: Duration = Duration::from_secs(120);

/// A file on the server of data that repeats nowhere.
fn fill(path: &Path, len: u64) -> Result<()> {
    use std::io::Write;
    let mut file = File::create(path)?;
    for part in 0..len / MIB {
        let word = |at: u64| (part * MIB + at).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        file.write_all(&(0..MIB / 8).flat_map(word).collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// A file on the server that is all hole.
fn endless(path: &Path) -> Result<()> {
    Ok(File::create(path)?.set_len(ENDLESS)?)
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

fn same_files(scene: &Scene, one: &Path, other: &Path) -> Result<()> {
    scene.host(&format!("cmp {} {}", one.display(), other.display())).map(|_| ())
}

/// A copy of `from` that can be interrupted. `cp` would leave out the holes.
fn start(client: &Client, to: &str) -> Result<Running> {
    client.start(&format!(
        "echo $$ >/run/copy-{to}; exec xfs_io -f -c 'copy_range {MOUNT}/from' {MOUNT}/{to}"
    ))
}

fn interrupt(client: &Client) -> Result<()> {
    client.check("kill -INT $(cat /run/copy-*)").map(|_| ())
}

/// Calls over all mounts.
fn count(client: &Client, procedure: &str) -> Result<u64> {
    let stats = client.check("cat /proc/self/mountstats")?;
    let mounts = stats.split("\ndevice ").filter(|mount| mount.contains("fstype nfs4"));
    mounts.map(|mount| calls(mount, procedure)).sum()
}

fn large(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, Setup::default(), "vers=4.2,nconnect=4")?;
    let (from, to) = (scene.directory().join("from"), scene.directory().join("to"));
    fill(&from, scene.size(60, 200) * MIB)?;
    client.check(&format!("cp {MOUNT}/from {MOUNT}/to"))?;
    same_files(scene, &from, &to)?;
    same!(count(&client, "COPY")?, 1, "COPY calls");
    same!(count(&client, "WRITE")?, 0, "WRITE calls");
    // It was synced before the client was called: there is nothing left to commit.
    same!(count(&client, "COMMIT")?, 0, "COMMIT calls");
    client.check(&format!("cmp {MOUNT}/from {MOUNT}/to"))?;
    // Several at once, each with a call of its own.
    let copy = |number: u64| format!("cp {MOUNT}/from {MOUNT}/{number}");
    let running: Vec<_> = (0..3).map(|n| client.start(&copy(n))).collect::<Result<_>>()?;
    for copying in running {
        copying.succeed(LIMIT)?;
    }
    for number in 0..3 {
        same_files(scene, &from, &scene.directory().join(number.to_string()))?;
    }
    same!(count(&client, "COPY")?, 4, "COPY calls");
    Ok(())
}

fn interrupted(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, Setup::default(), "vers=4.2")?;
    let (from, to) = (scene.directory().join("from"), scene.directory().join("to"));
    endless(&from)?;
    let copying = start(&client, "to")?;
    until(LIMIT, "the server copies", || Ok(size(&to) > 8 * MIB))?;
    interrupt(&client)?;
    let ended = copying.wait(LIMIT)?;
    ensure!(ended.status != 0, "an interrupted copy has succeeded");
    // A process that is killed does not wait for the answer.
    until(LIMIT, "the copy is cancelled", || Ok(count(&client, "OFFLOAD_CANCEL")? == 1))?;
    let stopped_at = size(&to);
    thread::sleep(Duration::from_secs(1));
    same!(size(&to), stopped_at, "the size a second after the copy was cancelled");
    // The file is the client's again.
    client.check(&format!("echo new >{MOUNT}/to"))?;
    thread::sleep(Duration::from_millis(300));
    same!(fs::read(&to)?, b"new\n", "what was written after that");
    Ok(())
}

fn crash(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, short_lease(6), "vers=4.2")?;
    let (from, to) = (scene.directory().join("from"), scene.directory().join("to"));
    let len = 200 * MIB;
    fill(&from, len)?;
    let copying = client.start(&format!("cp {MOUNT}/from {MOUNT}/to"))?;
    until(LIMIT, "the server copies", || Ok(size(&to) > 2 * MIB))?;
    scene.kill_server()?;
    let copied = size(&to);
    ensure!(copied < len, "the copy was done before the server was killed");
    scene.note(format!("killed after {} MiB", copied / MIB));
    scene.restart_server()?;
    copying.succeed(LIMIT)?;
    same_files(scene, &from, &to)?;
    client.check(&format!("cmp {MOUNT}/from {MOUNT}/to"))?;
    Ok(())
}

fn beside(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, Setup::default(), "vers=4.2,actimeo=0")?;
    let (from, to) = (scene.directory().join("from"), scene.directory().join("to"));
    endless(&from)?;
    let session = client.root()?;
    session.put(format!("{MOUNT}/other"), 0o644, b"content")?;
    let mut copying: Vec<_> =
        (0..6).map(|n| start(&client, &format!("to{n}"))).collect::<Result<_>>()?;
    let all_grow = || Ok((0..6).all(|n| size(&to.with_file_name(format!("to{n}"))) > 2 * MIB));
    until(LIMIT, "the server copies all of them", all_grow)?;
    let before = count(&client, "GETATTR")?;
    for round in 0..100 {
        same!(session.stat(format!("{MOUNT}/other"))?.size, 7, "size in round {round}");
        session.put(format!("{MOUNT}/new{round}"), 0o644, b"x")?;
    }
    ensure!(count(&client, "GETATTR")? >= before + 100, "the client has not asked");
    for running in &mut copying {
        ensure!(running.is_running()?, "a copy has ended before all calls were answered");
    }
    interrupt(&client)?;
    for running in copying {
        running.wait(LIMIT)?;
    }
    until(LIMIT, "all are cancelled", || Ok(count(&client, "OFFLOAD_CANCEL")? == 6))?;
    Ok(())
}

fn exports(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Disk)?;
    let directory = scene.directory().to_owned();
    let mut lines = Vec::new();
    for name in ["one", "two"] {
        let path = directory.join(name);
        fs::create_dir(&path)?;
        lines.push(format!("{} *(rw,no_root_squash,insecure)", path.display()));
    }
    let text = lines.join("\n");
    scene.start_server(Setup { exports: Exports::File(text), ..Setup::default() })?;
    let client = scene.boot_client()?;
    for name in ["one", "two"] {
        let path = directory.join(name).display().to_string();
        client.mount("vers=4.2", &path, &format!("/mnt/{name}"))?;
    }
    let (from, to) = (directory.join("one/from"), directory.join("two/to"));
    fill(&from, 100 * MIB)?;
    client.check("cp /mnt/one/from /mnt/two/to").context("cp from export to export")?;
    same_files(scene, &from, &to)?;
    same!(count(&client, "COPY")?, 1, "COPY calls");
    client.check("cmp /mnt/one/from /mnt/two/to")?;
    // Nothing is shared between two file systems.
    let cloned = client.run("cp --reflink=always /mnt/one/from /mnt/two/clone")?;
    ensure!(cloned.status != 0, "a clone from export to export");
    Ok(())
}
