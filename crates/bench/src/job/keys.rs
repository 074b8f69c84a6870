//! The options of a job, by fio's names: how each is read, what it sets.

use std::fmt;
use std::time::Duration;

use super::{BLOCK_MAX, FORMAT_WORDS, Job, Rate, Size};
use crate::units::{parse_bytes, parse_duration};

/// Why an option that fio knows has no effect here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note(&'static str);

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

enum Effect {
    Sets(fn(&mut Job, &str) -> Result<(), String>),
    /// fio knows it; here it changes nothing that one could be misled by.
    Nothing(&'static str),
    /// The same, unless it has this value, which says what is done anyway.
    Only(&'static str, &'static str),
    /// fio knows it, and the figures would be of something else.
    Refused(&'static str),
}

use Effect::{Nothing, Only, Refused, Sets};

struct Key {
    names: &'static [&'static str],
    effect: Effect,
}

const fn sets(
    names: &'static [&'static str],
    set: fn(&mut Job, &str) -> Result<(), String>,
) -> Key {
    Key { names, effect: Sets(set) }
}

const fn nothing(names: &'static [&'static str], why: &'static str) -> Key {
    Key { names, effect: Nothing(why) }
}

const fn refused(names: &'static [&'static str], instead: &'static str) -> Key {
    Key { names, effect: Refused(instead) }
}

const OWN_ENGINE: &str = "operations are made by Hayase's own engine";
const OWN_DATA: &str = "data is always noise that does not compress, with its place in it";
const OWN_LAYOUT: &str = "files are laid out as reading needs it";
const OWN_FIGURES: &str = "all latencies are measured, and shown as fio shows them";
const OWN_SERIES: &str = "what happened when is in the page of --report, with its data as JSON";
const OWN_PLACE: &str = "start hayase by taskset, numactl or nice";
const OWN_REPORT: &str = "jobs that numjobs makes are always reported together";

