//! Solids, arrows and letters in space, as a flat picture in SVG.
//!
//! Faces are put in order by a tree of planes, which cuts those that reach through others, so that what is
//! nearer is always drawn later.

use kreisel::lie::{Pose, Vector3};
use std::collections::HashMap;
use std::fmt::Write;

/// Colours of the axes x, y and z.
pub const AXES: [&str; 3] = ["#c93434", "#24864a", "#2f5fc8"];
/// Colour of coordinates and lengths.
pub const MEASURE: &str = "#a34a00";
/// Colour of forces and torques.
pub const FORCE: &str = "#7d2aa6";
/// Colour of what explains.
pub const INK: &str = "#333";

/// Pixels a metre.
const SCALE: f64 = 210.0;
const MARGIN: f64 = 16.0;
const LETTERS: f64 = 15.0;
/// Edges between faces that turn by more than about 40° are drawn.
const CREASE: f64 = 0.77;

/// A closed surface of flat, convex faces, their corners anticlockwise seen from outside.
#[derive(Clone, Default)]
pub struct Solid {
    points: Vec<Vector3>,
    faces: Vec<Vec<usize>>,
}

impl Solid {
    /// A box about the origin.
    pub fn cuboid(size: [f64; 3]) -> Self {
        let corner = |k: usize| {
            Vector3::from_fn(|axis, _| if k >> axis & 1 == 1 { 0.5 * size[axis] } else { -0.5 * size[axis] })
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Self { points: (0..8).map(corner).collect(), faces: faces.map(Vec::from).to_vec() }
    }

    /// What a profile of radius and height sweeps about z; from the lower end outside round to the upper end.
    pub fn revolution(profile: &[[f64; 2]], slices: usize) -> Self {
        let mut solid = Self::default();
        let ring = |solid: &mut Self, [radius, height]: [f64; 2]| -> Vec<usize> {
            let first = solid.points.len();
            for slice in 0..slices {
                let (sin, cos) = (slice as f64 / slices as f64 * std::f64::consts::TAU).sin_cos();
                solid.points.push(Vector3::new(radius * cos, radius * sin, height));
            }
            (first..first + slices).collect()
        };
        let rings: Vec<Vec<usize>> = profile.iter().map(|place| ring(&mut solid, *place)).collect();
        for pair in rings.windows(2) {
            for slice in 0..slices {
                let next = (slice + 1) % slices;
                solid.faces.push(vec![pair[0][slice], pair[0][next], pair[1][next], pair[1][slice]]);
            }
        }
        solid
    }

    /// A cylinder about the origin along z.
    pub fn cylinder(radius: f64, length: f64) -> Self {
        let half = 0.5 * length;
        let mut solid = Self::revolution(&[[radius, -half], [radius, half]], 28);
        solid.faces.push((0..28).rev().collect());
        solid.faces.push((28..56).collect());
        solid
    }

    /// A sphere about the origin.
    pub fn sphere(radius: f64) -> Self {
        let rows = 14;
        let place = |row: usize| {
            let (sin, cos) = (row as f64 / rows as f64 * std::f64::consts::PI).sin_cos();
            // Poles of a hair's width keep every face a quadrangle.
            [radius * sin.max(1e-3), -radius * cos]
        };
        Self::revolution(&(0..=rows).map(place).collect::<Vec<_>>(), 28)
    }

    /// The same elsewhere.
    pub fn placed(mut self, pose: &Pose) -> Self {
        self.points.iter_mut().for_each(|point| *point = pose.transform_point(point));
        self
    }

    fn normal(&self, face: &[usize]) -> Vector3 {
        let corners: Vec<Vector3> = face.iter().map(|index| self.points[*index]).collect();
        newell(&corners)
    }
}

/// The normal of a polygon, also where two of its corners are one.
fn newell(corners: &[Vector3]) -> Vector3 {
    let sum: Vector3 = (0..corners.len()).map(|k| corners[k].cross(&corners[(k + 1) % corners.len()])).sum();
    sum.try_normalize(0.0).unwrap_or_default()
}

/// A flat, convex piece of a surface; an edge leads from its corner to the next one.
#[derive(Clone)]
struct Face {
    corners: Vec<Vector3>,
    is_drawn: Vec<bool>,
    normal: Vector3,
    colour: String,
}

/// Distance in m below which a corner lies in a plane.
const FLAT: f64 = 1e-7;

impl Face {
    /// The pieces behind and before the plane of another face.
    fn cut(&self, plane: &Self) -> [Option<Self>; 2] {
        let height = |point: &Vector3| plane.normal.dot(&(point - plane.corners[0]));
        let heights: Vec<f64> = self.corners.iter().map(height).collect();
        if heights.iter().all(|height| *height <= FLAT) {
            return [Some(self.clone()), None];
        }
        if heights.iter().all(|height| *height >= -FLAT) {
            return [None, Some(self.clone())];
        }
        [-1.0, 1.0].map(|side| {
            let (mut corners, mut is_drawn) = (Vec::new(), Vec::new());
            for k in 0..self.corners.len() {
                let next = (k + 1) % self.corners.len();
                let (here, there) = (side * heights[k], side * heights[next]);
                if here >= 0.0 {
                    corners.push(self.corners[k]);
                    // From here the cut begins, which is no edge of the solid.
                    is_drawn.push(self.is_drawn[k]);
                }
                if here * there < 0.0 {
                    let part = here / (here - there);
                    corners.push(self.corners[k] + part * (self.corners[next] - self.corners[k]));
                    is_drawn.push(here < 0.0 && self.is_drawn[k]);
                }
            }
            Some(Self { corners, is_drawn, ..self.clone() }).filter(|face| face.corners.len() > 2)
        })
    }
}

/// What lies farther first, for somebody who looks against `towards`.
fn in_order(mut faces: Vec<Face>, towards: &Vector3, into: &mut Vec<Face>) {
    if faces.is_empty() {
        return;
    }
    let plane = faces.swap_remove(faces.len() / 2);
    let (mut behind, mut before) = (Vec::new(), Vec::new());
    for face in &faces {
        let [back, front] = face.cut(&plane);
        behind.extend(back);
        before.extend(front);
    }
    if plane.normal.dot(towards) < 0.0 {
        (behind, before) = (before, behind);
    }
    in_order(behind, towards, into);
    into.push(plane);
    in_order(before, towards, into);
}

/// Something thin that lies over all solids.
struct Stroke {
    points: Vec<Vector3>,
    colour: String,
    width: f64,
    is_dashed: bool,
    /// Heads at the start and at the end.
    heads: [bool; 2],
}

/// Words beside a place, shifted by pixels.
struct Words {
    place: Vector3,
    shift: [f64; 2],
    text: String,
    colour: String,
}

/// A picture in the making, without perspective.
pub struct Pen {
    right: Vector3,
    above: Vector3,
    towards: Vector3,
    faces: Vec<Face>,
    strokes: Vec<Stroke>,
    words: Vec<Words>,
}

impl Pen {
    /// Looks from a direction: degrees about z from −y to the right, and degrees above the ground.
    pub fn from([azimuth, elevation]: [f64; 2]) -> Self {
        let (sin, cos) = azimuth.to_radians().sin_cos();
        let (up, level) = elevation.to_radians().sin_cos();
        let right = Vector3::new(cos, sin, 0.0);
        let towards = Vector3::new(level * sin, -level * cos, up);
        let above = towards.cross(&right);
        Self { right, above, towards, faces: Vec::new(), strokes: Vec::new(), words: Vec::new() }
    }

