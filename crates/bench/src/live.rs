//! The line on a terminal that says how far a run has come.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Progress, Watch};

/// Shows progress on a terminal, and nothing where there is none.
#[derive(Debug)]
pub struct Live {
    terminal: bool,
    /// Whether a line is there to be overwritten.
    shown: Mutex<bool>,
    interrupted: AtomicBool,
}

impl Default for Live {
    fn default() -> Self {
        Live::new(stderr().is_terminal())
    }
}

impl Live {
    /// `terminal` says whether anything is shown.
    pub fn new(terminal: bool) -> Self {
        Live { terminal, shown: Mutex::new(false), interrupted: AtomicBool::new(false) }
    }

    /// Ends the run as soon as possible.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Takes the line away.
    pub fn clear(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown {
            put("\r\x1b[K");
            *shown = false;
        }
    }
}

/// A terminal that is gone is no reason to stop.
fn put(text: &str) {
    let mut to = stderr().lock();
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

impl Watch for Live {
    fn progress(&self, progress: &Progress) {
        if self.terminal {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            put(&format!("\r\x1b[K{}", crate::fio::status(progress)));
            *shown = true;
        }
    }

    fn say(&self, text: &str) {
        self.clear();
        eprintln!("{text}");
    }

    fn interrupted(&self) -> Option<String> {
        self.interrupted.load(Ordering::Relaxed).then(|| "stopped by a signal".to_owned())
    }
}
