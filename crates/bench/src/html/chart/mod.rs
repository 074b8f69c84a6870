//! Charts of lines, as SVG that takes its colours from the page's style sheet, so that one drawing does for
//! light and dark. (A plotting library writes colours and one width into the drawing.) Each chart
//! is drawn twice, for wide and for narrow windows, of which the style sheet shows one: text in a drawing
//! shrinks with it, and would be too small to read on a phone.

mod points;
mod scale;
mod svg;

use maud::{Markup, html};

use super::unit::Unit;
pub use scale::{Scale, Tick};
use svg::Frame;

/// Lines in one chart, at most; each has a colour of its own.
pub const MAX_LINES: usize = 8;
/// Points of one line, at most: more cannot be told apart, and would make pages heavy.
pub const MAX_POINTS: usize = 600;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What to know about it, in a sentence; may be empty.
    pub note: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// The lines, [`MAX_LINES`] at most; further ones are not drawn.
    pub lines: Vec<Line>,
    /// Places on x that are marked, with what is written there.
    pub marks: Vec<(f64, String)>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What its figures are.
    pub label: &'static str,
    /// What its figures count.
    pub unit: Unit,
    /// How they are laid out.
    pub scale: Scale,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Figures of x and y, with x rising.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// From point to point.
    Plain,
    /// From point to point with a dot on each: few points, each measured by itself.
    Dotted,
    /// As steps with the area below them filled: a histogram.
    Area,
}

impl Chart {
    /// The chart as a figure of a page; nothing where no line has points.
    pub fn render(&self) -> Markup {
        let lines: Vec<&Line> =
            self.lines.iter().filter(|line| !line.points.is_empty()).take(MAX_LINES).collect();
        if lines.is_empty() {
            return html! {};
        }
        html! {
            figure.chart tabindex="0" aria-label=(self.title) {
                figcaption {
                    h3 { (self.title) }
                    @if !self.note.is_empty() { p.note { (self.note) } }
                    ul.legend {
                        @for (index, line) in lines.iter().enumerate() {
                            li { span class={"swatch s" (index)} {} (line.name) }
                        }
                    }
                    output {}
                }
                (svg::draw(self, &lines, &Frame::WIDE))
                (svg::draw(self, &lines, &Frame::NARROW))
                (points::embed(self, &lines))
            }
        }
    }
}

/// Every so many points one, where there are more than [`MAX_POINTS`]: the one with the largest figure
/// of each group, since what stands out is what one looks for.
pub fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let group = points.len().div_ceil(MAX_POINTS).max(1);
    let tallest = |group: &[(f64, f64)]| {
        group.iter().copied().reduce(|most, point| if point.1 > most.1 { point } else { most })
    };
    points.chunks(group).filter_map(tallest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> Chart {
        Chart {
            title: "Bandwidth".to_owned(),
            note: String::new(),
            x: Axis {
                label: "time",
                unit: Unit::Seconds,
                scale: Scale::Linear { from: 0.0, to: 10.0 },
            },
            y: Axis { label: "", unit: Unit::BytesPerSec, scale: Scale::from_zero(2048.0) },
            lines,
            marks: vec![(5.0, "knee".to_owned())],
        }
    }

    fn line(name: &str) -> Line {
        let points = vec![(0.0, 1024.0), (10.0, 2048.0)];
        Line { name: name.to_owned(), points, stroke: Stroke::Plain }
    }

    #[test]
    fn a_chart_has_its_lines_legend_axes_and_marks() {
        let html = chart(vec![line("read"), line("<write>")]).render().into_string();
        for part in ["class=\"line s0\"", "class=\"line s1\"", "&lt;write&gt;", "2.0 KiB/s", "knee"]
        {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert_eq!(html.matches("<svg").count(), 2, "wide and narrow");
    }

    #[test]
    fn a_chart_of_nothing_is_nothing() {
        assert_eq!(chart(Vec::new()).render().into_string(), "");
        let empty = Line { points: Vec::new(), ..line("read") };
        assert_eq!(chart(vec![empty]).render().into_string(), "");
    }

    #[test]
    fn many_points_are_thinned_and_peaks_stay() {
        let peak = 77_777;
        let height = |i: u32| if i == peak { 9.0 } else { 1.0 };
        let points: Vec<_> = (0..100_000).map(|i| (f64::from(i), height(i))).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= MAX_POINTS);
        assert!(thin.contains(&(f64::from(peak), 9.0)));
        assert_eq!(thinned(&points[..10]), &points[..10]);
    }
}
