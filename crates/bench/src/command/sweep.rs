//! `hayase bench sweep`.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;

use super::Hosts;
use super::output::{Outputs, listen, pretty};
use crate::fleet::Fleet;
use crate::html;
use crate::job::{Work, check_value};
use crate::live::Live;
use crate::sweep::{self, Plan, Range};

/// What to vary, on what.
#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    /// The target
    #[arg(
        value_name = "TARGET",
        help = "The target, as nfs://HOST[:PORT]/PATH[?version=3|4.0|4.1|4.2] or file:///PATH"
    )]
    target: String,

    /// Operations at once of each job; one of these four is a range: 1..64 doubles, 1..9+2 adds,
    /// 1,3,7 says each
    #[arg(long, value_name = "RANGE", default_value = "8", help_heading = "Swept")]
    iodepth: Range,

    /// Connections of each client to an nfs:// target
    #[arg(long, value_name = "RANGE", default_value = "1", help_heading = "Swept")]
    nconnect: Range,

    /// Bytes of a block
    #[arg(long, value_name = "RANGE", default_value = "64k", help_heading = "Swept")]
    bs: Range,

    /// Jobs of each client
    #[arg(long, value_name = "RANGE", default_value = "1", help_heading = "Swept")]
    numjobs: Range,

    /// Kind of work, as for bench run
    #[arg(long, value_name = "WORK", default_value = "randread", help_heading = "Job",
          value_parser = option("rw"))]
    rw: String,

    /// Bytes of all files of one job
    #[arg(long, value_name = "SIZE", default_value = "64m", help_heading = "Job",
          value_parser = option("size"))]
    size: String,

    /// How long each value is measured
    #[arg(long, value_name = "TIME", default_value = "2s", help_heading = "Job",
          value_parser = option("runtime"))]
    runtime: String,

    /// How long to run before measuring
    #[arg(long, alias = "ramp_time", value_name = "TIME", default_value = "200ms",
          help_heading = "Job", value_parser = option("ramp_time"))]
    ramp_time: String,

    /// Any other option of a job, in fio's words; can be given several times
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", help_heading = "Job",
          value_parser = pair)]
    options: Vec<(String, String)>,

    /// How often all values are gone through; figures are medians
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Job",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// Clients of this process, each with connections and an identity of its own
    #[arg(long, default_value_t = 1, value_name = "N", conflicts_with = "agents",
          help_heading = "Hosts", value_parser = clap::value_parser!(u16).range(1..=1024))]
    clients: u16,

    #[command(flatten)]
    hosts: Hosts,

    /// How to print the results
    #[arg(long, alias = "output_format", value_enum, default_value_t, help_heading = "Output")]
    output_format: TableFormat,

    #[command(flatten)]
    outputs: Outputs,
}

/// How tables are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For people
    #[default]
    Normal,
    /// For programs
    Json,
}

/// Reads an option of a job in fio's words.
pub(super) fn option(
    key: &'static str,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |value| check_value(key, value).map(|()| value.to_owned())
}

/// Reads `KEY=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').unwrap_or((text, "1"));
    check_value(key, value)?;
    Ok((key.to_owned(), value.to_owned()))
}

impl SweepArgs {
    /// Sweeps and prints; false if something went wrong on the way, which is printed, too.
    pub(super) fn run(&self) -> Result<bool> {
        let plan = self.plan()?;
        self.outputs.prepare()?;
        let live = Arc::new(Live::default());
        listen(&live)?;
        let mut fleet =
            if self.hosts.any() { self.hosts.fleet()? } else { Fleet::local(self.clients.into())? };
        let result = sweep::run(&plan, &mut fleet, &*live);
        live.clear();
        let result = result?;
        let text = match self.output_format {
            TableFormat::Normal => sweep::text(&result),
            TableFormat::Json => pretty(&serde_json::to_value(&result)?)?,
        };
        self.outputs.put(&text, || html::sweep_page(&result))?;
        Ok(result.is_whole())
    }

    fn plan(&self) -> Result<Plan> {
        let ranges = [
            ("iodepth", &self.iodepth),
            ("nconnect", &self.nconnect),
            ("bs", &self.bs),
            ("numjobs", &self.numjobs),
        ];
        let swept: Vec<_> = ranges.iter().filter(|(_, range)| range.is_swept()).collect();
        let (parameter, range) = match swept[..] {
            [one] => *one,
            [] => bail!(
                "nothing is swept: give one of --iodepth, --nconnect, --bs and --numjobs a range, \
                 as --iodepth 1..64"
            ),
            [one, other, ..] => bail!("--{} and --{} are both ranges; sweep one", one.0, other.0),
        };
        let mut options: Vec<(String, String)> = [
            ("rw", &self.rw),
            ("size", &self.size),
            ("runtime", &self.runtime),
            ("ramp_time", &self.ramp_time),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect();
        for (key, range) in ranges.iter().filter(|(key, _)| *key != parameter) {
            options.push(((*key).to_owned(), range.to_string()));
        }
        // What begins anew when it is done gives a rate over the whole time.
        let ends = self.rw.parse::<Work>().is_ok_and(|work| match work {
            Work::Meta(meta) => meta.ends(),
            Work::Data { .. } => false,
        });
        if !ends && !self.options.iter().any(|(key, _)| key == "time_based") {
            options.push(("time_based".to_owned(), "1".to_owned()));
        }
        for (key, _) in &self.options {
            ensure!(key != parameter, "{key} is swept, so --option cannot set it");
        }
        options.extend(self.options.iter().cloned());
        Ok(Plan {
            target: self.target.clone(),
            parameter: parameter.to_owned(),
            range: range.clone(),
            options,
            rounds: self.rounds,
            command: std::env::args().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SweepArgs,
    }

    fn plan(words: &str) -> Result<Plan> {
        let words = ["sweep", "file:///tmp"].into_iter().chain(words.split_whitespace());
        Line::try_parse_from(words)?.args.plan()
    }

    #[test]
    fn one_parameter_is_swept_and_the_others_stay() {
        let plan = plan("--bs 4k..16k --iodepth 4 -o direct=1").unwrap();
        assert_eq!((plan.parameter.as_str(), plan.range.to_string()), ("bs", "4k,8k,16k".into()));
        let options: Vec<String> =
            plan.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let options = options.join(" ");
        assert!(options.contains("iodepth=4") && options.contains("direct=1"), "{options}");
        assert!(!options.contains(" bs="), "{options}");
    }

    #[test]
    fn none_or_two_ranges_are_refused() {
        for (words, expected) in [
            ("", "nothing is swept"),
            ("--bs 4k..8k --iodepth 1..2", "sweep one"),
            ("--iodepth 1..4 -o iodepth=3", "is swept"),
            ("--iodepth 4..1", "does not rise"),
            ("--iodepth 1..4 -o zz=3", "zz"),
            ("--iodepth 1..4 --size x", "size"),
        ] {
            let error = format!("{:#}", plan(words).unwrap_err());
            assert!(error.contains(expected), "{words}: {error}");
        }
    }
}