const KEYS: &[Key] = &[
    sets(&["rw", "readwrite"], |job, value| set(&mut job.work, value.parse())),
    sets(&["rwmixread"], |job, value| set(&mut job.rwmixread, percent(value))),
    sets(&["rwmixwrite"], |job, value| {
        set(&mut job.rwmixread, percent(value).map(|writes| 100 - writes))
    }),
    sets(&["bs", "blocksize"], |job, value| set(&mut job.bs, block(value))),
    sets(&["size"], |job, value| set(&mut job.size_given, size(value).map(Some))),
    sets(&["filesize"], |job, value| set(&mut job.filesize, bytes(value).map(Some))),
    sets(&["nrfiles"], |job, value| {
        set(&mut job.nrfiles_given, number(value, 1, 10_000_000).map(Some))
    }),
    sets(&["iodepth"], |job, value| set(&mut job.iodepth, number(value, 1, 16_384))),
    sets(&["numjobs"], |job, value| set(&mut job.numjobs, number(value, 1, 16_384))),
    sets(&["nconnect"], |job, value| set(&mut job.nconnect, number(value, 1, 4096))),
    sets(&["runtime", "timeout"], |job, value| {
        // fio's 0 is no limit.
        let runtime = parse_duration(value).map(|time| (!time.is_zero()).then_some(time));
        set(&mut job.runtime, runtime)
    }),
    sets(&["time_based"], |job, value| set(&mut job.time_based, flag(value))),
    sets(&["ramp_time"], |job, value| set(&mut job.ramp_time, parse_duration(value))),
    sets(&["direct"], |job, value| set(&mut job.direct, flag(value))),
    sets(&["buffered"], |job, value| set(&mut job.direct, flag(value).map(|buffered| !buffered))),
    sets(&["sync"], |job, value| {
        let sync = match value {
            "none" => Ok(false),
            "sync" | "dsync" => Ok(true),
            other => flag(other),
        };
        set(&mut job.sync, sync)
    }),
    sets(&["fsync", "fdatasync"], |job, value| set(&mut job.fsync, number(value, 0, u32::MAX))),
    sets(&["end_fsync", "fsync_on_close"], |job, value| set(&mut job.end_fsync, flag(value))),
    sets(&["verify"], |job, value| {
        let verify = match value {
            "crc32c" | "crc32c-intel" => Ok(true),
            "0" | "none" => Ok(false),
            other => Err(format!("{other:?} is not among the checksums; crc32c is")),
        };
        set(&mut job.verify, verify)
    }),
    sets(&["do_verify"], |job, value| set(&mut job.do_verify, flag(value))),
    sets(&["rate"], |job, value| {
        let [read, write] = pair(value, bytes)?;
        (job.read_rate.bytes, job.write_rate.bytes) = (read, write);
        not_idle(job.read_rate, job.write_rate)
    }),
    sets(&["rate_iops"], |job, value| {
        let [read, write] = pair(value, |text| number(text, 0, u32::MAX).map(u64::from))?;
        (job.read_rate.ops, job.write_rate.ops) = (read, write);
        not_idle(job.read_rate, job.write_rate)
    }),
    sets(&["thinktime"], |job, value| {
        // A bare number is µs, as in fio.
        let bare = value.parse().map(Duration::from_micros);
        set(&mut job.thinktime, bare.or_else(|_| parse_duration(value)))
    }),
    sets(&["filename"], |job, value| set(&mut job.filename, path(value).map(Some))),
    sets(&["directory"], |job, value| set(&mut job.directory, directory(value).map(Some))),
    sets(&["filename_format"], |job, value| set(&mut job.filename_format, file_format(value))),
    sets(&["unlink"], |job, value| set(&mut job.unlink, flag(value))),
    sets(&["invalidate"], |job, value| set(&mut job.invalidate, flag(value))),
    sets(&["norandommap"], |job, value| set(&mut job.randommap, flag(value).map(|no| !no))),
    sets(&["files_per_dir"], |job, value| {
        set(&mut job.files_per_dir_given, number(value, 1, 10_000_000).map(Some))
    }),
    sets(&["depth"], |job, value| set(&mut job.depth, number(value, 0, 64))),
    sets(&["randseed"], |job, value| {
        set(&mut job.seed, value.parse().map_err(|_| format!("{value:?} is no number")))
    }),
    sets(&["stonewall", "wait_for_previous"], |job, value| set(&mut job.stonewall, flag(value))),
    sets(&["name"], |job, value| {
        value.clone_into(&mut job.name);
        Ok(())
    }),
    nothing(&["ioengine"], OWN_ENGINE),
    nothing(&["thread"], OWN_ENGINE),
    nothing(&["iodepth_batch", "iodepth_batch_submit"], OWN_ENGINE),
    nothing(&["iodepth_batch_complete", "iodepth_batch_complete_min"], OWN_ENGINE),
    nothing(&["iodepth_batch_complete_max", "iodepth_low"], OWN_ENGINE),
    nothing(&["gtod_reduce", "clocksource"], OWN_ENGINE),
    Key { names: &["group_reporting"], effect: Only("1", OWN_REPORT) },
    nothing(&["new_group"], OWN_REPORT),
    nothing(&["mem", "iomem", "hugepage-size", "iomem_align"], OWN_ENGINE),
    nothing(&["hipri", "fixedbufs", "registerfiles", "sqthread_poll"], OWN_ENGINE),
    nothing(&["force_async", "nonvectored", "userspace_reap", "ioscheduler"], OWN_ENGINE),
    nothing(&["openfiles", "opendir", "create_serialize", "create_fsync"], OWN_LAYOUT),
    nothing(&["pre_read", "fadvise_hint", "allow_file_create"], OWN_LAYOUT),
    nothing(&["zero_buffers", "buffer_pattern", "buffer_compress_percentage"], OWN_DATA),
    nothing(&["buffer_compress_chunk", "dedupe_percentage"], OWN_DATA),
    nothing(&["percentile_list", "lat_percentiles", "clat_percentiles"], OWN_FIGURES),
    nothing(&["slat_percentiles", "disable_lat", "disable_clat", "disable_slat"], OWN_FIGURES),
    nothing(&["disable_bw_measurement", "unified_rw_reporting"], OWN_FIGURES),
    nothing(&["significant_figures", "bwavgtime", "iopsavgtime"], OWN_FIGURES),
    nothing(&["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"], OWN_SERIES),
    nothing(&["log_avg_msec", "log_hist_msec", "log_max_value", "log_offset"], OWN_SERIES),
    nothing(&["per_job_logs", "log_unix_epoch"], OWN_SERIES),
    nothing(&["cpus_allowed", "cpus_allowed_policy", "cpumask", "cpuload"], OWN_PLACE),
    nothing(&["numa_cpu_nodes", "numa_mem_policy", "nice", "prio", "prioclass"], OWN_PLACE),
    nothing(&["verify_fatal"], "a job always stops at the first block that is wrong"),
    Key { names: &["file_service_type"], effect: Only("roundrobin", "files always take turns") },
    Key {
        names: &["rate_process"],
        effect: Only("linear", "operations of a rate start at equal intervals"),
    },
    refused(&["bsrange", "bssplit"], "blocks have one size; give each size a job of its own"),
    refused(&["loops"], "take time_based with runtime= to begin again at the end"),
    refused(&["io_size", "io_limit", "number_ios"], "all of size= is moved; take a smaller size="),
    refused(&["offset", "offset_increment"], "files are moved from their beginning"),
    refused(
        &["startdelay", "wait_for"],
        "jobs begin together, or by stonewall one after the other",
    ),
    refused(&["thinktime_blocks", "thinktime_spin"], "thinktime= pauses after each operation"),
    refused(&["rate_min", "rate_iops_min", "max_latency"], "nothing is ended for being slow"),
    refused(
        &["latency_target", "latency_window"],
        "`hayase bench sweep` finds the depth that is best",
    ),
    refused(&["random_distribution", "percentage_random"], "all blocks are equally likely"),
    refused(
        &["continue_on_error", "exitall_on_error"],
        "a job stops at its first error, others go on",
    ),
    refused(&["exitall"], "each job runs to its own end"),
    refused(
        &["verify_backlog", "verify_async", "verify_pattern"],
        "verify=crc32c is what there is",
    ),
    refused(&["sync_file_range"], "fsync=N syncs whole files"),
    refused(&["client", "include", "profile", "read_iolog", "write_iolog"], "it is fio's alone"),
    nothing(&["refill_buffers", "scramble_buffers", "randrepeat"], OWN_DATA),
    nothing(&["fallocate", "create_on_open", "overwrite"], OWN_LAYOUT),
    nothing(&["description"], "it is for readers of the job file"),
];

