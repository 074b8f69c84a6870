//! One tree of all exports.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::super::Case;
use super::some_versions;
use crate::client::Client;
use crate::scene::{Backing, Scene};
use crate::server::{Exports, Setup};
use crate::session::{Errno, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.pseudo", "mount host:/ shows all exports, and crosses into them", tree),
    Case::new("v4.root", "an export with fsid=0 is the root", root),
    Case::new(
        "v4.submounts",
        "file systems mounted below an export, with crossmnt and without",
        below,
    ),
];

fn start(scene: &mut Scene, exports: &str) -> Result<Client> {
    scene.start_server(Setup { exports: Exports::File(exports.to_owned()), ..Setup::default() })?;
    scene.boot_client()
}

/// Makes a directory with one file that tells its name.
fn directory(top: &Path, name: &str) -> Result<String> {
    let path = top.join(name);
    fs::create_dir_all(&path)?;
    fs::write(path.join("name"), name)?;
    Ok(path.display().to_string())
}

fn tree(scene: &mut Scene) -> Result<()> {
    let top = scene.export(Backing::Memory)?;
    fs::write(top.join("secret"), "not exported")?;
    let [one, deep, inner, hidden] = [
        directory(&top, "one")?,
        directory(&top, "far/away/deep")?,
        directory(&top, "far/away/deep/within/inner")?,
        directory(&top, "hidden")?,
    ];
    let client = start(
        scene,
        &format!(
            "{one} *(rw,sync,no_subtree_check,no_root_squash)\n\
             {deep} *(ro,sync,no_subtree_check,no_root_squash)\n\
             {inner} *(rw,sync,no_subtree_check,no_root_squash)\n\
             {hidden} 192.0.2.1(rw,sync,no_subtree_check,no_root_squash)\n"
        ),
    )?;
    for version in some_versions(scene) {
        client.mount(&format!("vers={version}"), "/", "/mnt/all")?;
        let session = client.root()?;
        let at = |path: &str| format!("/mnt/all{path}");
        let names = |path: &str| -> Result<Vec<String>> {
            let names = session.list(at(path))?;
            let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
            let mut names: Vec<String> = names.into_iter().map(text).collect();
            names.sort();
            Ok(names)
        };
        // Only what leads to an export is there, and nothing of what lies beside it.
        same!(names("")?, ["run"], "{version}: the root");
        same!(names("/run")?, ["e2e"], "{version}: below the root");
        same!(names(&scene.path())?, ["far", "one"], "{version}: above the exports");
        let far = format!("{}/far", scene.path());
        same!(names(&far)?, ["away"], "{version}: on the way to an export");
        fails(session.stat(at(&hidden)), Errno::NOENT, "another client's export")?;
        fails(session.stat(at(&format!("{}/secret", scene.path()))), Errno::NOENT, "a file above")?;
        fails(session.get(at("/etc/passwd")), Errno::NOENT, "anything else")?;

        same!(session.get(at(&format!("{one}/name")))?, b"one", "{version}: a file of the first");
        let deep_name = session.get(at(&format!("{deep}/name")))?;
        same!(deep_name, b"far/away/deep", "{version}: a file of the second");
        same!(
            session.get(at(&format!("{inner}/name")))?,
            b"far/away/deep/within/inner",
            "{version}: a file of an export in an export"
        );
        // Each is its own file system with its own options.
        session.put(at(&format!("{one}/new")), 0o644, b"x")?;
        session.put(at(&format!("{inner}/new")), 0o644, b"x")?;
        let new = session.create(at(&format!("{deep}/new")), 0o644);
        fails(new, Errno::ROFS, "a new file in a read-only export")?;
        fails(session.mkdir(at("/new"), 0o755), Errno::ROFS, "a new directory in the root")?;
        let mounts = client.check("cat /proc/mounts")?;
        let crossed = mounts.lines().filter(|line| line.contains(" /mnt/all/run/")).count();
        ensure!(crossed >= 2, "{version}: no crossing is seen in\n{mounts}");
        let across = session.rename(at(&format!("{one}/new")), at(&format!("{inner}/moved")));
        fails(across, Errno::XDEV, "a rename from one export to another")?;
        session.unlink(at(&format!("{one}/new")))?;
        session.unlink(at(&format!("{inner}/new")))?;
        drop(session);
        client.check("umount -R /mnt/all || umount -l /mnt/all")?;

        // A part of the tree can be mounted, too.
        client.mount(&format!("vers={version}"), &format!("{}/far", scene.path()), "/mnt/far")?;
        same!(client.check("cat /mnt/far/away/deep/name")?, "far/away/deep", "part of the tree");
        client.check("umount -R /mnt/far || umount -l /mnt/far")?;
        let refused =
            client.try_mount(&format!("vers={version},retry=0"), &hidden, "/mnt/hidden")?;
        ensure!(refused.status == 32, "another client's export is mounted: {}", refused.status);
        scene.note(format!("{version}"));
    }
    Ok(())
}

