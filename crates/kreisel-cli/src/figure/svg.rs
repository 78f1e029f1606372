//! The SVG writer.

use super::axis::{Axis, Tick};
use super::curve::{pixels, polylines};
use super::{FigureStyle, Panel, Scale, Series};
use std::fmt::Write;

/// Okabe and Ito, the darker ones first.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];
/// Curves with more points are drawn without markers.
const MAX_MARKERS: usize = 40;

const PLOT_WIDTH: f64 = 470.0;
const PLOT_HEIGHT: f64 = 340.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const BOTTOM: f64 = 58.0;
const TITLE_HEIGHT: f64 = 40.0;
const PANEL_TITLE_HEIGHT: f64 = 28.0;
const LEGEND_ROW: f64 = 19.0;
/// Average width of a letter at the font size of the legend.
const LETTER_WIDTH: f64 = 7.8;

/// Draws `series` as `style` says, under `title`.
pub fn svg(title: &str, style: &FigureStyle, series: &[Series]) -> String {
    let mut body = String::new();
    let has_panel_titles = style.panels.iter().any(|panel| !panel.title.is_empty());
    let top = TITLE_HEIGHT + if has_panel_titles { PANEL_TITLE_HEIGHT } else { 6.0 };
    let mut left = 0.0;
    let last = style.panels.len().saturating_sub(1);
    for (place, panel) in style.panels.iter().enumerate() {
        let curves: Vec<&Series> = series.iter().filter(|curve| curve.panel.min(last) == place).collect();
        left += Plot::new(panel, &curves, [left + LEFT, top]).draw(&mut body);
    }
    let height = top + PLOT_HEIGHT + BOTTOM;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{left:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {left:.0} {height:.0}\" font-family=\"'DejaVu Sans', Arial, Helvetica, sans-serif\" \
         font-size=\"13\" fill=\"#222\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{:.1}\" y=\"27\" text-anchor=\"middle\" font-size=\"{:.1}\" font-weight=\"bold\">{title}</text>\n\
         {body}</svg>\n",
        left / 2.0,
        title_size(title, left),
        title = escaped(title),
    )
}

/// The largest size up to 16 at which the title, in bold letters about 0.65 of their size wide, fits the
/// figure.
fn title_size(title: &str, width: f64) -> f64 {
    (width / (0.65 * title.chars().count().max(1) as f64)).min(16.0)
}

/// One panel with its axes laid out in pixels.
struct Plot<'a> {
    panel: &'a Panel,
    curves: Vec<(&'a Series, Look)>,
    guides: Vec<Series>,
    left: f64,
    top: f64,
    horizontal: Axis,
    vertical: Axis,
}

/// How a curve is told from the others.
#[derive(Clone, Copy)]
struct Look {
    colour: &'static str,
    dash: &'static str,
    marker: usize,
    has_markers: bool,
    has_line: bool,
}

