//! What load to make, in fio's words.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Serialize;

use crate::units::{parse_block, parse_bytes, parse_duration, show_bytes};

/// What kind of calls is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
pub enum Work {
    /// READ, block after block.
    Read,
    /// WRITE (UNSTABLE), block after block; COMMIT at the end, not timed.
    Write,
    /// READ of blocks drawn by lot.
    RandRead,
    /// WRITE (UNSTABLE) of blocks drawn by lot.
    RandWrite,
    /// GETATTR of files, one after the other.
    GetAttr,
    /// CREATE of new names, in NFSv4 OPEN and CLOSE; they are removed afterwards, not timed.
    Create,
    /// REMOVE of names that are created before, not timed.
    Remove,
    /// READDIR of one directory from beginning to end, over and over.
    Readdir,
    /// READDIRPLUS likewise; in NFSv4 READDIR with attributes and handles.
    ReaddirPlus,
}

impl Work {
    /// Whether the calls carry file data.
    pub fn moves_data(self) -> bool {
        matches!(self, Work::Read | Work::Write | Work::RandRead | Work::RandWrite)
    }

    /// Whether the calls change file data.
    pub fn writes_data(self) -> bool {
        matches!(self, Work::Write | Work::RandWrite)
    }

    /// Whether blocks are drawn by lot.
    pub fn is_random(self) -> bool {
        matches!(self, Work::RandRead | Work::RandWrite)
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Work::Read => "read",
            Work::Write => "write",
            Work::RandRead => "randread",
            Work::RandWrite => "randwrite",
            Work::GetAttr => "getattr",
            Work::Create => "create",
            Work::Remove => "remove",
            Work::Readdir => "readdir",
            Work::ReaddirPlus => "readdirplus",
        }
    }
}

/// A job: what fio would read from a job file.
#[derive(Clone, Debug, clap::Args, Serialize)]
pub struct Job {
    /// Kind of work
    #[arg(long = "rw", alias = "readwrite", value_enum, default_value = "read")]
    #[serde(rename = "rw")]
    pub work: Work,

    /// Bytes of a READ or WRITE, or of a READDIR's answer [default: 4k; 64k for readdir]
    #[arg(long = "bs", alias = "blocksize", value_parser = parse_block)]
    pub bs: Option<u32>,

    /// Bytes of all files together that are read or written
    #[arg(long, value_parser = parse_bytes, default_value = "256m")]
    pub size: u64,

    /// Calls under way on each connection
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub iodepth: u16,

    /// Connections
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub nconnect: u16,

    /// How long to measure
    #[arg(long, value_parser = parse_duration, default_value = "5s")]
    #[serde(rename = "runtime_secs", serialize_with = "as_secs")]
    pub runtime: Duration,

    /// How long to run before measuring
    #[arg(long = "ramp-time", alias = "ramp_time", value_parser = parse_duration, default_value = "0")]
    #[serde(rename = "ramp_time_secs", serialize_with = "as_secs")]
    pub ramp_time: Duration,

    /// Files [default: 1 for data, 1000 for getattr, 10000 for remove and readdir; create: as
    /// many as runtime allows]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub nrfiles: Option<u32>,
}

fn as_secs<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl Job {
    /// Calls under way on all connections.
    pub fn depth(&self) -> u32 {
        u32::from(self.nconnect) * u32::from(self.iodepth)
    }

    /// Bytes of a call's data, or of a listing's answer.
    pub fn block_bytes(&self) -> u32 {
        self.bs.unwrap_or(if self.work.moves_data() { 4 << 10 } else { 64 << 10 })
    }

    /// Files to work on; `None` where there is no end to them.
    pub fn files(&self) -> Option<u32> {
        self.nrfiles.or(match self.work {
            Work::Read | Work::Write | Work::RandRead | Work::RandWrite => Some(1),
            Work::GetAttr => Some(1_000),
            Work::Remove | Work::Readdir | Work::ReaddirPlus => Some(10_000),
            Work::Create => None,
        })
    }

    /// Whole blocks in each file, at least one.
    pub fn blocks_per_file(&self) -> Result<u64> {
        let files = u64::from(self.files().unwrap_or(1));
        let blocks = self.size / files / u64::from(self.block_bytes());
        ensure!(
            blocks > 0,
            "a size of {} in {files} files is less than a block of {} each",
            show_bytes(self.size),
            show_bytes(self.block_bytes().into()),
        );
        Ok(blocks)
    }

    /// Bytes of each file.
    pub fn file_bytes(&self) -> Result<u64> {
        Ok(self.blocks_per_file()? * u64::from(self.block_bytes()))
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rw={}", self.work.name())?;
        if self.work.moves_data() {
            let (bs, size) = (show_bytes(self.block_bytes().into()), show_bytes(self.size));
            write!(f, ", bs={bs}, size={size}")?;
        }
        if let Some(files) = self.files() {
            write!(f, ", nrfiles={files}")?;
        }
        write!(f, ", nconnect={}, iodepth={}", self.nconnect, self.iodepth)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        job: Job,
    }

    fn job(words: &str) -> Result<Job, clap::Error> {
        let words = ["load"].into_iter().chain(words.split_whitespace());
        Line::try_parse_from(words).map(|line| line.job)
    }

    #[test]
    fn a_job_is_read_in_fios_words() {
        let job = job("--rw=randread --bs=4k --size 1g --iodepth=8 --nconnect=16 --runtime=2s \
             --ramp-time=500ms --nrfiles=4")
        .unwrap();
        assert_eq!(job.work, Work::RandRead);
        assert_eq!((job.block_bytes(), job.size, job.iodepth), (4096, 1 << 30, 8));
        assert_eq!((job.nconnect, job.files()), (16, Some(4)));
        assert_eq!(job.blocks_per_file().unwrap(), (1 << 30) / 4 / 4096);
        assert_eq!(
            (job.runtime, job.ramp_time),
            (Duration::from_secs(2), Duration::from_millis(500))
        );
        let shown = "rw=randread, bs=4KiB, size=1GiB, nrfiles=4, nconnect=16, iodepth=8";
        assert_eq!(job.to_string(), shown);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in ["--rw=trim", "--bs=0", "--iodepth=0", "--iodepth=5000", "--nconnect=0"] {
            assert!(job(words).is_err(), "{words}");
        }
        assert!(job("--bs=1m --size=512k").unwrap().blocks_per_file().is_err());
    }
}
