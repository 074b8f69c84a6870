//! Machine name formats: to whom an export is given.

use crate::diagnostic::Problem;
use crate::pattern::Pattern;
use ipnet::{IpNet, Ipv4Net};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// A client of an export, as exports(5) writes it.
///
/// Its `Display` is that way of writing, with names in lower case and networks cut to their mask;
/// MOUNT's EXPORT procedure and `showmount -e` show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// `*`: every host.
    Any,
    /// A single host by its address. An IPv4 address in IPv6 clothes is an IPv4 address here.
    Address(IpAddr),
    /// A network, as `address/bits` or `address/netmask`.
    Network(IpNet),
    /// A single host by its name, which the resolver turns into addresses.
    HostName(String),
    /// A host name wildcard.
    Wildcard(Pattern),
    /// `@group`: the hosts of a netgroup.
    Netgroup(String),
}

/// The kinds of client in the order in which they take precedence: the first kind that has a
/// match decides, wherever it stands on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Single hosts, by address or name.
    Host,
    /// Networks. Within them the order of the line counts, not the length of the mask.
    Network,
    /// Host name wildcards.
    Wildcard,
    /// Netgroups.
    Netgroup,
    /// `*`.
    Any,
}

impl Client {
    /// The kind of this client.
    pub fn class(&self) -> Class {
        match self {
            Self::Address(_) | Self::HostName(_) => Class::Host,
            Self::Network(_) => Class::Network,
            Self::Wildcard(_) => Class::Wildcard,
            Self::Netgroup(_) => Class::Netgroup,
            Self::Any => Class::Any,
        }
    }
}

impl FromStr for Client {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text.is_empty() {
            return Err(Problem::new(
                "the name of a client is missing",
                "write a host, a network, or `*` for every host",
            ));
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        if text.starts_with("gss/") {
            return Err(Problem::new(
                format!("`{text}` is not available: this build has no Kerberos"),
                "name hosts, and choose security flavors with `sec=`",
            ));
        }
        if let Some(group) = text.strip_prefix('@') {
            return netgroup(group);
        }
        // nfs-utils decides by the first special character; a slash within a wildcard is an
        // error here, so the order does not matter.
        if Pattern::is_meant(text) {
            return Pattern::parse(text).map(Self::Wildcard);
        }
        if let Some((address, mask)) = text.split_once('/') {
            return network(text, address, mask);
        }
        match text.parse::<IpAddr>() {
            Ok(address) => Ok(Self::Address(address.to_canonical())),
            Err(_) => host_name(text),
        }
    }
}

fn netgroup(group: &str) -> Result<Client, Problem> {
    // The name is handed to the name service: a leading dash or odd bytes have no place there.
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | ':');
    if group.is_empty() || group.starts_with('-') || !group.chars().all(fits) {
        return Err(Problem::new(
            format!("`@{group}` is not the name of a netgroup"),
            "write `@` and a name of letters, digits, `-`, `_` and `.`",
        ));
    }
    Ok(Client::Netgroup(group.into()))
}

fn network(text: &str, address: &str, mask: &str) -> Result<Client, Problem> {
    let address: IpAddr = address.parse().map_err(|_| {
        Problem::new(
            format!("`{text}`: `{address}` is not an IP address"),
            "write a network as `address/bits`, as in `192.168.0.0/24`",
        )
    })?;
    let bits = if mask.is_empty() || !mask.bytes().all(|b| b.is_ascii_digit()) {
        mask.parse().ok().and_then(|mask: IpAddr| {
            (mask.is_ipv4() == address.is_ipv4()).then(|| ipnet::ip_mask_to_prefix(mask).ok())?
        })
    } else {
        mask.parse::<u8>().ok()
    };
    let network = bits.and_then(|bits| IpNet::new(address, bits).ok()).ok_or_else(|| {
        let (limit, example) = match address {
            IpAddr::V4(_) => (32, "/255.255.255.0"),
            IpAddr::V6(_) => (128, "/64"),
        };
        Problem::new(
            format!("`{text}`: `{mask}` is not a netmask for this address"),
            format!("write the bits of the mask, 0 to {limit}, or a mask like `{example}`"),
        )
    })?;
    Ok(Client::Network(canonical(network).trunc()))
}

/// An IPv4 network in IPv6 clothes is an IPv4 network.
fn canonical(network: IpNet) -> IpNet {
    const MAPPED_BITS: u8 = 96;
    let mapped = |v6: ipnet::Ipv6Net| {
        let bits = v6.prefix_len().checked_sub(MAPPED_BITS)?;
        Ipv4Net::new(v6.addr().to_ipv4_mapped()?, bits).ok()
    };
    match network {
        IpNet::V6(v6) => mapped(v6).map_or(network, IpNet::V4),
        IpNet::V4(_) => network,
    }
}

