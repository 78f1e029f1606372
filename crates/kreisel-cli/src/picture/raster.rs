//! Triangles into pixels: the nearest one is seen.

use super::Size;
use crate::figure::{self, PngError};
use tiny_skia::{Color, Pixmap, PremultipliedColorU8};

/// Samples along each side of a pixel; their mean makes smooth edges.
const SAMPLES: u32 = 3;
/// Faces that are no farther apart lie in one plane; the first one drawn is seen.
const SAME_PLANE: f64 = 1e-9;

/// A picture in the making.
pub struct Canvas {
    picture: Pixmap,
    left: u32,
    size: Size,
    nearness: Vec<f64>,
    colour: Vec<[u8; 3]>,
}

impl Canvas {
    /// A white picture.
    pub fn new(width: u32, height: u32) -> Result<Self, PngError> {
        let mut picture = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
        picture.fill(Color::WHITE);
        let size = Size { width: 0, height: 0 };
        Ok(Self { picture, left: 0, size, nearness: Vec::new(), colour: Vec::new() })
    }

    /// Goes on to draw a frame `left` pixels from the left edge.
    pub fn window(&mut self, left: u32, size: Size) {
        self.settle();
        (self.left, self.size) = (left, size);
        let samples = (size.width * SAMPLES) as usize * (size.height * SAMPLES) as usize;
        self.nearness = vec![f64::NEG_INFINITY; samples];
        self.colour = vec![[255; 3]; samples];
    }

    /// Draws a triangle of pixels and nearness where nothing nearer is.
    pub fn fill(&mut self, corners: [[f64; 3]; 3], colour: [u8; 3]) {
        let fine = f64::from(SAMPLES);
        let [a, b, c] = corners.map(|[x, y, near]| [fine * x, fine * y, near]);
        let double_area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        // Neither a face seen along its edge nor one that is not a number has pixels.
        if double_area.abs() < 1e-12 || !double_area.is_finite() {
            return;
        }
        let columns = self.size.width * SAMPLES;
        let [xs, ys] = [0, 1].map(|axis| {
            let along = [a[axis], b[axis], c[axis]];
            let most = if axis == 0 { columns } else { self.size.height * SAMPLES };
            let low = along.iter().fold(f64::INFINITY, |low, x| low.min(*x)).floor().max(0.0) as u32;
            let high = along.iter().fold(0.0_f64, |high, x| high.max(*x)).ceil() as u32;
            low..high.min(most)
        });
        for y in ys {
            for x in xs.clone() {
                let point = [f64::from(x) + 0.5, f64::from(y) + 0.5];
                let side = |p: [f64; 3], q: [f64; 3]| {
                    ((q[0] - p[0]) * (point[1] - p[1]) - (q[1] - p[1]) * (point[0] - p[0])) / double_area
                };
                let weights = [side(b, c), side(c, a), side(a, b)];
                if weights.iter().any(|weight| *weight < 0.0) {
                    continue;
                }
                let near = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
                let sample = y as usize * columns as usize + x as usize;
                if near > self.nearness[sample] + SAME_PLANE {
                    self.nearness[sample] = near;
                    self.colour[sample] = colour;
                }
            }
        }
    }

    /// Writes pieces of SVG over the picture.
    pub fn write(&mut self, pieces: &str) -> Result<(), PngError> {
        self.settle();
        let (width, height) = (self.picture.width(), self.picture.height());
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"'DejaVu Sans'\" font-size=\"16\" fill=\"#333\">{pieces}</svg>"
        );
        figure::draw_over(&svg, &mut self.picture)
    }

    /// The finished picture.
    pub fn encode(mut self) -> Result<Vec<u8>, PngError> {
        self.settle();
        self.picture.encode_png().map_err(|error| PngError::Drawing(error.to_string()))
    }

    /// Takes the means of the samples over into the picture.
    fn settle(&mut self) {
        let (columns, width) = ((self.size.width * SAMPLES) as usize, self.picture.width() as usize);
        let count = SAMPLES * SAMPLES;
        for y in 0..self.size.height {
            for x in 0..self.size.width {
                let mut sum = [0_u32; 3];
                for sample in 0..count {
                    let (row, column) = (y * SAMPLES + sample / SAMPLES, x * SAMPLES + sample % SAMPLES);
                    let colour = self.colour[row as usize * columns + column as usize];
                    (0..3).for_each(|part| sum[part] += u32::from(colour[part]));
                }
                let [red, green, blue] = sum.map(|part| (part / count) as u8);
                let place = y as usize * width + (self.left + x) as usize;
                if let Some(colour) = PremultipliedColorU8::from_rgba(red, green, blue, 255) {
                    self.picture.pixels_mut()[place] = colour;
                }
            }
        }
        self.size = Size { width: 0, height: 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red_at(png: &[u8], x: u32, y: u32) -> u8 {
        Pixmap::decode_png(png).unwrap().pixel(x, y).unwrap().red()
    }

    #[test]
    fn the_nearer_triangle_is_seen_in_any_order() {
        let size = Size { width: 10, height: 10 };
        let triangle = |near: f64| [[0.0, 0.0, near], [10.0, 0.0, near], [0.0, 10.0, near]];
        for swapped in [false, true] {
            let mut canvas = Canvas::new(10, 10).unwrap();
            canvas.window(0, size);
            let mut faces = [(triangle(1.0), [200, 0, 0]), (triangle(0.0), [0, 200, 0])];
            if swapped {
                faces.reverse();
            }
            faces.iter().for_each(|(corners, colour)| canvas.fill(*corners, *colour));
            let png = canvas.encode().unwrap();
            assert_eq!(red_at(&png, 2, 2), 200);
            assert_eq!(red_at(&png, 9, 9), 255, "beside the triangle all is white");
        }
    }

    #[test]
    fn faces_that_are_no_numbers_or_far_outside_leave_the_picture_as_it_is() {
        let mut canvas = Canvas::new(10, 10).unwrap();
        canvas.window(0, Size { width: 10, height: 10 });
        canvas.fill([[f64::NAN; 3], [1.0; 3], [2.0; 3]], [0; 3]);
        canvas.fill([[1e300, 0.0, 0.0], [2e300, 0.0, 0.0], [1e300, 1e300, 0.0]], [0; 3]);
        canvas.fill([[-50.0, -50.0, 0.0], [-20.0, -50.0, 0.0], [-50.0, -20.0, 0.0]], [0; 3]);
        assert_eq!(red_at(&canvas.encode().unwrap(), 5, 5), 255);
    }
}
