//! Medians in Markdown.

use std::fmt;

use super::measured::Measured;
use super::servers::FLOOR;

/// Measurements by case and contestant, in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct Table {
    cells: Vec<Cell>,
}

#[derive(Debug)]
struct Cell {
    case: &'static str,
    contestant: String,
    all: Vec<Measured>,
}

impl Table {
    pub(super) fn add(&mut self, case: &'static str, contestant: &str, measured: Measured) {
        let cell = self.cells.iter_mut().find(|c| c.case == case && c.contestant == contestant);
        if let Some(cell) = cell {
            cell.all.push(measured);
        } else {
            let contestant = contestant.to_owned();
            self.cells.push(Cell { case, contestant, all: vec![measured] });
        }
    }

    fn floor_cpu(&self, case: &str) -> Option<f64> {
        let floor = self.cells.iter().find(|c| c.case == case && c.contestant == FLOOR)?;
        Some(floor.server_cpu())
    }
}

impl Cell {
    fn median(&self, figure: impl Fn(&Measured) -> f64) -> f64 {
        median(self.all.iter().map(figure).collect())
    }

    fn moves_bulk(&self) -> bool {
        self.all.iter().any(|measured| measured.bulk)
    }

    fn server_cpu(&self) -> f64 {
        self.median(Measured::server_cost)
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
             | client CPU | peak RSS MiB |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
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
            write!(f, "| {:.2} GiB/s ", self.median(Measured::gib_per_sec))?;
        } else {
            write!(f, "| {:.0}/s ", self.median(Measured::ops_per_sec))?;
        }
        let micros = |percent: f64| self.median(|measured| measured.micros(percent));
        write!(f, "| {:.0} / {:.0} / {:.0} ", micros(50.0), micros(99.0), micros(99.9))?;
        let server = self.server_cpu();
        write!(f, "| {server:.digits$} {unit} ")?;
        match floor_cpu {
            Some(floor) if floor > 0.0 => write!(f, "| {:.2} ", server / floor)?,
            _ => write!(f, "| – ")?,
        }
        let (cores, client) =
            (self.median(Measured::server_cores), self.median(Measured::client_cost));
        let peak = self.all.iter().map(Measured::peak_rss_kib).max().unwrap_or(0) >> 10;
        writeln!(f, "| {cores:.2} | {client:.digits$} {unit} | {peak} |")
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
