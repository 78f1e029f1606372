//! Letters as outlines: DejaVu Sans, read from the file that is part of the program.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A font from which words are drawn; without any letter if its file cannot be read.
pub struct Letters(Option<Face<'static>>);

impl Letters {
    /// The letters of all figures.
    pub fn load() -> Self {
        Self(Face::parse(dejavu::sans::regular(), 0).ok())
    }

    /// Width of a line of words at a size of letters.
    pub fn width(&self, words: &str, size: f32) -> f32 {
        self.placed(words, size).last().map_or(0.0, |(_, _, end)| end)
    }

    /// The outline of a line of words whose base line starts at a point; none without words.
    pub fn outline(&self, words: &str, [left, base]: [f32; 2], size: f32) -> Option<Path> {
        let face = self.0.as_ref()?;
        let scale = size / f32::from(face.units_per_em());
        let mut outline = Outline { builder: PathBuilder::new(), left, base, scale };
        for (glyph, start, _) in self.placed(words, size) {
            outline.left = left + start;
            face.outline_glyph(glyph, &mut outline);
        }
        outline.builder.finish()
    }

    /// The letters of a line, each with where it starts and ends.
    fn placed(&self, words: &str, size: f32) -> impl Iterator<Item = (GlyphId, f32, f32)> {
        let mut end = 0.0;
        let face = self.0.as_ref();
        words.chars().filter_map(move |letter| {
            let face = face?;
            // Letter 0 of a font is a box, for letters that it does not have.
            let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
            let advance = f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
            let start = end;
            end += advance * size / f32::from(face.units_per_em());
            Some((glyph, start, end))
        })
    }
}

/// Takes the outline of one letter, with y upwards, to its place in a picture.
struct Outline {
    builder: PathBuilder,
    left: f32,
    base: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> [f32; 2] {
        [self.left + self.scale * x, self.base - self.scale * y]
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ([x1, y1], [x, y]) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ([x1, y1], [x2, y2], [x, y]) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_our_figures_has_an_outline() {
        let font = Letters::load();
        for letter in "aZ09äβλΩ²⁻³·×−…→≤ρ∞[m/s²](10⁻⁶)".chars() {
            let glyph = font.0.as_ref().unwrap().glyph_index(letter);
            assert!(glyph.is_some(), "`{letter}` is missing");
            assert!(font.outline(&letter.to_string(), [0.0, 0.0], 13.0).is_some(), "`{letter}`");
        }
        assert!(font.width("HH", 13.0) == 2.0 * font.width("H", 13.0));
        assert!(font.outline("", [0.0, 0.0], 13.0).is_none() && font.width("", 13.0) == 0.0);
    }
}
