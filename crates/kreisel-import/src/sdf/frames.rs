//! Frames of SDF: each pose counts from a frame of a name, which may stand anywhere in the file.

use crate::xml::{Element, pose};
use kreisel::model::ModelError;
use nalgebra::{Isometry3, Vector3};
use std::collections::HashMap;

/// The frame from which all count in the end.
pub const WORLD: &str = "world";
/// The frame of the model in which a name stands.
const MODEL: &str = "__model__";
/// Most models inside of each other, and steps from a frame to the world.
const MOST: usize = 1000;

/// A frame by what is written.
struct Frame {
    /// The frame from which it counts, by its full name.
    from: String,
    pose: Isometry3<f64>,
    /// The frame that it is attached to, or nothing for links and the world.
    attached: Option<String>,
    line: usize,
}

/// All frames by their names with scopes: `arm::hand::tip`; models end with `::`.
#[derive(Default)]
pub struct Frames(HashMap<String, Frame>);

/// The pose in an element, without what it counts from.
pub fn raw(element: Element<'_>) -> Result<Isometry3<f64>, ModelError> {
    let Some(inside) = element.first("pose") else { return Ok(Isometry3::identity()) };
    let written = inside.read("the text", inside.text())?;
    let unit = if inside.word("degrees") == Some("true") { 1.0_f64.to_radians() } else { 1.0 };
    match (inside.word("rotation_format").unwrap_or("euler_rpy"), &written[..]) {
        (_, []) => Ok(Isometry3::identity()),
        ("euler_rpy", &[x, y, z, roll, pitch, yaw]) => {
            Ok(pose(Vector3::new(x, y, z), [roll, pitch, yaw].map(|angle| unit * angle)))
        }
        ("quat_xyzw", &[x, y, z, i, j, k, w]) => {
            let turn = nalgebra::UnitQuaternion::try_new(nalgebra::Quaternion::new(w, i, j, k), 1e-12);
            let turn = turn.ok_or_else(|| inside.mistake("the quaternion has no direction"))?;
            Ok(Isometry3::from_parts(Vector3::new(x, y, z).into(), turn))
        }
        (format, found) => {
            let message =
                format!("a pose is 6 numbers, or 7 with a quaternion, not {} as `{format}`", found.len());
            Err(inside.mistake(message))
        }
    }
}

/// What a pose counts from, if it says so.
fn relative<'a>(element: Element<'a>) -> Option<&'a str> {
    element.first("pose")?.word("relative_to").filter(|word| !word.is_empty())
}

/// The full name of a frame that is written in a scope.
fn full(word: &str, scope: &str) -> String {
    match word {
        WORLD => WORLD.to_owned(),
        MODEL => scope.to_owned(),
        _ => format!("{scope}{word}"),
    }
}

impl Frames {
    /// Adds a model with all that stands in it; `above` is the frame from which it counts if it does not say so.
    pub fn add_model(&mut self, model: Element<'_>, scope: &str, above: &str) -> Result<(), ModelError> {
        if scope.matches("::").count() > MOST {
            return Err(model.mistake("models are nested too deeply"));
        }
        let outer = scope.strip_suffix("::").and_then(|inner| inner.rsplit_once("::"));
        let outer = outer.map_or(String::new(), |(outer, _)| format!("{outer}::"));
        let from = relative(model).map_or_else(|| above.to_owned(), |word| full(word, &outer));
        let first = model.all("link").next().and_then(|link| link.word("name"));
        let canonical = model.word("canonical_link").or(first).map(|word| full(word, scope));
        self.add(model, scope.to_owned(), from, canonical.or_else(|| Some(WORLD.to_owned())))?;
        for link in model.all("link") {
            let from = relative(link).map_or_else(|| scope.to_owned(), |word| full(word, scope));
            self.add(link, full(link.needed("name")?, scope), from, None)?;
        }
        for joint in model.all("joint") {
            let child = joint.needed_element("child")?;
            let child = full(child.word("link").unwrap_or(child.text()), scope);
            let from = relative(joint).map_or_else(|| child.clone(), |word| full(word, scope));
            self.add(joint, full(joint.needed("name")?, scope), from, Some(child))?;
        }
        model.all("frame").try_for_each(|frame| self.add_frame(frame, scope, scope))?;
        for inner in model.all("model") {
            let inner_scope = format!("{scope}{}::", inner.needed("name")?);
            self.add_model(inner, &inner_scope, scope)?;
        }
        if let Some(placed) = model.word("placement_frame").filter(|word| !word.is_empty()) {
            // The pose of the model is that of this frame.
            let inside = self.relative_pose(&full(placed, scope), scope, model)?;
            if let Some(frame) = self.0.get_mut(scope) {
                frame.pose *= inside.inverse();
            }
        }
        Ok(())
    }

