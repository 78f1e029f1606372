//! What can be wrong with a model, said once with its place and its remedy.
//!
//! A [`ModelError`] is a [`Mistake`] at a [`Place`], with a hint (the nearest valid name, or the fix) and
//! perhaps a second place. [`ModelError::render`] shows the user's line with the guilty letters underlined.
//! Reading goes on after a mistake where that makes sense, so [`ModelErrors`] may hold several.

use std::fmt;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use super::quantity::Dimension;
use super::source::{Place, ceil_boundary};

/// What is wrong, in the user's words.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The file system refused.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// The model itself is not there.
    #[error("there is no file `{0}`")]
    NoFile(String),
    /// The bytes are not text.
    #[error("this is not a text file: {0}")]
    NotText(&'static str),
    /// The file is larger than any model.
    #[error("the file has {size} bytes, more than the limit of {limit}")]
    FileTooLarge {
        /// Size of the file in bytes.
        size: u64,
        /// Largest size that is read.
        limit: u64,
    },
    /// There is nothing in the model.
    #[error("the file describes no part")]
    NoParts,
    /// The text is not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A table that is no kind of part.
    #[error("`{0}` is not a kind of part")]
    UnknownKind(String),
    /// A kind of part written as the wrong sort of table.
    #[error("`{kind}` must be written as {expected}")]
    WrongTable {
        /// The kind of part.
        kind: String,
        /// How it is written.
        expected: String,
    },
    /// A key that the part does not have.
    #[error("{part} has no key `{key}`")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The part or table.
        part: String,
    },
    /// A key that must be given.
    #[error("{part} needs the key `{key}`")]
    MissingKey {
        /// The key that is missing.
        key: String,
        /// The part or table.
        part: String,
    },
    /// A key that has no effect beside the others.
    #[error("the key `{key}` of {part} has no effect here")]
    UnusedKey {
        /// The key as written.
        key: String,
        /// The part or table.
        part: String,
    },
    /// Keys of which exactly one is wanted.
    #[error("{part} needs exactly one of {choices}; {found}")]
    Ambiguous {
        /// The part or table.
        part: String,
        /// The possible keys.
        choices: String,
        /// Which were given.
        found: String,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, not {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What is expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A number or text outside of what makes sense.
    #[error("{what} must be {requirement}, not {found}")]
    Unsuitable {
        /// The thing.
        what: String,
        /// The rule it breaks.
        requirement: String,
        /// What was found.
        found: String,
    },
    /// A name with a forbidden letter.
    #[error("`{name}` cannot be a name: {reason}")]
    BadName {
        /// The name as written.
        name: String,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// Two parts with one name.
    #[error("the name `{0}` is used twice")]
    DuplicateName(String),
    /// A name that means nothing.
    #[error("there is no {what} `{name}`")]
    UnknownName {
        /// What was looked for: parameter, body, sensor, …
        what: &'static str,
        /// The name as written.
        name: String,
    },
    /// A function that does not exist.
    #[error("there is no function `{0}`")]
    UnknownFunction(String),
    /// A function with the wrong number of arguments.
    #[error("the function `{function}` takes {expected} argument(s), not {found}")]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An expression that cannot be read.
    #[error("{0}")]
    Expression(ExpressionMistake),
    /// A number that is infinite or not a number.
    #[error("the value is {0}, not a finite number")]
    NotFinite(f64),
    /// A unit that is not known.
    #[error("there is no unit `{0}`")]
    UnknownUnit(String),
    /// A unit that cannot be read.
    #[error("`{0}` is not a unit")]
    BadUnit(String),
    /// A unit of another dimension.
    #[error("the unit must be one of {expected}, not of {found}")]
    WrongDimension {
        /// The dimension of the field.
        expected: Dimension,
        /// The dimension of the unit.
        found: Dimension,
    },
    /// Parameters defined by each other.
    #[error("these parameters depend on each other: {0}")]
    ParameterCycle(String),
    /// Named expressions that use each other.
    #[error("these expressions use each other: {0}")]
    ExpressionCycle(String),
    /// Files that include each other.
    #[error("the file includes itself: {0}")]
    IncludeCycle(String),
    /// An included file outside of the model's folder.
    #[error("`{0}` lies outside of the model's folder")]
    IncludeOutside(String),
    /// Includes within includes without end in sight.
    #[error("more than {0} files are included")]
    TooManyIncludes(usize),
    /// A repetition that makes more parts than can be meant.
    #[error("the model has more than {0} parts")]
    TooManyParts(usize),
    /// More parts than the memory holds that is granted.
    #[error("there is no memory for so many parts: it is short after {0} of them")]
    NoRoom(usize),
    /// Braces in a text that do not hold an index.
    #[error("`{0}` is not an index in braces")]
    BadIndex(String),
    /// What is wrong with a file of another program.
    #[error("{0}")]
    Foreign(String),
}

shown_by_message!(Mistake);

/// Why an expression cannot be read or evaluated.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionMistake {
    /// Nothing is written.
    #[error("the expression is empty")]
    Empty,
    /// An operand is missing.
    #[error("a number, name or `(` is missing here")]
    MissingOperand,
    /// Something follows that does not belong there.
    #[error("an operator is missing before this")]
    MissingOperator,
    /// A parenthesis is not closed.
    #[error("this parenthesis is never closed")]
    Unclosed,
    /// A parenthesis is not opened.
    #[error("this parenthesis was never opened")]
    Unopened,
    /// A letter that means nothing.
    #[error("this letter has no meaning in an expression")]
    BadLetter,
    /// A number that cannot be read.
    #[error("this is not a number")]
    BadNumber,
    /// Comparisons in a row.
    #[error("comparisons cannot be chained")]
    ChainedComparison,
    /// A function name without arguments.
    #[error("a function needs its arguments in parentheses")]
    FunctionWithoutArguments,
    /// A name followed by a parenthesis.
    #[error("this name is not a function")]
    NotAFunction,
    /// More tokens than the limit.
    #[error("the expression is longer than {} words", super::expression::MAX_TOKENS)]
    TooLong,
    /// Deeper nesting than the limit.
    #[error("the expression is nested more than {} levels deep", super::expression::MAX_DEPTH)]
    TooDeep,
    /// More variables than the limit.
    #[error("the expression uses more than {} measured quantities", super::expression::MAX_VARIABLES)]
    TooManyVariables,
    /// More intermediate results than the limit.
    #[error(
        "the expression and its derivatives need more than {} intermediate results",
        super::expression::MAX_SLOTS
    )]
    TooComplex,
}

