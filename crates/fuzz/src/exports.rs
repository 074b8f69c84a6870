//! exports(5): whatever the text, it is read or every mistake is shown; what was read
//! means the same when it is written down again.

use std::net::IpAddr;
use std::path::Path;

use hayase_exports::{Client, Entry, Match, Rules, parse, parse_tables};

use crate::server::NoNames;

pub(crate) fn check(bytes: &[u8]) {
    let file = Path::new("exports");
    match parse(bytes, file) {
        Ok(entries) => {
            check_written(&entries);
            entries.iter().for_each(check_rules);
            // A table of its own means the same as a part of one, and twice is once too often.
            let twice = parse_tables([(file, bytes), (Path::new("more"), bytes)]);
            assert_eq!(twice.is_ok(), entries.is_empty());
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            for diagnostic in diagnostics {
                assert!(!diagnostic.message.is_empty() && !diagnostic.remedy.is_empty());
                assert!(diagnostic.line >= 1 && diagnostic.column >= 1 && diagnostic.length >= 1);
                let shown = diagnostic.to_string();
                let hidden = |c: char| c.is_control() && c != '\n' && c != '\t';
                assert!(!shown.contains(hidden), "a terminal would obey {shown:?}");
            }
        }
    }
}

/// Clients and options by path, without where they stand.
fn meaning(entries: &[Entry]) -> Vec<(&Path, Vec<(&Client, String)>)> {
    entries
        .iter()
        .map(|entry| {
            let grants = entry.grants.iter();
            (&*entry.path, grants.map(|g| (&g.client, g.options.to_string())).collect())
        })
        .collect()
}

fn check_written(entries: &[Entry]) {
    let lines: Vec<_> = entries.iter().map(Entry::to_string).collect();
    let text = lines.join("\n");
    let again = match parse(text.as_bytes(), Path::new("written")) {
        Ok(again) => again,
        Err(diagnostics) => panic!("what was written cannot be read: {}", diagnostics[0]),
    };
    assert_eq!(meaning(&again), meaning(entries), "{text}");
}

/// What can be said without names agrees with what is said with them.
fn check_rules(entry: &Entry) {
    let (rules, _) = Rules::of(entry, &NoNames);
    for address in ["192.0.2.1", "10.0.0.1", "::1", "2001:db8::1", "::ffff:192.0.2.1"] {
        let address: IpAddr = address.parse().expect("an address");
        let with = rules.matching(address, &NoNames);
        match rules.without_names(address) {
            Match::Granted(options) => assert_eq!(with, Some(options)),
            Match::Refused => assert_eq!(with, None),
            Match::NeedsNames => assert!(rules.needs_names()),
        }
    }
}
