//! What is exported: where it is written down, how it comes to be served, how it changes.

mod change;
mod mounts;
mod plan;
mod source;
mod view;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use hayase_exports::{Entry, Names};
use hayase_nfs::ExportTable;

use crate::backends::Backends;

use change::OwnTable;
pub use change::{Changes, Place};
pub(crate) use mounts::MountWatch;
pub(crate) use plan::{Dormant, clash, dormant};
pub(crate) use source::{Sources, Text, explain, parse};
pub use view::{ExportView, ExportsView, GrantView};

/// What is exported now.
pub(crate) struct Exported {
    sources: Mutex<Sources>,
    current: Mutex<Current>,
}

/// The exports in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Current {
    pub(crate) entries: Vec<Entry>,
    /// Those of them that are not served.
    pub(crate) dormant: Vec<Dormant>,
}

/// What is to be exported from now on.
pub(crate) struct Proposal {
    entries: Vec<Entry>,
    /// Where it is written down, if not where the last was.
    sources: Option<Sources>,
    /// Our own table, if it is to be another.
    own: Option<OwnTable>,
}

/// Exports that are ready to be put in force.
pub(crate) struct Ready {
    entries: Vec<Entry>,
    dormant: Vec<Dormant>,
    sources: Option<Sources>,
    table: ExportTable,
}

impl Exported {
    pub(crate) fn new(sources: Sources) -> Self {
        Exported { sources: Mutex::new(sources), current: Mutex::default() }
    }

    /// Where it is written down.
    pub(crate) fn sources(&self) -> Sources {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is written down there, or where the last was.
    pub(crate) fn read(&self, sources: Option<Sources>) -> Result<Proposal> {
        let entries = sources.as_ref().unwrap_or(&self.sources()).read()?;
        Ok(Proposal { entries, sources, own: None })
    }

    /// Opens what these entries name, and writes down what has to be. What fails has changed nothing.
    pub(crate) fn prepare(
        &self,
        proposal: Proposal,
        backends: &Backends,
        names: &dyn Names,
    ) -> Result<Ready> {
        let Proposal { entries, sources, own } = proposal;
        let is_plain = sources.as_ref().unwrap_or(&self.sources()).is_plain();
        let (table, dormant) = plan::open(&entries, is_plain, backends, names)?;
        own.map_or(Ok(()), |own| own.write())?;
        for Dormant { path, why } in &dormant {
            tracing::warn!("{} is not served: {why}", path.display());
        }
        Ok(Ready { entries, dormant, sources, table })
    }

    /// Says what is in force now: the table to be served, and what that changes.
    pub(crate) fn put(&self, ready: Ready) -> (ExportTable, Changes) {
        let Ready { entries, dormant, sources, table } = ready;
        if let Some(sources) = sources {
            *self.sources.lock().unwrap_or_else(PoisonError::into_inner) = sources;
        }
        let mut current = self.lock();
        let changes = Changes {
            dormant: dormant
                .iter()
                .map(|Dormant { path, why }| format!("{} is not served: {why}", path.display()))
                .collect(),
            ..Changes::between(&current.entries, &entries)
        };
        *current = Current { entries, dormant };
        (table, changes)
    }

    /// The same exports again: what can be served of them may be more or less.
    pub(crate) fn again(&self) -> Proposal {
        Proposal { entries: self.entries(), sources: None, own: None }
    }

    /// The entries in force.
    fn entries(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// Paths that are not served.
    pub(crate) fn dormant(&self) -> Vec<PathBuf> {
        self.lock().dormant.iter().map(|dormant| dormant.path.clone()).collect()
    }

    /// Whether what can be served is not what is: a mount has come or gone.
    pub(crate) fn is_outdated(&self) -> bool {
        let Current { entries, dormant: known } = self.lock().clone();
        // Looks at directories, which can take its time.
        dormant(&entries).is_ok_and(|now| now != known)
    }

    /// The exports as they are told.
    pub(crate) fn view(&self) -> ExportsView {
        ExportsView::of(&self.lock())
    }

    /// The entries in force with one client more, or with other options; and, if it is to
    /// stay, that in our own table.
    ///
    /// # Errors
    /// Also what would be wrong with all tables together: a server could not read them again.
    pub(crate) fn with(&self, place: &Place, options: &str, persist: bool) -> Result<Proposal> {
        let line = change::line(place, options)?;
        let sources = self.sources();
        let own = persist.then(|| OwnTable::with(sources.own_table()?, &line)).transpose()?;
        if let Some(own) = &own {
            sources.read_with(own)?;
        }
        let file = own.as_ref().map_or(Path::new(change::ADDED), |own| &own.file);
        let mut entries = self.entries();
        change::add(&mut entries, &line, file)?;
        Ok(Proposal { entries, sources: None, own })
    }

    /// The entries in force without a client, or without an export; and, if it is to stay so, our
    /// own table without it.
    ///
    /// # Errors
    /// Also if it is to stay so, and is written elsewhere, where only its author should change it.
    pub(crate) fn without(&self, place: &Place, persist: bool) -> Result<Proposal> {
        let mut entries = self.entries();
        let taken = change::remove(&mut entries, place)?;
        let own = if persist {
            let sources = self.sources();
            let path: PathBuf = place.path.components().collect();
            let own = OwnTable::without(sources.own_table()?, &path, &taken)?;
            if let Some(grant) = change::written(&sources.read_with(&own)?, &path, &taken) {
                let (file, line) = (grant.file.display(), grant.line);
                bail!(
                    "{} is exported to {} by {file}:{line}: remove it there",
                    path.display(),
                    grant.written
                );
            }
            Some(own)
        } else {
            None
        };
        Ok(Proposal { entries, sources: None, own })
    }

    // What is in force is replaced at once: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