impl<'a> Plot<'a> {
    fn new(panel: &'a Panel, curves: &[&'a Series], [left, top]: [f64; 2]) -> Self {
        let guides = guides(panel, curves);
        let all = || curves.iter().copied().chain(&guides);
        let (bottom, right) = (top + PLOT_HEIGHT, left + PLOT_WIDTH);
        let horizontal = Axis::new(panel.x, all().flat_map(|curve| curve.x.iter().copied()), left, right);
        let vertical = Axis::new(panel.y, all().flat_map(|curve| curve.y.iter().copied()), bottom, top);
        let curves =
            curves.iter().enumerate().map(|(place, curve)| (*curve, Look::new(place, curve))).collect();
        Self { panel, curves, guides, left, top, horizontal, vertical }
    }

    /// Writes the panel and returns its full width.
    fn draw(&self, body: &mut String) -> f64 {
        self.draw_axes(body);
        let lines: Vec<_> = self.curves.iter().map(|(curve, look)| (self.lines(curve), *look)).collect();
        for guide in &self.guides {
            for line in self.lines(guide) {
                let _ = writeln!(
                    body,
                    "<path d=\"{}\" fill=\"none\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
                    path(&line)
                );
                // At the middle and to the right, where a rising line leaves room below.
                if let [[from_x, from_y], .., [to_x, to_y]] = line[..] {
                    let _ = writeln!(
                        body,
                        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#666\">{}</text>",
                        (from_x + to_x) / 2.0 + 8.0,
                        (from_y + to_y) / 2.0 + 14.0,
                        escaped(&guide.name)
                    );
                }
            }
        }
        for (lines, look) in &lines {
            for line in lines {
                look.draw(body, line);
            }
        }
        let all: Vec<[f64; 2]> =
            lines.iter().flat_map(|(lines, _)| lines).flat_map(|line| filled(line)).collect();
        LEFT + PLOT_WIDTH + RIGHT + self.draw_legend(body, &all)
    }

    fn lines(&self, curve: &Series) -> Vec<Vec<[f64; 2]>> {
        let lines = if curve.scattered { pixels } else { polylines };
        lines(&curve.x, &curve.y, &self.horizontal, &self.vertical)
    }

    fn draw_axes(&self, body: &mut String) {
        let (left, top, bottom) = (self.left, self.top, self.top + PLOT_HEIGHT);
        let centre = left + PLOT_WIDTH / 2.0;
        let (ticks, factor) = self.horizontal.ticks();
        for Tick { at, label } in ticks {
            let length = if label.is_some() { 6.0 } else { 3.0 };
            if let Some(label) = label {
                let _ = writeln!(body, "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#e4e4e4\"/>");
                let y = bottom + 20.0;
                let _ = writeln!(body, "<text x=\"{at:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
            }
            let _ = writeln!(body, "<path d=\"M{at:.1} {bottom}v-{length}\" stroke=\"#222\"/>");
        }
        let x_label = label(&self.curves, |curve| &curve.x_label, factor);
        let y = bottom + 44.0;
        let _ = writeln!(body, "<text x=\"{centre:.1}\" y=\"{y}\" text-anchor=\"middle\">{x_label}</text>");

        let (ticks, factor) = self.vertical.ticks();
        let right = left + PLOT_WIDTH;
        for Tick { at, label } in ticks {
            let length = if label.is_some() { 6.0 } else { 3.0 };
            if let Some(label) = label {
                let _ = writeln!(body, "<path d=\"M{left:.1} {at:.1}H{right:.1}\" stroke=\"#e4e4e4\"/>");
                let (x, y) = (left - 7.0, at + 4.5);
                let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
            }
            let _ = writeln!(body, "<path d=\"M{left:.1} {at:.1}h{length}\" stroke=\"#222\"/>");
        }
        let y_label = label(&self.curves, |curve| &curve.y_label, factor);
        let (x, y) = (left - 62.0, top + PLOT_HEIGHT / 2.0);
        let _ = writeln!(
            body,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{y_label}</text>"
        );
        let title = escaped(&self.panel.title);
        let y = top - 10.0;
        let _ = writeln!(body, "<text x=\"{centre:.1}\" y=\"{y}\" text-anchor=\"middle\">{title}</text>");
        let _ = writeln!(
            body,
            "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{PLOT_WIDTH}\" height=\"{PLOT_HEIGHT}\" fill=\"none\" stroke=\"#222\"/>"
        );
    }

    /// Puts the legend into a corner without curves, or else to the right of the plot; returns the width it
    /// adds.
    fn draw_legend(&self, body: &mut String, points: &[[f64; 2]]) -> f64 {
        let longest = self.curves.iter().map(|(curve, _)| curve.name.chars().count()).max().unwrap_or(0);
        if longest == 0 {
            return 0.0;
        }
        let width = 48.0 + LETTER_WIDTH * longest as f64;
        let height = 8.0 + LEGEND_ROW * self.curves.len() as f64;
        let (left, right) = (self.left + 10.0, self.left + PLOT_WIDTH - 10.0 - width);
        let (top, bottom) = (self.top + 10.0, self.top + PLOT_HEIGHT - 10.0 - height);
        let is_free = |corner: &[f64; 2]| {
            let hits = |point: &&[f64; 2]| {
                (-8.0..=width + 8.0).contains(&(point[0] - corner[0]))
                    && (-8.0..=height + 8.0).contains(&(point[1] - corner[1]))
            };
            !points.iter().any(|point| hits(&point))
        };
        let corners = [[right, top], [left, top], [left, bottom], [right, bottom]];
        // The lines of slope with their labels fill the lower right corner.
        let usable = if self.guides.is_empty() { &corners[..] } else { &corners[..3] };
        let free = usable.iter().copied().find(is_free);
        let corner = free.unwrap_or([self.left + PLOT_WIDTH + 14.0, self.top]);
        self.draw_legend_at(body, corner, [width, height]);
        if free.is_some() { 0.0 } else { width + 10.0 }
    }

    fn draw_legend_at(&self, body: &mut String, [left, top]: [f64; 2], [width, height]: [f64; 2]) {
        let _ = writeln!(
            body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"white\" \
             fill-opacity=\"0.9\" stroke=\"#aaa\"/>"
        );
        for (row, (curve, look)) in self.curves.iter().enumerate() {
            let y = top + 4.0 + LEGEND_ROW * (row as f64 + 0.5);
            look.draw_sample(body, [left + 8.0, y]);
            let (x, y) = (left + 42.0, y + 4.5);
            let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(&curve.name));
        }
    }
}

