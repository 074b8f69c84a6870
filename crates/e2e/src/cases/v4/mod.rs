//! What only version 4 has, and the other themes' tests over version 4.

use std::time::Duration;

use anyhow::Result;

use super::Case;
use crate::client::Client;
use crate::scene::{Backing, Scene, until};
use crate::server::Setup;
use crate::session::Session;
use crate::version::Version::{self, V40, V41, V42};

mod copies;
mod delegations;
mod features;
pub(in crate::cases) mod locks;
mod mount;
mod names;
mod pseudo;
mod recovery;
mod referral;
mod sharing;

/// The tests of what only version 4 has.
pub fn cases() -> Vec<Case> {
    [
        mount::CASES,
        names::CASES,
        pseudo::CASES,
        referral::CASES,
        features::CASES,
        copies::CASES,
        sharing::CASES,
        locks::CASES,
        recovery::CASES,
        delegations::CASES,
    ]
    .concat()
}

/// The oldest and the newest in the quick run, else all.
fn some_versions(scene: &Scene) -> &'static [Version] {
    scene.size(&[V40, V42], &Version::FOUR)
}

/// A path in the mount of a version.
fn at(version: Version, name: &str) -> String {
    format!("/mnt/{version}/{name}")
}

/// Two clients, each with all versions mounted at once, and a session of root's on each.
struct TwoClients {
    sessions: [Session; 2],
    clients: [Client; 2],
}

fn two_clients(scene: &mut Scene, backing: Backing, setup: Setup) -> Result<TwoClients> {
    scene.export(backing)?;
    scene.start_server(setup)?;
    let clients = scene.boot_two_clients()?;
    for client in &clients {
        for version in Version::FOUR {
            client.mount(&format!("vers={version}"), &scene.path(), &at(version, ""))?;
        }
    }
    let sessions = [clients[0].root()?, clients[1].root()?];
    Ok(TwoClients { sessions, clients })
}

/// A setup with a short lease, and less time to claim what was held before a restart.
fn short_lease(secs: u32) -> Setup {
    let [lease, grace] = [secs, secs - 2].map(|secs| secs.to_string());
    let arguments = ["--lease-secs", &lease, "--grace-secs", &grace].map(str::to_owned);
    Setup { arguments: arguments.to_vec(), ..Setup::default() }
}

/// Waits until nobody in this namespace has a file below the exported directory open.
fn nothing_open(scene: &Scene) -> Result<()> {
    let inside = format!("{}/", scene.path());
    until(Duration::from_secs(10), "the server closes all files", || {
        let links = scene.host("ls -l /proc/[0-9]*/fd 2>/dev/null || true")?;
        // A file without a name, called `#` and a number, is the server's own: it syncs by it.
        let own = format!("{inside}#");
        Ok(!links.lines().any(|link| link.contains(&inside) && !link.contains(&own)))
    })
}

/// Tests of other themes that run over version 4 too: those of the quick run, and the others.
const OVER: &[(&str, &[Version], &[Version])] = &[
    ("access.squash", &[V42], &[V40, V41]),
    ("access.read_only", &[V42], &[V40, V41]),
    ("access.addresses", &[], &[V40, V41, V42]),
    ("access.secure", &[], &[V40, V41, V42]),
    ("access.directory", &[], &[V40, V41, V42]),
    ("access.groups", &[V42], &[V40, V41]),
    ("access.many_groups", &[V42], &[V40, V41]),
    ("access.owner", &[V42], &[V40, V41]),
    ("special.nodes", &[V42], &[V40, V41]),
    ("special.attributes", &[V42], &[V40, V41]),
    ("special.sparse", &[], &[V40, V41, V42]),
    ("special.names", &[], &[V40, V41, V42]),
    ("special.full", &[V42], &[V40, V41]),
    ("special.silly", &[V40, V42], &[V41]),
    ("directory.large", &[], &[V40, V41, V42]),
    ("directory.changing", &[V42], &[V40, V41]),
    ("directory.long_names", &[], &[V40, V41, V42]),
    ("tree.copy", &[], &[V40, V41, V42]),
    ("fio.buffered", &[], &[V40, V41, V42]),
    ("fio.direct", &[V42], &[V40, V41]),
    ("fio.mapped", &[], &[V40, V41, V42]),
    ("apps.git", &[V42], &[V40, V41]),
    ("apps.sqlite", &[V40, V42], &[V41]),
    ("apps.postgres", &[V40, V42], &[V41]),
    ("bench.agrees", &[V42], &[V40, V41]),
    ("bench.full", &[V42], &[V40, V41]),
    ("two.close_to_open", &[V42], &[V40, V41]),
    ("two.names", &[], &[V40, V41, V42]),
    ("two.races", &[V40, V42], &[V41]),
    ("two.append", &[], &[V40, V41, V42]),
    ("connections.reset", &[V42], &[V40, V41]),
    ("connections.lost_replies", &[V40, V42], &[V41]),
    ("connections.link_down", &[], &[V40, V41, V42]),
    ("restart.fio", &[], &[V40, V41, V42]),
    ("restart.handles", &[V42], &[V40, V41]),
    ("restart.in_order", &[], &[V40, V41, V42]),
    ("restart.power_cut_data", &[V42], &[V40, V41]),
    ("restart.power_cut_unsynced", &[V42], &[V40, V41]),
    ("restart.power_cut_names", &[], &[V40, V41, V42]),
    ("moved.pod", &[V42], &[V40, V41]),
    ("moved.disk", &[], &[V42]),
];

/// The tests of [`OVER`], a copy for each version.
pub fn variants(all: &[Case]) -> Vec<Case> {
    let mut variants = Vec::new();
    for case in all {
        for (_, quick, others) in OVER.iter().filter(|(name, ..)| *name == case.name) {
            let copy = |version, quick| Case { version: Some(version), quick, ..*case };
            variants.extend(quick.iter().map(|version| copy(*version, true)));
            variants.extend(others.iter().map(|version| copy(*version, false)));
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_run_over_version_4_exist() {
        let all = super::super::all();
        for (name, quick, others) in OVER {
            let variants = all.iter().filter(|case| case.name == *name && case.version.is_some());
            assert_eq!(variants.count(), quick.len() + others.len(), "{name}");
        }
    }
}
