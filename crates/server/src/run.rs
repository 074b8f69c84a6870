//! A server in the foreground, run by signals.

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{Options, Server};

/// Serves until SIGTERM or SIGINT; reloads the exports at SIGHUP.
///
/// # Errors
/// What kept the server from starting, or that running calls had to be cut off.
pub fn run(options: Options) -> Result<()> {
    // Before anything runs: a signal that comes early must not be lost.
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM]).context("signals cannot be caught")?;
    let server = Server::start(options)?;
    print!("{}", server.banner());
    for signal in signals.forever() {
        if signal != SIGHUP {
            break;
        }
        if let Err(error) = server.reload() {
            tracing::error!("{error:#}");
        }
    }
    tracing::info!("stopping: finishing what is running");
    if !server.stop() {
        bail!("stopped, but some calls did not finish in time or some data could not be synced");
    }
    Ok(())
}