    /// Adds a solid in a colour.
    pub fn solid(&mut self, solid: &Solid, colour: [f64; 3]) {
        let is_seen = |face: &[usize]| solid.normal(face).dot(&self.towards) > 1e-9;
        let mut beside: HashMap<(usize, usize), usize> = HashMap::new();
        for (index, face) in solid.faces.iter().enumerate() {
            for k in 0..face.len() {
                beside.insert((face[k], face[(k + 1) % face.len()]), index);
            }
        }
        let lamp = (self.towards + 0.9 * self.above - 0.5 * self.right).normalize();
        for face in solid.faces.iter().filter(|face| is_seen(face)) {
            let normal = solid.normal(face);
            let edge = |k: usize| {
                let other = beside.get(&(face[(k + 1) % face.len()], face[k]));
                other.is_none_or(|other| {
                    let other = &solid.faces[*other];
                    !is_seen(other) || solid.normal(other).dot(&normal) < CREASE
                })
            };
            let light = 0.62 + 0.38 * normal.dot(&lamp).max(0.0);
            let [red, green, blue] =
                colour.map(|part| (255.0 * part * light).clamp(0.0, 255.0).round() as u8);
            self.faces.push(Face {
                corners: face.iter().map(|index| solid.points[*index]).collect(),
                is_drawn: (0..face.len()).map(edge).collect(),
                normal,
                colour: format!("#{red:02x}{green:02x}{blue:02x}"),
            });
        }
    }

