//! What is wrong with a configuration, or worth knowing about it.

use std::fmt;
use std::path::{Path, PathBuf};

use hayase_exports::Diagnostic;
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It will not be served.
    Error,
    /// It is served, but hardly as it was meant.
    Warning,
    /// It has no effect, which does no harm.
    Note,
}

/// Something about a configuration, and where it stands.
///
/// Its `Display` is that of a diagnostic of the exports: the place, what is wrong, the line, and
/// what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file; or the command line.
    pub file: PathBuf,
    /// The line, counted from 1; 0 if it is about the whole.
    pub line: usize,
    /// The character in it, counted from 1.
    pub column: usize,
    /// The line as it stands there.
    pub text: String,
    /// What is the matter.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl Finding {
    /// One about a place in a file.
    pub(crate) fn at(
        severity: Severity,
        place: &hayase_conf::Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Finding {
            severity,
            file: place.file.clone(),
            line: place.line,
            column: place.column,
            text: place.text.clone(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// One about a file, or all of it.
    pub(crate) fn of(
        severity: Severity,
        file: &Path,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let place =
            hayase_conf::Place { file: file.to_owned(), line: 0, column: 0, text: String::new() };
        Self::at(severity, &place, message, remedy)
    }
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { file, line, column, length: _, message, remedy, text } = diagnostic;
        Finding { severity: Severity::Error, file, line, column, text, message, remedy }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        let severity = match self.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
            Severity::Note => "note: ",
        };
        write!(f, ": {severity}{}", self.message)?;
        if !self.text.is_empty() {
            let shown: String = self
                .text
                .chars()
                .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
                .collect();
            write!(f, "\n    {shown}")?;
        }
        write!(f, "\n    {}", self.remedy)
    }
}
