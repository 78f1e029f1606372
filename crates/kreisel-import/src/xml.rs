//! Elements of an XML file with their places, and numbers in their attributes.

use kreisel::model::{Mistake, ModelError, ModelErrors, Place, SourceFile};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// Most elements, texts and comments of a file.
const MAX_NODES: u32 = 2_000_000;
/// Most elements inside of each other: whoever walks them may call itself.
pub const MAX_DEPTH: usize = 200;

/// Reads a text as XML.
pub fn parse(file: &Arc<SourceFile>) -> Result<Document<'_>, ModelErrors> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(file.text(), options).map_err(|error| {
        let at = error.pos();
        let line = file.line_range(at.row as usize);
        let start = file.text().get(line.clone()).map_or(line.start, |text| {
            let before =
                text.chars().take((at.col as usize).saturating_sub(1)).map(char::len_utf8).sum::<usize>();
            line.start + before
        });
        mistake(format!("not valid XML: {error}"), Place::new(file, start..start + 1))
    })?;
    let mut deepest = 0;
    for node in document.descendants().filter(Node::is_element) {
        // Bounded: deeper files end the search.
        let depth = node.ancestors().take(MAX_DEPTH + 2).count();
        deepest = deepest.max(depth);
        if deepest > MAX_DEPTH {
            let place = Place::new(file, node.range());
            return Err(mistake(format!("elements are nested more than {MAX_DEPTH} deep"), place).into());
        }
    }
    Ok(document)
}

/// A mistake in a file of another program.
pub fn mistake(message: impl Into<String>, place: Place) -> ModelError {
    ModelError::new(Mistake::Foreign(message.into()), place)
}

/// An element with the file that it stands in.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    node: Node<'a, 'a>,
    file: &'a Arc<SourceFile>,
}

impl<'a> Element<'a> {
    /// The outermost element.
    pub fn root(document: &'a Document<'a>, file: &'a Arc<SourceFile>) -> Self {
        Self { node: document.root_element(), file }
    }

    /// What it is called.
    pub fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Where it stands.
    pub fn place(&self) -> Place {
        Place::new(self.file, self.node.range())
    }

    /// A mistake at this element.
    pub fn mistake(&self, message: impl Into<String>) -> ModelError {
        mistake(message, self.place())
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        self.place().line()
    }

    /// Elements inside.
    pub fn elements(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let file = self.file;
        self.node.children().filter(Node::is_element).map(move |node| Element { node, file })
    }

    /// This element and all inside of it, however deep.
    pub fn descendants(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let file = self.file;
        self.node.descendants().filter(Node::is_element).map(move |node| Element { node, file })
    }

    /// Elements of a name inside.
    pub fn all(&self, tag: &'a str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.elements().filter(move |element| element.tag() == tag)
    }

    /// The first element of a name inside.
    pub fn first(&self, tag: &str) -> Option<Element<'a>> {
        self.elements().find(|element| element.tag() == tag)
    }

    /// Text inside, without spaces around.
    pub fn text(&self) -> &'a str {
        self.node.text().unwrap_or_default().trim()
    }

    /// An attribute.
    pub fn word(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name).map(str::trim)
    }

    /// An attribute that must be there.
    pub fn needed(&self, name: &str) -> Result<&'a str, ModelError> {
        self.word(name)
            .ok_or_else(|| self.mistake(format!("`<{}>` needs the attribute `{name}`", self.tag())))
    }

    /// An element inside that must be there.
    pub fn needed_element(&self, tag: &str) -> Result<Element<'a>, ModelError> {
        self.first(tag).ok_or_else(|| self.mistake(format!("`<{}>` needs an element `<{tag}>`", self.tag())))
    }

    /// Numbers in an attribute, however many.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, ModelError> {
        self.word(name).map(|text| self.read(name, text)).transpose()
    }

    /// Numbers in a text of this element; `what` names it.
    pub fn read(&self, what: &str, text: &str) -> Result<Vec<f64>, ModelError> {
        let number = |word: &str| {
            let value: Option<f64> = word.parse().ok();
            value.filter(|value| value.is_finite()).ok_or_else(|| {
                let shown: String = word.chars().take(40).collect();
                self.mistake(format!(
                    "`{what}` of `<{}>` must hold finite numbers, not `{shown}`",
                    self.tag()
                ))
            })
        };
        text.split_whitespace().map(number).collect()
    }

    /// A certain number of numbers in an attribute.
    pub fn array<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, ModelError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        let found = numbers.len();
        numbers.try_into().map(Some).map_err(|_| {
            self.mistake(format!("`{name}` of `<{}>` must be {N} number(s), not {found}", self.tag()))
        })
    }

    /// A number in an attribute.
    pub fn number(&self, name: &str) -> Result<Option<f64>, ModelError> {
        Ok(self.array::<1>(name)?.map(|[value]| value))
    }

    /// A number that must be there.
    pub fn needed_number(&self, name: &str) -> Result<f64, ModelError> {
        self.needed(name)?;
        Ok(self.number(name)?.unwrap_or_default())
    }

    /// Yes or no in an attribute.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, ModelError> {
        let read = |word: &str| match word {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => {
                Err(self.mistake(format!("`{name}` of `<{}>` is true or false, not `{other}`", self.tag())))
            }
        };
        self.word(name).map(read).transpose()
    }

    /// A vector in an attribute.
    pub fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, ModelError> {
        Ok(self.array::<3>(name)?.map(Vector3::from))
    }
}

/// What is not taken over.
#[derive(Default)]
pub struct Left {
    sentences: Vec<String>,
    /// What is there more than once.
    counts: BTreeMap<String, usize>,
}

impl Left {
    /// Something that is said once.
    pub fn say(&mut self, sentence: impl Into<String>) {
        self.sentences.push(sentence.into());
    }

    /// The same of an element, with its line.
    pub fn tell(&mut self, element: Element<'_>, what: impl Display) {
        self.say(format!("line {}: {what}", element.line()));
    }

    /// Something of which there may be many.
    pub fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    /// All of it, a sentence each.
    pub fn sentences(self) -> Vec<String> {
        let counted = self.counts.into_iter().map(|(what, count)| match count {
            1 => what,
            count => format!("{what} ({count} of them)"),
        });
        self.sentences.into_iter().chain(counted).collect()
    }
}

/// A pose from a position and turns about fixed axes x, y, z.
pub fn pose(position: Vector3<f64>, [roll, pitch, yaw]: [f64; 3]) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(position), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}
