//! Finding the server, mounting, and what client and server agree on.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::{NFS_PORT, Setup};
use crate::session::{Errno, fails};
use crate::wire::Who;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("mount.negotiate", "1 MiB transfers and 16 connections", negotiate).needs(&["ss"]),
    Case::new("mount.portmap", "rpcinfo, showmount, and mounting with named ports", portmap)
        .needs(&["rpcinfo", "showmount"]),
    Case::new("mount.paths", "part of an export, and what is refused", paths),
    Case::new("mount.acl", "getfacl and setfacl, and what the server has of it", acl)
        .needs(&["setfacl", "mkfs.ext4"]),
];

/// The options that the kernel shows for a mount.
pub(super) fn options(client: &Client, directory: &str) -> Result<Vec<String>> {
    let mounts = client.check("cat /proc/mounts")?;
    let mount = mounts
        .lines()
        .find(|line| line.split(' ').nth(1) == Some(directory))
        .with_context(|| format!("{directory} is not in /proc/mounts"))?;
    let options = mount.split(' ').nth(3).context("a mount has no options")?;
    Ok(options.split(',').map(str::to_owned).collect())
}

fn negotiate(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=16")?;
    let agreed = options(&client, MOUNT)?;
    for wanted in [
        "vers=3",
        "rsize=1048576",
        "wsize=1048576",
        "namlen=255",
        "proto=tcp",
        "nconnect=16",
        "hard",
    ] {
        ensure!(agreed.iter().any(|option| option == wanted), "no {wanted} in {agreed:?}");
    }
    // A connection opens when the first call goes over it, and calls go round.
    let session = client.root()?;
    for number in 0..64 {
        session.put(format!("{MOUNT}/file{number}"), 0o644, b"something")?;
    }
    let command = format!("ss -Htn state established '( sport = :{NFS_PORT} )'");
    let connections = scene.host(&command)?;
    let peer = client.address().to_string();
    let count = connections.lines().filter(|line| line.contains(&peer)).count();
    same!(count, 16, "connections on the server in\n{connections}");
    // A transfer of the agreed size really is one call.
    client.check(&format!("dd if=/dev/zero of={MOUNT}/large bs=1M count=8 conv=fsync"))?;
    client.drop_caches()?;
    client.check(&format!("dd if={MOUNT}/large of=/dev/null bs=1M count=8 iflag=direct"))?;
    let stats = client.check("cat /proc/self/mountstats")?;
    same!(calls(&stats, "READ")?, 8, "READ calls for 8 MiB with O_DIRECT");
    Ok(())
}

/// How many calls of a kind the one NFS mount has made.
pub(super) fn calls(mountstats: &str, procedure: &str) -> Result<u64> {
    let prefix = format!("{procedure}:");
    let line = mountstats
        .lines()
        .find_map(|line| line.trim().strip_prefix(&prefix))
        .with_context(|| format!("no {procedure} in /proc/self/mountstats"))?;
    line.split_whitespace()
        .next()
        .and_then(|count| count.parse().ok())
        .with_context(|| format!("not a count: {line}"))
}

fn portmap(scene: &mut Scene) -> Result<()> {
    // No ports given: mount.nfs(8) has asked the port mapper for both.
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock")?;
    let (server, path) = (client.server(), scene.path());
    let list = client.check(&format!("rpcinfo -p {server}"))?;
    let port = |program: &str, version: &str| -> Result<u16> {
        list.lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|row| row.len() >= 4 && row[..3] == [program, version, "tcp"])
            .and_then(|row| row[3].parse().ok())
            .with_context(|| {
                format!("program {program} version {version} over TCP is not in\n{list}")
            })
    };
    same!(port("100003", "3")?, NFS_PORT, "the port of NFS");
    same!(port("100000", "2")?, 111, "the port of the port mapper");
    let mount_port = port("100005", "3")?;

    for (program, version) in [("nfs", 3), ("mountd", 3), ("portmapper", 2)] {
        let ping = client.check(&format!("rpcinfo -T tcp {server} {program} {version}"))?;
        ensure!(ping.contains("ready and waiting"), "{program} {version}: {ping}");
    }
    let wrong = client.run(&format!("rpcinfo -T tcp {server} nfs 99"))?;
    ensure!(wrong.status != 0, "NFS version 99: {}", wrong.text());

    let exports = client.check(&format!("showmount --no-headers -e {server}"))?;
    same!(
        exports.split_whitespace().next(),
        Some(path.as_str()),
        "what showmount -e shows:\n{exports}"
    );
    client.check(&format!("showmount -a {server}"))?;

    client.mount(
        &format!("vers=3,nolock,port={NFS_PORT},mountport={mount_port},mountproto=tcp"),
        &path,
        "/mnt/ports",
    )?;
    client.unmount("/mnt/ports")?;
    client.unmount(MOUNT)?;
    client.mount("vers=3,nolock", &path, MOUNT)?;
    client.halt()
}

