//! Owners and groups by name.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

use anyhow::Result;

use super::super::{Case, people};
use super::{at, some_versions};
use crate::scene::{Backing, Scene};
use crate::server::Setup;

/// The tests of this theme.
pub const CASES: &[Case] =
    &[Case::new("names.idmap", "a user with another number on the client keeps the name", idmap)
        .needs(&["request-key", "nfsidmap"])];

/// The number that the user has on the client only.
const ELSEWHERE: u32 = 515_151;

fn idmap(scene: &mut Scene) -> Result<()> {
    let directory = scene.export(Backing::Memory)?;
    people::invite(scene)?;
    let arguments = ["--idmap", "names", "--nfs4-domain", "e2e.test"].map(str::to_owned);
    scene.start_server(Setup { arguments: arguments.to_vec(), ..Setup::default() })?;
    fs::write(directory.join("theirs"), "x")?;
    chown(directory.join("theirs"), Some(people::UID), Some(people::GID))?;
    fs::write(directory.join("mine"), "x")?;
    let client = scene.boot_client()?;
    // The guest's own files, over those that it sees of this machine.
    client.check(&format!(
        "cd /run && for file in passwd group; do
             sed 's/{}/{ELSEWHERE}/g' /etc/$file >$file && mount --bind $file /etc/$file || exit 1
         done
         printf '[General]\\nDomain = e2e.test\\n' >idmapd.conf
         mount --bind idmapd.conf /etc/idmapd.conf",
        people::UID
    ))?;
    for version in some_versions(scene) {
        let mount = || client.mount(&format!("vers={version}"), &scene.path(), &at(*version, ""));
        // The module has to be there, and what it is told counts from the next mount on.
        mount()?;
        client.check("echo N >/sys/module/nfs/parameters/nfs4_disable_idmapping")?;
        client.unmount(&at(*version, ""))?;
        mount()?;
        let session = client.root()?;
        let theirs = session.stat(at(*version, "theirs"))?;
        same!((theirs.uid, theirs.gid), (ELSEWHERE, ELSEWHERE), "{version}: a name of both");
        for (uid, there) in [(ELSEWHERE, people::UID), (616_161, 616_161), (0, 0)] {
            session.chown(at(*version, "mine"), Some(uid), Some(uid))?;
            let mine = fs::metadata(directory.join("mine"))?;
            same!((mine.uid(), mine.gid()), (there, there), "{version}: {uid} on the server");
            let seen = session.stat(at(*version, "mine"))?;
            same!((seen.uid, seen.gid), (uid, uid), "{version}: {uid} on the client");
        }
    }
    Ok(())
}