    /// A line through points.
    pub fn line(&mut self, points: &[Vector3], colour: &str, is_dashed: bool) {
        let (points, colour) = (points.to_vec(), colour.to_owned());
        self.strokes.push(Stroke { points, colour, width: 1.4, is_dashed, heads: [false; 2] });
    }

    /// A line on a round surface about an axis, as far as it is seen.
    pub fn line_around(&mut self, points: &[Vector3], axis: &Pose, colour: &str) {
        let along = axis.rotation * Vector3::z();
        let is_seen = |point: &Vector3| {
            let out = point - axis.position;
            (out - along * along.dot(&out)).dot(&self.towards) > 0.0
        };
        let runs: Vec<Vec<Vector3>> = points
            .chunk_by(|a, b| is_seen(a) == is_seen(b))
            .filter(|run| is_seen(&run[0]))
            .map(<[_]>::to_vec)
            .collect();
        runs.iter().for_each(|run| self.line(run, colour, false));
    }

    /// A line through points with a head at its end, and words there.
    pub fn path(&mut self, points: &[Vector3], colour: &str, words: &str) {
        let [.., before, tip] = points else { return };
        let along = self.flat(&(tip - before));
        self.beside(tip, [16.0 * along[0], 16.0 * along[1]], words, colour);
        let (points, colour) = (points.to_vec(), colour.to_owned());
        self.strokes.push(Stroke { points, colour, width: 2.4, is_dashed: false, heads: [false, true] });
    }

    /// An arrow with words at its tip.
    pub fn arrow(&mut self, from: &Vector3, to: &Vector3, colour: &str, words: &str) {
        self.path(&[*from, *to], colour, words);
    }

    /// A length between two points, with words beside its middle.
    pub fn span(&mut self, from: &Vector3, to: &Vector3, shift: [f64; 2], words: &str) {
        let middle = 0.5 * (from + to);
        self.beside(&middle, shift, words, MEASURE);
        self.strokes.push(Stroke {
            points: vec![*from, *to],
            colour: MEASURE.to_owned(),
            width: 2.0,
            is_dashed: false,
            heads: [true; 2],
        });
    }

    /// An arc about an axis through a centre, from a direction on by an angle, with words beside its middle.
    pub fn arc(
        &mut self,
        centre: &Vector3,
        axis: &Vector3,
        from: &Vector3,
        angle: f64,
        words: &str,
        colour: &str,
    ) {
        let point = |part: f64| {
            let turn = nalgebra::UnitQuaternion::from_scaled_axis(axis.normalize() * (part * angle));
            centre + turn * from
        };
        let points: Vec<Vector3> = (0..=24).map(|k| point(f64::from(k) / 24.0)).collect();
        let outwards = self.flat(&(point(0.55) - centre));
        self.beside(&point(0.55), [17.0 * outwards[0], 17.0 * outwards[1]], words, colour);
        self.strokes.push(Stroke {
            points,
            colour: colour.to_owned(),
            width: 2.4,
            is_dashed: false,
            heads: [false, true],
        });
    }

    /// The axes of a frame with their letters; `mark` follows each letter.
    pub fn triad(&mut self, frame: &Pose, length: f64, mark: &str) {
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let tip = frame.transform_point(&Vector3::from_fn(|k, _| if k == axis { length } else { 0.0 }));
            self.arrow(&frame.position, &tip, AXES[axis], &format!("{letter}{mark}"));
        }
    }

    /// Words beside a place.
    pub fn beside(&mut self, place: &Vector3, shift: [f64; 2], words: &str, colour: &str) {
        if !words.is_empty() {
            let (place, text, colour) = (*place, words.to_owned(), colour.to_owned());
            self.words.push(Words { place, shift, text, colour });
        }
    }

    /// The direction of a vector on the paper, y downwards.
    fn flat(&self, vector: &Vector3) -> [f64; 2] {
        let [x, y] = [self.right.dot(vector), -self.above.dot(vector)];
        let length = x.hypot(y).max(1e-9);
        [x / length, y / length]
    }

