//! One line after the other.

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// `[name]`, also as `[name "argument"]`, which is a section of its own.
    Section(String),
    /// `include = file`
    Include(String),
    /// `key = value`
    Setting {
        /// What stands before `=`.
        key: String,
        /// What stands after it, without quotation marks.
        value: String,
    },
    /// None of these.
    Wrong,
}

/// A line, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The number of the line, counted from 1.
    pub(crate) number: usize,
    /// The character at which it begins, counted from 1.
    pub(crate) column: usize,
    pub(crate) line: Line,
    /// As it stands in the file; only the first, if it goes on.
    pub(crate) text: String,
}

/// The lines that are neither empty nor comments.
pub(crate) fn lines(text: &str) -> Vec<Placed> {
    let mut lines = Vec::new();
    let mut rest = text.lines().enumerate();
    while let Some((at, first)) = rest.next() {
        let column = first.chars().take_while(|c| c.is_whitespace()).count() + 1;
        let mut whole = first.trim().to_owned();
        if whole.is_empty() || whole.starts_with(['#', ';']) {
            continue;
        }
        // A backslash at the end: the line goes on.
        while let Some(begun) = whole.strip_suffix('\\') {
            let begun = begun.trim_end().to_owned();
            let next = rest.next().map_or("", |(_, next)| next.trim());
            whole = if next.is_empty() { begun } else { format!("{begun} {next}") };
        }
        let line = line(&whole);
        lines.push(Placed { number: at + 1, column, line, text: first.to_owned() });
    }
    lines
}

fn line(text: &str) -> Line {
    if let Some(section) = text.strip_prefix('[') {
        return match section.split_once(']') {
            Some((name, after)) if is_comment(after) && !name.trim().is_empty() => {
                Line::Section(name.trim().to_owned())
            }
            _ => Line::Wrong,
        };
    }
    let Some((key, value)) = text.split_once('=') else { return Line::Wrong };
    let (key, value) = (key.trim(), value.trim());
    let value = match value.strip_prefix('"') {
        Some(quoted) => match quoted.split_once('"') {
            Some((value, after)) if is_comment(after) => value,
            _ => return Line::Wrong,
        },
        None => value,
    };
    if key.is_empty() {
        Line::Wrong
    } else if key.eq_ignore_ascii_case("include") {
        Line::Include(value.to_owned())
    } else {
        Line::Setting { key: key.to_owned(), value: value.to_owned() }
    }
}

fn is_comment(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with(['#', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(key: &str, value: &str) -> Line {
        Line::Setting { key: key.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn each_kind_of_line_is_told() {
        let table = [
            ("[General]", Line::Section("General".to_owned())),
            (" [ nfsd ] # comment", Line::Section("nfsd".to_owned())),
            ("Domain = example.org", setting("Domain", "example.org")),
            ("Domain=\"a # b\" ; comment", setting("Domain", "a # b")),
            ("alice@EXAMPLE.ORG = bob", setting("alice@EXAMPLE.ORG", "bob")),
            ("empty =", setting("empty", "")),
            ("include = other.conf", Line::Include("other.conf".to_owned())),
            ("a = b, \\\n  c", setting("a", "b, c")),
            ("a = b\\", setting("a", "b")),
            ("[General", Line::Wrong),
            ("[]", Line::Wrong),
            ("no setting", Line::Wrong),
            ("= value", Line::Wrong),
            ("a = \"open", Line::Wrong),
        ];
        for (text, wanted) in table {
            let read = lines(text);
            assert_eq!((read.len(), read[0].number), (1, 1), "{text}");
            assert_eq!(read[0].line, wanted, "{text}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let read = lines("# a\n\n  ; b\n\t\n  c=d\n");
        assert_eq!((read[0].number, read[0].column), (5, 3));
        assert_eq!(read[0].line, setting("c", "d"));
    }
}
