//! Files by inode number and birth time, for where the kernel makes no handles.
//!
//! Remembers for each file one directory that holds it and its name there: the
//! latest in memory, all of them in a database that a background thread fills in
//! batches. An entry is a hint. It is checked against the inode that it leads to,
//! and one that is missing or wrong is searched for (see [`crate::search`]), so
//! that the last seconds' entries may be lost, and local programs may rename.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_vfs::Wait;
use redb::{Database, DatabaseError, ReadableDatabase, TableDefinition};

use crate::handle::Key;

/// From a key to its directory's encoded key and the name there. Keys are big-endian here, so
/// that files made one after the other lie side by side.
const TABLE: TableDefinition<[u8; Key::LEN], &[u8]> = TableDefinition::new("paths-1");

/// How long entries wait for others to be written with them.
const BATCH_TIME: Duration = Duration::from_secs(1);

/// Entries that may wait, and how many of them are written at once.
const QUEUE: usize = 64 << 10;
const BATCH: usize = 32 << 10;

/// Entries of each generation in memory: with the database behind them, and alone.
const GENERATION: usize = 32 << 10;
const GENERATION_ALONE: usize = 512 << 10;

/// Memory for pages of the database.
const DATABASE_CACHE_BYTES: usize = 8 << 20;

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub dir: Key,
    pub name: Box<[u8]>,
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        [&self.dir.encode()[..], &self.name].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (dir, name) = bytes.split_at_checked(Key::LEN)?;
        Some(Place { dir: Key::decode(dir)?, name: name.into() })
    }
}

/// Two generations: when the young one is full it becomes the old one, and the old one goes.
#[derive(Debug, Default)]
struct Memory {
    young: HashMap<Key, Place>,
    old: HashMap<Key, Place>,
}

/// A change on its way into the database; no place: the entry goes.
type Change = (Key, Option<Place>);

fn row(key: Key) -> [u8; Key::LEN] {
    let mut row = [0; Key::LEN];
    row[..4].copy_from_slice(&key.tag.to_be_bytes());
    row[4..12].copy_from_slice(&key.ino.to_be_bytes());
    row[12..].copy_from_slice(&key.birth.to_be_bytes());
    row
}

/// The database has to catch up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// The index.
#[derive(Debug)]
pub(crate) struct Index {
    memory: Mutex<Memory>,
    generation: usize,
    store: Option<Arc<Store>>,
}

#[derive(Debug)]
struct Store {
    database: Arc<Database>,
    changes: Option<SyncSender<Change>>,
    writer: Option<JoinHandle<()>>,
}

impl Index {
    /// The index of the directory `root`, kept in `state_dir`. Without one, or if the database
    /// there cannot be used, in memory.
    pub(crate) fn open(state_dir: Option<&Path>, root: Key) -> Self {
        let store = state_dir.and_then(|dir| {
            let file = dir.join(format!("index-{:08x}-{:x}.redb", root.tag, root.ino));
            match Store::shared(dir, &file) {
                Ok(store) => Some(store),
                Err(error) => {
                    tracing::warn!(
                        path = %file.display(), %error,
                        "cannot keep the index of files there: it is in memory, and after a restart files are searched for"
                    );
                    None
                }
            }
        });
        let generation = if store.is_some() { GENERATION } else { GENERATION_ALONE };
        Index { memory: Mutex::default(), generation, store }
    }

    /// Whether it outlives this process.
    pub(crate) fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Where a file was last.
    pub(crate) fn find(&self, key: Key) -> Option<Place> {
        let known = self.recall(key, Place::clone);
        if known.is_some() {
            return known;
        }
        let place = self.store.as_ref()?.read(key)?;
        self.remember(key, place.clone());
        Some(place)
    }

    /// Notes where a file is now. Fails if that would have to wait for the database, and may not.
    pub(crate) fn put(&self, key: Key, dir: Key, name: &[u8], wait: Wait) -> Result<(), Busy> {
        let same = |place: &Place| place.dir == dir && *place.name == *name;
        if self.recall(key, |place| same(place)) == Some(true) {
            return Ok(());
        }
        let place = Place { dir, name: name.into() };
        if let Some(store) = &self.store
            && !store.read(key).as_ref().is_some_and(same)
        {
            store.change((key, Some(place.clone())), wait)?;
        }
        self.remember(key, place);
        Ok(())
    }

    /// Forgets a file that is gone.
    pub(crate) fn remove(&self, key: Key) {
        {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            memory.young.remove(&key);
            memory.old.remove(&key);
        }
        if let Some(store) = &self.store {
            // One that stays leads nowhere, and is removed when somebody follows it.
            let _ = store.change((key, None), Wait::Never);
        }
    }

    /// What `look` sees in the entry in memory.
    fn recall<T>(&self, key: Key, look: impl FnOnce(&Place) -> T) -> Option<T> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = memory.young.get(&key) {
            return Some(look(place));
        }
        let place = memory.old.remove(&key)?;
        let seen = look(&place);
        self.keep(&mut memory, key, place);
        Some(seen)
    }

    fn remember(&self, key: Key, place: Place) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.old.remove(&key);
        self.keep(&mut memory, key, place);
    }

    fn keep(&self, memory: &mut Memory, key: Key, place: Place) {
        memory.young.insert(key, place);
        if memory.young.len() >= self.generation {
            memory.old = std::mem::take(&mut memory.young);
        }
    }
}

