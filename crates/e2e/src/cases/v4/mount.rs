//! Mounting each minor version, and which one a client takes that does not ask for any.

use anyhow::{Result, ensure};

use super::super::Case;
use super::super::mount::{calls, options};
use super::{at, some_versions};
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::{NFS_PORT, Setup};
use crate::version::Version;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.mount", "each minor version with 1 MiB transfers and 16 connections", each)
        .needs(&["ss"]),
    Case::new("v4.tidy", "after unmounting the server has nothing open", tidy),
];

fn each(scene: &mut Scene) -> Result<()> {
    // Without a version a client takes the newest that both know.
    let client = scene.ordinary(Backing::Memory, Setup::default(), "rw")?;
    let agreed = options(&client, MOUNT)?;
    ensure!(agreed.contains(&"vers=4.2".to_owned()), "a plain mount is {agreed:?}");
    client.unmount(MOUNT)?;
    for version in Version::FOUR {
        let directory = at(version, "");
        client.mount(&format!("vers={version},nconnect=16"), &scene.path(), &directory)?;
        let agreed = options(&client, directory.trim_end_matches('/'))?;
        let wanted = format!("vers={version}");
        for wanted in [&wanted, "rsize=1048576", "wsize=1048576", "namlen=255", "proto=tcp", "hard"]
        {
            ensure!(agreed.iter().any(|option| option == wanted), "no {wanted} in {agreed:?}");
        }
        let session = client.root()?;
        for number in 0..64 {
            session.put(format!("{directory}file{number}"), 0o644, b"something")?;
        }
        let command = format!("ss -Htn state established '( sport = :{NFS_PORT} )'");
        let connections = scene.host(&command)?;
        let peer = client.address().to_string();
        let count = connections.lines().filter(|line| line.contains(&peer)).count();
        same!(count, 16, "connections of {version} on the server in\n{connections}");
        client.check(&format!(
            "dd if=/dev/zero of={directory}large bs=1M count=8 conv=fsync && \
             sync && echo 3 >/proc/sys/vm/drop_caches && \
             dd if={directory}large of=/dev/null bs=1M count=8 iflag=direct"
        ))?;
        let stats = client.check("cat /proc/self/mountstats")?;
        same!(calls(&stats, "READ")?, 8, "READ calls of {version} for 8 MiB with O_DIRECT");
        client.check(&format!("rm {directory}*"))?;
        client.unmount(&directory)?;
        scene.note(format!("{version} is mounted and unmounted"));
    }
    client.halt()
}

fn tidy(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=4.2,nconnect=4")?;
    client.unmount(MOUNT)?;
    for version in some_versions(scene) {
        let directory = at(*version, "");
        client.mount(&format!("vers={version}"), &scene.path(), &directory)?;
        let session = client.root()?;
        for number in 0..60 {
            session.put(format!("{directory}file{number}"), 0o644, b"something")?;
        }
        let open = session.create(format!("{directory}open"), 0o644)?;
        session.write(open, 0, b"x")?;
        session.unlink(format!("{directory}file0"))?;
        session.close(open)?;
        client.check(&format!("cat {directory}file* >/dev/null && rm {directory}*"))?;
        drop(session);
        client.unmount(&directory)?;
    }
    super::nothing_open(scene)?;
    // The next client finds it as it was.
    client.mount("vers=4.2", &scene.path(), MOUNT)?;
    client.root()?.put(format!("{MOUNT}/after"), 0o644, b"x")?;
    client.halt()
}
