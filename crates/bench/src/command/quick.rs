//! What is run when no job is named: a short look at everything.

use crate::job::Job;
use anyhow::Result;

/// Writes, reads, reads small blocks by lot, and works on names: a dozen seconds in all.
pub(super) fn jobs(above: &[(String, String)]) -> Result<Vec<Job>> {
    type Options = &'static [(&'static str, &'static str)];
    const STREAM: Options =
        &[("bs", "1m"), ("size", "256m"), ("iodepth", "8"), ("filename", "hayase-bench.data")];
    const TIMED: Options = &[("runtime", "2s"), ("time_based", "1")];
    let described: [(&str, &[Options]); 4] = [
        ("seqwrite", &[&[("rw", "write"), ("end_fsync", "1"), ("runtime", "3s")], STREAM]),
        ("seqread", &[&[("rw", "read")], STREAM, TIMED]),
        (
            "randread",
            &[
                &[("rw", "randread")],
                STREAM,
                &[("bs", "4k"), ("iodepth", "16"), ("unlink", "1")],
                TIMED,
            ],
        ),
        (
            "create",
            &[&[("rw", "create"), ("nrfiles", "2000"), ("iodepth", "8"), ("runtime", "2s")]],
        ),
    ];
    let mut jobs = Vec::new();
    for (name, options) in described {
        let options = options.iter().flat_map(|some| some.iter().copied());
        let above = above.iter().map(|(key, value)| (&**key, &**value));
        jobs.push(Job::with(name, options.chain([("stonewall", "1")]).chain(above))?);
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_whole_and_ends_soon() {
        let mut jobs = jobs(&[("nconnect".to_owned(), "4".to_owned())]).unwrap();
        crate::job::group(&mut jobs);
        let longest: std::time::Duration = jobs.iter().filter_map(|job| job.runtime).sum();
        assert!(longest.as_secs() <= 10);
        assert!(jobs.iter().all(|job| job.nconnect == 4 && job.runtime.is_some()));
        assert_eq!(jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