impl Look {
    fn new(place: usize, curve: &Series) -> Self {
        let has_markers = curve.scattered || curve.x.len() <= MAX_MARKERS;
        let dash = if has_markers { "" } else { DASHES[place % DASHES.len()] };
        Self {
            colour: COLOURS[place % COLOURS.len()],
            dash,
            marker: place,
            has_markers,
            has_line: !curve.scattered,
        }
    }

    fn draw(self, body: &mut String, line: &[[f64; 2]]) {
        let Self { colour, dash, .. } = self;
        if self.has_line {
            let _ = writeln!(
                body,
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" \
                 stroke-dasharray=\"{dash}\" stroke-linejoin=\"round\"/>",
                path(line)
            );
        }
        if self.has_markers {
            line.iter().for_each(|at| self.draw_marker(body, *at));
        }
    }

    fn draw_sample(self, body: &mut String, [x, y]: [f64; 2]) {
        self.draw_line(body, &[[x, y], [x + 26.0, y]]);
        if self.has_markers {
            self.draw_marker(body, [x + 13.0, y]);
        }
    }

    fn draw_line(self, body: &mut String, line: &[[f64; 2]]) {
        Self { has_markers: false, ..self }.draw(body, line);
    }

    fn draw_marker(self, body: &mut String, [x, y]: [f64; 2]) {
        let shape = match self.marker % 7 {
            0 => "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
            1 => "M-3.6 -3.6H3.6V3.6H-3.6Z",
            2 => "M0 -4.6L4.4 3.4H-4.4Z",
            3 => "M0 -5L5 0L0 5L-5 0Z",
            4 => "M0 4.6L4.4 -3.4H-4.4Z",
            5 => "M-4.5 0H4.5M0 -4.5V4.5",
            _ => "M-3.6 -3.6L3.6 3.6M-3.6 3.6L3.6 -3.6",
        };
        let colour = self.colour;
        let _ = writeln!(
            body,
            "<path transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\" fill=\"white\" stroke=\"{colour}\" \
             stroke-width=\"1.6\"/>"
        );
    }
}

