//! Medians in Markdown.

use std::fmt;

use super::servers::FLOOR;
use crate::load::report::{Cost, Report};

/// Reports by case and contestant, in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct Table {
    cells: Vec<Cell>,
}

#[derive(Debug)]
struct Cell {
    case: &'static str,
    contestant: String,
    reports: Vec<Report>,
}

impl Table {
    pub(super) fn add(&mut self, case: &'static str, contestant: &str, report: Report) {
        let cell = self.cells.iter_mut().find(|c| c.case == case && c.contestant == contestant);
        if let Some(cell) = cell {
            cell.reports.push(report);
        } else {
            let contestant = contestant.to_owned();
            self.cells.push(Cell { case, contestant, reports: vec![report] });
        }
    }

    fn floor_cpu(&self, case: &str) -> Option<f64> {
        let floor = self.cells.iter().find(|c| c.case == case && c.contestant == FLOOR)?;
        Some(floor.server_cpu())
    }
}

impl Cell {
    fn median(&self, figure: impl Fn(&Report) -> f64) -> f64 {
        median(self.reports.iter().map(figure).collect())
    }

    fn moves_bulk(&self) -> bool {
        self.reports.iter().any(|report| report.job.block_bytes() >= 1 << 20)
    }

    /// By the unit of the case: seconds a GiB, or µs a call.
    fn cpu(&self, cost: impl Fn(&Report) -> Option<Cost>) -> f64 {
        self.median(|report| {
            let of = |cost: Cost| {
                if self.moves_bulk() { cost.secs_per_gib } else { cost.micros_per_call }
            };
            cost(report).map_or(0.0, of)
        })
    }

    fn server_cpu(&self) -> f64 {
        self.cpu(|report| report.server.map(|server| server.cost))
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => 0.0,
        n if n % 2 == 1 => figures[n / 2],
        n => f64::midpoint(figures[n / 2 - 1], figures[n / 2]),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| case | server | rate | p50 / p99 / p99.9 µs | server CPU | × floor | server cores \
             | client CPU | peak RSS MiB | errors |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|")?;
        for cell in &self.cells {
            cell.fmt_row(f, self.floor_cpu(cell.case))?;
        }
        Ok(())
    }
}

impl Cell {
    fn fmt_row(&self, f: &mut fmt::Formatter<'_>, floor_cpu: Option<f64>) -> fmt::Result {
        let unit = if self.moves_bulk() { "s/GiB" } else { "µs" };
        let digits = if self.moves_bulk() { 3 } else { 2 };
        write!(f, "| {} | {} ", self.case, self.contestant)?;
        if self.moves_bulk() {
            write!(f, "| {:.2} GiB/s ", self.median(|r| r.gib_per_sec))?;
        } else {
            write!(f, "| {:.0}/s ", self.median(|r| r.calls_per_sec))?;
        }
        let latency = |figure: fn(&Report) -> f64| self.median(figure);
        write!(
            f,
            "| {:.0} / {:.0} / {:.0} ",
            latency(|r| r.latency_micros.p50),
            latency(|r| r.latency_micros.p99),
            latency(|r| r.latency_micros.p99_9),
        )?;
        let server = self.server_cpu();
        write!(f, "| {server:.digits$} {unit} ")?;
        match floor_cpu {
            Some(floor) if floor > 0.0 => write!(f, "| {:.2} ", server / floor)?,
            _ => write!(f, "| – ")?,
        }
        let cores = self.median(|r| r.server.map_or(0.0, |server| server.cost.cores));
        let client = self.cpu(|report| Some(report.client));
        let peak = self.reports.iter().filter_map(|r| r.server).map(|s| s.peak_rss_kib).max();
        let errors: u64 = self.reports.iter().map(|report| report.errors).sum();
        writeln!(
            f,
            "| {cores:.2} | {client:.digits$} {unit} | {} | {errors} |",
            peak.unwrap_or(0) >> 10
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        for (figures, expected) in
            [(vec![], 0.0), (vec![3.0], 3.0), (vec![9.0, 1.0, 2.0], 2.0), (vec![4.0, 2.0], 3.0)]
        {
            assert!((median(figures) - expected).abs() < 1e-9);
        }
    }
}
