//! The schema that editors read accepts what the program accepts: the sample of every kind of part, and every
//! model file of the project.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::model::schema::schema;
use kreisel::part::{kinds, parts};
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
