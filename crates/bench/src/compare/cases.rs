//! What is measured.

use anyhow::Result;

use super::Comparison;
use crate::floor::Kind;
use crate::job::Job;

/// Names created and removed.
const NAMES: u32 = 20_000;
/// Files whose attributes are asked for.
const FILES: u32 = 1_000;
/// Names of the large directory.
const ENTRIES: u32 = 100_000;
/// Streams that read at once.
const STREAMS: u32 = 160;

/// A case: a job, and which floor bounds it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) job: Job,
    pub(super) floor: Option<Kind>,
    pub(super) place: Place,
    pub(super) unit: Unit,
    /// Nothing of the files is in the page cache when it begins.
    pub(super) cold: bool,
    /// What another client does meanwhile.
    pub(super) beside: Option<Job>,
}

/// Where the files lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Memory,
    Disk,
}

/// By what rate and cost are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unit {
    /// GiB a second; seconds of CPU time for each.
    Gib,
    /// Operations a second; µs of CPU time for each.
    Operation,
    /// Entries of directories a second; µs of CPU time for each.
    Entry,
}

type Options = &'static [(&'static str, &'static str)];

/// How a case differs from a job in memory that goes round until its time is over.
#[derive(Clone, Copy)]
struct Described {
    name: &'static str,
    floor: Option<Kind>,
    options: Options,
    place: Place,
    unit: Unit,
    /// Ends by itself, not by time.
    ends: bool,
    cold: bool,
    beside: Option<Options>,
}

impl Described {
    const fn new(name: &'static str, floor: Option<Kind>, options: Options) -> Self {
        Described {
            name,
            floor,
            options,
            place: Place::Memory,
            unit: Unit::Operation,
            ends: false,
            cold: false,
            beside: None,
        }
    }

    const fn bulk(self) -> Self {
        Described { unit: Unit::Gib, ..self }
    }

    const fn ending(self) -> Self {
        Described { ends: true, ..self }
    }

    const fn on_disk(self) -> Self {
        Described { place: Place::Disk, ..self }
    }

    const fn cold(self) -> Self {
        Described { cold: true, ..self }.on_disk().ending()
    }

    const fn listing(self) -> Self {
        Described { unit: Unit::Entry, ..self }
    }

    const fn beside(self, other: Options) -> Self {
        Described { beside: Some(other), ..self }
    }
}

const SMALL_READ: Options = &[("rw", "randread"), ("bs", "4k"), ("filename", "data")];
/// A client that takes all it can get: 16 connections, on each 64 calls.
const GREEDY: Options =
    &[("rw", "read"), ("bs", "1m"), ("filename", "data"), ("nconnect", "16"), ("iodepth", "1024")];

/// In names `NxM` is N connections with M calls under way on each.
const CASES: [Described; 15] = {
    const fn case(name: &'static str, floor: Kind, options: Options) -> Described {
        Described::new(name, Some(floor), options)
    }
    [
        case(
            "getattr 16x8",
            Kind::Echo,
            &[("rw", "getattr"), ("nconnect", "16"), ("iodepth", "128")],
        ),
        case("getattr 1x1", Kind::Echo, &[("rw", "getattr")]),
        case(
            "read 1m 1x8",
            Kind::Read,
            &[("rw", "read"), ("bs", "1m"), ("filename", "data"), ("iodepth", "8")],
        )
        .bulk(),
        case(
            "read 1m 4x8",
            Kind::Read,
            &[
                ("rw", "read"),
                ("bs", "1m"),
                ("filename", "data"),
                ("nconnect", "4"),
                ("iodepth", "32"),
            ],
        )
        .bulk(),
        case(
            "write 1m 1x8",
            Kind::Write,
            &[("rw", "write"), ("bs", "1m"), ("filename", "data"), ("iodepth", "8")],
        )
        .bulk(),
        case(
            "randread 4k 16x8",
            Kind::Pread4k,
            &[
                ("rw", "randread"),
                ("bs", "4k"),
                ("filename", "data"),
                ("nconnect", "16"),
                ("iodepth", "128"),
            ],
        ),
        case("create 4x4", Kind::Names, &[("rw", "create"), ("nconnect", "4"), ("iodepth", "16")])
            .ending(),
        case("remove 4x4", Kind::Names, &[("rw", "remove"), ("nconnect", "4"), ("iodepth", "16")])
            .ending(),
        Described::new("readdirplus 100k", None, &[("rw", "readdirplus")]).listing(),
        case(
            "read 1m cold 1x8",
            Kind::Read,
            &[("rw", "read"), ("bs", "1m"), ("filename", "data"), ("iodepth", "8")],
        )
        .bulk()
        .cold(),
        Described::new(
            "read 1m cold 160 files",
            None,
            &[("rw", "read"), ("bs", "1m"), ("numjobs", "160"), ("nconnect", "16")],
        )
        .bulk()
        .cold(),
        Described::new(
            "write 4k sync 200x1, one file",
            None,
            &[
                ("rw", "randwrite"),
                ("bs", "4k"),
                ("sync", "1"),
                ("filename", "synced"),
                ("nconnect", "200"),
                ("iodepth", "200"),
            ],
        )
        .on_disk(),
        Described::new(
            "write 4k sync 200x1, 200 files",
            None,
            &[
                ("rw", "randwrite"),
                ("bs", "4k"),
                ("sync", "1"),
                ("numjobs", "200"),
                ("nconnect", "200"),
            ],
        )
        .on_disk(),
        case("randread 4k 1x1", Kind::Pread4k, SMALL_READ),
        Described::new("randread 4k 1x1 beside 16x64", None, SMALL_READ).beside(GREEDY),
    ]
};

