//! Motions of joints from a table.
//!
//! The first column is the time. The others are coordinates of joints by their full names, `elbow.angle`, or by
//! the joint alone if it has one; their rates, `elbow.angle-rate` or `elbow.rate`, and accelerations,
//! `elbow.angle-acceleration` or `elbow.acceleration`, may be given too. What is not given follows from the
//! spline through the points of what is: rates from coordinates, accelerations from rates. A unit may stand in
//! brackets, `elbow.angle [deg]`; base units count without.

use super::Machine;
use crate::model::document::read_bytes;
use crate::model::{Mistake, ModelError, ModelErrors, Place, SourceFile, Table, Unit};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// How some coordinates of a machine move: at each time their values, rates and accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct LedMotion {
    coordinates: Vec<String>,
    times: Vec<f64>,
    /// Line of the table for each time.
    lines: Vec<usize>,
    /// For each coordinate its values, rates and accelerations over time.
    courses: Vec<[Vec<f64>; 3]>,
}

/// Largest table in bytes.
const MAX_SIZE: u64 = 100_000_000;

/// Words behind the name of a coordinate for its values, rates and accelerations.
const ORDERS: [&str; 3] = ["", "-rate", "-acceleration"];

impl LedMotion {
    /// Reads a table from a file.
    pub fn read(path: impl AsRef<Path>, machine: &Machine) -> Result<Self, ModelErrors> {
        let name = path.as_ref().display().to_string();
        let nowhere = Place::new(&SourceFile::new(name.clone(), ""), 0..0);
        let refused = |mistake| ModelError::new(mistake, nowhere.clone());
        let bytes = read_bytes(path.as_ref(), MAX_SIZE).map_err(refused)?;
        let text =
            String::from_utf8(bytes).map_err(|_| refused(Mistake::NotText("its bytes are not UTF-8")))?;
        Self::from_text(&name, &text, machine)
    }

    /// The same of a text; `name` stands for the file in messages.
    pub fn from_text(name: &str, text: &str, machine: &Machine) -> Result<Self, ModelErrors> {
        let file = SourceFile::new(name, text);
        let sheet = MotionSheet::new(&file);
        let Some(((_, head), body)) = sheet.rows.split_first() else {
            return Err(sheet.mistake(0..0, "the table is empty: its first row names the columns").into());
        };
        let known = Known::new(machine);
        let mut errors = ModelErrors::new();
        let (mut time, mut columns) = (None, HashMap::new());
        for (place, cell) in head.iter().enumerate() {
            let Some(column) = errors.keep(sheet.column(cell, &known)) else { continue };
            let before = match column.what {
                None => time.replace((place, column.factor)).map(|(place, _)| place),
                Some(what) => columns.insert(what, (place, column.factor)).map(|(place, _)| place),
            };
            if let Some(before) = before {
                let error = sheet.mistake_at(cell, format!("the column `{cell}` is there twice"));
                errors.push(error.with_related(sheet.place(head[before]), "the first one"));
            }
        }
        let at_head = || sheet.place_of(head);
        if time.is_none() {
            errors.push(ModelError::new(Mistake::Foreign("there is no column `time`".to_owned()), at_head()));
        }
        errors.into_result()?;
        let (time, by_time) = time.unwrap_or_default();
        let mut order: Vec<usize> = columns.keys().map(|(coordinate, _)| *coordinate).collect();
        order.sort_unstable();
        order.dedup();
        if order.is_empty() {
            let error = ModelError::new(
                Mistake::Foreign("no column is a coordinate of a joint".to_owned()),
                at_head(),
            );
            return Err(error.with_hint(known.list()).into());
        }
        let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(body.len());
        let mut errors = ModelErrors::new();
        for (_, cells) in body {
            if cells.len() != head.len() {
                let message = format!("{} columns were named, here are {}", head.len(), cells.len());
                errors.push(ModelError::new(Mistake::Foreign(message), sheet.place_of(cells)));
                continue;
            }
            let row = cells.iter().map(|cell| errors.keep(sheet.number(cell)));
            if let Some(row) = row.collect::<Option<Vec<f64>>>() {
                numbers.push(row);
            }
        }
        errors.into_result()?;
        let times: Vec<f64> = numbers.iter().map(|row| by_time * row[time]).collect();
        if let Some(row) = times.windows(2).position(|pair| !matches!(pair, [a, b] if a < b)) {
            let (cell, before) = (body[row + 1].1[time], body[row].1[time]);
            let message = format!("times must ascend, and {cell} follows {before}");
            return Err(sheet.mistake_at(cell, message).into());
        }
        let mut courses = Vec::with_capacity(order.len());
        for &coordinate in &order {
            let given = [0, 1, 2].map(|order| {
                let (place, factor) = columns.get(&(coordinate, order))?;
                Some(numbers.iter().map(|row| factor * row[*place]).collect::<Vec<f64>>())
            });
            let name = &known.names[coordinate];
            courses.push(course(&times, given).map_err(|reason| {
                ModelError::new(Mistake::Foreign(format!("`{name}`: {reason}")), at_head())
            })?);
        }
        let coordinates = order.iter().map(|&coordinate| known.names[coordinate].clone()).collect();
        let lines = body.iter().map(|(line, _)| *line).collect();
        Ok(Self { coordinates, times, lines, courses })
    }

