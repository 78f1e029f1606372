//! What names mean at a place of a model: parameters, the counter of a repeated part, and the prefix and
//! placement of an included file.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::Isometry3;

use super::error::{Mistake, ModelError, ModelErrors};
use super::expression::{self, CONSTANTS, Expression, FUNCTIONS, INDEX, Meaning, OwnNames, TIME, Vocabulary};
use super::fields::Field;
use super::law::Law;
use super::name::{self, GROUND};
use super::quantity::Dimension;
use super::source::{Place, Text};
use super::value::{Content, Entries, Entry};

/// Values of parameters by name.
pub type ParameterValues = BTreeMap<String, f64>;

/// What all parts of one file share.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Parameters that expressions may use.
    pub parameters: ParameterValues,
    /// What stands before every name of an included file; empty for the model itself.
    pub prefix: String,
    /// Where the file's world lies in the world of the model.
    pub placement: Isometry3<f64>,
    /// Expressions and tables that have names.
    pub named: OwnNames,
}

impl Scope {
    /// The scope of a model file in which nothing but parameters has a name.
    pub(crate) fn of_model(parameters: ParameterValues) -> Self {
        let (prefix, placement) = (String::new(), Isometry3::identity());
        Self { parameters, prefix, placement, named: OwnNames::default() }
    }

    /// Whether a name already means something in the expressions of the file.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        has_meaning(name)
            || self.parameters.contains_key(name)
            || self.named.tables.contains_key(name)
            || self.named.expressions.contains_key(name)
    }
}

/// A scope and the counter of a repeated part.
#[derive(Clone, Debug)]
pub struct Context {
    scope: Arc<Scope>,
    index: Option<u32>,
    /// Parameters whose values were asked for, by this context and its clones.
    uses: Arc<Mutex<BTreeSet<String>>>,
}

impl Context {
    /// Context of a part, with its counter if it is repeated.
    pub fn new(scope: Arc<Scope>, index: Option<u32>) -> Self {
        Self { scope, index, uses: Arc::default() }
    }

    /// The same with another counter.
    pub(crate) fn counted(&self, index: u32) -> Self {
        Self { index: Some(index), ..self.clone() }
    }

    /// The same, whose uses of parameters are its own.
    pub(crate) fn apart(&self) -> Self {
        Self::new(Arc::clone(&self.scope), self.index)
    }

