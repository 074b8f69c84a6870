//! `hayase status`.

use std::path::PathBuf;

use anyhow::Result;
use hayase_server::Status;
use hayase_server::admin::{Request, ask};

use crate::cli::Target;
use crate::table::field;

pub(crate) fn status(target: &Target) -> Result<()> {
    let answer = ask(&state_dir(target)?, &Request::Status)?;
    if target.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(());
    }
    let status: Status = serde_json::from_value(answer)?;
    let addresses: Vec<_> = status.addresses.iter().map(ToString::to_string).collect();
    let rows = [
        ("version", status.version),
        ("process", status.pid.to_string()),
        ("up", format!("{} s", status.uptime_secs)),
        ("listens to", addresses.join(", ")),
        ("found by", status.portmap),
        ("acts as", status.acts_as),
        ("state", status.state_dir.display().to_string()),
        ("connections", status.connections.to_string()),
        ("threads", format!("{} shards, {} workers", status.shards, status.threads)),
    ];
    for line in rows.iter().flat_map(|(name, value)| field(name, value)) {
        println!("{line}");
    }
    for export in status.exports {
        let value = format!("{}  to {}", export.path, export.clients.join(", "));
        for line in field("export", &value) {
            println!("{line}");
        }
    }
    Ok(())
}

pub(crate) fn state_dir(target: &Target) -> Result<PathBuf> {
    target.state_dir.clone().map_or_else(hayase_server::default_state_dir, Ok)
}