fn host_name(text: &str) -> Result<Client, Problem> {
    // RFC 1123 §2.1, and the underscore that names inside sites do have. A dot at the end is the
    // absolute form and names the same host.
    let name = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.bytes().all(fits) && !label.starts_with('-')
    };
    if looks_like_address(name) {
        return Err(Problem::new(
            format!("`{text}` is not an IP address"),
            "write all four numbers, 0 to 255 each; a network is `192.168.0.0/24`",
        ));
    }
    if name.contains(':') {
        return Err(Problem::new(
            format!("`{text}` is neither an IPv6 address nor a host name"),
            "write the IPv6 address without brackets, zone or port",
        ));
    }
    if name.len() > 253 || !name.split('.').all(label) {
        return Err(Problem::new(
            format!("`{text}` is not a host name"),
            "host names have letters, digits, `-` and `.`; other scripts are written as `xn--…`",
        ));
    }
    Ok(Client::HostName(name.to_ascii_lowercase()))
}

/// Only digits and dots: no host has such a name, and resolvers read `10.1` as an address.
fn looks_like_address(name: &str) -> bool {
    name.parse::<Ipv4Addr>().is_ok() || name.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Network(network) => write!(f, "{network}"),
            Self::HostName(name) => f.write_str(name),
            Self::Wildcard(pattern) => write!(f, "{pattern}"),
            Self::Netgroup(name) => write!(f, "@{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_format_and_shows_it_canonically() {
        let table = [
            ("*", Class::Any, "*"),
            ("192.168.0.7", Class::Host, "192.168.0.7"),
            ("2001:DB8::1", Class::Host, "2001:db8::1"),
            ("::ffff:10.0.0.1", Class::Host, "10.0.0.1"),
            ("Server.Example.COM", Class::Host, "server.example.com"),
            ("server.example.com.", Class::Host, "server.example.com"),
            ("node_1", Class::Host, "node_1"),
            ("3com", Class::Host, "3com"),
            ("192.168.0.0/24", Class::Network, "192.168.0.0/24"),
            ("192.168.0.7/24", Class::Network, "192.168.0.0/24"),
            ("192.168.0.0/255.255.252.0", Class::Network, "192.168.0.0/22"),
            ("10.0.0.1/32", Class::Network, "10.0.0.1/32"),
            ("0.0.0.0/0", Class::Network, "0.0.0.0/0"),
            ("2001:db8::/32", Class::Network, "2001:db8::/32"),
            ("fe80::/ffff:ffff:ffff:ffff::", Class::Network, "fe80::/64"),
            ("::ffff:10.0.0.0/104", Class::Network, "10.0.0.0/8"),
            ("::/0", Class::Network, "::/0"),
            ("*.Example.com", Class::Wildcard, "*.example.com"),
            ("host[0-9]", Class::Wildcard, "host[0-9]"),
            ("h?st", Class::Wildcard, "h?st"),
            ("@Trusted", Class::Netgroup, "@Trusted"),
        ];
        for (text, class, shown) in table {
            let client: Client = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((client.class(), client.to_string().as_str()), (class, shown), "{text}");
            assert_eq!(client.to_string().parse::<Client>().as_ref(), Ok(&client), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_the_others() {
        let table = [
            ("", "missing"),
            ("@", "netgroup"),
            ("@-x", "netgroup"),
            ("@a,b", "netgroup"),
            ("gss/krb5p", "no Kerberos"),
            ("192.168.0", "not an IP address"),
            ("192.168.0.256", "not an IP address"),
            ("192.168.*", "not addresses"),
            ("[2001:db8::1]", "brackets"),
            ("fe80::1%eth0", "neither an IPv6 address"),
            ("host:2049", "neither an IPv6 address"),
            ("192.168.0.0/33", "not a netmask"),
            ("192.168.0.0/", "not a netmask"),
            ("192.168.0.0/+8", "not a netmask"),
            ("192.168.0.0/255.0.255.0", "not a netmask"),
            ("192.168.0.0/ffff::", "not a netmask"),
            ("2001:db8::/129", "not a netmask"),
            ("192.168.0/24", "not an IP address"),
            ("server/24", "not an IP address"),
            ("-host", "not a host name"),
            ("a..b", "not a host name"),
            (".", "not"),
            ("höst", "not a host name"),
            ("host#1", "not a host name"),
            ("=public", "not a host name"),
        ];
        for (text, message) in table {
            let problem = text.parse::<Client>().unwrap_err();
            assert!(problem.message.contains(message), "{text}: {problem}");
        }
    }
}
