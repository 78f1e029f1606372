//! `[[table]]`: a function that a model gives by points, in the file itself or in a table of numbers beside
//! it.
//!
//! Expressions call it by its name. It stands in this layer, not with the other kinds of parts, because
//! expressions of all parts may use it: tables are read before anything else.
//!
//! A file has its numbers in columns, separated by commas, semicolons or tabs. A first row of words names the
//! columns, perhaps with units in brackets: `angle [deg], pressure [kPa]`. A grid has the values of y in its
//! first row and those of x in its first column. Empty lines and lines that begin with `#` do not count.

use super::document::{Part, read_beside};
use super::error::{Mistake, ModelError, ModelErrors};
use super::expression::read_whole_unit;
use super::kind::{EXTRAPOLATIONS, INTERPOLATIONS, Key, Need, Occurrence, PartKind, ValueKind};
use super::quantity::{Dimension, Unit};
use super::reader::PartReader;
use super::source::Text;
use super::table::{Interpolation, Outside, Table, TableFunction, TableGrid, TableMistake};

const NUMBERS: ValueKind = ValueKind::Numbers(Dimension::NONE, &[]);

/// Keys of `[[table]]`.
pub static TABLE: PartKind = PartKind {
    name: "table",
    doc: "A function given by points, which expressions call by its name: `gas(crank.angle)`. It has one argument, with `points` or a file of two columns; or two arguments x and y, with `x`, `y` and `values` or a file of more columns: a grid.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("points", ValueKind::Matrix(Dimension::NONE, 0, 2), Need::Optional)
            .doc("Argument and value of each point; arguments ascend."),
        Key::new("x", NUMBERS, Need::Optional).doc("First arguments of a grid, ascending."),
        Key::new("y", NUMBERS, Need::Optional).doc("Second arguments of a grid, ascending."),
        Key::new("values", ValueKind::Matrix(Dimension::NONE, 0, 0), Need::Optional)
            .doc("Values of a grid: one row for each x, in it one number for each y."),
        Key::new("file", ValueKind::Text, Need::Optional)
            .doc("File with the numbers in columns, separated by commas, semicolons or tabs. A first row of words names the columns, perhaps with units (`angle [deg]`). A grid has the values of y in its first row, those of x in its first column."),
        Key::new("x-column", ValueKind::Text, Need::Optional)
            .doc("Name of the column with the arguments, of a file with several."),
        Key::new("value-column", ValueKind::Text, Need::Optional)
            .doc("Name of the column with the values, of a file with several."),
        Key::new("x-unit", ValueKind::Text, Need::Optional)
            .doc("Unit of the (first) arguments, such as `deg`; base units if neither this nor the file says one."),
        Key::new("y-unit", ValueKind::Text, Need::Optional).doc("Unit of the second arguments."),
        Key::new("value-unit", ValueKind::Text, Need::Optional).doc("Unit of the values."),
        Key::new("interpolation", ValueKind::Choice(INTERPOLATIONS), Need::Default("\"smooth\""))
            .doc("Between the points: `smooth`, a cubic spline, or `linear`, straight lines."),
        Key::new("outside", ValueKind::Choice(EXTRAPOLATIONS), Need::Default("\"hold\""))
            .doc("Outside of the points: `hold` the end value, `continue` with the end slope, or `repeat` the whole, whose last value is then the first."),
        Key::new("y-outside", ValueKind::Choice(EXTRAPOLATIONS), Need::Default("\"hold\""))
            .doc("The same along y, of a grid."),
    ],
};

/// The word for how a function goes on outside of its points.
pub(crate) fn outside(word: &str) -> Outside {
    match word {
        "continue" => Outside::Continue,
        "repeat" => Outside::Repeat,
        _ => Outside::Hold,
    }
}

/// The word for how a function runs between its points.
pub(crate) fn interpolation(word: &str) -> Interpolation {
    if word == "linear" { Interpolation::Linear } else { Interpolation::Smooth }
}

/// What points must be, and what they are, if they make no function of the values of an argument.
pub(crate) fn refused(mistake: TableMistake, arguments: &[f64]) -> (&'static str, String) {
    match mistake {
        TableMistake::TooFew => ("at least two points", arguments.len().to_string()),
        TableMistake::NotAscending(index) => {
            ("ascending points", format!("{} after {}", arguments[index], arguments[index - 1]))
        }
        TableMistake::EndsDiffer => {
            ("such that the last value is the first, to be repeated", "two different ends".to_string())
        }
    }
}

/// What is given: points, or a grid.
enum GivenPoints {
    Line(Vec<(f64, f64)>),
    Grid { arguments: [Vec<f64>; 2], rows: Vec<Vec<f64>> },
}

