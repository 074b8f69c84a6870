//! What is loaded.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A directory of this machine, mounted from wherever: `file:///PATH`.
    File(PathBuf),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("file://") {
            if !path.starts_with('/') {
                return Err(format!(
                    "{text}: a directory is named by its whole path, as in file:///mnt/data"
                ));
            }
            return Ok(Target::File(path.into()));
        }
        Err(format!("{text:?} is no target; targets are nfs://HOST/PATH and file:///PATH"))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::File(path) => write!(f, "file://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_named_by_its_whole_path() {
        let target: Target = "file:///mnt/data".parse().unwrap();
        assert_eq!(target, Target::File("/mnt/data".into()));
        assert_eq!(target.to_string(), "file:///mnt/data");
        for wrong in ["file://data", "/mnt/data", "smb://server/share", ""] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
