//! From words to a graph: precedence climbing with a limit on nesting.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::graph::{Binary, ExpressionId, Graph, Unary};
use super::lexer::{self, Token, Word};
use super::{FUNCTIONS, Function, MAX_DEPTH, Meaning, Operation, Vocabulary, in_unit, read_unit};
use crate::model::error::{ExpressionMistake, Mistake, ModelError};
use crate::model::name;
use crate::model::source::Text;
use crate::model::table::TableFunction;

/// Graph of an expression, its root, and the text of the unit that follows it.
pub(crate) struct Parsed {
    pub(crate) graph: Graph,
    pub(crate) root: ExpressionId,
    pub(crate) unit: Option<Range<usize>>,
}

/// Reads an expression and finds its unit.
pub(crate) fn parse(text: &Text, vocabulary: &Vocabulary<'_>) -> Result<Parsed, ModelError> {
    let mut built = Built::default();
    let (root, unit) = read(text, vocabulary, 0, &mut built)?;
    Ok(Parsed { graph: built.graph, root, unit })
}

/// What is read so far: a named expression is read once, however often it is used.
#[derive(Default)]
struct Built {
    graph: Graph,
    named: HashMap<String, ExpressionId>,
    /// Named expressions that are being read, the innermost last.
    open: Vec<String>,
}

/// Reads a text at some depth into a graph; gives its root and its unit.
fn read(
    text: &Text,
    vocabulary: &Vocabulary<'_>,
    depth: usize,
    built: &mut Built,
) -> Result<(ExpressionId, Option<Range<usize>>), ModelError> {
    let content = text.content();
    let tokens = lexer::tokens(content, vocabulary)
        .map_err(|(range, mistake)| ModelError::new(mistake, text.place_of(range)))?;
    if tokens.is_empty() {
        let mistake = Mistake::Expression(ExpressionMistake::Empty);
        return Err(ModelError::new(mistake, text.place().clone()));
    }
    let mut parser = Parser { text, vocabulary, tokens: &tokens, position: 0, built };
    let root = parser.expression(0, depth)?;
    let unit = match parser.peek() {
        None => None,
        Some(word) if parser.starts_unit(word) => Some(word.range.start..content.len()),
        Some(word) => return Err(parser.unexpected(word)),
    };
    Ok((root, unit))
}

/// How tightly an operator binds; each level leaves room for its right side.
mod binding {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 3;
    pub(super) const COMPARISON: u8 = 5;
    pub(super) const SUM: u8 = 7;
    pub(super) const PRODUCT: u8 = 9;
    pub(super) const SIGN: u8 = 11;
    pub(super) const POWER: u8 = 13;
}

/// What can be called.
#[derive(Clone, Copy)]
enum Callable<'a> {
    Function(&'static Function),
    Table(&'a Arc<TableFunction>),
}

impl Callable<'_> {
    fn arity(self) -> usize {
        match self {
            Self::Function(function) => function.arity(),
            Self::Table(table) => table.arity(),
        }
    }
}

