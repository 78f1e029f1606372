//! Machines whose joints are led: the same equations with one more for each coordinate that has a value, a
//! rate and an acceleration of its own choice.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::builder::{MachineBuilder, PartEntry, build};
use super::entry::{InputEntry, MeasuredCoordinate};
use super::joint_start::carried;
use super::{Functions, Machine};
use crate::constrained::Redundancy;
use crate::dae::{Dae, Initial, Values};
use crate::joint::{CoordinateJoint, Row};
use crate::kinematics::Coordinate;
use crate::model::{Document, ModelErrors};
use crate::solve::block::BlockMatrix;
use crate::system::{System, SystemBuilder};

/// A coordinate of a joint that is led.
#[derive(Clone, Debug)]
pub struct LedCoordinate {
    /// Full name: `elbow.angle`.
    pub name: String,
    /// What it is.
    pub measured: MeasuredCoordinate,
}

impl LedCoordinate {
    /// Whether it is an angle in rad.
    pub fn is_angle(&self) -> bool {
        self.measured.coordinate.is_angle()
    }

    /// The equation that keeps it at zero.
    fn joint(&self) -> CoordinateJoint {
        let MeasuredCoordinate { nodes, offsets, coordinate, .. } = self.measured;
        CoordinateJoint::between(nodes, offsets, vec![Row::keep(coordinate, 0.0)])
    }
}

/// A machine and its equations with led coordinates.
pub struct LedMachine {
    machine: Arc<Machine>,
    /// The equations of the machine, then one for each coordinate.
    system: System,
    /// The inputs by their places in the memory of that system.
    inputs: Vec<InputEntry>,
    coordinates: Vec<LedCoordinate>,
    redundancy: Redundancy,
}

/// Why coordinates cannot be led.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelErrors),
    /// A name that is none of a coordinate.
    #[error("there is no coordinate `{name}`; there is {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The coordinates that there are.
        known: String,
    },
    /// A name that was given twice.
    #[error("the coordinate `{0}` is named twice")]
    Twice(String),
    /// More of the machine moves than the coordinates say.
    #[error(
        "the coordinates {named} do not determine how the machine moves: it has {free} more degrees of freedom, such as free bodies and ball joints, which have no coordinates"
    )]
    Free {
        /// The coordinates.
        named: String,
        /// Degrees of freedom that are left.
        free: usize,
    },
    /// A machine that is too large for dense matrices.
    #[error("which coordinates are independent is found for {0} velocity coordinates at most; name them")]
    TooLarge(usize),
}

/// Rows at an angle of less than this, in rad, to others follow from them: as for redundant constraints.
const DEPENDENT: f64 = 1e-5;
/// Largest machine whose independent coordinates are looked for with dense matrices of 72 MB.
const MAX_DENSE: usize = 3000;

