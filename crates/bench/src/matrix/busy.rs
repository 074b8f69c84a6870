//! How busy this machine is: everything on it, not only this process, since a server on the same machine takes its
//! part, too.

use std::fs;

/// The ticks of all cores up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy {
    ticks: Option<(u64, u64)>,
}

impl Busy {
    /// Up to now; what the system does not tell is not known.
    pub(super) fn now() -> Self {
        Busy { ticks: fs::read_to_string("/proc/stat").ok().and_then(|text| read(&text)) }
    }

    /// The share of all cores that was busy since then, from 0 to 1.
    pub(super) fn since(&self, before: &Busy) -> Option<f64> {
        let ((busy, all), (busy_then, all_then)) = (self.ticks?, before.ticks?);
        let all = all.checked_sub(all_then).filter(|ticks| *ticks > 0)?;
        Some(crate::units::float(busy.saturating_sub(busy_then)) / crate::units::float(all))
    }
}

/// Busy and all ticks of proc(5)'s `cpu` line. Idle are its fourth field and its fifth, waiting for
/// disks; the guests' are in those of user already.
fn read(text: &str) -> Option<(u64, u64)> {
    let fields = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    let all: u64 = fields.iter().sum();
    Some((all - fields.get(3)? - fields.get(4)?, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_are_not_busy() {
        let before = Busy { ticks: read("cpu  10 0 10 100 0 0 0 0 7 0\ncpu0 1 2\n") };
        let after = Busy { ticks: read("cpu  40 0 40 120 15 0 0 5 9 0\n") };
        assert!((after.since(&before).unwrap() - 0.65).abs() < 1e-9);
        assert_eq!(before.since(&before), None);
        assert_eq!(read("intr 5"), None);
        assert!(Busy::now().ticks.is_some());
    }
}
