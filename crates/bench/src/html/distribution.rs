//! Charts of how latencies are distributed.

use maud::{Markup, html};

use super::chart::{Axis, Chart, Line, Scale, Stroke};
use super::run::{direction_name, sums};
use super::unit::Unit;
use crate::report::{JobResult, Latency};
use crate::units::float;

/// Bars of a histogram, at most.
const BARS: usize = 80;

/// Latency by percentile, and how many operations took how long.
pub(super) fn charts(group: &[&JobResult]) -> Markup {
    let all: Vec<(String, Latency)> = sums(group)
        .into_iter()
        .filter(|(_, sum)| sum.all.lat.count > 0)
        .map(|(name, sum)| (direction_name(name, group), sum.all.lat))
        .collect();
    if all.is_empty() {
        return html! {};
    }
    html! { (by_percentile(&all)) (histogram(&all)) }
}

fn by_percentile(all: &[(String, Latency)]) -> Markup {
    let most = all.iter().map(|(_, latency)| latency.count).max().unwrap_or(1);
    // Of a thousand operations three nines can be told.
    let nines = (most.max(10).ilog10() as u8).clamp(1, 6);
    let lines: Vec<Line> = all
        .iter()
        .map(|(name, latency)| Line {
            name: name.clone(),
            points: curve(latency, nines),
            stroke: Stroke::Plain,
        })
        .collect();
    let scale =
        Scale::log_around(lines.iter().flat_map(|line| line.points.iter().map(|(_, y)| *y)));
    Chart {
        title: "Latency by percentile".to_owned(),
        note: "From when an operation was meant to start until it was done".to_owned(),
        x: Axis { label: "percentile", unit: Unit::Share, scale: Scale::Nines { nines } },
        y: Axis { label: "", unit: Unit::Nanos, scale },
        lines,
        marks: Vec::new(),
    }
    .render()
}

/// Twenty points for each nine.
fn curve(latency: &Latency, nines: u8) -> Vec<(f64, f64)> {
    (0..=u32::from(nines) * 20)
        .map(|step| 100.0 * (1.0 - 10f64.powf(-f64::from(step) / 20.0)))
        .map(|percent| (percent, float(latency.percentile(percent))))
        .collect()
}

fn histogram(all: &[(String, Latency)]) -> Markup {
    let least = all.iter().map(|(_, latency)| latency.min_nanos).min().unwrap_or(1).max(1);
    let most = all.iter().map(|(_, latency)| latency.max_nanos).max().unwrap_or(1).max(least + 1);
    let (from, to) = (float(least) * 0.98, float(most) * 1.02);
    let lines: Vec<Line> = all
        .iter()
        .map(|(name, latency)| Line {
            name: name.clone(),
            points: bars(latency, from, to),
            stroke: Stroke::Area,
        })
        .collect();
    let tallest = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y).fold(0.0, f64::max);
    Chart {
        title: "Latency distribution".to_owned(),
        note: "Share of the operations that took so long; logarithmic scale".to_owned(),
        x: Axis { label: "latency", unit: Unit::Nanos, scale: Scale::Log { from, to } },
        y: Axis { label: "", unit: Unit::Share, scale: Scale::from_zero(tallest) },
        lines,
        marks: Vec::new(),
    }
    .render()
}

/// Shares of the operations in intervals that are equally wide on a logarithmic axis.
fn bars(latency: &Latency, from: f64, to: f64) -> Vec<(f64, f64)> {
    let width = (to / from).ln() / float(BARS as u64);
    let mut counts = [0u64; BARS];
    for (upto, count) in &latency.buckets {
        let within = (*upto).clamp(latency.min_nanos.max(1), latency.max_nanos.max(1));
        let place = ((float(within) / from).ln() / width).max(0.0);
        #[allow(clippy::cast_sign_loss, reason = "not below 0")]
        let place = (place as usize).min(BARS - 1);
        counts[place] += count;
    }
    let total = float(latency.count.max(1));
    let bar = |(index, count): (usize, &u64)| {
        (from * (width * float(index as u64)).exp(), float(*count) / total)
    };
    counts.iter().enumerate().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency() -> Latency {
        Latency {
            count: 100,
            min_nanos: 1_000,
            max_nanos: 1_000_000,
            mean_nanos: 0.0,
            stddev_nanos: 0.0,
            buckets: vec![(1_000, 50), (10_000, 49), (1_000_000, 1)],
        }
    }

    #[test]
    fn bars_hold_all_operations() {
        let bars = bars(&latency(), 980.0, 1_020_000.0);
        let sum: f64 = bars.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        assert_eq!(bars.iter().filter(|(_, share)| *share > 0.0).count(), 3);
        assert!((bars[0].1 - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_curve_rises_to_the_longest() {
        let curve = curve(&latency(), 2);
        assert!(curve.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert_eq!(curve.first(), Some(&(0.0, 1_000.0)));
        assert!(curve.iter().any(|(percent, nanos)| *percent > 90.0 && *nanos > 9_999.0));
    }
}
