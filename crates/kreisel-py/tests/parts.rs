//! The builder methods of the Python package are those of the registry of parts, and the arguments of its
//! runs those of the table of settings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::machine::SETTINGS;
use kreisel::model::{Dimension, Key, Need, Occurrence, PartKind, ValueKind, kind::COMMON_KEYS};
use kreisel::part;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const HEAD: &str = r#""""The parts of a model as methods: written by `cargo xtask refresh` from the library's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._model import Model

Number = SupportsFloat | str
"""A number in base units, or a text: an expression of parameters, perhaps with a unit."""
Numbers = Sequence[Number] | NDArray[Any]
"""Several numbers."""
Rows = Sequence[Numbers] | NDArray[Any]
"""Rows of numbers."""
Table = Mapping[str, Any]
"""A table in braces; underscores in its keys stand for dashes."""
Law = Number | Table
"""A function of time: a number, an expression of `t`, or a table of points or speeds."""


class Parts:
    """One method for each kind of part, one argument for each key."""

    def _add(self, kind: str, once: bool, entries: Mapping[str, Any]) -> Model:
        raise NotImplementedError
"#;

/// Words that Python keeps for itself.
const KEYWORDS: [&str; 12] =
    ["and", "as", "class", "from", "global", "if", "in", "is", "not", "or", "pass", "with"];

fn python_name(word: &str) -> String {
    let name = word.replace('-', "_");
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

fn python_type(value: &ValueKind) -> String {
    match value {
        ValueKind::Number(_) | ValueKind::NumberOr(..) => "Number".into(),
        ValueKind::Count => "int | str".into(),
        ValueKind::Vector3(_) | ValueKind::Numbers(..) => "Numbers".into(),
        ValueKind::Matrix(..) => "Rows".into(),
        ValueKind::Symmetric3(_) => "Numbers | Rows".into(),
        ValueKind::Text | ValueKind::Reference => "str".into(),
        ValueKind::Boolean => "bool".into(),
        ValueKind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        ValueKind::References(_) => "Sequence[str]".into(),
        ValueKind::Characteristic(..) => "Law".into(),
        ValueKind::Orientation | ValueKind::Curve(..) | ValueKind::Table(_) => "Table".into(),
        ValueKind::Law(_) | ValueKind::Signal(_) => "Law".into(),
        ValueKind::Law3(_) | ValueKind::Signal3(_) | ValueKind::Signals(_) => "Sequence[Law]".into(),
        ValueKind::Tables(_) => "Sequence[Table]".into(),
        #[allow(unreachable_patterns, reason = "a new kind of value is anything until it is named here")]
        _ => "Any".into(),
    }
}

fn unit(value: &ValueKind) -> Option<String> {
    value.dimension().map(Dimension::unit).filter(|unit| !unit.is_empty())
}

/// Text that may stand inside a docstring.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

/// A key and, one step further in, the keys of the tables that it holds.
fn key_lines(key: &Key, indent: &str) -> String {
    let unit = unit(&key.value).map(|unit| format!(" [{unit}]")).unwrap_or_default();
    let default = match key.need {
        Need::Default(value) => format!(" Default: `{value}`."),
        _ => String::new(),
    };
    let mut lines = format!("{indent}- `{}`{unit}: {}{default}\n", python_name(key.name), quoted(key.doc));
    if let ValueKind::Table(keys) | ValueKind::Tables(keys) = key.value {
        keys.iter().for_each(|key| lines += &key_lines(key, &format!("{indent}  ")));
    }
    lines
}

fn method(kind: &PartKind) -> String {
    let many = kind.occurrence != Occurrence::Once;
    let common = COMMON_KEYS.iter().filter(|key| many && key.name != "name");
    let keys: Vec<&Key> = kind.keys.iter().chain(common).collect();
    let (required, optional): (Vec<&Key>, Vec<&Key>) =
        keys.iter().partition(|key| key.need == Need::Required);
    let mut text = format!("\n    def {}(\n        self,\n", python_name(kind.name));
    if many {
        text += "        name: str | None = None,\n";
    }
    text += "        *,\n";
    for key in &required {
        let _ = writeln!(text, "        {}: {},", python_name(key.name), python_type(&key.value));
    }
    for key in &optional {
        let _ =
            writeln!(text, "        {}: {} | None = None,", python_name(key.name), python_type(&key.value));
    }
    let _ = write!(text, "    ) -> Model:\n        \"\"\"{}\n\n", quoted(kind.doc));
    keys.iter().for_each(|key| text += &key_lines(key, "        "));
    text += "        \"\"\"\n        entries = {\n";
    if many {
        text += "            \"name\": name,\n";
    }
    for key in &keys {
        let _ = writeln!(text, "            \"{}\": {},", key.name, python_name(key.name));
    }
    let once = if many { "False" } else { "True" };
    let _ = write!(text, "        }}\n        return self._add(\"{}\", {once}, entries)\n", kind.name);
    text
}

/// Compares a file of the package with fresh text, or rewrites it if `KREISEL_REFRESH` is set; `cargo xtask
/// refresh` does that.
fn assert_fresh(file: &str, fresh: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/kreisel").join(file);
    let text = fs::read_to_string(&path).unwrap();
    let fresh = fresh(&text);
    if std::env::var_os("KREISEL_REFRESH").is_some() {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(text == fresh, "run `cargo xtask refresh`");
    }
}

#[test]
fn every_kind_of_part_is_a_method_of_the_python_model() {
    // A function is given together with its Python code: its method is written by hand.
    let kinds = part::kinds();
    let methods = kinds.iter().filter(|kind| kind.name != "function").map(|kind| method(kind));
    let fresh = HEAD.to_string() + &methods.collect::<String>();
    assert_fresh("_parts.py", |_| fresh.clone());
}

/// A text with fresh lines between the marks of a part of it, wherever they stand.
fn between_marks(text: &str, mark: &str, lines: &str) -> String {
    let start = format!("# {mark}: written by `cargo xtask refresh`\n");
    let end = format!("# end of {mark}\n");
    let mut parts = text.split(&start);
    let mut fresh = parts.next().unwrap().to_string();
    for part in parts {
        let (old, after) = part.split_once(&end).expect("the part has an end");
        let indent = &old[old.rfind('\n').map_or(0, |at| at + 1)..];
        fresh += &format!("{start}{lines}{indent}{end}{after}");
    }
    assert!(fresh.contains(&start), "nothing is marked as {mark}");
    fresh
}

#[test]
fn every_setting_with_a_flag_is_an_argument_of_python_runs() {
    let (mut arguments, mut entries) = (String::new(), String::new());
    for key in SETTINGS.iter().filter(|setting| setting.flag.is_some()).map(|setting| &setting.key) {
        let name = python_name(key.name);
        let kind = match key.value {
            // Words of another version are refused by the library, with those that there are.
            ValueKind::Choice(_) => "str".into(),
            ref value => python_type(value),
        };
        let _ = writeln!(arguments, "        {name}: {kind} | None = None,");
        let _ = writeln!(entries, "            \"{name}\": {name},");
    }
    assert_fresh("_model.py", |text| {
        let text = between_marks(text, "settings as arguments", &arguments);
        between_marks(&text, "settings by name", &entries)
    });
}
