//! What version 4.2 adds to files: holes, room, copies and attributes; and the ACLs of version 4.

use std::fs;
use std::os::unix::fs::MetadataExt;

use anyhow::{Result, ensure};

use super::super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;
use crate::session::{Allocation, Errno, Open, Session, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.holes", "fallocate, holes, and lseek to them, on XFS", holes)
        .needs(&["mkfs.xfs"]),
    Case::new("v4.copies", "copy_file_range and cp --reflink, on XFS", copies).needs(&["mkfs.xfs"]),
    Case::new("v4.xattrs", "extended attributes of users", xattrs).needs(&["mkfs.xfs"]),
    Case::new("v4.acls", "nfs4_getfacl and nfs4_setfacl, and what the server has of it", acls)
        .needs(&["nfs4_setfacl", "setfacl", "mkfs.ext4"]),
];

const MIB: u64 = 1 << 20;

fn at(name: &str) -> String {
    format!("{MOUNT}/{name}")
}

/// A few megabytes that repeat nowhere.
fn data(len: u64) -> Vec<u8> {
    let block = |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes();
    (0..len / 8).flat_map(block).collect()
}

fn fill(session: &Session, name: &str, len: u64) -> Result<Vec<u8>> {
    let wanted = data(len);
    let file = session.create(at(name), 0o644)?;
    for (number, part) in wanted.chunks(MIB as usize).enumerate() {
        session.write(file, number as u64 * MIB, part)?;
    }
    session.sync(file)?;
    session.close(file)?;
    Ok(wanted)
}

fn holes(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Xfs(320), Setup::default(), "vers=4.2")?;
    let session = client.root()?;
    let there = scene.directory().join("file");
    let used = || Ok::<_, anyhow::Error>(fs::metadata(&there)?.blocks() * 512);
    let file = session.create(at("file"), 0o644)?;

    session.allocate(file, Allocation::Grow, 0, 2 * MIB)?;
    same!(fs::metadata(&there)?.len(), 2 * MIB, "the size after fallocate");
    ensure!(used()? >= 2 * MIB, "{} bytes are reserved, not 2 MiB", used()?);
    session.close(file)?;
    session.unlink(at("file"))?;

    let mut wanted = fill(&session, "file", 4 * MIB)?;
    let file = session.open(at("file"), Open::RDWR, 0)?;
    let full = used()?;
    session.allocate(file, Allocation::Punch, MIB, MIB)?;
    wanted[MIB as usize..2 * MIB as usize].fill(0);
    ensure!(used()? <= full - MIB, "the hole takes room: {} of {full}", used()?);
    client.drop_caches()?;
    for part in 0..4 {
        let found = session.read(file, part * MIB, MIB as u32)?;
        let from = (part * MIB) as usize;
        ensure!(found == wanted[from..from + MIB as usize], "MiB {part} after punching a hole");
    }
    ensure!(fs::read(&there)? == wanted, "the file on the server after punching a hole");

    for (what, found, place) in [
        ("the first hole", session.seek_hole(file, 0)?, MIB),
        ("the hole that one is in", session.seek_hole(file, MIB + 5)?, MIB + 5),
        ("the data behind the hole", session.seek_data(file, MIB)?, 2 * MIB),
        ("the data that one is in", session.seek_data(file, 3 * MIB + 7)?, 3 * MIB + 7),
        ("the hole at the end", session.seek_hole(file, 2 * MIB)?, 4 * MIB),
    ] {
        same!(found, place, "{what}");
    }
    fails(session.seek_data(file, 4 * MIB), Errno::NXIO, "data at the end")?;
    fails(session.seek_hole(file, 5 * MIB), Errno::NXIO, "a hole behind the end")?;
    // Only SEEK calls can have told.
    let stats = client.check("cat /proc/self/mountstats")?;
    ensure!(super::super::mount::calls(&stats, "SEEK")? >= 7, "no SEEK calls");

    // More than there is.
    let too_much = session.allocate(file, Allocation::Grow, 0, 1 << 30);
    fails(too_much, Errno::NOSPC, "room that the file system has not")?;
    same!(session.file_stat(file)?.size, 4 * MIB, "the size after that");

    // A copy of a sparse file is sparse.
    client.check(&format!("cp --sparse=auto {MOUNT}/file {MOUNT}/copy"))?;
    ensure!(fs::read(scene.directory().join("copy"))? == wanted, "the copy differs");
    Ok(())
}

