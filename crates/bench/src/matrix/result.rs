//! What came of a matrix.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::cache::Cache;
use super::judge::{Limit, limit};
use super::{Plan, RowPlan};
use crate::report::{Environment, Run};
use crate::statistics::{median, spread};
use crate::target::Target;

/// What came of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The program, with its version.
    pub tool: String,
    /// When it began, in ms since 1970.
    pub started_unix_ms: u64,
    /// The command line.
    pub command: Vec<String>,
    /// The options that all jobs had.
    pub options: Vec<(String, String)>,
    /// Bytes of the file.
    pub size: u64,
    /// What a read found in the cache.
    pub cache: Cache,
    /// The file systems and servers.
    pub rows: Vec<Row>,
    /// Why it ended before its time, if it did.
    pub interrupted: Option<String>,
}

/// A file system or a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Its targets, each with its column.
    pub targets: Vec<Column>,
    /// Two of each target: written, read.
    pub cells: Vec<Cell>,
    /// What was measured with nothing around it.
    pub raw: Raw,
}

/// A target of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The target as given.
    pub target: String,
    /// What it is: `local`, `NFSv3`, `NFSv4.1`, `mounted nfs4`.
    pub name: String,
    /// On and against what it ran, if it ran.
    pub environment: Option<Environment>,
}

/// Which way data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// To the file.
    Write,
    /// From it.
    Read,
}

impl Way {
    /// fio's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Way::Write => "write",
            Way::Read => "read",
        }
    }
}

/// A figure of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which way.
    pub way: Way,
    /// Bytes a second of each round.
    pub rates: Vec<f64>,
    /// The median of them.
    pub median: Option<f64>,
    /// How far they lie apart, as a part of the median.
    pub spread: Option<f64>,
    /// The median as a part of that of the row's local target.
    pub to_local: Option<f64>,
    /// How many cores this process kept busy, of each round.
    pub client_cores: Vec<f64>,
    /// The share of this machine's cores that was busy, of each round.
    pub busy: Vec<f64>,
    /// What held it back.
    pub limit: Limit,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// Raw streams, in bytes a second of each round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// One thread that writes a file in the local target's directory, with a sync at the end.
    pub file_write: Vec<f64>,
    /// One that reads it.
    pub file_read: Vec<f64>,
    /// TCP to the server of each target, where that is this host.
    pub tcp: Vec<Vec<f64>>,
    /// What could not be measured, and why.
    pub errors: Vec<String>,
}

impl Matrix {
    pub(super) fn new(plan: &Plan, started_unix_ms: u64) -> Self {
        Matrix {
            tool: concat!("hayase ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms,
            command: plan.command.clone(),
            options: plan.options.clone(),
            size: plan.size,
            cache: plan.cache,
            rows: plan.rows.iter().map(Row::new).collect(),
            interrupted: None,
        }
    }

    /// Medians, ratios, and what held each figure back.
    pub(super) fn conclude(&mut self) {
        for row in &mut self.rows {
            row.conclude();
        }
    }

    /// The names of all columns, in the order in which they first come.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for column in self.rows.iter().flat_map(|row| &row.targets) {
            if !columns.contains(&column.name.as_str()) {
                columns.push(&column.name);
            }
        }
        columns
    }

    /// Whether everything went as it should.
    pub fn is_whole(&self) -> bool {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        self.interrupted.is_none()
            && cells().all(|cell| cell.error.is_none())
            && self.rows.iter().all(|row| row.raw.errors.is_empty())
    }
}

impl Row {
    fn new(plan: &RowPlan) -> Self {
        let mut targets: Vec<Column> = Vec::new();
        for target in &plan.targets {
            let name = match target.parse() {
                Ok(Target::Nfs(url)) => format!("NFSv{}", url.version),
                Ok(Target::File(_)) | Err(_) => "local".to_owned(),
            };
            let name = unlike(&name, targets.iter());
            targets.push(Column { target: target.clone(), name, environment: None });
        }
        let count = targets.len();
        Row {
            name: plan.name.clone(),
            targets,
            cells: (0..count).flat_map(|_| [Way::Write, Way::Read].map(Cell::new)).collect(),
            raw: Raw { tcp: vec![Vec::new(); count], ..Raw::default() },
        }
    }

