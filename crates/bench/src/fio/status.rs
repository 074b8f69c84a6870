//! The one line of a run that is on its way.

use super::number::{binary, short};
use crate::engine::Progress;

/// As fio shows it: `[ 42%][r=45.4MiB/s,w=0B/s][r=11.6k,w=0 IOPS][eta 5s]`.
pub fn status(progress: &Progress) -> String {
    let [(read, reads), (write, writes), (_, metas)] = progress.rates;
    let group = match progress.groups {
        0 | 1 => String::new(),
        groups => format!("[{}/{groups}]", progress.group + 1),
    };
    let far = match progress.share {
        Some(_) if progress.ramping => "[ramp]".to_owned(),
        Some(share) => format!("[{:5.1}%]", share * 100.0),
        None => format!("[{} s]", progress.elapsed.as_secs()),
    };
    let rates = if metas > 0.0 {
        format!("[{}/s]", short(metas, 4))
    } else {
        let (read, write) = (binary(read), binary(write));
        let (reads, writes) = (short(reads, 4), short(writes, 4));
        format!("[r={read}/s,w={write}/s][r={reads},w={writes} IOPS]")
    };
    let eta = progress.remaining.map(|remaining| remaining.as_secs_f64().ceil());
    let eta = eta.map_or_else(String::new, |seconds| format!("[eta {seconds}s]"));
    format!("{group}{far}{rates}{eta}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_says_how_far_how_fast_and_how_long() {
        let progress = Progress {
            moved: [(0, 0); 3],
            group: 0,
            groups: 2,
            elapsed: Duration::from_secs(4),
            ramping: false,
            share: Some(0.42),
            remaining: Some(Duration::from_millis(5500)),
            rates: [(47_605_350.0, 11_633.0), (0.0, 0.0), (0.0, 0.0)],
        };
        let line = status(&progress);
        assert_eq!(line, "[1/2][ 42.0%][r=45.4MiB/s,w=0B/s][r=11.6k,w=0 IOPS][eta 6s]");
        let names = Progress { rates: [(0.0, 0.0), (0.0, 0.0), (1500.0, 1500.0)], ..progress };
        let line = status(&Progress { share: None, remaining: None, groups: 1, ..names });
        assert_eq!(line, "[4 s][1500/s]");
    }
}