shown_by_message!(ExpressionMistake);

/// A mistake in a model, with its place and the remedy.
#[derive(Clone, PartialEq)]
pub struct ModelError {
    mistake: Box<Mistake>,
    place: Place,
    hint: Option<String>,
    related: Option<Box<(Place, String)>>,
}

impl ModelError {
    /// Mistake at a place.
    pub fn new(mistake: Mistake, place: Place) -> Self {
        Self { mistake: Box::new(mistake), place, hint: None, related: None }
    }

    /// Something that is not as it must be: "… must be …, not …".
    pub fn unsuitable(
        what: impl Into<String>,
        requirement: impl Into<String>,
        found: impl ToString,
        place: &Place,
    ) -> Self {
        let (what, requirement) = (what.into(), requirement.into());
        Self::new(Mistake::Unsuitable { what, requirement, found: found.to_string() }, place.clone())
    }

    /// The same at another place.
    #[must_use]
    pub fn at(self, place: &Place) -> Self {
        Self { place: place.clone(), ..self }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with a suggestion of the nearest of some names, if one is near; else all, if they are few.
    #[must_use]
    pub fn with_nearest<'a>(self, written: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match super::name::suggestion(written, names) {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// The same with a second place and what it shows.
    #[must_use]
    pub fn with_related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related = Some(Box::new((place, label.into())));
        self
    }

    /// What is wrong.
    pub fn mistake(&self) -> &Mistake {
        &self.mistake
    }

    /// Where it stands.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The remedy, if one is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The second place with its label, for instance the first use of a name used twice.
    pub fn related(&self) -> Option<(&Place, &str)> {
        self.related.as_deref().map(|(place, label)| (place, label.as_str()))
    }