    /// Full names of the coordinates, in the order of the model.
    pub fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    /// Times in s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Line of the table for each time.
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Values, rates or accelerations (order 0, 1 or 2) of all coordinates at a place of the table.
    pub fn row(&self, place: usize, order: usize) -> Vec<f64> {
        self.courses.iter().map(|course| course[order][place]).collect()
    }
}

/// Values, rates and accelerations over time, of which some are given.
fn course(times: &[f64], given: [Option<Vec<f64>>; 3]) -> Result<[Vec<f64>; 3], String> {
    let [values, rates, accelerations] = given;
    let Some(values) = values else {
        return Err("a rate or an acceleration is given, but not the coordinate itself".to_owned());
    };
    let (slopes, curvatures) = match (&rates, &accelerations) {
        (Some(_), Some(_)) => (Vec::new(), Vec::new()),
        (Some(rates), None) => (Vec::new(), derivatives(times, rates)?.0),
        (None, _) => derivatives(times, &values)?,
    };
    Ok([values, rates.unwrap_or(slopes), accelerations.unwrap_or(curvatures)])
}

/// Slopes and curvatures of the spline through some points, at the points.
fn derivatives(times: &[f64], values: &[f64]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let points: Vec<(f64, f64)> = times.iter().copied().zip(values.iter().copied()).collect();
    let spline = Table::recorded(&points).map_err(|_| {
        "two times at least are needed, unless rate and acceleration are given as well".to_owned()
    })?;
    Ok(times
        .iter()
        .map(|&time| spline.evaluate(time))
        .map(|[_, slope, curvature]| (slope, curvature))
        .unzip())
}

/// What columns may be called.
struct Known {
    /// Coordinates by their full names.
    names: Vec<String>,
    /// Their units.
    units: Vec<&'static str>,
    /// A coordinate and how often it is differentiated, by what the column is called.
    columns: HashMap<String, (usize, usize)>,
}

impl Known {
    fn new(machine: &Machine) -> Self {
        let (mut names, mut units, mut columns) = (Vec::new(), Vec::new(), HashMap::new());
        for (name, measured) in machine.frames().coordinates() {
            for (order, word) in ORDERS.iter().enumerate() {
                columns.insert(format!("{name}{word}"), (names.len(), order));
            }
            names.push(name);
            units.push(measured.unit);
        }
        let joint = |name: &str| name.rsplit_once('.').map(|(joint, _)| joint.to_owned());
        for (place, name) in names.iter().enumerate() {
            let Some(own) = joint(name) else { continue };
            let beside = [place.checked_sub(1), place.checked_add(1)].into_iter().flatten();
            if !beside.filter_map(|other| joint(names.get(other)?)).any(|other| other == own) {
                for (order, word) in ["", ".rate", ".acceleration"].iter().enumerate() {
                    columns.insert(format!("{own}{word}"), (place, order));
                }
            }
        }
        Self { names, units, columns }
    }

    /// The coordinates in words.
    fn list(&self) -> String {
        /// More would hide the message.
        const MOST: usize = 12;
        let names: Vec<String> = self.names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
        match (names.is_empty(), self.names.len() > MOST) {
            (true, _) => "the machine has no joints with coordinates".to_owned(),
            (_, more) => {
                format!("the coordinates are {}{}", names.join(", "), if more { ", …" } else { "" })
            }
        }
    }
}

