//! What is measured.

use anyhow::Result;

use super::Comparison;
use crate::floor::Kind;
use crate::job::Job;

/// Names created and removed.
const NAMES: u32 = 20_000;
/// Files whose attributes are asked for.
const FILES: u32 = 1_000;

/// A case: a job, and which floor bounds it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) job: Job,
    pub(super) floor: Kind,
}

/// Name, work, block, connections, operations at once on each, floor.
type Described = (&'static str, &'static str, Option<&'static str>, u32, u32, Kind);

const CASES: [Described; 7] = [
    ("getattr 16x8", "getattr", None, 16, 8, Kind::Echo),
    ("read 1m 1x8", "read", Some("1m"), 1, 8, Kind::Read),
    ("read 1m 4x8", "read", Some("1m"), 4, 8, Kind::Read),
    ("write 1m 1x8", "write", Some("1m"), 1, 8, Kind::Write),
    ("randread 4k 16x8", "randread", Some("4k"), 16, 8, Kind::Pread4k),
    ("create 4x4", "create", None, 4, 4, Kind::Names),
    ("remove 4x4", "remove", None, 4, 4, Kind::Names),
];

pub(super) fn all(comparison: &Comparison) -> Result<Vec<Case>> {
    CASES.into_iter().map(|described| case(comparison, described)).collect()
}

fn case(comparison: &Comparison, described: Described) -> Result<Case> {
    let (name, rw, bs, nconnect, iodepth, floor) = described;
    let ends = matches!(rw, "create" | "remove");
    let mut options = vec![
        ("rw", rw.to_owned()),
        ("nconnect", nconnect.to_string()),
        ("iodepth", (nconnect * iodepth).to_string()),
        ("runtime", format!("{}ms", comparison.runtime.as_millis())),
    ];
    if !ends {
        // Otherwise the names would be used up.
        options.push(("time_based", "1".to_owned()));
    }
    match bs {
        Some(bs) => options.extend([
            ("bs", bs.to_owned()),
            ("size", comparison.size.to_string()),
            ("filename", "data".to_owned()),
        ]),
        None => {
            options.push(("nrfiles", if ends { NAMES } else { FILES }.to_string()));
        }
    }
    let options = options.iter().map(|(key, value)| (*key, value.as_str()));
    Ok(Case { name, job: Job::with(rw, options)?, floor })
}
