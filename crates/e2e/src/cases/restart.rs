//! The server dies and comes back while a client works.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::session::{Errno, FileId, fails};
use crate::version::Version;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("restart.fio", "fio --verify goes on over kill -9 and a restart", fio)
        .needs(&["fio"])
        .limit_secs(600),
    Case::new("restart.handles", "open files and working directories outlive the server", handles),
    Case::new(
        "restart.in_order",
        "SIGTERM ends it with success, and clients go on later",
        in_order,
    ),
    Case::new("restart.power_cut_data", "what fsync confirmed is on the disk", power_cut_data)
        .needs(&["mkfs.ext4"]),
    Case::new(
        "restart.power_cut_unsynced",
        "what was written but not synced is sent again",
        power_cut_unsynced,
    )
    .needs(&["mkfs.ext4"]),
    Case::new(
        "restart.power_cut_names",
        "names that were answered for are on the disk",
        power_cut_names,
    )
    .needs(&["mkfs.ext4"]),
];

/// A client of version 4.0 never says that it has claimed all it had: new files wait for the end of
/// the grace period, which is shorter here.
fn setup(scene: &Scene) -> Setup {
    let mut setup = Setup::default();
    if scene.version() == Version::V40 {
        setup.arguments = ["--grace-secs", "4"].map(str::to_owned).to_vec();
    }
    setup
}

/// Ends the server as a crash does, leaves it away for a while, and brings it back.
fn crash(scene: &mut Scene, away: Duration) -> Result<()> {
    scene.kill_server()?;
    thread::sleep(away);
    scene.restart_server()
}

fn fio(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, setup(scene), "vers=3,nolock,nconnect=4")?;
    let (mib, crashes) = scene.size((48, 1), (512, 10));
    for (name, options) in [
        ("buffered", "--ioengine=psync --fsync=64"),
        ("direct", "--ioengine=libaio --direct=1 --iodepth=16"),
    ] {
        // Slow enough that the server dies in the middle.
        let command = format!(
            "fio --name={name} --directory={MOUNT} --rw=randwrite --bs=16k --size={mib}M \
             --rate={}k {options} --verify=crc32c --verify_fatal=1 --end_fsync=1",
            mib * 1024 / (crashes * 3)
        );
        let mut fio = client.start(&command)?;
        for _ in 0..crashes {
            thread::sleep(Duration::from_millis(1200));
            ensure!(fio.is_running()?, "fio ended before the server was killed");
            crash(scene, Duration::from_millis(500))?;
        }
        fio.succeed(Duration::from_secs(200))?;
        scene.note(format!("{name}: fio went on and verified"));
        let directory = scene.path();
        scene.host(&format!(
            "fio --name={name} --directory={directory} --rw=randwrite --bs=16k --size={mib}M \
             --verify=crc32c --verify_fatal=1 --verify_only"
        ))?;
    }
    Ok(())
}

fn handles(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Disk, setup(scene), "vers=3,nolock")?;
    let session = client.root()?;
    let path = |name: &str| format!("{MOUNT}/{name}");
    session.mkdir(path("deep"), 0o755)?;
    session.mkdir(path("deep/below"), 0o755)?;
    session.put(path("deep/below/beside"), 0o644, b"beside")?;
    let open = session.create(path("deep/below/open"), 0o644)?;
    session.write(open, 0, b"before")?;
    session.sync(open)?;
    let unlinked = session.create(path("deep/unlinked"), 0o644)?;
    session.write(unlinked, 0, b"unlinked")?;
    session.unlink(path("deep/unlinked"))?;
    session.chdir(path("deep/below"))?;
    let before = session.stat("beside")?;

    for crash_number in 0..scene.size(2, 5) {
        crash(scene, Duration::from_millis(200))?;
        client.drop_caches()?;
        same!(session.read(open, 0, 100)?, b"before", "an open file after a crash");
        same!(session.read(unlinked, 0, 100)?, b"unlinked", "an unlinked open file after a crash");
        same!(session.get("beside")?, b"beside", "a file beside the working directory's");
        same!(session.stat("beside")?.ino, before.ino, "the inode number of the same file");
        let name = format!("made after crash {crash_number}");
        session.put(&*name, 0o644, b"after")?;
        same!(fs::read(scene.directory().join("deep/below").join(name))?, b"after", "a new file");
    }

    // Names change behind the handles, also while the server is away.
    scene.kill_server()?;
    let directory = scene.directory().to_owned();
    fs::rename(directory.join("deep"), directory.join("moved"))?;
    fs::remove_file(directory.join("moved/below/beside"))?;
    scene.restart_server()?;
    client.drop_caches()?;
    same!(session.read(open, 0, 100)?, b"before", "an open file whose directory was moved");
    session.write(open, 0, b"AFTER!")?;
    session.sync(open)?;
    same!(fs::read(directory.join("moved/below/open"))?, b"AFTER!", "the moved file");
    fails(session.get("beside"), Errno::NOENT, "a file removed while the server was away")
}

fn in_order(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, setup(scene), "vers=3,nolock,nconnect=4")?;
    let session = client.root()?;
    let path = format!("{MOUNT}/file");
    session.put(&*path, 0o644, b"before")?;
    scene.stop_server()?;
    scene.restart_server()?;
    session.put(format!("{MOUNT}/other"), 0o644, b"after")?;
    client.drop_caches()?;
    same!(session.get(&*path)?, b"before", "a file from before the restart");
    scene.stop_server()?;
    scene.restart_server()?;
    client.unmount(MOUNT)
}

