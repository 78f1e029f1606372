//! Laws, expressions and tables of the model file as forces need them.

use std::sync::Arc;

use super::MachineBuilder;
use super::entry::MeasuredCoordinate;
use super::sensor::SensorRequest;
use crate::element::{MAX_SIGNALS, MotionSignal, Quantity, Signal, SignalFunction};
use crate::kinematics::{Frame, FramePair, MAX_NODES, NodeId};
use crate::model::error::ModelError;
use crate::model::expression::{CornerFinder, TIME};
use crate::model::{self, Expression, Law, MeasuredExpression, Quantities};

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

/// Where the value of a variable comes from.
#[derive(Clone, Debug)]
enum VariableSource {
    Time,
    /// A signal of the element, by its place.
    Signal(usize),
    /// A function given from outside, of time and signals.
    Call(Arc<dyn SignalFunction>, Vec<VariableSource>),
}

impl VariableSource {
    fn value(&self, time: f64, signals: &[f64]) -> f64 {
        match self {
            Self::Time => time,
            Self::Signal(signal) => signals[*signal],
            Self::Call(function, arguments) => {
                let mut values = [0.0; MAX_INPUTS];
                let count = Self::read_all(arguments, time, signals, &mut values);
                function.value(time, &values[..count])
            }
        }
    }

    fn read_all(sources: &[Self], time: f64, signals: &[f64], values: &mut [f64]) -> usize {
        values.iter_mut().zip(sources).for_each(|(value, source)| *value = source.value(time, signals));
        sources.len()
    }

    /// Adds a factor times the derivatives by the signals.
    fn add_slopes(&self, time: f64, signals: &[f64], factor: f64, slopes: &mut [f64]) {
        match self {
            Self::Time => {}
            Self::Signal(signal) => slopes[*signal] += factor,
            Self::Call(function, arguments) => {
                let (mut values, mut by_argument) = ([0.0; MAX_INPUTS], [0.0; MAX_INPUTS]);
                let count = Self::read_all(arguments, time, signals, &mut values);
                function.evaluate(time, &values[..count], &mut by_argument[..count]);
                for (argument, slope) in arguments.iter().zip(by_argument) {
                    argument.add_slopes(time, signals, factor * slope, slopes);
                }
            }
        }
    }
}

/// An expression of time, signals and functions given from outside.
#[derive(Debug)]
struct ExpressionFunction {
    expression: Expression,
    /// What each variable is.
    inputs: Vec<VariableSource>,
    corners: CornerFinder,
}

/// Most variables of an expression, and most arguments of a function: the signals and time.
const MAX_INPUTS: usize = MAX_SIGNALS + 1;

impl SignalFunction for ExpressionFunction {
    fn evaluate(&self, time: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        let (mut variables, mut gradient) = ([0.0; MAX_INPUTS], [0.0; MAX_INPUTS]);
        let count = VariableSource::read_all(&self.inputs, time, signals, &mut variables);
        let value = self.expression.value_and_gradient(&variables[..count], &mut gradient[..count]);
        slopes.fill(0.0);
        for (input, slope) in self.inputs.iter().zip(gradient) {
            input.add_slopes(time, signals, slope, slopes);
        }
        value
    }

    fn value(&self, time: f64, signals: &[f64]) -> f64 {
        let mut variables = [0.0; MAX_INPUTS];
        let count = VariableSource::read_all(&self.inputs, time, signals, &mut variables);
        self.expression.value(&variables[..count])
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let mut corners = self.corners.corners(from, to);
        corners.retain(|time| (from..=to).contains(time));
        corners
    }
}

/// What the expressions of one force use.
pub struct Collected {
    /// The nodes on which it acts, then those of signals.
    pub nodes: Vec<NodeId>,
    /// Measured quantities.
    pub signals: Vec<Signal>,
    /// Inputs of the machine, by index.
    pub inputs: Vec<usize>,
    /// Their initial values.
    pub initial: Vec<f64>,
}

/// Collects the nodes and signals that the expressions of one force use.
pub struct SignalCollector<'a> {
    builder: &'a MachineBuilder,
    /// Words for the force in messages.
    description: String,
    nodes: Vec<NodeId>,
    signals: Vec<Signal>,
    names: Vec<String>,
    inputs: Vec<usize>,
}

impl<'a> SignalCollector<'a> {
    /// Starts with the nodes on which the force acts.
    pub fn new(builder: &'a MachineBuilder, description: &str, nodes: Vec<NodeId>) -> Self {
        let description = description.to_string();
        Self { builder, description, nodes, signals: Vec::new(), names: Vec::new(), inputs: Vec::new() }
    }

    /// Nodes, signals and inputs of all quantities.
    pub fn finish(self) -> Collected {
        let Self { builder, nodes, signals, inputs, .. } = self;
        let initial = inputs.iter().map(|&input| builder.signals().inputs()[input].value).collect();
        Collected { nodes, signals, inputs, initial }
    }

