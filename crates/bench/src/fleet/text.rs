//! What came of several clients, as fio shows its clients: each, then all.

use std::fmt::Write;

use serde_json::{Value, json as value};

use super::result::{ClientRun, FleetRun};
use super::sum::sum;
use crate::fio::{self, Bins};
use crate::html::unit::Unit;
use crate::report::{JobResult, Run};
use crate::statistics::{Fairness, fairness};

/// Each client's block, the table of all, and the sum.
pub fn text(fleet: &FleetRun) -> String {
    let mut out = String::new();
    // Writing to memory does not fail.
    for client in &fleet.clients {
        let place = client.agent.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
        let _ = writeln!(out, "\n<{}>{place}", client.name);
        match (&client.run, &client.lost) {
            (Some(run), _) => out.push_str(&fio::text(run)),
            (None, why) => {
                let why = why.as_deref().unwrap_or("unknown");
                let _ = writeln!(out, "  lost: {why}{}", last_heard(client));
            }
        }
    }
    let all = sum(fleet);
    let _ = writeln!(out, "\nAll clients:{}", fio::text(&all));
    for (name, shares) in shares(fleet) {
        if let Some(fair) = fairness(&shares) {
            let Fairness { jain, .. } = fair;
            let _ = writeln!(
                out,
                "  fairness, {name}: slowest/fastest={:.3}, Jain's index={jain:.3}",
                fair.ratio()
            );
        }
    }
    if let Some(skew) = fleet.skew_nanos() {
        let _ = writeln!(out, "  start: all within {:.3} ms", crate::units::float(skew) / 1e6);
    }
    out
}

/// What a lost client had done when it was heard of last.
pub(crate) fn last_heard(client: &ClientRun) -> String {
    client.last_heard.map_or_else(String::new, |heard| {
        let of = |moved: [(u64, u64); 3]| {
            moved.iter().fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1))
        };
        let (bytes, ops) = of(heard.moved);
        let seconds = crate::units::float(heard.elapsed_millis) / 1e3;
        let data = match bytes {
            0 => String::new(),
            bytes => format!("{} in ", Unit::Bytes.show(crate::units::float(bytes))),
        };
        let group = match heard.groups {
            0 | 1 => String::new(),
            groups => format!("group {} of {groups}, ", heard.group + 1),
        };
        format!(
            " (heard last {group}{seconds:.1} s after its start: {data}{ops} operations until then)"
        )
    })
}

/// What each client that lived got of each direction: bytes a second, or operations where there is no
/// data.
pub(crate) fn shares(fleet: &FleetRun) -> Vec<(&'static str, Vec<f64>)> {
    let runs: Vec<&Run> = fleet.clients.iter().filter_map(|client| client.run.as_ref()).collect();
    let of = |name: &'static str| {
        let rate = |run: &&Run| {
            let directions = run.jobs.iter().flat_map(JobResult::directions);
            let all = directions.filter(|(known, _)| *known == name);
            all.map(|(_, direction)| match direction.bytes {
                0 => direction.ops_per_sec(),
                _ => direction.bytes_per_sec(),
            })
            .sum()
        };
        (name, runs.iter().map(rate).collect::<Vec<f64>>())
    };
    let there = |(_, rates): &(&str, Vec<f64>)| rates.len() > 1 && rates.iter().any(|r| *r > 0.0);
    ["read", "write", "meta"].into_iter().map(of).filter(there).collect()
}

/// As fio's JSON has its clients: an entry for each job of each client, with its host, and those of
/// all.
pub fn json(fleet: &FleetRun, bins: Bins) -> Value {
    let mut stats = Vec::new();
    for client in &fleet.clients {
        let Some(run) = &client.run else { continue };
        stats.extend(entries(run, &client.name, bins));
    }
    stats.extend(entries(&sum(fleet), "All clients", bins));
    let clients: Vec<Value> = fleet
        .clients
        .iter()
        .map(|client| {
            value!({
                "hostname": client.name,
                "agent": client.agent,
                "lost": client.lost,
                "last_heard": client.last_heard,
                "clock_offset": client.offset,
                "starts": client.starts,
                "environment": client.run.as_ref().map(|run| &run.environment),
            })
        })
        .collect();
    let fair: serde_json::Map<String, Value> = shares(fleet)
        .into_iter()
        .map(|(name, shares)| (name.to_owned(), value!(fairness(&shares))))
        .collect();
    value!({
        "fio version": fleet.tool,
        "timestamp": fleet.started_unix_ms / 1000,
        "timestamp_ms": fleet.started_unix_ms,
        "interrupted": fleet.interrupted,
        "client_stats": stats,
        "clients": clients,
        "fairness": fair,
    })
}

fn entries(run: &Run, host: &str, bins: Bins) -> Vec<Value> {
    let mut whole = fio::json(run, bins);
    let Some(jobs) = whole["jobs"].as_array_mut() else { return Vec::new() };
    for job in jobs.iter_mut() {
        job["hostname"] = host.into();
    }
    std::mem::take(jobs)
}
