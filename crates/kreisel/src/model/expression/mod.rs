//! Expressions: numbers computed from parameters when a model is read, and functions of time and of
//! measured quantities that are evaluated in every step.
//!
//! **Language.** Numbers, names, `+ - * / ^`, comparisons (`<`, `<=`, `>`, `>=`, `==`, `!=`, giving 1 or
//! 0), `&&`, `||`, `!`, parentheses and the functions of [`FUNCTIONS`]. `^` binds tightest and from right to
//! left, so `-2^2` is −4. One unit may follow the whole: `"2*r + 1 mm"` is (2 r + 1) mm. A unit in brackets
//! belongs to what stands before it: `"2*r + 1[mm]"`.
//!
//! **Names of a model's own.** A name of `[expressions]` stands for that expression, and a `[[table]]` is called
//! like a function.
//!
//! **Names with dashes.** A dash between letters or digits without blanks belongs to a name if the whole
//! is a known name; the longest known name wins. With a sensor `crank-pin.angle`, `crank-pin.angle-1` is
//! that angle minus one. A blank on either side of the dash always makes it a minus.
//!
//! **Why not a library.** Our own words carry their places for messages, names may hold dots and dashes,
//! units belong to the language, size and nesting are limited so that no input can exhaust the stack, and
//! first and second derivatives share their common parts with the value. Evaluation allocates nothing.

pub(crate) mod graph;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod program;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Binary, ExpressionId, Graph, SwitchNode, Unary};
use parser::Parsed;
use program::Program;
use smallvec::SmallVec;

use super::error::{ExpressionMistake, Mistake, ModelError};
use super::name;
use super::quantity::{Dimension, IN_EXPRESSION, Unit};
use super::source::Text;
use super::table::{MAX_CORNERS, TableFunction};

/// Most words in one expression.
pub const MAX_TOKENS: usize = 10_000;
/// Deepest nesting of operators, functions and parentheses.
pub const MAX_DEPTH: usize = 200;
/// Most measured quantities in one expression.
pub const MAX_VARIABLES: usize = 100;
/// Most intermediate results alive at once when an expression is evaluated.
pub const MAX_SLOTS: usize = 4096;

/// Constants every expression knows: π and standard gravity in m/s².
pub const CONSTANTS: &[(&str, f64)] = &[("pi", std::f64::consts::PI), ("g0", 9.80665)];

/// The name of time in laws and forces.
pub const TIME: &str = "t";
/// The name of the counter of a repeated part.
pub const INDEX: &str = "i";

/// A function that expressions may call.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What it gives, for the book.
    pub doc: &'static str,
    operation: Operation,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    One(Unary),
    Two(Binary),
    Choice,
}

impl Function {
    /// Number of arguments.
    pub fn arity(&self) -> usize {
        match self.operation {
            Operation::One(_) => 1,
            Operation::Two(_) => 2,
            Operation::Choice => 3,
        }
    }
}

const fn one(name: &'static str, operation: Unary, doc: &'static str) -> Function {
    Function { name, doc, operation: Operation::One(operation) }
}

const fn two(name: &'static str, operation: Binary, doc: &'static str) -> Function {
    Function { name, doc, operation: Operation::Two(operation) }
}

/// All functions of the language.
pub const FUNCTIONS: &[Function] = &[
    one("sin", Unary::Sin, "sine of an angle in rad"),
    one("cos", Unary::Cos, "cosine of an angle in rad"),
    one("tan", Unary::Tan, "tangent of an angle in rad"),
    one("asin", Unary::Asin, "arc sine in rad"),
    one("acos", Unary::Acos, "arc cosine in rad"),
    one("atan", Unary::Atan, "arc tangent in rad"),
    two("atan2", Binary::Atan2, "angle in rad of the point (second, first)"),
    one("sinh", Unary::Sinh, "hyperbolic sine"),
    one("cosh", Unary::Cosh, "hyperbolic cosine"),
    one("tanh", Unary::Tanh, "hyperbolic tangent"),
    one("exp", Unary::Exp, "e to the power of x"),
    one("ln", Unary::Ln, "natural logarithm"),
    one("log10", Unary::Log10, "logarithm to base 10"),
    one("sqrt", Unary::Sqrt, "square root"),
    one("abs", Unary::Abs, "absolute value"),
    two("min", Binary::Min, "the smaller of two"),
    two("max", Binary::Max, "the larger of two"),
    two("mod", Binary::Mod, "remainder of the division by the second, never negative if that is positive"),
    one("floor", Unary::Floor, "largest whole number not above"),
    one("ceil", Unary::Ceil, "smallest whole number not below"),
    one("sign", Unary::Sign, "−1, 0 or 1"),
    one("step", Unary::Step, "0 below zero, else 1"),
    Function {
        name: "if",
        doc: "the second if the first is not 0, else the third",
        operation: Operation::Choice,
    },
];

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Constant(f64),
    Variable(u32),
    /// A named expression.
    Expression,
}

