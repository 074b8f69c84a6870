//! An export with its clients, as a file describes it.

use crate::client::Client;
use crate::fsid::Fsid;
use crate::io::Io;
use crate::options::ExportOptions;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One exported path and everyone to whom it is exported.
///
/// Its `Display` is a line of an exports file that means the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The exported directory: absolute, without `.`, `..` or doubled slashes. Symbolic links are
    /// not resolved.
    pub path: PathBuf,
    /// The clients in the order of the files. Never empty, and no client stands twice.
    pub grants: Vec<Grant>,
}

/// One client of an export and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// To whom.
    pub client: Client,
    /// The same as the file writes it.
    pub written: String,
    /// How.
    pub options: ExportOptions,
    /// The file that says so.
    pub file: Arc<Path>,
    /// The line in that file, counted from 1.
    pub line: usize,
    /// The character in that line at which the client stands, counted from 1.
    pub column: usize,
}

impl Entry {
    /// The identity given to the export. All clients that name one name the same.
    pub fn fsid(&self) -> Option<Fsid> {
        self.grants.iter().find_map(|grant| grant.options.fsid)
    }

    /// How the file system gets its data, for all clients: as the first says that says something
    /// else than `auto`.
    pub fn io(&self) -> Io {
        let said = self.grants.iter().map(|grant| grant.options.io).find(|io| *io != Io::Auto);
        said.unwrap_or_default()
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_path(&self.path, f)?;
        for grant in &self.grants {
            write!(f, " {}({})", grant.client, grant.options)?;
        }
        Ok(())
    }
}

/// Writes a path with everything escaped that could be read as something else.
pub(crate) fn write_path(path: &Path, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_ascii_control() || matches!(c, ' ' | '"' | '\\' | '#' | '(' | ')') {
                write!(f, "\\{:03o}", u32::from(c))?;
            } else {
                f.write_char(c)?;
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\{byte:03o}")?;
        }
    }
    Ok(())
}