fn root(scene: &mut Scene) -> Result<()> {
    let top = scene.export(Backing::Memory)?;
    let [all, part] = [directory(&top, "all")?, directory(&top, "all/part")?];
    let client = start(
        scene,
        &format!(
            "{all} *(rw,sync,no_subtree_check,no_root_squash,fsid=0)\n\
             {part} *(ro,sync,no_subtree_check,no_root_squash)\n"
        ),
    )?;
    for version in some_versions(scene) {
        let options = format!("vers={version}");
        client.mount(&options, "/", "/mnt/all")?;
        same!(client.check("cat /mnt/all/name")?, "all", "{version}: a file of the root");
        same!(client.check("cat /mnt/all/part/name")?, "all/part", "{version}: the export in it");
        let session = client.root()?;
        session.put("/mnt/all/new", 0o644, b"x")?;
        fails(session.create("/mnt/all/part/new", 0o644), Errno::ROFS, "the read-only part")?;
        drop(session);
        client.mount(&options, "/part", "/mnt/part")?;
        same!(client.check("cat /mnt/part/name")?, "all/part", "{version}: mounted from the root");
        client.check("umount /mnt/part; umount -R /mnt/all || umount -l /mnt/all")?;
    }
    Ok(())
}

fn below(scene: &mut Scene) -> Result<()> {
    let top = scene.export(Backing::Memory)?;
    let [open, closed] = [directory(&top, "open")?, directory(&top, "closed")?];
    for export in [&open, &closed] {
        scene.host(&format!(
            "mkdir {export}/sub && mount -t tmpfs sub {export}/sub && echo below >{export}/sub/file"
        ))?;
    }
    let client = start(
        scene,
        &format!(
            "{open} *(rw,sync,no_subtree_check,no_root_squash,crossmnt)\n\
             {closed} *(rw,sync,no_subtree_check,no_root_squash)\n"
        ),
    )?;
    for version in some_versions(scene) {
        let options = format!("vers={version}");
        client.mount(&options, &open, "/mnt/open")?;
        client.mount(&options, &closed, "/mnt/closed")?;
        let session = client.root()?;
        same!(session.get("/mnt/open/sub/file")?, b"below\n", "{version}: with crossmnt");
        session.put("/mnt/open/sub/new", 0o644, b"x")?;
        let (above, inside) = (session.stat("/mnt/open/name")?, session.stat("/mnt/open/sub/new")?);
        ensure!(above.ino != 0 && inside.ino != 0, "no inode numbers");
        let mounts = client.check("cat /proc/mounts")?;
        ensure!(mounts.contains(" /mnt/open/sub nfs4 "), "{version}: not its own mount:\n{mounts}");
        let listed = session.list("/mnt/open")?;
        ensure!(listed.contains(&b"sub".to_vec()), "{version}: sub is not listed");
        let across = session.link("/mnt/open/name", "/mnt/open/sub/link");
        fails(across, Errno::XDEV, "a link from one file system into another")?;
        session.unlink("/mnt/open/sub/new")?;
        // Neither what is mounted there nor what that covers.
        fails(session.list("/mnt/closed/sub"), Errno::ACCESS, "a mount without crossmnt")?;
        drop(session);
        client.check("umount /mnt/closed; umount -R /mnt/open || umount -l /mnt/open")?;
        scene.note(format!("{version}"));
    }
    Ok(())
}
