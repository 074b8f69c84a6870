//! Figures in as many digits as fio gives them.

use crate::units::float;

/// A figure in about `digits` digits: `9246`, `11.6k`, `22467k`.
pub(super) fn short(value: f64, digits: u8) -> String {
    scaled(value, digits, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes by 1024 in about four digits: `45.4MiB`.
pub(super) fn binary(bytes: f64) -> String {
    scaled(bytes, 4, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Bytes by 1000: `47.6MB`.
pub(super) fn decimal(bytes: f64) -> String {
    scaled(bytes, 4, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

fn scaled(value: f64, digits: u8, base: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    // As long as the whole part has more digits than there may be.
    while value.round() >= 10_f64.powi(digits.into()) && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    // A bytes' unit goes up as soon as it can.
    if !units[0].is_empty() {
        while value >= base && unit + 1 < units.len() {
            value /= base;
            unit += 1;
        }
    }
    let whole = value.trunc().to_string().len();
    let fraction = if unit == 0 { 0 } else { usize::from(digits).saturating_sub(whole + 1) };
    format!("{value:.fraction$}{}", units[unit])
}

/// The unit that durations are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) nanos: u64,
}

impl Unit {
    pub(super) const NANOS: Unit = Unit { name: "nsec", nanos: 1 };
    pub(super) const MICROS: Unit = Unit { name: "usec", nanos: 1_000 };
    pub(super) const MILLIS: Unit = Unit { name: "msec", nanos: 1_000_000 };

    /// The largest in which nothing that matters is lost.
    pub(super) fn of(min: u64, max: u64, stddev: f64) -> Unit {
        let fits = |unit: Unit| {
            min > 2 * unit.nanos
                && max > 99_999 * unit.nanos / 1000 * 1000 / 1000
                && stddev > float(unit.nanos)
        };
        [Unit::MILLIS, Unit::MICROS].into_iter().find(|unit| fits(*unit)).unwrap_or(Unit::NANOS)
    }

    pub(super) fn of_nanos(self, nanos: f64) -> f64 {
        nanos / float(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_fios_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1234.0, "1234"),
            (11_633.0, "11.6k"),
            (123_456.0, "123k"),
            (1.5e6, "1500k"),
        ] {
            assert_eq!(short(value, 4), text, "{value}");
        }
        assert_eq!(short(22_467_000.0, 6), "22467k");
        assert_eq!(binary(47_605_350.0), "45.4MiB");
        assert_eq!(decimal(47_605_350.0), "47.6MB");
        assert_eq!(binary(16_777_216.0), "16.0MiB");
        assert_eq!(binary(1000.0), "1000B");
        assert_eq!(decimal(16_777_216.0), "16.8MB");
    }

    #[test]
    fn units_grow_with_what_they_show() {
        assert_eq!(Unit::of(1762, 22_467_000, 980_524.0), Unit::NANOS);
        assert_eq!(Unit::of(50_000, 22_513_000, 1_331_000.0), Unit::MICROS);
        assert_eq!(Unit::of(5_000_000, 400_000_000, 9e6), Unit::MILLIS);
    }
}
