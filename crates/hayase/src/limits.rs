//! `hayase limits`.

use anyhow::Result;
use hayase_server::admin::{Request, ask, is_running};
use hayase_server::view::{Bound, Unit, defaults};

use crate::cli::Target;
use crate::status::state_dir;
use crate::table::Table;

/// The bounds of a running server; without one, those that a server on this host would have.
pub(crate) fn limits(target: &Target) -> Result<()> {
    let state_dir = state_dir(target)?;
    let bounds: Vec<Bound> = if is_running(&state_dir) {
        serde_json::from_value(ask(&state_dir, &Request::Limits)?)?
    } else {
        eprintln!("no server runs with this --state-dir: these are the defaults of this host");
        defaults()
    };
    if target.json {
        println!("{}", serde_json::to_string_pretty(&bounds)?);
        return Ok(());
    }
    for line in table(&bounds).lines() {
        println!("{line}");
    }
    Ok(())
}

fn table(bounds: &[Bound]) -> Table {
    let mut table = Table::new(&["limit", "value", "used", "what it bounds"], 3);
    for bound in bounds {
        let used = bound.used.map_or_else(|| "-".to_owned(), |used| number(used, bound.unit));
        table.row(vec![
            bound.name.clone(),
            number(bound.value, bound.unit),
            used,
            bound.meaning.clone(),
        ]);
    }
    table
}

/// A number with its unit; bytes in the largest that is exact.
fn number(value: u64, unit: Unit) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match unit {
        Unit::Count => value.to_string(),
        Unit::Seconds => format!("{value} s"),
        Unit::Bytes => {
            let exact = |(_, bits): &&(&str, u32)| value > 0 && value.trailing_zeros() >= *bits;
            match UNITS.iter().find(exact) {
                Some((name, bits)) => format!("{} {name}", value >> bits),
                None => format!("{value} B"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_its_line_and_none_is_cut() {
        let bounds = defaults();
        let lines = table(&bounds).lines();
        assert_eq!(lines.len(), bounds.len() + 1);
        assert!(lines.iter().all(|line| line.chars().count() <= 100 && !line.contains('…')));
    }

    #[test]
    fn bytes_are_exact() {
        assert_eq!(number(1 << 20, Unit::Bytes), "1 MiB");
        assert_eq!(number((1 << 20) + (8 << 10), Unit::Bytes), "1032 KiB");
        assert_eq!(number(100, Unit::Bytes), "100 B");
        assert_eq!(number(0, Unit::Bytes), "0 B");
        assert_eq!(number(60, Unit::Seconds), "60 s");
    }
}
