//! CPU time and memory of the server's process and of this one, from `/proc`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::units::float;

/// The process of a server on this machine.
#[derive(Clone, Debug)]
pub struct ServerProcess {
    pid: u32,
}

/// What a process has used over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuUse {
    /// User and system time of all threads.
    pub cpu: Duration,
    /// Resident memory at the end.
    pub rss_kib: u64,
    /// The most resident memory it ever had, or since [`ServerProcess::reset_peak`].
    pub peak_rss_kib: u64,
}

/// All threads' CPU time, two ways.
#[derive(Clone, Debug)]
struct Reading {
    /// Exact, but knows nothing of threads that have ended.
    by_thread: Vec<(u32, Duration)>,
    /// In clock ticks, threads that have ended included.
    by_process: Duration,
}

impl ServerProcess {
    /// The process with this id, which has to be there.
    pub fn open(pid: u32) -> Result<Self> {
        let process = ServerProcess { pid };
        process.reading()?;
        Ok(process)
    }

    /// Resident memory now.
    pub fn rss_kib(&self) -> Result<u64> {
        self.memory("VmRSS")
    }

    /// Has the kernel count the most resident memory anew (proc(5), `clear_refs`).
    pub fn reset_peak(&self) -> Result<()> {
        let path = self.path("clear_refs");
        fs::write(&path, "5").with_context(|| format!("write {}", path.display()))
    }

    fn path(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.pid).into()
    }

    fn read(&self, name: &str) -> Result<String> {
        let path = self.path(name);
        fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    }

    fn reading(&self) -> Result<Reading> {
        let tasks = self.path("task");
        let mut by_thread = Vec::new();
        for entry in fs::read_dir(&tasks).with_context(|| format!("read {}", tasks.display()))? {
            let name = entry?.file_name();
            let Some(tid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            // A thread may end between the listing and here.
            let Ok(text) = self.read(&format!("task/{tid}/schedstat")) else { continue };
            by_thread.push((tid, schedstat(&text)?));
        }
        by_thread.sort_unstable();
        let ticks = stat_ticks(&self.read("stat")?)?;
        let hertz = rustix::param::clock_ticks_per_second();
        let by_process = Duration::from_secs_f64(float(ticks) / float(hertz));
        Ok(Reading { by_thread, by_process })
    }

    fn memory(&self, field: &str) -> Result<u64> {
        status_kib(&self.read("status")?, field)
    }
}

/// CPU time between two readings.
fn used(before: &Reading, after: &Reading) -> Duration {
    let total = |r: &Reading| r.by_thread.iter().map(|(_, cpu)| *cpu).sum::<Duration>();
    let ended = before
        .by_thread
        .iter()
        .any(|(tid, _)| after.by_thread.binary_search_by_key(tid, |(other, _)| *other).is_err());
    let exact = total(after).saturating_sub(total(before));
    let with_ended = after.by_process.saturating_sub(before.by_process);
    if ended { with_ended.max(exact) } else { exact }
}

/// Measures both sides from its start to its stop.
#[derive(Debug)]
pub struct CpuMeter<'a> {
    server: Option<(&'a ServerProcess, Reading)>,
    client: Duration,
}

impl<'a> CpuMeter<'a> {
    /// Starts.
    pub fn start(server: Option<&'a ServerProcess>) -> Result<Self> {
        let server = match server {
            Some(process) => Some((process, process.reading()?)),
            None => None,
        };
        Ok(CpuMeter { server, client: own_cpu() })
    }

    /// CPU time of this process, and what the server used.
    pub fn stop(self) -> Result<(Duration, Option<CpuUse>)> {
        let client = own_cpu().saturating_sub(self.client);
        let Some((process, before)) = self.server else { return Ok((client, None)) };
        let cpu = used(&before, &process.reading()?);
        let (rss_kib, peak_rss_kib) = (process.memory("VmRSS")?, process.memory("VmHWM")?);
        Ok((client, Some(CpuUse { cpu, rss_kib, peak_rss_kib })))
    }
}

fn own_cpu() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// The first number of a schedstat: nanoseconds on a CPU.
fn schedstat(text: &str) -> Result<Duration> {
    let nanos = text.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map(Duration::from_nanos).with_context(|| format!("{text:?} is no schedstat"))
}

/// Ticks of user and system time from a stat: fields 14 and 15 of proc(5). The name in the second
/// field may hold anything, even parentheses.
fn stat_ticks(text: &str) -> Result<u64> {
    let fields = text.rsplit_once(')').map(|(_, fields)| fields);
    let sum = fields.and_then(|fields| {
        let mut times = fields.split_whitespace().skip(11).map_while(|field| field.parse().ok());
        let (user, system): (u64, u64) = (times.next()?, times.next()?);
        Some(user + system)
    });
    sum.with_context(|| format!("{text:?} is no stat"))
}

fn status_kib(text: &str, field: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    number.with_context(|| format!("there is no {field} in the status of the server's process"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read_as_proc_5_describes_them() {
        assert_eq!(schedstat("1234567 89 10\n").unwrap(), Duration::from_nanos(1_234_567));
        let stat = "42 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 300 21 0 0 20 0 1 0";
        assert_eq!(stat_ticks(stat).unwrap(), 321);
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(status_kib(status, "VmRSS").unwrap(), 1024);
        assert!(status_kib(status, "Vm").is_err());
        assert!(stat_ticks("42 (a").is_err() && schedstat("").is_err());
    }

    #[test]
    fn ended_threads_are_made_up_for_by_the_processs_clock() {
        let ms = Duration::from_millis;
        let reading = |threads: &[(u32, u64)], process| Reading {
            by_thread: threads.iter().map(|(tid, cpu)| (*tid, ms(*cpu))).collect(),
            by_process: ms(process),
        };
        let before = reading(&[(1, 100), (2, 50)], 150);
        assert_eq!(used(&before, &reading(&[(1, 103), (2, 52), (3, 1)], 150)), ms(6));
        assert_eq!(used(&before, &reading(&[(1, 103)], 190)), ms(40));
    }

    #[test]
    fn the_own_process_is_seen_working() {
        let own = ServerProcess::open(std::process::id()).unwrap();
        let meter = CpuMeter::start(Some(&own)).unwrap();
        // By this thread's clock: what other tests' threads use goes away when they end.
        let own_thread =
            || -> Duration { clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default() };
        let begun = own_thread();
        while own_thread() < begun + Duration::from_millis(60) {}
        let (client, server) = meter.stop().unwrap();
        assert!(client >= Duration::from_millis(60));
        let server = server.unwrap();
        assert!(server.cpu >= Duration::from_millis(20), "{server:?}");
        assert!(server.peak_rss_kib >= server.rss_kib && server.rss_kib > 0);
    }
}
