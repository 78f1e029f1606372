//! The JSON Schema for editors and the reference page of the book, both made from the kinds' tables.

use serde_json::{Map, Value as Json, json};

use super::expression::{CONSTANTS, FUNCTIONS};
use super::kind::{
    COMMON_KEYS, EXTRAPOLATIONS, INTERPOLATIONS, Key, Need, Occurrence, PartKind, REPETITION_KEYS, ValueKind,
};
use super::quantity::{Dimension, Unit};
use super::reader;
use super::types::{CURVE, EXPRESSION, LAW, NAME, NUMBER, ORIENTATION, TYPES, UNIT, ValueType};
use super::value::{Content, Value};

/// JSON Schema (draft 2020-12) of a model file with the given kinds of parts.
pub fn schema(kinds: &[&'static PartKind]) -> Json {
    let mut properties = Map::new();
    let numbers = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/number" } });
    properties.insert("parameters".into(), described(numbers, "Named numbers for expressions."));
    let expressions = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/number" } });
    let doc =
        "Named expressions of time, measured quantities and parameters, which other expressions use by name.";
    properties.insert("expressions".into(), described(expressions, doc));
    properties.insert("include".into(), include());
    for kind in kinds {
        let common = if kind.occurrence != Occurrence::Once { COMMON_KEYS } else { &[] };
        let table = described(table(kind.keys.iter().chain(common)), kind.doc);
        let table = match kind.occurrence {
            Occurrence::Many | Occurrence::ManyOn(_) => {
                json!({ "type": "array", "items": table, "description": kind.doc })
            }
            Occurrence::Once => table,
        };
        properties.insert(kind.name.into(), table);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kreisel model",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

fn described(mut schema: Json, doc: &str) -> Json {
    schema["description"] = doc.into();
    schema
}

fn definitions() -> Json {
    let number = json!({ "type": ["number", "string"] });
    let vector = json!({ "type": "array", "items": number, "minItems": 3, "maxItems": 3 });
    let points = json!({
        "type": "array",
        "items": { "type": "array", "items": number, "minItems": 2, "maxItems": 2 },
        "minItems": 2,
    });
    let curve = json!({
        "points": points,
        "interpolation": { "enum": INTERPOLATIONS },
        "outside": { "enum": EXTRAPOLATIONS },
    });
    let law = json!({
        "speed": number, "start": number, "smooth-start": number, "start-time": number,
        "points": points,
        "interpolation": { "enum": INTERPOLATIONS },
        "outside": { "enum": EXTRAPOLATIONS },
    });
    let orientation = json!({
        "quaternion": { "type": "array", "items": number, "minItems": 4, "maxItems": 4 },
        "axis": vector, "angle": number,
        "euler": vector, "sequence": { "type": "string", "pattern": "^[xyz]{3}$" },
        "matrix": { "type": "array", "items": vector, "minItems": 3, "maxItems": 3 },
        "z-axis": vector, "x-axis": vector, "y-axis": vector,
    });
    let closed = |properties: Json| json!({ "type": "object", "properties": properties, "additionalProperties": false });
    json!({
        "number": described(number, NUMBER.brief),
        "vector3": vector,
        "curve": described(closed(curve), CURVE.brief),
        "law": described(json!({ "anyOf": [{ "$ref": "#/$defs/number" }, closed(law)] }), LAW.brief),
        "orientation": described(closed(orientation), ORIENTATION.brief),
    })
}

fn include() -> Json {
    let number = json!({ "$ref": "#/$defs/number" });
    json!({
        "description": "Other files whose parts belong to this model.",
        "type": "array",
        "items": { "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": {
                    "file": { "type": "string", "description": "Path from this file." },
                    "prefix": { "type": "string", "description": "What stands before all names of the file." },
                    "position": { "$ref": "#/$defs/vector3" },
                    "rotation": { "$ref": "#/$defs/orientation" },
                    "parameters": { "type": "object", "additionalProperties": number },
                    "repeat": number,
                    "when": { "type": ["number", "string", "boolean"] },
                },
                "required": ["file"],
                "additionalProperties": false,
            },
        ]},
    })
}

/// Schema of a table with the given keys.
fn table(keys: impl Iterator<Item = &'static Key>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in keys {
        let mut schema = described(value(key), &documented(key));
        match key.need {
            Need::Required => required.push(Json::from(key.name)),
            Need::Optional => {}
            Need::Default(text) => schema["default"] = json_value(&reader::default_value(key.name, text)),
        }
        properties.insert(key.name.into(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// What an editor shows of a key: what it means, in which unit, and what its value may be where that is not
/// plain.
fn documented(key: &Key) -> String {
    let doc = match unit(key.value) {
        Some(unit) if !unit.is_empty() => format!("{} [{unit}]", key.doc),
        _ => key.doc.into(),
    };
    match key.value {
        ValueKind::Orientation => format!("{doc} {}", ORIENTATION.brief),
        ValueKind::Law(_)
        | ValueKind::Law3(_)
        | ValueKind::Signal(_)
        | ValueKind::Signal3(_)
        | ValueKind::Signals(_) => {
            format!("{doc} {}", LAW.brief)
        }
        ValueKind::Curve(..) => format!("{doc} {}", CURVE.brief),
        ValueKind::Characteristic(..) => format!("{doc} {} {}", EXPRESSION.brief, CURVE.brief),
        _ => doc,
    }
}

/// The base unit of a key's numbers.
fn unit(kind: ValueKind) -> Option<String> {
    match kind {
        ValueKind::Curve(argument, value) | ValueKind::Characteristic(argument, value, _) => {
            let shown = |dimension: Dimension| match dimension.unit() {
                unit if unit.is_empty() => "1".to_string(),
                unit => unit,
            };
            Some(format!("{} → {}", shown(argument), shown(value)))
        }
        _ => kind.dimension().map(Dimension::unit),
    }
}

fn value(key: &Key) -> Json {
    let number = json!({ "$ref": "#/$defs/number" });
    let array = |items: Json, lengths: &[usize]| {
        let mut schema = json!({ "type": "array", "items": items });
        if let (Some(least), Some(most)) = (lengths.iter().min(), lengths.iter().max()) {
            schema["minItems"] = (*least).into();
            schema["maxItems"] = (*most).into();
        }
        schema
    };
    match key.value {
        // A condition may also be a plain truth value.
        ValueKind::Number(_) if key.name == "when" => json!({ "type": ["number", "string", "boolean"] }),
        ValueKind::Number(_) | ValueKind::NumberOr(..) | ValueKind::Count => number,
        ValueKind::Vector3(_) => json!({ "$ref": "#/$defs/vector3" }),
        ValueKind::Numbers(_, lengths) => array(number, lengths),
        ValueKind::Matrix(_, 0, 0) => array(array(number, &[]), &[]),
        ValueKind::Matrix(_, 0, columns) => array(array(number, &[columns]), &[]),
        ValueKind::Matrix(_, rows, columns) => array(array(number, &[columns]), &[rows]),
        ValueKind::Symmetric3(_) => json!({ "anyOf": [
            array(number.clone(), &[3, 6]),
            array(array(number, &[3]), &[3]),
        ]}),
        ValueKind::Text | ValueKind::Reference => json!({ "type": "string" }),
        ValueKind::Boolean => json!({ "type": "boolean" }),
        ValueKind::Choice(choices) => json!({ "enum": choices }),
        ValueKind::References(lengths) => array(json!({ "type": "string" }), lengths),
        ValueKind::Orientation => json!({ "$ref": "#/$defs/orientation" }),
        ValueKind::Law(_) | ValueKind::Signal(_) => json!({ "$ref": "#/$defs/law" }),
        ValueKind::Law3(_) | ValueKind::Signal3(_) => array(json!({ "$ref": "#/$defs/law" }), &[3]),
        ValueKind::Signals(_) => array(json!({ "$ref": "#/$defs/law" }), &[]),
        ValueKind::Curve(..) => json!({ "$ref": "#/$defs/curve" }),
        ValueKind::Characteristic(..) => {
            json!({ "anyOf": [{ "$ref": "#/$defs/number" }, { "$ref": "#/$defs/curve" }] })
        }
        ValueKind::Parameters => json!({ "type": "object", "additionalProperties": number }),
        ValueKind::Table(keys) => table(keys.iter()),
        ValueKind::Tables(keys) => {
            json!({ "type": "array", "items": table(keys.iter().chain(REPETITION_KEYS)) })
        }
    }
}

fn json_value(value: &Value) -> Json {
    match &value.content {
        // Whole defaults are shown as they are written: 0, not 0.0.
        Content::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => json!(*number as i64),
        Content::Number(number) => json!(number),
        Content::Text(text) => json!(text.content()),
        Content::Boolean(value) => json!(value),
        Content::Date => Json::Null,
        Content::Array(values) => values.iter().map(json_value).collect(),
        Content::Table(entries) => {
            Json::Object(entries.iter().map(|entry| (entry.key.clone(), json_value(&entry.value))).collect())
        }
    }
}

/// Reference page of the model file in Markdown: every kind with its keys, and the functions of
/// expressions.
pub fn reference_page(kinds: &[&'static PartKind]) -> String {
    let mut page = types_section();
    for kind in kinds {
        page.push_str(&format!("## `{}`\n\n{}\n\n", kind.header(), kind.doc));
        page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
        rows(&mut page, "", kind.keys);
        page.push('\n');
    }
    page.push_str("## Keys of every part\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
    rows(&mut page, "", COMMON_KEYS);
    page.push_str("\n## Functions and constants\n\n| name | meaning |\n|---|---|\n");
    for function in FUNCTIONS {
        let arguments = ["x", "x, y", "x, y, z"][function.arity() - 1];
        page.push_str(&format!("| `{}({arguments})` | {} |\n", function.name, function.doc));
    }
    for (name, value) in CONSTANTS {
        page.push_str(&format!("| `{name}` | {value} |\n"));
    }
    page
}

/// The types of values, each with an example.
fn types_section() -> String {
    let mut page = "## Types\n\nWhat stands in the column *value* of the tables below.\n\n".to_owned();
    for value in TYPES {
        let ValueType { name, doc, part, example, .. } = value;
        page.push_str(&format!(
            "### {name}\n\n{doc}\n\n```toml\n# in a [[{part}]], one of these lines\n{example}\n```\n\n"
        ));
        if *name == UNIT.name {
            page.push_str("| unit | how many base units | of what |\n|---|---|---|\n");
            for (name, Unit { factor, dimension }) in Unit::named() {
                page.push_str(&format!("| `{name}` | {factor} | {dimension} |\n"));
            }
            page.push('\n');
        }
    }
    page
}

fn rows(page: &mut String, parent: &str, keys: &'static [Key]) {
    for key in keys {
        let default = match key.need {
            Need::Required => "required".into(),
            Need::Optional => String::new(),
            Need::Default(text) => format!("`{text}`"),
        };
        let name = format!("{parent}{}", key.name);
        page.push_str(&format!("| `{name}` | {} | {default} | {} |\n", type_text(key.value), key.doc));
        if let ValueKind::Table(keys) | ValueKind::Tables(keys) = key.value {
            rows(page, &format!("{name}."), keys);
        }
    }
}

/// What a value is, in words.
fn type_text(kind: ValueKind) -> String {
    let of = |thing: &str| match unit(kind) {
        Some(unit) if !unit.is_empty() => format!("{thing}, `{unit}`"),
        _ => thing.to_string(),
    };
    let link = |words: &str, to: ValueType| format!("[{words}](#{})", to.anchor());
    let lengths = |lengths: &[usize]| match lengths {
        [] => "some".to_string(),
        _ => lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "),
    };
    let choices =
        |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match kind {
        ValueKind::Number(_) => of(&link("number", NUMBER)),
        ValueKind::NumberOr(_, words) => format!("{} or {}", of(&link("number", NUMBER)), choices(words)),
        ValueKind::Count => link("whole number", NUMBER),
        ValueKind::Vector3(_) => of(&link("3 numbers", NUMBER)),
        ValueKind::Numbers(_, counts) => of(&link(&format!("{} numbers", lengths(counts)), NUMBER)),
        ValueKind::Matrix(_, 0, 0) => of("rows of numbers"),
        ValueKind::Matrix(_, 0, columns) => of(&format!("rows of {columns} numbers")),
        ValueKind::Matrix(_, rows, columns) => of(&format!("{rows} × {columns} matrix")),
        ValueKind::Symmetric3(_) => of("3 or 6 numbers, or a symmetric 3 × 3 matrix"),
        ValueKind::Text => "text".into(),
        ValueKind::Boolean => "`true` or `false`".into(),
        ValueKind::Choice(words) => choices(words),
        ValueKind::Reference => link("name of a part", NAME),
        ValueKind::References(counts) => link(&format!("{} names of parts", lengths(counts)), NAME),
        ValueKind::Orientation => link("orientation", ORIENTATION),
        ValueKind::Law(_) => of(&link("law of time", LAW)),
        ValueKind::Law3(_) => of(&link("3 laws of time", LAW)),
        ValueKind::Signal(_) => of(&link("law of time or measured quantities", LAW)),
        ValueKind::Signal3(_) => of(&link("3 laws of time or measured quantities", LAW)),
        ValueKind::Signals(_) => of(&link("laws of time or measured quantities", LAW)),
        ValueKind::Curve(..) => of(&link("curve", CURVE)),
        ValueKind::Characteristic(_, _, names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            of(&format!(
                "{} of {}, or {}",
                link("expression", EXPRESSION),
                names.join(", "),
                link("curve", CURVE)
            ))
        }
        ValueKind::Parameters => "table of parameters and numbers".into(),
        ValueKind::Table(_) => "table".into(),
        ValueKind::Tables(_) => "tables".into(),
    }
}
