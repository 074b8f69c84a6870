//! Changes of what is exported: one client more or less, and what became of all.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hayase_exports::{Client, Entry, Grant};
use serde::{Deserialize, Serialize};

use super::source::explain;

/// The name of `hayase export add` where a file would be named.
pub(crate) const ADDED: &str = "(hayase export add)";

/// A client of an export, as commands name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The exported directory.
    pub path: PathBuf,
    /// To whom, in the words of exports(5); none means everyone to whom it is exported.
    pub client: Option<String>,
}

/// What is said about an export, as a line of an exports file.
pub(super) fn line(place: &Place, options: &str) -> Result<String> {
    let client = place.client.as_deref().unwrap_or("*");
    if client.contains(|c: char| c.is_whitespace() || "()\"#\\".contains(c)) {
        bail!("`{client}` is not a client of exports(5)");
    }
    if options.contains(|c: char| c.is_whitespace() || "()\"#\\".contains(c)) {
        bail!("`{options}` are not options of exports(5): write them without blanks");
    }
    let path = Entry { path: place.path.clone(), grants: Vec::new() };
    Ok(format!("{path} {client}({options})"))
}

/// Adds a client to entries, or gives it other options.
pub(super) fn add(entries: &mut Vec<Entry>, line: &str, file: &Path) -> Result<()> {
    let added = hayase_exports::parse(line.as_bytes(), file).map_err(|all| explain(&all))?;
    for entry in added {
        match entries.iter_mut().find(|other| other.path == entry.path) {
            None => entries.push(entry),
            Some(there) => {
                for grant in entry.grants {
                    match there.grants.iter_mut().find(|other| other.client == grant.client) {
                        Some(same) => *same = grant,
                        None => there.grants.push(grant),
                    }
                }
            }
        }
    }
    Ok(())
}

/// Takes a client, or all of them, from entries; what was taken.
pub(super) fn remove(entries: &mut Vec<Entry>, place: &Place) -> Result<Vec<Grant>> {
    let path: PathBuf = place.path.components().collect();
    let Some(at) = entries.iter().position(|entry| entry.path == path) else {
        bail!("{} is not exported: `hayase export ls` lists what is", path.display());
    };
    let Some(client) = &place.client else {
        return Ok(entries.remove(at).grants);
    };
    let named = client.parse().ok();
    let is = |grant: &mut Grant| Some(&grant.client) == named.as_ref() || grant.written == *client;
    let grants = &mut entries[at].grants;
    let taken: Vec<_> = grants.extract_if(.., is).collect();
    if taken.is_empty() {
        let known: Vec<_> = grants.iter().map(|grant| &*grant.written).collect();
        bail!("{} is exported to {}, not to `{client}`", path.display(), known.join(", "));
    }
    if entries[at].grants.is_empty() {
        entries.remove(at);
    }
    Ok(taken)
}

/// Our own table as it is to be.
#[derive(Debug)]
pub(crate) struct OwnTable {
    pub(super) file: PathBuf,
    lines: Vec<String>,
}

impl OwnTable {
    /// With one line more, in the place of one about the same client.
    pub(super) fn with(file: PathBuf, line: &str) -> Result<Self> {
        let mut lines = read_own(&file)?;
        lines.retain(|other| clients_of(other) != clients_of(line));
        lines.push(line.to_owned());
        Ok(OwnTable { file, lines })
    }

    /// Without the lines that are about nothing but these grants.
    pub(super) fn without(file: PathBuf, path: &Path, grants: &[Grant]) -> Result<Self> {
        let mut lines = read_own(&file)?;
        lines.retain(|line| {
            let of = hayase_exports::parse(line.as_bytes(), &file).unwrap_or_default();
            let taken = |g: &Grant| grants.iter().any(|taken| taken.client == g.client);
            !of.iter().any(|entry| entry.path == path && entry.grants.iter().all(taken))
        });
        Ok(OwnTable { file, lines })
    }

    /// What stands in it.
    pub(super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Replaces the file at once: a crash leaves the old or the new.
    pub(super) fn write(&self) -> Result<()> {
        let write = || -> std::io::Result<()> {
            if let Some(dir) = self.file.parent() {
                std::fs::create_dir_all(dir)?;
            }
            let new = self.file.with_extension("exports.new");
            std::fs::write(&new, self.text())?;
            std::fs::File::open(&new)?.sync_all()?;
            std::fs::rename(&new, &self.file)
        };
        write().with_context(|| format!("{} cannot be written", self.file.display()))
    }
}

/// Who of these grants is exported to by what is written down.
pub(super) fn written<'e>(entries: &'e [Entry], path: &Path, of: &[Grant]) -> Option<&'e Grant> {
    let entry = entries.iter().find(|entry| entry.path == path)?;
    entry.grants.iter().find(|grant| of.iter().any(|taken| taken.client == grant.client))
}

/// The path and clients that a line is about.
fn clients_of(line: &str) -> Vec<(PathBuf, String)> {
    let entries = hayase_exports::parse(line.as_bytes(), Path::new(ADDED)).unwrap_or_default();
    let of = |entry: Entry| {
        let path = entry.path;
        entry.grants.into_iter().map(move |grant| (path.clone(), grant.client.to_string()))
    };
    entries.into_iter().flat_map(of).collect()
}

fn read_own(table: &Path) -> Result<Vec<String>> {
    match std::fs::read_to_string(table) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(vec!["# Written by `hayase export add --persist`.".to_owned()])
        }
        Err(error) => Err(error).with_context(|| table.display().to_string()),
    }
}

