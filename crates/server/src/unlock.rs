//! Taking locks from clients of NFSv3 that are gone: they have no lease that would end.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::{Result, bail};
use hayase_nfs::NfsService;
use hayase_state::{FileKey, Locker, Release};
use serde::{Deserialize, Serialize};

/// Whose locks are released. What is not named is no matter, but something has to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unlock {
    /// The client's address, or its name for itself.
    pub client: Option<String>,
    /// The file.
    pub path: Option<PathBuf>,
    /// The client's name for the owner, as text or in hexadecimal.
    pub owner: Option<String>,
}

/// What was released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlocked {
    /// Owners of locks, and of files open with a deny mode, that had theirs taken.
    pub owners: usize,
    /// Locks of NFSv4 clients on the file, which stay.
    pub kept: usize,
}

/// Releases what is named.
///
/// # Errors
/// Nothing is named, or nobody holds any of it.
pub(crate) fn unlock(service: &NfsService, what: &Unlock) -> Result<Unlocked> {
    if *what == Unlock::default() {
        bail!("name a file, a client or an owner");
    }
    let hosts = what.client.as_deref().map(|client| hosts(service, client)).transpose()?;
    let files = what.path.as_ref().map(|path| files(service, &path.to_string_lossy()));
    let owners = what.owner.as_deref().map(owners);
    let mut unlocked = Unlocked::default();
    // Of each combination, but for what was not named.
    for host in each(hosts.as_deref()) {
        for file in each(files.as_deref()) {
            for owner in each(owners.as_deref()) {
                unlocked.owners += service.unlock(&Release {
                    host: host.map(Vec::as_slice),
                    file: file.copied(),
                    owner: owner.map(Vec::as_slice),
                    spared_state: None,
                });
            }
        }
    }
    if let Some(files) = &files {
        let of_v4 = |locker: &Locker| matches!(locker, Locker::V4 { .. });
        let kept = service.locks().into_iter();
        unlocked.kept =
            kept.filter(|lock| of_v4(&lock.locker) && files.contains(&lock.file)).count();
    }
    if unlocked.owners == 0 && unlocked.kept == 0 {
        bail!("no NFSv3 client holds such a lock: `hayase locks` lists those there are");
    }
    tracing::info!("locks and shares of {} owners are released: {what:?}", unlocked.owners);
    Ok(unlocked)
}

/// Each of these; once nothing, if none were named.
fn each<T>(named: Option<&[T]>) -> Vec<Option<&T>> {
    named.map_or_else(|| vec![None], |named| named.iter().map(Some).collect())
}

/// The addresses of a client.
fn hosts(service: &NfsService, client: &str) -> Result<Vec<Vec<u8>>> {
    let is_it = |name: &[u8]| name == client.as_bytes();
    let hosts = service.hosts().into_iter();
    let hosts = hosts.filter(|host| is_it(&host.address) || is_it(&host.name));
    let hosts: Vec<_> = hosts.map(|host| host.address.into_vec()).collect();
    if hosts.is_empty() {
        bail!("no NFSv3 client {client} holds locks: `hayase clients` lists those that do");
    }
    Ok(hosts)
}

/// The files at a path, of those that have locks: more than one if exports lie in each other.
fn files(service: &NfsService, path: &str) -> Vec<FileKey> {
    let locked = service.locks().into_iter().map(|lock| lock.file);
    let shared = service.shares().into_iter().map(|share| share.file);
    let keys: BTreeSet<FileKey> = locked.chain(shared).collect();
    let paths: HashMap<FileKey, String> =
        keys.into_iter().map(|key| (key, service.path_of(&key))).collect();
    paths.into_iter().filter(|(_, at)| at == path).map(|(key, _)| key).collect()
}

/// An owner's name: as it is written, or the bytes that it may be in hexadecimal.
fn owners(text: &str) -> Vec<Vec<u8>> {
    let mut owners = vec![text.as_bytes().to_vec()];
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    if let Some(digits) = digits.filter(|digits| !digits.is_empty())
        && let (pairs, []) = digits.as_chunks::<2>()
    {
        owners.push(pairs.iter().map(|[high, low]| high << 4 | low).collect());
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_text_or_hexadecimal() {
        assert_eq!(owners("17@client"), [b"17@client"]);
        assert_eq!(owners("0aff"), [b"0aff".to_vec(), vec![0x0a, 0xff]]);
        assert_eq!(owners("abc").len(), 1);
    }

    #[test]
    fn what_is_not_named_is_no_matter() {
        assert_eq!(each::<u8>(None), [None]);
        assert_eq!(each(Some(&[1, 2])), [Some(&1), Some(&2)]);
        assert!(each::<u8>(Some(&[])).is_empty());
    }
}
