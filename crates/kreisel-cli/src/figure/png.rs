//! A figure in pixels, with letters that are part of the program: no font needs to be installed.
//!
//! Reads the few elements of SVG that [`super::svg`] and pictures of machines write, `path`, `rect` and
//! `text` with translations and rotations, and nothing else: whatever is not understood is an error, never
//! left out.

use super::letters::Letters;
use std::collections::HashMap;
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

/// Pixels for each unit of the figure: sharp on screens of high resolution and in print.
const SCALE: f32 = 2.0;
/// Width of the line around bold letters, in sizes of letters: one font does for both.
const BOLD: f32 = 0.05;

/// Why a figure cannot be drawn in pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The figure is not what can be drawn.
    #[error("cannot draw the figure: {0}")]
    Drawing(String),
    /// A figure of no or of an enormous size.
    #[error("cannot draw a figure of {width} × {height} pixels")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
}

/// The figure in pixels.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let figure = Figure::read(svg)?;
    let [width, height] = figure.size.map(|size| (SCALE * size).ceil() as u32);
    let mut picture = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    figure.draw(&mut picture, SCALE)?;
    picture.encode_png().map_err(|error| PngError::Drawing(error.to_string()))
}

/// Draws over a picture that is there, one pixel for each unit.
pub fn draw_over(svg: &str, picture: &mut Pixmap) -> Result<(), PngError> {
    Figure::read(svg)?.draw(picture, 1.0)
}

/// An element and the text inside of it.
struct Element<'a> {
    name: &'a str,
    attributes: HashMap<&'a str, &'a str>,
    text: &'a str,
}

struct Figure<'a> {
    root: Element<'a>,
    size: [f32; 2],
    elements: Vec<Element<'a>>,
}

fn strange(what: &str) -> PngError {
    PngError::Drawing(format!("`{what}` is not understood"))
}

impl<'a> Figure<'a> {
    fn read(svg: &'a str) -> Result<Self, PngError> {
        let mut elements = Vec::new();
        for piece in svg.split('<').skip(1).filter(|piece| !piece.starts_with('/')) {
            let (tag, text) = piece.split_once('>').ok_or_else(|| strange(piece))?;
            let tag = tag.strip_suffix('/').unwrap_or(tag);
            let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
            elements.push(Element { name, attributes: attributes(rest)?, text });
        }
        if elements.first().is_none_or(|first| first.name != "svg") {
            return Err(strange(svg.lines().next().unwrap_or_default()));
        }
        let root = elements.remove(0);
        let size = [root.required("width")?, root.required("height")?];
        Ok(Self { root, size, elements })
    }

    fn draw(&self, picture: &mut Pixmap, scale: f32) -> Result<(), PngError> {
        let letters = Letters::load();
        for element in &self.elements {
            let transform = element.transform()?.post_scale(scale, scale);
            match element.name {
                "title" => {}
                "path" => self.paint(picture, element, transform, path(element.word("d"))?)?,
                "rect" => {
                    let length = |name: &str, whole: f32| match element.attributes.get(name) {
                        Some(&"100%") => Ok(whole),
                        Some(text) => number(text),
                        None => Ok(0.0),
                    };
                    let [width, height] = [("width", self.size[0]), ("height", self.size[1])];
                    let [width, height] = [length(width.0, width.1)?, length(height.0, height.1)?];
                    let rect = Rect::from_xywh(length("x", 0.0)?, length("y", 0.0)?, width, height);
                    self.paint(picture, element, transform, rect.map(PathBuilder::from_rect))?;
                }
                "text" => {
                    let size = number(self.inherited(element, "font-size", "16"))?;
                    let words = unescaped(element.text);
                    let shift = match element.word("text-anchor") {
                        "middle" => 0.5,
                        "end" => 1.0,
                        _ => 0.0,
                    };
                    let left = element.number("x", 0.0)? - shift * letters.width(&words, size);
                    let path = letters.outline(&words, [left, element.number("y", 0.0)?], size);
                    if let (Some(path), "bold") = (&path, element.word("font-weight")) {
                        let ink =
                            colour(self.inherited(element, "fill", "black"))?.unwrap_or(Color::TRANSPARENT);
                        let stroke = Stroke { width: BOLD * size, ..Stroke::default() };
                        picture.stroke_path(path, &paint(ink), &stroke, transform, None);
                    }
                    self.paint(picture, element, transform, path)?;
                }
                other => return Err(strange(other)),
            }
        }
        Ok(())
    }

