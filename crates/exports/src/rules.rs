//! Which client of an export an address is.

use crate::client::{Class, Client};
use crate::entry::Entry;
use crate::names::Names;
use crate::options::ExportOptions;
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::IpAddr;

/// The clients of one export, ready to be matched with addresses.
///
/// The kinds of client take precedence in the order of [`Class`]; within a kind, the first match
/// in the order of the file decides.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// In the order of precedence.
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    client: Client,
    options: ExportOptions,
    resolved: Resolved,
}

/// What was looked up when the rules were made.
#[derive(Clone, Debug)]
enum Resolved {
    /// The client says all itself.
    Nothing,
    /// The addresses of a host name.
    Addresses(Vec<IpAddr>),
    /// The hosts of a netgroup: those given by address, and those given by name in lower case.
    Members(HashSet<IpAddr>, HashSet<String>),
}

/// A host name or netgroup that could not be looked up, and so matches nobody for now.
#[derive(Debug)]
pub struct Unresolved {
    /// The client that matches nobody.
    pub client: Client,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, error } = self;
        write!(
            f,
            "client `{client}` cannot be looked up ({error}) and matches no host: correct the \
             name, or reload the exports when the name service answers"
        )
    }
}

impl std::error::Error for Unresolved {}

/// What the rules say about an address without asking for its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match<'r> {
    /// The export is given to the address with these options.
    Granted(&'r ExportOptions),
    /// The export is not given to the address.
    Refused,
    /// It depends on the names of the address: ask [`Rules::matching`] where waiting is allowed.
    NeedsNames,
}

impl Rules {
    /// Makes rules of clients, given in the order of the file, and looks up host names and
    /// netgroups. Those that cannot be looked up are returned beside the rules; they match
    /// nobody, and the others stand.
    pub fn new(
        clients: impl IntoIterator<Item = (Client, ExportOptions)>,
        names: &dyn Names,
    ) -> (Self, Vec<Unresolved>) {
        let mut unresolved = Vec::new();
        let mut rules: Vec<Rule> = clients
            .into_iter()
            .map(|(client, options)| {
                let resolved = resolve(&client, names).unwrap_or_else(|error| {
                    let client = client.clone();
                    unresolved.push(Unresolved { client, error });
                    Resolved::Addresses(Vec::new())
                });
                Rule { client, options, resolved }
            })
            .collect();
        // Stable: the order of the file holds within each kind.
        rules.sort_by_key(|rule| rule.client.class());
        (Self { rules }, unresolved)
    }

    /// The rules of an entry.
    pub fn of(entry: &Entry, names: &dyn Names) -> (Self, Vec<Unresolved>) {
        let grants = entry.grants.iter();
        Self::new(grants.map(|grant| (grant.client.clone(), grant.options.clone())), names)
    }

    /// The options with which the export is given to an address, if it is.
    ///
    /// Asks for the names of the address only if no host and no network matches and there is a
    /// wildcard or netgroup to be decided; then it can wait for the name service.
    pub fn matching(&self, address: IpAddr, names: &dyn Names) -> Option<&ExportOptions> {
        self.which(address, names).map(|(_, options)| options)
    }

    /// Like [`Rules::matching`], and also says which client of the export the address is.
    pub fn which(&self, address: IpAddr, names: &dyn Names) -> Option<(&Client, &ExportOptions)> {
        let address = address.to_canonical();
        let mut known = None;
        let mut matches = |rule: &Rule| {
            rule.matches_address(address).unwrap_or_else(|| {
                let names: &Vec<String> = known.get_or_insert_with(|| names.names(address));
                rule.matches_names(names)
            })
        };
        let rule = self.rules.iter().find(|rule| matches(rule))?;
        Some((&rule.client, &rule.options))
    }

    /// What can be said about an address at once, without a lookup.
    pub fn without_names(&self, address: IpAddr) -> Match<'_> {
        let address = address.to_canonical();
        for rule in &self.rules {
            match rule.matches_address(address) {
                Some(true) => return Match::Granted(&rule.options),
                Some(false) => {}
                None => return Match::NeedsNames,
            }
        }
        Match::Refused
    }

    /// Whether there is a wildcard or netgroup, so that an address may have to be looked up.
    pub fn needs_names(&self) -> bool {
        let by_name =
            |rule: &Rule| matches!(rule.client.class(), Class::Wildcard | Class::Netgroup);
        self.rules.iter().any(by_name)
    }
}

