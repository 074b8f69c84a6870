//! What is loaded.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use hayase_client::{Url, UrlError};

/// What is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A directory of an NFS server, which this process speaks to itself:
    /// `nfs://HOST[:PORT]/PATH[?version=3|4.0|4.1|4.2]`.
    Nfs(Url),
    /// A directory of this machine, mounted from wherever: `file:///PATH`.
    File(PathBuf),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("nfs://") {
            return text.parse().map(Target::Nfs).map_err(|error: UrlError| error.to_string());
        }
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
            Target::Nfs(url) => url.fmt(f),
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
        let target: Target = "nfs://server/srv?version=4.1".parse().unwrap();
        assert_eq!(target.to_string(), "nfs://server/srv?version=4.1");
        for wrong in [
            "nfs://server",
            "nfs://server/?vers=5",
            "file://data",
            "/mnt/data",
            "smb://server/share",
            "",
        ] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
