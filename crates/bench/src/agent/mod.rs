//! Several hosts at once: each has an agent, and one coordinator tells all of them what to do and when.
//!
//! An agent listens only where it is told to, and does nothing for those who do not prove that they know
//! its secret. Agent and coordinator speak JSON in frames (`frame.rs`), after a handshake
//! (`handshake.rs`).

mod clock;
mod ends;
mod frame;
mod handshake;
mod message;
mod remote;
mod secret;
mod serve;
mod session;

use std::time::Duration;

pub use clock::{Clock, Exchange, Offset};
pub use ends::Ends;
pub use remote::Remote;
pub use secret::Secret;
pub use serve::Agent;

/// Where agents listen unless a port is named.
pub const PORT: u16 = 20490;

/// How often each side says that it is there.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// After so long without a word the other side is lost.
const SILENCE: Duration = Duration::from_secs(15);

/// An address with a port: `host`, `host:1234`, `::1`, `[::1]:1234`.
fn with_port(address: &str) -> String {
    let bare_v6 = address.parse::<std::net::Ipv6Addr>().is_ok();
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
    });
    match (bare_v6, has_port) {
        (true, _) => format!("[{address}]:{PORT}"),
        (false, true) => address.to_owned(),
        (false, false) => format!("{address}:{PORT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_added_where_there_is_none() {
        for (given, whole) in [
            ("host", "host:20490"),
            ("host:1", "host:1"),
            ("192.0.2.1", "192.0.2.1:20490"),
            ("::1", "[::1]:20490"),
            ("[::1]:5", "[::1]:5"),
            ("[::1]", "[::1]:20490"),
        ] {
            assert_eq!(with_port(given), whole);
        }
    }
}
