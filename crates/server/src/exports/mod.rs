//! What is exported: where it is written down, how it comes to be served, how it changes.

mod change;
mod mounts;
mod plan;
mod source;
mod view;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use hayase_exports::{Entry, Names};
use hayase_nfs::ExportTable;

use crate::backends::Backends;

pub use change::{Changes, Place};
pub(crate) use mounts::MountWatch;
pub(crate) use plan::{Dormant, dormant};
pub(crate) use source::{Sources, Text, explain, parse};
pub use view::{ExportView, ExportsView, GrantView};

/// What is exported now.
pub(crate) struct Exported {
    sources: Sources,
    current: Mutex<Current>,
}

/// The exports in force.
#[derive(Debug, Default)]
pub(crate) struct Current {
    pub(crate) entries: Vec<Entry>,
    /// Those of them that are not served.
    pub(crate) dormant: Vec<Dormant>,
}

/// Exports that are ready to be put in force.
pub(crate) struct Ready {
    entries: Vec<Entry>,
    dormant: Vec<Dormant>,
    pub(crate) table: ExportTable,
}

impl Exported {
    pub(crate) fn new(sources: Sources) -> Self {
        Exported { sources, current: Mutex::default() }
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Reads what is written down.
    pub(crate) fn read(&self) -> Result<Vec<Entry>> {
        self.sources.read()
    }

    /// Opens what these entries name.
    pub(crate) fn prepare(
        &self,
        entries: Vec<Entry>,
        backends: &Backends,
        names: &dyn Names,
    ) -> Result<Ready> {
        let (table, dormant) = plan::open(&entries, self.sources.is_plain(), backends, names)?;
        for Dormant { path, why } in &dormant {
            tracing::warn!("{} is not served: {why}", path.display());
        }
        Ok(Ready { entries, dormant, table })
    }

    /// Says what is in force now, and what that changes.
    pub(crate) fn put(&self, entries: Vec<Entry>, dormant: Vec<Dormant>) -> Changes {
        let mut current = self.lock();
        let changes = Changes {
            dormant: dormant
                .iter()
                .map(|Dormant { path, why }| format!("{} is not served: {why}", path.display()))
                .collect(),
            ..Changes::between(&current.entries, &entries)
        };
        *current = Current { entries, dormant };
        changes
    }

    /// The entries in force.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// Paths that are not served.
    pub(crate) fn dormant(&self) -> Vec<PathBuf> {
        self.lock().dormant.iter().map(|dormant| dormant.path.clone()).collect()
    }

    /// Whether what can be served is not what is: a mount has come or gone.
    pub(crate) fn is_outdated(&self) -> bool {
        let current = self.lock();
        dormant(&current.entries).is_ok_and(|now| now != current.dormant)
    }

    /// The exports as they are told.
    pub(crate) fn view(&self) -> ExportsView {
        ExportsView::of(&self.lock())
    }

    /// The entries in force with one client more, or with other options; and, if it is to
    /// stay, that in our own table.
    pub(crate) fn with(&self, place: &Place, options: &str, persist: bool) -> Result<Vec<Entry>> {
        let line = change::line(place, options)?;
        let table = persist.then(|| self.sources.own_table()).transpose()?;
        let file = table.clone().unwrap_or_else(|| PathBuf::from(change::ADDED));
        let mut entries = self.entries();
        change::add(&mut entries, &line, &file)?;
        if let Some(table) = table {
            change::persist(&table, &line)?;
        }
        Ok(entries)
    }

    /// The entries in force without a client, or without an export; and, if it is to stay so, our
    /// own table without it.
    pub(crate) fn without(&self, place: &Place, persist: bool) -> Result<Vec<Entry>> {
        let mut entries = self.entries();
        let taken = change::remove(&mut entries, place)?;
        if persist {
            let table = self.sources.own_table()?;
            let path: PathBuf = place.path.components().collect();
            change::unpersist(&table, &path, &taken).context("nothing was changed")?;
        }
        Ok(entries)
    }

    // What is in force is replaced at once: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ready {
    /// The table, and what [`Exported::put`] has to be told.
    pub(crate) fn into_parts(self) -> (ExportTable, Vec<Entry>, Vec<Dormant>) {
        (self.table, self.entries, self.dormant)
    }
}
