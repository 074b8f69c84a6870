//! A matrix as a table.

use std::fmt::Write;

use super::result::{Cell, Matrix, Row, Way};
use crate::html::unit::Unit;
use crate::statistics::median;
use crate::sweep::aligned;

/// Two lines of each row, a column of each kind of target; then what held each figure back.
pub fn text(matrix: &Matrix) -> String {
    let columns = matrix.columns();
    let mut rows =
        vec![["", ""].into_iter().chain(columns.iter().copied()).map(str::to_owned).collect()];
    for row in &matrix.rows {
        for way in [Way::Write, Way::Read] {
            let name = if way == Way::Write { row.name.as_str() } else { "" };
            let cells =
                columns.iter().map(|column| row.find(column, way).map_or_else(String::new, rate));
            rows.push([name, way.word()].into_iter().map(str::to_owned).chain(cells).collect());
        }
    }
    let mut out = String::new();
    aligned(&mut out, &rows);
    // Writing to memory does not fail.
    let _ = writeln!(out, "\nMedians, and their ratio to local. {}\n", matrix.cache.words());
    let mut rows: Vec<Vec<String>> = vec![
        ["", "", "", "limit", "raw TCP", "raw file", "client", "machine busy", "spread"]
            .map(str::to_owned)
            .into(),
    ];
    for row in &matrix.rows {
        limits(row, &mut rows);
    }
    aligned(&mut out, &rows);
    for error in matrix.rows.iter().flat_map(|row| &row.raw.errors) {
        let _ = writeln!(out, "error: {error}");
    }
    if let Some(why) = &matrix.interrupted {
        let _ = writeln!(out, "interrupted: {why}; the figures are of what was done until then");
    }
    out
}

/// A figure, and its ratio to local.
fn rate(cell: &Cell) -> String {
    match (cell.median, cell.to_local) {
        (Some(median), Some(ratio)) => {
            let failed = if cell.error.is_some() { " !" } else { "" };
            format!("{} x{ratio:.2}{failed}", Unit::BytesPerSec.show(median))
        }
        (Some(median), None) => Unit::BytesPerSec.show(median),
        (None, _) if cell.error.is_some() => "failed".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

fn limits(row: &Row, rows: &mut Vec<Vec<String>>) {
    let shown = |rates: &[f64]| {
        median(rates).map_or_else(|| "unknown".to_owned(), |rate| Unit::BytesPerSec.show(rate))
    };
    for (number, column) in row.targets.iter().enumerate() {
        for cell in row.cells.iter().skip(2 * number).take(2) {
            let file = match cell.way {
                Way::Write => &row.raw.file_write,
                Way::Read => &row.raw.file_read,
            };
            let tcp = if column.target.starts_with("file://") {
                "–".to_owned()
            } else {
                shown(&row.raw.tcp[number])
            };
            let cores = median(&cell.client_cores);
            let percent = |share: Option<f64>| {
                share.map_or_else(|| "unknown".to_owned(), |share| Unit::Share.show(share))
            };
            let mut line = vec![
                row.name.clone(),
                column.name.clone(),
                cell.way.word().to_owned(),
                cell.limit.word().to_owned(),
                tcp,
                shown(file),
                cores.map_or_else(|| "unknown".to_owned(), |cores| format!("{cores:.2} cores")),
                percent(median(&cell.busy)),
                percent(cell.spread),
            ];
            line.extend(cell.error.iter().map(|error| format!("error: {error}")));
            rows.push(line);
        }
    }
}
