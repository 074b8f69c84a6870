//! The page of a sweep.

use maud::{Markup, html};

use super::chart::{Axis, Chart, Line, MAX_LINES, Scale, Stroke};
use super::environment;
use super::layout::{alert, page, when};
use super::run::shell_words;
use super::unit::Unit;
use crate::sweep::{Figure, Measured, Step, Sweep};
use crate::units::float;

/// The page of a sweep.
pub fn sweep_page(sweep: &Sweep) -> String {
    let title = format!("{} on {}", sweep.parameter, sweep.environment.target);
    let clients = sweep.clients.len();
    let sub = format!(
        "Sweep with {clients} client{}, {}, {}",
        if clients == 1 { "" } else { "s" },
        when(sweep.started_unix_ms),
        sweep.tool
    );
    let body = html! {
        @if let Some(why) = &sweep.interrupted {
            (alert("Ended before its time.", &format!("{why}. The figures are of what was done until then.")))
        }
        @for step in &sweep.steps {
            @if let Some(error) = &step.error {
                (alert(&format!("{}={} failed.", sweep.parameter, step.value), error))
            }
        }
        p { b { (sweep.knee_text()) } }
        p.note { (sweep.options.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")) }
        div.charts {
            (rates(sweep)) (latencies(sweep))
            @if sweep.clients.len() > 1 { (each(sweep)) (fairness(sweep)) }
        }
        h2 { "Values" }
        (table(sweep))
        @if sweep.clients.len() > 1 { h2 { "Clients" } (clients_table(sweep)) }
        h2 { "Environment" }
        (environment::list(&sweep.environment))
        h2 { "Command" }
        p { code { (shell_words(&sweep.command)) } }
    };
    page(&title, &sub, &body, sweep)
}

fn unit(figure: Figure) -> Unit {
    match figure {
        Figure::Bandwidth => Unit::BytesPerSec,
        Figure::Operations => Unit::PerSec,
    }
}

fn line(sweep: &Sweep, name: &str, figure: impl Fn(&Step) -> Option<f64>) -> Line {
    let steps = sweep.steps.iter().enumerate();
    let point = |(index, step): (usize, &Step)| Some((float(index as u64), figure(step)?));
    Line {
        name: name.to_owned(),
        points: steps.filter_map(point).collect(),
        stroke: Stroke::Dotted,
    }
}

fn chart(sweep: &Sweep, title: &str, note: &str, y: Axis, lines: Vec<Line>) -> Markup {
    let names = sweep.steps.iter().map(|step| step.value.clone()).collect();
    let knee = sweep.knee.index().map(|index| (float(index as u64), "knee".to_owned()));
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        x: Axis { label: label(&sweep.parameter), unit: Unit::Count, scale: Scale::Steps(names) },
        y,
        lines,
        marks: knee.into_iter().collect(),
    }
    .render()
}

/// fio's words as people say them.
fn label(parameter: &str) -> &'static str {
    match parameter {
        "iodepth" => "iodepth: operations at once of each job",
        "nconnect" => "nconnect: connections of each client",
        "numjobs" => "numjobs: jobs of each client",
        "bs" => "bs: bytes of a block",
        _ => "value",
    }
}

fn most(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y).fold(0.0, f64::max)
}

fn rates(sweep: &Sweep) -> Markup {
    let lines = vec![line(sweep, "all clients", |step| Some(step.all.rate(sweep.figure)))];
    let y = Axis { label: "", unit: unit(sweep.figure), scale: Scale::from_zero(most(&lines)) };
    let title = match sweep.figure {
        Figure::Bandwidth => "Bandwidth of all clients",
        Figure::Operations => "Operations of all clients",
    };
    chart(sweep, title, "", y, lines)
}

fn latencies(sweep: &Sweep) -> Markup {
    let of = |figure: fn(&Measured) -> f64| move |step: &Step| Some(figure(&step.all));
    let lines = vec![
        line(sweep, "median", of(|measured| measured.p50_nanos)),
        line(sweep, "99th percentile", of(|measured| measured.p99_nanos)),
    ];
    let scale =
        Scale::log_around(lines.iter().flat_map(|line| line.points.iter().map(|(_, y)| *y)));
    let y = Axis { label: "", unit: Unit::Nanos, scale };
    chart(sweep, "Latency", "Logarithmic scale", y, lines)
}

