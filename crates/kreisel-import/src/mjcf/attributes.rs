//! Attributes of elements with those that classes give by default.

use super::included::Tree;
use crate::xml::Element;
use kreisel::model::ModelError;
use nalgebra::Vector3;
use std::collections::HashMap;

/// Class of elements that name none.
const MAIN: &str = "main";

/// Classes of default attributes.
pub struct Classes<'d>(HashMap<&'d str, Class<'d>>);

struct Class<'d> {
    above: Option<&'d str>,
    /// Elements that give attributes.
    elements: Vec<Element<'d>>,
}

impl<'d> Classes<'d> {
    /// Reads all classes.
    pub fn read(tree: &Tree<'d>, sections: &[Element<'d>]) -> Result<Self, ModelError> {
        let mut classes: HashMap<&'d str, Class<'d>> = HashMap::new();
        let mut waiting: Vec<(Element<'d>, Option<&'d str>)> = Vec::new();
        for section in sections.iter().rev() {
            waiting.push((*section, None));
        }
        while let Some((element, above)) = waiting.pop() {
            let name = match (element.word("class"), above) {
                (Some(name), _) => name,
                (None, None) => MAIN,
                (None, Some(_)) => {
                    return Err(element.mistake("a `<default>` inside of another needs a `class`"));
                }
            };
            if above.is_some() && classes.contains_key(name) {
                return Err(element.mistake(format!("the class `{name}` is there twice")));
            }
            let class = classes.entry(name).or_insert(Class { above, elements: Vec::new() });
            for inside in tree.elements(element) {
                match inside.tag() {
                    "default" => waiting.push((inside, Some(name))),
                    _ => class.elements.push(inside),
                }
            }
        }
        // The first of all holds for everything, whatever it is called.
        if !classes.contains_key(MAIN) {
            let first = sections.first().and_then(|section| section.word("class"));
            if let Some(first) = first {
                classes.insert(MAIN, Class { above: Some(first), elements: Vec::new() });
            }
        }
        Ok(Self(classes))
    }

    /// Attributes of an element inside of a body whose elements are of some class.
    pub fn attributes(
        &self,
        element: Element<'d>,
        class: Option<&'d str>,
    ) -> Result<Attributes<'d>, ModelError> {
        // Actuators with names of their own take what `<general>` says too.
        self.attributes_of(element, class, element.tag())
    }

    /// The same where classes call the element by another tag.
    pub fn attributes_of(
        &self,
        element: Element<'d>,
        class: Option<&'d str>,
        tag: &str,
    ) -> Result<Attributes<'d>, ModelError> {
        let own = element.word("class").filter(|_| element.tag() != "default");
        if let Some(name) = own.filter(|name| *name != MAIN && !self.0.contains_key(name)) {
            let error = element.mistake(format!("there is no class `{name}`"));
            return Err(error.with_nearest(name, self.0.keys().copied()));
        }
        let mut elements = vec![element];
        let mut next = Some(own.or(class).unwrap_or(MAIN));
        // A class is above each other one once.
        for _ in 0..=self.0.len() {
            let Some(class) = next.and_then(|name| self.0.get(name)) else { break };
            elements.extend(class.elements.iter().rev().filter(|inside| inside.tag() == tag));
            next = class.above;
        }
        Ok(Attributes { elements })
    }
}

/// An element and those of its classes, the nearest first.
pub struct Attributes<'d> {
    elements: Vec<Element<'d>>,
}

impl<'d> Attributes<'d> {
    /// An element without classes.
    pub fn own(element: Element<'d>) -> Self {
        Self { elements: vec![element] }
    }

    /// The element itself.
    pub fn element(&self) -> Element<'d> {
        self.elements[0]
    }

    /// Who gives an attribute.
    fn giver(&self, name: &str) -> Option<Element<'d>> {
        self.elements.iter().copied().find(|element| element.word(name).is_some())
    }

    /// An attribute.
    pub fn word(&self, name: &str) -> Option<&'d str> {
        self.giver(name)?.word(name)
    }

    /// Numbers, however many.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, ModelError> {
        self.giver(name).map_or(Ok(None), |element| element.numbers(name))
    }

    /// A certain number of numbers.
    pub fn array<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, ModelError> {
        self.giver(name).map_or(Ok(None), |element| element.array(name))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, ModelError> {
        Ok(self.array::<1>(name)?.map(|[value]| value))
    }

    /// The only number of an attribute that may be a polynomial: one of several is refused.
    pub fn first(&self, of: &str, name: &str) -> Result<Option<f64>, ModelError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        match numbers[..] {
            [] => Ok(None),
            [first, ref others @ ..] if others.iter().all(|other| *other == 0.0) => Ok(Some(first)),
            _ => Err(self.element().mistake(format!("`{name}` of a {of} is not read as a polynomial"))),
        }
    }

    /// A vector.
    pub fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, ModelError> {
        Ok(self.array::<3>(name)?.map(Vector3::from))
    }
}
