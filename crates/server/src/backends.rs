//! The open file systems of a server, each opened once and kept over reloads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use hayase_buf::Pool;
use hayase_local::{Io, LocalFs};
use hayase_vfs::Vfs;

/// Buffers for data that is read from disks, all file systems together.
const READ_BUFFERS: usize = 16;
const READ_BUFFER_BYTES: usize = 1 << 20;
/// However many exports share the open files, each can keep this many.
const FEWEST_FILES: usize = 64;

/// What of an export's options the file system itself has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) cross_mounts: bool,
    pub(crate) subtree_check: bool,
    pub(crate) io: Io,
}

/// See the module.
pub(crate) struct Backends {
    index_dir: PathBuf,
    max_open_files: usize,
    pool: Arc<Pool>,
    open: Mutex<HashMap<(PathBuf, Kind), Arc<LocalFs>>>,
}

impl Backends {
    /// No file system yet; all together will keep at most `max_open_files` open.
    pub(crate) fn new(index_dir: PathBuf, max_open_files: usize) -> Self {
        let pool = Pool::new(READ_BUFFER_BYTES, READ_BUFFERS);
        Backends { index_dir, max_open_files, pool, open: Mutex::default() }
    }

    /// The file system of a directory, one of `of` that share the open files.
    pub(crate) fn open(&self, path: &Path, kind: Kind, of: usize) -> Result<Arc<dyn Vfs>> {
        if !path.is_dir() {
            let what = if path.exists() { "is not a directory" } else { "does not exist" };
            bail!("{} {what}: only a directory can be exported", path.display());
        }
        let mut open = self.lock();
        let key = (path.to_owned(), kind);
        if let Some(fs) = open.get(&key) {
            return Ok(Arc::clone(fs) as Arc<dyn Vfs>);
        }
        let options = hayase_local::Options {
            cross_mounts: kind.cross_mounts,
            subtree_check: kind.subtree_check,
            io: kind.io,
            state_dir: Some(self.index_dir.clone()),
            max_open_files: Some((self.max_open_files / of).max(FEWEST_FILES)),
            pool: Arc::clone(&self.pool),
            ..hayase_local::Options::default()
        };
        let fs = LocalFs::open(path, options)
            .with_context(|| format!("{} cannot be served", path.display()))?;
        let fs = Arc::new(fs);
        open.insert(key, Arc::clone(&fs));
        Ok(fs)
    }

    /// Closes file systems that nobody uses any more, so that they can be unmounted. Calls that are
    /// running hold on to theirs.
    pub(crate) fn forget_unused(&self) {
        let unused: Vec<_> = {
            let mut open = self.lock();
            open.extract_if(|_, fs| Arc::strong_count(fs) == 1).collect()
        };
        drop(unused); // closes files, which can take its time
    }

    /// Those of these directories that are open still.
    pub(crate) fn held(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let open = self.lock();
        paths.iter().filter(|path| open.keys().any(|(held, _)| held == *path)).cloned().collect()
    }

    /// What works and what does not as the user we are, each once.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<_> = self.lock().values().map(|fs| fs.limits_text()).collect();
        notes.sort();
        notes.dedup();
        notes
    }

    /// Brings everything to stable storage; whether that worked.
    pub(crate) fn sync(&self) -> bool {
        let open: Vec<_> = self.lock().values().cloned().collect();
        let mut synced = true;
        for fs in open {
            if let Err(error) = fs.sync() {
                tracing::error!("data could not be synced: {error}");
                synced = false;
            }
        }
        synced
    }

    // The map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<(PathBuf, Kind), Arc<LocalFs>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