/// Names that a model gives to expressions, and functions that it gives by points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnNames {
    /// Expressions by name.
    pub expressions: BTreeMap<String, Text>,
    /// Tables by name.
    pub tables: BTreeMap<String, Arc<TableFunction>>,
}

/// No name at all.
static NOTHING: OwnNames = OwnNames { expressions: BTreeMap::new(), tables: BTreeMap::new() };

/// Names an expression may use.
pub(crate) struct Vocabulary<'a> {
    /// Meaning of a name, if it is known.
    pub(crate) meaning: &'a dyn Fn(&str) -> Option<Meaning>,
    /// Names to suggest in place of an unknown one.
    pub(crate) candidates: &'a dyn Fn() -> Vec<String>,
    /// What an unknown name is called in the message.
    pub(crate) what: &'static str,
    /// What else has a name.
    pub(crate) named: &'a OwnNames,
}

impl OwnNames {
    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.expressions.contains_key(name).then_some(Meaning::Expression)
    }
}

/// Value of a constant known everywhere.
pub(crate) fn builtin(name: &str) -> Option<f64> {
    CONSTANTS.iter().find(|constant| constant.0 == name).map(|constant| constant.1)
}

/// Reads an expression whose variables are found by `meaning`, with its unit applied.
fn parse_scaled(
    text: &Text,
    dimension: Option<Dimension>,
    vocabulary: &Vocabulary<'_>,
) -> Result<(Graph, ExpressionId), ModelError> {
    let Parsed { mut graph, mut root, unit } = parser::parse(text, vocabulary)?;
    if let Some(range) = unit {
        root = in_unit(&mut graph, root, &read_unit(text, range, dimension)?);
    }
    Ok((graph, root))
}

fn in_unit(graph: &mut Graph, root: ExpressionId, unit: &Unit) -> ExpressionId {
    let factor = graph.constant(unit.factor);
    graph.binary(Binary::Multiply, factor, root)
}

/// The unit at the end of a text; without a dimension any unit will do.
fn read_unit(
    text: &Text,
    range: std::ops::Range<usize>,
    dimension: Option<Dimension>,
) -> Result<Unit, ModelError> {
    let unit = Unit::parse(&text.content()[range.clone()]).map_err(|mistake| {
        let place = text.place_of(range.start + mistake.range.start..range.start + mistake.range.end);
        let error = ModelError::new(mistake.mistake, place);
        match mistake.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })?;
    match dimension {
        Some(expected) if expected != unit.dimension => {
            let mistake = Mistake::WrongDimension { expected, found: unit.dimension };
            let base = expected.unit();
            let names = Unit::names_of(expected);
            // The time after a unit is read as the tonne.
            let written = &text.content()[range.clone()];
            let times_t = written.rsplit(['*', '/']).any(|factor| factor.trim() == "t");
            let hint = match (base.as_str(), names.as_slice()) {
                ("", _) => "leave the unit away: this is a pure number".into(),
                _ if times_t && written.trim() != "t" => IN_EXPRESSION.into(),
                (base, []) => format!("for instance `{base}`"),
                (_, names) => format!("for instance {}", name::list(names)),
            };
            Err(ModelError::new(mistake, text.place_of(range)).with_hint(hint))
        }
        _ => Ok(unit),
    }
}