    /// Whether an expression has used a parameter so far.
    pub fn has_used(&self, parameter: &str) -> bool {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).contains(parameter)
    }

    /// The scope of the file.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The counter of a repeated part, from 0.
    pub fn index(&self) -> Option<u32> {
        self.index
    }

    fn value_of(&self, name: &str) -> Option<f64> {
        if name == INDEX {
            return self.index.map(f64::from);
        }
        let value = self.scope.parameters.get(name).copied()?;
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if !uses.contains(name) {
            uses.insert(name.to_string());
        }
        Some(value)
    }

    fn candidates(&self) -> Vec<String> {
        let constants = CONSTANTS.iter().map(|constant| constant.0.to_string());
        let index = self.index.map(|_| INDEX.to_string());
        let names = self.scope.parameters.keys().chain(self.scope.named.expressions.keys());
        constants.chain(index).chain(names.cloned()).collect()
    }

    /// The number that an expression means.
    pub fn number(&self, text: &Text, dimension: Dimension) -> Result<f64, ModelError> {
        self.constant(&*self.substitute(text)?, Some(dimension))
    }

    /// The number that an expression means, whatever its unit.
    pub(crate) fn number_of_any_unit(&self, text: &Text) -> Result<f64, ModelError> {
        self.constant(&*self.substitute(text)?, None)
    }

    fn constant(&self, text: &Text, dimension: Option<Dimension>) -> Result<f64, ModelError> {
        let (value_of, candidates) = (|name: &str| self.value_of(name), || self.candidates());
        expression::constant_value(text, dimension, &value_of, Some(&self.scope.named), &candidates)
            .map_err(|error| self.explain_index(error))
    }

    /// Compiles an expression of this place.
    fn compile(
        &self,
        text: &Text,
        dimension: Option<Dimension>,
        variable: &dyn Fn(&str) -> Option<String>,
        candidates: &dyn Fn() -> Vec<String>,
    ) -> Result<Expression, ModelError> {
        let value_of = |name: &str| self.value_of(name);
        Expression::compile_with(&self.scope.named, text, dimension, &value_of, variable, candidates)
            .map_err(|error| self.explain_index(error))
    }

    /// The law that an expression of time means.
    pub fn law(&self, text: &Text, dimension: Dimension) -> Result<Law, ModelError> {
        let text = self.substitute(text)?;
        let time = |name: &str| (name == TIME).then(|| name.to_string());
        let candidates = || [self.candidates(), vec![TIME.into()]].concat();
        let expression = self.compile(&text, Some(dimension), &time, &candidates)?;
        Law::from_expression(&expression, &text)
    }

    /// The function of some names that an expression means; nothing else may have one of them.
    pub fn formula(
        &self,
        text: &Text,
        dimension: Dimension,
        names: &'static [&'static str],
    ) -> Result<Expression, ModelError> {
        let text = self.substitute(text)?;
        let own = |name: &str| names.contains(&name).then(|| name.to_string());
        let candidates = || [self.candidates(), names.iter().map(|name| name.to_string()).collect()].concat();
        let expression = self.compile(&text, Some(dimension), &own, &candidates).map_err(|error| {
            match error.mistake() {
                Mistake::UnknownName { .. } => error.with_hint(format!(
                    "beside parameters it may use {}; a `[[force]]` or `[[joint-force]]` may use all that is measured",
                    name::list(names)
                )),
                _ => error,
            }
        })?;
        let taken = names.iter().find(|name| self.scope.has_name(name) && mentions(text.content(), name));
        match taken {
            None => Ok(expression),
            Some(name) => {
                let (what, found) = (format!("the name `{name}`"), "that of a parameter or table as well");
                let requirement = "here that of what is measured";
                let error = ModelError::unsuitable(what, requirement, found, text.place());
                Err(error.with_hint("give the parameter or table another name"))
            }
        }
    }

    /// An unknown `i` outside of a repeated part is a forgotten `repeat`.
    fn explain_index(&self, error: ModelError) -> ModelError {
        match error.mistake() {
            Mistake::UnknownName { name, .. } if name == INDEX && self.index.is_none() => {
                error.with_hint("`i` counts repeated parts: add `repeat = …`")
            }
            Mistake::UnknownName { name, .. } if name == TIME => {
                error.with_hint("`t` is time; this number is needed before the simulation begins")
            }
            _ => error,
        }
    }

    /// Replaces `{i}`, `{i+1}` and other whole-number expressions in braces.
    pub fn substitute<'t>(&self, text: &'t Text) -> Result<Cow<'t, Text>, ModelError> {
        let content = text.content();
        if !content.contains(['{', '}']) {
            return Ok(Cow::Borrowed(text));
        }
        let mut replaced = String::with_capacity(content.len());
        let mut position = 0;
        while let Some(offset) = content[position..].find(['{', '}']) {
            let start = position + offset;
            let length = content[start..].find('}').filter(|_| content[start..].starts_with('{'));
            let Some(length) = length else {
                return Err(bad_index(text, start..content.len()));
            };
            replaced.push_str(&content[position..start]);
            let inner =
                Text::new(&content[start + 1..start + length], text.place_of(start + 1..start + length));
            replaced.push_str(&self.whole_number(&inner)?);
            position = start + length + 1;
        }
        replaced.push_str(&content[position..]);
        Ok(Cow::Owned(text.with_content(replaced)))
    }

    fn whole_number(&self, text: &Text) -> Result<String, ModelError> {
        let value = self.constant(text, Some(Dimension::NONE))?;
        // Whole numbers are exact up to 2⁵³.
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return Ok(format!("{}", value as i64));
        }
        Err(bad_index(text, 0..text.content().len()))
    }

    /// The full name of a part of this file. `ground` has no prefix, but a marker on it has:
    /// `ground.pivot` becomes `ground.left-pivot`.
    pub fn full_name(&self, name: &str) -> String {
        let prefix = &self.scope.prefix;
        match name.strip_prefix(GROUND) {
            Some("") => name.to_string(),
            Some(rest) if rest.starts_with('.') => format!("{GROUND}.{prefix}{}", &rest[1..]),
            _ => format!("{prefix}{name}"),
        }
    }
}

