//! What values of a model file are made of, each said once: for the reference page, the schema and its hover
//! texts.

/// A type of values.
#[derive(Clone, Copy, Debug)]
pub struct ValueType {
    /// What the reference calls it.
    pub name: &'static str,
    /// In a sentence, as an editor shows it.
    pub brief: &'static str,
    /// The rest, in Markdown.
    pub doc: &'static str,
    /// The part in which the lines of the example may stand.
    pub part: &'static str,
    /// Lines of a model file, each by itself.
    pub example: &'static str,
}

/// All types, in the order of the reference page.
pub const TYPES: &[ValueType] = &[NUMBER, LAW, CURVE, ORIENTATION, EXPRESSION, UNIT, NAME];

pub(crate) const NUMBER: ValueType = ValueType {
    name: "Number",
    brief: "A number in base units, or an expression in quotes with a unit if wanted.",
    doc: "A number stands in the base unit of its key. A text in its place is an [expression](#expression) of the parameters, perhaps followed by a [unit](#unit).",
    part: "body",
    example: r#"mass = 2.5
mass = "2.5 t"
mass = "7850*4/3*pi*radius^3"
position = [0, "12 cm", "2*radius"]"#,
};

pub(crate) const LAW: ValueType = ValueType {
    name: "Law of time",
    brief: "A law of time is a number, an expression of `t`, or a table with `speed` or with `points`.",
    doc: "`{ speed = 3, start = 0.1 }` goes at a speed from a place, with `smooth-start = 0.5` brought up to speed in half a second. `{ points = [[0, 0], [1, 0.2], [2, 0.1]] }` is a [curve](#curve) over the time. \
A drive that follows a kink changes its speed at once, which is an impact: the motion goes on as after one, but its force is in no table, and a warning (`speed-jump`) says when. \
A position that jumps is refused, and so is one that goes elsewhere between two corners that are closer than a millionth of the run. \
Where the reference says *or measured quantities*, an expression may also use [these](#measured-quantities).",
    part: "drive",
    example: r#"angle = "30[deg]*sin(2*pi*t)"
angle = { speed = "30 rpm", start = 0.1, smooth-start = 0.5 }
angle = { points = [[0, 0], [1, 0.2], [2, 0.1]] }"#,
};

pub(crate) const CURVE: ValueType = ValueType {
    name: "Curve",
    brief: "A curve is a table of `points`, joined by a cubic spline or by straight lines.",
    doc: "Points are joined by a natural cubic spline, whose curvature is continuous and vanishes at both ends; between points that turn sharply it swings beyond them. `interpolation = \"linear\"` joins them by straight lines. \
Outside of the points the value of the end holds, which is a kink unless the slope is zero there; with `outside = \"continue\"` the slope of the end holds, and with `outside = \"repeat\"` the table begins anew: its last value is then its first, and the spline is smooth at the seam. \
The reference shows the units of both columns with an arrow, as in `m → N`.",
    part: "spring-damper",
    example: r#"force = { points = [[-0.1, -500], [0, 0], [0.1, 800]] }
force = { points = [["-1 cm", -200], [0, 0], ["1 cm", "0.3 kN"]], interpolation = "linear", outside = "continue" }"#,
};

pub(crate) const ORIENTATION: ValueType = ValueType {
    name: "Orientation",
    brief: "An orientation is a table with `axis` and `angle`, with `euler` and `sequence`, with a `quaternion`, a `matrix`, or one or two axes.",
    doc: "`euler` are angles of turns about axes that are carried along. A `quaternion` is w, x, y, z. The columns of a `matrix` are the part's axes. One axis of the part, as in `{ z-axis = [1, 0, 0] }`, turns it the shortest way, two say all. \
Of two axes that are not square to each other the first in the order z, x, y is kept, and the other one points its way as nearly as it can.",
    part: "body",
    example: r#"orientation = { axis = [0, 0, 1], angle = "30 deg" }
orientation = { euler = ["10 deg", 0, "5 deg"], sequence = "zyx" }
orientation = { quaternion = [0.8, 0, 0.6, 0] }
orientation = { matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]] }
orientation = { x-axis = [0, 1, 0], z-axis = [1, 0, 0] }"#,
};

pub(crate) const EXPRESSION: ValueType = ValueType {
    name: "Expression",
    brief: "An expression is a text of numbers, parameters, names of the key, operators and functions.",
    doc: "An expression is made of numbers, parameters, `t`, measured quantities where they are known, the operators `+ - * / ^`, comparisons (`<`, `<=`, `>`, `>=`, `==`, `!=`), `&&`, `||`, `!`, parentheses, and [functions and constants](#functions-and-constants). \
A unit at its end belongs to the whole: `\"2*r + 1 mm\"` is (2 r + 1) mm. A unit in brackets belongs to what stands before it: `\"2*r + 1[mm]\"`, `\"sin(hinge.angle - 30[deg])\"`. \
What several expressions need gets a name in `[expressions]`, and a function that is known by points is a [`[[table]]`](#table), inline or in a file beside the model.",
    part: "spring-damper",
    example: r#"force = "2e4*elongation + 5e6*elongation^3"
force = "if(length > 0.25 && elongation > 0, 2e4*elongation, 0)"
damping-force = "800[N*s/m]*rate*(1 + abs(elongation)/10[cm])""#,
};

pub(crate) const UNIT: ValueType = ValueType {
    name: "Unit",
    brief: "A unit is one of the table, or a product of powers of such.",
    doc: "Numbers are in SI units (m, kg, s, N, rad) where none is given. Units are multiplied by `*`, divided by `/`, raised by `^`, and grouped by parentheses: `N*s/m`, `kg/(m*s^2)`. A unit that does not fit its key is a mistake.",
    part: "body",
    example: r#"position = ["30 cm", "12 in", "1 ft"]
velocity = ["2 km/min", 0, 0]
angular-velocity = [0, "1500 rpm", "90 deg/s"]"#,
};

pub(crate) const NAME: ValueType = ValueType {
    name: "Name of a part",
    brief: "A name is made of letters, digits, `-` and `_`; `ground` is what does not move.",
    doc: "A name is made of letters, digits, `-` and `_`. A body stands for its centre of mass, `body.marker` for a frame on it, and `ground` for what does not move. An unknown name is answered by the nearest one.",
    part: "spring-damper",
    example: r#"bodies = ["ground", "rod"]
bodies = ["rod.end", "ground"]"#,
};

impl ValueType {
    /// Where the reference page explains it.
    pub fn anchor(&self) -> String {
        self.name.to_lowercase().replace(' ', "-")
    }
}
