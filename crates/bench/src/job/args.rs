//! The options of a job on the command line.

use super::{Job, check_value};

macro_rules! job_args {
    ($($(#[$meta:meta])* $field:ident: $key:literal $(or $alias:literal)? $(flag $default:literal)?,)*) => {
        /// The options of a job, each by fio's name.
        #[derive(Clone, Debug, Default, clap::Args)]
        pub struct JobArgs {
            $(
                $(#[$meta])*
                #[arg(
                    long = $key,
                    $(alias = $alias,)?
                    $(num_args = 0..=1, default_missing_value = $default, require_equals = true,)?
                    value_parser = |value: &str| -> Result<String, String> {
                        check_value(stringify!($field), value).map(|()| value.to_owned())
                    },
                    help_heading = "Job"
                )]
                pub $field: Option<String>,
            )*
        }

        impl JobArgs {
            /// What was given, as keys and values.
            pub fn options(&self) -> Vec<(String, String)> {
                let mut options = Vec::new();
                $(
                    if let Some(value) = &self.$field {
                        options.push((stringify!($field).to_owned(), value.clone()));
                    }
                )*
                options
            }

            /// What of it is said in vain, and why.
            pub fn notes(&self) -> Vec<String> {
                let mut job = Job::new("check");
                let note = |(key, value): (String, String)| {
                    // Values were judged when they were read.
                    let note = job.set(&key, &value).ok().flatten()?;
                    Some(format!("--{key}={value} has no effect: {note}"))
                };
                self.options().into_iter().filter_map(note).collect()
            }
        }
    };
}

job_args! {
    /// Kind of work: read, write, rw, randread, randwrite, randrw; or on names: create, stat,
    /// getattr, readdir, readdirplus, rename, remove, mkdir, rmdir
    #[arg(value_name = "WORK")]
    rw: "rw" or "readwrite",
    /// Of 100 operations of rw and randrw, so many read [default: 50]
    #[arg(value_name = "PERCENT")]
    rwmixread: "rwmixread",
    /// Bytes of a block, as 4k or 1m [default: 4k]
    #[arg(value_name = "SIZE")]
    bs: "bs" or "blocksize",
    /// Bytes of all files of one job together; a whole number of blocks [default: 256m]
    #[arg(value_name = "SIZE")]
    size: "size",
    /// Operations under way at once, for each job [default: 1]
    #[arg(value_name = "N")]
    iodepth: "iodepth",
    /// Jobs like this at the same time, each with files of its own [default: 1]
    #[arg(value_name = "N")]
    numjobs: "numjobs",
    /// Connections of an nfs:// target [default: 1]
    #[arg(value_name = "N")]
    nconnect: "nconnect",
    /// The longest time to run, as 10s [default: to the end of the work]
    #[arg(value_name = "TIME")]
    runtime: "runtime",
    /// Begin again at the end of the work, until --runtime is over
    #[arg(value_name = "0|1")]
    time_based: "time-based" or "time_based" flag "1",
    /// How long to run before anything is counted
    #[arg(value_name = "TIME")]
    ramp_time: "ramp-time" or "ramp_time",
    /// Pass the page cache by (file:// only: NFS targets have none on this side)
    #[arg(value_name = "0|1")]
    direct: "direct" flag "1",
    /// Each write has to be stable when it is answered
    #[arg(value_name = "0|1")]
    sync: "sync" flag "1",
    /// A sync after so many writes
    #[arg(value_name = "N")]
    fsync: "fsync",
    /// A sync at the end, which counts
    #[arg(value_name = "0|1")]
    end_fsync: "end-fsync" or "end_fsync" flag "1",
    /// Put checksums into what is written, and check what is read; crc32c
    #[arg(value_name = "CHECKSUM")]
    verify: "verify",
    /// Bytes a second for each job, whatever the answers; READ or READ,WRITE
    #[arg(value_name = "SIZE")]
    rate: "rate",
    /// Operations a second for each job, whatever the answers; READ or READ,WRITE
    #[arg(value_name = "N")]
    rate_iops: "rate-iops" or "rate_iops",
    /// How long to pause after each answer [µs, unless it says otherwise]
    #[arg(value_name = "TIME")]
    thinktime: "thinktime",
    /// The file, below the target; or several, with a colon between them
    #[arg(value_name = "PATH")]
    filename: "filename",
    /// Where the files lie, below the target
    #[arg(value_name = "PATH")]
    directory: "directory",
    /// Files of one job [default: 1; 1000 for work on names]
    #[arg(value_name = "N")]
    nrfiles: "nrfiles",
    /// Work on names: as many in each directory [default: all in one]
    #[arg(value_name = "N")]
    files_per_dir: "files-per-dir" or "files_per_dir",
    /// Work on names: directories above those with the names
    #[arg(value_name = "N")]
    depth: "depth",
    /// Remove data files in the end
    #[arg(value_name = "0|1")]
    unlink: "unlink" flag "1",
    /// Bytes of each file
    #[arg(value_name = "SIZE")]
    filesize: "filesize",
    // Of command lines of fio's; documented with the keys of job files.
    /// How files are named
    #[arg(hide = true)]
    filename_format: "filename-format" or "filename_format",
    /// Of 100 operations, so many write
    #[arg(hide = true)]
    rwmixwrite: "rwmixwrite",
    /// The opposite of --direct
    #[arg(hide = true)]
    buffered: "buffered" flag "1",
    /// Whether the page cache forgets files first
    #[arg(hide = true)]
    invalidate: "invalidate" flag "1",
    /// Draw each block by lot, whatever was drawn before
    #[arg(hide = true)]
    norandommap: "norandommap" flag "1",
    /// fio's; lots are always the same
    #[arg(hide = true)]
    randrepeat: "randrepeat" flag "1",
    /// Where lots begin
    #[arg(hide = true)]
    randseed: "randseed",
    /// Whether what was written is read and checked
    #[arg(hide = true)]
    do_verify: "do-verify" or "do_verify" flag "1",
    /// fio's; data is always fresh
    #[arg(hide = true)]
    refill_buffers: "refill-buffers" or "refill_buffers" flag "1",
    /// fio's
    #[arg(hide = true)]
    ioengine: "ioengine",
    /// fio's
    #[arg(hide = true)]
    thread: "thread" flag "1",
    /// fio's
    #[arg(hide = true)]
    group_reporting: "group-reporting" or "group_reporting" flag "1",
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        job: JobArgs,
    }

    fn options(words: &str) -> Result<Vec<(String, String)>, clap::Error> {
        let words = ["run"].into_iter().chain(words.split_whitespace());
        Line::try_parse_from(words).map(|line| line.job.options())
    }

    #[test]
    fn flags_may_stand_alone_and_fios_spelling_is_known() {
        let given =
            options("--rw=randread --ramp_time 1s --time-based --direct=0 --unlink").unwrap();
        let given: Vec<_> = given.iter().map(|(key, value)| (&**key, &**value)).collect();
        let expected = [
            ("rw", "randread"),
            ("time_based", "1"),
            ("ramp_time", "1s"),
            ("direct", "0"),
            ("unlink", "1"),
        ];
        assert_eq!(given, expected);
    }

    #[test]
    fn a_command_line_of_fios_is_read_and_what_it_says_in_vain_is_told() {
        let words = "--ioengine=libaio --group_reporting --rw=read --thread --norandommap";
        let words = ["run"].into_iter().chain(words.split_whitespace());
        let notes = Line::try_parse_from(words).unwrap().job.notes();
        let [engine, thread] = &notes[..] else { panic!("{notes:?}") };
        assert!(engine.starts_with("--ioengine=libaio has no effect: "), "{engine}");
        assert!(thread.starts_with("--thread=1 has no effect: "), "{thread}");
    }

    #[test]
    fn a_bad_value_is_told_where_it_stands() {
        let error = options("--bs=4x").err().unwrap().to_string();
        assert!(error.contains("--bs") && error.contains("no unit"), "{error}");
    }
}