fn resolve(client: &Client, names: &dyn Names) -> io::Result<Resolved> {
    match client {
        Client::HostName(host) => {
            let addresses = names.addresses(host)?;
            if addresses.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "it has no address"));
            }
            let canonical = addresses.into_iter().map(|a| a.to_canonical());
            Ok(Resolved::Addresses(canonical.collect()))
        }
        Client::Netgroup(group) => {
            let (mut addresses, mut hosts) = (HashSet::new(), HashSet::new());
            for member in names.netgroup(group)? {
                let member = member.trim().to_ascii_lowercase();
                // A member without a host, or with a dash for it, admits no host.
                match member.parse::<IpAddr>() {
                    Ok(address) => _ = addresses.insert(address.to_canonical()),
                    Err(_) if member.is_empty() || member == "-" => {}
                    Err(_) => _ = hosts.insert(member),
                }
            }
            Ok(Resolved::Members(addresses, hosts))
        }
        Client::Any | Client::Address(_) | Client::Network(_) | Client::Wildcard(_) => {
            Ok(Resolved::Nothing)
        }
    }
}

impl Rule {
    /// Whether the rule matches, if the address alone decides that.
    fn matches_address(&self, address: IpAddr) -> Option<bool> {
        match (&self.client, &self.resolved) {
            (Client::Any, _) => Some(true),
            (Client::Address(own), _) => Some(*own == address),
            (Client::Network(network), _) => Some(network.contains(&address)),
            (_, Resolved::Addresses(addresses)) => Some(addresses.contains(&address)),
            (_, Resolved::Members(addresses, _)) if addresses.contains(&address) => Some(true),
            (_, Resolved::Members(_, hosts)) if hosts.is_empty() => Some(false),
            _ => None,
        }
    }