/// What a change of the exports has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Clients that were added, as `path client(options)`.
    pub added: Vec<String>,
    /// Clients that were removed.
    pub removed: Vec<String>,
    /// Clients whose options are others now, with the old ones and the new ones.
    pub changed: Vec<String>,
    /// Exports that are not served, and why.
    pub dormant: Vec<String>,
    /// Settings that have changed where they are written down, and would take a restart.
    #[serde(default)]
    pub restart: Vec<String>,
    /// Removed directories that running calls still use; they are released when these are over.
    pub held: Vec<PathBuf>,
}

impl Changes {
    /// What differs between two states of the exports.
    pub fn between(old: &[Entry], new: &[Entry]) -> Self {
        let mut changes = Changes::default();
        let (before, after) = (by_place(old), by_place(new));
        for entry in old {
            for grant in &entry.grants {
                let shown = || shown(&entry.path, grant);
                match after.get(&(&*entry.path, &grant.client)) {
                    None => changes.removed.push(shown()),
                    Some(now) if now.options != grant.options => {
                        changes.changed.push(format!("{} is now ({})", shown(), now.options));
                    }
                    Some(_) => {}
                }
            }
        }
        for entry in new {
            let is_new = |grant: &&Grant| !before.contains_key(&(&*entry.path, &grant.client));
            let added = entry.grants.iter().filter(is_new);
            changes.added.extend(added.map(|grant| shown(&entry.path, grant)));
        }
        changes
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Every client of every export.
fn by_place(entries: &[Entry]) -> HashMap<(&Path, &Client), &Grant> {
    entries
        .iter()
        .flat_map(|entry| entry.grants.iter().map(|g| ((&*entry.path, &g.client), g)))
        .collect()
}

fn shown(path: &Path, grant: &Grant) -> String {
    format!("{} {}({})", path.display(), grant.written, grant.options)
}

impl fmt::Display for Changes {
    /// A line for each, without a line feed at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            f.write_str("nothing has changed")?;
        }
        let mut between = "";
        let kinds = [
            ("+ ", &self.added),
            ("- ", &self.removed),
            ("~ ", &self.changed),
            ("! ", &self.dormant),
        ];
        for (mark, lines) in kinds {
            between = if self.is_empty() { "\n" } else { between };
            for line in lines {
                write!(f, "{between}{mark}{line}")?;
                between = "\n";
            }
        }
        for setting in &self.restart {
            write!(f, "\n! {setting}")?;
        }
        for path in &self.held {
            write!(f, "\n! {} is released when running calls are over", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<Entry> {
        hayase_exports::parse(text.as_bytes(), Path::new("exports")).unwrap()
    }

    fn place(path: &str, client: Option<&str>) -> Place {
        Place { path: path.into(), client: client.map(Into::into) }
    }

    #[test]
    fn clients_are_added_changed_and_removed() {
        let before = entries("/a 10.0.0.1(rw)\n/b *(ro)");
        let mut now = before.clone();
        for (path, client, options) in
            [("/a", "10.0.0.1", "ro"), ("/a", "@trusted", "rw"), ("/new dir", "*", "")]
        {
            let line = line(&place(path, Some(client)), options).unwrap();
            add(&mut now, &line, Path::new(ADDED)).unwrap();
        }
        remove(&mut now, &place("/b/", None)).unwrap();
        let changes = Changes::between(&before, &now);
        assert_eq!(changes.added.len(), 2, "{changes}");
        assert!(changes.added[1].starts_with("/new dir *(ro"), "{changes}");
        assert_eq!(changes.removed.len(), 1, "{changes}");
        assert!(
            changes.changed[0].contains("10.0.0.1(rw") && changes.changed[0].contains("now (ro")
        );
        remove(&mut now, &place("/a", Some("10.0.0.1"))).unwrap();
        let wrong = remove(&mut now, &place("/a", Some("10.0.0.1"))).unwrap_err().to_string();
        assert!(wrong.contains("exported to @trusted"), "{wrong}");
        let wrong = remove(&mut now, &place("/none", None)).unwrap_err().to_string();
        assert!(wrong.contains("not exported"), "{wrong}");
        assert!(Changes::between(&now, &now).is_empty());
    }

    #[test]
    fn what_would_be_read_as_something_else_is_refused() {
        assert!(line(&place("/a", Some("a b")), "rw").is_err());
        assert!(line(&place("/a", Some("a(rw)")), "rw").is_err());
        assert!(line(&place("/a", None), "rw, sync").is_err());
        let wrong = add(&mut Vec::new(), "/a *(rw,no_rootsquash)", Path::new(ADDED)).unwrap_err();
        assert!(wrong.to_string().contains("`no_root_squash`"), "{wrong}");
        let wrong = add(&mut Vec::new(), "a *(rw)", Path::new(ADDED)).unwrap_err();
        assert!(wrong.to_string().contains("not an absolute path"), "{wrong}");
    }

    #[test]
    fn our_own_table_is_ours_to_change() {
        let dir = tempfile::tempdir().unwrap();
        let table = dir.path().join("exports.d/hayase.exports");
        for line in ["/a *(rw)", "/b 10.0.0.1(rw)", "/a *(ro)"] {
            OwnTable::with(table.clone(), line).unwrap().write().unwrap();
        }
        let text = std::fs::read_to_string(&table).unwrap();
        assert!(text.ends_with("/b 10.0.0.1(rw)\n/a *(ro)\n"), "{text}");
        let all = hayase_exports::parse(text.as_bytes(), &table).unwrap();
        let without = OwnTable::without(table, Path::new("/a"), &all[1].grants).unwrap();
        let text = without.text();
        assert!(text.ends_with("/b 10.0.0.1(rw)\n") && !text.contains("/a"), "{text}");
    }
}
