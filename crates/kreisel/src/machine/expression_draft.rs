//! Named expressions as sensors, until it is known what they are of.

use super::MachineBuilder;
use super::event_draft::{input, is_shown, shown_names};
use super::sensor::{ExpressionInput, ExpressionSensor, NamedSensor};
use crate::model::expression::TIME;
use crate::model::{MeasuredExpression, ModelErrors, Place, Quantities};

/// A named expression that a `[[sensor]]` asks for, which waits for the other sensors to be known.
pub struct ExpressionDraft {
    /// Name of the signal.
    pub name: String,
    /// The expression.
    pub expression: MeasuredExpression,
    /// Unit of the value.
    pub unit: String,
    /// Where the model asks for it.
    pub place: Place,
}

impl ExpressionDraft {
    /// The sensor, once the others are known.
    pub(super) fn finish(self, builder: &MachineBuilder) -> Result<NamedSensor, ModelErrors> {
        let known = |name: &str| is_shown(name, builder) || builder.signals().is_outside_quantity(name);
        let candidates = || shown_names(builder);
        let expression = self.expression.compile(Quantities { known: &known, candidates: &candidates })?;
        let inputs = expression.variables().iter().filter_map(|name| source(name, builder)).collect();
        Ok(ExpressionSensor { expression, inputs, unit: self.unit }.named(self.name))
    }
}

/// Where the value of a name that is shown comes from.
fn source(name: &str, builder: &MachineBuilder) -> Option<ExpressionInput> {
    if name == TIME {
        return Some(ExpressionInput::Time);
    }
    let Some(function) = builder.signals().function_named(name) else {
        return input(name, builder)
            .map(|input| ExpressionInput::Signal(Box::new(input.sensor), input.component));
    };
    let arguments = function.arguments.iter().filter_map(|argument| source(&argument.name, builder));
    Some(ExpressionInput::Call(std::sync::Arc::clone(&function.function), arguments.collect()))
}