/// A column: none is the time.
struct MotionColumn {
    what: Option<(usize, usize)>,
    factor: f64,
}

/// Rows of a table as they are written, each with the number of its line.
struct MotionSheet<'a> {
    file: &'a Arc<SourceFile>,
    rows: Vec<(usize, Vec<&'a str>)>,
}

impl<'a> MotionSheet<'a> {
    fn new(file: &'a Arc<SourceFile>) -> Self {
        let lines = file.text().lines().enumerate().map(|(place, line)| (place + 1, line));
        let lines: Vec<(usize, &str)> = lines
            .map(|(number, line)| (number, line.trim_start_matches('\u{feff}')))
            .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
            .collect();
        let first = lines.first().map_or("", |(_, line)| *line);
        let separator = [';', '\t'].into_iter().find(|letter| first.contains(*letter)).unwrap_or(',');
        let cells = |line: &'a str| line.split(separator).map(|cell| cell.trim().trim_matches('"')).collect();
        Self { file, rows: lines.into_iter().map(|(number, line)| (number, cells(line))).collect() }
    }

    /// Where a part of the text stands.
    fn place(&self, cell: &str) -> Place {
        let start = (cell.as_ptr() as usize).saturating_sub(self.file.text().as_ptr() as usize);
        Place::new(self.file, start..start + cell.len())
    }

    /// Where a row stands.
    fn place_of(&self, cells: &[&str]) -> Place {
        let [first, last] = [cells.first(), cells.last()].map(|cell| self.place(cell.unwrap_or(&"")).range());
        Place::new(self.file, first.start..last.end)
    }

    fn mistake(&self, range: std::ops::Range<usize>, message: impl Into<String>) -> ModelError {
        ModelError::new(Mistake::Foreign(message.into()), Place::new(self.file, range))
    }

    fn mistake_at(&self, cell: &str, message: impl Into<String>) -> ModelError {
        self.mistake(self.place(cell).range(), message)
    }

    /// What a column holds by its head.
    fn column(&self, cell: &str, known: &Known) -> Result<MotionColumn, ModelError> {
        let (name, unit) = match cell.split_once('[') {
            Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(']').map(str::trim)),
            None => (cell, Some("")),
        };
        let unit = unit.ok_or_else(|| self.mistake_at(cell, "the bracket of the unit is not closed"))?;
        let (what, base) = if name == "time" {
            (None, "s".to_owned())
        } else {
            let found = known.columns.get(name).copied();
            let (coordinate, order) = found.ok_or_else(|| {
                let mistake = Mistake::UnknownName { what: "coordinate", name: name.to_owned() };
                let names = known.names.iter().chain(known.columns.keys()).map(String::as_str);
                let error = ModelError::new(mistake, self.place(cell)).with_nearest(name, names);
                if error.hint().is_some() { error } else { error.with_hint(known.list()) }
            })?;
            let base = match (known.units[coordinate], order) {
                (unit, 0) => unit.to_owned(),
                (unit, 1) => format!("{unit}/s"),
                (unit, _) => format!("{unit}/s^2"),
            };
            (Some((coordinate, order)), base)
        };
        if unit.is_empty() || unit == base {
            return Ok(MotionColumn { what, factor: 1.0 });
        }
        let dimension = Unit::parse(&base).map(|unit| unit.dimension).ok();
        let given = Unit::parse(unit).map_err(|_| self.mistake_at(cell, format!("`{unit}` is no unit")))?;
        if dimension != Some(given.dimension) {
            let message = format!("`{name}` cannot be in {unit}: it has the unit {base}");
            return Err(self.mistake_at(cell, message));
        }
        Ok(MotionColumn { what, factor: given.factor })
    }

    fn number(&self, cell: &str) -> Result<f64, ModelError> {
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let shown: String = cell.chars().take(40).collect();
                let error = self.mistake_at(cell, format!("a finite number is needed, not `{shown}`"));
                Err(if cell.contains(',') { error.with_hint("the decimal sign is a point") } else { error })
            }
        }
    }
}
