//! From entries to a table of exports: opens the file systems behind them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use hayase_exports::{Entry, ExportOptions, Io, Names, Rules, Unresolved};
use hayase_nfs::{Export, ExportId, ExportTable};

use super::mounts::mount_points;
use super::source::COMMAND_LINE;
use crate::backends::{Backends, Kind};

/// An export that is not served, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dormant {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
}

/// Opens the file systems of these exports; those that were open already stay as they are.
///
/// An export of a table whose directory is not there, or on which nothing is mounted that has to be,
/// is left out until that changes: one disk that fails does not keep the others from being served.
///
/// # Errors
/// A directory of the command line cannot be served, or two exports cannot be told apart.
pub(super) fn open(
    entries: &[Entry],
    single_as_root: bool,
    backends: &Backends,
    names: &dyn Names,
) -> Result<(ExportTable, Vec<Dormant>)> {
    if let Some(clash) = clash(entries) {
        bail!("{clash}");
    }
    let dormant = dormant(entries)?;
    let names = Remembered { names, known: Mutex::default() };
    let mut exports = Vec::new();
    let mut unusable = Vec::new();
    for entry in entries.iter().filter(|entry| dormant.iter().all(|d| d.path != entry.path)) {
        match export(entry, backends, &names, entries.len()) {
            Ok(export) => exports.push(export),
            Err(error) if is_of_command_line(entry) => return Err(error),
            Err(error) => {
                unusable.push(Dormant { path: entry.path.clone(), why: format!("{error:#}") });
            }
        }
    }
    let table = ExportTable::new(exports, single_as_root).map_err(|paths| {
        let [first, second] = paths.map(|path| PathBuf::from(OsStr::from_bytes(&path)));
        anyhow::anyhow!(alike(&first, &second))
    })?;
    Ok((table, [dormant, unusable].concat()))
}

/// Two exports that cannot be served together.
pub(crate) fn clash(entries: &[Entry]) -> Option<String> {
    let mut known: HashMap<ExportId, &Entry> = HashMap::new();
    entries.iter().find_map(|entry| {
        let id = ExportId::of(entry.path.as_os_str().as_bytes(), entry.fsid());
        let other = known.insert(id, entry)?;
        Some(if other.path == entry.path {
            format!("{} is exported twice: name it once", entry.path.display())
        } else {
            alike(&other.path, &entry.path)
        })
    })
}

fn alike(first: &Path, second: &Path) -> String {
    format!(
        "{} and {} cannot be told apart in file handles: give one of them an fsid= of its own",
        first.display(),
        second.display()
    )
}

/// The exports of tables that cannot be served as things are.
pub(crate) fn dormant(entries: &[Entry]) -> Result<Vec<Dormant>> {
    let mounted = entries
        .iter()
        .any(|entry| entry.grants.iter().any(|grant| grant.options.mountpoint.is_some()))
        .then(mount_points)
        .transpose()?
        .unwrap_or_default();
    let mut dormant = Vec::new();
    for entry in entries {
        let needs = entry.grants.iter().filter_map(|grant| grant.options.mountpoint.as_ref());
        let missing = needs.map(|mount| mount.of(&entry.path)).find(|at| !mounted.contains(*at));
        let why = match missing {
            Some(at) => format!("nothing is mounted on {}", at.display()),
            None if is_of_command_line(entry) || entry.path.is_dir() => continue,
            None if entry.path.exists() => format!("{} is not a directory", entry.path.display()),
            None => format!("{} does not exist", entry.path.display()),
        };
        dormant.push(Dormant { path: entry.path.clone(), why });
    }
    Ok(dormant)
}

fn is_of_command_line(entry: &Entry) -> bool {
    entry.grants.iter().any(|grant| &*grant.file == Path::new(COMMAND_LINE))
}

fn io(io: Io) -> hayase_local::Io {
    match io {
        Io::Auto => hayase_local::Io::Auto,
        Io::Cached => hayase_local::Io::Cached,
        Io::Direct => hayase_local::Io::Direct,
    }
}

fn export(entry: &Entry, backends: &Backends, names: &dyn Names, count: usize) -> Result<Export> {
    let (rules, unresolved) = Rules::of(entry, names);
    for Unresolved { client, error } in unresolved {
        tracing::warn!(
            "{}: {client} cannot be looked up ({error}) and matches nobody until a reload",
            entry.path.display()
        );
    }
    let any = |is: fn(&ExportOptions) -> bool| entry.grants.iter().any(|g| is(&g.options));
    let kind = Kind {
        cross_mounts: any(|options| options.crossmnt),
        subtree_check: any(|options| options.subtree_check),
        io: io(entry.io()),
    };
    let path = entry.path.as_os_str().as_bytes().to_vec();
    if path.is_empty() {
        bail!("an export has no path");
    }
    Ok(Export {
        id: ExportId::of(&path, entry.fsid()),
        vfs: backends.open(&entry.path, kind, count)?,
        path,
        rules,
        client_names: entry.grants.iter().map(|grant| grant.client.to_string()).collect(),
    })
}

/// The answers of a name service.
type Answers<T> = HashMap<String, Result<Vec<T>, (io::ErrorKind, String)>>;

/// Names that are asked for once: tables name the same hosts over and over.
struct Remembered<'n> {
    names: &'n dyn Names,
    known: Mutex<(Answers<IpAddr>, Answers<String>)>,
}

/// The answer that is known, or that of `ask`.
fn answer<T: Clone>(
    known: &mut Answers<T>,
    name: &str,
    ask: impl FnOnce() -> io::Result<Vec<T>>,
) -> io::Result<Vec<T>> {
    let error = |error: io::Error| (error.kind(), error.to_string());
    let found = known.entry(name.to_owned()).or_insert_with(|| ask().map_err(error));
    found.clone().map_err(|(kind, text)| io::Error::new(kind, text))
}

impl Names for Remembered<'_> {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        answer(&mut known.0, host, || self.names.addresses(host))
    }

    fn names(&self, address: IpAddr) -> Vec<String> {
        self.names.names(address)
    }

    fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        answer(&mut known.1, name, || self.names.netgroup(name))
    }
}