/// Sets an option. Says why if it has no effect.
pub(super) fn set_option(job: &mut Job, key: &str, value: &str) -> Result<Option<Note>, String> {
    let found = KEYS.iter().find(|known| known.names.contains(&key));
    let Some(found) = found else { return Err(unknown(key)) };
    match found.effect {
        Sets(set) => set(job, value)?,
        Nothing(why) => return Ok(Some(Note(why))),
        Only(done, why) => return Ok((value != done).then_some(Note(why))),
        Refused(instead) => {
            return Err(format!("fio's {key} is not among what Hayase does: {instead}"));
        }
    }
    let key = found.names[0];
    job.given.retain(|(other, _)| other != key);
    job.given.push((key.to_owned(), value.to_owned()));
    Ok(None)
}

/// Whether a value suits an option.
pub fn check_value(key: &str, value: &str) -> Result<(), String> {
    Job::new("check").set(key, value).map(drop)
}

fn unknown(key: &str) -> String {
    let names = KEYS.iter().flat_map(|key| key.names);
    let near = names
        .map(|name| (strsim::damerau_levenshtein(name, key), name))
        .min()
        .filter(|(apart, name)| *apart <= name.len().max(key.len()) / 2);
    match near {
        Some((_, name)) => format!("{key:?} is no option; did you mean {name}?"),
        None => format!("{key:?} is no option that Hayase knows"),
    }
}

fn set<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

/// `1`, `0`, or in words.
fn flag(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        other => Err(format!("{other:?} is neither 1 nor 0")),
    }
}

fn number(text: &str, min: u32, max: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("{text:?} is no number from {min} to {max}"))
}

fn percent(text: &str) -> Result<u8, String> {
    number(text.trim_end_matches('%'), 0, 100).map(|percent| percent as u8)
}

fn bytes(text: &str) -> Result<u64, String> {
    if text.contains(['%', '-']) {
        return Err(format!("{text}: one size is wanted here, as 1g is"));
    }
    parse_bytes(text)
}

fn size(text: &str) -> Result<Size, String> {
    match text.strip_suffix('%') {
        Some(percent) => number(percent, 1, 100).map(|percent| Size::Percent(percent as u8)),
        None => bytes(text).map(Size::Bytes),
    }
}

fn block(text: &str) -> Result<u32, String> {
    if text.contains(['-', ':', '/']) {
        return Err(format!("{text}: one size for all blocks, as 4k is"));
    }
    // fio's second and third are for writes and trims; one that is left out is fio's 4k, not the first.
    let mut sizes = text.split(',').map(parse_bytes);
    let bytes = sizes.next().unwrap_or_else(|| parse_bytes(text))?;
    if sizes.any(|other| other != Ok(bytes)) {
        return Err(format!(
            "{text}: one size for all blocks, as 4k is; give reads and writes jobs of their own"
        ));
    }
    let fits = u32::try_from(bytes).ok().filter(|bytes| (1..=BLOCK_MAX).contains(bytes));
    fits.ok_or_else(|| format!("a block has from 1 byte to {} MiB", BLOCK_MAX >> 20))
}

/// One value for both ways, or `read,write`, of which one may be missing.
fn pair(
    text: &str,
    parse: impl Fn(&str) -> Result<u64, String>,
) -> Result<[Option<u64>; 2], String> {
    let parse = |text: &str| {
        let value = (!text.is_empty()).then(|| parse(text)).transpose()?;
        Ok::<_, String>(value.filter(|value| *value > 0))
    };
    match text.split_once(',') {
        // fio's third one is for trims.
        Some((read, write)) => Ok([parse(read)?, parse(write.trim_end_matches(','))?]),
        None => parse(text).map(|both| [both; 2]),
    }
}

