//! `mountpoint=`: an export that is there only while something is mounted.

use crate::diagnostic::Problem;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What has to be mounted. Its `Display` is `=` and the value of the option, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MountPoint {
    /// The exported directory itself.
    Exported,
    /// Another directory.
    At(Arc<Path>),
}

impl MountPoint {
    /// The directory that has to be the root of a mounted file system, for an export of `path`.
    pub fn of<'p>(&'p self, path: &'p Path) -> &'p Path {
        match self {
            Self::Exported => path,
            Self::At(other) => other,
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let path = PathBuf::from(text);
        if text.is_empty() {
            return Ok(Self::Exported);
        }
        if !path.is_absolute() || text.contains(|c: char| "\"\\#()".contains(c) || c.is_control()) {
            return Err(Problem::new(
                format!("`{text}` is not an absolute path without special characters"),
                "write the directory on which something is mounted, beginning with `/`",
            ));
        }
        Ok(Self::At(path.into()))
    }
}

impl fmt::Display for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exported => Ok(()),
            Self::At(path) => write!(f, "={}", path.display()),
        }
    }
}
