//! Versions of NFS, and what mount(8) wants to hear for each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A version of NFS that the tests speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Version {
    /// NFSv3.
    V3,
    /// NFSv4.0.
    V40,
    /// NFSv4.1.
    V41,
    /// NFSv4.2.
    V42,
}

impl Version {
    /// All.
    pub const ALL: [Self; 4] = [Self::V3, Self::V40, Self::V41, Self::V42];
    /// All of version 4.
    pub const FOUR: [Self; 3] = [Self::V40, Self::V41, Self::V42];

    /// As mount(8) and the names of tests write it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::V3 => "3",
            Self::V40 => "4.0",
            Self::V41 => "4.1",
            Self::V42 => "4.2",
        }
    }

    /// Options of a mount of version 3, for this version.
    pub fn of_options(self, options: &str) -> String {
        if self == Self::V3 {
            return options.to_owned();
        }
        let words = options.split(',').filter(|word| *word != "nolock");
        let words = words.map(|word| match word {
            "vers=3" => format!("vers={self}"),
            other => other.to_owned(),
        });
        words.collect::<Vec<_>>().join(",")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_version() {
        let options = "vers=3,nolock,nconnect=4";
        assert_eq!(Version::V3.of_options(options), options);
        assert_eq!(Version::V41.of_options(options), "vers=4.1,nconnect=4");
        assert_eq!(Version::V40.of_options("ro"), "ro");
    }
}
