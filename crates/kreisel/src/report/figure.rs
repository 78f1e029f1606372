//! What a figure shows: curves, and how they are spread over one or more plots. Others draw it.

use serde::Serialize;

/// How a figure is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureStyle {
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// One plot of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Above the plot; empty if the figure's title says it all.
    pub title: String,
    /// How x is spread.
    pub x: Scale,
    /// How y is spread.
    pub y: Scale,
    /// Orders of convergence to draw dashed below the curves of a double-logarithmic plot.
    pub slopes: Vec<f64>,
}

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances for equal differences.
    Linear,
    /// Equal distances for equal ratios; points that are not positive are left out.
    Logarithmic,
}

/// A curve: points with the names of their axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The legend.
    pub name: String,
    /// Abscissas.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
    /// What x is, with its unit.
    pub x_label: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// Which panel of the figure shows it, counted from the left; the last one if there are fewer.
    #[serde(skip)]
    pub panel: usize,
    /// Whether the points stand alone, without a line between them.
    #[serde(skip)]
    pub scattered: bool,
}

impl FigureStyle {
    /// One plot with linear axes.
    pub fn linear() -> Self {
        Self { panels: vec![Panel::linear("")] }
    }

    /// One double-logarithmic plot.
    pub fn log_log() -> Self {
        Self { panels: vec![Panel::log_log("")] }
    }

    /// Plots side by side.
    pub fn side_by_side(panels: impl IntoIterator<Item = Panel>) -> Self {
        Self { panels: panels.into_iter().collect() }
    }
}

impl Panel {
    /// A plot with linear axes.
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), x: Scale::Linear, y: Scale::Linear, slopes: Vec::new() }
    }

    /// A plot with a logarithmic y axis.
    pub fn log_y(title: impl Into<String>) -> Self {
        Self { y: Scale::Logarithmic, ..Self::linear(title) }
    }

    /// A double-logarithmic plot.
    pub fn log_log(title: impl Into<String>) -> Self {
        Self { x: Scale::Logarithmic, ..Self::log_y(title) }
    }

    /// Draws dashed lines of these orders below the curves.
    pub fn with_slopes(mut self, slopes: impl IntoIterator<Item = f64>) -> Self {
        self.slopes = slopes.into_iter().collect();
        self
    }
}

impl Series {
    /// A curve through the points (x, y).
    ///
    /// # Panics
    /// If `x` and `y` differ in length.
    pub fn new(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        assert_eq!(x.len(), y.len(), "a curve has as many x as y");
        Self {
            name: name.into(),
            x,
            y,
            x_label: String::new(),
            y_label: String::new(),
            panel: 0,
            scattered: false,
        }
    }

    /// Names the axes, with units in brackets: `"t [s]"`.
    pub fn labelled(mut self, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        self.x_label = x_label.into();
        self.y_label = y_label.into();
        self
    }

    /// Draws points without a line between them.
    pub fn as_points(mut self) -> Self {
        self.scattered = true;
        self
    }

    /// Shows the curve in another panel than the first.
    pub fn in_panel(mut self, panel: usize) -> Self {
        self.panel = panel;
        self
    }
}
