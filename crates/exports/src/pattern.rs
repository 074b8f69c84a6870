//! Host name wildcards: `*`, `?` and character classes.

use crate::diagnostic::Problem;
use std::fmt;

/// A wildcard for host names, as in `*.example.com` or `node[0-9]?`.
///
/// `*` and `?` also match dots, so `*.example.com` includes the hosts of subdomains. Case does
/// not matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// `*`
    Run,
    /// `?`
    One,
    Byte(u8),
    /// `[a-z]`, or `[^a-z]` if negated.
    Class {
        negated: bool,
        ranges: Vec<(u8, u8)>,
    },
}

impl Pattern {
    /// Whether a client specification has the characters of a wildcard.
    pub(crate) fn is_meant(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let text = text.to_ascii_lowercase();
        refuse_addresses(&text)?;
        if text.starts_with('-') {
            return Err(Problem::new(
                format!("`{text}`: no host name begins with a dash"),
                "default options begin with a dash, and stand without quotes",
            ));
        }
        let mut parts = Vec::new();
        let mut rest = text.as_bytes();
        while let [byte, after @ ..] = rest {
            rest = after;
            match byte {
                // Runs of stars are one star; matching relies on it being cheap.
                b'*' if parts.last() == Some(&Part::Run) => {}
                b'*' => parts.push(Part::Run),
                b'?' => parts.push(Part::One),
                b'[' => {
                    let (class, after) = class(rest, &text)?;
                    parts.push(class);
                    rest = after;
                }
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => parts.push(Part::Byte(*byte)),
                _ => return Err(odd_character(&text)),
            }
        }
        Ok(Self { text, parts })
    }

    /// Whether the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let name = name.as_bytes();
        let (mut part, mut at) = (0, 0);
        // Where to go on if the last star took one more byte. Earlier stars need no second try.
        let mut retry: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.parts.get(part) {
                Some(Part::Run) => {
                    retry = Some((part + 1, at));
                    part += 1;
                }
                Some(single) if single.matches(name[at]) => {
                    part += 1;
                    at += 1;
                }
                _ => match &mut retry {
                    Some((after_star, taken)) => {
                        *taken += 1;
                        (part, at) = (*after_star, *taken);
                    }
                    None => return false,
                },
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::Run)
    }
}

impl Part {
    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Run => false,
            Self::One => true,
            Self::Byte(expected) => *expected == byte,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte)) != *negated
            }
        }
    }
}

fn odd_character(pattern: &str) -> Problem {
    Problem::new(
        format!("`{pattern}` has a character that no host name has"),
        "use letters, digits, `-`, `_`, `.` and the wildcards `*`, `?`, `[…]`",
    )
}

/// Whether a class can be written with this byte in it.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'(' | b')' | b'#')
}

/// A class after its opening bracket, and what follows its closing one.
fn class<'a>(mut rest: &'a [u8], pattern: &str) -> Result<(Part, &'a [u8]), Problem> {
    let problem = |what: &str, remedy: &str| Problem::new(format!("`{pattern}`: {what}"), remedy);
    let mut ranges = Vec::new();
    let negated = rest.first() == Some(&b'^');
    if negated {
        rest = &rest[1..];
    }
    loop {
        match rest {
            [] => return Err(problem("a `[` is not closed", "add the closing `]`")),
            [byte, ..] if !is_plain(*byte) => return Err(odd_character(pattern)),
            // First in the class, a `]` or `-` stands for itself.
            [b']', after @ ..] if !ranges.is_empty() => {
                return Ok((Part::Class { negated, ranges }, after));
            }
            [low, b'-', high, after @ ..] if *high != b']' => {
                if !is_plain(*high) {
                    return Err(odd_character(pattern));
                }
                if low > high {
                    return Err(problem(
                        "a range runs backwards",
                        "write the lower end first, as in `[0-9]`",
                    ));
                }
                ranges.push((*low, *high));
                rest = after;
            }
            [byte, after @ ..] => {
                ranges.push((*byte, *byte));
                rest = after;
            }
        }
    }
}

/// Wildcards match names only; one that can only mean addresses would never match anything.
fn refuse_addresses(pattern: &str) -> Result<(), Problem> {
    if pattern.starts_with('[') && pattern.matches(':').count() >= 2 {
        return Err(Problem::new(
            format!("`{pattern}`: brackets make this a wildcard for host names"),
            "write the IPv6 address without brackets",
        ));
    }
    let only = |c: char| matches!(c, '0'..='9' | '.' | '*' | '?');
    if pattern.chars().all(only) && pattern.contains(|c: char| c.is_ascii_digit()) {
        return Err(Problem::new(
            format!("`{pattern}`: wildcards match host names, not addresses"),
            "write a network, as in `192.168.0.0/16`",
        ));
    }
    Ok(())
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_names_as_exports_5_says() {
        let table = [
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "A.EXAMPLE.COM", true),
            ("*.EXAMPLE.com", "a.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "a.example.com.evil.org", false),
            ("node[0-9]", "node7", true),
            ("node[0-9]", "nodex", false),
            ("node[0-9]", "node77", false),
            ("node[^0-9]", "nodex", true),
            ("node[^0-9]", "node7", false),
            ("node[]x]", "nodex", true),
            ("node[-x]", "node-", true),
            ("node[x-]", "node-", true),
            ("node[A-C]", "nodeb", true),
            ("no?e", "node", true),
            ("no?e", "noe", false),
            ("n*d*", "node", true),
            ("**", "anything", true),
            ("*a*b*c", "xaxbxbxc", true),
            ("*a*b*c", "xaxbxbx", false),
            ("a*", "", false),
        ];
        for (pattern, name, expected) in table {
            let matches = Pattern::parse(pattern).unwrap().matches(name);
            assert_eq!(matches, expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_cost_no_exponential_time() {
        let pattern = Pattern::parse(&"*a".repeat(60)).unwrap();
        assert!(!pattern.matches(&"a".repeat(59)));
        assert!(pattern.matches(&"ba".repeat(60)));
    }

    #[test]
    fn patterns_that_cannot_match_are_refused() {
        for (pattern, message) in [
            ("node[0-9", "not closed"),
            ("node[]", "not closed"),
            ("node[9-0]", "backwards"),
            ("192.168.*", "not addresses"),
            ("10.?.0.1", "not addresses"),
            ("[2001:db8::1]", "brackets"),
            ("*.exämple.com", "no host name has"),
            ("*/24", "no host name has"),
            // In quotes these were taken, and then shown as what could not be read again.
            ("h[a b]*", "no host name has"),
            ("h[a-\"]*", "no host name has"),
            ("h[a-z(]*", "no host name has"),
            ("-h*", "begins with a dash"),
        ] {
            let problem = Pattern::parse(pattern).unwrap_err();
            assert!(problem.message.contains(message), "{pattern}: {problem}");
        }
    }
}