/// Straight lines of the panel's slopes, each just below every curve.
fn guides(panel: &Panel, curves: &[&Series]) -> Vec<Series> {
    if panel.x != Scale::Logarithmic || panel.y != Scale::Logarithmic {
        return Vec::new();
    }
    let points: Vec<(f64, f64)> = curves
        .iter()
        .flat_map(|curve| curve.x.iter().copied().zip(curve.y.iter().copied()))
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .collect();
    let (low, high) =
        points.iter().fold((f64::INFINITY, 0.0), |(low, high), (x, _)| (x.min(low), x.max(high)));
    if low >= high {
        return Vec::new();
    }
    let line = |slope: &f64| {
        let factor = points.iter().map(|(x, y)| y / x.powf(*slope)).fold(f64::INFINITY, f64::min) / 2.0;
        let y = |x: f64| factor * x.powf(*slope);
        Series::new(format!("slope {slope}"), vec![low, high], vec![y(low), y(high)])
    };
    panel.slopes.iter().map(line).collect()
}

/// The label that the curves of a panel share, with the factor of the ticks.
fn label(curves: &[(&Series, Look)], of: impl Fn(&Series) -> &str, factor: Option<String>) -> String {
    let words = curves.iter().map(|(curve, _)| of(curve)).find(|label| !label.is_empty()).unwrap_or("");
    let factor = factor.map(|factor| format!("  ({factor})")).unwrap_or_default();
    escaped(&format!("{words}{factor}"))
}

fn path(line: &[[f64; 2]]) -> String {
    let mut path = String::new();
    for (place, [x, y]) in line.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if place == 0 { 'M' } else { 'L' });
    }
    path
}

/// Points at most a few pixels apart along a line, to see what it covers.
fn filled(line: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let between = |pair: &[[f64; 2]]| {
        let (from, to) = (pair[0], pair[1]);
        let steps = ((to[0] - from[0]).abs().max((to[1] - from[1]).abs()) / 5.0).ceil().max(1.0) as usize;
        (0..steps).map(move |step| {
            let part = step as f64 / steps as f64;
            [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])]
        })
    };
    line.windows(2).flat_map(between).chain(line.last().copied()).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convergence() -> Vec<Series> {
        let x: Vec<f64> = (0..6).map(|k| 4e-3 / f64::from(1 << k)).collect();
        let of = |order: f64| x.iter().map(|h: &f64| h.powf(order)).collect::<Vec<_>>();
        [("q", 2.0), ("λ <1>", 1.0)]
            .map(|(name, order)| Series::new(name, x.clone(), of(order)).labelled("h [s]", "error"))
            .to_vec()
    }

    #[test]
    fn a_figure_has_title_labels_legend_and_slopes() {
        let style = FigureStyle::side_by_side([Panel::log_log("SE(3)").with_slopes([2.0])]);
        let text = svg("Errors & orders", &style, &convergence());
        for words in [
            "Errors &amp; orders",
            ">h [s]<",
            ">error<",
            ">q<",
            ">λ &lt;1&gt;<",
            ">slope 2<",
            ">SE(3)<",
            ">10⁻³<",
        ] {
            assert!(text.contains(words), "{words}");
        }
    }

    #[test]
    fn every_coordinate_is_a_number_even_for_strange_data() {
        let strange = vec![0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300];
        let series = [Series::new("strange", strange.clone(), strange), Series::new("none", vec![], vec![])];
        for style in [FigureStyle::linear(), FigureStyle::log_log()] {
            let text = svg("Strange", &style, &series);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }

    #[test]
    fn scattered_points_are_all_drawn() {
        let (x, y) = (vec![1.0; 9], (0..9).map(f64::from).collect());
        let text = svg("Points", &FigureStyle::linear(), &[Series::new("", x, y).as_points()]);
        assert_eq!(text.matches("<path transform").count(), 9);
    }

    #[test]
    fn a_legend_without_a_free_corner_stands_beside_the_plot() {
        let x: Vec<f64> = (0..2000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| (x * 0.7).sin()).collect();
        let busy = svg("Busy", &FigureStyle::linear(), &[Series::new("everywhere", x, y)]);
        let calm = svg("Calm", &FigureStyle::log_log(), &convergence());
        let width = |text: &str| {
            text.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok())
        };
        assert!(width(&busy) > width(&calm));
    }
}
