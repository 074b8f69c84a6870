//! Sizes and times in fio's words: `4k`, `1m`, `256MiB`; `5`, `5s`, `500ms`, `2m`.

use std::time::Duration;

/// Bytes in a GiB.
pub const GIB: u64 = 1 << 30;

/// Reads a size. Suffixes are powers of 1024, as in fio: `k`, `m`, `g`, `t`, also with `b` or
/// `ib` behind them, in any case.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, suffix) = split(text);
    let number: u64 = number.parse().map_err(|_| format!("{text:?} is no size, as 4k or 1m is"))?;
    let suffix = suffix.to_ascii_lowercase();
    let shift = match suffix.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("{suffix:?} is no unit of sizes; there are k, m, g and t")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text} is too large"))
}

/// Reads a size that has to fit the wire's 32 bits and be at least 1.
pub fn parse_block(text: &str) -> Result<u32, String> {
    match u32::try_from(parse_bytes(text)?) {
        Ok(0) => Err("a block has at least one byte".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(format!("{text} is more than one call can carry")),
    }
}

/// Reads a time; seconds unless it says `us`, `ms`, `s`, `m` or `h`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, suffix) = split(text);
    let number: f64 = number.parse().map_err(|_| format!("{text:?} is no time, as 5s is"))?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("{other:?} is no unit of time; there are us, ms, s, m, h")),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| format!("{text} is too long a time"))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], &text[at..])
}

/// A size as people write it: `4KiB`, `1MiB`, `1000B`.
pub fn show_bytes(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in units {
        if bytes >> shift > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

/// A count for arithmetic that ends in a printed figure.
#[allow(clippy::cast_precision_loss, reason = "figures are printed with a few digits")]
pub fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("1MiB", 1 << 20),
            ("2g", 2 << 30),
            ("1t", 1 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "4x", "1.5m", "-1", "99999999999t"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blocks_fit_a_call() {
        assert_eq!(parse_block("1m"), Ok(1 << 20));
        assert!(parse_block("0").is_err());
        assert!(parse_block("4g").is_err());
    }

    #[test]
    fn times_are_seconds_unless_they_say_otherwise() {
        for (text, millis) in
            [("5", 5000), ("5s", 5000), ("0.5", 500), ("250ms", 250), ("2m", 120_000)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "5 parsecs", "-1s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_loses_nothing() {
        for (bytes, text) in [(0, "0B"), (1000, "1000B"), (4096, "4KiB"), (3 << 20, "3MiB")] {
            assert_eq!(show_bytes(bytes), text);
        }
    }
}
