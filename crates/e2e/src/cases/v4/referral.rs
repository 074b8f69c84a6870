//! Exports that another server has.

use std::fs;
use std::net::Ipv4Addr;

use anyhow::{Result, ensure};

use super::super::Case;
use super::some_versions;
use crate::scene::{Backing, Scene};
use crate::server::{Exports, Setup};

/// The tests of this theme.
pub const CASES: &[Case] = &[Case::new(
    "v4.referral",
    "refer=: the client goes on to another server by itself, version 3 cannot mount",
    referral,
)
.needs(&["ip"])];

/// The other server's address.
const OTHER: Ipv4Addr = Ipv4Addr::new(10, 99, 77, 1);

fn referral(scene: &mut Scene) -> Result<()> {
    let top = scene.export(Backing::Memory)?;
    let [here, away, there] = ["here", "here/away", "there"].map(|name| top.join(name));
    for directory in [&here, &away, &there] {
        fs::create_dir(directory)?;
    }
    fs::write(here.join("name"), "here")?;
    fs::write(away.join("name"), "covered")?;
    fs::write(there.join("name"), "there")?;
    let [here, away, there] = [here, away, there].map(|path| path.display().to_string());

    let client = scene.boot_client()?;
    scene.host(&format!("ip address add {OTHER}/32 dev lo"))?;
    client.check(&format!("ip route add {OTHER} via {}", client.server()))?;
    let options = "rw,sync,no_subtree_check,no_root_squash";
    let file = |text: String| Exports::File(text);
    scene.start_server(Setup {
        exports: file(format!(
            "{here} *({options})\n{away} *({options},refer=/nowhere@192.0.2.1:{there}@{OTHER})\n"
        )),
        addresses: vec![Ipv4Addr::LOCALHOST, client.server()],
        ..Setup::default()
    })?;
    scene.start_other_server(&Setup {
        exports: file(format!("{there} *({options})\n")),
        arguments: vec!["--no-portmap".to_owned()],
        addresses: vec![OTHER],
        ..Setup::default()
    })?;

    for version in some_versions(scene) {
        let options = format!("vers={version},timeo=20,retrans=1");
        client.mount(&options, "/", "/mnt/all")?;
        let at = |path: &str| format!("/mnt/all{path}");
        let session = client.root()?;
        same!(session.get(at(&format!("{here}/name")))?, b"here", "{version}: a file that is here");
        let listed = client.check(&format!("ls -l {}", at(&here)))?;
        ensure!(listed.contains("away") && listed.contains("name"), "{version}: {listed}");
        same!(session.get(at(&format!("{away}/name")))?, b"there", "{version}: the other's file");
        let name = format!("by-{version}");
        session.put(at(&format!("{away}/{name}")), 0o644, b"x")?;
        same!(fs::read(format!("{there}/{name}"))?, b"x", "{version}: a file made there");
        let mounts = client.check("cat /proc/mounts")?;
        ensure!(mounts.contains(&OTHER.to_string()), "{version}: mounted from there: {mounts}");
        drop(session);
        client.check("umount -R /mnt/all")?;
        // Its own path leads there, too.
        client.mount(&options, &away, "/mnt/away")?;
        same!(client.root()?.get("/mnt/away/name")?, b"there", "{version}: mounted by its path");
        client.check("umount -R /mnt/away")?;
    }
    let refused = client.try_mount("vers=3,nolock,retry=0", &away, "/mnt/away")?;
    ensure!(refused.status != 0, "version 3 mounts what is not here");
    Ok(())
}
