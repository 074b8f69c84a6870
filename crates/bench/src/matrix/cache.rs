//! What a read finds in the page cache.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};

/// What a read finds in the page cache of the machine that has the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The whole file, as far as it fits: it was read once just before, by the same way
    #[default]
    Warm,
    /// Nothing of the file: the cache was made to forget it through the row's file:// target
    Cold,
}

impl Cache {
    /// What was done, in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Cache::Warm => {
                "Each write makes a new file and ends with a sync that counts. Each read follows one pass \
                 over the file, by the same way, that does not count: the data is in the page cache \
                 of the machine that has it, as far as it fits."
            }
            Cache::Cold => {
                "Each write makes a new file and ends with a sync that counts. Before each read the page \
                 cache of the machine that has the file is made to forget it: the data comes from the \
                 disk the first time."
            }
        }
    }
}

/// Has the cache forget a file, which is synced first: what is not on disk cannot be forgotten.
pub(super) fn forget(directory: Option<&str>, name: &str) -> Result<()> {
    let directory = directory.context("no file:// target through which to reach the file")?;
    let path = Path::new(directory).join(name);
    let what = || {
        format!(
            "have the cache forget {}; all of a row's targets have to lead to one directory",
            path.display()
        )
    };
    let file = File::open(&path).with_context(what)?;
    drop_cached(&file).with_context(what)
}

/// The same of an open file.
pub(super) fn drop_cached(file: &File) -> Result<()> {
    file.sync_all()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_elsewhere_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str();
        let error = format!("{:#}", forget(path, "data").unwrap_err());
        assert!(error.contains("one directory"), "{error}");
        std::fs::write(dir.path().join("data"), "x").unwrap();
        forget(path, "data").unwrap();
        assert!(forget(None, "data").is_err());
    }
}