/// The unit that a whole text means.
pub(crate) fn read_whole_unit(text: &Text) -> Result<Unit, ModelError> {
    read_unit(text, 0..text.content().len(), None)
}

/// Reads a constant expression: every name is known by `constant`. Without a dimension any unit will do.
pub(crate) fn constant_value(
    text: &Text,
    dimension: Option<Dimension>,
    constant: &dyn Fn(&str) -> Option<f64>,
    named: Option<&OwnNames>,
    candidates: &dyn Fn() -> Vec<String>,
) -> Result<f64, ModelError> {
    let named = named.unwrap_or(&NOTHING);
    let meaning = |name: &str| {
        let value = builtin(name).or_else(|| constant(name));
        value.map(Meaning::Constant).or_else(|| named.meaning(name))
    };
    let vocabulary = Vocabulary { meaning: &meaning, candidates, what: "parameter", named };
    let (graph, root) = parse_scaled(text, dimension, &vocabulary)?;
    let value = graph.constant_value(root).expect("operations on constants are folded");
    finite(value, text)
}

/// Refuses what is infinite or not a number.
pub(crate) fn finite(value: f64, text: &Text) -> Result<f64, ModelError> {
    if value.is_finite() {
        return Ok(value);
    }
    let error = ModelError::new(Mistake::NotFinite(value), text.place().clone());
    Err(error.with_hint("is something divided by zero, or a root or logarithm taken of a negative number?"))
}

/// A function of named quantities, compiled once, with its partial derivatives.
///
/// Evaluation allocates nothing and may run in many threads at once.
#[derive(Clone, Debug)]
pub struct Expression {
    variables: Vec<String>,
    graph: Graph,
    root: ExpressionId,
    value: Program,
    value_and_gradient: Program,
}

impl Expression {
    /// Compiles a text: parameters become numbers; names for which `variable` gives a quantity become
    /// variables with the name of that quantity, in the order of their first use.
    pub fn compile(
        text: &Text,
        dimension: Dimension,
        constant: &dyn Fn(&str) -> Option<f64>,
        variable: &dyn Fn(&str) -> Option<String>,
        candidates: &dyn Fn() -> Vec<String>,
    ) -> Result<Self, ModelError> {
        Self::compile_with(&NOTHING, text, Some(dimension), constant, variable, candidates)
    }

    /// The same where expressions and tables have names.
    pub(crate) fn compile_with(
        named: &OwnNames,
        text: &Text,
        dimension: Option<Dimension>,
        constant: &dyn Fn(&str) -> Option<f64>,
        variable: &dyn Fn(&str) -> Option<String>,
        candidates: &dyn Fn() -> Vec<String>,
    ) -> Result<Self, ModelError> {
        let variables: RefCell<Vec<String>> = RefCell::default();
        let meaning = |name: &str| {
            if let Some(value) = builtin(name).or_else(|| constant(name)) {
                return Some(Meaning::Constant(value));
            }
            if let Some(meaning) = named.meaning(name) {
                return Some(meaning);
            }
            let quantity = variable(name)?;
            let mut variables = variables.borrow_mut();
            let index = variables.iter().position(|known| *known == quantity).unwrap_or_else(|| {
                variables.push(quantity);
                variables.len() - 1
            });
            Some(Meaning::Variable(index as u32))
        };
        let what = "parameter or measured quantity";
        let vocabulary = Vocabulary { meaning: &meaning, candidates, what, named };
        let (graph, root) = parse_scaled(text, dimension, &vocabulary)?;
        Self::from_graph(graph, root, variables.into_inner())
            .map_err(|mistake| ModelError::new(Mistake::Expression(mistake), text.place().clone()))
    }

    fn from_graph(
        mut graph: Graph,
        root: ExpressionId,
        variables: Vec<String>,
    ) -> Result<Self, ExpressionMistake> {
        if variables.len() > MAX_VARIABLES {
            return Err(ExpressionMistake::TooManyVariables);
        }
        let value = Program::new(&graph, &[root])?;
        let mut outputs = vec![root];
        outputs.extend((0..variables.len() as u32).map(|variable| graph.derivative(root, variable)));
        let value_and_gradient = Program::new(&graph, &outputs)?;
        Ok(Self { variables, graph, root, value, value_and_gradient })
    }

