//! The directory in which a server keeps what has to outlive it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hayase_nfs::HandleKey;
use rustix::fs::FlockOperation;

use crate::system;

const KEY_FILE: &str = "handle.key";
const LOCK_FILE: &str = "lock";
const ADMIN_SOCKET: &str = "admin.sock";
const INDEX_DIR: &str = "index";
const CLIENTS_DIR: &str = "clients";
const NSM_STATE_FILE: &str = "nsm.state";
/// How long the server before may take to end.
const LAST_ONES_END: Duration = Duration::from_secs(2);

/// Where the state is kept unless another place is named: `/var/lib/hayase` as root,
/// else the user's own state directory after the XDG base directory specification.
///
/// # Errors
/// An ordinary user with neither `XDG_STATE_HOME` nor `HOME`.
pub fn default_state_dir() -> Result<PathBuf> {
    if system::is_root() {
        return Ok("/var/lib/hayase".into());
    }
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|state| state.join("hayase"))
        .context("neither XDG_STATE_HOME nor HOME is set: name a directory with --state-dir")
}

/// A state directory that belongs to this process alone.
#[derive(Debug)]
pub(crate) struct StateDir {
    path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
}

/// Whether the lock is ours. A server that was killed has it until the kernel is through with
/// its end, which whoever starts the next one need not wait for.
fn is_ours(lock: &File) -> bool {
    let deadline = Instant::now() + LAST_ONES_END;
    loop {
        if rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl StateDir {
    /// Makes the directory if need be and takes it.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let cannot = || format!("the state directory {} cannot be used", path.display());
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("{}: make it, or name another with --state-dir", cannot()))?;
        // A process that is not ours must not be able to write to what we trust.
        fs::set_permissions(path, Permissions::from_mode(0o700)).with_context(|| {
            format!("{}: it belongs to somebody else; name another with --state-dir", cannot())
        })?;
        let lock_path = path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(&lock_path).with_context(cannot)?;
        if !is_ours(&lock) {
            bail!(
                "another server uses the state directory {}: stop it, or name another directory \
                 with --state-dir",
                path.display()
            );
        }
        Ok(StateDir { path: path.to_owned(), _lock: lock })
    }

    /// Where the directory is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the admin socket goes.
    pub(crate) fn admin_socket(&self) -> PathBuf {
        admin_socket(&self.path)
    }

    /// Where it is kept which clients may claim their state after a restart.
    pub(crate) fn clients_dir(&self) -> PathBuf {
        self.path.join(CLIENTS_DIR)
    }

    /// Where back ends without handles of the kernel's keep their index.
    pub(crate) fn index_dir(&self) -> Result<PathBuf> {
        let path = self.path.join(INDEX_DIR);
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("the index directory {} cannot be made", path.display()))?;
        Ok(path)
    }

    /// This host's state number for status monitors of clients of NFSv3: odd, and higher at every
    /// start, which is how clients know of it.
    pub(crate) fn next_nsm_state(&self) -> Result<i32> {
        let path = self.path.join(NSM_STATE_FILE);
        let cannot = || format!("the state number {} cannot be used", path.display());
        let last = match fs::read_to_string(&path) {
            Ok(text) => text.trim().parse::<i32>().with_context(|| {
                format!(
                    "{} is damaged: remove it; clients of NFSv3 that hold locks may then not notice \
                     this restart",
                    path.display()
                )
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => -1,
            Err(error) => return Err(error).with_context(cannot),
        };
        let next = last.checked_add(2).map_or(1, |next| next | 1);
        self.write(&path, format!("{next}\n").as_bytes()).with_context(cannot)?;
        Ok(next)
    }

    /// The key of this server's file handles, made on first use. Without it every handle
    /// that clients hold would be stale.
    pub(crate) fn handle_key(&self) -> Result<HandleKey> {
        let path = self.path.join(KEY_FILE);
        let cannot = || format!("the key of file handles {} cannot be used", path.display());
        let mut key = [0; 16];
        match File::open(&path) {
            Ok(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).with_context(cannot)?;
                key = bytes.try_into().map_err(|_| {
                    anyhow::anyhow!(
                        "{} is damaged, it should be 16 bytes: restore it, or remove it and \
                         mount again on all clients",
                        path.display()
                    )
                })?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
                    .with_context(cannot)?;
                self.write(&path, &key).with_context(cannot)?;
            }
            Err(error) => return Err(error).with_context(cannot),
        }
        Ok(HandleKey::new(key))
    }

    /// Writes a file so that after a crash it is there whole, or as it was.
    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let new = path.with_extension("new");
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true).mode(0o600);
        let mut file = options.open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(&self.path)?.sync_all()
    }
}

/// Where the admin socket of the server with this state directory is.
pub(crate) fn admin_socket(state_dir: &Path) -> PathBuf {
    state_dir.join(ADMIN_SOCKET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_a_time_and_the_key_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        let state = StateDir::take(&path).unwrap();
        state.handle_key().unwrap();
        let key = fs::read(path.join(KEY_FILE)).unwrap();
        let second = StateDir::take(&path).unwrap_err();
        assert!(second.to_string().contains("another server"), "{second}");
        drop(state);
        StateDir::take(&path).unwrap().handle_key().unwrap();
        assert_eq!(fs::read(path.join(KEY_FILE)).unwrap(), key);
    }

    #[test]
    fn the_state_number_is_odd_and_grows() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::take(dir.path()).unwrap();
        let path = dir.path().join(NSM_STATE_FILE);
        assert_eq!(state.next_nsm_state().unwrap(), 1);
        assert_eq!(state.next_nsm_state().unwrap(), 3);
        fs::write(&path, i32::MAX.to_string()).unwrap();
        assert_eq!(state.next_nsm_state().unwrap(), 1);
        fs::write(&path, "x").unwrap();
        assert!(state.next_nsm_state().unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn a_server_that_is_about_to_end_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let first = StateDir::take(dir.path()).unwrap();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(first);
        });
        StateDir::take(dir.path()).unwrap();
        ending.join().unwrap();
    }

    #[test]
    fn a_damaged_key_is_not_replaced_in_silence() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(KEY_FILE), b"short").unwrap();
        let error = StateDir::take(dir.path()).unwrap().handle_key().unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