    fn at(&self, point: &Vector3) -> [f64; 2] {
        [SCALE * self.right.dot(point), -SCALE * self.above.dot(point)]
    }

    /// The picture.
    pub fn svg(self, title: &str) -> String {
        let mut faces = Vec::new();
        in_order(self.faces.clone(), &self.towards, &mut faces);
        let (mut body, mut corners) = (String::new(), Vec::new());
        for face in &faces {
            let points: Vec<[f64; 2]> = face.corners.iter().map(|corner| self.at(corner)).collect();
            let colour = &face.colour;
            let _ = writeln!(
                body,
                "<path d=\"{}Z\" fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\".7\"/>",
                polyline(&points)
            );
            let edges: String = (0..points.len())
                .filter(|k| face.is_drawn[*k])
                .map(|k| polyline(&[points[k], points[(k + 1) % points.len()]]))
                .collect();
            if !edges.is_empty() {
                let _ = writeln!(body, "<path class=\"e\" d=\"{edges}\"/>");
            }
            corners.extend(points);
        }
        for stroke in &self.strokes {
            let points: Vec<[f64; 2]> = stroke.points.iter().map(|point| self.at(point)).collect();
            draw_stroke(&mut body, stroke, &points);
            corners.extend(points);
        }
        for Words { place, shift, text, colour } in &self.words {
            let [x, y] = self.at(place);
            let [x, y] = [x + shift[0], y + shift[1]];
            let half = 0.27 * LETTERS * text.chars().count() as f64;
            // Words stand beyond the tip, not over it.
            let x = x + shift[0].signum() * if shift[0].abs() > 5.0 { half - 4.0 } else { 0.0 };
            let _ = writeln!(
                body,
                "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\">{text}</text>",
                y + 0.35 * LETTERS
            );
            corners.extend([[x - half, y - 0.6 * LETTERS], [x + half, y + 0.6 * LETTERS]]);
        }
        framed(title, &body, &corners)
    }
}

fn draw_stroke(body: &mut String, stroke: &Stroke, points: &[[f64; 2]]) {
    let Stroke { colour, width, is_dashed, heads, .. } = stroke;
    let dash = if *is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
    let line = polyline(points);
    let _ =
        writeln!(body, "<path class=\"s\" d=\"{line}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>");
    let ends = [(heads[0], 0, 1), (heads[1], points.len() - 1, points.len().saturating_sub(2))];
    for (_, tip, before) in ends.into_iter().filter(|(is_there, ..)| *is_there) {
        let ([x, y], [from_x, from_y]) = (points[tip], points[before]);
        let length = (x - from_x).hypot(y - from_y);
        // Seen along itself an arrow has no head.
        if length < 0.5 {
            continue;
        }
        let [u, v] = [(x - from_x) / length, (y - from_y) / length];
        let (long, wide) = (4.6 * width, 1.7 * width);
        let (x, y) = (x + 1.2 * width * u, y + 1.2 * width * v);
        let corners = [
            [x, y],
            [x - long * u + wide * v, y - long * v - wide * u],
            [x - long * u - wide * v, y - long * v + wide * u],
        ];
        let _ = writeln!(body, "<path d=\"{}Z\" fill=\"{colour}\"/>", polyline(&corners));
    }
}

fn polyline(points: &[[f64; 2]]) -> String {
    let mut path = String::new();
    for (place, [x, y]) in points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if place == 0 { 'M' } else { 'L' });
    }
    path
}

/// A picture around all corners, on white.
pub fn framed(title: &str, body: &str, corners: &[[f64; 2]]) -> String {
    let range = |axis: usize| {
        let along = corners.iter().map(|corner| corner[axis]);
        along.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)))
    };
    let ((left, right), (top, bottom)) = (range(0), range(1));
    let (width, height) = (right - left + 2.0 * MARGIN, bottom - top + 2.0 * MARGIN);
    let (left, top) = (left - MARGIN, top - MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"{left:.1} {top:.1} {width:.1} {height:.1}\" \
         font-family=\"'DejaVu Sans', Arial, Helvetica, sans-serif\" font-size=\"{LETTERS}\" text-anchor=\"middle\">\n<title>{title}</title>\n\
         <style>.e{{stroke:#3a434e;stroke-width:1.1;stroke-linecap:round;fill:none}}.s{{fill:none;stroke-linejoin:round}}\
         text{{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}}</style>\n\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"8\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}
