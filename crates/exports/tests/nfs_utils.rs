//! The same verdicts and the same lists as nfs-utils; see nfs-utils/README.md.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use hayase_exports::{Entry, Names, Rules, Style, exportfs, parse, parse_tables};

const HOSTS: &str = include_str!("nfs-utils/hosts");
const NETGROUPS: &str = include_str!("nfs-utils/netgroup");
const VERDICTS: &str = include_str!("nfs-utils/verdicts");
const OPTIONS: &str = include_str!("nfs-utils/options/exports");

/// On this directory something was mounted when nfs-utils was asked.
const MOUNTED: &str = "/srv/mounted";

/// Name services that know the two files.
struct Files;

fn hosts() -> impl Iterator<Item = (IpAddr, Vec<&'static str>)> {
    HOSTS.lines().map(|line| {
        let mut words = line.split_whitespace();
        (words.next().unwrap().parse().unwrap(), words.collect())
    })
}

impl Names for Files {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(host));
        let found: Vec<_> = hosts().filter(|(_, names)| is(names)).map(|(ip, _)| ip).collect();
        if found.is_empty() { Err(io::Error::other("no such host")) } else { Ok(found) }
    }

    fn names(&self, address: IpAddr) -> Vec<String> {
        let found = hosts().find(|(ip, _)| *ip == address);
        found.map_or_else(Vec::new, |(_, names)| names.into_iter().map(String::from).collect())
    }

    fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
        let groups: HashMap<_, _> =
            NETGROUPS.lines().filter_map(|line| line.split_once(char::is_whitespace)).collect();
        let mut hosts = Vec::new();
        let members = groups.get(name).ok_or_else(|| io::Error::other("no such netgroup"))?;
        for member in members.split_whitespace() {
            match member.strip_prefix('(') {
                Some(triple) => hosts.push(triple.split(',').next().unwrap().to_owned()),
                None => hosts.extend(self.netgroup(member)?),
            }
        }
        Ok(hosts)
    }
}

fn exports() -> Vec<Entry> {
    parse_tables([
        (Path::new("exports"), &include_bytes!("nfs-utils/exports")[..]),
        (Path::new("10-team.exports"), include_bytes!("nfs-utils/exports.d/10-team.exports")),
        (Path::new("20-late.exports"), include_bytes!("nfs-utils/exports.d/20-late.exports")),
    ])
    .unwrap()
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |mut text, part| {
        text.push(char::from(u8::from_str_radix(&part[..3], 8).unwrap()));
        text + &part[3..]
    })
}

#[test]
fn verdicts_are_those_of_nfs_utils() {
    let entries = exports();
    let rules: HashMap<&Path, (Rules, &Entry)> = entries
        .iter()
        .map(|entry| {
            let (rules, unresolved) = Rules::of(entry, &Files);
            assert!(unresolved.is_empty(), "{unresolved:?}");
            (&*entry.path, (rules, entry))
        })
        .collect();
    // The longest path that is exported to the client counts, as with a mount.
    let verdict = |address: IpAddr, path: &Path| {
        for path in path.ancestors() {
            let Some((rules, entry)) = rules.get(path) else { continue };
            let Some(options) = rules.matching(address, &Files) else { continue };
            let needs = options.mountpoint.as_ref().map(|mount| mount.of(&entry.path));
            if needs.is_some_and(|needed| needed != Path::new(MOUNTED)) {
                return "absent".to_owned();
            }
            let access = if options.ro { "ro" } else { "rw" };
            return format!("{} {access} {}", path.display(), options.anonuid);
        }
        "refused".to_owned()
    };
    let mut count = 0;
    for line in VERDICTS.lines().filter(|line| !line.starts_with('#')) {
        let (address, rest) = line.split_once(' ').unwrap();
        let (path, expected) = rest.split_once(' ').unwrap();
        let (path, expected) = (PathBuf::from(unescaped(path)), unescaped(expected));
        assert_eq!(verdict(address.parse().unwrap(), &path), expected, "{line}");
        count += 1;
    }
    assert_eq!(count, 860);
}

#[test]
fn lists_are_those_of_exportfs() {
    let entries = parse(OPTIONS.as_bytes(), Path::new("exports")).unwrap();
    for (style, expected) in [
        (Style::Plain, include_str!("nfs-utils/options/exportfs")),
        (Style::Verbose, include_str!("nfs-utils/options/exportfs-v")),
        (Style::Table, include_str!("nfs-utils/options/exportfs-s")),
    ] {
        let ours = exportfs(&entries, style);
        for (ours, theirs) in ours.lines().zip(expected.lines()) {
            assert_eq!(ours, theirs, "{style:?}");
        }
        assert_eq!(ours, expected, "{style:?}");
    }
    // What -s prints is a table of exports that means the same.
    let table = exportfs(&entries, Style::Table);
    let again = exportfs(&parse(table.as_bytes(), Path::new("table")).unwrap(), Style::Table);
    let sorted = |text: &str| {
        // It leaves subtree_check out, which has not been the default for long.
        let lines = text.lines().filter(|line| line.contains("no_subtree_check"));
        let mut lines: Vec<_> = lines.map(String::from).collect();
        lines.sort();
        lines
    };
    let again: Vec<_> =
        sorted(&again).into_iter().filter(|line| !line.starts_with("/srv/b ")).collect();
    assert_eq!(again, sorted(&table));
}

#[test]
fn a_client_that_narrows_its_default_options_is_narrowed() {
    // nfs-utils exports read-write here: it keeps what the defaults said about the flavor.
    let entries = parse(b"/srv -sec=sys,rw host(ro)", Path::new("exports")).unwrap();
    assert!(entries[0].grants[0].options.ro);
    let entries = parse(b"/srv -sec=sys,rw,sec=none,rw host(ro)", Path::new("exports")).unwrap();
    let options = &entries[0].grants[0].options;
    assert!(options.ro && options.with_flavor(hayase_exports::Flavor::None).is_none());
}