/// A line of each client, or of the slowest, the middle and the fastest where they are too many.
fn each(sweep: &Sweep) -> Markup {
    let rate = |number: usize| {
        move |step: &Step| step.clients.get(number).map(|client| client.rate(sweep.figure))
    };
    let many = sweep.clients.len() > MAX_LINES;
    let lines: Vec<Line> = if many {
        let at = |name: &str, place: fn(usize) -> usize| {
            line(sweep, name, |step| {
                let mut rates: Vec<f64> =
                    step.clients.iter().map(|client| client.rate(sweep.figure)).collect();
                rates.sort_by(f64::total_cmp);
                rates.get(place(rates.len())).copied()
            })
        };
        vec![
            at("slowest client", |_| 0),
            at("middle client", |count| count / 2),
            at("fastest client", |count| count.saturating_sub(1)),
        ]
    } else {
        let clients = sweep.clients.iter().enumerate();
        clients.map(|(number, name)| line(sweep, name, rate(number))).collect()
    };
    let y = Axis { label: "", unit: unit(sweep.figure), scale: Scale::from_zero(most(&lines)) };
    chart(sweep, "Each client", "", y, lines)
}

fn fairness(sweep: &Sweep) -> Markup {
    let lines = vec![
        line(sweep, "Jain's index", |step| Some(step.fairness?.jain)),
        line(sweep, "slowest by fastest", |step| Some(step.fairness?.ratio())),
    ];
    let scale = Scale::Linear { from: 0.0, to: 1.05 };
    let note = "100 % where all clients got the same";
    chart(sweep, "Fairness", note, Axis { label: "", unit: Unit::Share, scale }, lines)
}

fn table(sweep: &Sweep) -> Markup {
    let several = sweep.clients.len() > 1;
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th.text { (sweep.parameter) } th { "Bandwidth" } th { "Operations" }
                        th { "50 %" } th { "99 %" } th { "CPU of the clients" }
                        @if several { th { "Slowest" } th { "Fastest" } th { "Ratio" } th { "Jain" } }
                    }
                }
                tbody {
                    @for (index, step) in sweep.steps.iter().enumerate() {
                        tr.knee[sweep.knee.index() == Some(index)] {
                            (step_cells(sweep, step, several))
                        }
                    }
                }
            }
        }
    }
}

fn step_cells(sweep: &Sweep, step: &Step, several: bool) -> Markup {
    let all = &step.all;
    html! {
        th scope="row" { (step.value) @if step.error.is_some() { " " span.bad { "failed" } } }
        td { (Unit::BytesPerSec.show(all.bytes_per_sec)) }
        td { (Unit::PerSec.show(all.ops_per_sec)) }
        td { (Unit::Nanos.show(all.p50_nanos)) }
        td { (Unit::Nanos.show(all.p99_nanos)) }
        td { (format!("{:.2} cores", all.client_cores)) }
        @if several {
            @match step.fairness {
                Some(fair) => {
                    td { (unit(sweep.figure).show(fair.slowest)) }
                    td { (unit(sweep.figure).show(fair.fastest)) }
                    td { (Unit::Share.show(fair.ratio())) }
                    td { (format!("{:.3}", fair.jain)) }
                },
                None => { td { "–" } td { "–" } td { "–" } td { "–" } },
            }
        }
    }
}

fn clients_table(sweep: &Sweep) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th.text { "Client" }
                        @for step in &sweep.steps { th { (sweep.parameter) "=" (step.value) } }
                    }
                }
                tbody {
                    @for (number, name) in sweep.clients.iter().enumerate() {
                        tr {
                            th scope="row" { (name) }
                            @for step in &sweep.steps {
                                td {
                                    @if let Some(client) = step.clients.get(number) {
                                        (unit(sweep.figure).show(client.rate(sweep.figure)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
