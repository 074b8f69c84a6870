//! Where it is written down what is exported: directories of the command line, tables, and
//! directories of tables.

use std::cmp::Ordering;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hayase_exports::{Client, Diagnostic, Entry, ExportOptions, Grant};

use super::change::OwnTable;
use crate::Options;

/// What exportfs(8) reads.
const EXPORTS: &str = "/etc/exports";
/// And what it reads beside it.
const EXPORTS_DIR: &str = "/etc/exports.d";
/// The table that `hayase export add --persist` writes, in the directory of tables.
const OWN_TABLE: &str = "hayase.exports";

/// The name of the command line where a file would be named.
pub(crate) const COMMAND_LINE: &str = "(command line)";

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    dirs: Vec<PathBuf>,
    read_only: bool,
    /// Files and directories of files, in the order in which they count.
    tables: Vec<PathBuf>,
    /// The tables are those of exportfs(8): that one is missing is no mistake.
    standard: bool,
}

/// A table as it was read.
pub(crate) type Text = (PathBuf, Vec<u8>);

impl Sources {
    pub(crate) fn of(options: &Options) -> Self {
        let standard = options.dirs.is_empty() && options.exports.is_empty();
        let tables = if standard {
            vec![PathBuf::from(EXPORTS), PathBuf::from(EXPORTS_DIR)]
        } else {
            options.exports.clone()
        };
        Sources { dirs: options.dirs.clone(), read_only: options.read_only, tables, standard }
    }

    /// What is exported.
    ///
    /// # Errors
    /// A table cannot be read, or has mistakes: all of them are told.
    pub(crate) fn read(&self) -> Result<Vec<Entry>> {
        let texts = self.texts()?;
        if self.standard && texts.is_empty() {
            bail!(
                "nothing to serve: name a directory, write exports into {EXPORTS}, or name another \
                 file with --exports"
            );
        }
        let mut entries = self.directories()?;
        entries.extend(parse(&texts).map_err(|all| explain(&all))?);
        Ok(entries)
    }

    /// What all tables together would say if our own were this.
    ///
    /// # Errors
    /// As [`Sources::read`].
    pub(super) fn read_with(&self, own: &OwnTable) -> Result<Vec<Entry>> {
        let mut texts = self.texts()?;
        texts.retain(|(file, _)| *file != own.file);
        texts.push((own.file.clone(), own.text().into_bytes()));
        parse(&texts).map_err(|all| explain(&all))
    }

    /// The directories of the command line: for everyone, from any port, with what is mounted below.
    pub(crate) fn directories(&self) -> Result<Vec<Entry>> {
        let entry = |dir: &PathBuf| {
            let path = std::path::absolute(dir)
                .with_context(|| format!("{} cannot be served", dir.display()))?;
            let path = path.components().collect(); // no `/` at the end, no `.`
            let options = ExportOptions {
                ro: self.read_only,
                secure: false,
                crossmnt: true,
                ..ExportOptions::default()
            };
            Ok(Entry { path, grants: vec![everyone(options)] })
        };
        self.dirs.iter().map(entry).collect()
    }

    /// The tables there are.
    pub(crate) fn texts(&self) -> Result<Vec<Text>> {
        let mut texts = Vec::new();
        for path in &self.tables {
            let cannot = || format!("exports {}", path.display());
            match fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.standard => {}
                Err(error) => return Err(error).with_context(cannot),
                Ok(found) if found.is_dir() => {
                    for file in tables_of(path).with_context(cannot)? {
                        let text = fs::read(&file)
                            .with_context(|| format!("exports {}", file.display()))?;
                        texts.push((file, text));
                    }
                }
                Ok(_) => texts.push((path.clone(), fs::read(path).with_context(cannot)?)),
            }
        }
        Ok(texts)
    }

    /// What is read, in words.
    pub(crate) fn describe(&self) -> String {
        let name = |path: &PathBuf| {
            let tables = if path.is_dir() { "/*.exports" } else { "" };
            format!("{}{tables}", path.display())
        };
        let present = self.tables.iter().filter(|path| !self.standard || path.exists());
        present.map(name).collect::<Vec<_>>().join(" and ")
    }

    /// Whether there is but one directory, which is then also mounted as `/`.
    pub(crate) fn is_plain(&self) -> bool {
        self.tables.is_empty()
    }

    /// Where exports that are to stay are written.
    ///
    /// # Errors
    /// No directory of tables is read, so that nothing written there would count.
    pub(crate) fn own_table(&self) -> Result<PathBuf> {
        let dir = self.tables.iter().find(|path| path.is_dir());
        let dir = dir.cloned().or_else(|| self.standard.then(|| PathBuf::from(EXPORTS_DIR)));
        match dir {
            Some(dir) => Ok(dir.join(OWN_TABLE)),
            None => bail!(
                "this server reads no directory of tables into which to write it: start it \
                 without --exports, or with one that names a directory"
            ),
        }
    }
}

