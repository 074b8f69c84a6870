//! Exports as exportfs(8) of nfs-utils lists them, so that what reads its output goes on working.

use crate::client::{Class, Client};
use crate::entry::{Entry, Grant, write_path};
use crate::options::ExportOptions;
use crate::sec::Flavor;
use std::fmt::{self, Write};

/// Which of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `exportfs`: path and client.
    Plain,
    /// `exportfs -v`: with the options.
    Verbose,
    /// `exportfs -s`: the same as a table of exports.
    Table,
}

/// The widest path that has its client on the same line.
const PATH_WIDTH: usize = 14;

/// All clients of all exports as `exportfs` lists them: by kind, and then in the order of the
/// files. A client is shown as the files write it, where exportfs shows a host by the name that the
/// name service has for it.
pub fn exportfs<'e>(entries: impl IntoIterator<Item = &'e Entry>, style: Style) -> String {
    let mut lines: Vec<(Class, &Entry, &Grant)> = entries
        .into_iter()
        .flat_map(|entry| entry.grants.iter().map(move |g| (g.client.class(), entry, g)))
        .collect();
    lines.sort_by_key(|(class, ..)| *class);
    let mut text = String::new();
    for (_, entry, grant) in lines {
        // Writing to a String cannot fail.
        let _ = line(&mut text, entry, grant, style);
    }
    text
}

fn line(to: &mut String, entry: &Entry, grant: &Grant, style: Style) -> fmt::Result {
    let path = entry.path.to_string_lossy();
    let client = match (&grant.client, style) {
        (Client::Any, Style::Table) => "*",
        (Client::Any, _) => "<world>",
        _ => &grant.written,
    };
    if style == Style::Table {
        write!(to, "{}  {client}", Escaped(entry))?;
    } else if path.len() > PATH_WIDTH {
        write!(to, "{path}\n\t\t{client}")?;
    } else {
        // Bytes, not characters, as C counts them.
        write!(to, "{path}{:1$}\t{client}", "", PATH_WIDTH - path.len())?;
    }
    if style != Style::Plain {
        write!(to, "({})", options(&grant.options))?;
    }
    writeln!(to)
}

/// The path with octal escapes.
struct Escaped<'e>(&'e Entry);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_path(&self.0.path, f)
    }
}

/// The options between the parentheses of `exportfs -v`.
pub fn options(options: &ExportOptions) -> String {
    let o = options;
    let mut list: Vec<String> = Vec::new();
    let mut word = |word: &str| list.push(word.to_owned());
    word(if o.sync { "sync" } else { "async" });
    word(if o.wdelay { "wdelay" } else { "no_wdelay" });
    word(if o.nohide { "nohide" } else { "hide" });
    for (word_is_there, name) in [
        (o.crossmnt, "crossmnt"),
        (!o.subtree_check, "no_subtree_check"),
        (!o.secure_locks, "insecure_locks"),
        (!o.acl, "no_acl"),
        (o.nordirplus, "nordirplus"),
        (o.security_label, "security_label"),
    ] {
        if word_is_there {
            word(name);
        }
    }
    if let Some(fsid) = o.fsid {
        list.push(format!("fsid={fsid}"));
    }
    if let Some(mount) = &o.mountpoint {
        list.push(format!("mountpoint{mount}"));
    }
    for (name, id) in [("anonuid", o.anonuid), ("anongid", o.anongid)] {
        if id != ExportOptions::default().anonuid {
            // exportfs shows them signed.
            list.push(format!("{name}={}", id.cast_signed()));
        }
    }
    for (name, ids) in [("squash_uids", &o.squash_uids), ("squash_gids", &o.squash_gids)] {
        if !ids.is_empty() {
            list.push(format!("{name}={ids}"));
        }
    }
    if o.io != ExportOptions::default().io {
        list.push(format!("io={}", o.io));
    }
    if let Some(places) = &o.refer {
        list.push(format!("refer={places}"));
    }
    if let Some(places) = &o.replicas {
        list.push(format!("replicas={places}"));
    }
    list.push(flavors(options));
    list.join(",")
}

/// Flavors with what may differ among them.
pub(crate) fn flavors(options: &ExportOptions) -> String {
    let same: Vec<Flavor> =
        options.sec.iter().filter(|f| options.sec.treatment(*f).is_none()).collect();
    let words: Vec<_> = same.iter().map(|flavor| flavor.word()).collect();
    let mut text = format!("sec={}{}", words.join(":"), options.treatment());
    for flavor in options.sec.iter() {
        if let Some(own) = options.sec.treatment(flavor) {
            let _ = write!(text, ",sec={}{own}", flavor.word());
        }
    }
    text
}