    fn matches_names(&self, names: &[String]) -> bool {
        match (&self.client, &self.resolved) {
            (Client::Wildcard(pattern), _) => names.iter().any(|name| pattern.matches(name)),
            (_, Resolved::Members(_, hosts)) => {
                let lower = |name: &String| name.trim_end_matches('.').to_ascii_lowercase();
                // Netgroups often list hosts without their domain; only the canonical name is
                // shortened to meet them.
                let short = names.first().map(lower);
                let short = short.as_deref().and_then(|name| name.split('.').next());
                names.iter().any(|name| hosts.contains(&lower(name)))
                    || short.is_some_and(|name| hosts.contains(name))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A small site.
    #[derive(Default)]
    struct Site {
        lookups: AtomicUsize,
    }

    impl Names for Site {
        fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            let addresses: &[&str] = match host {
                "alpha" | "alpha.example.com" => &["10.1.0.1", "2001:db8::1"],
                "beta" => &["::ffff:10.1.0.2"],
                "nowhere" => &[],
                _ => return Err(io::Error::other("no such host")),
            };
            Ok(addresses.iter().map(|a| a.parse().unwrap()).collect())
        }

        fn names(&self, address: IpAddr) -> Vec<String> {
            self.lookups.fetch_add(1, Ordering::Relaxed);
            let names: &[&str] = match address.to_string().as_str() {
                "10.1.0.1" => &["alpha.example.com", "www.example.com"],
                "10.1.0.2" => &["Beta.Example.com"],
                "10.1.0.3" => &["gamma.example.com.", "store.lab.org"],
                _ => &[],
            };
            names.iter().map(ToString::to_string).collect()
        }

        fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
            let hosts: &[&str] = match name {
                "servers" => &["alpha", "-", "", "10.1.0.9"],
                "labs" => &["STORE.lab.org", "beta.example.com"],
                "addresses" => &["10.1.0.8"],
                _ => return Err(io::Error::other("no such netgroup")),
            };
            Ok(hosts.iter().map(ToString::to_string).collect())
        }
    }

    fn rules(clients: &str) -> (Rules, Vec<Unresolved>) {
        let line = format!("/srv {clients}");
        let entries = crate::parse(line.as_bytes(), Path::new("exports")).unwrap();
        Rules::of(&entries[0], &Site::default())
    }

    /// The client as which an address is served.
    fn served_as(rules: &Rules, address: &str) -> Option<String> {
        let found = rules.which(address.parse().unwrap(), &Site::default());
        found.map(|(client, _)| client.to_string())
    }

    #[test]
    fn precedence_is_by_kind_and_then_by_order() {
        let all = "* @servers *.example.com 10.0.0.0/8 10.1.0.0/16 alpha 10.1.0.1";
        let table = [
            // The kinds, each hiding those after it, whatever the order of the line.
            (all, "10.1.0.1", Some("alpha")),
            ("* @servers *.example.com 10.0.0.0/8 10.1.0.1 alpha", "10.1.0.1", Some("10.1.0.1")),
            ("* @servers *.example.com 10.0.0.0/8", "10.1.0.1", Some("10.0.0.0/8")),
            ("* @servers *.example.com", "10.1.0.1", Some("*.example.com")),
            ("* @servers", "10.1.0.1", Some("@servers")),
            ("*", "10.1.0.1", Some("*")),
            // Networks: the first, not the longest mask; a network of one is still a network.
            ("10.0.0.0/8 10.1.0.0/16", "10.1.0.7", Some("10.0.0.0/8")),
            ("10.1.0.0/16 10.0.0.0/8", "10.1.0.7", Some("10.1.0.0/16")),
            ("10.1.0.1/32 alpha", "10.1.0.1", Some("alpha")),
            // Wildcards and netgroups: the first.
            ("*.com a*", "10.1.0.1", Some("*.com")),
            ("a* *.com", "10.1.0.1", Some("a*")),
            ("@labs @servers", "10.1.0.1", Some("@servers")),
            // Any address of a host is the host.
            ("alpha *", "2001:db8::1", Some("alpha")),
            ("alpha *", "2001:db8::2", Some("*")),
            // IPv4 in IPv6 clothes.
            (all, "::ffff:10.1.0.1", Some("alpha")),
            ("10.0.0.0/8", "::ffff:10.2.0.1", Some("10.0.0.0/8")),
            ("beta", "10.1.0.2", Some("beta")),
            ("::ffff:10.1.0.5 ::/0", "10.1.0.5", Some("10.1.0.5")),
            ("::/0", "10.1.0.5", None),
            // Names: aliases count, case does not, nor a dot at the end.
            ("www.*", "10.1.0.1", Some("www.*")),
            ("beta.*", "10.1.0.2", Some("beta.*")),
            ("@labs", "10.1.0.2", Some("@labs")),
            ("@labs", "10.1.0.3", Some("@labs")),
            // Netgroups: by address, by short canonical name, not by an empty host.
            ("@servers", "10.1.0.9", Some("@servers")),
            ("@servers", "10.1.0.2", None),
            ("@servers", "10.9.9.9", None),
            // No name, no wildcard.
            ("*.example.com *.*", "10.9.9.9", None),
            ("*.example.com *", "10.9.9.9", Some("*")),
        ];
        for (clients, address, expected) in table {
            let (rules, unresolved) = rules(clients);
            assert!(unresolved.is_empty(), "{clients}");
            assert_eq!(served_as(&rules, address).as_deref(), expected, "{clients} for {address}");
        }
    }

    #[test]
    fn names_are_asked_for_once_and_only_if_they_decide() {
        let table = [
            ("alpha 10.0.0.0/8 *", "10.1.0.3", 0, false),
            ("10.0.0.0/8 *.org @labs", "10.1.0.3", 0, true),
            ("@addresses *", "10.1.0.3", 0, true),
            ("*.net @servers @labs", "10.1.0.3", 1, true),
            ("*.net @servers *", "10.9.9.9", 1, true),
        ];
        for (clients, address, lookups, needs_names) in table {
            let (rules, _) = rules(clients);
            let site = Site::default();
            let address: IpAddr = address.parse().unwrap();
            let served = rules.matching(address, &site);
            assert_eq!(site.lookups.load(Ordering::Relaxed), lookups, "{clients}");
            assert_eq!(rules.needs_names(), needs_names, "{clients}");
            let expected = match served {
                _ if lookups > 0 => Match::NeedsNames,
                Some(options) => Match::Granted(options),
                None => Match::Refused,
            };
            assert_eq!(rules.without_names(address), expected, "{clients}");
        }
    }

    #[test]
    fn what_cannot_be_looked_up_matches_nobody_and_is_reported() {
        let (rules, unresolved) = rules("gone nowhere @gone 10.0.0.0/8");
        let reported: Vec<_> = unresolved.iter().map(|u| u.client.to_string()).collect();
        assert_eq!(reported, ["gone", "nowhere", "@gone"]);
        assert!(unresolved[0].to_string().contains("no such host"));
        assert_eq!(served_as(&rules, "10.1.0.1").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(served_as(&rules, "11.1.0.1"), None);
    }
}
