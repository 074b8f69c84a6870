//! What this process may do on this machine.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether this process is the superuser's.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Raises the limit on open files as far as it goes, and says what it is then.
pub(crate) fn raise_open_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => limit.maximum,
        Err(errno) => {
            tracing::warn!("the limit on open files stays at {:?}: {errno}", limit.current);
            limit.current
        }
    };
    now.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// The limit on open files as far as it can be raised.
pub(crate) fn most_open_files() -> usize {
    let most = getrlimit(Resource::Nofile).maximum;
    most.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// How the open files are shared out: connections, and files kept open for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    pub(crate) connections: usize,
    pub(crate) files: usize,
}

impl OpenFiles {
    const RESERVE: usize = 128;
    const MOST_CONNECTIONS: usize = 16 << 10;
    const MOST_FILES: usize = 64 << 10;

    /// Shares out a limit: three fifths for connections, the rest for files.
    pub(crate) fn of(limit: usize) -> Self {
        let free = limit.saturating_sub(Self::RESERVE).max(64);
        let connections = (free / 5 * 3).min(Self::MOST_CONNECTIONS);
        OpenFiles { connections, files: (free - connections).min(Self::MOST_FILES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_never_promised_twice() {
        for limit in [0, 256, 1024, 20_000, 1 << 20, usize::MAX] {
            let OpenFiles { connections, files } = OpenFiles::of(limit);
            assert!(connections > 0 && files > 0);
            assert!(limit < 256 || connections + files + OpenFiles::RESERVE <= limit);
        }
        assert!(OpenFiles::of(20_000).connections >= 10_000);
    }
}
