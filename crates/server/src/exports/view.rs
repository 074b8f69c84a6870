//! Exports as the admin socket tells of them.

use std::path::PathBuf;

use anyhow::Result;
use hayase_exports::{Entry, Style, exportfs};
use serde::{Deserialize, Serialize};

use super::{Current, Sources};
use crate::Options;

/// What a server exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportsView {
    /// Each export with its clients.
    pub exports: Vec<ExportView>,
    /// The same as `exportfs` prints it.
    pub plain: String,
    /// As `exportfs -v` does.
    pub verbose: String,
    /// As `exportfs -s` does; it can be read again.
    pub table: String,
}

/// One export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportView {
    /// The exported directory.
    pub path: PathBuf,
    /// Why it is not served at the moment, if it is not.
    pub dormant: Option<String>,
    /// To whom it is exported.
    pub clients: Vec<GrantView>,
}

/// A client of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantView {
    /// As it is written down.
    pub client: String,
    /// All options, as exports(5) writes them.
    pub options: String,
    /// Where it is written down.
    pub file: PathBuf,
    /// The line there; 0 for a command line.
    pub line: usize,
    /// The character in that line.
    pub column: usize,
    /// It was added by `hayase export add` and goes with the next reload.
    pub temporary: bool,
}

impl ExportsView {
    /// The view of entries, some of which may not be served.
    pub(crate) fn of(current: &Current) -> Self {
        let why = |entry: &Entry| {
            let dormant = current.dormant.iter().find(|dormant| dormant.path == entry.path)?;
            Some(dormant.why.clone())
        };
        let view = |entry: &Entry| ExportView {
            path: entry.path.clone(),
            dormant: why(entry),
            clients: entry
                .grants
                .iter()
                .map(|grant| GrantView {
                    client: grant.written.clone(),
                    options: grant.options.to_string(),
                    file: grant.file.to_path_buf(),
                    line: grant.line,
                    column: grant.column,
                    temporary: grant.file.as_os_str() == super::change::ADDED,
                })
                .collect(),
        };
        let list = |style| exportfs(&current.entries, style);
        ExportsView {
            exports: current.entries.iter().map(view).collect(),
            plain: list(Style::Plain),
            verbose: list(Style::Verbose),
            table: list(Style::Table),
        }
    }

    /// What files, or directories of files, say.
    ///
    /// # Errors
    /// One of them cannot be read, or has mistakes: all of them are told.
    pub fn of_files(files: Vec<PathBuf>) -> Result<Self> {
        let options = Options { exports: files, ..Options::default() };
        let entries = Sources::of(&options).read()?;
        Ok(Self::of(&Current { entries, dormant: Vec::new() }))
    }
}
