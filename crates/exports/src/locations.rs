//! `refer=` and `replicas=`: where else an export is found.

use crate::diagnostic::Problem;
use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

/// More places are no list that a client would try.
const MOST: usize = 64;

/// Places of other servers at which an export is found. Never empty.
///
/// Its `Display` is the value of the option.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locations(Arc<[Location]>);

/// One place, at one or more servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The path there: absolute.
    pub path: String,
    /// Names or addresses of servers that have it. Never empty.
    pub hosts: Vec<String>,
}

impl Locations {
    /// The places, in the order in which a client should try them.
    pub fn iter(&self) -> impl Iterator<Item = &Location> {
        self.0.iter()
    }

    /// Reads a value: `path@host[+host][:path@host[+host]]`.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let places: Vec<_> = split(text).map(place).collect::<Result<_, _>>()?;
        if places.len() > MOST || places.iter().any(|place| place.hosts.len() > MOST) {
            return Err(Problem::new(
                format!("more than {MOST} places or servers"),
                "name those that clients should try first",
            ));
        }
        Ok(Self(places.into()))
    }
}

/// Cuts at each `:` that is not within the brackets of an address.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.split(move |c| {
        within = match c {
            '[' => true,
            ']' => false,
            _ => within,
        };
        c == ':' && !within
    })
}

fn place(text: &str) -> Result<Location, Problem> {
    let wrong = |message: String| {
        Problem::new(message, "write `/path@host`, with `+host` for each other server that has it")
    };
    let (path, hosts) =
        text.rsplit_once('@').ok_or_else(|| wrong(format!("`{text}` has no `@` before a host")))?;
    let unsaid = |c: char| c.is_whitespace() || c.is_control() || "\"\\#()".contains(c);
    if !path.starts_with('/') || path.contains(unsaid) {
        return Err(wrong(format!("`{path}` is not an absolute path without blanks")));
    }
    if path.split('/').any(|name| name == "..") {
        return Err(wrong(format!("`{path}` goes up with `..`")));
    }
    let hosts = hosts.split('+').map(|host| {
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let bare = address.unwrap_or(host);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let good = match address {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.chars().all(is_name),
        };
        if good { Ok(bare.to_owned()) } else { Err(wrong(format!("`{host}` is not a host"))) }
    });
    Ok(Location { path: path.to_owned(), hosts: hosts.collect::<Result<_, _>>()? })
}

impl fmt::Display for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Location { path, hosts }) in self.iter().enumerate() {
            write!(f, "{}{path}", if at == 0 { "" } else { ":" })?;
            for (at, host) in hosts.iter().enumerate() {
                let (before, after) = if host.contains(':') { ("[", "]") } else { ("", "") };
                write!(f, "{}{before}{host}{after}", if at == 0 { "@" } else { "+" })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written_back() {
        for text in [
            "/data@store2",
            "/@10.0.0.7",
            "/data@a+b.example.org",
            "/data@a:/other@b+c",
            "/data@[2001:db8::1]+10.0.0.7:/d@[::1]",
            "/with@sign@host",
        ] {
            assert_eq!(Locations::parse(text).unwrap().to_string(), text);
        }
        let places = Locations::parse("/data@[2001:db8::1]+b:/d@c").unwrap();
        let places: Vec<_> = places.iter().collect();
        assert_eq!(places[0].hosts, ["2001:db8::1", "b"]);
        assert_eq!((&*places[1].path, &*places[1].hosts[0]), ("/d", "c"));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in [
            "",
            "/data",
            "data@host",
            "/data@",
            "/data@a+",
            "/data@a:",
            "/a b@host",
            "/a@h st",
            "/../a@host",
            "/data@[host]",
            "/data@::1",
            "/data@ho(st",
        ] {
            assert!(Locations::parse(text).is_err(), "{text}");
        }
        assert!(Locations::parse(&vec!["/a@b"; MOST + 1].join(":")).is_err());
    }
}
