//! `[[function]]`: a number computed outside of the model, from measured quantities.

use crate::element::MAX_SIGNALS;
use crate::machine::{FunctionEntry, MachineBuilder, PartEntry};
use crate::model::error::{Mistake, ModelError};
use crate::model::expression::TIME;
use crate::model::{Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[function]]`.
static KIND: PartKind = PartKind {
    name: "function",
    doc: "A number that code outside of the model computes (a Python function, a Rust object) from measured quantities, at every evaluation of the forces. Expressions of forces use it by its name. The same as an expression is many times faster.",
    occurrence: Occurrence::Many,
    keys: &[Key::new("arguments", ValueKind::References(&[]), Need::Required)
        .doc("What the function is given, in this order: `t`, joint coordinates (`crank.angle`, `crank.angle-rate`), positions and velocities (`arm.tip.position.z`), states, inputs.")],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[function]]\nname = 'given'\narguments = ['t']\n"))];

/// Adds a function.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    check_name(part, &reader)?;
    let mut arguments = reader.references("arguments")?;
    for argument in &mut arguments {
        // Time is the same in every file.
        if argument.name == reader.context().full_name(TIME) {
            argument.name = TIME.to_string();
        } else if !is_quantity(builder, &argument.name) {
            let names = builder.measured_names();
            let names = names.iter().map(String::as_str).chain([TIME]);
            return Err(argument.unknown("measured quantity, state or input", names).into());
        }
    }
    if arguments.len() > MAX_SIGNALS {
        let requirement = format!("at most {MAX_SIGNALS} names");
        return Err(reader.unsuitable("arguments", &requirement, arguments.len()).into());
    }
    let Some(function) = builder.signals().outside_function(part.name()) else {
        let error = reader.unsuitable_part("given by the program that runs the model", "missing");
        let hint = "give it in Python by `model.function(…)`, or write an expression in place of it";
        return Err(error.with_hint(hint).into());
    };
    builder.signals_mut().add_function(FunctionEntry { name: part.name().to_string(), arguments, function });
    reader.finish()
}

fn is_quantity(builder: &MachineBuilder, name: &str) -> bool {
    builder.measured(name).is_some()
        || builder.signals().state_named(name).is_some()
        || builder.signals().inputs().iter().any(|input| input.name == name)
}

/// Refuses a name that expressions would take for something else.
pub(super) fn check_name(part: &Part, reader: &PartReader) -> Result<(), ModelError> {
    if !part.context().scope().has_name(part.name()) {
        return Ok(());
    }
    let mistake =
        Mistake::BadName { name: part.name().to_string(), reason: "it already has a meaning in expressions" };
    Err(ModelError::new(mistake, part.name_place().clone()).with_hint(format!(
        "choose another name for {}, one that no parameter, expression, constant or function has",
        reader.description()
    )))
}
