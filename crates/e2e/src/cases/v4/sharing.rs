//! Two clients on the same files: what is open stays, and what was closed is seen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::super::Case;
use super::{TwoClients, at, nothing_open, two_clients};
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;
use crate::session::{Errno, LockKind, LockMode, Open, fails};
use crate::version::Version;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("v4.removed_while_open", "what one removes or replaces the other goes on with", open),
    Case::new("v4.between_versions", "what one closed the other reads, whatever they speak", mixed),
    Case::new("v4.modes", "an open file goes on when its mode and name change", modes),
    Case::new("v4.listed", "what clients hold is listed, and can be taken from them", listed),
    Case::new("v4.rights", "an open file goes on when it is made another's", rights),
];

fn open(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients } =
        two_clients(scene, Backing::Disk, Setup::default())?;
    for version in Version::FOUR {
        let path = |name: &str| at(version, &format!("{version}-{name}"));
        a.put(path("removed"), 0o644, b"still here")?;
        a.put(path("replaced"), 0o644, b"the first")?;
        let removed = a.open(path("removed"), Open::RDWR, 0)?;
        let replaced = a.open(path("replaced"), Open::RDONLY, 0)?;
        b.unlink(path("removed"))?;
        b.put(path("new"), 0o644, b"the second")?;
        b.rename(path("new"), path("replaced"))?;
        clients[0].drop_caches()?;
        same!(a.read(removed, 0, 100)?, b"still here", "{version}: a file that was removed");
        a.write(removed, 6, b"there")?;
        a.sync(removed)?;
        clients[0].drop_caches()?;
        same!(a.read(removed, 0, 100)?, b"still there", "{version}: a removed file, changed");
        same!(a.read(replaced, 0, 100)?, b"the first", "{version}: a file that was replaced");
        same!(a.get(path("replaced"))?, b"the second", "{version}: what replaced it");
        fails(b.stat(path("removed")), Errno::NOENT, "the name that was removed")?;
        a.close(removed)?;
        a.close(replaced)?;
        b.unlink(path("replaced"))?;
    }
    nothing_open(scene)
}

fn mixed(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [a, b], clients } =
        two_clients(scene, Backing::Memory, Setup::default())?;
    for client in &clients {
        client.mount("vers=3,nolock", &scene.path(), &at(Version::V3, ""))?;
    }
    // A client of version 3 that changes what is lent to another waits for five seconds.
    let versions = scene.size(&[Version::V3, Version::V42][..], &Version::ALL);
    let mut round = 0_usize;
    for writer in versions {
        for reader in versions {
            let (from, to) = if round.is_multiple_of(4) { (&a, &b) } else { (&b, &a) };
            // The name is new to both: version 3 may take its time to see that one came back.
            let name = format!("written-by-{writer}-read-by-{reader}");
            for len in [20_000, 20_000] {
                round += 1;
                let data: Vec<u8> = (0..len).map(|at| (at / 3 + round * 37) as u8).collect();
                from.put(at(*writer, &name), 0o644, &data)?;
                let found = to.get(at(*reader, &name))?;
                ensure!(found == data, "{name}, round {round}");
                // For version 3, which tells changes apart by their times.
                thread::sleep(Duration::from_millis(12));
            }
            scene.note(name);
        }
    }
    Ok(())
}

fn modes(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [root, other], clients } =
        two_clients(scene, Backing::Memory, Setup::default())?;
    let user = clients[0].session(&crate::wire::Who::user(1000, 100))?;
    for version in Version::FOUR {
        let directory = at(version, &format!("modes-{version}"));
        root.mkdir(&*directory, 0o755)?;
        root.chown(&*directory, Some(1000), Some(100))?;
        let path = format!("{directory}/file");
        let file = user.create(&*path, 0o600)?;
        user.write(file, 0, b"before")?;
        user.sync(file)?;
        other.chmod(&*path, 0)?;
        other.rename(&*path, format!("{directory}/renamed"))?;
        user.write(file, 6, b" after")?;
        user.sync(file).with_context(|| format!("{version}: write without any right"))?;
        clients[0].drop_caches()?;
        same!(user.read(file, 0, 100)?, b"before after", "{version}: read without any right");
        user.close(file)?;
        fails(user.get(format!("{directory}/renamed")), Errno::ACCESS, "opening it again")?;
    }
    Ok(())
}

fn rights(scene: &mut Scene) -> Result<()> {
    let TwoClients { sessions: [root, _], clients } =
        two_clients(scene, Backing::Disk, Setup::default())?;
    let user = clients[0].session(&crate::wire::Who::user(1000, 100))?;
    for version in Version::FOUR {
        let name = format!("file-{version}");
        let (path, there) = (at(version, &name), scene.directory().join(&name));
        root.put(&*path, 0o666, b"before")?;
        root.chmod(&*path, 0o666)?;
        let file = user.open(&*path, Open::RDWR, 0)?;
        // By a program beside the server: the client cannot know.
        fs::set_permissions(&there, fs::Permissions::from_mode(0o0))?;
        user.write(file, 6, b" after")?;
        user.sync(file).with_context(|| format!("{version}: write without any right"))?;
        clients[0].drop_caches()?;
        same!(user.read(file, 0, 100)?, b"before after", "{version}: read without any right");
        user.set_len(file, 3).with_context(|| format!("{version}: cut without any right"))?;
        same!(fs::read(&there)?, b"bef", "{version}: the file on the server");
        fails(user.get(&*path), Errno::ACCESS, "opening it again")?;
        user.close(file)?;
        root.unlink(&*path)?;
    }
    nothing_open(scene)
}

fn listed(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=4.2")?;
    let session = client.root()?;
    let file = session.create(format!("{MOUNT}/listed"), 0o644)?;
    session.lock(file, LockKind::Process, LockMode::Exclusive, (10, 20))?;
    let path = scene.directory().join("listed").display().to_string();
    let opens = scene.ask_server("opens")?;
    let open = &opens["entries"][0];
    same!(open["path"].as_str(), Some(&*path), "the open file");
    same!(open["kind"].as_str(), Some("open"), "how it is held");
    let locks = scene.ask_server("locks")?;
    let lock = &locks["entries"][0];
    same!((lock["start"].as_u64(), lock["last"].as_u64()), (Some(10), Some(29)), "the lock");
    same!(lock["client"].clone(), open["client"].clone(), "whose lock it is");
    let clients = scene.ask_server("clients")?;
    same!(clients["total"].as_u64(), Some(1), "clients");
    same!(clients["entries"][0]["id"].clone(), open["client"].clone(), "the client");
    same!(scene.ask_server("sessions")?["total"].as_u64(), Some(1), "sessions");
    // Evicted, it begins anew, and says that the lock is lost.
    let id = open["client"].as_str().context("an id")?;
    scene.ask_server(&format!("evict {id}"))?;
    same!(scene.ask_server("locks")?["total"].as_u64(), Some(0), "locks of nobody");
    session.put(format!("{MOUNT}/anew"), 0o644, b"goes on")?;
    let again = scene.ask_server("clients")?;
    same!(again["total"].as_u64(), Some(1), "the client after all");
    ensure!(again["entries"][0]["id"] != clients["entries"][0]["id"], "it has another id");
    session.close(file).ok();
    Ok(())
}
