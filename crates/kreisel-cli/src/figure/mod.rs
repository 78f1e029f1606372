//! Figures: curves with axes, units and a legend, drawn as SVG or PNG.
//!
//! A figure has one or more panels side by side, as the papers have a left and a right plot. Colours are
//! those of Okabe and Ito, which people with any colour vision can tell apart; markers and dashes tell the
//! curves apart in print.

mod axis;
mod curve;
mod letters;
mod png;
mod svg;

pub use png::{PngError, draw_over, png};
pub use svg::svg;

pub use kreisel::report::figure::{FigureStyle, Panel, Scale, Series};