    fn inherited(&self, element: &Element<'a>, name: &str, otherwise: &'a str) -> &'a str {
        let given = element.attributes.get(name).or_else(|| self.root.attributes.get(name));
        given.copied().unwrap_or(otherwise)
    }

    /// Fills and strokes a path as its element says; one without a point has nothing to be seen.
    fn paint(
        &self,
        picture: &mut Pixmap,
        element: &Element<'a>,
        transform: Transform,
        path: Option<Path>,
    ) -> Result<(), PngError> {
        let Some(path) = path else { return Ok(()) };
        if let Some(mut colour) = colour(self.inherited(element, "fill", "black"))? {
            colour.apply_opacity(element.number("fill-opacity", 1.0)?);
            picture.fill_path(&path, &paint(colour), FillRule::Winding, transform, None);
        }
        if let Some(colour) = colour(self.inherited(element, "stroke", "none"))? {
            let dashes = element.word("stroke-dasharray").split_whitespace().map(number);
            let dashes = dashes.collect::<Result<Vec<f32>, _>>()?;
            let line_join = match element.word("stroke-linejoin") {
                "round" => LineJoin::Round,
                _ => LineJoin::Miter,
            };
            let stroke = Stroke {
                width: element.number("stroke-width", 1.0)?,
                line_join,
                dash: StrokeDash::new(dashes, 0.0),
                ..Stroke::default()
            };
            picture.stroke_path(&path, &paint(colour), &stroke, transform, None);
        }
        Ok(())
    }
}

impl Element<'_> {
    fn word(&self, name: &str) -> &str {
        self.attributes.get(name).copied().unwrap_or_default()
    }

    fn number(&self, name: &str, otherwise: f32) -> Result<f32, PngError> {
        self.attributes.get(name).map_or(Ok(otherwise), |text| number(text))
    }

    fn required(&self, name: &str) -> Result<f32, PngError> {
        number(self.word(name))
    }

    /// `translate(x y)` and `rotate(angle)`, the last one applied first.
    fn transform(&self) -> Result<Transform, PngError> {
        let mut all = Transform::identity();
        for call in self.word("transform").split_inclusive(')') {
            let (name, rest) = call.trim().split_once('(').ok_or_else(|| strange(call))?;
            let numbers = rest.trim_end_matches(')').split_whitespace().map(number);
            all = match (name, &numbers.collect::<Result<Vec<f32>, _>>()?[..]) {
                ("translate", [x, y]) => all.pre_translate(*x, *y),
                ("rotate", [angle]) => all.pre_concat(Transform::from_rotate(*angle)),
                _ => return Err(strange(call)),
            };
        }
        Ok(all)
    }
}

/// Names and values of `a="1" b="2"`.
fn attributes(mut text: &str) -> Result<HashMap<&str, &str>, PngError> {
    let mut all = HashMap::new();
    while let Some((name, rest)) = text.split_once("=\"") {
        let (value, rest) = rest.split_once('"').ok_or_else(|| strange(text))?;
        all.insert(name.trim(), value);
        text = rest;
    }
    if text.trim().is_empty() { Ok(all) } else { Err(strange(text)) }
}

fn number(text: &str) -> Result<f32, PngError> {
    text.parse().map_err(|_| strange(text))
}

fn paint(colour: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour);
    paint
}

/// A colour by its name or its six or three digits; `none` for nothing to be drawn.
fn colour(text: &str) -> Result<Option<Color>, PngError> {
    let known = match text {
        "none" => return Ok(None),
        "white" => "#ffffff",
        "black" => "#000000",
        other => other,
    };
    let digits = known.strip_prefix('#').ok_or_else(|| strange(text))?;
    let value = u32::from_str_radix(digits, 16).map_err(|_| strange(text))?;
    let [red, green, blue] = match digits.len() {
        6 => [value >> 16, value >> 8, value].map(|part| (part & 0xff) as u8),
        3 => [value >> 8, value >> 4, value].map(|part| 17 * (part & 0xf) as u8),
        _ => return Err(strange(text)),
    };
    Ok(Some(Color::from_rgba8(red, green, blue, 255)))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The path of a `d` with absolute `M`, `L`, `H`, `V`, `Z`, relative `h`, `v` and half circles `A`.
fn path(text: &str) -> Result<Option<Path>, PngError> {
    let mut builder = PathBuilder::new();
    let mut at = [0.0_f32; 2];
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let end = rest[1..].find(|sign: char| sign.is_ascii_alphabetic() && sign != 'e');
        let (piece, next) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let numbers = piece[letter.len_utf8()..].split_whitespace().map(number);
        let numbers = numbers.collect::<Result<Vec<f32>, _>>()?;
        match (letter, &numbers[..]) {
            ('M', &[x, y]) => {
                at = [x, y];
                builder.move_to(x, y);
            }
            ('Z', []) => builder.close(),
            ('A', &[radius, _, _, _, _, x, y]) => {
                half_circle(&mut builder, at, [x, y], radius);
                at = [x, y];
            }
            (letter, numbers) => {
                at = match (letter, numbers) {
                    ('L', &[x, y]) => [x, y],
                    ('H', &[x]) => [x, at[1]],
                    ('V', &[y]) => [at[0], y],
                    ('h', &[x]) => [at[0] + x, at[1]],
                    ('v', &[y]) => [at[0], at[1] + y],
                    _ => return Err(strange(piece)),
                };
                builder.line_to(at[0], at[1]);
            }
        }
        rest = next;
    }
    Ok(builder.finish())
}

