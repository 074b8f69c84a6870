//! Files that come and go.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// How many exist at once.
const ALIVE: u64 = 20;

/// Makes and removes files in `directory` until it is killed; no name comes twice.
pub fn churn(directory: &Path, prefix: &str) -> Result<()> {
    let path = |number: u64| directory.join(format!("{prefix}{number}"));
    for number in 0.. {
        File::create(path(number)).context("make a file")?;
        if number >= ALIVE {
            fs::remove_file(path(number - ALIVE)).context("remove a file")?;
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
