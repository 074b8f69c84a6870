//! What all commands do with their results, and with signals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::live::Live;

/// JSON for people to read, too.
pub(super) fn pretty(json: &serde_json::Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(json)? + "\n")
}

/// Where results go.
#[derive(Debug, clap::Args)]
pub(super) struct Outputs {
    /// Print the results to a file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Also write a page with charts and the environment, which can be read offline
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<PathBuf>,
}

impl Outputs {
    /// Makes the files: that one cannot be written is better known before the run.
    pub(super) fn prepare(&self) -> Result<()> {
        [&self.output, &self.report].into_iter().flatten().try_for_each(|path| write(path, ""))
    }

    /// Prints results, and writes the page if one is wanted.
    pub(super) fn put(&self, text: &str, page: impl FnOnce() -> String) -> Result<()> {
        match &self.output {
            Some(path) => write(path, text)?,
            None => print!("{text}"),
        }
        self.report.as_ref().map_or(Ok(()), |path| write(path, &page()))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

/// Ctrl-C and the like end the run, and its results are kept; twice, and it ends at once.
pub(super) fn listen(live: &Arc<Live>) -> Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};

    let mut signals =
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).context("listen for signals")?;
    let live = Arc::clone(live);
    std::thread::spawn(move || {
        for (number, signal) in signals.forever().enumerate() {
            live.interrupt();
            if number > 0 {
                std::process::exit(128 + signal);
            }
        }
    });
    Ok(())
}
