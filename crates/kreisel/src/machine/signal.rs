//! Laws, expressions and tables of the model file as forces need them.

use std::sync::Arc;

use super::Assembler;
use super::assembler::MeasuredCoordinate;
use crate::element::{
    ForceLaw, ForceValue, MOST_NODES, MOST_SIGNALS, MotionSignal, NodeId, Quantity, Signal, SignalFunction,
};
use crate::joint::{Frame, FramePair};
use crate::model::error::{Mistake, ModelError};
use crate::model::expression::{CornerFinder, TIME};
use crate::model::{self, Expression, Law, MeasuredExpression, Quantities, Table};

/// A law of time as a function of time and signals.
#[derive(Debug)]
struct LawFunction(Law);

impl SignalFunction for LawFunction {
    fn evaluate(&self, time: f64, _: &[f64], slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        self.0.evaluate(time).value
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.0.corners(from, to)
    }
}

/// An expression of time and signals.
#[derive(Debug)]
struct ExpressionFunction {
    expression: Expression,
    /// Signal of each variable; `None` is time.
    inputs: Vec<Option<usize>>,
    corners: CornerFinder,
}

/// Most variables of an expression: the signals and time.
const MOST_INPUTS: usize = MOST_SIGNALS + 1;

impl SignalFunction for ExpressionFunction {
    fn evaluate(&self, time: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        let count = self.inputs.len();
        let (mut variables, mut gradient) = ([0.0; MOST_INPUTS], [0.0; MOST_INPUTS]);
        for (variable, input) in variables.iter_mut().zip(&self.inputs) {
            *variable = input.map_or(time, |signal| signals[signal]);
        }
        let value = self.expression.value_and_gradient(&variables[..count], &mut gradient[..count]);
        slopes.fill(0.0);
        for (input, slope) in self.inputs.iter().zip(gradient) {
            if let Some(signal) = *input {
                slopes[signal] += slope;
            }
        }
        value
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let mut corners = self.corners.corners(from, to);
        corners.retain(|time| (from..=to).contains(time));
        corners
    }
}

/// Collects the nodes and signals that the expressions of one force use.
pub(super) struct SignalCollector<'a> {
    assembler: &'a Assembler,
    /// Words for the force in messages.
    description: String,
    nodes: Vec<NodeId>,
    signals: Vec<Signal>,
    names: Vec<String>,
}

impl<'a> SignalCollector<'a> {
    /// Starts with the nodes on which the force acts.
    pub(super) fn new(assembler: &'a Assembler, description: &str, nodes: Vec<NodeId>) -> Self {
        let description = description.to_string();
        Self { assembler, description, nodes, signals: Vec::new(), names: Vec::new() }
    }

    /// Nodes and signals of all quantities.
    pub(super) fn finish(self) -> (Vec<NodeId>, Vec<Signal>) {
        (self.nodes, self.signals)
    }

    /// A component of a force from what the model file says.
    pub(super) fn quantity(&mut self, signal: &model::Signal) -> Result<Quantity, ModelError> {
        match signal {
            model::Signal::Law(Law::Constant(value)) => Ok(Quantity::Constant(*value)),
            model::Signal::Law(law) => Ok(Quantity::Function(Arc::new(LawFunction(law.clone())))),
            model::Signal::Measured(measured) => self.expression(measured),
        }
    }

    fn expression(&mut self, measured: &MeasuredExpression) -> Result<Quantity, ModelError> {
        let assembler = self.assembler;
        let known = |name: &str| {
            assembler.measured(name).is_some()
                || assembler.state_named(name).is_some()
                || refusal(assembler, name).is_some()
        };
        let candidates = || assembler.measured_names();
        let expression = measured.compile(Quantities { known: &known, candidates: &candidates })?;
        if let Some(value) = expression.constant() {
            return Ok(Quantity::Constant(value));
        }
        let mut inputs = Vec::new();
        for name in expression.variables() {
            inputs.push(if name == TIME { None } else { Some(self.signal(name, measured)?) });
        }
        let corners = expression.corner_finder_in(TIME);
        Ok(Quantity::Function(Arc::new(ExpressionFunction { expression, inputs, corners })))
    }

