//! Figures as people read them, each with its unit.

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes a second, shown in powers of 1024 as fio shows them first.
    BytesPerSec,
    /// Bytes.
    Bytes,
    /// Things a second, shown in powers of 1000.
    PerSec,
    /// Nanoseconds, shown in the unit that suits them.
    Nanos,
    /// Seconds since the start.
    Seconds,
    /// Parts of a whole, 0.25 shown as 25 %.
    Share,
    /// A number of things.
    Count,
}

/// A power that a unit's figures are divided by, and what is then written behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude {
    /// How much one is.
    pub one: f64,
    /// What is written behind the figure, with the space before it where there is one.
    pub suffix: &'static str,
}

const BYTES_PER_SEC: &[(f64, &str)] = &[
    (1.0, " B/s"),
    (1024.0, " KiB/s"),
    (1_048_576.0, " MiB/s"),
    (1_073_741_824.0, " GiB/s"),
    (1_099_511_627_776.0, " TiB/s"),
];
const BYTES: &[(f64, &str)] = &[
    (1.0, " B"),
    (1024.0, " KiB"),
    (1_048_576.0, " MiB"),
    (1_073_741_824.0, " GiB"),
    (1_099_511_627_776.0, " TiB"),
];
const NUMBERS: &[(f64, &str)] = &[(1.0, ""), (1e3, " k"), (1e6, " M"), (1e9, " G")];
const RATES: &[(f64, &str)] = &[(1.0, " /s"), (1e3, " k/s"), (1e6, " M/s"), (1e9, " G/s")];
const TIMES: &[(f64, &str)] = &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")];

impl Unit {
    /// The largest magnitude that `figure` has at least one of.
    pub fn magnitude(self, figure: f64) -> Magnitude {
        let table = match self {
            Unit::BytesPerSec => BYTES_PER_SEC,
            Unit::Bytes => BYTES,
            Unit::PerSec => RATES,
            Unit::Count => NUMBERS,
            Unit::Nanos => TIMES,
            Unit::Seconds => return Magnitude { one: 1.0, suffix: " s" },
            Unit::Share => return Magnitude { one: 0.01, suffix: " %" },
        };
        let found = table.iter().rev().find(|(one, _)| figure.abs() >= *one);
        let (one, suffix) = *found.unwrap_or(&table[0]);
        Magnitude { one, suffix }
    }

    /// A figure with three digits that count.
    pub fn show(self, figure: f64) -> String {
        let magnitude = self.magnitude(figure);
        // Also makes 0 of -0, which an empty sum is.
        let number = figure / magnitude.one + 0.0;
        // 999.9 k would round to 1000 k.
        if number.round() >= 1000.0 && number < 1000.0 {
            let up = self.magnitude(figure * 1.001);
            return format!("{}{}", digits(figure / up.one), up.suffix);
        }
        format!("{}{}", digits(number), magnitude.suffix)
    }

    /// Ticks of an axis: all of them in one magnitude, with as many digits as tell them apart.
    pub fn show_tick(self, tick: f64, magnitude: Magnitude, step: f64) -> String {
        let step = step / magnitude.one;
        let decimals = if step > 0.0 { (-step.log10().floor()).clamp(0.0, 6.0) } else { 0.0 };
        #[allow(clippy::cast_sign_loss, reason = "clamped to 0..=6")]
        let decimals = decimals as usize;
        format!("{:.decimals$}{}", tick / magnitude.one, magnitude.suffix)
    }
}

fn digits(number: f64) -> String {
    let size = number.abs();
    if size >= 100.0 || size == 0.0 {
        format!("{number:.0}")
    } else if size >= 10.0 {
        trimmed(format!("{number:.1}"))
    } else {
        trimmed(format!("{number:.2}"))
    }
}

/// Without zeros that say nothing: "1.50" is "1.5", "2.00" is "2".
fn trimmed(number: String) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        for (unit, figure, text) in [
            (Unit::BytesPerSec, 0.0, "0 B/s"),
            (Unit::BytesPerSec, 1536.0, "1.5 KiB/s"),
            (Unit::BytesPerSec, 1_288_490_188.8, "1.2 GiB/s"),
            (Unit::PerSec, 812.0, "812 /s"),
            (Unit::PerSec, -0.0, "0 /s"),
            (Unit::PerSec, 130_332.0, "130 k/s"),
            (Unit::Nanos, 64_250.0, "64.2 µs"),
            (Unit::Nanos, 3_000_000.0, "3 ms"),
            (Unit::Nanos, 12_340_000_000.0, "12.3 s"),
            (Unit::Count, 999_999.0, "1 M"),
            (Unit::Share, 0.953, "95.3 %"),
            (Unit::Seconds, 2.5, "2.5 s"),
        ] {
            assert_eq!(unit.show(figure), text, "{unit:?} {figure}");
        }
    }

    #[test]
    fn ticks_of_one_axis_have_one_unit() {
        let magnitude = Unit::BytesPerSec.magnitude(1.5 * 1_073_741_824.0);
        let step = 0.5 * 1_073_741_824.0;
        assert_eq!(Unit::BytesPerSec.show_tick(step, magnitude, step), "0.5 GiB/s");
        assert_eq!(Unit::BytesPerSec.show_tick(2.0 * step, magnitude, step), "1.0 GiB/s");
        let magnitude = Unit::PerSec.magnitude(400.0);
        assert_eq!(Unit::PerSec.show_tick(200.0, magnitude, 200.0), "200 /s");
    }
}
