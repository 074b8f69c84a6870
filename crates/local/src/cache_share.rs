//! How much the page cache can hold, so that what is larger need not go through it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the controllers are mounted by convention.
const CGROUPS: &str = "/sys/fs/cgroup";

/// Answers again what it has found out less than a second ago.
#[derive(Debug)]
pub(crate) struct CacheShare {
    /// Given, not looked for.
    fixed: Option<u64>,
    bytes: AtomicU64,
    looked_secs: AtomicU64,
}

impl CacheShare {
    /// With `fixed` the answer is always that.
    pub(crate) fn new(fixed: Option<u64>) -> Self {
        CacheShare { fixed, bytes: AtomicU64::new(0), looked_secs: AtomicU64::new(u64::MAX) }
    }

    /// Bytes of file data that can be in memory at once: what nobody else needs, and what the
    /// process's control group may have. Reads files when the second has changed.
    pub(crate) fn bytes(&self, now_secs: u64) -> u64 {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        if self.looked_secs.swap(now_secs, Ordering::Relaxed) != now_secs {
            self.bytes.store(look(), Ordering::Relaxed);
        }
        self.bytes.load(Ordering::Relaxed)
    }
}

fn look() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).ok();
    // Not known: then everything fits.
    let available = read(Path::new("/proc/meminfo")).and_then(|text| available(&text));
    let available = available.unwrap_or(u64::MAX);
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let limits =
        limit_files(&groups).into_iter().filter_map(|path| read(&path)?.trim().parse().ok());
    limits.fold(available, u64::min)
}

/// `MemAvailable`, in bytes: what is free, and what of the page cache can be given up.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Where limits of memory may stand for the process with this `/proc/self/cgroup`: in its group
/// and those above.
fn limit_files(cgroup: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (below, file) = if controllers.is_empty() {
            ("", "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            ("memory", "memory.limit_in_bytes")
        } else {
            continue;
        };
        let base = Path::new(CGROUPS).join(below);
        let group = Path::new(group.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| base.join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_understood() {
        let meminfo = "MemTotal: 10 kB\nMemAvailable:   2048 kB\nBuffers: 1 kB\n";
        assert_eq!(available(meminfo), Some(2 << 20));
        assert_eq!(available("MemTotal: 10 kB\n"), None);
        let files = limit_files("7:memory:/a/b\n3:cpu,cpuacct:/x\n0::/c\n");
        let files: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(
            files,
            [
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/c/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
    }

    #[test]
    fn this_machine_has_some_memory_and_not_all_there_could_be() {
        let share = CacheShare::new(None);
        assert!((1 << 20..u64::MAX).contains(&share.bytes(1)));
        assert_eq!(CacheShare::new(Some(7)).bytes(1), 7);
    }
}