/// A parameter with a number that a table gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenParameter {
    /// Its name.
    pub name: String,
    /// Where the name is written.
    pub name_place: Place,
    /// The number in base units.
    pub value: f64,
    /// Where the value is written.
    pub value_place: Place,
}

/// Parameters that a table gives; any unit will do, as a parameter has the dimension with which it is used.
pub(crate) fn given_parameters(
    entries: &Entries,
    context: &Context,
) -> Result<Vec<GivenParameter>, ModelError> {
    let given = |entry: &Entry| {
        let value = match &entry.value.content {
            Content::Text(text) => context.number_of_any_unit(text)?,
            _ => Field::new(entry, context).number(Dimension::NONE)?,
        };
        let (name_place, value_place) = (entry.key_place.clone(), entry.value.place.clone());
        Ok(GivenParameter { name: entry.key.clone(), name_place, value, value_place })
    };
    entries.iter().map(given).collect()
}

/// Whether a name stands in a text as a word.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    text.split(|letter| !is_part(letter)).any(|word| word == name)
}

fn bad_index(text: &Text, range: std::ops::Range<usize>) -> ModelError {
    let shown = text.content()[range.clone()].chars().take(30).collect();
    ModelError::new(Mistake::BadIndex(shown), text.place_of(range))
        .with_hint("braces hold a whole number: `{i}`, `{i+1}`")
}

/// Quantities that expressions may measure while the simulation runs.
#[derive(Clone, Copy)]
pub struct Quantities<'a> {
    /// Whether a full name such as `crank.angle` is a quantity.
    pub known: &'a dyn Fn(&str) -> bool,
    /// Names to suggest in place of an unknown one.
    pub candidates: &'a dyn Fn() -> Vec<String>,
}

/// An expression of time and measured quantities, which can be compiled once all sensors are known.
#[derive(Clone, Debug)]
pub struct MeasuredExpression {
    text: Text,
    context: Context,
    /// What its unit must be of; none if any will do.
    dimension: Option<Dimension>,
}

impl MeasuredExpression {
    /// Expression in the context of a part.
    pub fn new(text: &Text, context: &Context, dimension: Dimension) -> Result<Self, ModelError> {
        let (text, context) = (context.substitute(text)?.into_owned(), context.clone());
        Ok(Self { text, context, dimension: Some(dimension) })
    }

    /// The same, whatever its unit.
    pub(crate) fn of_any_unit(self) -> Self {
        Self { dimension: None, ..self }
    }

    /// Where it stands in the file.
    pub fn place(&self) -> &Place {
        self.text.place()
    }

    /// Compiles the expression. In an included file a name means first the quantity of that file, then the
    /// one of the whole model.
    pub fn compile(&self, quantities: Quantities<'_>) -> Result<Expression, ModelError> {
        let context = &self.context;
        let variable = |name: &str| {
            if name == TIME {
                return Some(name.to_string());
            }
            let full = context.full_name(name);
            [full, name.to_string()].into_iter().find(|name| (quantities.known)(name))
        };
        let candidates = || {
            let prefix = &context.scope.prefix;
            let mut names = (quantities.candidates)();
            let local: Vec<String> =
                names.iter().filter_map(|name| name.strip_prefix(prefix).map(str::to_string)).collect();
            names.extend(local);
            names.extend(context.candidates());
            names
        };
        context.compile(&self.text, self.dimension, &variable, &candidates)
    }
}

/// How a parameter is defined.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    Number(f64, Place),
    Expression(Text),
}

