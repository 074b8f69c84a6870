//! Results in Markdown.

use std::fmt;

use super::cases::Unit;
use super::memory::IDLE;
use super::results::{Results, Row};

/// Results as tables, with earlier ones to compare with.
pub(super) struct Table<'a> {
    pub(super) results: &'a Results,
    pub(super) before: Option<&'a Results>,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "| case | server | rate | p50 / p99 / p99.9 µs | server CPU (spread) | × floor | server \
             cores | client CPU | peak RSS MiB |"
        )?;
        writeln!(f, "{}", if self.before.is_some() { " rate, CPU × before |" } else { "" })?;
        let columns = if self.before.is_some() { 10 } else { 9 };
        writeln!(f, "|{}", "---|".repeat(columns))?;
        for row in &self.results.rows {
            self.fmt_row(f, row)?;
        }
        self.fmt_memory(f)
    }
}

impl Table<'_> {
    fn fmt_row(&self, f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
        let (unit, digits) = match row.unit {
            Unit::Gib => ("s/GiB", 3),
            Unit::Operation | Unit::Entry => ("µs", 2),
        };
        write!(f, "| {} ", row.case)?;
        if let Some(beside) = row.beside {
            write!(f, "({beside:.2} GiB/s) ")?;
        }
        write!(f, "| {} ", row.server)?;
        match row.unit {
            Unit::Gib => write!(f, "| {:.2} GiB/s ", row.rate)?,
            Unit::Operation => write!(f, "| {:.0}/s ", row.rate)?,
            Unit::Entry => write!(f, "| {:.0} entries/s ", row.rate)?,
        }
        let (p50, p99, p999) = (row.p50_micros, row.p99_micros, row.p999_micros);
        write!(f, "| {p50:.0} / {p99:.0} / {p999:.0} ")?;
        let (cpu, spread) = (row.server_cpu, row.server_cpu_spread * 100.0);
        write!(f, "| {cpu:.digits$} {unit} ({spread:.0} %) ")?;
        match self.results.floor(row) {
            Some(floor) => write!(f, "| {:.2} ", cpu / floor.server_cpu)?,
            None => write!(f, "| – ")?,
        }
        let (cores, client, peak) = (row.server_cores, row.client_cpu, row.peak_kib >> 10);
        write!(f, "| {cores:.2} | {client:.digits$} {unit} | {peak} |")?;
        match self.before.map(|before| before.row(&row.case, &row.server)) {
            Some(Some(old)) if old.rate > 0.0 && old.server_cpu > 0.0 => {
                writeln!(f, " {:.2}, {:.2} |", row.rate / old.rate, cpu / old.server_cpu)
            }
            Some(_) => writeln!(f, " – |"),
            None => writeln!(f),
        }
    }

    fn fmt_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.results.memory.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n| server | RSS MiB after start | with {IDLE} idle connections | most in any case | \
             after all |"
        )?;
        writeln!(f, "|---|---|---|---|---|")?;
        for memory in &self.results.memory {
            let mib = |kib: u64| kib.div_ceil(1 << 10);
            writeln!(
                f,
                "| {} | {} | {} | {} | {} |",
                memory.server,
                mib(memory.started_kib),
                mib(memory.idle_kib),
                mib(memory.peak_kib),
                mib(memory.end_kib)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(server: &str, rate: f64, cpu: f64) -> Row {
        Row {
            case: "getattr".to_owned(),
            server: server.to_owned(),
            unit: Unit::Operation,
            rounds: 3,
            rate,
            p50_micros: 1.0,
            p99_micros: 2.0,
            p999_micros: 3.0,
            server_cpu: cpu,
            server_cpu_spread: 0.1,
            server_cores: 1.0,
            client_cpu: 1.0,
            peak_kib: 2048,
            beside: None,
        }
    }

    #[test]
    fn rows_stand_beside_their_floor_and_their_past() {
        let results = Results {
            rows: vec![row("hayase v3", 1000.0, 3.0), row("floor", 3000.0, 1.5)],
            ..Results::default()
        };
        let before = Results { rows: vec![row("hayase v3", 500.0, 6.0)], ..Results::default() };
        // Kept and read again.
        let before = serde_json::to_string(&before).unwrap();
        let before: Results = serde_json::from_str(&before).unwrap();
        let text = Table { results: &results, before: Some(&before) }.to_string();
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| getattr | hayase v3 | 1000/s | 1 / 2 / 3 | 3.00 µs (10 %) | 2.00 | 1.00 | 1.00 \
                 µs | 2 | 2.00, 0.50 |",
                "| getattr | floor | 3000/s | 1 / 2 / 3 | 1.50 µs (10 %) | 1.00 | 1.00 | 1.00 µs | 2 \
                 | – |",
            ]
        );
    }
}
