//! What is wrong, where, and what to write instead.

use std::fmt;
use std::path::{Path, PathBuf};

/// A mistake in one piece of text, without the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.remedy)
    }
}

impl std::error::Error for Problem {}

/// A mistake in an exports file: the place, what is wrong there, and what to write instead.
///
/// Its `Display` shows the line with the place marked:
///
/// ```text
/// /etc/exports:3:12: unknown option `no_rootsquash`
///     /srv  host(no_rootsquash)
///                ^^^^^^^^^^^^^
///     write `no_root_squash`
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as it was named to the parser.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// How many characters from `column` on are meant; at least 1.
    pub length: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
    /// The whole line as it stands in the file, with what a terminal could act on replaced.
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line, column) = (self.file.display(), self.line, self.column);
        writeln!(f, "{file}:{line}:{column}: {}", self.message)?;
        writeln!(f, "    {}", self.text)?;
        // A tab stays a tab, so that the mark stands below what it marks.
        let indent: String = self
            .text
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        writeln!(f, "    {indent}{}", "^".repeat(self.length))?;
        write!(f, "    {}", self.remedy)
    }
}

impl std::error::Error for Diagnostic {}

/// A range of bytes in the text that is being parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

/// A problem and the bytes it is about; becomes a [`Diagnostic`] once the file is known.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub span: Span,
    pub problem: Problem,
}

impl Fault {
    pub fn new(span: Span, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { span, problem: Problem::new(message, remedy) }
    }
}

/// One exports file, with its lines found, to turn byte positions into lines and columns.
pub(crate) struct Source<'a> {
    file: &'a Path,
    text: &'a [u8],
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(file: &'a Path, text: &'a [u8]) -> Self {
        let after_newline = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at + 1);
        let starts =
            std::iter::once(0).chain(text.iter().enumerate().filter_map(after_newline)).collect();
        Self { file, text, starts }
    }

    /// The line, counted from 1, in which a byte lies.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and the character in it, both counted from 1, of a byte.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        (line, characters(&self.text[self.starts[line - 1]..offset]) + 1)
    }

    pub fn diagnostic(&self, fault: &Fault) -> Diagnostic {
        let line = self.line(fault.span.start);
        let begin = self.starts[line - 1];
        let end = self.starts.get(line).map_or(self.text.len(), |s| s - 1);
        let whole = &self.text[begin..end];
        let from = fault.span.start.min(end) - begin;
        let to = fault.span.end.clamp(begin + from, end) - begin;
        Diagnostic {
            file: self.file.to_path_buf(),
            line,
            column: characters(&whole[..from]) + 1,
            length: characters(&whole[from..to]).max(1),
            message: printable(&fault.problem.message),
            remedy: printable(&fault.problem.remedy),
            text: printable(String::from_utf8_lossy(whole).trim_end_matches('\r')),
        }
    }
}

fn characters(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).chars().count()
}

/// Replaces control characters one for one: a file must not steer the terminal that shows it.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, start: usize, end: usize) -> Diagnostic {
        let source = Source::new(Path::new("/etc/exports"), text.as_bytes());
        source.diagnostic(&Fault::new(Span { start, end }, "wrong", "write it right"))
    }

    #[test]
    fn shows_the_line_with_the_place_marked() {
        let text = "# first\n/srv\thost(rx)\n";
        let start = text.find("rx").unwrap();
        assert_eq!(
            at(text, start, start + 2).to_string(),
            "/etc/exports:2:11: wrong\n    /srv\thost(rx)\n        \t     ^^\n    write it right"
        );
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "/daten/über host(rx)";
        let start = text.find("rx").unwrap();
        assert_eq!(at(text, start, start + 2).column, 18);
    }

    #[test]
    fn places_at_the_ends_of_text_are_shown() {
        assert_eq!((at("", 0, 0).line, at("", 0, 0).column), (1, 1));
        assert_eq!(at("/srv\n", 4, 4).column, 5);
        assert_eq!(at("/srv\n", 5, 5).line, 2);
        assert_eq!(at("ab\ncd", 1, 5).length, 1, "a mark stays in its line");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let shown = at("/srv \x1b[2Jhost\r", 5, 6).to_string();
        assert!(!shown.contains('\x1b') && !shown.contains('\r'), "{shown:?}");
    }
}
