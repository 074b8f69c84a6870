//! File systems and servers in one table: what each brings locally and by NFS, in writing and in reading,
//! beside its ratio to local and what held it back.
//!
//! All of a row's targets take turns within each round, and each round begins with another one, so that
//! what else happens falls on all of them. Every write makes a new file and ends with a sync (fsync,
//! COMMIT) that counts; every read finds the file in the state that [`Cache`] says, the same for each.

mod busy;
mod cache;
mod judge;
mod raw;
mod result;
mod text;

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use crate::agent::Ends;
use crate::engine::{self, Watch};
use crate::fleet::Work;
use crate::report::Run;
use busy::Busy;

pub use cache::Cache;
pub use judge::Limit;
pub use result::{Cell, Column, Matrix, Raw, Row, Way};
pub use text::text;

/// The file that is written and read, in each target's directory.
const FILE: &str = "hayase-matrix.data";
/// Rows and targets in a row, at most.
const MAX_ROWS: usize = 64;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rows.
    pub rows: Vec<RowPlan>,
    /// Bytes of the file.
    pub size: u64,
    /// The options that all jobs have, in fio's words: `bs`, `iodepth`, `nconnect`.
    pub options: Vec<(String, String)>,
    /// The longest time of each measurement.
    pub runtime: Duration,
    /// How often everything is measured; figures are medians.
    pub rounds: u32,
    /// What a read finds in the cache.
    pub cache: Cache,
    /// Servers that have an agent, for raw TCP streams.
    pub ends: Ends,
    /// The command line, for the report.
    pub command: Vec<String>,
}

/// A file system or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// What it is called.
    pub name: String,
    /// Its targets: `file:///srv`, `nfs://host/srv?version=3`.
    pub targets: Vec<String>,
}

impl std::str::FromStr for RowPlan {
    type Err = String;

    /// `NAME=TARGET,TARGET`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, targets) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty() && !name.contains("://"))
            .ok_or_else(|| {
                format!("{text}: a row is written as NAME=file:///DIR,nfs://HOST/DIR")
            })?;
        let targets: Vec<String> = targets.split(',').map(str::to_owned).collect();
        for target in &targets {
            target.parse::<crate::target::Target>()?;
        }
        if targets.len() > MAX_ROWS {
            return Err(format!("{name} has more than {MAX_ROWS} targets"));
        }
        Ok(RowPlan { name: name.to_owned(), targets })
    }
}

impl RowPlan {
    /// The directory of the first local target.
    fn local(&self) -> Option<&str> {
        self.targets.iter().find_map(|target| target.strip_prefix("file://"))
    }
}

/// Measures everything. Wrong options are errors before anything runs; what goes wrong later is in the result.
pub fn run(plan: &Plan, watch: &dyn Watch) -> Result<Matrix> {
    ensure!(!plan.rows.is_empty(), "a matrix has at least one row");
    ensure!(plan.rows.len() <= MAX_ROWS, "a matrix has at most {MAX_ROWS} rows");
    for row in &plan.rows {
        ensure!(
            plan.cache == Cache::Warm || row.local().is_some(),
            "row {}: --cache cold has the cache forget the file through a file:// target of the row, \
             and there is none",
            row.name
        );
        for target in &row.targets {
            plan.work(target, Way::Write).plan()?;
            plan.work(target, Way::Read).plan()?;
        }
    }
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut matrix = Matrix::new(plan, since_epoch.as_millis() as u64);
    for round in 0..plan.rounds {
        for (number, row) in plan.rows.iter().enumerate() {
            matrix.interrupted = round_of_row(plan, row, round, &mut matrix.rows[number], watch);
            if matrix.interrupted.is_some() {
                break;
            }
        }
        if matrix.interrupted.is_some() {
            break;
        }
    }
    matrix.conclude();
    Ok(matrix)
}

