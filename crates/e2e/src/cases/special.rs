//! Everything in a directory that is not an ordinary small file with an ordinary name.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::session::{Errno, Open, Session, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("special.nodes", "fifos, devices, sockets, symbolic and hard links", nodes),
    Case::new("special.attributes", "modes, owners, and times to the nanosecond", attributes),
    Case::new("special.sparse", "holes, and offsets beyond 32 bits", sparse),
    Case::new("special.names", "odd bytes, 255 bytes, and a byte too many", names),
    Case::new("special.full", "a full file system is told to the writer", full),
    Case::new("special.silly", "files removed or replaced while they are open", silly),
];

/// A client with the whole export mounted, and root's session on it.
fn begin(scene: &mut Scene, backing: Backing) -> Result<(crate::client::Client, Session)> {
    let client = scene.ordinary(backing, Setup::default(), "vers=3,nolock")?;
    let session = client.root()?;
    Ok((client, session))
}

fn at(name: &str) -> String {
    format!("{MOUNT}/{name}")
}

fn nodes(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::Memory)?;
    let directory = scene.directory().to_owned();
    let there = |name: &str| fs::symlink_metadata(directory.join(name));

    session.mknod(at("fifo"), 0o010_640, 0, 0)?;
    ensure!(there("fifo")?.file_type().is_fifo(), "the fifo on the server");
    same!(there("fifo")?.mode() & 0o7777, 0o640, "its mode");
    let said = client.check(&format!("cat {MOUNT}/fifo & echo through >{MOUNT}/fifo; wait"))?;
    same!(said, "through\n", "what went through the fifo");

    session.mknod(at("char"), 0o020_600, 1, 3)?;
    session.mknod(at("block"), 0o060_600, 259, 70_000)?;
    ensure!(there("char")?.file_type().is_char_device(), "the character device on the server");
    ensure!(there("block")?.file_type().is_block_device(), "the block device on the server");
    let device = there("block")?.rdev();
    same!((rustix::fs::major(device), rustix::fs::minor(device)), (259, 70_000), "its number");
    same!(session.stat(at("block"))?.rdev, (259, 70_000), "its number for the client");
    client.check(&format!("echo gone >{MOUNT}/char"))?;

    session.bind(at("socket"))?;
    ensure!(there("socket")?.file_type().is_socket(), "the socket on the server");

    let target = "a/target that does not exist, ".repeat(30);
    session.symlink(&*target, at("symlink"))?;
    same!(fs::read_link(directory.join("symlink"))?.as_os_str(), OsStr::new(&target), "the target");
    client.drop_caches()?;
    same!(session.read_link(at("symlink"))?, target.as_bytes(), "the target for the client");
    fails(session.get(at("symlink")), Errno::NOENT, "following it")?;

    session.put(at("file"), 0o644, b"one")?;
    session.link(at("file"), at("hard"))?;
    session.link(at("symlink"), at("hard-to-symlink"))?;
    same!(there("file")?.nlink(), 2, "links of the file");
    same!(there("hard")?.ino(), there("file")?.ino(), "the inode of both names");
    same!(session.stat(at("hard"))?.nlink, 2, "links for the client");
    session.unlink(at("file"))?;
    same!(session.get(at("hard"))?, b"one", "by the other name");
    same!(session.stat(at("hard"))?.nlink, 1, "links of what is left");
    fails(session.link(at("none"), at("new")), Errno::NOENT, "a link to nothing")?;
    session.mkdir(at("directory"), 0o755)?;
    fails(session.link(at("directory"), at("new")), Errno::PERM, "a link to a directory")?;
    fails(session.unlink(at("directory")), Errno::ISDIR, "unlink of a directory")?;
    fails(session.rmdir(at("hard")), Errno::NOTDIR, "rmdir of a file")?;
    fails(session.rename(at("directory"), at("directory/in")), Errno::INVAL, "into itself")?;
    same!(there("directory")?.nlink(), session.stat(at("directory"))?.nlink, "a directory's links");
    Ok(())
}