impl Definition {
    fn place(&self) -> &Place {
        match self {
            Self::Number(_, place) => place,
            Self::Expression(text) => text.place(),
        }
    }
}

/// Definitions of a `[parameters]` table, by name.
pub(crate) fn definitions(entries: &Entries, errors: &mut ModelErrors) -> BTreeMap<String, Definition> {
    let mut definitions = BTreeMap::new();
    for entry in entries.iter() {
        let definition = match &entry.value.content {
            Content::Number(value) if value.is_finite() => {
                Definition::Number(*value, entry.value.place.clone())
            }
            Content::Number(value) => {
                errors.push(ModelError::new(Mistake::NotFinite(*value), entry.value.place.clone()));
                continue;
            }
            Content::Text(text) => Definition::Expression(text.clone()),
            _ => {
                let mistake = Mistake::WrongType {
                    key: entry.key.clone(),
                    expected: "a number or an expression in quotes".into(),
                    found: entry.value.description(),
                };
                errors.push(ModelError::new(mistake, entry.value.place.clone()));
                continue;
            }
        };
        match check_parameter_name(&entry.key) {
            Ok(()) => {
                definitions.insert(entry.key.clone(), definition);
            }
            Err(mistake) => errors.push(ModelError::new(mistake, entry.key_place.clone())),
        }
    }
    definitions
}

/// Expressions of an `[expressions]` table, by name; a number is one too.
pub(crate) fn named_expressions(
    entries: &Entries,
    scope: &Scope,
    errors: &mut ModelErrors,
) -> BTreeMap<String, Text> {
    let mut named = BTreeMap::new();
    for entry in entries.iter() {
        let text = match &entry.value.content {
            Content::Text(text) => text.clone(),
            Content::Number(value) => Text::new(value.to_string(), entry.value.place.clone()),
            _ => {
                let mistake = Mistake::WrongType {
                    key: entry.key.clone(),
                    expected: "an expression in quotes".into(),
                    found: entry.value.description(),
                };
                errors.push(ModelError::new(mistake, entry.value.place.clone()));
                continue;
            }
        };
        match check_parameter_name(&entry.key) {
            Ok(()) if scope.has_name(&entry.key) => {
                let error =
                    ModelError::new(Mistake::DuplicateName(entry.key.clone()), entry.key_place.clone());
                errors.push(error.with_hint("a parameter or a table has this name"));
            }
            Ok(()) => {
                named.insert(entry.key.clone(), text);
            }
            Err(mistake) => errors.push(ModelError::new(mistake, entry.key_place.clone())),
        }
    }
    named
}

/// Whether a name means something in every expression: time, the counter, a constant, a function.
pub fn has_meaning(name: &str) -> bool {
    name == INDEX
        || name == TIME
        || CONSTANTS.iter().any(|constant| constant.0 == name)
        || FUNCTIONS.iter().any(|function| function.name == name)
}

fn check_parameter_name(name: &str) -> Result<(), Mistake> {
    name::check(name)?;
    let bad = |reason| Err(Mistake::BadName { name: name.into(), reason });
    if has_meaning(name) {
        return bad("it already has a meaning in expressions");
    }
    if !name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') {
        return bad("a name in expressions begins with a letter");
    }
    if name.ends_with('-') {
        return bad("a name in expressions does not end in a dash");
    }
    Ok(())
}

