//! The grammar that nfs.conf(5) and idmapd.conf(5) share: sections, each with `key = value`.
//!
//! ```
//! let conf = hayase_conf::Conf::parse("[General]\nDomain = example.org\n");
//! assert_eq!(conf.value("general", "domain"), Some("example.org"));
//! ```

#![forbid(unsafe_code)]

mod line;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use line::{Line, Placed, lines};

/// Files that include each other deeper than this include themselves.
const INCLUDE_DEPTH: usize = 8;

/// What a file says. Sections and keys are found whatever their case is, as nfs-utils does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conf {
    settings: Vec<Setting>,
    wrong: Vec<Wrong>,
}

/// A setting and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its section, without brackets.
    pub section: String,
    /// Its name.
    pub key: String,
    /// What stands behind the `=`.
    pub value: String,
    /// Where.
    pub place: Place,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file; empty for text without one.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in it, counted from 1.
    pub column: usize,
    /// The line as it stands there.
    pub text: String,
}

/// A line that is neither a section nor a setting, or a file that cannot be included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl Conf {
    /// Reads text. Lines that are none are passed over, see [`Conf::wrong`]; files to be included
    /// are not looked for.
    pub fn parse(text: &str) -> Self {
        let mut conf = Conf::default();
        conf.add(text, None, 0);
        conf
    }

    /// Reads a file and those that it includes. A file that is not there says nothing.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(file: &Path) -> io::Result<Self> {
        let mut conf = Conf::default();
        conf.add_file(file, 0)?;
        conf.warn();
        Ok(conf)
    }

    /// Reads a file, then all `*.conf` of the directory beside it that has the same name with
    /// `.d` behind, in the order of their names: later ones count.
    ///
    /// # Errors
    /// One of them is there and cannot be read.
    pub fn read_with_directory(file: &Path) -> io::Result<Self> {
        let mut directory = file.as_os_str().to_owned();
        directory.push(".d");
        let mut files = match fs::read_dir(directory) {
            Ok(entries) => entries
                .map(|entry| Ok(entry?.path()))
                .filter(|path| path.as_ref().map_or(true, |path| is_part(path)))
                .collect::<io::Result<Vec<_>>>()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        files.sort();
        let mut conf = Conf::default();
        for part in files.iter().rev() {
            conf.add_file(part, 0)?;
        }
        conf.add_file(file, 0)?;
        Ok(conf)
    }

    /// The value of a key, if the section has it: the first counts.
    pub fn value(&self, section: &str, key: &str) -> Option<&str> {
        let mut pairs = self.section(section);
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// The value of a key as yes or no; a word that is neither is logged and passed over.
    pub fn flag(&self, section: &str, key: &str) -> Option<bool> {
        let value = self.value(section, key)?;
        let is = |words: [&str; 6]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
        if is(["1", "t", "true", "y", "yes", "on"]) {
            Some(true)
        } else if is(["0", "f", "false", "n", "no", "off"]) {
            Some(false)
        } else {
            tracing::warn!("[{section}] {key}={value} is ignored: write yes or no");
            None
        }
    }

    /// All settings: of two of the same name in one section the first counts.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter()
    }

    /// What was passed over.
    pub fn wrong(&self) -> &[Wrong] {
        &self.wrong
    }

    /// Logs what was passed over.
    fn warn(&self) {
        for Wrong { message, place } in &self.wrong {
            tracing::warn!("{}:{}: {message}; ignored", place.file.display(), place.line);
        }
    }

    /// All keys of a section with their values, in the order of the file.
    pub fn section(&self, section: &str) -> impl Iterator<Item = (&str, &str)> {
        self.settings
            .iter()
            .filter(move |setting| setting.section.eq_ignore_ascii_case(section))
            .map(|setting| (&*setting.key, &*setting.value))
    }

    fn add_file(&mut self, file: &Path, depth: usize) -> io::Result<()> {
        match fs::read(file) {
            Ok(bytes) => {
                self.add(&String::from_utf8_lossy(&bytes), Some(file), depth);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn add(&mut self, text: &str, file: Option<&Path>, depth: usize) {
        let mut section = String::new();
        for Placed { number, column, line, text } in lines(text) {
            let place =
                Place { file: file.unwrap_or(Path::new("")).into(), line: number, column, text };
            match line {
                Line::Section(name) => section = name,
                Line::Include(other) => self.include(&other, file, depth, place),
                Line::Setting { key, value } if !section.is_empty() => {
                    self.settings.push(Setting { section: section.clone(), key, value, place });
                }
                Line::Setting { .. } => {
                    let message = "this setting stands before the first [section]".to_owned();
                    self.wrong.push(Wrong { message, place });
                }
                Line::Wrong => {
                    let message = "neither a [section] nor a setting".to_owned();
                    self.wrong.push(Wrong { message, place });
                }
            }
        }
    }

    /// A dash before the name says that the file need not be there.
    fn include(&mut self, name: &str, from: Option<&Path>, depth: usize, place: Place) {
        let Some(from) = from else { return };
        let (name, needed) = name.strip_prefix('-').map_or((name, true), |name| (name, false));
        let file = from.parent().unwrap_or(Path::new("/")).join(name);
        let why = if depth >= INCLUDE_DEPTH {
            "files include each other too deep".to_owned()
        } else if needed && !file.exists() {
            "there is no such file".to_owned()
        } else {
            match self.add_file(&file, depth + 1) {
                Ok(()) => return,
                Err(error) => error.to_string(),
            }
        };
        let message = format!("{} is not included: {why}", file.display());
        self.wrong.push(Wrong { message, place });
    }
}

fn is_part(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && PathBuf::from(path).extension().is_some_and(|extension| extension == "conf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_values_counts_and_case_does_not() {
        let conf = Conf::parse("[General]\nDomain = a\nDOMAIN = b\n[general]\nVerbosity = 3\n");
        assert_eq!(conf.value("GENERAL", "domain"), Some("a"));
        assert_eq!(conf.value("general", "Verbosity"), Some("3"));
        assert_eq!(conf.value("General", "none"), None);
        assert_eq!(conf.value("none", "Domain"), None);
    }

    #[test]
    fn flags_are_the_words_of_nfs_utils() {
        let conf = Conf::parse("[mountd]\na=y\nb=Off\nc=perhaps\n");
        assert_eq!(conf.flag("mountd", "a"), Some(true));
        assert_eq!(conf.flag("mountd", "b"), Some(false));
        assert_eq!(conf.flag("mountd", "c"), None);
        assert_eq!(conf.flag("mountd", "d"), None);
    }

    #[test]
    fn files_of_the_directory_override_and_files_are_included() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("nfs.conf");
        fs::write(&file, "[nfsd]\nport=1\nthreads=1\ninclude=more\ninclude=-none\n").unwrap();
        fs::write(dir.path().join("more"), "[mountd]\nmanage-gids=y\n").unwrap();
        fs::create_dir(dir.path().join("nfs.conf.d")).unwrap();
        for (name, text) in [
            ("a.conf", "[nfsd]\nport=2\n"),
            ("b.conf", "[nfsd]\nport=3\n"),
            ("c.conf~", "[nfsd]\nport=4\n"),
        ] {
            fs::write(dir.path().join("nfs.conf.d").join(name), text).unwrap();
        }
        let conf = Conf::read_with_directory(&file).unwrap();
        assert_eq!(conf.value("nfsd", "port"), Some("3"));
        assert_eq!(conf.wrong(), []);
        let place = &conf.settings().next().unwrap().place;
        assert!(place.file.ends_with("nfs.conf.d/b.conf"), "{place:?}");
        assert_eq!((place.line, place.column, &*place.text), (2, 1, "port=3"));
        assert_eq!(conf.value("nfsd", "threads"), Some("1"));
        assert_eq!(conf.flag("mountd", "manage-gids"), Some(true));
        assert_eq!(Conf::read(&dir.path().join("none")).unwrap(), Conf::default());
    }

    #[test]
    fn a_file_that_includes_itself_ends() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("loop.conf");
        fs::write(&file, "[a]\nb=c\ninclude=loop.conf\n").unwrap();
        let conf = Conf::read(&file).unwrap();
        assert_eq!(conf.section("a").count(), INCLUDE_DEPTH + 1);
        assert!(conf.wrong()[0].message.contains("too deep"));
    }
}
