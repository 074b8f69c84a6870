//! What exports would change for a server that runs, and for whom.

use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, Result};
use hayase_exports::{Entry, ExportOptions, Names, Rules};
use serde::{Deserialize, Serialize};

use crate::admin::{Request, ask};
use crate::config::Effective;
use crate::exports::{Changes, ExportsView};
use crate::view::{ConnectionView, Listing, OpenView};

/// What would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Exports, after a reload.
    pub changes: Changes,
    /// Settings that differ, and would take a restart.
    pub restart: Vec<String>,
    /// Clients that are connected and would lose something they use.
    pub cut_off: Vec<CutOff>,
}

/// A client that would lose something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOff {
    /// Its address.
    pub address: IpAddr,
    /// Its connections.
    pub connections: usize,
    /// The export that it uses.
    pub export: String,
    /// What would become of it.
    pub what: String,
    /// Files of the export that clients of NFSv4 have open, this one or others.
    pub open_files: usize,
}

/// Compares with the server that uses this state directory; `proposed` is none if the exports
/// cannot be read, and so would stay.
pub(super) fn with_server(
    state_dir: &Path,
    proposed: Option<&[Entry]>,
    settings: &[Effective],
    names: &dyn Names,
) -> Result<Comparison> {
    let view: ExportsView = serde_json::from_value(ask(state_dir, &Request::Exports)?)?;
    let theirs: Vec<Effective> = serde_json::from_value(ask(state_dir, &Request::Settings)?)?;
    let connected: Vec<ConnectionView> =
        serde_json::from_value(ask(state_dir, &Request::Connections)?)?;
    let opens: Listing<OpenView> = serde_json::from_value(ask(state_dir, &Request::Opens)?)?;
    let old = entries(&view)?;
    let new = proposed.unwrap_or(&old);
    let differs = |now: &&Effective| {
        // What it was told on its command line, it will be told again.
        let stays = |old: &Effective| old.is_said() && !now.is_said();
        now.name != "exports.files"
            && theirs
                .iter()
                .any(|old| old.name == now.name && old.value != now.value && !stays(old))
    };
    let restart = settings.iter().filter(differs);
    Ok(Comparison {
        changes: Changes::between(&old, new),
        restart: restart
            .map(|now| format!("{} = {} ({})", now.name, now.value, now.from))
            .collect(),
        cut_off: cut_off(&old, new, &connected, &opens, names),
    })
}

/// The exports of a server.
fn entries(view: &ExportsView) -> Result<Vec<Entry>> {
    let mut all = Vec::new();
    for export in &view.exports {
        let path = Entry { path: export.path.clone(), grants: Vec::new() };
        let clients = export.clients.iter();
        let clients: Vec<_> = clients.map(|c| format!("{}({})", c.client, c.options)).collect();
        let line = format!("{path} {}", clients.join(" "));
        let read = hayase_exports::parse(line.as_bytes(), Path::new("the server"));
        let read = read.map_err(|all| crate::exports::explain(&all));
        all.extend(read.context("the server's exports cannot be read")?);
    }
    Ok(all)
}

/// Clients that are connected and would have less.
fn cut_off(
    old: &[Entry],
    new: &[Entry],
    connected: &[ConnectionView],
    opens: &Listing<OpenView>,
    names: &dyn Names,
) -> Vec<CutOff> {
    let mut cut_off = Vec::new();
    for client in connected {
        for export in &client.exports {
            let path = Path::new(export);
            let before = options(old, path, client.address, names);
            let after = options(new, path, client.address, names);
            let what = match (&before, &after) {
                (_, None) if new.iter().all(|entry| entry.path != path) => {
                    "is not exported any more"
                }
                (_, None) => "is not exported to it any more",
                (Some(before), Some(after)) if !before.ro && after.ro => "becomes read-only",
                (Some(before), Some(after)) if !before.secure && after.secure => {
                    "is for ports below 1024 only"
                }
                _ => continue,
            };
            cut_off.push(CutOff {
                address: client.address,
                connections: client.connections,
                export: export.clone(),
                what: what.to_owned(),
                open_files: opens
                    .entries
                    .iter()
                    .filter(|open| Path::new(&open.path).starts_with(path))
                    .count(),
            });
        }
    }
    cut_off
}

fn options(
    entries: &[Entry],
    path: &Path,
    address: IpAddr,
    names: &dyn Names,
) -> Option<ExportOptions> {
    let entry = entries.iter().find(|entry| entry.path == path)?;
    Rules::of(entry, names).0.matching(address, names).cloned()
}
