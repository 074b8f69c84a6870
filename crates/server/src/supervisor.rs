//! What the supervisor that started us is told (`sd_notify(3)`): that clients can mount, that a reload
//! or the end has begun, and that nothing hangs. Without a supervisor, nothing is said.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use sd_notify::NotifyState;

use crate::Server;

/// Clients can mount; also said after a reload.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// A reload has begun; [`ready`] ends it.
pub(crate) fn reloading() {
    // The time tells the supervisor which reload it was.
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!("the supervisor is not told of a reload: no time: {error}"),
    }
}

/// The end has begun.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("finishing what is running")]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!("the supervisor cannot be told how we are: {error}");
    }
}

/// A thread that tells the supervisor that nothing hangs, for as long as that is so; it ends when
/// this is dropped.
pub(crate) struct Watchdog {
    /// Closed when the watchdog is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts it if the supervisor asks for it.
    pub(crate) fn start(server: &Server) -> Result<Option<Self>> {
        let Some(period) = sd_notify::watchdog_enabled() else { return Ok(None) };
        let (stop, stopped) = mpsc::channel();
        let answers = server.pulse();
        let watch = move || {
            while stopped.recv_timeout(period / 3) == Err(RecvTimeoutError::Timeout) {
                if answers(period / 3) {
                    tell(&[NotifyState::Watchdog]);
                } else {
                    tracing::error!("a thread that takes calls hangs");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(watch)
            .context("the server's threads cannot be started")?;
        Ok(Some(Watchdog { stop: Some(stop), thread: Some(thread) }))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