/// Each target of a row once, from another one on in each round. Says why to stop, if so.
fn round_of_row(
    plan: &Plan,
    row: &RowPlan,
    round: u32,
    result: &mut Row,
    watch: &dyn Watch,
) -> Option<String> {
    let turn = |text: &str| {
        watch.say(&format!("{}, round {} of {}: {text}", row.name, round + 1, plan.rounds));
    };
    if let Some(directory) = row.local() {
        turn("raw file stream");
        result.raw.add_file(raw::file(directory.as_ref(), plan.size, plan.cache));
    }
    let count = row.targets.len();
    for number in (0..count).map(|number| (number + round as usize) % count) {
        let target = &row.targets[number];
        for way in [Way::Write, Way::Read] {
            turn(&format!("{} {target}", way.word()));
            match measure(plan, row, target, way, watch) {
                Ok((run, busy)) => {
                    result.learn(number, &run.environment);
                    let interrupted = run.interrupted.clone();
                    let peer = result.cell(number, way).take(&run, busy);
                    if let Some(peer) = peer.filter(|_| way == Way::Write) {
                        stream(plan, result, number, &peer, &turn);
                    }
                    if interrupted.is_some() {
                        return interrupted;
                    }
                }
                Err(error) => result.cell(number, way).fail(&format!("{error:#}")),
            }
            if let Some(why) = watch.interrupted() {
                return Some(why);
            }
        }
    }
    None
}

/// The raw stream to the server of a target, if the server is this host or has an agent.
fn stream(plan: &Plan, row: &mut Row, number: usize, server: &str, turn: &dyn Fn(&str)) {
    let Some(address) = host(server) else { return };
    let (count, time) = (plan.number("nconnect") as u32, plan.runtime.min(raw::TCP_TIME));
    turn("raw TCP stream");
    let rate = match plan.ends.stream(address, count, time) {
        None if raw::is_own(address) => Some(raw::tcp(address, count, time)),
        rate => rate,
    };
    if let Some(rate) = rate {
        row.raw.add_tcp(number, rate);
    }
}

fn host(server: &str) -> Option<IpAddr> {
    server.parse().ok().or_else(|| Some(server.parse::<std::net::SocketAddr>().ok()?.ip()))
}

/// One measurement: the cache made as it is to be, the run, and how busy the machine was.
fn measure(
    plan: &Plan,
    row: &RowPlan,
    target: &str,
    way: Way,
    watch: &dyn Watch,
) -> Result<(Run, Option<f64>)> {
    if way == Way::Read {
        match plan.cache {
            Cache::Warm => {
                // One pass that does not count, the same way as the one that does.
                let pass = plan.pass(target).plan()?;
                engine::run(&pass, watch)?;
            }
            Cache::Cold => cache::forget(row.local(), FILE)?,
        }
    }
    let work = plan.work(target, way).plan()?;
    let busy = Busy::now();
    let run = engine::run(&work, watch)?;
    Ok((run, Busy::now().since(&busy)))
}

impl Plan {
    fn work(&self, target: &str, way: Way) -> Work {
        let mut options = self.common(way);
        options.extend(match way {
            Way::Write => owned([("end_fsync", "1")]),
            // The next write is to make a new file, as the first one does.
            Way::Read => owned([("invalidate", "0"), ("unlink", "1"), ("time_based", "1")]),
        });
        Work::new(target, "matrix", options)
    }

    /// One read of the whole file.
    fn pass(&self, target: &str) -> Work {
        let mut options = self.common(Way::Read);
        options.extend(owned([("invalidate", "0")]));
        Work::new(target, "matrix", options)
    }

    fn common(&self, way: Way) -> Vec<(String, String)> {
        let (size, runtime) = (self.size.to_string(), format!("{}ms", self.runtime.as_millis()));
        let mut options = self.options.clone();
        options.extend(owned([
            ("rw", way.word()),
            ("size", size.as_str()),
            ("runtime", runtime.as_str()),
            ("filename", FILE),
        ]));
        options
    }

    fn number(&self, key: &str) -> usize {
        let found = self.options.iter().find(|(known, _)| known == key);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(1)
    }
}

fn owned<const N: usize>(options: [(&str, &str); N]) -> Vec<(String, String)> {
    options.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_name_and_targets() {
        let row: RowPlan = "xfs=file:///srv/xfs".parse().unwrap();
        assert_eq!((row.name.as_str(), row.local()), ("xfs", Some("/srv/xfs")));
        for wrong in ["file:///srv", "=file:///srv", "xfs", "xfs=srv", "xfs=", "a=file:///s,,"] {
            assert!(wrong.parse::<RowPlan>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_server_is_an_address_with_or_without_a_port() {
        assert_eq!(host("192.0.2.1:2049"), Some(IpAddr::from([192, 0, 2, 1])));
        assert_eq!(host("[::1]:2049"), "::1".parse().ok());
        assert_eq!(host("192.0.2.1"), Some(IpAddr::from([192, 0, 2, 1])));
        assert_eq!(host("name:2049"), None);
    }
}
