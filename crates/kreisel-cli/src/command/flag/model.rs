//! The model file of a command, with `--set name=value` and the flags that take the place of `[simulation]`.

use crate::command::CommandError;
use kreisel::machine::{Machine, SettingTexts, part};
use kreisel::model::{Document, ModelErrors};
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The model file and what is changed in it from outside.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
pub struct Model {
    /// The model file
    #[arg(value_name = "FILE")]
    #[serde(serialize_with = "absolute")]
    file: PathBuf,

    /// Give a parameter of the model another value; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    assignments: Vec<(String, String)>,

    /// End the run at this time in place of the model's `end-time`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    end_time: Option<String>,

    /// Step size in place of the model's `step`, or `auto` to let the error decide on it
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    step: Option<String>,

    /// Relative tolerance of `--step auto` in place of the model's `rtol`
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    rtol: Option<String>,

    /// Absolute tolerance of `--step auto` in place of the model's `atol`
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    atol: Option<String>,

    /// Smallest step of `--step auto` in place of the model's `min-step`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    min_step: Option<String>,

    /// Largest step of `--step auto` in place of the model's `max-step`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    max_step: Option<String>,

    /// First step of `--step auto` in place of the model's `initial-step`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    initial_step: Option<String>,

    /// Distance of output times in place of the model's `output-step`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    output_step: Option<String>,

    /// Method in place of the model's: `index2`, `index3`, `soi2`, `hht-i3`, `hht-soi2`, `updated-lagrangian` or `bdf2`
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// Local coordinates of `updated-lagrangian` in place of the model's: `rotation-vector` or `crv`
    #[arg(long, value_name = "WORD")]
    parametrization: Option<String>,

    /// Unknowns of `bdf2` in place of the model's: `two-field` or `three-field`
    #[arg(long, value_name = "WORD")]
    form: Option<String>,

    /// Scaling of `bdf2` in place of the model's: `left-right-velocities`, `left-right`, `left` or `unscaled`
    #[arg(long, value_name = "WORD")]
    scaling: Option<String>,

    /// Spectral radius in place of the model's: 1 damps nothing, 0 most
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    spectral_radius: Option<String>,

    /// Lie group of bodies that do not name their own: `se3` or `so3xr3`
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,

    /// Let the model use files (includes, surfaces) outside of its own folder; only for models that you trust
    #[arg(long)]
    #[serde(default)]
    allow_outside: bool,
}

impl Model {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Reads the machine.
    pub fn read(&self) -> Result<Machine, CommandError> {
        Ok(self.read_varied(&[])?)
    }

    /// Reads the machine with more parameters given from outside, as name and expression.
    pub fn read_varied(&self, more: &[(&str, &str)]) -> Result<Machine, ModelErrors> {
        let own = self.assignments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let all: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        Machine::read_with(&self.file, &all, &self.settings())
    }

    /// What is changed from outside, a text each: `mass=3`, `--step=1 ms`.
    pub fn changes(&self) -> Vec<String> {
        let own = self.assignments.iter().map(|(name, value)| format!("{name}={value}"));
        own.chain(self.settings().flags()).collect()
    }

    /// The model as it is written, without what is given from outside.
    pub fn document(&self) -> Result<Document, ModelErrors> {
        let read = if self.allow_outside { Document::read_unconfined } else { Document::read };
        read(&self.file, &part::kinds(), &[])
    }

    fn settings(&self) -> SettingTexts {
        SettingTexts {
            end_time: self.end_time.clone(),
            step: self.step.clone(),
            rtol: self.rtol.clone(),
            atol: self.atol.clone(),
            min_step: self.min_step.clone(),
            max_step: self.max_step.clone(),
            initial_step: self.initial_step.clone(),
            output_step: self.output_step.clone(),
            method: self.method.clone(),
            parametrization: self.parametrization.clone(),
            form: self.form.clone(),
            scaling: self.scaling.clone(),
            spectral_radius: self.spectral_radius.clone(),
            group: self.group.clone(),
            allow_outside: self.allow_outside,
        }
    }
}

/// Where a file is, whatever the folder from which it is asked for later.
fn absolute<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    serializer.serialize_str(&path.to_string_lossy())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("write it as name=value, for instance --set length=\"20 cm\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_split_at_the_first_equals_sign() {
        assert_eq!(assignment("a=1 m").unwrap(), ("a".to_owned(), "1 m".to_owned()));
        assert_eq!(assignment("a=b==c").unwrap().1, "b==c");
        for text in ["", "a", "=1", " =1"] {
            assert!(assignment(text).unwrap_err().contains("name=value"), "{text}");
        }
    }
}