/// Everyone, by the command line.
fn everyone(options: ExportOptions) -> Grant {
    Grant {
        client: Client::Any,
        written: Client::Any.to_string(),
        options,
        file: Arc::from(Path::new(COMMAND_LINE)),
        line: 0,
        column: 0,
    }
}

/// Reads tables as one.
pub(crate) fn parse(texts: &[Text]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    hayase_exports::parse_tables(texts.iter().map(|(file, text)| (&**file, &**text)))
}

/// Mistakes as one error.
pub(crate) fn explain(diagnostics: &[Diagnostic]) -> anyhow::Error {
    let mut all = String::new();
    for diagnostic in diagnostics {
        // Writing to a string does not fail.
        let _ = write!(all, "\n{diagnostic}");
    }
    let errors = if diagnostics.len() == 1 { "error" } else { "errors" };
    anyhow::anyhow!("the exports have {} {errors}:{all}", diagnostics.len())
}

/// The tables of a directory, in the order in which exportfs reads them.
fn tables_of(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if hayase_exports::is_extra_table(&entry.file_name()) {
            files.push(entry.path());
        }
    }
    files.sort_by(|a, b| by_version(a.as_os_str().as_bytes(), b.as_os_str().as_bytes()));
    Ok(files)
}

/// Names with numbers in them, by their numbers, as versionsort(3) has them.
fn by_version(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let same = a.iter().zip(b).take_while(|(a, b)| a == b && !a.is_ascii_digit()).count();
        (a, b) = (&a[same..], &b[same..]);
        let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (of_a, of_b) = (digits(a), digits(b));
        if of_a == 0 || of_b == 0 {
            return a.cmp(b);
        }
        let value = |text: &[u8]| {
            text.iter().fold(0u64, |n, b| n.saturating_mul(10).saturating_add(u64::from(b - b'0')))
        };
        match value(&a[..of_a]).cmp(&value(&b[..of_b])) {
            Ordering::Equal if of_a == of_b => (a, b) = (&a[of_a..], &b[of_b..]),
            Ordering::Equal => return a.cmp(b),
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(exports: Vec<PathBuf>) -> Sources {
        Sources::of(&Options { exports, ..Options::default() })
    }

    #[test]
    fn a_directory_of_tables_is_read_in_the_order_of_its_numbers() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("10-b.exports", "/b *"),
            ("9-a.exports", "/a *"),
            (".hidden.exports", "/hidden *"),
            ("other.conf", "/other *"),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let file = dir.path().join("first");
        fs::write(&file, "/first *").unwrap();
        let sources = sources(vec![file, dir.path().to_owned()]);
        let read = sources.read().unwrap();
        let paths: Vec<_> = read.iter().map(|entry| entry.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/first", "/a", "/b"]);
        assert!(sources.describe().ends_with("/*.exports"), "{}", sources.describe());
        assert_eq!(sources.own_table().unwrap(), dir.path().join("hayase.exports"));
    }

    #[test]
    fn mistakes_of_all_tables_are_told_and_a_missing_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.exports", "b.exports"] {
            fs::write(dir.path().join(name), format!("/{name} *(wr)\n")).unwrap();
        }
        let error = sources(vec![dir.path().to_owned()]).read().unwrap_err().to_string();
        assert!(error.contains("2 errors") && error.contains("b.exports:1:14"), "{error}");
        let missing = sources(vec!["/no/exports".into()]).read().unwrap_err();
        assert!(format!("{missing:#}").contains("/no/exports"), "{missing:#}");
        let only_a_file = sources(vec!["/etc/passwd".into()]).own_table().unwrap_err();
        assert!(only_a_file.to_string().contains("directory of tables"));
    }

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["b", "a10", "a9", "a09", "a", "a9b"].map(str::as_bytes);
        names.sort_by(|a, b| by_version(a, b));
        assert_eq!(names, ["a", "a09", "a9", "a9b", "a10", "b"].map(str::as_bytes));
    }
}
