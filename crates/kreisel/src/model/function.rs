//! Functions of time, of measured quantities and of points, as a model file writes them.
//!
//! A law of time is
//! - a number: always the same;
//! - an expression of `t`: `"30*sin(2*t) deg"`;
//! - `{ speed = "1500 rpm", start = "10 deg" }`: constant speed from a value at time zero;
//! - `{ speed = -5, smooth-start = "500 ms", start-time = 1 }`: from rest to constant speed;
//! - `{ points = [[0, 0], [1, 0.5], …], interpolation = "smooth", outside = "hold" }`: a table of times and
//!   values, `smooth` (a spline) or `linear`; outside of it the end value is held, the end slope is kept with
//!   `continue`, or the table begins anew with `repeat`.
//!
//! A characteristic is such a table over another argument than time, or an expression of names that belong to
//! its key, such as `elongation` and `rate` of a spring.
//!
//! A signal is a law or an expression that also uses measured quantities. A curve is a table like the
//! last form, over another argument than time.

use std::sync::Arc;

use super::error::{Mistake, ModelError, ModelErrors};
use super::expression::{Expression, FewCorners, WayCorners};
use super::fields::{Field, Fields};
use super::kind::{CURVE_KEYS, EXTRAPOLATIONS, INTERPOLATIONS, LAW_KEYS};
use super::law::{Law, SmoothStart};
use super::name;
use super::quantity::Dimension;
use super::scope::MeasuredExpression;
use super::source::Text;
use super::table::{Table, TableMistake};
use super::tabulated;
use super::value::Content;

/// A function of time, or of time and measured quantities.
#[derive(Clone, Debug)]
pub enum SignalLaw {
    /// Time alone decides.
    Law(Law),
    /// It must be compiled when all sensors are known.
    Measured(MeasuredExpression),
}

/// A function of names that belong to a key, or of the first of them.
#[derive(Clone, Debug)]
pub enum Characteristic {
    /// By points, of the first.
    Table(Table),
    /// By an expression of them.
    Formula(OwnFormula),
}

/// An expression of names that belong to a key.
#[derive(Clone, Debug)]
pub struct OwnFormula {
    expression: Expression,
    corners: WayCorners,
    /// Where each of its variables stands among the names.
    places: Vec<usize>,
}

/// Most names that may belong to a key.
const MAX_OWN_NAMES: usize = 4;

impl OwnFormula {
    /// The value at values of the names, and its derivatives by them.
    pub fn evaluate<const N: usize>(&self, values: [f64; N]) -> (f64, [f64; N]) {
        let (mut variables, mut slopes) = ([0.0; MAX_OWN_NAMES], [0.0; MAX_OWN_NAMES]);
        let count = self.places.len();
        variables.iter_mut().zip(&self.places).for_each(|(variable, &place)| *variable = values[place]);
        let value = self.expression.value_and_gradient(&variables[..count], &mut slopes[..count]);
        let mut gradient = [0.0; N];
        self.places.iter().zip(slopes).for_each(|(&place, slope)| gradient[place] = slope);
        (value, gradient)
    }

    /// Parts of the straight way from some values of the names to others at which it jumps or has a corner,
    /// ascending.
    pub(crate) fn corners_between<const N: usize>(&self, from: [f64; N], to: [f64; N]) -> FewCorners {
        let count = self.places.len();
        let mut used = [[0.0; MAX_OWN_NAMES]; 2];
        for (used, values) in used.iter_mut().zip([from, to]) {
            used.iter_mut().zip(&self.places).for_each(|(used, &place)| *used = values[place]);
        }
        self.corners.between(&used[0][..count], &used[1][..count])
    }
}

/// A curve, or an expression of names that belong to the key.
pub(crate) fn read_characteristic(
    field: Field<'_>,
    argument: Dimension,
    value: Dimension,
    names: &'static [&'static str],
) -> Result<Characteristic, ModelErrors> {
    let text = match &field.value.content {
        Content::Table(_) => return read_curve(field, argument, value).map(Characteristic::Table),
        Content::Text(text) => text.clone(),
        Content::Number(number) => Text::new(number.to_string(), field.value.place.clone()),
        _ => {
            let expected = format!("an expression of {} or a table with `points`", name::list(names));
            return Err(field.wrong_type(&expected).into());
        }
    };
    let expression = field.context.formula(&text, value, names)?;
    let place = |variable: &String| names.iter().position(|name| *name == variable.as_str());
    let places = expression.variables().iter().filter_map(place).collect();
    let corners = expression
        .way_corners()
        .map_err(|mistake| ModelError::new(Mistake::Expression(mistake), text.place().clone()))?;
    Ok(Characteristic::Formula(OwnFormula { expression, corners, places }))
}

