//! What the page's script shows of the place that is pointed at: figures as text, made here,
//! so that there is one way of writing figures.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::{Chart, Line, Scale};
use crate::html::data::script_json;
use crate::html::unit::Unit;

#[derive(Serialize)]
struct Readout<'a> {
    name: &'a str,
    /// Places from 0 to 1.
    x: Vec<f64>,
    y: Vec<f64>,
    /// The figures as text.
    at: Vec<String>,
    text: Vec<String>,
}

pub(super) fn embed(chart: &Chart, lines: &[&Line]) -> Markup {
    let readouts: Vec<Readout> = lines.iter().map(|line| readout(chart, line)).collect();
    html! { script.points type="application/json" { (PreEscaped(script_json(&readouts))) } }
}

fn readout<'a>(chart: &Chart, line: &'a Line) -> Readout<'a> {
    let round = |figure: f64| (figure * 1e4).round() / 1e4;
    #[allow(clippy::cast_sign_loss, reason = "places on an axis of steps are indexes")]
    let name_of = |x: f64| match &chart.x.scale {
        Scale::Steps(names) => names.get(x.round() as usize).cloned().unwrap_or_default(),
        Scale::Nines { .. } => Unit::Share.show(x / 100.0),
        Scale::Linear { .. } | Scale::Log { .. } => chart.x.unit.show(x),
    };
    Readout {
        name: &line.name,
        x: line.points.iter().map(|(x, _)| round(chart.x.scale.place(*x))).collect(),
        y: line.points.iter().map(|(_, y)| round(chart.y.scale.place(*y))).collect(),
        at: line.points.iter().map(|(x, _)| name_of(*x)).collect(),
        text: line.points.iter().map(|(_, y)| chart.y.unit.show(*y)).collect(),
    }
}