    /// A component of a force from what the model file says.
    pub fn quantity(&mut self, signal: &model::SignalLaw) -> Result<Quantity, ModelError> {
        match signal {
            model::SignalLaw::Law(Law::Constant(value)) => Ok(Quantity::Constant(*value)),
            model::SignalLaw::Law(law) => Ok(Quantity::Function(Arc::new(LawFunction(law.clone())))),
            model::SignalLaw::Measured(measured) => self.expression(measured),
        }
    }

    fn expression(&mut self, measured: &MeasuredExpression) -> Result<Quantity, ModelError> {
        let builder = self.builder;
        let known = |name: &str| {
            builder.measured(name).is_some()
                || builder.signals().is_outside_quantity(name)
                || builder.signals().state_named(name).is_some()
                || refusal(builder, name).is_some()
        };
        let candidates = || builder.measured_names();
        let expression = measured.compile(Quantities { known: &known, candidates: &candidates })?;
        if let Some(value) = expression.constant() {
            return Ok(Quantity::Constant(value));
        }
        let mut inputs = Vec::new();
        for name in expression.variables() {
            inputs.push(self.source(name, measured)?);
        }
        let corners = expression.corner_finder_in(TIME);
        Ok(Quantity::Function(Arc::new(ExpressionFunction { expression, inputs, corners })))
    }

    /// Where the value of a name comes from.
    fn source(&mut self, name: &str, expression: &MeasuredExpression) -> Result<VariableSource, ModelError> {
        if name == TIME {
            return Ok(VariableSource::Time);
        }
        if let Some(input) = self.builder.signals().inputs().iter().position(|input| input.name == name) {
            return Ok(VariableSource::Signal(self.input(input, expression)?));
        }
        let Some(entry) = self.builder.signals().function_named(name) else {
            return Ok(VariableSource::Signal(self.signal(name, expression)?));
        };
        let arguments = entry
            .arguments
            .iter()
            .map(|argument| self.source(&argument.name, expression))
            .collect::<Result<_, _>>()?;
        Ok(VariableSource::Call(Arc::clone(&entry.function), arguments))
    }

    /// Place of an input among the signals.
    fn input(&mut self, input: usize, expression: &MeasuredExpression) -> Result<usize, ModelError> {
        let index = match self.inputs.iter().position(|known| *known == input) {
            Some(index) => index,
            None => {
                self.check_room(&self.builder.signals().inputs()[input].name, expression)?;
                self.inputs.push(input);
                self.inputs.len() - 1
            }
        };
        Ok(MAX_SIGNALS - 1 - index)
    }

    fn refuse(&self, expression: &MeasuredExpression, requirement: String, found: String) -> ModelError {
        let what = format!("the expression of {}", self.description);
        ModelError::unsuitable(what, requirement, found, expression.place())
    }

    fn check_room(&self, name: &str, expression: &MeasuredExpression) -> Result<(), ModelError> {
        if self.signals.len() + self.inputs.len() < MAX_SIGNALS {
            return Ok(());
        }
        let requirement = format!("of at most {MAX_SIGNALS} measured quantities");
        Err(self.refuse(expression, requirement, format!("of `{name}` as well")))
    }

    /// Index of the signal with a name.
    fn signal(&mut self, name: &str, expression: &MeasuredExpression) -> Result<usize, ModelError> {
        if let Some(index) = self.names.iter().position(|known| known == name) {
            return Ok(index);
        }
        self.check_room(name, expression)?;
        if let Some(state) = self.builder.signals().state_named(name) {
            self.signals.push(Signal::State(state.state));
            self.names.push(name.to_string());
            return Ok(self.signals.len() - 1);
        }
        let refuse = |requirement, found| self.refuse(expression, requirement, found);
        let Some(measured) = self.builder.measured(name) else {
            let hint = refusal(self.builder, name).unwrap_or_default();
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
        if nodes.len() > MAX_NODES {
            let requirement =
                format!("of quantities of at most {MAX_NODES} bodies, those it acts on included");
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
fn refusal(builder: &MachineBuilder, name: &str) -> Option<&'static str> {
    let (part, quantity) = name.split_once('.')?;
    let is_joint = builder.frames().joint_named(part).is_some();
    let word =
        |word: &str| quantity.split('.').any(|part| part == word || part.ends_with(&format!("-{word}")));
    if is_joint && (word("force") || word("torque")) {
        return Some(
            "reactions are known only after the forces: put a bushing or spring in place of the joint, whose force is an \
             expression of positions and velocities",
        );
    }
    if (is_joint || builder.frames().has_frame(part)) && word("acceleration") {
        return Some(
            "a force of accelerations is added mass: add it to the bodies' `mass` and `inertia`, or measure a velocity",
        );
    }
    // What remains can be measured but is no function of positions and velocities that has derivatives here.
    SensorRequest::of_signal(builder, name)?;
    Some(match () {
        () if name.split('.').any(|word| word.ends_with("momentum")) => {
            "use a `velocity` or an `angular-velocity` times the mass or inertia"
        }
        () if word("orientation") => "use a `rotation-vector`, or an angle such as `angle-z`",
        () => "write what it depends on instead: positions, velocities, states and `t`",
    })
}