/// A block whose every byte depends on which block of which file it is.
fn block(file: u32, number: u64) -> Vec<u8> {
    let seed = (u64::from(file) << 32) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..8192_u64).map(|at| (seed.wrapping_add(at.wrapping_mul(seed | 1)) >> 13) as u8).collect()
}

fn power_cut_data(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Image(128), setup(scene), "vers=3,nolock")?;
    let session = client.root()?;
    let files: Vec<FileId> = (0..4)
        .map(|number| session.create(format!("{MOUNT}/file{number}"), 0o644))
        .collect::<Result<_>>()?;
    let mut at = 0;
    for round in 0..scene.size(20, 200) {
        let file = round % 4;
        for _ in 0..4 {
            session.write(files[file as usize], at * 8192, &block(file, at))?;
            at += 1;
        }
        session.sync(files[file as usize])?;
    }
    // A sync that fits into one WRITE, as those above do, asks for FILE_SYNC; this one takes
    // several and a COMMIT.
    let sum = client.check(&format!(
        "head -c 5000000 /dev/urandom >/run/tmp/large && sha256sum </run/tmp/large && \
         dd if=/run/tmp/large of={MOUNT}/large bs=1M conv=fsync"
    ))?;
    scene.cut_power()?;
    let found = scene.directory().to_owned();
    let there = scene.host(&format!("sha256sum <{}/large", found.display()))?;
    same!(there, sum, "the checksum of the large file after the power cut");
    for number in 0..at {
        let file = (number / 4) as u32 % 4;
        let data = fs::read(found.join(format!("file{file}")))?;
        let from = number as usize * 8192;
        let part = data.get(from..from + 8192).with_context(|| {
            format!("file{file} is {} bytes long: block {number} is not in it", data.len())
        })?;
        ensure!(part == block(file, number), "block {number} of file{file} is not what was synced");
    }
    Ok(())
}

fn power_cut_unsynced(scene: &mut Scene) -> Result<()> {
    let (client, relay) = scene.relayed(Backing::Image(128), "vers=3,nolock")?;
    let session = client.root()?;
    let path = scene.directory().join("file");
    let file = session.create(format!("{MOUNT}/file"), 0o644)?;
    let old = vec![0x11; 1 << 20];
    session.write(file, 0, &old)?;
    session.sync(file)?;
    let new: Vec<u8> = (0..32).flat_map(|number| block(1, number)).collect();
    session.write(file, 0, &new)?;
    // The client's writer wakes up soon and sends WRITE, and COMMIT as soon as that is answered.
    relay.hold_after_next_reply();
    client.check(
        "cd /proc/sys/vm && echo 1 >dirty_expire_centisecs && echo 20 >dirty_writeback_centisecs",
    )?;
    until(Duration::from_secs(20), "the client writes", || {
        Ok(relay.is_holding() && fs::read(&path)?.starts_with(&new))
    })?;
    scene.cut_power()?;
    let kept = fs::read(&path)?;
    same!(kept.len(), old.len(), "the length after the power cut");
    ensure!(kept == old, "all was synced before anybody asked for it: nothing can be seen here");
    relay.cut();
    scene.restart_server()?;
    // From the verifier in the answer to COMMIT the client learns that it has to write again.
    session.sync(file)?;
    ensure!(fs::read(&path)?.starts_with(&new), "fsync succeeds and the data is not there");
    Ok(())
}

fn power_cut_names(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Image(128), setup(scene), "vers=3,nolock")?;
    let session = client.root()?;
    let path = |name: &str| format!("{MOUNT}/{name}");
    session.put(path("to-remove"), 0o644, b"x")?;
    session.put(path("to-rename"), 0o644, b"content")?;
    session.put(path("to-link"), 0o644, b"linked")?;
    session.mkdir(path("to-rmdir"), 0o755)?;
    // RFC 1813 §4.8: a server answers for changes of names and attributes only when they last.
    session.unlink(path("to-remove"))?;
    session.rename(path("to-rename"), path("renamed"))?;
    session.link(path("to-link"), path("linked"))?;
    session.rmdir(path("to-rmdir"))?;
    session.symlink("anywhere", path("symlink"))?;
    session.mknod(path("fifo"), 0o010_644, 0, 0)?;
    session.chmod(path("linked"), 0o600)?;
    session.chown(path("linked"), Some(1234), Some(5678))?;
    session.mkdir(path("directory"), 0o751)?;
    let empty = session.create(path("directory/empty"), 0o640)?;
    session.close(empty)?;
    scene.cut_power()?;
    let found = scene.directory().to_owned();
    let mut names: Vec<String> = fs::read_dir(&found)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| name != "lost+found");
    names.sort();
    same!(
        names,
        ["directory", "fifo", "linked", "renamed", "symlink", "to-link"],
        "names after the power cut"
    );
    same!(fs::read(found.join("renamed"))?, b"content", "the renamed file");
    let linked = fs::metadata(found.join("to-link"))?;
    same!(
        (linked.nlink(), linked.mode() & 0o7777, linked.uid(), linked.gid()),
        (2, 0o600, 1234, 5678),
        "attributes"
    );
    same!(fs::metadata(found.join("directory"))?.mode() & 0o7777, 0o751, "the directory's mode");
    ensure!(found.join("directory/empty").exists(), "the file made last is lost");
    Ok(())
}
