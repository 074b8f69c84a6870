//! What held a figure back.

use serde::{Deserialize, Serialize};

/// From this part of a raw stream on, the stream is the limit.
const NEAR: f64 = 0.9;
/// From this share of busy cores on, the CPU is.
const BUSY: f64 = 0.9;

/// What held a figure back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The network: it is as fast as a raw TCP stream of the same run.
    Link,
    /// The disk, or the cache before it: it is as fast as a raw file stream of the same run.
    File,
    /// This machine's cores: all of them were busy.
    Cpu,
    /// None of these: more at once (`iodepth`, `nconnect`) may bring more.
    Waiting,
    /// What it could be compared with was not measured.
    Unknown,
}

impl Limit {
    /// A word for a table.
    pub fn word(self) -> &'static str {
        match self {
            Limit::Link => "network",
            Limit::File => "disk or cache",
            Limit::Cpu => "CPU",
            Limit::Waiting => "waiting",
            Limit::Unknown => "unknown",
        }
    }
}

/// What held `rate` back, given the raw streams, as far as they are known, and the share of busy cores.
pub(super) fn limit(rate: f64, link: Option<f64>, file: Option<f64>, busy: Option<f64>) -> Limit {
    let near = |raw: Option<f64>| raw.is_some_and(|raw| rate >= NEAR * raw);
    // The narrower of two that are both reached is the one that holds.
    match (near(link), near(file)) {
        (true, true) if file < link => Limit::File,
        (true, _) => Limit::Link,
        (_, true) => Limit::File,
        _ if busy.is_some_and(|busy| busy >= BUSY) => Limit::Cpu,
        _ if link.is_none() && file.is_none() => Limit::Unknown,
        _ => Limit::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_is_named() {
        let idle = Some(0.2);
        for (rate, link, file, busy, expected) in [
            (95.0, Some(100.0), Some(500.0), idle, Limit::Link),
            (95.0, Some(500.0), Some(100.0), idle, Limit::File),
            (98.0, Some(105.0), Some(100.0), idle, Limit::File),
            (50.0, Some(500.0), Some(100.0), Some(0.97), Limit::Cpu),
            (50.0, Some(500.0), Some(100.0), idle, Limit::Waiting),
            (50.0, None, Some(100.0), None, Limit::Waiting),
            (50.0, None, None, idle, Limit::Unknown),
        ] {
            assert_eq!(limit(rate, link, file, busy), expected, "{rate} {link:?} {file:?}");
        }
    }
}
