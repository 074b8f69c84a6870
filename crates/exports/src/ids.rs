//! `squash_uids=` and `squash_gids=`: ids that are mapped beside root's.

use crate::diagnostic::Problem;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// More ranges are no list that somebody wrote.
const MOST: usize = 256;

/// Ranges of user or group ids. Its `Display` is the value of the option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IdRanges(Option<Arc<[RangeInclusive<u32>]>>);

impl IdRanges {
    /// Whether an id is in one of the ranges.
    pub fn contains(&self, id: u32) -> bool {
        self.0.as_ref().is_some_and(|ranges| ranges.iter().any(|range| range.contains(&id)))
    }

    /// Whether no id is.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Reads a value: `0-15,20,25-50`.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = |what: String| {
            Problem::new(what, "write ids and ranges of them, as in `0-15,20,25-50`")
        };
        let ranges = text
            .split(',')
            .map(|part| range(part).ok_or_else(|| wrong(format!("`{part}` is no range of ids"))))
            .collect::<Result<Vec<_>, _>>()?;
        if ranges.len() > MOST {
            return Err(wrong(format!("more than {MOST} ranges")));
        }
        Ok(Self(Some(ranges.into())))
    }

    /// Whether a part of an option list, cut at its commas, goes on with a list of ids.
    pub(crate) fn goes_on(part: &[u8]) -> bool {
        part.first().is_some_and(u8::is_ascii_digit)
    }
}

fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let id = |text: &str| {
        let clean = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        clean.then(|| text.parse::<u32>().ok())?.filter(|id| *id != u32::MAX)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (id(first)?, id(last)?);
    (first <= last).then_some(first..=last)
}

impl fmt::Display for IdRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for range in self.0.iter().flat_map(|ranges| ranges.iter()) {
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{comma}{first}")?,
                (first, last) => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_shown() {
        for (text, shown) in [
            ("0", Some("0")),
            ("0-15,20,25-50", Some("0-15,20,25-50")),
            ("7-7", Some("7")),
            ("15-0", None),
            ("", None),
            ("1,,2", None),
            ("-5", None),
            ("5-", None),
            ("+5", None),
            ("joe", None),
            ("4294967295", None),
        ] {
            let read = IdRanges::parse(text).ok().map(|ranges| ranges.to_string());
            assert_eq!(read.as_deref(), shown, "{text}");
        }
        let ranges = IdRanges::parse("0-15,20").unwrap();
        assert!(ranges.contains(15) && ranges.contains(20) && !ranges.contains(16));
        assert!(IdRanges::default().is_empty() && !IdRanges::default().contains(0));
    }
}