/// Builds the machine that a document describes with led coordinates: those of some names, or as many of all
/// as are independent where the machine is drawn, the first ones of the model first.
pub(crate) fn build_led(
    document: &Document,
    parts: &[&'static PartEntry],
    functions: &Functions,
    wanted: Option<&[String]>,
) -> Result<LedMachine, LedError> {
    let machine = build(document, parts, functions, &[])?;
    let all: Vec<LedCoordinate> =
        machine.frames().coordinates().map(|(name, measured)| LedCoordinate { name, measured }).collect();
    let mut coordinates = match wanted {
        Some(names) => named(&all, names)?,
        None => all,
    };
    let equations = |coordinates: &[LedCoordinate]| -> Result<(System, Vec<InputEntry>), ModelErrors> {
        let add = |builder: &mut SystemBuilder| {
            coordinates.iter().for_each(|led| _ = builder.joint(led.name.clone(), led.joint()));
        };
        MachineBuilder::read(document, parts, functions)?.equations_with(document, parts, add)
    };
    let (mut system, mut inputs) = equations(&coordinates)?;
    if wanted.is_none() {
        let independent = independent(&machine, &system)?;
        if independent.len() < coordinates.len() {
            coordinates = independent.into_iter().map(|place| coordinates[place].clone()).collect();
            (system, inputs) = equations(&coordinates)?;
        }
    }
    system.set_stiffness_scale(machine.system.scales().stiffness);
    let Initial { time, configuration, .. } = &machine.initial;
    let redundancy = Redundancy::find(&system, *time, configuration);
    let shape = system.shape();
    let rows = shape.constraint_count() + shape.nonholonomic_count();
    let implied = redundancy.implied.len() + redundancy.implied_nonholonomic.len();
    let free = (shape.velocity_count() + implied).saturating_sub(rows);
    if free > 0 {
        return Err(LedError::Free { named: list(&coordinates), free });
    }
    Ok(LedMachine { machine: Arc::new(machine), system, inputs, coordinates, redundancy })
}

/// Names in words.
fn list(coordinates: &[LedCoordinate]) -> String {
    let names: Vec<String> = coordinates.iter().map(|led| format!("`{}`", led.name)).collect();
    if names.is_empty() { "(none)".to_owned() } else { names.join(", ") }
}

/// The coordinates of some names; a joint with one coordinate may be named alone.
fn named(all: &[LedCoordinate], names: &[String]) -> Result<Vec<LedCoordinate>, LedError> {
    let mut found: Vec<LedCoordinate> = Vec::with_capacity(names.len());
    for name in names {
        let is_joint =
            |led: &&LedCoordinate| led.name.rsplit_once('.').is_some_and(|(joint, _)| joint == name);
        let exact = all.iter().find(|led| led.name == *name);
        let mut of_joint = all.iter().filter(is_joint);
        let led = exact.or_else(|| of_joint.next().filter(|_| of_joint.next().is_none()));
        let Some(led) = led else {
            return Err(LedError::Unknown { name: name.clone(), known: list(all) });
        };
        if found.iter().any(|known| known.name == led.name) {
            return Err(LedError::Twice(led.name.clone()));
        }
        found.push(led.clone());
    }
    Ok(found)
}

/// Places of the coordinates that are independent of those before them, where the machine is drawn.
fn independent(machine: &Machine, system: &System) -> Result<Vec<usize>, LedError> {
    let shape = system.shape();
    let (size, own) = (shape.velocity_count(), machine.system.shape().constraint_count());
    if size > MAX_DENSE {
        return Err(LedError::TooLarge(MAX_DENSE));
    }
    let Initial { time, configuration, velocity, .. } = &machine.initial;
    let rest = Values::zeros(&shape);
    let mut gradient = BlockMatrix::zeros(system.couplings(None).constraint_node);
    system.gradient(&rest.point_at(*time, configuration, velocity), &mut gradient);
    let mut rows: DMatrix<f64> = gradient.to_dense();
    for (mut column, scale) in
        rows.column_iter_mut().zip(crate::constrained::coordinate_scales(&shape, shape.scales.length))
    {
        column *= scale;
    }
    let mut basis: Vec<DVector<f64>> = Vec::with_capacity(size);
    let mut independent = Vec::new();
    for (row, values) in rows.row_iter().enumerate() {
        let mut left: DVector<f64> = values.transpose();
        let length = left.norm();
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            basis.iter().for_each(|known| left.axpy(-known.dot(&left), known, 1.0));
        }
        if left.norm() > DEPENDENT * length {
            left.unscale_mut(left.norm());
            basis.push(left);
            if row >= own {
                independent.push(row - own);
            }
        }
    }
    Ok(independent)
}

impl LedMachine {
    /// The machine.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Its equations, then one for each coordinate.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The inputs by their places in the memory of [`LedMachine::system`].
    pub fn inputs(&self) -> &[InputEntry] {
        &self.inputs
    }

    /// The coordinates.
    pub fn coordinates(&self) -> &[LedCoordinate] {
        &self.coordinates
    }

    /// The first of the constraints that lead.
    pub fn first_row(&self) -> usize {
        self.machine.system.shape().constraint_count()
    }

    /// Which constraints follow from others where the machine is drawn.
    pub(crate) fn redundancy(&self) -> &Redundancy {
        &self.redundancy
    }

    /// A configuration in which the coordinates have been moved to some values, from the one that is drawn:
    /// right for trees, a guess for loops.
    pub(crate) fn carried(&self, configuration: &[f64], targets: &[f64]) -> Vec<f64> {
        let initial = Initial { configuration: configuration.to_vec(), ..self.machine.initial.clone() };
        carried(self.machine.frames(), &self.machine.system, &initial, &self.coordinates, targets)
    }

    /// Values of the coordinates at a configuration, up to half a turn.
    pub(crate) fn values(&self, configuration: &[f64]) -> Vec<f64> {
        let system = &self.machine.system;
        let rest = Values::zeros(&system.shape());
        let at = rest.point_at(self.machine.initial.time, configuration, &rest.velocity);
        let value = |led: &LedCoordinate| {
            let coordinate: Coordinate = led.measured.coordinate;
            coordinate.value(&led.measured.relative(system, &at), 0.0)
        };
        self.coordinates.iter().map(value).collect()
    }
}
