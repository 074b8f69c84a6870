//! Tables for people: as wide as they have to be, and no wider than a page. What is shortened is
//! whole with `--json`.

/// The widest line.
const WIDTH: usize = 100;
/// Between two columns.
const GAP: usize = 2;
/// A column that gives way keeps so much.
const LEAST: usize = 8;
/// The names of fields.
const FIELD: usize = 13;

/// Columns with a heading each, and rows.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// The column that gives way first if the page is too narrow.
    elastic: usize,
}

impl Table {
    /// A table with these headings; the column of this number gives way first.
    pub(crate) fn new(headings: &[&str], elastic: usize) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Table { rows: vec![headings], elastic }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// The lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                let cell = fit(cell, *width);
                format!("{cell:width$}")
            });
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// The widths of the columns: as the longest cell, unless the page is too narrow for all. Then
    /// one gives way, and if that is not enough, whichever is widest.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows.iter().map(|row: &Vec<String>| row[column].chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(width).collect();
        let excess = |widths: &[usize]| {
            (widths.iter().sum::<usize>() + GAP * (columns - 1)).saturating_sub(WIDTH)
        };
        let narrower = widths[self.elastic].saturating_sub(excess(&widths));
        widths[self.elastic] = narrower.max(LEAST.min(widths[self.elastic]));
        while excess(&widths) > 0 {
            let Some(widest) = widths.iter_mut().max() else { break };
            if *widest <= LEAST {
                break; // more columns than a page has room for
            }
            *widest -= 1;
        }
        widths
    }
}

/// The lines of a field: its name, and behind it the value, broken between words where the page
/// ends.
pub(crate) fn field(name: &str, value: &str) -> Vec<String> {
    let room = WIDTH - FIELD;
    let mut lines = vec![String::new()];
    for word in printable(value).split(' ') {
        let word = fit(word, room);
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            *line = word;
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(lines).map(|(name, line)| format!("{name:FIELD$}{line}")).collect()
}

/// What is no character of text, such as the line feed in a file's name, is escaped.
fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            clean.extend(char.escape_default());
        } else {
            clean.push(char);
        }
    }
    clean
}

/// Text of this width at most: its beginning and its end, around an ellipsis. The end of a path, and
/// of a host's name, tells more, so it gets more; names in a path stay whole where they can.
fn fit(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let mut head = kept / 3;
    let mut tail = chars.len() - (kept - head);
    if let Some(slash) = chars[..head].iter().rposition(|char| *char == '/') {
        tail -= head - (slash + 1);
        head = slash + 1;
    }
    let most = tail + (chars.len() - tail) / 2;
    if let Some(slash) = chars[tail..most].iter().position(|char| *char == '/') {
        tail += slash;
    }
    let (head, tail): (String, String) =
        (chars[..head].iter().collect(), chars[tail..].iter().collect());
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(lines: &[String]) {
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
    }

    #[test]
    fn columns_are_aligned_and_long_paths_give_way() {
        let mut table = Table::new(&["id", "path", "kind"], 1);
        table.row(vec!["1".into(), "/short".into(), "open".into()]);
        assert_eq!(table.lines(), ["id  path    kind", "1   /short  open"]);
        table.row(vec!["22".into(), format!("/{}/end", "x".repeat(200)), "open".into()]);
        let lines = table.lines();
        fits(&lines);
        assert!(lines[2].starts_with("22  /…") && lines[2].contains("/end"), "{lines:#?}");
        assert!(lines[2].ends_with("  open"), "{lines:#?}");
    }

    #[test]
    fn the_middle_of_a_path_is_left_out_between_names() {
        let path = "/srv/export/departments/research/2026/measurements/november/run-17.csv";
        assert_eq!(fit(path, 40), "/srv/export/…/november/run-17.csv");
        assert_eq!(fit(path, 12), "/…run-17.csv");
        assert_eq!(fit(path, path.len()), path);
        assert_eq!(fit("Linux NFSv4.2 client.example.org", 20), "Linux …t.example.org");
        for width in 1..path.len() {
            assert!(fit(path, width).chars().count() <= width, "{width}");
        }
    }

    #[test]
    fn one_long_cell_after_another_gives_way() {
        let address = "[2001:0db8:85a3:0000:0000:8a2e:0370:7334%enp0s31f6]:49152";
        let mut table = Table::new(&["client", "kind", "file"], 2);
        table.row(vec![address.repeat(2), "write".into(), "/x".repeat(100)]);
        let lines = table.lines();
        fits(&lines);
        assert!(lines[1].starts_with('[') && lines[1].contains("  write  "), "{lines:#?}");
    }

    #[test]
    fn a_file_name_cannot_break_the_table() {
        let mut table = Table::new(&["file"], 0);
        table.row(vec!["a\nb\u{1b}[2J".into()]);
        assert_eq!(table.lines()[1], "a\\nb\\u{1b}[2J");
    }

    #[test]
    fn fields_go_on_below_themselves() {
        let addresses = ["[2001:db8:85a3::8a2e:370:7334]:2049"; 5].join(", ");
        let lines = field("listens to", &addresses);
        fits(&lines);
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("listens to   [2001"), "{lines:#?}");
        assert!(lines[1].starts_with("             [2001"), "{lines:#?}");
        fits(&field("export", &format!("/{} to *", "d/".repeat(300))));
        assert_eq!(field("version", "0.1.0"), ["version      0.1.0"]);
    }
}