fn copies(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Xfs(320), Setup::default(), "vers=4.2,nconnect=4")?;
    let session = client.root()?;
    let directory = scene.directory().to_owned();
    let calls = |procedure: &str| {
        super::super::mount::calls(&client.check("cat /proc/self/mountstats")?, procedure)
    };
    let wanted = fill(&session, "source", 8 * MIB)?;

    let from = session.open(at("source"), Open::RDONLY, 0)?;
    let to = session.create(at("part"), 0o644)?;
    session.write(to, 0, b"before")?;
    let mut done = 0;
    while done < 5 * MIB {
        let (source, target) = ((from, 1000 + done), (to, 6 + done));
        let count = session.copy_range(source, target, 5 * MIB - done)?;
        ensure!(count > 0, "nothing is copied at {done}");
        done += count;
    }
    session.sync(to)?;
    let part = fs::read(directory.join("part"))?;
    same!(part.len() as u64, 6 + 5 * MIB, "the size of the copied part");
    ensure!(&part[..6] == b"before", "what was there before the copied part");
    ensure!(part[6..] == wanted[1000..1000 + 5 * MIB as usize], "the copied part");
    client.drop_caches()?;
    ensure!(session.get(at("part"))? == part[..MIB as usize], "the copied part for the client");
    // The end of the source ends the copy.
    same!(session.copy_range((from, 8 * MIB - 10), (to, 0), MIB)?, 10, "bytes before the end");
    same!(session.copy_range((from, 8 * MIB), (to, 0), MIB)?, 0, "bytes at the end");
    ensure!(calls("COPY")? > 0, "no COPY calls: {} READ calls", calls("READ")?);

    let free = || session.space(MOUNT).map(|space| space.free);
    client.check("sync")?;
    let before = free()?;
    client.check(&format!("cp --reflink=always {MOUNT}/source {MOUNT}/clone && sync"))?;
    let taken = before.saturating_sub(free()?);
    ensure!(taken < 2 * MIB, "a clone of 8 MiB takes {taken} bytes");
    ensure!(fs::read(directory.join("clone"))? == wanted, "the clone differs");
    same!(calls("CLONE")?, 1, "CLONE calls");
    // Each goes its own way from here.
    let clone = session.open(at("clone"), Open::RDWR, 0)?;
    session.write(clone, 0, b"changed")?;
    session.sync(clone)?;
    ensure!(fs::read(directory.join("source"))? == wanted, "the source changed with its clone");
    ensure!(fs::read(directory.join("clone"))?.starts_with(b"changed"), "the clone's change");
    client
        .check(&format!("cp {MOUNT}/source {MOUNT}/plain && cmp {MOUNT}/source {MOUNT}/plain"))?;
    Ok(())
}

/// The names of users' attributes; ACLs look like attributes, too.
fn of_users(session: &Session, path: &str) -> Result<Vec<String>> {
    let mut names = session.xattrs(path)?;
    names.retain(|name| name.starts_with("user."));
    Ok(names)
}