    /// The cell of a target.
    pub(super) fn cell(&mut self, target: usize, way: Way) -> &mut Cell {
        &mut self.cells[2 * target + usize::from(way == Way::Read)]
    }

    /// The cell of a column, if the row has it.
    pub fn find(&self, column: &str, way: Way) -> Option<&Cell> {
        let target = self.targets.iter().position(|known| known.name == column)?;
        self.cells.get(2 * target + usize::from(way == Way::Read))
    }

    /// Keeps on and against what a target ran the first time. A directory turns out then to be
    /// a mounted one.
    pub(super) fn learn(&mut self, target: usize, environment: &Environment) {
        if self.targets[target].environment.is_some() {
            return;
        }
        let file_system = environment.file_system.as_deref().unwrap_or_default();
        if environment.server.is_none() && file_system.starts_with("nfs") {
            let others = self.targets.iter().enumerate().filter(|(other, _)| *other != target);
            let name = unlike(&format!("mounted {file_system}"), others.map(|(_, column)| column));
            self.targets[target].name = name;
        }
        self.targets[target].environment = Some(environment.clone());
    }

    fn conclude(&mut self) {
        let local = self.targets.iter().position(|column| column.name == "local");
        let local = local
            .map(|target| [Way::Write, Way::Read].map(|way| median(&self.cell(target, way).rates)));
        let file = [median(&self.raw.file_write), median(&self.raw.file_read)];
        for (number, cell) in self.cells.iter_mut().enumerate() {
            let way = usize::from(cell.way == Way::Read);
            cell.median = median(&cell.rates);
            cell.spread = spread(&cell.rates);
            let local = local.and_then(|local| local[way]).filter(|local| *local > 0.0);
            cell.to_local = cell.median.zip(local).map(|(rate, local)| rate / local);
            let link = self.raw.tcp.get(number / 2).and_then(|rates| median(rates));
            let busy = median(&cell.busy);
            cell.limit =
                cell.median.map_or(Limit::Unknown, |rate| limit(rate, link, file[way], busy));
        }
    }
}

/// A name that no other column has: two of a kind are told apart by number.
fn unlike<'a>(name: &str, others: impl Iterator<Item = &'a Column>) -> String {
    let numbered = |other: &&Column| {
        other.name == name
            || other.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(" ("))
    };
    match others.filter(numbered).count() {
        0 => name.to_owned(),
        alike => format!("{name} ({})", alike + 1),
    }
}

impl Cell {
    fn new(way: Way) -> Self {
        Cell {
            way,
            rates: Vec::new(),
            median: None,
            spread: None,
            to_local: None,
            client_cores: Vec::new(),
            busy: Vec::new(),
            limit: Limit::Unknown,
            error: None,
        }
    }

    /// Takes what a run measured. Answers the server's address, if there is one.
    pub(super) fn take(&mut self, run: &Run, busy: Option<f64>) -> Option<String> {
        for job in &run.jobs {
            let direction = match self.way {
                Way::Write => job.write.as_ref(),
                Way::Read => job.read.as_ref(),
            };
            match (&job.error, direction) {
                (Some(fault), _) => self.fail(&fault.message),
                // What a run did until it was stopped is no round.
                (None, Some(direction)) if run.interrupted.is_none() => {
                    self.rates.push(direction.bytes_per_sec());
                    self.busy.extend(busy);
                    let used = job.cpu.user_nanos + job.cpu.system_nanos;
                    let cores =
                        crate::units::float(used) / crate::units::float(job.elapsed_nanos.max(1));
                    self.client_cores.push(cores);
                }
                (None, _) => {}
            }
        }
        run.environment.server.as_ref().map(|server| server.address.clone())
    }

    /// Keeps the first thing that went wrong.
    pub(super) fn fail(&mut self, why: &str) {
        self.error.get_or_insert_with(|| why.to_owned());
    }
}

impl Raw {
    pub(super) fn add_file(&mut self, rates: Result<(f64, f64)>) {
        match rates {
            Ok((written, read)) => {
                self.file_write.push(written);
                self.file_read.push(read);
            }
            Err(error) => self.errors.push(format!("{error:#}")),
        }
    }

    pub(super) fn add_tcp(&mut self, target: usize, rate: Result<f64>) {
        match rate {
            Ok(rate) => self.tcp[target].push(rate),
            Err(error) => self.errors.push(format!("{error:#}")),
        }
    }
}
