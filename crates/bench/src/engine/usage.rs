//! What this process uses.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::report::Cpu;

/// What this process has used since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Exact, of all threads.
    total: Duration,
    /// In clock ticks, which are coarse: only their ratio is used.
    user_ticks: u64,
    system_ticks: u64,
    minor_faults: u64,
    major_faults: u64,
}

impl Usage {
    /// Up to now; what the system does not tell is 0.
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let mut usage = from_stat(&stat).unwrap_or_default();
        usage.total = clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default();
        usage
    }

    /// From `before` on.
    pub(crate) fn since(&self, before: &Usage) -> Cpu {
        let total = self.total.saturating_sub(before.total).as_nanos() as u64;
        let user = self.user_ticks.saturating_sub(before.user_ticks);
        let ticks = user + self.system_ticks.saturating_sub(before.system_ticks);
        let user_nanos = if ticks == 0 {
            total / 2
        } else {
            (u128::from(total) * u128::from(user) / u128::from(ticks)) as u64
        };
        Cpu {
            user_nanos,
            system_nanos: total - user_nanos,
            context_switches: 0,
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
        }
    }
}

/// Fields 10, 12, 14 and 15 of proc(5)'s stat. The name in the second may hold anything.
fn from_stat(text: &str) -> Option<Usage> {
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse().ok();
    Some(Usage {
        total: Duration::ZERO,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
    })
}

/// Context switches of the calling thread since it began.
pub(crate) fn context_switches() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let count = |line: &str| {
        let (key, value) = line.split_once(':')?;
        key.ends_with("ctxt_switches").then(|| value.trim().parse::<u64>().ok())?
    };
    status.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_as_proc_5_describes_it() {
        let usage = from_stat("42 (a ) (b) S 1 2 3 4 5 6 70 8 9 10 300 21 0 0 20 0 1 0").unwrap();
        assert_eq!((usage.minor_faults, usage.major_faults), (70, 9));
        assert_eq!((usage.user_ticks, usage.system_ticks), (300, 21));
        assert!(from_stat("42 (a").is_none());
    }

    #[test]
    fn time_is_split_as_the_ticks_say() {
        let before = Usage::default();
        let after =
            Usage { total: Duration::from_micros(1), user_ticks: 1, system_ticks: 3, ..before };
        let cpu = after.since(&before);
        assert_eq!((cpu.user_nanos, cpu.system_nanos), (250, 750));
    }

    #[test]
    fn this_thread_is_seen_waiting() {
        let before = context_switches();
        std::thread::sleep(Duration::from_millis(2));
        assert!(context_switches() > before);
    }
}
