//! The page of a matrix.

use maud::{Markup, html};

use super::environment;
use super::layout::{alert, page, when};
use super::run::shell_words;
use super::tables::bar;
use super::unit::Unit;
use crate::matrix::{Cell, Matrix, Row, Way};
use crate::statistics::median;
use crate::units::show_bytes;

const WAYS: [Way; 2] = [Way::Write, Way::Read];

/// The page of a matrix.
pub fn matrix_page(matrix: &Matrix) -> String {
    let names: Vec<&str> = matrix.rows.iter().map(|row| row.name.as_str()).collect();
    let title = format!("Write and read: {}", names.join(", "));
    let sub = format!("Matrix, {}, {}", when(matrix.started_unix_ms), matrix.tool);
    let options = matrix.options.iter().map(|(key, value)| format!("{key}={value}"));
    let options = options.collect::<Vec<_>>().join(" ");
    let body = html! {
        (faults(matrix))
        p { (matrix.cache.words()) }
        p.note { "A file of " (show_bytes(matrix.size)) ", " (options) }
        h2 { "Bandwidth, and its ratio to local" }
        (table(matrix))
        h2 { "What held each figure back" }
        (limits(matrix))
        @for row in &matrix.rows {
            @for column in &row.targets {
                h2 { (row.name) ", " (column.name) }
                @match &column.environment {
                    Some(known) => (environment::list(known)),
                    None => p { "It did not run." },
                }
            }
        }
        h2 { "Command" }
        p { code { (shell_words(&matrix.command)) } }
    };
    page(&title, &sub, &body, matrix)
}

fn faults(matrix: &Matrix) -> Markup {
    html! {
        @if let Some(why) = &matrix.interrupted {
            (alert("Ended before its time.", &format!("{why}. The figures are of what was done until then.")))
        }
        @for row in &matrix.rows {
            @for error in &row.raw.errors { (alert(&format!("{}.", row.name), error)) }
            @for (number, cell) in row.cells.iter().enumerate() {
                @if let Some(error) = &cell.error {
                    (alert(&format!("{}, {} {}.", row.name, row.targets[number / 2].name, cell.way.word()), error))
                }
            }
        }
    }
}

fn table(matrix: &Matrix) -> Markup {
    let columns = matrix.columns();
    let most = matrix.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.median);
    let most = most.fold(0.0, f64::max);
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr { th.text { "" } th.text { "" } @for column in &columns { th { (column) } } }
                }
                tbody {
                    @for row in &matrix.rows {
                        @for (index, way) in WAYS.into_iter().enumerate() {
                            tr {
                                th scope="row" { @if index == 0 { (row.name) } }
                                td.word { (way.word()) }
                                @for column in &columns {
                                    td { @if let Some(cell) = row.find(column, way) { (figure(cell, most, index)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn figure(cell: &Cell, most: f64, colour: usize) -> Markup {
    html! {
        @match cell.median {
            Some(rate) => {
                (Unit::BytesPerSec.show(rate))
                @if let Some(ratio) = cell.to_local { " " small { (format!("×{ratio:.2}")) } }
                @if cell.error.is_some() { " " span.bad { "failed" } }
                (bar(rate, most, colour))
            },
            None if cell.error.is_some() => span.bad { "failed" },
            None => "–",
        }
    }
}

fn limits(matrix: &Matrix) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption {
                    "network, disk or cache: within a tenth of the raw stream of the same run; CPU: nine tenths of this \
                     machine's cores were busy; waiting: none of these, so more at once may bring more"
                }
                thead {
                    tr {
                        th.text { "" } th.text { "" } th.text { "" } th.text { "Held back by" } th { "Raw TCP" }
                        th { "Raw file" } th { "Client" } th { "Machine busy" } th { "Rounds apart" }
                    }
                }
                tbody { @for row in &matrix.rows { (limit_rows(row)) } }
            }
        }
    }
}

fn limit_rows(row: &Row) -> Markup {
    let shown = |rates: &[f64]| {
        median(rates).map_or_else(|| "unknown".to_owned(), |rate| Unit::BytesPerSec.show(rate))
    };
    let share = |share: Option<f64>| {
        share.map_or_else(|| "unknown".to_owned(), |share| Unit::Share.show(share))
    };
    html! {
        @for (number, cell) in row.cells.iter().enumerate() {
            @let column = &row.targets[number / 2];
            tr {
                th scope="row" { (row.name) } td.word { (column.name) } td.word { (cell.way.word()) }
                td.word { (cell.limit.word()) }
                td { @if column.target.starts_with("file://") { "–" } @else { (shown(&row.raw.tcp[number / 2])) } }
                td { (shown(match cell.way { Way::Write => &row.raw.file_write, Way::Read => &row.raw.file_read })) }
                td { @match median(&cell.client_cores) { Some(cores) => (format!("{cores:.2} cores")), None => "unknown" } }
                td { (share(median(&cell.busy))) }
                td { (share(cell.spread)) }
            }
        }
    }
}
