//! What all commands do with their results, and with signals.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::live::Live;

/// JSON for people to read, too.
pub(super) fn pretty(json: &serde_json::Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(json)? + "\n")
}

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
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
