//! Who may do what: the options of exports(5), and the modes of files.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;

use anyhow::{Result, ensure};

use super::{Case, people};
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::{Exports, Rights, Setup};
use crate::session::{Errno, Open, fails};
use crate::version::Version;
use crate::wire::Who;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new(
        "access.squash",
        "root_squash, no_root_squash, all_squash: the uids on the server",
        squash,
    ),
    Case::new(
        "access.capabilities",
        "a server that is not root but has the systemd unit's capabilities acts as its callers",
        capabilities,
    ),
    Case::new("access.read_only", "ro: everything can be read and nothing changed", read_only),
    Case::new("access.addresses", "exports for single hosts and networks", addresses),
    Case::new("access.secure", "secure wants a reserved port, insecure does not", secure),
    Case::new("access.directory", "hayase serve DIR: everyone, any port, root is nobody", plain),
    Case::new("access.groups", "supplementary groups and modes", groups),
    Case::new("access.many_groups", "--manage-gids: more groups than fit into a call", many_groups),
    Case::new("access.owner", "the owner of an open file may go on, whatever its mode", owner),
];

/// The user that stands for nobody.
const NOBODY: (u32, u32) = (65534, 65534);

/// Makes a directory that everyone can write, below the exported one.
fn directory(scene: &Scene, name: &str) -> Result<String> {
    let path = scene.directory().join(name);
    fs::create_dir(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    Ok(path.display().to_string())
}

/// The server with these exports, and one client that has mounted nothing.
fn start(scene: &mut Scene, exports: &str) -> Result<Client> {
    scene.start_server(Setup { exports: Exports::File(exports.to_owned()), ..Setup::default() })?;
    scene.boot_client()
}

/// Owner and group of a file on the server.
fn owner_of(path: impl AsRef<Path>) -> Result<(u32, u32)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.uid(), found.gid()))
}

fn capabilities(scene: &mut Scene) -> Result<()> {
    scene.serve_with(Rights::Unit);
    squash(scene)?;
    let status = scene.ask_server("status")?;
    let acts_as = status["acts_as"].as_str().unwrap_or_default();
    ensure!(acts_as.starts_with("requests act as their callers"), "{acts_as}");
    let uid = scene.host("stat -c %u state/lock")?;
    ensure!(uid.trim() != "0", "the server is root");
    Ok(())
}

fn squash(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let [root, plain, all] = [
        directory(scene, "no-root-squash")?,
        directory(scene, "root-squash")?,
        directory(scene, "all-squash")?,
    ];
    let client = start(
        scene,
        &format!(
            "{root} *(rw,sync,no_subtree_check,no_root_squash)\n\
             {plain} *(rw,sync,no_subtree_check)\n\
             {all} *(rw,sync,no_subtree_check,all_squash,anonuid=1234,anongid=5678)\n"
        ),
    )?;
    let places = [("/mnt/root", &root), ("/mnt/plain", &plain), ("/mnt/all", &all)];
    for (mounted, export) in places {
        client.mount("vers=3,nolock", export, mounted)?;
    }
    let (superuser, user) = (client.root()?, client.session(&Who::user(1000, 100))?);
    for (mounted, export, as_root, as_user) in [
        ("/mnt/root", &root, (0, 0), (1000, 100)),
        ("/mnt/plain", &plain, NOBODY, (1000, 100)),
        ("/mnt/all", &all, (1234, 5678), (1234, 5678)),
    ] {
        for (who, session, wanted) in [("root", &superuser, as_root), ("user", &user, as_user)] {
            let name = format!("by-{who}");
            session.put(format!("{mounted}/{name}"), 0o644, b"x")?;
            session.mkdir(format!("{mounted}/{name}.d"), 0o755)?;
            session.symlink("x", format!("{mounted}/{name}.l"))?;
            for kind in ["", ".d", ".l"] {
                let there = owner_of(format!("{export}/{name}{kind}"))?;
                same!(there, wanted, "owner of {name}{kind} in {export}");
            }
        }
    }

    // What root may do is what the name it is given may do.
    for export in [&root, &plain] {
        let secret = Path::new(export).join("secret");
        fs::write(&secret, "secret")?;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600))?;
    }
    same!(superuser.get("/mnt/root/secret")?, b"secret", "root without squash");
    fails(superuser.get("/mnt/plain/secret"), Errno::ACCESS, "squashed root reads root's file")?;
    fails(
        superuser.chown("/mnt/plain/by-user", Some(0), Some(0)),
        Errno::PERM,
        "squashed root gives a file away",
    )?;
    superuser.chown("/mnt/root/by-user", Some(7), Some(8))?;
    same!(owner_of(format!("{root}/by-user"))?, (7, 8), "root gives a file away");
    fails(user.chmod("/mnt/root/by-root", 0o777), Errno::PERM, "a user changes root's file's mode")
}