pub(super) fn all(comparison: &Comparison) -> Result<Vec<Case>> {
    CASES.into_iter().map(|described| case(comparison, described)).collect()
}

fn case(comparison: &Comparison, described: Described) -> Result<Case> {
    let Described { name, floor, options, place, unit, ends, cold, beside } = described;
    let word = options.first().map_or("", |(_, word)| word);
    let job = job(comparison, word, place, options, ends)?;
    let beside = beside.map(|options| {
        let mut beside = job_forever(comparison, options)?;
        "beside".clone_into(&mut beside.name);
        Ok::<_, anyhow::Error>(beside)
    });
    Ok(Case { name, job, floor, place, unit, cold, beside: beside.transpose()? })
}

fn job(
    comparison: &Comparison,
    word: &str,
    place: Place,
    options: Options,
    ends: bool,
) -> Result<Job> {
    let has = |key: &str| options.iter().any(|(given, _)| *given == key);
    let mut all: Vec<_> = options.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    all.push(("runtime", format!("{}ms", comparison.runtime.as_millis())));
    if !ends {
        // Otherwise the work might end too soon.
        all.push(("time_based", "1".to_owned()));
    }
    let bytes = match place {
        Place::Memory => comparison.size,
        Place::Disk => comparison.disk_size,
    };
    match word {
        "readdirplus" => all.push(("nrfiles", ENTRIES.to_string())),
        _ if !has("bs") => {
            all.push(("nrfiles", if ends { NAMES } else { FILES }.to_string()));
        }
        // Each of these has a file of its own.
        "randwrite" if has("numjobs") => all.push(("size", (1 << 20).to_string())),
        _ if has("numjobs") => {
            let each = (bytes / u64::from(STREAMS)).max(1 << 20) >> 20 << 20;
            all.push(("size", each.to_string()));
        }
        "randwrite" => all.push(("size", (16 << 20).to_string())),
        _ => all.push(("size", bytes.to_string())),
    }
    Job::with(word, all.iter().map(|(key, value)| (*key, value.as_str())))
}

/// A job that is ended by whoever has begun it.
fn job_forever(comparison: &Comparison, options: Options) -> Result<Job> {
    let longest = format!("{}ms", comparison.runtime.as_millis() * 4 + 60_000);
    let size = comparison.size.to_string();
    let more = [("size", size.as_str()), ("runtime", &longest), ("time_based", "1")];
    Job::with("beside", options.iter().copied().chain(more))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Args {
        #[command(flatten)]
        comparison: Comparison,
    }

    #[test]
    fn every_case_is_a_job_that_can_run() {
        let args = Args::try_parse_from(["compare"]).unwrap();
        let cases = all(&args.comparison).unwrap();
        for case in &cases {
            assert_eq!(case.unit == Unit::Gib, case.job.bs == 1 << 20, "{}", case.name);
            assert!(case.job.time_based || case.job.runtime.is_some(), "{}", case.name);
            assert!(!case.cold || case.place == Place::Disk, "{}", case.name);
        }
        let streams = cases.iter().find(|case| case.name.contains("160")).unwrap();
        assert_eq!(streams.job.numjobs, STREAMS);
        assert!(cases.iter().any(|case| case.beside.is_some()));
    }
}