    /// Index of the signal with a name.
    fn signal(&mut self, name: &str, expression: &MeasuredExpression) -> Result<usize, ModelError> {
        if let Some(index) = self.names.iter().position(|known| known == name) {
            return Ok(index);
        }
        let refuse = |requirement: String, found: String| {
            let what = format!("the expression of {}", self.description);
            let mistake = Mistake::Unsuitable { what, requirement, found };
            ModelError::new(mistake, expression.place().clone())
        };
        if self.signals.len() == MOST_SIGNALS {
            let requirement = format!("of at most {MOST_SIGNALS} measured quantities");
            return Err(refuse(requirement, format!("of `{name}` as well")));
        }
        if let Some(state) = self.assembler.state_named(name) {
            self.signals.push(Signal::State(state.state));
            self.names.push(name.to_string());
            return Ok(self.signals.len() - 1);
        }
        let Some(measured) = self.assembler.measured(name) else {
            let hint = refusal(self.assembler, name).unwrap_or_default();
            let requirement = "of time, positions, velocities and states".to_string();
            return Err(refuse(requirement, format!("of `{name}`")).with_hint(hint));
        };
        let mut local = [None; 2];
        let mut nodes = self.nodes.clone();
        for (local, node) in local.iter_mut().zip(measured.nodes) {
            let Some(node) = node else { continue };
            let index = nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                nodes.push(node);
                nodes.len() - 1
            });
            *local = Some(index);
        }
        if nodes.len() > MOST_NODES {
            let requirement =
                format!("of quantities of at most {MOST_NODES} bodies, those it acts on included");
            return Err(refuse(requirement, format!("of `{name}` as well"))
                .with_hint("split the force into several that add up"));
        }
        self.nodes = nodes;
        let pair = FramePair { nodes: local, frames: measured.offsets.map(Frame::new) };
        let MeasuredCoordinate { coordinate, rate, .. } = measured;
        self.signals.push(Signal::Motion(Box::new(MotionSignal { pair, coordinate, rate })));
        self.names.push(name.to_string());
        Ok(self.signals.len() - 1)
    }
}

/// Why a quantity that a sensor could show cannot be used in a force, and what can.
fn refusal(assembler: &Assembler, name: &str) -> Option<&'static str> {
    let (part, quantity) = name.split_once('.')?;
    let is_joint = assembler.has_joint(part);
    let word =
        |word: &str| quantity.split('.').any(|part| part == word || part.ends_with(&format!("-{word}")));
    if is_joint && (word("force") || word("torque")) {
        return Some(
            "reactions are known only after the forces: put a bushing or spring in place of the joint, whose force is an \
             expression of positions and velocities",
        );
    }
    ((is_joint || assembler.has_body(part)) && word("acceleration")).then_some(
        "a force of accelerations is added mass: add it to the bodies' `mass` and `inertia`, or measure a velocity",
    )
}

/// A spring by a table: f = table(x − x₀).
#[derive(Debug)]
pub(super) struct TableSpring {
    /// Force over the elongation.
    pub(super) table: Table,
    /// Value x₀ from which the elongation counts.
    pub(super) free_value: f64,
}

impl ForceLaw for TableSpring {
    fn at(&self, value: f64, _: f64, _: f64) -> ForceValue {
        let stretch = value - self.free_value;
        let [force, by_value, _] = self.table.evaluate(stretch);
        let energy = self.table.integral(stretch) - self.table.integral(0.0);
        ForceValue { force, by_value, energy, ..ForceValue::default() }
    }
}

/// A damper by a table: f = table(ẋ).
#[derive(Debug)]
pub(super) struct TableDamper(pub(super) Table);

impl ForceLaw for TableDamper {
    fn at(&self, _: f64, rate: f64, _: f64) -> ForceValue {
        let [force, by_rate, _] = self.0.evaluate(rate);
        ForceValue { force, by_rate, dissipative: force, ..ForceValue::default() }
    }
}
