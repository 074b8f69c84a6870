//! What is measured.

use super::Comparison;
use crate::floor::Kind;
use crate::load::job::{Job, Work};

/// Names created and removed.
const NAMES: u32 = 20_000;

/// A case: a job, and which floor bounds it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) job: Job,
    pub(super) floor: Kind,
}

pub(super) fn all(comparison: &Comparison) -> Vec<Case> {
    let case = |name, work, nconnect, iodepth, floor| {
        let bs = match work {
            Work::RandRead => Some(4 << 10),
            work if work.moves_data() => Some(1 << 20),
            _ => None,
        };
        let names = matches!(work, Work::Create | Work::Remove);
        let job = Job {
            work,
            bs,
            size: comparison.size,
            iodepth,
            nconnect,
            runtime: comparison.runtime,
            // The names would be used up.
            ramp_time: if names { std::time::Duration::ZERO } else { comparison.ramp_time },
            nrfiles: names.then_some(NAMES),
        };
        Case { name, job, floor }
    };
    vec![
        case("getattr 16x8", Work::GetAttr, 16, 8, Kind::Echo),
        case("read 1m 1x8", Work::Read, 1, 8, Kind::Read),
        case("read 1m 4x8", Work::Read, 4, 8, Kind::Read),
        case("write 1m 1x8", Work::Write, 1, 8, Kind::Write),
        case("randread 4k 16x8", Work::RandRead, 16, 8, Kind::Pread4k),
        case("create 4x4", Work::Create, 4, 4, Kind::Names),
        case("remove 4x4", Work::Remove, 4, 4, Kind::Names),
    ]
}
