//! How names are looked up.

use std::io;
use std::net::IpAddr;

/// The name services that client matching needs. [`SystemNames`](crate::SystemNames) asks the
/// host's own; tests answer from a table.
///
/// Lookups can wait for the network; do not call them where waiting is not allowed.
pub trait Names: Send + Sync {
    /// The addresses of a host.
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// The names of an address, the canonical one first and then its aliases. Only names that
    /// lead back to the address are worth trusting; an implementation leaves out the others.
    /// Empty if the address has no name.
    fn names(&self, address: IpAddr) -> Vec<String>;

    /// The host part of each member of a netgroup, nested groups included.
    fn netgroup(&self, name: &str) -> io::Result<Vec<String>>;
}