/// Databases in use, by file: one can be open only once.
static STORES: Mutex<BTreeMap<PathBuf, Weak<Store>>> = Mutex::new(BTreeMap::new());

impl Store {
    /// The database in a file, which others that serve the same directory may have open already.
    fn shared(dir: &Path, file: &Path) -> Result<Arc<Self>, Box<dyn std::error::Error>> {
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|_, store| store.strong_count() > 0);
        if let Some(store) = stores.get(file).and_then(Weak::upgrade) {
            return Ok(store);
        }
        let store = Arc::new(Store::open(dir, file)?);
        stores.insert(file.to_path_buf(), Arc::downgrade(&store));
        Ok(store)
    }

    fn open(dir: &Path, file: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        // Nobody else's business, whatever the umask.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
        let open = || Database::builder().set_cache_size(DATABASE_CACHE_BYTES).create(file);
        let database = match open() {
            Err(DatabaseError::Storage(error)) => {
                // It holds hints only: begin again, and leave the old one to be looked at.
                let aside: PathBuf = file.with_extension("damaged");
                tracing::warn!(path = %aside.display(), %error, "the index of files is damaged");
                std::fs::rename(file, &aside)?;
                open()?
            }
            other => other?,
        };
        let begin = database.begin_write()?;
        begin.open_table(TABLE)?;
        begin.commit()?;
        let database = Arc::new(database);
        let (changes, received) = sync_channel(QUEUE);
        let to = Arc::clone(&database);
        let writer = std::thread::Builder::new()
            .name("local-index".into())
            .spawn(move || write_batches(&to, &received))?;
        Ok(Store { database, changes: Some(changes), writer: Some(writer) })
    }

    fn read(&self, key: Key) -> Option<Place> {
        let read = || -> Result<Option<Place>, redb::Error> {
            let table = self.database.begin_read()?.open_table(TABLE)?;
            Ok(table.get(row(key))?.and_then(|value| Place::decode(value.value())))
        };
        read().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the index of files");
            None
        })
    }

    fn change(&self, change: Change, wait: Wait) -> Result<(), Busy> {
        let Some(changes) = &self.changes else { return Ok(()) };
        match wait {
            Wait::Allowed => {
                // The receiver ends with us; if its thread has failed, it has said so.
                let _ = changes.send(change);
                Ok(())
            }
            Wait::Never => match changes.try_send(change) {
                Err(TrySendError::Full(_)) => Err(Busy),
                _ => Ok(()),
            },
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        drop(self.changes.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes what comes in, a batch each second, until nothing more can come.
fn write_batches(database: &Database, changes: &Receiver<Change>) {
    let mut open = true;
    while open {
        let Ok(first) = changes.recv() else { return };
        let mut batch = vec![first];
        let end = std::time::Instant::now() + BATCH_TIME;
        while batch.len() < BATCH {
            let left = end.saturating_duration_since(std::time::Instant::now());
            match changes.recv_timeout(left) {
                Ok(change) => batch.push(change),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    open = false;
                    break;
                }
            }
        }
        // In the order of the table; of several changes to one row the last counts.
        batch.sort_by_key(|(key, _)| row(*key));
        if let Err(error) = write_batch(database, &batch) {
            tracing::warn!(%error, "cannot write to the index of files");
        }
    }
}

fn write_batch(database: &Database, batch: &[Change]) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut table = transaction.open_table(TABLE)?;
        for (key, place) in batch {
            match place {
                Some(place) => drop(table.insert(row(*key), &place.encode()[..])?),
                None => drop(table.remove(row(*key))?),
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(ino: u64) -> Key {
        Key { tag: 1, ino, birth: ino * 3 }
    }

    #[test]
    fn entries_outlive_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(Some(dir.path()), key(2));
        index.put(key(5), key(2), b"five", Wait::Allowed).unwrap();
        index.put(key(6), key(5), b"six", Wait::Allowed).unwrap();
        index.put(key(5), key(2), b"renamed", Wait::Allowed).unwrap();
        index.remove(key(6));
        assert_eq!(index.find(key(6)), None);
        drop(index);
        let index = Index::open(Some(dir.path()), key(2));
        let place = Place { dir: key(2), name: b"renamed"[..].into() };
        assert_eq!(index.find(key(5)), Some(place));
        assert_eq!(index.find(key(6)), None);
        // A second one at the same time shares the database.
        let second = Index::open(Some(dir.path()), key(2));
        assert!(second.is_kept());
        second.put(key(9), key(2), b"nine", Wait::Allowed).unwrap();
        drop((index, second));
        assert!(Index::open(Some(dir.path()), key(2)).find(key(9)).is_some());
    }

    #[test]
    fn a_damaged_database_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        drop(Index::open(Some(dir.path()), key(2)));
        let file = dir.path().join("index-00000001-2.redb");
        std::fs::write(&file, vec![7; 8192]).unwrap();
        let index = Index::open(Some(dir.path()), key(2));
        assert!(index.is_kept());
        assert!(file.with_extension("damaged").exists());
    }

    #[test]
    fn memory_is_bounded() {
        let index = Index { memory: Mutex::default(), generation: 100, store: None };
        for ino in 0..1000 {
            index.put(key(ino), key(0), b"x", Wait::Allowed).unwrap();
            assert!(index.find(key(7)).is_some() || ino < 7, "what is used stays");
        }
        let memory = index.memory.lock().unwrap();
        assert!(memory.young.len() + memory.old.len() <= 200);
    }
}