/// Three values, each read by itself.
pub(crate) fn read_three<T>(
    field: Field<'_>,
    read: impl Fn(Field<'_>) -> Result<T, ModelErrors>,
) -> Result<[T; 3], ModelErrors> {
    let values = field.array()?;
    field.check_length(values.len(), &[3], "numbers, expressions or tables")?;
    let part = |index: usize| read(field.with_value(&values[index]));
    Ok([part(0)?, part(1)?, part(2)?])
}

pub(crate) fn read_curve(
    field: Field<'_>,
    argument: Dimension,
    value: Dimension,
) -> Result<Table, ModelErrors> {
    let part = format!("the curve `{}`", field.key);
    let fields = Fields { entries: field.table()?, context: field.context, part: &part };
    fields.check_keys(CURVE_KEYS)?;
    read_points(fields, argument, value)
}

/// A law: a number, an expression of `t`, or a table that gives speed or points.
pub(crate) fn read_law(field: Field<'_>, dimension: Dimension) -> Result<Law, ModelErrors> {
    match &field.value.content {
        Content::Number(_) => Ok(Law::Constant(field.number(dimension)?)),
        Content::Text(text) => Ok(field.context.law(text, dimension)?),
        Content::Table(entries) => {
            let part = format!("the law `{}`", field.key);
            let fields = Fields { entries, context: field.context, part: &part };
            fields.check_keys(LAW_KEYS)?;
            read_law_table(fields, dimension)
        }
        _ => Err(field.wrong_type("a number, an expression of `t` or a table in braces").into()),
    }
}

fn read_law_table(fields: Fields<'_>, dimension: Dimension) -> Result<Law, ModelErrors> {
    let number = |key: &str, dimension| match fields.optional(key) {
        Some(entry) => Field::new(entry, fields.context).number(dimension).map(Some),
        None => Ok(None),
    };
    let allowed: &[&str] = match (fields.optional("points"), fields.optional("speed")) {
        (Some(_), None) => CURVE_KEYS,
        (None, Some(_)) if fields.optional("smooth-start").is_some() => {
            &["speed", "start", "smooth-start", "start-time"]
        }
        (None, Some(_)) => &["speed", "start"],
        (points, _) => {
            let found = if points.is_some() { "both are given" } else { "none is given" };
            return Err(fields.ambiguous(&["speed", "points"], found).into());
        }
    };
    if let Some(entry) = fields.entries.iter().find(|entry| !allowed.contains(&entry.key.as_str())) {
        return Err(fields.unused(entry).into());
    }
    let Some(speed) = number("speed", dimension.per_time())? else {
        return Ok(Law::Table(Arc::new(read_points(fields, Dimension::TIME, dimension)?)));
    };
    let start = number("start", dimension)?.unwrap_or(0.0);
    let Some(duration) = number("smooth-start", Dimension::TIME)? else {
        return Ok(Law::ConstantSpeed { start, speed });
    };
    if duration <= 0.0 {
        let field = Field::new(fields.required("smooth-start")?, fields.context);
        return Err(field.unsuitable("a positive time", duration.to_string()).into());
    }
    let start_time = number("start-time", Dimension::TIME)?.unwrap_or(0.0);
    Ok(Law::SmoothStart(SmoothStart { start, start_time, speed, duration }))
}

/// Points with their interpolation.
fn read_points(fields: Fields<'_>, argument: Dimension, value: Dimension) -> Result<Table, ModelErrors> {
    let field = Field::new(fields.required("points")?, fields.context);
    let rows = field.array()?;
    let mut points = Vec::with_capacity(rows.len());
    for row in rows {
        let pair = field.with_value(row);
        let values = pair.array()?;
        pair.check_length(values.len(), &[2], "numbers")?;
        let read = |index: usize, dimension| field.with_value(&values[index]).number(dimension);
        points.push((read(0, argument)?, read(1, value)?));
    }
    let choice = |key: &str, choices: &[&'static str]| match fields.optional(key) {
        Some(entry) => Field::new(entry, fields.context).choice(choices),
        None => Ok(choices[0]),
    };
    let interpolation = tabulated::interpolation(choice("interpolation", INTERPOLATIONS)?);
    let outside = tabulated::outside(choice("outside", EXTRAPOLATIONS)?);
    Table::new(&points, interpolation, outside).map_err(|mistake| {
        let arguments: Vec<f64> = points.iter().map(|(argument, _)| *argument).collect();
        let (requirement, found) = tabulated::refused(mistake, &arguments);
        let guilty = match mistake {
            TableMistake::NotAscending(index) => field.with_value(&rows[index]),
            _ => field,
        };
        guilty.unsuitable(requirement, found).into()
    })
}

/// Laws or expressions, one after the other.
pub(crate) fn read_signals(field: Field<'_>, dimension: Dimension) -> Result<Vec<SignalLaw>, ModelErrors> {
    field.array()?.iter().map(|value| read_signal(field.with_value(value), dimension)).collect()
}

/// A law if time alone decides, else an expression to be compiled later.
pub(crate) fn read_signal(field: Field<'_>, dimension: Dimension) -> Result<SignalLaw, ModelErrors> {
    let Content::Text(text) = &field.value.content else {
        return read_law(field, dimension).map(SignalLaw::Law);
    };
    match field.context.law(text, dimension) {
        Ok(law) => Ok(SignalLaw::Law(law)),
        Err(error) if matches!(error.mistake(), Mistake::UnknownName { .. }) => {
            Ok(SignalLaw::Measured(MeasuredExpression::new(text, field.context, dimension)?))
        }
        Err(error) => Err(error.into()),
    }
}
