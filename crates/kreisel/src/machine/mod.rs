//! A machine as its model file describes it: words become nodes, elements, joints and sensors.
//!
//! The document layer ([`crate::model`]) knows no mechanics and the [`System`] knows no names; here they
//! meet. Each kind of part is one file in [`part`]: a table of its keys and a function that adds it to the
//! [`Assembler`].

mod assembler;
pub mod part;
mod settings;
pub mod shape;
mod signal;
pub mod stl;

pub use assembler::{Assembler, Attachment, BodyEntry, JointEntry, MeasuredCoordinate};
pub use settings::{MethodName, RunSettings};

use std::path::Path;

use crate::integrate::Initial;
use crate::model::{Document, ModelErrors};
use crate::system::System;

/// A machine ready to be run.
pub struct Machine {
    /// Its equations.
    pub system: System,
    /// Its initial values.
    pub initial: Initial,
    /// How it is to be run.
    pub settings: RunSettings,
    /// Bodies by name.
    pub bodies: Vec<BodyEntry>,
    /// Joints by name.
    pub joints: Vec<JointEntry>,
    /// What was assumed because the model did not say it.
    pub assumptions: Vec<String>,
    /// What looks like a mistake but is none.
    pub warnings: Vec<String>,
}

impl Machine {
    /// Reads a model file; `overrides` are parameters given on the command line, as name and expression.
    pub fn read(path: &Path, overrides: &[(&str, &str)]) -> Result<Self, ModelErrors> {
        Self::assemble(&Document::read(path, &part::kinds(), overrides)?)
    }

    /// Builds the machine that a document describes.
    pub fn assemble(document: &Document) -> Result<Self, ModelErrors> {
        let mut assembler = Assembler::new();
        for entry in part::PARTS {
            let mut errors = ModelErrors::new();
            for part in document.parts_of(entry.kind.name) {
                errors.keep((entry.add)(part, &mut assembler));
            }
            // Parts that refer to a wrong one are not to blame: they come after it and are not looked at.
            errors.into_result()?;
        }
        assembler.finish(document)
    }
}
