//! Sections of beams, seen against their x axis: y to the right, z upwards.

use super::pen::{AXES, FORCE, INK, MEASURE, framed};
use std::fmt::Write;

/// Pixels of the largest half size.
const HALF: f64 = 80.0;

/// A drawing in the making; y counts downwards on the paper.
#[derive(Default)]
struct Sheet {
    body: String,
    corners: Vec<[f64; 2]>,
}

impl Sheet {
    fn outline(&mut self, path: &str) {
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"#8db8ed\" fill-rule=\"evenodd\" stroke=\"#3a434e\" stroke-width=\"1.4\"/>"
        );
        self.corners.extend([[-HALF, -HALF], [HALF, HALF]]);
    }

    fn words(&mut self, [x, y]: [f64; 2], colour: &str, text: &str) {
        let half = 4.4 * text.chars().count() as f64;
        let _ =
            writeln!(self.body, "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\">{text}</text>", y + 5.0);
        self.corners.extend([[x - half, y - 10.0], [x + half, y + 10.0]]);
    }

    fn head(&mut self, [x, y]: [f64; 2], [u, v]: [f64; 2], colour: &str) {
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{colour}\"/>",
            x,
            y,
            x - 9.0 * u + 3.4 * v,
            y - 9.0 * v - 3.4 * u,
            x - 9.0 * u - 3.4 * v,
            y - 9.0 * v + 3.4 * u
        );
    }

    fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &str, heads: [bool; 2]) {
        let _ = writeln!(
            self.body,
            "<path class=\"s\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
            from[0], from[1], to[0], to[1]
        );
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
        if heads[1] {
            self.head(to, along, colour);
        }
        if heads[0] {
            self.head(from, along.map(|part| -part), colour);
        }
        self.corners.extend([from, to]);
    }

    /// A length with its key.
    fn length(&mut self, from: [f64; 2], to: [f64; 2], at: [f64; 2], key: &str) {
        self.line(from, to, MEASURE, [true; 2]);
        self.words(at, MEASURE, key);
    }

    /// The axes: x comes out of the paper.
    fn axes(&mut self) {
        self.line([0.0, 0.0], [HALF + 42.0, 0.0], AXES[1], [false, true]);
        self.words([HALF + 52.0, 0.0], AXES[1], "y");
        self.line([0.0, 0.0], [0.0, -HALF - 36.0], AXES[2], [false, true]);
        self.words([0.0, -HALF - 46.0], AXES[2], "z");
        let _ = writeln!(
            self.body,
            "<circle r=\"6\" fill=\"#fff\" stroke=\"{0}\" stroke-width=\"1.8\"/><circle r=\"2\" fill=\"{0}\"/>",
            AXES[0]
        );
        self.words([-15.0, 14.0], AXES[0], "x");
    }

    fn finish(self, name: &str) -> (String, String) {
        (name.to_owned(), framed(name, &self.body, &self.corners))
    }
}

fn circle(radius: f64) -> String {
    format!(
        "M{:.1} 0A{radius} {radius} 0 1 0 {radius:.1} 0A{radius} {radius} 0 1 0 {:.1} 0Z",
        -radius, -radius
    )
}

/// Every shape of a section, and where its centres may lie.
pub fn all() -> impl Iterator<Item = (String, String)> {
    let mut sheets = Vec::new();
    let slant = |radius: f64| [0.71 * radius, 0.71 * radius];
    let mut round = Sheet::default();
    round.outline(&circle(HALF));
    round.axes();
    round.length([0.0, 0.0], slant(HALF), [HALF + 6.0, 72.0], "radius");
    sheets.push(round.finish("section-circle"));

    let mut tube = Sheet::default();
    tube.outline(&format!("{}{}", circle(HALF), circle(0.6 * HALF)));
    tube.axes();
    tube.length([0.0, 0.0], slant(HALF), [HALF + 34.0, 72.0], "outer-radius");
    let [x, y] = slant(0.6 * HALF);
    tube.length([0.0, 0.0], [-x, y], [-HALF - 30.0, 72.0], "inner-radius");
    sheets.push(tube.finish("section-tube"));

    let mut bar = Sheet::default();
    bar.outline("M-50 -80H50V80H-50Z");
    bar.axes();
    bar.length([-50.0, 96.0], [50.0, 96.0], [0.0, 112.0], "width");
    bar.length([-68.0, -80.0], [-68.0, 80.0], [-104.0, 0.0], "height");
    sheets.push(bar.finish("section-rectangle"));

    let mut beam = Sheet::default();
    beam.outline("M-60 -80H60V-58H8V58H60V80H-60V58H-8V-58H-60Z");
    beam.axes();
    beam.length([-60.0, 96.0], [60.0, 96.0], [0.0, 112.0], "width");
    beam.length([-78.0, -80.0], [-78.0, 80.0], [-114.0, 0.0], "height");
    beam.length([78.0, 58.0], [78.0, 80.0], [152.0, 69.0], "flange-thickness");
    beam.line([-26.0, 30.0], [-8.0, 30.0], MEASURE, [false, true]);
    beam.line([26.0, 30.0], [8.0, 30.0], MEASURE, [false, true]);
    beam.words([88.0, 30.0], MEASURE, "web-thickness");
    sheets.push(beam.finish("section-i-section"));

    let mut centres = Sheet::default();
    centres.outline("M-40 -80H60V-56H-14V56H60V80H-40Z");
    centres.axes();
    for ([x, y], colour, key, at) in [
        ([22.0, -18.0], FORCE, "elastic-centre", [92.0, -22.0]),
        ([-72.0, 18.0], MEASURE, "shear-centre", [-132.0, 22.0]),
        ([36.0, 26.0], INK, "mass-centre", [92.0, 30.0]),
    ] {
        let _ = writeln!(
            centres.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"4.5\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"1.5\"/>"
        );
        centres.words(at, colour, key);
    }
    sheets.push(centres.finish("section-centres"));
    sheets.into_iter()
}
