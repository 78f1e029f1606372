//! An SVG figure as PNG, with letters that are part of the program: no font needs to be installed.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels for each unit of the figure: sharp on screens of high resolution and in print.
const SCALE: f32 = 2.0;

/// Why a figure cannot be drawn in pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The figure is not what the drawing crate expects.
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
    let tree = tree(svg)?;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|size| (SCALE * size).ceil() as u32);
    let mut picture = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Drawing(error.to_string()))
}

/// Draws over a picture that is there, one pixel for each unit.
pub fn draw_over(svg: &str, picture: &mut Pixmap) -> Result<(), PngError> {
    resvg::render(&tree(svg)?, Transform::identity(), &mut picture.as_mut());
    Ok(())
}

fn tree(svg: &str) -> Result<Tree, PngError> {
    let mut options = Options::default();
    for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
        options.fontdb_mut().load_font_data(font.to_vec());
    }
    Tree::from_str(svg, &options).map_err(|error| PngError::Drawing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_letters_in_pixels() {
        let square = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"30\" font-family=\"'DejaVu Sans'\">\
                 <rect width=\"100%\" height=\"100%\" fill=\"white\"/>{text}</svg>"
            )
        };
        let blank = png(&square("")).unwrap();
        let written = png(&square("<text x=\"5\" y=\"20\">Ωz</text>")).unwrap();
        assert!(written.starts_with(b"\x89PNG"));
        let dark = |png: &[u8]| {
            let picture = Pixmap::decode_png(png).unwrap();
            picture.pixels().iter().filter(|pixel| pixel.red() < 128).count()
        };
        assert_eq!(dark(&blank), 0);
        assert!(dark(&written) > 50);
    }

    #[test]
    fn a_text_that_is_no_figure_is_an_error() {
        assert!(matches!(png("<svg"), Err(PngError::Drawing(_))));
    }
}
