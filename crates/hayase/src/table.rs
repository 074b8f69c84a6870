//! Tables for people: as wide as they have to be, and no wider than a page.

/// The widest line.
const WIDTH: usize = 100;
/// Between two columns.
const GAP: usize = 2;
/// A column that gives way keeps so much.
const LEAST: usize = 8;

/// Columns with a heading each, and rows.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// The column that gives way if the page is too narrow.
    elastic: usize,
}

impl Table {
    /// A table with these headings; the column of this number gives way.
    pub(crate) fn new(headings: &[&str], elastic: usize) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Table { rows: vec![headings], elastic }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows.iter().map(|row: &Vec<String>| row[column].chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(width).collect();
        let whole = widths.iter().sum::<usize>() + GAP * (columns - 1);
        let excess = whole.saturating_sub(WIDTH);
        let elastic = &mut widths[self.elastic];
        *elastic = elastic.saturating_sub(excess).max(LEAST.min(*elastic));
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| fit(cell, *width));
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// Text of this width: padded, or its end behind an ellipsis, which tells more of a path than
/// its beginning.
fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:width$}");
    }
    let end: String = text.chars().skip(length - width.saturating_sub(1)).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_long_paths_give_way() {
        let mut table = Table::new(&["id", "path", "kind"], 1);
        table.row(vec!["1".into(), "/short".into(), "open".into()]);
        assert_eq!(table.lines(), ["id  path    kind", "1   /short  open"]);
        table.row(vec!["22".into(), format!("/{}/end", "x".repeat(200)), "open".into()]);
        let lines = table.lines();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        assert!(lines[2].starts_with("22  …x") && lines[2].ends_with("/end  open"), "{lines:#?}");
    }
}
