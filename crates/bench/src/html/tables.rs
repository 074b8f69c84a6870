//! Figures in rows.

use maud::{Markup, html};

use super::run::{direction_name, nanos};
use super::unit::Unit;
use crate::report::{Breakdown, JobResult, Latency, Part};
use crate::units::float;

/// Percentiles in the table; the charts have the others.
const SHOWN: [f64; 8] = [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];

/// Percentiles of each job and direction.
pub(super) fn percentiles(jobs: &[JobResult]) -> Markup {
    let rows: Vec<(String, String, &Latency)> = jobs
        .iter()
        .flat_map(|job| {
            let directions = job.directions().map(|(name, direction)| {
                (job.name.clone(), direction_name(name, &[job]), &direction.lat)
            });
            let sync = (job.sync.count > 0).then(|| (job.name.clone(), "sync".into(), &job.sync));
            directions.chain(sync)
        })
        .collect();
    html! {
        div.scroll tabindex="0" {
            table {
                caption { "Operations, and how long they took, from when they were meant to start" }
                thead {
                    tr {
                        th.text { "Job" } th.text { "What" } th { "Count" } th { "Mean" }
                        th { "Least" }
                        @for percent in SHOWN {
                            th { @if percent < 100.0 { (percent) " %" } @else { "Longest" } }
                        }
                    }
                }
                tbody {
                    @for (job, what, latency) in &rows {
                        tr {
                            th scope="row" { (job) } td.text { (what) }
                            td { (latency.count) }
                            td { (Unit::Nanos.show(latency.mean_nanos)) }
                            td { (nanos(latency.min_nanos)) }
                            @for percent in SHOWN { td { (nanos(latency.percentile(percent))) } }
                        }
                    }
                }
            }
        }
    }
}

/// Where the time went, of the jobs that were asked.
pub(super) fn breakdown(jobs: &[JobResult]) -> Markup {
    let told: Vec<(&str, &Breakdown)> =
        jobs.iter().filter_map(|job| Some((job.name.as_str(), job.breakdown.as_ref()?))).collect();
    if told.is_empty() {
        return html! {};
    }
    html! {
        h2 { "Where the time went" }
        div.scroll tabindex="0" {
            table {
                caption { "Bars are shares of the mean" }
                thead {
                    tr {
                        th.text { "Job" } th.text { "Part" } th { "Mean" } th { "50 %" } th { "99 %" }
                    }
                }
                tbody { @for (job, breakdown) in told { (parts(job, breakdown)) } }
            }
        }
    }
}

fn parts(job: &str, breakdown: &Breakdown) -> Markup {
    let parts = breakdown.parts();
    let whole = parts.iter().map(|part| part.latency.mean_nanos).sum();
    html! {
        @for (index, Part { name, what, latency }) in parts.into_iter().enumerate() {
            tr {
                th scope="row" { (job) } td.text { (name) ": " span.sub { (what) } }
                td {
                    (Unit::Nanos.show(latency.mean_nanos))
                    (bar(latency.mean_nanos, whole, index))
                }
                td { (nanos(latency.percentile(50.0))) }
                td { (nanos(latency.percentile(99.0))) }
            }
        }
    }
}

/// A bar as long as a figure is a part of the whole, in the colour of a line's number.
pub(super) fn bar(part: f64, whole: f64, colour: usize) -> Markup {
    let percent = if whole > 0.0 { (100.0 * part / whole).clamp(0.0, 100.0) } else { 0.0 };
    html! { span class={"bar s" (colour % super::chart::MAX_LINES)} style=(format!("width:{percent:.1}%")) {} }
}

/// The jobs, with their options and what they used.
pub(super) fn jobs(jobs: &[JobResult]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th.text { "Job" } th.text { "Options" } th { "Time" } th { "Read" } th { "Written" }
                        th { "Operations" } th { "CPU of the client" }
                    }
                }
                tbody { @for job in jobs { (job_row(job)) } }
            }
        }
    }
}

fn job_row(job: &JobResult) -> Markup {
    let options: Vec<String> =
        job.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let moved = |bytes: Option<u64>| match bytes {
        Some(bytes) => Unit::Bytes.show(float(bytes)),
        None => "–".to_owned(),
    };
    let ops: u64 = job.directions().map(|(_, direction)| direction.ops).sum();
    let used = float(job.cpu.user_nanos + job.cpu.system_nanos);
    let cores = if job.elapsed_nanos > 0 { used / float(job.elapsed_nanos) } else { 0.0 };
    html! {
        tr {
            th scope="row" { (job.name) @if job.error.is_some() { " " span.bad { "failed" } } }
            td.text { code { (options.join(" ")) } }
            td { (nanos(job.elapsed_nanos)) }
            td { (moved(job.read.as_ref().map(|read| read.bytes))) }
            td { (moved(job.write.as_ref().map(|write| write.bytes))) }
            td { (ops) }
            td { (format!("{cores:.2} cores")) }
        }
    }
}
