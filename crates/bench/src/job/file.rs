//! Job files: fio's, with sections in brackets, `[global]` for all that follow, `key=value`, and
//! comments after `;` or `#`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::{Job, group};

/// More than this is no job file.
const LARGEST: usize = 1 << 20;

/// What a job file says.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// Its jobs.
    pub jobs: Vec<Job>,
    /// What it says in vain: `seq.fio:3: ioengine=libaio has no effect: …`.
    pub notes: Vec<String>,
}

impl JobFile {
    /// Reads a job file; `above` are options of the command line, which outdo those of the file.
    pub fn read(path: &Path, above: &[(String, String)]) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        ensure!(bytes.len() <= LARGEST, "{} is too large for a job file", path.display());
        let name = path.display().to_string();
        let text = String::from_utf8(bytes).with_context(|| format!("{name} is no text"))?;
        parse(&name, &text, above)
    }
}

/// A section on its way.
struct Section {
    line: usize,
    job: Job,
}

/// Reads the text of a job file that is called `file`.
pub fn parse(file: &str, text: &str, above: &[(String, String)]) -> Result<JobFile> {
    let mut global = Job::new("global");
    let mut sections: Vec<Section> = Vec::new();
    let mut notes = Vec::new();
    let mut in_global = false;
    for (number, line) in text.lines().enumerate() {
        let (number, line) = (number + 1, line.trim());
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some(name) = rest.split_once(']').map(|(name, _)| name.trim()) else {
                bail!("{file}:{number}: a section's name ends with a bracket: [{rest}]");
            };
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                let job = Job { name: name.to_owned(), ..global.clone() };
                sections.push(Section { line: number, job });
            }
            continue;
        }
        // A bare key is a flag.
        let (key, value) = line.split_once('=').map_or((line, "1"), |(k, v)| (k.trim(), v.trim()));
        let value = &with_environment(value)
            .map_err(|wrong| anyhow!("{file}:{number}: {key}={value}: {wrong}"))?;
        let job = match sections.last_mut() {
            _ if in_global => &mut global,
            Some(section) => &mut section.job,
            None => bail!("{file}:{number}: {key} is outside any section; put [global] above it"),
        };
        if let Some(note) =
            job.set(key, value).map_err(|wrong| anyhow!("{file}:{number}: {key}: {wrong}"))?
        {
            notes.push(format!("{file}:{number}: {key}={value} has no effect: {note}"));
        }
    }
    ensure!(!sections.is_empty(), "{file} has no job: a section such as [read] is missing");
    let mut jobs = Vec::with_capacity(sections.len());
    for Section { line, mut job } in sections {
        for (key, value) in above {
            job.set(key, value).map_err(|wrong| anyhow!("{key}={value}: {wrong}"))?;
        }
        job.settle().with_context(|| format!("{file}:{line}"))?;
        ensure!(
            jobs.iter().all(|other: &Job| other.name != job.name),
            "{file}:{line}: there is a job {} already",
            job.name
        );
        jobs.push(job);
    }
    group(&mut jobs);
    Ok(JobFile { jobs, notes })
}

/// Fills in variables of the environment, as fio does: `${SIZE}`.
fn with_environment(value: &str) -> Result<String> {
    let (mut whole, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            bail!("${{ has no end");
        };
        let known = std::env::var(name);
        let known = known.map_err(|_| anyhow!("{name} is not in the environment"))?;
        whole.push_str(before);
        whole.push_str(&known);
        rest = behind;
    }
    Ok(whole + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Flow, Work};

    #[test]
    fn sections_inherit_what_global_has_said_so_far() {
        let text = "; fio's own example\n[global]\nioengine=libaio\nbs = 1m\nsize=1g\ntime_based\n\
                    runtime=10s\n\n[seq-write]\nrw=write\nfsync=8\n# next\n[global]\niodepth=64\n\
                    [seq-read]\nstonewall\nrw=read\n";
        let file = parse("seq.fio", text, &[]).unwrap();
        let [write, read] = &file.jobs[..] else { panic!("{file:?}") };
        assert_eq!((&*write.name, write.group, write.iodepth, write.fsync), ("seq-write", 0, 1, 8));
        assert_eq!(write.work, Work::Data { flow: Flow::Write, random: false });
        assert_eq!((&*read.name, read.group, read.iodepth, read.fsync), ("seq-read", 1, 64, 0));
        assert!(read.time_based && read.bs == 1 << 20);
        assert_eq!(file.notes.len(), 1);
        assert!(file.notes[0].starts_with("seq.fio:3: ioengine=libaio has no effect"), "{file:?}");
    }

    #[test]
    fn variables_are_filled_in() {
        let file =
            parse("a.fio", "[a]\nfilename=${CARGO_PKG_NAME}/x${CARGO_PKG_NAME}", &[]).unwrap();
        assert_eq!(file.jobs[0].filename.as_deref(), Some("hayase-bench/xhayase-bench"));
        for (text, words) in [("${NO_SUCH_NAME}", "NO_SUCH_NAME is not"), ("${X", "no end")] {
            let error = parse("a.fio", &format!("[a]\nbs={text}"), &[]).unwrap_err().to_string();
            assert!(error.starts_with("a.fio:2: bs=${") && error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_command_line_outdoes_the_file() {
        let above = [("bs".to_owned(), "8k".to_owned())];
        let file = parse("a.fio", "[a]\nbs=4k\nsize=1m", &above).unwrap();
        assert_eq!(file.jobs[0].bs, 8192);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, words) in [
            (
                "[a]\nsize=1m\niodept=4\n",
                "a.fio:3: iodept: \"iodept\" is no option; did you mean iodepth?",
            ),
            ("[a]\nbs=x\n", "a.fio:2: bs: "),
            ("bs=4k\n", "a.fio:1: bs is outside any section"),
            ("[a\n", "a.fio:1: "),
            ("[global]\nbs=4k\n", "a.fio has no job"),
            ("[a]\n[a]\n", "a.fio:2: there is a job a already"),
            ("\n[a]\nsize=10000\n", "a.fio:2"),
            ("[a/b]\n", "a.fio:1"),
        ] {
            let error = format!("{:#}", parse("a.fio", text, &[]).unwrap_err());
            assert!(error.starts_with(words), "{text:?}: {error}");
        }
    }
}
