//! What load to make, in fio's words.

mod args;
mod file;
mod keys;
mod work;

use std::time::Duration;

use anyhow::{Result, bail, ensure};

pub use args::JobArgs;
pub use file::{JobFile, parse};
pub use keys::{Note, check_value};
pub use work::{Flow, Meta, Work};

use crate::units::show_bytes;

/// A block is not larger than this.
const BLOCK_MAX: u32 = 64 << 20;
/// Names in a directory, unless `files_per_dir` says otherwise.
const NAMES: u32 = 1000;
/// Operations under way at once, of a job and all its likes together.
const DEPTH_MAX: u64 = 65_536;

/// A job: what fio would read from a section of a job file.
#[allow(clippy::struct_excessive_bools, reason = "fio has as many")]
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name, of which the names of its files are made.
    pub name: String,
    /// Jobs of one group run at the same time.
    pub group: u32,
    /// The options as given, in fio's words.
    pub given: Vec<(String, String)>,
    /// `rw`.
    pub work: Work,
    /// Of 100 operations of mixed work, so many read; `rwmixread`.
    pub rwmixread: u8,
    /// Bytes of a block.
    pub bs: u32,
    /// Bytes of all files of one of `numjobs` together. With `size_percent` it is not known before the
    /// files are looked at.
    pub size: u64,
    /// How much of files that are there is moved, in percent.
    pub size_percent: Option<u8>,
    /// Files, or names, of one of `numjobs`.
    pub nrfiles: u32,
    /// Operations under way at once, for each of `numjobs`.
    pub iodepth: u32,
    /// How many run like this at the same time, each with files of its own.
    pub numjobs: u32,
    /// Connections of an `nfs://` target, for all of `numjobs` and other jobs that want as many.
    pub nconnect: u32,
    /// The longest time to run; `None` runs to the end of the work.
    pub runtime: Option<Duration>,
    /// Whether to begin again at the end of the work, until `runtime` is over.
    pub time_based: bool,
    /// How long to run before anything is counted.
    pub ramp_time: Duration,
    /// Whether the page cache of a `file://` target is passed by.
    pub direct: bool,
    /// Whether each WRITE has to be stable when it is answered (`O_SYNC`, `FILE_SYNC`).
    pub sync: bool,
    /// A sync after so many writes; 0 for none.
    pub fsync: u32,
    /// Whether a sync at the end belongs to what is measured.
    pub end_fsync: bool,
    /// Whether blocks carry checksums (`verify=crc32c`), which are checked when they are read.
    pub verify: bool,
    /// Whether what was written is read and checked in the end.
    pub do_verify: bool,
    /// Bytes and operations a second at which to work whatever the answers; reads and writes.
    pub read_rate: Rate,
    /// The same of writes.
    pub write_rate: Rate,
    /// How long to pause after each answer.
    pub thinktime: Duration,
    /// The file, or files with `:` between them; relative to the target.
    pub filename: Option<String>,
    /// Where the files lie; relative to the target.
    pub directory: Option<String>,
    /// How files are named that have no `filename`, with [`FORMAT_WORDS`] to be filled in.
    pub filename_format: String,
    /// Whether data files are removed in the end.
    pub unlink: bool,
    /// Whether a `file://` target's page cache forgets the files first.
    pub invalidate: bool,
    /// Whether each pass over random blocks touches every block once.
    pub randommap: bool,
    /// Names in a directory.
    pub files_per_dir: u32,
    /// Directories above those of the names.
    pub depth: u32,
    /// Makes the same lots when it is the same.
    pub seed: u64,
    stonewall: bool,
    size_given: Option<Size>,
    filesize: Option<u64>,
    nrfiles_given: Option<u32>,
    files_per_dir_given: Option<u32>,
}

/// What is filled in in a file's name: the job's name, which of `numjobs` it is, which of its files.
pub const FORMAT_WORDS: [&str; 3] = ["$jobname", "$jobnum", "$filenum"];

/// A size as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Bytes(u64),
    /// Of the files that are there.
    Percent(u8),
}

