//! The page of a run on several hosts.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::layout::{alert, page, when};
use super::run::{self, nanos};
use super::tables::bar;
use super::timeline;
use super::unit::Unit;
use crate::fleet::{ClientRun, FleetRun, last_heard, shares, sum};
use crate::report::{JobResult, Run};
use crate::statistics::fairness;

/// The page of several clients: all together, and each beside the others.
pub fn fleet_page(fleet: &FleetRun) -> String {
    let all = sum(fleet);
    let count = fleet.clients.len();
    let title = format!("{}, {count} clients", run::title(&all));
    let sub = format!("{}, {}", when(fleet.started_unix_ms), fleet.tool);
    let body = html! {
        (losses(fleet))
        h2 { "Clients" }
        (fairness_notes(fleet))
        (table(fleet))
        (each_over_time(fleet))
        h2 { "All clients together" }
        (run::body(&all))
    };
    page(&title, &sub, &body, fleet)
}

/// What was lost, and what went wrong with those that were not.
fn losses(fleet: &FleetRun) -> Markup {
    html! {
        @for client in &fleet.clients {
            @if client.run.is_none() {
                (alert(&format!("{} was lost.", client.name), &format!(
                    "{}{}", client.lost.as_deref().unwrap_or("Nobody knows why"), last_heard(client))))
            }
            @if let Some(run) = &client.run { (run::faults(run)) }
        }
    }
}

fn fairness_notes(fleet: &FleetRun) -> Markup {
    html! {
        @for (name, shares) in shares(fleet) {
            @if let Some(fair) = fairness(&shares) {
                p {
                    "Fairness, " (name) ": slowest client by fastest "
                    b { (Unit::Share.show(fair.ratio())) } ", Jain's index "
                    b { (format!("{:.3}", fair.jain)) } "."
                }
            }
        }
        @if let Some(skew) = fleet.skew_nanos() {
            p.note { "All started within " (nanos(skew)) " of each other." }
        }
    }
}

fn table(fleet: &FleetRun) -> Markup {
    let most = fleet.clients.iter().map(rate).fold(0.0, f64::max);
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th.text { "Client" } th.text { "Kernel" } th { "Bandwidth" } th { "Operations" }
                        th { "50 %" } th { "99 %" } th { "Started late by" } th { "Clock known to" }
                    }
                }
                tbody {
                    @for (index, client) in fleet.clients.iter().enumerate() {
                        (row(client, index, most))
                    }
                }
            }
        }
    }
}

fn row(client: &ClientRun, index: usize, most: f64) -> Markup {
    let jobs: Vec<&JobResult> = client.run.iter().flat_map(|run| &run.jobs).collect();
    let sums = run::sums(&jobs);
    let mut lat = crate::report::Latency::default();
    for (_, sum) in &sums {
        lat.merge(&sum.all.lat);
    }
    let bytes: f64 = sums.iter().map(|(_, sum)| sum.bytes_per_sec).sum();
    let ops: f64 = sums.iter().map(|(_, sum)| sum.ops_per_sec).sum();
    let late = client.starts.iter().map(|start| start.late_nanos).max();
    let kernel = client.run.as_ref().and_then(|run| run.environment.kernel.as_deref());
    let clock = client.offset.map(|offset| format!("± {}", nanos(offset.uncertainty_nanos)));
    if client.run.is_none() {
        return html! {
            tr {
                th scope="row" { (client.name) " " span.bad { "lost" } }
                td.text colspan="7" {
                    (client.lost.as_deref().unwrap_or("nobody knows why")) (last_heard(client))
                }
            }
        };
    }
    html! {
        tr {
            th scope="row" { (client.name) }
            td.text { (kernel.unwrap_or("unknown")) }
            td { (Unit::BytesPerSec.show(bytes)) (bar(rate(client), most, index)) }
            td { (Unit::PerSec.show(ops)) }
            td { (nanos(lat.percentile(50.0))) }
            td { (nanos(lat.percentile(99.0))) }
            td { (late.map_or_else(|| "–".to_owned(), nanos)) }
            td { (clock.unwrap_or_else(|| "same clock".to_owned())) }
        }
    }
}

/// What clients are compared by: bytes where there are any.
fn rate(client: &ClientRun) -> f64 {
    let directions = client.run.iter().flat_map(|run| &run.jobs).flat_map(JobResult::directions);
    directions
        .map(|(_, direction)| match direction.bytes {
            0 => direction.ops_per_sec(),
            _ => direction.bytes_per_sec(),
        })
        .sum()
}

/// Charts with a line of each client, one for each group of jobs.
fn each_over_time(fleet: &FleetRun) -> Markup {
    let jobs = || fleet.clients.iter().flat_map(|client| &client.run).flat_map(|run| &run.jobs);
    let groups: BTreeSet<u32> = jobs().map(|job| job.group).collect();
    html! {
        @for group in &groups {
            @if groups.len() > 1 {
                h3.group { (group_name(fleet, *group)) }
            }
            div.charts { (group_over_time(fleet, *group)) }
        }
    }
}

/// The work of a group, as far as it is one.
fn group_name(fleet: &FleetRun, group: u32) -> String {
    let jobs = fleet.clients.iter().flat_map(|client| &client.run).flat_map(|run| &run.jobs);
    let words: BTreeSet<&str> =
        jobs.filter(|job| job.group == group).filter_map(|job| job.option("rw")).collect();
    let words: Vec<&str> = words.into_iter().collect();
    format!("Group {}: {}", group + 1, words.join(", "))
}

fn group_over_time(fleet: &FleetRun, group: u32) -> Markup {
    let named: Vec<JobResult> = fleet
        .clients
        .iter()
        .filter_map(|client| Some((client, client.run.as_ref()?)))
        .flat_map(|(client, run): (&ClientRun, &Run)| {
            run.jobs.iter().filter(move |job| job.group == group).map(|job| {
                let mut job = job.clone();
                job.name.clone_from(&client.name);
                job
            })
        })
        .collect();
    timeline::rates(&named.iter().collect::<Vec<_>>())
}