/// Half a circle from one end of a level diameter to the other, over its upper side seen from the left end,
/// by two cubics.
fn half_circle(builder: &mut PathBuilder, from: [f32; 2], to: [f32; 2], radius: f32) {
    // Length of the handles of a quarter of a circle, in radii.
    const HANDLE: f32 = 0.552_284_8;
    let along = if to[0] > from[0] { radius } else { -radius };
    let (handle, up) = (HANDLE * along, -along);
    let [x, y] = [0.5 * (from[0] + to[0]), from[1]];
    builder.cubic_to(from[0], y - handle, x - handle, y + up, x, y + up);
    builder.cubic_to(x + handle, y + up, to[0], y - handle, to[0], to[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(inside: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"30\" font-family=\"'DejaVu Sans'\">\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>{inside}</svg>"
        )
    }

    /// Dark pixels of a drawing, left to right and top to bottom.
    fn dark(inside: &str) -> Vec<(u32, u32)> {
        let picture = Pixmap::decode_png(&png(&figure(inside)).unwrap()).unwrap();
        let all = (0..picture.height()).flat_map(|y| (0..picture.width()).map(move |x| (x, y)));
        all.filter(|(x, y)| picture.pixel(*x, *y).unwrap().red() < 128).collect()
    }

    #[test]
    fn a_figure_has_letters_in_pixels() {
        assert!(dark("").is_empty());
        let letters = dark("<text x=\"5\" y=\"20\">Ωz</text>");
        assert!(letters.len() > 50, "{} dark pixels", letters.len());
        // On the base line at y = 20, twice as many pixels; no taller than a letter.
        assert!(letters.iter().all(|(x, y)| *x >= 10 && (14..=41).contains(y)), "{letters:?}");
    }

    #[test]
    fn words_stand_where_their_anchor_says_and_turn() {
        let columns = |inside: &str| {
            let all = dark(inside);
            let columns = all.iter().map(|(x, _)| *x);
            (columns.clone().min().unwrap(), columns.max().unwrap())
        };
        let (start, _) = columns("<text x=\"30\" y=\"20\">HH</text>");
        let (left, right) = columns("<text x=\"30\" y=\"20\" text-anchor=\"middle\">HH</text>");
        let (_, end) = columns("<text x=\"30\" y=\"20\" text-anchor=\"end\">HH</text>");
        assert!(
            start >= 60 && end <= 60 && (left + right).abs_diff(120) <= 2,
            "{start} {left} {right} {end}"
        );
        let [plain, bold] = ["normal", "bold"]
            .map(|weight| dark(&format!("<text x=\"5\" y=\"20\" font-weight=\"{weight}\">HH</text>")).len());
        assert!(bold > plain + plain / 10, "{plain} {bold}");
        let turned = dark("<text transform=\"translate(30 25) rotate(-90)\" font-size=\"13\">HHH</text>");
        let (height, width) = (turned.iter().map(|p| p.1), turned.iter().map(|p| p.0));
        let extent = |all: &mut dyn Iterator<Item = u32>| {
            let all: Vec<u32> = all.collect();
            all.iter().max().unwrap() - all.iter().min().unwrap()
        };
        assert!(extent(&mut height.into_iter()) > 2 * extent(&mut width.into_iter()));
    }

    #[test]
    fn lines_rectangles_circles_and_dashes_cover_what_they_should() {
        // A square of 10 units is 400 pixels, a circle of radius 8 units π 256.
        assert_eq!(dark("<path d=\"M5 5H15V15H5Z\"/>").len(), 400);
        let circle =
            dark("<path transform=\"translate(30 15)\" d=\"M-8 0A8 8 0 1 0 8 0A8 8 0 1 0 -8 0Z\"/>").len();
        assert!((790..820).contains(&circle), "{circle}");
        let line = |dash: &str| {
            dark(&format!(
                "<path d=\"M0 10.5h40\" fill=\"none\" stroke=\"#222\" stroke-dasharray=\"{dash}\"/>"
            ))
            .len()
        };
        assert_eq!((line(""), line("5 5")), (160, 80));
        assert!(
            dark("<rect x=\"1\" y=\"1\" width=\"9\" height=\"9\" fill=\"none\" stroke=\"#e4e4e4\"/>")
                .is_empty()
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for wrong in ["<svg", "<p>", &figure("<circle r=\"3\"/>"), &figure("<path d=\"M1 1Q3 3 4 4\"/>")] {
            assert!(matches!(png(wrong), Err(PngError::Drawing(_))), "{wrong}");
        }
    }
}
