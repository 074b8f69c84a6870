//! Where a figure lies on an axis, and which figures the axis names.

use crate::html::unit::Unit;
use crate::units::float;

/// How figures are laid out along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// In proportion, from 0 or the least to the most.
    Linear {
        /// At the beginning.
        from: f64,
        /// At the end.
        to: f64,
    },
    /// By powers of ten.
    Log {
        /// At the beginning; above 0.
        from: f64,
        /// At the end.
        to: f64,
    },
    /// Named places at equal distances; figures are their indexes.
    Steps(Vec<String>),
    /// Percentiles by the nines they have: 0, 90, 99, 99.9 at equal distances. Figures are 0..100.
    Nines {
        /// How many nines the end has.
        nines: u8,
    },
}

/// A figure that an axis names, and where it lies, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// From 0 to 1.
    pub at: f64,
    /// What is written there.
    pub text: String,
}

impl Scale {
    /// From 0 to a little more than `most`.
    pub fn from_zero(most: f64) -> Self {
        Scale::Linear { from: 0.0, to: if most > 0.0 { most * 1.05 } else { 1.0 } }
    }

    /// By powers of ten around all of `figures` that are above 0.
    pub fn log_around(figures: impl Iterator<Item = f64> + Clone) -> Self {
        let above = figures.filter(|figure| *figure > 0.0);
        let least = above.clone().fold(f64::MAX, f64::min);
        let most = above.fold(0.0, f64::max);
        if most <= 0.0 {
            return Scale::Log { from: 1.0, to: 10.0 };
        }
        let (from, to) = (least / 1.2, most * 1.2);
        Scale::Log { from, to }
    }

