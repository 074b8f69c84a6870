//! `hayase check`: what a configuration means, and what it would change for a running server.

mod compare;
mod entries;

use std::path::{Path, PathBuf};

use hayase_exports::{Names, SystemNames};
use serde::{Deserialize, Serialize};

use crate::config::{Effective, Finding, Loaded, Severity, Written};
use crate::exports::{Sources, clash, parse};

pub use compare::{Comparison, CutOff};

/// What is to be said about a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What is wrong or without effect, errors first.
    pub findings: Vec<Finding>,
    /// Every setting, and where it comes from.
    pub settings: Vec<Effective>,
    /// How many directories would be exported.
    pub exports: usize,
    /// What would change for the server that runs; none if there is none.
    pub server: Option<Comparison>,
}

impl Report {
    /// Whether a server would start with it, or take it at a reload.
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

/// Reads a configuration as `hayase serve` would, and compares it with the server that uses its
/// state directory. Nothing is changed. Name services are asked.
pub fn check(written: &Written) -> Report {
    check_with(written, &SystemNames::default())
}

fn check_with(written: &Written, names: &dyn Names) -> Report {
    let Loaded { options, effective, mut findings } = written.load();
    let sources = Sources::of(&options);
    let wrong = |error: &anyhow::Error| {
        let remedy = "name what is there: see --exports, or `exports.files` of hayase.toml";
        Finding::of(Severity::Error, Path::new("exports"), format!("{error:#}"), remedy)
    };
    let mut exports = Vec::new();
    match sources.texts() {
        Err(error) => findings.push(wrong(&error)),
        Ok(texts) => match parse(&texts) {
            Err(diagnostics) => findings.extend(diagnostics.into_iter().map(Finding::from)),
            Ok(entries) => {
                findings.extend(entries::findings(&entries, &texts, names));
                exports = entries;
            }
        },
    }
    match sources.directories() {
        Err(error) => findings.push(wrong(&error)),
        Ok(directories) => {
            for entry in directories.iter().filter(|entry| !entry.path.is_dir()) {
                let message = format!("{} is not a directory", entry.path.display());
                let remedy = "only a directory can be exported";
                findings.push(Finding::of(
                    Severity::Error,
                    Path::new("command line"),
                    message,
                    remedy,
                ));
            }
            exports.splice(0..0, directories);
        }
    }
    if let Some(message) = clash(&exports) {
        let remedy = "a directory of the command line is an export like those of files";
        findings.push(Finding::of(Severity::Error, Path::new("exports"), message, remedy));
    }
    if exports.is_empty() && findings.iter().all(|finding| finding.severity != Severity::Error) {
        let message = "nothing is exported";
        let remedy = "name a directory, or write exports into /etc/exports";
        findings.push(Finding::of(Severity::Warning, Path::new("exports"), message, remedy));
    }
    let state_dir: Option<PathBuf> =
        options.state_dir.clone().or_else(|| crate::default_state_dir().ok());
    let is_whole = findings.iter().all(|finding| finding.severity != Severity::Error);
    let server = state_dir.filter(|dir| crate::admin::is_running(dir)).and_then(|dir| {
        // What cannot be read would not be put in force.
        let proposed = is_whole.then_some(&*exports);
        compare::with_server(&dir, proposed, &effective, names)
            .map_err(|error| {
                let remedy = "ask it with the same version of hayase";
                findings.push(Finding::of(Severity::Warning, &dir, format!("{error:#}"), remedy));
            })
            .ok()
    });
    findings.sort_by_key(|finding| finding.severity);
    Report { findings, settings: effective, exports: exports.len(), server }
}

#[cfg(test)]
mod tests;