fn read_only(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let path = directory(scene, "ro")?;
    fs::write(format!("{path}/file"), "readable")?;
    let client = start(scene, &format!("{path} *(ro,sync,no_subtree_check,no_root_squash)\n"))?;
    // The mount itself is rw: it is the server that refuses.
    client.mount("vers=3,nolock,rw", &path, MOUNT)?;
    let session = client.root()?;
    let at = |name: &str| format!("{MOUNT}/{name}");
    same!(session.get(at("file"))?, b"readable", "a file of a read-only export");
    let refused = |result: Result<()>, what: &str| fails(result, Errno::ROFS, what);
    // In version 3 the client asks with ACCESS before it opens, and takes the answer for a matter
    // of modes.
    let not_open = if scene.version() == Version::V3 { Errno::ACCESS } else { Errno::ROFS };
    fails(session.open(at("file"), Open::WRONLY, 0), not_open, "opening to write")?;
    refused(session.create(at("new"), 0o644).map(drop), "creating")?;
    refused(session.mkdir(at("new"), 0o755), "mkdir")?;
    refused(session.symlink("x", at("new")), "symlink")?;
    refused(session.mknod(at("new"), 0o010_644, 0, 0), "mkfifo")?;
    refused(session.link(at("file"), at("new")), "link")?;
    refused(session.rename(at("file"), at("new")), "rename")?;
    refused(session.unlink(at("file")), "unlink")?;
    refused(session.chmod(at("file"), 0o600), "chmod")?;
    same!(fs::read(format!("{path}/file"))?, b"readable", "the file after all");
    same!(fs::read_dir(&path)?.count(), 1, "names in the directory after all");
    Ok(())
}

fn addresses(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let [mine, network, other, mixed] = [
        directory(scene, "mine")?,
        directory(scene, "network")?,
        directory(scene, "other")?,
        directory(scene, "mixed")?,
    ];
    // The first client is 10.99.1.2, the second 10.99.2.2.
    let exports = format!(
        "{mine} 10.99.1.2(rw,sync,no_subtree_check,no_root_squash)\n\
         {network} 10.99.1.0/24(rw,sync,no_subtree_check,no_root_squash)\n\
         {other} 10.99.2.0/255.255.255.0(rw,sync,no_subtree_check)\n\
         {mixed} 10.99.1.2(ro,sync,no_subtree_check) \
                 10.99.2.2(rw,sync,no_subtree_check,no_root_squash)\n"
    );
    scene.start_server(Setup { exports: Exports::File(exports), ..Setup::default() })?;
    let [first, second] = scene.boot_two_clients()?;
    let version = scene.version();
    for (client, export, allowed) in [
        (&first, &mine, true),
        (&first, &network, true),
        (&first, &other, false),
        (&second, &mine, false),
        (&second, &network, false),
        (&second, &other, true),
        (&first, &mixed, true),
        (&second, &mixed, true),
    ] {
        let number = client.number();
        let directory = format!("/mnt/{}", export.rsplit('/').next().unwrap_or_default());
        let output = client.try_mount("vers=3,nolock,retry=0", export, &directory)?;
        same!(output.status == 0, allowed, "client {number} mounts {export}: {}", output.errors());
        if !allowed {
            let words = output.errors();
            // In version 4 a client does not even see what it may not mount.
            let wanted = if version == Version::V3 { "access denied" } else { "No such file" };
            ensure!(words.contains(wanted), "client {number}, {export}: {words}");
        }
    }
    let (first_root, second_root) = (first.root()?, second.root()?);
    first_root.put("/mnt/mine/file", 0o644, b"x")?;
    fails(first_root.create("/mnt/mixed/file", 0o644), Errno::ROFS, "the client that may read")?;
    second_root.put("/mnt/mixed/file", 0o644, b"x")?;
    same!(owner_of(format!("{mixed}/file"))?, (0, 0), "the file of the client that may write");
    Ok(())
}

