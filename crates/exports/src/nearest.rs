//! "Did you mean": the known word nearest to a misspelt one.

/// The candidate nearest to `word`, if one is near enough to be what was meant.
///
/// ```
/// assert_eq!(hayase_exports::nearest("tread", ["threads", "port"]), Some("threads"));
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().replace('-', "_").chars().collect();
    let far_enough = match word.len() {
        1..=3 => 1,
        4..=8 => 2,
        9..=32 => 3,
        // Nothing, or nothing that a slip of the finger explains.
        _ => return None,
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.chars().collect::<Vec<_>>()), candidate))
        .filter(|(distance, _)| *distance <= far_enough)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, dropped, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = last[j] + usize::from(a[i] != b[j]);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let known = ["ro", "rw", "root_squash", "no_root_squash", "async", "sync", "crossmnt"];
        for (typed, meant) in [
            ("no_rootsquash", Some("no_root_squash")),
            ("no-root-squash", Some("no_root_squash")),
            ("RW", Some("rw")),
            ("asnyc", Some("async")),
            ("crosmount", Some("crossmnt")),
            ("quota", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
