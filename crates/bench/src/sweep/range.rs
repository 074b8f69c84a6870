//! The values of a sweep: `1..64` doubles, `1..9+2` adds, `1,3,64k` says each.

use std::fmt;
use std::str::FromStr;

use crate::units::parse_bytes;

/// Values of one sweep, at most.
const MAX_VALUES: usize = 64;

/// One value or several, each as it was written or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    values: Vec<String>,
}

impl Range {
    /// The values, in order.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether there is more than one.
    pub fn is_swept(&self) -> bool {
        self.values.len() > 1
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let values = match text.split_once("..") {
            None => listed(text),
            Some((from, rest)) => {
                let (to, step) = match rest.split_once('+') {
                    Some((to, step)) => (to, Some(parse(step)?)),
                    None => (rest, None),
                };
                between(text, parse(from)?, parse(to)?, step)
            }
        }?;
        if values.len() > MAX_VALUES {
            return Err(format!("{text} has {} values; {MAX_VALUES} are the most", values.len()));
        }
        Ok(Range { values })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.values.join(","))
    }
}

fn parse(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        0 => Err(format!("{text} is no value to measure at")),
        value => Ok(value),
    }
}

fn listed(text: &str) -> Result<Vec<String>, String> {
    let values: Vec<u64> = text.split(',').map(parse).collect::<Result<_, _>>()?;
    if values.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(format!("{text} does not rise, and a knee is found in what rises"));
    }
    Ok(values.into_iter().map(|value| show(text, value)).collect())
}

/// The last value is always there, also where doubling or adding passes it.
fn between(text: &str, from: u64, to: u64, step: Option<u64>) -> Result<Vec<String>, String> {
    if from >= to {
        return Err(format!("{text} does not rise; a range is written as 1..64"));
    }
    let next = |value: u64| match step {
        Some(step) => value.saturating_add(step),
        None => value.saturating_mul(2),
    };
    let mut values: Vec<u64> = std::iter::successors(Some(from), |value| Some(next(*value)))
        .take_while(|value| *value < to)
        // One more than is allowed, so that it is seen to be too many.
        .take(MAX_VALUES)
        .collect();
    values.push(to);
    Ok(values.into_iter().map(|value| show(text, value)).collect())
}

/// In the unit that was used: whoever writes 4k..1m wants to read 64k.
fn show(text: &str, value: u64) -> String {
    let has_unit = text.contains(|c: char| c.is_ascii_alphabetic());
    if !has_unit {
        return value.to_string();
    }
    let units = [(40, "t"), (30, "g"), (20, "m"), (10, "k")];
    let fits =
        units.iter().find(|(shift, _)| value.trailing_zeros() >= *shift && value >> shift > 0);
    fits.map_or_else(|| value.to_string(), |(shift, unit)| format!("{}{unit}", value >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> String {
        text.parse::<Range>().unwrap().to_string()
    }

    #[test]
    fn ranges_double_add_or_are_listed() {
        for (text, expected) in [
            ("8", "8"),
            ("1..64", "1,2,4,8,16,32,64"),
            ("1..48", "1,2,4,8,16,32,48"),
            ("1..9+4", "1,5,9"),
            ("1..10+4", "1,5,9,10"),
            ("4k..64k", "4k,8k,16k,32k,64k"),
            ("512k..2m", "512k,1m,2m"),
            ("1,3,7", "1,3,7"),
            ("4k,1m", "4k,1m"),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
        assert!(!"8".parse::<Range>().unwrap().is_swept());
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "0..4",
            "4..4",
            "8..2",
            "1..",
            "..4",
            "1..x",
            "1..1000+1",
            "1,,2",
            "a",
            "1,1",
            "3,1",
        ] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
    }
}