fn secure(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let [secure, insecure] = [directory(scene, "secure")?, directory(scene, "insecure")?];
    let client = start(
        scene,
        &format!(
            "{secure} *(rw,sync,no_subtree_check,no_root_squash)\n\
             {insecure} *(rw,sync,no_subtree_check,no_root_squash,insecure)\n"
        ),
    )?;
    client.mount("vers=3,nolock", &secure, "/mnt/secure")?;
    client.root()?.put("/mnt/secure/file", 0o644, b"x")?;
    client.unmount("/mnt/secure")?;
    client.mount("vers=3,nolock,noresvport", &insecure, "/mnt/insecure")?;
    client.root()?.put("/mnt/insecure/file", 0o644, b"x")?;
    client.unmount("/mnt/insecure")?;
    // Whether the mount or the first call on it is refused is not said anywhere.
    let refused = client.try_mount("vers=3,nolock,noresvport,retry=0", &secure, "/mnt/secure")?;
    if refused.status == 0 {
        let session = client.root()?;
        ensure!(
            session.get("/mnt/secure/file").is_err(),
            "a call from a port that is not reserved"
        );
    }
    Ok(())
}

fn plain(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let path = scene.directory().to_owned();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    scene.start_server(Setup { exports: Exports::Directory, ..Setup::default() })?;
    let client = scene.boot_client()?;
    client.mount("vers=3,nolock,noresvport", &scene.path(), MOUNT)?;
    client.root()?.put(format!("{MOUNT}/by-root"), 0o644, b"x")?;
    client.session(&Who::user(1000, 100))?.put(format!("{MOUNT}/by-user"), 0o644, b"x")?;
    same!(owner_of(path.join("by-root"))?, NOBODY, "owner of root's file");
    same!(owner_of(path.join("by-user"))?, (1000, 100), "owner of a user's file");
    // One directory needs no path.
    client.mount("vers=3,nolock", "/", "/mnt/short")?;
    same!(client.root()?.get("/mnt/short/by-root")?, b"x", "the file under the short path");
    // Nor has root, who is nobody, to be let into a directory to mount it.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
    chown(&path, Some(1000), Some(100))?;
    for (export, place) in [(&*scene.path(), "/mnt/by-path"), ("/", "/mnt/by-root")] {
        client.mount("vers=3,nolock,noac", export, place)?;
        let name = format!("{place}/by-user");
        same!(client.session(&Who::user(1000, 100))?.get(name)?, b"x", "{place} for its owner");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    // In good order, so that the next server has nobody to wait for.
    client.halt()?;

    scene.stop_server()?;
    scene.start_server(Setup {
        exports: Exports::Directory,
        arguments: vec!["--read-only".to_owned()],
        ..Setup::default()
    })?;
    let client = scene.boot_client()?;
    client.mount("vers=3,nolock", &scene.path(), MOUNT)?;
    let user = client.session(&Who::user(1000, 100))?;
    same!(user.get(format!("{MOUNT}/by-user"))?, b"x", "a file with --read-only");
    fails(user.create(format!("{MOUNT}/new"), 0o644), Errno::ROFS, "a new file with --read-only")
}

fn groups(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let path = scene.directory().to_owned();
    DirBuilder::new().mode(0o770).create(path.join("team"))?;
    chown(path.join("team"), Some(0), Some(3000))?;
    // Set-group-id: what is made inside belongs to the group.
    fs::set_permissions(path.join("team"), fs::Permissions::from_mode(0o2770))?;
    DirBuilder::new().create(path.join("sticky"))?;
    fs::set_permissions(path.join("sticky"), fs::Permissions::from_mode(0o1777))?;
    scene.start_server(Setup::default())?;
    let client = scene.boot_client()?;
    client.mount("vers=3,nolock", &scene.path(), MOUNT)?;

    // AUTH_SYS carries sixteen groups.
    let member = Who { uid: 1000, gid: 100, groups: (2985..=3000).collect() };
    let member = client.session(&member)?;
    let stranger = client.session(&Who::user(1001, 100))?;
    member.put(format!("{MOUNT}/team/file"), 0o640, b"ours")?;
    same!(owner_of(path.join("team/file"))?, (1000, 3000), "a file in the group's directory");
    member.mkdir(format!("{MOUNT}/team/below"), 0o755)?;
    let below = fs::metadata(path.join("team/below"))?;
    same!((below.gid(), below.mode() & 0o7777), (3000, 0o2755), "a directory in it");
    fails(stranger.get(format!("{MOUNT}/team/file")), Errno::ACCESS, "a stranger reads")?;
    fails(stranger.list(format!("{MOUNT}/team")), Errno::ACCESS, "a stranger lists")?;
    fails(
        stranger.create(format!("{MOUNT}/team/new"), 0o644),
        Errno::ACCESS,
        "a stranger creates",
    )?;

    member.put(format!("{MOUNT}/sticky/file"), 0o666, b"mine")?;
    fails(stranger.unlink(format!("{MOUNT}/sticky/file")), Errno::ACCESS, "sticky: unlink")
        .or_else(|_| {
            fails(stranger.unlink(format!("{MOUNT}/sticky/file")), Errno::PERM, "sticky: unlink")
        })?;
    ensure!(path.join("sticky/file").exists(), "a stranger removed a file from a sticky directory");
    member.unlink(format!("{MOUNT}/sticky/file"))
}

fn owner(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    let path = scene.directory().to_owned();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    scene.start_server(Setup::default())?;
    let client = scene.boot_client()?;
    client.mount("vers=3,nolock", &scene.path(), MOUNT)?;
    let user = client.session(&Who::user(1000, 100))?;

    // git writes its objects so: the mode forbids it, the open file allows it.
    let object =
        user.open(format!("{MOUNT}/object"), Open::WRONLY | Open::CREATE | Open::EXCL, 0o444)?;
    user.write(object, 0, b"content")?;
    user.sync(object)?;
    user.close(object)?;
    same!(fs::read(path.join("object"))?, b"content", "a file made with mode 0444");
    same!(fs::metadata(path.join("object"))?.mode() & 0o7777, 0o444, "its mode");
    fails(
        user.open(format!("{MOUNT}/object"), Open::WRONLY, 0),
        Errno::ACCESS,
        "opening it again to write",
    )?;

    let late = user.create(format!("{MOUNT}/late"), 0o600)?;
    user.write(late, 0, b"before")?;
    user.chmod(format!("{MOUNT}/late"), 0)?;
    user.write(late, 6, b" after")?;
    user.sync(late)?;
    client.drop_caches()?;
    same!(user.read(late, 0, 100)?, b"before after", "a file whose mode was taken away");
    user.set_len(late, 6)?;
    same!(fs::read(path.join("late"))?, b"before", "the file cut by its owner");
    fails(user.get(format!("{MOUNT}/late")), Errno::ACCESS, "opening it by name")?;

    // A program that may be run but not read is run: the client reads it for that.
    fs::copy("/bin/true", path.join("program"))?;
    fs::set_permissions(path.join("program"), fs::Permissions::from_mode(0o111))?;
    let run = client.start_as(&Who::user(1000, 100), &format!("{MOUNT}/program"))?;
    run.succeed(std::time::Duration::from_secs(30))?;
    Ok(())
}

fn many_groups(scene: &mut Scene) -> Result<()> {
    scene.export(Backing::Memory)?;
    people::invite(scene)?;
    let path = scene.directory().to_owned();
    let [last, other] = [path.join("last"), path.join("other")];
    for (dir, gid) in [(&last, people::LAST_GROUP), (&other, 3000)] {
        fs::create_dir(dir)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o770))?;
        chown(dir, Some(0), Some(gid))?;
    }
    let arguments = vec!["--manage-gids".to_owned()];
    scene.start_server(Setup { arguments, ..Setup::default() })?;
    let client = scene.boot_client()?;
    client.mount("vers=3,nolock", &scene.path(), MOUNT)?;
    // The client states none of the groups that count, and one that does not.
    let guest = Who { uid: people::UID, gid: people::GID, groups: vec![3000] };
    let guest = client.session(&guest)?;
    guest.put(format!("{MOUNT}/last/file"), 0o640, b"ours")?;
    same!(owner_of(last.join("file"))?, (people::UID, people::GID), "a file of the guest's");
    fails(
        guest.create(format!("{MOUNT}/other/file"), 0o640),
        Errno::ACCESS,
        "a group that is stated",
    )?;
    let stranger = Who { uid: 1001, gid: 100, groups: vec![people::LAST_GROUP] };
    let stranger = client.session(&stranger)?;
    fails(stranger.get(format!("{MOUNT}/last/file")), Errno::ACCESS, "who only says so")
}