/// How fast to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second.
    pub bytes: Option<u64>,
    /// Operations a second.
    pub ops: Option<u64>,
}

impl Rate {
    /// From one start to the next; `None` works as fast as answers come.
    pub fn interval(self, block_bytes: u32) -> Option<Duration> {
        let second = |of: u64, per: u64| Duration::from_nanos(of * 1_000_000_000 / per.max(1));
        let by_bytes = self.bytes.map(|bytes| second(u64::from(block_bytes), bytes));
        by_bytes.max(self.ops.map(|ops| second(1, ops)))
    }
}

impl Job {
    /// A job as fio has it when nothing is said, but with a size, so that it can run.
    pub fn new(name: &str) -> Self {
        Job {
            name: name.to_owned(),
            group: 0,
            given: Vec::new(),
            work: Work::Data { flow: Flow::Read, random: false },
            rwmixread: 50,
            bs: 4 << 10,
            size: 256 << 20,
            size_percent: None,
            nrfiles: 1,
            iodepth: 1,
            numjobs: 1,
            nconnect: 1,
            runtime: None,
            time_based: false,
            ramp_time: Duration::ZERO,
            direct: false,
            sync: false,
            fsync: 0,
            end_fsync: false,
            verify: false,
            do_verify: true,
            read_rate: Rate::default(),
            write_rate: Rate::default(),
            thinktime: Duration::ZERO,
            filename: None,
            directory: None,
            filename_format: FORMAT_WORDS.join("."),
            unlink: false,
            invalidate: true,
            randommap: true,
            files_per_dir: NAMES,
            depth: 0,
            seed: 0,
            stonewall: false,
            size_given: None,
            filesize: None,
            nrfiles_given: None,
            files_per_dir_given: None,
        }
    }

