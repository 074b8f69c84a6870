//! A server in the foreground, run by signals.

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::listen::Sockets;
use crate::supervisor::{self, Watchdog};
use crate::{Options, Server};

/// Serves until SIGTERM or SIGINT; reloads the exports at SIGHUP. A supervisor such as systemd may
/// hand sockets over (`LISTEN_FDS`), and is told how the server is (`NOTIFY_SOCKET`).
///
/// # Errors
/// What kept the server from starting, or that running calls had to be cut off.
pub fn run(options: Options) -> Result<()> {
    // Before anything runs: a signal that comes early must not be lost.
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM]).context("signals cannot be caught")?;
    let server = Server::start_on(Sockets::for_process(&options)?, options)?;
    let watchdog = Watchdog::start(&server)?;
    print!("{}", server.banner());
    supervisor::ready(&server.summary());
    for signal in signals.forever() {
        if signal != SIGHUP {
            break;
        }
        supervisor::reloading();
        if let Err(error) = server.reload() {
            tracing::error!("{error:#}");
        }
        supervisor::ready(&server.summary());
    }
    tracing::info!("stopping: finishing what is running");
    supervisor::stopping();
    drop(watchdog);
    if !server.stop() {
        bail!("stopped, but some calls did not finish in time or some data could not be synced");
    }
    Ok(())
}
