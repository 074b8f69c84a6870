//! Exports that come and go while clients use them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Case;
use crate::scene::{Backing, Scene, until};
use crate::server::{Exports, Setup};
use crate::session::{Errno, LockKind, LockMode, Open, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new(
        "exports.remove",
        "a removed export is stale, its file system can be unmounted; others go on",
        remove,
    ),
    Case::new(
        "exports.mountpoint",
        "mp: an export is there while something is mounted",
        mountpoint,
    ),
];

/// A tmpfs beside the exported directory's own files.
fn mount_one(scene: &Scene, name: &str) -> Result<PathBuf> {
    let path = scene.directory().join(name);
    fs::create_dir(&path)?;
    scene.host(&format!("mount -t tmpfs -o mode=777 tmpfs {}", path.display()))?;
    Ok(path)
}

fn remove(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let [kept, gone] = [mount_one(scene, "kept")?, mount_one(scene, "gone")?];
    let line = |path: &PathBuf, fsid: u32| {
        format!("{} *(rw,no_root_squash,fsid={fsid})\n", path.display())
    };
    let exports = Exports::File(line(&kept, 1) + &line(&gone, 2));
    scene.start_server(Setup { exports, ..Setup::default() })?;
    let client = scene.boot_client()?;
    let places = [
        ("vers=4.2", "/mnt/kept", &kept),
        ("vers=4.2", "/mnt/gone", &gone),
        ("vers=3,nolock", "/mnt/old", &gone),
    ];
    for (options, at, export) in places {
        client.mount(options, &export.display().to_string(), at)?;
    }

    let session = client.root()?;
    let whole = (0, 0);
    let in_kept = session.create("/mnt/kept/file", 0o644)?;
    session.write(in_kept, 0, b"before")?;
    session.lock(in_kept, LockKind::Process, LockMode::Exclusive, whole)?;
    let in_gone = session.create("/mnt/gone/file", 0o644)?;
    session.write(in_gone, 0, b"before")?;
    session.sync(in_gone)?;
    session.lock(in_gone, LockKind::Process, LockMode::Exclusive, whole)?;
    // Read only: lent to the client.
    let lent = session.open("/mnt/gone/file", Open::RDONLY, 0)?;
    let old = session.open("/mnt/old/file", Open::RDWR, 0)?;
    session.write(old, 6, b"!")?;
    session.sync(old)?;
    let opens = scene.ask_server("opens")?;
    ensure!(opens["total"].as_u64() >= Some(2), "nothing is open: {opens}");

    let changes = scene.ask_server(&format!("export rm {}", gone.display()))?;
    same!(changes["held"].as_array().map(Vec::len), Some(0), "directories that are held on to");
    // At once, or it is busy.
    scene.host(&format!("umount {}", gone.display()))?;
    scene.note("the file system is unmounted");

    fails(session.stat("/mnt/old/other"), Errno::STALE, "stat over vers=3")?;
    fails(session.stat("/mnt/gone/other"), Errno::STALE, "stat over vers=4.2")?;
    let written = session.write(in_gone, 6, b"after").and_then(|_| session.sync(in_gone));
    fails(written, Errno::STALE, "a write to what was open")?;
    let opens = scene.ask_server("opens")?;
    same!(opens["total"].as_u64(), Some(1), "opens that are left");

    // Nothing else is disturbed.
    session.write(in_kept, 6, b", after")?;
    session.sync(in_kept)?;
    same!(fs::read(kept.join("file"))?, b"before, after", "the file that stays");
    let locks = scene.ask_server("locks")?;
    same!(locks["total"].as_u64(), Some(1), "locks that are left");
    for file in [lent, in_gone, old] {
        let _ = session.close(file);
    }
    session.close(in_kept)?;

    // It comes back as it was.
    scene.host(&format!("mount -t tmpfs -o mode=777 tmpfs {}", gone.display()))?;
    scene.ask_server("export reload")?;
    client.mount("vers=4.2", &gone.display().to_string(), "/mnt/back")?;
    session.put("/mnt/back/new", 0o644, b"new")?;
    same!(fs::read(gone.join("new"))?, b"new", "a file of the export that came back");
    scene.check_server()
}

fn mountpoint(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let disk = scene.directory().join("disk");
    fs::create_dir(&disk)?;
    fs::write(disk.join("below"), "not to be seen")?;
    let path = disk.display().to_string();
    let exports = Exports::File(format!("{path} *(rw,mp,no_root_squash,fsid=1)\n"));
    scene.start_server(Setup { exports, ..Setup::default() })?;
    let client = scene.boot_client()?;
    for options in ["vers=4.2", "vers=3,nolock"] {
        let output = client.try_mount(options, &path, "/mnt/disk")?;
        ensure!(output.status != 0, "{options}: what has to be mounted is not, but it is exported");
    }
    scene.host(&format!("mount -t tmpfs -o mode=777 tmpfs {path}"))?;
    let served = |scene: &Scene| -> Result<bool> {
        Ok(scene.ask_server("export ls")?[0]["dormant"].is_null())
    };
    until(Duration::from_secs(5), "the export is there", || served(scene))?;
    client.mount("vers=4.2", &path, "/mnt/disk")?;
    let session = client.root()?;
    session.put("/mnt/disk/file", 0o644, b"hello")?;
    same!(fs::read(disk.join("file"))?, b"hello", "the file on what is mounted");
    // The server lets go of what is taken away from under it.
    scene.host(&format!("umount -l {path}"))?;
    until(Duration::from_secs(5), "the export is gone", || Ok(!served(scene)?))?;
    fails(session.stat("/mnt/disk/other"), Errno::STALE, "stat of what was unmounted")?;
    same!(fs::read_to_string(disk.join("below"))?, "not to be seen", "what is below");
    scene.check_server()
}
