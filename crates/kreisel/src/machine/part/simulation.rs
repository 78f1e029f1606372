//! `[simulation]`: how the machine is run.

use crate::integrate::{Method, Parameters};
use crate::lie::Group;
use crate::machine::{Assembler, RunSettings};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

const fn key(name: &'static str, value: ValueKind, need: Need, doc: &'static str) -> Key {
    Key { name, value, need, doc }
}

/// Keys of `[simulation]`.
pub static KIND: PartKind = PartKind {
    name: "simulation",
    doc: "How the machine is run; flags of the command line override it.",
    occurrence: Occurrence::Once,
    keys: &[
        key(
            "start-time",
            ValueKind::Number(Dimension::TIME),
            Need::Default("0"),
            "Time at which the run starts.",
        ),
        key("end-time", ValueKind::Number(Dimension::TIME), Need::Optional, "Time at which the run ends."),
        key(
            "step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "Step size; a thousandth of the run if not given.",
        ),
        key(
            "output-step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "Distance of output times; every step if not given.",
        ),
        key(
            "method",
            ValueKind::Choice(&["index2", "index3"]),
            Need::Default("\"index2\""),
            "Formulation of the constraints: `index2` keeps positions and velocities, `index3` positions only and is cheaper.",
        ),
        key(
            "spectral-radius",
            ValueKind::Number(Dimension::NONE),
            Need::Default("0.9"),
            "Damping of high frequencies: 1 none, 0 strongest.",
        ),
        key(
            "newton-rtol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-10"),
            "Relative tolerance of Newton's iteration.",
        ),
        key(
            "newton-atol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-12"),
            "Absolute tolerance of Newton's iteration, in units of the machine's length.",
        ),
        key(
            "group",
            ValueKind::Choice(&["se3", "so3xr3"]),
            Need::Default("\"se3\""),
            "Lie group of bodies that do not name their own.",
        ),
    ],
};

/// Group that a word names.
pub fn group(word: &str) -> Group {
    if word == "so3xr3" { Group::So3xR3 } else { Group::Se3 }
}

/// Reads the settings.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let start_time = reader.number("start-time")?;
    let end_time = reader.optional_number("end-time")?;
    if let Some(end) = end_time
        && end <= start_time
    {
        return Err(reader.unsuitable("end-time", &format!("after the start at {start_time} s"), end).into());
    }
    let positive = |key: &str| -> Result<Option<f64>, ModelErrors> {
        match reader.optional_number(key)? {
            Some(value) if value <= 0.0 => Err(reader.unsuitable(key, "positive", value).into()),
            value => Ok(value),
        }
    };
    let spectral_radius = reader.number("spectral-radius")?;
    let parameters = Parameters::chung_hulbert(spectral_radius)
        .map_err(|_| reader.unsuitable("spectral-radius", "between 0 and 1", spectral_radius))?;
    assembler.settings = Some(RunSettings {
        start_time,
        end_time,
        step: positive("step")?,
        output_step: positive("output-step")?,
        method: if reader.choice("method")? == "index3" { Method::Index3 } else { Method::Index2 },
        parameters,
        newton_rtol: reader.positive("newton-rtol")?,
        newton_atol: reader.positive("newton-atol")?,
        group: group(reader.choice("group")?),
    });
    reader.finish()
}