    /// The message with file, line, the underlined text, the reason and the remedy.
    pub fn render(&self, color: bool) -> String {
        if matches!(*self.mistake, Mistake::NoFile(_)) {
            return format!("error: {self}");
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut group = Level::ERROR.primary_title(self.mistake.to_string()).elements(excerpt(
            &self.place,
            AnnotationKind::Primary,
            None,
        ));
        if let Some((place, label)) = self.related() {
            group = group.elements(excerpt(place, AnnotationKind::Context, Some(label)));
        }
        let mut groups: Vec<Group<'_>> = vec![group];
        if let Some(hint) = &self.hint {
            groups.push(Group::with_title(Level::HELP.secondary_title(hint.as_str())));
        }
        renderer.render(&groups)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = self.hint.as_deref();
        let message = match &*self.mistake {
            // What is not there has no lines.
            mistake @ Mistake::NoFile(_) => {
                format!("{mistake}{}", hint.map_or(String::new(), |hint| format!("; {hint}")))
            }
            mistake => {
                let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
                format!("{}: {mistake}{hint}", self.place)
            }
        };
        // The file's own control characters must not reach a terminal.
        let shown = |letter: char| if is_printable(letter) { letter } else { char::REPLACEMENT_CHARACTER };
        formatter.write_str(&message.chars().map(shown).collect::<String>())
    }
}

impl std::error::Error for ModelError {}

shown_by_message!(ModelError);

/// Whether a letter only shows itself: control characters command a terminal, and marks of direction make a
/// text read as what it is not.
pub fn is_printable(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !letter.is_control() && !turns
}

/// The underlined line of a place with its file; an empty file has no line to show. A line of any length
/// is cut by the renderer to the width of a terminal.
fn excerpt<'a>(place: &'a Place, kind: AnnotationKind, label: Option<&'a str>) -> Vec<Element<'a>> {
    let file = place.file();
    let line = place.line();
    let whole = file.line_range(line);
    if file.text().is_empty() {
        return vec![Origin::path(file.name()).line(line).char_column(place.column()).into()];
    }
    let range = place.range();
    let start = range.start.clamp(whole.start, whole.end);
    // What reaches over several lines is underlined on its first, and not without end.
    let end = range.end.clamp(start, whole.end).min(ceil_boundary(file.text(), start + MAX_UNDERLINED));
    let annotation = kind.span(start - whole.start..end - whole.start);
    let annotation = match label {
        Some(label) => annotation.label(label),
        None => annotation,
    };
    let snippet = Snippet::source(&file.text()[whole]).path(file.name()).line_start(line);
    vec![snippet.annotation(annotation).into()]
}

/// Most letters that a message underlines.
const MAX_UNDERLINED: usize = 100;

/// Mistakes that are collected before reading gives up.
const MAX_ERRORS: usize = 50;

/// One or more mistakes of a model.
#[derive(Clone, Default, PartialEq)]
pub struct ModelErrors(Vec<ModelError>);

impl ModelErrors {
    /// No mistake yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a mistake, unless the same is already known (a repeated part repeats its mistakes) or there
    /// are so many that nobody would read on.
    pub fn push(&mut self, error: ModelError) {
        if self.0.len() < MAX_ERRORS && !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// Keeps the value of a result, or its mistakes.
    pub fn keep<T>(&mut self, result: Result<T, impl Into<ModelErrors>>) -> Option<T> {
        result.map_err(|errors| errors.into().0.into_iter().for_each(|error| self.push(error))).ok()
    }

    /// `Ok` if nothing is wrong.
    pub fn into_result(self) -> Result<(), ModelErrors> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The mistakes in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &ModelError> {
        self.0.iter()
    }

    /// The same with each mistake changed.
    #[must_use]
    pub fn map(self, change: impl FnMut(ModelError) -> ModelError) -> Self {
        Self(self.0.into_iter().map(change).collect())
    }

    /// All messages, one below the other.
    pub fn render(&self, color: bool) -> String {
        self.0.iter().map(|error| error.render(color)).collect::<Vec<_>>().join("\n\n")
    }
}

impl From<ModelError> for ModelErrors {
    fn from(error: ModelError) -> Self {
        Self(vec![error])
    }
}

shown_by_message!(ModelErrors);

impl fmt::Display for ModelErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ModelErrors {}