/// The function that a part gives, by the name that expressions of its file call.
pub(crate) fn read(part: &Part) -> Result<(String, TableFunction), ModelErrors> {
    let reader = PartReader::new(part)?;
    let prefix = &part.context().scope().prefix;
    let name = part.name().strip_prefix(prefix.as_str()).unwrap_or(part.name()).to_owned();
    if name.is_empty() {
        return Err(reader.missing("name", "expressions call it by its name").into());
    }
    if part.context().scope().has_name(&name) {
        let mistake = Mistake::BadName { name, reason: "it already has a meaning in expressions" };
        return Err(ModelError::new(mistake, part.name_place().clone()).into());
    }
    let interpolation = interpolation(reader.choice("interpolation")?);
    let along_x = outside(reader.choice("outside")?);
    let (key, given) = given(&reader)?;
    let unsuitable = |mistake, arguments: &[f64]| {
        let (requirement, found) = refused(mistake, arguments);
        reader.unsuitable(key, requirement, found)
    };
    let function = match given {
        GivenPoints::Line(points) => {
            let table = Table::new(&points, interpolation, along_x).map_err(|mistake| {
                let arguments: Vec<f64> = points.iter().map(|(argument, _)| *argument).collect();
                unsuitable(mistake, &arguments)
            })?;
            TableFunction::Line(table)
        }
        GivenPoints::Grid { arguments, rows } => {
            let along_y = outside(reader.choice("y-outside")?);
            let surface = TableGrid::new(arguments.clone(), &rows, interpolation, [along_x, along_y]);
            TableFunction::Grid(surface.map_err(|(axis, mistake)| unsuitable(mistake, &arguments[axis]))?)
        }
    };
    reader.finish()?;
    Ok((name, function))
}

/// The factor of a unit that a key gives, or that the head of a column has.
fn factor(reader: &PartReader, key: &str, head: Option<&str>) -> Result<f64, ModelErrors> {
    if let Some(text) = reader.optional_text(key)? {
        return Ok(read_whole_unit(&text)?.factor);
    }
    let Some(unit) = head.and_then(|head| head.split_once('[')?.1.strip_suffix(']')) else { return Ok(1.0) };
    match Unit::parse(unit.trim()) {
        Ok(unit) => Ok(unit.factor),
        Err(_) => {
            let found = format!("`{unit}`");
            let error = reader.unsuitable("file", "a table whose units are known", found);
            Err(error.with_hint(format!("say the unit by `{key}`")).into())
        }
    }
}

fn scaled(numbers: Vec<f64>, factor: f64) -> Vec<f64> {
    numbers.into_iter().map(|number| number * factor).collect()
}

/// What a part gives, and by which key.
fn given(reader: &PartReader) -> Result<(&'static str, GivenPoints), ModelErrors> {
    let choices = ["points", "values", "file"];
    let keys: Vec<&'static str> = choices.into_iter().filter(|key| reader.has(key)).collect();
    let &[key] = keys.as_slice() else {
        let found = if keys.is_empty() { "none is given" } else { "several are given" };
        return Err(reader.ambiguous(&choices, found).into());
    };
    Ok((
        key,
        match key {
            "points" => {
                let (x, value) = (factor(reader, "x-unit", None)?, factor(reader, "value-unit", None)?);
                let points = reader.matrix("points")?;
                GivenPoints::Line(points.row_iter().map(|row| (x * row[0], value * row[1])).collect())
            }
            "values" => {
                let (x, y, values) = (reader.numbers("x")?, reader.numbers("y")?, reader.matrix("values")?);
                if values.nrows() != x.len() || values.ncols() != y.len() {
                    let requirement = format!("{} rows (one for each x) of {} numbers", x.len(), y.len());
                    let found = format!("{} rows of {}", values.nrows(), values.ncols());
                    return Err(reader.unsuitable("values", &requirement, found).into());
                }
                let rows = values.row_iter().map(|row| row.iter().copied().collect()).collect();
                grid(reader, [x, y], rows)?
            }
            _ => from_file(reader)?,
        },
    ))
}

/// A grid in base units.
fn grid(reader: &PartReader, [x, y]: [Vec<f64>; 2], rows: Vec<Vec<f64>>) -> Result<GivenPoints, ModelErrors> {
    let [by_x, by_y] = [factor(reader, "x-unit", None)?, factor(reader, "y-unit", None)?];
    let by_value = factor(reader, "value-unit", None)?;
    let rows = rows.into_iter().map(|row| scaled(row, by_value)).collect();
    Ok(GivenPoints::Grid { arguments: [scaled(x, by_x), scaled(y, by_y)], rows })
}

/// Largest file of numbers in bytes.
const MAX_SIZE: u64 = 100_000_000;

/// Rows of a file as they are written, each with the number of its line.
struct Sheet<'a> {
    file: &'a Text,
    rows: Vec<(usize, Vec<&'a str>)>,
}