fn not_idle(read: Rate, write: Rate) -> Result<(), String> {
    let rates = [read.bytes, read.ops, write.bytes, write.ops];
    if rates.iter().all(Option::is_none) {
        return Err("a rate of nothing: leave it out to work as fast as possible".to_owned());
    }
    Ok(())
}

fn path(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains('\0') {
        return Err("a path is missing".to_owned());
    }
    Ok(text.to_owned())
}

fn directory(text: &str) -> Result<String, String> {
    if text.contains(':') {
        return Err(format!("{text}: one directory; give others jobs of their own"));
    }
    path(text)
}

/// A file's name by fio's words.
fn file_format(text: &str) -> Result<String, String> {
    let left = FORMAT_WORDS.iter().fold(path(text)?, |left, word| left.replace(word, ""));
    if left.contains('$') {
        return Err(format!("{text}: there are only {} to fill in", FORMAT_WORDS.join(", ")));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Flow, Work};

    #[test]
    fn options_are_read_in_fios_words() {
        let job = Job::with(
            "a",
            [
                ("readwrite", "randrw"),
                ("rwmixwrite", "30"),
                ("blocksize", "8k"),
                ("size", "1g"),
                ("iodepth", "8"),
                ("numjobs", "4"),
                ("runtime", "2"),
                ("time_based", "1"),
                ("ramp_time", "500ms"),
                ("rate", "1m,2m"),
                ("rate_iops", ",100"),
                ("thinktime", "50"),
                ("sync", "dsync"),
                ("fdatasync", "16"),
                ("verify", "crc32c"),
                ("buffered", "0"),
            ],
        )
        .unwrap();
        assert_eq!(job.work, Work::Data { flow: Flow::Mixed, random: true });
        assert_eq!((job.rwmixread, job.bs, job.size), (70, 8192, 1 << 30));
        assert_eq!((job.iodepth, job.numjobs, job.fsync), (8, 4, 16));
        assert_eq!(job.runtime, Some(Duration::from_secs(2)));
        assert_eq!(job.read_rate, Rate { bytes: Some(1 << 20), ops: None });
        assert_eq!(job.write_rate, Rate { bytes: Some(2 << 20), ops: Some(100) });
        assert_eq!(job.thinktime, Duration::from_micros(50));
        assert!(job.time_based && job.sync && job.verify && job.direct);
        assert_eq!(job.given[0], ("rw".to_owned(), "randrw".to_owned()));
    }

    #[test]
    fn what_is_given_twice_counts_once() {
        let job = Job::with("a", [("bs", "4k"), ("blocksize", "8k")]).unwrap();
        assert_eq!(job.given, [("bs".to_owned(), "8k".to_owned())]);
    }

    #[test]
    fn what_fio_knows_and_has_no_effect_is_said() {
        let note = Job::new("a").set("ioengine", "libaio").unwrap();
        assert!(note.unwrap().to_string().contains("own engine"));
        for (key, value) in [
            ("bs", "4k"),
            ("bs", "4k,4k"),
            ("group_reporting", "1"),
            ("file_service_type", "roundrobin"),
            ("filename_format", "$jobnum/$jobname.$filenum"),
        ] {
            assert_eq!(Job::new("a").set(key, value), Ok(None), "{key}");
        }
        assert!(Job::new("a").set("group_reporting", "0").unwrap().is_some());
    }

    #[test]
    fn a_bad_value_is_refused_with_a_reason() {
        for (key, value, word) in [
            ("iodepht", "4", "did you mean iodepth?"),
            ("zoned_mode_of_all", "1", "no option that"),
            ("bs", "0", "1 byte"),
            ("bs", "4k,8k", "jobs of their own"),
            ("bs", "4k-8k", "one size"),
            ("bs", ",8k", "no size"),
            ("bs", "8k,", "jobs of their own"),
            ("bsrange", "4k-8k", "a job of its own"),
            ("loops", "3", "time_based"),
            ("directory", "a:b", "one directory"),
            ("filename_format", "$jobname.$x", "$filenum"),
            ("filesize", "1m-2m", "one size"),
            ("bs", "1g", "64 MiB"),
            ("size", "0%", "from 1 to 100"),
            ("iodepth", "0", "from 1"),
            ("rw", "trim", "randwrite"),
            ("direct", "2", "neither"),
            ("verify", "md5", "crc32c"),
            ("rwmixread", "101", "100"),
            ("rate", "0", "nothing"),
            ("runtime", "soon", "no time"),
        ] {
            let error = check_value(key, value).unwrap_err();
            assert!(error.contains(word), "{key}={value}: {error}");
        }
    }
}
