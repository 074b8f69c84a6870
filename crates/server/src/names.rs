//! Looking up names on threads that serve requests.

use std::io;
use std::net::IpAddr;

use hayase_exports::{Names, SystemNames};
use hayase_local::act_as_server;

/// The system's names, asked as the server: a thread that serves requests may be left with
/// the identity of its last caller, who may not be allowed to ask.
#[derive(Default)]
pub(crate) struct ServerNames(SystemNames);

impl Names for ServerNames {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        act_as_server();
        self.0.addresses(host)
    }

    fn names(&self, address: IpAddr) -> Vec<String> {
        act_as_server();
        self.0.names(address)
    }

    fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
        act_as_server();
        self.0.netgroup(name)
    }
}