fn paths(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock")?;
    let directory = scene.directory().to_owned();
    std::fs::create_dir_all(directory.join("part/of it"))?;
    std::fs::write(directory.join("part/of it/file"), "found")?;
    std::fs::write(directory.join("a-file"), "not a directory")?;
    let path = scene.path();
    // A blank in a path of mount(8) needs no quoting but the shell's.
    client.mount("vers=3,nolock", &format!("'{path}/part/of it'"), "/mnt/part")?;
    same!(client.check("cat /mnt/part/file")?, "found", "a file below a mounted part");
    client.check("cd /mnt/part/.. && ls nfs")?;

    // Upwards leads nowhere.
    let above = client.try_mount("vers=3,nolock,retry=0", &format!("{path}/.."), "/mnt/above")?;
    if above.status == 0 {
        same!(
            client.check("ls /mnt/above")?,
            client.check(&format!("ls {MOUNT}"))?,
            "above the export"
        );
    }
    for (wrong, reason) in [
        (format!("{path}/a-file"), "is not a directory"),
        (format!("{path}/none"), "No such file or directory"),
        ("/etc".to_owned(), "No such file or directory"),
    ] {
        let begun = Instant::now();
        let refused = client.try_mount("vers=3,nolock,retry=0", &wrong, "/mnt/wrong")?;
        let words = refused.errors();
        ensure!(refused.status == 32, "mounting {wrong}: {} {words}", refused.status);
        // Whether a path outside is unknown or forbidden is the server's to say; never more.
        let said =
            [reason, "access denied by server"].iter().any(|words_of| words.contains(words_of));
        ensure!(said, "mounting {wrong} is refused with: {words}");
        ensure!(begun.elapsed() < Duration::from_secs(10), "mounting {wrong} took too long");
    }
    Ok(())
}

fn acl(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Image(64), Setup::default(), "vers=3,nolock")?;
    let there = scene.directory().join("file").display().to_string();
    // cp -p sets a list first and then the mode.
    client.check(&format!("echo text >/run/tmp/file && cp -p /run/tmp/file {MOUNT}/file"))?;
    client.check(&format!("chmod 600 {MOUNT}/file"))?;
    let member = client.session(&Who::user(1001, 100))?;
    fails(member.get(format!("{MOUNT}/file")), Errno::ACCESS, "the file, for a stranger")?;
    client.check(&format!("setfacl -m u:1001:rw,g:2000:r {MOUNT}/file"))?;
    let kept = scene.host(&format!("getfacl -cn {there}"))?;
    for wanted in ["user::rw-", "user:1001:rw-", "group:2000:r--", "mask::rw-", "other::---"] {
        ensure!(kept.contains(wanted), "no {wanted} in\n{kept}");
    }
    client.drop_caches()?;
    let told = client.check(&format!("getfacl -cn {MOUNT}/file"))?;
    same!(told.trim(), kept.trim(), "the list that the client shows");
    same!(member.get(format!("{MOUNT}/file"))?, b"text\n", "the file, for a user that is named");
    client.check(&format!("setfacl -b {MOUNT}/file"))?;
    fails(member.get(format!("{MOUNT}/file")), Errno::ACCESS, "the file, for a stranger again")?;
    // What a directory gives to those made in it, here and there.
    client.check(&format!("mkdir {MOUNT}/dir && setfacl -d -m u:1003:rwx {MOUNT}/dir"))?;
    client.check(&format!("touch {MOUNT}/dir/inside"))?;
    let inside = scene.host(&format!("getfacl -cn {}/dir/inside", scene.path()))?;
    ensure!(inside.contains("user:1003:rw"), "nothing inherited:\n{inside}");
    same!(client.check(&format!("getfacl -cn {MOUNT}/dir/inside"))?.trim(), inside.trim(), "it");
    Ok(())
}
