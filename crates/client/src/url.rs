//! Where a directory is served: `nfs://host[:port]/path[?version=4.1&mountport=20048]`.

use std::fmt;
use std::str::FromStr;

use hayase_proto::nfs3;

use crate::Version;

/// A directory of an NFS server.
///
/// ```
/// use hayase_client::{Url, Version};
///
/// let url: Url = "nfs://server/srv/data?version=4.1".parse()?;
/// assert_eq!((url.host.as_str(), url.port, url.version), ("server", None, Version::V41));
/// assert_eq!(url.path, "/srv/data");
/// # Ok::<(), hayase_client::UrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Name or address, without the brackets of IPv6.
    pub host: String,
    /// The port of NFS, unless it is 2049.
    pub port: Option<u16>,
    /// The directory as the server names it; begins with `/`.
    pub path: String,
    /// What is spoken. [`Version::V42`] unless the URL says otherwise.
    pub version: Version,
    /// Where MOUNT is answered, for NFSv3. Without it the port of NFS is asked, then the
    /// portmapper.
    pub mountport: Option<u16>,
}

/// What is wrong with a URL: which part of it, why, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} {why}; {instead}")]
pub struct UrlError {
    part: String,
    why: &'static str,
    instead: &'static str,
}

impl UrlError {
    pub(crate) fn new(part: &str, why: &'static str, instead: &'static str) -> Self {
        UrlError { part: part.to_owned(), why, instead }
    }
}

impl Url {
    /// The port of NFS.
    pub fn nfs_port(&self) -> u16 {
        self.port.unwrap_or(nfs3::PORT)
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("nfs://").ok_or_else(|| {
            UrlError::new(text, "is no NFS URL", "write nfs://HOST[:PORT]/PATH[?version=4.2]")
        })?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = rest.find('/').ok_or_else(|| {
            UrlError::new(text, "names no directory", "write nfs://HOST/PATH, / for the root")
        })?;
        let (authority, path) = rest.split_at(slash);
        let (host, port) = split_authority(authority)?;
        let path = path.to_owned();
        let mut url = Url { host, port, path, version: Version::V42, mountport: None };
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("version" | "vers", version)) => url.version = version.parse()?,
                Some(("mountport", port)) => url.mountport = Some(parse_port(port)?),
                _ => {
                    let why = "is no parameter of an NFS URL";
                    let instead = "version=3|4.0|4.1|4.2 and mountport=PORT are";
                    return Err(UrlError::new(parameter, why, instead));
                }
            }
        }
        Ok(url)
    }
}

fn split_authority(authority: &str) -> Result<(String, Option<u16>), UrlError> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or_else(|| {
            UrlError::new(authority, "lacks the second bracket", "write [IPV6-ADDRESS]:PORT")
        })?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err(UrlError::new(authority, "names no host", "write nfs://HOST/PATH"));
    }
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(parse_port(port)?),
        None if rest.is_empty() => None,
        None => {
            return Err(UrlError::new(rest, "is not expected behind the host", "write :PORT"));
        }
    };
    Ok((host.to_owned(), port))
}

fn parse_port(text: &str) -> Result<u16, UrlError> {
    match text.parse() {
        Ok(0) | Err(_) => Err(UrlError::new(text, "is no port", "write a number from 1 to 65535")),
        Ok(port) => Ok(port),
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "nfs://[{}]", self.host)?;
        } else {
            write!(f, "nfs://{}", self.host)?;
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "{}?version={}", self.path, self.version)?;
        match self.mountport {
            Some(port) => write!(f, "&mountport={port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_parameters_may_be_left_out() {
        let url: Url = "nfs://server/srv/data".parse().unwrap();
        assert_eq!((url.host.as_str(), url.port, url.nfs_port()), ("server", None, 2049));
        assert_eq!((url.path.as_str(), url.mountport), ("/srv/data", None));
        assert_eq!(url.version, Version::V42);
        for text in [
            "nfs://10.0.0.1:12049/x?version=3&mountport=20048",
            "nfs://[fe80::1]:99/?version=4.0",
            "nfs://server/srv?version=4.1",
        ] {
            assert_eq!(text.parse::<Url>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_to_write_instead() {
        for (text, part) in [
            ("server:/srv", "server:/srv"),
            ("nfs://server", "nfs://server"),
            ("nfs:///srv", ""),
            ("nfs://server:0/srv", "0"),
            ("nfs://server:x/srv", "x"),
            ("nfs://server:70000/srv", "70000"),
            ("nfs://[::1/srv", "[::1"),
            ("nfs://[::1]9/srv", "9"),
            ("nfs://server/srv?version=4", "4"),
            ("nfs://server/srv?version=2", "2"),
            ("nfs://server/srv?rsize=1", "rsize=1"),
            ("nfs://server/srv?version", "version"),
        ] {
            let error = text.parse::<Url>().unwrap_err();
            assert_eq!(error.part, part, "{text}");
            assert!(error.to_string().contains("; "), "{text}: {error}");
        }
    }
}
