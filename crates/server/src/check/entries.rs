//! What is wrong with exports although it can be read: what never matches, names nobody, is not
//! there, or has no effect.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use hayase_conf::Place;
use hayase_exports::{Client, Entry, Flavor, Grant, Io, Names};

use crate::config::{Finding, Severity};
use crate::exports::{Text, dormant};

/// Looks at every client of every export.
pub(super) fn findings(entries: &[Entry], texts: &[Text], names: &dyn Names) -> Vec<Finding> {
    let mut findings = Vec::new();
    let missing = match dormant(entries) {
        Ok(missing) => missing,
        Err(error) => {
            let remedy = "let it be read";
            let file = Path::new("/proc/self/mountinfo");
            findings.push(Finding::of(Severity::Error, file, error.to_string(), remedy));
            Vec::new()
        }
    };
    for entry in entries {
        let path = entry.path.display();
        if let (Some(missing), Some(grant)) =
            (missing.iter().find(|dormant| dormant.path == entry.path), entry.grants.first())
        {
            let waits = grant.options.mountpoint.is_some();
            let severity = if waits { Severity::Warning } else { Severity::Error };
            let message = format!("{path} is not served: {}", missing.why);
            let remedy =
                if waits { "mount it; it is served then" } else { "make it, or remove the line" };
            findings.push(Finding::at(severity, &place(grant, texts), message, remedy));
        }
        for (at, grant) in entry.grants.iter().enumerate() {
            let place = place(grant, texts);
            let mut warn = |message: String, remedy: &str| {
                findings.push(Finding::at(Severity::Warning, &place, message, remedy));
            };
            if let Some(earlier) = covered(&entry.grants[..at], grant) {
                warn(
                    format!(
                        "`{}` never matches: `{}` of line {} comes first, and has it all",
                        grant.written, earlier.written, earlier.line
                    ),
                    "write the narrower one first: of one kind, the first counts",
                );
            }
            if let Some(error) = unknown(&grant.client, names) {
                warn(
                    format!("`{}` matches nobody: {error}", grant.written),
                    "correct the name, or the name service; a reload asks again",
                );
            }
            let (io, counts) = (grant.options.io, entry.io());
            if io != Io::Auto && io != counts {
                warn(
                    format!("`io={io}` has no effect: one file system has one way, `io={counts}`"),
                    "give all clients of a path the same `io=`",
                );
            }
            for (message, remedy) in idle_options(grant) {
                warn(message.to_owned(), remedy);
            }
        }
    }
    findings
}

/// Where a client stands, with its line.
fn place(grant: &Grant, texts: &[Text]) -> Place {
    let text = texts.iter().find(|(file, _)| **file == *grant.file).map(|(_, text)| text);
    let line = text.and_then(|text| {
        let line = text.split(|b| *b == b'\n').nth(grant.line.checked_sub(1)?)?;
        Some(String::from_utf8_lossy(line).into_owned())
    });
    Place {
        file: grant.file.to_path_buf(),
        line: grant.line,
        column: grant.column,
        text: line.unwrap_or_default(),
    }
}

/// A client before this one, of the same kind, that has every host that this one has.
fn covered<'g>(earlier: &'g [Grant], grant: &Grant) -> Option<&'g Grant> {
    earlier.iter().find(|other| match (&other.client, &grant.client) {
        (Client::Network(wide), Client::Network(narrow)) => wide.contains(narrow),
        (Client::Wildcard(wide), Client::Wildcard(narrow)) => {
            // A name that the narrow one would have, as far as that can be told: `*.a.example.com`
            // is within `*.example.com`.
            let narrow = narrow.to_string();
            let plain = !narrow.contains(['?', '[']);
            plain
                && wide.matches(&narrow.replace('*', "x"))
                && wide.matches(&narrow.replace('*', "x.y"))
        }
        _ => false,
    })
}

/// Why a client has no host.
fn unknown(client: &Client, names: &dyn Names) -> Option<io::Error> {
    let nobody = |what: &str| io::Error::new(io::ErrorKind::NotFound, what.to_owned());
    match client {
        Client::HostName(host) => match names.addresses(host) {
            Ok(addresses) if addresses.is_empty() => Some(nobody("it has no address")),
            Ok(_) => None,
            Err(error) => Some(error),
        },
        Client::Netgroup(group) => match names.netgroup(group) {
            Ok(hosts) if hosts.is_empty() => Some(nobody("the netgroup has no hosts")),
            Ok(_) => None,
            Err(error) => Some(error),
        },
        Client::Address(address) if unspecified(*address) => {
            Some(nobody("no host has this address"))
        }
        _ => None,
    }
}

fn unspecified(address: IpAddr) -> bool {
    address.is_unspecified() || address.is_multicast()
}

/// Options that say nothing beside others.
fn idle_options(grant: &Grant) -> Vec<(&'static str, &'static str)> {
    let o = &grant.options;
    let mut idle = Vec::new();
    if o.all_squash && !o.root_squash {
        idle.push((
            "`no_root_squash` has no effect: `all_squash` maps root, too",
            "remove one of them",
        ));
    }
    let maps = o.root_squash
        || o.all_squash
        || !o.squash_uids.is_empty()
        || !o.squash_gids.is_empty()
        || o.sec.iter().any(|flavor| flavor == Flavor::None);
    if !maps && (o.anonuid, o.anongid) != (65534, 65534) {
        idle.push((
            "`anonuid` and `anongid` have no effect: nobody is mapped to them",
            "add `all_squash`, or remove `no_root_squash`",
        ));
    }
    if o.all_squash && !(o.squash_uids.is_empty() && o.squash_gids.is_empty()) {
        idle.push((
            "`squash_uids` and `squash_gids` have no effect: `all_squash` maps everyone",
            "remove one of them",
        ));
    }
    if !o.sync && !o.wdelay {
        idle.push(("`no_wdelay` has no effect beside `async`", "remove it"));
    }
    if o.refer.is_some() && !o.ro {
        idle.push(("`rw` has no effect beside `refer=`: nothing is served here", "remove it"));
    }
    idle
}
