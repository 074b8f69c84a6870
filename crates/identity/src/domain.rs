//! The domain of this host.

use dns_lookup::{AddrInfoHints, getaddrinfo};

/// `AI_CANONNAME` of getaddrinfo(3).
const CANONICAL_NAME: i32 = 2;

/// The domain that names have where nobody says another.
const FALLBACK: &str = "localdomain";

/// The DNS domain of this host, or else `localdomain`. It may ask the name service.
pub(crate) fn host_domain() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    domain_of(&host)
        .or_else(|| domain_of(&canonical(&host)?))
        .unwrap_or_else(|| FALLBACK.to_owned())
}

fn canonical(host: &str) -> Option<String> {
    let hints = AddrInfoHints { flags: CANONICAL_NAME, ..AddrInfoHints::default() };
    let mut found = getaddrinfo(Some(host), None, Some(hints)).ok()?;
    found.find_map(|info| info.ok()?.canonname)
}

fn domain_of(host: &str) -> Option<String> {
    let (_, domain) = host.trim_end_matches('.').split_once('.')?;
    (!domain.is_empty()).then(|| domain.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_what_follows_the_first_dot() {
        assert_eq!(domain_of("store.Example.org.").as_deref(), Some("example.org"));
        assert_eq!(domain_of("store"), None);
        assert_eq!(domain_of("store."), None);
        assert!(!host_domain().is_empty());
    }
}
