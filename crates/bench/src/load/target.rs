//! What to put load on: `nfs://host[:port]/path?version=4.1`, or a floor loop at `floor://host:port`,
//! which wants no MOUNT and takes any handle.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use anyhow::{Context, Result};
use hayase_proto::nfs3;

/// A server and what is used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A directory of an NFS server.
    Nfs(NfsTarget),
    /// A bare loop of [`floor`](crate::floor).
    Floor(Host),
}

/// A directory of an NFS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsTarget {
    /// Where NFS is served.
    pub host: Host,
    /// The directory, as the server names it.
    pub path: String,
    /// What is spoken.
    pub version: Version,
    /// Where MOUNT is served; without it the NFS port is asked, then the portmapper. NFSv4 has
    /// no MOUNT.
    pub mountport: Option<u16>,
}

/// A version of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// NFSv3.
    V3,
    /// NFSv4 with sessions.
    V4 {
        /// The minor version, 1 or 2.
        minor: u32,
    },
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "3" => Ok(Version::V3),
            "4.1" => Ok(Version::V4 { minor: 1 }),
            "4.2" => Ok(Version::V4 { minor: 2 }),
            other => Err(format!("version {other} is not spoken; 3, 4.1 and 4.2 are")),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::V3 => f.write_str("3"),
            Version::V4 { minor } => write!(f, "4.{minor}"),
        }
    }
}

/// A host's name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name or address, without the brackets of IPv6.
    pub name: String,
    /// The port.
    pub port: u16,
}

impl Host {
    /// Finds the address.
    pub fn resolve(&self) -> Result<SocketAddr> {
        self.at(self.port)
    }

    /// Finds the address of another port of the same host.
    pub fn at(&self, port: u16) -> Result<SocketAddr> {
        (self.name.as_str(), port)
            .to_socket_addrs()
            .with_context(|| format!("find the address of {}", self.name))?
            .next()
            .with_context(|| format!("{} has no address", self.name))
    }
}

impl Target {
    /// The host whose port takes the load.
    pub fn host(&self) -> &Host {
        match self {
            Target::Nfs(target) => &target.host,
            Target::Floor(host) => host,
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix("floor://") {
            let authority = rest.trim_end_matches('/');
            let (name, port) = split_authority(authority)?;
            let port = port.ok_or("a floor has no port of its own: floor://HOST:PORT")?;
            return Ok(Target::Floor(Host { name, port }));
        }
        let rest = text
            .strip_prefix("nfs://")
            .ok_or("targets look like nfs://HOST[:PORT]/PATH or floor://HOST:PORT")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = rest.find('/').ok_or("the path is missing: nfs://HOST/PATH")?;
        let (authority, path) = rest.split_at(slash);
        let (name, port) = split_authority(authority)?;
        let host = Host { name, port: port.unwrap_or(nfs3::PORT) };
        let version = Version::V3;
        let mut target = NfsTarget { host, path: path.to_owned(), version, mountport: None };
        for parameter in query.split('&').filter(|p| !p.is_empty()) {
            match parameter.split_once('=') {
                Some(("version", version)) => target.version = version.parse()?,
                Some(("mountport", port)) => target.mountport = Some(parse_port(port)?),
                _ => {
                    return Err(format!(
                        "{parameter:?} is no parameter; version and mountport are"
                    ));
                }
            }
        }
        Ok(Target::Nfs(target))
    }
}

fn split_authority(authority: &str) -> Result<(String, Option<u16>), String> {
    let (name, rest) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("an IPv6 address needs both brackets")?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if name.is_empty() {
        return Err("the host is missing".to_owned());
    }
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(parse_port(port)?),
        None if rest.is_empty() => None,
        None => return Err(format!("{rest:?} behind the host is no port")),
    };
    Ok((name.to_owned(), port))
}

fn parse_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("{text:?} is no port")),
        Ok(port) => Ok(port),
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Nfs(NfsTarget { host, path, version: Version::V3, .. }) => {
                write!(f, "nfs://{host}{path}")
            }
            Target::Nfs(NfsTarget { host, path, version, .. }) => {
                write!(f, "nfs://{host}{path}?version={version}")
            }
            Target::Floor(host) => write!(f, "floor://{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfs(text: &str) -> NfsTarget {
        match text.parse() {
            Ok(Target::Nfs(target)) => target,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn ports_and_parameters_may_be_left_out() {
        let target = nfs("nfs://server/srv/data");
        assert_eq!((target.host.name.as_str(), target.host.port), ("server", 2049));
        assert_eq!((target.path.as_str(), target.mountport), ("/srv/data", None));
        assert_eq!(target.version, Version::V3);
        let target = nfs("nfs://10.0.0.1:12049/x?version=3&mountport=20048");
        assert_eq!((target.host.port, target.mountport), (12049, Some(20048)));
        let target = nfs("nfs://[fe80::1]:99/");
        assert_eq!((target.host.name.as_str(), target.path.as_str()), ("fe80::1", "/"));
        assert_eq!(Target::Nfs(target).to_string(), "nfs://[fe80::1]:99/");
    }

    #[test]
    fn versions_are_three_and_those_with_sessions() {
        for text in ["nfs://server:2049/srv?version=4.1", "nfs://server:2049/?version=4.2"] {
            let target = nfs(text);
            assert!(matches!(target.version, Version::V4 { minor: 1 | 2 }));
            assert_eq!(Target::Nfs(target).to_string(), text);
        }
    }

    #[test]
    fn a_floor_is_a_host_and_a_port() {
        let host = Host { name: "127.0.0.1".to_owned(), port: 7 };
        assert_eq!("floor://127.0.0.1:7".parse(), Ok(Target::Floor(host)));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for text in [
            "server:/srv",
            "nfs://server",
            "nfs:///srv",
            "nfs://server:0/srv",
            "nfs://server:x/srv",
            "nfs://[::1/srv",
            "nfs://[::1]9/srv",
            "nfs://server/srv?version=4",
            "nfs://server/srv?version=4.0",
            "nfs://server/srv?rsize=1",
            "floor://server",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
