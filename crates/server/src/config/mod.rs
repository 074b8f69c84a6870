//! How a server is told what to do: the command line, then `hayase.toml`, then nfs.conf(5), in the
//! order in which they count.

mod finding;
mod layer;
mod nfs_conf;
mod own;
mod setting;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Options;

pub use finding::{Finding, Severity};
pub use layer::Layer;
use setting::SETTINGS;

/// Where nfs-utils is told what to do.
const NFS_CONF: &str = "/etc/nfs.conf";
/// Where we are.
const OWN: &str = "/etc/hayase/hayase.toml";

/// What is said, and where more is written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// What the command line says.
    pub said: Layer,
    /// Directories of the command line.
    pub dirs: Vec<PathBuf>,
    /// Export these read-only.
    pub read_only: bool,
    /// The file to be read instead of `/etc/nfs.conf`, which is read for exports of files only.
    pub nfs_conf: Option<PathBuf>,
    /// The file to be read instead of `/etc/hayase/hayase.toml`.
    pub own: Option<PathBuf>,
}

/// A configuration as it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What a server is to be started with.
    pub options: Options,
    /// What is in force, and where it comes from.
    pub effective: Vec<Effective>,
    /// What is wrong or without effect.
    pub findings: Vec<Finding>,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effective {
    /// Its name in `hayase.toml`.
    pub name: String,
    /// Its value; the parts of a list have commas between them.
    pub value: String,
    /// Where it comes from: `command line`, `file:line`, `default`.
    pub from: String,
}

impl Effective {
    /// Whether the command line says so.
    pub(crate) fn is_said(&self) -> bool {
        self.from == layer::COMMAND_LINE
    }
}

impl Written {
    /// Reads all of it.
    pub fn load(&self) -> Loaded {
        let mut findings = Vec::new();
        let own = self.own.as_deref().unwrap_or(Path::new(OWN));
        let own = own::read(own, self.own.is_some(), &mut findings);
        // For a directory of the command line, nobody has told nfs-utils anything.
        let conf = match &self.nfs_conf {
            Some(file) => nfs_conf::read(file, true, &mut findings),
            None if self.is_plain() => Layer::default(),
            None => nfs_conf::read(Path::new(NFS_CONF), false, &mut findings),
        };
        self.resolve(&[&self.said, &own, &conf], findings)
    }

    /// Whether all that is exported is named by the command line.
    fn is_plain(&self) -> bool {
        !self.dirs.is_empty() && self.said.of("exports.files").is_none()
    }

    /// What holds of what these say, the first of which comes first.
    fn resolve(&self, layers: &[&Layer], mut findings: Vec<Finding>) -> Loaded {
        let mut options = Options {
            dirs: self.dirs.clone(),
            read_only: self.read_only,
            written: Some(Arc::new(self.clone())),
            ..Options::default()
        };
        let mut effective = Vec::new();
        for setting in SETTINGS {
            if setting.name == "exports.files" && self.is_plain() {
                // Files that a file names are for a server that is told nothing else.
                let places =
                    layers.iter().filter_map(|layer| layer.of(setting.name)?.place.as_ref());
                for place in places {
                    let message = "this has no effect: directories of the command line come first";
                    let remedy = "name files with --exports to export both";
                    findings.push(Finding::at(Severity::Note, place, message, remedy));
                }
                continue;
            }
            let mut given = layers.iter().filter_map(|layer| layer.of(setting.name));
            let Some(first) = given.next() else {
                let (name, value) = (setting.name.to_owned(), setting.default.replace('`', ""));
                effective.push(Effective { name, value, from: "default".to_owned() });
                continue;
            };
            for place in given.filter_map(|other| other.place.as_ref()) {
                let message = format!("this has no effect: {} comes first", first.source());
                findings.push(Finding::at(Severity::Note, place, message, "keep one of them"));
            }
            if let Err(wrong) = (setting.apply)(&mut options, &first.text) {
                let message = format!("{}: {wrong}", setting.name);
                let remedy = format!("in hayase.toml it is written as `{}`", setting.example);
                findings.push(match &first.place {
                    Some(place) => Finding::at(Severity::Error, place, message, remedy),
                    None => {
                        Finding::of(Severity::Error, Path::new("command line"), message, remedy)
                    }
                });
            }
            effective.push(Effective {
                name: setting.name.to_owned(),
                value: first.text.replace(setting::LIST, ","),
                from: first.source(),
            });
        }
        if options.versions.is_empty() {
            let remedy = "serve at least one of vers3, vers4.0, vers4.1, vers4.2";
            let message = "no version of NFS is left to be served";
            findings.push(Finding::of(
                Severity::Error,
                Path::new("configuration"),
                message,
                remedy,
            ));
        }
        Loaded { options, effective, findings }
    }
}

impl Loaded {
    /// The options, unless something is wrong.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn into_options(self) -> anyhow::Result<Options> {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let errors: Vec<_> = errors.map(|finding| format!("\n{finding}")).collect();
        if errors.is_empty() {
            return Ok(self.options);
        }
        let count =
            if errors.len() == 1 { "an error".into() } else { format!("{} errors", errors.len()) };
        anyhow::bail!("the configuration has {count}:{}", errors.concat())
    }

    /// The settings that differ from others, each in a sentence: what would take a restart.
    pub(crate) fn differing(&self, others: &[Effective]) -> Vec<String> {
        let differs = |now: &&Effective| {
            // What is exported is changed by a reload.
            now.name != "exports.files"
                && others.iter().any(|old| old.name == now.name && old.value != now.value)
        };
        let say = |now: &Effective| {
            format!("{} is {} in {}, which takes a restart", now.name, now.value, now.from)
        };
        self.effective.iter().filter(differs).map(say).collect()
    }
}

/// `hayase.toml` with every setting in it, explained and commented out.
pub fn example() -> String {
    own::example()
}

/// A setting as documentation has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// The section and the key in `hayase.toml`, with a dot between them.
    pub name: &'static str,
    /// What holds if nobody says anything, in words.
    pub default: &'static str,
    /// What it is, as a sentence.
    pub help: &'static str,
}

/// All settings of `hayase.toml`, in the order of the documentation.
pub fn settings() -> impl Iterator<Item = Described> {
    let describe =
        |s: &setting::Setting| Described { name: s.name, default: s.default, help: s.help };
    SETTINGS.iter().map(describe)
}

/// Every setting, and every key of nfs.conf(5), as two tables in Markdown.
pub fn reference() -> [String; 2] {
    [own::reference(), nfs_conf::reference()]
}

#[cfg(test)]
mod tests;