impl<'a> Sheet<'a> {
    fn new(file: &'a Text, content: &'a str) -> Self {
        let content = content.trim_start_matches('\u{feff}');
        let lines = content.lines().enumerate().map(|(place, line)| (place + 1, line));
        let lines: Vec<(usize, &str)> = lines
            .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
            .collect();
        let first = lines.first().map_or("", |(_, line)| *line);
        let separator = [';', '\t'].into_iter().find(|letter| first.contains(*letter)).unwrap_or(',');
        let cells = |line: &'a str| line.split(separator).map(|cell| cell.trim().trim_matches('"')).collect();
        Self { file, rows: lines.into_iter().map(|(number, line)| (number, cells(line))).collect() }
    }

    fn refuse(&self, line: usize, requirement: &str, found: impl ToString) -> ModelError {
        let what = format!("line {line} of the file `{}`", self.file.content());
        ModelError::unsuitable(what, requirement, found, self.file.place())
    }

    fn number(&self, line: usize, cell: &str) -> Result<f64, ModelError> {
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let shown: String = cell.chars().take(40).collect();
                let error = self.refuse(line, "made of finite numbers", format!("`{shown}`"));
                Err(if cell.contains(',') { error.with_hint("the decimal sign is a point") } else { error })
            }
        }
    }
}

fn from_file(reader: &PartReader) -> Result<GivenPoints, ModelErrors> {
    let file = reader.text("file")?;
    let bytes = read_beside(&file, MAX_SIZE)?;
    let Ok(content) = std::str::from_utf8(&bytes) else {
        let mistake = Mistake::NotText("its bytes are not UTF-8");
        return Err(ModelError::new(mistake, file.place().clone()).into());
    };
    let sheet = Sheet::new(&file, content);
    let names: Vec<&str> = match sheet.rows.first() {
        Some((_, cells)) if cells.iter().any(|cell| cell.parse::<f64>().is_err()) => cells.clone(),
        _ => Vec::new(),
    };
    let columns = sheet.rows.first().map_or(0, |(_, cells)| cells.len());
    if columns < 2 {
        return Err(reader.unsuitable("file", "a table of at least two columns", columns).into());
    }
    for (line, cells) in &sheet.rows {
        if cells.len() != columns {
            return Err(sheet.refuse(*line, &format!("{columns} columns wide"), cells.len()).into());
        }
    }
    let is_named = reader.has("x-column") || reader.has("value-column");
    if columns > 2 && !is_named {
        return grid_of(reader, &sheet);
    }
    let [x, value] = if is_named {
        [column(reader, "x-column", &names)?, column(reader, "value-column", &names)?]
    } else {
        [0, 1]
    };
    let by_x = factor(reader, "x-unit", names.get(x).copied())?;
    let by_value = factor(reader, "value-unit", names.get(value).copied())?;
    let rows = sheet.rows.iter().skip(usize::from(!names.is_empty()));
    let point = |(line, cells): &(usize, Vec<&str>)| {
        Ok((by_x * sheet.number(*line, cells[x])?, by_value * sheet.number(*line, cells[value])?))
    };
    Ok(GivenPoints::Line(rows.map(point).collect::<Result<_, ModelError>>()?))
}

/// The place of a column that a key names; its unit is not part of the name.
fn column(reader: &PartReader, key: &str, names: &[&str]) -> Result<usize, ModelErrors> {
    let text = reader.text(key)?;
    let bare = |name: &str| name.split('[').next().unwrap_or(name).trim().to_owned();
    let names: Vec<String> = names.iter().map(|name| bare(name)).collect();
    let found = names.iter().position(|name| *name == text.content());
    found.ok_or_else(|| {
        let mistake = Mistake::UnknownName { what: "column", name: text.content().to_owned() };
        let error = ModelError::new(mistake, text.place().clone());
        error.with_nearest(text.content(), names.iter().map(String::as_str)).into()
    })
}

fn grid_of(reader: &PartReader, sheet: &Sheet) -> Result<GivenPoints, ModelErrors> {
    let Some(((line, head), body)) = sheet.rows.split_first() else {
        return Err(reader.unsuitable("file", "a table of numbers", "empty").into());
    };
    let numbers = |line: usize, cells: &[&str]| -> Result<Vec<f64>, ModelError> {
        cells.iter().map(|cell| sheet.number(line, cell)).collect()
    };
    let y = numbers(*line, &head[1..]).map_err(|error| {
        error.with_hint(
            "a grid has numbers in its first row; of other files name `x-column` and `value-column`",
        )
    })?;
    let (mut x, mut rows) = (Vec::new(), Vec::new());
    for (line, cells) in body {
        x.push(sheet.number(*line, cells[0])?);
        rows.push(numbers(*line, &cells[1..])?);
    }
    grid(reader, [x, y], rows)
}