struct Parser<'a> {
    text: &'a Text,
    vocabulary: &'a Vocabulary<'a>,
    tokens: &'a [Word],
    position: usize,
    built: &'a mut Built,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Word> {
        self.tokens.get(self.position)
    }

    fn next(&mut self) -> Option<&'a Word> {
        let word = self.tokens.get(self.position);
        self.position += 1;
        word
    }

    fn mistake(&self, mistake: ExpressionMistake, range: Range<usize>) -> ModelError {
        ModelError::new(Mistake::Expression(mistake), self.text.place_of(range))
    }

    /// Operators that bind at least as tightly as `least`, with their operands.
    fn expression(&mut self, least: u8, depth: usize) -> Result<ExpressionId, ModelError> {
        let mut left = self.operand(depth)?;
        let mut compared = false;
        while let Some(word) = self.peek() {
            let Some((strength, right_strength)) = strengths(word.token) else { break };
            if strength < least {
                break;
            }
            if strength == binding::COMPARISON && std::mem::replace(&mut compared, true) {
                return Err(self
                    .mistake(ExpressionMistake::ChainedComparison, word.range.clone())
                    .with_hint("write `a < b && b < c`"));
            }
            self.position += 1;
            let right = self.expression(right_strength, depth + 1)?;
            left = self.combine(word.token, left, right);
        }
        Ok(left)
    }

    fn combine(&mut self, token: Token, left: ExpressionId, right: ExpressionId) -> ExpressionId {
        let (function, x, y) = match token {
            Token::Plus => (Binary::Add, left, right),
            Token::Minus => (Binary::Subtract, left, right),
            Token::Times => (Binary::Multiply, left, right),
            Token::Divide => (Binary::Divide, left, right),
            Token::Power => (Binary::Power, left, right),
            Token::And => (Binary::And, left, right),
            Token::Or => (Binary::Or, left, right),
            Token::Less => (Binary::Less, left, right),
            Token::LessOrEqual => (Binary::LessOrEqual, left, right),
            Token::Greater => (Binary::Less, right, left),
            Token::GreaterOrEqual => (Binary::LessOrEqual, right, left),
            Token::Equal => (Binary::Equal, left, right),
            _ => (Binary::NotEqual, left, right),
        };
        self.built.graph.binary(function, x, y)
    }

    /// A number, name, call or parenthesis, with the units in brackets behind it.
    fn operand(&mut self, depth: usize) -> Result<ExpressionId, ModelError> {
        let mut operand = self.bare_operand(depth)?;
        while let Some(word) = self.peek().filter(|word| word.token == Token::Unit) {
            self.position += 1;
            let unit = read_unit(self.text, word.range.start + 1..word.range.end - 1, None)?;
            operand = in_unit(&mut self.built.graph, operand, &unit);
        }
        Ok(operand)
    }

    fn bare_operand(&mut self, depth: usize) -> Result<ExpressionId, ModelError> {
        let Some(word) = self.next() else {
            let end = self.text.content().len();
            let last = self.tokens.last().map_or(end, |word| word.range.start);
            return Err(self
                .mistake(ExpressionMistake::MissingOperand, last..end)
                .with_hint("the expression ends too early"));
        };
        if depth > MAX_DEPTH {
            return Err(self.mistake(ExpressionMistake::TooDeep, word.range.clone()));
        }
        match word.token {
            Token::Number(value) => Ok(self.built.graph.constant(value)),
            Token::Known(meaning) if self.peek().is_none_or(|next| next.token != Token::Open) => {
                match meaning {
                    Meaning::Constant(value) => Ok(self.built.graph.constant(value)),
                    Meaning::Variable(index) => Ok(self.built.graph.variable(index)),
                    Meaning::Expression => self.named(word, depth),
                }
            }
            Token::Known(_) if self.callable(word).is_none() => {
                let written = &self.text.content()[word.range.clone()];
                Err(self
                    .mistake(ExpressionMistake::NotAFunction, word.range.clone())
                    .with_hint(format!("to multiply, write `{written}*(…)`")))
            }
            Token::Known(_) | Token::Name => self.call(word, depth),
            Token::Minus => {
                let operand = self.expression(binding::SIGN, depth + 1)?;
                Ok(self.built.graph.unary(Unary::Negate, operand))
            }
            Token::Plus => self.expression(binding::SIGN, depth + 1),
            Token::Not => {
                let operand = self.expression(binding::SIGN, depth + 1)?;
                Ok(self.built.graph.unary(Unary::Not, operand))
            }
            Token::Open => {
                let inner = self.expression(0, depth + 1)?;
                self.close(word)?;
                Ok(inner)
            }
            Token::Close if self.position == 1 => {
                Err(self.mistake(ExpressionMistake::Unopened, word.range.clone()))
            }
            Token::Bad => Err(self.mistake(ExpressionMistake::BadLetter, word.range.clone())),
            _ => Err(self.mistake(ExpressionMistake::MissingOperand, word.range.clone())),
        }
    }

    fn close(&mut self, open: &Word) -> Result<(), ModelError> {
        match self.peek() {
            Some(word) if word.token == Token::Close => {
                self.position += 1;
                Ok(())
            }
            Some(word) => Err(self.unexpected(word)),
            None => Err(self.mistake(ExpressionMistake::Unclosed, open.range.clone()).with_hint("add `)`")),
        }
    }

    /// The value of a named expression, read where it is used first.
    fn named(&mut self, word: &Word, depth: usize) -> Result<ExpressionId, ModelError> {
        let name = &self.text.content()[word.range.clone()];
        if let Some(known) = self.built.named.get(name) {
            return Ok(*known);
        }
        let place = || self.text.place_of(word.range.clone());
        if let Some(first) = self.built.open.iter().position(|open| open == name) {
            let circle = self.built.open[first..].iter().map(String::as_str).chain([name]);
            let shown: Vec<String> = circle.map(|name| format!("`{name}`")).collect();
            let mistake = Mistake::ExpressionCycle(shown.join(" → "));
            return Err(ModelError::new(mistake, place()));
        }
        let text = &self.vocabulary.named.expressions[name];
        self.built.open.push(name.to_owned());
        let (mut root, unit) = read(text, self.vocabulary, depth + 1, self.built)?;
        self.built.open.pop();
        if let Some(range) = unit {
            root = in_unit(&mut self.built.graph, root, &read_unit(text, range, None)?);
        }
        self.built.named.insert(name.to_owned(), root);
        Ok(root)
    }

    /// What a word calls: a function of the language, or a table of the model.
    fn callable(&self, word: &Word) -> Option<Callable<'a>> {
        let written = &self.text.content()[word.range.clone()];
        match FUNCTIONS.iter().find(|function| function.name == written) {
            Some(function) => Some(Callable::Function(function)),
            None => self.vocabulary.named.tables.get(written).map(Callable::Table),
        }
    }

    fn call(&mut self, word: &Word, depth: usize) -> Result<ExpressionId, ModelError> {
        let opens = self.peek().filter(|next| next.token == Token::Open);
        let Some(callable) = self.callable(word) else {
            return Err(self.unknown(word, opens.is_some()));
        };
        let name = &self.text.content()[word.range.clone()];
        let Some(open) = opens else {
            return Err(self
                .mistake(ExpressionMistake::FunctionWithoutArguments, word.range.clone())
                .with_hint(format!("write `{name}(…)`")));
        };
        self.position += 1;
        let arguments = self.arguments(open, depth)?;
        let graph = &mut self.built.graph;
        match (callable, arguments.as_slice()) {
            (Callable::Function(Function { operation: Operation::One(unary), .. }), &[x]) => {
                Ok(graph.unary(*unary, x))
            }
            (Callable::Function(Function { operation: Operation::Two(binary), .. }), &[x, y]) => {
                Ok(graph.binary(*binary, x, y))
            }
            (Callable::Function(Function { operation: Operation::Choice, .. }), &[x, y, z]) => {
                Ok(graph.select(x, y, z))
            }
            (Callable::Table(table), &[x]) if table.arity() == 1 => Ok(graph.table(table, [x; 2])),
            (Callable::Table(table), &[x, y]) if table.arity() == 2 => Ok(graph.table(table, [x, y])),
            (_, arguments) => {
                let (function, expected) = (name.to_owned(), callable.arity());
                let mistake = Mistake::ArgumentCount { function, expected, found: arguments.len() };
                Err(ModelError::new(mistake, self.text.place_of(word.range.clone())))
            }
        }
    }

    fn arguments(&mut self, open: &Word, depth: usize) -> Result<Vec<ExpressionId>, ModelError> {
        let mut arguments = Vec::new();
        if self.peek().is_some_and(|word| word.token == Token::Close) {
            self.position += 1;
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(0, depth + 1)?);
            match self.peek() {
                Some(word) if word.token == Token::Comma => self.position += 1,
                _ => {
                    self.close(open)?;
                    return Ok(arguments);
                }
            }
        }
    }

    /// Two operands without an operator: the second begins the unit if nothing is left open.
    fn starts_unit(&self, word: &Word) -> bool {
        matches!(word.token, Token::Name | Token::Known(_))
    }

    fn unexpected(&self, word: &Word) -> ModelError {
        let mistake = match word.token {
            Token::Close => ExpressionMistake::Unopened,
            Token::Bad => ExpressionMistake::BadLetter,
            _ => ExpressionMistake::MissingOperator,
        };
        let error = self.mistake(mistake, word.range.clone());
        match &self.text.content()[word.range.clone()] {
            "=" => error.with_hint("to compare, write `==`"),
            "&" | "|" => error.with_hint("write `&&` for and, `||` for or"),
            "," => {
                error.with_hint("the decimal sign is a point; commas separate the arguments of a function")
            }
            "%" => error.with_hint("for the remainder, write `mod(a, b)`"),
            _ if matches!(word.token, Token::Name | Token::Known(_)) => {
                error.with_hint(
                    "a unit at the very end belongs to the whole; one inside stands in brackets, `30[deg]`; to multiply, write `*`",
                )
            }
            _ => error,
        }
    }

    fn unknown(&self, word: &Word, called: bool) -> ModelError {
        let content = self.text.content();
        let written = &content[word.range.clone()];
        let unknown_function = |shown: &str, range: Range<usize>| {
            let names = FUNCTIONS.iter().map(|function| function.name);
            let names = names.chain(self.vocabulary.named.tables.keys().map(String::as_str));
            let mistake = Mistake::UnknownFunction(shortened(shown));
            ModelError::new(mistake, self.text.place_of(range)).with_nearest(shown, names)
        };
        if called {
            return unknown_function(written, word.range.clone());
        }
        let candidates = (self.vocabulary.candidates)();
        let candidates = || candidates.iter().map(String::as_str);
        // A misspelt name with dashes was cut at one of them: look for the whole first.
        let start = lexer::run_start(content, word.range.start);
        let run = &content[start..][..lexer::run_length(&content[start..])];
        let tables = self.vocabulary.named.tables.keys().map(String::as_str);
        if content[start + run.len()..].starts_with('(') && name::nearest(run, tables).is_some() {
            return unknown_function(run, start..start + run.len());
        }
        let (shown, range) = match name::nearest(run, candidates()) {
            Some(_) => (run, start..start + run.len()),
            None => (written, word.range.clone()),
        };
        let mistake = Mistake::UnknownName { what: self.vocabulary.what, name: shortened(shown) };
        ModelError::new(mistake, self.text.place_of(range)).with_nearest(shown, candidates())
    }
}

/// The beginning of a word that may be of any length.
fn shortened(word: &str) -> String {
    const LETTERS: usize = 60;
    let mut short: String = word.chars().take(LETTERS).collect();
    if short.len() < word.len() {
        short.push('…');
    }
    short
}

/// How tightly an operator binds to its left, and what its right side must bind at least.
fn strengths(token: Token) -> Option<(u8, u8)> {
    Some(match token {
        Token::Or => (binding::OR, binding::OR + 1),
        Token::And => (binding::AND, binding::AND + 1),
        Token::Less
        | Token::LessOrEqual
        | Token::Greater
        | Token::GreaterOrEqual
        | Token::Equal
        | Token::NotEqual => (binding::COMPARISON, binding::COMPARISON + 1),
        Token::Plus | Token::Minus => (binding::SUM, binding::SUM + 1),
        Token::Times | Token::Divide => (binding::PRODUCT, binding::PRODUCT + 1),
        // From right to left, and 2^-1 is allowed: the sign is an operand of its own.
        Token::Power => (binding::POWER, binding::POWER),
        _ => return None,
    })
}
