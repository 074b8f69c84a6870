//! The server's data comes back behind another device, as a volume does that is attached to another
//! pod or host: handles have to mean the same files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use anyhow::{Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::{Rights, Setup};
use crate::version::Version;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new(
        "moved.pod",
        "an ordinary user's server: open files outlive a move to another device and state directory",
        pod,
    )
    .needs(&["mkfs.xfs", "mkfs.ext4"]),
    Case::new("moved.disk", "the same of a server that is root, with handles of the kernel", disk)
        .needs(&["mkfs.xfs", "mkfs.ext4"]),
];

fn pod(scene: &mut Scene) -> Result<()> {
    moved(scene, Rights::None)
}

fn disk(scene: &mut Scene) -> Result<()> {
    moved(scene, Rights::Root)
}

/// XFS names itself by the number of its device, unless it is asked for its UUID.
fn moved(scene: &mut Scene, rights: Rights) -> Result<()> {
    let directory = scene.export(Backing::Xfs(300))?;
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777))?;
    scene.serve_with(rights);
    let mut setup = Setup::default();
    // An ordinary user's server cannot stand in for rpcbind.
    let options = match scene.version() {
        Version::V3 => {
            "vers=3,nolock,proto=tcp,port=2049,mountport=2049,mountproto=tcp,mountvers=3"
        }
        _ => "vers=3,nolock",
    };
    if scene.version() == Version::V40 {
        setup.arguments = ["--grace-secs", "4"].map(str::to_owned).to_vec();
    }
    scene.start_server(setup)?;
    let client = scene.boot_client()?;
    client.mount(options, &scene.path(), MOUNT)?;
    let session = client.root()?;
    session.mkdir(format!("{MOUNT}/deep"), 0o755)?;
    session.chdir(format!("{MOUNT}/deep"))?;
    let open = session.create("open", 0o644)?;
    session.write(open, 0, b"before")?;
    session.sync(open)?;
    session.put("beside", 0o644, b"beside")?;
    let before = session.stat("beside")?;

    scene.stop_server()?;
    let device = fs::metadata(&directory)?.dev();
    // What is mounted first gets the loop device that the export had. The state directory becomes
    // another one, too.
    scene.host(&format!(
        "umount {export}
         truncate -s 8M other && mkfs.ext4 -q other && mkdir elsewhere
         mount -o loop other elsewhere
         mount -o loop {image} {export}
         cp -a state moved && rm -r state && mv moved state",
        export = directory.display(),
        image = scene.image_file().display(),
    ))?;
    ensure!(fs::metadata(&directory)?.dev() != device, "the device is the same as before");
    scene.restart_server()?;
    client.drop_caches()?;
    same!(session.read(open, 0, 100)?, b"before", "an open file");
    session.write(open, 0, b"after!")?;
    session.sync(open)?;
    same!(fs::read(directory.join("deep/open"))?, b"after!", "the open file on the server");
    same!(session.get("beside")?, b"beside", "a file beside it");
    same!(session.stat("beside")?.ino, before.ino, "its number");
    Ok(())
}
