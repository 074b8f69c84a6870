//! Runs the tests one after another and tells how they went.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cases::{self, Case};
use crate::inside::{SKIPPED, VERDICT};
use crate::prerequisites;
use crate::scene::Scale;
use crate::server::Program;
use crate::stage::{self, End, Scratch, Spec, Task};

/// How many lines of each log a failure shows.
const TAIL_LINES: usize = 25;

/// What to run and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only tests whose name contains this.
    pub filter: Option<String>,
    /// Which server.
    pub server: Program,
    /// How much the tests do.
    pub scale: Scale,
    /// Added to the options of each mount.
    pub mount_options: Option<String>,
    /// Record what goes over the data links; only of use with `keep`.
    pub capture: bool,
    /// Leave scratch directories.
    pub keep: bool,
    /// Pass on what tests say while they run.
    pub verbose: bool,
    /// The longest a test may take; none: 300 s, or what the test asks for.
    pub limit: Option<Duration>,
}

enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Prints the names of the tests and what they are about.
pub fn list(filter: Option<&str>) {
    for case in chosen(filter, Scale::Full) {
        println!("{:<32} {}", case.full_name(), case.about);
    }
}

/// The tests whose name contains the filter; without one those that belong to the scale.
fn chosen(filter: Option<&str>, scale: Scale) -> Vec<Case> {
    let wanted = |case: &Case| match filter {
        Some(filter) => case.full_name().contains(filter),
        None => case.quick || scale == Scale::Full,
    };
    cases::all().into_iter().filter(wanted).collect()
}

/// Runs the tests; success when none failed.
pub fn run(options: &Options) -> Result<ExitCode> {
    let cases = chosen(options.filter.as_deref(), options.scale);
    if cases.is_empty() {
        bail!("no test's name contains {:?}; see --list", options.filter);
    }
    let missing = prerequisites::missing();
    if !missing.is_empty() {
        eprintln!("NO END-TO-END TEST RUNS HERE:");
        for line in missing {
            eprintln!("  {line}");
        }
        eprintln!("All that is needed: {}", prerequisites::install_line());
        for case in &cases {
            println!("skipped {}: see above", case.full_name());
        }
        println!("0 passed, 0 failed, {} skipped", cases.len());
        return Ok(ExitCode::SUCCESS);
    }
    stage::sweep()?;
    let common = Scratch::new(false)?;
    let (program, server) = frozen(&options.server, common.path())?;
    let [mut passed, mut failed, mut skipped] = [0; 3];
    for case in &cases {
        let begun = Instant::now();
        let verdict = one(case, options, &program, &server)?;
        let secs = begun.elapsed().as_secs_f64();
        match verdict {
            Verdict::Passed => {
                passed += 1;
                println!("ok {} {secs:.1}s", case.full_name());
            }
            Verdict::Skipped(reason) => {
                skipped += 1;
                println!("skipped {}: {reason}", case.full_name());
            }
            Verdict::Failed(why) => {
                failed += 1;
                println!("FAILED {} {secs:.1}s\n{why}", case.full_name());
            }
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Copies of both programs, so that a build in the meantime does not change what is tested.
pub fn frozen(server: &Program, directory: &Path) -> Result<(PathBuf, Program)> {
    let copy = |from: &Path, name: &str| {
        let to = directory.join(name);
        fs::copy(from, &to).with_context(|| format!("copy {}", from.display()))?;
        anyhow::Ok(to)
    };
    let program = copy(&std::env::current_exe()?, "hayase-e2e")?;
    let server = match server {
        Program::Hayase(path) => Program::Hayase(copy(path, "hayase")?),
        shell @ Program::Shell(_) => shell.clone(),
    };
    Ok((program, server))
}

fn one(case: &Case, options: &Options, program: &Path, server: &Program) -> Result<Verdict> {
    let missing = prerequisites::missing_workloads(case.needs);
    if !missing.is_empty() {
        return Ok(Verdict::Skipped(missing.join(", ")));
    }
    let mut scratch = Scratch::new(options.keep)?;
    let spec = Spec {
        task: Task::Case(case.full_name()),
        scale: options.scale,
        version: case.version,
        mount_options: options.mount_options.clone(),
        capture: options.capture,
        server: server.clone(),
        program: program.to_owned(),
        scratch: scratch.path().to_owned(),
    };
    let log = scratch.path().join("test.log");
    let output = if options.verbose { None } else { Some(File::create(&log)?) };
    let limit = options.limit.unwrap_or(case.limit);
    let end = stage::play(&spec, limit, output)?;
    let word = || fs::read_to_string(scratch.path().join(VERDICT)).unwrap_or_default();
    let why = match end {
        End::Status(status) if status.success() => return Ok(Verdict::Passed),
        End::Status(status) if status.code() == Some(i32::from(SKIPPED)) => {
            return Ok(Verdict::Skipped(word()));
        }
        End::Status(status) if word().is_empty() => format!("the test itself broke: {status}"),
        End::Status(_) => word(),
        End::TimedOut => format!("no end after {limit:?}"),
    };
    let mut text = indented(&why);
    for tail in logs(scratch.path())? {
        text.push_str(&tail);
    }
    if options.keep {
        scratch.keep();
        writeln!(text, "  kept: {}", scratch.path().display())?;
    }
    Ok(Verdict::Failed(text))
}

/// The ends of all logs in the scratch directory.
fn logs(scratch: &Path) -> Result<Vec<String>> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(scratch)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    names.retain(|name| name.extension().is_some_and(|extension| extension == "log"));
    names.sort();
    let mut tails = Vec::new();
    for name in names {
        let text = String::from_utf8_lossy(&fs::read(&name)?).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !is_noise(line)).collect();
        if lines.is_empty() {
            continue;
        }
        let title = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let end = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        tails.push(format!("  -- end of {title}\n{}", indented(&end)));
    }
    Ok(tails)
}

/// What every guest says while booting, and addresses that say nothing without symbols.
fn is_noise(line: &str) -> bool {
    ["SELinux: ", "mmapper_init ", "Failed to initialize ubd ", "uml-vector ", " [<"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