    /// Names of the variables; values are given in this order.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The value if it is always the same.
    pub fn constant(&self) -> Option<f64> {
        self.graph.constant_value(self.root)
    }

    /// The value for given variables.
    pub fn value(&self, variables: &[f64]) -> f64 {
        let mut outputs = [0.0];
        self.value.run(variables, &mut outputs);
        outputs[0]
    }

    /// The value; writes the partial derivative for each variable to `gradient`.
    pub fn value_and_gradient(&self, variables: &[f64], gradient: &mut [f64]) -> f64 {
        assert_eq!(gradient.len(), self.variables.len(), "one slope per variable");
        let mut outputs = [0.0; MAX_VARIABLES + 1];
        let outputs = &mut outputs[..=gradient.len()];
        self.value_and_gradient.run(variables, outputs);
        gradient.copy_from_slice(&outputs[1..]);
        outputs[0]
    }

    /// Where the expression jumps or has a corner because of conditions that are linear in one of its
    /// variables and depend on no other; corners of other conditions are not known before the other variables
    /// are.
    pub(crate) fn corner_finder_in(&self, variable: &str) -> CornerFinder {
        let mut finder = CornerFinder { straight: Vec::new(), curved: Vec::new() };
        let Some(variable) = self.variables.iter().position(|name| name == variable) else { return finder };
        let mut graph = self.graph.clone();
        let switches = graph.switches(self.root);
        let lines = graph.straight_lines(variable as u32);
        for switch in switches {
            let (node, whole) = switch.parts();
            if let Some((slope, offset)) = lines[node.index()] {
                finder.straight.push((slope, offset, whole));
            }
        }
        finder
    }

    /// Where the expression of its only variable jumps or has a corner.
    pub(crate) fn corner_finder(&self) -> Result<CornerFinder, ExpressionMistake> {
        let mut graph = self.graph.clone();
        let switches = graph.switches(self.root);
        let lines = graph.straight_lines(0);
        let mut finder = CornerFinder { straight: Vec::new(), curved: Vec::new() };
        for switch in switches {
            let (node, whole) = switch.parts();
            match lines[node.index()] {
                Some((slope, offset)) => finder.straight.push((slope, offset, whole)),
                None => finder.curved.push((Program::new(&graph, &[node])?, whole)),
            }
        }
        Ok(finder)
    }

    /// Finds where the expression is not smooth on a straight way from some values of its variables to others.
    pub(crate) fn way_corners(&self) -> Result<WayCorners, ExpressionMistake> {
        let mut graph = self.graph.clone();
        let switches = graph.switches(self.root).into_iter().map(SwitchNode::parts);
        let switches = switches.map(|(node, whole)| Ok((Program::new(&graph, &[node])?, whole)));
        Ok(WayCorners { switches: switches.collect::<Result<_, _>>()? })
    }

    /// Value, first and second derivative with respect to the only variable, as one program.
    pub(crate) fn motion_program(&self) -> Result<Program, ExpressionMistake> {
        let mut graph = self.graph.clone();
        let rate = graph.derivative(self.root, 0);
        let acceleration = graph.derivative(rate, 0);
        Program::new(&graph, &[self.root, rate, acceleration])
    }
}

/// Finds the times at which a function of time is not smooth.
#[derive(Clone, Debug)]
pub(crate) struct CornerFinder {
    /// Slope and offset of straight lines, and whether whole numbers count instead of zeros.
    straight: Vec<(f64, f64, bool)>,
    curved: Vec<(Program, bool)>,
}

/// Pieces into which a range of time is cut when the zeros of a curved switch are looked for.
const CORNER_SAMPLES: usize = 4096;
/// The same on a way between values of variables, which may be asked for after each step.
const WAY_SAMPLES: usize = 64;
/// Parts of a way, apart from its ends, at which a switch is asked whether it is straight there: no two of
/// them are alike to what comes again at equal distances.
const PROBES: [f64; 3] = [0.27, 0.5, 0.81];
/// A switch that is off a straight line by so many roundings of its largest value is straight.
const STRAIGHT: f64 = 16.0 * f64::EPSILON;