fn xattrs(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Xfs(320), Setup::default(), "vers=4.2")?;
    let session = client.root()?;
    session.put(at("file"), 0o644, b"content")?;
    session.mkdir(at("directory"), 0o755)?;
    let large = data(60_000);
    for name in ["file", "directory"] {
        let path = at(name);
        fails(session.xattr(&*path, "user.none"), Errno::NODATA, "an attribute that is not there")?;
        session.set_xattr(&*path, "user.one", b"first")?;
        session.set_xattr(&*path, "user.one", b"second")?;
        session.set_xattr(&*path, "user.empty", b"")?;
        session.set_xattr(&*path, "user.gr\u{fc}n", b"\x00\xff")?;
        session.set_xattr(&*path, "user.large", &large)?;
        client.drop_caches()?;
        same!(session.xattr(&*path, "user.one")?, b"second", "an attribute of the {name}");
        same!(session.xattr(&*path, "user.empty")?, b"", "an empty attribute of the {name}");
        same!(session.xattr(&*path, "user.gr\u{fc}n")?, b"\x00\xff", "bytes of the {name}");
        ensure!(session.xattr(&*path, "user.large")? == large, "a large attribute of the {name}");
        let names = ["user.empty", "user.gr\u{fc}n", "user.large", "user.one"];
        same!(of_users(&session, &path)?, names, "the {name}'s attributes");
        session.remove_xattr(&*path, "user.large")?;
        fails(session.remove_xattr(&*path, "user.large"), Errno::NODATA, "removing it again")?;
        let local = scene.local_session()?;
        let there = scene.directory().join(name).display().to_string();
        same!(local.xattr(&*there, "user.one")?, b"second", "the {name}'s on the server");
        local.set_xattr(&*there, "user.local", b"x")?;
        client.drop_caches()?;
        same!(session.xattr(&*path, "user.local")?, b"x", "one that was set on the server");
    }
    // Names are the file's, not the mount's.
    let said =
        client.check(&format!("cp -a {MOUNT}/file {MOUNT}/copy && getfattr -d {MOUNT}/copy"));
    if let Ok(said) = said {
        ensure!(said.contains("user.one=\"second\""), "the copy's attributes:\n{said}");
    }
    let many = |number: u32| format!("user.{number:0>200}");
    session.put(at("many"), 0o644, b"x")?;
    for number in 0..150 {
        session.set_xattr(at("many"), &many(number), b"x")?;
    }
    same!(of_users(&session, &at("many"))?, (0..150).map(many).collect::<Vec<_>>(), "many names");
    Ok(())
}

fn acls(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Image(64), Setup::default(), "vers=4.2")?;
    let session = client.root()?;
    let there = scene.directory().join("file").display().to_string();
    session.put(at("file"), 0o640, b"content")?;
    let plain = client.check(&format!("nfs4_getfacl {MOUNT}/file"))?;
    for wanted in ["A::OWNER@:", "A:g:GROUP@:", "A::EVERYONE@:"] {
        ensure!(plain.contains(wanted), "no {wanted} in\n{plain}");
    }
    scene.host(&format!("setfacl -m u:1000:rw,g:2000:r {there}"))?;
    client.drop_caches()?;
    let told = client.check(&format!("nfs4_getfacl {MOUNT}/file"))?;
    for wanted in [":1000:r", ":2000:r"] {
        ensure!(told.contains(wanted), "no {wanted} in\n{told}");
    }
    client.check(&format!("nfs4_setfacl -a A::1001:RWX {MOUNT}/file"))?;
    let kept = scene.host(&format!("getfacl -cn {there}"))?;
    for wanted in ["user:1000:rw-", "user:1001:rwx", "group:2000:r--", "other::---"] {
        ensure!(kept.contains(wanted), "no {wanted} in\n{kept}");
    }
    // Who is named there may; who is not may not.
    let member = client.session(&crate::wire::Who::user(1001, 100))?;
    let stranger = client.session(&crate::wire::Who::user(1002, 100))?;
    same!(member.get(at("file"))?, b"content", "the file, for a user that the ACL names");
    fails(stranger.get(at("file")), Errno::ACCESS, "the file, for a stranger")?;
    // Entries come back in other words than they went.
    client.check(&format!(
        "nfs4_getfacl {MOUNT}/file | grep -v -e :1001: -e '^#' >/run/tmp/acl && \
         nfs4_setfacl -S /run/tmp/acl {MOUNT}/file"
    ))?;
    let kept = scene.host(&format!("getfacl -cn {there}"))?;
    ensure!(!kept.contains("1001"), "still in\n{kept}");
    fails(member.get(at("file")), Errno::ACCESS, "the file, for a user that was taken out")?;

    // What a directory gives to those made in it.
    session.mkdir(at("directory"), 0o755)?;
    client.check(&format!("nfs4_setfacl -a A:fd:1003:RWX {MOUNT}/directory"))?;
    session.put(at("directory/inside"), 0o666, b"inherited")?;
    let inside = scene.host(&format!("getfacl -cn {}/directory/inside", scene.path()))?;
    ensure!(inside.contains("user:1003:rw"), "nothing inherited:\n{inside}");
    Ok(())
}
