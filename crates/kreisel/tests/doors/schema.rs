//! The schema that editors read accepts what the program accepts: the sample of every kind of part, and every
//! model file of the project.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::model::Unit;
use kreisel::model::schema::{reference_page, schema};
use kreisel::model::types::TYPES;
use kreisel::part::{MachineReader, kinds, parts};
use serde_json::{Value, json};
use std::path::Path;

/// What a schema has against a value, with the place of it. Knows the words that ours uses, and refuses
/// others.
fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        let good = match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().trim_start_matches('#');
                faults.extend(self::faults(root, root.pointer(pointer).unwrap(), value, place));
                true
            }
            "type" => has_type(rule, value),
            "enum" => rule.as_array().unwrap().contains(value),
            "anyOf" => {
                let choices = rule.as_array().unwrap();
                choices.iter().any(|choice| self::faults(root, choice, value, place).is_empty())
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults.extend(self::faults(root, rule, item, &format!("{place}[{index}]")));
                }
                true
            }
            "required" => {
                (rule.as_array().unwrap().iter()).all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "properties" => {
                for (key, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        faults.extend(self::faults(root, rule, value, &format!("{place}.{key}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |key: &str| schema.get("properties").is_some_and(|keys| keys.get(key).is_some());
                let mut others = value.as_object().into_iter().flatten().filter(|(key, _)| !known(key));
                match rule {
                    Value::Bool(allowed) => *allowed || others.next().is_none(),
                    rule => others.all(|(_, value)| self::faults(root, rule, value, place).is_empty()),
                }
            }
            "pattern" => value.is_string(),
            other => panic!("the schema says `{other}`, which this test does not know"),
        };
        if !good {
            faults.push(format!("{place}: `{word}` of the schema is {rule}, the value is {value}"));
        }
    }
    faults
}

fn has_type(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::Array(types) => types.iter().any(|rule| has_type(rule, value)),
        rule => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            other => panic!("the schema has the type `{other}`, which this test does not know"),
        },
    }
}

fn json_of(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn the_schema_accepts_the_sample_of_every_part() {
    let schema = schema(&kinds());
    for entry in parts() {
        let sample = json_of(entry.sample);
        assert!(sample.get(entry.kind.name).is_some(), "{}", entry.kind.name);
        assert_eq!(faults(&schema, &schema, &sample, entry.kind.name), Vec::<String>::new());
    }
}

#[test]
fn the_schema_accepts_every_model_file() {
    let schema = schema(&kinds());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let model = json_of(&std::fs::read_to_string(&path).unwrap());
            let name = path.file_name().unwrap().to_string_lossy();
            assert_eq!(faults(&schema, &schema, &model, &name), Vec::<String>::new());
            count += 1;
        }
    }
    assert!(count > 20, "{count} models");
}

#[test]
fn the_schema_refuses_unknown_keys_words_and_shapes() {
    let schema = schema(&kinds());
    for (model, words) in [
        (json!({ "bodies": [] }), "additionalProperties"),
        (json!({ "body": [{ "name": "a", "mass": 1, "weight": 2 }] }), "additionalProperties"),
        (json!({ "body": [{ "name": "a", "mass": 1, "position": [0, 1] }] }), "minItems"),
        (json!({ "revolute": [{ "name": "a" }] }), "required"),
        (json!({ "simulation": { "method": "magic" } }), "enum"),
    ] {
        let found = faults(&schema, &schema, &model, "model");
        assert!(found.iter().any(|fault| fault.contains(words)), "{model}: {found:?}");
    }
}

/// A pendulum in which each kind of part of an example stands once.
const OF_EXAMPLES: &[(&str, &str)] = &[
    ("body", "name = 'rod'\ninertia = [1, 1, 1]\nmarkers = [{ name = 'end', position = [0.1, 0, 0] }]"),
    ("drive", "name = 'motor'\njoint = 'hinge'"),
    ("spring-damper", "name = 'spring'\nfree-length = 0.3"),
];

/// Lines that stand where an example says nothing of them.
const USUAL: &[(&str, &str)] = &[
    ("body", "mass = 1"),
    ("body", "position = [0.3, 0, 0]"),
    ("drive", "angle = 0"),
    ("spring-damper", "bodies = ['ground', 'rod']"),
    ("spring-damper", "force = 0"),
];

#[test]
fn every_line_of_the_examples_of_types_may_stand_in_a_model() {
    let mut count = 0;
    for value in TYPES {
        for line in value.example.lines() {
            let key = |line: &str| line.split(" =").next().unwrap().to_owned();
            let mut text = "[parameters]\nradius = 0.1\n[simulation]\nend-time = 2\nstep = 0.01\n".to_owned();
            text += "[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'rod']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n";
            for (part, fixed) in OF_EXAMPLES.iter().filter(|(part, _)| [value.part, "body"].contains(part)) {
                let usual = USUAL.iter().filter(|(of, _)| of == part).map(|(_, usual)| *usual);
                let own = (*part == value.part).then_some(line);
                let lines: Vec<&str> =
                    usual.filter(|usual| own.is_none_or(|own| key(own) != key(usual))).chain(own).collect();
                text += &format!("[[{part}]]\n{fixed}\n{}\n", lines.join("\n"));
            }
            if let Err(errors) = MachineReader::new().text("example.toml", &text) {
                panic!("{}: {errors}\n{text}", value.name);
            }
            count += 1;
        }
    }
    assert!(count >= 3 * TYPES.len() - 4, "{count} lines");
}

/// Sizes that the law or the standard says, not our table.
#[test]
fn the_table_of_units_is_that_of_the_reader() {
    let page = reference_page(&kinds());
    for (name, unit) in Unit::named() {
        assert_eq!(Unit::parse(name), Ok(unit));
        assert!(page.contains(&format!("| `{name}` | {} |", unit.factor)), "{name}");
    }
    for (name, row) in [
        ("in", "0.0254 | length (m) |"),
        ("min", "60 | time (s) |"),
        ("lb", "0.45359237 | mass (kg) |"),
        ("GPa", "1000000000 |"),
    ] {
        assert!(page.contains(&format!("| `{name}` | {row}")), "{name}");
    }
}

#[test]
fn editors_explain_laws_curves_and_orientations() {
    let schema = schema(&kinds());
    for (part, key, words) in [
        ("drive", "angle", "A law of time is"),
        ("spring-damper", "force", "A curve is"),
        ("body", "orientation", "An orientation is"),
    ] {
        let text = schema["properties"][part]["items"]["properties"][key]["description"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
}