fn attributes(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::Memory)?;
    let directory = scene.directory().to_owned();
    session.put(at("file"), 0o644, b"content")?;
    let there = || fs::metadata(directory.join("file"));

    for mode in [0, 0o400, 0o777, 0o1755, 0o2755, 0o4755, 0o7777] {
        session.chmod(at("file"), mode)?;
        same!(there()?.mode() & 0o7777, mode, "mode {mode:o} on the server");
        same!(session.stat(at("file"))?.permissions(), mode, "mode {mode:o} for the client");
    }
    session.chown(at("file"), Some(70_000), None)?;
    session.chown(at("file"), None, Some(4_000_000_000))?;
    same!((there()?.uid(), there()?.gid()), (70_000, 4_000_000_000), "owner and group");

    for (accessed, modified) in [
        ((1_000_000_000, 123_456_789), (1_600_000_000, 987_654_321)),
        ((1, 1), (1, 0)),
        ((4_102_444_800, 999_999_999), (2_147_483_648, 5)),
    ] {
        session.set_times(at("file"), accessed, modified)?;
        let found = there()?;
        same!((found.atime(), found.atime_nsec()), accessed, "time of access on the server");
        same!((found.mtime(), found.mtime_nsec()), modified, "time of change on the server");
        client.drop_caches()?;
        let seen = session.stat(at("file"))?;
        same!((seen.accessed, seen.modified), (accessed, modified), "times for the client");
    }

    // The server's clock, not the client's, when no time is given.
    client.check(&format!("touch {MOUNT}/file"))?;
    let age = there()?.modified()?.elapsed().unwrap_or_default();
    ensure!(age.as_secs() < 30, "touch leaves a time {age:?} ago");

    let before = session.stat(at("file"))?;
    std::thread::sleep(Duration::from_millis(20));
    session.chmod(at("file"), 0o600)?;
    let after = session.stat(at("file"))?;
    ensure!(after.changed > before.changed, "chmod does not change the ctime");
    same!(after.modified, before.modified, "chmod and the mtime");
    same!(session.stat(at("file"))?.size, 7, "the size after all");

    session.truncate(at("file"), 3)?;
    same!(fs::read(directory.join("file"))?, b"con", "cut");
    session.truncate(at("file"), 5)?;
    same!(fs::read(directory.join("file"))?, b"con\0\0", "grown");
    let space = session.space(MOUNT)?;
    ensure!(space.total > 0 && space.free <= space.total, "{space:?}");
    same!(space.name_max, 255, "the longest name");
    Ok(())
}

fn sparse(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::Memory)?;
    let local = scene.directory().join("sparse");
    let file = session.create(at("sparse"), 0o644)?;
    // Both sides of 2^31, 2^32 and 2^40, in the middle of pages.
    let places: Vec<u64> =
        [31, 32, 40].iter().flat_map(|bits| [(1 << bits) - 3, (1 << bits) + 12_345]).collect();
    for place in &places {
        let data = format!("at {place}");
        same!(session.write(file, *place, data.as_bytes())? as usize, data.len(), "{data}");
    }
    session.sync(file)?;
    client.drop_caches()?;
    let end = (1 << 40) + 12_345 + "at 1099511640121".len() as u64;
    same!(session.file_stat(file)?.size, end, "the size");
    same!(fs::metadata(&local)?.len(), end, "the size on the server");
    let used = fs::metadata(&local)?.blocks() * 512;
    ensure!(used < 1 << 20, "{used} bytes are used on the server");
    ensure!(session.file_stat(file)?.blocks * 512 < 1 << 20, "the client sees no holes");
    let mut there = fs::File::open(&local)?;
    for place in &places {
        let wanted = format!("at {place}");
        let len = wanted.len();
        same!(session.read(file, *place, len as u32)?, wanted.as_bytes(), "read {wanted}");
        let mut found = vec![0; len];
        there.seek(SeekFrom::Start(*place))?;
        there.read_exact(&mut found)?;
        same!(found, wanted.as_bytes(), "on the server {wanted}");
    }
    let hole = session.read(file, 1 << 35, 1 << 20)?;
    ensure!(hole.len() == 1 << 20 && hole.iter().all(|byte| *byte == 0), "the hole is not zeros");
    same!(session.read(file, end, 10)?.len(), 0, "bytes at the end");
    same!(session.read(file, end + (1 << 41), 10)?.len(), 0, "bytes beyond the end");
    session.set_len(file, 1 << 42)?;
    same!(fs::metadata(&local)?.len(), 1 << 42, "the size after growing it");
    session.set_len(file, 0)?;
    same!(fs::metadata(&local)?.len(), 0, "the size after emptying it");
    Ok(())
}

