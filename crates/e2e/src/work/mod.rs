//! Bulk work on directories, run in a guest on the mount or on the host on the exported directory.
//!
//! Shell loops would do, but a guest needs twenty milliseconds to start a process.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

pub mod churn;
pub mod tree;

/// What can be done.
#[derive(Clone, Debug, Subcommand)]
pub enum Work {
    /// Make a tree of files that depends on nothing but the count.
    TreeMake {
        /// A new directory.
        directory: PathBuf,
        /// How many files.
        files: u32,
    },
    /// Make and remove files until killed.
    Churn {
        /// Where.
        directory: PathBuf,
        /// How their names begin.
        prefix: String,
    },
    /// Print a checksum for all names, attributes and contents below a directory.
    TreeSum {
        /// The directory.
        directory: PathBuf,
    },
}

impl Work {
    /// Does it.
    pub fn run(self) -> Result<()> {
        match self {
            Self::Churn { directory, prefix } => churn::churn(&directory, &prefix),
            Self::TreeMake { directory, files } => tree::make(&directory, files),
            Self::TreeSum { directory } => {
                println!("{}", tree::sum(&directory)?);
                Ok(())
            }
        }
    }
}