    /// A job with these options, each a key and a value in fio's words.
    pub fn with<'a>(
        name: &str,
        options: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let mut job = Job::new(name);
        for (key, value) in options {
            job.set(key, value).map_err(|wrong| anyhow::anyhow!("{key}={value}: {wrong}"))?;
        }
        job.settle()?;
        Ok(job)
    }

    /// Sets an option in fio's words. What it says back is that the option has no effect here, and why.
    pub fn set(&mut self, key: &str, value: &str) -> Result<Option<Note>, String> {
        keys::set_option(self, key, value)
    }

    /// Fills in what was not said, and refuses what does not go together. To be called once, after all
    /// options.
    pub fn settle(&mut self) -> Result<()> {
        let name = &self.name.clone();
        ensure!(
            !name.is_empty() && !name.contains('/'),
            "{name:?} is no name for a job: files are named after it"
        );
        let data = self.work.flow().is_some();
        if let Some(filename) = &self.filename {
            ensure!(
                data,
                "job {name}: rw={} makes its own names below directory=, and takes no filename=",
                self.work
            );
            let files = filename.split(':').count() as u32;
            ensure!(
                self.nrfiles_given.is_none_or(|given| given == files),
                "job {name}: filename= names {files}, nrfiles= says otherwise"
            );
            self.nrfiles = files;
        } else {
            self.nrfiles = self.nrfiles_given.unwrap_or(if data { 1 } else { NAMES });
        }
        self.files_per_dir = self.files_per_dir_given.unwrap_or(self.nrfiles).min(self.nrfiles);
        ensure!(
            !self.time_based || self.runtime.is_some(),
            "job {name}: time_based has no end without runtime="
        );
        if let Work::Meta(meta) = self.work {
            ensure!(!self.verify, "job {name}: verify is for data, and rw={} has none", self.work);
            ensure!(
                !self.time_based || !meta.ends(),
                "job {name}: rw={} ends when nothing is left, so it cannot be time_based",
                self.work
            );
        } else {
            self.settle_data()?;
        }
        let depth = u64::from(self.iodepth) * u64::from(self.numjobs);
        ensure!(
            depth <= DEPTH_MAX,
            "job {name}: iodepth={} times numjobs={} is more than {DEPTH_MAX} operations at once",
            self.iodepth,
            self.numjobs
        );
        Ok(())
    }

    fn settle_data(&mut self) -> Result<()> {
        let name = &self.name;
        let (block, files) = (u64::from(self.bs), u64::from(self.nrfiles));
        let of_files = self.filesize.map(|bytes| bytes.saturating_mul(files));
        self.size_percent = None;
        self.size = match (self.size_given, of_files) {
            (Some(Size::Percent(percent)), None) => {
                self.size_percent = Some(percent);
                block * files
            }
            (Some(Size::Percent(_)), Some(_)) => {
                bail!(
                    "job {name}: size= in percent is of files as long as they are; leave filesize= out"
                )
            }
            (Some(Size::Bytes(size)), of_files) => {
                ensure!(
                    of_files.is_none_or(|bytes| bytes == size),
                    "job {name}: filesize= times nrfiles={files} is not size={}; leave one of them out",
                    show_bytes(size)
                );
                size
            }
            (None, Some(bytes)) => bytes,
            // Ours to choose: it fits.
            (None, None) => (self.size / (block * files)).max(1) * block * files,
        };
        let size = self.size;
        ensure!(
            size.is_multiple_of(files) && (size / files).is_multiple_of(block) && size > 0,
            "job {name}: size={} in nrfiles={files} does not make whole blocks of bs={}; {} does",
            show_bytes(size),
            show_bytes(block),
            show_bytes((size / (block * files)).max(1) * block * files)
        );
        ensure!(
            !self.direct || self.bs.is_multiple_of(512),
            "job {name}: direct=1 needs blocks of whole sectors, and bs={} is not a multiple of 512",
            self.bs
        );
        if self.verify {
            ensure!(
                self.bs as usize >= crate::engine::VERIFY_HEADER,
                "job {name}: verify needs blocks of at least {} bytes",
                crate::engine::VERIFY_HEADER
            );
            ensure!(
                self.randommap || !self.work.writes(),
                "job {name}: verify has to know what was written where, and norandommap forgets"
            );
        }
        Ok(())
    }

    /// The same job, with a size in percent being of files of which the shortest is so long: in whole
    /// blocks. `None` if that is not even one.
    pub fn sized(&self, shortest: u64) -> Option<Self> {
        let Some(percent) = self.size_percent else { return Some(self.clone()) };
        let part = u128::from(shortest) * u128::from(percent) / 100;
        // A server may tell of any length.
        let part = part as u64;
        let blocks = part.min(u64::MAX / u64::from(self.nrfiles)) / u64::from(self.bs);
        let size = blocks * u64::from(self.bs) * u64::from(self.nrfiles);
        (blocks > 0).then(|| Job { size, ..self.clone() })
    }

    /// The name of one of the files of one of `numjobs`, if it has no `filename`.
    pub fn file_name(&self, number: u32, file: u32) -> String {
        let values = [self.name.clone(), number.to_string(), file.to_string()];
        // The name comes last: it may look like another word.
        let words = FORMAT_WORDS.into_iter().zip(values).rev();
        words.fold(self.filename_format.clone(), |name, (word, value)| name.replace(word, &value))
    }

    /// Bytes of each file.
    pub fn file_bytes(&self) -> u64 {
        self.size / u64::from(self.nrfiles)
    }

    /// Blocks of one of `numjobs`.
    pub fn blocks(&self) -> u64 {
        self.size / u64::from(self.bs)
    }

    /// Directories that hold the names of one of `numjobs`.
    pub fn leaves(&self) -> u32 {
        self.nrfiles.div_ceil(self.files_per_dir.max(1))
    }
}