/// Computes all parameters; they may use each other in any order, and those of the file around.
pub(crate) fn resolve(
    definitions: &BTreeMap<String, Definition>,
    outer: &ParameterValues,
    errors: &mut ModelErrors,
) -> ParameterValues {
    let mut resolved = outer.clone();
    resolved.retain(|name, _| !definitions.contains_key(name));
    let mut waiting: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut broken = false;
    for (name, definition) in definitions {
        match needs(definition, definitions, &resolved) {
            Ok(needs) => {
                waiting.insert(name, needs);
            }
            Err(error) => {
                errors.push(error);
                broken = true;
            }
        }
    }
    if broken {
        return resolved;
    }
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open_needs: BTreeMap<&str, usize> = BTreeMap::new();
    for (&name, needs) in &waiting {
        open_needs.insert(name, needs.len());
        needs.iter().for_each(|need| users.entry(need).or_default().push(name));
    }
    let mut ready: Vec<&str> =
        open_needs.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    while let Some(name) = ready.pop() {
        let Some(value) = errors.keep(evaluate(&definitions[name], &resolved)) else {
            // What depends on it cannot be computed, but is not to blame.
            return resolved;
        };
        resolved.insert(name.to_string(), value);
        for &user in users.get(name).into_iter().flatten() {
            let count = open_needs.get_mut(user).expect("every user waits");
            *count -= 1;
            if *count == 0 {
                ready.push(user);
            }
        }
    }
    waiting.retain(|name, _| !resolved.contains_key(*name));
    if let Some(&first) = waiting.keys().next() {
        errors.push(cycle(first, &waiting, definitions));
    }
    resolved
}

/// Parameters of the same file that a definition uses.
fn needs(
    definition: &Definition,
    definitions: &BTreeMap<String, Definition>,
    outer: &ParameterValues,
) -> Result<Vec<String>, ModelError> {
    let Definition::Expression(text) = definition else { return Ok(Vec::new()) };
    let used = std::cell::RefCell::new(Vec::new());
    let meaning = |name: &str| {
        if definitions.contains_key(name) {
            used.borrow_mut().push(name.to_string());
            // The value does not matter yet; a variable keeps the expression from being computed.
            return Some(Meaning::Variable(0));
        }
        expression::builtin(name).or_else(|| outer.get(name).copied()).map(Meaning::Constant)
    };
    let candidates = || {
        let constants = CONSTANTS.iter().map(|constant| constant.0.to_string());
        constants.chain(definitions.keys().cloned()).chain(outer.keys().cloned()).collect()
    };
    let named = OwnNames::default();
    let vocabulary =
        Vocabulary { meaning: &meaning, candidates: &candidates, what: "parameter", named: &named };
    let parsed = expression::parser::parse(text, &vocabulary)?;
    // Names in the unit are no parameters: `m` may be both.
    let expression_part = parsed.unit.map_or(text.content(), |unit| &text.content()[..unit.start]);
    used.borrow_mut().clear();
    let tokens = expression::lexer::tokens(expression_part, &vocabulary);
    debug_assert!(tokens.is_ok(), "a part of what was read");
    Ok(used.into_inner())
}

fn evaluate(definition: &Definition, known: &ParameterValues) -> Result<f64, ModelError> {
    match definition {
        Definition::Number(value, _) => Ok(*value),
        Definition::Expression(text) => {
            expression::constant_value(text, None, &|name| known.get(name).copied(), None, &Vec::new)
        }
    }
}

/// Follows the needs of an unresolved parameter until one comes back.
fn cycle(
    first: &str,
    waiting: &BTreeMap<&str, Vec<String>>,
    definitions: &BTreeMap<String, Definition>,
) -> ModelError {
    let mut path: Vec<&str> = vec![first];
    let start = loop {
        let last = path[path.len() - 1];
        let next = waiting[last]
            .iter()
            .find_map(|name| waiting.get_key_value(name.as_str()))
            .map_or(first, |(name, _)| *name);
        if let Some(start) = path.iter().position(|name| *name == next) {
            break start;
        }
        path.push(next);
    };
    let mut circle = path[start..].to_vec();
    circle.push(circle[0]);
    let shown: Vec<String> = circle.iter().map(|name| format!("`{name}`")).collect();
    const MAX_SHOWN: usize = 10;
    let text = if shown.len() > MAX_SHOWN {
        format!("{} → …", shown[..MAX_SHOWN].join(" → "))
    } else {
        shown.join(" → ")
    };
    let place = definitions[circle[0]].place().clone();
    ModelError::new(Mistake::ParameterCycle(text), place).with_hint("give one of them a number")
}