    /// Adds a `<frame>`.
    pub fn add_frame(&mut self, frame: Element<'_>, scope: &str, above: &str) -> Result<(), ModelError> {
        let attached = frame.word("attached_to").filter(|word| !word.is_empty());
        let attached = attached.map_or_else(|| above.to_owned(), |word| full(word, scope));
        let from = relative(frame).map_or_else(|| attached.clone(), |word| full(word, scope));
        self.add(frame, full(frame.needed("name")?, scope), from, Some(attached))
    }

    fn add(
        &mut self,
        element: Element<'_>,
        name: String,
        from: String,
        attached: Option<String>,
    ) -> Result<(), ModelError> {
        let frame = Frame { from, pose: raw(element)?, attached, line: element.line() };
        if name == WORLD {
            return Err(element.mistake("`world` names the ground and nothing else"));
        }
        let shown = name.clone();
        match self.0.insert(name, frame) {
            // Links are told apart by whoever reads them, with both places.
            Some(first) if element.tag() != "link" => {
                Err(element
                    .mistake(format!("the name `{shown}` is there twice, first in line {}", first.line)))
            }
            _ => Ok(()),
        }
    }

    /// The pose of a frame by its full name, seen from another one above it.
    fn relative_pose(&self, name: &str, from: &str, at: Element<'_>) -> Result<Isometry3<f64>, ModelError> {
        let mut sum = Isometry3::identity();
        let mut next = name;
        for _ in 0..MOST {
            if next == from || next == WORLD {
                return Ok(sum);
            }
            let frame = self.0.get(next).ok_or_else(|| {
                let shown = if next.is_empty() { MODEL } else { next };
                at.mistake(format!("there is no frame `{shown}`"))
                    .with_nearest(next, self.0.keys().map(String::as_str))
            })?;
            sum = frame.pose * sum;
            next = &frame.from;
        }
        Err(at.mistake(format!("the frame `{name}` counts from itself by way of others")))
    }

    /// The pose of a frame in the world by its full name.
    pub fn pose(&self, name: &str, at: Element<'_>) -> Result<Isometry3<f64>, ModelError> {
        self.relative_pose(name, WORLD, at)
    }

    /// The pose in the world of a frame as it is written in a scope.
    pub fn named(&self, word: &str, scope: &str, at: Element<'_>) -> Result<Isometry3<f64>, ModelError> {
        self.pose(&full(word, scope), at)
    }

    /// The pose of a model in the world.
    pub fn model(&self, scope: &str) -> Isometry3<f64> {
        let mut sum = Isometry3::identity();
        let mut next = scope;
        for _ in 0..MOST {
            let Some(frame) = self.0.get(next) else { break };
            sum = frame.pose * sum;
            next = &frame.from;
        }
        sum
    }

    /// The link, by its full name, to which a frame is attached in the end.
    pub fn link_of(&self, name: &str) -> Option<String> {
        let mut next = name.to_owned();
        for _ in 0..MOST {
            match &self.0.get(&next)?.attached {
                None => return Some(next),
                Some(attached) if attached == WORLD => return Some(WORLD.to_owned()),
                Some(attached) => next.clone_from(attached),
            }
        }
        None
    }
}