    /// Where `figure` lies, from 0 to 1; what lies outside is put on the edge.
    pub fn place(&self, figure: f64) -> f64 {
        let at = match self {
            Scale::Linear { from, to } => (figure - from) / (to - from),
            Scale::Log { from, to } if figure > 0.0 => (figure / from).ln() / (to / from).ln(),
            Scale::Log { .. } => 0.0,
            Scale::Steps(names) if names.len() > 1 => figure / float(names.len() as u64 - 1),
            Scale::Steps(_) => 0.5,
            Scale::Nines { nines } => -(1.0 - figure / 100.0).max(1e-9).log10() / f64::from(*nines),
        };
        if at.is_finite() { at.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The figures to be named, at most about `count` of them.
    pub fn ticks(&self, unit: Unit, count: usize) -> Vec<Tick> {
        match self {
            Scale::Linear { from, to } => linear(unit, *from, *to, count),
            Scale::Log { from, to } => log(unit, *from, *to, count),
            Scale::Steps(names) => {
                let every = names.len().div_ceil(count.max(1)).max(1);
                let named = names.iter().enumerate().step_by(every);
                let tick = |(index, name): (usize, &String)| Tick {
                    at: self.place(float(index as u64)),
                    text: name.clone(),
                };
                named.map(tick).collect()
            }
            Scale::Nines { nines } => {
                let named = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999"];
                // From the far end on, where the longest are.
                let every = (usize::from(*nines) + 1).div_ceil(count.max(1)).max(1);
                let skipped = usize::from(*nines) % every;
                let tick = |(index, name): (usize, &&str)| Tick {
                    at: float(index as u64) / f64::from(*nines),
                    text: format!("{name} %"),
                };
                named
                    .iter()
                    .enumerate()
                    .take(usize::from(*nines) + 1)
                    .skip(skipped)
                    .step_by(every)
                    .map(tick)
                    .collect()
            }
        }
    }
}

/// Steps of 1, 2 or 5 times a power of ten, counted in the unit's magnitude.
fn linear(unit: Unit, from: f64, to: f64, count: usize) -> Vec<Tick> {
    let magnitude = unit.magnitude(to);
    let rough = (to - from) / magnitude.one / float(count.max(1) as u64);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    let step = factor.unwrap_or(10.0) * power * magnitude.one;
    let first = (from / step).ceil() * step;
    // At most `count` and one steps fit, so that counting them is no loop without end.
    (0..=count + 1)
        .map(|index| first + float(index as u64) * step)
        .take_while(|figure| *figure <= to)
        .map(|figure| Tick {
            at: (figure - from) / (to - from),
            text: unit.show_tick(figure, magnitude, step),
        })
        .collect()
}

/// Powers of ten, and twice and five times them where there is room.
fn log(unit: Unit, from: f64, to: f64, count: usize) -> Vec<Tick> {
    let decades = (to / from).log10();
    let room = float(count as u64) / decades.max(0.1);
    let factors: &[f64] = match room {
        room if room >= 3.0 => &[1.0, 2.0, 5.0],
        room if room >= 2.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = if room < 1.0 { 2 } else { 1 };
    let lowest = from.log10().floor() as i32;
    let highest = to.log10().ceil() as i32;
    (lowest..=highest)
        .filter(|power| every == 1 || power % 2 == 0)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|figure| (from..=to).contains(figure))
        .map(|figure| Tick { at: (figure / from).ln() / (to / from).ln(), text: unit.show(figure) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale, unit: Unit, count: usize) -> Vec<String> {
        scale.ticks(unit, count).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn a_linear_axis_has_round_figures() {
        let scale = Scale::Linear { from: 0.0, to: 10.0 };
        assert_eq!(texts(&scale, Unit::Seconds, 5), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]);
        let gib = 1_073_741_824.0;
        let scale = Scale::Linear { from: 0.0, to: 1.3 * gib };
        assert_eq!(texts(&scale, Unit::BytesPerSec, 4), ["0.0 GiB/s", "0.5 GiB/s", "1.0 GiB/s"]);
        assert!((scale.place(0.65 * gib) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_log_axis_has_powers_of_ten() {
        let scale = Scale::Log { from: 900.0, to: 2_000_000.0 };
        assert_eq!(texts(&scale, Unit::Nanos, 5), ["1 µs", "10 µs", "100 µs", "1 ms"]);
        let scale = Scale::log_around([50e3, 0.0, 400e3].into_iter());
        assert_eq!(texts(&scale, Unit::Nanos, 5), ["50 µs", "100 µs", "200 µs"]);
        assert!(scale.place(0.0).abs() < 1e-9 && scale.place(1e12) <= 1.0);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let scale = Scale::Nines { nines: 3 };
        assert_eq!(texts(&scale, Unit::Share, 9), ["0 %", "90 %", "99 %", "99.9 %"]);
        assert_eq!(texts(&scale, Unit::Share, 3), ["90 %", "99.9 %"]);
        for (percent, at) in [(0.0, 0.0), (90.0, 1.0 / 3.0), (99.0, 2.0 / 3.0), (100.0, 1.0)] {
            assert!((scale.place(percent) - at).abs() < 1e-9, "{percent}");
        }
    }

    #[test]
    fn steps_are_named_as_far_as_there_is_room() {
        let scale = Scale::Steps((0..7).map(|power| (1 << power).to_string()).collect());
        assert_eq!(texts(&scale, Unit::Count, 10), ["1", "2", "4", "8", "16", "32", "64"]);
        assert_eq!(texts(&scale, Unit::Count, 4), ["1", "4", "16", "64"]);
        assert!((scale.place(3.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn no_figures_make_no_endless_axis() {
        assert!(!Scale::from_zero(0.0).ticks(Unit::PerSec, 5).is_empty());
        assert!(!Scale::log_around(std::iter::empty()).ticks(Unit::Nanos, 5).is_empty());
        assert!(Scale::Steps(Vec::new()).ticks(Unit::Count, 5).is_empty());
        assert!(Scale::from_zero(f64::NAN).place(f64::NAN).abs() < 1e-9);
    }
}