fn names(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::Disk)?;
    let longest = "n".repeat(255);
    let odd: Vec<Vec<u8>> = [
        &b"with blank"[..],
        b" ",
        b"-rf",
        b"new\nline",
        b"tab\t",
        b"\x01\x7f",
        b"back\\slash",
        b"quote'\"`$(x)",
        b"*?[]",
        b"...",
        b"..x",
        b".hidden",
        "grün 日本 🦀".as_bytes(),
        b"latin1 gr\xfcn",
        b"\xff\xfe\xfd",
        b"\xc0\xaf",
        b"COM1",
        b"case",
        b"Case",
        longest.as_bytes(),
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    let path = |name: &[u8]| [MOUNT.as_bytes(), b"/", name].concat();
    for name in &odd {
        session.put(path(name), 0o644, name)?;
    }
    client.drop_caches()?;
    let wanted: HashSet<Vec<u8>> = odd.iter().cloned().collect();
    same!(session.list(MOUNT)?.into_iter().collect::<HashSet<_>>(), wanted, "names for the client");
    let there: HashSet<Vec<u8>> = fs::read_dir(scene.directory())?
        .map(|entry| Ok(entry?.file_name().as_bytes().to_vec()))
        .collect::<Result<_>>()?;
    same!(there, wanted, "names on the server");
    for name in &odd {
        same!(&session.get(path(name))?, name, "content of {:?}", name.escape_ascii().to_string());
        let renamed = [&name[..name.len().min(250)], b".new"].concat();
        session.rename(path(name), path(&renamed))?;
        session.unlink(path(&renamed))?;
    }
    same!(session.list(MOUNT)?.len(), 0, "names after removing all");
    let too_long = [longest.as_bytes(), b"n"].concat();
    fails(session.create(path(&too_long), 0o644), Errno::NAMETOOLONG, "256 bytes, create")?;
    fails(session.mkdir(path(&too_long), 0o755), Errno::NAMETOOLONG, "256 bytes, mkdir")?;
    fails(session.stat(path(&too_long)), Errno::NAMETOOLONG, "256 bytes, stat")?;

    // Deep: longer in all than any path may be.
    session.chdir(MOUNT)?;
    for _ in 0..20 {
        session.mkdir(&*longest, 0o755)?;
        session.chdir(&*longest)?;
    }
    session.put("bottom", 0o644, b"deep")?;
    client.drop_caches()?;
    same!(session.get("bottom")?, b"deep", "the file at the bottom");
    session.chdir("/")?;
    client.check(&format!("rm -rf {MOUNT}/nnn*"))?;
    same!(fs::read_dir(scene.directory())?.count(), 0, "names on the server at the end");
    Ok(())
}

fn full(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::SmallMemory(16))?;
    let space = session.space(MOUNT)?;
    same!(space.total, 16 << 20, "the space that df shows");

    // Told by fsync at the latest, and by close for programs that do not sync.
    let synced =
        client.run(&format!("dd if=/dev/zero of={MOUNT}/synced bs=1M count=32 conv=fsync"))?;
    ensure!(synced.status != 0, "32 MiB go into 16");
    ensure!(synced.errors().contains("No space left on device"), "{}", synced.errors());
    client.check(&format!("rm {MOUNT}/synced"))?;
    let closed = client.run(&format!("cp /dev/zero {MOUNT}/closed"))?;
    ensure!(closed.errors().contains("No space left on device"), "{}", closed.errors());
    client.check(&format!("rm {MOUNT}/closed"))?;
    let direct =
        client.run(&format!("dd if=/dev/zero of={MOUNT}/d bs=1M count=32 oflag=direct"))?;
    ensure!(direct.errors().contains("No space left on device"), "{}", direct.errors());

    // What was in order before stays, and with room again all is well.
    session.unlink(at("d"))?;
    let data = vec![7; 100_000];
    session.put(at("small"), 0o644, &data)?;
    client.drop_caches()?;
    same!(session.get(at("small"))?.len(), data.len(), "a file written after room was made");
    Ok(())
}

fn silly(scene: &mut Scene) -> Result<()> {
    let (client, session) = begin(scene, Backing::Memory)?;
    let file = session.create(at("removed"), 0o644)?;
    session.write(file, 0, b"still here")?;
    session.unlink(at("removed"))?;
    client.drop_caches()?;
    same!(session.read(file, 0, 100)?, b"still here", "a file removed while open");
    session.write(file, 0, b"STILL")?;
    session.sync(file)?;
    // Version 3 has no open files: the client has renamed it and removes it in the end.
    same!(fs::read_dir(scene.directory())?.count(), 1, "names on the server meanwhile");
    session.close(file)?;
    until(Duration::from_secs(5), "the file removed while open is gone", || {
        Ok(fs::read_dir(scene.directory())?.count() == 0)
    })?;

    session.put(at("target"), 0o644, b"old")?;
    let open = session.open(at("target"), Open::RDONLY, 0)?;
    session.put(at("source"), 0o644, b"new")?;
    session.rename(at("source"), at("target"))?;
    client.drop_caches()?;
    same!(session.read(open, 0, 100)?, b"old", "a file replaced while open");
    same!(session.get(at("target"))?, b"new", "the file that replaced it");

    // Removed on the server: nothing keeps it, and the client is told so.
    let gone = session.create(at("gone"), 0o644)?;
    session.write(gone, 0, b"x")?;
    session.sync(gone)?;
    fs::remove_file(scene.directory().join("gone"))?;
    client.drop_caches()?;
    match session.read(gone, 0, 10) {
        // A server may keep a removed file a little longer than its name.
        Ok(data) => same!(data, b"x", "a file removed on the server"),
        Err(error) => fails::<()>(Err(error), Errno::STALE, "a file removed on the server")?,
    }
    Ok(())
}
