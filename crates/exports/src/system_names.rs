//! The name services of this host.

use crate::names::Names;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::net::{IpAddr, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The name services of this host, as its name service switch orders them: files, DNS, LDAP, NIS.
///
/// Addresses and names come from the C library. Netgroups and aliases, which it offers only
/// through functions that are not safe to call from threads, come from the `getent` command,
/// which nests groups itself; it must answer in time.
///
/// A name of an address counts only if it leads back to the address: whoever runs the reverse
/// zone of a client's network can write any name there.
#[derive(Clone, Debug)]
pub struct SystemNames {
    getent: Vec<OsString>,
    timeout: Duration,
}

/// A netgroup of a hundred thousand hosts fits; output without end does not.
const OUTPUT_LIMIT: u64 = 16 << 20;

impl Default for SystemNames {
    fn default() -> Self {
        Self::new(Duration::from_secs(10))
    }
}

impl SystemNames {
    /// Name services whose `getent` command is given this long for each answer.
    pub fn new(timeout: Duration) -> Self {
        Self { getent: vec!["getent".into()], timeout }
    }

    /// Whether a name leads back to the address from which it came.
    fn leads_back(&self, name: &str, address: IpAddr) -> bool {
        let confirmed = self.addresses(name).is_ok_and(|all| all.contains(&address));
        if !confirmed {
            tracing::debug!(%address, name, "name does not lead back to its address; ignored");
        }
        confirmed
    }

    /// The other names of an address, where the host has `getent`.
    fn aliases(&self, address: IpAddr) -> Vec<String> {
        match self.getent(&["hosts".as_ref(), address.to_string().as_ref()]) {
            // The address, the canonical name, and then the aliases.
            Ok(Some(line)) => line.split_ascii_whitespace().skip(1).map(String::from).collect(),
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::debug!(%address, %error, "aliases cannot be looked up; ignored");
                Vec::new()
            }
        }
    }

    /// Runs `getent`; `None` if it knows nothing under the key.
    fn getent(&self, arguments: &[&OsStr]) -> io::Result<Option<String>> {
        let (program, first) = self
            .getent
            .split_first()
            .ok_or_else(|| io::Error::other("no getent command is set"))?;
        let mut command = Command::new(program);
        command.args(first).args(arguments);
        let (output, code) = run(command, self.timeout)
            .map_err(|error| io::Error::new(error.kind(), format!("getent: {error}")))?;
        match code {
            Some(0) => Ok(Some(output)),
            // "One or more supplied key could not be found in the database."
            Some(2) => Ok(None),
            _ => Err(io::Error::other("getent does not serve this database")),
        }
    }
}

impl Names for SystemNames {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut addresses: Vec<IpAddr> = Vec::new();
        for socket in (host, 0).to_socket_addrs()? {
            let address = socket.ip().to_canonical();
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        Ok(addresses)
    }

    fn names(&self, address: IpAddr) -> Vec<String> {
        let address = address.to_canonical();
        // No name and no answer are told apart nowhere: either way no wildcard matches.
        let Ok(canonical) = dns_lookup::lookup_addr(&address) else {
            return Vec::new();
        };
        let mut names = vec![canonical];
        for alias in self.aliases(address) {
            if !names.contains(&alias) {
                names.push(alias);
            }
        }
        names.retain(|name| self.leads_back(name, address));
        names
    }

    fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
        if name.starts_with('-') {
            // It would be an option of the command.
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a netgroup"));
        }
        match self.getent(&["netgroup".as_ref(), name.as_ref()])? {
            Some(output) => Ok(hosts_of(&output)),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such netgroup")),
        }
    }
}

/// The host parts of triples, as in `trusted  (alpha,-,) (beta, , )`.
fn hosts_of(output: &str) -> Vec<String> {
    let triples = output.split('(').skip(1);
    let hosts = triples.filter_map(|triple| triple.split_once(',')).map(|(host, _)| host.trim());
    hosts.filter(|host| !host.is_empty() && *host != "-").map(String::from).collect()
}

/// Runs a command, and ends it if it is not done in time. Returns its output and exit code.
fn run(mut command: Command, timeout: Duration) -> io::Result<(String, Option<i32>)> {
    let deadline = Instant::now() + timeout;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let result = finish(&mut child, deadline);
    if result.is_err() {
        // It may have ended by itself in between; then there is nothing to kill.
        let _ = child.kill();
        let _ = child.wait();
    }
    result
}

fn finish(child: &mut Child, deadline: Instant) -> io::Result<(String, Option<i32>)> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, "no answer in time");
    let pipe = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let name = String::from("hayase-getent");
    thread::Builder::new().name(name).spawn(move || {
        let mut output = Vec::new();
        let read = pipe.take(OUTPUT_LIMIT).read_to_end(&mut output);
        // Nobody listens after the deadline.
        let _ = sender.send(read.map(|_| output));
    })?;
    let left = deadline.saturating_duration_since(Instant::now());
    let output = match receiver.recv_timeout(left) {
        Ok(output) => output?,
        Err(RecvTimeoutError::Timeout) => return Err(late()),
        Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("reader ended")),
    };
    if output.len() as u64 == OUTPUT_LIMIT {
        return Err(io::Error::other("the answer is too long"));
    }
    // Its output has ended, so it is about to exit, but it need not have done so.
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((String::from_utf8_lossy(&output).into_owned(), status.code()));
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name services whose `getent` is a shell script; `$1` is the database, `$2` the key.
    fn scripted(script: &str) -> SystemNames {
        SystemNames {
            getent: ["sh", "-c", script, "getent"].map(OsString::from).to_vec(),
            timeout: Duration::from_secs(10),
        }
    }

    #[test]
    fn netgroups_are_read_as_getent_prints_them() {
        let script = r#"[ "$1" = netgroup ] && [ "$2" = trusted ] || exit 2
            echo "trusted               (alpha,-,example.com) (beta, , ) ( ,joe, ) (-,,) (10.0.0.1,,)""#;
        let names = scripted(script);
        assert_eq!(names.netgroup("trusted").unwrap(), ["alpha", "beta", "10.0.0.1"]);
        assert!(names.netgroup("-i").is_err());
        let error = names.netgroup("other").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_getent_that_fails_is_an_error() {
        assert!(scripted("exit 1").netgroup("trusted").is_err());
        assert!(scripted("exit 3").netgroup("trusted").is_err());
        assert!(scripted("kill -9 $$").netgroup("trusted").is_err());
        let missing =
            SystemNames { getent: vec!["/nonexistent/getent".into()], ..SystemNames::default() };
        let error = missing.netgroup("trusted").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with("getent: "), "{error}");
    }

    #[test]
    fn a_getent_that_hangs_is_ended() {
        for script in ["exec sleep 60", "exec >&-; exec sleep 60"] {
            let names = SystemNames { timeout: Duration::from_millis(100), ..scripted(script) };
            let start = Instant::now();
            let error = names.netgroup("trusted").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{script}");
            assert!(start.elapsed() < Duration::from_secs(30), "{script}");
        }
    }

    #[test]
    fn localhost_is_found_both_ways() {
        let names = SystemNames::default();
        let local: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(names.addresses("localhost").unwrap().contains(&local));
        assert_eq!(names.names(local).first().map(String::as_str), Some("localhost"));
    }

    #[test]
    fn aliases_that_lead_elsewhere_are_not_names() {
        let names = scripted("echo '127.0.0.1 localhost 127.0.0.9'");
        assert_eq!(names.names("127.0.0.1".parse().unwrap()), ["localhost"]);
    }
}
