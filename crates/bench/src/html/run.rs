//! The page of `hayase bench run --report`.

use maud::{Markup, html};

use super::layout::{alert, page, tile, when};
use super::unit::Unit;
use super::{distribution, environment, tables, timeline};
use crate::report::{Direction, JobResult, Run};

/// The page of a run.
pub fn run_page(run: &Run) -> String {
    let sub = format!("{}, {}", when(run.started_unix_ms), run.tool);
    let body = html! { (faults(run)) (body(run)) };
    page(&title(run), &sub, &body, run)
}

/// What was done, and on what.
pub(super) fn title(run: &Run) -> String {
    format!("{} on {}", headline(&run.jobs), run.environment.target)
}

/// All of a run but what went wrong, and the page around it.
pub(super) fn body(run: &Run) -> Markup {
    html! {
        div.tiles { @for group in groups(&run.jobs) { (tiles(&group)) } }
        @for group in groups(&run.jobs) {
            h2 { (group_name(&group)) }
            div.charts { (timeline::charts(&group)) (distribution::charts(&group)) }
        }
        h2 { "Latency" }
        (tables::percentiles(&run.jobs))
        (tables::breakdown(&run.jobs))
        h2 { "Jobs" }
        (tables::jobs(&run.jobs))
        h2 { "Environment" }
        (environment::list(&run.environment))
        h2 { "Command" }
        p { code { (shell_words(&run.command)) } }
    }
}

/// What went wrong, before any figure.
pub(super) fn faults(run: &Run) -> Markup {
    html! {
        @if let Some(why) = &run.interrupted {
            (alert("Ended before its time.", &format!("{why}. The figures are of what was done until then.")))
        }
        @for job in &run.jobs {
            @if let Some(fault) = &job.error {
                (alert(&format!("{} failed.", job.name), &format!(
                    "{} (operations that failed: {})", fault.message, fault.operations)))
            }
        }
    }
}

/// Jobs that ran at the same time, group after group.
pub(super) fn groups(jobs: &[JobResult]) -> Vec<Vec<&JobResult>> {
    let mut groups: Vec<Vec<&JobResult>> = Vec::new();
    for job in jobs {
        match groups.iter_mut().find(|group| group[0].group == job.group) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

fn group_name(group: &[&JobResult]) -> String {
    let names: Vec<&str> = group.iter().map(|job| job.name.as_str()).take(4).collect();
    let more = if group.len() > names.len() { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

fn headline(jobs: &[JobResult]) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for job in jobs {
        let words = ["rw", "bs"].into_iter().filter_map(|word| job.option(word));
        let kind = words.collect::<Vec<_>>().join(" ");
        if !kind.is_empty() && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() { "Benchmark".to_owned() } else { kinds.join(", ") }
}

/// What a group did in each direction, all its jobs together: rates are sums, since they ran at the same
/// time.
pub(super) fn sums(group: &[&JobResult]) -> Vec<(&'static str, Sum)> {
    let mut sums: Vec<(&'static str, Sum)> = Vec::new();
    for (name, direction) in group.iter().flat_map(|job| job.directions()) {
        let place = sums.iter().position(|(known, _)| *known == name);
        let place = place.unwrap_or_else(|| {
            sums.push((name, Sum::default()));
            sums.len() - 1
        });
        sums[place].1.add(direction);
    }
    sums
}

/// One direction of several jobs.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) all: Direction,
    pub(super) bytes_per_sec: f64,
    pub(super) ops_per_sec: f64,
}

impl Sum {
    fn add(&mut self, direction: &Direction) {
        self.all.merge(direction);
        self.bytes_per_sec += direction.bytes_per_sec();
        self.ops_per_sec += direction.ops_per_sec();
    }
}

fn tiles(group: &[&JobResult]) -> Markup {
    html! {
        @for (name, sum) in sums(group) {
            @let name = direction_name(name, group);
            @if sum.all.bytes > 0 {
                (tile(&Unit::BytesPerSec.show(sum.bytes_per_sec), &format!("{name}, bandwidth")))
            }
            (tile(&Unit::PerSec.show(sum.ops_per_sec), &format!("{name}, operations")))
            (tile(&nanos(sum.all.lat.percentile(50.0)), &format!("{name}, median latency")))
            (tile(&nanos(sum.all.lat.percentile(99.0)), &format!("{name}, 99th percentile")))
        }
    }
}

/// "meta" is the model's word; people say what was done.
pub(super) fn direction_name(direction: &str, group: &[&JobResult]) -> String {
    let work = group.first().and_then(|job| job.option("rw"));
    match (direction, work) {
        ("meta", Some(work)) => work.to_owned(),
        _ => direction.to_owned(),
    }
}

/// A latency as people read it.
pub(super) fn nanos(nanos: u64) -> String {
    Unit::Nanos.show(crate::units::float(nanos))
}

/// A command line as a shell reads it.
pub(super) fn shell_words(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_can_be_run_again() {
        let words = ["hayase", "bench", "run", "nfs://h/a?version=4.1", "it's", ""];
        let words: Vec<String> = words.map(str::to_owned).into();
        let shell = shell_words(&words);
        assert_eq!(shell, r"hayase bench run 'nfs://h/a?version=4.1' 'it'\''s' ''");
    }
}
