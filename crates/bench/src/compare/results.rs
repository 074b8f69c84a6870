//! What came of a comparison, as data: to be shown, kept, and compared with later.

use serde::{Deserialize, Serialize};

use super::cases::Unit;
use super::measured::Measured;
use super::memory::Memory;
use super::servers::FLOOR;
use crate::statistics::{median, spread};

/// What came of a comparison.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    /// How it was called.
    pub(super) command: Vec<String>,
    pub(super) kernel: String,
    pub(super) cpu: String,
    pub(super) cores: u32,
    pub(super) rows: Vec<Row>,
    pub(super) memory: Vec<Memory>,
}

/// A case with a contestant: medians of all rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) server: String,
    pub(super) unit: Unit,
    pub(super) rounds: usize,
    /// A second, by its unit.
    pub(super) rate: f64,
    pub(super) p50_micros: f64,
    pub(super) p99_micros: f64,
    pub(super) p999_micros: f64,
    /// Seconds for a GiB, µs for anything else.
    pub(super) server_cpu: f64,
    /// How far rounds lie apart, as a part of the median.
    pub(super) server_cpu_spread: f64,
    pub(super) server_cores: f64,
    pub(super) client_cpu: f64,
    /// The most resident memory of any round.
    pub(super) peak_kib: u64,
    /// GiB a second that another client moved meanwhile.
    pub(super) beside: Option<f64>,
}

impl Row {
    pub(super) fn of(case: &str, server: &str, rounds: &[Measured]) -> Option<Self> {
        let figures =
            |figure: fn(&Measured) -> f64| rounds.iter().map(figure).collect::<Vec<f64>>();
        let middle = |figure| median(&figures(figure)).unwrap_or_default();
        Some(Row {
            case: case.to_owned(),
            server: server.to_owned(),
            unit: rounds.first()?.unit,
            rounds: rounds.len(),
            rate: middle(Measured::rate),
            p50_micros: middle(|measured| measured.micros(50.0)),
            p99_micros: middle(|measured| measured.micros(99.0)),
            p999_micros: middle(|measured| measured.micros(99.9)),
            server_cpu: middle(Measured::server_cost),
            server_cpu_spread: spread(&figures(Measured::server_cost)).unwrap_or_default(),
            server_cores: middle(Measured::server_cores),
            client_cpu: middle(Measured::client_cost),
            peak_kib: rounds.iter().map(Measured::peak_rss_kib).max().unwrap_or_default(),
            beside: median(&rounds.iter().filter_map(|round| round.beside).collect::<Vec<_>>()),
        })
    }
}

impl Results {
    pub(super) fn row(&self, case: &str, server: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.case == case && row.server == server)
    }

    /// The row that bounds this one.
    pub(super) fn floor(&self, row: &Row) -> Option<&Row> {
        self.row(&row.case, FLOOR).filter(|floor| floor.server_cpu > 0.0)
    }
}