/// Gives jobs their groups: one that says `stonewall` begins the next one.
pub fn group(jobs: &mut [Job]) {
    let mut group = 0;
    for (number, job) in jobs.iter_mut().enumerate() {
        if job.stonewall && number > 0 {
            group += 1;
        }
        job.group = group;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_said_is_fios_default() {
        let job = Job::with("a", []).unwrap();
        assert_eq!((job.bs, job.iodepth, job.numjobs, job.blocks()), (4096, 1, 1, 65_536));
        let job = Job::with("a", [("bs", "3000"), ("nrfiles", "7")]).unwrap();
        assert!(job.size.is_multiple_of(21_000) && job.size > 250 << 20);
        let job = Job::with("a", [("rw", "create")]).unwrap();
        assert_eq!((job.nrfiles, job.leaves()), (1000, 1));
        let job = Job::with("a", [("rw", "stat"), ("nrfiles", "25"), ("files_per_dir", "10")]);
        assert_eq!(job.unwrap().leaves(), 3);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (options, word) in [
            (&[("size", "10000")][..], "8KiB does"),
            (&[("size", "1m"), ("nrfiles", "3")][..], "whole blocks"),
            (&[("time_based", "1")][..], "runtime"),
            (&[("rw", "remove"), ("runtime", "1"), ("time_based", "1")][..], "nothing is left"),
            (&[("rw", "create"), ("verify", "crc32c")][..], "verify"),
            (&[("bs", "1000"), ("direct", "1")][..], "sectors"),
            (&[("bs", "8"), ("verify", "crc32c")][..], "bytes"),
            (&[("iodepth", "1024"), ("numjobs", "1024")][..], "at once"),
            (&[("rw", "create"), ("filename", "x")][..], "names"),
            (&[("filename", "x:y"), ("nrfiles", "3")][..], "nrfiles"),
            (&[("filesize", "1m"), ("size", "3m"), ("nrfiles", "2")][..], "leave one"),
            (&[("filesize", "1m"), ("size", "50%")][..], "leave filesize= out"),
        ] {
            let error = Job::with("a", options.iter().copied()).unwrap_err().to_string();
            assert!(error.contains(word), "{options:?}: {error}");
        }
    }

    #[test]
    fn sizes_may_be_of_each_file_or_of_what_is_there() {
        let job = Job::with("a", [("filesize", "1m"), ("nrfiles", "3")]).unwrap();
        assert_eq!((job.size, job.file_bytes()), (3 << 20, 1 << 20));
        let job = Job::with("a", [("size", "50%"), ("nrfiles", "3"), ("bs", "4k")]).unwrap();
        assert_eq!(job.sized(20_000).unwrap().size, 3 * 8192);
        assert_eq!(job.sized(8000), None);
        let job = Job::with("a", [("size", "100%"), ("nrfiles", "3"), ("bs", "4k")]).unwrap();
        let job = job.sized(u64::MAX).unwrap();
        assert!(job.file_bytes().is_multiple_of(4096), "whatever a server tells of its files");
        let job = Job::with("a", [("size", "1m")]).unwrap();
        assert_eq!(job.sized(0).unwrap(), job);
    }

    #[test]
    fn files_are_named_as_fio_names_them_unless_it_is_said() {
        let job = Job::with("a", []).unwrap();
        assert_eq!(job.file_name(1, 2), "a.1.2");
        let format = ("filename_format", "$jobnum/$filenum.$jobname");
        let job = Job::with("$jobnum", [format]).unwrap();
        assert_eq!(job.file_name(1, 2), "1/2.$jobnum");
    }

    #[test]
    fn rates_are_intervals() {
        let rate = Rate { bytes: Some(1 << 20), ops: Some(1000) };
        assert_eq!(rate.interval(4096), Some(Duration::from_nanos(3_906_250)));
        assert_eq!(rate.interval(1), Some(Duration::from_millis(1)));
        assert_eq!(Rate::default().interval(4096), None);
    }

    #[test]
    fn a_stonewall_begins_a_group() {
        let mut jobs: Vec<_> = ["", "", "1", "", "1"]
            .into_iter()
            .map(|wall| {
                let wall = (!wall.is_empty()).then_some(("stonewall", wall));
                Job::with("a", wall).unwrap()
            })
            .collect();
        group(&mut jobs);
        assert_eq!(jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
    }
}