/// Corners, of which there are few.
pub(crate) type FewCorners = SmallVec<[f64; 8]>;

/// Finds where an expression is not smooth between values of its variables.
#[derive(Clone, Debug)]
pub(crate) struct WayCorners {
    /// What decides, and whether whole numbers count instead of zeros.
    switches: Vec<(Program, bool)>,
}

impl WayCorners {
    /// Parts of the straight way between values of the variables at which the expression jumps or has a
    /// corner, ascending and between 0 and 1. Where what decides is straight on the way they are exact; others
    /// are found by sampling, so that two of them closer than a 64th of the way may be missed.
    pub(crate) fn between(&self, from: &[f64], to: &[f64]) -> FewCorners {
        let mut corners = FewCorners::new();
        let mut variables = [0.0; MAX_VARIABLES];
        for (program, whole) in &self.switches {
            let mut value = |part: f64| {
                let ends = from.iter().zip(to);
                variables.iter_mut().zip(ends).for_each(|(x, (from, to))| *x = from + part * (to - from));
                let mut output = [0.0];
                program.run(&variables[..from.len()], &mut output);
                output[0]
            };
            let [first, last] = [value(0.0), value(1.0)];
            let size = first.abs().max(last.abs());
            let is_straight = PROBES
                .iter()
                .all(|&part| (value(part) - first - part * (last - first)).abs() <= STRAIGHT * size);
            if is_straight {
                straight_corners(last - first, first, *whole, [0.0, 1.0], &mut corners);
            } else {
                curved_corners(value, *whole, [0.0, 1.0], WAY_SAMPLES, &mut corners);
            }
        }
        corners.retain(|part| 0.0 < *part && *part < 1.0);
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        corners
    }
}

impl CornerFinder {
    /// Corners between two times, ascending. Those of conditions linear in t are exact; others are found
    /// by sampling, so that two of them closer than a 4096th of the range may be missed.
    pub(crate) fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let mut corners = Vec::new();
        for &(slope, offset, whole) in &self.straight {
            straight_corners(slope, offset, whole, [from, to], &mut corners);
        }
        for (program, whole) in &self.curved {
            let value = |time: f64| {
                let mut output = [0.0];
                program.run(&[time], &mut output);
                output[0]
            };
            curved_corners(value, *whole, [from, to], CORNER_SAMPLES, &mut corners);
        }
        corners
    }
}

fn straight_corners(
    slope: f64,
    offset: f64,
    whole: bool,
    [from, to]: [f64; 2],
    corners: &mut impl Extend<f64>,
) {
    if slope == 0.0 {
        return;
    }
    if !whole {
        corners.extend([-offset / slope]);
        return;
    }
    let ends = [slope * from + offset, slope * to + offset];
    let first = ends[0].min(ends[1]).ceil();
    let last = ends[0].max(ends[1]).floor();
    if last - first <= MAX_CORNERS {
        let count = (last - first).max(-1.0) as i64;
        corners.extend((0..=count).map(|step| (first + step as f64 - offset) / slope));
    }
}

fn curved_corners(
    mut value: impl FnMut(f64) -> f64,
    whole: bool,
    [from, to]: [f64; 2],
    samples: usize,
    corners: &mut impl Extend<f64>,
) {
    if !(from.is_finite() && to.is_finite()) {
        return;
    }
    let mut level = |time: f64| match value(time) {
        // Where the condition is undefined nothing changes.
        value if value.is_nan() => f64::MIN,
        value if whole => value.floor(),
        value => f64::from(u8::from(value >= 0.0)),
    };
    let time = |sample: usize| from + (to - from) * sample as f64 / samples as f64;
    let mut before = level(from);
    for sample in 1..=samples {
        let after = level(time(sample));
        if after != before {
            let (mut low, mut high) = (time(sample - 1), time(sample));
            // Bisection down to neighbouring numbers.
            loop {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                if level(middle) == before { low = middle } else { high = middle }
            }
            corners.extend([high]);
        }
        before = after;
    }
}

#[cfg(test)]
mod tests;
