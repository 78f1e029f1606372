//! What is wrong with the tables of kinds of parts, for tests.

use std::sync::Arc;

use super::error::ModelErrors;
use super::fields::Field;
use super::function::{read_characteristic, read_curve, read_law, read_signal, read_signals, read_three};
use super::kind::{COMMON_KEYS, Key, Need, Occurrence, PartKind, REPETITION_KEYS, ValueKind};
use super::orientation;
use super::reader::read_number_or;
use super::scope::{Context, ParameterValues, Scope};
use super::source::SourceFile;
use super::value;

/// What is wrong with the table of a kind, for a test of the registry: names that are not kebab-case or
/// occur twice, missing descriptions, and defaults that cannot be read as their type.
pub fn kind_faults(kind: &'static PartKind) -> Vec<String> {
    let kebab = |name: &str| {
        name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-')
    };
    let mut faults = Vec::new();
    if !kebab(kind.name) {
        faults.push(format!("`{}` is not kebab-case", kind.name));
    }
    if kind.doc.is_empty() {
        faults.push(format!("`{}` has no description", kind.name));
    }
    let common = if kind.occurrence != Occurrence::Once { COMMON_KEYS } else { &[] };
    let mut seen: Vec<&str> = common.iter().map(|key| key.name).collect();
    key_faults(kind.keys, &mut seen, &kebab, &mut faults);
    faults
}

fn key_faults(
    keys: &'static [Key],
    seen: &mut Vec<&'static str>,
    kebab: &dyn Fn(&str) -> bool,
    faults: &mut Vec<String>,
) {
    for key in keys {
        if !kebab(key.name) || key.doc.is_empty() {
            faults.push(format!("`{}` is not kebab-case or has no description", key.name));
        }
        if seen.contains(&key.name) {
            faults.push(format!("`{}` occurs twice", key.name));
        }
        seen.push(key.name);
        if let Need::Default(text) = key.need
            && let Err(errors) = read_default(key, text)
        {
            faults.push(errors.to_string());
        }
        match key.value {
            ValueKind::Table(keys) => key_faults(keys, &mut Vec::new(), kebab, faults),
            ValueKind::Tables(keys) => {
                let mut seen = REPETITION_KEYS.iter().map(|key| key.name).collect();
                key_faults(keys, &mut seen, kebab, faults);
            }
            _ => {}
        }
    }
}

/// Reads a default as its type, in a model without parameters.
fn read_default(key: &'static Key, text: &str) -> Result<(), ModelErrors> {
    let value = value::parse_value(&SourceFile::new(format!("the default of `{}`", key.name), text))?;
    let scope = Scope::of_model(ParameterValues::new());
    let context = Context::new(Arc::new(scope), None);
    let field = Field { key: key.name, value: &value, context: &context };
    match key.value {
        ValueKind::Number(dimension) => field.number(dimension).map(drop)?,
        ValueKind::NumberOr(dimension, words) => read_number_or(field, dimension, words).map(drop)?,
        ValueKind::Count => field.count().map(drop)?,
        ValueKind::Vector3(dimension) => field.vector3(dimension).map(drop)?,
        ValueKind::Numbers(dimension, lengths) => field.numbers(dimension, lengths).map(drop)?,
        ValueKind::Matrix(dimension, rows, columns) => field.matrix(dimension, rows, columns).map(drop)?,
        ValueKind::Symmetric3(dimension) => field.symmetric3(dimension).map(drop)?,
        ValueKind::Text | ValueKind::Reference => field.text().map(drop)?,
        ValueKind::Boolean => field.boolean().map(drop)?,
        ValueKind::Choice(choices) => field.choice(choices).map(drop)?,
        ValueKind::References(_) | ValueKind::Tables(_) => field.array().map(drop)?,
        ValueKind::Orientation => orientation::read(field).map(drop)?,
        ValueKind::Law(dimension) => read_law(field, dimension).map(drop)?,
        ValueKind::Law3(dimension) => read_three(field, |part| read_law(part, dimension)).map(drop)?,
        ValueKind::Signal(dimension) => read_signal(field, dimension).map(drop)?,
        ValueKind::Signal3(dimension) => read_three(field, |part| read_signal(part, dimension)).map(drop)?,
        ValueKind::Signals(dimension) => read_signals(field, dimension).map(drop)?,
        ValueKind::Curve(argument, value) => read_curve(field, argument, value).map(drop)?,
        ValueKind::Characteristic(argument, value, names) => {
            read_characteristic(field, argument, value, names).map(drop)?;
        }
        ValueKind::Table(_) | ValueKind::Parameters => field.table().map(drop)?,
    }
    Ok(())
}
