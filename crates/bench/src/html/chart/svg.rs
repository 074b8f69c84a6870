//! The drawing.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::{Chart, Line, Stroke};
use crate::units::float;

/// Size of a drawing in its own units, which are pixels where it fits its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    class: &'static str,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    ticks_across: usize,
    ticks_up: usize,
}

impl Frame {
    /// For windows of desktops.
    pub(super) const WIDE: Frame = Frame {
        class: "wide",
        width: 860.0,
        height: 300.0,
        left: 86.0,
        right: 16.0,
        top: 20.0,
        bottom: 44.0,
        ticks_across: 10,
        ticks_up: 6,
    };
    /// For phones.
    pub(super) const NARROW: Frame = Frame {
        class: "narrow",
        width: 360.0,
        height: 260.0,
        left: 74.0,
        right: 10.0,
        top: 20.0,
        bottom: 44.0,
        ticks_across: 4,
        ticks_up: 6,
    };

    fn across(&self, at: f64) -> f64 {
        self.left + at * (self.width - self.left - self.right)
    }

    fn up(&self, at: f64) -> f64 {
        self.height - self.bottom - at * (self.height - self.top - self.bottom)
    }
}

/// The drawing at one size. Its attributes tell the page's script where the axes lie.
pub(super) fn draw(chart: &Chart, lines: &[&Line], frame: &Frame) -> Markup {
    let (left, right) = (frame.across(0.0), frame.across(1.0));
    let (floor, top) = (frame.up(0.0), frame.up(1.0));
    html! {
        svg class=(frame.class) viewBox={"0 0 " (frame.width) " " (frame.height)} role="img"
            aria-label=(chart.title) data-left=(left) data-right=(right) data-top=(top)
            data-floor=(floor) {
            @for tick in chart.y.scale.ticks(chart.y.unit, frame.ticks_up) {
                @let y = round(frame.up(tick.at));
                line.grid x1=(left) x2=(right) y1=(y) y2=(y) {}
                text.tick x=(left - 8.0) y=(y + 4.0) text-anchor="end" { (tick.text) }
            }
            line.axis x1=(left) x2=(right) y1=(floor) y2=(floor) {}
            @for tick in chart.x.scale.ticks(chart.x.unit, frame.ticks_across) {
                @let x = round(frame.across(tick.at));
                line.axis x1=(x) x2=(x) y1=(floor) y2=(floor + 4.0) {}
                text.tick x=(x) y=(floor + 18.0) text-anchor=(anchor(tick.at)) { (tick.text) }
            }
            text.label x=(f64::midpoint(left, right)) y=(frame.height - 6.0) text-anchor="middle" {
                (chart.x.label)
            }
            @for (at, text) in &chart.marks {
                @let at = chart.x.scale.place(*at);
                @let x = round(frame.across(at));
                line.mark x1=(x) x2=(x) y1=(top) y2=(floor) {}
                text.marked x=(x) y=(top - 6.0) text-anchor=(anchor(at)) { (text) }
            }
            @for (index, line) in lines.iter().enumerate() {
                (draw_line(chart, line, index, frame))
            }
            g.cursor {}
        }
    }
}

/// Text at the edges grows inwards, so that nothing is cut off.
fn anchor(at: f64) -> &'static str {
    match at {
        at if at > 0.97 => "end",
        at if at < 0.01 => "start",
        _ => "middle",
    }
}

fn draw_line(chart: &Chart, line: &Line, index: usize, frame: &Frame) -> Markup {
    let places: Vec<(f64, f64)> = line
        .points
        .iter()
        .map(|(x, y)| (frame.across(chart.x.scale.place(*x)), frame.up(chart.y.scale.place(*y))))
        .collect();
    let path = match line.stroke {
        Stroke::Plain | Stroke::Dotted => joined(&places),
        Stroke::Area => steps(&places, frame.up(0.0)),
    };
    let shape = if line.stroke == Stroke::Area { "area" } else { "line" };
    html! {
        path class={(shape) " s" (index)} d=(PreEscaped(path)) {}
        @if line.stroke == Stroke::Dotted || places.len() == 1 {
            @for (x, y) in &places {
                circle class={"dot s" (index)} cx=(round(*x)) cy=(round(*y)) r="3.5" {}
            }
        }
    }
}

fn joined(places: &[(f64, f64)]) -> String {
    let mut path = String::with_capacity(places.len() * 14);
    for (index, (x, y)) in places.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{x:.1} {y:.1}");
    }
    path
}

/// A step from each point to the next, the last as wide as the one before; down to the floor at both ends.
fn steps(places: &[(f64, f64)], floor: f64) -> String {
    let Some((first, _)) = places.first() else { return String::new() };
    let mut path = format!("M{first:.1} {floor:.1}");
    let count = places.len();
    let width = if count > 1 { places[count - 1].0 - places[count - 2].0 } else { 4.0 };
    for (index, (x, y)) in places.iter().enumerate() {
        let next = places.get(index + 1).map_or(x + width, |next| next.0);
        let _ = write!(path, "V{y:.1}H{next:.1}");
    }
    let _ = write!(path, "V{floor:.1}Z");
    path
}

/// To a tenth, which is less than can be seen.
fn round(figure: f64) -> f64 {
    (figure * float(10)).round() / float(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_steps_are_paths() {
        assert_eq!(joined(&[(1.0, 2.0), (3.0, 4.0)]), "M1.0 2.0L3.0 4.0");
        assert_eq!(steps(&[(0.0, 5.0), (2.0, 3.0)], 9.0), "M0.0 9.0V5.0H2.0V3.0H4.0V9.0Z");
        assert_eq!(steps(&[], 9.0), "");
    }
}
