//! Charts over time.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::chart::{Axis, Chart, Line, MAX_LINES, Scale, Stroke, thinned};
use super::run::direction_name;
use super::unit::Unit;
use crate::report::{Flow, JobResult, Sample};
use crate::units::float;

/// One figure of a flow.
type Figure = fn(&Flow) -> u64;

/// What is drawn of one direction, of one job or of all together.
struct Course {
    name: String,
    intervals: Vec<Interval>,
}

#[derive(Clone, Copy, Default)]
struct Interval {
    at_millis: u64,
    span_millis: u64,
    flow: Flow,
}

impl Interval {
    fn middle_secs(&self) -> f64 {
        (float(self.at_millis) + float(self.span_millis) / 2.0) / 1e3
    }

    fn per_sec(&self, count: u64) -> f64 {
        match self.span_millis {
            0 => 0.0,
            millis => float(count) * 1e3 / float(millis),
        }
    }
}

/// Bandwidth, operations and latency of jobs that ran at the same time.
pub(super) fn charts(group: &[&JobResult]) -> Markup {
    let courses = courses(group);
    html! { (bandwidth(&courses)) (operations(&courses)) (latency(&courses)) }
}

/// What jobs got that ran at the same time, the more telling of bandwidth and operations.
pub(super) fn rates(group: &[&JobResult]) -> Markup {
    let courses = courses(group);
    let moves_data = courses.iter().any(|course| course.intervals.iter().any(|i| i.flow.bytes > 0));
    if moves_data { bandwidth(&courses) } else { operations(&courses) }
}

/// Nothing where no data is moved.
fn bandwidth(courses: &[Course]) -> Markup {
    let lines = lines(courses, "", |interval| interval.per_sec(interval.flow.bytes));
    if lines.iter().all(|line| line.points.iter().all(|(_, y)| *y <= 0.0)) {
        return html! {};
    }
    over_time("Bandwidth over time", Unit::BytesPerSec, lines)
}

fn operations(courses: &[Course]) -> Markup {
    let lines = lines(courses, "", |interval| interval.per_sec(interval.flow.ops));
    over_time("Operations over time", Unit::PerSec, lines)
}

fn latency(courses: &[Course]) -> Markup {
    let figures: [(&str, Figure); 3] = [
        ("median", |flow| flow.p50_nanos),
        ("99th percentile", |flow| flow.p99_nanos),
        ("longest", |flow| flow.max_nanos),
    ];
    // As many figures as there are lines for; the 99th percentile is what tells most by itself.
    let shown = match MAX_LINES / courses.len().max(1) {
        0 | 1 => &figures[1..2],
        2 => &figures[..2],
        _ => &figures[..],
    };
    let busy: Vec<Course> = courses
        .iter()
        .map(|course| Course {
            name: course.name.clone(),
            intervals: course
                .intervals
                .iter()
                .filter(|interval| interval.flow.ops > 0)
                .copied()
                .collect(),
        })
        .collect();
    let all = shown
        .iter()
        .flat_map(|(what, figure)| lines(&busy, what, |interval| float(figure(&interval.flow))));
    let all: Vec<Line> = all.collect();
    let scale = Scale::log_around(all.iter().flat_map(|line| line.points.iter().map(|(_, y)| *y)));
    chart("Latency over time", Unit::Nanos, scale, all)
}

fn over_time(title: &str, unit: Unit, lines: Vec<Line>) -> Markup {
    let most = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y).fold(0.0, f64::max);
    chart(title, unit, Scale::from_zero(most), lines)
}

fn chart(title: &str, unit: Unit, scale: Scale, lines: Vec<Line>) -> Markup {
    let end = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).fold(0.0, f64::max);
    let time = Scale::Linear { from: 0.0, to: if end > 0.0 { end } else { 1.0 } };
    let note = if matches!(scale, Scale::Log { .. }) { "Logarithmic scale" } else { "" };
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        x: Axis { label: "time since the start of measuring", unit: Unit::Seconds, scale: time },
        y: Axis { label: "", unit, scale },
        lines,
        marks: Vec::new(),
    }
    .render()
}

/// A line of each course, with its points in the middle of the intervals.
fn lines(courses: &[Course], what: &str, figure: impl Fn(&Interval) -> f64) -> Vec<Line> {
    let line = |course: &Course| Line {
        name: if what.is_empty() { course.name.clone() } else { format!("{} {what}", course.name) },
        points: thinned(
            &course
                .intervals
                .iter()
                .map(|interval| (interval.middle_secs(), figure(interval)))
                .collect::<Vec<_>>(),
        ),
        stroke: Stroke::Plain,
    };
    courses.iter().map(line).collect()
}

type Part = fn(&Sample) -> Flow;

const DIRECTIONS: [(&str, Part); 3] = [
    ("read", |sample| sample.read),
    ("write", |sample| sample.write),
    ("meta", |sample| sample.meta),
];

/// A course of each job and direction, or of each direction alone where those are too many.
fn courses(group: &[&JobResult]) -> Vec<Course> {
    let each: Vec<Course> = group
        .iter()
        .flat_map(|job| of_job(job).map(|(name, intervals)| (job.name.as_str(), name, intervals)))
        .map(|(job, direction, intervals)| Course {
            name: if group.len() > 1 { format!("{job} {direction}") } else { direction },
            intervals,
        })
        .collect();
    if each.len() <= MAX_LINES { each } else { together(group) }
}

/// Each direction of a job.
fn of_job(job: &JobResult) -> impl Iterator<Item = (String, Vec<Interval>)> {
    let is_there = |name| job.directions().any(|(known, _)| known == name);
    DIRECTIONS.into_iter().filter(move |(name, _)| is_there(*name)).map(|(name, flow)| {
        let interval = |sample: &Sample| Interval {
            at_millis: sample.at_millis,
            span_millis: sample.span_millis,
            flow: flow(sample),
        };
        (direction_name(name, &[job]), whole(&job.series).iter().map(interval).collect())
    })
}

/// Without a last interval that is much shorter than the others, in which chance decides.
fn whole(series: &[Sample]) -> &[Sample] {
    match series {
        [before @ .., last]
            if before.last().is_some_and(|usual| last.span_millis * 2 < usual.span_millis) =>
        {
            before
        }
        _ => series,
    }
}

/// All jobs of a group as one, by the start of the intervals: sums, and the longest latencies.
fn together(group: &[&JobResult]) -> Vec<Course> {
    let course = |(name, flow): (&str, Part)| {
        let jobs = group.iter().filter(|job| job.directions().any(|(known, _)| known == name));
        let mut at: BTreeMap<u64, Interval> = BTreeMap::new();
        let mut count = 0;
        for job in jobs {
            count += 1;
            for sample in whole(&job.series) {
                let interval = at.entry(sample.at_millis).or_default();
                let (sum, flow) = (&mut interval.flow, flow(sample));
                interval.at_millis = sample.at_millis;
                interval.span_millis = interval.span_millis.max(sample.span_millis);
                sum.bytes += flow.bytes;
                sum.ops += flow.ops;
                sum.p50_nanos = sum.p50_nanos.max(flow.p50_nanos);
                sum.p99_nanos = sum.p99_nanos.max(flow.p99_nanos);
                sum.max_nanos = sum.max_nanos.max(flow.max_nanos);
            }
        }
        (count > 0).then(|| Course {
            name: format!("{}, {count} jobs", direction_name(name, group)),
            intervals: at.into_values().collect(),
        })
    };
    DIRECTIONS.into_iter().filter_map(course).collect()
}
