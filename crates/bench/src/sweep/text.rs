//! A sweep as a table.

use std::fmt::Write;

use super::result::{Figure, Measured, Sweep};
use crate::html::unit::Unit;
use crate::statistics::Fairness;

/// A row of each value: all clients, each client where there are several, fairness; the knee marked.
pub fn text(sweep: &Sweep) -> String {
    let several = sweep.clients.len() > 1;
    let mut head = vec![sweep.parameter.as_str(), "rate", "p50", "p99", "client CPU"];
    if several {
        head.extend(["slowest", "fastest", "slowest/fastest", "Jain"]);
    }
    let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    for (index, step) in sweep.steps.iter().enumerate() {
        let mut row = vec![step.value.clone()];
        row.extend(cells(&step.all, sweep.figure));
        if several {
            row.extend(fairness_cells(step.fairness, sweep.figure));
        }
        let mut note = String::new();
        if sweep.knee.index() == Some(index) {
            note.push_str("<- knee");
        }
        if let Some(error) = &step.error {
            note.push_str(" ! ");
            note.push_str(error);
        }
        row.push(note);
        rows.push(row);
    }
    let mut out = String::new();
    // Writing to memory does not fail.
    let options = sweep.options.iter().map(|(key, value)| format!("{key}={value}"));
    let options = options.collect::<Vec<_>>().join(" ");
    let target = &sweep.environment.target;
    let _ = writeln!(out, "{target}: {options}, {} client(s)\n", sweep.clients.len());
    aligned(&mut out, &rows);
    if several {
        let _ = writeln!(out, "\nEach client's rate:");
        let head = std::iter::once(&sweep.parameter).chain(&sweep.clients).cloned().collect();
        let mut rows: Vec<Vec<String>> = vec![head];
        for step in &sweep.steps {
            let rates =
                step.clients.iter().map(|client| show(sweep.figure, client.rate(sweep.figure)));
            rows.push(std::iter::once(step.value.clone()).chain(rates).collect());
        }
        aligned(&mut out, &rows);
    }
    let _ = writeln!(out, "\n{}", sweep.knee_text());
    if let Some(why) = &sweep.interrupted {
        let _ = writeln!(out, "interrupted: {why}; the figures are of what was done until then");
    }
    out
}

fn cells(measured: &Measured, figure: Figure) -> Vec<String> {
    vec![
        show(figure, measured.rate(figure)),
        Unit::Nanos.show(measured.p50_nanos),
        Unit::Nanos.show(measured.p99_nanos),
        format!("{:.2} cores", measured.client_cores),
    ]
}

fn fairness_cells(fairness: Option<Fairness>, figure: Figure) -> Vec<String> {
    match fairness {
        Some(fair) => vec![
            show(figure, fair.slowest),
            show(figure, fair.fastest),
            format!("{:.3}", fair.ratio()),
            format!("{:.3}", fair.jain),
        ],
        None => vec!["–".to_owned(); 4],
    }
}

/// A rate with its unit.
pub(crate) fn show(figure: Figure, rate: f64) -> String {
    match figure {
        Figure::Bandwidth => Unit::BytesPerSec.show(rate),
        Figure::Operations => Unit::PerSec.show(rate),
    }
}

/// Columns as wide as their widest cell, to the right; a last column that the head has not, to the
/// left.
pub(crate) fn aligned(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            match widths.get(column) {
                Some(width) => {
                    let _ = write!(line, "{cell:>width$}  ");
                }
                None => line.push_str(cell),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_to_the_right() {
        let mut out = String::new();
        let rows = [vec!["a", "bb"], vec!["ccc", "d", "note"]];
        let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect());
        aligned(&mut out, &rows);
        assert_eq!(out, "  a  bb\nccc   d  note\n");
    }
}
